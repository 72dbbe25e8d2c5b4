"""A threshold with a guarantee: recall at least r with confidence 1 - d, on answers that did not choose it.

The incomplete calibration answers are exchangeable units (one a question). Thresholds are walked from reading everything
towards stricter ones; the walk goes on while P(Bin(m, r) >= caught) <= d, and the last threshold that passes is certified.
Flags nest, so no correction for the many thresholds is needed (fixed-sequence testing); choosing among J judges needs d / J.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from judgekit.stats.binomial import at_least
from judgekit.stats.interval import exact_share

__all__ = ["Certificate", "certified_threshold", "needed_catches", "smallest_sample"]


@dataclass(frozen=True, slots=True)
class Certificate:
    """The certified threshold (inclusive), or None where only reading everything is certified, with the reason.

    `units` = m incomplete calibration answers, `needed` = k catches that suffice, `caught` = how many the threshold catches.
    """

    threshold: float | None
    units: int
    needed: int | None
    caught: int | None
    recall: float
    delta: float
    reason: str | None = None


def needed_catches(
    units: int, recall: str | float | Fraction = "0.9", delta: str | float | Fraction = "0.05"
) -> int | None:
    """k = min{k : P(Bin(units, recall) >= k) <= delta}; None when even catching all does not suffice. 100 units: 96."""
    target, risk = exact_share(recall), float(exact_share(delta, "delta"))
    if units <= 0 or at_least(units, units, target) > risk:
        return None
    low, high = 0, units
    while low + 1 < high:
        middle = (low + high) // 2
        if at_least(middle, units, target) <= risk:
            high = middle
        else:
            low = middle
    return high


def smallest_sample(
    recall: str | float | Fraction = "0.9", delta: str | float | Fraction = "0.05", misses: int = 0
) -> int | None:
    """Fewest incomplete units that certify `recall` with so many misses: 29, 46, 61, 76 for 0 to 3. None for recall 1."""
    target, risk = exact_share(recall), float(exact_share(delta, "delta"))
    if target == 1:
        return None
    units = misses + 1
    while at_least(units - misses, units, target) > risk:
        units += 1
    return units


def certified_threshold(
    score: Any,
    recall: str | float | Fraction = "0.9",
    delta: str | float | Fraction = "0.05",
    *,
    judges: int = 1,
    higher_is_worse: bool = False,
) -> Certificate:
    """Certify a threshold from the scores of incomplete calibration answers, one a question.

    Parameters
    ----------
    score : shape (m,); an unscored answer must come as the infinity that is read first, since the clinician reads it.
    recall : in (0, 1]. delta : risk that the true recall is lower, in (0, 1]; divided by `judges`.
    judges : how many judges or rubrics the result is chosen from, >= 1.
    """
    value = np.asarray(score, dtype=np.float64)
    if value.ndim != 1 or np.isnan(value).any():
        raise ValueError("scores of the calibration answers must be one array without NaN")
    if judges < 1:
        raise ValueError("judges counts the judges or rubrics chosen from: at least 1")
    target, risk = exact_share(recall), exact_share(delta, "delta") / judges
    k = needed_catches(value.size, target, risk)
    common: dict[str, Any] = {"recall": float(target), "delta": float(risk)}
    if k is None:
        need = smallest_sample(target, risk)
        least = f"at least {need} are needed" if need is not None else "no number certifies a recall of 1"
        why = f"cannot certify: {value.size} incomplete calibration answers, {least}; only reading everything is certified"
        return Certificate(None, value.size, None, None, **common, reason=why)
    ordered = np.sort(-value if higher_is_worse else value)
    limit = float(ordered[k - 1])
    if limit == np.inf:
        why = "cannot certify: the answers needed are never flagged; only reading everything is certified"
        return Certificate(None, value.size, k, None, **common, reason=why)
    if limit == -np.inf:  # unscored answers alone suffice: the walk ends at the strictest threshold that exists
        finite = ordered[np.isfinite(ordered)]
        if finite.size == 0:
            return Certificate(
                None, value.size, k, None, **common, reason="cannot certify: no calibration answer has a score"
            )
        limit = float(finite[0])
    caught = int((ordered <= limit).sum())
    return Certificate((-limit if higher_is_worse else limit) + 0.0, value.size, k, caught, **common)
