"""A Cognito user pool for people: its tokens name their tenant, and the one person whose data they reach."""

from __future__ import annotations

from dataclasses import replace

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_cognito as cognito
from constructs import Construct

from slate.settings import Settings
from slate_infra.constructs.nag import accept
from slate_infra.stages import Stage

_BOUND = "subject"
_ATTRIBUTES = ("tenant", _BOUND, "agent", "scopes")


class People(Construct):
    """The pool, and the one app that people sign in by.

    What a token opens stands in attributes that only an administrator writes: Cognito lets an app's users write all
    that the app may, which here is their address alone. Tenant and subject are given when somebody is added, for good.
    """

    def __init__(self, scope: Construct, construct_id: str, *, stage: Stage) -> None:
        super().__init__(scope, construct_id)
        self.pool = self._pool(stage)
        self.app = self.pool.add_client(
            "App",
            auth_flows=cognito.AuthFlow(user_srp=True),
            disable_o_auth=True,
            generate_secret=False,
            prevent_user_existence_errors=True,
            enable_token_revocation=True,
            id_token_validity=Duration.hours(1),
            access_token_validity=Duration.hours(1),
            refresh_token_validity=Duration.days(1),
            read_attributes=cognito.ClientAttributes().with_custom_attributes(*_ATTRIBUTES),
            write_attributes=cognito.ClientAttributes().with_standard_attributes(email=True),
        )

    def trusted_by(self, settings: Settings) -> Settings:
        """The settings by which the pool's tokens are credentials: those of its one app, read by its attributes.

        Its access tokens have no attributes, unless a trigger of the pool's puts them in: then they do as well.
        """
        issuer = f"https://cognito-idp.{Stack.of(self).region}.amazonaws.com/{self.pool.user_pool_id}"
        return replace(
            settings,
            oidc_issuer=issuer,
            oidc_audience=self.app.user_pool_client_id,
            oidc_jwks_url=f"{issuer}/.well-known/jwks.json",
            oidc_tenant_claim="custom:tenant",
            # Whoever has no agent of their own acts as the app.
            oidc_agent_claim="custom:agent client_id aud",
            oidc_roles_claim="cognito:groups",
            oidc_scopes_claim="custom:scopes scope",
            oidc_subject_claim=f"custom:{_BOUND}",
            oidc_required_bounds=settings.oidc_required_bounds or _BOUND,
        )

    def _pool(self, stage: Stage) -> cognito.UserPool:
        pool = cognito.UserPool(
            self,
            "Pool",
            self_sign_up_enabled=False,
            sign_in_aliases=cognito.SignInAliases(email=True),
            sign_in_case_sensitive=False,
            auto_verify=cognito.AutoVerifiedAttrs(email=True),
            keep_original=cognito.KeepOriginalAttrs(email=True),
            standard_attributes=cognito.StandardAttributes(
                email=cognito.StandardAttribute(required=True, mutable=True)
            ),
            custom_attributes={
                "tenant": cognito.StringAttribute(min_len=1, max_len=63, mutable=False),
                _BOUND: cognito.StringAttribute(min_len=1, max_len=128, mutable=False),
                "agent": cognito.StringAttribute(min_len=1, max_len=128, mutable=True),
                "scopes": cognito.StringAttribute(min_len=1, max_len=256, mutable=True),
            },
            password_policy=cognito.PasswordPolicy(
                min_length=12,
                require_digits=True,
                require_lowercase=True,
                require_symbols=True,
                require_uppercase=True,
            ),
            mfa=cognito.Mfa.REQUIRED,
            mfa_second_factor=cognito.MfaSecondFactor(otp=True, sms=False),
            account_recovery=cognito.AccountRecovery.EMAIL_ONLY,
            feature_plan=cognito.FeaturePlan.ESSENTIALS,
            deletion_protection=stage.protected,
            removal_policy=RemovalPolicy.RETAIN if stage.protected else RemovalPolicy.DESTROY,
        )
        accept(pool, "COG8", "Threat protection is of a dearer plan; a second factor is required of everybody.")
        return pool
