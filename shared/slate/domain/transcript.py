"""Which turns of a conversation an agent sees, and how they are made to fit.

The user's first message and the system message are neither dropped nor altered. The last exchanges stand word for
word: three while the topic is stable, up to seven when it jumps; further back, those that no digest holds yet, as far
as there is room. A call of a tool and its results stay together. Where there is too little room, long tool output is
shortened first, with a marker that names its turn; then the oldest exchanges go; the last exchange goes last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from slate.domain.sessions import Speaker, Turn
from slate.domain.tokens import MESSAGE_OVERHEAD, Count, message_tokens

LEAST_EXCHANGES: Final = 3
MOST_EXCHANGES: Final = 7
LONGEST_SHARE: Final = 4
"""One turn that may be shortened takes at most a quarter of the room for turns."""
SHORTEST: Final = 64
"""Nothing is shortened below so many tokens: the marker alone takes half of them."""

Exchange = tuple[Turn, ...]
Block = tuple[Turn, ...]


class Window(NamedTuple):
    """How many of the last exchanges are shown word for word."""

    least: int = LEAST_EXCHANGES
    most: int = MOST_EXCHANGES

    def exchanges(self, jumps: int) -> int:
        """The more often the topic jumped of late, the more."""
        return min(self.least + max(jumps, 0), max(self.most, self.least))


def exchanges(turns: Iterable[Turn]) -> list[Exchange]:
    """Turns by exchange, each a user turn up to the next; what stands before the first user turn is one too."""
    found: list[list[Turn]] = []
    for turn in turns:
        if turn.role is Speaker.USER or not found:
            found.append([])
        found[-1].append(turn)
    return [tuple(exchange) for exchange in found]


def blocks(turns: Iterable[Turn]) -> list[Block]:
    """Turns that stand or go together: a call of tools with the results that follow it, any other turn by itself."""
    found: list[list[Turn]] = []
    open_calls: set[str] = set()
    for turn in turns:
        if turn.role is Speaker.TOOL and turn.tool_call_id in open_calls:
            open_calls.discard(turn.tool_call_id)
            found[-1].append(turn)
            continue
        open_calls = {call.id for call in turn.tool_calls}
        found.append([turn])
    return [tuple(block) for block in found]


def shown_tokens(count: Count, turn: Turn) -> int:
    """What a turn costs where it is shown as a message."""
    tokens = message_tokens(count, turn.content, name=turn.name, calls=turn.tool_calls)
    # Where an API knows no such role at this place, a label says it.
    labelled = MESSAGE_OVERHEAD if turn.role in (Speaker.SYSTEM, Speaker.TOOL) else 0
    return tokens + labelled + (0 if turn.tool_call_id is None else count(turn.tool_call_id))


def shorten(turn: Turn, most: int, count: Count, marker: Callable[[Turn, int], str]) -> Turn:
    """A long turn with a marker that says what is missing and where it is; a short one as it is."""
    whole = shown_tokens(count, turn)
    if whole <= most:
        return turn
    said = count(turn.content)
    text = shorten_text(turn.content, most - (whole - said), count, marker(turn, said))
    return turn.model_copy(update={"content": text})


def shorten_text(text: str, most: int, count: Count, note: str) -> str:
    """The beginning and the end of a text that is longer, with a note between; at the least the note."""
    tokens = count(text)
    if tokens <= most:
        return text
    chars = len(text) * max(most - count(note), 0) // tokens
    while True:
        head, tail = chars * 2 // 3, chars - chars * 2 // 3
        short = text[:head] + note + text[len(text) - tail :]
        if chars == 0 or count(short) <= most:
            return short
        chars = chars * 9 // 10


@dataclass(frozen=True, slots=True)
class Fitted:
    """The turns to show, oldest first, what each costs, and those of the window that had no place."""

    turns: tuple[Turn, ...]
    tokens: tuple[int, ...]
    dropped: tuple[Turn, ...]

    @property
    def total(self) -> int:
        """What they cost together."""
        return sum(self.tokens)


class Fitter:
    """Fits exchanges into a room; ``window`` of them, the last ones, are wanted before all that is older."""

    def __init__(
        self, turns: Sequence[Turn], window: int, count: Count, marker: Callable[[Turn, int], str], longest: int
    ) -> None:
        parted = exchanges(turns)
        self._window = parted[max(len(parted) - window, 0) :]
        self._older = parted[: max(len(parted) - window, 0)]
        self._count = count
        self._marker = marker
        self._longest = max(longest, SHORTEST)
        self._cache: dict[tuple[int, int, bool], tuple[Turn, int]] = {}

    def want(self) -> int:
        """What all of it would cost, tool output no longer than it may ever be."""
        return sum(self._cost(exchange, self._longest) for exchange in (*self._older, *self._window))

    def fit(self, room: int) -> Fitted:
        """As much as there is room for."""
        limit = self._limit(room)
        kept = list(self._window)
        while len(kept) > 1 and sum(self._cost(exchange, limit) for exchange in kept) > room:
            kept.pop(0)
        if not kept or sum(self._cost(exchange, limit) for exchange in kept) > room:
            return self._last_blocks(kept[-1] if kept else (), room)
        left = room - sum(self._cost(exchange, limit) for exchange in kept)
        if len(kept) == len(self._window):
            for exchange in reversed(self._older):
                left -= self._cost(exchange, limit)
                if left < 0:
                    break
                kept.insert(0, exchange)
        return self._fitted([turn for exchange in kept for turn in exchange], limit, plain=False)

    def _limit(self, room: int) -> int:
        """How long tool output may be so that the window fits; the shortest where it does not even then."""
        limit = min(self._longest, max(room // LONGEST_SHARE, SHORTEST))
        while limit > SHORTEST and sum(self._cost(exchange, limit) for exchange in self._window) > room:
            limit = max(limit * 2 // 3, SHORTEST)
        return limit

    def _last_blocks(self, exchange: Exchange, room: int) -> Fitted:
        """Of an exchange that does not fit: long turns that nothing marks are shortened too, then the oldest go."""
        limit = max(room // LONGEST_SHARE, SHORTEST)
        kept = blocks(exchange)
        while limit > SHORTEST and self._cost(exchange, limit, plain=True) > room:
            limit = max(limit * 2 // 3, SHORTEST)
        while kept and sum(self._cost(block, limit, plain=True) for block in kept) > room:
            # What the user asks goes last: it opens the exchange.
            kept.pop(1 if len(kept) > 1 and kept[0][0].role is Speaker.USER else 0)
        return self._fitted([turn for block in kept for turn in block], limit, plain=True)

    def _fitted(self, turns: Sequence[Turn], limit: int, *, plain: bool) -> Fitted:
        shown = [self._shown(turn, limit, plain=plain) for turn in turns]
        seqs = {turn.seq for turn in turns}
        wanted = [turn for exchange in (*self._older, *self._window) for turn in exchange]
        return Fitted(
            turns=tuple(turn for turn, _ in shown),
            tokens=tuple(tokens for _, tokens in shown),
            dropped=tuple(turn for turn in wanted if turn.seq not in seqs),
        )

    def _cost(self, turns: Iterable[Turn], limit: int, *, plain: bool = False) -> int:
        return sum(self._shown(turn, limit, plain=plain)[1] for turn in turns)

    def _shown(self, turn: Turn, limit: int, *, plain: bool) -> tuple[Turn, int]:
        """A turn as it is shown, and its cost: tool output within the limit; with ``plain`` any that is not marked."""
        key = (turn.seq, limit, plain)
        if key not in self._cache:
            may = turn.role is Speaker.TOOL or (plain and not turn.verbatim)
            short = shorten(turn, limit, self._count, self._marker) if may else turn
            self._cache[key] = (short, shown_tokens(self._count, short))
        return self._cache[key]
