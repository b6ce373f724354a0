"""Changes and deletes turns, with every copy of them, and tells the digest that a turn was in.

What was digested from a deleted turn is withdrawn in the same transaction, so that no read shows it any more. Whether
a turn is in a closed segment is pinned: a cut in between refuses the transaction, and it is planned anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from slate.adapters.dynamodb import contents
from slate.adapters.dynamodb.calls import ConditionFailed, Item, Key, TransactionRefused, Write
from slate.adapters.dynamodb.changes import CONSTANTS, Change, put, removal
from slate.adapters.dynamodb.graph_store import LAST_PUT_MS
from slate.adapters.dynamodb.keys import (
    END,
    SEGMENT,
    TURN,
    first_key,
    merged_key,
    ref_of,
    segment_key,
    session_key,
    timer_attributes,
    turn_key,
)
from slate.adapters.dynamodb.scrub_store import scrubbing, turn_name
from slate.adapters.dynamodb.session_items import (
    STATES,
    SessionItems,
    content_place,
    is_there,
    unknown,
    unknown_turn,
)
from slate.adapters.dynamodb.storage import Storage
from slate.domain.errors import Unavailable, VersionMismatch
from slate.domain.marking import Marked
from slate.domain.sessions import Segment, Speaker, Turn

_TRIES: Final = 20
_ANY: Final = "attribute_exists(#pk) OR attribute_not_exists(#pk)"
_AT_ONCE: Final = 25


class TurnEdits:
    """Changing and deleting."""

    def __init__(self, storage: Storage, items: SessionItems) -> None:
        self._storage = storage
        self._items = items

    def change(self, tenant: str, session_id: str, turn: Turn, marked: Marked) -> tuple[Turn, Segment | None]:
        """The turn and its copies in one transaction; its segment's edition grows in it."""
        found = [each.model_dump(mode="json") for each in marked.found]
        plain = {"marks": list(marked.marks), "importance": marked.importance, "found": found}
        for attempt in range(_TRIES):
            head, item = self._read(tenant, session_id, turn.seq)
            if item["version"] != turn.version:
                raise VersionMismatch(self._whole(tenant, item).model_dump(mode="json"))
            changed = self._items.resealed(tenant, item, version=turn.version + 1, **plain)
            segment = self._segment_of(tenant, head, turn.seq)
            seen = {**CONSTANTS, ":seen": turn.version}
            writes = [
                self._pinned_to(head),
                Write(Key(item["pk"], item["sk"]), "#version = :seen", seen, item=changed),
                *self._copies(item, changed, head),
                *self._outdated(segment, withdrawn=False),
            ]
            refused = self._refused(tenant, writes, attempt)
            # Sealed bytes are never the same twice: those that are there are this very call's.
            if refused is None or (refused.get(1) or {}).get("said") == changed["said"]:
                return self._whole(tenant, changed), None if segment is None else self._after(tenant, segment)
        raise _busy()

    def _copies(self, item: Item, changed: Item, head: Item) -> list[Write]:
        before = {copy["sk"]: copy for copy in self._items.mark_items(item)}
        after = {copy["sk"]: copy for copy in self._items.mark_items(changed)}
        if head.get("first_seq") == item["seq"]:
            after[first_key(item["pk"]).sk] = self._items.first_item(changed)
        gone = [removal(Key(item["pk"], sk), _ANY) for sk in before if sk not in after]
        return [*gone, *(put(copy, _ANY) for copy in after.values())]

    def delete(self, tenant: str, session_id: str, seq: int, version: int | None) -> Segment | None:
        """Turn, copies and content in one transaction, with the withdrawal; the object goes before."""
        for attempt in range(_TRIES):
            head, item = self._read(tenant, session_id, seq)
            if version not in (None, item["version"]):
                raise VersionMismatch(self._whole(tenant, item).model_dump(mode="json"))
            segment = self._segment_of(tenant, head, seq)
            was_first = head.get("first_seq") == seq
            following = self._next_user(tenant, item) if was_first else None
            seen = {**CONSTANTS, ":seen": item["version"]}
            place = content_place(item)
            writes = [
                self._without(head, item, following),
                Write(Key(item["pk"], item["sk"]), "#version = :seen", seen, delete=True),
                *(removal(Key(c["pk"], c["sk"]), _ANY) for c in self._items.mark_items(item)),
                *([] if place is None else [self._going(place)]),
                *(self._first_after(item, following) if was_first else ()),
                *self._outdated(segment, withdrawn=True),
                *self._scrubbed(tenant, session_id, item),
            ]
            refused = self._refused(tenant, writes, attempt)
            # It is gone: by this call's own earlier try, or another's.
            if refused is None or (1 in refused and refused[1] is None):
                if place is not None:
                    self.drop_content(tenant, place)
                return None if segment is None else self._after(tenant, segment)
        raise _busy()

    def _scrubbed(self, tenant: str, session_id: str, item: Item) -> list[Write]:
        """What was made of it elsewhere is to leave it out, too; of nobody's turns nothing is."""
        ref = ref_of(item)
        if ref is None:
            return []
        return [scrubbing(tenant, ref, [turn_name(session_id, item["seq"])], self._storage.clock.now())]

    def _after(self, tenant: str, segment: Item) -> Segment:
        """The segment as it is by now: its edition is what a digest is made for."""
        there = self._storage.calls.get(tenant, Key(segment["pk"], segment["sk"]))
        return self._items.segment(tenant, there or segment)

    def _going(self, place: Key) -> Write:
        """A large content goes with its turn; should this call die, the timer remembers it."""
        due = self._storage.clock.now() + LAST_PUT_MS
        return Change().set(going=True, **timer_attributes(place, due, "memory")).on(place, "attribute_exists(#pk)")

    def drop_content(self, tenant: str, place: Key) -> None:
        """The object in all versions, with those of attempts that lost, then the item that named it."""
        item = self._storage.calls.get(tenant, place)
        if item is None:
            return
        folder = contents.blob_prefix(tenant, ref_of(item), place.pk) + place.sk.replace("#", "/") + "/"
        self._storage.blobs.delete_all(folder)
        try:
            self._storage.calls.write(tenant, removal(place, "attribute_exists(#going)"))
        except ConditionFailed:
            return  # gone

    def _read(self, tenant: str, session_id: str, seq: int) -> tuple[Item, Item]:
        head_key = session_key(tenant, session_id)
        key = turn_key(head_key.pk, seq)
        found = self._storage.calls.get_many(tenant, [head_key, key])
        if not is_there(found.get(head_key)):
            raise unknown(session_id)
        if key not in found:
            raise unknown_turn(seq)
        return found[head_key], found[key]

    def _whole(self, tenant: str, item: Item) -> Turn:
        (turn,) = self._items.whole_turns(tenant, [item]) or [self._items.turn(tenant, item)]
        return turn

    def _segment_of(self, tenant: str, head: Item, seq: int) -> Item | None:
        """The closed segment that holds a turn."""
        if seq >= head["segment_first"]:
            return None
        between = (segment_key(head["pk"], seq).sk, SEGMENT + END)
        return next(self._storage.calls.query(tenant, head["pk"], between=between, at_once=1), None)

    @staticmethod
    def _pinned_to(head: Item) -> Write:
        """The head, whose open segment begins where it was seen to, and whose first message is the one seen."""
        condition = "#state <> :deleting AND #segment_first = :segment_first AND #edits = :edits_seen"
        if "first_seq" not in head:
            condition += " AND attribute_not_exists(#first_seq)"
        seen = {":segment_first": head["segment_first"], ":edits_seen": head["edits"]}
        values = {**CONSTANTS, **{f":{n}": v for n, v in STATES.items()}, **seen}
        return Write(Key(head["pk"], head["sk"]), condition, values)

    def _without(self, head: Item, item: Item, following: Item | None) -> Write:
        """The head without this turn in its counters; the numbers of turns are never given out again."""
        users = int(item["role"] == Speaker.USER)
        change = (
            Change(users=users, tokens=item["tokens"], **STATES)
            .set(updated_at=self._storage.clock.now())
            .let(exchanges="#exchanges - :users")
            .grow("version", "edits")
        )
        if item["seq"] >= head["segment_first"]:
            change.let(segment_exchanges="#segment_exchanges - :users", segment_tokens="#segment_tokens - :tokens")
        pinned = self._pinned_to(head)
        seen = {"segment_first": head["segment_first"], "edits_seen": head["edits"]}
        if head.get("first_seq") != item["seq"]:
            return change.on(pinned.key, pinned.condition, **seen)
        if following is None:
            change.remove("first_seq")
        else:
            change.set(first_seq=following["seq"])
        write = change.on(pinned.key, pinned.condition, **seen, turns_seen=head["turns"])
        # No turn may come in between: it might be the next of the user's.
        return write.also("#turns = :turns_seen")

    def _first_after(self, item: Item, following: Item | None) -> list[Write]:
        """What stands as the user's first message once this one is gone."""
        if following is None:
            return [removal(first_key(item["pk"]), _ANY)]
        unchanged = Write(
            turn_key(item["pk"], following["seq"]), "#version = :seen", {**CONSTANTS, ":seen": following["version"]}
        )
        return [unchanged, put(self._items.first_item(following), _ANY)]

    def _next_user(self, tenant: str, item: Item) -> Item | None:
        after = (turn_key(item["pk"], item["seq"] + 1).sk, TURN + END)
        found = self._storage.calls.query(tenant, item["pk"], between=after, at_once=_AT_ONCE)
        return next((turn for turn in found if turn["role"] == Speaker.USER), None)

    def _outdated(self, segment: Item | None, *, withdrawn: bool) -> list[Write]:
        """The segment is to be digested anew; until then, what was digested from a deleted turn is not shown."""
        if segment is None:
            return []
        change = Change().grow("edition")
        if not withdrawn:
            return [change.on(Key(segment["pk"], segment["sk"]), "attribute_exists(#pk)")]
        change.remove("said").set(digested=0)
        grown = "if_not_exists(#version, :zero) + :one"
        merged = Change().let(version=grown, withdrawn=grown).remove("said")
        subject = {name: segment[name] for name in ("subject_pk",) if name in segment}
        return [
            change.on(Key(segment["pk"], segment["sk"]), "attribute_exists(#pk)"),
            merged.set(**subject).on(merged_key(segment["pk"]), _ANY),
        ]

    def _refused(self, tenant: str, writes: list[Write], attempt: int) -> Mapping[int, Item | None] | None:
        """Nothing where it was written; otherwise what was in its way: the next look plans anew."""
        try:
            self._storage.calls.transact(tenant, writes)
        except TransactionRefused as refused:
            self._storage.calls.pause(min(attempt, 4))
            return refused.failed
        return None


def _busy() -> Unavailable:
    return Unavailable("the session keeps changing, and nothing was changed by this call; repeat it")
