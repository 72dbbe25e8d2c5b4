"""Do the judges score alike? Correlations between judges, rubric by rubric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgekit.draw.spec import Cell, Heat
from judgekit.report.model import Figure, Grid, LeftOut, Panel, number

if TYPE_CHECKING:
    from judgekit.report.context import Context

TITLE = "Judges with each other"
QUESTION = "Does it agree, and for the right reasons?"
ORDER = 80

__all__ = ["ORDER", "QUESTION", "TITLE", "build"]


def build(context: Context) -> Panel | LeftOut:
    from judgekit.analysis.agree import judge_correlations
    from judgekit.analysis.result import signature

    frame = context.frame
    if not len(frame) or frame["judge"].nunique() < 2:
        return LeftOut("one judge only: there is no other to correlate with")
    rows = judge_correlations(context.source.judged, context.source, replicates=300)
    if not rows:
        return LeftOut("no rubric has two judges with scores of the same records")
    mark = signature(
        correlation="Pearson, Spearman", samples="averaged within a record", interval="cluster bootstrap", replicates=300, seed=0
    )  # fmt: skip
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["dataset"], row["rubric"]), []).append(row)
    several = len({dataset for dataset, _ in groups}) > 1
    blocks = [
        _figure(part, i, rubric + (f" ({dataset})" if several else ""), mark)
        for i, ((dataset, rubric), part) in enumerate(groups.items())
    ]
    lead = "High correlation says that judges agree with each other, not that they are right: they may share one another's blind spots."
    return Panel(lead, tuple(blocks))


def _figure(rows: list[dict[str, Any]], place: int, title: str, mark: str) -> Figure:
    names = list(dict.fromkeys([row["a"] for row in rows] + [row["b"] for row in rows]))
    known = {frozenset((row["a"], row["b"])): row for row in rows}

    def found(i: int, j: int) -> dict[str, Any] | None:
        return known.get(frozenset((names[i], names[j])))

    def cell(i: int, j: int) -> Cell:
        row = found(i, j)
        value = 1.0 if i == j else None if row is None else row["pearson"]
        tip = names[i] if i == j or row is None else f"{names[i]} and {names[j]}: {number(value)}, n = {row['n']}"
        return Cell(value, number(value), tip)

    said = "; ".join(f"{row['a']} and {row['b']}: {number(row['pearson'])} over {row['n']} records" for row in rows)
    says = f"Pearson correlation of raw scores. {said}."
    name = f"correlation-{place}"
    cells = [[cell(i, j) for j in range(len(names))] for i in range(len(names))]
    chart = Heat(names, names, cells, diverging=True)
    columns = ["a", "b", "n", "Pearson", "low", "high", "p", "Spearman", "low", "high", "p"]
    keys = ["a", "b", "n", *(f"{way}{end}" for way in ("pearson", "spearman") for end in ("", "_low", "_high", "_p"))]
    grid = Grid(name, "Correlations", columns, [[row.get(key) for key in keys] for row in rows], heads=2)
    n = sorted({row["n"] for row in rows})
    caption = f"n = {n[0]}{f' to {n[-1]}' if len(n) > 1 else ''} records that both scored. Pearson's r of raw scores."
    return Figure(name, title, (chart,), says, caption, mark, grid)
