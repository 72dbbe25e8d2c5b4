"""Agreement of raters: percent, Cohen over the declared levels, balanced F1, Fleiss, and Krippendorff's alpha.

Ratings are codes 0..k-1 of the *declared* levels, in order; -1 is missing. `encode` makes them. A level that nobody used still
counts in the distance between levels: over observed levels only, a weighted kappa changes when one answer is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from judgekit.stats.bootstrap import Estimate, Floats, Ints, additive, cluster_codes, cluster_sums

__all__ = [
    "MISSING",
    "Weights",
    "alpha_of",
    "balanced_f1",
    "balanced_f1_of",
    "cohen_kappa",
    "coincidences",
    "confusions",
    "encode",
    "fleiss_kappa",
    "kappa_of",
    "krippendorff_alpha",
    "percent_agreement",
    "percent_of",
]

MISSING = -1
Weights = Literal["linear", "quadratic"] | None
Metric = Literal["nominal", "ordinal", "interval"]


def encode(values: Sequence[Any], levels: Sequence[Any]) -> Ints:
    """Codes of `values`, shape (n,), by their place in `levels`; None is missing (-1).

    Raises ValueError, naming the value and its place (from 0), for one that is not among the levels.
    """
    place = {level: code for code, level in enumerate(levels)}
    if len(place) != len(levels):
        raise ValueError("a level is declared twice")
    codes = np.full(len(values), MISSING, dtype=np.int64)
    for index, value in enumerate(values):
        if value is not None:
            if value not in place:
                raise ValueError(f"entry {index} is {value!r}, which is not among the levels {list(levels)}")
            codes[index] = place[value]
    return codes


def confusions(a: Any, b: Any, n_levels: int, clusters: Any = None) -> Floats:
    """Tables of `a` by `b`, one a cluster: shape (G, k, k). Units that either rater left out are left out."""
    first, second, n = _pair(a, b, n_levels)
    codes = cluster_codes(clusters, n)
    both = (first >= 0) & (second >= 0)
    if not both.any():
        return np.zeros((0, n_levels, n_levels))
    inner = np.unique(codes[both], return_inverse=True)[1].reshape(-1)
    tables = np.zeros((int(inner.max()) + 1, n_levels, n_levels))
    np.add.at(tables, (inner, first[both], second[both]), 1.0)
    return tables


def percent_of(tables: Floats) -> Floats:
    """Share on the diagonal, for tables (..., k, k); NaN where a table is empty."""
    return np.asarray(np.trace(tables, axis1=-2, axis2=-1) / tables.sum(axis=(-2, -1)))


def kappa_of(tables: Floats, weights: Weights = None) -> Floats:
    """Cohen's kappa of tables (..., k, k): 1 - observed / expected disagreement; NaN without expected disagreement."""
    k = tables.shape[-1]
    steps = np.abs(np.subtract.outer(np.arange(k), np.arange(k))).astype(np.float64)
    cost = (steps > 0).astype(np.float64) if weights is None else steps if weights == "linear" else steps**2
    total = tables.sum(axis=(-2, -1))
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    observed = (tables * cost).sum(axis=(-2, -1))
    expected = np.einsum("...i,...j,ij->...", rows, columns, cost) / total
    return np.asarray(np.where(expected > 1e-12, 1 - observed / expected, np.nan))


def balanced_f1_of(tables: Floats) -> Floats:
    """Mean of the two classes' F1, for tables (..., 2, 2); NaN where a class never occurs."""
    off = tables[..., 0, 1] + tables[..., 1, 0]
    zero, one = (2 * tables[..., i, i] / (2 * tables[..., i, i] + off) for i in (0, 1))
    return np.asarray((zero + one) / 2)


def percent_agreement(a: Any, b: Any, *, n_levels: int, clusters: Any = None, **boot: Any) -> Estimate:
    """Share of units on which two raters say the same. None when they share no unit."""
    return _of_tables(confusions(a, b, n_levels, clusters), percent_of, "undefined", boot)


