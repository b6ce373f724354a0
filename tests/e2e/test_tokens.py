"""Tokens of an issuer as credentials of the API, and the pace of any credential, over the whole service."""

from __future__ import annotations

from dataclasses import replace

import httpx
import pytest

from issuer import AUDIENCE, Issuer, SigningKey, forged, issuing, saying
from serving import serving
from slate_app import Api
from slate_functions.local.service import LOCAL, LocalService, open_service

LEEWAY = 60


class Tokens:
    """A service that takes an issuer's tokens, both by one clock."""

    def __init__(self, service: LocalService, issuer: Issuer) -> None:
        self.service = service
        self.issuer = issuer
        issuer.now = lambda: service.local.clock.now() / 1000

    def bearer(self, **claims) -> Api:
        return Api(self.service, self.issuer.token(**claims))

    def status(self, token: str) -> int:
        return Api(self.service, token).ask("GET", "/v1/graphs").status


@pytest.fixture(scope="module")
def issuer():
    with issuing(SigningKey("first", "RS256")) as issuer:
        yield issuer


@pytest.fixture(scope="module")
def service(issuer):
    settings = replace(LOCAL, oidc_issuer=issuer.url, oidc_audience=f"https://else.test {AUDIENCE}")
    with open_service(manual=True, settings=settings) as service:
        yield service


@pytest.fixture
def tokens(service, issuer):
    issuer.answer = None
    return Tokens(service, issuer)


def plan(api, graph_id, *, subject=None, headers=None):
    task = {"task_id": "t", "title": "t", "role": f"r-{graph_id}"}
    body = {"graph_id": graph_id, "goal": "SECRET", "tasks": [task]}
    return api.post(
        "/v1/graphs", body if subject is None else {**body, "subject": subject}, expect=201, headers=headers
    )


def test_a_token_and_a_key_of_one_tenant_work_side_by_side(tokens, acme, uid):
    planner = tokens.bearer()
    plan(planner, f"g-{uid}")
    [claim] = acme.post("/v1/claims", {"roles": [f"r-g-{uid}"]})["claims"]
    acme.post(
        f"/v1/graphs/g-{uid}/tasks/t/complete", {"token": claim["token"], "action": "done", "result": {"said": "yes"}}
    )
    assert planner.get(f"/v1/graphs/g-{uid}/tasks/t")["result"] == {"said": "yes"}


def test_a_token_reaches_its_own_tenant_alone(tokens, acme, uid):
    plan(acme, f"g-{uid}")
    stranger = tokens.bearer(tenant="globex").ask("GET", f"/v1/graphs/g-{uid}")
    assert (stranger.status, stranger.json["code"]) == (404, "not_found")
    assert tokens.bearer().get(f"/v1/graphs/g-{uid}")["goal"] == "SECRET"


def test_a_token_opens_its_scopes_and_names_the_one_that_is_missing(tokens):
    reader = tokens.bearer(scope="tasks:read email")
    assert reader.ask("GET", "/v1/graphs").status == 200
    refused = reader.ask("POST", "/v1/claims", {"roles": ["r"]})
    assert (refused.status, refused.json["code"], refused.json["scope"]) == (403, "scope_missing", "tasks:write")
    assert tokens.bearer(scope=None).ask("GET", "/v1/graphs").status == 403


def test_a_token_acts_as_its_agent_and_within_its_roles(tokens, uid):
    plan(tokens.bearer(), f"g-{uid}")
    painter = tokens.bearer(agent="ann", roles=[f"r-g-{uid}"])
    assert painter.ask("POST", "/v1/claims", {"roles": ["plumber"]}).json["code"] == "role_missing"
    [claim] = painter.post("/v1/claims", {"roles": [f"r-g-{uid}"]})["claims"]
    assert claim["task"]["agent"] == "ann"
    other = painter.ask("POST", "/v1/claims", {"roles": [f"r-g-{uid}"], "agent": "bob"})
    assert (other.status, other.json["code"]) == (403, "forbidden")


def test_a_token_bound_to_a_person_reaches_them_alone(tokens, uid):
    plan(tokens.bearer(), f"g-{uid}", subject=f"u-{uid}")
    assert tokens.bearer(subject=f"other-{uid}").ask("GET", f"/v1/graphs/g-{uid}").status == 404
    assert tokens.bearer(subject=f"u-{uid}").get(f"/v1/graphs/g-{uid}")["goal"] == "SECRET"


