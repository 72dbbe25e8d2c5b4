"""From cells to rows, and the result that shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from judgekit.analysis.cells import Cell
from judgekit.analysis.result import Result, plain
from judgekit.analysis.result import signature as signed
from judgekit.analysis.triage.certified import certify_rows, match_calibration
from judgekit.analysis.triage.extras import Pair, add_extras, details, pairs
from judgekit.analysis.triage.row import FIELDS, Choices, Row, make_row
from judgekit.analysis.triage.text import sections, tables
from judgekit.errors import StatisticsError, UsageError

if TYPE_CHECKING:
    import pandas

__all__ = ["TriageResult", "make_choices", "read_confidence", "triage_cells"]


@dataclass(repr=False)
class TriageResult(Result):
    """Rows of operating points with the signature of everything that decides their numbers.

    `operating_points` holds the rows with all their details; `table` the contract's fields as a DataFrame.
    """

    operating_points: tuple[Row, ...] = ()
    choices: Choices = field(default_factory=lambda: Choices(Fraction(9, 10)))

    def pairs(self) -> list[Pair]:
        """Judges and rubrics of a data set compared two by two, by paired DeLong over common records."""
        return pairs(self.operating_points, self.choices)

    @property
    def left_out(self) -> tuple[str, ...]:
        """What the source held and no row stands on, in sentences."""
        return tuple(self.notes)

    @property
    def table(self) -> pandas.DataFrame:
        """One line a row, the fields of ``triage --json``, with real types; undefined is missing."""
        return self.frame("rows")

    def details(self) -> list[dict[str, Any]]:
        """What the contract's fields leave out, a row each, as plain JSON values."""
        return [details(row, self.choices) for row in self.operating_points]

    def to_json(self) -> dict[str, Any]:
        """The object that ``triage --json`` prints; only plain JSON values, no NaN."""
        return (
            {"rows": [_plain(row) for row in self.operating_points]}
            | self.more_json()
            | {"notes": list(self.notes), "signature": self.signature}
        )

    def more_json(self) -> dict[str, Any]:
        """What was asked for beside the rows."""
        return {key: plain(value) for key, value in self.more.items()}

    def text(self, width: int = 110) -> str:
        """The readable tables, with what they mean, what stands beside them, and every note."""
        if not self.operating_points:
            return f"Nothing to triage: no judgement is there.\n{self.signature}\n"
        shown = replace(self, tables=[one for one in self.tables if one.name != "rows"])
        return Result.text(shown, width)


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
    """Check what a person asked for; UsageError for a recall outside (0, 1]."""
    from judgekit.stats.interval import exact_share

    try:
        share = exact_share(recall)
    except ValueError as error:
        raise UsageError(str(error), field="recall") from None
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
) -> TriageResult:
    """Compute the rows of prepared cells; raises StatisticsError when every one is refused.

    Parameters
    ----------
    certify : confidence of a certified threshold, or None.
    calibration : cells that choose the threshold, with their source's name; they share no question with `cells`.
    """
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
    extra = {"certify": None if certify is None else float(certify), "calibration": origin or None}
    several = pairs(rows, choices)
    return TriageResult(
        tables(rows, choices, [_plain(row) for row in rows]), signature(rows, choices, source, **extra), list(left),
        sections(rows, several), lambda: _picture(rows, choices, signature(rows, choices, source, **extra)), {}, tuple(rows), choices,
    )  # fmt: skip


def _picture(rows: Sequence[Row], choices: Choices, mark: str) -> Any:
    from judgekit.analysis.triage.pictures import triage_figure

    return triage_figure(rows, float(choices.recall), mark)


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
            note = f"one of {many} judges and rubrics looked at: the estimate for the best of many is optimistic until other records confirm it"
            row = row.with_values(notes=[*row.values["notes"], note])
        done.append(row)
    return done


def _calibrated(row: Row) -> Row:
    from judgekit.analysis.triage.calibration import calibrate, calibration_lines

    if row.refused or row.cell.weight is not None:
        return row
    found = calibrate(row.cell, higher_is_worse=row.worse)
    lines = [*row.extra.get("lines", []), *calibration_lines(found)]
    return replace(row, extra=row.extra | {"calibration": found.to_json(), "lines": lines})


def chosen_elsewhere(cell: Cell, choices: Choices, origin: str) -> Choices:
    """The choices with the threshold that a calibration cell chooses; StatisticsError where it has no incomplete answer."""
    from judgekit.stats.operating_point import operating_point

    weight = None if cell.weight is None else cell.weight[cell.used]
    point = operating_point(
        cell.label[cell.used] == 1,
        cell.score[cell.used],
        choices.recall,
        weight=weight,
        higher_is_worse=choices.higher_is_worse,
    )
    if point.threshold is None:
        raise StatisticsError(f"the calibration {origin} chooses no threshold: {point.reason}")
    return replace(choices, threshold=point.threshold, threshold_from=f"was chosen on {origin}")


def signature(rows: Sequence[Row], choices: Choices, source: str, **extra: Any) -> str:
    """Everything that decides the numbers, versions included, on one line."""
    import numpy
    import scipy

    clustered = any(row.cell.cluster is not None and len(set(row.cell.cluster)) < len(row.cell.ids) for row in rows)
    weighted = any(row.cell.weight is not None for row in rows)
    chosen: dict[str, Any] = (
        {"recall": choices.recall_text} if choices.threshold is None else {"threshold": f"{choices.threshold:g}"}
    )
    return signed(
        triage="incomplete", source=source, flag="score>=t" if choices.higher_is_worse else "score<=t", **chosen, samples="mean, then the rule",
        auc="ties half", interval="DeLong Wald clipped, logit DeLong (Clopper-Pearson at 0 and 1)",
        clusters="Obuchowski t(G-1)" if clustered else None, weights="1/sampling probability" if weighted else None,
        mann_whitney="exact<=200000", unscored=choices.unscored, **extra, numpy=numpy.__version__, scipy=scipy.__version__,
    )  # fmt: skip


def _plain(row: Row) -> dict[str, Any]:
    values: dict[str, Any] = plain({name: row.values[name] for name in FIELDS})
    if row.cell.stratum is not None:
        values["by"] = {row.cell.stratum[0]: row.cell.stratum[1]}
    return values
