"""When a segment of a conversation ends: a pure rule that names its reason.

A segment ends *before* the user turn that changes the topic; *after* the answer that follows a decision (an agent
proposed, the user confirmed), that completes the last exchange it may hold, or that takes it to its share of the
window. An answer is an assistant's turn that calls no tool; where none comes, the next user turn ends it. So an
exchange is divided only where it alone outgrows a segment, and then never between a tool's call and its result.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from slate.domain.sessions import Speaker, Turn
from slate.domain.topics import Topics
from slate.domain.vectors import Direction, Vector, joined

MAX_TURNS: Final = 200
"""Of one segment, so that digesting it reads a bounded number of items."""
SHIFT_AFTER_EXCHANGES: Final = 2
"""A segment of fewer exchanges is no topic yet that could be left."""


class Closing(StrEnum):
    """Why a segment ended."""

    TOPIC = "topic_shift"
    DECISION = "decision"
    EXCHANGES = "exchanges"
    WINDOW = "window"
    SESSION = "session_closed"


class SegmentBounds(NamedTuple):
    """What a segment may hold; settings."""

    exchanges: int = 15
    tokens: int = 90_000
    """The share of the window that a segment may fill."""


class OpenSegment(BaseModel):
    """The segment that turns are being added to. The centroid is made of content: it is sealed where it is kept."""

    model_config = ConfigDict(frozen=True)

    number: int = 1
    first_seq: int = 1
    last_seq: int = 0
    exchanges: int = 0
    turns: int = 0
    tokens: int = 0
    centroid: Direction = ()
    weight: int = Field(default=0, description="how many exchanges the centroid is the middle of")
    proposed: bool = Field(default=False, description="the agent's latest turn proposes something")
    decided: bool = Field(default=False, description="the user confirmed what was proposed")


class ClosedSegment(BaseModel):
    """A segment that takes no more turns, and why."""

    model_config = ConfigDict(frozen=True)

    segment: int
    first_seq: int
    last_seq: int
    reason: Closing


class Placed(NamedTuple):
    """Turns with the segment that each belongs to; the segments that ended over them; the one that is open now."""

    turns: tuple[Turn, ...]
    closed: tuple[ClosedSegment, ...]
    open: OpenSegment


def place(
    segment: OpenSegment, turns: Sequence[Turn], vectors: Sequence[Vector], topics: Topics, bounds: SegmentBounds
) -> Placed:
    """Put turns into segments, in their order; ``vectors`` has one for each turn (empty for other than user's)."""
    placed: list[Turn] = []
    closed: list[ClosedSegment] = []
    for turn, vector in zip(turns, vectors, strict=True):
        reason = _ends_before(segment, turn, vector, topics, bounds)
        if reason is not None:
            segment = _end(segment, reason, closed)
        segment = _with(segment, turn, vector)
        placed.append(turn.model_copy(update={"segment": segment.number}))
        reason = _ends_after(segment, turn, bounds)
        if reason is not None:
            segment = _end(segment, reason, closed)
    return Placed(tuple(placed), tuple(closed), segment)


def close(segment: OpenSegment) -> Placed:
    """End the open segment, as a session's close does; an empty one stays open."""
    closed: list[ClosedSegment] = []
    if segment.turns:
        segment = _end(segment, Closing.SESSION, closed)
    return Placed((), tuple(closed), segment)


def _ends_before(
    segment: OpenSegment, turn: Turn, vector: Vector, topics: Topics, bounds: SegmentBounds
) -> Closing | None:
    if not segment.turns or turn.role is Speaker.TOOL:
        return None
    if turn.role is Speaker.USER:
        if full := _full(segment, bounds):
            return full
        told = segment.exchanges >= SHIFT_AFTER_EXCHANGES
        return Closing.TOPIC if told and topics.shifts(segment.centroid, turn.content, vector) else None
    # Within an exchange: only where it would outgrow what a segment may be.
    if segment.tokens + turn.tokens > bounds.tokens or segment.turns >= MAX_TURNS:
        return Closing.WINDOW
    return None


def _ends_after(segment: OpenSegment, turn: Turn, bounds: SegmentBounds) -> Closing | None:
    answered = turn.role is Speaker.ASSISTANT and not turn.tool_calls
    return _full(segment, bounds) if answered else None


def _full(segment: OpenSegment, bounds: SegmentBounds) -> Closing | None:
    if segment.decided:
        return Closing.DECISION
    if segment.tokens >= bounds.tokens or segment.turns >= MAX_TURNS:
        return Closing.WINDOW
    return Closing.EXCHANGES if segment.exchanges >= bounds.exchanges else None


def _with(segment: OpenSegment, turn: Turn, vector: Vector) -> OpenSegment:
    said: dict[str, object] = {
        "first_seq": segment.first_seq if segment.turns else turn.seq,
        "last_seq": turn.seq,
        "turns": segment.turns + 1,
        "tokens": segment.tokens + turn.tokens,
    }
    if turn.role is Speaker.ASSISTANT:
        said["proposed"] = proposes(turn.content)
    if turn.role is Speaker.USER:
        said["exchanges"] = segment.exchanges + 1
        said["decided"] = segment.decided or (segment.proposed and confirms(turn.content))
        said["proposed"] = False
        if any(vector):
            said["centroid"] = joined(segment.centroid, segment.weight, vector)
            said["weight"] = segment.weight + 1
    return segment.model_copy(update=said)


def _end(segment: OpenSegment, reason: Closing, closed: list[ClosedSegment]) -> OpenSegment:
    closed.append(
        ClosedSegment(segment=segment.number, first_seq=segment.first_seq, last_seq=segment.last_seq, reason=reason)
    )
    # What was proposed last may be confirmed by the first turn of the next segment.
    return OpenSegment(
        number=segment.number + 1,
        first_seq=segment.last_seq + 1,
        last_seq=segment.last_seq,
        proposed=segment.proposed,
    )


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
    r"ja|jawohl|genau|gerne?|einverstanden|passt|in ordnung|machen wir|好的?|可以|是的|行)(?!\w)",
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
