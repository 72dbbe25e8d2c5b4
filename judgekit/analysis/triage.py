"""How much of the clinician's reading can a judge take away? The operating point against clinicians' labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit import __version__
from judgekit.analysis.cells import Cell
from judgekit.analysis.triage_row import FIELDS, UNSCORED, Choices, Row, make_row
from judgekit.errors import StatisticsError, UsageError

if TYPE_CHECKING:
    import pandas

__all__ = ["Triage", "triage"]


@dataclass(frozen=True)
class Triage:
    """Rows of operating points with the signature of everything that decides their numbers.

    `operating_points` holds the rows with all their details; `table` the contract's fields as a DataFrame.
    """

    operating_points: tuple[Row, ...]
    signature: str
    choices: Choices

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
        from judgekit.analysis.pictures import triage_picture

        triage_picture(self, path)


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
    id: str | None = None,
    sampling_probability: str | None = None,
    severity: str | None = None,
    complete_when: str | None = None,
    by: str | None = None,
    unscored: str = "drop",
    threshold: float | None = None,
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
    rater, join, id : long tables with a row a rater: its column, how raters are also joined (majority, worst), the id column.
    sampling_probability : column in (0, 1]: how likely a record was to be labelled; weights by its inverse.
    severity : column with the severity of what is missing.
    complete_when : the judge's own fixed threshold, such as ``>= 4``, for F1, precision and recall of its verdict.
    by : column that splits the rows into strata.
    unscored : ``drop`` (default), or count unscored answers as flagged ``first`` or ``last``.
    threshold : one that was set beforehand; inclusive. Then nothing is chosen on these records.

    Raises
    ------
    StatisticsError : every row was refused, or repeated questions have no cluster.
    DataError : a row cannot be read; names file and line.
    """
    choices = make_choices(recall, higher_is_worse=higher_is_worse, unscored=unscored, threshold=threshold)
    from judgekit.analysis.triage_table import Columns, read_table, score_columns, table_cells

    columns = Columns(
        label,
        score_columns([score] if isinstance(score, str) else score),
        cluster,
        rater,
        id,
        sampling_probability,
        severity,
        by,
        label_is,
    )
    table = read_table(source)
    cells = table_cells(table, columns, higher_is_worse=higher_is_worse, join=join, complete_when=complete_when)
    return triage_cells(cells, choices, f"{table.name}@{table.digest[:12]}")


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


def triage_cells(cells: Sequence[Cell], choices: Choices, source: str) -> Triage:
    """Compute the rows of prepared cells; raises StatisticsError when every one is refused."""
    rows = tuple(make_row(cell, choices) for cell in cells)
    if rows and all(row.refused for row in rows):
        raise StatisticsError(f"refused: {rows[0].refused}")
    return Triage(rows, signature(rows, choices, source), choices)


def signature(rows: Sequence[Row], choices: Choices, source: str) -> str:
    """Everything that decides the numbers, versions included, on one line."""
    import numpy
    import scipy

    clustered = any(row.cell.cluster is not None for row in rows)
    weighted = any(row.cell.weight is not None for row in rows)
    rule = "score>=t" if choices.higher_is_worse else "score<=t"
    chosen = f"recall>={choices.recall_text}" if choices.threshold is None else f"threshold={choices.threshold:g}"
    parts = [
        f"judgekit {__version__}", f"data {source}", "positive incomplete", f"flag {rule}", chosen, "AUC ties half",
        "CI95 DeLong Wald clipped, logit DeLong (Clopper-Pearson at 0 and 1)",
        *(["clusters Obuchowski t(G-1)"] if clustered else []),
        *(["weights 1/sampling probability"] if weighted else []),
        "Mann-Whitney exact<=200000", f"unscored {choices.unscored}", f"numpy {numpy.__version__}", f"scipy {scipy.__version__}",
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
