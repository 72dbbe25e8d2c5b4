"""Resampling whole clusters, for statistics that are functions of sums over units.

Most agreement statistics need only a table of counts. Counts of a resample are a weighted sum of the clusters' counts, so a
replicate re-reads no rating: it is one row of a matrix product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Estimate", "additive", "cluster_codes", "cluster_sums", "percentile"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

UNDEFINED_SHARE = 0.05
"""With more undefined replicates than this the percentiles would describe a selected part of the resamples."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval; `value` is None with a `reason` where undefined.

    `n` counts what the value rests on (units, pairs, records), `clusters` the independent groups behind them. `low` and `high`
    are None when no interval was asked for, or with `interval_reason` when there is none. `undefined` counts replicates whose
    statistic did not exist.
    """

    value: float | None
    n: int = 0
    clusters: int | None = None
    low: float | None = None
    high: float | None = None
    se: float | None = None
    level: float = 0.95
    replicates: int = 0
    undefined: int = 0
    reason: str | None = None
    interval_reason: str | None = None


def cluster_codes(clusters: Any, n: int) -> Ints:
    """Codes 0..G-1, shape (n,). None makes every unit its own cluster. Raises ValueError on another length."""
    if clusters is None:
        return np.arange(n, dtype=np.int64)
    names = [str(name) for name in clusters]
    if len(names) != n:
        raise ValueError(f"clusters must have one entry a unit: {len(names)} for {n} units")
    seen: dict[str, int] = {}
    return np.asarray([seen.setdefault(name, len(seen)) for name in names], dtype=np.int64).reshape(n)


def cluster_sums(stats: Floats, codes: Ints) -> Floats:
    """Sum `stats`, shape (n, ...), within clusters: shape (G, ...)."""
    groups = int(codes.max()) + 1 if codes.size else 0
    sums = np.zeros((groups, *stats.shape[1:]), dtype=np.float64)
    np.add.at(sums, codes, stats)
    return sums


def percentile(values: Floats, level: float) -> tuple[float, float]:
    """Both ends of the central `level` of finite `values`."""
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return float(low), float(high)


def additive(
    sums: Floats,
    function: Callable[[Floats], Floats],
    *,
    n: int,
    replicates: int = 2000,
    seed: int = 0,
    level: float = 0.95,
    reason: str = "undefined for these data",
) -> Estimate:
    """Estimate `function` of the total of `sums`, with a percentile bootstrap interval over clusters.

    Parameters
    ----------
    sums : shape (G, ...), one entry a cluster (`cluster_sums`).
    function : takes totals of shape (B, ...) and gives (B,); NaN where undefined.
    n : what the value rests on, carried into the result.
    replicates : 0 for no interval.
    reason : why the value is None, when it is.

    Returns
    -------
    Estimate. `value` is None where `function` is NaN on the data themselves. No interval with fewer than two clusters, or when more
    than 5 % of the replicates are undefined.
    """
    groups = sums.shape[0]
    if groups == 0:
        return Estimate(None, n=0, clusters=0, level=level, reason="there are no data")
    flat = sums.reshape(groups, -1)
    with np.errstate(all="ignore"):
        value = float(function(sums.sum(axis=0)[None, ...])[0])
    if not np.isfinite(value):
        return Estimate(None, n=n, clusters=groups, level=level, reason=reason)
    value += 0.0
    if replicates <= 0:
        return Estimate(value, n=n, clusters=groups, level=level)
    if groups < 2:
        return Estimate(value, n=n, clusters=groups, level=level, interval_reason="one cluster has no spread")
    # Clusters with equal sums are interchangeable: drawing how often each kind comes is the same resampling, with fewer columns.
    kinds, times = np.unique(flat, axis=0, return_counts=True)
    rng = np.random.default_rng(seed)
    drawn = np.empty(replicates)
    step = max(1, 4_000_000 // max(len(kinds), flat.shape[1]))
    share = times / groups
    for start in range(0, replicates, step):
        size = min(step, replicates - start)
        weights = rng.multinomial(groups, share, size=size).astype(np.float64)
        with np.errstate(all="ignore"):
            drawn[start : start + size] = function((weights @ kinds).reshape(size, *sums.shape[1:]))
    fine = drawn[np.isfinite(drawn)]
    undefined = replicates - fine.size
    head = {"n": n, "clusters": groups, "level": level, "replicates": replicates, "undefined": undefined}
    if undefined > UNDEFINED_SHARE * replicates:
        why = f"undefined in {undefined} of {replicates} resamples"
        return Estimate(value, **head, interval_reason=why)
    low, high = percentile(fine, level)
    if low == high:
        return Estimate(
            value, **head, interval_reason="every resample gives the same value, which says nothing of other data"
        )
    return Estimate(value, **head, low=low, high=high, se=float(fine.std(ddof=1)))
