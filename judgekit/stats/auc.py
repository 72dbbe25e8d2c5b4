"""The area under the ROC curve, its variance for independent and for clustered records, and paired differences.

AUC = P(score of an incomplete answer < score of a complete one) + half the ties. It is never flipped: below .5 the
scores point the wrong way, and the number says so. Everything costs O(n log n).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from judgekit.stats.binomial import clopper_pearson
from judgekit.stats.interval import Bools, Floats, Interval, Ints, as_classes, as_codes, normal_quantile, t_quantile

__all__ = [
    "Auc",
    "AucDifference",
    "Headline",
    "auc",
    "auc_bounds",
    "auc_headline",
    "auc_interval",
    "paired_auc",
    "weighted_auc",
]


@dataclass(frozen=True, slots=True)
class Auc:
    """`value` and the same as an exact fraction; both None, with a reason, when a class is empty."""

    value: float | None
    exact: Fraction | None
    n_incomplete: int
    n_complete: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class _Parts:
    """Sufficient statistics of the variance: placements per record, in the records' order."""

    label: Bools
    placement: Floats  # incomplete: share of complete ones above; complete: share of incomplete ones below
    value: float
    m: int
    n: int


@dataclass(frozen=True, slots=True)
class AucDifference:
    """AUC of the first minus AUC of the second, over the same records; `p` is two-sided.

    `se`, `low`, `high` and `p` are None, with a reason, without variance or with fewer than two records in a class.
    """

    difference: float | None
    first: float | None
    second: float | None
    n: int
    se: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    df: int | None = None
    reason: str | None = None


def _doubled(ours: Floats, others: Floats, *, above: bool) -> Ints:
    """For each of `ours`: twice the number of `others` strictly above (or below) plus the number of ties."""
    ordered = np.sort(others)
    left = np.searchsorted(ordered, ours, side="left").astype(np.int64)
    right = np.searchsorted(ordered, ours, side="right").astype(np.int64)
    return 2 * ordered.size - left - right if above else left + right


def auc(incomplete: Any, score: Any, *, higher_is_worse: bool = False) -> Auc:
    """Area under the ROC curve of `score` for finding the incomplete answers, ties half.

    Parameters
    ----------
    incomplete : shape (n,), booleans or 0 and 1, 1 = incomplete.
    score : shape (n,), no NaN; lower means more incomplete unless `higher_is_worse`.

    Equals ``sklearn.metrics.roc_auc_score(incomplete, -score)``. None when a class is empty.
    """
    label, value = as_classes(incomplete, score, higher_is_worse=higher_is_worse)
    m, n = int(label.sum()), int((~label).sum())
    if m == 0 or n == 0:
        return Auc(None, None, m, n, _one_class(m, n))
    wins = int(_doubled(value[label], value[~label], above=True).sum())
    exact = Fraction(wins, 2 * m * n)
    return Auc(float(exact), exact, m, n)


def weighted_auc(incomplete: Any, score: Any, weight: Any, *, higher_is_worse: bool = False) -> float | None:
    """AUC with a positive weight a record, such as the inverse of its probability to be labelled; None for one class.

    Parameters
    ----------
    weight : shape (n,), finite and > 0.
    """
    label, value = as_classes(incomplete, score, higher_is_worse=higher_is_worse)
    weights = np.asarray(weight, dtype=np.float64)
    if weights.shape != value.shape or not (np.isfinite(weights).all() and (weights > 0).all()):
        raise ValueError("weights must be finite, above 0, and one a record")
    if not label.any() or label.all():
        return None
    order = np.argsort(value[~label], kind="stable")
    ordered, total = value[~label][order], np.concatenate([[0.0], np.cumsum(weights[~label][order])])
    left = total[np.searchsorted(ordered, value[label], side="left")]
    right = total[np.searchsorted(ordered, value[label], side="right")]
    wins = float((weights[label] * (total[-1] - (left + right) / 2)).sum())
    return wins / float(weights[label].sum() * total[-1])


