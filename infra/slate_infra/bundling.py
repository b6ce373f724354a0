"""A function's bundle: its own folder, what it shares, the library and its dependencies, built without Docker.

Bundles are plain folders by the time CDK sees them (docs/adr/0003-bundling-without-docker.md).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import Final, Protocol

from slate_infra.bytecode import Compiler
from slate_infra.dependencies import installed_dependencies, publish
from slate_infra.project import AGENT, DOCUMENT, FUNCTIONS, LIBRARY

_NOT_DEPLOYED: Final = (
    "client",
    "testing",
    "adapters/inprocess/moto_engine.py",
    "adapters/inprocess/moto_tables.py",
    "adapters/wordllama",
)
"""Parts of the library that no function imports: the SDK, the fixture, the laptop's own AWS and its embedder."""


class Sources(Protocol):
    """What a bundle is made of."""

    @property
    def function(self) -> str:
        """Its name."""
        ...

    def sources(self) -> Iterator[tuple[Path, Path]]:
        """Every file of ours in it: where it lies, and its place in the bundle."""
        ...


@dataclass(frozen=True, slots=True)
class AgentBundle:
    """The example agent: its own folder, and of the library what a caller of Slate needs."""

    function: str = "agent"

    def sources(self) -> Iterator[tuple[Path, Path]]:
        """The client, what it speaks, and the agent."""
        for part in ("__init__.py", "client", "contract", "domain"):
            place = LIBRARY / part
            for path in _files(place) if place.is_dir() else [place]:
                yield path, LIBRARY.name / path.relative_to(LIBRARY)
        for path in _files(AGENT):
            yield path, Path(self.function, path.relative_to(AGENT))


@dataclass(frozen=True, slots=True)
class Bundle:
    """What one function carries beside the library: its folder and those it shares with others."""

    function: str
    shares: tuple[str, ...] = ()
    describes: bool = False
    """It serves the OpenAPI document of all APIs, which no function's own code amounts to."""

    def sources(self) -> Iterator[tuple[Path, Path]]:
        """Every file of ours in it: where it lies, and its place in the bundle; in one order on every machine."""
        for path in _files(LIBRARY):
            inside = path.relative_to(LIBRARY)
            if not any(inside.is_relative_to(part) for part in _NOT_DEPLOYED):
                yield path, LIBRARY.name / inside
        yield FUNCTIONS / "__init__.py", Path(FUNCTIONS.name, "__init__.py")
        for folder in (self.function, *self.shares):
            for path in _files(FUNCTIONS / folder):
                yield path, FUNCTIONS.name / path.relative_to(FUNCTIONS)
        if self.describes:
            yield DOCUMENT, Path(FUNCTIONS.name, "http", DOCUMENT.name)


TASKS_API: Final = Bundle("tasks_api", ("http",), describes=True)
MEMORY_API: Final = Bundle("memory_api", ("http", "counting"))
EXTRACTOR: Final = Bundle("extractor", ("counting",))
DECAY: Final = Bundle("decay", ("counting", "scheduled"))
PRIVACY_API: Final = Bundle("privacy_api", ("http", "counting"))
ERASER: Final = Bundle("eraser", ("counting", "scheduled"))
AUTHORIZER: Final = Bundle("authorizer")
SWEEPER: Final = Bundle("sweeper")
EVENTS: Final = Bundle("events")
WEBHOOKS: Final = Bundle("webhooks")
INDEXER: Final = Bundle("indexer")
AGENT_BUNDLE: Final = AgentBundle()
TOKENIZER: Final = "tokenizer"
"""The layer beside the bundles of those functions that count tokens: its vocabularies would take each over 15 MB."""
BUNDLES: Final = (
    TASKS_API,
    MEMORY_API,
    AUTHORIZER,
    SWEEPER,
    EVENTS,
    WEBHOOKS,
    EXTRACTOR,
    DECAY,
    INDEXER,
    PRIVACY_API,
    ERASER,
)


class Bundler:
    """Builds bundles into one folder and keeps them by what went in: the same input is the same folder."""

    def __init__(self, lock: Path, build: Path, compiler: Compiler | None) -> None:
        self._lock = lock
        self._build = build
        self._compiler = compiler

    def build(self, bundle: Sources) -> Path:
        """The finished folder, whose name ends in the digest of its content.

        Raises:
            CalledProcessError: a dependency cannot be installed, or a module does not compile.
        """
        dependencies = installed_dependencies(self._lock, self._build, self._compiler)
        sources = [(place, path.read_bytes()) for path, place in bundle.sources()]
        place = self._build / f"{bundle.function}-{_digest(dependencies.name, sources)}"
        if not place.is_dir():
            self._assemble(dependencies, sources, place)
        return place

    def _assemble(self, dependencies: Path, sources: list[tuple[Path, bytes]], place: Path) -> None:
        staging = Path(mkdtemp(prefix="bundle-", dir=self._build))
        try:
            # Linked, not copied: the dependencies' folder is never changed, and three copies cost 150 MB.
            shutil.copytree(dependencies, staging, copy_function=os.link, dirs_exist_ok=True)
            for inside, content in sources:
                (staging / inside).parent.mkdir(parents=True, exist_ok=True)
                (staging / inside).write_bytes(content)
            if self._compiler:
                self._compiler.compile(staging, *sorted({place.parts[0] for place, _ in sources}))
            publish(staging, place)
        finally:
            shutil.rmtree(staging, ignore_errors=True)


def _files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)


def _digest(dependencies: str, sources: list[tuple[Path, bytes]]) -> str:
    """Of all that makes a bundle what it is, and of nothing that differs from one checkout to the next."""
    digest = sha256(dependencies.encode() + Path(__file__).read_bytes())
    for place, content in sources:
        digest.update(f"\0{place.as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:32]
