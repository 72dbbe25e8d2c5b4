"""What the run cost, and what it bought; an unknown price stays unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.report.model import Grid, LeftOut, Notes, Panel, grid_of

if TYPE_CHECKING:
    from judgekit.report.context import Context

TITLE = "Cost"
QUESTION = "What did it cost?"
ORDER = 110

__all__ = ["ORDER", "QUESTION", "TITLE", "build"]


def build(context: Context) -> Panel | LeftOut:
    from judgekit.analysis.cost import cost

    found = cost(context.source, replicates=300)
    if not found["spent"].rows:
        why = "its verdicts were recorded elsewhere" if len(context.frame) else "nothing was judged"
        return LeftOut(f"the run holds no request of its own: {why}")
    blocks: list[Grid | Notes] = [
        grid_of(table, found.signature, f"cost-{table.name}") for table in found.tables if table.rows
    ]
    if found.notes:
        blocks.append(Notes(list(dict.fromkeys(found.notes))))
    return Panel("In US dollars, as the providers' price lists had it when the calls were made.", tuple(blocks))
