"""``slate export``: all that is kept about a person, as a file of lines or a page to read."""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from slate.domain.exporting.records import ENDING, read
from slate.domain.exporting.report import report
from slate_functions.local.commanding import Key, KeysFile, Tenant, Url, client_of


def export_subject(
    subject: Annotated[str, typer.Argument(metavar="SUBJECT", help="Whose data.")],
    out: Annotated[Path | None, typer.Option(help="The file of the lines; standard output, if none is given.")] = None,
    html: Annotated[Path | None, typer.Option("--html", help="A file for a report that people read.")] = None,
    url: Url = None,
    key: Key = None,
    keys_file: KeysFile = None,
    tenant: Tenant = "acme",
) -> None:
    """Write out all that is kept about a person, with where it comes from: NDJSON, or a report in HTML, or both."""
    with client_of(url, key, keys_file, tenant) as client:
        made = client.exports.start(subject)
        typer.echo(f"{made.export_id}: being made; it can be fetched for a while under this id", err=True)
        texts = list(client.exports.texts(made.export_id))
    if html is not None:
        records = [read(line) for line in chain.from_iterable(text.split("\n") for text in texts) if line]
        html.write_text(report(records), encoding="utf-8")
    if out is not None:
        out.write_text("".join(texts), encoding="utf-8")
    elif html is None:
        sys.stdout.write("".join(texts))
    lines = read(texts[-1].rstrip("\n").rpartition("\n")[2])
    counted = lines.data["lines"] if lines.kind == ENDING else {}
    told = ", ".join(f"{count} {kind}" for kind, count in counted.items()) if isinstance(counted, dict) else ""
    typer.echo(f"done: {told or 'nothing is kept'}", err=True)
