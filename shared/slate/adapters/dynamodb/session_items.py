"""Sessions as items, and items as sessions.

::

    TURN#<seq>          a turn: who, when, marks, importance, tokens; sealed: what was said
    TURNS#FIRST         the user's first message, once more
    TURNS#HEAD          the head: state, counters, who may read; small, since every append writes it
    TURNS#MERGED        the merged digest
    TURNS#PINNED        the pinned state
    TURNS#SYSTEM        the system message
    TURNS#USAGE         what models were asked for its sake
    MARK#<imp>#<seq>    a turn to serve word for word, once more
    CONTENT#<by>        what was said where it is too large for the turn's item, or the name of its object
    CLIENT#<digest>     the number of the turn that came with a client_id
    SEGMENT#<last>      a closed run of turns and its digest
    EXTRACTION#<id>     an extraction that is about this session
    V#, VH#, VO#, VALUES   its values, as a graph's

A copy of a turn is the turn's item under another sort key: it opens for the turn's own place alone. In the head an
open session is ACTIVE, as a graph is: that is what takes values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from slate.adapters.dynamodb import contents
from slate.adapters.dynamodb.calls import Item, Key
from slate.adapters.dynamodb.codec import to_json
from slate.adapters.dynamodb.keys import (
    content_key,
    first_key,
    mark_key_of_turn,
    merged_key,
    partition_of,
    pinned_key,
    ref_of,
    session_key,
    subject_attributes,
    system_key,
    turn_key,
)
from slate.adapters.dynamodb.storage import Storage
from slate.domain.errors import NotFound
from slate.domain.sessions import VERBATIM_ABOVE, Merged, Pinned, Segment, Session, SessionState, Turn
from slate.ports.session_store import Appending, NewTurn, PinnedState

ACTIVE: Final = "ACTIVE"
CLOSED: Final = "CLOSED"
DELETING: Final = "DELETING"
STATES: Final[Mapping[str, Any]] = {"open": ACTIVE, "closed": CLOSED, "deleting": DELETING}
"""Values for conditions: ``:open``, ``:closed``, ``:deleting``."""

INLINE_TURN_BYTES: Final = 32 * 1024
"""What was said stands on the turn's item up to here; so a page of 1 MB holds 30 turns at least."""
SHOWN_BEGINNING: Final = 6_000
SHOWN_END: Final = 2_000
"""Characters that the turn's item still shows of what is too large for it."""

_SAID: Final = "said"
_LARGE: Final = "content_by"
"""Names the content's item."""


