"""``slate audit``: who did what with whose memory, and whether a day's chains are whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich import box
from rich.table import Table

from slate.contract.audit import AuditEntry
from slate.domain.instants import format_instant, parse_instant
from slate_functions.local.commanding import Key, KeysFile, Misused, Tenant, Url, client_of, console_of

audit = typer.Typer(help="Who did what with memory.", no_args_is_help=True, rich_markup_mode=None)


@audit.command("show")
def show(
    session: Annotated[str | None, typer.Option(help="Only of this session.")] = None,
    subject: Annotated[str | None, typer.Option(help="Only about this person.")] = None,
    since: Annotated[str | None, typer.Option("--from", help="From this instant, as 2026-11-30T12:00:00Z.")] = None,
    until: Annotated[str | None, typer.Option("--to", help="Until this instant.")] = None,
    url: Url = None,
    key: Key = None,
    keys_file: KeysFile = None,
    tenant: Tenant = "acme",
) -> None:
    """List what was read and changed, by time; of a week where no start is given."""
    with client_of(url, key, keys_file, tenant) as client:
        found = client.audit.entries(
            session=session, subject=subject, start=_instant("--from", since), end=_instant("--to", until)
        )
        entries = sorted(found, key=lambda entry: (entry.at, entry.shard, entry.number))
    console_of().print(table_of(entries))


@audit.command("verify")
def verify(
    day: Annotated[str, typer.Argument(metavar="DAY", help="In UTC, as 2026-11-30.")],
    url: Url = None,
    key: Key = None,
    keys_file: KeysFile = None,
    tenant: Tenant = "acme",
) -> None:
    """Check a day's chains: exit 1 if an entry was removed, altered, moved or added."""
    with client_of(url, key, keys_file, tenant) as client:
        found = client.audit.verify(day)
    for flaw in found.flaws:
        place = "" if flaw.shard is None else f" chain {flaw.shard} entry {flaw.number}"
        typer.echo(f"{flaw.day}{place}: {flaw.what}")
    for deed in found.unfinished:
        typer.echo(f"deed {deed} has begun and is not done: its process was killed, or worked past midnight", err=True)
    bound = "no root binds it yet: the last entries could be missing" if found.root is None else "its root agrees"
    if found.flaws:
        typer.echo(f"{day} is not whole: {len(found.flaws)} flaws in {found.entries} entries", err=True)
        raise typer.Exit(1)
    typer.echo(f"{day} is whole: {found.entries} entries; {bound}", err=True)


def table_of(entries: Sequence[AuditEntry]) -> Table:
    """Entries as rows."""
    table = Table(box=box.SIMPLE_HEAD)
    for name in ("at", "who", "did", "in session", "items"):
        table.add_column(name, overflow="fold")
    for entry in entries:
        did = f"{entry.verb} {entry.act}" + ("" if entry.phase == "done" else f" ({entry.phase})")
        items = ", ".join(f"{i.kind} {i.id}" + ("" if i.version is None else f"@{i.version}") for i in entry.items)
        table.add_row(format_instant(entry.at), entry.agent, did, entry.session or "", items)
    return table


def _instant(option: str, text: str | None) -> int | None:
    try:
        return None if text is None else parse_instant(text)
    except ValueError as error:
        raise Misused(f"{option}: {error}") from None
