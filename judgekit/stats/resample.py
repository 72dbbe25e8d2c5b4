"""Resampling by cluster: whole questions are drawn, never single answers of one; every source of chance is passed in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from judgekit.stats.interval import Interval, as_codes

__all__ = ["cluster_bootstrap", "cluster_draw", "cluster_folds", "percentile_interval"]

Ints = npt.NDArray[np.int64]


def cluster_draw(codes: Ints, rng: np.random.Generator) -> Ints:
    """Row numbers of one bootstrap sample: as many clusters as there are, drawn with replacement, each with all its rows.

    Parameters
    ----------
    codes : shape (n,), whole numbers from 0.
    """
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    drawn = rng.integers(0, sizes.size, sizes.size)
    lengths = sizes[drawn]
    offsets = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    rows: Ints = order[np.repeat(starts[drawn], lengths) + offsets]
    return rows


def cluster_bootstrap(
    statistic: Callable[[Ints], tuple[float | None, ...]],
    clusters: Any,
    n: int,
    rng: np.random.Generator,
    *,
    repeats: int = 1000,
) -> list[list[float]]:
    """Values of each figure that `statistic` gives over bootstrap samples; undefined ones are left out, so lengths may differ.

    Parameters
    ----------
    statistic : takes row numbers (with repetitions) and gives one or more figures, None where undefined.
    clusters : shape (n,), or None where every row stands alone.
    repeats : number of samples, >= 1.
    """
    codes = as_codes(clusters, n)
    codes = np.arange(n, dtype=np.int64) if codes is None else codes
    found: list[list[float]] = []
    for _ in range(repeats):
        for place, value in enumerate(statistic(cluster_draw(codes, rng))):
            while len(found) <= place:
                found.append([])
            if value is not None:
                found[place].append(float(value))
    return found


def percentile_interval(values: list[float], level: float = 0.95, *, asked: int | None = None) -> Interval:
    """Percentile interval of bootstrap values; None when fewer than 90 % of the `asked` samples define the figure."""
    if not values or (asked is not None and len(values) < 0.9 * asked):
        return Interval(
            None, None, "bootstrap", level, reason=f"only {len(values)} of {asked} bootstrap samples define it"
        )
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return Interval(
        float(low), float(high), "bootstrap", level, float(np.std(values, ddof=1)) if len(values) > 1 else None
    )


def cluster_folds(label: Any, codes: Ints, folds: int, rng: np.random.Generator) -> Ints:
    """Fold of each row, shape (n,): a cluster lies in one fold, and clusters with incomplete answers are dealt out evenly.

    Parameters
    ----------
    label : shape (n,), booleans. codes : shape (n,), whole numbers from 0, as `as_codes` gives. folds : >= 2.
    """
    bad = np.bincount(codes, weights=np.asarray(label, dtype=float)) > 0
    place = np.empty(bad.size, dtype=np.int64)
    start = 0
    for kind in (True, False):
        mine = rng.permutation(np.flatnonzero(bad == kind))
        place[mine] = (np.arange(mine.size) + start) % folds
        start += mine.size
    return place[codes]
