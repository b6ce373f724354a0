"""An operator's work on the index of a deployed Slate: made anew beside the one in use, or held against the table."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Final

import boto3

from slate.adapters.dynamodb.index_walk import walk
from slate.adapters.opensearch.admin import OpenSearchAdmin
from slate.adapters.opensearch.places import places
from slate.service.search.reindexing import Memory, Reindexing, Report
from slate.settings import Settings
from slate.wiring.aws import build_aws
from slate.wiring.choices import search_transport

SHOWN: Final = 20
"""Entries that should not be there are named up to here."""
PATIENCE_SECONDS: Final = 30
"""An operator waits for what a caller would not: an index is made or removed."""


class NoIndex(Exception):
    """There is no domain to work on."""


def reindex(env: Mapping[str, str], *, check: bool, mend: bool, tenant: str | None) -> bool:
    """Rebuild, or check, the index that the environment names; whether it agrees with the table in the end.

    Raises:
        NoIndex: the environment names none.
    """
    settings = Settings.from_env(env)
    session = boto3.Session(region_name=settings.region)
    transport = search_transport(settings, session, timeout_seconds=PATIENCE_SECONDS)
    parts = build_aws(settings, session).memory.retrieval
    if transport is None or parts.indexing is None or parts.embedder is None:
        raise NoIndex("set SLATE_SEARCH_ENDPOINT to the address of the OpenSearch domain")
    memories = _memories(session, settings, tenant)
    reindexing = Reindexing(parts.indexing, _progress)
    if check or mend:
        return _told(reindexing.check(memories, places(transport, tenant), mend=mend), mended=mend)
    if tenant is not None:
        _told(reindexing.rebuild(memories), mended=True)
        return True
    admin = OpenSearchAdmin(transport)
    name = admin.begin(parts.embedder, time.time_ns() // 1_000_000)
    sys.stderr.write(f"filling {name}; what changes meanwhile is written to both\n")
    _told(reindexing.rebuild(memories), mended=True)
    removed = admin.finish(name)
    sys.stderr.write(f"{name} is searched now" + (f"; removed {', '.join(removed)}\n" if removed else "\n"))
    return True


def _memories(session: boto3.Session, settings: Settings, tenant: str | None) -> Iterator[Memory]:
    changes = walk(session.client("dynamodb"), settings.table, tenant)
    return (Memory(change.tenant, change.kind, change.owner, change.id) for change in changes)


def _progress(report: Report) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{report.memories:,} memories, {report.entries:,} entries ")
        sys.stderr.flush()


def _told(report: Report, *, mended: bool) -> bool:
    lines = [f"{report.memories:,} memories, {report.entries:,} entries"]
    if not report.agrees:
        lines.append(f"{report.missing:,} missing, {report.old:,} old, {len(report.unknown):,} unknown")
        lines += [f"unknown: {name}" for name in report.unknown[:SHOWN]]
    sys.stdout.write("\n".join(chain(lines, [""])))
    return mended or report.agrees
