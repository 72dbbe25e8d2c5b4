"""What passes between the scheduler and the client."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from judgekit.records import content_hash
from judgekit.runs.model import Bill

__all__ = ["JudgeSpec", "RateLimited", "Reply", "Request", "Transient", "may_ask_again"]

may_ask_again: ContextVar[Callable[[], bool] | None] = ContextVar("may_ask_again", default=None)
"""Set around `send` by who holds the budget; asked before every re-ask, which is left out where it says no."""


@dataclass(frozen=True, slots=True)
class JudgeSpec:
    """A judge: a model plus the sampling parameters that the command line or the caller asked for.

    `sampling` holds only what was asked beyond the rubric's own defaults. `endpoint` names the provider's address in
    keys (``--endpoint NAME`` keeps it when a server moves); by default it is the provider and `api_base`.
    """

    model: str
    sampling: dict[str, Any] = field(default_factory=dict)
    api_base: str | None = None
    endpoint: str | None = None

    @property
    def notation(self) -> str:
        """Key, equality and print-out at once: ``openai/gpt-5-mini`` or ``openai/gpt-5-mini(temperature=0.7)``."""
        if not self.sampling:
            return self.model
        return f"{self.model}({','.join(f'{key}={self.sampling[key]}' for key in sorted(self.sampling))})"


@dataclass(frozen=True)
class Request:
    """One question to a model, as it will be sent. Equal keys are the same call and are never asked twice."""

    messages: list[dict[str, str]]
    schema: dict[str, Any] | None  # in the provider's dialect, as sent
    model: str
    sampling: dict[str, Any]  # requested: the rubric's defaults under the judge's own
    endpoint: str
    sample: int = 0
    judged: tuple[str, ...] = ()  # texts of the record: an object that stands in one of them is no verdict
    open_choices: frozenset[str] = (
        frozenset()
    )  # properties whose labels the record gives: they stand in no system message

    @cached_property
    def key(self) -> str:
        """sha256 over everything that is sent, from `messages` to `sample`; computed once, so nothing of it may change afterwards."""
        return content_hash(
            {
                "messages": self.messages,
                "schema": self.schema,
                "model": self.model,
                "sampling": self.sampling,
                "endpoint": self.endpoint,
                "sample": self.sample,
            }
        )


@dataclass(slots=True)
class Reply:
    """What came of one request after its bounded re-asks (see `runs.model.CallRow` for the fields)."""

    status: str  # ok, invalid, refused, truncated, filtered, error
    text: str | None = None
    verdict: dict[str, Any] | None = None
    reason: str | None = None
    flags: list[str] = field(default_factory=list)
    attempts: list[dict[str, Any]] = field(default_factory=list)
    effective: dict[str, Any] = field(default_factory=dict)
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    latency_s: float | None = None

    @property
    def bill(self) -> Bill:
        """What it was billed, as far as it is known."""
        return Bill.of(self.cost, self.effective, True)


class RateLimited(Exception):
    """The provider said 429: the scheduler waits `retry_after` seconds (None: it chooses) and lowers its concurrency.

    `partial` holds what was asked and paid in this call before, if anything; sending the same request again goes on there.
    """

    def __init__(self, retry_after: float | None = None, partial: Reply | None = None) -> None:
        super().__init__("rate limited")
        self.retry_after = retry_after
        self.partial = partial


class Transient(Exception):
    """A failure that may pass (5xx, a broken connection, a timeout): the scheduler tries again, a bounded number of times.

    `partial` and `retry_after` as in RateLimited (a 503 may say how long to wait). `sent` is False where nothing can have
    reached the provider; all else may have been billed, though no bill came.
    """

    def __init__(
        self, reason: str, retry_after: float | None = None, partial: Reply | None = None, *, sent: bool = True
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.sent = sent
        self.retry_after = retry_after
        self.partial = partial
