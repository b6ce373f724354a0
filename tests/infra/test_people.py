"""The user pool, where one is asked for: who may write what a token opens, and who takes its tokens."""

from __future__ import annotations

import json

import pytest

from slate.settings import Settings
from slate_infra.stages import Stage

ISSUER = "https://cognito-idp.eu-central-1.amazonaws.com/PeoplePool"


@pytest.fixture(scope="module")
def people(synthesize):
    return synthesize({"SLATE_USER_POOL": "true"})


def environment(template, function):
    variables = template.of_type("AWS::Lambda::Function")[function]["Environment"]["Variables"]
    return {name: template.text(value) for name, value in variables.items()}


def test_there_is_none_unless_it_is_asked_for(stack):
    assert not stack.of_type("AWS::Cognito::UserPool")
    assert environment(stack, "FunctionsAuthorizerFunction")["SLATE_OIDC_ISSUER"] == ""


def test_the_authorizer_takes_the_tokens_of_its_app_alone_and_reads_them_by_its_attributes(people):
    settings = Settings.from_env(environment(people, "FunctionsAuthorizerFunction"))
    assert (settings.oidc_issuer, settings.oidc_audience) == (ISSUER, "PeoplePoolApp")
    assert settings.oidc_jwks_url == f"{ISSUER}/.well-known/jwks.json"
    assert settings.oidc_required_bounds == "subject", "a token of nobody in particular would reach everybody"
    named = {
        *settings.oidc_tenant_claim.split(),
        *settings.oidc_subject_claim.split(),
        *settings.oidc_scopes_claim.split(),
    }
    assert named == {"custom:tenant", "custom:subject", "custom:scopes", "scope"}


def test_nobody_writes_what_their_own_token_opens(people):
    app = people.only("AWS::Cognito::UserPoolClient")
    assert app["WriteAttributes"] == ["email"]
    pool = people.only("AWS::Cognito::UserPool")
    assert pool["AdminCreateUserConfig"] == {"AllowAdminCreateUserOnly": True}
    schema = {attribute["Name"]: attribute for attribute in pool["Schema"]}
    assert {name for name, attribute in schema.items() if not attribute["Mutable"]} == {"tenant", "subject"}
    assert {"agent", "scopes"} <= schema.keys()


def test_people_sign_in_by_a_second_factor_and_their_tokens_are_short_lived(people):
    pool, app = people.only("AWS::Cognito::UserPool"), people.only("AWS::Cognito::UserPoolClient")
    assert (pool["MfaConfiguration"], pool["EnabledMfas"]) == ("ON", ["SOFTWARE_TOKEN_MFA"])
    assert (app["IdTokenValidity"], app["TokenValidityUnits"]["IdToken"]) == (60, "minutes")
    assert app["ExplicitAuthFlows"] == ["ALLOW_USER_SRP_AUTH", "ALLOW_REFRESH_TOKEN_AUTH"]
    assert (app["EnableTokenRevocation"], app["PreventUserExistenceErrors"]) == (True, "ENABLED")


def test_the_pool_is_kept_where_data_is(synthesize):
    prod = synthesize({"SLATE_USER_POOL": "true", "SLATE_STAGE": "prod"})
    assert prod.only("AWS::Cognito::UserPool")["DeletionProtection"] == "ACTIVE"


def test_cdk_nag_finds_only_what_is_accepted(people):
    [report] = json.loads((people.outdir / "validation-report.json").read_text())["pluginReports"]
    assert report["violations"] == []
    found = {accepted["acknowledgedId"] for accepted in report["suppressedViolations"] if "COG" in str(accepted)}
    assert found == {"AwsSolutions::AwsSolutions-COG8"}


@pytest.mark.parametrize(
    "environ", [{"SLATE_USER_POOL": "yes"}, {"SLATE_USER_POOL": "true", "SLATE_OIDC_ISSUER": "https://other.test"}]
)
def test_what_contradicts_itself_is_refused(environ):
    with pytest.raises(ValueError, match="SLATE_USER_POOL"):
        Stage.from_env("dev", environ)
