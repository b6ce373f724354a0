"""What a fact said at a version stays readable when it is edited, and goes with it."""

from __future__ import annotations

import pytest

from contract.world import DAY, World
from slate.contract.facts import PatchFact, PostFacts
from slate.domain.errors import NotFound
from slate.domain.facts.model import Fact

PERSON = "u-ann"


def stated(w: World) -> str:
    facts = {"facts": [{"statement": "Plays the cello", "category": "other", "importance": 5}]}
    (result,) = w.slate.memory.facts.post(w.me, PERSON, PostFacts.model_validate(facts), None).results
    return str(result.fact_id)


def edited(w: World, fact_id: str, **changes: object) -> Fact:
    return w.slate.memory.facts.edit(w.me, PERSON, fact_id, PatchFact.model_validate(changes), None)


def said(w: World, fact_id: str, version: int | None = None) -> str:
    return w.slate.memory.facts.get(w.me, PERSON, fact_id, version).statement


def kept(w: World) -> list[str]:
    return [key.sk for key in w.items() if key.sk.startswith("WAS#")]


def test_each_version_says_what_it_said(w: World) -> None:
    fact_id = stated(w)
    words = {1: "Plays the cello"}
    w.clock.advance(60)
    words[w.slate.memory.facts.confirm(w.me, PERSON, fact_id).version] = "Plays the cello"
    for instrument in ("tuba", "flute"):
        words[edited(w, fact_id, statement=f"Plays the {instrument}").version] = f"Plays the {instrument}"
    words[edited(w, fact_id, importance=8).version] = "Plays the flute"
    assert len(words) == 5
    assert {version: said(w, fact_id, version) for version in words} == words
    assert said(w, fact_id) == "Plays the flute"
    assert len(kept(w)) == 2, "what changes no word keeps nothing"
    with pytest.raises(NotFound):
        said(w, fact_id, 99)


def test_they_go_with_the_fact(w: World) -> None:
    fact_id = stated(w)
    edited(w, fact_id, statement="Plays the tuba")
    w.slate.memory.facts.delete(w.me, PERSON, fact_id, None)
    assert said(w, fact_id, 1) == "Plays the cello", "as long as it can be restored"
    w.clock.advance(31 * DAY)
    w.slate.memory.decay.run_once()
    assert kept(w) == []
    with pytest.raises(NotFound):
        said(w, fact_id, 1)
