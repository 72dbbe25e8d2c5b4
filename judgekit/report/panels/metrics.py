"""Local metrics: how often each component fails, and where failures meet."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from judgekit.errors import JudgekitError
from judgekit.report.context import rows_of
from judgekit.report.model import Grid, LeftOut, Notes, Panel, grid_of, number

if TYPE_CHECKING:
    from judgekit.report.context import Context

TITLE = "Local metrics"
QUESTION = "How was it made?"
ORDER = 130

__all__ = ["ORDER", "QUESTION", "TITLE", "build"]


def build(context: Context) -> Panel | LeftOut:
    from judgekit.analysis.failures import failures

    if not len(context.measurements):
        return LeftOut("nothing was measured (judgekit measure DATA --metric M --out RUN)")
    blocks: list[Grid | Notes] = [_values(context)]
    try:
        found = failures(context.source, replicates=300)
    except JudgekitError as error:
        blocks.append(Notes([f"No failure flags: {error.message}."]))
    else:
        blocks += [grid_of(table, found.signature, f"metrics-{table.name}") for table in found.tables if table.rows]
        if found.notes:
            blocks.append(Notes(list(dict.fromkeys(found.notes))))
    return Panel(
        "Numbers that no judge gave: entities, similarity, entailment, structure. A value that is not defined is counted, never 0.",
        tuple(blocks),
    )


def _values(context: Context) -> Grid:
    import numpy as np

    values: dict[tuple[str, str, str], list[float | None]] = defaultdict(list)
    for row in rows_of(context.measurements):
        values[row.dataset, row.metric, row.signature].append(None if row.value is None else float(row.value))
    rows, shown = [], []
    for (dataset, metric, mark), every in values.items():
        there = [v for v in every if v is not None]
        middle = [float(q) for q in np.quantile(there, [0.25, 0.5, 0.75])] if there else [None, None, None]
        mean = float(np.mean(there)) if there else None
        rows.append([metric, dataset, len(there), len(every) - len(there), mean, *middle, mark])
        shown.append(
            [
                metric,
                dataset,
                str(len(there)),
                str(len(every) - len(there)),
                *(number(v, 3) for v in (mean, *middle)),
                mark,
            ]
        )
    return Grid(
        "metric-values", "Values", ["metric", "data", "values", "not defined", "mean", "lower quarter", "median", "upper quarter", "signature"],
        rows, shown,
    )  # fmt: skip
