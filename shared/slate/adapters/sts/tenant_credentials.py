"""Credentials that open one tenant's data: each request is signed as the tenant who is being worked for.

One client serves all tenants, since botocore asks for credentials at each signing. Those of a tenant are a session of
the tenant role, tagged with the tenant, which the role's policy compares with every key that a request names (IAM,
``dynamodb:LeadingKeys`` against ``aws:PrincipalTag/tenant``). Who works for nobody signs in the function's own name,
which opens no tenant's data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from botocore.credentials import CredentialProvider, Credentials, ReadOnlyCredentials
from botocore.exceptions import BotoCoreError, ClientError

from slate.domain.errors import Unavailable
from slate.domain.lapsing import Lapsing
from slate.domain.operations import working_for
from slate.ports.clock import Clock

TAG: Final = "tenant"
SESSION_SECONDS: Final = 3_600
"""A role that another role has assumed is given for an hour at most."""
RENEWED_SECONDS: Final = 600
"""Before they end they are renewed, so that nothing is signed by what ends on the way."""
KEPT: Final = 1_000
"""Tenants whose credentials one process keeps."""
_BUSY: Final = frozenset({"Throttling", "ThrottlingException", "RequestLimitExceeded", "ServiceUnavailable"})


class TenantCredentials(Credentials):
    """botocore's credentials, as it asks for them: the tenant's where there is one, else the function's own."""

    def __init__(self, own: Credentials, sts: Callable[[], Any], role: str, clock: Clock) -> None:
        """``role`` is the ARN of the tenant role; ``sts`` is a client that signs in the function's own name."""
        super().__init__("-", "-", method="tenant-role")
        self._own = own
        self._sts = sts
        self._role = role
        self._clock = clock
        self._kept = Lapsing[str, ReadOnlyCredentials](KEPT)

    def get_frozen_credentials(self) -> ReadOnlyCredentials:
        """What this very request is signed with; kept for at most 50 minutes.

        Raises:
            Unavailable: STS is busy or out of reach.
        """
        tenant = working_for()
        if tenant is None:
            return self._own.get_frozen_credentials()
        now = self._clock.now()
        known = self._kept.get(tenant, now)
        if known is not None:
            return known
        # Two first requests of a tenant may both ask: each signs with what it got, and the last is kept.
        until = now + (SESSION_SECONDS - RENEWED_SECONDS) * 1000
        return self._kept.keep(tenant, self._assumed(tenant), until, now)

    def _assumed(self, tenant: str) -> ReadOnlyCredentials:
        try:
            given = self._sts().assume_role(
                RoleArn=self._role,
                RoleSessionName="slate",
                DurationSeconds=SESSION_SECONDS,
                Tags=[{"Key": TAG, "Value": tenant}],
            )["Credentials"]
        except ClientError as error:
            if error.response["Error"]["Code"] in _BUSY:
                raise Unavailable("credentials are given out too slowly now; repeat the call") from error
            raise
        except BotoCoreError as error:
            raise Unavailable("credentials cannot be had now; repeat the call") from error
        return ReadOnlyCredentials(given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"], None)


class TenantCredentialProvider(CredentialProvider):
    """Gives a botocore session these credentials, and no others."""

    METHOD = "tenant-role"
    CANONICAL_NAME = None

    def __init__(self, credentials: TenantCredentials) -> None:
        super().__init__()
        self._credentials = credentials

    def load(self) -> Any:
        """They sign whatever the session's clients send."""
        return self._credentials
