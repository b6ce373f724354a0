"""An issuer's keys: how they are fetched, how long they are kept, and what they sign."""

from __future__ import annotations

import base64
import hmac
import json
import random
import ssl
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from issuer import KIND_OF, Issuer, SigningKey, dripping, endless, forged, issuing, saying, silent
from slate.adapters.inprocess.clocks import ManualClock
from slate.adapters.oidc.fetching import MAX_BYTES, HttpsFetch, NotFetched
from slate.adapters.oidc.keys import ALGORITHMS, REST_SECONDS, IssuerKeys, at_address, discovered
from slate.adapters.oidc.tokens import JwtReader
from slate.domain.errors import Unauthenticated, Unavailable

FRESH, STALE = 900, 14_400
FETCH = HttpsFetch(timeout_seconds=5)


@pytest.fixture
def issuer():
    with issuing() as issuer:
        yield issuer


class World:
    """A reader of an issuer's tokens, its clock in the test's hands."""

    def __init__(self, issuer: Issuer, fetch=FETCH):
        self.issuer = issuer
        self.clock = ManualClock(1_800_000_000_000)
        keys = IssuerKeys(at_address(fetch, f"{issuer.url}/keys"), self.clock, fresh_seconds=FRESH, stale_seconds=STALE)
        self.reader = JwtReader(keys)

    def read(self, token):
        return self.reader.read(token)

    def refused(self, token):
        with pytest.raises(Unauthenticated) as caught:
            self.reader.read(token)
        return caught.value.detail


@pytest.fixture
def world(issuer):
    return World(issuer)


# --- fetching


def test_a_document_is_fetched_from_this_machine_without_https(issuer):
    assert FETCH(f"{issuer.url}/keys") == issuer.documents()["/keys"]


@pytest.mark.parametrize(
    "url",
    [
        "http://issuer.example.com/keys",
        "http://127.0.0.2.example.com/keys",
        "http://169.254.169.254/keys",
        "file:///etc/passwd",
        "ftp://127.0.0.1/keys",
        "127.0.0.1/keys",
        "https:///keys",
        "http://[::1/keys",
        "http://127.0.0.1:port/keys",
        "",
    ],
)
def test_nothing_else_is_asked_without_https(url):
    with pytest.raises(NotFetched, match="its address"):
        FETCH(url)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (saying(302, b"", Location="/.well-known/openid-configuration"), "302"),
        (saying(404), "404"),
        (saying(500), "500"),
        (saying(200, b"<html>"), "not JSON"),
        (saying(200, b"[1]"), "not a JSON object"),
        (saying(200, b'{"keys": ['), "not JSON"),
        (saying(200, b"[" * 100_000), "not JSON"),
        (saying(200, b'{"a": "\xff"}'), "not JSON"),
        (saying(200, b" " * (MAX_BYTES + 1)), "over 262,144 bytes"),
        (saying(200, b'{"keys"', **{"Content-Length": "10"}), "not whole"),
        (endless, "over 262,144 bytes"),
    ],
)
def test_what_is_no_such_document_is_refused_with_the_reason(issuer, answer, why):
    issuer.answer = answer
    with pytest.raises(NotFetched, match=why):
        HttpsFetch(timeout_seconds=2)(f"{issuer.url}/keys")
    assert issuer.asked == ["/keys"], "no redirect is followed"


@pytest.mark.parametrize("answer", [silent, dripping])
def test_one_deadline_holds_however_the_answer_comes(issuer, answer):
    issuer.answer = answer
    with pytest.raises(NotFetched, match=r"no whole answer within 0\.2 s"):
        HttpsFetch(timeout_seconds=0.2)(f"{issuer.url}/keys")


def test_nobody_there_is_told_by_its_kind_alone():
    with issuing() as gone:
        url = gone.url
    with pytest.raises(NotFetched, match=r"\Ano whole answer: ConnectionRefusedError\Z"):
        FETCH(f"{url}/keys")


def test_a_certificate_that_nobody_vouches_for_is_refused(issuer):
    with pytest.raises(NotFetched, match="SSL"):
        FETCH(issuer.url.replace("http://", "https://") + "/keys")
    assert HttpsFetch(timeout_seconds=1)._context().verify_mode is ssl.CERT_REQUIRED


# --- signatures


@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
def test_every_algorithm_that_is_taken_is_taken(algorithm):
    with issuing(SigningKey("k", algorithm)) as issuer:
        assert World(issuer).read(issuer.token())["tenant"] == "acme"


def test_the_algorithms_are_those_by_which_only_the_issuer_can_sign():
    assert set(KIND_OF) == ALGORITHMS


