"""``slate erase`` and the client's erasures, against a Slate in this process in which each rest lasts half a day."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from slate.client import SlateClient
from slate.domain.errors import NotFound, SubjectErased
from slate.testing.in_process import URL, InProcessSlate, Transport
from slate_functions.local import erase_command
from slate_functions.local.cli import main

HALF_A_DAY = 43_200


@pytest.fixture(scope="module")
def running() -> Iterator[InProcessSlate]:
    with InProcessSlate() as slate:
        yield slate


def client_of(running: InProcessSlate) -> SlateClient:
    def rest(_: float) -> None:
        running.advance(HALF_A_DAY)

    return SlateClient(URL, running.key("officer"), transport=Transport(running.service.gateway), sleep=rest)


@pytest.fixture
def client(running: InProcessSlate) -> Iterator[SlateClient]:
    with client_of(running) as client:
        yield client


@pytest.fixture
def erase(running: InProcessSlate, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(erase_command, "client_of", lambda *_: client_of(running))
    return lambda *arguments: CliRunner().invoke(main, ["erase", *arguments])


def test_an_erasure_is_asked_for_and_followed_to_its_receipt(client: SlateClient) -> None:
    client.facts.state("u-1", "Plays the cello", "other")
    asked = client.erasures.ask("u-1", "by letter")
    assert asked.state == "FENCED"
    with pytest.raises(SubjectErased):
        client.facts.state("u-1", "Plays the tuba", "other")
    with pytest.raises(NotFound):
        client.erasures.receipt(asked.erasure_id)
    states = [status.state for status in client.erasures.follow(asked.erasure_id)]
    assert states[0] == "FENCED"
    assert states[-1] == "RECEIPTED"
    assert client.erasures.receipt(asked.erasure_id).count(".") == 2
    assert [each.erasure_id for each in client.erasures.list("u-1")] == [asked.erasure_id]


def test_the_command_names_the_erasure_and_shows_its_steps(erase, client: SlateClient) -> None:
    done = erase("u-2", "--reason", "by letter", "--follow")
    assert done.exit_code == 0, done.output
    (erasure_id,) = done.stdout.split()
    assert client.erasures.get(erasure_id).state == "RECEIPTED"
    for step in ("FENCED", "KEYS_SHREDDED", "VERIFIED"):
        assert step in done.stderr
    assert f"/v1/erasures/{erasure_id}/receipt" in done.stderr


def test_without_following_it_says_that_nothing_is_served_and_by_when_it_is_due(erase) -> None:
    done = erase("u-3")
    assert "nothing is served any more; due by" in done.stderr
    again = json.loads(erase("u-3", "--json").stdout)
    assert again["erasure_id"] == done.stdout.strip(), "the one that is open"


def test_one_that_is_held_says_so(erase, client: SlateClient) -> None:
    client.holds.create("u-4", "a claim")
    assert "held: it goes on when the last hold ends" in erase("u-4").stderr
