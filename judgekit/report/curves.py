"""ROC curves, and workload against recall: the figures whose marks the slider moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judgekit.report.charts import Line, unit_square
from judgekit.report.model import Figure, Grid, number, share
from judgekit.report.svg import SERIES

if TYPE_CHECKING:
    from judgekit.analysis.triage.row import Row
    from judgekit.report.context import Context

__all__ = ["roc", "workload"]


def _name(kind: str, start: int) -> str:
    return kind if start == 0 else f"{kind}-{start // SERIES + 1}"


def roc(context: Context, rows: list[Row], start: int) -> Figure:
    """The ROC curves of up to eight rows, the first of which is number `start` of all."""
    lines, data = [], []
    for place, row in enumerate(rows):
        curve, interval = row.curve, row.headline.interval
        assert curve is not None
        recall = np.concatenate([[0.0], curve.caught / curve.n_incomplete])
        alarms = np.concatenate([[0.0], curve.false_alarms / curve.n_complete])
        span = f" ({number(interval.low)}–{number(interval.high)})" if interval.low is not None else ""
        mark = None
        if row.point.recall is not None and row.point.specificity is not None:
            mark = (1 - row.point.specificity, row.point.recall)
        points = list(zip(alarms.tolist(), recall.tolist(), strict=True))
        lines.append(Line(f"{context.name(row)}: AUC {number(row.auc.value)}{span}", points, start + place, mark))
        data += [
            [context.name(row), float(t), int(c), int(curve.n_incomplete), int(f), int(curve.n_complete)]
            for t, c, f in zip(curve.threshold, curve.caught, curve.false_alarms, strict=True)
        ]
    said = "; ".join(line.name for line in lines)
    says = f"ROC curves. {said}. Dotted: no better than chance. The marks are the operating points."
    name = _name("roc", start)
    svg = unit_square(
        name, "ROC", says, lines, [Line("chance", [(0, 0), (1, 1)], 0, (0.62, 0.54))],
        "complete answers read for nothing, %", "incomplete answers caught, %", kind="roc",
    )  # fmt: skip
    columns = ["row", "threshold", "incomplete caught", "incomplete", "complete read", "complete"]
    grid = Grid(name, "Each threshold", columns, data, most=60)
    counts = "; ".join(
        f"{context.name(row)}: {row.auc.n_incomplete} incomplete, {row.auc.n_complete} complete" for row in rows
    )
    return Figure(name, "ROC", svg, says, f"{counts}. Ties count half. Intervals of 95 %.", grid, context.signature)


def workload(context: Context, rows: list[Row], start: int, target: float) -> Figure:
    """Workload against recall of up to eight rows, as steps: a target between two levels needs the upper one."""
    lines, data = [], []
    for place, row in enumerate(rows):
        curve = row.curve
        assert curve is not None
        n = curve.n_incomplete + curve.n_complete
        caught = np.concatenate([[0.0], curve.caught]) / curve.n_incomplete
        read = np.concatenate([[0.0], curve.caught + curve.false_alarms]) / n
        points = [(float(caught[0]), float(read[0]))]
        for i in range(1, caught.size):
            points += [(float(caught[i - 1]), float(read[i])), (float(caught[i]), float(read[i]))]
        mark = (
            None if row.point.recall is None or row.point.workload is None else (row.point.recall, row.point.workload)
        )
        lines.append(Line(context.name(row), points, start + place, mark))
        data += [
            [context.name(row), float(t), int(c), int(c + f), int(curve.n_incomplete), int(n), float(c / curve.n_incomplete), float((c + f) / n)]
            for t, c, f in zip(curve.threshold, curve.caught, curve.false_alarms, strict=True)
        ]  # fmt: skip
    said = "; ".join(
        f"{context.name(row)}: {share(row.point.flagged, row.point.n)} read to catch {share(row.point.caught, row.point.n_incomplete)}"
        for row in rows
    )
    says = f"Workload against recall. {said}. A random order reads about as many per cent as it catches."
    name = _name("workload", start)
    shares = {round(row.auc.n_incomplete / (row.auc.n_incomplete + row.auc.n_complete), 6) for row in rows}
    guides = [Line("random order", [(0, 0), (1, 1)], 0, (0.3, 0.24))]
    if len(shares) == 1:
        guides.append(Line("perfect judge", [(0, 0), (1, shares.pop())], 0, (0.36, 0.03)))
    svg = unit_square(
        name,
        "Workload against recall",
        says,
        lines,
        guides,
        "incomplete answers caught, %",
        "of all answers read, %",
        target=target,
        kind="workload",
    )
    columns = ["row", "threshold", "incomplete caught", "read", "incomplete", "answers", "recall", "workload"]
    counts = "; ".join(f"{context.name(row)}: {row.point.n_incomplete:g} incomplete of {row.point.n:g}" for row in rows)
    caption = f"{counts}. Unscored answers are not on the curves; the numbers beside the slider count them as read."
    return Figure(
        name,
        "Workload against recall",
        svg,
        says,
        caption,
        Grid(name, "Each threshold", columns, data, most=60),
        context.signature,
    )
