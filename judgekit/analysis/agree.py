"""Agreement of raters and judges, with the human ceiling beside the judge's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

from judgekit.analysis.result import Column, Result, Table, interval, number, share, signature
from judgekit.errors import DataError, StatisticsError
from judgekit.stats.agreement import (
    balanced_f1,
    cohen_kappa,
    encode,
    fleiss_kappa,
    krippendorff_alpha,
    percent_agreement,
)
from judgekit.stats.bootstrap import Estimate
from judgekit.stats.ceiling import human_ceiling
from judgekit.stats.correlation import correlation

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Ratings", "agree", "correlations", "parse_levels"]

MANY = 12
"""With more raters than this, pairs of them are not shown one by one: hundreds of anonymous raters make thousands of pairs."""


@dataclass
class Ratings:
    """What raters and judges said of the same units; None is missing.

    `raters` and `judges` map a name to one value a unit. `levels` are the declared levels in order; None: taken from the data, which is enough for
    what does not depend on order or distance. `clusters` has one entry a unit; None with `repeated` true means that units
    repeat questions and nobody said which.
    """

    units: list[str]
    raters: dict[str, list[Any]]
    judges: dict[str, list[Any]] = field(default_factory=dict)
    clusters: list[str] | None = None
    levels: list[Any] | None = None
    what: str = "ratings"
    notes: list[str] = field(default_factory=list)


def parse_levels(text: str | None) -> list[Any] | None:
    """``1..5`` -> whole numbers, ``low,mid,high`` -> the words in this order; None stays None."""
    if text is None:
        return None
    low, dots, high = text.partition("..")
    if dots:
        try:
            first, last = int(low), int(high)
        except ValueError:
            first, last = 1, 0
        if first >= last:
            raise StatisticsError(f"{text!r} names no levels", field="levels", mend="write 1..5, or low,mid,high")
        return list(range(first, last + 1))
    words = [word.strip() for word in text.split(",") if word.strip()]
    if len(words) < 2 or len(set(words)) < len(words):
        raise StatisticsError(
            f"{text!r} names no levels, two or more and each once", field="levels", mend="write 1..5, or low,mid,high"
        )
    found = [_number(word) for word in words]
    return [words[i] if value is None else value for i, value in enumerate(found)] if None not in found else words


def agree(ratings: Ratings, *, replicates: int = 2000, seed: int = 0, level: float = 0.95) -> Result:
    """Agreement of raters with each other, of judges with each rater, and both against the same other raters.

    Returns
    -------
    Result with tables `overall` (Fleiss, alpha, unanimity over the raters), `raters`, `pairs` (every two raters), `judges` (every judge with every
    rater), `ceiling` (judge and left-out rater against the same others; not for one rater).

    Raises
    ------
    DataError : a value is not among the declared levels. StatisticsError : there is no rater at all.
    """
    levels, declared = _levels(ratings)
    boot = {"replicates": replicates, "seed": seed, "level": level}
    if not ratings.raters:
        raise StatisticsError("there is no rater to agree with", mend="name the raters' columns, or label the records")
    codes = {name: _codes(name, values, levels) for name, values in ratings.raters.items()}
    judges = {name: _codes(name, values, levels) for name, values in ratings.judges.items()}
    notes = list(ratings.notes)
    if not declared:
        notes.append(
            f"levels were taken from the data ({', '.join(map(str, levels)) or 'none'}): declare them for weighted kappa"
        )
    context = _Context(ratings, levels, declared, boot)
    tables = [
        Table("overall", f"All raters together, on {ratings.what}", _overall(codes, context), _OVERALL),
        Table("raters", "Each rater", _each(codes, context), _EACH, shown=MANY),
        Table("pairs", "Raters with each other", _pairs(codes, codes, context), _PAIRS),
        Table("judges", "Judges with each rater", _pairs(judges, codes, context, crossed=True), _PAIRS),
        Table(
            "ceiling",
            "Judge and left-out rater against the same other raters",
            _ceilings(judges, codes, context),
            _CEIL,
        ),
    ]
    if judges and len(codes) < 2:
        notes.append("one rater only: there is no human ceiling to hold the judge against")
    if len(codes) < 2 and not judges:
        notes.append("one rater only: nobody to agree with")
    if judges and len(codes) > 1:
        notes.append("alpha is no ceiling by itself: compare the judge with the left-out rater, on the same units")
    if len(codes) > MANY:
        notes.append(f"{len(codes)} raters: they are pooled, and pairs of them are not shown one by one")
    clusters = len(set(ratings.clusters)) if ratings.clusters is not None else len(ratings.units)
    if 0 < clusters < 10:
        notes.append(f"only {clusters} clusters: the intervals are rough")
    mark = signature(
        agree=ratings.what, levels=[str(level) for level in levels], declared="yes" if declared else "no",
        units=len(ratings.units), clusters=clusters, interval="cluster bootstrap", replicates=replicates, seed=seed, level=level,
    )  # fmt: skip
    return Result(tables, mark, notes)


@dataclass(frozen=True)
class _Context:
    ratings: Ratings
    levels: list[Any]
    declared: bool
    boot: dict[str, Any]

    @property
    def k(self) -> int:
        return max(1, len(self.levels))

    @property
    def numeric(self) -> bool:
        return bool(self.levels) and all(isinstance(one, (int, float)) for one in self.levels)

    @property
    def ordered(self) -> bool:
        return self.declared or self.numeric


def _levels(ratings: Ratings) -> tuple[list[Any], bool]:
    said = [value for side in (ratings.raters, ratings.judges) for values in side.values() for value in values]
    if ratings.levels is not None:
        return list(ratings.levels), True
    found = {_read(value) for value in said if value is not None}
    if len(found) > 50:
        raise StatisticsError(
            f"{len(found)} different ratings: these are scores, not levels",
            mend="declare the levels with --levels, or compare scores by correlation",
        )
    if all(isinstance(value, (int, float)) for value in found):
        return sorted(found), False
    return sorted(map(str, found)), False


def _read(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    number_ = _number(value)
    return value if number_ is None else number_


def _number(value: Any) -> int | float | None:
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    if found != found or abs(found) == float("inf"):
        return None
    return int(found) if found == int(found) else found


def _codes(name: str, values: Sequence[Any], levels: list[Any]) -> npt.NDArray[np.int64]:
    words = all(isinstance(one, str) for one in levels)
    read = [None if value is None else str(value) if words else _read(value) for value in values]
    try:
        return encode(read, levels)
    except ValueError:
        for index, value in enumerate(read):
            if value is not None and value not in levels:
                raise DataError(
                    f"{name} said {values[index]!r} of unit {index + 1}, which is not among the levels {', '.join(map(str, levels))}",
                    field=name,
                    mend="declare it with --levels, or name it with --missing when it means that nothing was said",
                ) from None
        raise


def _flat(name: str, found: Estimate) -> dict[str, Any]:
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}


def _overall(codes: dict[str, Any], context: _Context) -> list[dict[str, Any]]:
    import numpy as np

    if len(codes) < 2:
        return []
    matrix = np.stack(list(codes.values()), axis=1)
    common = {"clusters": context.ratings.clusters, **context.boot}
    rows = [_row("Krippendorff's alpha, nominal", krippendorff_alpha(matrix, n_levels=context.k, **common))]
    if context.k > 2:
        no_order = Estimate(None, reason="the levels have no declared order: name them with --levels")
        no_number = Estimate(None, reason="the levels are words, and words have no distance")
        ordinal = (
            krippendorff_alpha(matrix, n_levels=context.k, metric="ordinal", **common) if context.ordered else no_order
        )
        rows.append(_row("Krippendorff's alpha, ordinal", ordinal))
        if context.numeric:
            found = krippendorff_alpha(matrix, n_levels=context.k, metric="interval", values=context.levels, **common)
        else:
            found = no_number
        rows.append(_row("Krippendorff's alpha, interval", found))
    rows.append(_row("Fleiss' kappa", fleiss_kappa(matrix, n_levels=context.k, **common)))
    counts = np.stack([(matrix == code).sum(axis=1) for code in range(context.k)], axis=1)
    several = counts[counts.sum(axis=1) >= 2]
    alike = int((several.max(axis=1) == several.sum(axis=1)).sum()) if len(several) else 0
    value = alike / len(several) if len(several) else None
    rows.append(
        {
            "statistic": "all who rated say the same", "value": value, "value_low": None, "value_high": None, "n": len(several),
            "clusters": None, "reason": None if len(several) else "no unit has two ratings",
        }
    )  # fmt: skip
    few = list(codes.values()) if len(codes) <= MANY else []
    kappas = [cohen_kappa(a, b, n_levels=context.k, replicates=0).value for a, b in combinations(few, 2)]
    there = [value for value in kappas if value is not None]
    rows.append(
        {
            "statistic": "mean pairwise kappa", "value": sum(there) / len(there) if there else None, "value_low": None,
            "value_high": None, "n": len(there), "clusters": None,
            "reason": None if there else "no two raters have a kappa" if few else f"more than {MANY} raters: see alpha",
        }
    )  # fmt: skip
    return rows


def _row(name: str, found: Estimate) -> dict[str, Any]:
    head = {"statistic": name, **_flat("value", found), "n": found.n, "clusters": found.clusters}
    return head | {"reason": found.reason or found.interval_reason}


def _each(codes: dict[str, Any], context: _Context) -> list[dict[str, Any]]:
    import numpy as np

    rows = []
    matrix = np.stack(list(codes.values()), axis=1) if codes else np.zeros((0, 0), dtype=int)
    most = _majority(matrix, context.k)
    for name, mine in codes.items():
        counts = np.bincount(mine[mine >= 0], minlength=context.k)
        both = (mine >= 0) & (most >= 0)
        rows.append(
            {
                "rater": name, "n": int((mine >= 0).sum()), "missing": int((mine < 0).sum()),
                "counts": {str(level): int(count) for level, count in zip(context.levels, counts, strict=False)},
                # The majority holds the rater's own vote, which flatters: printed nowhere, kept for reproducing papers.
                "with_majority_of_all": float((mine == most)[both].mean()) if both.any() and len(codes) > 2 else None,
            }
        )  # fmt: skip
    return rows


def _majority(matrix: npt.NDArray[np.int64], k: int) -> npt.NDArray[np.int64]:
    """What more than half of a unit's raters said; -1 without such a level."""
    import numpy as np

    counts = np.stack([(matrix == level).sum(axis=1) for level in range(k)], axis=1)
    return np.where(2 * counts.max(axis=1) > (matrix >= 0).sum(axis=1), counts.argmax(axis=1), -1)


