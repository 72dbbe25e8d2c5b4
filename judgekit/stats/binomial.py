"""Exact binomial bounds for counted shares."""

from __future__ import annotations

from fractions import Fraction

from judgekit.stats.interval import Interval

__all__ = ["at_least", "clopper_pearson", "upper_bound"]


def clopper_pearson(hits: int, trials: int, level: float = 0.95) -> Interval:
    """Two-sided Clopper-Pearson interval of a share; None when nothing was tried.

    Parameters
    ----------
    hits, trials : counts with 0 <= hits <= trials.
    level : coverage in (0, 1).

    Source: Clopper and Pearson, Biometrika 26 (1934). 1 of 11 gives .0023 to .4128.
    """
    from scipy.special import betaincinv

    _check(hits, trials)
    if trials == 0:
        return Interval(None, None, "Clopper-Pearson", level, reason="no trials")
    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, tail))
    high = 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 1 - tail))
    return Interval(low, high, "Clopper-Pearson", level)


def upper_bound(hits: int, trials: int, level: float = 0.95) -> float | None:
    """One-sided exact upper bound of a share; None when nothing was tried. 0 of 12 at .95: .2209."""
    from scipy.special import betaincinv

    _check(hits, trials)
    if trials == 0:
        return None
    return 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, level))


def at_least(k: int, trials: int, share: float | Fraction) -> float:
    """P(Bin(trials, share) >= k); 1 for k <= 0, 0 for k > trials."""
    from scipy.special import betainc

    if k <= 0:
        return 1.0
    if k > trials:
        return 0.0
    return float(betainc(k, trials - k + 1, float(share)))


def _check(hits: int, trials: int) -> None:
    if not 0 <= hits <= trials:
        raise ValueError(f"{hits} of {trials} is no share")
