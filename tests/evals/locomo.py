"""How much of what a question needs is recalled, on LoCoMo's conversations, with what Slate ships and no model.

    python -m evals.locomo [FILE]

FILE is in LoCoMo's own form (CC BY-NC 4.0: it is never part of this repository). Each conversation is one person's
memory. The recall of a question is the part of its evidence turns that stand among the top k. All weights were chosen
elsewhere; nothing here is tuned to the file.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from slate.adapters.inprocess.hashing_embedder import HashingEmbedder
from slate.adapters.inprocess.memory_index import InProcessMemoryIndex
from slate.adapters.inprocess.token_estimate import EstimatingCounter
from slate.domain.indexed import Entry, entry_of_turn, said, turn_id
from slate.domain.sessions import Speaker, Turn
from slate.ports.embedder import Embedder
from slate.ports.memory_index import MemoryIndex
from slate.service.search.turns import TurnSearch

GIVEN = Path("../shared/data/locomo5.json")
TENANT = "eval"
TOP = (5, 10, 20)
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_EVIDENCE = re.compile(r"D\d+:\d+")
_NUMBER = re.compile(r"session_(\d+)")


class Question(NamedTuple):
    text: str
    category: int
    evidence: frozenset[str]


class Conversation(NamedTuple):
    name: str
    turns: list[tuple[str, Turn]]
    ids: dict[str, str]
    questions: list[Question]


class Result(NamedTuple):
    recall: dict[int, dict[int, float]]
    """By category, by k; category 0 is all."""
    counts: dict[int, int]
    tokens: float
    milliseconds: list[float]


def conversations(path: Path) -> Iterator[Conversation]:
    for raw in json.loads(path.read_text()):
        talk = raw["conversation"]
        numbers = sorted(int(m[1]) for key in talk if (m := _NUMBER.fullmatch(key)))
        turns: list[tuple[str, Turn]] = []
        ids: dict[str, str] = {}
        for number in numbers:
            at = _instant(talk[f"session_{number}_date_time"])
            for seq, line in enumerate(talk[f"session_{number}"], start=1):
                session = f"{raw['sample_id']}-{number}"
                turns.append((session, _turn(line, seq, at, talk["speaker_a"])))
                ids[line["dia_id"]] = turn_id(session, seq)
        yield Conversation(raw["sample_id"], turns, ids, list(_questions(raw["qa"], ids)))


def _questions(raw: Sequence[Any], ids: dict[str, str]) -> Iterator[Question]:
    for each in raw:
        named = {name for text in each.get("evidence", ()) for name in _EVIDENCE.findall(text)}
        evidence = frozenset(ids[name] for name in named if name in ids)
        if evidence:
            yield Question(str(each["question"]), each["category"], evidence)


def _turn(line: Any, seq: int, at: int, first: str) -> Turn:
    caption = f" [{line['blip_caption']}]" if line.get("blip_caption") else ""
    role = Speaker.USER if line["speaker"] == first else Speaker.ASSISTANT
    return Turn(seq=seq, role=role, name=line["speaker"], content=line["text"] + caption, tokens=0, at=at)


def _instant(text: str) -> int:
    moment = datetime.strptime(text.upper(), "%I:%M %p ON %d %B, %Y").replace(tzinfo=UTC)
    return int(moment.timestamp() * 1000)


def indexed(talk: Conversation, embedder: Embedder | None) -> MemoryIndex:
    index = InProcessMemoryIndex()
    entries: list[Entry] = []
    before: list[Turn] = []
    for i, (session, turn) in enumerate(talk.turns):
        before = before if i and talk.turns[i - 1][0] == session else []
        entries.append(entry_of_turn(turn, before, session_id=session, scope=talk.name))
        before = [*before, turn]
    if embedder is not None:
        vectors = embedder.embed([entry.text for entry in entries])
        entries = [replace(e, vector=v, embedder=embedder.name) for e, v in zip(entries, vectors, strict=True)]
    index.put(TENANT, entries)
    return index


def measure(path: Path, embedder: Embedder | None) -> Result:
    found: defaultdict[int, defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
    counts: defaultdict[int, int] = defaultdict(int)
    tokens, count, times = 0, EstimatingCounter().count, []
    for talk in conversations(path):
        search = TurnSearch(indexed(talk, embedder), embedder)
        text = {turn_id(session, turn.seq): said(turn) for session, turn in talk.turns}
        for question in talk.questions:
            began = time.perf_counter()
            best = [hit.name for hit in search.best(TENANT, [talk.name], question.text, max(TOP))]
            times.append((time.perf_counter() - began) * 1000)
            tokens += sum(count(text[name]) for name in best[:10])
            for category in (0, question.category):
                counts[category] += 1
                for k in TOP:
                    got = len(question.evidence.intersection(best[:k])) / len(question.evidence)
                    found[category][k] += got
    means = {category: {k: 100 * v / counts[category] for k, v in by_k.items()} for category, by_k in found.items()}
    return Result(means, dict(counts), tokens / max(counts[0], 1), sorted(times))


def embedders() -> Iterator[tuple[str, Embedder | None]]:
    yield "none", None
    yield "hashing", HashingEmbedder()
    try:
        from slate.adapters.wordllama.embedder import WordLlamaEmbedder
    except ImportError:
        sys.stdout.write("the local embedder is not installed: pip install 'agent-slate[embedder]'\n")
        return
    yield "local", WordLlamaEmbedder()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path, default=GIVEN)
    path = parser.parse_args().file
    if not path.exists():
        sys.stdout.write(f"no conversations at {path}: nothing measured; name a file in LoCoMo's form\n")
        return
    for name, embedder in embedders():
        result = measure(path, embedder)
        p50, p95 = (result.milliseconds[int(len(result.milliseconds) * q)] for q in (0.5, 0.95))
        label = embedder.name if embedder else "words alone"
        sys.stdout.write(
            f"\nembedder {name} ({label}): {result.tokens:.0f} tokens at 10, query {p50:.1f} ms p50, {p95:.1f} ms p95\n"
        )
        for category in sorted(result.recall):
            row = "  ".join(f"@{k} {result.recall[category][k]:5.1f}" for k in TOP)
            sys.stdout.write(f"  {CATEGORIES.get(category, 'all'):<12} {result.counts[category]:>5}  recall {row}\n")


if __name__ == "__main__":
    main()
