"""Makes a domain's files forget: Lucene keeps what was deleted until a merge leaves it out, and may not at once.

A delete is itself kept for copies that come back: until each copy's retention lease has passed it, a merge carries the
deleted document over. Leases move every 30 seconds, by no setting. So: wait until they have passed; flush, so that the
last commit needs nothing older; merge; refresh, which lets go of the files merged away. Measured on OpenSearch 2.19.1.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from slate.adapters.opensearch.transport import Transport
from slate.ports.memory_index import Mark

_NOTHING: Final[Mapping[str, Any]] = {}


class _Step(NamedTuple):
    """``reached``: the last operation of each shard when it began; ``merge``: the task that merges, once one does."""

    reached: Mapping[str, Mapping[str, int]]
    merge: str | None

    def mark(self) -> Mark:
        return Mark(json.dumps(self._asdict(), separators=(",", ":")))


class Expunging:
    """Frees the bytes of what was deleted in the indices of an alias."""

    def __init__(self, transport: Transport, alias: str) -> None:
        self._transport = transport
        self._alias = alias

    def go_on(self, since: Mark | None) -> Mark | None:
        """Do the next thing that can be done; None: there is none left.

        Raises:
            Unavailable: the domain does not answer, or not in whole.
        """
        if since is None:
            reached = self._reached()
            return _Step(reached, None).mark() if reached else None
        step = _Step(**json.loads(since))
        if step.merge is None:
            return self._merging(step) if self._passed(step) else since
        return self._merged(step, since)

    def _merging(self, step: _Step) -> Mark | None:
        self._transport.ask_all("POST", f"{self._alias}/_flush?force=true&wait_if_ongoing=true")
        answer = self._transport.ask(
            "POST", f"{self._alias}/_forcemerge?only_expunge_deletes=true&wait_for_completion=false"
        )
        return None if answer is None else step._replace(merge=answer["task"]).mark()

    def _merged(self, step: _Step, since: Mark) -> Mark | None:
        """A merge that failed, or went with its node, is begun again."""
        task = self._transport.ask("GET", f"_tasks/{step.merge}")
        if task is not None and not task["completed"]:
            return since
        if task is None or "error" in task or task["response"]["_shards"]["failed"]:
            return step._replace(merge=None).mark()
        self._transport.ask_all("POST", f"{self._alias}/_refresh")
        return None

    def _reached(self) -> dict[str, dict[str, int]]:
        """The last operation of each shard of each index, over all of its copies."""
        reached: dict[str, dict[str, int]] = {}
        for index, shard, copy in self._copies():
            of_index = reached.setdefault(index, {})
            of_index[shard] = max(of_index.get(shard, -1), copy["seq_no"]["max_seq_no"])
        return reached

    def _passed(self, step: _Step) -> bool:
        """Whether no lease retains what had been reached; an index that is new, or gone, holds none of it."""
        return all(
            lease["retaining_seq_no"] > step.reached.get(index, _NOTHING).get(shard, -1)
            for index, shard, copy in self._copies()
            for lease in copy["retention_leases"]["leases"]
        )

    def _copies(self) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        answer = self._transport.ask_all("GET", f"{self._alias}/_stats/docs?level=shards")
        for index, stats in (answer or _NOTHING).get("indices", _NOTHING).items():
            for shard, copies in stats["shards"].items():
                for copy in copies:
                    yield index, shard, copy
