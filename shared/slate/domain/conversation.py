"""The sections that a session gives to a context, from what was read of it; pure, so that laws can be tried on it.

The marker of a shortened turn names the turn and where all of it is. An id is ``turn:<number>``, ``pinned``,
``system``, or ``summary:<line>``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Final

from slate.domain.budget import Draft, Fit, Ranked, Want, no_room
from slate.domain.context import Dropped, Item, SectionName
from slate.domain.forgetting.strength import MOST_IMPORTANT, in_session
from slate.domain.merging import merged_lines
from slate.domain.pinned import text_of
from slate.domain.rendering import line_tokens
from slate.domain.sessions import VERBATIM_ABOVE, Mark, Session, Snapshot, Speaker, Turn
from slate.domain.tokens import Count
from slate.domain.transcript import LONGEST_SHARE, SHORTEST, Fitter, Window, exchanges, shorten, shown_tokens

OPENING: Final = 12
"""What it costs that an assistant opens the conversation, for an API that wants the user to."""


@dataclass(frozen=True, slots=True)
class Told:
    """What was read of a session, and how often the topic jumped of late."""

    snapshot: Snapshot
    jumps: int
    window: Window
    summaries: bool = True
    """Without digests it is a plain window: the last exchanges, and nothing made of the older ones."""


def drafts_of(told: Told, total: int, count: Count) -> list[Draft]:
    """The sections of a session, those that have something to say."""
    snapshot = _noted(told.snapshot)
    told = replace(told, snapshot=snapshot)
    drafts: list[Draft | None] = [
        _system(snapshot, count),
        _pinned(snapshot, count),
        _first(snapshot, count),
        _summary(snapshot, count) if told.summaries else None,
        _marked(snapshot, total, count),
        _recent(told, total, count),
    ]
    return [draft for draft in drafts if draft is not None]


def marker_for(session_id: str, turn: Turn, tokens: int) -> str:
    """What stands in a shortened turn where the rest of it was."""
    return (
        f"\n[... turn {turn.seq} is shortened here; all {tokens:,} tokens of it: "
        f"GET /v1/sessions/{session_id}/turns/{turn.seq} ...]\n"
    )


def _noted(snapshot: Snapshot) -> Snapshot:
    """Of a turn that was read in part, say so, and where the rest is."""
    cut, session_id = snapshot.shortened, snapshot.session.session_id
    if not cut:
        return snapshot

    def noted(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
        return tuple(
            turn.model_copy(update={"content": turn.content + marker_for(session_id, turn, turn.tokens)})
            if turn.seq in cut
            else turn
            for turn in turns
        )

    return snapshot.model_copy(update={"recent": noted(snapshot.recent), "marked": noted(snapshot.marked)})


def _system(snapshot: Snapshot, count: Count) -> Draft | None:
    text = snapshot.session.system
    if text:
        item = Item(id="system", kind="system", text=text, tokens=count(text), version=snapshot.session.version)
        return Ranked(SectionName.SYSTEM, (item,), whole=True)
    opening = _opening(snapshot)
    return None if opening is None else Ranked(SectionName.SYSTEM, (turn_item(opening, count),), whole=True)


def _opening(snapshot: Snapshot) -> Turn | None:
    """The system message of a session that has it as a turn: it stands before all that was said."""
    seen = {turn.seq: turn for turn in (*snapshot.marked, *snapshot.recent)}
    turn = seen.get(1)
    return turn if turn is not None and turn.role is Speaker.SYSTEM and not snapshot.session.system else None


def _pinned(snapshot: Snapshot, count: Count) -> Draft | None:
    text = text_of(snapshot.pinned)
    if not text:
        return None
    item = Item(id="pinned", kind="pinned", text=text, tokens=count(text) + 1, version=snapshot.pinned_version)
    return Ranked(SectionName.PINNED, (item,), whole=True)


def _first(snapshot: Snapshot, count: Count) -> Draft | None:
    if snapshot.first is None:
        return None
    item = turn_item(snapshot.first, count)
    if snapshot.first.seq in snapshot.shortened:
        # It is shown whole or the total is refused: what it truly costs decides.
        item = item.model_copy(update={"tokens": max(item.tokens, snapshot.first.tokens)})
    return Ranked(SectionName.FIRST_MESSAGE, (item,), whole=True)


def _summary(snapshot: Snapshot, count: Count) -> Draft | None:
    """A line each: what was kept word for word goes last, the folded segments first."""
    merged = snapshot.merged
    if merged is None:
        return None
    lines = merged_lines(merged)
    items = tuple(
        Item(id=f"summary:{place}", kind="summary", text=line, tokens=count(line) + 1, version=merged.version)
        for place, line in enumerate(lines, start=1)
    )
    folded, kept = len(merged.folded), len(merged.kept)
    order = (*range(len(lines) - kept, len(lines)), *range(folded, len(lines) - kept), *reversed(range(folded)))
    return Ranked(SectionName.SUMMARY, items, order=order)


def _marked(snapshot: Snapshot, total: int, count: Count) -> Draft | None:
    """Marked turns word for word, tool output alone shortened; in order of time, chosen by what they mean."""
    opening, first = _opening(snapshot), snapshot.first
    elsewhere = {turn.seq for turn in (opening, first) if turn is not None}
    turns = [turn for turn in snapshot.marked if turn.seq not in elsewhere]
    if not turns:
        return None
    longest = max(total // (2 * LONGEST_SHARE), SHORTEST)

    def mark(turn: Turn, tokens: int) -> str:
        return marker_for(snapshot.session.session_id, turn, max(tokens, turn.tokens))

    shown = [shorten(turn, longest, count, mark) if turn.role is Speaker.TOOL else turn for turn in turns]
    session = snapshot.session
    # Stable: among equals the newest first, as they were read.
    ranked = sorted(shown, key=lambda turn: (_of_tools_alone(turn), -_strength(turn, session)))
    in_time = sorted(shown, key=lambda turn: turn.seq)
    items = tuple(line_tokens(count, turn_item(turn, count), SectionName.MARKED) for turn in in_time)
    places = {turn.seq: place for place, turn in enumerate(in_time)}
    said = frozenset(_id(turn) for turn in ranked if not _of_tools_alone(turn))
    return Ranked(SectionName.MARKED, items, order=tuple(places[turn.seq] for turn in ranked), need=said)


def _strength(turn: Turn, session: Session) -> float:
    """What is above 7 stays as it was said; the rest loses one half in fifteen exchanges."""
    if turn.importance > VERBATIM_ABOVE:
        return turn.importance / MOST_IMPORTANT
    since = session.exchanges * max(session.turns - turn.seq, 0) / max(session.turns, 1)
    return in_session(turn.importance, since)


def _of_tools_alone(turn: Turn) -> bool:
    """Marked for being a tool's output and for nothing else."""
    return set(turn.marks) <= {Mark.TOOL} and turn.importance <= VERBATIM_ABOVE