class SessionItems:
    """Seals sessions into items and opens them."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def ref(self, tenant: str, subject: str | None) -> str | None:
        """What stands for the subject in keys."""
        return None if subject is None else self._storage.codec.keyring.ref(tenant, subject)

    # ---- heads

    def head_item(self, tenant: str, session: Session, digest: bytes) -> Item:
        """The head of a new session."""
        key, ref = session_key(tenant, session.session_id), self.ref(tenant, session.subject)
        optional = {"window": session.window, "agent": session.agent}
        return {
            **key.attributes,
            **subject_attributes(tenant, ref),
            **{name: value for name, value in optional.items() if value is not None},
            "state": ACTIVE,
            "version": session.version,
            "readers": list(session.readers),
            "retention_days": session.retention_days,
            "turns": 0,
            "exchanges": 0,
            "segment": 1,
            "segment_first": 1,
            "segment_exchanges": 0,
            "segment_tokens": 0,
            "edits": 0,
            "created_at": session.created_at,
            "updated_at": session.updated_at,
            "digest": digest,
            "said": self._storage.codec.seal(tenant, ref, key, _SAID, {"subject": session.subject}),
        }

    def session(self, tenant: str, item: Item, system: Item | None = None) -> Session:
        """A head as it stands."""
        said = self.opened(tenant, item)
        counters = ("turns", "exchanges", "segment", "segment_first", "segment_exchanges", "segment_tokens", "edits")
        plain = (*counters, "retention_days", "readers", "created_at", "updated_at", "version")
        optional = ("window", "agent", "first_seq", "last_turn_at", "extraction_id")
        return Session(
            session_id=partition_of(item["pk"]).owner,
            subject=said["subject"],
            system=None if system is None else self.opened(tenant, system),
            state=SessionState.OPEN if item["state"] == ACTIVE else SessionState.CLOSED,
            **{name: item[name] for name in plain},
            **{name: item.get(name) for name in optional},
        )

    # ---- what stands beside the turns

    def sealed(self, tenant: str, ref: str | None, key: Key, value: Any, **plain: Any) -> Item:
        """An item with one sealed value."""
        sealed = self._storage.codec.seal(tenant, ref, key, _SAID, value)
        return {**key.attributes, **subject_attributes(tenant, ref), **plain, _SAID: sealed}

    def opened(self, tenant: str, item: Item) -> Any:
        """That value again."""
        return self._storage.codec.open(tenant, ref_of(item), Key(item["pk"], item["sk"]), _SAID, item[_SAID])

    def system_item(self, tenant: str, ref: str | None, pk: str, system: str) -> Item:
        """The system message; it never changes."""
        return self.sealed(tenant, ref, system_key(pk), system)

    def pinned_item(self, tenant: str, ref: str | None, pk: str, pinned: Pinned, version: int) -> Item:
        """The pinned state at a version."""
        return self.sealed(tenant, ref, pinned_key(pk), pinned.model_dump(mode="json"), version=version)

    def pinned(self, tenant: str, item: Item) -> PinnedState:
        """The pinned state."""
        return PinnedState(Pinned.model_validate(self.opened(tenant, item)), item["version"])

    def merged_item(self, tenant: str, ref: str | None, pk: str, merged: Merged) -> Item:
        """The merged digest at its version."""
        said = merged.model_dump(mode="json", exclude={"version"})
        return self.sealed(tenant, ref, merged_key(pk), said, version=merged.version)

    def merged(self, tenant: str, item: Item | None) -> Merged | None:
        """The merged digest; one that was withdrawn has no segments."""
        if item is None:
            return None
        said = self.opened(tenant, item) if _SAID in item else {}
        return Merged.model_validate({**said, "version": item["version"]})

    def segment(self, tenant: str, item: Item) -> Segment:
        """A closed segment."""
        summary = self.opened(tenant, item) if _SAID in item else None
        names = ("number", "first_seq", "last_seq", "edition", "digested")
        return Segment.model_validate({**{n: item[n] for n in names}, "summary": summary})

    # ---- turns

    def turn_items(
        self, tenant: str, session: Session, seq: int, new: NewTurn, author: Appending, large: Item | None
    ) -> list[Item]:
        """A turn's item, and its copies."""
        ref = self.ref(tenant, session.subject)
        said = said_of(new)
        key = turn_key(session_key(tenant, session.session_id).pk, seq)
        item = {
            **self.sealed(tenant, ref, key, said if large is None else shortened(said)),
            "seq": seq,
            "role": new.role,
            "marks": list(new.marks),
            "importance": new.importance,
            "tokens": new.tokens,
            "segment": session.segment,
            "agent": author.agent,
            "by": author.by,
            "at": new.at,
            "version": 1,
            "size": contents.size_of(said),
            **({} if large is None else {_LARGE: author.by}),
        }
        return [item, *self.mark_items(item)]

    @staticmethod
    def mark_items(item: Item) -> list[Item]:
        """The copy of a turn that is to be served word for word; none of another."""
        if not item["marks"] and item["importance"] <= VERBATIM_ABOVE:
            return []
        return [{**item, "sk": mark_key_of_turn(item["pk"], item["seq"], item["importance"]).sk}]

    @staticmethod
    def first_item(item: Item) -> Item:
        """The copy of the user's first message."""
        return {**item, "sk": first_key(item["pk"]).sk}

    def large_item(self, tenant: str, session: Session, new: NewTurn, by: str) -> Item | None:
        """The item of content that is too large for its turn's; the object is written before it."""
        said = said_of(new)
        if contents.size_of(said) <= INLINE_TURN_BYTES:
            return None
        key = content_key(session_key(tenant, session.session_id).pk, by)
        return contents.item_for(self._storage, tenant, self.ref(tenant, session.subject), key, said)

    def resealed(self, tenant: str, item: Item, **plain: Any) -> Item:
        """A turn's item with other marks."""
        found = plain.pop("found")
        said = {**self.said(tenant, item), "found": found}
        key = turn_key(item["pk"], item["seq"])
        return {**item, **plain, _SAID: self._storage.codec.seal(tenant, ref_of(item), key, _SAID, said)}

    def said(self, tenant: str, item: Item) -> Any:
        """What a turn's item, or a copy of it, holds."""
        key = turn_key(item["pk"], item["seq"])
        return self._storage.codec.open(tenant, ref_of(item), key, _SAID, item[_SAID])

    def turn(self, tenant: str, item: Item, whole: Any = None) -> Turn:
        """A turn; ``whole`` is what was said where its item does not hold all of it."""
        said = self.said(tenant, item)
        if whole is not None:
            said = {**whole, "found": said["found"]}
        names = ("seq", "role", "marks", "importance", "tokens", "segment", "agent", "at", "version")
        return Turn.model_validate({**said, **{name: item[name] for name in names}})

    def whole_turns(self, tenant: str, items: list[Item]) -> list[Turn]:
        """Turns with all that was said; what stands on items of its own takes a read more for all of them."""
        places = {item[_LARGE]: content_key(item["pk"], item[_LARGE]) for item in items if _LARGE in item}
        found = self._storage.calls.get_many(tenant, list(places.values())) if places else {}
        fetched = self._storage.each(
            lambda entry: (entry[0], contents.read(self._storage, tenant, entry[1])), found.items()
        )
        whole = dict(fetched)
        turns = []
        for item in items:
            large = item.get(_LARGE)
            if large is not None and places[large] not in whole:
                continue  # deleted between the two reads
            turns.append(self.turn(tenant, item, None if large is None else whole[places[large]]))
        return turns


