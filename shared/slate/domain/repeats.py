"""What an assistant does twice: asks what the user has answered, calls a tool with the arguments of an earlier call.

A question was asked before in this session, or in an earlier one about the same person. Two questions are one when they
share most of the words that carry content. The warnings name turns, and repeat nothing of what they say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from slate.domain.ranking.terms import terms
from slate.domain.sessions import Speaker, Turn

SAME_QUESTION: Final = 0.75
LEAST_TERMS: Final = 2
"""A question of one word ("Ready?") is asked again for good reasons."""
_QUESTION: Final = re.compile(r"[^.!?\u3002\uff01\uff1f\n]*[?\uff1f]")


class AskedAgain(NamedTuple):
    """A question that was asked before, and answered."""

    seq: int
    first: int
    answer: int

    @property
    def warning(self) -> str:
        """For the context."""
        return f"turn {self.seq} asks what turn {self.first} had asked; the user's answer is turn {self.answer}"


class Answered(NamedTuple):
    """A question of a session that the user has answered, kept for the sessions after it."""

    session_id: str
    seq: int
    answer: int
    terms: tuple[str, ...]
    until: int
    """As long as the session is kept."""


class AskedEarlier(NamedTuple):
    """A question that was answered in an earlier session."""

    seq: int
    before: Answered

    @property
    def warning(self) -> str:
        """For the context."""
        session_id, first, answer, *_ = self.before
        where = f"turn {first} of session {session_id}"
        return f"turn {self.seq} asks what {where} had asked; the answer is its turn {answer}"


class CalledAgain(NamedTuple):
    """A tool that was called with the same arguments before."""

    seq: int
    first: int
    name: str
    result: int | None

    @property
    def warning(self) -> str:
        """For the context."""
        where = "" if self.result is None else f"; the earlier result is turn {self.result}"
        return f"turn {self.seq} calls {self.name} with the same arguments as turn {self.first}{where}"


def asked_again(turns: Sequence[Turn]) -> list[AskedAgain]:
    """Questions of the assistant that repeat one that the user has answered; turns in their order."""
    asked: list[tuple[int, frozenset[str]]] = []
    found: dict[int, AskedAgain] = {}
    answered: dict[int, int] = {}
    for turn in turns:
        if turn.role is Speaker.USER and turn.content.strip():
            for seq, _ in asked:
                answered.setdefault(seq, turn.seq)
        if turn.role is not Speaker.ASSISTANT:
            continue
        mine = _questions(turn.content)
        for words in mine:
            for seq, before in asked:
                if seq in answered and _same(words, before):
                    found.setdefault(turn.seq, AskedAgain(turn.seq, seq, answered[seq]))
        asked += [(turn.seq, words) for words in mine]
    return list(found.values())


def answered_in(turns: Sequence[Turn], first: int, session_id: str, until: int) -> list[Answered]:
    """Questions of the assistant that the user answered, with turn ``first`` or later; turns in their order."""
    asked: list[tuple[int, frozenset[str]]] = []
    found: list[Answered] = []
    for turn in turns:
        if turn.role is Speaker.ASSISTANT:
            asked += [(turn.seq, words) for words in _questions(turn.content)]
        elif turn.role is Speaker.USER and turn.content.strip():
            if turn.seq >= first:
                found += [Answered(session_id, seq, turn.seq, tuple(sorted(words)), until) for seq, words in asked]
            asked = []
    return found


def asked_earlier(turns: Sequence[Turn], answered: Sequence[Answered]) -> list[AskedEarlier]:
    """Questions of the assistant that repeat one of these, the latest of them; one for each turn."""
    known = [(frozenset(each.terms), each) for each in reversed(answered)]
    found: dict[int, AskedEarlier] = {}
    for turn in turns:
        for words in _questions(turn.content) if turn.role is Speaker.ASSISTANT else ():
            before = next((each for terms, each in known if _same(words, terms)), None)
            if before is not None:
                found.setdefault(turn.seq, AskedEarlier(turn.seq, before))
    return list(found.values())


def asks(turns: Iterable[Turn]) -> bool:
    """Whether the assistant asks anything in these that may have been asked before."""
    return any(turn.role is Speaker.ASSISTANT and _questions(turn.content) for turn in turns)


def called_again(turns: Sequence[Turn]) -> list[CalledAgain]:
    """Calls of tools that repeat an earlier one; turns in their order."""
    first: dict[tuple[str, str], tuple[int, str]] = {}
    results = {turn.tool_call_id: turn.seq for turn in turns if turn.tool_call_id is not None}
    found: list[CalledAgain] = []
    for turn in turns:
        for call in turn.tool_calls:
            same = (call.name, json.dumps(call.arguments, sort_keys=True))
            if same in first:
                seq, call_id = first[same]
                found.append(CalledAgain(turn.seq, seq, call.name, results.get(call_id)))
            else:
                first[same] = (turn.seq, call.id)
    return found


def in_order(*some: Iterable[Turn]) -> list[Turn]:
    """Turns from several places, each once, by number."""
    return sorted({turn.seq: turn for turns in some for turn in turns}.values(), key=lambda turn: turn.seq)


def _questions(content: str) -> list[frozenset[str]]:
    found = [frozenset(terms(question)) for question in _QUESTION.findall(content)]
    return [words for words in found if len(words) >= LEAST_TERMS]


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) / len(one | other) >= SAME_QUESTION