def test_people_of_one_app_never_get_each_others_answers(tokens, uid):
    key = {"Idempotency-Key": uid}
    body = {"goal": "SECRET", "tasks": [{"task_id": "t", "title": "t", "role": "r"}]}
    ann, bob = (tokens.bearer(subject=f"{name}-{uid}") for name in ("ann", "bob"))
    hers, his = (api.post("/v1/graphs", body, expect=201, headers=key) for api in (ann, bob))
    assert hers["graph_id"] != his["graph_id"]
    tokens.service.advance(1)
    renewed = tokens.bearer(subject=f"ann-{uid}")
    assert renewed.key != ann.key
    again = renewed.post("/v1/graphs", body, expect=201, headers=key)
    assert again["graph_id"] == hers["graph_id"], "a renewed token is the same caller"


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "https://third.test"},
        {"aud": None},
        {"iss": "https://third.test"},
        {"tenant": None},
        {"tenant": "Acme"},
        {"tenant": "acme#"},
        {"agent": "a#b"},
        {"subject": "u#1"},
        {"roles": []},
        {"exp": None},
        {"exp": 1},
        {"nbf": 99_999_999_999},
    ],
)
def test_a_token_that_does_not_say_what_it_must_is_401_with_the_reason(tokens, claims):
    reply = tokens.bearer(**claims).ask("GET", "/v1/graphs")
    assert (reply.status, reply.json["code"]) == (401, "unauthenticated")
    assert reply.headers["WWW-Authenticate"] == "Bearer"
    assert "token" in reply.json["detail"] or "claim" in reply.json["detail"]


def test_what_nobody_signed_is_401(tokens):
    claims = tokens.issuer.claims()
    for token in (
        forged({"alg": "none"}, claims),
        forged({"alg": "HS256", "kid": "first"}, claims, b"x" * 32),
        SigningKey("first", "RS256", nth=3).sign(claims),
        SigningKey("unknown", "ES256").sign(claims),
        tokens.issuer.token()[:-8],
        "eyJ" * 4_000,
    ):
        assert tokens.status(token) == 401


def test_a_token_ends_when_it_expires_whatever_was_decided_before(tokens):
    token = tokens.issuer.token(exp=int(tokens.issuer.now()) + 5)
    assert tokens.status(token) == 200
    tokens.service.advance(4 + LEEWAY)
    assert tokens.status(token) == 200
    tokens.service.advance(2)
    assert tokens.status(token) == 401


def test_a_decision_is_kept_as_long_as_that_of_a_key(tokens, issuer):
    token = tokens.issuer.token()
    assert tokens.status(token) == 200
    keys, issuer.keys = issuer.keys, [SigningKey("second", "ES256")]
    try:
        tokens.service.advance(59)
        assert tokens.status(token) == 200
        tokens.service.advance(900)
        assert tokens.status(token) == 401, "the issuer has withdrawn the key"
        assert tokens.status(issuer.token()) == 200
    finally:
        issuer.keys = keys
        tokens.service.advance(900)


def test_a_new_key_of_the_issuer_is_known_without_a_restart(tokens, issuer):
    assert tokens.status(tokens.issuer.token()) == 200
    tokens.service.advance(30)
    issuer.keys.insert(0, SigningKey("third", "EdDSA"))
    try:
        assert tokens.status(issuer.token()) == 200
    finally:
        del issuer.keys[0]


def test_an_issuer_out_of_reach_is_503_to_its_tokens_and_nothing_to_keys():
    with issuing() as issuer:
        issuer.answer = saying(500)
        settings = replace(LOCAL, oidc_issuer=issuer.url, oidc_audience=AUDIENCE)
        with open_service(manual=True, settings=settings) as service:
            reply = Api(service, issuer.token()).ask("GET", "/v1/graphs")
            assert (reply.status, reply.json["code"], reply.headers["Retry-After"]) == (503, "retry", "30")
            assert Api(service, service.keys["acme"]).ask("GET", "/v1/graphs").status == 200


def test_without_an_issuer_no_token_is_taken():
    with issuing() as issuer, open_service(manual=True) as service:
        assert Api(service, issuer.token()).ask("GET", "/v1/graphs").status == 401
        assert issuer.asked == []


