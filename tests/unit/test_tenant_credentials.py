"""Each request is signed as the tenant who is being worked for, and by nobody's credentials longer than they last."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import boto3
import botocore.session
import pytest
from botocore.awsrequest import AWSResponse
from botocore.credentials import CredentialResolver, Credentials
from botocore.exceptions import ClientError, EndpointConnectionError

from slate.adapters.inprocess.clocks import ManualClock
from slate.adapters.sts.tenant_credentials import KEPT, TenantCredentialProvider, TenantCredentials
from slate.domain.errors import Unavailable
from slate.domain.fences import Intent
from slate.domain.operations import begun

ROLE = "arn:aws:iam::123456789012:role/tenant"


class Sts:
    """Gives out credentials, numbered, that name their tenant."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.fails: Exception | None = None

    def assume_role(self, **asked: Any) -> dict[str, Any]:
        assert (asked["RoleArn"], asked["DurationSeconds"]) == (ROLE, 3_600)
        [tag] = asked["Tags"]
        assert tag["Key"] == "tenant"
        if self.fails:
            raise self.fails
        self.asked.append(tag["Value"])
        name = f"{tag['Value']}-{len(self.asked)}"
        return {"Credentials": {"AccessKeyId": name, "SecretAccessKey": "s", "SessionToken": "t"}}


class Signing:
    """A client of DynamoDB whose requests go nowhere; whose credentials signed each is kept."""

    def __init__(self) -> None:
        self.sts, self.clock = Sts(), ManualClock(1_000_000)
        own = Credentials("own", "secret")
        self.credentials = TenantCredentials(own, lambda: self.sts, ROLE, self.clock)
        session = botocore.session.Session()
        resolver = CredentialResolver([TenantCredentialProvider(self.credentials)])
        session.register_component("credential_provider", resolver)
        self.client = boto3.Session(botocore_session=session, region_name="eu-central-1").client("dynamodb")
        self.client.meta.events.register("before-send.dynamodb", self._sent)
        self.signed: list[str] = []

    def _sent(self, request: Any, **_: Any) -> AWSResponse:
        header = request.headers["Authorization"]
        text = header.decode() if isinstance(header, bytes) else header
        self.signed.append(re.search(r"Credential=([^/]+)/", text)[1])
        return AWSResponse(request.url, 200, {"x-amz-crc32": "2745614147"}, _Body())

    def get(self, tenant: str | None) -> str:
        with begun(Intent.READ, tenant):
            self.client.get_item(TableName="slate", Key={"pk": {"S": "x"}, "sk": {"S": "y"}})
        return self.signed[-1]


class _Body:
    def stream(self, *_: Any, **__: Any) -> Any:
        yield b"{}"


@pytest.fixture
def signing() -> Signing:
    return Signing()


def test_one_client_signs_for_each_tenant_by_its_own_and_for_nobody_by_the_functions(signing: Signing):
    assert [signing.get(t) for t in ("acme", "globex", None, "acme")] == ["acme-1", "globex-2", "own", "acme-1"]


def test_they_are_kept_for_less_than_they_last(signing: Signing):
    assert signing.get("acme") == "acme-1"
    signing.clock.advance(3_000 - 1)
    assert signing.get("acme") == "acme-1"
    signing.clock.advance(1)
    assert signing.get("acme") == "acme-2"


def test_of_many_tenants_the_last_ones_are_kept(signing: Signing):
    for i in range(KEPT + 1):
        with begun(Intent.READ, f"t{i}"):
            signing.credentials.get_frozen_credentials()
    asked = len(signing.sts.asked)
    for name, more in ((f"t{KEPT}", 0), ("t1", 0), ("t0", 1)):
        with begun(Intent.READ, name):
            signing.credentials.get_frozen_credentials()
        assert len(signing.sts.asked) == asked + more


def test_threads_that_work_for_different_tenants_never_sign_for_each_other(signing: Signing):
    with ThreadPoolExecutor(8) as executor:

        def ask(i: int) -> tuple[str, str]:
            tenant = f"t{i % 5}"
            with begun(Intent.READ, tenant):
                return tenant, signing.credentials.get_frozen_credentials().access_key.partition("-")[0]

        assert all(tenant == signed for tenant, signed in executor.map(ask, range(500)))


@pytest.mark.parametrize(
    "failed",
    [
        ClientError({"Error": {"Code": "Throttling", "Message": "slow"}}, "AssumeRole"),
        EndpointConnectionError(endpoint_url="https://sts"),
    ],
)
def test_without_credentials_nothing_is_signed_and_the_call_may_be_repeated(signing: Signing, failed: Exception):
    signing.sts.fails = failed
    with pytest.raises(Unavailable):
        signing.get("acme")
    assert signing.signed == []
    signing.sts.fails = None
    assert signing.get("acme") == "acme-1"


def test_a_role_that_may_not_be_assumed_is_a_fault_of_ours(signing: Signing):
    signing.sts.fails = ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "AssumeRole")
    with pytest.raises(ClientError, match="AccessDenied"):
        signing.get("acme")
