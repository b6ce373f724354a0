"""How keys are built, and read back: nothing else in the project knows their form.

Ids never contain ``#``, so that a prefix that ends in one reaches exactly what it names.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final, NamedTuple

from slate.adapters.dynamodb.calls import Item, Key
from slate.adapters.dynamodb.table import READY_PK, READY_SK, SUBJECT_PK, TIMER_PK, TIMER_SHARDS, TIMER_SK
from slate.domain.values import KEPT_VERSIONS, Owner, OwnerKind

META: Final = "META"
TASK: Final = "T#"
FEED: Final = "FEED"
MARK: Final = "M#"
PAGE: Final = "F#"
MAX_SEQ: Final = 999_999_999_999
"""A feed's numbers have twelve digits."""
NOBODY: Final = "-"
"""Stands where a ref would: no ref is a hyphen."""
END: Final = "\U0010ffff"
"""Sorts after every character an id may have."""


class Partition(NamedTuple):
    """What a partition key says: ``<tenant>#<letter>#<owner>``."""

    tenant: str
    letter: str
    """What kind of thing the partition is of: a graph, a session, a person."""
    owner: str


def partition_of(pk: str) -> Partition:
    """A partition key, read back."""
    return Partition(*pk.split("#", 2))


def graph_pk(tenant: str, graph_id: str) -> str:
    """The partition of a graph."""
    return f"{tenant}#G#{graph_id}"


def list_pk(tenant: str, kind: str) -> str:
    """The partition of a list: graphs, keys."""
    return f"{tenant}#N#{kind}"


def deliveries_pk(tenant: str, webhook_id: str) -> str:
    """The partition of a webhook's deliveries."""
    return f"{tenant}#W#{webhook_id}"


def head_key(tenant: str, graph_id: str) -> Key:
    """A graph's head."""
    return Key(graph_pk(tenant, graph_id), META)


def task_key(tenant: str, graph_id: str, task_id: str) -> Key:
    """A task."""
    return Key(graph_pk(tenant, graph_id), TASK + task_id)


def edge_key(tenant: str, graph_id: str, parent: str, child: str) -> Key:
    """The edge from a parent to a child."""
    return Key(graph_pk(tenant, graph_id), f"E#{parent}#{child}")


def input_key(tenant: str, graph_id: str, task_id: str) -> Key:
    """An input too large for its task's item."""
    return Key(graph_pk(tenant, graph_id), f"I#{task_id}")


def result_key(tenant: str, graph_id: str, task_id: str) -> Key:
    """A result too large for its task's item."""
    return Key(graph_pk(tenant, graph_id), f"R#{task_id}")


def feed_key(tenant: str, graph_id: str) -> Key:
    """The head of a graph's feed."""
    return Key(graph_pk(tenant, graph_id), FEED)


def mark_key(tenant: str, graph_id: str, task_id: str | None) -> Key:
    """How far the feed has numbered a task, or the graph's own head."""
    return Key(graph_pk(tenant, graph_id), MARK + (task_id or ""))


def feed_page_key(tenant: str, graph_id: str, seq: int) -> Key:
    """Entries of a graph's feed, up to this number: the first page at or after a number's own key holds it."""
    return Key(graph_pk(tenant, graph_id), f"{PAGE}{seq:012d}")


def graph_entry_key(tenant: str, created_at: int, graph_id: str) -> Key:
    """A graph's entry in the tenant's list, in the order of creation."""
    return Key(list_pk(tenant, "graphs"), f"{created_at}#{graph_id}")


def prefix(start: str) -> tuple[str, str]:
    """The range of all sort keys that start so; ``start`` ends in a delimiter."""
    return start, start + END


def subject_attributes(tenant: str, ref: str | None) -> Item:
    """Every item that holds data about a person carries this; erasing and exporting walk its index."""
    return {} if ref is None else {SUBJECT_PK: f"{tenant}#{ref}"}


def ref_of(item: Item) -> str | None:
    """The ref that an item is about and sealed under."""
    indexed = item.get(SUBJECT_PK)
    return None if indexed is None else str(indexed).rpartition("#")[2]


def _shard(text: str, shards: int) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest()) % shards


def timer_pk(kind: str, shard: int) -> str:
    """A partition of the timer index."""
    return f"{kind}#{shard:02d}"


def timer_attributes(key: Key, due: int, kind: str = "task") -> Item:
    """What puts an item into the timer index at an instant."""
    shard = _shard("#".join(key), TIMER_SHARDS)
    return {TIMER_PK: timer_pk(kind, shard), TIMER_SK: f"{due:015d}#{key[0]}#{key[1]}"}


def timer_due(item: Item) -> int:
    """The instant at which an item that is in the timer index falls due."""
    return int(str(item[TIMER_SK]).partition("#")[0])


class Place(NamedTuple):
    """Where a READY task stands in its queue."""

    queue: str
    role: str
    priority: int
    lease_seconds: int
    subject_ref: str | None


