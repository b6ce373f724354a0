"""Appends turns: numbered by the head's counter, in the transaction that moves it, so that there is never a gap.

::

    head at n ──► one transaction: head IF still at n -> n+k; TURN#n+1 .. TURN#n+k, copies, contents, client_ids
                    │ refused: TURN#n+1 is this call's own: done, the reply was lost
                    │ refused: a client_id is there: its turn is left out, and answered as it is
                    └ refused: the head moved: it came with the refusal; again from there
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from slate.adapters.dynamodb import contents
from slate.adapters.dynamodb.calls import MAX_TRANSACTION, Item, Key, TransactionRefused, Write
from slate.adapters.dynamodb.changes import Change, put
from slate.adapters.dynamodb.keys import client_key, session_key, subject_attributes, timer_attributes, turn_key
from slate.adapters.dynamodb.session_items import STATES, SessionItems, is_there, said_of, unknown
from slate.adapters.dynamodb.storage import Storage
from slate.domain.errors import Conflict, NotFound, Unavailable
from slate.domain.sessions import VERBATIM_ABOVE, Session, SessionState, Speaker, Turn
from slate.ports.session_store import Appended, Appending, NewTurn

APPEND_TRIES: Final = 60
_LONGEST_PAUSE: Final = 4
"""The pause between tries stops growing here: who lost goes on among the first, however often it lost before."""
_BYTES: Final = 3_000_000
"""Of a transaction's 4 MB."""


@dataclass(slots=True)
class _Given:
    """A turn of the call, and what became of it."""

    new: NewTurn
    by: str
    """Tells it from every other turn of every call."""
    large: Item | None = None
    client: Key | None = None
    digest: bytes = b""
    seq: int | None = None
    mine: bool = False
    """This very call appended it, so that it need not be read."""

    @property
    def bytes(self) -> int:
        """At most, with its copies and its content."""
        return 3 * contents.ITEM_BYTES if self.large is not None else 3 * contents.size_of(said_of(self.new)) + 4_000


@dataclass(slots=True)
class _Plan:
    """The writes of a batch."""

    writes: list[Write] = field(default_factory=list)
    clients: dict[int, _Given] = field(default_factory=dict)
    """By the place of the write."""
    items: list[Item] = field(default_factory=list)
    """The turns' own items."""


