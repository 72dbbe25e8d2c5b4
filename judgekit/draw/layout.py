"""Where everything of a picture stands: a figure's charts become sheets, which a page and a paper draw alike."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from judgekit.draw.sheet import LINE, SERIES, Band, Sheet, room, wrap
from judgekit.draw.spec import Axis, Bars, Boxes, Chart, Figure, Flow, Heat, Intervals, Plot, Point, Sankey

__all__ = ["lay_out", "ticks"]

SIDE, LEFT, TOP = 330.0, 52.0, 14.0


def lay_out(figure: Figure) -> list[tuple[float, Sheet]]:
    """A figure's sheets from left to right, each with its left edge."""
    out: list[tuple[float, Sheet]] = []
    left = 0.0
    for chart in figure.charts:
        sheet = _LAYOUTS[type(chart)](chart)
        out.append((left, sheet))
        left += sheet.width + 20
    return out


def ticks(low: float, high: float, *, whole: bool = False) -> list[float]:
    """Round numbers between two ends, at most six; `whole` ones for counts."""
    span = (high - low) or 1.0
    size = 10.0 ** math.floor(math.log10(span / 5))
    step = next(size * k for k in (1, 2, 5, 10, 20) if span / (size * k) <= 5 + 1e-9)
    step = max(step, 1.0) if whole else step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(step * k, 12) + 0.0 for k in range(first, last + 1)]


def _tick(axis: Axis, value: float) -> str:
    return f"{round(100 * value, 10) if axis.percent else value:g}"


def _legend(
    sheet: Sheet, x: float, y: float, rows: Sequence[Sequence[str]], indexes: Sequence[int], line: bool
) -> None:
    for lines, index in zip(rows, indexes, strict=True):
        if line:
            sheet.line("curve", (x, y - 4), (x + 30, y - 4), colour=index)
        sheet.mark(x + 15, y - 4, index, 4)
        for place, words in enumerate(lines):
            sheet.words(x + 38, y + LINE * place, words, "legend")
        y += LINE * len(lines) + 8


def _plot(chart: Plot) -> Sheet:
    width = LEFT + SIDE + 18
    rows = [wrap(series.name, width - LEFT - 40, 4) for series in chart.series]
    sheet = Sheet(width, TOP + SIDE + 52 + sum(8 + LINE * len(lines) for lines in rows))
    across, up = chart.x, chart.y

    def at(point: Point) -> Point:
        x = LEFT + SIDE * (point[0] - across.low) / (across.high - across.low)
        return x, TOP + SIDE * (1 - (point[1] - up.low) / (up.high - up.low))

    base = TOP + SIDE
    for value in ticks(across.low, across.high):
        x, _ = at((value, up.low))
        sheet.line("grid", (x, base), (x, TOP))
        sheet.words(x, base + 17, _tick(across, value), "tick", "middle")
    for value in ticks(up.low, up.high):
        _, y = at((across.low, value))
        sheet.line("grid", (LEFT, y), (LEFT + SIDE, y))
        sheet.words(LEFT - 8, y + 4, _tick(up, value), "tick", "end")
    sheet.words(LEFT + SIDE / 2, base + 36, across.label, "axis", "middle")
    sheet.words(13, TOP + SIDE / 2, up.label, "axis", "middle", turned=True)
    for guide in chart.guides:
        tags: dict[str, Any] = {"target": guide.points[0][0], "side": SIDE} if guide.target and chart.script else {}
        sheet.line("target" if guide.target else "guide", *map(at, guide.points), **tags)
        if guide.at is not None:
            sheet.words(*at(guide.at), guide.text, "hint")
    box = f"{LEFT:g} {TOP:g} {SIDE:g}"
    for series in chart.series:
        points = list(series.points)
        if series.steps:
            points = [*points[:1], *(p for a, b in pairwise(points) for p in ((a[0], b[1]), b))]
        if series.line:
            sheet.line(
                "curve", *map(at, points), colour=series.index, **({"row": series.index} if chart.script else {})
            )
        for point in points if series.dots else ():
            sheet.mark(*at(point), series.index, 4)
    for series in chart.series:
        if series.mark is not None:
            tags = {"kind": chart.script, "mark": series.index, "box": box} if chart.script else {}
            sheet.mark(*at(series.mark), series.index, 5.5, **tags)
    indexes = [series.index for series in chart.series]
    _legend(sheet, LEFT, base + 58, rows, indexes, any(series.line for series in chart.series))
    return sheet


