"""The raw table of level by label, and the same as distributions."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from judgekit.draw.spec import Bar, Bars
from judgekit.report.model import MOST_FIGURES, Figure, Grid, LeftOut, Panel

if TYPE_CHECKING:
    from judgekit.analysis.triage.row import Row
    from judgekit.report.context import Context

TITLE = "Scores by the clinician's label"
QUESTION = "Which answers are missed, and how bad?"
ORDER = 50
MOST_LEVELS = 12

__all__ = ["ORDER", "QUESTION", "TITLE", "build", "groups", "levels"]


def build(context: Context) -> Panel | LeftOut:
    rows = [row for row in context.rows if not row.refused and row.cell.scored.any()]
    if not rows:
        return LeftOut(context.no_curve())
    figures = [_figure(context, row, number) for number, row in enumerate(rows[:MOST_FIGURES])]
    more = f" The first {MOST_FIGURES} of {len(rows)} rows are drawn." if len(rows) > MOST_FIGURES else ""
    return Panel(
        "Every score that was given, counted by label. Unscored and unlabelled answers are counted too, so that the rows add up to all."
        + more,
        tuple(figures),
    )


def groups(row: Row) -> list[tuple[str, Any]]:
    """(level, who) from the lowest score on, then the unscored, `who` a boolean a record; many distinct scores are binned."""
    score, scored = row.cell.score, row.cell.scored
    found = np.unique(score[scored])
    if found.size <= MOST_LEVELS:
        names = [f"{v:.3g}" for v in found]
        names = names if len(set(names)) == len(names) else [f"{v:g}" for v in found]
        some = [(name, score == v) for name, v in zip(names, found, strict=True)]
    else:
        edges = np.linspace(found[0], found[-1], MOST_LEVELS - 1)
        where = np.clip(np.searchsorted(edges, score, side="right") - 1, 0, edges.size - 2)
        some = [(f"{a:.3g} to {b:.3g}", scored & (where == i)) for i, (a, b) in enumerate(pairwise(edges))]
    return [*some, ("unscored", ~scored)]


def levels(row: Row) -> list[tuple[str, int, int, int]]:
    """(level, incomplete, complete, unlabelled) of each of `groups`."""
    label = row.cell.label
    return [
        (name, int((here & (label == 1)).sum()), int((here & (label == 0)).sum()), int((here & (label < 0)).sum()))
        for name, here in groups(row)
    ]


def _figure(context: Context, row: Row, number: int) -> Figure:
    table = levels(row)
    without = any(entry[3] for entry in table)
    kinds = ["incomplete", "complete", *(["no label"] if without else [])]
    name, title = f"levels-{number}", context.name(row)
    rows = []
    for level, bad, good, none in table:
        if level == "unscored" and bad + good + none == 0:
            continue
        values = [bad, good, *([none] if without else [])]
        tips = [f"score {level}: {value} {group}" for value, group in zip(values, kinds, strict=True)]
        rows.append(Bar(level, [float(v) for v in values], tips))
    said = "; ".join(f"score {level}: {bad} incomplete, {good} complete" for level, bad, good, _ in table)
    says = f"Scores by label. {said}."
    chart = Bars(kinds, rows, "answers", ("bad", "good", "none"))
    totals = [sum(int(entry[i]) for entry in table) for i in (1, 2, 3)]
    grid = Grid(
        name, "Level by label", ["score", "incomplete", "complete", "no label"],
        [*[list(entry) for entry in table], ["all", *totals]],
    )  # fmt: skip
    caption = f"n = {sum(totals)}: {totals[0]} incomplete, {totals[1]} complete, {totals[2]} without a label."
    return Figure(name, title, (chart,), says, caption, context.signature, grid)
