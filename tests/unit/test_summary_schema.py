"""A tenant's schema is understood whole or refused, and what does not fit it is said."""

import pytest

from slate.domain.summary_schema import DEFAULT_SCHEMA, MAX_FIELDS, faults, mistakes, warnings


def of(**properties):
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("schema", "field"),
    [
        ([], "summary_schema"),
        ({"type": "string"}, "summary_schema.type"),
        ({"type": "object"}, "summary_schema.properties"),
        (of(), "summary_schema.properties"),
        (of(a={"type": "text"}), "summary_schema.properties.a.type"),
        (of(a={"type": ["string", "null"]}), "summary_schema.properties.a.type"),
        (of(a={"type": "string", "pattern": "x"}), "summary_schema.properties.a.pattern"),
        (of(a={"type": "string", "maxLength": "9"}), "summary_schema.properties.a.maxLength"),
        (of(a={"type": "string", "maxLength": -1}), "summary_schema.properties.a.maxLength"),
        (of(a={"type": "array", "items": {"type": "string"}, "minItems": 0.5}), "summary_schema.properties.a.minItems"),
        (of(a={"type": "string", "minLength": float("inf")}), "summary_schema.properties.a.minLength"),
        (of(a={"type": "string", "minLength": 9, "maxLength": 8}), "summary_schema.properties.a.minLength"),
        (of(a={"type": "number", "minimum": 1, "maximum": -1}), "summary_schema.properties.a.minimum"),
        (of(a={"type": "array", "items": {"type": "date"}}), "summary_schema.properties.a.items.type"),
        ({**of(a={"type": "string"}), "required": [{}]}, "summary_schema.required"),
        (of(a={"type": "text", "enum": [1]}), "summary_schema.properties.a.type"),
        (of(a={"enum": []}), "summary_schema.properties.a.enum"),
        (of(**{"a b": {"type": "string"}}), "summary_schema.properties.a b"),
        ({**of(a={"type": "string"}), "required": ["b"]}, "summary_schema.required"),
        ({**of(a={"type": "string"}), "additionalProperties": 1}, "summary_schema.additionalProperties"),
        (of(**{f"f{n}": {"type": "string"} for n in range(MAX_FIELDS + 1)}), "summary_schema.properties"),
        (of(a=of(a=of(a=of(a=of(a={"type": "string"}))))), "summary_schema" + ".properties.a" * 5),
    ],
)
def test_a_schema_that_would_not_be_checked_is_refused_and_named(schema, field):
    assert field in [fault["field"] for fault in faults(schema)]


def test_the_default_is_sound_and_not_warned_of():
    assert faults(DEFAULT_SCHEMA) == []
    assert warnings(DEFAULT_SCHEMA) == []


def test_more_than_eight_fields_are_warned_of():
    assert warnings(of(**{f"f{n}": {"type": "string"} for n in range(8)})) == []
    assert "9 fields" in warnings(of(**{f"f{n}": {"type": "string"} for n in range(9)}))[0]


@pytest.mark.parametrize(
    ("schema", "value", "told"),
    [
        ({"type": "string"}, 5, "must be of type string"),
        ({"type": "integer"}, True, "must be of type integer"),
        ({"type": "number"}, True, "must be of type number"),
        ({"type": "boolean"}, 1, "must be of type boolean"),
        ({"type": "string", "maxLength": 2}, "abc", "must be 2 or less"),
        ({"type": "array", "minItems": 1}, [], "must be 1 or more"),
        ({"type": "number", "minimum": 1}, 0, "must be 1 or more"),
        ({"enum": ["a"]}, "b", "must be one of"),
        ({"type": "array", "items": {"type": "string"}}, ["a", 1], "[1] must be of type string"),
        ({"type": "object", "required": ["a"]}, {}, "lacks the field a"),
        ({**of(a={"type": "string"}), "additionalProperties": False}, {"b": 1}, "has the field b"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, {"b": 1}, ".b must be of type string"),
        (of(a={"type": "string"}), {"a": None}, ".a must be of type string"),
    ],
)
def test_what_does_not_fit_is_said(schema, value, told):
    (mistake,) = mistakes(schema, value)
    assert told in mistake


@pytest.mark.parametrize("value", [{}, {"a": "x"}, {"a": "x", "more": [1]}])
def test_what_fits_has_no_mistakes(value):
    assert mistakes(of(a={"type": "string", "maxLength": 3}), value) == []
