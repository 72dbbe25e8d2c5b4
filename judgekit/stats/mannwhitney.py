"""Mann-Whitney's test, exact under ties where the arrangements can be counted."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from judgekit.stats.interval import as_classes

__all__ = ["EXACT_UP_TO", "LEAST_P", "MannWhitney", "mann_whitney"]

EXACT_UP_TO = 200_000
LEAST_P = sys.float_info.min  # 2.2e-308: below it a float loses digits and then is 0, which no p value is


@dataclass(frozen=True, slots=True)
class MannWhitney:
    """`u` counts pairs where the incomplete answer scores higher (ties half); `p` is two-sided, None with a reason.

    `p` is never 0: where it is too small for a float it is LEAST_P, an upper bound, and `reason` says so.
    """

    u: float | None
    p: float | None
    method: str | None = None
    reason: str | None = None


def mann_whitney(incomplete: Any, score: Any, *, exact_up_to: int = EXACT_UP_TO) -> MannWhitney:
    """Do incomplete and complete answers score alike? Two-sided.

    Parameters
    ----------
    incomplete, score : shape (n,), as for `auc`; independent records only. The direction of the score does not matter.
    exact_up_to : enumerate all arrangements of the midranks when there are at most so many, on |R - mean|, otherwise
        the normal approximation with tie correction and continuity correction.

    None for one class. All scores equal: p = 1.

    Source: Mann and Whitney (1947); midrank permutation as in Lehmann, Nonparametrics (1975), section 1.4.
    """
    from scipy.special import ndtr

    label, value = as_classes(incomplete, score)
    m, n = int(label.sum()), int((~label).sum())
    if m == 0 or n == 0:
        return MannWhitney(None, None, reason="single class" if m + n else "no records")
    _, index, counts = np.unique(value, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    doubled = (2 * ends - counts + 1)[index.reshape(-1)]  # twice the midrank, a whole number
    u = (int(doubled[label].sum()) - m * (m + 1)) / 2
    total = m + n
    if comb(total, m) <= exact_up_to:
        few = label if m <= n else ~label
        size = int(few.sum())
        mean = size * (total + 1)
        seen = abs(int(doubled[few].sum()) - mean)
        sums = np.fromiter((sum(some) for some in combinations(doubled.tolist(), size)), np.int64, comb(total, size))
        return MannWhitney(u, float((np.abs(sums - mean) >= seen).mean()), "exact")
    spread = m * n / 12 * (total + 1 - float((counts.astype(float) ** 3 - counts).sum()) / (total * (total - 1)))
    if spread <= 0:
        return MannWhitney(u, 1.0, "asymptotic")
    z = (abs(u - m * n / 2) - 0.5) / np.sqrt(spread)
    p = min(1.0, float(2 * ndtr(-z)))
    if p < LEAST_P:
        return MannWhitney(u, LEAST_P, "asymptotic", f"smaller than a float can say: under {LEAST_P:.1e}")
    return MannWhitney(u, p, "asymptotic")