def _bars(chart: Bars) -> Sheet:
    high, many = 190.0, max(1, len(chart.rows))
    deep = 1 if chart.stacked else max(1, len(chart.groups))
    longest = max((room(word) for row in chart.rows for word in row.name.split()), default=0)
    width = max(460.0, LEFT + 8 + many * max(34.0, 15.0 * deep, min(80.0, longest + 6)))
    inner = width - LEFT - 8
    cluster = inner / many
    top = max((sum(row.values) if chart.stacked else max(row.values, default=0) for row in chart.rows), default=0) or 1
    names = [wrap(row.name, cluster - 4, 4) for row in chart.rows]
    tail = LINE * max((len(lines) for lines in names), default=1)
    base = TOP + 16 + high
    legend: list[tuple[float, float, str]] = []
    x, y = LEFT, base + tail + 30
    for word in (wrap(group, width - LEFT - 20, 1)[0] for group in chart.groups if len(chart.groups) > 1):
        if x > LEFT and x + 18 + room(word) > width:
            x, y = LEFT, y + 20
        legend.append((x, y, word))
        x += 34 + room(word)
    sheet = Sheet(width, y + 16 if legend else base + tail + 12)
    for value in ticks(0, top, whole=True):
        at = base - high * value / top
        sheet.line("grid", (LEFT, at), (width - 8, at))
        sheet.words(LEFT - 8, at + 4, f"{value:g}", "tick", "end")
    sheet.words(13, base - high / 2, chart.label, "axis", "middle", turned=True)
    thick = min(46.0, cluster * 0.84 / deep)
    colours = chart.colours or range(len(chart.groups))
    for place, row in enumerate(chart.rows):
        middle, under = LEFT + cluster * (place + 0.5), 0.0
        for group, value in enumerate(row.values):
            x = middle - thick / 2 if chart.stacked else middle + (group - deep / 2) * thick
            tall, foot = high * value / top, base - high * under / top
            tip = row.tips[group] if row.tips else f"{row.name}, {chart.groups[group]}: {value:g}"
            if tall or not chart.stacked:
                sheet.rect(x + 1, foot - tall, max(1.0, thick - 2), tall, "bar", colour=colours[group], tip=tip)
            if not chart.stacked and (thick >= 13 or value):
                sheet.words(x + thick / 2, foot - tall - 4, f"{value:g}", "count", "middle")
            under += value if chart.stacked else 0
        if chart.stacked:
            said = f"{row.values[0]:g}" + "".join(f" +{value:g}" for value in row.values[1:] if value)
            sheet.words(middle, base - high * under / top - 4, said, "count", "middle")
        sheet.column(middle, base + 13 + LINE * (len(names[place]) - 1) / 2, names[place], "tick", "middle")
    sheet.line("base", (LEFT, base), (width - 8, base))
    for (x, y, word), colour in zip(legend, colours, strict=False):
        sheet.rect(x, y - 10, 12, 12, "bar", colour=colour)
        sheet.words(x + 18, y, word, "legend")
    return sheet


def _intervals(chart: Intervals) -> Sheet:
    label, wide = (240.0, 400.0) if chart.wide else (160.0, 200.0)
    names = [wrap(row.name, label - 14, 3) for row in chart.rows]
    heights = [
        max(38.0, LINE * len(lines) + 8) if row.name else 20.0 for row, lines in zip(chart.rows, names, strict=True)
    ]
    said = [
        "" if row.value is None else f"{row.value:.{chart.digits}f}"
        + ("" if row.low is None or row.high is None else f" ({row.low:.{chart.digits}f}–{row.high:.{chart.digits}f})")
        for row in chart.rows
    ]  # fmt: skip
    base = TOP + sum(heights)
    legend = [wrap(name, label + wide - 40, 3) for name in chart.legend]
    edge = label + wide + 10 + max([90.0, *map(room, said)])
    sheet = Sheet(edge, base + 46 + sum(8 + LINE * len(lines) for lines in legend))

    def at(value: float) -> float:
        value = min(max(value, chart.x.low), chart.x.high)
        return label + wide * (value - chart.x.low) / (chart.x.high - chart.x.low)

    for value in ticks(chart.x.low, chart.x.high):
        sheet.line("grid", (at(value), TOP), (at(value), base))
        sheet.words(at(value), base + 17, _tick(chart.x, value), "tick", "middle")
    if chart.guide is not None:
        sheet.line("target", (at(chart.guide), TOP), (at(chart.guide), base))
    sheet.words(label + wide / 2, base + 36, chart.x.label, "axis", "middle")
    top = TOP
    for row, lines, tall, text in zip(chart.rows, names, heights, said, strict=True):
        y = top + tall / 2
        top += tall
        sheet.column(label - 10, y, lines if row.name else (), "tick", "end")
        if row.value is None:
            sheet.column(label + 6, y, wrap(row.note or "not defined", edge - label - 8, 2, 11), "hint")
            continue
        if row.low is not None and row.high is not None:
            sheet.line("span", (at(row.low), y), (at(row.high), y), colour=row.index)
            for end in (row.low, row.high):
                sheet.line("span", (at(end), y - 5), (at(end), y + 5), colour=row.index)
        sheet.mark(at(row.value), y, row.index)
        sheet.words(label + wide + 10, y + 4, text, "count")
    _legend(sheet, label, base + 62, legend, range(len(legend)), False)
    return sheet


