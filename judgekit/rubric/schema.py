"""The JSON Schema of rubric files, for editors: made from the same tables that the reader uses.

An editor sees YAML through its own eyes (``no`` may be a boolean, ``1.0`` a number), so wherever judgekit reads text, any
scalar is allowed here. What needs more than a schema (names, circular parents, templates) is left to ``judgekit rubric lint``.
"""

from __future__ import annotations

import json
from typing import Any

from judgekit.rubric.fields import FIELD_TYPES
from judgekit.rubric.read import TOP_KEYS
from judgekit.rubric.read_scoring import CRITERION_KEYS, SAMPLING, SCORE_KINDS
from judgekit.rubric.records import RECORD_KEYS

__all__ = ["editor_schema", "editor_schema_text"]

_TEXT: dict[str, Any] = {"type": ["string", "number", "boolean"]}
_ANY_TEXT: dict[str, Any] = {"type": ["string", "number", "boolean", "null"]}
_INT: dict[str, Any] = {"type": ["integer", "string"], "pattern": "^-?[0-9]+$"}
_NUMBER: dict[str, Any] = {"type": ["number", "string"], "pattern": "^[-+]?[0-9]*\\.?[0-9]+([eE][-+]?[0-9]+)?$"}

# What an editor shows beside a key.
ABOUT = {
    "rubric": "The rubric's name, the same as the file's: small letters, digits and hyphens.",
    "version": "Yours to count; it changes no fingerprint.",
    "title": "One line for people.",
    "source": "Where the scale comes from; never seen by a judge.",
    "construct": "What is judged. Labels of the same construct are compared with it.",
    "extends": "A rubric beside this file, or of the library: its keys are taken over, and those here replace them.",
    "inputs": "What the judge may see of a record. What is not declared, it never sees.",
    "verdict": "What the judge must return, in this order. Put reasons before scores.",
    "output": "`text` makes a writer of free text, in place of a verdict.",
    "score": "How a verdict becomes a number; without it the rubric is a classifier.",
    "complete_when": 'A comparison with the raw score, such as ">= 4". What fails it is what triage looks for.',
    "when_response_empty": "The raw score of a blank response, given without asking a model.",
    "sampling": "Defaults; the command line overrides them.",
    "criteria": "A checklist: `verdict` then describes one criterion.",
    "prompt": "jinja2 templates. `system` holds nothing of the record; inputs printed in `user` fence themselves.",
    "blocks": "Texts that fill the parent's {% block name %}.",
    "examples": "Worked examples, given here or retrieved from a data set.",
    "checks": "The rubric's own unit tests, run by `judgekit rubric test`.",
}


def editor_schema_text() -> str:
    """The schema as it is committed under docs/schema."""
    return json.dumps(editor_schema(), indent=2, ensure_ascii=False) + "\n"


def editor_schema() -> dict[str, Any]:
    """JSON Schema, draft 2020-12, of a rubric file."""
    keys: dict[str, dict[str, Any]] = {
        "rubric": {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$", "maxLength": 64},
        "version": _TEXT,
        "title": _ANY_TEXT,
        "source": {
            "anyOf": [_ANY_TEXT, _object(dict.fromkeys(("paper", "note", "url", "licence"), _TEXT))],
        },
        "construct": _ANY_TEXT,
        "extends": {"type": "string"},
        "inputs": _or_null(_object({"required": _list(_TEXT), "optional": _list(_TEXT)})),
        "verdict": _or_null({"type": "object", "minProperties": 1, "additionalProperties": {"$ref": "#/$defs/field"}}),
        "output": {"enum": ["text", None]},
        "score": _or_null(_score()),
        "complete_when": {"type": ["string", "null"], "pattern": "^\\s*(>=|<=|==|!=|>|<|=)\\s*[-+]?[0-9.]+\\s*$"},
        "when_response_empty": _or_null(_object({"raw": _NUMBER}, ["raw"])),
        "sampling": _or_null(_object({name: _sampling(*kind) for name, kind in SAMPLING.items()})),
        "criteria": _or_null(_criteria()),
        "prompt": _or_null(_object({"system": _ANY_TEXT, "user": _ANY_TEXT})),
        "blocks": _or_null({"type": "object", "additionalProperties": _ANY_TEXT}),
        "examples": {"anyOf": [{"type": "null"}, _list({"$ref": "#/$defs/example"}), _retrieve()]},
        "checks": _or_null(_list({"$ref": "#/$defs/check"})),
    }
    assert set(keys) == set(TOP_KEYS) == set(ABOUT)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "judgekit rubric",
        "description": "A rubric file of judgekit: all that determines a judgement, except the model. See docs/rubrics.md.",
        **_object({name: {"description": ABOUT[name], **keys[name]} for name in TOP_KEYS}, ["rubric"]),
        "$defs": {
            "field": _field(nested=False),
            "item": _field(nested=True),
            "condition": {"anyOf": [_ANY_TEXT, {"type": "array", "minItems": 1, "items": _ANY_TEXT}]},
            "record": _record(),
            "example": _object({"record": {"$ref": "#/$defs/record"}, "verdict": {"type": "object"}, "text": _TEXT}, ["record"]),
            "check": _object(
                {
                    "record": {"$ref": "#/$defs/record"},
                    "expect": {
                        "type": "object",
                        "minProperties": 1,
                        "additionalProperties": {"$ref": "#/$defs/condition"},
                    },
                },
                ["record", "expect"],
            ),
        },
    }  # fmt: skip


