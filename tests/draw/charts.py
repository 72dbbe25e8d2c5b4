"""One chart of each kind, with names as long and as odd as one likes."""

from __future__ import annotations

from judgekit.draw.spec import (
    Axis,
    Bar,
    Bars,
    Box,
    Boxes,
    Cell,
    Chart,
    Figure,
    Flow,
    Guide,
    Heat,
    Interval,
    Intervals,
    Plot,
    Sankey,
    Series,
)

UNIT = Axis("recall, %", percent=True)


def charts(name: str) -> list[Chart]:
    guides = (Guide(((0, 0), (1, 1)), "chance", (0.6, 0.5)), Guide(((0.9, 0), (0.9, 1)), target=True))
    series = [
        Series(f"{name} {i}", [(0, 0), (0.5, 0.25), (1, 1)], i, (0.5, 0.25), steps=True, dots=True) for i in range(9)
    ]
    intervals = [Interval(f"{name} {i}", -12.345, -1000.5, 1000.25, i) for i in range(3)]
    return [
        Plot(UNIT, UNIT, series, guides, "roc"),
        Bars(["yes", f"no {name}"], [Bar(f"{i} {name}", [i, 2]) for i in range(20)], "answers", ("good", "bad")),
        Bars(["kept", "dropped"], [Bar(f"{i} {name}", [9 - i, i]) for i in range(6)], "variants", stacked=True),
        Intervals([*intervals, Interval("", 0.5, index=1), Interval(name, None, note=name)], Axis("kappa", -1), 0, [name, "b"]),
        Boxes([Box(f"{i} {name}", 1, 2, 3, 4, 5, 3.25, note=f"mean 3.25, sd {i}") for i in range(3)], Axis("score", 1, 5)),
        Heat([f"{i} {name}" for i in range(4)], [name, "b"], [[Cell(0.9, "12"), Cell(-1, "-1"), Cell(None, "–"), Cell(0, "0")]] * 2, "score"),
        Sankey([(f"a {name}", f"b {name}", 3), (f"a {name}", f"c {name}", 2), (f"b {name}", f"d {name}", 3)]),
        Flow([("12", name), ("9", "labelled")], [("3", name)]),
    ]  # fmt: skip


def figure(*charts: Chart, name: str = "f", title: str = "Title", signature: str = "judgekit 0|x") -> Figure:
    return Figure(name, title, charts, "What it shows.", "n = 12 answers.", signature)
