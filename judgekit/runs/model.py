"""What a run holds: judgements and the calls they came from.

A *call* is one request to a model (with its bounded re-asks). A *judgement* is the scored verdict of one record
under one rubric by one judge, one sample; it may rest on several calls (one a criterion) or on none (`rule`, `replay`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = [
    "SCORED",
    "SERVED",
    "STATUSES",
    "UNSCORED",
    "Bill",
    "CallRow",
    "Judgement",
    "Measured",
    "RubricRow",
    "Status",
]

Status = Literal["ok", "rule", "invalid", "refused", "truncated", "filtered", "error", "skipped"]

SCORED: tuple[str, ...] = ("ok", "rule")
UNSCORED: tuple[str, ...] = ("invalid", "refused", "truncated", "filtered", "error", "skipped")
STATUSES: tuple[str, ...] = SCORED + UNSCORED
SERVED: tuple[str, ...] = ("ok", "refused", "truncated", "filtered")
"""Statuses of calls that answer later runs; `error` and `invalid` are kept for the eye and asked again."""


@dataclass(frozen=True, slots=True)
class Bill:
    """US dollars that were billed: at least and at most so many. `at_most` None: there is a price that nobody knows.

    They differ where a request reached the provider and nothing usable came back, or a reply did not say what it used: that may
    have cost nothing, or all that was set aside for it.
    """

    at_least: float = 0.0
    at_most: float | None = 0.0

    @property
    def exact(self) -> float | None:
        """The figure where there is one, else None."""
        return self.at_least if self.at_least == self.at_most else None

    def __add__(self, other: Bill) -> Bill:
        most = None if self.at_most is None or other.at_most is None else self.at_most + other.at_most
        return Bill(self.at_least + other.at_least, most)

    def bounds(self, name: str) -> dict[str, float | None]:
        """``NAME_at_least`` and ``NAME_at_most``, where there is no one figure and something is known."""
        if self.exact is not None or (self.at_most is None and not self.at_least):
            return {}
        return {f"{name}_at_least": self.at_least, f"{name}_at_most": self.at_most}

    @classmethod
    def of(cls, cost: float | None, effective: Mapping[str, Any], answered: bool) -> Bill:
        """The bill of one call: its cost, else the bounds that it keeps under ``bill``, else unknown where anybody `answered`."""
        if cost is not None:
            return cls(cost, cost)
        bounds = effective.get("bill")
        return cls(0.0, None if answered else 0.0) if bounds is None else cls(*bounds)

    def __str__(self) -> str:
        if self.at_most is None:
            return f"at least {_dollars(self.at_least)}" if self.at_least else "cost unknown"
        if self.exact is not None:
            return _dollars(self.at_least)
        return f"at least {_dollars(self.at_least)}, at most {_dollars(self.at_most)}"


def _dollars(value: float) -> str:
    return f"${value:.4f}" if value < 10 else f"${value:,.2f}"


@dataclass(frozen=True, slots=True)
class CallRow:
    """One stored request.

    `key` is the content address: messages, schema as sent, model, requested sampling, endpoint, sample number.
    Calls with a status in `SERVED` answer later runs; others are kept for the eye only. `attempts` holds each try in order:
    ``{"text", "problem", "finish_reason", "usage"}``. Costs are US dollars; None is
    unknown, never 0; what is known of such a cost stands in ``effective["bill"]`` (see `Bill`).
    """

    key: str
    model: str
    endpoint: str
    sample: int
    status: str
    request: dict[str, Any]  # {"messages", "schema", "mode", "sampling"}
    text: str | None = None  # the last raw reply, character for character
    verdict: dict[str, Any] | None = None
    reason: str | None = None
    flags: list[str] = field(default_factory=list)
    attempts: list[dict[str, Any]] = field(default_factory=list)
    effective: dict[str, Any] = field(default_factory=dict)  # parameters really sent, and which were dropped
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    latency_s: float | None = None
    created: str | None = None  # ISO 8601, UTC

    @property
    def bill(self) -> Bill:
        """What the call was billed, as far as it is known."""
        answered = self.tokens_in is not None or self.text is not None or self.latency_s is not None
        return Bill.of(self.cost, self.effective, answered)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The scored verdict of one record under one rubric by one judge, one sample.

    `raw` is on the rubric's own scale, `score` in [0, 1] for scales (docs/rubrics.md), both None when the status is
    unscored or the rubric has no score. `complete` is the rubric's fixed-threshold verdict, None without `complete_when`.
    `criteria` holds what was asked: ``[{"id", "text", "points", "kind"}]``. `flags` are notes such as ``over_long:explanation``.
    """

    dataset: str
    record_id: str
    rubric: str
    judge: str
    sample: int
    ask: str
    score_fp: str
    status: str
    reason: str | None = None
    raw: float | None = None
    score: float | None = None
    complete: bool | None = None
    verdict: dict[str, Any] | None = None
    criteria: list[dict[str, Any]] | None = None
    flags: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    record_hash: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    latency_s: float | None = None
    created: str | None = None

    @property
    def scored(self) -> bool:
        return self.status in SCORED


@dataclass(frozen=True, slots=True)
class RubricRow:
    """One version of a rubric that a run has used: what decided its questions and its numbers.

    `resolved` is the whole file after ``extends`` and includes. `scale` maps each scale field to its levels.
    """

    name: str
    ask: str
    score_fp: str
    version: str | None = None
    title: str | None = None
    construct: str | None = None
    complete_when: str | None = None
    scale: dict[str, Any] | None = None
    path: str | None = None
    resolved: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Measured:
    """One metric's value for one record, or None with the reason; `signature` holds all that decides the number."""

    dataset: str
    record_id: str
    metric: str
    signature: str
    value: float | None
    reason: str | None = None
    details: dict[str, Any] | None = None
    record_hash: str | None = None
