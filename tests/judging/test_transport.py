"""What a rejection names, waits, addresses: the small readers around a call."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from judgekit.errors import UsageError
from judgekit.judging.provider.endpoint import endpoint_of, resolve_base
from judgekit.judging.provider.transport import Rejected, joined_parts, refused_parameters, retry_after_of
from judgekit.safety import is_loopback

SENT = {"temperature": 0, "max_tokens": 10, "seed": 1, "top_p": 0.5}


@pytest.mark.parametrize(
    ("message", "param", "names"),
    [
        ("Unsupported value: 'temperature' does not support 0 with this model.", "temperature", ["temperature"]),
        (
            "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) is.",
            None,
            ["temperature"],
        ),
        (
            "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
            None,
            ["max_tokens"],
        ),
        ("Unrecognized request argument supplied: seed", None, ["seed"]),
        (
            "[{'type': 'extra_forbidden', 'loc': ('body', 'seed'), 'msg': 'Extra inputs are not permitted'}]",
            None,
            ["seed"],
        ),
        ("`temperature` and `top_p` cannot both be specified for this model", None, ["temperature"]),
        ("`temperature` is deprecated for this model.", None, ["temperature"]),
        ("litellm: gpt-5 models don't support temperature=0. Only temperature=1 is supported.", None, ["temperature"]),
        ("This model does not support response_format", None, ["response_format"]),
        ("Invalid schema for response_format 'verdict': 'required' is missing", "response_format", ["response_format"]),
        ("json_schema is not supported by this backend", None, ["response_format"]),
        ("tool_choice is not supported", None, ["response_format"]),
        ("temperature must be between 0 and 2", "temperature", []),
        ("max_tokens is too large: 99999", "max_tokens", []),
        ("Invalid image", None, []),
    ],
)
def test_a_rejection_names_what_is_not_taken_at_all(message: str, param: str | None, names: list[str]) -> None:
    assert refused_parameters(Rejected(message, param), SENT) == names


def test_waits_are_read_from_seconds_milliseconds_and_dates() -> None:
    assert retry_after_of({"Retry-After": "2.5"}) == 2.5
    assert retry_after_of({"retry-after-ms": "250", "retry-after": "9"}) == 0.25
    later = retry_after_of({"Retry-After": formatdate(time.time() + 30, usegmt=True)})
    assert later is not None
    assert 25 < later <= 31
    assert retry_after_of({"Retry-After": formatdate(time.time() - 30, usegmt=True)}) == 0.0
    for text in ("soon", "", "nan", "inf"):
        assert retry_after_of({"Retry-After": text}) is None
    assert retry_after_of(None) is None


def test_addresses_come_from_the_caller_or_the_providers_variable() -> None:
    env = {"OPENAI_BASE_URL": "http://a/v1/", "OLLAMA_API_BASE": "http://b:11434"}
    assert resolve_base("openai/x", "http://c/v1/", env) == "http://c/v1"
    assert resolve_base("openai/x", None, env) == "http://a/v1"
    assert resolve_base("gpt-4o", None, env) == "http://a/v1"
    assert resolve_base("ollama_chat/x", None, env) == "http://b:11434"
    assert resolve_base("anthropic/x", None, env) is None
    for wrong in ("localhost:8000", "ftp://a/b", "http://", "a"):
        with pytest.raises(UsageError, match="address"):
            resolve_base("openai/x", wrong, env)


def test_an_endpoint_is_provider_and_address_without_secrets() -> None:
    assert endpoint_of("openai/x", None) == "openai"
    assert endpoint_of("gpt-4o", None) == "openai"
    assert endpoint_of("hosted_vllm/x", "http://me:pw@Host:8000/v1?key=1") == "hosted_vllm:http://host:8000/v1"


@pytest.mark.parametrize(
    ("base", "local"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://localhost", True),
        ("http://[::1]:1", True),
        ("http://10.0.0.1", False),
        (None, False),
    ],
)
def test_this_machine_is_known_by_its_names(base: str | None, local: bool) -> None:
    assert is_loopback(base) is local


def test_parts_of_content_are_one_text_without_the_thinking() -> None:
    assert (
        joined_parts([{"type": "thinking", "thinking": "5?"}, {"type": "text", "text": '{"a"'}, ": 1}"]) == '{"a": 1}'
    )
    assert joined_parts([{"type": "image_url", "image_url": {}}]) is None
    assert joined_parts([]) is None
