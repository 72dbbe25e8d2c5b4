"""The raw table of level by label, and the same as distributions."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from judgekit.draw.spec import Axis, Bar, Bars, Box, Boxes
from judgekit.report.model import MOST_FIGURES, Figure, Grid, LeftOut, Panel, number, pvalue

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
    figures = []
    for place, row in enumerate(rows[:MOST_FIGURES]):
        figures += [_figure(context, row, place), *_boxes(context, row, place)]
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


def _figure(context: Context, row: Row, place: int) -> Figure:
    table = levels(row)
    without = any(entry[3] for entry in table)
    kinds = ["incomplete", "complete", *(["no label"] if without else [])]
    name, title = f"levels-{place}", context.name(row)
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


def _boxes(context: Context, row: Row, place: int) -> list[Figure]:
    """The scores of incomplete and of complete answers as boxes, where both have some."""
    boxes, data = [], []
    for word, colour, label in (("incomplete", "bad", 1), ("complete", "good", 0)):
        score = row.cell.score[row.cell.scored & (row.cell.label == label)]
        if not score.size:
            return []
        least, lower, median, upper, most = (float(v) for v in np.quantile(score, [0, 0.25, 0.5, 0.75, 1]))
        mean, sd = float(score.mean()), float(score.std(ddof=1)) if score.size > 1 else None
        note = f"mean {mean:.2f}, sd {number(sd)}"
        boxes.append(Box(f"{word} (n = {score.size})", least, lower, median, upper, most, mean, colour, note))
        data.append([word, int(score.size), mean, sd, least, lower, median, upper, most])
    low, high = min(box.least for box in boxes), max(box.most for box in boxes)
    pad = 0 if high > low else 0.5
    v, span = row.values, row.headline.interval
    tested = f"Mann-Whitney p {pvalue(v['mann_whitney_p'])}. " if v["mann_whitney_p"] is not None else ""
    ends = "" if span.low is None or span.high is None else f" ({number(span.low)} to {number(span.high)})"
    said = "; ".join(f"{box.name}: {box.note}, median {box.median:g}" for box in boxes)
    name, title = f"boxes-{place}", f"Scores: {context.name(row)}"
    columns = ["label", "n", "mean", "sd", "lowest", "lower quarter", "median", "upper quarter", "highest"]
    caption = f"{tested}AUC {number(row.auc.value)}{ends}. Boxes hold the middle half, whiskers reach the ends, the diamond is the mean."
    chart = Boxes(boxes, Axis("score", low - pad, high + pad))
    return [Figure(name, title, (chart,), f"{said}.", caption, context.signature, Grid(name, title, columns, data))]
