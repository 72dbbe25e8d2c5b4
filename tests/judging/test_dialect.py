"""Dialects: by the function, and by the payload that really goes out through litellm to each provider's own protocol."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from judgekit.errors import RubricError
from judgekit.judging.provider.dialect import LLAMA_DEFAULT_CHARS, LLAMA_MAX_REPEAT, family_of, to_dialect
from tests.judging.models import SCHEMA, good, judge_once
from tests.judging.provider import Provider

FAMILIES = ["openai", "generic", "anthropic", "gemini", "ollama", "llama.cpp"]
RICH: dict[str, Any] = {
    "type": "object",
    "title": "Verdict",
    "properties": {
        "explanation": {"type": "string", "description": "At most about 900 characters.", "maxLength": 900},
        "note": {"type": "string", "x-max-chars": 5000},
        "level": {"type": "integer", "enum": [1, 2, 3]},
        "met": {"type": "boolean"},
        "points": {"type": "number", "minimum": -10, "maximum": 10, "description": "How much."},
        "criteria": {
            "type": "array",
            "items": {"$ref": "#/$defs/Item"},
            "minItems": 3,
            "maxItems": 12,
        },
        "maybe": {"type": "string", "enum": ["a", "b"]},
    },
    "required": ["explanation", "note", "level", "met", "points", "criteria"],
    "$defs": {"Item": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}},
}


def walk(node: Any) -> list[dict[str, Any]]:
    if isinstance(node, dict):
        return [node, *(inner for value in node.values() for inner in walk(value))]
    return [inner for value in node for inner in walk(value)] if isinstance(node, list) else []


@pytest.mark.parametrize("family", FAMILIES)
def test_every_dialect_is_closed_whole_in_order_and_without_numeric_enums(family: Any) -> None:
    before = copy.deepcopy(RICH)
    schema = to_dialect(RICH, family)
    assert before == RICH, "the neutral schema is shared and stays as it is"
    for node in walk(schema):
        assert "$ref" not in node
        assert "title" not in node
        assert "x-max-chars" not in node
        assert all(value is None or isinstance(value, str) for value in node.get("enum", []))
        if node.get("type") == "object":
            assert node["required"] == list(node["properties"])
            if family != "gemini":
                assert node["additionalProperties"] is False
    assert list(schema["properties"]) == list(RICH["properties"])
    assert schema["properties"]["level"] == {"type": "string", "enum": ["1", "2", "3"]}
    assert schema["properties"]["maybe"] == {"type": ["string", "null"], "enum": ["a", "b", None]}
    assert schema["properties"]["criteria"]["items"]["properties"]["text"]["type"] == "string"


@pytest.mark.parametrize("family", ["openai", "generic", "anthropic"])
def test_strict_dialects_carry_no_limits_and_say_them_once_in_words(family: Any) -> None:
    schema = to_dialect(RICH, family)
    for node in walk(schema):
        assert not {"minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "pattern"} & set(node)
    said = {name: part.get("description") for name, part in schema["properties"].items()}
    assert said["explanation"] == "At most about 900 characters.", "the description names the figure already"
    assert said["points"] == "How much. (at least -10, at most 10)"
    assert said["criteria"] == "(at least 3 items, at most 12 items)"
    assert said["note"] == "(at most 5000 characters)"


def test_gemini_is_told_the_order_and_spared_additional_properties() -> None:
    schema = to_dialect(RICH, "gemini")
    assert schema["propertyOrdering"] == list(RICH["properties"])
    assert all("additionalProperties" not in node for node in walk(schema))
    assert schema["properties"]["criteria"]["minItems"] == 3


def test_the_embedded_model_is_held_to_a_length_by_its_grammar() -> None:
    properties = to_dialect(RICH, "llama.cpp")["properties"]
    assert properties["explanation"]["maxLength"] == 900
    assert properties["criteria"]["items"]["properties"]["text"]["maxLength"] == LLAMA_DEFAULT_CHARS
    assert "maxLength" not in properties["level"]
    # the engine may refuse a repetition past 2000, so a longer limit goes out as the longest that it takes
    assert properties["note"]["maxLength"] == LLAMA_MAX_REPEAT == 2000
    assert to_dialect(RICH, "ollama")["properties"]["explanation"].get("maxLength") is None


def test_a_shorter_limit_of_the_callers_wins_and_a_longer_one_does_not() -> None:
    properties = to_dialect(RICH, "llama.cpp", max_chars=120)["properties"]
    assert properties["explanation"]["maxLength"] == 120
    assert properties["criteria"]["items"]["properties"]["text"]["maxLength"] == 120
    assert to_dialect(RICH, "llama.cpp", max_chars=5000)["properties"]["explanation"]["maxLength"] == 900


def test_what_no_dialect_carries_is_refused_not_lost() -> None:
    loop = {"type": "object", "properties": {"a": {"$ref": "#"}}}
    with pytest.raises(RubricError, match="itself"):
        to_dialect(loop, "openai")
    with pytest.raises(RubricError, match="patternProperties"):
        to_dialect({"type": "object", "patternProperties": {}}, "openai")
    with pytest.raises(RubricError, match="does not hold"):
        to_dialect({"type": "object", "properties": {"a": {"$ref": "#/$defs/B"}}}, "openai")


def test_a_property_named_like_a_keyword_is_a_property() -> None:
    names = ["title", "default", "pattern", "$defs", "enum", "type", "minimum"]
    schema = {"type": "object", "properties": {name: {"type": "boolean"} for name in names}}
    assert list(to_dialect(schema, "openai")["properties"]) == names


@pytest.mark.parametrize(
    ("model", "custom", "family"),
    [
        ("openai/gpt-5-mini", False, "openai"),
        ("gpt-4o", False, "openai"),
        ("openai/mine", True, "generic"),
        ("azure/gpt-4o", True, "openai"),
        ("anthropic/claude-sonnet-4-5", False, "anthropic"),
        ("claude-sonnet-4-5", False, "anthropic"),
        ("gemini/gemini-2.5-pro", False, "gemini"),
        ("vertex_ai/gemini-2.5-pro", False, "gemini"),
        ("ollama_chat/llama3.1", False, "ollama"),
        ("hosted_vllm/qwen", True, "generic"),
        ("openrouter/anthropic/claude-sonnet-4.5", False, "generic"),
        ("local/smollm2-135m", False, "llama.cpp"),
    ],
)
def test_the_family_is_read_off_the_models_name(model: str, custom: bool, family: str) -> None:
    assert family_of(model, custom_base=custom) == family


# the payload on the wire


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC", "GEMINI", "MISTRAL", "OPENROUTER", "HOSTED_VLLM"):
        monkeypatch.setenv(f"{name}_API_KEY", "a-key")


ENUM = {"type": "string", "enum": ["1", "2", "3", "4", "5"]}


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(
    ("model", "path", "where"),
    [
        ("anthropic/claude-sonnet-4-5", "/v1/messages", ("output_format", "schema")),
        ("anthropic/claude-3-haiku-20240307", "/v1/messages", ("tools", 0, "input_schema")),
        (
            "gemini/gemini-2.5-pro",
            "/models/gemini-2.5-pro:generateContent",
            ("generationConfig", "response_json_schema"),
        ),
        ("ollama_chat/llama3.1", "/api/chat", ("format",)),
        ("ollama/llama3.1", "/api/generate", ("format",)),
        ("hosted_vllm/qwen", "/chat/completions", ("response_format", "json_schema", "schema")),
        ("mistral/mistral-large-latest", "/v1/chat/completions", ("response_format", "json_schema", "schema")),
        ("openrouter/some/model", "/chat/completions", ("response_format", "json_schema", "schema")),
        ("lm_studio/some", "/chat/completions", ("response_format", "json_schema", "schema")),
    ],
)
def test_each_providers_payload_holds_the_schema_and_its_reply_is_read(
    provider: Provider, model: str, path: str, where: tuple[Any, ...]
) -> None:
    provider.script = good()
    reply = judge_once(provider, model=model, base=provider.root)
    assert (reply.status, reply.verdict) == ("ok", {"explanation": "fine", "score": 4})
    assert reply.tokens_in
    assert reply.tokens_out
    assert provider.count == 1
    assert provider.got[0].path == path
    part: Any = provider.bodies[0]
    for step in where:
        part = part[step]
    assert list(part["properties"]) == ["explanation", "score"]
    assert part["properties"]["score"] == ENUM
    assert part["required"] == ["explanation", "score"]
    text = {key: value for key, value in part["properties"]["explanation"].items() if key != "description"}
    assert text == {"type": "string"}


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("model", ["anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-pro"])
def test_a_filter_is_seen_in_each_providers_own_words(provider: Provider, model: str) -> None:
    from tests.judging.provider import Say

    provider.script = Say("", finish_reason="content_filter")
    assert judge_once(provider, model=model, base=provider.root).status in {"filtered", "refused"}
    provider.reset(Say('{"explanation": "cut', finish_reason="length"))
    assert judge_once(provider, model=model, base=provider.root).status == "truncated"


@pytest.mark.usefixtures("keys")
def test_a_parameter_that_the_provider_never_takes_is_left_out_beforehand(provider: Provider) -> None:
    provider.script = good()
    reply = judge_once(provider, model="anthropic/claude-sonnet-4-5", base=provider.root, judge_sampling={"seed": 7})
    assert "seed" not in provider.bodies[0]
    assert reply.effective["dropped"] == ["seed"]
    assert SCHEMA["properties"]["explanation"]["maxLength"] == 300
