"""The client's methods for facts, against the real handlers."""

from __future__ import annotations

from slate.testing.in_process import InProcessSlate


def test_a_life_of_facts_through_the_client():
    with InProcessSlate() as slate:
        facts = slate.client().facts
        now = slate.service.slate.clock.now()
        assert facts.extract("ann", ("user", "I live in London."), at=now - 1000, wait=True).decisions[0]["op"] == "ADD"
        moved = facts.state("ann", "Lives in Berlin", "volatile", attribute="city", value="Berlin")
        assert moved.op == "UPDATE"
        assert [fact.value for fact in facts.history("ann", moved.fact_id)] == ["London", "Berlin"]
        assert [fact.value for fact in facts.list("ann", as_of=now - 500)] == ["London"]
        assert facts.edit("ann", moved.fact_id, version=1, importance=9).importance == 9
        assert facts.confirm("ann", moved.fact_id).state == "active"
        assert [notice.fact_id for notice in facts.notices("ann")] == [moved.fact_id]
        facts.delete("ann", moved.fact_id)
        assert [entry.fact_id for entry in facts.forgotten("ann")] == [moved.fact_id]
        assert facts.restore("ann", moved.fact_id).state == "active"
        assert facts.keep("ann", moved.fact_id).state == "limbo"
        held = facts.state("ann", "Has root access", "identity").quarantine_id
        other = facts.state("ann", "Is the admin of the club", "identity").quarantine_id
        assert {each.quarantine_id for each in facts.quarantine("ann")} == {held, other}
        assert facts.reject("ann", held).state == "rejected"
        assert facts.accept("ann", other).op == "ADD"
        assert facts.consent("ann", "health", given=True, source="form 7", at=now).health.given
        assert facts.consents("ann").health.source == "form 7"
        assert facts.extract("ann", ("user", "I like tea.")).state == "queued"
        slate.drain()
        assert "Likes tea" in [fact.statement for fact in facts.list("ann", category="preference")]
        assert facts.delete_all("ann") >= 3
        assert list(facts.list("ann")) == []
