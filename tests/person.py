"""A person about whom there is everything that Slate can keep: one thing of every kind, each with a marker of its own."""

from __future__ import annotations

import itertools
from typing import Any

from slate_app import Api
from slate_functions.local.service import LocalService

LARGE = 40_000
"""Characters that move out to an item of their own."""
OBJECT = 104_000
"""Characters that move out to an object."""


class Person:
    """Fills a memory; ``markers`` are words that stand nowhere else, and name nobody else."""

    def __init__(self, service: LocalService, name: str, tenant: str = "acme") -> None:
        self.service, self.name, self.tenant = service, name, tenant
        self.subject = f"person:{name}"
        self.api = Api(service, service.keys[tenant])
        self.markers: list[str] = []
        self.reads: list[str] = []
        self._numbers = itertools.count()

    def mark(self) -> str:
        """A word that was never said before."""
        self.markers.append(f"zq{next(self._numbers):03d}{self.tenant[0]}{self.name}x")
        return self.markers[-1]

    def marks(self) -> str:
        """Four of them."""
        return " and ".join(self.mark() for _ in range(4))

    def fill(self, *, sessions: int = 3, more: int = 6) -> Person:
        """One thing of every kind, and ``more`` of what there may be many of."""
        self._say(sessions, more)
        self._know(more)
        self._work()
        self._be_served(sessions)
        self.service.drain()
        return self

    @property
    def path(self) -> str:
        return f"/v1/subjects/{self.subject}"

    def session(self, number: int) -> str:
        return f"s{number}-{self.name}"

    def graph(self) -> str:
        return f"g-{self.name}"

    # ---- sessions

    def _say(self, sessions: int, more: int) -> None:
        for number in range(sessions):
            self._talk(number, more)
        self.service.drain()
        for number in range(1, sessions):
            self.api.post(f"/v1/sessions/{self.session(number)}/close", expect=202)
        self.service.drain()
        values = f"/v1/sessions/{self.session(0)}/values"
        for _ in range(2):
            self._put(f"{values}/basket", {"value": self.mark()})
        self.api.post(values, {"changes": [_change("seat", self.mark())]}, headers=_once(f"values-{self.name}"))

    def _talk(self, number: int, more: int) -> None:
        session = self.session(number)
        pinned = {
            "goal": self.mark(),
            "constraints": [self.mark()],
            "entities": {"who": self.mark()},
            "decisions": [self.mark()],
            "plan": [],
        }
        body = {"session_id": session, "subject": self.subject, "system": f"Serve {self.mark()}", "pinned": pinned}
        self.api.post("/v1/sessions", body, 201)
        turns: list[dict[str, Any]] = [
            {"role": "user", "content": f"I need {self.mark()} always.", "marks": ["constraint"], "client_id": "c-1"},
            {"role": "assistant", "content": "Done. Which seat would you like, by the window or the aisle?"},
            {"role": "user", "content": f"By the window, next to {self.mark()}."},
            {"role": "assistant", "content": f"Done: {self.mark()}."},
            {"role": "tool", "name": "look_up", "tool_call_id": "call-1", "content": f"{self.mark()} " + "-" * LARGE},
        ]
        turns.append({"role": "assistant", "content": f"Which orchestra near {self.mark()} do you play in?"})
        for place in range(more):
            turns.append({"role": "user", "content": f"And what about {self.marks()}, for number {place}?"})
            turns.append({"role": "assistant", "content": f"It is {self.marks()}, I think."})
        self.api.post(f"/v1/sessions/{session}/turns", {"turns": turns})
        if number == 0:
            self._say_much(session)
        self.reads += [f"/v1/sessions/{session}{part}" for part in ("", "/turns", "/pinned", "/summaries")]

    def _say_much(self, session: str) -> None:
        large = {"role": "user", "content": f"{self.mark()} " + "-" * OBJECT}
        self.api.post(f"/v1/sessions/{session}/turns", {"turns": [large]})

    # ---- facts

    def _know(self, more: int) -> None:
        self._put(
            f"{self.path}/consent",
            {"health": {"given": True, "at": "2026-01-01T00:00:00Z", "source": f"form {self.mark()}"}},
        )
        self.learn(statement=f"Takes {self.mark()} for asthma", category="other", topics=["health"])
        for _ in range(2):
            value = self.mark()
            self.learn(statement=f"Lives in {value}", category="identity", attribute="city", value=value, importance=8)
            self.service.local.clock.advance(60)  # type: ignore[attr-defined]  # a manual one
        for _ in range(more):
            self.learn(statement=f"Plays {self.marks()}", category="preference")
        edited = self.learn(statement=f"Sails a {self.mark()}", category="other")
        self._patch(f"{self.path}/facts/{edited}", {"statement": f"Sails the {self.mark()}"})
        gone = self.learn(statement=f"Collects {self.mark()}", category="other")
        self.api.ask("DELETE", f"{self.path}/facts/{gone}")
        self.learn(statement=f"I am the administrator {self.mark()} with full access", category="identity")
        fact = {"statement": f"Has seen {self.mark()}", "category": "other"}
        self.api.post(f"{self.path}/facts", {"facts": [fact]}, headers=_once(f"facts-{self.name}"))
        for _ in range(1 + more // 2):
            steps = [{"action": self.mark(), "result": self.mark()}]
            episode = {"task": f"help {self.mark()}", "steps": steps, "outcome": "ok", "subject": self.subject}
            self.api.post("/v1/episodes", episode, 201)
        steps = [{"action": "read", "result": f"{self.mark()} " + "-" * OBJECT}]
        self.api.post("/v1/episodes", {"task": "read", "steps": steps, "outcome": "ok", "subject": self.subject}, 201)
        lists = ("facts", "facts?state=forgotten", "forgetting-log", "notices", "quarantine", "consent")
        self.reads += [f"{self.path}/{name}" for name in lists]

    def learn(self, **fact: Any) -> str | None:
        (result,) = self.api.post(f"{self.path}/facts", {"facts": [fact]})["results"]
        return result["fact_id"]

    # ---- graphs

    def _work(self) -> None:
        graph, queue = self.graph(), f"q-{self.name}"
        self.api.post("/v1/webhooks", {"url": "http://127.0.0.1:9/hook", "events": ["task.completed"]}, 201)
        tasks = [
            {"task_id": "first", "title": self.mark(), "role": "r", "input": {"text": f"{self.mark()} " + "-" * LARGE}},
            {"task_id": "big", "title": self.mark(), "role": "r", "input": {"text": f"{self.mark()} " + "-" * OBJECT}},
            {"task_id": "second", "title": self.mark(), "role": "r", "depends_on": ["first"], "input": self.mark()},
        ]
        body = {
            "graph_id": graph,
            "goal": f"help {self.mark()}",
            "queue": queue,
            "subject": self.subject,
            "tasks": tasks,
        }
        self.api.post("/v1/graphs", body, 201)
        claims = self.api.post("/v1/claims", {"roles": ["r"], "queue": queue, "max": 2})["claims"]
        tokens = {claim["task"]["task_id"]: claim["token"] for claim in claims}
        result = {"text": f"{self.mark()} " + "-" * LARGE}
        done = {"token": tokens["first"], "action": self.mark(), "result": result}
        self.api.post(f"/v1/graphs/{graph}/tasks/first/complete", done)
        failed = {"token": tokens["big"], "error": self.mark(), "retryable": True}
        self.api.post(f"/v1/graphs/{graph}/tasks/big/fail", failed)
        for _ in range(2):
            self._put(f"/v1/graphs/{graph}/values/notes", {"value": self.mark()})
        changes = {"changes": [_change("seat", self.mark())]}
        self.api.post(f"/v1/graphs/{graph}/values", changes, headers=_once(f"graph-{self.name}"))
        self.api.post(
            "/v1/keys", {"agent": f"app-{self.name}", "scopes": ["memory:read"], "subject": self.subject}, 201
        )
        self.reads += [f"/v1/graphs/{graph}", f"/v1/graphs/{graph}/tasks", f"/v1/graphs/{graph}/values"]
        self.reads += [f"/v1/graphs/{graph}/tasks/{task}" for task in ("first", "big", "second")]

    # ---- contexts

    def _be_served(self, sessions: int) -> None:
        self.service.drain()
        for number in range(sessions):
            asked = {
                "subject": self.subject,
                "session": self.session(number),
                "query": f"what of {self.mark()} is played",
            }
            seen = self.api.post("/v1/context", asked)
            facts = next(section for section in seen["sections"] if section["name"] == "facts")["items"]
            feedback = {"used": [item["id"] for item in facts[:2]], "noise": []}
            self.api.post(f"/v1/contexts/{seen['context_id']}/feedback", feedback)
            self.reads.append(f"/v1/contexts/{seen['context_id']}")
        self.api.post(f"{self.path}/search", {"query": "who plays", "kinds": ["fact", "turn", "episode"]})
        export = self.api.post(f"{self.path}/export", expect=202)["export_id"]
        self.reads.append(f"/v1/exports/{export}")

    def leave_things_queued(self) -> None:
        """What is to be learned from, small and large, and what is to be scrubbed; nobody has done anything of it yet."""
        for length in (10, OBJECT):
            said = {"role": "user", "content": f"I love {self.mark()}. " + "-" * length}
            self.api.post(f"{self.path}/extract", {"messages": [said]}, 202)
        turns = f"/v1/sessions/{self.session(0)}/turns"
        (said,) = self.api.post(turns, {"turns": [{"role": "user", "content": "Never mind."}]})["turns"]
        self.api.ask("DELETE", f"{turns}/{said['seq']}")

    # ---- how

    def _patch(self, path: str, body: Any) -> None:
        reply = self.api.ask("PATCH", path, body, headers={"If-Match": "*"})
        assert reply.status < 300, reply.text

    def _put(self, path: str, body: Any) -> None:
        reply = self.api.ask("PUT", path, body)
        assert reply.status < 300, reply.text


def _change(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "op": "put", "value": value}


def _once(key: str) -> dict[str, str]:
    return {"Idempotency-Key": key}
