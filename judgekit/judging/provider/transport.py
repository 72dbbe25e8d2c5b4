"""The seam between what is asked and how it travels: a transport has one method, and says in our words what went wrong.

litellm is the transport today (in `client.py`); a faster one can stand in its place without a change to modes, re-asks,
statuses or the store.
"""

from __future__ import annotations

import email.utils
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

__all__ = [
    "Answer",
    "Filtered",
    "Rejected",
    "TooLong",
    "Transport",
    "Usage",
    "count_of",
    "counts_of",
    "joined_parts",
    "names_structure",
    "readable_usage",
    "refusal_in",
    "refused_parameters",
    "retry_after_of",
]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one HTTP answer; None where the provider did not say. `cost` in US dollars, None unknown."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer in the terms of the chat-completions protocol."""

    text: str | None
    tools: list[dict[str, str]] = field(default_factory=list)  # {"id", "name", "arguments"}
    refusal: str | None = None
    finish_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    model: str | None = None  # what the provider says answered
    reasoning: str | None = None  # what it reasoned in a place of its own: kept for the eye, never read for a verdict
    choices: int = 1
    logprobs: list[dict[str, Any]] | None = (
        None  # {"token", "logprob", "top": {token: logprob}} where asked for and given
    )


class Transport(Protocol):
    """Sends one request body and returns the answer.

    Raises RateLimited, Transient, ProviderError (types.py, errors.py), or one of `Rejected`, `TooLong`, `Filtered`.
    """

    async def post(self, body: Mapping[str, Any]) -> Answer:
        """`body` holds messages and parameters as keyword arguments of the chat-completions protocol."""
        ...


