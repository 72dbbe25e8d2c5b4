"""How much of the clinician's reading can a judge take away? The operating point against clinicians' labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit import __version__
from judgekit.analysis.cells import Cell
from judgekit.analysis.sources import make_loader
from judgekit.analysis.triage_row import FIELDS, UNSCORED, Choices, Row, make_row
from judgekit.errors import StatisticsError, UsageError

if TYPE_CHECKING:
    import pandas

    from judgekit.analysis.triage_extras import Pair

__all__ = ["Triage", "triage"]


@dataclass(frozen=True, repr=False)
class Triage:
    """Rows of operating points with the signature of everything that decides their numbers.

    `operating_points` holds the rows with all their details; `table` the contract's fields as a DataFrame. At a prompt and printed it
    shows its table.
    """

    operating_points: tuple[Row, ...]
    signature: str
    choices: Choices
    left_out: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return self.text()

    def pairs(self) -> list[Pair]:
        """Judges and rubrics of a data set compared two by two, by paired DeLong over common records."""
        from judgekit.analysis.triage_extras import pairs

        return pairs(self.operating_points, self.choices)

    @property
    def table(self) -> pandas.DataFrame:
        """One line a row, the fields of ``triage --json``; undefined is None."""
        import pandas

        names = [*FIELDS, *(["by"] if any(row.cell.stratum for row in self.operating_points) else [])]
        return pandas.DataFrame([_plain(row) for row in self.operating_points], columns=names, dtype=object)

    def to_json(self) -> dict[str, Any]:
        """The object that ``triage --json`` prints; only plain JSON values, no NaN."""
        return {"rows": [_plain(row) for row in self.operating_points], "signature": self.signature}

    def details(self) -> list[dict[str, Any]]:
        """What the contract's fields leave out, a row each, as plain JSON values."""
        from judgekit.analysis.triage_details import details

        return [details(row, self.choices) for row in self.operating_points]

    def text(self, width: int = 110) -> str:
        """The readable table, with what it means, what stands beside it, and every note."""
        from judgekit.analysis.triage_text import render

        return render(self, width)

    def picture(self, path: str | Path) -> None:
        """Draw ROC and workload against recall into a PNG, SVG or PDF file."""
        from judgekit.analysis.pictures import triage_figure
        from judgekit.draw.paper import save

        save(triage_figure(self.operating_points, float(self.choices.recall), self.signature), path)


