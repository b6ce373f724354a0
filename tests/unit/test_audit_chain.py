"""Whatever is done to a day of the audit but appending to it shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from slate.domain.audit.chain import START, Flaw, Link, Root, flaws, linked, rooted
from slate.domain.audit.entries import Entry, Phase, Touched, Verb

TENANT: Final = "acme"
DAY: Final = "2026-11-30"
SHARDS: Final = (2, 5)


def entry(n: int) -> Entry:
    items = (Touched("fact", f"f-{n}", n, "ab12"), Touched("turn", "s-1/turns/3", gone=True), Touched("context", "c-1"))
    return Entry(
        at=n, deed=f"r-{n}", phase=Phase.DONE, verb=Verb.SERVE, act="POST /v1/context", agent="ann", items=items, more=n
    )


def chain(shard: int, count: int, first: int = 1, tip: tuple[int, str] = (0, START)) -> list[Link]:
    links: list[Link] = []
    for n in range(first, first + count):
        links.append(linked(TENANT, DAY, shard, tip, entry(n).text))
        tip = (links[-1].number, links[-1].hash)
    return links


def tips(links: list[Link]) -> dict[int, tuple[int, str]]:
    return {link.shard: (link.number, link.hash) for link in links}


LINKS: Final = [*chain(SHARDS[0], 4), *chain(SHARDS[1], 3)]
BEFORE: Final = rooted(TENANT, "2026-11-29", {1: (1, "aa")}, None)
ROOT: Final = rooted(TENANT, DAY, tips(LINKS), BEFORE)


def found(links: list[Link], root: Root | None = ROOT, before: Root | None = BEFORE) -> list[Flaw]:
    return flaws(TENANT, DAY, links, root, before)


def test_an_entry_is_read_as_it_was_written() -> None:
    assert Entry.of(entry(7).text) == entry(7)
    bare = Entry(at=0, deed="r", phase=Phase.BEGUN, verb=Verb.WRITE, act="decay", agent="slate")
    assert Entry.of(bare.text) == bare


def test_a_whole_day_has_no_flaw() -> None:
    assert found(LINKS) == []
    assert found(LINKS, None, None) == [], "also before it is bound"
    assert found([], None, None) == []


def altered(link: Link, **more: object) -> Link:
    return link.model_copy(update={"text": link.text.replace("ann", "bob"), **more})


def rehashed(links: list[Link]) -> list[Link]:
    """Who may write the table hashes the whole chain anew, with another entry in it."""
    texts = [links[0].text.replace("ann", "bob"), *(link.text for link in links[1:])]
    again: list[Link] = []
    tip = (0, START)
    for text in texts:
        again.append(linked(TENANT, DAY, links[0].shard, tip, text))
        tip = (again[-1].number, again[-1].hash)
    return again


def moved(links: list[Link]) -> list[Link]:
    one, two = links[1], links[2]
    return [links[0], two.model_copy(update={"number": 2}), one.model_copy(update={"number": 3}), *links[3:]]


FORGERIES: Final[dict[str, Callable[[list[Link]], list[Link]]]] = {
    "removed": lambda links: [links[0], *links[2:]],
    "the first removed": lambda links: links[1:],
    "the last removed": lambda links: [*links[:3], *links[4:]],
    "a chain removed": lambda links: links[4:],
    "altered": lambda links: [links[0], altered(links[1]), *links[2:]],
    "moved": moved,
    "moved between chains": lambda links: [*links[:4], links[1].model_copy(update={"shard": SHARDS[1]}), *links[5:]],
    "added at the end": lambda links: [*links[:4], *chain(SHARDS[0], 1, 9, tips(links[:4])[SHARDS[0]]), *links[4:]],
    "a chain added": lambda links: [*links, *chain(9, 1)],
    "hashed anew": lambda links: [*rehashed(links[:4]), *links[4:]],
}
UNBOUND: Final = {"the last removed", "a chain removed", "added at the end", "a chain added", "hashed anew"}
"""What only the day's root tells."""


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_shows(name: str) -> None:
    forged = FORGERIES[name](list(LINKS))
    assert found(forged), name
    assert bool(found(forged, None, None)) == (name not in UNBOUND)


def test_a_root_made_anew_shows_against_the_next_ones() -> None:
    forged = FORGERIES["hashed anew"](list(LINKS))
    anew = rooted(TENANT, DAY, tips(forged), BEFORE)
    assert found(forged, anew) == [], "who may write both tables can forge the last day"
    following = rooted(TENANT, "2026-12-01", {1: (1, "bb")}, ROOT)
    assert flaws(TENANT, following.day, [], following, anew), "and then the day after no longer follows it"
    assert found(LINKS, ROOT.model_copy(update={"previous": "cc"}))


def test_an_entry_of_another_tenant_or_day_is_none_of_this_chain() -> None:
    (stranger,) = [linked("globex", DAY, SHARDS[0], (0, START), entry(1).text)]
    assert found([stranger], None, None)
