"""Every record accounted for, from the run to the figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.draw.spec import Flow
from judgekit.report.model import Figure, Grid, LeftOut, Panel

if TYPE_CHECKING:
    from judgekit.analysis.triage.row import Row
    from judgekit.report.context import Context

TITLE = "Flow of records"
QUESTION = "How was it made?"
ORDER = 120
MOST = 4  # drawings; the table has every row

__all__ = ["ORDER", "QUESTION", "TITLE", "build"]


def build(context: Context) -> Panel | LeftOut:
    if not context.rows:
        return LeftOut(context.no_curve())
    rows = [_counts(row) for row in context.rows]
    columns = list(rows[0])
    grid = Grid(
        "flow-all", "Records from the run to the figures", ["row", *columns],
        [[context.name(row), *counts.values()] for row, counts in zip(context.rows, rows, strict=True)],
        signature=context.signature,
        folded=True,
    )  # fmt: skip
    figures = [
        _figure(context, row, counts, number)
        for number, (row, counts) in enumerate(zip(context.rows[:MOST], rows, strict=False))
    ]
    lead = "Answers without a label stand in no figure. Answers without a score go to the clinician: they count as read where a figure says so."
    return Panel(lead, (*figures, grid))


def _counts(row: Row) -> dict[str, int]:
    cell = row.cell
    label, scored = cell.label, cell.scored
    return {
        "records judged": len(cell.ids),
        "without a label": int((label < 0).sum()),
        "labelled": int((label >= 0).sum()),
        "labelled incomplete": int((label == 1).sum()),
        "labelled complete": int((label == 0).sum()),
        "unscored, incomplete": int((~scored & (label == 1)).sum()),
        "unscored, complete": int((~scored & (label == 0)).sum()),
        "in the figures": int(cell.used.sum()),
        "in the figures, incomplete": int((cell.used & (label == 1)).sum()),
        "in the figures, complete": int((cell.used & (label == 0)).sum()),
    }


def _figure(context: Context, row: Row, n: dict[str, int], number: int) -> Figure:
    name, title = f"flow-{number}", context.name(row)
    why = ", ".join(f"{count} {word}" for word, count in row.cell.unscored.items())
    lost = n["unscored, incomplete"] + n["unscored, complete"]
    says = (
        f"{n['records judged']} records were judged; {n['without a label']} have no label; of {n['labelled']} labelled ones {lost} are "
        f"unscored{f' ({why})' if why else ''}; {n['in the figures']} are in the figures, {n['in the figures, incomplete']} of them incomplete."
    )
    steps = (
        (f"{n['records judged']}", "records judged"),
        (f"{n['labelled']}", f"labelled: {n['labelled incomplete']} incomplete, {n['labelled complete']} complete"),
        (
            f"{n['in the figures']}",
            f"in the figures: {n['in the figures, incomplete']} incomplete, {n['in the figures, complete']} complete",
        ),
    )
    sides = (
        (f"{n['without a label']}", "left out: no label"),
        (f"{lost}", f"left out: no score ({why})" if why else "left out: no score"),
    )
    grid = Grid(name, title, ["step", "records"], [[key, value] for key, value in n.items()])
    caption = f"n = {n['records judged']} records judged."
    return Figure(name, title, (Flow(steps, sides),), says, caption, context.signature, grid)
