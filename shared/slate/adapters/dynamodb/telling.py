"""Who waits for work is told by the write that makes a task READY, whichever use case it belongs to."""

from __future__ import annotations

from typing import Final

from slate.adapters.dynamodb.calls import Item, Write
from slate.adapters.dynamodb.keys import read_ready
from slate.adapters.dynamodb.table import READY_PK, READY_SK
from slate.ports.wakeups import Wakeups, ready_topic

_PLACED: Final = f"#{READY_PK} = "


class ReadyTelling:
    """Told of every write that was applied; tells the line of the role, and that of the subject's own keys."""

    def __init__(self, wakeups: Wakeups) -> None:
        self._wakeups = wakeups

    def __call__(self, write: Write, now: Item | None) -> None:
        """``now`` is the item after the write, which a transaction does not answer."""
        if write.item is not None:
            self._tell(write.item.get(READY_PK), write.item.get(READY_SK))
        elif _PLACED in write.expression and now is not None:
            self._tell(now.get(READY_PK), now.get(READY_SK))
        elif _PLACED in write.expression:
            self._tell(write.values.get(f":{READY_PK}"), write.values.get(f":{READY_SK}"))

    def _tell(self, pk: str | None, sk: str | None) -> None:
        if pk is None or sk is None:
            return
        tenant, queue, role, _ = pk.split("#")
        self._wakeups.tell(ready_topic(tenant, queue, role))
        ref = read_ready(sk).subject_ref
        if ref is not None:
            self._wakeups.tell(ready_topic(tenant, queue, role, ref))