def triage(
    source: Any,
    recall: str | float | Fraction = "0.9",
    *,
    higher_is_worse: bool = False,
    label: str = "incomplete",
    label_is: str | None = None,
    score: str | Sequence[str] = "score",
    cluster: str | None = None,
    rater: str | None = None,
    join: str | None = None,
    dataset: str | Sequence[str] = (),
    rubric: str | Sequence[str] = (),
    judge: str | Sequence[str] = (),
    metric: str | Sequence[str] = (),
    construct: str | None = None,
    complete_value: str | Sequence[str] = (),
    id: str | None = None,
    sampling_probability: str | None = None,
    severity: str | None = None,
    complete_when: str | None = None,
    by: str | None = None,
    unscored: str = "drop",
    threshold: float | None = None,
    certify: str | float | Fraction | None = None,
    calibration: Any = None,
    screen: str | Path | None = None,
    calibrate: bool = False,
    panel: str | None = None,
) -> Triage:
    """Find the threshold that catches a share of the incomplete answers, and what is left to read.

    Parameters
    ----------
    source : a run (folder or object), or a table (CSV, TSV, JSONL, Parquet, DataFrame) for which the columns are named below.
    recall : share of incomplete answers to catch, in (0, 1], an exact decimal; reached when caught / incomplete >= recall.
    higher_is_worse : a higher score means more incomplete. Never guessed.
    label, label_is : column with 0/1, true/false or yes/no; ``incomplete`` (default) or ``complete`` is what 1 means.
    score : column, or several: each is a judge.
    cluster : column that names what counts as one unit. Needed when a question repeats.
    rater, join, id : tables with a row a rater: its column, how raters are also joined (majority, worst), the id column. In a
        run `rater` is a name, ``each``, or a way to join (majority, worst, mean); by default the card's join.
    dataset, rubric, judge : keep only these of a run. metric : local metrics of a run to treat as scores too, or ``all``.
    construct, complete_value : whose labels of a run (the rubric's own construct by default), and which of their values mean
        complete where labels hold a value and no verdict (``Entailment``).
    panel : ``mean`` or ``majority`` joins a run's judges of each rubric into one more judge (see `analysis.panel`).
    sampling_probability : column in (0, 1]: how likely a record was to be labelled; weights by its inverse.
    severity : column with the severity of what is missing.
    complete_when : the judge's own fixed threshold, such as ``>= 4``, for F1, precision and recall of its verdict.
    by : column that splits the rows into strata.
    unscored : ``drop`` (default), or count unscored answers as flagged ``first`` or ``last``.
    threshold : one that was set beforehand; inclusive. Then nothing is chosen on these records.
    certify : confidence, such as 0.95, of a threshold whose recall is certified; half of the questions (by a hash) choose it, and
        it is reported on the others; or `calibration` chooses and all of `source` reports.
    calibration : another run or table, judged in the same way over other questions; it chooses the thresholds.
    screen : file that `judgekit screen` wrote; its score is triaged instead of its parts, and it refuses other rubrics, judges or
        metrics than its own, and the records that made it.

    calibrate : also learn the chance of incompleteness from the score on half of the questions, and test it on the others.

    Raises
    ------
    StatisticsError : every row was refused, or repeated questions have no cluster.
    DataError : a row cannot be read; names file and line.
    """
    choices = make_choices(recall, higher_is_worse=higher_is_worse, unscored=unscored, threshold=threshold)
    sure = None if certify is None else read_confidence(certify)
    loader = make_loader(
        label=label, label_is=label_is, score=score, cluster=cluster, rater=rater, join=join, id=id,
        sampling_probability=sampling_probability, severity=severity, complete_when=complete_when, by=by, dataset=dataset,
        rubric=rubric, judge=judge, metric="all" if screen is not None else metric, construct=construct, complete_value=complete_value,
        panel=panel,
    )  # fmt: skip
    here = loader.load(source)
    there = None if calibration is None else loader.load(calibration)
    cells, others = here.cells, None if there is None else there.cells
    left = here.left_out
    if screen is not None:
        from judgekit.analysis.screen import apply_screen, read_screen

        found = read_screen(screen)
        cells, left = apply_screen(found, cells), []
        others = None if others is None else apply_screen(found, others)
        if higher_is_worse:
            raise UsageError("a screen has a direction of its own", field="higher-is-worse", mend="leave it out")
    chosen = None if others is None or there is None else (others, there.name)
    return triage_cells(cells, choices, here.name, left, certify=sure, calibration=chosen, calibrate=calibrate)


def read_confidence(text: str | float | Fraction) -> Fraction:
    """A confidence such as 0.95, exact; UsageError outside (0, 1)."""
    from judgekit.stats.interval import exact_share

    try:
        sure = exact_share(text, "certify")
    except ValueError as error:
        raise UsageError(str(error), field="certify") from None
    if sure == 1:
        raise UsageError("nothing is certain", field="certify", mend="write a confidence such as 0.95")
    return sure


def make_choices(
    recall: str | float | Fraction,
    *,
    higher_is_worse: bool = False,
    unscored: str = "drop",
    threshold: float | None = None,
) -> Choices:
    """Check what a person asked for.

    Raises
    ------
    UsageError : a recall outside (0, 1], or a word that is no way to treat the unscored.
    """
    from judgekit.stats.interval import exact_share

    try:
        share = exact_share(recall)
    except ValueError as error:
        raise UsageError(str(error), field="recall") from None
    if unscored not in UNSCORED:
        raise UsageError(
            f"unscored answers cannot be {unscored!r}", field="unscored", mend=f"one of {', '.join(UNSCORED)}"
        )
    origin = None if threshold is None else "was set beforehand"
    return Choices(share, str(recall), higher_is_worse, unscored, threshold, origin)


