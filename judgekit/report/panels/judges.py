"""Do the judges score alike? Correlations between judges, rubric by rubric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgekit.report.charts import heat
from judgekit.report.model import Figure, Grid, LeftOut, Panel, number

if TYPE_CHECKING:
    from judgekit.report.context import Context

TITLE = "Judges with each other"
ORDER = 80

__all__ = ["ORDER", "TITLE", "build"]


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
        correlation="Pearson, Spearman",
        samples="averaged within a record",
        interval="cluster bootstrap",
        replicates=300,
        seed=0,
    )
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

    def value(i: int, j: int) -> float | None:
        row = found(i, j)
        return 1.0 if i == j else None if row is None else row["pearson"]

    def show(i: int, j: int) -> str:
        return number(value(i, j))

    def tip(i: int, j: int) -> str:
        row = found(i, j)
        return names[i] if i == j or row is None else f"{names[i]} and {names[j]}: {show(i, j)}, n = {row['n']}"

    said = "; ".join(f"{row['a']} and {row['b']}: {number(row['pearson'])} over {row['n']} records" for row in rows)
    says = f"Pearson correlation of raw scores. {said}."
    name = f"correlation-{place}"
    cell = max(56.0, min(84.0, 360.0 / len(names)))
    svg = heat(
        name,
        f"Pearson correlation: {title}",
        says,
        names,
        names,
        value,
        show,
        tip,
        cell=cell,
        label=140,
        diverging=True,
    )
    columns = ["a", "b", "n", "Pearson", "low", "high", "p", "Spearman", "low", "high", "p"]
    keys = [
        "a",
        "b",
        "n",
        "pearson",
        "pearson_low",
        "pearson_high",
        "pearson_p",
        "spearman",
        "spearman_low",
        "spearman_high",
        "spearman_p",
    ]
    grid = Grid(name, "Correlations", columns, [[row.get(key) for key in keys] for row in rows], heads=2)
    n = sorted({row["n"] for row in rows})
    caption = f"n = {n[0]}{f' to {n[-1]}' if len(n) > 1 else ''} records that both scored. Pearson's r of raw scores."
    return Figure(name, title, svg, says, caption, grid, mark)
