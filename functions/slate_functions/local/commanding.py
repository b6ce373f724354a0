"""What every command of ``slate`` shares: which server it asks, as whom, and where it writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from slate.client import SlateClient

PIPE_WIDTH: Final = 200

Url = Annotated[str | None, typer.Option("--url", envvar="SLATE_URL", help="The server.")]
Key = Annotated[str | None, typer.Option("--key", envvar="SLATE_KEY", help="The API key.")]
KeysFile = Annotated[
    Path | None, typer.Option("--keys-file", help="The file that `slate serve --write-keys` wrote, instead of these.")
]
Tenant = Annotated[str, typer.Option("--tenant", help="Whose key of the file.")]


class Misused(Exception):
    """The command cannot know what to do; the message says what is missing."""


def client_of(url: str | None, key: str | None, keys_file: Path | None, tenant: str) -> SlateClient:
    """A client of the server that is named.

    Raises:
        Misused: none is.
    """
    if keys_file is not None:
        url, key = written(keys_file, tenant)
    if not url or not key:
        raise Misused(
            "no server is named: give --url and --key, or set SLATE_URL and SLATE_KEY, "
            "or give --keys-file as `slate serve --write-keys` wrote it"
        )
    return SlateClient(url, key)


def written(keys_file: Path, tenant: str) -> tuple[str, str]:
    """The url and the key that the file has for a tenant.

    Raises:
        Misused: it has none.
    """
    try:
        content = json.loads(keys_file.read_text(encoding="utf-8"))
        return content["url"], content["keys"][tenant]
    except FileNotFoundError:
        raise Misused(f"{keys_file} is not there; `slate serve --write-keys {keys_file}` writes it") from None
    except (ValueError, TypeError, KeyError):
        raise Misused(f"{keys_file} holds no url and key of {tenant!r}, as `slate serve` writes them") from None


def console_of() -> Console:
    """Where what a person looks at is written."""
    console = Console()
    # In a pipe or a file nothing need be folded to a window's width.
    return console if console.is_terminal else Console(width=PIPE_WIDTH)
