"""Forgetting over HTTP: what fades, what keeps it, why it went, and the way back."""

from __future__ import annotations

import pytest

from slate.domain.instants import format_instant
from slate.ports.counts import Count

DAY = 86_400


@pytest.fixture
def settings(acme):
    """Puts settings, which apply at once; afterwards the defaults do again."""

    def put_settings(**given):
        return acme.ask("PUT", "/v1/tenant", given)

    yield put_settings
    assert put_settings().status == 200


def put(api, uid, **fact):
    (result,) = api.post(f"/v1/subjects/u-{uid}/facts", {"facts": [{"category": "other", **fact}]})["results"]
    return result


def facts(api, uid, query=""):
    return api.get(f"/v1/subjects/u-{uid}/facts{query}")["items"]


def known(api, uid, query=""):
    return [fact["statement"] for fact in facts(api, uid, query)]


def log(api, uid, query=""):
    return api.get(f"/v1/subjects/u-{uid}/forgetting-log{query}")["items"]


def context(api, uid, query, **more):
    return api.post("/v1/context", {"subject": f"u-{uid}", "query": query, **more})


def restore(api, uid, fact_id, expect=200):
    return api.post(f"/v1/subjects/u-{uid}/facts/{fact_id}/restore", {}, expect)


def pass_days(service, days):
    service.advance(days * DAY)


def test_peanuts_by_mistake_the_log_says_why_undo_brings_it_back_and_importance_keeps_it(acme, uid, service):
    fact = put(acme, uid, statement="Allergic to peanuts", category="constraint", importance=2)["fact_id"]
    (entry,) = log(acme, uid)
    assert (entry["rule"], entry["numbers"]["importance"]) == ("importance_below_4", 2)
    restore(acme, uid, fact)
    acme.ask("PATCH", f"/v1/subjects/u-{uid}/facts/{fact}", {"importance": 9})
    pass_days(service, 2_000)
    assert known(acme, uid) == ["Allergic to peanuts"]
    assert log(acme, uid)[0]["restored_at"] is not None


def test_a_fact_goes_to_limbo_then_is_forgotten_then_is_gone_each_step_logged_once(acme, uid, service):
    fact = put(acme, uid, statement="Once saw a blue heron", importance=5)["fact_id"]
    pass_days(service, 61)
    (limbo,) = log(acme, uid)
    assert (limbo["rule"], limbo["actor"]) == ("decay", "slate")
    numbers = limbo["numbers"]
    assert (numbers["start"], numbers["half_life_days"], numbers["wakes"]) == (0.5, 60, 0)
    assert numbers["strength"] < numbers["limbo_below"] == 0.25
    assert known(acme, uid) == []
    assert known(acme, uid, "?state=limbo") == ["Once saw a blue heron"]
    pass_days(service, 150)
    assert [entry["rule"] for entry in log(acme, uid)] == ["decay", "decay"]
    assert known(acme, uid, "?state=forgotten") == ["Once saw a blue heron"]
    pass_days(service, 31)
    assert known(acme, uid, "?state=forgotten") == []
    assert len(log(acme, uid)) == 2
    assert "heron" not in str(log(acme, uid))
    restore(acme, uid, fact, 404)


def test_a_step_is_taken_once_however_late(acme, uid, service):
    put(acme, uid, statement="Once saw a blue heron", importance=5)
    pass_days(service, 700)
    assert [e["reason"].partition(":")[0] for e in log(acme, uid)] == ["forgotten", "in limbo"]
    pass_days(service, 1)
    assert len(log(acme, uid)) == 2


