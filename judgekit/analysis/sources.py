"""Opens a run or a table and gives its cells, in one way for every analysis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judgekit.analysis.cells import Cell
from judgekit.analysis.selection import Columns, Selection
from judgekit.errors import UsageError

__all__ = ["Loaded", "Loader", "is_run", "make_loader"]


@dataclass(frozen=True)
class Loaded:
    """Cells with the name of their source (and its hash where it is a file), and what was left out."""

    cells: list[Cell]
    name: str
    left_out: list[str]


@dataclass(frozen=True)
class Loader:
    """Loads a source and, where there is one, its calibration in the same way."""

    columns: Columns
    selection: Selection
    join: str | None = None

    def load(self, source: Any) -> Loaded:
        """Read a run (folder or object) or a table (path or DataFrame)."""
        self._fits(source)
        if is_run(source):
            from judgekit.analysis.triage_run import run_cells

            if isinstance(source, str | Path):
                from judgekit.runs.store import open_run

                source = open_run(source)
            name, chosen, more = f"run:{Path(source.path).name}", self.selection, []
            if chosen.panel is not None:
                from judgekit.analysis.panel import PanelRun

                source = PanelRun(
                    source, chosen.panel, judges=chosen.judges, rubrics=chosen.rubrics, datasets=chosen.datasets
                )
                name, chosen, more = f"{name} panel {chosen.panel}", replace(chosen, judges=()), source.notes()
            cells, left = run_cells(source, chosen)
            return Loaded(cells, name, [*left, *more])
        from judgekit.analysis.tables import read_table
        from judgekit.analysis.triage_table import table_cells

        table = read_table(source)
        cells = table_cells(table, self.columns, join=self.join, complete_when=self.selection.complete_when)
        return Loaded(cells, f"{table.name}@{table.digest[:12]}", [])

    def _fits(self, source: Any) -> None:
        """UsageError for a word that this kind of source would silently not heed."""
        run = is_run(source)
        mine, plain = (self.columns, Columns()) if run else (self.selection, Selection())
        names = ("label", "score", "cluster", "id", "severity", "label_is") if run else (
            "datasets", "rubrics", "judges", "construct", "complete_values", "panel",
        )  # fmt: skip
        for name in names:
            if getattr(mine, name) != getattr(plain, name):
                word = name.removesuffix("s").replace("_", "-")
                kind = "a run, which has labels, scores and questions of its own" if run else "a table"
                raise UsageError(f"--{word} says nothing about {kind}", field=word, mend="leave it out")


def is_run(source: Any) -> bool:
    """Whether `source` is a run: an object with its frames, or a folder."""
    if hasattr(source, "latest") and hasattr(source, "judgements"):
        return True
    return isinstance(source, str | Path) and Path(source).is_dir()


def make_loader(
    *,
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
    dataset: str | Sequence[str] = (),
    rubric: str | Sequence[str] = (),
    judge: str | Sequence[str] = (),
    metric: str | Sequence[str] = (),
    construct: str | None = None,
    complete_value: str | Sequence[str] = (),
    panel: str | None = None,
) -> Loader:
    """A loader from the words of `triage` and `screen`; each is described there."""
    scores = tuple(dict.fromkeys([score] if isinstance(score, str) else score))
    columns = Columns(label, scores, cluster, rater, id, sampling_probability, severity, by, label_is)
    metrics = None if metric in ("all", ("all",), ["all"]) else _names(metric)
    selection = Selection(
        rater or join,
        by,
        _names(dataset),
        _names(rubric),
        _names(judge),
        complete_when,
        construct,
        _names(complete_value),
        sampling_probability,
        metrics,
        panel,
    )
    return Loader(columns, selection, join)


def _names(some: str | Sequence[str]) -> tuple[str, ...]:
    return (some,) if isinstance(some, str) else tuple(some)
