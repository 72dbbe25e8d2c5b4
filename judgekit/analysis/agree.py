"""Agreement of raters and judges, with the human ceiling beside the judge's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import field_validator

from judgekit.analysis.guards import same_model
from judgekit.analysis.options import Clustered, Filtered, Seeded, Selected, function, opt
from judgekit.analysis.result import Column, Result, Table, interval, number, share, signature
from judgekit.errors import DataError, InputError, StatisticsError, UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from judgekit.analysis.said import Answer, Judged
    from judgekit.analysis.source import Source
    from judgekit.stats.bootstrap import Estimate

__all__ = [
    "Agree",
    "Ratings",
    "agree",
    "agreement",
    "correlation_matrix",
    "correlations",
    "judge_correlations",
    "parse_levels",
    "ratings",
]

MANY = 12
"""With more raters than this, pairs of them are not shown one by one: hundreds of anonymous raters make thousands of pairs."""

UNNAMED = "unnamed rater"


class Agree(Filtered, Clustered, Seeded, Selected):
    """Agreement of raters and judges.

    Percent, Cohen's kappa over the declared levels, balanced F1, Fleiss, Krippendorff's alpha; each judge with each rater; the
    judge and a left-out rater against the same other raters; correlations between judges. The source is a run, a table with
    one row a unit and one column a rater, or labelled records.
    """

    name: ClassVar[str] = "agree"

    raters: tuple[str, ...] = opt(
        (), "Table: the raters' columns. Run or data: only these raters. [repeatable]", metavar="A,B,C"
    )
    judge: tuple[str, ...] = opt(
        (), "Table: a judge's column. Data: a field of meta. Run: only this judge. [repeatable]", metavar="NAME"
    )
    levels: tuple[str, ...] | None = opt(
        None, "The scale's levels in order; needed for weighted kappa.", metavar="1..5|low,mid,high"
    )
    on: Literal["complete", "severity", "score", "value", "criteria"] = opt(
        "complete", "Run or data: which part of the labels to compare."
    )
    met: tuple[str, ...] = opt(
        (), "With --on criteria: the words that mean met; ratings become yes and no.", metavar="WORD,WORD"
    )
    construct: str | None = opt(  # type: ignore[assignment]
        None, "Run or data: which construct, when labels speak of several.", metavar="NAME"
    )
    card: str | None = opt(None, "Data: how to read it.", metavar="CARD")
    panel: Literal["mean", "majority"] | None = opt(
        None, "Run: also all judges (or those of --judge) as one panel.", only="run"
    )

    @field_validator("raters", "met")
    @classmethod
    def _commas(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(part.strip() for one in value for part in str(one).split(",") if part.strip())

    @field_validator("levels")
    @classmethod
    def _scale(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return value or None

    def analyse(self, source: Source) -> Result:
        from judgekit.analysis.panel import panel_table

        boot: dict[str, Any] = {"replicates": self.replicates, "seed": self.seed, "level": self.level}
        judged = [one for one in source.judged if one.rubric is not None or source.kind != "run"]
        extra: list[Table] = []
        if self.panel is not None:
            extra = [panel_table(judged, lambda d, key: source.answers[d, key].cluster, source.left_out, **boot)]
            if not any(answer.labels for answer in source.answers.values()):
                notes = ["there are no labels: the members are compared with each other alone"]
                found = Result(extra, signature(agree="panel", panel=self.panel, **boot), notes)
                return _related(found, judge_correlations(judged, source, **boot))
        scale = (
            None
            if self.levels is None
            else parse_levels(",".join(self.levels))
            if len(self.levels) == 1
            else list(self.levels)
        )
        found = agreement(ratings(source, self, scale), **boot)
        found.tables.extend(extra)
        found.notes += [line for line in source.left_out if not extra or line not in extra[0].notes]
        found.signature += f"|source:{source.name}" + ("|samples:mean, then the rule" if source.kind == "run" else "")
        return _related(found, judge_correlations(judged, source, **boot))


agree = function(Agree)


def _related(found: Result, rows: list[dict[str, Any]]) -> Result:
    if rows:
        columns = [one for one in CORRELATION_COLUMNS if rows[0].get(one.key) is not None or one.whole]
        found.tables.append(Table("correlations", "Judges with each other", rows, columns))
    return found


def ratings(source: Source, asked: Agree, scale: list[Any] | None = None) -> Ratings:
    """What raters and judges said of the same units: records, or with ``on="criteria"`` records and criteria.

    Judges speak through the joined samples of each record (`Said`): ``complete`` by their rubric's rule on the mean. A cell that is
    missing is no rating; levels that differ only in case or outer spaces are one, with a note.

    Raises
    ------
    StatisticsError : there are no labels; a rater is the judge itself. InputError : an unknown rater. UsageError : several data sets.
    """

    from judgekit.analysis.source import choose, fold_levels
    from judgekit.data.labels import is_join

    table = source.kind == "table"
    if table and not asked.raters:
        raise UsageError(
            "which columns are the raters' is not named", file=source.file, field="raters",
            mend="--raters A,B for a table with a column a rater; --card for records",
        )  # fmt: skip
    answers = list(source.answers.values())
    sets = list(dict.fromkeys(answer.dataset for answer in answers))
    if asked.dataset:
        choose(sets, asked.dataset, "data set", InputError)
        answers = [answer for answer in answers if answer.dataset in asked.dataset]
        sets = list(asked.dataset)
    if len(sets) > 1:
        raise UsageError(f"the run holds {len(sets)} data sets", field="dataset", mend=f"--dataset {sets[0]}")
    on = "value" if table else asked.on
    if asked.where:
        answers = _where(answers, asked.where, source.file)
    labels = [(a, x) for a in answers for x in a.labels if table or asked.construct in (None, x.construct)]
    joins = sum(is_join(x) for _, x in labels)
    labels = [(a, x) for a, x in labels if not is_join(x)]
    constructs = sorted({x.construct for _, x in labels})
    if not labels:
        what = f"there are no labels of {asked.construct}" if asked.construct else "there are no labels"
        raise StatisticsError(what, mend="judge labelled records, or name a card that maps their labels")
    if len(constructs) > 1:
        raise StatisticsError(
            f"labels of several constructs: {', '.join(constructs)}", field="construct", mend="name one"
        )
    names = list(dict.fromkeys(x.rater or UNNAMED for _, x in labels))
    for name in asked.raters:
        if name not in names:
            raise InputError(f"no rater is called {name!r}", field="raters", mend=f"there are {', '.join(names)}")
    names = [name for name in names if not asked.raters or name in asked.raters]
    notes: list[str] = []
    hidden: Counter[str] = Counter()

    def heard(value: Any) -> Any:
        if table:
            from judgekit.data.table import is_missing

            declared = {str(one).casefold() for one in scale or ()}
            gone = is_missing(value) and str(value).strip().casefold() not in declared
            if gone and isinstance(value, str) and value.strip():
                hidden[value.strip()] += 1
            return None if gone or (isinstance(value, str) and value.strip() in asked.missing) else value
        return None if isinstance(value, str) and (value in asked.missing or not value.strip()) else value

    units: dict[tuple[str, str | None], str] = {}
    said: dict[str, dict[Any, Any]] = {name: {} for name in names}
    for answer, label in labels:
        name = label.rater or UNNAMED
        for key, value in _label_values(answer, label, on, asked.met) if name in said else ():
            units.setdefault(key, answer.cluster if answer.cluster is not None else answer.id)
            said[name][key] = heard(value)
    machine = _judges(source, units, on, heard, notes)
    if (
        machine
        and on == "criteria"
        and not asked.met
        and any(isinstance(w, str) for mine in said.values() for w in mine.values())
    ):
        machine = {}
        notes.append(
            "judges say met or not met, and raters use words: name those that mean met (--met) to compare them"
        )
    for judge, one in {judge: one for judge, (one, _) in machine.items()}.items():
        grader = same_model(one.judge, names, one.members)
        if grader is not None:
            raise StatisticsError(
                f"the labels of {grader} were written by the judge itself ({judge})",
                mend="leave that rater out with --raters, or leave the judge out",
            )
    if joins:
        notes.append(f"{joins} labels that join several raters were left out: raters are compared one by one")
    notes += [
        f"{n} cells say {word!r} and are read as missing; name it in --levels if it is a level"
        for word, n in hidden.items()
    ]
    keys = list(units)
    spoken: dict[Any, str] = {}
    levels = scale
    if on == "complete" or (on == "criteria" and asked.met):
        words = ("incomplete", "complete") if constructs[0] == "completeness" else ("no", "yes")
        spoken = dict(enumerate(words if on == "complete" else ("not met", "met")))
        levels = levels if levels is not None else list(spoken.values())
    both = {**said, **{judge: values for judge, (_, values) in machine.items()}}
    fold, told = fold_levels([v for values in both.values() for v in values.values()], levels, "ratings")
    notes += told

    def columns(side: dict[str, dict[Any, Any]]) -> dict[str, list[Any]]:
        return {
            name: [
                None if (v := values.get(key)) is None else fold(spoken.get(v, v) if isinstance(v, int | bool) else v)
                for key in keys
            ]
            for name, values in side.items()
        }

    known = any(answer.cluster is not None for answer in answers)
    return Ratings(
        units=["/".join(filter(None, key)) for key in keys], raters=columns(said),
        judges=columns({judge: values for judge, (_, values) in machine.items()}),
        clusters=[units[key] for key in keys] if known else None, levels=levels,
        what=f"{len(answers)} rows" if table else f"{constructs[0]}, {on}"
        + (f" ({' or '.join(asked.met)} is met)" if asked.met and on == "criteria" else ""),
        notes=notes,
    )  # fmt: skip


def _where(answers: Sequence[Answer], where: Sequence[str], file: str | None) -> list[Answer]:
    import pandas as pd

    from judgekit.analysis.frames import filtered

    frame = pd.DataFrame([{**one.meta, "__place__": place} for place, one in enumerate(answers)], dtype=object)
    return [answers[place] for place in filtered(frame, where, file)["__place__"]]


def _label_values(answer: Answer, label: Any, on: str, met: Sequence[str]) -> list[tuple[tuple[str, str | None], Any]]:
    if on != "criteria":
        value = getattr(label, on)
        return [((answer.id, None), int(value) if isinstance(value, bool) and on == "complete" else value)]
    out: list[tuple[tuple[str, str | None], Any]] = []
    for criterion, word in (label.criteria or {}).items():
        if word is not None and met:
            word = int(word if isinstance(word, bool) else word in met)
        out.append(((answer.id, criterion), int(word) if isinstance(word, bool) else word))
    return out


def _judges(
    source: Source, units: Mapping[tuple[str, str | None], str], on: str, heard: Any, notes: list[str]
) -> dict[str, tuple[Judged, dict[Any, Any]]]:
    """Each judge's word on each unit, and notes on what is missing."""
    judged = [
        one
        for one in source.judged
        if (one.rubric is not None or source.kind != "run")
        and (not source.option("dataset") or one.dataset in source.option("dataset"))
    ]
    several = len({one.rubric for one in judged}) > 1
    out: dict[str, tuple[Judged, dict[Any, Any]]] = {}
    for one in judged:
        name = f"{one.rubric} / {one.judge}" if several else str(one.judge)
        mine: dict[Any, Any] = {}
        tied = 0
        for record, said in one.said.items():
            if on == "criteria":
                for criterion, met in said.met.items():
                    if (record, criterion) in units and met != 0.5:
                        mine[record, criterion] = int(met > 0.5)
                    tied += met == 0.5
                continue
            value: Any = None
            if source.kind != "run":
                value = heard(said.value)
                value = int(value) if isinstance(value, bool) else value
            elif on == "complete":
                value = None if said.complete is None else int(said.complete)
                tied += said.tied
            elif on in ("score", "value"):
                value = said.score if on == "score" else said.raw
            if (record, None) in units and value is not None:
                mine[record, None] = value
        unscored = sum(said.unscored for said in one.said.values())
        if unscored and source.kind == "run":
            notes.append(f"{name}: {unscored} unscored judgements are missing ratings")
        if tied:
            notes.append(f"{name}: on {tied} units its samples tie, which is a missing rating")
        if mine:
            out[name] = (one, mine)
    return out