class TurnWrites:
    """Appending."""

    def __init__(self, storage: Storage, items: SessionItems) -> None:
        self._storage = storage
        self._items = items

    def append(self, tenant: str, session: Session, turns: Sequence[NewTurn], author: Appending) -> Appended:
        """A transaction for each 24 turns or more; a refusal brings the head as it is, so that no read is needed."""
        given = [self._prepared(tenant, session, i, new, author) for i, new in enumerate(turns)]
        made: dict[int, Turn] = {}
        try:
            for batch in _batches(given):
                session = self._append(tenant, session, batch, author.agent, made)
        except (Conflict, NotFound):
            self._undo(given)
            raise
        self._undo(given)
        return Appended(self._turns(tenant, session, given, made), session)

    def _prepared(self, tenant: str, session: Session, place: int, new: NewTurn, author: Appending) -> _Given:
        by = f"{author.by}-{place}"
        given = _Given(new, by, self._items.large_item(tenant, session, new, by))
        if new.client_id is not None or author.remembered:
            ref = self._items.ref(tenant, session.subject)
            told_by = ["call", by] if new.client_id is None else ["client_id", new.client_id]
            name = self._storage.codec.digest(tenant, ref, [session.session_id, *told_by])
            given.client = client_key(session_key(tenant, session.session_id).pk, name.hex())
            given.digest = self._storage.codec.digest(tenant, ref, new.given)
        return given

    def _append(self, tenant: str, session: Session, batch: list[_Given], agent: str, made: dict[int, Turn]) -> Session:
        for attempt in range(APPEND_TRIES):
            todo = [given for given in batch if given.seq is None]
            if not todo:
                return session
            plan = self._plan(tenant, session, todo, agent)
            try:
                self._storage.calls.transact(tenant, [self._head(tenant, session, todo), *plan.writes])
            except TransactionRefused as refused:
                there = refused.failed.get(1)
                if there is None or there["by"] != todo[0].by:
                    session = self._again(tenant, session, plan, refused)
                    self._storage.calls.pause(min(attempt, _LONGEST_PAUSE))
                    continue
            for given, item in zip(todo, plan.items, strict=True):
                given.seq, given.mine = item["seq"], True
                made[item["seq"]] = self._items.turn(tenant, item, said_of(given.new))
            return self._grown(session, todo)
        raise Unavailable("others keep appending to this session; repeat the call")

    def _again(self, tenant: str, session: Session, plan: _Plan, refused: TransactionRefused) -> Session:
        """Take from a refusal which turns are there already, and where the head is now."""
        for place, given in plan.clients.items():
            there = refused.failed.get(place + 1)
            if there is None:
                continue
            if there["digest"] != given.digest:
                raise Conflict(
                    f"the client_id {given.new.client_id!r} is turn {there['seq']}, with other content; "
                    "a new turn needs a client_id of its own",
                    seq=there["seq"],
                )
            given.seq = there["seq"]
        if 0 not in refused.failed:
            return session
        head = refused.failed[0]
        if head is None or not is_there(head):
            raise unknown(session.session_id)
        return self._items.session(tenant, head)

    def _head(self, tenant: str, session: Session, todo: Sequence[_Given]) -> Write:
        """The head moves on by so many turns, if it is still where it was seen."""
        key, now = session_key(tenant, session.session_id), self._storage.clock.now()
        users = sum(given.new.role is Speaker.USER for given in todo)
        change = (
            Change(users=users, tokens=sum(given.new.tokens for given in todo), **STATES)
            .set(turns=session.turns + len(todo), last_turn_at=now, updated_at=now)
            .let(
                exchanges="#exchanges + :users",
                segment_exchanges="#segment_exchanges + :users",
                segment_tokens="#segment_tokens + :tokens",
            )
            .grow("version")
        )
        state = ":open"
        if session.state is SessionState.CLOSED:
            # Due at once: whether what follows a close is done, and when it is idle next, is seen then.
            change.set(state=STATES["open"], **timer_attributes(key, now, "memory"))
            state = ":closed"
        condition = f"#turns = :seen AND #state = {state}"
        if session.first_seq is None and users:
            change.set(first_seq=session.turns + 1 + _first_user(todo))
            condition += " AND attribute_not_exists(#first_seq)"
        return change.on(key, condition, seen=session.turns)

    def _plan(self, tenant: str, session: Session, todo: Sequence[_Given], agent: str) -> _Plan:
        plan = _Plan()
        ref = self._items.ref(tenant, session.subject)
        for i, given in enumerate(todo):
            seq, author = session.turns + 1 + i, Appending(agent, given.by)
            item, *copies = self._items.turn_items(tenant, session, seq, given.new, author, given.large)
            plan.items.append(item)
            # A copy, or what an earlier try left, is the same call's: the turn's own item decides.
            plan.writes += [put(item), *(put(copy) for copy in copies)]
            if given.large is not None:
                plan.writes.append(put(given.large))
            if given.client is not None:
                plan.clients[len(plan.writes)] = given
                known = {"seq": seq, "digest": given.digest, "by": given.by}
                plan.writes.append(put({**given.client.attributes, **subject_attributes(tenant, ref), **known}))
        if session.first_seq is None and any(given.new.role is Speaker.USER for given in todo):
            plan.writes.append(put(self._items.first_item(plan.items[_first_user(todo)])))
        return plan

    def _grown(self, session: Session, todo: Sequence[_Given]) -> Session:
        """The head after this call's own transaction; others may have gone on since."""
        users, now = sum(given.new.role is Speaker.USER for given in todo), self._storage.clock.now()
        first = session.first_seq
        if first is None and users:
            first = session.turns + 1 + _first_user(todo)
        return session.model_copy(
            update={
                "turns": session.turns + len(todo),
                "exchanges": session.exchanges + users,
                "segment_exchanges": session.segment_exchanges + users,
                "segment_tokens": session.segment_tokens + sum(given.new.tokens for given in todo),
                "state": SessionState.OPEN,
                "first_seq": first,
                "last_turn_at": now,
                "updated_at": now,
                "version": session.version + 1,
            }
        )

    def _turns(self, tenant: str, session: Session, given: Sequence[_Given], made: dict[int, Turn]) -> list[Turn]:
        pk = session_key(tenant, session.session_id).pk
        others = [turn_key(pk, one.seq or 0) for one in given if not one.mine]
        found = self._storage.calls.get_many(tenant, others) if others else {}
        known = {turn.seq: turn for turn in self._items.whole_turns(tenant, list(found.values()))}
        turns = {**known, **made}
        for one in given:
            if one.seq not in turns:
                raise Conflict(
                    f"the turn {one.seq} of the client_id {one.new.client_id!r} was deleted; leave it out", seq=one.seq
                )
        return [turns[one.seq or 0] for one in given]

    def _undo(self, given: Sequence[_Given]) -> None:
        """Objects that nothing names, since their turns were there already, or were not appended, go."""
        for one in given:
            if one.large is not None and not one.mine and contents.BLOB in one.large:
                self._storage.blobs.delete_all(one.large[contents.BLOB])


def _first_user(todo: Sequence[_Given]) -> int:
    return next(i for i, given in enumerate(todo) if given.new.role is Speaker.USER)


def _batches(given: Sequence[_Given]) -> Iterator[list[_Given]]:
    """Runs that each fit a transaction, beside the head and the first message."""
    batch: list[_Given] = []
    items, size = 2, 0
    for one in given:
        own = 1 + (one.large is not None) + (one.client is not None) + _is_copied(one.new)
        if batch and (items + own > MAX_TRANSACTION or size + one.bytes > _BYTES):
            yield batch
            batch, items, size = [], 2, 0
        batch.append(one)
        items, size = items + own, size + one.bytes
    if batch:
        yield batch


def _is_copied(new: NewTurn) -> bool:
    return bool(new.marks) or new.importance > VERBATIM_ABOVE
