"""What every panel may read: the run's tables, the triage of its rows, and what the person asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from judgekit.analysis.source import Source, open_source
from judgekit.errors import JudgekitError
from judgekit.runs.reader import Run

if TYPE_CHECKING:
    import pandas as pd

    from judgekit.analysis.triage.row import Row
    from judgekit.analysis.triage.work import TriageResult

__all__ = ["Context", "Snapshot", "rows_of"]


class Snapshot(Run):
    """A run whose tables are read once, so that all panels speak of the same state, also while the run is written."""

    def __init__(self, run: Run) -> None:
        super().__init__(run.path)
        self._kept: dict[str, pd.DataFrame] = {}

    def _frame(self, table: str) -> pd.DataFrame:
        if table not in self._kept:
            self._kept[table] = super()._frame(table)
        return self._kept[table]

    @property
    def records(self) -> pd.DataFrame:
        if "records" not in self._kept:
            self._kept["records"] = super().records
        return self._kept["records"]

    def studies(self, name: str, start: str) -> list[dict[str, Any]]:
        """What a study committed under kinds that begin with `start`, by kind."""
        rows = self._rows("SELECT kind FROM studies WHERE name = ? ORDER BY kind", (name,), "studies")
        return [self.study(name, kind) or {} for (kind,) in rows if str(kind).startswith(start)]

    def latest(self) -> pd.DataFrame:
        """Judgements of each rubric's wording in use."""
        if "latest" not in self._kept:
            self._kept["latest"] = super().latest()
        return self._kept["latest"]


def rows_of(frame: pd.DataFrame) -> Iterator[Any]:
    """A frame's rows as named tuples; their cells are what the run holds, of any type."""
    return iter(frame.itertuples(index=False))


@dataclass(frozen=True)
class Context:
    """A run and the recall target (an exact decimal); everything else is computed once, when a panel first asks.

    `reasons` is another run that holds the pairs of `judgekit reasons`, or None: then this run is looked at. `metrics` are local
    metrics of the run that are triaged as scores too, or ``all``.
    """

    run: Snapshot
    recall: str = "0.9"
    title: str | None = None
    reasons: Run | None = None
    metrics: tuple[str, ...] = ()

    @cached_property
    def source(self) -> Source:
        """The run as every analysis reads it."""
        return open_source(self.run)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """Judgements of each rubric's wording in use."""
        frame: pd.DataFrame = self.source.latest  # type: ignore[attr-defined]
        return frame

    @cached_property
    def records(self) -> pd.DataFrame:
        return self.run.records

    @cached_property
    def labels(self) -> pd.DataFrame:
        return self.run.labels

    @cached_property
    def rubrics(self) -> pd.DataFrame:
        return self.run.rubrics

    @cached_property
    def measurements(self) -> pd.DataFrame:
        return self.run.measurements

    def studies(self, name: str, start: str) -> list[dict[str, Any]]:
        """States of a study whose kind begins with `start`."""
        return self.run.studies(name, start)

    @cached_property
    def _triage(self) -> TriageResult | str:
        from judgekit.analysis.triage import triage

        try:
            found: TriageResult = triage(self.source, self.recall, metric=self.metrics)
            return found
        except JudgekitError as error:
            if error.kind == "usage":
                raise
            return str(error)

    @property
    def triage(self) -> TriageResult | None:
        """Operating points of every data set, rubric, judge and rater; None with `problem` where it was refused."""
        return None if isinstance(self._triage, str) else self._triage

    @property
    def problem(self) -> str | None:
        """Why there is no triage."""
        return self._triage if isinstance(self._triage, str) else None

    @property
    def rows(self) -> tuple[Row, ...]:
        return () if self.triage is None else self.triage.operating_points

    @property
    def drawable(self) -> list[Row]:
        """Rows with both classes, so that a curve exists."""
        return [row for row in self.rows if row.curve is not None and row.auc.value is not None]

    @property
    def signature(self) -> str:
        return "" if self.triage is None else self.triage.signature

    def rule(self, row: Row) -> str | None:
        """When an answer is read, such as ``≤ 3``; None without a threshold."""
        if row.point.threshold is None:
            return None
        sign = "≥" if row.worse else "≤"
        return f"{sign}\u00a0{row.point.threshold:g}"

    def no_curve(self) -> str:
        """Why no row has a curve, in one line."""
        if self.problem is not None:
            return self.problem
        if not self.rows:
            return "no rubric of this run gives a score"
        reasons = list(dict.fromkeys(str(row.refused or row.auc.reason or row.point.reason) for row in self.rows))
        return "; ".join(reasons[:3])

    def name(self, row: Row) -> str:
        """A row's name without the parts that all rows share."""
        parts = ("dataset", "rubric", "judge", "rater")
        shown = [
            str(getattr(row.cell, part))
            for part in parts
            if getattr(row.cell, part)
            and (part in ("rubric", "judge") or len({getattr(other.cell, part) for other in self.rows}) > 1)
        ]
        return " · ".join(shown) or row.name