@pytest.mark.parametrize("name", ["none", "None", "NONE", "nOnE", ""])
@pytest.mark.parametrize("signature", [b"", b"x" * 64])
def test_what_is_not_signed_is_nobodys(world, name, signature):
    header = {"alg": name, "kid": "first", "typ": "JWT"}
    world.refused(forged(header, world.issuer.claims(), signature))


@pytest.mark.parametrize("form", ["pem", "der", "jwk", "modulus"])
@pytest.mark.parametrize("algorithm", ["HS256", "HS384", "HS512"])
def test_the_public_key_is_no_secret_that_signs(form, algorithm):
    key = SigningKey("k", "RS256")
    public = key.private.public_key()
    secret = {
        "pem": public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        "der": public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
        "jwk": json.dumps(key.published).encode(),
        "modulus": base64.urlsafe_b64decode(key.published["n"] + "=="),
    }[form]
    with issuing(key) as issuer:
        head = forged({"alg": algorithm, "kid": "k", "typ": "JWT"}, issuer.claims()).rpartition(".")[0]
        mac = hmac.digest(secret, head.encode(), algorithm.replace("HS", "sha"))
        token = f"{head}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"
        assert "algorithm" in World(issuer).refused(token)


def test_a_symmetric_key_that_is_published_signs_nothing():
    secret = {"kty": "oct", "kid": "k", "k": base64.urlsafe_b64encode(b"s" * 64).decode(), "alg": "HS256"}
    with issuing() as issuer:
        issuer.answer = saying(200, json.dumps({"keys": [secret, issuer.keys[0].published]}).encode())
        world = World(issuer)
        assert world.read(issuer.token())
        world.refused(forged({"alg": "HS256", "kid": "k"}, issuer.claims(), b"x" * 32))


@pytest.mark.parametrize("claimed", ["RS512", "PS256", "ES256", "EdDSA"])
def test_a_key_checks_by_its_own_algorithm_alone(claimed):
    key = SigningKey("k", "RS256")
    with issuing(key) as issuer:
        # By the very RSA key, where that can be.
        token = SigningKey("k", claimed).sign(issuer.claims())
        assert "not signed by a key" in World(issuer).refused(token)


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256"])
def test_a_key_that_names_no_algorithm_checks_by_those_of_its_family(algorithm):
    with issuing(SigningKey("k", algorithm, more={"alg": None, "use": None})) as issuer:
        assert World(issuer).read(issuer.token())
        other = SigningKey("k", "EdDSA" if algorithm != "EdDSA" else "ES256")
        World(issuer).refused(other.sign(issuer.claims()))


@pytest.mark.parametrize(
    "more",
    [
        {"use": "enc"},
        {"key_ops": ["sign"]},
        {"key_ops": "verify"},
        {"kty": "RSA"},
        {"kty": None},
        {"kty": ["EC"]},
        {"crv": "P-384"},
        {"crv": {}},
        {"x": "AAAA"},
        {"x": 7},
        {"alg": "ES384"},
        {"alg": "HS256"},
        {"kid": 7},
        {"d": "AAAA"},
    ],
)
def test_a_key_that_is_not_sound_or_not_for_this_is_passed_by(more):
    with issuing(SigningKey("k", more=more), SigningKey("good", nth=1)) as issuer:
        world = World(issuer)
        world.refused(SigningKey("k").sign(issuer.claims()))
        assert world.read(issuer.keys[1].sign(issuer.claims()))


@pytest.mark.filterwarnings("ignore:The RSA key is 1024 bits")
def test_an_rsa_key_that_is_too_short_signs_nothing():
    with issuing(SigningKey("k", "RS256", kind="RSA-1024")) as issuer:
        World(issuer).refused(issuer.token())


def test_another_issuers_key_of_the_same_name_signs_nothing(world):
    world.refused(SigningKey("first", nth=7).sign(world.issuer.claims()))


@pytest.mark.parametrize("embedded", ["jwk", "jku", "x5u", "x5c"])
def test_a_key_that_the_token_brings_along_is_not_looked_at(world, embedded):
    own = SigningKey("mine", nth=8)
    values = {"jwk": own.published, "jku": "https://evil.test/keys", "x5u": "https://evil.test/c", "x5c": ["AAAA"]}
    world.refused(own.sign(world.issuer.claims(), **{embedded: values[embedded]}))
    assert world.issuer.read == 1


