"""Models, judges, rubrics or prompts against each other: means by question, blocked ANOVA, paired tests over a printed family."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from judgekit.analysis.frames import filtered, is_share, need, numbers
from judgekit.analysis.options import Filtered, Seeded, Selected, function, opt
from judgekit.analysis.result import Column, Result, Table, at, interval, number, pvalue, signature
from judgekit.errors import InputError, StatisticsError, UsageError
from judgekit.exact import exact_mean

if TYPE_CHECKING:
    import pandas as pd

    from judgekit.analysis.source import Source

__all__ = ["Compare", "Compared", "compare", "compare_frame", "prepared", "unit_means"]

PROMPTS = ("prompt", "writer", "answer_prompt")


class Compared(Filtered, Seeded, Selected):
    """What comparisons of groups have in common."""

    value: tuple[str, ...] = opt(
        (),
        "Table: column of numbers or of yes/no. Run: raw, score, complete, a verdict field. [repeatable]",
        metavar="COL",
    )
    metric: tuple[str, ...] = opt(
        (), "Run: a local metric instead of judgements. [repeatable]", only="run", metavar="NOTATION"
    )
    unit: str | None = opt(
        None,
        "Table: column of the question; everything of a group and question is averaged first.",
        only="table records",
        metavar="COL",
    )
    sample: str | None = opt(None, "Column of repeated samples. [run: its samples]", metavar="COL")
    design: Literal["auto", "paired", "independent"] = opt(
        "auto", "Paired by question, or Welch's test; auto pairs where groups share questions."
    )
    family: int | None = opt(None, "How many comparisons were looked at, when more than are shown.", ge=1)
    unscored_as: float | None = opt(None, "Count unscored rows as this number; stamped on the result.")
    permutations: int = opt(10_000, "Of the permutation test.", ge=1)

    def read(self, source: Source, default: str = "raw") -> tuple[pd.DataFrame, list[str], str, list[str], list[str]]:
        """Rows, values, the column of units, what a run holds fixed, and notes."""
        frame = filtered(source.frame(), self.where, source.file)
        notes = list(dict.fromkeys(source.left_out))
        if source.kind != "run":
            if not self.value:
                raise UsageError("no column of values is named", field="value", mend="--value COL")
            return frame, list(self.value), self.unit or source.unit(frame, "unit"), [], notes
        notations = frame.attrs.get("notations") or source.frame().attrs.get("notations") or []
        if self.metric:
            values = list(self.value) or [text.split("(", 1)[0].strip() for text in self.metric]
            need(frame, values, None)
            return frame, values, "unit", ["dataset"], [*notes, f"measured: {', '.join(notations)}"]
        off = sum(any(str(flag).startswith("off_scale") for flag in flags or ()) for flags in frame["flags"])
        if off:
            notes.append(f"{off} recorded scores lie off their rubric's scale and are used as they stand")
        return frame, list(self.value) or [default], "unit", ["dataset", "rubric", "judge"], notes

    def common(self) -> dict[str, Any]:
        """The options that `compare_frame` takes as they are."""
        names = ("design", "family", "unscored_as", "missing", "level", "permutations", "replicates", "seed")
        return {name: getattr(self, name) for name in names}

    def told(
        self, found: Result, frame: pd.DataFrame, notes: list[str], source: Source, held: set[str], option: str
    ) -> Result:
        """With the source's notes: fields that decide an answer and are averaged over; and who judged by which rubric in the signature."""
        notes += [
            f"answers of {frame[name].nunique()} different {name}s are averaged: keep them apart with --{option} {name}"
            for name in ("model", *PROMPTS)
            if source.kind == "run" and name in frame.columns and name not in held and frame[name].nunique() > 1
        ]
        found.notes += [note for note in notes if not note.startswith("measured: ")]
        found.signature = found.signature.replace("|unit:unit", "|unit:question") + f"|source:{source.name}"
        if {"rubric", "judge", "ask"} <= set(frame.columns):
            rubrics = sorted({f"{name}@{ask[:8]}" for name, ask in zip(frame["rubric"], frame["ask"], strict=True)})
            found.signature += f"|rubric:{','.join(rubrics)}|judge:{','.join(sorted(set(frame['judge'])))}"
        found.signature += "".join("|" + note.replace(": ", ":", 1) for note in notes if note.startswith("measured: "))
        return found


