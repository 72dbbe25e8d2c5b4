"""The charts that several panels draw: unit squares with curves, bars, heat maps, and points with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from judgekit.report.svg import SERIES, Svg, fmt, wrap

__all__ = ["Bar", "Dot", "Line", "bars", "dots", "heat", "unit_square"]

SIDE, LEFT, TOP = 330.0, 52.0, 14.0


@dataclass(frozen=True)
class Line:
    """A curve in the unit square with the place of its operating point, or None; `style` is plain or the name of a guide."""

    name: str
    points: list[tuple[float, float]]
    index: int
    mark: tuple[float, float] | None = None


@dataclass(frozen=True)
class Bar:
    """Counts of one group side by side; `tip` is read out."""

    name: str
    values: list[float]
    tips: list[str]


@dataclass(frozen=True)
class Dot:
    """A value with its interval; None is drawn as words."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    index: int = 0
    note: str = ""


def unit_square(
    name: str, title: str, says: str, lines: Sequence[Line], guides: Sequence[Line], x_label: str, y_label: str,
    target: float | None = None, kind: str = "",
) -> Markup:  # fmt: skip
    """Curves in [0, 1] x [0, 1], axes in percent, with a legend below.

    A mark carries ``data-kind`` (`kind`) and ``data-mark`` (its line's index), a line ``data-row``, the target ``data-target``.
    """
    rows = [wrap(line.name, 44, 3) for line in lines]
    height = TOP + SIDE + 52 + sum(8 + 15 * len(row) for row in rows)
    svg = Svg(LEFT + SIDE + 18, height, title, says, name=name)

    def x(v: float) -> float:
        return LEFT + SIDE * v

    def y(v: float) -> float:
        return TOP + SIDE * (1 - v)

    for step in range(0, 101, 20):
        svg.line(x(step / 100), y(0), x(step / 100), y(1), "grid")
        svg.line(x(0), y(step / 100), x(1), y(step / 100), "grid")
        svg.text(x(step / 100), y(0) + 17, f"{step}", "tick", "middle")
        svg.text(x(0) - 8, y(step / 100) + 4, f"{step}", "tick", "end")
    svg.text(x(0.5), y(0) + 36, x_label, "axis", "middle")
    svg.text(0, 0, y_label, "axis", "middle", transform=f"translate(13 {fmt(y(0.5))}) rotate(-90)")
    for guide in guides:
        svg.path([(x(a), y(b)) for a, b in guide.points], "guide")
        if guide.mark is not None:
            svg.text(x(guide.mark[0]), y(guide.mark[1]), guide.name, "hint")
    if target is not None:
        svg.path([(x(target), y(0)), (x(target), y(1))], "target", data_target=fmt(target))
    for line in lines:
        svg.path(
            [(x(a), y(b)) for a, b in line.points],
            f"curve c{line.index % SERIES}",
            data_row=line.index if kind else None,
        )
        for a, b in line.points if not kind else ():
            svg.mark(x(a), y(b), line.index, size=4)
    for line in lines:
        if line.mark is not None:
            svg.mark(x(line.mark[0]), y(line.mark[1]), line.index, size=5.5, data_kind=kind, data_mark=line.index)
    at = y(0) + 58
    for line, words in zip(lines, rows, strict=True):
        svg.path([(x(0), at - 4), (x(0) + 30, at - 4)], f"curve c{line.index % SERIES}")
        svg.mark(x(0) + 15, at - 4, line.index, size=4)
        for word in words:
            svg.text(x(0) + 38, at, word, "legend")
            at += 15
        at += 8
    return svg.done()


def bars(
    name: str, title: str, says: str, groups: Sequence[str], rows: Sequence[Bar], y_label: str, *, classes: Sequence[str] = (),
    width: float = 400.0,
) -> Markup:  # fmt: skip
    """Vertical bars: a cluster a row, a bar a group; counts stand above the bars, so that nothing rests on colour."""
    high = 190.0
    top = max((max(row.values, default=0) for row in rows), default=0) or 1
    words = [wrap(row.name, max(6, int((width - LEFT) / max(1, len(rows)) / 6.2)), 3) for row in rows]
    tail = 15 * max((len(row) for row in words), default=1)
    svg = Svg(width, TOP + 16 + high + tail + 46, title, says, name=name)
    base, inner = TOP + 16 + high, width - LEFT - 8
    for step in _ticks(top):
        at = base - high * step / top
        svg.line(LEFT, at, width - 8, at, "grid")
        svg.text(LEFT - 8, at + 4, f"{step:g}", "tick", "end")
    svg.text(0, 0, y_label, "axis", "middle", transform=f"translate(13 {fmt(base - high / 2)}) rotate(-90)")
    cluster = inner / max(1, len(rows))
    thick = min(46.0, cluster * 0.84 / max(1, len(groups)))
    for place, row in enumerate(rows):
        middle = LEFT + cluster * (place + 0.5)
        for group, value in enumerate(row.values):
            x = middle + (group - len(groups) / 2) * thick
            tall = high * value / top
            cls = classes[group] if classes else f"c{group % SERIES}"
            svg.add(
                "rect",
                tip=row.tips[group],
                x=x + 1,
                y=base - tall,
                width=max(1.0, thick - 2),
                height=tall,
                cls=f"bar {cls}",
            )
            if thick >= 13 or value:
                svg.text(x + thick / 2, base - tall - 4, f"{value:g}", "count", "middle")
        for line, word in enumerate(words[place]):
            svg.text(middle, base + 17 + 15 * line, word, "tick", "middle")
    svg.line(LEFT, base, width - 8, base, "base")
    at = LEFT
    for group, word in enumerate(groups if len(groups) > 1 else ()):
        cls = classes[group] if classes else f"c{group % SERIES}"
        y = base + tail + 30
        svg.add("rect", x=at, y=y - 10, width=12, height=12, cls=f"bar {cls}")
        svg.text(at + 18, y, word, "legend")
        at += 30 + 7.2 * len(word)
    return svg.done()