def _boxes(chart: Boxes) -> Sheet:
    width, high = max(400.0, LEFT + 8 + 110.0 * len(chart.boxes)), 250.0
    each = (width - LEFT - 8) / max(1, len(chart.boxes))
    names = [wrap(f"{box.name}", each - 6, 2) + wrap(box.note, each - 6, 3) for box in chart.boxes]
    sheet = Sheet(width, TOP + high + 22 + LINE * max((len(lines) for lines in names), default=1))
    base = TOP + high

    def at(value: float) -> float:
        return base - high * (value - chart.y.low) / (chart.y.high - chart.y.low)

    for value in ticks(chart.y.low, chart.y.high):
        sheet.line("grid", (LEFT, at(value)), (width - 8, at(value)))
        sheet.words(LEFT - 8, at(value) + 4, _tick(chart.y, value), "tick", "end")
    sheet.words(13, TOP + high / 2, chart.y.label, "axis", "middle", turned=True)
    for place, box in enumerate(chart.boxes):
        middle, half = LEFT + each * (place + 0.5), min(30.0, each / 4)
        for end, near in ((box.least, box.lower), (box.most, box.upper)):
            sheet.line("base", (middle, at(near)), (middle, at(end)))
            sheet.line("base", (middle - half / 2, at(end)), (middle + half / 2, at(end)))
        tip = f"{box.name}: median {box.median:g}, middle half {box.lower:g} to {box.upper:g}, mean {box.mean:.2f}"
        tall = max(1.5, at(box.lower) - at(box.upper))
        sheet.rect(middle - half, at(box.upper), 2 * half, tall, "bar", colour=box.colour, tip=tip, depth=0.55)
        sheet.line("median", (middle - half, at(box.median)), (middle + half, at(box.median)))
        sheet.mark(middle, at(box.mean), 3)
        sheet.column(middle, base + 15 + LINE * (len(names[place]) - 1) / 2, names[place], "tick", "middle")
    return sheet


def _heat(chart: Heat) -> Sheet:
    deep, label = 40.0, min(180.0, max([70.0, *(room(word) + 12 for word in chart.down)]))
    cell = max(48.0, min(84.0, 360.0 / max(1, len(chart.across))))
    heads = [wrap(word, cell - 2, 4) for word in chart.across]
    head = 16 * max((len(lines) for lines in heads), default=1) + (20 if chart.label else 4)
    sheet = Sheet(label + cell * len(chart.across) + 6, head + deep * len(chart.down) + 6)
    if chart.label:
        sheet.words(label + cell * len(chart.across) / 2, 13, chart.label, "axis", "middle")
    for column, lines in enumerate(heads):
        sheet.column(label + cell * (column + 0.5), head - 10 - LINE * (len(lines) - 1) / 2, lines, "tick", "middle")
    for row, word in enumerate(chart.down):
        sheet.column(label - 8, head + deep * (row + 0.5), wrap(word, label - 10, 2), "tick", "end")
        for column, found in enumerate(chart.cells[row]):
            x, y = label + cell * column, head + deep * row
            size = (x + 1, y + 1, cell - 2, deep - 2)
            sheet.rect(*size, "blank" if found.value is None else "cell", tip=found.tip)
            depth = 0.0 if found.value is None else min(1.0, abs(found.value))
            if depth:
                side = "minus" if chart.diverging and (found.value or 0) < 0 else "plus"
                sheet.rect(*size, side, depth=round(0.85 * depth, 3), tip=found.tip)
            sheet.column(
                x + cell / 2, y + deep / 2, found.text.split("\n"), "deep" if depth > 0.85 else "cell", "middle"
            )
    return sheet


