"""Receipts of erasures: signed, checked offline, and not one letter of them may differ."""

import base64
import json
import stat
import string
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from slate.adapters.inprocess.signing_key import LocalSigningKey
from slate.adapters.jose.receipts import TYPE, BadKey, BadReceipt, JwsSigner, keys_of, verified
from slate.adapters.kms.signing_key import MAX_MESSAGE, KmsSigningKey
from slate.domain.erasing.receipts import Horizons, ReceiptClaims, StoreCount, subject_digest
from slate.domain.errors import Internal
from slate.settings import Settings
from slate.wiring.local import build_local

NOW = 1_800_000_000_000
REF = "5f" * 16
LETTERS = string.ascii_letters + string.digits + "-_"


def claims(stores: int = 3, most: int = 12) -> ReceiptClaims:
    return ReceiptClaims(
        jti="e-1",
        slate="0.1.0",
        tenant="acme",
        subject_digest=subject_digest("e-1", REF),
        epoch=1,
        requested_at=NOW,
        fenced_at=NOW + 1,
        verified_at=NOW + 2,
        signed_at=NOW + 3,
        keys_shredded=1,
        stores={f"forgetting_log_{n:02}": StoreCount(counted=most, erased=most, after=0) for n in range(stores)},
        horizons=Horizons(keys=NOW, snapshots=NOW, backups=NOW),
    )


@pytest.fixture(scope="module")
def key() -> LocalSigningKey:
    return LocalSigningKey.generate()


@pytest.fixture(scope="module")
def public(key):
    return [Ed25519PublicKey.from_public_bytes(key.public_key())]


@pytest.fixture(scope="module")
def receipt(key):
    return JwsSigner(key).sign(claims())


def test_a_receipt_says_what_was_signed(receipt, public):
    assert verified(receipt, public) == claims()


def test_it_is_the_same_whenever_it_is_signed(key, receipt):
    assert JwsSigner(key).sign(claims()) == receipt


def test_no_letter_of_it_may_differ(receipt, public):
    """Each letter replaced by its neighbour, and the last one, of which four bits say nothing, by every other."""
    for place, letter in enumerate(receipt):
        others = LETTERS if place == len(receipt) - 1 else LETTERS[(LETTERS.find(letter) + 1) % 64]
        for other in set(others) - {letter}:
            with pytest.raises(BadReceipt):
                verified(receipt[:place] + other + receipt[place + 1 :], public)


@pytest.mark.parametrize(
    "alter", [lambda t: t + "=", lambda t: t + "\n.", lambda t: t[:-1], lambda _: "", lambda t: t + ".x"]
)
def test_nothing_may_be_added_or_left_out(receipt, public, alter):
    with pytest.raises(BadReceipt):
        verified(alter(receipt), public)


def test_another_key_has_not_signed_it(receipt):
    with pytest.raises(BadReceipt, match="Signature"):
        verified(receipt, [Ed25519PrivateKey.generate().public_key()])


def test_the_header_chooses_no_algorithm(receipt, key, public):
    """The public key is public: as a secret of HMAC it would let anybody sign."""
    _, payload, _ = receipt.split(".")
    raw = base64.urlsafe_b64decode(payload + "==")
    for forged in (
        jwt.PyJWS().encode(raw, key.public_key(), "HS256", {"typ": TYPE}),
        jwt.PyJWS().encode(raw, None, "none", {"typ": TYPE}),  # type: ignore[arg-type]
    ):
        with pytest.raises(BadReceipt):
            verified(forged, public)


def test_what_the_key_signed_for_another_end_is_no_receipt():
    private = Ed25519PrivateKey.generate()
    for typ, payload in (("JWT", claims().model_dump_json().encode()), (TYPE, b'{"jti":"e-1"}'), (TYPE, b"[]")):
        signed = jwt.PyJWS().encode(payload, private, "EdDSA", {"typ": typ})
        with pytest.raises(BadReceipt, match="is no receipt"):
            verified(signed, [private.public_key()])


