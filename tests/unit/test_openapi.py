from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import BaseModel, TypeAdapter

from http_support import Watcher, ask, freely, gladly
from slate.contract.problems import STATUS, error_of
from slate.domain.errors import SlateError
from slate_functions.http.app import App
from slate_functions.http.binding import answer_model
from slate_functions.http.docs import DocsRoutes
from slate_functions.http.openapi import Operation
from slate_functions.http.routes import declarations
from slate_functions.local.openapi import GROUPS, whole_document

SNAPSHOT = Path(__file__).parents[2] / "docs" / "openapi.json"
DOCUMENT = whole_document()
OPERATIONS = [Operation(group, name, declared) for group in GROUPS for name, declared in declarations(group)]
SHOWN = [(path, method, shown) for path, methods in DOCUMENT["paths"].items() for method, shown in methods.items()]
BY_ID = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)


def references(value):
    if isinstance(value, dict):
        yield from ([value["$ref"]] if "$ref" in value else [])
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from references(item)


def test_the_checked_in_document_is_the_one_that_is_served():
    assert json.loads(SNAPSHOT.read_text()) == DOCUMENT, "run `make openapi`, and look at what changed"


def test_every_route_stands_in_it_under_a_name_of_its_own():
    assert {(path, method) for path, method, _ in SHOWN} == {
        (o.declaration.path, o.declaration.method.lower()) for o in OPERATIONS
    }
    assert len({shown["operationId"] for _, _, shown in SHOWN}) == len(OPERATIONS)


@pytest.mark.parametrize("reference", sorted(set(references(DOCUMENT))))
def test_every_reference_leads_somewhere(reference):
    found = DOCUMENT
    for step in reference.removeprefix("#/").split("/"):
        found = found[step]
    assert isinstance(found, dict)


@BY_ID
def test_every_route_says_who_may_call_it(operation):
    security = DOCUMENT["paths"][operation.declaration.path][operation.declaration.method.lower()]["security"]
    if operation.declaration.public:
        assert security == []
    else:
        # An API key or a token: either will do.
        assert security == [{way: [operation.declaration.scope]} for way in DOCUMENT["components"]["securitySchemes"]]


@pytest.mark.parametrize("operation", [o for o in OPERATIONS if o.signature.body], ids=lambda o: o.name)
def test_every_example_of_a_body_is_one_that_is_taken(operation):
    model = operation.signature.body[1]
    assert isinstance(model.model_validate(operation.declaration.sends or {}), BaseModel)


@BY_ID
def test_every_example_of_an_answer_is_the_very_json_that_such_an_answer_is(operation):
    model = answer_model(operation.signature.answer)
    if model is None:
        assert operation.declaration.gives is None
        return
    example = operation.declaration.gives
    assert json.loads(TypeAdapter(model).validate_python(example).model_dump_json()) == example


@pytest.mark.parametrize("name", sorted(DOCUMENT["components"]["responses"]))
def test_every_example_of_a_refusal_is_one_that_the_client_reads(name):
    content = DOCUMENT["components"]["responses"][name]["content"]["application/problem+json"]
    error = error_of(content["example"])
    assert isinstance(error, SlateError)
    assert f"Problem{STATUS[error.code].value}" == name


def test_it_describes_every_parameter_of_a_list():
    listed = DOCUMENT["paths"]["/v1/graphs/{graph_id}/tasks"]["get"]["parameters"]
    by_name = {parameter["name"]: parameter for parameter in listed}
    assert list(by_name) == ["graph_id", "limit", "cursor", "state", "role"]
    assert by_name["limit"]["schema"] == {"type": "integer", "minimum": 1, "maximum": 200, "default": 50}
    assert "READY" in by_name["state"]["schema"]["enum"]


@pytest.fixture(scope="module")
def app():
    return App([DocsRoutes(whole_document)], Watcher(), freely, gladly)


def test_it_is_served_to_anybody(app):
    reply = ask(app, "GET", "/openapi.json", principal=None)
    assert (reply.status, reply.json) == (200, DOCUMENT)


def test_its_pages_need_no_network(app):
    page = ask(app, "GET", "/docs", principal=None)
    assert page.headers["Content-Type"].startswith("text/html")
    assert "SwaggerUIBundle" in page.text
    assert '"operationId": "create_graph"' in page.text
    head = page.text[: page.text.index("<body")]
    assert "<link" not in head
    assert "src=" not in page.text.replace(page.text[page.text.index("<script>") : page.text.index("</script>")], "")


def test_its_pages_fit_a_lambdas_answer(app):
    text = ask(app, "GET", "/docs", principal=None).text
    assert len(json.dumps(text)) < 6_000_000
