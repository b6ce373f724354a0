"""When a segment of a conversation ends: a pure rule over the turns of the open segment, which names its reason.

A segment ends *before* the user turn that changes the topic; *after* the answer that follows a decision (an agent
proposed, the user confirmed), that completes the last exchange it may hold, or that takes it to its share of the
window. An answer is an assistant's turn that calls no tool; where none comes, the next user turn ends it. So an
exchange is divided only where it alone outgrows a segment, and then never between a tool's call and its result.

A segment holds at most ``MAX_TURNS`` turns, fewer than a context reads back: so every turn is in a digest, or among
those that a context reads.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, NamedTuple

from slate.domain.sessions import Speaker, Turn
from slate.domain.topics import Topics
from slate.domain.vectors import Vector, joined

MAX_TURNS: Final = 48
"""Of one segment: below what a context reads back, with room for turns that come while a digest is made."""
SHIFT_AFTER_EXCHANGES: Final = 2
"""A segment of fewer exchanges is no topic yet that could be left."""


class Closing(StrEnum):
    """Why a segment ended."""

    TOPIC = "topic_shift"
    DECISION = "decision"
    EXCHANGES = "exchanges"
    WINDOW = "window"


class SegmentBounds(NamedTuple):
    """What a segment may hold; settings."""

    exchanges: int
    tokens: int
    """The share of the window that a segment may fill."""


class Ending(NamedTuple):
    """A segment ends with this turn; so many exchanges and tokens are in it."""

    last_seq: int
    exchanges: int
    tokens: int
    reason: Closing


def endings(turns: Sequence[Turn], vectors: Sequence[Vector], topics: Topics, bounds: SegmentBounds) -> list[Ending]:
    """Where segments end among the turns since the last one ended, in order; ``vectors`` has one for each turn.

    A topic is what users ask and what they are answered; the vectors of other turns may be empty.
    """
    found: list[Ending] = []
    segment = _Open()
    for turn, vector in zip(turns, vectors, strict=True):
        if reason := _ends_before(segment, turn, vector, topics, bounds):
            segment = _end(segment, reason, found)
        segment = _with(segment, turn, vector)
        if reason := _ends_after(segment, turn, bounds):
            segment = _end(segment, reason, found)
    return found


@dataclass(frozen=True, slots=True)
class _Open:
    """The segment that turns are being added to."""

    last_seq: int = 0
    exchanges: int = 0
    turns: int = 0
    tokens: int = 0
    centroid: Vector = ()
    weight: int = 0
    proposed: bool = False
    decided: bool = False


def _ends_before(segment: _Open, turn: Turn, vector: Vector, topics: Topics, bounds: SegmentBounds) -> Closing | None:
    if not segment.turns or turn.role is Speaker.TOOL:
        return None
    if turn.role is Speaker.USER:
        if full := _full(segment, bounds):
            return full
        told = segment.exchanges >= SHIFT_AFTER_EXCHANGES
        return Closing.TOPIC if told and topics.shifts(segment.centroid, turn.content, vector) else None
    # Within an exchange: only where the segment is as large as it may be.
    return Closing.WINDOW if segment.tokens >= bounds.tokens or segment.turns >= MAX_TURNS else None


def _ends_after(segment: _Open, turn: Turn, bounds: SegmentBounds) -> Closing | None:
    answered = turn.role is Speaker.ASSISTANT and not turn.tool_calls
    return _full(segment, bounds) if answered else None


def _full(segment: _Open, bounds: SegmentBounds) -> Closing | None:
    if segment.decided:
        return Closing.DECISION
    if segment.tokens >= bounds.tokens or segment.turns >= MAX_TURNS:
        return Closing.WINDOW
    return Closing.EXCHANGES if segment.exchanges >= bounds.exchanges else None


def _with(segment: _Open, turn: Turn, vector: Vector) -> _Open:
    grown = replace(segment, last_seq=turn.seq, turns=segment.turns + 1, tokens=segment.tokens + turn.tokens)
    if any(vector):
        centroid = joined(segment.centroid, segment.weight, vector)
        grown = replace(grown, centroid=centroid, weight=segment.weight + 1)
    if turn.role is Speaker.ASSISTANT:
        return replace(grown, proposed=proposes(turn.content))
    if turn.role is not Speaker.USER:
        return grown
    return replace(
        grown,
        exchanges=segment.exchanges + 1,
        decided=segment.decided or (segment.proposed and confirms(turn.content)),
        proposed=False,
    )


def _end(segment: _Open, reason: Closing, found: list[Ending]) -> _Open:
    found.append(Ending(segment.last_seq, segment.exchanges, segment.tokens, reason))
    # What was proposed last may be confirmed by the first turn of the next segment.
    return _Open(proposed=segment.proposed)


_PROPOSES: Final = re.compile(
    r"\b(shall (i|we)|should (i|we)|do you want me to|would you like (me )?to|i (suggest|propose|recommend)|we could|"
    r"how about|my (suggestion|proposal|plan) is|i can \w+[^.?!]*\?|is that (ok|okay|fine|right)|"
    r"(do you )?(confirm|agree|approve)\b[^.?!]*\?|soll(en)? (ich|wir)|ich (schlage|empfehle)|wollen wir|"
    r"möchten sie|einverstanden\?)",
    re.IGNORECASE,
)
_CONFIRMS: Final = re.compile(
    r"^\W*(yes|yep|yeah|yup|sure|ok|okay|agreed|confirmed?|approved?|correct|exactly|perfect|great|sounds good|"
    r"that works|works for me|go ahead|do it|please do|let'?s (do|go)|deal|fine|of course|absolutely|"
    r"ja|jawohl|genau|gerne?|einverstanden|passt|in ordnung|machen wir)(?!\w)|^\W*(好的?|可以|是的|行)(?![吗么])",
    re.IGNORECASE,
)
_DOUBTS: Final = re.compile(r"\b(but|however|wait|hold on|not yet|except|aber|doch|nicht)\b|\?\s*$", re.IGNORECASE)
_CONFIRMS_WITHIN: Final = 200


def proposes(text: str) -> bool:
    """Whether an agent's turn puts something to the user to agree to."""
    return _PROPOSES.search(text) is not None


def confirms(text: str) -> bool:
    """Whether a user's turn agrees: it starts so, is short, and raises no doubt."""
    return len(text) <= _CONFIRMS_WITHIN and _CONFIRMS.search(text) is not None and _DOUBTS.search(text) is None
