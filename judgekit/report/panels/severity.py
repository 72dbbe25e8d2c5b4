"""What is missing, how bad it is, and what the threshold lets pass: heat map and misses by severity with their bounds."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from judgekit.draw.spec import Cell, Heat
from judgekit.report.model import MOST_FIGURES, Figure, Grid, LeftOut, Panel, gathered, percent, share
from judgekit.report.panels.levels import groups

if TYPE_CHECKING:
    from judgekit.analysis.triage.row import Row
    from judgekit.report.context import Context

TITLE = "Severity of what is missing"
QUESTION = "Which answers are missed, and how bad?"
ORDER = 60

__all__ = ["ORDER", "QUESTION", "TITLE", "build"]


def build(context: Context) -> Panel | LeftOut:
    rows = [row for row in context.rows if row.cell.severity is not None and any(row.cell.severity)]
    if not context.rows:
        return LeftOut(context.no_curve())
    if not rows:
        return LeftOut("no label of this run names a severity")
    blocks: list[Figure | Grid] = []
    misses = _misses(context, rows)
    if misses is not None:
        blocks.append(misses)
    for number, row in enumerate(rows[:MOST_FIGURES]):
        blocks.append(_figure(context, row, number))
    lead = (
        "Which severities the judge scores low, and which incomplete answers fall beyond the threshold and are never read. A bound is "
        "the most that the true share missed can be, with one-sided confidence of 95 %: none missed of 12 still allows 22 %."
    )
    return Panel(lead, tuple(blocks))


def _figure(context: Context, row: Row, number: int) -> Figure:
    from judgekit.analysis.triage.extras import SEVERITIES, severity_name

    words = [
        "not named" if text is None else (severity_name(text) or text.split(" - ")[0][:40])
        for text in row.cell.severity or ()
    ]
    order = [name for name in SEVERITIES if name in words]
    order += sorted({word for word in words if word not in order and word != "not named"})
    order += ["not named"] if "not named" in words else []
    counts: list[Counter[str]] = []
    columns = []
    for level, who in groups(row):
        here = Counter(words[i] for i in who.nonzero()[0])
        if level == "unscored" and not here:
            continue
        columns.append(level)
        counts.append(here)
    totals = Counter(words)

    def cell(word: str, j: int) -> Cell:
        n, all_ = counts[j][word], totals[word]
        return Cell(n / all_, f"{n}\n{share(n, all_, 0)}" if n else "0", f"{word}, score {columns[j]}: {n} of {all_}")

    title, name = context.name(row), f"severity-{number}"
    said = "; ".join(
        f"{word}: " + ", ".join(f"{counts[j][word]} at {level}" for j, level in enumerate(columns)) for word in order
    )
    says = f"Answers by severity and score. {said}."
    down = [f"{word} ({totals[word]})" for word in order]
    chart = Heat(columns, down, [[cell(word, j) for j in range(len(columns))] for word in order], "score")
    data = [[word, level, counts[j][word], totals[word]] for word in order for j, level in enumerate(columns)]
    grid = Grid(name, "Severity by score", ["severity", "score", "answers", "of this severity"], data, heads=2)
    caption = f"n = {sum(totals.values())}. Counts, and the share of the severity's row, which is the tint."
    return Figure(name, title, (chart,), says, caption, context.signature, grid)


def _misses(context: Context, rows: list[Row]) -> Grid | None:
    data: list[list[Any]] = []
    shown: list[list[str]] = []
    notes: list[tuple[str, str]] = []
    for row in rows:
        found = row.extra.get("severity")
        if not found:
            continue
        for item in found["by_severity"]:
            data.append([context.name(row), item["severity"], item["n"], item["missed"], item["share"], item["upper"]])
            shown.append([
                context.name(row), item["severity"], str(item["n"]), str(item["missed"]), percent(item["share"]), percent(item["upper"]),
            ])  # fmt: skip
        if found["weighted"] is not None:
            data.append(
                [
                    context.name(row),
                    "weighted by severity",
                    found["n"],
                    None,
                    found["weighted"],
                    found["weighted_upper"],
                ]
            )
            shown.append([
                context.name(row), "weighted by severity", str(found["n"]), "–", percent(found["weighted"]), percent(found["weighted_upper"]),
            ])  # fmt: skip
        if found["without_severity"]:
            notes.append((context.name(row), f"{found['without_severity']} incomplete answers name no severity"))
        if found["repeated_questions"]:
            notes.append((context.name(row), "questions repeat, so the bounds are too tight"))
    if not data:
        return None
    columns = ["row", "severity", "incomplete answers", "missed", "share missed", "at most"]
    return Grid(
        "misses-by-severity", "Incomplete answers missed at the operating point, by severity", columns, data, shown, heads=2,
        notes=gathered(notes, len(rows)), signature=context.signature,
    )  # fmt: skip
