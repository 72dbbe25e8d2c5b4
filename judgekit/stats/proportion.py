"""Shares with an interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Proportion", "wilson"]


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


def wilson(count: int, n: int, level: float = 0.95) -> Proportion:
    """Share of `count` in `n` independent units, 0 <= count <= n. Source: Wilson 1927, without continuity correction."""
    if not 0 <= count <= n:
        raise ValueError(f"a count lies in 0..n, not {count} of {n}")
    if n == 0:
        return Proportion(None, 0, 0, level=level, reason="nothing to count")
    from scipy.special import ndtri

    z2 = float(ndtri(0.5 + level / 2)) ** 2
    share = count / n
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    return Proportion(share, count, n, max(0.0, middle - half), min(1.0, middle + half), level)
