"""What an operating point costs and risks: net benefit, and the severity of what it misses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgekit.stats.binomial import upper_bound
from judgekit.stats.operating_point import Point

__all__ = ["Missed", "NetBenefit", "SeverityMisses", "net_benefit", "severity_misses"]


@dataclass(frozen=True, slots=True)
class NetBenefit:
    """Net benefit per record at an exchange rate: how many needless reads one catch is worth.

    `judge` for the operating point, `everything` for reading all; reading nothing is 0. None without records or a point.
    """

    reads_per_catch: float
    judge: float | None
    everything: float | None


@dataclass(frozen=True, slots=True)
class Missed:
    """How many incomplete answers of one severity the threshold misses; `upper` is a one-sided exact bound on that share."""

    severity: str
    n: int
    missed: int
    share: float | None
    upper: float | None
    weight: float


@dataclass(frozen=True, slots=True)
class SeverityMisses:
    """Misses by severity, and the weighted share missed with its bound (a union bound over the severities); None without weight."""

    by_severity: tuple[Missed, ...]
    weighted: float | None
    weighted_upper: float | None
    level: float


def net_benefit(point: Point, reads_per_catch: float) -> NetBenefit:
    """(caught - false alarms / x) / n, when one catch is worth x needless reads.

    Parameters
    ----------
    reads_per_catch : x > 0; the threshold probability is 1 / (1 + x), so 9 needless reads a catch is .10.

    Source: Vickers and Elkin, Medical Decision Making 26 (2006).
    """
    if not reads_per_catch > 0:
        raise ValueError("reads_per_catch must be above 0")
    if point.caught is None or point.false_alarms is None or point.n == 0:
        return NetBenefit(reads_per_catch, None, None)
    complete = point.n - point.n_incomplete
    return NetBenefit(
        reads_per_catch,
        (point.caught - point.false_alarms / reads_per_catch) / point.n,
        (point.n_incomplete - complete / reads_per_catch) / point.n,
    )


def severity_misses(
    severity: Sequence[str], missed: Any, weights: Mapping[str, float], level: float = 0.95
) -> SeverityMisses:
    """Count misses by severity, each with a one-sided upper bound; 0 missed of 12 severe ones: at most .2209.

    Parameters
    ----------
    severity : of each incomplete answer, shape (m,). missed : booleans, shape (m,).
    weights : how much a miss of each severity counts, in [0, 1]; their order is the order of the result.
    level : of each bound; for the weighted share the risk is split over the severities that occur.

    Answers are taken as independent; with several answers a question the bounds are too tight.
    """
    lost = np.asarray(missed, dtype=bool)
    if lost.shape != (len(severity),):
        raise ValueError("one entry of missed for each severity")
    unknown = sorted(set(severity) - set(weights))
    if unknown:
        raise ValueError(f"no weight for the severity {unknown[0]!r}")
    names = np.array(severity, dtype=object)
    rows, total, weighted, bound = [], 0.0, 0.0, 0.0
    there = [name for name in weights if name in set(severity)]
    split = 1 - (1 - level) / max(1, len(there))
    for name in there:
        n, k = int((names == name).sum()), int(lost[names == name].sum())
        rows.append(Missed(name, n, k, k / n, upper_bound(k, n, level), weights[name]))
        total += weights[name] * n
        weighted += weights[name] * k
        bound += weights[name] * n * (upper_bound(k, n, split) or 0.0)
    if total == 0:
        return SeverityMisses(tuple(rows), None, None, level)
    return SeverityMisses(tuple(rows), weighted / total, bound / total, level)