class Compare(Compared):
    """Compare models, judges, rubrics or prompts.

    Means by question, blocked and one-way ANOVA, paired t (or Welch) with Bonferroni and Holm over a printed family, d and d_z
    with intervals, and a permutation test that flips whole questions.
    """

    name: ClassVar[str] = "compare"

    what: str = opt("model", "Run: what is compared.", only="run", metavar="model|judge|rubric|prompt|FIELD")
    group: str | None = opt(None, "Table: the column that names the groups.", only="table records", metavar="COL")
    by: tuple[str, ...] = opt((), "Compare within each level of this field. [repeatable]", metavar="FIELD")
    baseline: str | None = opt(None, "Compare this group with each other one, instead of all pairs.", metavar="GROUP")

    def analyse(self, source: Source) -> Result:
        frame, values, unit, fixed, notes = self.read(source, "score" if self.what == "rubric" else "raw")
        if source.kind == "run":
            group = field_of(frame, self.what)
        elif self.group is None:
            raise UsageError("no group column is named", file=source.file, field="group", mend="--group COL")
        else:
            group = self.group
        split = [one for one in fixed if one != group and frame[one].nunique() > 1]
        split += [one for one in self.by if one not in fixed]
        sample = (
            field_of(frame, self.sample)
            if self.sample and source.kind == "run"
            else self.sample or sampled(frame, source)
        )
        found = compare_frame(
            frame,
            value=values,
            group=group,
            unit=unit,
            sample=sample,
            by=split,
            baseline=self.baseline,
            file=source.file,
            **self.common(),
        )
        return self.told(found, frame, notes, source, {group, *split}, "by")


def field_of(frame: pd.DataFrame, name: str) -> str:
    """The column of a run's frame that a word means; InputError with what there is."""
    for one in PROMPTS if name == "prompt" else (name, f"meta.{name}"):
        if one in frame.columns:
            return one
    have = [str(one) for one in frame.columns if not str(one).startswith("__")]
    raise InputError(f"the records do not say their {name}", field=name, mend=f"name one of {', '.join(have)}")


def sampled(frame: pd.DataFrame, source: Source) -> str | None:
    """The column of a run's own samples, where there are several."""
    return "sample" if source.kind == "run" and "sample" in frame.columns and frame["sample"].nunique() > 1 else None


compare = function(Compare)


def compare_frame(
    frame: pd.DataFrame,
    *,
    value: str | Sequence[str],
    group: str,
    unit: str,
    sample: str | None = None,
    by: Sequence[str] = (),
    baseline: str | None = None,
    design: str = "auto",
    family: int | None = None,
    unscored_as: float | None = None,
    missing: Sequence[str] = (),
    level: float = 0.95,
    permutations: int = 10_000,
    replicates: int = 2000,
    seed: int = 0,
    file: str | None = None,
) -> Result:
    """Compare the groups of a long frame, one row an answer and sample.

    Parameters
    ----------
    value : column or columns of numbers; empty cells are unscored, counted, and left out.
    group : the column that names the groups (model, judge, rubric, prompt).
    unit : the column of independent units (the question). All rows of a group and unit are averaged first.
    sample : the column of repeated samples, for the spread of a group's mean over them (decoding noise only).
    by : columns that split the comparison; each combination is compared on its own and joins the family.
    baseline : compare this group with each other one, as baseline minus other; by default every pair, first minus second.
    design : ``paired`` by unit, ``independent`` (Welch), or ``auto``: paired where two groups share two units and at least
        half of the smaller group's, so that pairing never throws most of the data away.
    family : number of comparisons looked at, when more than are shown here.
    unscored_as : count unscored rows as this number. For reproducing a convention only; it is stamped on the result.
    permutations : B of the permutation test; enumerated when 2^n <= B.

    Returns
    -------
    Result with tables `groups`, `anova`, `pairs`.

    Raises
    ------
    DataError : a column is missing or a cell is no number. StatisticsError : `design` is paired and groups share no unit.
    """
    values = [value] if isinstance(value, str) else list(value)
    if group in by or len({*by}) < len(by) or len({*values}) < len(values):
        raise InputError("a column is named twice", file=file, field="by", mend="name each of group, by and value once")
    work = prepared(frame, values, group, unit, sample, by, unscored_as, missing, file)
    names = list(dict.fromkeys(work["group"]))
    if baseline is not None and baseline not in names:
        raise InputError(
            f"no group is called {baseline!r}", file=file, field="baseline", mend=f"there are {', '.join(names)}"
        )
    groups: list[dict[str, Any]] = []
    tests: list[dict[str, Any]] = []
    pairs: list[dict[str, Any]] = []
    options = {"design": design, "level": level, "permutations": permutations, "replicates": replicates, "seed": seed}
    repeats = 0
    shares = {name: is_share(frame, name) for name in values}
    for name in values:
        for key, part in _parts(work, by):
            head = {"value": name, **dict(zip(by, key, strict=True))}
            wide = unit_means(part, name)
            scored = part[part[name].notna()]
            repeats += int(len(scored) - wide.notna().to_numpy().sum()) if sample is None else 0
            groups += [head | row for row in _groups(part, name, wide, level, sample is not None, shares[name])]
            tests += [head | row for row in _anovas(wide)]
            pairs += [head | row for row in _pairs(wide, baseline, options, file)]
    size = _adjust(pairs, family)
    notes = _notes(work, values, names, pairs, size, repeats, unscored_as, sample)
    heads = [Column("value")] * (len(values) > 1) + [Column(name) for name in by]
    return Result(
        [
            Table("groups", f"Means by {group}, each {unit} counting once", groups, heads + at(level, _GROUP_COLUMNS)),
            Table("anova", "Do the groups differ at all?", tests, heads + _ANOVA_COLUMNS),
            Table(
                "pairs", f"Pairs; p over a family of {size} comparison{'s' * (size != 1)}", pairs, heads + _PAIR_COLUMNS
            ),
        ],
        signature(
            compare=group, value=values, unit=unit, by=list(by), design=design, baseline=baseline, family=size, level=level,
            permutations=permutations, replicates=replicates, seed=seed, unscored_as=unscored_as,
        ),
        notes,
    )  # fmt: skip


