"""The nouns of every analysis: an answer with its labels, and what judges said of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judgekit.records import Label

__all__ = ["Answer", "Judged", "Said"]


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: what is known of it, and who said what about it. `row` is its first row in a table."""

    dataset: str
    id: str
    cluster: str | None
    labels: tuple[Label, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    criteria: Sequence[Mapping[str, Any]] = ()
    hash: str | None = None
    key: str | None = None
    row: int | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """What one judge said of one answer: its scored samples joined by their exact mean.

    `complete` is the rubric's rule applied to that mean; where there is no rule, what most samples said, None where they tie. `why` is the
    reason why there is no `raw`; both None where the rubric gives no score. `value` is a word that is no score.
    """

    raw: float | None = None
    score: float | None = None
    complete: bool | None = None
    why: str | None = None
    samples: int = 1
    unscored: int = 0
    rule: bool = False
    asked: tuple[str, ...] = ()
    tuned: int = 0
    off_scale: int = 0
    met: Mapping[str, float] = field(default_factory=dict)
    value: Any = None
    tied: bool = False


@dataclass(frozen=True)
class Judged:
    """What one judge (or metric, column, panel) said of the answers of one data set under one rubric."""

    dataset: str
    rubric: str | None
    judge: str | None
    said: dict[str, Said]
    fingerprint: str | None = None
    construct: str = "completeness"
    complete_when: str | None = None
    members: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return " · ".join(part for part in (self.rubric, self.judge) if part)
