"""The one definition of the three tables, as plain data that CDK and the local start both use.

Keys (DESIGN: every partition key starts with ``<tenant>#``, so that IAM can enforce the tenant)::

    <t>#G#<graph>      META, T#<task>, E#<parent>#<child>, I#<task> (input), R#<task> (result),
                       VALUES (looks after them), V#<key>, VH#<key>#<slot> (its last versions), VO#<call>,
                       FEED (the feed's head), F#<number> (entries up to it), M#<task> or M# (how far it is numbered)
    <t>#S#<session>    TURN#<seq>, TURNS#HEAD and what is read with it, MARK#, CONTENT#, CLIENT#, SEGMENT#, EXTRACTION#
                       (drawn in ``session_items``), VALUES, V#, VH#, VO# as in a graph
    <t>#U#<ref>        FENCE; SESSION#<created at>#<session>: a subject's sessions; facts (drawn in ``fact_items``)
    <t>#X#<extraction> EXTRACTION
    <t>#E#<export>     EXPORT, PAGE#<number>: what was written out about a person, for a while
    <t>#P#<ref or ->   EPISODE#<id>
    <t>#D#<collection> PART#<document>#<writing>#<number>; the document's head is in the tenant's list, and there,
                       as WRITING#<document>#<writing>, what has parts and is not the document
    <t>#L#<name>       LOCK
    <t>#I#<key>        one idempotency record
    <t>#N#<kind>       lists: graphs, sessions, keys, webhooks
    <t>#W#<webhook>    its deliveries, by the instant of the event
    <t>#K#<ref or ->   data keys (in the keys table)

Indexes are sparse, KEYS_ONLY and eventually consistent: hints, never the decision. A condition on the base item
decides. An index's own attributes are named after it and are removed when the item has nothing to say there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

PK, SK = "pk", "sk"
READY, TIMER, SUBJECT = "ready", "timer", "subject"
READY_PK, READY_SK = "ready_pk", "ready_sk"
TIMER_PK, TIMER_SK = "timer_pk", "timer_sk"
SUBJECT_PK = "subject_pk"
TTL = "ttl"

TIMER_SHARDS = 16


@dataclass(frozen=True, slots=True)
class IndexSpec:
    """A global secondary index, KEYS_ONLY, of string keys."""

    name: str
    pk: str
    sk: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSpec:
    """A table: its logical name, its keys (strings), indexes, and what protects it."""

    name: str
    pk: str = PK
    sk: str = SK
    indexes: tuple[IndexSpec, ...] = ()
    ttl: str | None = None
    stream: bool = False
    """NEW_AND_OLD_IMAGES, or none."""
    recovery_days: int = 35
    """Point-in-time recovery reaches back so far."""
    protected: bool = False
    """Deletion protection, and kept when the stack goes."""

    def create_arguments(self, table_name: str) -> dict[str, Any]:
        """The arguments of DynamoDB's CreateTable for a table of this shape."""
        names = [self.pk, self.sk, *(n for i in self.indexes for n in (i.pk, i.sk))]
        arguments: dict[str, Any] = {
            "TableName": table_name,
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": _schema(self.pk, self.sk),
            "AttributeDefinitions": [{"AttributeName": n, "AttributeType": "S"} for n in dict.fromkeys(names)],
        }
        if self.indexes:
            arguments["GlobalSecondaryIndexes"] = [
                {
                    "IndexName": index.name,
                    "KeySchema": _schema(index.pk, index.sk),
                    "Projection": {"ProjectionType": "KEYS_ONLY"},
                }
                for index in self.indexes
            ]
        if self.stream:
            arguments["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
        return arguments


def _schema(pk: str, sk: str) -> list[dict[str, str]]:
    return [{"AttributeName": pk, "KeyType": "HASH"}, {"AttributeName": sk, "KeyType": "RANGE"}]


MAIN = TableSpec(
    name="slate",
    indexes=(
        IndexSpec(READY, READY_PK, READY_SK),
        IndexSpec(TIMER, TIMER_PK, TIMER_SK),
        # Sorted by the base partition, so that one subject's items come grouped by where they live.
        IndexSpec(SUBJECT, SUBJECT_PK, PK),
    ),
    ttl=TTL,
    stream=True,
    protected=True,
)
# A shredded key must be final soon: point-in-time recovery of one day, and no stream that would copy keys elsewhere.
KEYS = TableSpec(name="slate-keys", recovery_days=1, protected=True)
LEDGER = TableSpec(name="slate-ledger", protected=True)

TABLES = (MAIN, KEYS, LEDGER)

FEED_FILTER: dict[str, Any] = {
    "eventName": ["INSERT", "MODIFY"],
    "dynamodb": {"Keys": {SK: {"S": ["META", {"prefix": "T#"}]}}},
}
"""What the feed's consumer takes from the stream: tasks and heads, and so none of what it writes itself."""

INDEX_FILTER: dict[str, Any] = {
    "dynamodb": {
        "Keys": {SK: {"S": [{"prefix": "TURN#"}, {"prefix": "FACT#"}, {"prefix": "EPISODE#"}, {"prefix": "DOCUMENT#"}]}}
    },
}
"""What the indexer takes from the stream: memories that can be searched, made, changed and gone."""
