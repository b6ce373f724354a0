"""What a session leaves out of what agents see is told in the forgetting log, with its turns; they stay readable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from slate.domain.errors import NotFound, SubjectErased
from slate.domain.facts.model import Forgetting
from slate.domain.forgetting.fading import BY_TIME
from slate.domain.forgetting.strength import DAY_MS
from slate.ports.fact_records import FactRecords
from slate.ports.keyring import Keyring
from slate.ports.session_store import SessionStore

BELOW_4: Final = "below_4"
SUMMARISED: Final = "summarised"
TOPIC_CHANGE: Final = "topic_change"
_REASONS: Final[Mapping[str, str]] = {
    BELOW_4: "turns below importance 4 were left out of their segment's summary",
    SUMMARISED: "turns are shown by their segment's summary from now on",
    TOPIC_CHANGE: "the topic changed: the segment of these turns ended",
}


class Leaving:
    """Tells it."""

    def __init__(self, sessions: SessionStore, records: FactRecords, keyring: Keyring) -> None:
        self._sessions = sessions
        self._records = records
        self._keyring = keyring

    def out(self, tenant: str, session_id: str, rule: str, seqs: Sequence[int]) -> None:
        """These turns are left out by this rule; told again, it is one entry. A session about nobody has no log."""
        if not seqs:
            return
        with suppress(NotFound, SubjectErased):
            session = self._sessions.head(tenant, session_id)
            last = self._sessions.many(tenant, session_id, [max(seqs)])
            if session.subject is None or not last:
                return
            at = last[0].at
            entry = Forgetting(
                log_id=f"{rule}-{session_id}-{max(seqs)}",
                session_id=session_id,
                seqs=tuple(sorted(seqs)),
                rule=rule,
                reason=_REASONS[rule],
                actor=BY_TIME,
                at=at,
                numbers={"turns": len(seqs)},
                restorable_until=at + session.retention_days * DAY_MS,
                readers=session.readers,
            )
            self._records.note(tenant, self._keyring.ref(tenant, session.subject), entry)
