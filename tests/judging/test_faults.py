"""Faults as client libraries raise them, sorted into ours. The shapes are those of the openai SDK's and litellm's exceptions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from judgekit.errors import ProviderError
from judgekit.judging.provider.faults import sort_out
from judgekit.judging.provider.transport import Filtered, Rejected, TooLong
from judgekit.judging.provider.types import RateLimited, Transient


def fault(name: str, status: int | None, message: str, **more: Any) -> Exception:
    error: Any = type(name, (Exception,), {})(message)
    error.status_code = status
    error.message = message
    for key, value in more.items():
        setattr(error, key, value)
    return error  # type: ignore[no-any-return]


GEMINI = "You exceeded your current quota, please check your plan and billing details. Please retry in 31.5s."


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (fault("RateLimitError", 429, GEMINI), RateLimited),
        (
            fault("RateLimitError", 429, "You exceeded your current quota", body={"code": "insufficient_quota"}),
            ProviderError,
        ),
        (fault("BadRequestError", 400, "Your credit balance is too low"), ProviderError),
        (fault("APIError", 402, "Insufficient Balance"), ProviderError),
        (fault("AuthenticationError", 401, "bad key"), ProviderError),
        (fault("InternalServerError", 500, "Missing credentials. Please pass an `api_key`"), ProviderError),
        (fault("APIConnectionError", 500, "No module named 'google'"), ProviderError),
        (fault("PermissionDeniedError", 403, "no access"), ProviderError),
        (fault("NotFoundError", 404, "no such model"), ProviderError),
        (fault("ContextWindowExceededError", 400, "long"), TooLong),
        (fault("BadRequestError", 400, "request (9 tokens) exceeds the available context size (8 tokens)"), TooLong),
        (fault("BadRequestError", 400, "prompt is too long: 210000 tokens > 200000 maximum"), TooLong),
        (fault("ContentPolicyViolationError", 400, "no"), Filtered),
        (fault("BadRequestError", 400, "x", body={"code": "content_filter"}), Filtered),
        (fault("UnprocessableEntityError", 422, "seed: extra inputs are not permitted"), Rejected),
        (fault("UnsupportedParamsError", 400, "gpt-5 models don't support temperature=0"), Rejected),
        (fault("Timeout", 408, "late"), Transient),
        (fault("ServiceUnavailableError", 503, "down"), Transient),
        (fault("InternalServerError", 500, "down"), Transient),
        (fault("InternalServerError", 500, "json_schema is not supported"), Rejected),
        (fault("InternalServerError", 501, "no such feature"), Rejected),
        (fault("InternalServerError", 500, "the tools cache is down"), Transient),
        (fault("APIError", 529, "overloaded"), Transient),
        (fault("AttributeError", None, "'ModelResponse' object has no attribute 'x'"), Transient),
    ],
    ids=lambda value: str(value)[:60] if isinstance(value, Exception) else value.__name__,
)
def test_each_fault_has_one_kind(error: Exception, kind: type[Exception]) -> None:
    assert type(sort_out(error, model="a/b")) is kind


@pytest.mark.parametrize(
    ("message", "headers", "seconds"),
    [
        (GEMINI, None, 31.5),
        ("Rate limit reached. Please try again in 20ms.", None, 0.02),
        ('{"retryDelay": "7s"}', None, 7.0),
        (GEMINI, {"retry-after": "3"}, 3.0),
        ("slow down", None, None),
        ("try again in ...s", None, None),
    ],
)
def test_the_wait_is_in_the_headers_else_in_the_words(message: str, headers: Any, seconds: float | None) -> None:
    found = sort_out(fault("RateLimitError", 429, message, response=SimpleNamespace(headers=headers)), model="a/b")
    assert isinstance(found, RateLimited)
    assert found.retry_after == seconds


def test_messages_lose_their_wrappings_and_say_where() -> None:
    error = fault(
        "InternalServerError", 500, "litellm.InternalServerError: InternalServerError: OpenAIException - down\n  now"
    )
    assert str(sort_out(error, model="openai/x", base="http://h:1/v1")) == "openai/x at http://h:1/v1: down now"
    missing = sort_out(fault("AuthenticationError", 401, "no"), model="openai/x", keys=lambda: ["OPENAI_API_KEY"])
    assert isinstance(missing, ProviderError)
    assert missing.mend == "set OPENAI_API_KEY in the environment"
    assert missing.exit_code == 5