def test_a_turn_about_it_wakes_a_fact_also_from_limbo(acme, uid, service):
    put(acme, uid, statement="Plays the cello on Sundays", importance=5)
    pass_days(service, 61)
    acme.post("/v1/sessions", {"session_id": f"s-{uid}", "subject": f"u-{uid}"}, 201)
    assert known(acme, uid, "?state=limbo") == ["Plays the cello on Sundays"]
    acme.post(f"/v1/sessions/s-{uid}/turns", {"turns": [{"role": "user", "content": "What shall I wear on Monday?"}]})
    service.drain()
    assert known(acme, uid) == []
    said = "I was playing the cello last Sunday, as usual."
    acme.post(f"/v1/sessions/s-{uid}/turns", {"turns": [{"role": "user", "content": said}]})
    service.drain()
    (fact,) = facts(acme, uid)
    assert (fact["state"], fact["wakes"], fact["version"]) == ("active", 1, 3)
    assert log(acme, uid)[0]["restored_at"] is not None
    pass_days(service, 61)
    assert known(acme, uid), "its half-life has grown"


def test_being_served_is_no_new_version(acme, uid, service):
    fact = put(acme, uid, statement="Plays the cello on Sundays", importance=5)["fact_id"]
    pass_days(service, 1)
    context(acme, uid, "who plays the cello?")
    service.drain()
    (after,) = facts(acme, uid)
    assert (after["wakes"], after["version"]) == (1, 1)
    changed = acme.ask("PATCH", f"/v1/subjects/u-{uid}/facts/{fact}", {"importance": 6}, headers={"If-Match": '"1"'})
    assert (changed.status, changed.json["wakes"]) == (200, 1)


def test_what_is_pinned_or_hardly_changes_stays_and_half_lives_are_the_tenants(acme, uid, service, settings):
    assert settings(half_lives={"other": 10}).json["half_lives"]["task"] == 30
    put(acme, uid, statement="Once saw a blue heron", importance=5)
    put(acme, uid, statement="Collects stamps", importance=5, pinned=True)
    put(acme, uid, statement="Lives by Berlin time", importance=5, attribute="timezone", value="Europe/Berlin")
    pass_days(service, 11)
    assert sorted(known(acme, uid)) == ["Collects stamps", "Lives by Berlin time"]
    pass_days(service, 1_000)
    assert sorted(known(acme, uid)) == ["Collects stamps", "Lives by Berlin time"]


def test_what_has_faded_is_not_served_however_late_the_sweep_is(acme, uid, service):
    put(acme, uid, statement="Once saw a blue heron", importance=5)
    service.local.clock.advance(61 * DAY)
    assert known(acme, uid) == ["Once saw a blue heron"], "nobody has put it in limbo yet"
    assert "heron" not in str(context(acme, uid, "which bird was it?")["sections"])
    assert acme.post(f"/v1/subjects/u-{uid}/search", {"query": "blue heron"})["items"] == []


def test_a_longer_half_life_reaches_facts_that_are_there_without_a_scan(acme, uid, service, settings):
    put(acme, uid, statement="Once saw a blue heron", importance=5)
    settings(half_lives={"other": 600})
    pass_days(service, 100)
    assert known(acme, uid) == ["Once saw a blue heron"]
    settings()
    pass_days(service, 91)
    assert known(acme, uid) == []


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"half_lives": {"other": 0}}, "half_lives.other"),
        ({"half_lives": {"moods": 5}}, "half_lives.moods.[key]"),
        ({"limbo_below": 0.5}, "limbo_below"),
        ({"forget_below": 0.3}, "forget_below"),
        ({"fact_cap": 0}, "fact_cap"),
        ({"category_retention_days": {"other": "ten"}}, "category_retention_days.other"),
    ],
)
def test_a_setting_that_makes_no_sense_is_named(settings, given, field):
    refused = settings(**given)
    assert (refused.status, refused.fields) == (422, [field])


def test_beyond_the_cap_the_least_used_goes_and_is_logged_and_what_matters_is_reported(acme, uid, service, settings):
    settings(fact_cap=3)
    put(acme, uid, statement="Owns a red bicycle", importance=9)
    put(acme, uid, statement="Grows tomatoes on the balcony", importance=5)
    pass_days(service, 1)
    context(acme, uid, "what grows on the balcony?")
    for n in range(3):
        put(acme, uid, statement=f"Saw film number {n}", importance=4)
        pass_days(service, 0.01)
    assert set(known(acme, uid)) == {"Owns a red bicycle", "Grows tomatoes on the balcony", "Saw film number 2"}
    assert {e["rule"] for e in log(acme, uid)} == {"evicted"}
    assert {"recency", "frequency", "alignment", "score", "cap"} <= log(acme, uid)[0]["numbers"].keys()
    for n in range(4):
        put(acme, uid, statement=f"Is allergic to food {n}", category="constraint", importance=9)
    service.drain()
    assert len(known(acme, uid)) == 5
    health = acme.get(f"/v1/subjects/u-{uid}/health")
    assert health["cap_full"]
    assert health["growth"]["flagged"]


