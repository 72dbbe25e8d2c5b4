"""The human ceiling: how well a clinician agrees with the other clinicians, and the judge with those same others.

A left-out clinician and the judge are compared with the same other raters on the same units. Never with a majority that contains
the clinician: a rater who tosses a coin agrees with such a majority of three 75 % of the time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judgekit.stats.agreement import MISSING, balanced_f1_of, kappa_of, percent_of
from judgekit.stats.bootstrap import Estimate, Floats, additive, cluster_codes, cluster_sums

__all__ = ["STATISTICS", "Ceiling", "human_ceiling"]

STATISTICS: dict[str, Callable[[Floats], Floats]] = {
    "percent": percent_of,
    "kappa": kappa_of,
    "kappa_linear": lambda total: kappa_of(total, "linear"),
    "kappa_quadratic": lambda total: kappa_of(total, "quadratic"),
    "balanced_f1": balanced_f1_of,
}


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Judge and left-out clinician against the same other raters.

    `left_out` is a column of the ratings, or None for all clinicians pooled, each left out in turn. `units` counts units where the
    judge, the left-out clinician and at least one other spoke; `comparisons` the pairs on them. `difference` is judge - human,
    resampled in pairs.
    """

    left_out: int | None
    statistic: str
    units: int
    comparisons: int
    human: Estimate
    judge: Estimate
    difference: Estimate


def human_ceiling(
    ratings: Any,
    judge: Any,
    *,
    n_levels: int,
    statistic: str = "kappa",
    clusters: Any = None,
    each: bool = True,
    **boot: Any,
) -> list[Ceiling]:
    """Compare a judge with the human ceiling; the pooled row comes first, then one row a clinician.

    Parameters
    ----------
    ratings : shape (n, R), clinicians' codes 0..n_levels-1, -1 missing.
    judge : shape (n,), the judge's codes on the same levels, -1 missing.
    statistic : one of `STATISTICS`; ``balanced_f1`` needs two levels.
    clusters : shape (n,), resampled whole.
    each : also one row for every clinician with a comparison.
    boot : `replicates`, `seed`, `level`.

    Returns
    -------
    list of Ceiling. Its estimates are None, with a reason, when fewer than two clinicians rated any unit.
    """
    if statistic not in STATISTICS:
        raise ValueError(f"the statistic is one of {', '.join(STATISTICS)}, not {statistic!r}")
    if statistic == "balanced_f1" and n_levels != 2:
        raise ValueError("balanced F1 needs two levels")
    codes, machine = np.asarray(ratings, dtype=np.int64), np.asarray(judge, dtype=np.int64)
    if codes.ndim != 2 or machine.shape != (len(codes),):
        raise ValueError(f"ratings must be (n, R) and the judge (n,), not {codes.shape} and {machine.shape}")
    groups = cluster_codes(clusters, len(codes))
    rows = [_row(None, _pooled(codes, machine, n_levels), groups, statistic, boot)]
    for rater in range(codes.shape[1]) if each else ():
        tables = _tables(codes, machine, rater, n_levels)
        if tables.any():
            rows.append(_row(rater, tables, groups, statistic, boot))
    return rows


def _pooled(codes: npt.NDArray[np.int64], judge: npt.NDArray[np.int64], k: int) -> Floats:
    """The sum of `_tables` over all raters, from how often each level was said: quick for hundreds of raters."""
    out = np.zeros((len(codes), 2, k, k))
    counts = np.stack([(codes == level).sum(axis=1) for level in range(k)], axis=1).astype(np.float64)
    out[:, 0] = np.einsum("ui,uj->uij", counts, counts)
    diagonal = np.arange(k)
    out[:, 0, diagonal, diagonal] -= counts
    units = np.flatnonzero(judge != MISSING)
    out[units, 1, judge[units]] = counts[units] * (counts[units].sum(axis=1, keepdims=True) - 1)
    out[judge == MISSING] = 0
    return out


def _tables(codes: npt.NDArray[np.int64], judge: npt.NDArray[np.int64], rater: int, k: int) -> Floats:
    """Each unit's two tables against the other raters, shape (n, 2, k, k): the left-out clinician's and the judge's."""
    out = np.zeros((len(codes), 2, k, k))
    mine = codes[:, rater]
    for other in range(codes.shape[1]):
        if other == rater:
            continue
        units = np.flatnonzero((mine != MISSING) & (judge != MISSING) & (codes[:, other] != MISSING))
        out[units, 0, mine[units], codes[units, other]] += 1  # units do not repeat, so plain addition counts all
        out[units, 1, judge[units], codes[units, other]] += 1
    return out


def _row(
    left_out: int | None, stats: Floats, groups: npt.NDArray[np.int64], statistic: str, boot: dict[str, Any]
) -> Ceiling:
    keep = stats.any(axis=(1, 2, 3))
    units, comparisons = int(keep.sum()), round(float(stats[:, 0].sum()))
    if not units:
        nothing = Estimate(None, reason="no unit was rated by the judge and two clinicians")
        return Ceiling(left_out, statistic, 0, 0, nothing, nothing, nothing)
    inner = np.unique(groups[keep], return_inverse=True)[1].astype(np.int64).reshape(-1)
    sums = cluster_sums(stats[keep], inner)
    of = STATISTICS[statistic]
    why = "one class or level only, so that the statistic does not exist"
    human = additive(sums[:, 0], of, n=units, reason=why, **boot)
    judge = additive(sums[:, 1], of, n=units, reason=why, **boot)
    gap = additive(sums, lambda total: of(total[..., 1, :, :]) - of(total[..., 0, :, :]), n=units, reason=why, **boot)
    return Ceiling(left_out, statistic, units, comparisons, human, judge, gap)