def cohen_kappa(
    a: Any, b: Any, *, n_levels: int, weights: Weights = None, clusters: Any = None, **boot: Any
) -> Estimate:
    """Cohen's kappa of two raters over the declared levels.

    Parameters
    ----------
    a, b : shape (n,), codes 0..n_levels-1, -1 missing.
    weights : None, ``linear`` (|i - j|) or ``quadratic`` ((i - j)^2) disagreement between levels i and j.
    clusters : shape (n,), resampled whole; None: every unit on its own.
    boot : `replicates` (default 2000; 0: no interval), `seed`, `level`.

    Returns
    -------
    Estimate; None when both raters only ever used one and the same level, so that no disagreement is expected.

    Source: Cohen 1960; Cohen 1968 for the weights.
    """
    tables = confusions(a, b, n_levels, clusters)
    why = "no expected disagreement: both raters used one and the same level"
    return _of_tables(tables, lambda total: kappa_of(total, weights), why, boot)


def balanced_f1(a: Any, b: Any, *, clusters: Any = None, **boot: Any) -> Estimate:
    """Mean of the F1 of both classes of a yes/no rating; symmetric in its raters. None where a class never occurs."""
    tables = confusions(a, b, 2, clusters)
    return _of_tables(tables, balanced_f1_of, "one of the two classes never occurs", boot)


def fleiss_kappa(ratings: Any, *, n_levels: int, clusters: Any = None, **boot: Any) -> Estimate:
    """Fleiss' kappa of units that were each rated equally often, not necessarily by the same people.

    `ratings`, shape (n, R), codes with -1 missing. Units with fewer than two ratings say nothing and are left out of `n`. None when
    units have unequal numbers of ratings (use alpha), or when only one level was ever used. Source: Fleiss 1971.
    """
    counts = _counts(ratings, n_levels)
    size = counts.sum(axis=1)
    keep = size >= 2
    if not keep.any():
        return Estimate(None, reason="no unit has two ratings")
    sizes = np.unique(size[keep])
    if sizes.size > 1:
        why = f"units have {int(sizes[0])} to {int(sizes[-1])} ratings, and Fleiss needs equal numbers: use alpha"
        return Estimate(None, n=int(keep.sum()), reason=why)
    m = float(sizes[0])
    same = (counts**2 - counts).sum(axis=1) / (m * (m - 1))
    stats = np.concatenate([same[:, None], np.ones((len(counts), 1)), counts], axis=1)[keep]

    def function(total: Floats) -> Floats:
        units = total[..., 1]
        observed = total[..., 0] / units
        expected = ((total[..., 2:] / (units[..., None] * m)) ** 2).sum(axis=-1)
        return np.asarray(np.where(expected < 1 - 1e-12, (observed - expected) / (1 - expected), np.nan))

    codes = _kept_codes(clusters, keep)
    why = "no expected disagreement: only one level was used"
    return additive(cluster_sums(stats, codes), function, n=int(keep.sum()), reason=why, **boot)


def coincidences(ratings: Any, n_levels: int) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Krippendorff's coincidences of each unit, shape (n, k, k), and which units have two ratings or more."""
    counts = _counts(ratings, n_levels)
    size = counts.sum(axis=1)
    pairs = np.einsum("ui,uj->uij", counts, counts)
    diagonal = np.arange(counts.shape[1])
    pairs[:, diagonal, diagonal] -= counts
    keep = size >= 2
    pairs[keep] /= (size[keep] - 1)[:, None, None]
    pairs[~keep] = 0
    return pairs, keep


