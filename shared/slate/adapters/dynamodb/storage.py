"""What every store in this package works with, handed around as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Executor, wait
from contextvars import copy_context
from dataclasses import dataclass
from typing import TypeVar

from slate.adapters.dynamodb.calls import Calls
from slate.adapters.dynamodb.codec import Codec
from slate.adapters.dynamodb.keys import ReadyOrder
from slate.ports.blob_store import BlobStore
from slate.ports.clock import Clock

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Storage:
    """The main table, its codec, large content, the clock, and threads for calls that may run side by side."""

    calls: Calls
    codec: Codec
    blobs: BlobStore
    clock: Clock
    executor: Executor
    ready_order: ReadyOrder

    def each(self, do: Callable[[T], R], things: Iterable[T]) -> list[R]:
        """Do something with each thing, side by side; the first error is raised once all have ended."""
        # Each takes the operation under way along, which is found by context.
        futures = [self.executor.submit(copy_context().run, do, thing) for thing in things]
        wait(futures)  # nothing is still being written when the caller learns of an error
        return [future.result() for future in futures]
