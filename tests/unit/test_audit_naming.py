"""No route of memory answers something that the audit does not know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, get_args

from pydantic import BaseModel

from slate.contract.audit import AuditPage, ChainPage
from slate.contract.facts import DeletedFacts, Results
from slate.contract.forgetting import Feedback, Health, RestoredMany
from slate.contract.sessions import Closed
from slate.domain.audit.entries import Verb
from slate.service.audit.naming import items_of, naming_of
from slate_functions.http.auditing import is_audited, verb_of
from slate_functions.http.binding import answer_model
from slate_functions.http.openapi import Operation
from slate_functions.http.routes import declarations
from slate_functions.local.openapi import GROUPS

OF_NO_ITEM: Final = {Results, DeletedFacts, Closed, Feedback, RestoredMany, Health, AuditPage, ChainPage}
"""They say what became of items, which the storage tells; how a memory is; or what was written down."""
ROUTES: Final = [
    Operation(group, name, declared)
    for group in GROUPS
    for name, declared in declarations(group)
    if is_audited(declared)
]


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """Models that a value of this type may hold, itself first."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        if naming_of(annotation) is None:
            for field in annotation.model_fields.values():
                yield from models_in(field.annotation)
    for argument in get_args(annotation):
        yield from models_in(argument)


def test_every_answer_is_named_or_says_nothing_of_an_item() -> None:
    answers = {model for route in ROUTES if (model := answer_model(route.signature.answer)) is not None}
    unknown = {model for model in answers if not any(naming_of(each) for each in models_in(model))}
    assert unknown == OF_NO_ITEM & answers
    assert len(answers) > 25


def test_an_example_of_each_answer_names_its_items() -> None:
    for route in ROUTES:
        model = answer_model(route.signature.answer)
        if model is None or model in OF_NO_ITEM or route.declaration.gives is None:
            continue
        named = list(items_of(model.model_validate(route.declaration.gives), "s-1"))
        assert named, route.declaration.key
        assert all(item.kind and item.id and " " not in item.id for item in named), named


def test_what_a_route_does_follows_from_how_it_is_declared() -> None:
    verbs = {route.declaration.key: verb_of(route.declaration) for route in ROUTES}
    assert verbs["GET /v1/subjects/{subject}/facts"] is Verb.READ
    assert verbs["POST /v1/context"] is verbs["POST /v1/subjects/{subject}/search"] is Verb.SERVE
    assert verbs["PATCH /v1/subjects/{subject}/facts/{fact_id}"] is Verb.WRITE
    assert verbs["DELETE /v1/sessions/{session_id}"] is Verb.DELETE
    assert "POST /v1/claims" not in verbs