class Rejected(Exception):
    """The provider refuses the request as it stands (400, 422): a parameter it does not take, or a value."""

    def __init__(self, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param


class TooLong(Exception):
    """The prompt and the room for the reply do not fit the model's context."""


class Filtered(Exception):
    """The provider's content filter refused the prompt."""


_REFUSAL = re.compile(
    r"unsupported|not\s+support|n't\s+support|unknown|unrecogni[sz]ed|deprecated|not\s+permitted|not\s+allowed|extra\s+inputs?"
    r"|unexpected|only\s+the\s+default|not\s+available|not\s+compatible|incompatible|cannot\s+both|not\s+implemented|does\s+not\s+accept",
    re.IGNORECASE,
)
MAX_TOKENS = 10_000_000  # of one reply, inclusive; no model has a context as large
_TEXT_PARTS = {"text", "output_text", None}
_STRUCTURE = re.compile(
    r"response_format|json_schema|json_object|structured\s+output|output_format|guided|grammar|invalid\s+schema|tool_choice|\btools?\b|function\s+call",
    re.IGNORECASE,
)


def joined_parts(parts: Sequence[Any]) -> str | None:
    """The text of a message whose content is a list of parts; thinking and pictures are left out. None where no part is text."""
    texts = [
        part if isinstance(part, str) else part["text"]
        for part in parts
        if isinstance(part, str)
        or (isinstance(part, dict) and part.get("type") in _TEXT_PARTS and isinstance(part.get("text"), str))
    ]
    return "".join(texts) if texts else None


def refusal_in(parts: Sequence[Any]) -> str | None:
    """The words of a refusal that stands among a message's parts; None where there is none."""
    for part in parts:
        if isinstance(part, list) and (found := refusal_in(part)) is not None:
            return found
        if not isinstance(part, dict):
            continue
        said = part.get("refusal")
        if said or str(part.get("type") or "").lower() in {"refusal", "output_refusal"}:
            said = said or part.get("text") or part.get("content") or "without words"
            return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    return None


def _goes_on(choice: Mapping[str, Any], message: Mapping[str, Any]) -> bool:
    """Whether a message without a text in its content says something elsewhere, or why it says nothing."""
    return bool(
        message.get("tool_calls")
        or message.get("function_call")
        or message.get("reasoning_content")
        or choice.get("finish_reason") in {"length", "max_tokens", "content_filter", "tool_calls", "function_call"}
    )


def read_parts_of_content(litellm: Any) -> None:
    """Some servers give a message's content as a list of parts, which litellm's conversion refuses: a paid reply would be lost.

    Its hook for malformed replies joins their texts here, before that.
    """
    config: Any = litellm.OpenAIGPTConfig
    before = config.transform_parsed_response_dict

    def transform_parsed_response_dict(self: Any, reply: Any) -> Any:
        reply = before(self, reply)
        if isinstance(reply, dict) and "usage" in reply:
            reply["usage"] = readable_usage(reply["usage"])
        for choice in (reply.get("choices") if isinstance(reply, dict) else None) or []:
            message = choice.get("message") if isinstance(choice, dict) else None
            if isinstance(message, dict) and isinstance(message.get("content"), list | dict):
                parts = message["content"] if isinstance(message["content"], list) else [message["content"]]
                message["content"] = joined_parts(parts)
                refusal = refusal_in(parts)
                if refusal is None and not any(parts) and not _goes_on(choice, message):
                    refusal = "its content is an empty list"
                if refusal is not None:
                    message["refusal"] = message.get("refusal") or refusal
        return reply

    config.transform_parsed_response_dict = transform_parsed_response_dict


def count_of(value: Any) -> int | None:
    """A number of tokens that can be one; None for what is absent, negative, fractional, no number or past all belief."""
    if isinstance(value, str) and value.isdecimal():
        value = int(value[:20])
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_TOKENS:
        return None
    return int(value) if value == int(value) else None


def counts_of(usage: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Tokens in and out. What some providers count beside the completion (reasoning) is in the total, and is billed as output."""
    tokens_in, tokens_out, both = (count_of(usage.get(f"{name}_tokens")) for name in ("prompt", "completion", "total"))
    details = usage.get("completion_tokens_details")
    reasoning = count_of(details.get("reasoning_tokens")) if isinstance(details, Mapping) else None
    if tokens_out is not None and reasoning is not None and reasoning > tokens_out:
        tokens_out += reasoning
    if both is not None and tokens_in is not None and both > tokens_in + (tokens_out or 0):
        tokens_out = both - tokens_in
    if tokens_in is None and both is not None and tokens_out is not None and both > tokens_out:
        tokens_in = both - tokens_out
    return tokens_in, tokens_out


def readable_usage(usage: Any) -> dict[str, Any] | None:
    """A reply's usage as litellm can take it, with 0 for what is unknown; None where nothing of it can be read."""
    if not isinstance(usage, Mapping):
        return None
    tokens_in, tokens_out = counts_of(usage)
    if tokens_in is None and tokens_out is None:
        return None
    counts = {"prompt_tokens": tokens_in or 0, "completion_tokens": tokens_out or 0}
    kept: dict[str, Any] = {}
    for name in ("prompt_tokens_details", "completion_tokens_details"):
        if isinstance(usage.get(name), Mapping):
            kept[name] = {key: n for key, value in usage[name].items() if (n := count_of(value)) is not None}
    return {**kept, **counts, "total_tokens": sum(counts.values())}


def names_structure(message: str) -> bool:
    """Whether a server's fault is its way to say that it cannot do what was asked for structure: that will not pass."""
    return _REFUSAL.search(message[:4000]) is not None and _STRUCTURE.search(message[:4000]) is not None


def refused_parameters(rejected: Rejected, sent: Mapping[str, Any]) -> list[str]:
    """Which of the `sent` sampling parameters a rejection names as not taken at all, in the order sent.

    A value out of range (``temperature must be at most 2``) is the asker's to mend, so it gives an empty list. The word
    ``response_format`` stands for everything that asks for structure.
    """
    message = rejected.message[:4000]
    if not _REFUSAL.search(message):
        return ["response_format"] if rejected.param == "response_format" or _bad_schema(message) else []
    if rejected.param in sent:
        return [str(rejected.param)]
    named = [name for name in sent if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", message)]
    if named:
        # of two that exclude each other the first named goes; the second may then stay
        return (
            named[:1] if re.search(r"cannot\s+both|incompatible", message, re.IGNORECASE) else _subjects(named, message)
        )
    return (
        ["response_format"]
        if rejected.param in {"response_format", "tools", "tool_choice"} or _STRUCTURE.search(message)
        else []
    )


def _subjects(named: list[str], message: str) -> list[str]:
    """``'max_tokens' is not supported, use 'max_completion_tokens'``: what stands after ``use`` is advice."""
    advice = re.search(r"\buse\b|\binstead\b|\bsupported parameters\b", message, re.IGNORECASE)
    kept = [name for name in named if advice is None or message.find(name) < advice.start()]
    return kept or named[:1]


def _bad_schema(message: str) -> bool:
    return bool(re.search(r"invalid\s+schema|response_format|json_schema|grammar", message, re.IGNORECASE))


def retry_after_of(headers: Mapping[str, str] | None) -> float | None:
    """Seconds that ``retry-after-ms`` or ``Retry-After`` (seconds or an HTTP date) ask for; None where absent or unreadable."""
    lower = {key.lower(): value for key, value in dict(headers or {}).items()}
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = lower.get(name)
        if text is None:
            continue
        try:
            seconds = float(text) * unit
        except ValueError:
            try:
                seconds = email.utils.parsedate_to_datetime(text).timestamp() - time.time()
            except (TypeError, ValueError):
                continue
        if seconds == seconds and seconds != float("inf"):
            return max(0.0, seconds)
    return None