def _sizes(row: dict[str, Any]) -> str:
    return str(row["n"]) if row["design"] == "paired" else f"{row['n']} + {row['n_b']}"


_GROUP_COLUMNS = [
    Column("group"), Column("n_units", "units"), Column("n_rows", "rows"), Column("n_unscored", "unscored"),
    Column("mean", "mean [95 %]", interval("mean"), whole=True), Column("sd", "sd", number()),
    Column("row_mean", "over rows", number()), Column("spread_sd", "sd over samples", number(), optional=True),
]  # fmt: skip
_ANOVA_COLUMNS = [
    Column("method"), Column("F", "F", number(2)), Column("df1"), Column("df2"), Column("p", "p", pvalue),
    Column("eta_squared", "eta2", number()), Column("n", "values"), Column("groups"),
]  # fmt: skip
_PAIR_COLUMNS = [
    Column("a"), Column("b"), Column("n", "units", _sizes, whole=True), Column("difference", "a - b", interval("difference", signed=True), whole=True),
    Column("t", "t", number(2)), Column("p", "p", pvalue), Column("p_bonferroni", "Bonferroni", pvalue),
    Column("p_holm", "Holm", pvalue), Column("p_permutation", "permuted", pvalue),
    Column("dz", "d_z", interval("dz", 2, signed=True), whole=True, optional=True), Column("d", "d", interval("d", 2, signed=True), whole=True),
]  # fmt: skip


def unit_means(part: pd.DataFrame, value: str) -> pd.DataFrame:
    """Units by groups: mean over the scored rows of each; NaN where a group has none. Groups in order of appearance."""
    names = list(dict.fromkeys(part["group"]))
    known = part[part[value].notna()]
    table = known.pivot_table(index="unit", columns="group", values=value, aggfunc=_exact_mean, sort=False)
    return table.reindex(columns=names)


def _exact_mean(values: pd.Series) -> float:
    """The mean of written decimals, rounded once: equal means are equal numbers."""
    return float(values.iloc[0]) if len(values) == 1 else float(exact_mean(values.tolist()))


