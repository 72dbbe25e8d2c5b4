"""Permutation tests of a mean difference: signs flipped by question, or units shuffled between two groups."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from judgekit.stats.bootstrap import Floats

__all__ = ["Permutation", "shuffle", "sign_flip"]


@dataclass(frozen=True, slots=True)
class Permutation:
    """A two-sided permutation test. `arrangements` were looked at; `exact` when these were all there are.

    `p` is None with a `reason` where there is nothing to permute.
    """

    p: float | None
    statistic: float | None
    n: int
    arrangements: int = 0
    exact: bool = False
    reason: str | None = None


def _as_extreme(values: Floats, observed: float) -> int:
    # The same sum in another order may differ in its last digits; a tie must count.
    slack = 1e-10 * max(abs(observed), float(np.abs(values).max(initial=0.0)))
    return int((np.abs(values) >= abs(observed) - slack).sum())


def sign_flip(differences: Any, *, replicates: int = 10_000, seed: int = 0) -> Permutation:
    """Test that paired differences are symmetric about 0, by flipping the sign of each.

    Parameters
    ----------
    differences : shape (n,), one a question (average repeated samples and answers of a question first); no NaN.
    replicates : B. All 2^n sign patterns are enumerated when 2^n <= B, else B are drawn and p = (b + 1) / (B + 1).

    Returns
    -------
    Permutation; None without differences, or when all are 0.

    Differences 1, 1, 1: 2 of 8 patterns are as extreme, p = .25, where a t test has no variance to work with.
    """
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or np.isnan(values).any():
        raise ValueError("differences must be one array without NaN")
    n = values.size
    if n == 0:
        return Permutation(None, None, 0, reason="there are no pairs")
    observed = float(values.mean())
    if not values.any():
        return Permutation(None, 0.0, n, reason="all differences are 0")
    scaled = values / n
    if n < 60 and 2**n <= replicates:
        count = _enumerated(scaled, observed)
        return Permutation(count / 2**n, observed, n, 2**n, exact=True)
    # Equal sizes flip alike: the sum of m signs is 2 Bin(m, 1/2) - m, so that coarse scores need one draw a size, not a question.
    sizes, times = np.unique(np.abs(scaled[scaled != 0]), return_counts=True)
    rng = np.random.default_rng(seed)
    count, step = 0, max(1, 2_000_000 // sizes.size)
    coarse = sizes.size <= n / 2
    for start in range(0, replicates, step):
        size = min(step, replicates - start)
        if coarse:
            flips = 2.0 * rng.binomial(times, 0.5, size=(size, sizes.size)) - times
            count += _as_extreme(flips @ sizes, observed)
        else:
            signs = rng.integers(0, 2, size=(size, n), dtype=np.int8)
            count += _as_extreme((2.0 * signs - 1.0) @ scaled, observed)
    return Permutation((count + 1) / (replicates + 1), observed, n, replicates)


def _enumerated(scaled: Floats, observed: float) -> int:
    n, count = scaled.size, 0
    bits = np.arange(n)
    for start in range(0, 2**n, 65_536):
        codes = np.arange(start, min(2**n, start + 65_536))
        signs = 1.0 - 2.0 * ((codes[:, None] >> bits) & 1)
        count += _as_extreme(signs @ scaled, observed)
    return count


def shuffle(x: Any, y: Any, *, replicates: int = 10_000, seed: int = 0) -> Permutation:
    """Test mean(x) - mean(y) by dealing the units anew to the two groups.

    `x`, shape (n,), and `y`, shape (m,), hold one value an independent unit. All C(n + m, n) deals are enumerated when they are at
    most `replicates`, else that many are drawn and p = (b + 1) / (B + 1). None when a group is empty or all values are equal.
    """
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if np.isnan(first).any() or np.isnan(second).any():
        raise ValueError("values must not be NaN")
    n, m = first.size, second.size
    if not n or not m:
        return Permutation(None, None, n + m, reason="a group is empty")
    observed = float(first.mean() - second.mean())
    pool = np.concatenate([first, second])
    if np.ptp(pool) == 0:
        return Permutation(None, observed, n + m, reason="all values are equal")
    total = pool.sum()

    def gaps(sums: Floats) -> Floats:
        return np.asarray(sums / n - (total - sums) / m)

    deals = comb(n + m, n)
    if deals <= replicates:
        picks = np.fromiter((i for deal in combinations(range(n + m), n) for i in deal), dtype=np.int64)
        count = _as_extreme(gaps(pool[picks.reshape(deals, n)].sum(axis=1)), observed)
        return Permutation(count / deals, observed, n + m, deals, exact=True)
    rng = np.random.default_rng(seed)
    count, step = 0, max(1, 1_000_000 // (n + m))
    for start in range(0, replicates, step):
        size = min(step, replicates - start)
        order = rng.permuted(np.broadcast_to(pool, (size, n + m)), axis=1)
        count += _as_extreme(gaps(order[:, :n].sum(axis=1)), observed)
    return Permutation((count + 1) / (replicates + 1), observed, n + m, replicates)