def judge_correlations(
    judged: Sequence[Judged], source: Source, *, replicates: int = 1000, seed: int = 0, level: float = 0.95
) -> list[dict[str, Any]]:
    """Pearson and Spearman between judges' raw scores, per data set and rubric (Same Verdict, appendix E.2).

    Samples are averaged within a record first, unscored ones left out; a panel is like its own members, and takes no part.
    """
    from judgekit.analysis.frames import said_number

    groups: dict[tuple[str, str | None], list[Judged]] = {}
    for one in judged:
        if not one.members:
            groups.setdefault((one.dataset, one.rubric), []).append(one)
    rows: list[dict[str, Any]] = []
    for (dataset, rubric), several in groups.items():
        if len(several) < 2:
            continue
        scores: dict[str, dict[str, float | None]] = {}
        try:
            for one in several:
                scores[str(one.judge)] = {
                    key: said.raw if source.kind == "run" else said_number(said.value) for key, said in one.said.items()
                }
        except (TypeError, ValueError):
            continue  # words have no correlation
        keys = list(dict.fromkeys(key for values in scores.values() for key in values))
        clusters = [source.answers[dataset, key].cluster for key in keys]
        rows += correlations(
            {name: [values.get(key) for key in keys] for name, values in scores.items()},
            None if any(one is None for one in clusters) else [str(one) for one in clusters],
            replicates=min(1000, replicates), seed=seed, head={"dataset": dataset, "rubric": rubric} if rubric else None,
        )  # fmt: skip
    return rows


def correlation_matrix(
    rows: Sequence[dict[str, Any]], method: str = "pearson"
) -> tuple[list[str], list[list[float | None]]]:
    """Judges' names and the square of their correlations, for a heat map of one data set and rubric.

    `rows` come from `correlations`; the diagonal is None (a judge with itself says nothing), as is what is undefined.
    """
    names = list(dict.fromkeys(name for row in rows for name in (row["a"], row["b"])))
    place = {name: index for index, name in enumerate(names)}
    square: list[list[float | None]] = [[None] * len(names) for _ in names]
    for row in rows:
        a, b = place[row["a"]], place[row["b"]]
        square[a][b] = square[b][a] = row[method]
    return names, square


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


def agreement(ratings: Ratings, *, replicates: int = 2000, seed: int = 0, level: float = 0.95) -> Result:
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
    from judgekit.stats.agreement import encode

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

    from judgekit.stats.agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha
    from judgekit.stats.bootstrap import Estimate

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
    from judgekit.stats.agreement import balanced_f1, cohen_kappa, percent_agreement

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

    from judgekit.stats.ceiling import human_ceiling

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

    from judgekit.stats.correlation import correlation

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
