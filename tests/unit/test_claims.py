"""What a token must say to be taken, and what it makes of its bearer."""

from __future__ import annotations

import pytest

from slate.domain.access import Scope
from slate.domain.claims import MAX_ROLES, ClaimNames, TokenRules
from slate.domain.errors import Unauthenticated

NOW = 1_800_000_000_000
SECONDS = NOW // 1000
RULES = TokenRules(issuer="https://issuer.test", audiences=frozenset({"slate", "also-slate"}))
CLAIMS = {
    "iss": "https://issuer.test",
    "aud": "slate",
    "exp": SECONDS + 600,
    "tenant": "acme",
    "agent": "planner",
    "scope": "openid tasks:read memory:read",
}


def principal(rules=RULES, **more):
    claims = {name: value for name, value in {**CLAIMS, **more}.items() if value is not ...}
    return rules.principal(claims, NOW)


def refused(rules=RULES, **more):
    with pytest.raises(Unauthenticated) as caught:
        principal(rules, **more)
    return caught.value.detail


def test_a_sound_token_makes_a_principal_of_what_it_says():
    one = principal(roles=["billing", "refunds"], subject="u-7")
    assert (one.tenant, one.agent, one.subject) == ("acme", "planner", "u-7")
    assert one.scopes == {Scope.TASKS_READ, Scope.MEMORY_READ}
    assert one.roles == {"billing", "refunds"}
    assert one.expires_at == (SECONDS + 600 + 60) * 1000


@pytest.mark.parametrize("aud", ["also-slate", ["slate"], ["else", "also-slate"]])
def test_a_token_may_be_for_others_too_if_it_is_for_us(aud):
    assert principal(aud=aud).tenant == "acme"


@pytest.mark.parametrize("aud", ["else", "", "slate ", "sla", [], ["else"], [["slate"]], {"slate": 1}, 7, None, ...])
def test_a_token_for_somebody_else_is_refused(aud):
    assert "audience" in refused(aud=aud)


@pytest.mark.parametrize(
    "iss", ["https://issuer.test/", "https://other.test", "", None, 7, ["https://issuer.test"], ...]
)
def test_another_issuers_token_is_refused(iss):
    assert "issuer" in refused(iss=iss)


def test_cognitos_access_token_has_its_client_for_an_audience():
    access = {"aud": ..., "token_use": "access"}
    assert principal(**access, client_id="slate").agent == "planner"
    assert "audience" in refused(**access, client_id="else")
    assert "audience" in refused(**access)


@pytest.mark.parametrize("more", [{}, {"token_use": "id"}])
def test_nobody_elses_client_stands_for_an_audience(more):
    assert "audience" in refused(aud=..., client_id="slate", **more)


def test_an_access_token_that_has_an_audience_is_held_against_it():
    assert "audience" in refused(aud="else", token_use="access", client_id="slate")


@pytest.mark.parametrize("kind", ["refresh", "", 7])
def test_a_token_of_another_use_is_refused(kind):
    assert "token_use" in refused(token_use=kind)


def test_clocks_may_differ_by_the_leeway_and_no_more():
    assert principal(exp=SECONDS - 59).expires_at == NOW + 1000
    assert "expired" in refused(exp=SECONDS - 60)
    assert principal(nbf=SECONDS + 60)
    assert "not valid yet" in refused(nbf=SECONDS + 61)
    assert "expired" in refused(
        TokenRules(issuer=RULES.issuer, audiences=RULES.audiences, leeway_seconds=0), exp=SECONDS
    )


def test_instants_may_have_fractions():
    assert principal(exp=SECONDS + 0.5, nbf=SECONDS - 0.5).expires_at == NOW + 60_500


@pytest.mark.parametrize("name", ["exp", "nbf"])
@pytest.mark.parametrize(
    "value", ["1900000000", True, [], -1, 10**12, 10**400, float("nan"), float("inf"), float("-inf")]
)
def test_what_is_no_instant_is_refused_by_its_name(name, value):
    assert f"`{name}`" in refused(**{name: value})


def test_a_token_that_never_expires_is_refused():
    assert "`exp`" in refused(exp=...)
    assert "`exp`" in refused(exp=None)


@pytest.mark.parametrize(
    "tenant", ["Acme", "acme#", "acme corp", "", "a" * 64, "../acme", "acme\n", 7, ["acme"], None, ...]
)
def test_a_token_without_a_sound_tenant_is_refused(tenant):
    assert "`tenant`" in refused(tenant=tenant)


