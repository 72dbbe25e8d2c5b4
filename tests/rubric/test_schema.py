"""The editors' schema: generated, committed without drift, and of one mind with the loader."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from judgekit.errors import RubricError
from judgekit.registry import library_files
from judgekit.rubric.form import editor_schema

from .helpers import SMALL, rubric

COMMITTED = Path(__file__).resolve().parents[2] / "docs" / "schema" / "rubric.schema.json"


def as_an_editor_reads(text: str) -> Any:
    def keys(value: Any) -> Any:
        if isinstance(value, dict):
            return {str(key): keys(inner) for key, inner in value.items()}
        return [keys(inner) for inner in value] if isinstance(value, list) else value

    return keys(YAML(typ="safe", pure=True).load(StringIO(text)))


def complaints(text: str) -> list[str]:
    return [error.message for error in Draft202012Validator(editor_schema()).iter_errors(as_an_editor_reads(text))]


def test_the_committed_schema_is_the_generated_one() -> None:
    # To renew it: judgekit rubric schema --out docs/schema/rubric.schema.json
    assert COMMITTED.read_text("utf-8") == json.dumps(editor_schema(), indent=2, ensure_ascii=False) + "\n"


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(editor_schema())


@pytest.mark.parametrize("name", sorted(library_files("rubrics", ".yaml")))
def test_shipped_rubrics_fit(name: str) -> None:
    assert complaints(library_files("rubrics", ".yaml")[name].read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("title: A", "titel: A"),
        ("optional: [reference]", "optionl: [reference]"),
        ("{field: score}", "{field: score, mean: [a, b]}"),
        ("{field: score}", "{average: [a, b]}"),
        ('">= 2"', '"about 2"'),
        ("temperature: 0", "temperature: 3"),
        ("temperature: 0", "temprature: 0"),
        ("1: {label: poor", "1.5: {label: poor"),
        ('{text: "Say why."', '{txt: "Say why."'),
        ('{text: "Say why."', '{text: "Say why.", boolean: x'),
        ("rubric: small", "rubric: Small One"),
        ("question: q, response: r", "question: q, label: r"),
        ("{raw: 1}", "{row: 1}"),
    ],
)
def test_what_the_loader_refuses_an_editor_marks(old: str, new: str) -> None:
    assert complaints(SMALL) == []
    text = SMALL.replace(old, new, 1)
    assert text != SMALL
    assert complaints(text)
    with pytest.raises(RubricError):
        rubric(text)
