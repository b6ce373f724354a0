"""The ``slate`` command: a local server, keys, and graphs to look at.

Exit codes: 0 done, 1 refused or failed, 2 called wrongly. What a program may want stands on standard output, what only
a person wants on standard error.
"""

from __future__ import annotations

import json
import os
import sys
import time
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.live import Live
from typer.core import TyperGroup

from slate.client import SlateClient
from slate.client.client import FOLLOW_SECONDS
from slate.domain.access import Scope
from slate.domain.errors import Internal, NotFound, SlateError, Unauthenticated, Unavailable
from slate.domain.events import EventType
from slate.domain.forgetting.strength import DAY_MS
from slate.settings import Settings
from slate_functions.local.audit_command import audit
from slate_functions.local.commanding import Key, KeysFile, Misused, Tenant, Url, client_of, console_of, written
from slate_functions.local.decay_view import decay_of
from slate_functions.local.erase_command import erase
from slate_functions.local.export_command import export_subject
from slate_functions.local.feed_view import ENDS, line_of
from slate_functions.local.graph_export import Format, export
from slate_functions.local.graph_view import ENDED, head_of, list_of, view_of
from slate_functions.local.keys_view import keys_of
from slate_functions.local.operator_commands import ledger, offboard, rotate_wrapping
from slate_functions.local.receipt_command import verify_receipt

PREVIEWED: Final = 1_000
"""Entries of a shard that a preview looks at."""
_REMEDIES: Final[tuple[tuple[type[SlateError], str], ...]] = (
    (Unavailable, "is it running? `slate serve --write-keys keys.json` starts one here"),
    (Unauthenticated, "check --key or SLATE_KEY; `slate keys create` makes a key"),
    (NotFound, "`slate graph list` and `slate keys list` show what there is for this key's tenant"),
)


class Commands(TyperGroup):
    """Turns a refusal into one line and an exit code."""

    def invoke(self, ctx: Any) -> Any:  # the context is click's, or Typer's own copy of it, by version
        """Run the command."""
        try:
            return super().invoke(ctx)
        except Misused as error:
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(2) from None
        except SlateError as error:
            typer.echo(f"error: {_said(error)}", err=True)
        except OSError as error:
            typer.echo(f"error: {error.filename or 'the system'}: {error.strerror or error}", err=True)
        raise typer.Exit(1)