def test_the_log_is_filtered_and_many_acts_are_undone_at_once(acme, uid, service):
    for n in range(3):
        put(acme, uid, statement=f"Once saw bird number {n}", importance=5)
    deleted = put(acme, uid, statement="Likes chess", importance=5)["fact_id"]
    acme.ask("DELETE", f"/v1/subjects/u-{uid}/facts/{deleted}")
    before = format_instant(service.slate.clock.now())
    pass_days(service, 61)
    assert len(log(acme, uid)) == 4
    assert len(log(acme, uid, "?rule=decay")) == 3
    assert len(log(acme, uid, "?reason=limbo&limit=2")) == 2
    assert [e["rule"] for e in log(acme, uid, f"?until={before}")] == ["deleted"]
    assert len(log(acme, uid, f"?since={before}")) == 4
    page = acme.get(f"/v1/subjects/u-{uid}/forgetting-log?rule=decay&limit=2")
    rest = acme.get(f"/v1/subjects/u-{uid}/forgetting-log?rule=decay&limit=2&cursor={page['next_cursor']}")
    assert len(page["items"]) + len(rest["items"]) == 3
    assert acme.post(f"/v1/subjects/u-{uid}/forgetting-log/restore", {}, 422)
    done = acme.post(f"/v1/subjects/u-{uid}/forgetting-log/restore", {"rule": "decay"})["items"]
    assert [each["restored"] for each in done] == [True] * 3
    assert len(known(acme, uid)) == 3
    assert [fact["importance"] for fact in facts(acme, uid)] == [6] * 3, "that they were wanted back counts"
    assert len(log(acme, uid, "?rule=importance")) == 3
    assert acme.post(f"/v1/subjects/u-{uid}/forgetting-log/restore", {"rule": "decay"})["items"] == []


def test_undoing_what_time_did_does_not_bring_back_what_somebody_deleted_since(acme, uid, service):
    kept, deleted = (put(acme, uid, statement=f"Once saw bird number {n}")["fact_id"] for n in range(2))
    pass_days(service, 61)
    acme.ask("DELETE", f"/v1/subjects/u-{uid}/facts/{deleted}")
    undo = {"rule": "decay", "fact_ids": [kept, deleted, "f-unknown"]}
    done = acme.post(f"/v1/subjects/u-{uid}/forgetting-log/restore", undo)["items"]
    assert [(each["fact_id"], each["restored"]) for each in done] == [
        (kept, True), (deleted, False), ("f-unknown", False),
    ]  # fmt: skip
    assert all("no such act" in each["reason"] for each in done[1:])
    done = acme.post(f"/v1/subjects/u-{uid}/forgetting-log/restore", {"fact_ids": [deleted]})["items"]
    assert [each["restored"] for each in done] == [True]


def test_posted_to_be_kept_perhaps_it_is_in_limbo_and_the_log_says_so(acme, uid, service):
    fact = put(acme, uid, statement="Likes opera", keep_maybe=True)["fact_id"]
    (entry,) = log(acme, uid)
    assert (entry["rule"], entry["fact_id"], entry["actor"]) == ("keep_maybe", fact, "admin")
    assert known(acme, uid) == []
    pass_days(service, 240)
    assert known(acme, uid, "?state=limbo") == ["Likes opera"], "kept four times as long"
    assert acme.post(f"/v1/subjects/u-{uid}/forgetting-log/restore", {"rule": "keep_maybe"})["items"] == []
    restore(acme, uid, fact)
    assert known(acme, uid) == ["Likes opera"]


