"""Writes deeds down: that one has begun before anything changes, what was read or changed before its answer leaves.

A write costs two entries, a read one. Both could be had for less: told by the table's stream, a change would need no
entry before it. But a stream's record names no author of a deletion, comes seconds late, and is gone after a day.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from slate.domain.access import Principal
from slate.domain.audit.deeds import Deed, doing
from slate.domain.audit.entries import NAMED, Entry, Phase, Touched, Verb, said
from slate.domain.errors import SlateError
from slate.domain.fences import Intent
from slate.domain.operations import under_way
from slate.ports.audit import AuditStore
from slate.ports.clock import Clock
from slate.ports.ids import Ids
from slate.ports.keyring import Keyring, Operate
from slate.service.audit.naming import items_of, session_of

SLATE: Final = "slate"
"""Who does what no request asked for at that moment."""
_VERBS: Final = {Intent.READ: Verb.READ, Intent.WRITE: Verb.WRITE, Intent.DELETE: Verb.DELETE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a request asks for."""

    principal: Principal
    verb: Verb
    act: str
    request_id: str
    subject: str | None = None
    """Whom it names."""
    session: str | None = None
    named: tuple[tuple[str, str], ...] = ()
    """Items that its path names, by kind and id: what it is about where neither a change nor the answer tells."""


class Auditing:
    """Writes deeds down."""

    def __init__(self, store: AuditStore, keyring: Keyring, operate: Operate, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._keyring = keyring
        self._operate = operate
        self._clock = clock
        self._ids = ids

    @contextmanager
    def request(self, asked: Asked) -> Iterator[Deed]:
        """A request, within its operation; whoever serves it puts its answer on the deed.

        Raises:
            Unavailable: it could not be written down: nothing may change, and no answer may leave.
        """
        tenant = asked.principal.tenant
        ref = None if asked.subject is None else self._keyring.name(tenant, asked.subject)
        entry = Entry(
            at=self._clock.now(),
            deed=asked.request_id,
            phase=Phase.DONE,
            verb=asked.verb,
            act=asked.act,
            agent=asked.principal.agent,
            key_id=asked.principal.key_id,
            ref=ref,
            session=asked.session,
        )
        with self._deed(tenant, entry, named=asked.named, answers=True) as deed:
            yield deed

    def jobs(self, act: str) -> Operate:
        """Begins operations that no request asked for at that moment: what they change is written down, as Slate's."""

        @contextmanager
        def operate(intent: Intent, tenant: str | None = None) -> Iterator[None]:
            with self._operate(intent, tenant):
                if tenant is None:
                    yield
                    return
                entry = Entry(
                    at=self._clock.now(),
                    deed=self._ids.new(),
                    phase=Phase.DONE,
                    verb=_VERBS[intent],
                    act=act,
                    agent=SLATE,
                )
                with self._deed(tenant, entry, answers=False):
                    yield

        return operate

    @contextmanager
    def _deed(
        self, tenant: str, entry: Entry, named: tuple[tuple[str, str], ...] = (), *, answers: bool
    ) -> Iterator[Deed]:
        deed = Deed(lambda ref: self._begin(tenant, entry, ref or deed.about))
        with doing(deed):
            try:
                yield deed
            except Exception as error:
                if deed.begun:
                    code = error.code if isinstance(error, SlateError) else type(error).__name__
                    with suppress(SlateError):  # that it has begun is written down, and the error says more
                        self._end(tenant, entry.model_copy(update={"phase": Phase.FAILED, "code": code}), deed, named)
                raise
            if deed.begun or answers:
                self._end(tenant, entry, deed, named)

    def _begin(self, tenant: str, entry: Entry, ref: str | None) -> None:
        about = entry.ref or ref or self._only()
        begun = {"phase": Phase.BEGUN, "ref": about, "at": self._clock.now()}
        self._store.append(tenant, [entry.model_copy(update=begun)])

    def _end(self, tenant: str, entry: Entry, deed: Deed, named: tuple[tuple[str, str], ...]) -> None:
        entry = entry.model_copy(update={"at": self._clock.now(), "session": entry.session or session_of(deed.answer)})
        touched: dict[str | None, dict[tuple[str, str], Touched]] = {}
        only = entry.ref or self._only() or deed.about
        for about in self._store.told(tenant, deed.changes):
            some = touched.setdefault(about.ref or only, {})
            some.update({(item.kind, item.id): item for item in about.items})
        if not deed.begun or entry.phase is Phase.DONE:
            self._answered(tenant, entry, only, deed.answer, touched)
        if not touched:
            touched[only] = {each: Touched(*each) for each in named}
        self._store.append(
            tenant, [_naming(entry, ref, list(some.values()), deed.more) for ref, some in touched.items()]
        )

    def _answered(
        self,
        tenant: str,
        entry: Entry,
        only: str | None,
        answer: Any,
        touched: dict[str | None, dict[tuple[str, str], Touched]],
    ) -> None:
        """What the answer holds; of what changed, the change says more, but for what it could not say."""
        for item in items_of(answer, entry.session):
            ref = only if item.subject is None else self._keyring.name(tenant, item.subject)
            some = touched.setdefault(ref, {})
            there = some.get((item.kind, item.id))
            if there is None or (there.digest is None and not there.gone):
                digest = self._digest(tenant, ref, item.kind, item.id, item.said)
                some[item.kind, item.id] = Touched(item.kind, item.id, item.version, digest)

    def _digest(self, tenant: str, ref: str | None, kind: str, name: str, told: Any) -> str | None:
        # Of what is somebody's, and nobody knows whose, a digest under the tenant's key would outlive its erasure.
        if told is None or ref is None:
            return None
        return self._store.digest(tenant, ref, [kind, name, said(told) if isinstance(told, dict) else told])

    @staticmethod
    def _only() -> str | None:
        """The one person whose data the operation has reached, if it is one."""
        operation = under_way()
        refs = {person.ref for person in operation.seen} if operation is not None else set()
        return refs.pop() if len(refs) == 1 else None


def _naming(entry: Entry, ref: str | None, items: list[Touched], more: int) -> Entry:
    beyond = more + max(len(items) - NAMED, 0)
    return entry.model_copy(update={"ref": ref, "items": tuple(items[:NAMED]), "more": beyond})