def auc_interval(
    incomplete: Any,
    score: Any,
    *,
    clusters: Any = None,
    logit: bool = False,
    clip: bool = True,
    higher_is_worse: bool = False,
    level: float = 0.95,
) -> Interval:
    """DeLong's interval, or Obuchowski's when records come in clusters.

    Parameters
    ----------
    clusters : shape (n,) or None; what counts as one unit (the question). With every cluster of size 1 this is DeLong's.
    logit : build the interval on the logit of the AUC and map it back; never leaves (0, 1).
    clip : cut the plain interval at 0 and 1.

    None, with a reason: a class is empty or has one record; clustered with fewer than two clusters in a class; `logit`
    where the AUC is 0 or 1 or the variance is 0. With a variance of 0 the plain interval is the estimate itself.
    Normal quantiles without clusters, t with G - 1 degrees of freedom for G clusters.

    Source: DeLong, DeLong and Clarke-Pearson, Biometrics 44 (1988); Obuchowski, Biometrics 53 (1997), section 2; logit: Pepe
    (2003), section 5.2.
    """
    label, value = as_classes(incomplete, score, higher_is_worse=higher_is_worse)
    codes = _real_clusters(clusters, label.size)
    name = ("logit " if logit else "") + ("DeLong" if codes is None else "Obuchowski")
    parts, reason = _parts(label, value)
    if parts is None:
        return Interval(None, None, name, level, reason=reason)
    variance, reason = _covariance(parts, parts, codes)
    if variance is None:
        return Interval(None, None, name, level, reason=reason)
    se = float(np.sqrt(max(variance, 0.0)))
    z = _quantile(codes, level)
    if not logit:
        low, high = parts.value - z * se, parts.value + z * se
        if clip:
            low, high = max(0.0, low), min(1.0, high)
        return Interval(low, high, name, level, se, None if se > 0 else "zero variance: the interval says nothing")
    if se == 0 or not 0 < parts.value < 1:
        return Interval(None, None, name, level, se, "no logit interval: the AUC is 0 or 1, or its variance is 0")
    centre = np.log(parts.value / (1 - parts.value))
    half = z * se / (parts.value * (1 - parts.value))
    return Interval(_expit(centre - half), _expit(centre + half), name, level, se)


@dataclass(frozen=True, slots=True)
class Headline:
    """The interval to print beside an AUC, with the number of disjoint pairs where Clopper-Pearson gave it."""

    interval: Interval
    pairs: int | None = None