def ready_pk(tenant: str, queue: str, role: str, shard: int) -> str:
    """A partition of the ready index."""
    return f"{tenant}#{queue}#{role}#{shard}"


class ReadyOrder(NamedTuple):
    """How READY tasks are spread and sorted."""

    shards: int = 1
    level_ms: int = 600_000
    """A level of priority is worth so much waiting."""


def ready_attributes(tenant: str, place: Place, task_id: str, now: int, order: ReadyOrder) -> Item:
    """What puts a task into the ready index: by rank, which is when a task of the highest priority would stand there.

    So the urgent come first among those that became READY about together, and none waits for ever. The ref lets a key
    bound to a subject pass over what is others'; the lease lets a claim write its end, and its timer entry; neither
    needs a read.
    """
    rank = now + (9 - place.priority) * order.level_ms
    return {
        READY_PK: ready_pk(tenant, place.queue, place.role, _shard(task_id, order.shards)),
        READY_SK: f"{rank:015d}#{place.priority}#{place.subject_ref or NOBODY}#{task_id}#{place.lease_seconds}",
    }


class Ready(NamedTuple):
    """What a task's sort key in the ready index says."""

    rank: int
    priority: int
    subject_ref: str | None
    lease_seconds: int


def read_ready(text: str) -> Ready:
    """A sort key of the ready index, read back."""
    rank, priority, ref, _, lease = text.split("#")
    return Ready(int(rank), int(priority), None if ref == NOBODY else ref, int(lease))


VALUE: Final = "V#"
VALUES: Final = "VALUES"
_OWNERS: Final = {OwnerKind.GRAPH: "G", OwnerKind.SESSION: "S"}


def owner_pk(tenant: str, owner: Owner) -> str:
    """The partition of whatever values belong to."""
    return f"{tenant}#{_OWNERS[owner.kind]}#{owner.id}"


def values_key(pk: str) -> Key:
    """What all values of an owner have in common: that there are some, and when to look whether they are to go."""
    return Key(pk, VALUES)


def value_key(pk: str, key: str) -> Key:
    """A value."""
    return Key(pk, VALUE + key)


def version_key(pk: str, key: str, version: int) -> Key:
    """An earlier version of a value, in the place of the one that it pushes out."""
    return Key(pk, f"VH#{key}#{version % KEPT_VERSIONS:02d}")


def once_key(pk: str, by: str) -> Key:
    """What a change that is remembered did."""
    return Key(pk, f"VO#{by}")


def lock_key(tenant: str, name: str) -> Key:
    """A named lock."""
    return Key(f"{tenant}#L#{name}", "LOCK")


TURN: Final = "TURN#"
BESIDE_TURNS: Final = "TURNS#"
"""Sorts right after every turn, so that one query backward reads what stands beside the turns, and the last of them."""
MARKED: Final = "MARK#"
CONTENT_OF_TURN: Final = "CONTENT#"
SEGMENT: Final = "SEGMENT#"
EXTRACTION: Final = "EXTRACTION#"
SESSION: Final = "SESSION#"
LIVING_FACT: Final = "FACT#"
PAST_FACT: Final = "PAST#"
EARLIER_FACT: Final = "WAS#"


def session_pk(tenant: str, session_id: str) -> str:
    """The partition of a session."""
    return f"{tenant}#S#{session_id}"


def session_key(tenant: str, session_id: str) -> Key:
    """A session's head."""
    return Key(session_pk(tenant, session_id), BESIDE_TURNS + "HEAD")


def first_key(pk: str) -> Key:
    """The user's first message, once more."""
    return Key(pk, BESIDE_TURNS + "FIRST")


def merged_key(pk: str) -> Key:
    """The merged digest."""
    return Key(pk, BESIDE_TURNS + "MERGED")


def pinned_key(pk: str) -> Key:
    """The pinned state."""
    return Key(pk, BESIDE_TURNS + "PINNED")


def usage_key(pk: str) -> Key:
    """What models were asked for a session's sake."""
    return Key(pk, BESIDE_TURNS + "USAGE")


def system_key(pk: str) -> Key:
    """The system message."""
    return Key(pk, BESIDE_TURNS + "SYSTEM")


def turn_key(pk: str, seq: int) -> Key:
    """A turn."""
    return Key(pk, f"{TURN}{seq:09d}")


def mark_key_of_turn(pk: str, seq: int, importance: int) -> Key:
    """A turn to serve word for word, once more: the most important and the newest sort last."""
    return Key(pk, f"{MARKED}{importance:02d}#{seq:09d}")


def content_key(pk: str, by: str) -> Key:
    """The content of a turn that is too large for its item, by the call that brought it."""
    return Key(pk, CONTENT_OF_TURN + by)


def client_key(pk: str, digest: str) -> Key:
    """What is known of a client_id."""
    return Key(pk, f"CLIENT#{digest}")


