"""A Sankey drawing: nodes in columns, bands whose width is a count."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from markupsafe import Markup

from judgekit.report.svg import SERIES, Svg, fmt, wrap

__all__ = ["sankey"]

WIDE, HIGH, GAP, NODE = 760.0, 320.0, 14.0, 12.0


def sankey(name: str, title: str, says: str, links: Sequence[tuple[str, str, int]]) -> Markup:
    """Draw `links` of (from, to, count), each above 0, over a graph without cycles; a node's column is its distance from the left."""
    sums: dict[tuple[str, str], int] = defaultdict(int)
    for a, b, n in links:
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
    size = {node: max(into[node], out[node]) for node in column}
    stacks: dict[int, list[str]] = defaultdict(list)
    for node in sorted(column, key=lambda node: (column[node], node)):
        stacks[column[node]].append(node)
    most = max(len(stack) for stack in stacks.values())
    height = max(HIGH, most * 40.0)
    total = max(sum(size[node] for node in stack) for stack in stacks.values())
    scale = (height - GAP * (most - 1)) / total
    left, right = 150.0, 110.0
    top: dict[str, float] = {}
    for stack in stacks.values():
        y = 10 + (height - scale * sum(size[node] for node in stack) - GAP * (len(stack) - 1)) / 2
        for node in stack:
            top[node] = y
            y += scale * size[node] + GAP

    def x(node: str) -> float:
        return left + (WIDE - left - right - NODE) * column[node] / last

    svg = Svg(WIDE, height + 20, title, says, name=name)
    used_out: dict[str, float] = defaultdict(float)
    used_in: dict[str, float] = defaultdict(float)
    place = {node: i for i, node in enumerate(stacks[last])}
    for (a, b), n in sorted(sums.items(), key=lambda item: (column[item[0][0]], top[item[0][0]], top[item[0][1]])):
        thick = scale * n
        y1, y2 = top[a] + used_out[a] + thick / 2, top[b] + used_in[b] + thick / 2
        used_out[a] += thick
        used_in[b] += thick
        x1, x2 = x(a) + NODE, x(b)
        bend = (x2 - x1) / 2
        color = (place[b] if b in place else stacks[column[a]].index(a)) % SERIES
        svg.add(
            "path", tip=f"{a} to {b}: {n}", cls=f"band c{color}", stroke_width=fmt(max(1.0, thick)),
            d=f"M{fmt(x1)} {fmt(y1)}C{fmt(x1 + bend)} {fmt(y1)} {fmt(x2 - bend)} {fmt(y2)} {fmt(x2)} {fmt(y2)}",
        )  # fmt: skip
    for node in column:
        svg.add("rect", x=x(node), y=top[node], width=NODE, height=max(2.0, scale * size[node]), cls="node", rx=2)
        middle = top[node] + scale * size[node] / 2
        words = wrap(f"{node} ({size[node]})", 22, 2)
        first = column[node] == 0
        for i, word in enumerate(words):
            at = middle + 4 + 14 * (i - (len(words) - 1) / 2)
            svg.text(x(node) - 8 if first else x(node) + NODE + 8, at, word, "legend halo", "end" if first else "start")
    return svg.done()