@pytest.mark.parametrize("agent", ["", "a b", "#", "a" * 129, ".hidden", "a\n", "\ud800", 7, ["planner"]])
def test_an_agent_that_is_no_id_is_refused(agent):
    assert "`agent`" in refused(agent=agent)


def test_an_agent_is_named_by_its_client_where_no_claim_of_its_own_names_it():
    assert principal(agent=..., client_id="billing", azp="else").agent == "billing"
    assert principal(agent=..., azp="else").agent == "else"
    assert "`agent` or `client_id` or `azp`" in refused(agent=...)


@pytest.mark.parametrize("subject", ["", "u 7", "#", "u" * 129, 7, ["u-7"]])
def test_a_bound_that_cannot_be_read_is_never_left_out(subject):
    assert "`subject`" in refused(subject=subject)


@pytest.mark.parametrize("roles", ["", " ", [], ["a b"], ["a", ""], ["a", 7], 7, {"a": 1}, ["r"] * (MAX_ROLES + 1)])
def test_roles_that_cannot_be_read_are_not_taken_for_any(roles):
    assert "`roles`" in refused(roles=roles)


@pytest.mark.parametrize("roles", ["billing refunds", "billing  refunds ", ["refunds", "billing"]])
def test_roles_are_words_or_a_list(roles):
    assert principal(roles=roles).roles == {"billing", "refunds"}


@pytest.mark.parametrize(
    ("scopes", "opened"),
    [
        ({"scope": "tasks:read admin"}, {"tasks:read", "admin"}),
        ({"scope": ["tasks:read", "admin"]}, {"tasks:read", "admin"}),
        ({"scope": ..., "scp": "tasks:read"}, {"tasks:read"}),
        ({"scope": ..., "scp": ["tasks:read", "email"]}, {"tasks:read"}),
        ({"scope": "TASKS:READ tasks:* tasks tasks:read,admin"}, set()),
        ({"scope": ""}, set()),
        ({"scope": ...}, set()),
        ({"scope": "memory:read", "scp": "admin"}, {"memory:read"}),
    ],
)
def test_a_token_opens_the_scopes_that_it_names_exactly(scopes, opened):
    assert principal(**scopes).scopes == opened


@pytest.mark.parametrize("scopes", [7, {"tasks:read": True}, ["tasks:read", 7]])
def test_scopes_that_cannot_be_read_are_refused(scopes):
    assert "`scope`" in refused(scope=scopes)


def test_an_issuers_prefix_is_taken_off_its_scopes():
    rules = TokenRules(issuer=RULES.issuer, audiences=RULES.audiences, scope_prefix="slate/")
    assert principal(rules, scope="slate/tasks:read other/admin email").scopes == {"tasks:read"}


def test_claims_may_have_other_names():
    names = ClaimNames(tenant=("custom:tenant",), roles=("cognito:groups",), subject=("custom:person", "sub"))
    rules = TokenRules(issuer=RULES.issuer, audiences=RULES.audiences, names=names)
    one = principal(rules, **{"custom:tenant": "globex", "cognito:groups": ["staff"], "sub": "u-9"})
    assert (one.tenant, one.roles, one.subject) == ("globex", {"staff"}, "u-9")


def test_a_claim_without_a_name_is_not_read():
    names = ClaimNames(roles=(), subject=())
    rules = TokenRules(issuer=RULES.issuer, audiences=RULES.audiences, names=names)
    assert principal(rules, roles=["r"], subject="u-7").roles == frozenset()


@pytest.mark.parametrize("bound", ["subject", "roles"])
def test_a_bound_that_is_required_cannot_be_left_out(bound):
    rules = TokenRules(issuer=RULES.issuer, audiences=RULES.audiences, required=frozenset({bound}))
    assert principal(rules, **{bound: "x"})
    assert f"`{bound}`" in refused(rules)
    assert f"`{bound}`" in refused(rules, **{bound: None})


def test_tokens_that_are_alike_go_by_one_name_and_others_do_not():
    first = principal().key_id
    assert first == principal(exp=SECONDS + 900, scope="memory:read tasks:read", subject="u-7", sub="x").key_id
    others = [principal(agent="worker"), principal(scope="tasks:read"), principal(roles="r")]
    assert len({first, *(other.key_id for other in others)}) == 4


def test_no_refusal_quotes_what_a_token_says():
    secret = "SECRET #"
    for name in ("iss", "aud", "exp", "nbf", "tenant", "agent", "roles", "subject", "token_use"):
        assert "SECRET" not in refused(**{name: secret})