def test_a_library_that_knows_nothing_of_us_checks_it_by_the_key_set(receipt, key):
    keys = jwt.PyJWKSet.from_dict(dict(JwsSigner(key).public_keys()))
    kid = jwt.get_unverified_header(receipt)["kid"]
    payload = json.loads(jwt.PyJWS().decode(receipt, keys[kid], ["EdDSA"]))
    assert payload["jti"] == "e-1"
    assert payload["fenced_at"] == "2027-01-15T08:00:00.001Z"


def test_keys_are_read_from_pem_and_from_the_key_set(receipt, key, public):
    pem = public[0].public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    for content in (pem, json.dumps(JwsSigner(key).public_keys()).encode()):
        assert verified(receipt, keys_of(content)).jti == "e-1"
    other = generate_private_key(SECP256R1()).public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    for content in (b"", b"{}", b'{"keys": []}', other):
        with pytest.raises(BadKey):
            keys_of(content)


def test_a_receipt_of_many_stores_and_great_numbers_is_small_enough_for_kms(key):
    text = JwsSigner(key).sign(claims(stores=32, most=10**9))
    assert len(text.rpartition(".")[0]) <= MAX_MESSAGE


def test_it_names_nobody(receipt):
    payload = base64.urlsafe_b64decode(receipt.split(".")[1] + "==").decode()
    assert REF not in payload
    assert subject_digest("e-1", REF) != subject_digest("e-2", REF)


def test_a_key_file_is_made_once_and_read_by_its_owner_alone(tmp_path: Path):
    path = tmp_path / "signing.pem"
    first = LocalSigningKey.from_file(path)
    assert LocalSigningKey.from_file(path).public_key() == first.public_key()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_bytes(b"what is this")
    with pytest.raises(ValueError, match="no Ed25519 key"):
        LocalSigningKey.from_file(path)


class Kms:
    """As KMS has it: Ed25519 over a message as it is, of 4,096 bytes at most; moto knows no such keys."""

    def __init__(self, private) -> None:
        self.private = private
        self.asked = 0

    def sign(self, *, KeyId, Message, MessageType, SigningAlgorithm):  # noqa: N803
        assert (KeyId, MessageType, SigningAlgorithm) == ("key-1", "RAW", "ED25519_SHA_512")
        assert len(Message) <= MAX_MESSAGE
        return {"Signature": self.private.sign(Message)}

    def get_public_key(self, *, KeyId):  # noqa: N803
        assert KeyId == "key-1"
        self.asked += 1
        public = self.private.public_key()
        return {"PublicKey": public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)}


def test_kms_signs_what_anybody_can_check():
    kms = Kms(Ed25519PrivateKey.generate())
    signer = JwsSigner(KmsSigningKey(lambda: kms, "key-1"))  # type: ignore[arg-type, return-value]
    receipts = [signer.sign(claims()) for _ in range(2)]
    assert verified(receipts[0], keys_of(json.dumps(signer.public_keys()).encode())) == claims()
    assert kms.asked == 1, "the public key never changes"


def test_a_key_of_another_kind_is_refused_by_name():
    kms = Kms(generate_private_key(SECP256R1()))
    with pytest.raises(Internal, match="ECC_NIST_EDWARDS25519"):
        JwsSigner(KmsSigningKey(lambda: kms, "key-1")).public_keys()  # type: ignore[arg-type, return-value]


def test_a_laptops_receipts_are_checked_by_its_key_file_after_it_has_gone(tmp_path: Path):
    settings = Settings(signing_key_file=str(tmp_path / "signing.pem"))
    with build_local(settings=settings) as local:
        first = local.slate.privacy.proving.public_keys()
    with build_local(settings=settings) as local:
        assert local.slate.privacy.proving.public_keys() == first
    with build_local() as local:
        assert local.slate.privacy.proving.public_keys() != first