def _object(properties: dict[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    out: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**out, "required": required} if required else out


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


def _score() -> dict[str, Any]:
    values: dict[str, dict[str, Any]] = dict.fromkeys(SCORE_KINDS, _TEXT)
    values["mean"] = {"type": "array", "minItems": 2, "items": _TEXT}
    return {**_object(values), "minProperties": 1, "maxProperties": 1}


def _sampling(kind: str, low: float | None, high: float | None) -> dict[str, Any]:
    if kind == "text":
        return _ANY_TEXT
    if kind == "texts":
        return {"anyOf": [_ANY_TEXT, _list(_TEXT)]}
    base = _INT if kind == "int" else _NUMBER
    bounds = {name: value for name, value in (("minimum", low), ("maximum", high)) if value is not None}
    return {**base, **bounds, "type": [*base["type"], "null"]}


def _criteria() -> dict[str, Any]:
    source = {"enum": ["record", "written"]}
    return _object(
        {
            "from": {"anyOf": [source, {**_list(source), "minItems": 1, "uniqueItems": True}]},
            "where": _or_null(_object({key: {"$ref": "#/$defs/condition"} for key in CRITERION_KEYS})),
            "write": _or_null(_object({"rubric": _TEXT, "per": {"const": "question"}, "model": _ANY_TEXT}, ["rubric"])),
            "ask": {"enum": ["each", "together"]},
        }
    )


def _retrieve() -> dict[str, Any]:
    return _object(
        {
            "retrieve": {**_INT, "minimum": 1, "maximum": 50},
            "from": _TEXT,
            "by": _TEXT,
            "using": {"enum": ["tfidf", "minilm"]},
            "where": _or_null({"type": "object", "additionalProperties": {"$ref": "#/$defs/condition"}}),
            "verdict": _ANY_TEXT,
        },
        ["retrieve", "from"],
    )


def _field(nested: bool) -> dict[str, Any]:
    level = {"anyOf": [_ANY_TEXT, _object({"label": _TEXT, "anchor": _TEXT})]}
    labels = {"type": "object", "minProperties": 2, "additionalProperties": _ANY_TEXT}
    types: dict[str, dict[str, Any]] = {
        "scale": {"type": "object", "minProperties": 2, "patternProperties": {"^-?[0-9]+$": level}, "additionalProperties": False},
        "boolean": {**_TEXT, "description": "What is asked."},
        "number": _or_null(_object({"min": _NUMBER, "max": _NUMBER})),
        "text": {**_TEXT, "description": "What to write."},
        "choice": {
            "anyOf": [
                _object({"from": {"const": "options"}}, ["from"]),
                {
                    "type": "object",
                    "properties": {"by": _TEXT},
                    "required": ["by"],
                    "additionalProperties": labels,
                },
                labels,
            ]
        },
        "list": _object(
            {
                "of": {"type": "object", "minProperties": 1, "additionalProperties": {"$ref": "#/$defs/item"}},
                "min": {**_INT, "minimum": 0},
                "max": {**_INT, "minimum": 1},
            },
            ["of"],
        ),
    }  # fmt: skip
    assert set(types) == set(FIELD_TYPES)
    shapes = []
    for name, schema in types.items():
        if nested and name == "list":
            continue
        properties = {name: schema, "describe": _ANY_TEXT}
        if name == "text":
            properties["max_chars"] = {**_INT, "type": ["integer", "string", "null"], "minimum": 1}
        shapes.append(_object(properties, [name]))
    field: dict[str, Any] = {"oneOf": shapes}
    return field if nested else {"anyOf": [{"type": "null"}, field]}


def _record() -> dict[str, Any]:
    criterion = _object(
        {"id": _TEXT, "text": _TEXT, "points": _NUMBER, "kind": _ANY_TEXT, "tags": _or_null(_list(_TEXT))}, ["text"]
    )
    turn = _object({"role": {"enum": ["system", "user", "assistant"]}, "content": _TEXT}, ["role", "content"])
    values: dict[str, dict[str, Any]] = dict.fromkeys(RECORD_KEYS, _ANY_TEXT)
    values["question"] = {"anyOf": [_ANY_TEXT, _list(turn)]}
    values["criteria"] = _or_null(_list({"anyOf": [{"type": "string"}, criterion]}))
    values["options"] = _or_null({"type": "object", "additionalProperties": _TEXT})
    values["inputs"] = {"type": ["object", "null"]}
    return _object(values)