def heat(
    name: str, title: str, says: str, across: Sequence[str], down: Sequence[str], value: Callable[[int, int], float | None],
    show: Callable[[int, int], str], tip: Callable[[int, int], str], *, x_label: str = "", cell: float = 62.0, label: float = 150.0,
    diverging: bool = False,
) -> Markup:  # fmt: skip
    """A heat map: `value(row, column)` in [0, 1] (or [-1, 1] when diverging) decides the depth of the tint; the number stands in it."""
    deep = 40.0
    heads = [wrap(word, max(8, int(cell / 6.4)), 3) for word in across]
    head = 16 * max((len(words) for words in heads), default=1) + (20 if x_label else 4)
    svg = Svg(label + cell * len(across) + 6, head + deep * len(down) + 6, title, says, name=name)
    if x_label:
        svg.text(label + cell * len(across) / 2, 13, x_label, "axis", "middle")
    for column, words in enumerate(heads):
        for line, word in enumerate(words):
            svg.text(label + cell * (column + 0.5), head - 6 - 15 * (len(words) - 1 - line), word, "tick", "middle")
    for row, word in enumerate(down):
        lines = wrap(word, int(label / 7), 2)
        for line, part in enumerate(lines):
            svg.text(label - 8, head + deep * (row + 0.5) + 4 + 15 * (line - (len(lines) - 1) / 2), part, "tick", "end")
        for column in range(len(across)):
            found = value(row, column)
            x, y = label + cell * column, head + deep * row
            if found is None:
                svg.add(
                    "rect",
                    tip=tip(row, column),
                    x=x + 1,
                    y=y + 1,
                    width=cell - 2,
                    height=deep - 2,
                    cls="heat none",
                    rx=3,
                )
            else:
                side = "minus" if diverging and found < 0 else "plus"
                depth = round(min(1.0, abs(found)), 3)
                svg.add("rect", x=x + 1, y=y + 1, width=cell - 2, height=deep - 2, cls="heat base", rx=3)
                svg.add("rect", tip=tip(row, column), x=x + 1, y=y + 1, width=cell - 2, height=deep - 2, cls=f"heat {side}",
                        rx=3, fill_opacity=fmt(depth * 0.85))  # fmt: skip
            dark = found is not None and abs(found) > 0.85
            svg.text(x + cell / 2, y + deep / 2 + 4, show(row, column), "cell deep" if dark else "cell", "middle")
    return svg.done()


def dots(
    name: str, title: str, says: str, rows: Sequence[Dot], x_label: str, low: float = 0.0, high: float = 1.0, *, label: float = 160.0, wide: float = 200.0,
    guide: float | None = None, digits: int = 2,
) -> Markup:  # fmt: skip
    """Points with intervals on one axis, a line a row; the numbers stand beside them."""
    deep = 38.0
    svg = Svg(label + wide + 112, TOP + deep * len(rows) + 44, title, says, name=name)

    def x(v: float) -> float:
        return label + wide * (min(max(v, low), high) - low) / (high - low)

    base = TOP + deep * len(rows)
    for step in range(6):
        at = low + (high - low) * step / 5
        svg.line(x(at), TOP, x(at), base, "grid")
        svg.text(x(at), base + 17, f"{at:.2g}", "tick", "middle")
    if guide is not None:
        svg.path([(x(guide), TOP), (x(guide), base)], "target")
    svg.text(x((low + high) / 2), base + 36, x_label, "axis", "middle")
    for place, row in enumerate(rows):
        y = TOP + deep * (place + 0.5)
        words = wrap(row.name, int(label / 7), 2)
        for line, word in enumerate(words):
            svg.text(label - 10, y + 4 + 14 * (line - (len(words) - 1) / 2), word, "tick", "end")
        if row.value is None:
            svg.text(label + 6, y + 4, row.note or "not defined", "hint")
            continue
        if row.low is not None and row.high is not None:
            svg.line(x(row.low), y, x(row.high), y, f"span c{row.index % SERIES}")
            for end in (row.low, row.high):
                svg.line(x(end), y - 5, x(end), y + 5, f"span c{row.index % SERIES}")
        svg.mark(x(row.value), y, row.index, size=5)
        span = "" if row.low is None or row.high is None else f" ({row.low:.{digits}f}–{row.high:.{digits}f})"
        svg.text(label + wide + 10, y + 4, f"{row.value:.{digits}f}{span}", "count")
    return svg.done()


def _ticks(top: float) -> list[float]:
    step = 1.0
    while top / step > 5:
        for factor in (2, 2.5, 2):
            step *= factor
            if top / step <= 5:
                break
    return [step * i for i in range(int(top / step) + 1)]
