"""``slate verify-receipt``: whether a receipt is what was signed, told offline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from slate.domain.erasing.receipts import ReceiptClaims, subject_digest
from slate.domain.instants import format_instant
from slate_functions.local.commanding import Misused, console_of


def verify_receipt(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The receipt, as GET .../receipt answered it.")],
    key: Annotated[
        Path, typer.Option("--key", metavar="PUB", help="The public key: PEM, or /.well-known/jwks.json in a file.")
    ],
    ref: Annotated[str | None, typer.Option(help="Check also that it is about the person of this ref.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="What it claims, as JSON.")] = False,
) -> None:
    """Check a receipt of an erasure, offline: by whom it was signed, letter for letter; exit 1 if it is not genuine."""
    from slate.adapters.jose.receipts import BadKey, BadReceipt, keys_of, verified  # it loads cryptography

    try:
        claims = verified(file.read_text(encoding="utf-8").removesuffix("\n"), keys_of(key.read_bytes()))
    except BadKey as error:
        raise Misused(f"{key}: {error}") from None
    except (BadReceipt, UnicodeDecodeError) as error:
        typer.echo(f"not genuine: {error}", err=True)
        raise typer.Exit(1) from None
    if ref is not None and claims.subject_digest != subject_digest(claims.jti, ref):
        typer.echo("genuine, and about somebody else: its digest is not this ref's", err=True)
        raise typer.Exit(1)
    if as_json:
        typer.echo(json.dumps(claims.model_dump(mode="json", exclude_none=True)))
    else:
        console_of().print(_stores_of(claims))
        typer.echo("\n".join(_lines_of(claims)))
    typer.echo("genuine", err=True)


def _lines_of(claims: ReceiptClaims) -> list[str]:
    whose = "all of a tenant" if claims.subject_digest is None else "a person"
    return [
        f"erasure {claims.jti} of {whose}, tenant {claims.tenant}, by Slate {claims.slate}",
        f"asked for {format_instant(claims.requested_at)}, nothing served since {format_instant(claims.fenced_at)}",
        f"every store found empty {format_instant(claims.verified_at)}; {claims.keys_shredded} data keys destroyed",
        "copies that nobody reads lie until: "
        + ", ".join(f"{name} {format_instant(until)}" for name, until in claims.horizons),
    ]


def _stores_of(claims: ReceiptClaims) -> Table:
    table = Table("store", box=None)
    for title in ("counted", "erased", "left"):
        table.add_column(title, justify="right")
    for name, store in claims.stores.items():
        table.add_row(name, f"{store.counted:,}", f"{store.erased:,}", f"{store.after:,}")
    return table
