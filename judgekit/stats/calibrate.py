"""Calibration of probabilities: reliability, Brier score, and the two usual maps from a score to a probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from judgekit.stats.binomial import clopper_pearson
from judgekit.stats.interval import Bools, Floats, as_classes

__all__ = ["Bin", "Isotonic", "Platt", "brier", "fit_isotonic", "fit_platt", "reliability"]


@dataclass(frozen=True, slots=True)
class Bin:
    """Records whose predicted probability lies in [low, high) (the last bin includes its end)."""

    low: float
    high: float
    n: int
    predicted: float
    observed: float
    observed_low: float | None
    observed_high: float | None


@dataclass(frozen=True, slots=True)
class Platt:
    """P(incomplete) = 1 / (1 + exp(-(intercept + slope * score)))."""

    slope: float
    intercept: float

    def __call__(self, score: Any) -> Floats:
        from scipy.special import expit

        found: Floats = expit(self.intercept + self.slope * np.asarray(score, dtype=np.float64))
        return found


@dataclass(frozen=True, slots=True)
class Isotonic:
    """A falling step function of the score, linear between the scores that it was learnt at and flat beyond them."""

    score: tuple[float, ...]
    probability: tuple[float, ...]

    def __call__(self, score: Any) -> Floats:
        found: Floats = np.interp(np.asarray(score, dtype=np.float64), self.score, self.probability)
        return found


def brier(incomplete: Any, probability: Any) -> float | None:
    """Mean squared distance between the predicted probability and what was (1 incomplete, 0 complete); None without records.

    Source: Brier, Monthly Weather Review 78 (1950).
    """
    label, value = _probabilities(incomplete, probability)
    return float(((value - label) ** 2).mean()) if label.size else None


def reliability(incomplete: Any, probability: Any, bins: int = 10) -> tuple[Bin, ...]:
    """The reliability curve: equal-width bins of the predicted probability against the share that was incomplete.

    Empty bins are left out. Intervals are Clopper-Pearson, for independent records.
    """
    label, value = _probabilities(incomplete, probability)
    edges = np.linspace(0, 1, bins + 1)
    where = np.minimum((value * bins).astype(int), bins - 1)
    found = []
    for index in range(bins):
        mine = where == index
        n = int(mine.sum())
        if n:
            hits = int(label[mine].sum())
            span = clopper_pearson(hits, n)
            found.append(
                Bin(
                    float(edges[index]),
                    float(edges[index + 1]),
                    n,
                    float(value[mine].mean()),
                    hits / n,
                    span.low,
                    span.high,
                )
            )
    return tuple(found)


def fit_platt(incomplete: Any, score: Any, *, higher_is_worse: bool = False) -> Platt | None:
    """Logistic regression on one score, with Platt's smoothed targets so that separated classes stay finite; None for one class.

    Source: Platt (1999), section 2.1; targets (P + 1) / (P + 2) and 1 / (N + 2).
    """
    label, value = as_classes(incomplete, score, higher_is_worse=higher_is_worse)
    m, n = int(label.sum()), int((~label).sum())
    if m == 0 or n == 0:
        return None
    target = np.where(label, (m + 1) / (m + 2), 1 / (n + 2))
    spread = float(value.std()) or 1.0
    scaled = (value - value.mean()) / spread
    weight = newton_logistic(scaled[:, None], target, 1e-9)
    slope = weight[1] / spread
    intercept = weight[0] - slope * float(value.mean())
    return Platt(float(-slope if higher_is_worse else slope), float(intercept))


def fit_isotonic(incomplete: Any, score: Any, *, higher_is_worse: bool = False) -> Isotonic | None:
    """Pool adjacent violators: the best map in which a worse score never has a lower probability; None for one class.

    Source: Zadrozny and Elkan, KDD 2002. Scores are pooled where they tie.
    """
    label, value = as_classes(incomplete, score, higher_is_worse=higher_is_worse)
    if not label.any() or label.all():
        return None
    levels, index = np.unique(value, return_inverse=True)
    counts = np.bincount(index.reshape(-1)).astype(float)
    shares = np.bincount(index.reshape(-1), weights=label.astype(float)) / counts
    blocks: list[list[float]] = []  # [sum, weight, number of levels], shares falling from left to right
    for share, count in zip(shares, counts, strict=True):
        blocks.append([share * count, count, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] < blocks[-1][0] / blocks[-1][1]:
            last = blocks.pop()
            blocks[-1] = [a + b for a, b in zip(blocks[-1], last, strict=True)]
    fitted = np.repeat([total / weight for total, weight, _ in blocks], [int(k) for _, _, k in blocks])
    if higher_is_worse:
        levels, fitted = -levels[::-1], fitted[::-1]
    return Isotonic(tuple(levels.tolist()), tuple(fitted.tolist()))


def newton_logistic(x: Floats, target: Any, ridge: float, *, steps: int = 50) -> Floats:
    """Logistic regression by Newton's method: intercept first (not penalised), then one weight a column of `x`.

    Parameters
    ----------
    x : shape (n, p). target : shape (n,), in [0, 1]. ridge : penalty ridge / 2 * |weights|^2, > 0.
    """
    from scipy.special import expit

    full = np.column_stack([np.ones(x.shape[0]), x])
    penalty = np.diag([0.0] + [ridge] * x.shape[1])
    goal = np.asarray(target, dtype=np.float64)
    share = float(np.clip(goal.mean(), 1e-6, 1 - 1e-6))
    weight = np.zeros(full.shape[1])
    weight[0] = np.log(share / (1 - share))

    def loss(w: Floats) -> float:
        z = full @ w
        return float((np.logaddexp(0, z) - goal * z).sum() + 0.5 * w @ penalty @ w)

    here = loss(weight)
    for _ in range(steps):
        p = expit(full @ weight)
        gradient = full.T @ (p - goal) + penalty @ weight
        hessian = (full * (p * (1 - p))[:, None]).T @ full + penalty + 1e-10 * np.eye(weight.size)
        step = np.linalg.solve(hessian, gradient)
        scale = 1.0
        while loss(weight - scale * step) > here + 1e-12 and scale > 1e-6:
            scale /= 2
        weight = weight - scale * step
        new = loss(weight)
        if abs(here - new) < 1e-12 * (1 + abs(new)):
            break
        here = new
    return weight


def _probabilities(incomplete: Any, probability: Any) -> tuple[Bools, Floats]:
    label, value = as_classes(incomplete, probability)
    if value.size and not ((value >= 0) & (value <= 1)).all():
        raise ValueError("probabilities must lie in [0, 1]")
    return label, value
