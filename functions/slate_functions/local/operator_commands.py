"""What an operator does by hand to the deployment that the SLATE_ variables name, with credentials of his own.

Each may be stopped and begun again: what was done is found done.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from slate.domain.errors import Conflict, SlateError
from slate.settings import Settings
from slate_functions.local.commanding import Misused, console_of

if TYPE_CHECKING:
    from slate.wiring.parts import Parts

ledger = typer.Typer(help="The ledger of erasures.", no_args_is_help=True, rich_markup_mode=None)


def rotate_wrapping() -> None:
    """Wrap every data key by the KMS key in use: after that no other key opens any.

    Set SLATE_KMS_KEY_ID to the new key and SLATE_PREVIOUS_KMS_KEY_IDS to the old one, in the functions and here; run
    this; then take the old one out. A key that KMS rotates by itself needs none of it.
    """
    from slate.wiring.operating import rewrapping_of

    settings, parts = _deployment(os.environ)
    with _refusals():
        done = rewrapping_of(settings, parts).run(lambda each: _progress(f"{each.keys:,} keys"))
    typer.echo(f"{done.keys:,} keys are wrapped by {settings.kms_key_id}; {done.gone:,} were shredded meanwhile")


@ledger.command("replay")
def replay(
    tenant: Annotated[str | None, typer.Option("--tenant", help="Only this one's; none: every tenant's.")] = None,
) -> None:
    """Make up for what a restored table misses: whoever was erased since is erased again, and holds are as they were.

    Until then nobody's data in it is served. Run it with SLATE_TABLE, and SLATE_KEYS_TABLE if it was restored too, set
    to the restored tables; exit 1 where something remains to be done by running it again.
    """
    from slate.wiring.operating import replaying_of, tenants_of

    settings, parts = _deployment(os.environ)
    replaying = replaying_of(settings, parts)
    told = Table("tenant", "erasures", "missed", "keys shredded", "holds put right", "holds waiting", box=None)
    left = []
    for each in [tenant] if tenant is not None else tenants_of(settings, parts):
        _progress(f"{each} ...")
        try:
            with _refusals(Conflict):
                done = replaying.replay(each)
        except Conflict as offboarded:
            left.append(offboarded.detail)
            continue
        figures = (done.erasures, done.missed, done.shredded, done.held, done.waiting)
        told.add_row(each, *(f"{figure:,}" for figure in figures))
        if done.waiting:
            left.append(f"{each}: holds wait for erasures that are not over; run it again after their receipts")
    console_of().print(told)
    for line in left:
        typer.echo(line, err=True)
    if left:
        raise typer.Exit(1)


def offboard(
    tenant: Annotated[str, typer.Argument(metavar="TENANT", help="Whose data goes, all of it.")],
    confirm: Annotated[str, typer.Option("--confirm", metavar="TENANT", help="Its name once more.")],
) -> None:
    """Erase a tenant for good, with everybody it knew, and print the receipt. It takes a quarter of an hour."""
    if confirm != tenant:
        raise Misused(f"--confirm must be {tenant!r}: nothing of it can be brought back")
    from slate.wiring.operating import offboarding_of

    settings, parts = _deployment(os.environ)
    with _refusals():
        typer.echo(offboarding_of(settings, parts).offboard(tenant, lambda line: typer.echo(line, err=True)))


@contextmanager
def _refusals(*but: type[SlateError]) -> Iterator[None]:
    """A refusal as one line, as it stands: the remedies for a server's callers are not an operator's."""
    try:
        yield
    except but:
        raise
    except SlateError as error:
        typer.echo(f"error: {error.detail}", err=True)
        raise typer.Exit(1) from None


def _deployment(environ: Mapping[str, str]) -> tuple[Settings, Parts]:
    """The deployment's settings, and what reaches it; no tenant's role, since all tenants' data is worked on."""
    import boto3

    from slate.wiring.aws import parts_on_aws

    settings = replace(Settings.from_env(environ), tenant_role="")
    if not settings.kms_key_id:
        raise Misused("no deployment is named: set the SLATE_ variables as the stack's output `Environment` has them")
    return settings, parts_on_aws(settings, boto3.Session(region_name=settings.region))


def _progress(line: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{line} ")
        sys.stderr.flush()
