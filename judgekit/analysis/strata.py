"""Results by any field of the records: means or shares by stratum, gaps with tests, and the interaction of two fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from judgekit.analysis.compare import Compared, compare_frame, field_of, prepared, unit_means
from judgekit.analysis.frames import need
from judgekit.analysis.options import function, opt
from judgekit.analysis.result import Column, Result, Table, interval, number, pvalue
from judgekit.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

    from judgekit.analysis.source import Source

__all__ = ["Strata", "strata", "strata_frame"]


class Strata(Compared):
    """Results by any field of the records: means or shares, gaps with tests, the interaction of two fields."""

    name: ClassVar[str] = "strata"
    first: ClassVar[str] = "by"

    by: tuple[str, ...] = opt(..., "The field; two of them: also their interaction. [repeatable]", metavar="FIELD")
    pair: str | None = opt(
        None, "Column that names what is the same across strata, such as a question's stem.", metavar="COL"
    )
    within: tuple[str, ...] = opt((), "Everything within each level of this field. [repeatable]", metavar="FIELD")
    baseline: str | None = opt(None, "Gaps of this stratum to each other one, instead of all pairs.", metavar="LEVEL")

    def analyse(self, source: Source) -> Result:
        if source.kind != "run" and self.pair is not None and self.unit is None:
            return self.model_copy(update={"unit": self.pair}).analyse(source)
        frame, values, unit, fixed, notes = self.read(source)
        fields = [field_of(frame, name) for name in self.by] if source.kind == "run" else list(self.by)
        if self.pair is not None:
            need(frame, [self.pair], source.file)
        split = [one for one in fixed if one not in fields and frame[one].nunique() > 1]
        split += [one for one in self.within if one not in split]
        found = strata_frame(
            frame, value=values, by=fields, unit=unit, pair=self.pair, within=split, baseline=self.baseline, file=source.file,
            sample=self.sample, **self.common(),
        )  # fmt: skip
        return self.told(found, frame, notes, source, {*fields, *split}, "within")


strata = function(Strata)


def strata_frame(
    frame: pd.DataFrame,
    *,
    value: str | Sequence[str],
    by: Sequence[str],
    unit: str,
    pair: str | None = None,
    within: Sequence[str] = (),
    **options: Any,
) -> Result:
    """Means by one or two fields.

    Parameters
    ----------
    value : column or columns of numbers; yes/no fields give shares with Wilson's interval.
    by : one field (source, question type, category, model), or two: the gaps of the first are then shown inside each level of the
        second, with the test of their interaction (within units, where units occur in several strata).
    unit : the column of independent units (the question).
    pair : a column that names what is the same across strata (the stem of two versions of a question): gaps are then paired by it.
    within : further columns that split everything.
    options : as `judgekit.analysis.compare.compare_frame`: `baseline`, `sample`, `design`, `family`, `missing`, `unscored_as`, `level`, ...

    Returns
    -------
    Result with tables `strata`, `differ`, `gaps`, `across` (the unweighted mean over strata), and with two fields `interaction`.
    """
    if len(by) not in (1, 2):
        raise UsageError(f"one field or two, not {len(by)}", field="by", mend="name them as --by FIELD --by FIELD")
    if len({*by, *within}) < len(by) + len(within):
        raise UsageError("a field is named twice", field="by")
    values = [value] if isinstance(value, str) else list(value)
    split = [*by[1:], *within]
    found = compare_frame(frame, value=values, group=by[0], unit=pair or unit, by=split, **options)
    work = prepared(
        frame, values, by[0], pair or unit, options.get("sample"), split, options.get("unscored_as"),
        options.get("missing", ()), options.get("file"),
    )  # fmt: skip
    cells = found["groups"].rows
    heads = [Column("value")] * (len(values) > 1) + [Column(name) for name in split]
    tables = [
        Table("strata", f"By {by[0]}, each {pair or unit} counting once", cells, heads + _CELL_COLUMNS),
        Table("differ", f"Does {by[0]} matter at all?", found["anova"].rows, found["anova"].columns),
        Table("gaps", found["pairs"].title.replace("Pairs", "Gaps"), found["pairs"].rows, found["pairs"].columns),
        Table("across", f"Unweighted mean over the strata of {by[0]}", _across(cells, split), heads + _ACROSS_COLUMNS),
    ]
    if len(by) == 2:
        rows = [row for name in values for row in _interactions(work, name, by[1], within)]
        columns = [Column("value")] * (len(values) > 1) + [Column(name) for name in within] + _INTERACTION_COLUMNS
        title = f"Does the effect of {by[0]} depend on {by[1]}?"
        tables.insert(3, Table("interaction", title, rows, columns))
    mark = found.signature.replace("|compare:", "|strata:", 1) + (f"|pair:{pair}" if pair else "")
    return Result(tables, mark, found.notes)


_CELL_COLUMNS = [
    Column("group", "stratum"), Column("n_units", "units"), Column("n_rows", "rows"), Column("n_unscored", "unscored"),
    Column("mean", "mean [95 %]", interval("mean"), whole=True), Column("sd", "sd", number()), Column("kind"),
]  # fmt: skip
_ACROSS_COLUMNS = [Column("strata"), Column("mean", "mean of means", number()), Column("empty")]
_INTERACTION_COLUMNS = [
    Column("F", "F", number(2)), Column("df1"), Column("df2"), Column("p", "p", pvalue),
    Column("eta_squared", "eta2", number()), Column("n", "values"), Column("blocks"),
]  # fmt: skip


def _across(cells: list[dict[str, Any]], split: Sequence[str]) -> list[dict[str, Any]]:
    groups: dict[tuple[Any, ...], list[Any]] = {}
    for row in cells:
        groups.setdefault(tuple(row[name] for name in ("value", *split)), []).append(row["mean"])
    rows = []
    for key, means in groups.items():
        there = [mean for mean in means if mean is not None]
        rows.append(
            dict(zip(("value", *split), key, strict=True))
            | {
                "strata": len(there),
                "empty": len(means) - len(there),
                "mean": sum(there) / len(there) if there else None,
                "reason": None if there else "no stratum has a scored row",
            }
        )
    return rows


def _interactions(work: pd.DataFrame, value: str, second: str, within: Sequence[str]) -> list[dict[str, Any]]:
    from judgekit.stats.anova import interaction

    parts: list[Any] = [((), work)] if not within else list(work.groupby(list(within), sort=False))
    rows = []
    for key, part in parts:
        means: list[tuple[Any, ...]] = []
        for level, inner in part.groupby(second, sort=False):
            long = unit_means(inner, value).stack().dropna()
            units_, groups_ = (long.index.get_level_values(i) for i in (0, 1))
            means += list(zip(units_, groups_, [level] * len(long), long.to_numpy(), strict=True))
        units, groups, levels, numbers = ([row[i] for row in means] for i in range(4))
        crossed = len(set(units)) < len(units)
        test = interaction(numbers, groups, levels, units if crossed else None)
        head: dict[str, Any] = {"value": value, **dict(zip(within, map(str, key), strict=True))}
        rows.append(
            head
            | {
                "F": test.f, "df1": test.df1, "df2": test.df2, "p": test.p, "eta_squared": test.eta_squared,
                "n": test.n, "blocks": test.blocks, "degenerate": test.degenerate, "reason": test.reason,
            }
        )  # fmt: skip
    return rows