def test_what_is_said_again_came_back_and_counts_as_regret(acme, uid, service):
    put(acme, uid, statement="Plays chess")
    pass_days(service, 61)
    before = service.local.counts.value(Count.REGRETTED)
    assert put(acme, uid, statement="Plays chess")["op"] == "ADD"
    assert service.local.counts.value(Count.REGRETTED) == before + 1
    (entry,) = log(acme, uid)
    assert entry["restored_at"] is not None
    assert acme.get(f"/v1/subjects/u-{uid}/health")["regret_rate"] == 1.0


def test_what_the_tenant_keeps_no_longer_is_not_brought_back_but_may_be_said_again(acme, uid, service, settings):
    settings(category_retention_days={"task": 10})
    fact = put(acme, uid, statement="Must send the report", category="task", importance=9)["fact_id"]
    pass_days(service, 11)
    assert log(acme, uid)[0]["rule"] == "retention"
    assert "10 days" in restore(acme, uid, fact, 409)["detail"]
    (undone,) = acme.post(f"/v1/subjects/u-{uid}/forgetting-log/restore", {"rule": "retention"})["items"]
    assert (undone["restored"], "10 days" in undone["reason"]) == (False, True)
    put(acme, uid, statement="Must send the report", category="task", importance=9)
    assert known(acme, uid) == ["Must send the report"]
    pass_days(service, 9)
    assert known(acme, uid) == ["Must send the report"]


def test_what_somebody_deleted_is_not_taken_for_gone_by_itself(acme, uid, service):
    fact = put(acme, uid, statement="Once saw a blue heron", importance=5)["fact_id"]
    pass_days(service, 61)
    assert facts(acme, uid, "?state=limbo")[0]["gone_by"] == "decay"
    acme.ask("DELETE", f"/v1/subjects/u-{uid}/facts/{fact}")
    assert restore(acme, uid, fact)["importance"] == 5


def test_feedback_moves_importance_once_a_context_logged_and_never_across_seven(acme, uid):
    used = put(acme, uid, statement="Plays the cello on Sundays", importance=7)["fact_id"]
    noise = put(acme, uid, statement="Plays the flute on Mondays", importance=5)["fact_id"]
    given = context(acme, uid, "who plays what on which day?")["context_id"]
    body = {"used": [used], "noise": [noise]}
    assert acme.post(f"/v1/contexts/{given}/feedback", body)["lowered"] == [noise]
    assert acme.post(f"/v1/contexts/{given}/feedback", body)["lowered"] == []
    importance = {fact["fact_id"]: fact["importance"] for fact in facts(acme, uid)}
    assert importance == {used: 7, noise: 4}
    (entry,) = log(acme, uid, "?rule=importance")
    assert (entry["numbers"]["importance_before"], entry["numbers"]["importance_after"]) == (5, 4)
    assert log(acme, uid) == []
    refused = acme.ask("POST", f"/v1/contexts/{given}/feedback", {"used": ["f-unknown"]})
    assert (refused.status, refused.fields) == (422, ["used"])
    assert acme.ask("POST", f"/v1/contexts/{given}/feedback", {"used": [used], "noise": [used]}).fields == ["noise"]
    assert acme.ask("POST", "/v1/contexts/c-none/feedback", {"used": []}).status == 404


def test_another_tenant_and_another_subject_reach_nothing_of_it(acme, globex, uid):
    fact = put(acme, uid, statement="Plays the cello on Sundays", importance=5)["fact_id"]
    given = context(acme, uid, "who plays the cello?")["context_id"]
    body = {"used": [fact]}
    bound = acme.with_key("memory:read", "memory:write", subject="u-other")
    for other in (globex, bound):
        assert other.ask("POST", f"/v1/contexts/{given}/feedback", body).status == 404
    assert bound.ask("GET", f"/v1/subjects/u-{uid}/health").status == 404
    assert bound.ask("POST", f"/v1/subjects/u-{uid}/forgetting-log/restore", {"rule": "decay"}).status == 404
    assert globex.get(f"/v1/subjects/u-{uid}/health")["active"] == 0
    reader = acme.with_key("memory:read")
    assert reader.ask("POST", f"/v1/contexts/{given}/feedback", body).status == 403