def _pairs(
    first: dict[str, Any], second: dict[str, Any], context: _Context, crossed: bool = False
) -> list[dict[str, Any]]:
    if len(second) > MANY:
        return []
    names = [(a, b) for a in first for b in second] if crossed else list(combinations(first, 2))
    rows = []
    for a, b in names:
        x, y, common = first[a], second[b], {"clusters": context.ratings.clusters, **context.boot}
        percent = percent_agreement(x, y, n_levels=context.k, **common)
        kappa = cohen_kappa(x, y, n_levels=context.k, **common)
        row = {"a": a, "b": b, "n": percent.n, **_flat("percent", percent), **_flat("kappa", kappa)}
        reason = kappa.reason or kappa.interval_reason
        for weights in ("linear", "quadratic"):
            if context.k > 2 and context.declared:
                weighted = cohen_kappa(x, y, n_levels=context.k, weights=weights, **common)
                row |= _flat(f"kappa_{weights}", weighted)
            else:
                row |= {f"kappa_{weights}": None}
        if context.k == 2:
            found = balanced_f1(x, y, **common)
            row |= _flat("balanced_f1", found)
            reason = reason or found.reason
        rows.append(row | {"reason": reason})
    return rows


def _ceilings(judges: dict[str, Any], codes: dict[str, Any], context: _Context) -> list[dict[str, Any]]:
    import numpy as np

    if len(codes) < 2:
        return []
    names, matrix = list(codes), np.stack(list(codes.values()), axis=1)
    statistics = ["percent", "kappa"]
    if context.k == 2:
        statistics.append("balanced_f1")
    elif context.declared:
        statistics.append("kappa_quadratic")
    rows = []
    for judge, said in judges.items():
        for statistic in statistics:
            for found in human_ceiling(
                matrix, said, n_levels=context.k, statistic=statistic, clusters=context.ratings.clusters,
                each=len(names) <= MANY, **context.boot,
            ):  # fmt: skip
                rows.append(
                    {
                        "judge": judge, "statistic": statistic,
                        "left_out": "each in turn" if found.left_out is None else names[found.left_out],
                        "n": found.units, "comparisons": found.comparisons, **_flat("human", found.human),
                        **_flat("machine", found.judge), **_flat("difference", found.difference),
                        "reason": found.human.reason or found.judge.reason or found.difference.interval_reason,
                    }
                )  # fmt: skip
    return rows


