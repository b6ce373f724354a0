"""What a session gives to a context: two reads, however long it is; one or two more where a turn is very large.

One more where the assistant asks something, of what the person was asked before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

from slate.domain.conversation import Told, drafts_of, more_marked
from slate.domain.repeats import AskedAgain, AskedEarlier, asked_again, called_again, in_order
from slate.domain.sessions import Session, Snapshot, Speaker, Turn
from slate.domain.topics import Topics
from slate.domain.transcript import Window
from slate.ports.counts import Count, Counts
from slate.ports.embedder import Embedder
from slate.ports.session_store import SessionStore
from slate.ports.token_counter import TokenCounter
from slate.service.context.offers import Asked, Offer
from slate.service.sessions.reaching import unknown

_WARNED: Final = 5
"""Repeats that are warned of, the last ones."""
_VERBATIM_SHARE: Final = 5
"""A marked turn takes at most a fifth of the total: a longer one is not fetched whole in vain."""
Earlier = Callable[[str, Session, Sequence[Turn], Callable[[Session], bool]], Sequence[AskedEarlier]]
"""What the turns of a session (of a tenant) ask that was answered in a session before, of those that may be seen."""


class SessionSource:
    """Gives `system`, `pinned`, `first_message`, `summary`, `marked` and `recent`."""

    def __init__(
        self,
        sessions: SessionStore,
        embedder: Embedder,
        topics: Topics,
        counter: TokenCounter,
        window: Window,
        *,
        summaries: bool,
        counts: Counts,
        earlier: Earlier,
    ) -> None:
        self._counts = counts
        self._earlier = earlier
        self._sessions = sessions
        self._embedder = embedder
        self._topics = topics
        self._counter = counter
        self._window = window
        self._summaries = summaries

    def offer(self, asked: Asked) -> Offer | None:
        """The session's sections.

        Raises:
            NotFound: there is no such session within reach.
        """
        session_id, principal = asked.body.session, asked.principal
        if session_id is None:
            return None
        snapshot = self._sessions.snapshot(principal.tenant, session_id)
        session = snapshot.session
        if not principal.may_reach(session.subject) or not asked.may_read(session.readers, session.agent):
            raise unknown(session_id)
        total = asked.body.budget.total
        whole = self._with_whole(principal.tenant, snapshot, total)
        told = Told(whole, self._jumps(whole), self._window, self._summaries)
        return Offer(
            drafts=drafts_of(told, total, self._counter.count),
            dropped=more_marked(snapshot),
            subject=session.subject,
            window=session.window,
            keep_days=session.retention_days,
            warnings=self._repeats(asked, snapshot),
        )

    def _repeats(self, asked: Asked, snapshot: Snapshot) -> tuple[str, ...]:
        """What the assistant did twice, as far as the turns at hand tell; counted where it did so last."""
        turns = in_order(snapshot.marked, snapshot.recent)
        again, calls = asked_again(turns), called_again(turns)
        earlier = self._before(asked, snapshot.session, turns, {each.seq for each in again})
        last = next((turn.seq for turn in reversed(turns) if turn.role is Speaker.ASSISTANT), 0)
        questions: list[AskedAgain | AskedEarlier] = sorted([*again, *earlier], key=lambda each: each.seq)
        self._counts.add(Count.REPEATED_QUESTIONS, sum(each.seq == last for each in questions))
        self._counts.add(Count.REPEATED_CALLS, sum(each.seq == last for each in calls))
        warnings = [*(each.warning for each in questions), *(each.warning for each in calls)]
        return tuple(warnings[-_WARNED:])

    def _before(
        self, asked: Asked, session: Session, turns: Sequence[Turn], told: Collection[int]
    ) -> list[AskedEarlier]:
        """In earlier sessions; what this one tells of already is not told twice."""
        rest = [turn for turn in turns if turn.seq not in told]

        def opens(other: Session) -> bool:
            return other.subject == session.subject and asked.may_read(other.readers, other.agent)

        return list(self._earlier(asked.principal.tenant, session, rest, opens))

    def _jumps(self, snapshot: Snapshot) -> int:
        """How often the topic changed over the exchanges that the widest window would show."""
        said = [turn.content for turn in snapshot.recent if turn.role is Speaker.USER][-self._window.most :]
        return self._topics.jumps(said, self._embedder.embed(said)) if said else 0

    def _with_whole(self, tenant: str, snapshot: Snapshot, total: int) -> Snapshot:
        """With the whole of those turns that are shown word for word, were read in part, and could fit."""
        first = snapshot.first
        wanted = {turn.seq for turn in snapshot.marked if self._could_fit(turn, total // _VERBATIM_SHARE)}
        if first is not None and first.tokens <= total:
            wanted.add(first.seq)
        wanted &= snapshot.shortened
        if not wanted:
            return snapshot
        read = self._sessions.many(tenant, snapshot.session.session_id, sorted(wanted))
        whole = {turn.seq: turn for turn in read}
        return snapshot.model_copy(
            update={
                "first": None if first is None else whole.get(first.seq, first),
                "recent": tuple(whole.get(turn.seq, turn) for turn in snapshot.recent),
                "marked": tuple(whole.get(turn.seq, turn) for turn in snapshot.marked),
                "shortened": snapshot.shortened - whole.keys(),
            }
        )

    @staticmethod
    def _could_fit(turn: Turn, most: int) -> bool:
        return turn.role is not Speaker.TOOL and turn.tokens <= most
