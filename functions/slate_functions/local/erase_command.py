"""``slate erase``: has everything about a person erased, and shows how far it is."""

from __future__ import annotations

import json
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from slate.client import SlateClient
from slate.contract.erasures import ErasureStatus
from slate.domain.erasing.steps import OPEN, Step
from slate.domain.instants import format_instant
from slate_functions.local.commanding import Key, KeysFile, Tenant, Url, client_of

_WAY: Final = (
    Step.RECEIVED,
    Step.FENCED,
    Step.KEYS_SHREDDED,
    Step.INDEX_DELETED,
    Step.PRIMARY_DELETED,
    Step.DRAINED,
    Step.EXPUNGED,
    Step.VERIFIED,
    Step.RECEIPTED,
)


def erase(
    subject: Annotated[str, typer.Argument(metavar="SUBJECT", help="Whose data is to go.")],
    reason: Annotated[str, typer.Option(help="Why; kept sealed, and gone with the person's keys.")] = "on request",
    follow: Annotated[bool, typer.Option("--follow", help="Show how far it is until the receipt is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, a line for each look.")] = False,
    url: Url = None,
    key: Key = None,
    keys_file: KeysFile = None,
    tenant: Tenant = "acme",
) -> None:
    """Erase everything about a person: at once nothing is served any more, and in some days a receipt proves it.

    Asking again goes on with the erasure that is open. What stands on standard output is the erasure's id.
    """
    with client_of(url, key, keys_file, tenant) as client:
        asked = client.erasures.ask(subject, reason)
        if as_json:
            _as_json(client, asked, follow=follow)
            return
        typer.echo(asked.erasure_id)
        if follow:
            _followed(client, asked)
        else:
            typer.echo(_line_of(asked), err=True)


def _as_json(client: SlateClient, asked: ErasureStatus, *, follow: bool) -> None:
    for status in client.erasures.follow(asked.erasure_id) if follow else (asked,):
        typer.echo(json.dumps(status.model_dump(mode="json")))


def _followed(client: SlateClient, asked: ErasureStatus) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[said]}"))
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(asked.state.value, total=len(_WAY) - 1, said="")
        for status in client.erasures.follow(asked.erasure_id):
            bar.update(task, description=status.state.value, completed=_done(status), said=_said(status))
    status = client.erasures.get(asked.erasure_id)
    for step in status.steps:
        counts = ", ".join(f"{name} {count:,}" for name, count in step.counts.items())
        typer.echo(f"{format_instant(step.at)} {step.step.value:16} {counts}".rstrip(), err=True)
    typer.echo(_line_of(status), err=True)


def _done(status: ErasureStatus) -> float:
    """Steps that are done, and the part of the one under way."""
    place = _WAY.index(status.state) if status.state in _WAY else len(_WAY) - 1 if status.state not in OPEN else 0
    moving = status.under_way
    return place + (min(moving.done / moving.of, 1.0) if moving is not None and moving.of else 0.0)


def _said(status: ErasureStatus) -> str:
    if status.failure is not None:
        return f"{status.failures} tries failed ({status.failure})"
    if status.under_way is not None:
        return f"{status.under_way.done:,} of {status.under_way.of:,}"
    return "" if status.next_at is None else f"goes on {format_instant(status.next_at)}"


def _line_of(status: ErasureStatus) -> str:
    if status.state is Step.HELD:
        return "held: it goes on when the last hold ends"
    if status.state in OPEN:
        return f"{status.state.value}: nothing is served any more; due by {format_instant(status.due_by)}"
    return f"done; its receipt is at /v1/erasures/{status.erasure_id}/receipt"
