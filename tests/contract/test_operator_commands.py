"""The commands of an operator, over a deployment of the test's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from typer.testing import CliRunner

from contract.world import TENANT, World
from slate.adapters.inprocess.master_key import MasterKeyWrapper
from slate.adapters.jose.receipts import verified
from slate.contract.erasures import AskErasure
from slate.contract.facts import PostFacts
from slate.contract.holds import CreateHold
from slate_functions.local import operator_commands
from slate_functions.local.cli import main

Run = Callable[..., Any]


@pytest.fixture
def slate(w: World, monkeypatch: pytest.MonkeyPatch) -> Run:
    def run(*arguments: str, **parts: Any) -> Any:
        deployed = replace(w.parts, sleep=w.clock.advance, **parts)
        monkeypatch.setattr(operator_commands, "_deployment", lambda _: (w.settings, deployed))
        return CliRunner().invoke(main, arguments)

    return run


def fill(w: World, subject: str, tenant: str = TENANT) -> None:
    body = PostFacts.model_validate({"facts": [{"statement": "Plays the cello", "category": "other"}]})
    w.slate.memory.facts.post(w.principal(tenant=tenant), subject, body, None)


def test_data_keys_are_wrapped_anew(w: World, slate: Run) -> None:
    fill(w, "u-1")
    done = slate("keys", "rotate-wrapping")
    assert done.exit_code == 0
    assert done.stdout.startswith("2 keys are wrapped")
    refused = slate("keys", "rotate-wrapping", wrapper=MasterKeyWrapper.generate())
    assert refused.exit_code == 1
    assert refused.stderr.startswith("error: this key was wrapped under another master key")


def test_the_ledger_is_replayed_for_every_tenant_there_is(w: World, slate: Run) -> None:
    fill(w, "u-1")
    fill(w, "u-2", "globex")
    before = w.dynamodb.scan(TableName=w.settings.table)["Items"]
    w.slate.privacy.erasing.ask(w.me, AskErasure(subject="u-1", reason="asked for"), None)
    w.slate.privacy.holding.create(w.principal(tenant="globex"), CreateHold(subject="u-2", reason="in court"), None)
    for item in w.dynamodb.scan(TableName=w.settings.table)["Items"]:
        w.dynamodb.delete_item(TableName=w.settings.table, Key={name: item[name] for name in ("pk", "sk")})
    for item in before:
        w.dynamodb.put_item(TableName=w.settings.table, Item=item)
    done = slate("ledger", "replay")
    assert done.exit_code == 0
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()[1:]}
    assert rows == {TENANT: ["1", "1", "1", "0", "0"], "globex": ["0", "0", "0", "1", "0"]}


def test_a_tenant_is_offboarded_when_it_is_named_twice(w: World, slate: Run) -> None:
    fill(w, "u-1")
    assert slate("offboard", TENANT, "--confirm", "globex").exit_code == 2
    done = slate("offboard", TENANT, "--confirm", TENANT)
    assert done.exit_code == 0
    key = w.parts.signing_key.public_key()
    assert verified(done.stdout.strip(), [Ed25519PublicKey.from_public_bytes(key)]).tenant == TENANT
    replayed = slate("ledger", "replay")
    assert replayed.exit_code == 1
    assert f"`slate offboard {TENANT}`" in replayed.stderr


def test_without_a_deployment_it_is_said_what_to_set() -> None:
    done = CliRunner().invoke(main, ["ledger", "replay"], env={"SLATE_KMS_KEY_ID": ""})
    assert done.exit_code == 2
    assert "SLATE_" in done.stderr
