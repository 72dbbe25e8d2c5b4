"""Reading replies: what is a verdict, what is not, and how a model is told so."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from judgekit.rubric import problems
from judgekit.rubric.verdict import read_level, read_number

from .helpers import RECORD, rubric

FIVE = """\
rubric: five
inputs: {required: [response]}
verdict:
  explanation: {text: "Why.", max_chars: 10}
  score: {scale: {1: a, 2: b, 3: c, 4: d, 5: e}}
  met: {boolean: "Met?"}
  share: {number: {min: 0, max: 1}}
  mode: {choice: {yes: "", no: "", 010: "", off: ""}}
  items: {list: {of: {text: {text: "t"}, points: {number: {min: -10, max: 10}}}, min: 1, max: 2}}
prompt: {user: "{{ response }}"}
"""
GOOD: dict[str, Any] = {
    "explanation": "x",
    "score": "4",
    "met": True,
    "share": 0.5,
    "mode": "no",
    "items": [{"text": "t", "points": -3}],
}


@pytest.fixture(scope="module")
def model() -> type[BaseModel]:
    found = rubric(FIVE).response_model(RECORD)
    assert found is not None
    return found


def read(model: type[BaseModel], **changes: Any) -> dict[str, Any]:
    return model.model_validate({**GOOD, **changes}).model_dump()


def refusal(model: type[BaseModel], value: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(value)
    return problems(caught.value, model)


# CASES 3: "4", 4 and 4.0 are 4; a boolean is not 1.


@pytest.mark.parametrize("value", [4, 4.0, "4", " 4 ", "4.0", "+4"])
def test_what_can_only_mean_four_is_four(model: type[BaseModel], value: Any) -> None:
    score = read(model, score=value)["score"]
    assert score == 4
    assert type(score) is int


# CASES 5: off the scale, between its levels, or no number: refused, never clamped.


@pytest.mark.parametrize(
    "value",
    [
        True, False, None, 0, 6, 98989, -1, 4.5, "4/5", "4.5", "four", "", "4 of 5", "4: d", "d", "04", "٤", "４", "1e0",
        float("nan"), float("inf"), float("-inf"), "NaN", "Infinity", [4], {"value": 4}, 10**30, "4" * 5000,
    ],
)  # fmt: skip
def test_nothing_else_is_on_the_scale(model: type[BaseModel], value: Any) -> None:
    said = refusal(model, {**GOOD, "score": value})
    assert said.startswith("`score`: answer one of 1, 2, 3, 4, 5, not ")
    assert len(said) < 200


def test_the_same_holds_for_json_text(model: type[BaseModel]) -> None:
    assert model.model_validate_json(json.dumps({**GOOD, "score": "4"})).model_dump()["score"] == 4
    for value in ("true", "4.5", "NaN", "Infinity", '"4/5"', "null"):
        with pytest.raises(ValidationError):
            model.model_validate_json(json.dumps(GOOD).replace('"4"', value))


def test_a_number_of_thousands_of_digits_is_refused_like_any_other(model: type[BaseModel]) -> None:
    assert "answer one of" in refusal(model, {**GOOD, "score": 10**5000})
    assert "from 0 to 1" in refusal(model, {**GOOD, "share": 10**5000})
    assert "exactly one of" in refusal(model, {**GOOD, "mode": 10**5000})


# CASES 4: the string "false" is never true, and never false either.


@pytest.mark.parametrize("value", ["false", "true", "False", "yes", "partly", 0, 1, 1.0, None, []])
def test_only_true_and_false_are_boolean(model: type[BaseModel], value: Any) -> None:
    assert "answer true or false" in refusal(model, {**GOOD, "met": value})


@pytest.mark.parametrize(("value", "read_as"), [(0, 0), (1, 1), (0.25, 0.25), ("0.25", 0.25), ("1", 1), (".5", 0.5)])
def test_numbers(model: type[BaseModel], value: Any, read_as: float) -> None:
    assert read(model, share=value)["share"] == read_as


@pytest.mark.parametrize("value", [-0.1, 1.1, True, "half", "50%", None, float("nan"), "nan", "1e999", 10**400, [1]])
def test_not_numbers(model: type[BaseModel], value: Any) -> None:
    assert "answer a number from 0 to 1" in refusal(model, {**GOOD, "share": value})


@pytest.mark.parametrize(("value", "read_as"), [("no", "no"), (" No ", "no"), ("YES", "yes"), ("010", "010")])
def test_choices(model: type[BaseModel], value: Any, read_as: str) -> None:
    assert read(model, mode=value)["mode"] == read_as


@pytest.mark.parametrize("value", [False, True, 10, 8, "nope", "yes, because", "", None, ["no"]])
def test_not_choices(model: type[BaseModel], value: Any) -> None:
    assert "answer exactly one of 'yes', 'no', '010', 'off'" in refusal(model, {**GOOD, "mode": value})


def test_options_that_differ_by_case_only_need_the_exact_one() -> None:
    compiled = rubric(FIVE.replace('{yes: "", no: "", 010: "", off: ""}', '{a: "", A: "", b: ""}'))
    model = compiled.response_model(RECORD)
    assert model is not None
    assert read(model, mode="a")["mode"] == "a"
    assert read(model, mode="A")["mode"] == "A"
    assert read(model, mode="B")["mode"] == "b"
    with pytest.raises(ValidationError):
        model.model_validate({**GOOD, "mode": " a "})


def test_a_text_longer_than_asked_is_kept(model: type[BaseModel]) -> None:
    assert read(model, explanation="x" * 10_000)["explanation"] == "x" * 10_000
    assert "a text in quotes" in refusal(model, {**GOOD, "explanation": 3})
    assert "a text in quotes" in refusal(model, {**GOOD, "explanation": None})


def test_lists_count_and_check_their_items(model: type[BaseModel]) -> None:
    item = {"text": "t", "points": 1}
    assert "at least 1 and at most 2 items" in refusal(model, {**GOOD, "items": []})
    assert "at least 1 and at most 2 items" in refusal(model, {**GOOD, "items": [item] * 3})
    assert "`items.1.points`: answer a number from -10 to 10" in refusal(
        model, {**GOOD, "items": [item, {**item, "points": 11}]}
    )
    assert "`items.0.text` is missing" in refusal(model, {**GOOD, "items": [{"points": 1}]})
    assert "`items.0.extra` is not a key" in refusal(model, {**GOOD, "items": [{**item, "extra": 1}]})


def test_keys_that_are_missing_or_unknown_are_named(model: type[BaseModel]) -> None:
    said = refusal(
        model, {"Explanation": "x", **{key: value for key, value in GOOD.items() if key not in ("explanation", "met")}}
    )
    assert said.splitlines() == [
        "`explanation` is missing: the reply must have this key",
        "`met` is missing: the reply must have this key",
        "`Explanation` is not a key of the reply: did you mean `explanation`?",
    ]


@pytest.mark.parametrize("value", [None, [], "text", 3, [GOOD]])
def test_a_reply_is_one_object(model: type[BaseModel], value: Any) -> None:
    assert refusal(model, value) == (
        "answer one JSON object with the keys `explanation`, `score`, `met`, `share`, `mode`, `items`"
    )


def test_internal_names_are_no_keys(model: type[BaseModel]) -> None:
    values = dict(zip([f"f{i}" for i in range(6)], GOOD.values(), strict=True))
    with pytest.raises(ValidationError):
        model.model_validate(values)


def test_the_schema_is_closed_ordered_and_free_of_references() -> None:
    (ask,) = rubric(FIVE).asks(RECORD)
    text = json.dumps(ask.schema)
    assert "$ref" not in text
    assert "$defs" not in text
    schema = ask.schema
    assert schema is not None
    assert list(schema["properties"]) == list(GOOD) == schema["required"]

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            if node.get("type") == "object":
                assert node["additionalProperties"] is False
                assert node["required"] == list(node["properties"])
            if "enum" in node:  # no integer enum: some providers refuse one
                assert node["type"] == "string"
                assert all(isinstance(value, str) for value in node["enum"])
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(schema)


@settings(deadline=None)
@given(st.one_of(st.integers(), st.floats(), st.booleans(), st.text(), st.none()))
def test_reading_a_level_never_raises_and_never_rounds(value: Any) -> None:
    level = read_level(value)
    if level is not None:
        assert not isinstance(value, bool)
        assert float(value) == float(level)


@settings(deadline=None)
@given(st.integers(-999_999_999, 999_999_999))
def test_whole_numbers_are_read_in_all_their_spellings(value: int) -> None:
    assert read_level(value) == read_level(str(value)) == read_level(f"{value}.0") == read_level(float(value)) == value


@settings(deadline=None)
@given(st.floats(allow_nan=True, allow_infinity=True))
def test_numbers_are_finite_or_nothing(value: float) -> None:
    number = read_number(value)
    assert number is None if value != value or value in (float("inf"), float("-inf")) else number == value