def correlations(
    scores: Mapping[str, Sequence[float | None]], clusters: Sequence[str] | None, *, replicates: int = 1000, seed: int = 0,
    head: dict[str, Any] | None = None,
) -> list[dict[str, Any]]:  # fmt: skip
    """Pearson and Spearman of every two judges' scores on the same records: rows for a heat map.

    `scores` maps a judge to one number a record, None where unscored. `head` is put in front of each row.
    """
    import numpy as np

    arrays = {
        name: np.asarray([np.nan if one is None else one for one in values], dtype=float)
        for name, values in scores.items()
    }
    rows = []
    for a, b in combinations(arrays, 2):
        row: dict[str, Any] = {**(head or {}), "a": a, "b": b}
        for method in ("pearson", "spearman"):
            found = correlation(
                arrays[a], arrays[b], method=method, clusters=clusters, replicates=replicates, seed=seed
            )
            row |= {"n": found.n, method: found.value, f"{method}_low": found.low, f"{method}_high": found.high}
            row |= {f"{method}_p": found.p, "reason": found.reason}
        rows.append(row)
    return rows


_OVERALL = [
    Column("statistic"), Column("value", "value [95 %]", interval("value"), whole=True), Column("n", "units"),
    Column("clusters"),
]  # fmt: skip
_EACH = [
    Column("rater"), Column("n", "rated"), Column("missing"),
    Column("counts", "levels used", lambda counts: ", ".join(f"{level} {count}" for level, count in counts.items()) or "-"),
]  # fmt: skip
_PAIRS = [
    Column("a"), Column("b"), Column("n", "units"), Column("percent", "same", share),
    Column("kappa", "kappa [95 %]", interval("kappa"), whole=True), Column("kappa_linear", "linear", number(), optional=True),
    Column("kappa_quadratic", "quadratic", number(), optional=True), Column("balanced_f1", "balanced F1", number(), optional=True),
]  # fmt: skip
_CEIL = [
    Column("judge"), Column("left_out", "left-out rater"), Column("statistic"), Column("n", "units"), Column("comparisons"),
    Column("human", "rater [95 %]", interval("human"), whole=True),
    Column("machine", "judge [95 %]", interval("machine"), whole=True),
    Column("difference", "judge - rater", interval("difference", signed=True), whole=True),
]  # fmt: skip
CORRELATION_COLUMNS = [
    Column("dataset"), Column("rubric"), Column("a"), Column("b"), Column("n", "records"),
    Column("pearson", "Pearson [95 %]", interval("pearson", 2), whole=True),
    Column("spearman", "Spearman [95 %]", interval("spearman", 2), whole=True),
]  # fmt: skip
