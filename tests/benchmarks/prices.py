"""What a stack at rest and its work are priced with. Prices change: put in those of your region and your day."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

MONTH_HOURS: Final = 730


class Node(NamedTuple):
    """A kind of node of an OpenSearch domain."""

    memory_gb: int
    hour: float

    @property
    def graphs_gb(self) -> float:
        """Half of what the JVM leaves, which takes half and 32 GB at most, is for the vectors' graphs."""
        return (self.memory_gb - min(self.memory_gb / 2, 32)) / 2


SMALL_NODE: Final = "t3.small.search"
MASTER_NODE: Final = "m6g.large.search"
NODES: Final[Mapping[str, Node]] = MappingProxyType(
    {
        SMALL_NODE: Node(2, 0.036),
        MASTER_NODE: Node(8, 0.128),
        "r6g.large.search": Node(16, 0.167),
        "r6g.xlarge.search": Node(32, 0.335),
        "r6g.2xlarge.search": Node(64, 0.669),
        "r6g.4xlarge.search": Node(128, 1.339),
        "r6g.8xlarge.search": Node(256, 2.677),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """List prices in USD, without any free tier."""

    source: str = "US East (N. Virginia), on demand, as listed in 2025"
    million_reads: float = 0.125
    million_writes: float = 0.625
    table_gb_month: float = 0.25
    backup_gb_month: float = 0.20
    """To be able to restore to any second."""
    gb_second: float = 0.0000133334
    """Lambda on arm64."""
    million_invocations: float = 0.20
    million_requests: float = 1.00
    """HTTP API."""
    million_queue_requests: float = 0.40
    million_schedules: float = 1.00
    """EventBridge Scheduler."""
    log_gb: float = 0.50
    key_month: float = 1.00
    """A KMS key."""
    million_key_requests: float = 3.00
    alarm_month: float = 0.10
    metric_month: float = 0.30
    disk_gb_month: float = 0.122
    """Of a domain, gp3."""
    nodes: Mapping[str, Node] = field(default_factory=lambda: NODES)
    million_tokens_embedded: float = 0.02
    """Titan Text Embeddings v2."""
    million_tokens_read: float = 0.035
    million_tokens_written: float = 0.14
    """Nova Micro."""


class Rounds(NamedTuple):
    """A function that a schedule starts, and that mostly finds nothing due."""

    minutes: int
    timers: int
    """That it looks at, each as a poll of the sweeper does."""
    gb: float
    seconds: float
    """How long such a run takes: an assumption, not a measurement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """What is there while nobody calls; a test holds it to the infrastructure and the settings."""

    month_minutes: int = MONTH_HOURS * 60
    keys: int = 2
    """Of KMS: one for data, one that signs receipts."""
    run_seconds: int = 55
    poll_seconds: int = 5
    sweeper_gb: float = 0.5
    alarm_metrics: int = 33
    """An alarm on a rate is billed for both of its metrics."""
    rounds: Mapping[str, Rounds] = field(
        default_factory=lambda: {"Decay": Rounds(60, 1, 0.5, 0.5), "Erase": Rounds(5, 2, 1.0, 0.5)}
    )
    """What the clock starts beside the sweeper; by the schedule's name."""
    small_disk_gb: int = 10
    """The domain of the stage `dev`: one small node."""
    data_nodes: int = 2
    data_node: str = "r6g.large.search"
    data_disk_gb: int = 50
    masters: int = 3
    """The domain of every other stage."""
    waiting_gb: float = 0.5
    """Of the function behind the routes that wait."""
    wait_seconds: int = 20
    claim_seconds: float = 0.02
    """How long a claim that finds nothing keeps its function: an assumption, not a measurement."""

    @property
    def polls(self) -> int:
        """Of one run, which begins every minute."""
        return self.run_seconds // self.poll_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a context brings with it beyond what is counted: assumptions, to be replaced by what your agents do."""

    requests: float = 3.2
    """The user's turn, the context, the agent's turn, and a tenth of a conversation's beginning and end."""
    batches: float = 2.0
    """Of the stream, for both of its readers: at their worst, a context each."""
    vectors: float = 2.0
    """A turn has one."""
    dimension: int = 512
    neighbours: int = 16
    """Of a vector in its graph."""
    copies: int = 2
    """Of an entry, in two zones."""
    entry_kb: float = 4.0
    """On a domain's disk: the vector twice, terms, ids."""
    tokens_embedded: float = 150.0
    """Both turns, and what is asked."""
    tokens_read: float = 400.0
    tokens_written: float = 60.0
    """Of a model, for a tenth of a conversation's summary and of what is learned from it."""
    call_seconds: float = 0.005
    """Of DynamoDB."""
    embed_seconds: float = 0.3
    model_seconds: float = 0.4
    function_gb: float = 1.0
    key_requests: float = 0.3
    """Data keys are cached for five minutes."""
    log_kb: float = 3.0
    metrics: int = 30
    """Counts by name and part that CloudWatch bills while they come."""
    kept_months: float = 1.0
    """30 days, as it is set."""
