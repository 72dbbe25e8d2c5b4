"""A screen: several scores of one answer combined into one, measured by cross-fitting over questions.

Every part is turned so that lower means more incomplete. With few records the parts are averaged as z-scores, which learns
no weights; otherwise a logistic regression with a fixed ridge is fitted. All preparation happens inside the folds.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from judgekit.stats.auc import auc
from judgekit.stats.calibrate import newton_logistic
from judgekit.stats.interval import Bools, Floats, Interval, Ints, as_codes, exact_share
from judgekit.stats.resample import cluster_bootstrap, cluster_folds, percentile_interval

__all__ = [
    "CrossFit",
    "ScreenModel",
    "ScreenResult",
    "choose_kind",
    "cross_fit",
    "fit_screen",
    "screen",
    "within_fold_auc",
]

RIDGE = 1.0
SMALL = 100
PER_COEFFICIENT = 10
KINDS = ("equal-weight z", "ridge logistic")


@dataclass(frozen=True, slots=True)
class ScreenModel:
    """What a screen applies: z = (part - centre) / spread; the mean z, or P(complete) = expit(intercept + weight . z)."""

    kind: str
    centre: tuple[float, ...]
    spread: tuple[float, ...]
    weight: tuple[float, ...]
    intercept: float = 0.0

    def __call__(self, parts: Any) -> Floats:
        """Score of each record, lower = more incomplete, NaN where a part is; `parts` has shape (n, p)."""
        from scipy.special import expit

        z = (np.asarray(parts, dtype=np.float64) - np.array(self.centre)) / np.array(self.spread)
        total: Floats = z @ np.array(self.weight) + self.intercept
        found: Floats = expit(total) if self.kind == KINDS[1] else total
        return found


@dataclass(frozen=True, slots=True)
class CrossFit:
    """Figures over held-out records. AUCs count pairs within a fold only; recall and workload use thresholds that the other folds
    chose. `best` is the single part that looked best in the other folds, chosen anew in each. None where undefined."""

    auc: float | None
    best: float | None
    difference: float | None
    parts: tuple[float | None, ...]
    recall: float | None
    workload: float | None
    part_recalls: tuple[float, ...]
    part_workloads: tuple[float, ...]
    chosen: tuple[int, ...]
    folds: int
    pairs: int


@dataclass(frozen=True, slots=True)
class ScreenResult:
    """A cross-fitted screen with bootstrap intervals of the whole procedure, by cluster.

    `beats_best` : the interval of the difference to the best single part lies above 0. `descriptive` : too few records for
    more than a description. `reason` : why nothing could be computed.
    """

    kind: str | None
    n: int
    n_incomplete: int
    fit: CrossFit | None
    auc_interval: Interval | None = None
    best_interval: Interval | None = None
    difference_interval: Interval | None = None
    recall_interval: Interval | None = None
    workload_interval: Interval | None = None
    part_intervals: tuple[Interval, ...] = ()
    part_workload_intervals: tuple[Interval, ...] = ()
    apparent: float | None = None
    beats_best: bool | None = None
    descriptive: bool = True
    repeats: int = 0
    reason: str | None = None


def choose_kind(label: Any, parts: int) -> tuple[str, str]:
    """Which combination the numbers allow, and why: a coefficient needs ten records of the smaller class, and 100 in all."""
    bad = int(np.asarray(label, dtype=bool).sum())
    n = int(np.asarray(label).size)
    small = min(bad, n - bad)
    if n < SMALL:
        return KINDS[0], f"{n} records, under {SMALL}: weights are not learnt, and the result is descriptive"
    if parts > small // PER_COEFFICIENT:
        return KINDS[0], f"{parts} parts need {PER_COEFFICIENT * parts} records in the smaller class, there are {small}"
    return KINDS[1], f"{parts} coefficients, {small} records in the smaller class, ridge {RIDGE:g}"


def fit_screen(label: Any, parts: Any, kind: str, *, ridge: float = RIDGE) -> ScreenModel:
    """Learn a screen's preparation (and weights); a part that does not vary gets spread 1 and so no say.

    Parameters
    ----------
    label : shape (n,), 1 = incomplete. parts : shape (n, p), complete, lower = more incomplete.
    """
    x = np.asarray(parts, dtype=np.float64)
    centre, spread = x.mean(axis=0), x.std(axis=0)
    spread = np.where(spread > 1e-12 * (1 + np.abs(centre)), spread, 1.0)
    width = int(x.shape[1])
    if kind == KINDS[0]:
        return ScreenModel(kind, tuple(centre.tolist()), tuple(spread.tolist()), (1 / width,) * width if width else ())
    complete = 1.0 - np.asarray(label, dtype=np.float64)
    weight = newton_logistic((x - centre) / spread, complete, ridge)
    return ScreenModel(
        kind, tuple(centre.tolist()), tuple(spread.tolist()), tuple(weight[1:].tolist()), float(weight[0])
    )


def within_fold_auc(label: Any, score: Any, fold: Any) -> tuple[float | None, int]:
    """(AUC, pairs) over pairs of an incomplete and a complete record of one fold; (None, 0) where no fold holds both.

    Scores of different folds come from different fits and are never compared: a model with an intercept only, left one out,
    ranks every incomplete record wrongly (AUC 0) when they are; here it gets .5.
    """
    labels, scores, folds = np.asarray(label, dtype=bool), np.asarray(score, dtype=np.float64), np.asarray(fold)
    wins, pairs = Fraction(0), 0
    for name in np.unique(folds):
        mine = folds == name
        found = auc(labels[mine], scores[mine])
        if found.exact is not None:
            wins += found.exact * found.n_incomplete * found.n_complete
            pairs += found.n_incomplete * found.n_complete
    return (float(wins / pairs), pairs) if pairs else (None, 0)


def cross_fit(
    label: Any,
    parts: Any,
    codes: Ints,
    kind: str,
    rng: np.random.Generator,
    *,
    folds: int = 5,
    recall: str | Fraction = "0.9",
) -> CrossFit | None:
    """Fit on the other folds, score the held-out one; None with fewer than two clusters that hold either class.

    Parameters
    ----------
    codes : shape (n,), whole numbers: the question. A question lies in one fold, also when a bootstrap sample repeats it.
    folds : at most; fewer when fewer clusters hold incomplete or complete answers.
    """
    y: Bools = np.asarray(label, dtype=bool)
    x = np.asarray(parts, dtype=np.float64)
    compact = np.unique(codes, return_inverse=True)[1].reshape(-1)
    k = min(folds, np.unique(compact[y]).size, np.unique(compact[~y]).size)
    if k < 2:
        return None
    fold = cluster_folds(y, compact, k, rng)
    share = exact_share(recall)
    held, best, read = np.empty(y.size), np.empty(y.size), np.ones(y.size, dtype=bool)
    alone = np.ones(x.shape, dtype=bool)
    chosen = []
    for name in range(k):
        test = fold == name
        train = ~test
        if not y[train].any() or y[train].all():
            held[test] = best[test] = 0.0
            continue
        model = fit_screen(y[train], x[train], kind)
        held[test] = model(x[test])
        looks = [auc(y[train], x[train, j]).value or 0.0 for j in range(x.shape[1])]
        pick = int(np.argmax(looks)) if looks else -1
        chosen.append(pick)
        best[test] = x[test, pick] if looks else 0.0
        read[test] = held[test] <= _limit(y[train], model(x[train]), share)
        for j in range(x.shape[1]):
            alone[test, j] = x[test, j] <= _limit(y[train], x[train, j], share)
    value, pairs = within_fold_auc(y, held, fold)
    single, _ = within_fold_auc(y, best, fold)
    return CrossFit(
        auc=value,
        best=single,
        difference=None if value is None or single is None else value - single,
        parts=tuple(within_fold_auc(y, x[:, j], fold)[0] for j in range(x.shape[1])),
        recall=float(read[y].mean()),
        workload=float(read.mean()),
        part_recalls=tuple(alone[y].mean(axis=0).tolist()),
        part_workloads=tuple(alone.mean(axis=0).tolist()),
        chosen=tuple(chosen),
        folds=k,
        pairs=pairs,
    )


def _limit(label: Bools, score: Floats, share: Fraction) -> float:
    """The operating point's threshold alone: the k-th smallest incomplete score, k = ceil(share * P)."""
    bad = np.sort(score[label])
    return float(bad[-(-share.numerator * bad.size // share.denominator) - 1])


def screen(
    label: Any,
    parts: Any,
    *,
    clusters: Any = None,
    kind: str | None = None,
    folds: int = 5,
    recall: str | Fraction = "0.9",
    repeats: int = 500,
    rng: np.random.Generator | None = None,
) -> ScreenResult:
    """Cross-fit a screen and bootstrap the whole procedure by cluster.

    Parameters
    ----------
    label : shape (n,), 1 = incomplete. parts : shape (n, p) without NaN, lower = more incomplete.
    clusters : shape (n,) or None; the question.
    kind : one of `KINDS`, or None to let `choose_kind` decide.
    rng : explicit source of chance; ``default_rng(0)`` when None.
    """
    y: Bools = np.asarray(label, dtype=bool)
    x = np.asarray(parts, dtype=np.float64)
    if x.ndim != 2 or x.shape[0] != y.size or np.isnan(x).any():
        raise ValueError("parts must have shape (n, p), one row a label, and no NaN")
    chance = np.random.default_rng(0) if rng is None else rng
    codes = as_codes(clusters, y.size)
    codes = np.arange(y.size, dtype=np.int64) if codes is None else codes
    kind = choose_kind(y, x.shape[1])[0] if kind is None else kind
    small = y.size < SMALL
    fit = cross_fit(y, x, codes, kind, chance, folds=folds, recall=recall)
    if fit is None:
        reason = "a screen needs two questions with incomplete and two with complete answers"
        return ScreenResult(None, y.size, int(y.sum()), None, reason=reason)

    width = int(x.shape[1])

    def again(rows: Ints) -> tuple[float | None, ...]:
        found = cross_fit(y[rows], x[rows], codes[rows], kind, chance, folds=folds, recall=recall)
        if found is None:
            return (None,) * (5 + 2 * width)
        head: tuple[float | None, ...] = (found.auc, found.best, found.difference, found.recall, found.workload)
        rest: tuple[float | None, ...] = (*found.parts, *found.part_workloads)
        return head + rest

    drawn = cluster_bootstrap(again, codes, y.size, chance, repeats=repeats)
    spans = [percentile_interval(values, asked=repeats) for values in drawn]
    low = spans[2].low
    return ScreenResult(
        kind=kind,
        n=y.size,
        n_incomplete=int(y.sum()),
        fit=fit,
        auc_interval=spans[0],
        best_interval=spans[1],
        difference_interval=spans[2],
        recall_interval=spans[3],
        workload_interval=spans[4],
        part_intervals=tuple(spans[5 : 5 + width]),
        part_workload_intervals=tuple(spans[5 + width :]),
        apparent=auc(y, fit_screen(y, x, kind)(x)).value,
        beats_best=None if low is None else low > 0,
        descriptive=small,
        repeats=repeats,
    )
