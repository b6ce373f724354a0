"""Where a webhook may point: a public address, by name or number, never the inside of a network.

Rules on numbers decide, and what is connected to is the very number that was judged. Rules on names only say early
what the numbers would refuse later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final, NamedTuple
from urllib.parse import urlsplit

IpAddress = IPv4Address | IPv6Address

MAX_URL: Final = 2_000
_NAME: Final = re.compile(r"(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?")
_PRIVATE_NAMES: Final = ("localhost", "local", "internal", "localdomain", "home.arpa")
_PRINTABLE: Final = re.compile(r"[!-~]+")

# Addresses of version 6 that carry one of version 4, which may be where they lead.
_NAT64: Final = IPv6Network("64:ff9b::/96")
_LOCAL_NAT64: Final = IPv6Network("64:ff9b:1::/48")
"""A network's own, which knows alone where in it the other address stands (RFC 8215)."""
_COMPATIBLE: Final = IPv6Network("::/96")


class Target(NamedTuple):
    """The parts of a URL that a request needs."""

    https: bool
    host: str
    port: int
    path: str
    """With the query."""

    @property
    def authority(self) -> str:
        """The value of ``Host``."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.https else 80) else f"{host}:{self.port}"


class BadTarget(ValueError):
    """A webhook may not point there; the message says why, and what would be right."""


def target_of(url: str, *, loopback: bool) -> Target:
    """Read a URL, and refuse what can be refused by looking at it; ``loopback`` allows this machine, over http too.

    Raises:
        BadTarget: it is not such a URL.
    """
    if len(url) > MAX_URL or _PRINTABLE.fullmatch(url) is None or "\\" in url:
        raise BadTarget(f"send a URL of at most {MAX_URL} printable ASCII characters")
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower().rstrip("."), parts.port
    except ValueError:
        raise BadTarget("this is not a URL; send one such as https://agents.example.com/slate") from None
    if parts.username is not None or parts.password is not None:
        raise BadTarget("the URL holds a user or a password; leave them out, deliveries are signed")
    if parts.fragment or port == 0:
        raise BadTarget("leave out the fragment, and name a port above zero or none")
    here = _check_host(host, loopback=loopback)
    if parts.scheme != "https" and not (here and parts.scheme == "http"):
        raise BadTarget("the URL must begin with https://")
    https = parts.scheme == "https"
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(https, host, port or (443 if https else 80), path)


def _check_host(host: str, *, loopback: bool) -> bool:
    """Whether the host is this machine.

    Raises:
        BadTarget: it may not be pointed to.
    """
    try:
        address = ip_address(host)
    except ValueError:
        local = next((name for name in _PRIVATE_NAMES if host == name or host.endswith(f".{name}")), None)
        if local == "localhost" and loopback:
            return True
        if local is not None or _NAME.fullmatch(host) is None:
            raise BadTarget(
                f"{host or 'this'} is not the public name of a host; name one such as example.com"
            ) from None
        return False
    if (why := refusal(address, loopback=loopback)) is not None:
        raise BadTarget(f"{address} is {why}; webhooks go to public addresses")
    return all(inner.is_loopback for inner in carried(address))


def refusal(address: IpAddress, *, loopback: bool) -> str | None:
    """Why no delivery may connect to this address, or None; each that it carries is judged."""
    for inner in carried(address):
        if inner.is_loopback:
            if not loopback:
                return "this machine's own"
        elif inner.is_link_local:
            return "link-local, where clouds keep their metadata"
        elif inner.is_multicast or inner.is_unspecified or inner.is_reserved:
            return "not of one host"
        elif not inner.is_global or (isinstance(inner, IPv6Address) and (inner.is_site_local or inner in _LOCAL_NAT64)):
            return "private"
    return None


def carried(address: IpAddress) -> Iterator[IpAddress]:
    """The addresses that this one may lead to: those of version 4 inside one of version 6, else itself."""
    if isinstance(address, IPv4Address):
        yield address
        return
    if address.scope_id is not None:
        address = IPv6Address(int(address))
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    elif address.sixtofour is not None:
        yield address.sixtofour
    elif address.teredo is not None:
        yield from address.teredo
    elif address in _NAT64 or (address in _COMPATIBLE and int(address) > 1):
        yield IPv4Address(int(address) & 0xFFFF_FFFF)
    else:
        yield address