def is_large(item: Item) -> bool:
    """Whether a turn's item holds only the beginning and the end of what was said."""
    return _LARGE in item


def content_place(item: Item) -> Key | None:
    """The key of a large turn's content."""
    return content_key(item["pk"], item[_LARGE]) if _LARGE in item else None


def said_of(new: NewTurn) -> dict[str, Any]:
    """What is sealed of a turn."""
    return {
        "content": new.content,
        "name": new.name,
        "tool_calls": [call.model_dump(mode="json") for call in new.tool_calls],
        "tool_call_id": new.tool_call_id,
        "client_id": new.client_id,
        "found": [found.model_dump(mode="json") for found in new.found],
    }


def shortened(said: Mapping[str, Any]) -> dict[str, Any]:
    """The beginning and the end of what was said, with a marker between."""
    calls = said["tool_calls"]
    if contents.size_of(calls) > SHOWN_BEGINNING + SHOWN_END:
        calls = [{**call, "arguments": {"shortened": _ends(to_json(call["arguments"]).decode())}} for call in calls[:8]]
    return {**said, "content": _ends(said["content"]), "tool_calls": calls}


def _ends(text: str) -> str:
    left_out = len(text) - SHOWN_BEGINNING - SHOWN_END
    if left_out <= 0:
        return text
    return f"{text[:SHOWN_BEGINNING]}\n[... {left_out:,} characters left out ...]\n{text[-SHOWN_END:]}"


def is_there(item: Item | None) -> bool:
    """Whether there is a session, and it is not being deleted."""
    return item is not None and item["state"] != DELETING


def unknown(session_id: str) -> NotFound:
    """There is no such session."""
    return NotFound(f"there is no session {session_id!r}")


def unknown_turn(seq: int) -> NotFound:
    """There is no such turn."""
    return NotFound(f"there is no turn {seq} in this session (any more)")
