"""An assistant that asks what the person has answered in an earlier session is told so, and where the answer stands."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

from slate.domain.errors import WITHHELD, NotFound
from slate.domain.forgetting.strength import DAY_MS
from slate.domain.repeats import Answered, AskedEarlier, answered_in, asked_earlier, asks
from slate.domain.sessions import Session, Speaker, Turn
from slate.ports.answered_store import AnsweredStore
from slate.ports.keyring import Keyring
from slate.ports.session_store import SessionStore

LOOKED_BACK: Final = 6
"""Turns before an answer in which its question is looked for."""
ASKED_LATELY: Final = 10
"""Of the assistant's turns so many of the last are looked at: what was asked before them is past."""
_LOOKED_AT: Final = 5
"""Questions asked before of which it is looked up whether they are there still."""


class Repeating:
    """Remembers what was answered, and finds what is asked once more."""

    def __init__(self, answered: AnsweredStore, sessions: SessionStore, keyring: Keyring) -> None:
        self._answered = answered
        self._sessions = sessions
        self._keyring = keyring

    def listened(self, tenant: str, ref: str, session: Session, turns: Sequence[Turn], first: int) -> None:
        """Of these turns those from ``first`` on are new: the questions that they answer are kept."""
        until = session.active_at + session.retention_days * DAY_MS
        found = answered_in(turns, first, session.session_id, until)
        if found:
            self._answered.note(tenant, ref, found)

    def earlier(
        self, tenant: str, session: Session, turns: Sequence[Turn], opens: Callable[[Session], bool]
    ) -> list[AskedEarlier]:
        """What these turns ask that was answered in a session before, which this caller may see: one read if they ask.

        ``opens`` says of a session whether they may. One that is gone, or a turn of it, is no answer any more.
        """
        lately = [turn for turn in turns if turn.role is Speaker.ASSISTANT][-ASKED_LATELY:]
        if session.subject is None or not asks(lately):
            return []
        ref = self._keyring.ref(tenant, session.subject)
        kept = [each for each in self._answered.read(tenant, ref) if each.session_id != session.session_id]
        found = asked_earlier(lately, kept)[-_LOOKED_AT:]
        there = {each.before: self._there(tenant, each.before, opens) for each in found}
        return [each for each in found if there[each.before]]

    def unsaid(self, tenant: str, ref: str, turns: Collection[tuple[str, int]]) -> None:
        """These turns (session and number) are deleted: nothing that was made of them is kept."""

        def is_gone(each: Answered) -> bool:
            return (each.session_id, each.seq) in turns or (each.session_id, each.answer) in turns

        self._answered.drop(tenant, ref, is_gone)

    def _there(self, tenant: str, before: Answered, opens: Callable[[Session], bool]) -> bool:
        try:
            if not opens(self._sessions.head(tenant, before.session_id)):
                return False
            turns = self._sessions.many(tenant, before.session_id, [before.seq, before.answer])
        except (NotFound, *WITHHELD):
            return False
        return len(turns) == 2  # noqa: PLR2004  # the question and the answer