def auc_headline(
    incomplete: Any, score: Any, *, clusters: Any = None, higher_is_worse: bool = False, level: float = 0.95
) -> Headline:
    """The interval for the reader: logit DeLong (Obuchowski's variance with clusters); Clopper-Pearson at an AUC of 0 or 1.

    At 0 or 1 the logit does not exist; the records are then cut into min(m, n) disjoint pairs of one incomplete and one
    complete answer (with clusters: pairs of two different clusters), all of them won or all lost. 5 against 5, all
    won: .478 to 1. None where `auc_interval` is None.
    """
    label, value = as_classes(incomplete, score, higher_is_worse=higher_is_worse)
    found = auc(label, value)
    if found.value is not None and found.exact in (0, 1):
        codes = _real_clusters(clusters, label.size)
        pairs = min(found.n_incomplete, found.n_complete)
        if codes is not None:
            bad, good = len(set(codes[label].tolist())), len(set(codes[~label].tolist()))
            pairs = min(bad, good, len(set(codes.tolist())) // 2)
        interval = clopper_pearson(pairs * int(found.exact), pairs, level)
        return Headline(interval, pairs)
    return Headline(auc_interval(label, value, clusters=clusters, logit=True, level=level))


def paired_auc(
    incomplete: Any,
    first: Any,
    second: Any,
    *,
    clusters: Any = None,
    higher_is_worse: bool = False,
    level: float = 0.95,
) -> AucDifference:
    """Compare two scores over the same records: DeLong's paired test, with Obuchowski's covariance for clusters.

    Parameters
    ----------
    first, second : shape (n,), both without NaN: restrict both to the common records beforehand.

    `p` and the interval are None without variance: two scores that rank alike have no test, not p = 0 or 1.
    """
    label, one = as_classes(incomplete, first, higher_is_worse=higher_is_worse)
    _, two = as_classes(incomplete, second, higher_is_worse=higher_is_worse)
    a, b = auc(label, one), auc(label, two)
    if a.value is None or b.value is None or a.exact is None or b.exact is None:
        return AucDifference(None, a.value, b.value, label.size, reason=a.reason)
    difference = float(a.exact - b.exact)
    parts_a, reason = _parts(label, one)
    parts_b, _ = _parts(label, two)
    if parts_a is None or parts_b is None:
        return AucDifference(difference, a.value, b.value, label.size, reason=reason)
    codes = _real_clusters(clusters, label.size)
    delta = _Parts(label, parts_a.placement - parts_b.placement, difference, parts_a.m, parts_a.n)
    variance, reason = _covariance(delta, delta, codes)
    if variance is None:
        return AucDifference(difference, a.value, b.value, label.size, reason=reason)
    if variance <= 1e-24:
        reason = "zero variance: the two scores rank these records alike, or differ by a constant"
        return AucDifference(difference, a.value, b.value, label.size, se=0.0, reason=reason)
    from scipy.special import ndtr, stdtr

    se = float(np.sqrt(variance))
    z = _quantile(codes, level)
    df = None if codes is None else int(codes.max())
    tail = ndtr(-abs(difference) / se) if df is None else stdtr(df, -abs(difference) / se)
    return AucDifference(
        difference, a.value, b.value, label.size, se, difference - z * se, difference + z * se, float(2 * tail), df
    )


def auc_bounds(
    incomplete: Any, score: Any, unscored_incomplete: int, unscored_complete: int, *, higher_is_worse: bool = False
) -> tuple[float | None, float | None]:
    """Lowest and highest AUC that any scores of the unscored records could give; (None, None) for one class.

    Parameters
    ----------
    unscored_incomplete, unscored_complete : how many labelled records of each class have no score.
    """
    label, value = as_classes(incomplete, score, higher_is_worse=higher_is_worse)
    label = np.concatenate([label, np.ones(unscored_incomplete, bool), np.zeros(unscored_complete, bool)])
    ends = []
    for sign in (1.0, -1.0):
        fill = [np.full(unscored_incomplete, sign * np.inf), np.full(unscored_complete, -sign * np.inf)]
        ends.append(auc(label, np.concatenate([value, *fill])).value)
    return ends[0], ends[1]


def _parts(label: Bools, value: Floats) -> tuple[_Parts | None, str | None]:
    m, n = int(label.sum()), int((~label).sum())
    if m == 0 or n == 0:
        return None, _one_class(m, n)
    placement = np.empty(label.size)
    placement[label] = _doubled(value[label], value[~label], above=True) / (2 * n)
    placement[~label] = _doubled(value[~label], value[label], above=False) / (2 * m)
    found = float(Fraction(int(_doubled(value[label], value[~label], above=True).sum()), 2 * m * n))
    return _Parts(label, placement, found, m, n), None


def _covariance(a: _Parts, b: _Parts, codes: Ints | None) -> tuple[float | None, str | None]:
    label, m, n = a.label, a.m, a.n
    if m < 2 or n < 2:
        return None, f"fewer than two records in a class ({m} incomplete, {n} complete)"
    left, right = a.placement - a.value, b.placement - b.value
    if codes is None:
        spread = [float((left[k] * right[k]).sum()) / (k.sum() - 1) / k.sum() for k in (label, ~label)]
        return spread[0] + spread[1], None
    size = int(codes.max()) + 1
    bad, good = (np.bincount(codes[k], minlength=size) > 0 for k in (label, ~label))
    g10, g01 = int(bad.sum()), int(good.sum())
    if g10 < 2 or g01 < 2:
        return None, f"fewer than two clusters in a class ({g10} with incomplete, {g01} with complete answers)"
    sums = {
        (side, kind): np.bincount(codes[k], weights=part[k], minlength=size)
        for side, part in (("a", left), ("b", right))
        for kind, k in (("bad", label), ("good", ~label))
    }
    s10 = g10 / (g10 - 1) / m * float((sums["a", "bad"] * sums["b", "bad"]).sum())
    s01 = g01 / (g01 - 1) / n * float((sums["a", "good"] * sums["b", "good"]).sum())
    cross = float((sums["a", "bad"] * sums["b", "good"] + sums["a", "good"] * sums["b", "bad"]).sum())
    return s10 / m + s01 / n + size / (size - 1) * cross / (m * n), None


def _real_clusters(clusters: Any, n: int) -> Ints | None:
    """Codes, or None where every record is its own cluster and DeLong's variance is the clustered one."""
    codes = as_codes(clusters, n)
    return None if codes is None or codes.size == 0 or int(codes.max()) + 1 == n else codes


def _quantile(codes: Ints | None, level: float) -> float:
    p = (1 + level) / 2
    return normal_quantile(p) if codes is None else t_quantile(p, int(codes.max()))


def _expit(x: float) -> float:
    from scipy.special import expit

    return float(expit(x))


def _one_class(m: int, n: int) -> str:
    if m + n == 0:
        return "no record is both scored and labelled"
    return "single class: no incomplete answer" if m == 0 else "single class: no complete answer"
