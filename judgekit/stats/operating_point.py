"""The operating point of a triage: which answers a clinician must still read to catch a share of the incomplete ones.

Thresholds are observed raw scores and inclusive: an answer is read when its score is <= the threshold (>= it where
higher is worse). Counts are whole numbers and recall targets exact decimals, so 9 of 10 reaches 0.9.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from judgekit.stats.binomial import clopper_pearson
from judgekit.stats.interval import Bools, Floats, Interval, as_classes, as_codes, exact_share

__all__ = [
    "Baselines",
    "Curve",
    "Optimism",
    "Point",
    "Transport",
    "baselines",
    "fill_unscored",
    "loco_recall",
    "operating_point",
    "optimism",
    "point_at",
    "transport",
    "triage_curve",
    "with_unscored",
]


@dataclass(frozen=True, slots=True)
class Point:
    """One threshold and what it does to `n` records; every figure is None, with `reason`, where nothing defines it.

    `flagged`, `caught`, `false_alarms` and `missed` are counts, or sums of weights when records were weighted. `workload` =
    flagged / n; `wss` = recall - workload (work saved over sampling); `unread_risk` = share of incomplete answers among those
    not read, with its Clopper-Pearson interval (None when weighted, or when all are read).
    """

    threshold: float | None
    n: float
    n_incomplete: float
    flagged: float | None = None
    caught: float | None = None
    false_alarms: float | None = None
    missed: float | None = None
    recall: float | None = None
    workload: float | None = None
    precision: float | None = None
    false_alarms_per_catch: float | None = None
    specificity: float | None = None
    wss: float | None = None
    unread_risk: float | None = None
    unread_risk_interval: Interval | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """Counts at every distinct score, from the strictest threshold to reading everything; arrays of shape (n_thresholds,).

    Element i flags ``score <= threshold[i]`` (``>=`` where higher is worse, thresholds then descend).
    """

    threshold: Floats
    caught: Floats
    false_alarms: Floats
    n_incomplete: float
    n_complete: float


@dataclass(frozen=True, slots=True)
class Baselines:
    """Workloads that need no judge: reading everything, a perfect judge, a random order. None without an incomplete answer."""

    everything: float | None
    perfect: float | None
    random: float | None


@dataclass(frozen=True, slots=True)
class Optimism:
    """What the k-th of m untied incomplete scores promises: expected true recall, and the chance that it is under target."""

    needed: int
    expected_recall: float | None
    chance_under_target: float | None


@dataclass(frozen=True, slots=True)
class Transport:
    """An operating point carried to another prevalence; assumes the same mix of severities."""

    prevalence: float
    workload: float
    precision: float | None


def triage_curve(incomplete: Any, score: Any, *, weight: Any = None, higher_is_worse: bool = False) -> Curve:
    """Caught and falsely flagged answers at each distinct observed score.

    Parameters
    ----------
    incomplete, score : shape (n,), as for `auc`.
    weight : shape (n,), positive, or None for counts.
    """
    label, value = as_classes(incomplete, score, higher_is_worse=higher_is_worse)
    return _curve(label, value, _weights(weight, value), higher_is_worse)


def operating_point(
    incomplete: Any,
    score: Any,
    recall: str | float | Fraction = "0.9",
    *,
    weight: Any = None,
    higher_is_worse: bool = False,
) -> Point:
    """The strictest observed threshold whose recall is at least `recall`.

    Parameters
    ----------
    incomplete, score : shape (n,), as for `auc`; infinite scores are allowed (see `fill_unscored`).
    recall : target in (0, 1], read as an exact decimal and compared in whole numbers.
    weight : shape (n,), positive: the inverse of a record's probability to be labelled. None counts records.

    Undefined (all None) without an incomplete answer. With one class `specificity` is None.
    """
    target = exact_share(recall)
    label, value = as_classes(incomplete, score, higher_is_worse=higher_is_worse)
    weights = _weights(weight, value)
    curve = _curve(label, value, weights, higher_is_worse)
    if curve.n_incomplete == 0:
        reason = "no incomplete answer" if value.size else "no record is both scored and labelled"
        return Point(None, _plain(value.size if weights is None else weights.sum()), 0, reason=reason)
    if weights is None:
        enough = curve.caught * target.denominator >= target.numerator * curve.n_incomplete
    else:
        enough = curve.caught >= float(target) * curve.n_incomplete * (1 - 1e-12)
    return _point(curve, int(np.argmax(enough)), weights is not None)


def point_at(
    incomplete: Any, score: Any, threshold: float, *, weight: Any = None, higher_is_worse: bool = False
) -> Point:
    """What a threshold that was set beforehand does; inclusive, and it need not be an observed score."""
    label, value = as_classes(incomplete, score, higher_is_worse=higher_is_worse)
    weights = _weights(weight, value)
    curve = _curve(label, value, weights, higher_is_worse)
    limits = -curve.threshold if higher_is_worse else curve.threshold
    index = int(np.searchsorted(limits, -threshold if higher_is_worse else threshold, side="right")) - 1
    return _point(curve, index, weights is not None, threshold=float(threshold))


def with_unscored(
    point: Point, unscored_incomplete: float, unscored_complete: float
) -> tuple[float | None, float | None]:
    """(recall_all, workload_all): the same threshold, with every unscored answer read by the clinician; counts, or sums of weights."""
    if point.caught is None or point.flagged is None:
        return None, None
    extra = unscored_incomplete + unscored_complete
    positives = point.n_incomplete + unscored_incomplete
    recall = None if positives == 0 else (point.caught + unscored_incomplete) / positives
    return recall, (point.flagged + extra) / (point.n + extra)


def fill_unscored(score: Any, first: bool, *, higher_is_worse: bool = False) -> Floats:
    """Scores with NaN replaced by an infinity: read before all others (`first`), or only when everything is read."""
    value = np.array(score, dtype=np.float64)
    value[np.isnan(value)] = -np.inf if first != higher_is_worse else np.inf
    return value


def baselines(n: int, n_incomplete: int, recall: str | float | Fraction = "0.9") -> Baselines:
    """Workloads beside which a judge's must stand, with k = ceil(recall * P): 1, k / N and k (N + 1) / ((P + 1) N).

    25 records with 10 incomplete at 0.9: 1, .36, .851. The last is the expected depth of the k-th incomplete answer in a
    random order (the mean of a negative hypergeometric variable).
    """
    if n_incomplete <= 0:
        return Baselines(1.0 if n else None, None, None)
    k = _ceil(exact_share(recall) * n_incomplete)
    return Baselines(1.0, k / n, k * (n + 1) / ((n_incomplete + 1) * n))


def optimism(n_incomplete: int, recall: str | float | Fraction = "0.9") -> Optimism:
    """How much a threshold flatters itself on the records that chose it, when no scores tie: k / (m + 1).

    m = 10 at .9: expected .818, and under .9 with probability .736 (the true recall of the k-th smallest of m scores has
    a Beta(k, m + 1 - k) distribution).
    """
    from scipy.special import betainc

    target = exact_share(recall)
    k = _ceil(target * n_incomplete)
    if n_incomplete <= 0:
        return Optimism(0, None, None)
    return Optimism(k, k / (n_incomplete + 1), float(betainc(k, n_incomplete + 1 - k, float(target))))


def loco_recall(
    incomplete: Any,
    score: Any,
    recall: str | float | Fraction = "0.9",
    *,
    clusters: Any = None,
    higher_is_worse: bool = False,
) -> float | None:
    """Leave-one-cluster-out recall: each cluster is judged by the threshold that the other clusters choose.

    Parameters
    ----------
    clusters : shape (n,) or None, where every record stands alone.

    None when no incomplete answer exists, or all of them lie in one cluster. Costs O(P log P) for P incomplete answers.
    """
    target = exact_share(recall)
    label, value = as_classes(incomplete, score, higher_is_worse=higher_is_worse)
    codes = as_codes(clusters, label.size)
    bad = np.sort(value[label])
    positives = bad.size
    if positives == 0:
        return None
    owner = np.arange(label.size)[label] if codes is None else codes[label]
    order = np.argsort(value[label], kind="stable")
    owner = owner[order]
    caught = 0
    for ranks in _groups(owner):
        rest = positives - len(ranks)
        if rest == 0:
            return None
        place = _ceil(target * rest)  # 1-based rank among the others, turned into a rank among all
        for rank in ranks:
            if rank + 1 <= place:
                place += 1
        caught += int((bad[ranks] <= bad[place - 1]).sum())
    return caught / positives


def transport(point: Point, prevalence: float) -> Transport | None:
    """Workload and precision at another share of incomplete answers, in [0, 1]; None where recall or specificity is.

    workload(pi') = pi' TPR + (1 - pi') FPR. It assumes that the incomplete answers there are as severe as here.
    """
    if not 0 <= prevalence <= 1:
        raise ValueError(f"a prevalence lies in [0, 1], not {prevalence}")
    if point.recall is None or point.specificity is None:
        return None
    caught = prevalence * point.recall
    workload = caught + (1 - prevalence) * (1 - point.specificity)
    return Transport(prevalence, workload, caught / workload if workload > 0 else None)


def _curve(label: Bools, value: Floats, weights: Floats | None, higher_is_worse: bool) -> Curve:
    levels, index = np.unique(value, return_inverse=True)
    index = index.reshape(-1)
    size = levels.size
    sums = [
        np.cumsum(np.bincount(index[k], weights=None if weights is None else weights[k], minlength=size)).astype(float)
        for k in (label, ~label)
    ]
    totals = [float(part[-1]) if size else 0.0 for part in sums]
    return Curve((-levels if higher_is_worse else levels) + 0.0, sums[0], sums[1], totals[0], totals[1])


def _point(curve: Curve, index: int, weighted: bool, threshold: float | None = None) -> Point:
    positives, negatives = curve.n_incomplete, curve.n_complete
    caught = float(curve.caught[index]) if index >= 0 else 0.0
    alarms = float(curve.false_alarms[index]) if index >= 0 else 0.0
    n, flagged, missed = positives + negatives, caught + alarms, positives - caught
    recall = caught / positives if positives > 0 else None
    workload = flagged / n if n > 0 else None
    unread = n - flagged
    if unread <= 0 or weighted:
        risk = missed / unread if unread > 1e-9 else None
        interval = None
    else:
        risk, interval = missed / unread, clopper_pearson(round(missed), round(unread))
    return Point(
        threshold=float(curve.threshold[index]) if threshold is None else threshold,
        n=_plain(n, weighted),
        n_incomplete=_plain(positives, weighted),
        flagged=_plain(flagged, weighted),
        caught=_plain(caught, weighted),
        false_alarms=_plain(alarms, weighted),
        missed=_plain(missed, weighted),
        recall=recall,
        workload=workload,
        precision=caught / flagged if flagged > 0 else None,
        false_alarms_per_catch=alarms / caught if caught > 0 else None,
        specificity=(negatives - alarms) / negatives if negatives > 0 else None,
        wss=None if recall is None or workload is None else _difference(caught, positives, flagged, n, weighted),
        unread_risk=risk,
        unread_risk_interval=interval,
    )


def _difference(a: float, b: float, c: float, d: float, weighted: bool) -> float:
    """a / b - c / d, exact in whole numbers before the one rounding."""
    return a / b - c / d if weighted else float(Fraction(int(a), int(b)) - Fraction(int(c), int(d)))


def _plain(value: float, weighted: bool = False) -> float:
    return float(value) if weighted else round(value)


def _weights(weight: Any, value: Floats) -> Floats | None:
    if weight is None:
        return None
    weights = np.asarray(weight, dtype=np.float64)
    if weights.shape != value.shape or not (np.isfinite(weights).all() and (weights > 0).all()):
        raise ValueError("weights must be finite, above 0, and one a record")
    return weights


def _groups(owner: Any) -> list[Any]:
    """Ascending positions of each owner."""
    order = np.argsort(owner, kind="stable")
    cuts = np.flatnonzero(np.diff(owner[order])) + 1
    return list(np.split(order, cuts))


def _ceil(share: Fraction) -> int:
    return -(-share.numerator // share.denominator)
