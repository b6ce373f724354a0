"""The command that checks a receipt, with no server there."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from slate.adapters.inprocess.signing_key import LocalSigningKey
from slate.adapters.jose.receipts import JwsSigner
from slate.domain.erasing.receipts import Horizons, ReceiptClaims, StoreCount, subject_digest
from slate_functions.local.cli import main

NOW = 1_800_000_000_000
CLAIMS = ReceiptClaims(
    jti="e-1",
    slate="0.1.0",
    tenant="acme",
    subject_digest=subject_digest("e-1", "5f" * 16),
    epoch=1,
    requested_at=NOW,
    fenced_at=NOW,
    verified_at=NOW,
    signed_at=NOW,
    keys_shredded=1,
    stores={"facts": StoreCount(counted=1_200, erased=1_201, after=0)},
    horizons=Horizons(keys=NOW, snapshots=NOW, backups=NOW),
)


@pytest.fixture
def verify(tmp_path):
    """Runs it over a receipt, by the key set of the one that signed."""
    signer = JwsSigner(LocalSigningKey.generate())
    key = tmp_path / "jwks.json"
    key.write_text(json.dumps(signer.public_keys()))

    def run(*more, alter=lambda text: text):
        file = tmp_path / "receipt"
        file.write_bytes(alter(signer.sign(CLAIMS)).encode())
        return CliRunner().invoke(main, ["verify-receipt", str(file), "--key", str(key), *more])

    return run


def test_a_genuine_one_says_what_was_erased(verify):
    result = verify(alter=lambda text: text + "\n")
    assert (result.exit_code, result.stderr) == (0, "genuine\n")
    assert all(told in result.stdout for told in ("facts", "1,200", "1,201", "e-1", "2027-01-15T08:00:00.000Z"))


def test_what_it_claims_is_given_to_programs(verify):
    assert json.loads(verify("--json").stdout)["stores"] == {"facts": {"counted": 1200, "erased": 1201, "after": 0}}


def test_one_altered_letter_is_told_by_the_exit_code(verify):
    result = verify(alter=lambda text: text.replace(".e", ".f", 1))
    assert result.exit_code == 1
    assert result.stderr.startswith("not genuine: ")
    assert not result.stdout


def test_it_is_held_against_a_ref(verify):
    assert verify("--ref", "5f" * 16).exit_code == 0
    other = verify("--ref", "50" * 16)
    assert other.exit_code == 1
    assert "somebody else" in other.stderr


def test_a_file_that_is_no_key_is_named(tmp_path):
    for name in ("receipt", "key"):
        (tmp_path / name).write_text("x")
    result = CliRunner().invoke(main, ["verify-receipt", str(tmp_path / "receipt"), "--key", str(tmp_path / "key")])
    assert result.exit_code == 2
    assert "neither a public key" in result.stderr