def segment_key(pk: str, last_seq: int) -> Key:
    """A closed segment, by its last turn: the first from a turn on is the one that holds it."""
    return Key(pk, f"{SEGMENT}{last_seq:09d}")


def extraction_key(tenant: str, extraction_id: str) -> Key:
    """An extraction; its id is all that a caller has."""
    return Key(f"{tenant}#X#{extraction_id}", "EXTRACTION")


def extraction_entry_key(pk: str, extraction_id: str) -> Key:
    """An extraction of a session, among the session's own."""
    return Key(pk, EXTRACTION + extraction_id)


def session_entry_keys(tenant: str, ref: str | None, created_at: int, session_id: str) -> list[Key]:
    """A session's entries in the order of creation: in the tenant's list, and in its subject's."""
    sk = f"{SESSION}{created_at:015d}#{session_id}"
    return [Key(pk, sk) for pk in (list_pk(tenant, "sessions"), *(() if ref is None else (subject_pk(tenant, ref),)))]


def session_of_entry(sk: str) -> str:
    """The session that an entry of a list is of."""
    return sk.split("#", 2)[2]


def subject_pk(tenant: str, ref: str) -> str:
    """The partition of a subject."""
    return f"{tenant}#U#{ref}"


HOLD: Final = "HOLD#"
SCRUB: Final = "SCRUB"


def hold_key(tenant: str, hold_id: str) -> Key:
    """A hold: in the ledger that it stands, in the main table whom it names, and why."""
    return Key(list_pk(tenant, "holds"), HOLD + hold_id)


def fence_key(tenant: str, ref: str) -> Key:
    """The fence of a subject."""
    return Key(subject_pk(tenant, ref), "FENCE")


def owner_head_key(pk: str, owner: Owner) -> Key:
    """The head of whatever values belong to."""
    return Key(pk, META if owner.kind is OwnerKind.GRAPH else BESIDE_TURNS + "HEAD")


def context_part_key(tenant: str, context_id: str, number: int) -> Key:
    """A part of what an agent was given; the first is all of it, unless it is very large."""
    return Key(f"{tenant}#C#{context_id}", f"RECEIPT#{number:03d}")


AUDIT_ENTRY: Final = "ENTRY#"
AUDIT_DAY: Final = "DAY#"
AUDIT_ROOT: Final = "ROOT#"


def audit_pk(tenant: str, day: str, shard: int) -> str:
    """The partition of a chain of the audit."""
    return f"{tenant}#A#{day}#{shard:02d}"


def audit_day_key(tenant: str, day: str) -> Key:
    """That a day has entries, and is to be bound once it is over."""
    return Key(list_pk(tenant, "audit"), AUDIT_DAY + day)


def audit_root_key(tenant: str, day: str) -> Key:
    """The root of a day, in the ledger."""
    return Key(f"{tenant}#A#roots", AUDIT_ROOT + day)


def audit_attributes(tenant: str, ref: str | None) -> Item:
    """What finds the entries about a person: of no index that erasing walks, since entries stay."""
    return {} if ref is None else {SUBJECT_PK: f"{tenant}#A#{ref}"}


EXPORT: Final = "EXPORT"
EXPORT_PAGE: Final = "PAGE#"


def export_key(tenant: str, export_id: str) -> Key:
    """The head of an export."""
    return Key(f"{tenant}#E#{export_id}", EXPORT)


def export_page_key(tenant: str, export_id: str, number: int) -> Key:
    """A page of an export."""
    return Key(export_key(tenant, export_id).pk, f"{EXPORT_PAGE}{number:06d}")


EPISODE: Final = "EPISODE#"
DOCUMENT: Final = "DOCUMENT#"
PART: Final = "PART#"
WRITING: Final = "WRITING#"


def episodes_pk(tenant: str, ref: str | None) -> str:
    """The partition of the episodes about a person, or about nobody."""
    return f"{tenant}#P#{ref or NOBODY}"


def episode_key(tenant: str, ref: str | None, episode_id: str) -> Key:
    """An episode."""
    return Key(episodes_pk(tenant, ref), EPISODE + episode_id)


def document_key(tenant: str, document_id: str) -> Key:
    """A document's head, in the tenant's list."""
    return Key(list_pk(tenant, "documents"), DOCUMENT + document_id)


def writing_key(tenant: str, document_id: str, generation: str) -> Key:
    """What says that a writing of a document has parts and is not, or is no more, the document; in the same list."""
    return Key(list_pk(tenant, "documents"), f"{WRITING}{document_id}#{generation}")


def parts_prefix(document_id: str, generation: str) -> str:
    """Where the parts of one writing of a document stand, in its collection's partition."""
    return f"{PART}{document_id}#{generation}#"


def part_key(tenant: str, collection: str, document_id: str, generation: str, number: int) -> Key:
    """A part of a document."""
    return Key(f"{tenant}#D#{collection}", f"{parts_prefix(document_id, generation)}{number:05d}")
