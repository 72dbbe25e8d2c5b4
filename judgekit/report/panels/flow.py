"""Every record accounted for, from the run to the figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.report.model import Figure, Grid, LeftOut, Panel
from judgekit.report.svg import Svg, wrap

if TYPE_CHECKING:
    from judgekit.analysis.triage.row import Row
    from judgekit.report.context import Context

TITLE = "Flow of records"
ORDER = 20
MOST = 4  # drawings; the table has every row

__all__ = ["ORDER", "TITLE", "build"]


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
    svg = Svg(460, 262, f"Flow of records: {title}", says, name=name)
    _box(svg, 8, 8, 190, f"{n['records judged']}", "records judged")
    _box(
        svg,
        8,
        100,
        190,
        f"{n['labelled']}",
        f"labelled: {n['labelled incomplete']} incomplete, {n['labelled complete']} complete",
    )
    _box(
        svg,
        8,
        192,
        190,
        f"{n['in the figures']}",
        f"in the figures: {n['in the figures, incomplete']} incomplete, {n['in the figures, complete']} complete",
        "main",
    )
    for top in (70, 162):
        svg.path([(103, top), (103, top + 28)], "arrow")
        svg.add("path", d=f"M98 {top + 22}L103 {top + 30}L108 {top + 22}Z", cls="head")
    _box(svg, 248, 54, 204, f"{n['without a label']}", "left out: no label", "side")
    reasons = f"left out: no score ({why})" if why else "left out: no score"
    _box(svg, 248, 146, 204, f"{lost}", reasons, "side")
    for at in (85, 177):
        svg.path([(103, at), (246, at)], "arrow")
    grid = Grid(name, title, ["step", "records"], [[key, value] for key, value in n.items()])
    return Figure(name, title, svg.done(), says, f"n = {n['records judged']} records judged.", grid, context.signature)


def _box(svg: Svg, x: float, y: float, width: float, big: str, small: str, cls: str = "") -> None:
    svg.add("rect", x=x, y=y, width=width, height=62, rx=6, cls=f"box {cls}".strip())
    svg.text(x + 12, y + 24, big, "big")
    for line, words in enumerate(wrap(small, int((width - 20) / 6.1), 2)):
        svg.text(x + 12, y + 41 + 14 * line, words, "tick")