def triage_cells(
    cells: Sequence[Cell],
    choices: Choices,
    source: str,
    left: Sequence[str] = (),
    *,
    certify: Fraction | None = None,
    calibration: tuple[Sequence[Cell], str] | None = None,
    calibrate: bool = False,
) -> Triage:
    """Compute the rows of prepared cells; raises StatisticsError when every one is refused.

    Parameters
    ----------
    certify : confidence of a certified threshold, or None.
    calibration : cells that choose the threshold, with their source's name; they share no question with `cells`.
    """
    from judgekit.analysis.certified import certify_rows, match_calibration
    from judgekit.analysis.triage_extras import add_extras

    others, origin = (None, "") if calibration is None else (match_calibration(cells, calibration[0]), calibration[1])
    rows = []
    for place, cell in enumerate(cells):
        one = choices if cell.higher_is_worse is None else replace(choices, higher_is_worse=cell.higher_is_worse)
        if others is not None and choices.threshold is None:
            one = chosen_elsewhere(others[place], one, origin)
        rows.append(add_extras(make_row(cell, one), one))
    if rows and all(row.refused for row in rows):
        raise StatisticsError(f"refused: {rows[0].refused}")
    rows = _best_of_many(rows)
    if certify is not None:
        rows = certify_rows(rows, choices, certify, others, origin)
    if calibrate:
        rows = [_calibrated(row) for row in rows]
    extra = [] if certify is None else [f"certify {float(certify):g}"]
    extra += [f"calibration {origin}"] if others is not None else []
    return Triage(tuple(rows), signature(rows, choices, source, extra), choices, tuple(left))


def _best_of_many(rows: Sequence[Row]) -> list[Row]:
    """Each row with a note where it is one of several judges and rubrics of its data set."""
    looked: dict[str, set[tuple[str | None, str | None]]] = {}
    for row in rows:
        if row.auc.value is not None:
            looked.setdefault(row.cell.dataset, set()).add((row.cell.rubric, row.cell.judge))
    done = []
    for row in rows:
        many = len(looked.get(row.cell.dataset, ()))
        if many > 1 and row.auc.value is not None:
            note = f"one of {many} judges and rubrics looked at: the best of many flatters itself until other records confirm it"
            row = row.with_values(notes=[*row.values["notes"], note])
        done.append(row)
    return done


def _calibrated(row: Row) -> Row:
    from judgekit.analysis.calibration import calibrate, calibration_lines

    if row.refused or row.cell.weight is not None:
        return row
    found = calibrate(row.cell, higher_is_worse=row.values["flag_if"].startswith("score >="))
    lines = [*row.extra.get("lines", []), *calibration_lines(found)]
    return replace(row, extra=row.extra | {"calibration": found.to_json(), "lines": lines})


def chosen_elsewhere(cell: Cell, choices: Choices, origin: str) -> Choices:
    """The choices with the threshold that a calibration cell chooses; StatisticsError where it has no incomplete answer."""
    from judgekit.stats.operating_point import operating_point

    point = operating_point(
        cell.label[cell.used] == 1, cell.score[cell.used], choices.recall, higher_is_worse=choices.higher_is_worse
    )
    if point.threshold is None:
        raise StatisticsError(f"the calibration {origin} chooses no threshold: {point.reason}")
    return replace(choices, threshold=point.threshold, threshold_from=f"was chosen on {origin}")


def signature(rows: Sequence[Row], choices: Choices, source: str, extra: Sequence[str] = ()) -> str:
    """Everything that decides the numbers, versions included, on one line."""
    import numpy
    import scipy

    clustered = any(row.cell.cluster is not None and len(set(row.cell.cluster)) < len(row.cell.ids) for row in rows)
    weighted = any(row.cell.weight is not None for row in rows)
    rule = "score>=t" if choices.higher_is_worse else "score<=t"
    chosen = f"recall>={choices.recall_text}" if choices.threshold is None else f"threshold={choices.threshold:g}"
    parts = [
        f"judgekit {__version__}", f"data {source}", "positive incomplete", f"flag {rule}", chosen, "AUC ties half",
        "CI95 DeLong Wald clipped, logit DeLong (Clopper-Pearson at 0 and 1)",
        *(["clusters Obuchowski t(G-1)"] if clustered else []),
        *(["weights 1/sampling probability"] if weighted else []),
        "Mann-Whitney exact<=200000", f"unscored {choices.unscored}", *extra, f"numpy {numpy.__version__}", f"scipy {scipy.__version__}",
    ]  # fmt: skip
    return " | ".join(parts)


def _plain(row: Row) -> dict[str, Any]:
    values = {name: row.values[name] for name in FIELDS}
    threshold = values["threshold"]
    if threshold in (float("inf"), float("-inf")):
        values["threshold"] = "inf" if threshold > 0 else "-inf"
    if row.cell.stratum is not None:
        values["by"] = {row.cell.stratum[0]: row.cell.stratum[1]}
    return values