def test_a_closed_session_tells_what_was_used_and_what_was_noise(acme, uid, service):
    used = put(acme, uid, statement="Plays the cello in a quartet", importance=5)["fact_id"]
    noise = put(acme, uid, statement="Owns a red bicycle", importance=5)["fact_id"]
    acme.post("/v1/sessions", {"session_id": f"s-{uid}", "subject": f"u-{uid}"}, 201)
    turns = [{"role": "user", "content": "What could I do on Sunday?"}]
    acme.post(f"/v1/sessions/s-{uid}/turns", {"turns": turns})
    context(acme, uid, "what to do on Sunday", session=f"s-{uid}")
    answer = {"role": "assistant", "content": "You could practise the cello with your quartet."}
    acme.post(f"/v1/sessions/s-{uid}/turns", {"turns": [answer]})
    service.drain()
    acme.post(f"/v1/sessions/s-{uid}/close", {}, 202)
    service.drain()
    assert {fact["fact_id"]: fact["importance"] for fact in facts(acme, uid)} == {used: 6, noise: 4}


def test_health_names_duplicates_conflicts_and_noise(acme, uid):
    one = put(acme, uid, statement="Prefers an aisle seat on long flights", category="preference")["fact_id"]
    two = put(acme, uid, statement="On long flights prefers an aisle seat!", category="preference")["fact_id"]
    put(acme, uid, statement="Works at Initech", attribute="employer", value="Initech", confidence=0.9)
    put(acme, uid, statement="Works at Globocorp", attribute="employer", value="Globocorp", confidence=0.3)
    health = acme.get(f"/v1/subjects/u-{uid}/health")
    assert health["duplicates"]["items"] == [sorted([one, two])]
    assert len(health["conflicts"]["items"]) == 1
    assert not health["healthy"]
    assert not health["growth"]["flagged"]


def test_a_preview_says_what_would_go_and_changes_nothing(acme, uid, service):
    fact = put(acme, uid, statement="Once saw a blue heron", importance=5)["fact_id"]

    def preview(days):
        return [each for each in service.preview(days) if each.fact_id == fact]

    assert preview(59) == []
    (row,) = preview(61)
    assert (row.state, row.rule) == ("limbo", "decay")
    assert row.numbers["half_life_days"] == 60
    assert known(acme, uid) == ["Once saw a blue heron"]
    assert log(acme, uid) == []
    answer = acme.post("/_local/decay", {"within_days": 61})["items"]
    assert fact in {row["fact_id"] for row in answer}
    assert "heron" not in str(answer)


def test_a_context_warns_of_what_the_assistant_does_twice(acme, uid):
    acme.post("/v1/sessions", {"session_id": f"s-{uid}", "subject": f"u-{uid}"}, 201)
    asked = {"role": "assistant", "content": "What is your order number?"}
    call = {"id": "c1", "name": "lookup", "arguments": {"order": 4711}}
    turns = [
        asked,
        {"role": "user", "content": "4711"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "shipped", "tool_call_id": "c1"},
        asked,
        {"role": "assistant", "content": "", "tool_calls": [{**call, "id": "c2"}]},
    ]
    acme.post(f"/v1/sessions/s-{uid}/turns", {"turns": turns})
    assert acme.post("/v1/context", {"session": f"s-{uid}"})["warnings"] == [
        "turn 5 asks what turn 1 had asked; the user's answer is turn 2",
        "turn 6 calls lookup with the same arguments as turn 3; the earlier result is turn 4",
    ]


def talk(api, service, session, uid, *turns, **more):
    """Turns of the assistant and the user, alternately."""
    api.post("/v1/sessions", {"session_id": session, "subject": f"u-{uid}", **more}, 201)
    said = [{"role": ("assistant", "user")[n % 2], "content": content} for n, content in enumerate(turns)]
    api.post(f"/v1/sessions/{session}/turns", {"turns": said})
    service.drain()


def warnings(api, session):
    return api.post("/v1/context", {"session": session})["warnings"]


