from __future__ import annotations

import pytest

from http_support import ADMIN, event, who
from slate.domain.access import Principal, Scope
from slate.domain.errors import Unauthenticated, Unavailable
from slate_functions.authorizer.authorize import Authorizer, Unauthorized
from slate_functions.http.requests import HttpRequest

BOUND = Principal(
    tenant="acme",
    agent="billing-agent",
    key_id="k-2",
    scopes=frozenset({Scope.TASKS_READ, Scope.TASKS_WRITE}),
    roles=frozenset({"billing", "refunds"}),
    subject="u-7",
)
TOKEN = BOUND.model_copy(update={"key_id": "jwt-1", "expires_at": 1_800_000_060_000})


class Keys:
    """Knows two credentials."""

    def authenticate(self, credential: str) -> Principal:
        if credential == "busy":
            raise Unavailable("the table is busy")
        known = {"good": ADMIN, "bound": BOUND, "token": TOKEN}
        if credential not in known:
            raise Unauthenticated("this credential is not known")
        return known[credential]


def decide(authorization: str | None):
    headers = {} if authorization is None else {"authorization": authorization}
    return Authorizer(Keys())({"version": "2.0", "headers": headers}, None)


@pytest.mark.parametrize("authorization", ["Bearer good", "bearer good", "BEARER  good "])
def test_a_known_credential_passes(authorization):
    assert decide(authorization) == {"isAuthorized": True, "context": who(ADMIN)}


@pytest.mark.parametrize(
    "authorization", [None, "", "Bearer", "Bearer ", "Bearer bad", "Basic good", "good", "Token good"]
)
def test_anything_else_raises_the_one_text_that_api_gateway_answers_with_401(authorization):
    with pytest.raises(Exception, match=r"\AUnauthorized\Z"):
        decide(authorization)


def test_why_somebody_is_refused_is_logged_without_what_they_sent(caplog):
    caplog.set_level("INFO")
    with pytest.raises(Unauthorized) as refused:
        decide("Bearer SECRET")
    assert refused.value.why == "this credential is not known"
    assert "this credential is not known" in caplog.text
    assert "SECRET" not in caplog.text


@pytest.mark.parametrize("credential", ["bound", "token"])
def test_the_context_carries_texts_alone(credential):
    context = decide(f"Bearer {credential}")["context"]
    assert all(isinstance(value, str) for value in context.values())


@pytest.mark.parametrize(("credential", "principal"), [("good", ADMIN), ("bound", BOUND), ("token", TOKEN)])
def test_the_function_behind_sees_the_very_principal_that_was_recognised(credential, principal):
    passed = event("GET", "/v1/graphs", principal=None)
    passed["requestContext"]["authorizer"] = {"lambda": decide(f"Bearer {credential}")["context"]}
    assert HttpRequest(passed, {}).principal() == principal


def test_a_busy_table_is_no_verdict_on_the_credential():
    with pytest.raises(Unavailable):
        decide("Bearer busy")