@pytest.mark.parametrize("typ", ["jwt", "JWT", "at+jwt", "application/at+jwt", "AT+JWT", None])
def test_tokens_to_call_with_are_of_these_types(world, typ):
    assert world.read(world.issuer.keys[0].sign(world.issuer.claims(), typ=typ))


@pytest.mark.parametrize("typ", ["logout+jwt", "dpop+jwt", "secevent+jwt", "JOSE", ""])
def test_a_token_of_another_type_opens_nothing(world, typ):
    header = {"alg": "ES256", "kid": "first", "typ": typ}
    assert "type" in world.refused(forged(header, world.issuer.claims(), b"x" * 64))


@pytest.mark.parametrize("header", [{"crit": ["exp"], "exp": 1}, {"crit": []}, {"crit": "b64"}])
def test_what_a_token_calls_critical_and_nobody_knows_is_refused(world, header):
    world.refused(world.issuer.keys[0].sign(world.issuer.claims(), **header))


@pytest.mark.parametrize(
    "payload", [b"", b"[]", b'"x"', b"null", b"{", b"\xff", b"[" * 6_000, b'{"exp": 1' + b"0" * 5_000]
)
def test_a_signed_text_that_holds_no_claims_is_refused(world, payload):
    world.refused(world.issuer.keys[0].sign(payload))


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "..",
        "...",
        "a.b",
        "a.b.c",
        "a.b.c.d.e",
        "é.é.é",
        "eyJhbGciOiJFUzI1NiJ9",
        "e30.e30.e30",
        "bnVsbA.e30.",
        "W10.e30.",
        "\x00.\x00.\x00",
    ],
)
def test_a_text_that_is_no_token_is_refused(world, text):
    world.refused(text)


def test_no_token_that_was_changed_anywhere_is_taken(world):
    rng, token = random.Random(7), world.issuer.token()  # noqa: S311 (the same changes each time)
    world.read(token)
    for _ in range(300):
        at = rng.randrange(len(token))
        changed = token[:at] + rng.choice("Aa0_-.=%\n") + token[at + 1 :]
        if changed != token:
            world.refused(changed)


def test_a_token_that_names_no_key_is_checked_by_the_only_one_there_is(world):
    token = world.issuer.keys[0].sign(world.issuer.claims(), kid=None)
    assert world.read(token)
    world.issuer.keys.append(SigningKey("second", nth=1))
    world.clock.advance(FRESH)
    assert "not signed by a key" in world.refused(token)


@pytest.mark.parametrize("kid", [7, ["first"], {"first": 1}])
def test_a_key_id_that_is_no_text_is_refused(world, kid):
    world.refused(forged({"alg": "ES256", "kid": kid}, world.issuer.claims(), b"x" * 64))


# --- keeping keys


def test_keys_are_read_once_and_kept(world):
    for _ in range(5):
        world.read(world.issuer.token())
    assert world.issuer.read == 1


def test_a_new_key_is_known_at_once(world):
    world.read(world.issuer.token())
    world.clock.advance(REST_SECONDS)
    world.issuer.keys.insert(0, SigningKey("second", nth=1))
    assert world.read(world.issuer.token())
    assert world.issuer.read == 2


def test_a_withdrawn_key_is_refused_once_the_keys_are_no_longer_fresh(world):
    old = world.issuer.token()
    world.read(old)
    world.issuer.keys[:] = [SigningKey("second", nth=1)]
    world.clock.advance(FRESH - 1)
    assert world.read(old)
    world.clock.advance(1)
    assert "not signed by a key" in world.refused(old)


def test_tokens_that_name_keys_at_random_do_not_press_on_the_issuer(world):
    world.read(world.issuer.token())
    for n in range(50):
        world.refused(SigningKey(f"random-{n}", nth=2).sign(world.issuer.claims()))
    assert world.issuer.read == 1
    world.clock.advance(REST_SECONDS)
    for n in range(50):
        world.refused(SigningKey(f"random-{n}", nth=2).sign(world.issuer.claims()))
    assert world.issuer.read == 2


def test_an_issuer_out_of_reach_is_no_verdict_on_a_token(world):
    world.issuer.answer = saying(500)
    with pytest.raises(Unavailable) as caught:
        world.read(world.issuer.token())
    assert caught.value.data["retry_after"] == REST_SECONDS
    world.clock.advance(REST_SECONDS - 1)
    with pytest.raises(Unavailable) as caught:
        world.read(world.issuer.token())
    assert caught.value.data["retry_after"] == 1
    assert world.issuer.read == 1
    world.issuer.answer = None
    world.clock.advance(1)
    assert world.read(world.issuer.token())


