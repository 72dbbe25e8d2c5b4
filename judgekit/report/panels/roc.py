"""The ROC curves with the operating points on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judgekit.report.charts import Line, unit_square
from judgekit.report.model import Figure, Grid, LeftOut, Panel, number
from judgekit.report.svg import SERIES

if TYPE_CHECKING:
    from judgekit.report.context import Context

TITLE = "Telling incomplete answers from complete ones"
ORDER = 30

__all__ = ["ORDER", "TITLE", "build"]


def build(context: Context) -> Panel | LeftOut:
    rows = context.drawable
    if not rows:
        return LeftOut(context.no_curve())
    blocks = []
    for start in range(0, len(rows), SERIES):
        part = rows[start : start + SERIES]
        lines, data = [], []
        for place, row in enumerate(part):
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
        name = "roc" if start == 0 else f"roc-{start // SERIES + 1}"
        svg = unit_square(
            name, "ROC", says, lines, [Line("chance", [(0, 0), (1, 1)], 0, (0.64, 0.56))],
            "complete answers read for nothing, %", "incomplete answers caught, %",
        )  # fmt: skip
        grid = Grid(
            name, "Each threshold", ["row", "threshold", "incomplete caught", "incomplete", "complete read", "complete"], data, most=60
        )
        counts = "; ".join(f"{context.name(row)}: {row.auc.n_incomplete} incomplete, {row.auc.n_complete} complete" for row in part)
        blocks.append(Figure(name, "ROC", svg, says, f"{counts}. Ties count half. Intervals of 95 %.", grid, context.signature))
    pairs = _pairs(context)
    lead = "AUC is the chance that an incomplete answer scores worse than a complete one. A curve under the diagonal is never flipped."
    return Panel(lead, (*blocks, *([pairs] if pairs else [])))


def _pairs(context: Context) -> Grid | None:
    if context.triage is None or not 1 < len(context.rows) <= 24:
        return None
    found = context.triage.pairs()
    if not found:
        return None
    columns = ["first", "second", "rater", "n", "AUC difference", "low", "high", "p", "p, Bonferroni", "why not"]
    rows = [
        [pair.first, pair.second, pair.rater, pair.found.n, pair.found.difference, pair.found.low, pair.found.high, pair.found.p,
         pair.p_bonferroni, pair.found.reason]
        for pair in found
    ]  # fmt: skip
    shown = [[str(a), str(b), r or "", str(n), number(d, 3), number(lo, 3), number(hi, 3), number(p, 4), number(q, 4), w or ""]
             for a, b, r, n, d, lo, hi, p, q, w in rows]  # fmt: skip
    return Grid(
        "auc-pairs", "AUC compared two by two", columns, rows, shown, heads=2, signature=context.signature,
        notes=(f"Paired DeLong over the answers that both scored; the family of the Bonferroni correction is all {len(found)} comparisons.",),
    )  # fmt: skip
