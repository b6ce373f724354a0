"""Exports over HTTP: for machines and for people."""

from __future__ import annotations

import json


def fill(api, uid, words="cello"):
    statement = {"statement": f"Plays the {words}", "category": "other"}
    api.post(f"/v1/subjects/u-{uid}/facts", {"facts": [statement]})
    api.post("/v1/sessions", {"session_id": f"s-{uid}", "subject": f"u-{uid}"}, expect=201)
    api.post(f"/v1/sessions/s-{uid}/turns", {"turns": [{"role": "user", "content": f"My {words} is out of tune."}]})


def test_it_is_lines_for_machines_and_a_page_for_people(acme, globex, service, uid):
    fill(acme, uid)
    path = f"/v1/subjects/u-{uid}/export"
    made = acme.post(path, expect=202, headers={"Idempotency-Key": "once"})
    assert acme.post(path, expect=202, headers={"Idempotency-Key": "once"})["export_id"] == made["export_id"]
    at = f"/v1/exports/{made['export_id']}"
    assert acme.get(at, expect=202)["state"] == "queued"
    service.drain()
    reply = acme.ask("GET", at)
    assert reply.headers["Content-Type"] == "application/x-ndjson"
    lines = [json.loads(line) for line in reply.text.splitlines()]
    assert lines[-1]["data"]["lines"]["turn"] == 1
    assert "Next-Cursor" not in reply.headers
    for page in (acme.ask("GET", f"{at}?format=html"), acme.ask("GET", at, headers={"Accept": "text/html"})):
        assert page.headers["Content-Type"].startswith("text/html")
        assert "default-src 'none'" in page.headers["Content-Security-Policy"]
        assert "My cello is out of tune." in page.text
    assert acme.ask("GET", f"{at}?format=ndjson", headers={"Accept": "text/html"}).text == reply.text
    assert globex.ask("GET", at).status == 404
    assert acme.with_key("memory:read").ask("GET", at).status == 403


def test_a_large_one_has_pages_that_fit_an_answer(acme, service, uid):
    for n in range(5):
        task = {"task_id": "t", "title": "t", "role": "r", "input": '"<' * 150_000}
        graph = {"graph_id": f"g{n}-{uid}", "goal": "large", "subject": f"u-{uid}", "tasks": [task]}
        acme.post("/v1/graphs", graph, expect=201)
    at = f"/v1/exports/{acme.post(f'/v1/subjects/u-{uid}/export', expect=202)['export_id']}"
    service.drain()
    pages, tasks, cursor = 0, 0, ""
    while cursor is not None:
        for form in ("html", "ndjson"):
            reply = acme.ask("GET", f"{at}?format={form}{cursor}")
            assert reply.status == 200
            assert len(json.dumps(reply.text)) < 5_500_000
        pages, tasks = pages + 1, tasks + sum(json.loads(line)["kind"] == "task" for line in reply.text.splitlines())
        following = reply.headers.get("Next-Cursor")
        cursor = None if following is None else f"&cursor={following}"
    assert (tasks, pages) == (5, 2)
