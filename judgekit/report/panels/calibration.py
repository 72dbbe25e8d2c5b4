"""Does a score mean the same chance of incompleteness on other questions? Reliability of maps learnt on half of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgekit.draw.spec import Axis, Guide, Plot, Series
from judgekit.report.model import MOST_FIGURES, Figure, LeftOut, Notes, Panel
from judgekit.report.model import Grid as Table

if TYPE_CHECKING:
    from judgekit.analysis.triage.row import Row
    from judgekit.report.context import Context

TITLE = "From score to chance"
QUESTION = "How much, and how sure?"
ORDER = 40
SMALLEST = 40

__all__ = ["ORDER", "QUESTION", "TITLE", "build"]


def build(context: Context) -> Panel | LeftOut:
    if not context.drawable:
        return LeftOut(context.no_curve())
    able = [row for row in context.drawable if row.values["n"] >= SMALLEST]
    if not able:
        return LeftOut(
            f"fewer than {SMALLEST} answers are both scored and labelled, too few to learn on one half and test on the other"
        )
    figures, reasons = [], []
    for number, row in enumerate(able[:MOST_FIGURES]):
        found = _figure(context, row, number)
        if isinstance(found, str):
            reasons.append(f"{context.name(row)}: {found}")
        else:
            figures.append(found)
    if not figures:
        return LeftOut("; ".join(reasons))
    lead = (
        "A map from score to the chance that an answer is incomplete is learnt on half of the questions and tested on the other half. "
        "On the diagonal, of the answers called 30 % likely to be incomplete 30 % are."
    )
    return Panel(lead, (*figures, Notes(reasons)))


def _figure(context: Context, row: Row, number: int) -> Figure | str:
    from judgekit.analysis.triage.calibration import calibrate

    found = calibrate(row.cell, higher_is_worse=row.worse)
    if not found.maps:
        return found.reason or "no map could be learnt"
    series, data = [], []
    for place, item in enumerate(found.maps):
        skill = "" if item.skill is None else f", {100 * item.skill:+.0f} % against always saying the prevalence"
        points = [(float(b.predicted), float(b.observed)) for b in item.curve if b.n]
        if points:
            series.append(Series(f"{item.name}: Brier {item.brier:.3f}{skill}", points, place, dots=True))
        data += [[item.name, b.n, b.predicted, b.observed, b.observed_low, b.observed_high] for b in item.curve]
    title, name = context.name(row), f"calibration-{number}"
    said = "; ".join(f"{d[0]} says {_two(d[2])}, was {_two(d[3])} of {d[1]}" for d in data if d[1])
    says = f"Reliability. {said}."
    across, up = Axis("said to be incomplete, %", percent=True), Axis("was incomplete, %", percent=True)
    chart = Plot(across, up, series, (Guide(((0, 0), (1, 1)), "as said", (0.1, 0.16)),))
    grid = Table(name, "Reliability", ["map", "answers", "predicted", "observed", "low", "high"], data)
    caption = f"Learnt on {found.n_taught} answers, tested on {found.n_tested} of other questions."
    return Figure(name, title, (chart,), says, caption, context.signature, grid)


def _two(value: Any) -> str:
    return "–" if value is None else f"{value:.2f}"
