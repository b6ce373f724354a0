from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response

from http_support import event
from slate_functions.http.resolver import HttpResolver

THREADS = 32


def who_was_seen(resolver, register):
    """Every thread is in its handler at once; each answers the request id that it sees there."""
    barrier = Barrier(THREADS)

    def serve(name: str) -> Response[str]:
        barrier.wait(10)
        seen = resolver.current_event.raw_event["requestContext"]["requestId"]
        barrier.wait(10)
        return Response(200, "text/plain", f"{name} {seen} {resolver.context.get('_route_args', {}).get('name')}")

    register(serve)

    def call(i: int) -> str:
        return resolver.resolve(event("GET", f"/things/t{i}", request_id=f"r{i}"), None)["body"]

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(call, range(THREADS)))


def test_no_request_sees_anothers_event():
    resolver = HttpResolver()
    seen = who_was_seen(resolver, lambda serve: resolver.register("GET", "/things/{name}", serve))
    assert seen == [f"t{i} r{i} t{i}" for i in range(THREADS)]


def test_the_stock_resolver_mixes_events_up_which_is_why_there_is_our_own():
    resolver = APIGatewayHttpResolver()
    seen = who_was_seen(resolver, resolver.get("/things/<name>"))
    assert seen != [f"t{i} r{i} t{i}" for i in range(THREADS)]


def test_the_current_event_exists_only_while_a_request_is_served():
    resolver = HttpResolver()
    resolver.register("GET", "/things/{name}", lambda name: Response(200, "text/plain", name))
    resolver.resolve(event("GET", "/things/a"), None)
    with pytest.raises(RuntimeError, match="only while a request is served"):
        _ = resolver.current_event


@pytest.mark.parametrize(
    ("path", "matches"),
    [
        ("/things/a", True),
        ("/things/a#b%20c", True),
        ("/things/", False),
        ("/things/a/b", False),
        ("/things/a\n", True),
        ("/xthings/a", False),
    ],
)
def test_a_parameter_is_one_segment_of_any_characters(path, matches):
    resolver = HttpResolver()
    resolver.register("GET", "/things/{name}", lambda name: Response(200, "text/plain", name))
    assert (resolver.methods_at(path) == {"GET"}) is matches


def test_a_dot_in_a_path_stands_for_itself():
    resolver = HttpResolver()
    resolver.register("GET", "/openapi.json", lambda: Response(200, "text/plain", ""))
    assert resolver.methods_at("/openapi.json")
    assert not resolver.methods_at("/openapi_json")


def test_whole_events_are_never_printed_whatever_the_environment_says(monkeypatch, capsys):
    monkeypatch.setenv("POWERTOOLS_DEV", "true")
    resolver = HttpResolver()
    resolver.register("GET", "/things/{name}", lambda name: Response(200, "text/plain", name))
    resolver.resolve(event("GET", "/things/a", headers={"authorization": "Bearer secret"}), None)
    assert capsys.readouterr().out == ""
