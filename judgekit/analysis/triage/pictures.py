"""Pictures of a triage: the ROC curve, and workload against recall, with their signature and denominators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from judgekit.draw.spec import Axis, Figure, Guide, Plot, Series
from judgekit.errors import StatisticsError

if TYPE_CHECKING:
    from judgekit.analysis.triage.row import Row

__all__ = ["roc_plot", "triage_figure", "workload_plot"]

CAUGHT = "incomplete answers caught, %"


def roc_plot(rows: Sequence[Row], names: Sequence[str], start: int = 0) -> Plot:
    """The ROC curves of rows that have one; `start` is the number of the first among all that are drawn."""
    series = []
    for index, (row, name) in enumerate(zip(rows, names, strict=True), start):
        curve, point, ends = row.curve, row.point, row.headline.interval
        assert curve is not None
        alarms, caught = curve.false_alarms / curve.n_complete, curve.caught / curve.n_incomplete
        span = "" if ends.low is None or ends.high is None else f" ({ends.low:.2f}–{ends.high:.2f})"
        mark = None
        if point.recall is not None and point.specificity is not None:
            mark = (1 - point.specificity, point.recall)
        points = [(0.0, 0.0), *zip(alarms.tolist(), caught.tolist(), strict=True)]
        series.append(Series(f"{name}: AUC {row.auc.value:.2f}{span}", points, index, mark))
    chance = Guide(((0, 0), (1, 1)), "chance", (0.62, 0.54))
    across = Axis("complete answers read for nothing, %", percent=True)
    return Plot(across, Axis(CAUGHT, percent=True), series, (chance,), "roc")


def workload_plot(
    rows: Sequence[Row], names: Sequence[str], recall: float, start: int = 0, *, saved: bool = False
) -> Plot:
    """Workload against recall as steps, since a target between two levels needs the upper one; the target is dashed.

    `saved` draws what is left unread instead.
    """

    def up(read: float) -> float:
        return 1 - read if saved else read

    series = []
    for index, (row, name) in enumerate(zip(rows, names, strict=True), start):
        curve, point = row.curve, row.point
        assert curve is not None
        caught = curve.caught / curve.n_incomplete
        read = (curve.caught + curve.false_alarms) / (curve.n_incomplete + curve.n_complete)
        mark = None if point.recall is None or point.workload is None else (point.recall, up(point.workload))
        points = [(0.0, up(0.0)), *zip(caught.tolist(), map(up, read.tolist()), strict=True)]
        series.append(Series(name, points, index, mark, steps=True))
    guides = [
        Guide(((0, up(0)), (1, up(1))), "random order", (0.3, up(0.24))),
        Guide(((recall, 0), (recall, 1)), target=True),
    ]
    shares = {round(row.auc.n_incomplete / (row.auc.n_incomplete + row.auc.n_complete), 6) for row in rows}
    if len(shares) == 1:
        guides.append(Guide(((0, up(0)), (1, up(shares.pop()))), "perfect judge", (0.36, up(0.08 if saved else 0.03))))
    words = "of all answers left unread, %" if saved else "of all answers read, %"
    return Plot(Axis(CAUGHT, percent=True), Axis(words, percent=True), series, guides, "" if saved else "workload")


def triage_figure(rows: Sequence[Row], recall: float, signature: str) -> Figure:
    """ROC and workload against recall beside each other, a line a row.

    Raises
    ------
    StatisticsError : no row has both classes, so that there is nothing to draw.
    """
    drawn = [row for row in rows if row.curve is not None and row.auc.value is not None]
    if not drawn:
        raise StatisticsError("nothing to draw: no row has both an incomplete and a complete answer with a score")
    names = [row.name for row in drawn]
    counts = "; ".join(
        f"{row.name}: {row.auc.n_incomplete:g} incomplete of {row.auc.n_incomplete + row.auc.n_complete:g}"
        + (f", {row.values['n_unscored']} unscored" if row.values["n_unscored"] else "")
        for row in drawn
    )
    says = f"ROC, and workload against recall. {counts}."
    caption = (
        f"{counts}. Marks are the operating points, for a recall of {100 * recall:g} % (dashed). Intervals of 95 %."
    )
    charts = (roc_plot(drawn, names), workload_plot(drawn, names, recall))
    return Figure("triage", "ROC, and workload against recall", charts, says, caption, signature)
