"""Shares with an interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgekit.stats.bootstrap import cluster_codes, cluster_sums

__all__ = ["Proportion", "clustered_share", "unit_share", "wilson"]


@dataclass(frozen=True, slots=True)
class Proportion:
    """`count` of `n`; `value` None, with a reason, when `n` is 0. `low` and `high` by Wilson's score interval."""

    value: float | None
    count: int
    n: int
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    reason: str | None = None


def clustered_share(hits: Any, clusters: Any = None, level: float = 0.95) -> Proportion:
    """Share of true `hits`, shape (n,), with an interval that knows that records of a cluster resemble each other.

    Wilson's interval at the effective number of records: n divided by how much the variance between clusters exceeds that of
    independent records (never more than n). With no hit or only hits there is no variance to see, and the number of clusters stands in. With
    every record a cluster of its own it is `wilson`.
    """
    said = np.asarray(hits, dtype=np.float64)
    n, count = said.size, int(said.sum())
    codes = cluster_codes(clusters, n)
    groups = int(codes.max()) + 1 if n else 0
    if groups == n:
        return wilson(count, n, level)
    share = count / n
    if groups < 2:
        return Proportion(share, count, n, level=level, reason="one cluster has no spread")
    sums = cluster_sums(np.stack([said, np.ones(n)], axis=1), codes)
    variance = groups / (groups - 1) * float(((sums[:, 0] - share * sums[:, 1]) ** 2).sum()) / n**2
    effective = float(groups) if count in (0, n) else min(float(n), share * (1 - share) / variance if variance else n)
    low, high = _wilson(share, effective, level)
    return Proportion(share, count, n, low, high, level)


def unit_share(means: Any, level: float = 0.95) -> Any:
    """Mean share over independent units, shape (n,) of values in [0, 1], with an interval that stays there.

    Units of 0 and 1 alone: `wilson`. Else Wilson's interval at the effective number of units, m (1 - m) over the variance of the mean.
    Returns an object with `mean`, `n`, `sd`, `low`, `high`, `level`, `reason`, as `judgekit.stats.compare.mean_interval`.
    """
    from judgekit.stats.compare import MeanInterval

    values = np.asarray(means, dtype=np.float64)
    n = values.size
    if n == 0:
        return MeanInterval(None, 0, level=level, reason="nothing is scored")
    mean, sd = float(values.mean()), float(values.std(ddof=1)) if n > 1 else None
    if np.isin(values, (0.0, 1.0)).all():
        found = wilson(round(float(values.sum())), n, level)
        return MeanInterval(mean, n, sd, found.low, found.high, level)
    if not sd:
        return MeanInterval(mean, n, sd, level=level, reason="no variance: every unit has the same share")
    low, high = _wilson(mean, mean * (1 - mean) / (sd**2 / n), level)
    return MeanInterval(mean, n, sd, low, high, level)


def wilson(count: int, n: int, level: float = 0.95) -> Proportion:
    """Share of `count` in `n` independent units, 0 <= count <= n. Source: Wilson 1927, without continuity correction."""
    if not 0 <= count <= n:
        raise ValueError(f"a count lies in 0..n, not {count} of {n}")
    if n == 0:
        return Proportion(None, 0, 0, level=level, reason="nothing to count")
    low, high = _wilson(count / n, n, level)
    return Proportion(count / n, count, n, low, high, level)


def _wilson(share: float, n: float, level: float) -> tuple[float, float]:
    from scipy.special import ndtri

    z2 = float(ndtri(0.5 + level / 2)) ** 2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    return max(0.0, middle - half), min(1.0, middle + half)