def test_a_question_that_an_earlier_session_answered_is_warned_of_and_counted(acme, globex, uid, service):
    talk(acme, service, f"s-{uid}", uid, "Hello! What is your order number?", "It is 4711.")
    acme.post(f"/v1/sessions/s-{uid}/close", {}, 202)
    service.drain()
    talk(acme, service, f"t-{uid}", uid, "Welcome back. Could you give me your order number, please?")
    before = service.local.counts.value(Count.REPEATED_QUESTIONS)
    asked = f"turn 1 asks what turn 1 of session s-{uid} had asked; the answer is its turn 2"
    assert warnings(acme, f"t-{uid}") == [asked]
    assert service.local.counts.value(Count.REPEATED_QUESTIONS) == before + 1
    talk(acme, service, f"o-{uid}", f"other-{uid}", "What is your order number?")
    assert warnings(acme, f"o-{uid}") == [], "it was somebody else who answered"
    talk(globex, service, f"s-{uid}", uid, "What is your order number?")
    assert warnings(globex, f"s-{uid}") == []
    talk(acme, service, f"n-{uid}", uid, "Ready?", "Yes.", "Which size do you want?")
    assert warnings(acme, f"n-{uid}") == []


def test_an_answer_that_is_deleted_or_closed_to_the_agent_is_none(acme, uid, service):
    ann, bob = (acme.with_key("memory:read", "memory:write", agent=name) for name in ("ann", "bob"))
    talk(ann, service, f"s-{uid}", uid, "What is your order number?", "It is 4711.", readers=["ann"])
    talk(bob, service, f"t-{uid}", uid, "What is your order number?")
    assert warnings(bob, f"t-{uid}") == [], "its readers are others"
    talk(ann, service, f"r-{uid}", uid, "What is your order number?")
    assert len(warnings(ann, f"r-{uid}")) == 1
    acme.ask("DELETE", f"/v1/sessions/s-{uid}/turns/2")
    service.drain()
    assert warnings(ann, f"r-{uid}") == []


def test_what_a_session_left_out_is_in_the_log_with_its_turns(acme, uid, service):
    acme.post("/v1/sessions", {"session_id": f"s-{uid}", "subject": f"u-{uid}"}, 201)
    said = [
        {"role": "user", "content": "I want to return the boots that I bought."},
        {"role": "assistant", "content": "Which size are they?"},
        {"role": "user", "content": "hm", "importance": 2},
        {"role": "user", "content": "Size 42."},
    ]
    acme.post(f"/v1/sessions/s-{uid}/turns", {"turns": said})
    acme.post(f"/v1/sessions/s-{uid}/close", {}, 202)
    service.drain()
    left = {entry["rule"]: (entry["session_id"], entry["seqs"], entry["fact_id"]) for entry in log(acme, uid)}
    assert left["below_4"] == (f"s-{uid}", [3], None)
    assert left["summarised"] == (f"s-{uid}", [1, 2, 4], None)
    assert "boots" not in str(log(acme, uid))


def test_a_fact_that_was_deleted_is_in_no_receipt_one_that_faded_is(acme, uid, service):
    deleted = put(acme, uid, statement="Plays the cello on Sundays", importance=5)["fact_id"]
    put(acme, uid, statement="Plays the flute on Mondays", importance=4)
    given = context(acme, uid, "who plays what on which day?")["context_id"]
    acme.ask("DELETE", f"/v1/subjects/u-{uid}/facts/{deleted}")
    pass_days(service, 29)
    receipt = acme.ask("GET", f"/v1/contexts/{given}")
    assert "cello" not in receipt.text
    assert "flute" in receipt.text
    assert {"id": deleted, "section": "facts", "reason": "deleted since"} in receipt.json["dropped"]


def test_metrics_are_told_as_prometheus_reads_them(acme, uid, service):
    put(acme, uid, statement="Once saw a blue heron", importance=5)
    pass_days(service, 61)
    text = acme.ask("GET", "/v1/metrics").text
    assert "# TYPE slate_facts_in_limbo_total counter" in text
    assert 'slate_facts_decided_total{by="ADD"}' in text
