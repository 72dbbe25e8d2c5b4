"""Pearson and Spearman with intervals by cluster; None where a side does not vary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from judgekit.stats.bootstrap import Floats, cluster_codes, percentile

__all__ = ["Correlation", "correlation"]


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation over pairs without a missing side. `p` only where every pair is a cluster of its own."""

    method: str
    value: float | None
    n: int
    clusters: int = 0
    low: float | None = None
    high: float | None = None
    p: float | None = None
    level: float = 0.95
    reason: str | None = None


def correlation(
    x: Any, y: Any, *, method: str = "pearson", clusters: Any = None, replicates: int = 1000, seed: int = 0,
    level: float = 0.95,
) -> Correlation:  # fmt: skip
    """Correlate `x` and `y`, shape (n,), NaN where missing.

    Parameters
    ----------
    method : ``pearson``, or ``spearman`` (Pearson of midranks; ranked anew in every resample).
    clusters : shape (n,), resampled whole for the percentile interval; None: every pair on its own.
    replicates : 0 for no interval.

    Returns
    -------
    Correlation; None with fewer than three pairs or where a side is constant. `p` is the two-sided t test, given only when pairs are
    independent and do not lie on one line.
    """
    if method not in ("pearson", "spearman"):
        raise ValueError(f"the method is pearson or spearman, not {method!r}")
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(f"x and y must be two arrays of one length, not {first.shape} and {second.shape}")
    keep = np.isfinite(first) & np.isfinite(second)
    codes = cluster_codes(clusters, first.size)[keep]
    first, second = first[keep], second[keep]
    n = first.size
    groups = np.unique(codes)

    def found(value: float | None, **rest: Any) -> Correlation:
        return Correlation(method, value, n, int(groups.size), level=level, **rest)

    if n < 3:
        return found(None, reason="fewer than three pairs")
    value = _of(first, second, method)
    if value is None:
        return found(None, reason="one side does not vary")
    p = _p(value, n) if groups.size == n else None
    if replicates <= 0 or groups.size < 3:
        return found(value, p=p)
    rng = np.random.default_rng(seed)
    order = np.argsort(codes, kind="stable")
    _, starts, sizes = np.unique(codes[order], return_index=True, return_counts=True)
    drawn = []
    for _ in range(replicates):
        picks = rng.integers(0, groups.size, groups.size)
        each = sizes[picks]
        rows = order[np.repeat(starts[picks] - np.cumsum(each) + each, each) + np.arange(each.sum())]
        again = _of(first[rows], second[rows], method)
        if again is not None:
            drawn.append(again)
    if len(drawn) < 0.95 * replicates:
        return found(value, p=p)
    low, high = percentile(np.asarray(drawn), level)
    return found(value, low=low, high=high, p=p)


def _of(x: Floats, y: Floats, method: str) -> float | None:
    if method == "spearman":
        from scipy.stats import rankdata

        x, y = rankdata(x), rankdata(y)
    a, b = x - x.mean(), y - y.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    floor = 1e-12 * max(1e-12, float(np.abs(x).max() * np.abs(y).max()) * x.size)
    return float(np.clip((a @ b) / size, -1, 1)) if size > floor else None


def _p(r: float, n: int) -> float | None:
    from scipy.special import stdtr

    if abs(r) >= 1 - 1e-12:
        return None  # nothing is left to test with
    t = abs(r) * np.sqrt((n - 2) / (1 - r * r))
    return float(2 * stdtr(n - 2, -t))
