"""How much must a clinician still read? Workload against recall, with a slider that moves the operating point."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from judgekit.report.charts import Line, unit_square
from judgekit.report.model import Figure, Grid, LeftOut, Panel, Widget, number, percent, share
from judgekit.report.svg import SERIES

if TYPE_CHECKING:
    from judgekit.analysis.triage_row import Row
    from judgekit.report.context import Context

TITLE = "How much must a clinician still read?"
ORDER = 40
LOWEST, STEP = 500, 5  # per mille: where the slider begins, and its step

__all__ = ["ORDER", "TITLE", "build", "slider_row"]


def build(context: Context) -> Panel | LeftOut:
    rows = context.drawable
    if not rows:
        return LeftOut(context.no_curve())
    assert context.triage is not None
    target = context.triage.choices.recall
    blocks: list[Figure | Widget] = []
    for start in range(0, len(rows), SERIES):
        blocks.append(_figure(context, rows[start : start + SERIES], start, float(target)))
    widget = Widget(
        "slider",
        {
            "target": [target.numerator, target.denominator],
            "lowest": LOWEST, "step": STEP, "value": int(target * 1000),
            "rows": [slider_row(row, context.name(row), target) for row in rows],
            "first": _first(rows[0]),
        },
    )  # fmt: skip
    lead = (
        "Workload is the share of all answers that fall at or beyond the threshold, and are read. The dotted line is reading in random "
        "order; the dashed upright line is the recall target."
    )
    return Panel(lead, (widget, *blocks))


def _figure(context: Context, rows: list[Row], start: int, target: float) -> Figure:
    lines, data = [], []
    for place, row in enumerate(rows):
        curve = row.curve
        assert curve is not None
        n = curve.n_incomplete + curve.n_complete
        caught = np.concatenate([[0.0], curve.caught]) / curve.n_incomplete
        read = np.concatenate([[0.0], curve.caught + curve.false_alarms]) / n
        points = [(float(caught[0]), float(read[0]))]
        for i in range(1, caught.size):  # a target between two levels needs the upper one: steps, not slopes
            points += [(float(caught[i - 1]), float(read[i])), (float(caught[i]), float(read[i]))]
        mark = None if row.point.recall is None or row.point.workload is None else (row.point.recall, row.point.workload)
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
    name = "workload" if start == 0 else f"workload-{start // SERIES + 1}"
    shares = {round(row.auc.n_incomplete / (row.auc.n_incomplete + row.auc.n_complete), 6) for row in rows}
    guides = [Line("random order", [(0, 0), (1, 1)], 0, (0.3, 0.24))]
    if len(shares) == 1:
        guides.append(Line("perfect judge", [(0, 0), (1, shares.pop())], 0, (0.36, 0.03)))
    svg = unit_square(
        name, "Workload against recall", says, lines, guides, "incomplete answers caught, %", "of all answers read, %", target
    )
    columns = ["row", "threshold", "incomplete caught", "read", "incomplete", "answers", "recall", "workload"]
    counts = "; ".join(f"{context.name(row)}: {row.point.n_incomplete:g} incomplete of {row.point.n:g}" for row in rows)
    caption = f"{counts}. Unscored answers are not on the curves; the numbers beside the slider count them as read."
    return Figure(name, "Workload against recall", svg, says, caption, Grid(name, "Each threshold", columns, data, most=60), context.signature)


def slider_row(row: Row, name: str, target: Fraction) -> dict[str, Any]:
    """What the page needs to compute every operating point of a row in whole numbers.

    `t`, `c`, `f` are thresholds with the incomplete caught and the complete read at each, strictest first; `risk` maps the
    positions that the slider can reach to the ends of the interval of the share incomplete among the unread.
    """
    from judgekit.stats.binomial import clopper_pearson

    curve = row.curve
    assert curve is not None
    caught, alarms = [int(v) for v in curve.caught], [int(v) for v in curve.false_alarms]
    p, q = int(curve.n_incomplete), int(curve.n_complete)
    clustered = row.point.flagged is not None and row.point.flagged < row.point.n and row.point.unread_risk_interval is None
    risk: dict[str, list[float | None]] = {}
    for share_ in {target, *(Fraction(k, 1000) for k in range(LOWEST, 1001, STEP))}:
        at = next(i for i, c in enumerate(caught) if c * share_.denominator >= share_.numerator * p)
        unread = p + q - caught[at] - alarms[at]
        if str(at) not in risk and unread and not clustered:
            found = clopper_pearson(p - caught[at], unread)
            risk[str(at)] = [found.low, found.high]
    label = row.cell.label
    lost = [int((~row.cell.scored & (label == k)).sum()) for k in (1, 0)]
    return {
        "name": name, "sign": row.values["flag_if"].split()[1], "t": [f"{v:g}" for v in curve.threshold], "c": caught, "f": alarms,
        "p": p, "q": q, "lost": lost, "risk": risk, "random": row.baselines.random, "clustered": clustered,
    }  # fmt: skip


def _first(row: Row) -> list[tuple[str, str, str]]:
    """The numbers of the first row as the page shows them before any script runs: key, words, value."""
    point, values = row.point, row.values
    unread = int(point.n - (point.flagged or 0))
    span = point.unread_risk_interval
    risk = share(point.missed, unread) + (f" ({percent(span.low)} to {percent(span.high)})" if span and span.low is not None else "")
    return [
        ("threshold", "Read an answer if its score is", f"{values['flag_if'].split()[1]} {point.threshold:g}"),
        ("workload", "Answers read", f"{share(point.flagged, point.n)} ({point.flagged:g} of {point.n:g})"),
        ("workload_all", "Answers read, unscored ones too", percent(values["workload_all"])),
        ("recall", "Incomplete answers caught", f"{share(point.caught, point.n_incomplete)} ({point.caught:g} of {point.n_incomplete:g})"),
        ("missed", "Incomplete answers missed", f"{point.missed:g}"),
        ("precision", "Incomplete among those read", share(point.caught, point.flagged)),
        ("false_alarms_per_catch", "Complete answers read for each catch", number(point.false_alarms_per_catch)),
        ("specificity", "Complete answers left unread", percent(point.specificity)),
        ("wss", "Work saved over a random sample", number(point.wss, 3)),
        ("unread_risk", "Incomplete among the unread", risk),
    ]