def _sankey(chart: Sankey) -> Sheet:
    wide, least, gap, node = 760.0, 320.0, 14.0, 12.0
    sums: dict[tuple[str, str], int] = defaultdict(int)
    for a, b, n in chart.links:
        sums[a, b] += n
    column: dict[str, int] = {}
    for a, b in sums:
        column.setdefault(a, 0)
        column[b] = max(column.get(b, 0), column[a] + 1)
    last = max(column.values(), default=0) or 1
    into: dict[str, int] = defaultdict(int)
    out: dict[str, int] = defaultdict(int)
    for (a, b), n in sums.items():
        out[a] += n
        into[b] += n
    size = {name: max(into[name], out[name]) for name in column}
    stacks: dict[int, list[str]] = defaultdict(list)
    for name in sorted(column, key=lambda name: (column[name], name)):
        stacks[column[name]].append(name)
    most = max((len(stack) for stack in stacks.values()), default=1)
    height = max(least, most * 40.0)
    total = max((sum(size[name] for name in stack) for stack in stacks.values()), default=1)
    scale = (height - gap * (most - 1)) / total
    words = {name: wrap(f"{name} ({size[name]})", 140, 2) for name in column}
    margin = {k: 16 + max([40.0, *(room(line) for name in stacks[k] for line in words[name])]) for k in (0, last)}
    left, right = margin[0], margin[last]
    top: dict[str, float] = {}
    for stack in stacks.values():
        y = 10 + (height - scale * sum(size[name] for name in stack) - gap * (len(stack) - 1)) / 2
        for name in stack:
            top[name] = y
            y += scale * size[name] + gap

    def x(name: str) -> float:
        return left + (wide - left - right - node) * column[name] / last

    sheet = Sheet(wide, height + 20)
    used_out: dict[str, float] = defaultdict(float)
    used_in: dict[str, float] = defaultdict(float)
    place = {name: i for i, name in enumerate(stacks[last])}
    for (a, b), n in sorted(sums.items(), key=lambda item: (column[item[0][0]], top[item[0][0]], top[item[0][1]])):
        thick = scale * n
        start = (x(a) + node, top[a] + used_out[a] + thick / 2)
        end = (x(b), top[b] + used_in[b] + thick / 2)
        used_out[a] += thick
        used_in[b] += thick
        colour = (place[b] if b in place else stacks[column[a]].index(a)) % SERIES
        sheet.shapes.append(Band(start, end, max(1.0, thick), colour, f"{a} to {b}: {n}"))
    for name in column:
        sheet.rect(x(name), top[name], node, max(2.0, scale * size[name]), "node")
        first = column[name] == 0
        middle = top[name] + scale * size[name] / 2
        sheet.column(
            x(name) - 8 if first else x(name) + node + 8, middle, words[name], "halo", "end" if first else "start"
        )
    return sheet


def _flow(chart: Flow) -> Sheet:
    sheet = Sheet(460, 16 + 92 * len(chart.steps) - 30)
    for place, (count, words) in enumerate(chart.steps):
        top = 8.0 + 92 * place
        _box(sheet, 8, top, 190, count, words, "main" if place + 1 == len(chart.steps) else "box")
        if place + 1 < len(chart.steps):
            sheet.line("arrow", (103, top + 62), (103, top + 90))
            sheet.line("head", (98, top + 84), (103, top + 92), (108, top + 84))
    for place, (count, words) in enumerate(chart.lost):
        sheet.line("arrow", (103, 77.0 + 92 * place), (246, 77.0 + 92 * place))
        _box(sheet, 248, 46.0 + 92 * place, 204, count, words, "side")
    return sheet


def _box(sheet: Sheet, x: float, y: float, width: float, big: str, small: str, kind: str) -> None:
    sheet.rect(x, y, width, 62, kind)
    sheet.words(x + 12, y + 24, big, "big")
    for place, line in enumerate(wrap(small, width - 16, 2)):
        sheet.words(x + 12, y + 41 + 14 * place, line, "tick")


_LAYOUTS: dict[type[Chart], Callable[[Any], Sheet]] = {
    Plot: _plot, Bars: _bars, Intervals: _intervals, Boxes: _boxes, Heat: _heat, Sankey: _sankey, Flow: _flow,
}  # fmt: skip
