"""What removal leaves in the files of a real node, and that expunging leaves nothing: words, names, ids and vectors."""

from __future__ import annotations

import os
import random
import secrets
import struct
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from opensearch_node.fixture import Node
from opensearch_node.indices import LEASES_MS, Made, expunged, made_on
from slate.adapters.inprocess.hashing_embedder import HashingEmbedder
from slate.domain.indexed import PERSONAL, Entry, Kind
from slate.domain.vectors import normalised
from slate.ports.memory_index import MemoryIndex, Name

A, B = "acme", "globex"
EMBEDDER = HashingEmbedder()


@dataclass(frozen=True)
class Marked:
    """An entry that can be recognised in a file, by each of its parts."""

    kind: Kind
    scope: str
    version: int = 1
    id: str = field(default_factory=lambda: secrets.token_hex(12))
    marks: tuple[str, ...] = field(default_factory=lambda: tuple(secrets.token_hex(12) for _ in range(4)))
    seed: int = field(default_factory=lambda: secrets.randbits(32))

    def entry(self) -> Entry:
        term, name, speaker, group = self.marks
        return Entry(
            kind=self.kind,
            id=self.id,
            scope=self.scope,
            group=group,
            version=self.version,
            at=1,
            terms=(term, "parcel"),
            vector=self.vector(),
            embedder=EMBEDDER.name,
            names=frozenset({name}),
            speaker=speaker,
        )

    def vector(self) -> tuple[float, ...]:
        rng = random.Random(self.seed)  # noqa: S311  # repeatable
        return normalised([rng.gauss(0, 1) for _ in range(EMBEDDER.dimension)])

    def words(self) -> set[bytes]:
        """Of each part that is readable."""
        return {each.encode() for each in (self.id, *self.marks)}

    def numbers(self) -> set[bytes]:
        """Some of the vector's, as JSON has them."""
        return {repr(each).encode() for each in self.vector()[:4]}

    def vectors(self) -> set[bytes]:
        """Four numbers in a row, from several places, as float32 of either order."""
        parts = [self.vector()[start : start + 4] for start in range(0, EMBEDDER.dimension, 128)]
        return {struct.pack(f"{order}4f", *part) for part in parts for order in "<>"}


def held(files: Path, needles: set[bytes]) -> set[bytes]:
    """Those that stand in any file of the node."""
    found: set[bytes] = set()
    for folder, _, names in os.walk(files):  # what goes while it walks is passed over, too
        for name in names:
            with suppress(FileNotFoundError):  # merged away, or another test's
                content = Path(folder, name).read_bytes()
                found |= {needle for needle in needles - found if needle in content}
    return found


def upkeep(made: Made, *steps: str) -> None:
    """What happens by itself in time."""
    for step in steps:
        made.transport.ask_all("POST", f"{made.aliases.kept}/{step}")


def erase(index: MemoryIndex, scope: str) -> None:
    """What an erasure does of a person."""
    for kind in sorted(PERSONAL):
        index.remove(A, [each.name for each in index.listed(A, kind, scope)])
    assert index.count(A, scope) == 0


@pytest.fixture
def files(opensearch_node: Node) -> Path:
    if opensearch_node.files is None:
        pytest.skip("the files of a node that ran already are not here")
    return opensearch_node.files


def kept(index: MemoryIndex, tenant: str, scope: str) -> list[Marked]:
    memories = [Marked(kind, scope) for kind in (Kind.TURN, Kind.FACT, Kind.EPISODE) for _ in range(10)]
    index.put(tenant, [each.entry() for each in memories])
    return memories


@pytest.mark.parametrize("leases_ms", [6_000, pytest.param(LEASES_MS, marks=pytest.mark.race)])
def test_a_merge_leaves_an_erased_person_in_the_files_and_expunging_does_not(
    opensearch_node: Node, files: Path, leases_ms: int
):
    began = time.monotonic()
    with made_on(opensearch_node.address, EMBEDDER, leases_ms=leases_ms) as made:
        hers, others = kept(made.index, A, "ann"), [*kept(made.index, A, "bob"), *kept(made.index, B, "ann")]
        replaced, removed = Marked(Kind.FACT, "ann"), Marked(Kind.TURN, "ann")
        made.index.put(A, [replaced.entry(), removed.entry()])
        upkeep(made, "_flush?force=true&wait_if_ongoing=true")
        made.index.put(A, [Marked(Kind.FACT, "ann", version=2, id=replaced.id).entry()])
        made.index.remove(A, [Name(removed.kind, removed.id)])
        gone = [*hers, replaced, removed]
        words = set().union(*(each.words() for each in gone))
        vectors = set().union(*(each.vectors() for each in gone))
        assert held(files, words) == words
        assert len(held(files, vectors)) == len(vectors) / 2, "each in the order that this machine has"

        erase(made.index, "ann")
        upkeep(made, "_flush?force=true&wait_if_ongoing=true", "_forcemerge?only_expunge_deletes=true", "_refresh")
        left = held(files, words)
        if time.monotonic() - began < leases_ms / 1000:
            assert left >= set().union(*(each.words() for each in hers)), "a merge at once leaves them"
        expunged(made.index)
        assert held(files, words | vectors | set().union(*(each.numbers() for each in gone))) == set()

        stay = set().union(*(each.words() for each in others))
        assert held(files, stay) == stay
        assert [made.index.count(A, "bob"), made.index.count(B, "ann")] == [30, 30]
