"""What one stage has that another has not: these settings, and nothing else.

They are read from the environment of the synthesis, beside those of ``slate.settings``; no function is told them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self, TypeVar

_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,20}")
"""What a domain's name may be made of, too."""
_YES_OR_NO: Final[Mapping[str, bool]] = {"true": True, "false": False}
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Nodes:
    """What an OpenSearch domain consists of."""

    data: int
    type: str
    disk_gb: int
    masters: int = 0
    """Nodes that hold no data and keep the domain together."""
    master_type: str = "m6g.large.search"

    @property
    def zones(self) -> int:
        """It is spread over so many: each entry then lies in both."""
        return min(self.data, 2)


SMALL: Final = Nodes(data=1, type="t3.small.search", disk_gb=10)
"""One node for everything: what it loses is indexed anew."""
REPLICATED: Final = Nodes(data=2, type="r6g.large.search", disk_gb=50, masters=3)
"""Two zones hold all of it; one may go."""
DOMAINS: Final[Mapping[str, Nodes | None]] = {"none": None, "small": SMALL, "replicated": REPLICATED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """Where functions and domain stand when not in AWS's own network."""

    subnets: tuple[str, ...]
    security_groups: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """A table that came out of a backup of the main one, and takes its place."""

    table: str
    """Its name."""
    stream: str
    """The ARN of its stream, which is a new one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A stage by its name, ``dev`` and every other alike but for the defaults of two settings."""

    name: str
    protected: bool
    """Its data outlives the stack, and neither goes by one command."""
    domain: Nodes | None
    """None: what was said and what is known is searched in the table."""
    network: Network | None
    people: bool
    """It has a user pool, whose tokens are credentials."""
    restored: Restored | None
    """None: the main table is the stack's own."""

    @classmethod
    def from_env(cls, name: str, env: Mapping[str, str]) -> Self:
        """The stage of this name, as the environment has it.

        Raises:
            ValueError: a setting is none that there is; the message names it, and what it may be.
        """
        if not _NAME.fullmatch(name):
            raise ValueError(f"a stage is named by up to 21 of a-z, 0-9 and -, from a letter on, not {name!r}")
        dev = name == "dev"
        domain, network = _domain(env, "small" if dev else "replicated"), _network(env)
        if domain is not None and network is not None and len(network.subnets) < domain.zones:
            raise ValueError(f"SLATE_VPC_SUBNETS needs a subnet for each of the domain's {domain.zones} zones")
        return cls(
            name=name,
            protected=_one_of(env, "SLATE_PROTECTED", _YES_OR_NO, "false" if dev else "true"),
            domain=domain,
            network=network,
            people=_people(env),
            restored=_restored(env),
        )


def _domain(env: Mapping[str, str], default: str) -> Nodes | None:
    if env.get("SLATE_SEARCH_ENDPOINT"):
        return None  # there is one already
    nodes = _one_of(env, "SLATE_SEARCH_DOMAIN", DOMAINS, default)
    if nodes is None:
        return None
    data = _number(env, "SLATE_SEARCH_NODES", nodes.data)
    if data > 1 and data % 2:
        raise ValueError("SLATE_SEARCH_NODES is 1 or even: each of two zones has as many")
    return Nodes(
        data=data,
        type=env.get("SLATE_SEARCH_NODE_TYPE", nodes.type),
        disk_gb=_number(env, "SLATE_SEARCH_DISK_GB", nodes.disk_gb),
        masters=nodes.masters,
    )


def _network(env: Mapping[str, str]) -> Network | None:
    subnets, groups = _words(env, "SLATE_VPC_SUBNETS"), _words(env, "SLATE_VPC_SECURITY_GROUPS")
    if bool(subnets) != bool(groups):
        raise ValueError("SLATE_VPC_SUBNETS and SLATE_VPC_SECURITY_GROUPS are given together, or neither is")
    return Network(subnets=subnets, security_groups=groups) if subnets else None


def _restored(env: Mapping[str, str]) -> Restored | None:
    table, stream = env.get("SLATE_RESTORED_TABLE", ""), env.get("SLATE_RESTORED_STREAM", "")
    if bool(table) != bool(stream):
        raise ValueError("SLATE_RESTORED_TABLE and SLATE_RESTORED_STREAM are given together, or neither is")
    return Restored(table=table, stream=stream) if table else None


def _people(env: Mapping[str, str]) -> bool:
    wanted = _one_of(env, "SLATE_USER_POOL", _YES_OR_NO, "false")
    if wanted and env.get("SLATE_OIDC_ISSUER"):
        raise ValueError("SLATE_USER_POOL makes an issuer, and SLATE_OIDC_ISSUER names another: give one of them")
    return wanted


def _one_of(env: Mapping[str, str], variable: str, choices: Mapping[str, _T], default: str) -> _T:
    given = env.get(variable, default)
    if given not in choices:
        raise ValueError(f"{variable} is one of {', '.join(choices)}, not {given!r}")
    return choices[given]


def _number(env: Mapping[str, str], variable: str, default: int) -> int:
    given = env.get(variable, str(default))
    if not given.isdecimal() or int(given) < 1:
        raise ValueError(f"{variable} must be a whole number above zero, not {given!r}")
    return int(given)


def _words(env: Mapping[str, str], variable: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in env.get(variable, "").split(",") if word.strip())
