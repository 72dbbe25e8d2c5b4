"""Every shipped rubric's schema, as it really goes out to each provider, against the limits that the provider documents.

The limits are those named in `judgekit.judging.provider.dialect`: OpenAI's and Anthropic's structured outputs, Gemini's JSON Schema support, and
llama.cpp's grammars (which Ollama uses too; the embedded engine is asked itself).
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from judgekit.cli.app import main
from judgekit.errors import JudgekitError
from judgekit.judging.provider.client import open_client
from judgekit.judging.provider.dialect import LLAMA_MAX_REPEAT, to_dialect
from judgekit.judging.provider.types import JudgeSpec
from judgekit.judging.provider.weights import ensure, known
from judgekit.registry import library_files
from judgekit.rubric import load_rubric
from judgekit.rubric.compile import Ask
from judgekit.rubric.sample import sample_record
from tests.judging.provider import Provider

NAMES = sorted(library_files("rubrics", ".yaml"))
JUDGING = [name for name in NAMES if load_rubric(name).output != "text"]
WORDS = {"type", "properties", "required", "items", "enum", "description", "additionalProperties", "anyOf"}
ON_THE_WIRE = {
    "generic": ("openai/fake", "v1", ("response_format", "json_schema", "schema")),
    "anthropic": ("anthropic/claude-sonnet-4-5", "", ("output_format", "schema")),
    "gemini": ("gemini/gemini-2.5-pro", "", ("generationConfig", "response_json_schema")),
    "ollama": ("ollama_chat/llama3.1", "", ("format",)),
}


def asks(name: str) -> list[Ask]:
    """What the rubric asks about a sample and about the records of its own checks."""
    rubric = load_rubric(name)
    records = [sample_record(rubric), *(check.record for check in rubric.spec.checks)]
    return [ask for record in records for ask in rubric.asks(record)]


def nodes(schema: dict[str, Any], depth: int = 1) -> Iterator[tuple[dict[str, Any], int]]:
    yield schema, depth
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ()), *filter(None, [schema.get("items")])]
    for one in inner:
        yield from nodes(one, depth + 1)


def reply_to(schema: dict[str, Any], root: dict[str, Any] | None = None) -> Any:
    """The smallest value that the neutral schema allows; a level goes as text, as the enum on the wire has it."""
    root = root or schema
    if "$ref" in schema:
        return reply_to(root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root)
    if "anyOf" in schema:
        return reply_to(schema["anyOf"][0], root)
    if "enum" in schema:
        return str(schema["enum"][0])
    kind = schema["type"]
    if kind == "object":
        return {name: reply_to(part, root) for name, part in schema["properties"].items()}
    if kind == "array":
        return [reply_to(schema["items"], root) for _ in range(schema.get("minItems", 1) or 1)]
    return {"string": "said", "boolean": True}.get(kind, schema.get("minimum", 1))


def keeps_the_limits(family: str, schema: dict[str, Any]) -> None:
    assert schema["type"] == "object", "the root is an object in every dialect"
    found = list(nodes(schema))
    more = {"gemini": {"propertyOrdering", "minItems", "maxItems"}, "ollama": {"minItems", "maxItems"}}
    more["llama.cpp"] = {"minItems", "maxItems", "minLength", "maxLength"}
    allowed = WORDS | more.get(family, set())
    for node, depth in found:
        assert set(node) <= allowed, "a keyword that the dialect refuses or ignores"
        assert all(isinstance(value, str) or value is None for value in node.get("enum", [])), "string enums only"
        assert depth <= 10
        if node.get("type") == "object":
            assert node["required"] == list(node["properties"]), "every property is required, in the rubric's order"
            if family == "gemini":
                assert node["propertyOrdering"] == list(node["properties"])
                assert "additionalProperties" not in node
            else:
                assert node["additionalProperties"] is False
        assert node.get("maxLength", 0) <= LLAMA_MAX_REPEAT
    assert sum(len(node.get("properties", ())) for node, _ in found) <= 5000
    assert sum(len(node.get("enum", ())) for node, _ in found) <= 1000


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC", "GEMINI"):
        monkeypatch.setenv(f"{name}_API_KEY", "a-key")


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("family", list(ON_THE_WIRE))
def test_each_rubrics_payload_keeps_the_providers_limits_and_its_reply_is_read(provider: Provider, family: str) -> None:
    model, path, where = ON_THE_WIRE[family]
    todo = [(name, ask) for name in JUDGING for ask in asks(name)]
    assert {name for name, _ in todo} == set(JUDGING)

    async def go() -> None:
        async with open_client(JudgeSpec(model, api_base=f"{provider.root}/{path}".rstrip("/")), reasks=0) as client:
            for name, ask in todo:
                assert ask.schema is not None
                wanted = reply_to(ask.schema)
                provider.reset(json.dumps(wanted))
                reply = await client.send(
                    client.request(ask.messages, ask.schema, {"temperature": 0, "max_tokens": 900}), ask.model
                )
                assert (reply.status, provider.count) == ("ok", 1), (name, reply)
                assert list(reply.verdict or {}) == list(wanted), name
                sent: Any = provider.bodies[0]
                for step in where:
                    sent = sent[step]
                assert list(sent["properties"]) == list(ask.schema["properties"]), name
                keeps_the_limits(family, sent)

    asyncio.run(go())


@pytest.mark.parametrize("name", JUDGING)
def test_openais_own_dialect_is_the_generic_one(name: str) -> None:
    for ask in asks(name):
        assert ask.schema is not None
        schema = to_dialect(ask.schema, "openai")
        assert schema == to_dialect(ask.schema, "generic")
        keeps_the_limits("openai", schema)


@pytest.mark.parametrize("name", JUDGING)
def test_the_embedded_engines_dialect_keeps_its_limits(name: str) -> None:
    for ask in asks(name):
        assert ask.schema is not None
        keeps_the_limits("llama.cpp", to_dialect(ask.schema, "llama.cpp"))


@pytest.mark.local_model
@pytest.mark.timeout(300)
def test_the_embedded_engine_writes_by_each_rubrics_schema() -> None:
    # A few tokens under the grammar, after a message that asks for prose: what comes begins with the rubric's first field.
    pytest.importorskip("xllamacpp", reason="the engine is not installed: pip install 'clinical-judgekit[local]'")
    try:
        ensure(known("smollm2-135m"), print)
    except JudgekitError as error:
        pytest.skip(f"the weights cannot be fetched here: {error}")

    async def go() -> None:
        async with open_client(JudgeSpec("local/smollm2-135m"), reasks=0) as client:
            for name in JUDGING:
                schema = asks(name)[0].schema
                assert schema is not None
                request = client.request(
                    [{"role": "user", "content": "Tell me a story."}], schema, {"temperature": 0, "max_tokens": 24}
                )
                reply = await client.send(request, asks(name)[0].model)
                first = next(iter(schema["properties"]))
                assert re.match(rf'\s*\{{\s*"{first}"\s*:', reply.text or ""), (name, reply.status, reply.text)

    asyncio.run(go())


def test_a_schema_that_breaks_a_limit_is_noticed() -> None:
    good = {"type": "object", "properties": {"a": {"type": "string", "enum": ["1"]}}, "required": ["a"]}
    good["additionalProperties"] = False
    keeps_the_limits("openai", good)
    for change in ({"enum": [1]}, {"maxLength": 5}, {"minimum": 1}):
        with pytest.raises(AssertionError):
            keeps_the_limits("openai", {**good, "properties": {"a": {"type": "string", **change}}})


@pytest.mark.parametrize("name", [name for name in NAMES if load_rubric(name).spec.checks])
def test_the_checks_of_a_rubric_speak_of_what_a_verdict_holds(
    name: str, provider: Provider, capsys: pytest.CaptureFixture[str]
) -> None:
    # A judge that answers in the schema's shape: every check is asked and read, and each line of it finds its value.
    provider.script = lambda body, n: json.dumps(reply_to(body["response_format"]["json_schema"]["schema"]))
    main(["rubric", "test", name, "--model", "openai/fake", "--api-base", provider.base, "--json"])
    checks = json.loads(capsys.readouterr().out)["checks"]
    assert len(checks) == len(load_rubric(name).spec.checks)
    for check in checks:
        assert check["status"] in {"ok", "rule"}, check
        assert check["expect"]
        for line in check["expect"]:
            assert line["got"] is not None or line["wanted"] == "null", line