def test_known_keys_are_taken_while_the_issuer_is_out_of_reach_and_not_for_ever(world):
    token = world.issuer.token()
    world.read(token)
    world.issuer.answer = saying(503)
    world.clock.advance(FRESH)
    for _ in range(5):
        assert world.read(token)
    assert world.issuer.read == 2, "an issuer that is down is asked once in a while"
    world.clock.advance(STALE - FRESH - 1)
    assert world.read(token)
    world.clock.advance(1)
    with pytest.raises(Unavailable):
        world.read(token)


def test_an_unknown_key_is_no_verdict_while_the_issuer_is_out_of_reach(world):
    world.read(world.issuer.token())
    world.issuer.answer = saying(503)
    world.clock.advance(REST_SECONDS)
    unknown = SigningKey("second", nth=1).sign(world.issuer.claims())
    for _ in range(3):
        with pytest.raises(Unavailable):
            world.read(unknown)
    assert world.issuer.read == 2


@pytest.mark.parametrize("document", [{}, {"keys": []}, {"keys": {}}, {"keys": [7]}, {"keys": [{"kty": "oct"}]}])
def test_an_issuer_that_publishes_no_key_is_out_of_order(world, document):
    world.issuer.answer = saying(200, json.dumps(document).encode())
    with pytest.raises(Unavailable):
        world.read(world.issuer.token())


def test_one_reads_the_keys_while_others_go_on_with_those_they_know(issuer):
    world = World(issuer, HttpsFetch(timeout_seconds=1))
    token = issuer.token()
    world.read(token)
    world.clock.advance(FRESH)
    issuer.answer = silent
    with ThreadPoolExecutor(8) as pool:
        slow = pool.submit(world.read, token)
        while issuer.read < 2:
            pass
        quick = [pool.submit(world.read, token) for _ in range(6)]
        assert all(each.result(timeout=0.5) for each in quick)
        assert not slow.done()
        issuer.over.set()
        assert slow.result()
    assert issuer.read == 2


def test_many_that_know_no_key_read_them_once(issuer):
    world, token = World(issuer), issuer.token()
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(world.read, [token] * 16))
    assert issuer.read == 1


# --- discovery


def discover(issuer, name=None):
    clock = ManualClock(1_800_000_000_000)
    keys = IssuerKeys(discovered(FETCH, name or issuer.url), clock, fresh_seconds=FRESH, stale_seconds=STALE)
    return JwtReader(keys)


def test_an_issuer_says_where_its_keys_are(issuer):
    assert discover(issuer).read(issuer.token())
    assert issuer.asked == ["/.well-known/openid-configuration", "/keys"]


@pytest.mark.parametrize(
    "description",
    [
        {},
        {"issuer": "https://other.test"},
        {"issuer": None, "jwks_uri": "x"},
        {"issuer": "SELF"},
        {"issuer": "SELF", "jwks_uri": 7},
    ],
)
def test_a_description_of_another_issuer_or_of_no_keys_is_refused(issuer, description):
    described = {k: issuer.url if v == "SELF" else v for k, v in description.items()}
    issuer.answer = saying(200, json.dumps(described).encode())
    with pytest.raises(Unavailable):
        discover(issuer).read(issuer.token())


def test_a_description_cannot_lead_out_of_https(issuer):
    described = {"issuer": issuer.url, "jwks_uri": "http://keys.example.com/"}
    issuer.answer = saying(200, json.dumps(described).encode())
    with pytest.raises(Unavailable, match="https"):
        discover(issuer).read(issuer.token())


def test_a_slash_at_the_end_of_an_issuers_name_is_part_of_it(issuer):
    with pytest.raises(Unavailable, match="another issuer"):
        discover(issuer, f"{issuer.url}/").read(issuer.token())
    assert issuer.asked == ["/.well-known/openid-configuration"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
MEMBERS = st.sampled_from(["kty", "crv", "x", "y", "n", "e", "kid", "use", "alg", "key_ops", "d"])
LIKELY = st.sampled_from(["RSA", "EC", "OKP", "P-256", "P-521", "Ed25519", "AQAB", "sig", "RS256", "ES256", ""])


@given(st.lists(st.dictionaries(MEMBERS, LIKELY | JSON, max_size=9) | JSON, max_size=3) | JSON)
def test_whatever_an_issuer_publishes_breaks_nothing(keys):
    read = IssuerKeys(lambda: {"keys": keys}, ManualClock(0), fresh_seconds=FRESH, stale_seconds=STALE)
    for algorithm in ALGORITHMS:
        with suppress(Unavailable):
            read.find(None, algorithm)