main = typer.Typer(
    cls=Commands,
    help="Slate: shared state for teams of agents.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
keys = typer.Typer(help="API keys.", no_args_is_help=True, rich_markup_mode=None)
graph = typer.Typer(help="Task graphs.", no_args_is_help=True, rich_markup_mode=None)
main.add_typer(keys, name="keys")
main.add_typer(graph, name="graph")
main.add_typer(audit, name="audit")
main.command("erase")(erase)
main.command("export")(export_subject)
main.command("verify-receipt")(verify_receipt)
main.command("offboard")(offboard)
main.add_typer(ledger, name="ledger")
keys.command("rotate-wrapping")(rotate_wrapping)

GraphId = Annotated[str, typer.Argument(metavar="GRAPH", help="The graph's id.")]


@main.command()
def serve(
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port on 127.0.0.1; 0 takes a free one.")] = 8080,
    write_keys: Annotated[Path | None, typer.Option(help="Where url and keys are written once it is ready.")] = None,
    manual_clock: Annotated[bool, typer.Option(help="Time stands still unless moved, for tests.")] = False,
    embedder: Annotated[
        str,
        typer.Option(envvar="SLATE_EMBEDDER", help="What makes vectors: hashing, or local with the extra `embedder`."),
    ] = "hashing",
    opensearch: Annotated[str, typer.Option(help="Search on the OpenSearch node at this address.")] = "",
    oidc_issuer: Annotated[str, typer.Option(help="Take this OpenID Connect issuer's tokens, too.")] = "",
    oidc_audience: Annotated[str, typer.Option(help="Whom they must be meant for.")] = "",
    oidc_jwks_url: Annotated[str, typer.Option(help="Where its keys are; else its own description says it.")] = "",
) -> None:
    """Run a whole Slate on this machine; its data lives in memory and ends with it.

    How tokens are read, and how often a credential may call, is taken from the SLATE_OIDC_ and SLATE_KEY_ variables;
    receipts are signed by the key in SLATE_SIGNING_KEY_FILE, or by one that ends with it.
    """
    from slate_functions.local.server import local_settings  # the server's libraries take a second to load
    from slate_functions.local.server import serve as run

    tokens = {"oidc_issuer": oidc_issuer, "oidc_audience": oidc_audience, "oidc_jwks_url": oidc_jwks_url}
    try:
        settings = local_settings(os.environ, embedder=embedder, search_endpoint=opensearch, **tokens)
        run(port=port, write_keys=write_keys, manual_clock=manual_clock, settings=settings)
    except ValueError as error:
        raise Misused(str(error)) from None


@main.command()
def reindex(
    check: Annotated[bool, typer.Option("--check", help="Only compare; exit 1 where they differ.")] = False,
    mend: Annotated[bool, typer.Option("--mend", help="Compare, and mend what differs.")] = False,
    tenant: Annotated[str | None, typer.Option("--tenant", help="Only this one's, into the index in use.")] = None,
) -> None:
    """Make the search index anew from the table, beside the one in use, of the Slate that SLATE_* names."""
    from slate_functions.local.reindex import NoIndex  # it loads boto3
    from slate_functions.local.reindex import reindex as run

    try:
        agrees = run(os.environ, check=check, mend=mend, tenant=tenant)
    except NoIndex as error:
        raise Misused(str(error)) from None
    if not agrees:
        raise typer.Exit(1)


@main.command()
def decay(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would go, and why; change nothing.")] = False,
    within: Annotated[float, typer.Option(min=0, help="Look so many days ahead.")] = 0,
    aws: Annotated[bool, typer.Option("--aws", help="The deployment that the SLATE_ variables name.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object a line.")] = False,
    url: Url = None,
    keys_file: KeysFile = None,
) -> None:
    """Show which facts would be put in limbo, forgotten or removed. The schedule does it; this command never does."""
    if not dry_run:
        raise Misused("decay runs on its schedule; `slate decay --dry-run` shows what the next run would do")
    rows = _previewed_on_aws(within) if aws else _previewed_locally(url, keys_file, within)
    if as_json:
        for row in rows:
            typer.echo(json.dumps(row))
    else:
        console_of().print(decay_of(rows))
    typer.echo(f"{len(rows)} would go within {within:g} days; nothing was changed", err=True)


@keys.command("create")
def create_key(
    agent: Annotated[str, typer.Argument(help="Who will use it.")],
    scope: Annotated[list[Scope], typer.Option(help="What it opens; repeat for more.")],
    role: Annotated[list[str] | None, typer.Option(help="What it may work for; repeat for more; none: any.")] = None,
    subject: Annotated[str | None, typer.Option(help="The one person whose data it reaches; none: any.")] = None,
    url: Url = None,
    key: Key = None,
    keys_file: KeysFile = None,
    tenant: Tenant = "acme",
) -> None:
    """Make a key and print it; it is shown this once."""
    with client_of(url, key, keys_file, tenant) as client:
        made = client.create_key(agent, scope, roles=role or (), subject=subject)
    typer.echo(made.key)
    typer.echo(f"{made.key_id} for {made.agent}; keep the key, it is not shown again", err=True)


@keys.command("list")
def list_keys(url: Url = None, key: Key = None, keys_file: KeysFile = None, tenant: Tenant = "acme") -> None:
    """List the keys, without their secrets."""
    with client_of(url, key, keys_file, tenant) as client:
        console_of().print(keys_of(list(client.keys())))


@keys.command("revoke")
def revoke_key(
    key_id: Annotated[str, typer.Argument(help="As `slate keys list` shows it.")],
    url: Url = None,
    key: Key = None,
    keys_file: KeysFile = None,
    tenant: Tenant = "acme",
) -> None:
    """Close a key for good."""
    with client_of(url, key, keys_file, tenant) as client:
        client.revoke_key(key_id)
    typer.echo(f"revoked {key_id}; a server that has just seen it may honour it for another minute", err=True)


@graph.command("list")
def list_graphs(url: Url = None, key: Key = None, keys_file: KeysFile = None, tenant: Tenant = "acme") -> None:
    """List the graphs, the newest first."""
    with client_of(url, key, keys_file, tenant) as client:
        console_of().print(list_of(list(client.graphs())))


@graph.command("show")
def show_graph(
    graph_id: GraphId,
    once: Annotated[bool, typer.Option("--once", help="Show it as it stands, and end.")] = False,
    every: Annotated[float, typer.Option(min=0.1, help="Seconds between two looks.")] = 1.0,
    url: Url = None,
    key: Key = None,
    keys_file: KeysFile = None,
    tenant: Tenant = "acme",
) -> None:
    """Show a graph, again and again until it has ended or Ctrl-C."""
    console = console_of()
    with client_of(url, key, keys_file, tenant) as client:
        if once:
            console.print(view_of(client.graph(graph_id), list(client.tasks(graph_id)), limit=1_000))
            return
        try:
            _follow(client, graph_id, console, every)
        except KeyboardInterrupt:
            return


@graph.command("watch")
def watch_graph(
    graph_id: GraphId,
    after: Annotated[int, typer.Option(min=0, help="The number of the last change seen; 0: from the first.")] = 0,
    keep: Annotated[bool, typer.Option("--keep", help="Go on when the graph has ended.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object a line.")] = False,
    url: Url = None,
    key: Key = None,
    keys_file: KeysFile = None,
    tenant: Tenant = "acme",
) -> None:
    """Follow a graph live: a line for each change, until it has ended or Ctrl-C."""
    console = console_of()
    with client_of(url, key, keys_file, tenant) as client, Live(console=console, auto_refresh=False) as live:
        try:
            _watch(client, graph_id, after, live, keep=keep, as_json=as_json)
        except KeyboardInterrupt:
            return


@graph.command("export")
def export_graph(
    graph_id: GraphId,
    form: Annotated[Format, typer.Option("--format", help="What to write.")],
    out: Annotated[Path | None, typer.Option(help="The file; standard output, if not given.")] = None,
    url: Url = None,
    key: Key = None,
    keys_file: KeysFile = None,
    tenant: Tenant = "acme",
) -> None:
    """Write a graph as Mermaid, Graphviz or JSON."""
    with client_of(url, key, keys_file, tenant) as client:
        text = export(client.graph(graph_id), list(client.tasks(graph_id)), form)
    if out is None:
        sys.stdout.write(text)
    else:
        out.write_text(text, encoding="utf-8")


def _follow(client: SlateClient, graph_id: str, console: Console, every: float) -> None:
    with Live(console=console, auto_refresh=False) as live:
        while True:
            shown = client.graph(graph_id)
            # Half of the screen each for the table and the tree, below the headings.
            rows = max((console.height - 10) // 2, 5)
            live.update(view_of(shown, list(client.tasks(graph_id)), limit=rows), refresh=True)
            if shown.state in ENDED:
                return
            time.sleep(every)


def _watch(client: SlateClient, graph_id: str, after: int, live: Live, *, keep: bool, as_json: bool) -> None:
    ended = False
    while True:
        # What has ended waits for nothing more: the page after its last change only shows that it was the last.
        page = client.events(graph_id, after=after, wait_seconds=0 if ended and not keep else FOLLOW_SECONDS)
        after = page.next_after
        for entry in page.items:
            ended = entry.type in ENDS or (ended and entry.type is not EventType.GRAPH_REOPENED)
            if as_json:
                typer.echo(entry.model_dump_json())
            else:
                live.console.print(line_of(entry))
        if live.console.is_terminal and not as_json:
            live.update(head_of(client.graph(graph_id)), refresh=True)
        if ended and not keep and not page.items:
            return
        # Whoever goes on after the last change is told of no end any more.
        ended = ended or (not page.items and client.graph(graph_id).state in ENDED)


def _previewed_locally(url: str | None, keys_file: Path | None, within: float) -> list[dict[str, Any]]:
    import httpx

    if keys_file is not None:
        url, _ = written(keys_file, next(iter(json.loads(keys_file.read_text(encoding="utf-8"))["keys"])))
    if not url:
        raise Misused("no server is named: give --url or --keys-file for a local one, or --aws for a deployment")
    try:
        answer = httpx.post(f"{url.rstrip('/')}/_local/decay", json={"within_days": within}, trust_env=False)
    except httpx.HTTPError:
        raise Unavailable(f"{url} does not answer") from None
    if answer.status_code != HTTPStatus.OK:
        raise NotFound(f"{url} is no local server: a deployment is looked at with --aws")
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def _previewed_on_aws(within: float) -> list[dict[str, Any]]:
    import boto3

    from slate.wiring.aws import build_aws

    settings = Settings.from_env(os.environ)
    slate = build_aws(settings, boto3.Session(region_name=settings.region))
    by = slate.clock.now() + round(within * DAY_MS)
    return [each._asdict() for each in slate.memory.forgetting.fading.preview(by, PREVIEWED)]


def _said(error: SlateError) -> str:
    remedy = next((remedy for cls, remedy in _REMEDIES if isinstance(error, cls)), None)
    if remedy is None and error.code == Internal.code and "request_id" in error.data:
        remedy = f"quote the request id {error.data['request_id']}"
    line = " ".join(error.detail.split())
    return line if remedy is None else f"{line}; {remedy}"


if __name__ == "__main__":
    main()
