"""A tenant's settings: whole, versioned, sealed, each tenant's own."""

import pytest

from slate.adapters.dynamodb.calls import from_wire

SCHEMA = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}


@pytest.fixture(autouse=True)
def _defaults(acme):
    yield
    acme.ask("PUT", "/v1/tenant", {})


def put(api, body, version=None):
    return api.ask("PUT", "/v1/tenant", body, headers={} if version is None else {"If-Match": f'"{version}"'})


def test_a_setting_is_kept_and_left_out_is_the_default_again(acme):
    before = acme.get("/v1/tenant")
    assert set(before["summary_schema"]["properties"]) == {
        "intent",
        "entities",
        "confirmed",
        "outstanding",
        "decisions",
        "sentiment",
    }
    kept = put(acme, {"summary_schema": SCHEMA}, before["version"]).json
    assert kept == acme.get("/v1/tenant")
    assert kept["summary_schema"] == SCHEMA
    assert kept["summary_schema_version"] == before["summary_schema_version"] + 1
    assert put(acme, {"summary_schema": SCHEMA}).json["summary_schema_version"] == kept["summary_schema_version"]
    assert put(acme, {}).json["summary_schema"] == before["summary_schema"]


def test_an_older_version_is_refused_with_the_current_one(acme):
    version = put(acme, {"summary_schema": SCHEMA}).json["version"]
    assert acme.ask("GET", "/v1/tenant").headers["ETag"] == f'"{version}"'
    stale = put(acme, {}, version - 1)
    assert (stale.status, stale.json["code"]) == (412, "version_mismatch")
    assert stale.json["current"] == acme.get("/v1/tenant")


def test_what_is_wrong_is_named_and_nothing_is_kept(acme):
    before = acme.get("/v1/tenant")
    refused = put(acme, {"summary_schema": {"type": "object", "properties": {"a": {"type": "text"}}}, "more": 1})
    assert refused.status == 422
    assert refused.fields == ["more"]
    refused = put(acme, {"summary_schema": {"type": "object", "properties": {"a": {"type": "text"}}}})
    assert (refused.status, refused.fields) == (422, ["summary_schema.properties.a.type"])
    assert acme.get("/v1/tenant") == before


def test_more_than_eight_fields_warn(acme):
    wide = {"type": "object", "properties": {f"f{n}": {"type": "string"} for n in range(9)}}
    assert "9 fields" in put(acme, {"summary_schema": wide}).json["warnings"][0]


def test_each_tenant_has_its_own(acme, globex):
    before = globex.get("/v1/tenant")
    put(acme, {"summary_schema": SCHEMA})
    assert globex.get("/v1/tenant") == before


def test_it_needs_admin_and_a_key_that_is_not_bound(acme):
    assert acme.with_key("memory:read", "memory:write").ask("GET", "/v1/tenant").status == 403
    bound = acme.with_key("admin", subject="u-1")
    assert bound.ask("GET", "/v1/tenant").status == 403
    assert put(bound, {}).status == 403


def test_what_is_set_is_sealed(acme, service):
    put(acme, {"summary_schema": {"type": "object", "properties": {"secretfield": {"type": "string"}}}})
    scanned = service.local.dynamodb.scan(TableName=service.slate.settings.table)["Items"]
    (item,) = [i for i in map(from_wire, scanned) if i["pk"] == "acme#N#settings"]
    assert b"secretfield" not in repr(item).encode()
