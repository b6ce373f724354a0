"""How well the rule finds where a topic changes: calibrated on one half of a labelled set, measured on the other."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from slate.adapters.inprocess.hashing_embedder import HashingEmbedder
from slate.domain.topics import Topics
from slate.domain.vectors import Vector, joined
from slate.ports.embedder import Embedder

LABELLED = Path(__file__).with_name("topic_shifts.txt")
THRESHOLDS = [round(0.01 * step, 2) for step in range(1, 41)]
AROUND = 3


class Exchange(NamedTuple):
    shifts: bool
    user: str
    agent: str


class Score(NamedTuple):
    """Of the turns that the rule may judge: all but the first two of a topic's segment and of a conversation."""

    hits: int
    false_alarms: int
    misses: int

    @property
    def precision(self) -> float:
        return self.hits / max(self.hits + self.false_alarms, 1)

    @property
    def recall(self) -> float:
        return self.hits / max(self.hits + self.misses, 1)

    @property
    def f1(self) -> float:
        return 2 * self.hits / max(2 * self.hits + self.false_alarms + self.misses, 1)


def conversations() -> Iterator[list[Exchange]]:
    text = "\n".join(line for line in LABELLED.read_text().splitlines() if not line.startswith("#"))
    for block in text.strip().split("\n\n"):
        lines = [line.removeprefix(">").strip().split(" | ") for line in block.strip().splitlines()]
        marks = [line.startswith(">") for line in block.strip().splitlines()]
        yield [Exchange(mark, user, agent) for mark, (user, agent) in zip(marks, lines, strict=True)]


def halves() -> tuple[list[list[Exchange]], list[list[Exchange]]]:
    every = list(conversations())
    return every[::2], every[1::2]


def score(dialogues: Sequence[Sequence[Exchange]], embedder: Embedder, below: float) -> Score:
    """The centroid starts anew where the label says that the topic changed, so that one mistake counts once."""
    topics, hits, alarms, misses = Topics(below), 0, 0, 0
    for dialogue in dialogues:
        asked = embedder.embed([exchange.user for exchange in dialogue])
        answered = embedder.embed([exchange.agent for exchange in dialogue])
        centroid: Vector = ()
        weight = 0
        for exchange, question, answer in zip(dialogue, asked, answered, strict=True):
            found = weight > 0 and topics.shifts(centroid, exchange.user, question)
            hits += found and exchange.shifts
            alarms += found and not exchange.shifts
            misses += exchange.shifts and not found
            if exchange.shifts:
                centroid, weight = (), 0
            for vector in (question, answer):
                centroid, weight = joined(centroid, weight, vector), weight + 1
    return Score(hits, alarms, misses)


def calibrated(embedder: Embedder) -> float:
    """Where F1 on the calibrating half is best together with what lies around it: a peak of one step is chance."""
    calibrating, _ = halves()
    f1 = [score(calibrating, embedder, below).f1 for below in THRESHOLDS]
    around = [sum(f1[max(place - AROUND, 0) : place + AROUND + 1]) for place in range(AROUND, len(f1) - AROUND)]
    return THRESHOLDS[AROUND + max(range(len(around)), key=around.__getitem__)]


def say(line: str) -> None:
    sys.stdout.write(line + "\n")


def main() -> None:
    embedder = HashingEmbedder()
    calibrating, measuring = halves()
    say(f"embedder {embedder.name}: calibrated threshold {calibrated(embedder)}, in use {embedder.same_topic}")
    for name, half in (("calibrating", calibrating), ("measuring", measuring)):
        got = score(half, embedder, embedder.same_topic)
        turns = sum(len(dialogue) for dialogue in half)
        say(
            f"{name}: {len(half)} conversations, {turns} exchanges, {got.hits + got.misses} shifts: "
            f"precision {got.precision:.2f}, recall {got.recall:.2f}"
        )


if __name__ == "__main__":
    main()