def alpha_of(total: Floats, metric: Metric, values: Floats | None = None) -> Floats:
    """Alpha of coincidence tables (..., k, k); NaN without expected disagreement. `values`, shape (k,), for ``interval``."""
    k = total.shape[-1]
    margin = total.sum(axis=-1)
    n = margin.sum(axis=-1)
    if metric == "nominal":
        delta = np.broadcast_to(1 - np.eye(k), total.shape)
    elif metric == "interval":
        numbers = np.arange(k, dtype=np.float64) if values is None else np.asarray(values, dtype=np.float64)
        delta = np.broadcast_to(np.subtract.outer(numbers, numbers) ** 2, total.shape)
    elif metric == "ordinal":
        # Ratings between two levels, counting half of the two levels themselves: middles of the cumulated margins.
        middle = np.cumsum(margin, axis=-1) - margin / 2
        delta = (middle[..., :, None] - middle[..., None, :]) ** 2
    else:
        raise ValueError(f"the metric is nominal, ordinal or interval, not {metric!r}")
    observed = (total * delta).sum(axis=(-2, -1))
    expected = (margin[..., :, None] * margin[..., None, :] * delta).sum(axis=(-2, -1))
    return np.asarray(np.where(expected > 1e-12, 1 - (n - 1) * observed / expected, np.nan))


def krippendorff_alpha(
    ratings: Any, *, n_levels: int, metric: Metric = "nominal", values: Any = None, clusters: Any = None, **boot: Any
) -> Estimate:
    """Krippendorff's alpha for any number of raters, with missing ratings.

    Parameters
    ----------
    ratings : shape (n, R), codes 0..n_levels-1, -1 missing. A missing rating is no category; a unit with one rating says nothing.
    metric : ``nominal``; ``ordinal`` (levels in their declared order, distance by how often levels between are used);
        ``interval`` (squared difference of `values`, shape (k,); by default the codes themselves).
    clusters, boot : as for `cohen_kappa`.

    Returns
    -------
    Estimate, `n` = units with two ratings or more. None without any, or when only one level was used: then no disagreement is
    expected and alpha does not exist (it is not 1).

    Source: Krippendorff, Computing Krippendorff's Alpha-Reliability (2011).
    """
    stats, keep = coincidences(ratings, n_levels)
    if not keep.any():
        return Estimate(None, reason="no unit has two ratings")
    numbers = None if values is None else np.asarray(values, dtype=np.float64)
    if numbers is not None and numbers.shape != (n_levels,):
        raise ValueError(f"values must have one number a level: {numbers.shape} for {n_levels} levels")
    sums = cluster_sums(stats[keep], _kept_codes(clusters, keep))
    why = "no expected disagreement: only one level was used"
    return additive(sums, lambda total: alpha_of(total, metric, numbers), n=int(keep.sum()), reason=why, **boot)


def _of_tables(tables: Floats, function: Callable[[Floats], Floats], why: str, boot: dict[str, Any]) -> Estimate:
    if not tables.size:
        return Estimate(None, reason="the raters share no unit")
    return additive(tables, function, n=round(tables.sum()), reason=why, **boot)


def _pair(a: Any, b: Any, n_levels: int) -> tuple[Ints, Ints, int]:
    first, second = np.asarray(a), np.asarray(b)
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(f"ratings must be two arrays of one length, not {first.shape} and {second.shape}")
    for codes in (first, second):
        _check(codes, n_levels)
    return first.astype(np.int64), second.astype(np.int64), len(first)


def _check(codes: npt.NDArray[Any], n_levels: int) -> None:
    if codes.size and (not np.issubdtype(codes.dtype, np.integer) or codes.min() < -1 or codes.max() >= n_levels):
        raise ValueError(f"ratings must be codes 0..{n_levels - 1}, or -1 for missing: see encode")


def _counts(ratings: Any, n_levels: int) -> Floats:
    codes = np.asarray(ratings)
    if codes.ndim != 2:
        raise ValueError(f"ratings must have one row a unit and one column a rater, not shape {codes.shape}")
    _check(codes, n_levels)
    counts = np.zeros((len(codes), n_levels))
    rows, columns = np.nonzero(codes >= 0)
    np.add.at(counts, (rows, codes[rows, columns]), 1.0)
    return counts


def _kept_codes(clusters: Any, keep: npt.NDArray[np.bool_]) -> Ints:
    codes = cluster_codes(clusters, len(keep))[keep]
    return np.unique(codes, return_inverse=True)[1].astype(np.int64).reshape(-1)
