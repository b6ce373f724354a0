"""What a stack at rest and its work are priced with. Prices change: put in those of your region and your day."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """List prices in USD, without any free tier."""

    source: str = "US East (N. Virginia), on demand, as listed in 2025"
    million_reads: float = 0.125
    million_writes: float = 0.625
    gb_second: float = 0.0000133334
    """Lambda on arm64."""
    million_invocations: float = 0.20
    million_requests: float = 1.00
    """HTTP API."""
    million_schedules: float = 1.00
    """EventBridge Scheduler."""
    key_month: float = 1.00
    """A KMS key."""
    alarm_month: float = 0.10


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """What is there while nobody calls; a test holds it to the infrastructure and the settings."""

    month_minutes: int = 43_800
    """730 hours."""
    keys: int = 2
    """Of KMS: one for data, one that signs receipts."""
    run_seconds: int = 55
    poll_seconds: int = 5
    sweeper_gb: float = 0.5
    alarm_metrics: int = 27
    """An alarm on a rate is billed for both of its metrics."""
    decay_minutes: int = 60
    """Between two runs of decay, which look at as many shards as a poll."""
    decay_gb: float = 0.5
    decay_seconds: float = 0.5
    """How long a run that finds nothing takes: an assumption, not a measurement."""
    waiting_gb: float = 0.5
    """Of the function behind the routes that wait."""
    wait_seconds: int = 20
    claim_seconds: float = 0.02
    """How long a claim that finds nothing keeps its function: an assumption, not a measurement."""

    @property
    def polls(self) -> int:
        """Of one run, which begins every minute."""
        return self.run_seconds // self.poll_seconds
