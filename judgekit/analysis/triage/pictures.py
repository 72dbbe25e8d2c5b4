"""Pictures of a triage: the ROC curve, and workload against recall, with their signature and denominators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from judgekit.draw.spec import Axis, Figure, Guide, Plot, Point, Series
from judgekit.errors import StatisticsError

if TYPE_CHECKING:
    from judgekit.analysis.triage.row import Row

__all__ = ["roc_plot", "saved_plot", "triage_figure", "workload_plot"]

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


def workload_plot(rows: Sequence[Row], names: Sequence[str], recall: float, start: int = 0) -> Plot:
    """Workload against recall as steps, since a target between two levels needs the upper one; the target is dashed."""
    series = []
    for index, (row, name) in enumerate(zip(rows, names, strict=True), start):
        curve, point = row.curve, row.point
        assert curve is not None
        caught = curve.caught / curve.n_incomplete
        read = (curve.caught + curve.false_alarms) / (curve.n_incomplete + curve.n_complete)
        mark = None if point.recall is None or point.workload is None else (point.recall, point.workload)
        points = [(0.0, 0.0), *zip(caught.tolist(), read.tolist(), strict=True)]
        series.append(Series(name, points, index, mark, steps=True))
    guides = [
        Guide(((0, 0), (1, 1)), "random order", (0.3, 0.24)),
        Guide(((recall, 0), (recall, 1)), target=True),
    ]
    shares = {round(row.auc.n_incomplete / (row.auc.n_incomplete + row.auc.n_complete), 6) for row in rows}
    if len(shares) == 1:
        guides.append(Guide(((0, 0), (1, shares.pop())), "perfect judge", (0.36, 0.03)))
    across, up = Axis(CAUGHT, percent=True), Axis("of all answers read, %", percent=True)
    return Plot(across, up, series, guides, "workload")


def saved_plot(rows: Sequence[Row], names: Sequence[str], recall: float) -> Plot:
    """What is left unread against recall: the curves of `workload_plot` upside down, with random order as their chance line."""
    under = workload_plot(rows, names, recall)

    def turned(points: Sequence[Point]) -> list[Point]:
        return [(x, 1 - y) for x, y in points]

    series = [
        replace(one, points=turned(one.points), mark=None if one.mark is None else (one.mark[0], 1 - one.mark[1]))
        for one in under.series
    ]
    guides = [
        replace(one, points=turned(one.points), at=None if one.at is None else (one.at[0], 1 - one.at[1] - 0.05 * (one.text == "perfect judge")))
        for one in under.guides
    ]  # fmt: skip
    return Plot(under.x, Axis("of all answers left unread, %", percent=True), series, guides)


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