@dataclass(frozen=True, slots=True)
class _Recent:
    """The last exchanges, and before them those that no digest holds yet."""

    fitter: Fitter
    window: Fitter
    """The same, of the window alone."""
    count: Count
    opening: int
    """What it costs beside the turns."""

    name = SectionName.RECENT
    whole = False

    def want(self) -> Want:
        """The window is needed; the rest could be used."""
        return Want(self.window.want() + self.opening, self.fitter.want() + self.opening)

    def fit(self, room: int, shown: Collection[str]) -> Fit:
        """As the transcript's rules choose."""
        del shown  # these are shown here, and nowhere else
        fitted = self.fitter.fit(room - self.opening)
        items = [
            turn_item(turn, self.count).model_copy(update={"tokens": tokens})
            for turn, tokens in zip(fitted.turns, fitted.tokens, strict=True)
        ]
        if items:
            items[0] = items[0].model_copy(update={"tokens": items[0].tokens + self.opening})
        left = room - fitted.total
        dropped = (no_room(_id(turn), self.name, shown_tokens(self.count, turn), left) for turn in fitted.dropped)
        return Fit(tuple(items), tuple(dropped))


def _recent(told: Told, total: int, count: Count) -> Draft | None:
    snapshot = told.snapshot
    elsewhere = {turn.seq for turn in (_opening(snapshot), snapshot.first) if turn is not None}
    wanted = told.window.exchanges(told.jumps)
    turns = _undigested(snapshot, wanted, plain=not told.summaries)
    shown = [turn for turn in turns if turn.seq not in elsewhere]
    if not shown:
        return None
    longest = total // LONGEST_SHARE

    def mark(turn: Turn, tokens: int) -> str:
        return marker_for(snapshot.session.session_id, turn, max(tokens, turn.tokens))

    last = [turn for exchange in exchanges(shown)[-wanted:] for turn in exchange]
    opens = snapshot.first is None or shown[0].seq < snapshot.first.seq
    return _Recent(
        fitter=Fitter(shown, wanted, count, mark, longest),
        window=Fitter(last, wanted, count, mark, longest),
        count=count,
        opening=OPENING if opens else 0,
    )


def _undigested(snapshot: Snapshot, wanted: int, *, plain: bool) -> Iterator[Turn]:
    """The last exchanges, and those before them that no digest holds; from the first whole exchange that was read."""
    parted = exchanges(snapshot.recent)
    held = 0 if snapshot.merged is None else snapshot.merged.last_seq
    for place, exchange in enumerate(parted):
        in_window = place >= len(parted) - wanted
        if in_window or (not plain and exchange[-1].seq > held):
            yield from exchange


def turn_item(turn: Turn, count: Count) -> Item:
    """A turn as an item."""
    return Item(
        id=_id(turn),
        kind="turn",
        text=turn.content,
        tokens=shown_tokens(count, turn),
        version=turn.version,
        seq=turn.seq,
        role=turn.role,
        name=turn.name,
        marks=tuple(mark.value for mark in turn.marks),
        tool_calls=turn.tool_calls,
        tool_call_id=turn.tool_call_id,
    )


def _id(turn: Turn) -> str:
    return f"turn:{turn.seq}"


def more_marked(snapshot: Snapshot) -> tuple[Dropped, ...]:
    """What to say where a session has more marked turns than were read."""
    if not snapshot.more_marked:
        return ()
    reason = f"only the {len(snapshot.marked)} most important marked turns are considered; more are in the session"
    return (Dropped(id=f"session:{snapshot.session.session_id}", section=SectionName.MARKED, reason=reason),)