def prepared(
    frame: pd.DataFrame, values: Sequence[str], group: str, unit: str, sample: str | None, by: Sequence[str],
    unscored_as: float | None = None, missing: Sequence[str] = (), file: str | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Columns `group`, `unit`, `sample`, those of `by` as text, and each value as a float (NaN where unscored).

    ``"NAME was unscored"`` says which cells were empty, also where `unscored_as` filled them. Raises DataError for a missing column
    or a cell that is no number, InputError for a row without a group, unit or split.
    """
    import pandas as pd

    from judgekit.analysis.source import fold_levels

    need(frame, [*values, group, unit, *([sample] if sample else []), *by], file)
    from judgekit.data.table import is_missing

    for name in (group, unit, *by):
        empty = sum(is_missing(value) for value in frame[name]) if name == unit else int(frame[name].isna().sum())
        if empty:
            raise InputError(
                f"{empty} of {len(frame)} rows have no {name}",
                file=file,
                field=name,
                mend=f"filter them out: --where '{name}!='",
            )
    out = pd.DataFrame({"unit": frame[unit].map(str)})
    folded: list[str] = []
    for name, column in (("group", group), *zip(by, by, strict=True)):
        fold, told = fold_levels(frame[column], None, column)
        folded += told
        out[name] = [str(fold(value)) for value in frame[column]]
    out.attrs["notes"] = folded
    if sample:
        out["sample"] = frame[sample].map(str)
    for name in values:
        found = numbers(frame, name, file, missing)
        out[name] = pd.Series([unscored_as if one is None else one for one in found], dtype="float64")
        out[f"{name} was unscored"] = [one is None for one in found]
    return out


def _parts(work: pd.DataFrame, by: Sequence[str]) -> list[tuple[tuple[str, ...], pd.DataFrame]]:
    if not by:
        return [((), work)]
    return [(tuple(map(str, key)), part) for key, part in work.groupby(list(by), sort=False)]


def _groups(
    part: pd.DataFrame, value: str, wide: pd.DataFrame, level: float, sampled: bool, share: bool
) -> list[dict[str, Any]]:
    from judgekit.stats.compare import mean_interval, spread
    from judgekit.stats.proportion import unit_share

    rows = []
    for name in wide.columns:
        mine = part[part["group"] == name]
        units = wide[name].dropna().to_numpy()
        found: Any = unit_share(units, level) if share else mean_interval(units, level)
        scored = mine[value].dropna()
        row = {
            "group": name, "n_units": found.n, "n_rows": len(scored), "n_unscored": int(mine[f"{value} was unscored"].sum()),
            "mean": found.mean, "mean_low": found.low, "mean_high": found.high, "sd": found.sd,
            "row_mean": float(scored.mean()) if len(scored) else None, "reason": found.reason,
            "kind": "share" if share else "mean",
            "count": int(units.sum()) if share and ((units == 0) | (units == 1)).all() else None,
        }  # fmt: skip
        if sampled:
            again = spread(mine.dropna(subset=[value]).groupby("sample", sort=True)[value].mean().to_numpy(), level)
            row |= {
                "samples": again.samples, "sample_means": list(again.values), "spread_mean": again.mean,
                "spread_sd": again.sd, "spread_low": again.low, "spread_high": again.high,
            }  # fmt: skip
        rows.append(row)
    return rows


def _anovas(wide: pd.DataFrame) -> list[dict[str, Any]]:
    from judgekit.stats.anova import blocked_anova, one_way_anova

    long = wide.stack().dropna()
    units, groups = (list(long.index.get_level_values(i)) for i in (0, 1))
    if len(wide.columns) < 2:
        return []
    tests = [one_way_anova(long.to_numpy(), groups)]
    if len(set(units)) < len(units):
        tests.insert(0, blocked_anova(long.to_numpy(), groups, units))
    rows = []
    for found in tests:
        rows.append(
            {
                "method": found.method,
                "F": found.f,
                "df1": found.df1,
                "df2": found.df2,
                "p": found.p,
                "eta_squared": found.eta_squared,
                "partial": found.partial,
                "n": found.n,
                "groups": found.groups,
                "blocks": found.blocks,
                "degenerate": found.degenerate,
                "reason": found.reason,
            }
        )
    return rows


def _pairs(wide: pd.DataFrame, baseline: str | None, options: dict[str, Any], file: str | None) -> list[dict[str, Any]]:
    names = list(wide.columns)
    if baseline is not None:
        chosen = [(baseline, name) for name in names if name != baseline] if baseline in names else []
    else:
        chosen = list(combinations(names, 2))
    return [_pair(wide, a, b, options, file) for a, b in chosen]


def _pair(wide: pd.DataFrame, a: str, b: str, options: dict[str, Any], file: str | None) -> dict[str, Any]:
    from judgekit.stats.compare import paired, welch
    from judgekit.stats.permutation import shuffle, sign_flip

    both = wide[[a, b]].dropna()
    design = options["design"]
    if design == "paired" and both.empty:
        raise StatisticsError(
            f"{a} and {b} share no unit, so that they cannot be paired", file=file, mend="--design independent"
        )
    boot = {"replicates": options["replicates"], "seed": options["seed"]}
    fewest = int(min(wide[a].notna().sum(), wide[b].notna().sum()))
    if design == "paired" or (design == "auto" and len(both) >= 2 and 2 * len(both) >= fewest):
        x, y = both[a].to_numpy(), both[b].to_numpy()
        test = paired(x, y, level=options["level"], **boot)
        gaps = x - y
        gaps[abs(gaps) <= 1e-12 * max(abs(x).max(), abs(y).max())] = 0.0  # equal means that differ in their last digit
        permuted = sign_flip(gaps, replicates=options["permutations"], seed=options["seed"])
    else:
        x, y = wide[a].dropna().to_numpy(), wide[b].dropna().to_numpy()
        test = welch(x, y, level=options["level"])
        permuted = shuffle(x, y, replicates=options["permutations"], seed=options["seed"])
    return {
        "a": a, "b": b, "design": test.design, "n": test.n, "n_b": test.n_second, "n_common": len(both),
        "difference": test.difference, "difference_low": test.low, "difference_high": test.high,
        "sd_difference": test.sd_difference, "t": test.t, "df": test.df, "p": test.p,
        "p_permutation": permuted.p, "arrangements": permuted.arrangements, "exact": permuted.exact,
        "wilcoxon_p": test.wilcoxon_p, "d": test.d, "d_low": test.d_low, "d_high": test.d_high,
        "dz": test.dz, "dz_low": test.dz_low, "dz_high": test.dz_high, "degenerate": test.degenerate, "reason": test.reason,
    }  # fmt: skip


def _adjust(pairs: list[dict[str, Any]], family: int | None) -> int:
    from judgekit.stats.multiple import bonferroni, holm

    size = max(len(pairs), family or 0)
    if family is not None and family < len(pairs):
        raise InputError(f"{len(pairs)} comparisons are shown, so the family is no smaller than that", field="family")
    p = [row["p"] for row in pairs]
    for name, adjusted in (("p_bonferroni", bonferroni(p, size)), ("p_holm", holm(p, size))):
        for row, value in zip(pairs, adjusted, strict=True):
            row[name] = value
    return size


def _notes(
    work: pd.DataFrame, values: Sequence[str], names: Sequence[str], pairs: list[dict[str, Any]], size: int, repeats: int,
    unscored_as: float | None, sample: str | None,
) -> list[str]:  # fmt: skip
    notes = list(work.attrs.get("notes", []))
    if not len(work):
        notes.append("there are no rows to compare")
    elif len(names) < 2:
        notes.append(f"there is one group only ({names[0]}): nothing to compare it with")
    if pairs:
        notes.append(
            f"the family is every comparison made here ({len(pairs)})"
            + (f", and {size - len(pairs)} more that were looked at elsewhere" if size > len(pairs) else "")
        )
    for name in values:
        unscored = int(work[f"{name} was unscored"].sum())
        if unscored and unscored_as is None:
            notes.append(f"{name}: {unscored} of {len(work)} rows are unscored and left out")
        elif unscored:
            notes.append(
                f"{name}: {unscored} of {len(work)} unscored rows are counted as {unscored_as:g}, as was asked"
            )
        if len(work) and unscored == len(work) and unscored_as is None:
            notes.append(f"{name}: everything is unscored, so nothing can be said")
    if repeats:
        notes.append(f"{repeats} repeated rows of a unit were averaged with the first, within their group")
    if sample is not None:
        notes.append("intervals over samples show decoding noise only: other questions would move the means further")
    if any(row["design"] == "welch" for row in pairs):
        notes.append(
            "groups with few or no common units: group and question are confounded, and the tests cannot tell them apart"
        )
    lost = sum(max(0, max(row["n"], row["n_b"]) - row["n_common"]) for row in pairs if row["design"] == "paired")
    if lost:
        notes.append("paired tests use the units that both groups have")
    if any(row["degenerate"] for row in pairs):
        notes.append("degenerate: without variance a t test does not exist; the permutation test still does")
    return notes