def test_an_admins_token_makes_keys_that_live_on(tokens):
    admin = tokens.bearer(scope="admin", agent="root")
    made = admin.post("/v1/keys", {"agent": "worker", "scopes": ["tasks:read"]}, expect=201)
    assert made["created_by"] == "root"
    tokens.service.advance(1_000)
    assert Api(tokens.service, made["key"]).ask("GET", "/v1/graphs").status == 200


def test_cognitos_tokens_are_read_by_their_own_claims():
    with issuing(SigningKey("pool", "RS256")) as issuer:
        settings = replace(
            LOCAL,
            oidc_issuer=issuer.url,
            oidc_audience="app-client",
            oidc_jwks_url=f"{issuer.url}/keys",
            oidc_tenant_claim="custom:tenant",
            oidc_agent_claim="custom:agent client_id aud",
            oidc_roles_claim="cognito:groups",
            oidc_scopes_claim="custom:scopes scope",
            oidc_scope_prefix="slate/",
            oidc_subject_claim="custom:subject",
            oidc_required_bounds="subject",
        )
        with open_service(manual=True, settings=settings) as service:
            issuer.now = lambda: service.local.clock.now() / 1000
            person = {"custom:tenant": "acme", "custom:subject": "u-1", "tenant": None, "agent": None, "scope": None}
            id_token = {**person, "aud": "app-client", "token_use": "id", "custom:scopes": "tasks:read"}
            access = {
                **person,
                "aud": None,
                "client_id": "app-client",
                "token_use": "access",
                "scope": "slate/tasks:read",
            }

            def status(claims):
                return Api(service, issuer.token(**claims)).ask("GET", "/v1/graphs").status

            assert (status(id_token), status(access)) == (200, 200)
            assert issuer.asked == ["/keys"], "where its keys are was said"
            assert status({**access, "client_id": "another-client"}) == 401
            assert status({**id_token, "custom:subject": None}) == 401
            assert status({**id_token, "token_use": "refresh"}) == 401
            staff = Api(service, issuer.token(**id_token, **{"cognito:groups": ["painter"]}))
            assert staff.ask("POST", "/v1/claims", {"roles": ["painter"]}).json["code"] == "scope_missing"


# --- pace


@pytest.fixture
def paced():
    with open_service(manual=True, settings=replace(LOCAL, key_calls_per_second=2, key_burst=3)) as service:
        yield service


def test_who_calls_too_often_is_told_when_to_go_on(paced):
    acme, globex = (Api(paced, paced.keys[tenant]) for tenant in ("acme", "globex"))
    assert [acme.ask("GET", "/v1/graphs").status for _ in range(4)] == [200, 200, 200, 429]
    reply = acme.ask("GET", "/v1/graphs")
    assert (reply.json["code"], reply.json["retryable"], reply.json["retry_after"]) == ("throttled", True, 1)
    assert reply.headers["Retry-After"] == "1"
    assert globex.ask("GET", "/v1/graphs").status == 200, "nobody else is held back"
    assert acme.ask("GET", "/v1/health").status == 200, "what anybody may ask is nobody's share"
    paced.advance(1)
    assert [acme.ask("GET", "/v1/graphs").status for _ in range(3)] == [200, 200, 429]


def test_refused_calls_count_as_well(paced):
    acme = Api(paced, paced.keys["acme"])
    asked = [acme.ask("GET", path).status for path in ("/v1/nowhere", "/v1/graphs/none", "/v1/graphs?limit=x")]
    assert asked == [404, 404, 422]
    assert acme.ask("GET", "/v1/nowhere").status == 429


def test_nothing_is_done_by_a_call_that_is_held_back(paced):
    acme = Api(paced, paced.keys["acme"])
    for _ in range(3):
        acme.ask("GET", "/v1/graphs")
    task = {"task_id": "t", "title": "t", "role": "r"}
    assert acme.ask("POST", "/v1/graphs", {"graph_id": "g", "goal": "x", "tasks": [task]}).status == 429
    paced.advance(2)
    assert acme.ask("GET", "/v1/graphs/g").status == 404


# --- the command


def test_a_server_that_is_told_an_issuer_takes_its_tokens():
    with issuing() as issuer, serving("--oidc-issuer", issuer.url, "--oidc-audience", AUDIENCE) as served:

        def ask(token):
            headers = {"Authorization": f"Bearer {token}"}
            return httpx.get(f"{served.url}/v1/graphs", headers=headers, trust_env=False).status_code

        assert (ask(issuer.token()), ask(issuer.token(aud="else")), ask(served.key)) == (200, 401, 200)
