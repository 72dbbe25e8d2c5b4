"""Figures in a page: every value is escaped, colours come from classes so that dark, light and print each have their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup, escape

from judgekit.draw.layout import lay_out
from judgekit.draw.sheet import DASHES, OUTLINES, SERIES, SIZES, Band, Mark, Rect, Shape, Stroke, Words
from judgekit.draw.spec import Colour, Figure, Point

__all__ = ["svg"]


def svg(figure: Figure) -> Markup:
    """A figure as an SVG element with its title and description."""
    sheets = lay_out(figure)
    width, height = sheets[-1][0] + sheets[-1][1].width, max(sheet.height for _, sheet in sheets)
    head = Markup(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-labelledby="{}-t {}-d" xmlns="http://www.w3.org/2000/svg">'
        '<title id="{}-t">{}</title><desc id="{}-d">{}</desc>'
    ).format(fmt(width), fmt(height), *[figure.name] * 3, figure.title, figure.name, figure.says)
    parts = [head]
    for left, sheet in sheets:
        inner = Markup("").join(map(_element, sheet.shapes))
        parts.append(inner if not left else Markup('<g transform="translate({} 0)">{}</g>').format(fmt(left), inner))
    return Markup("").join([*parts, Markup("</svg>")])


def fmt(value: float) -> str:
    """A coordinate with at most two decimals."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _element(shape: Shape) -> Markup:
    match shape:
        case Stroke():
            dashes = DASHES[shape.colour % SERIES] if shape.kind == "curve" and isinstance(shape.colour, int) else ()
            return _tag(
                "path", d=_joined(shape.points) + ("Z" if shape.kind == "head" else ""), cls=_cls(shape.kind, shape.colour),
                stroke_dasharray=" ".join(map(str, dashes)) or None, **_data(shape.tags),
            )  # fmt: skip
        case Band():
            (x1, y1), (x2, y2) = shape.start, shape.end
            middle = fmt((x1 + x2) / 2)
            d = f"M{fmt(x1)} {fmt(y1)}C{middle} {fmt(y1)} {middle} {fmt(y2)} {fmt(x2)} {fmt(y2)}"
            return _tag("path", tip=shape.tip, d=d, cls=_cls("band", shape.colour), stroke_width=shape.width)
        case Rect():
            return _tag(
                "rect", tip=shape.tip, x=shape.x, y=shape.y, width=shape.width, height=shape.height, cls=_cls(shape.kind, shape.colour),
                rx=None if shape.kind == "bar" else 3.0, fill_opacity=None if shape.depth == 1 else fmt(shape.depth),
            )  # fmt: skip
        case Mark():
            place = f"translate({fmt(shape.x)} {fmt(shape.y)})"
            return _tag("path", d=_outline(shape.index, shape.size), cls=_cls("mark", shape.index), transform=place, **_data(shape.tags))  # fmt: skip
        case Words():
            where: dict[str, Any] = {"x": shape.x, "y": shape.y}
            if shape.turned:
                where = {"transform": f"translate({fmt(shape.x)} {fmt(shape.y)}) rotate(-90)"}
            return _tag(
                "text", shape.text, cls=f"t {shape.kind}", text_anchor=shape.anchor, font_size=SIZES[shape.kind],
                **where,
            )  # fmt: skip


def _outline(index: int, size: float) -> str:
    points = OUTLINES[index % len(OUTLINES)]
    r = fmt(size)
    return _joined([(x * size, y * size) for x, y in points]) + "Z" if points else f"M-{r} 0A{r} {r} 0 1 0 {r} 0A{r} {r} 0 1 0 -{r} 0Z"  # fmt: skip


def _joined(points: Any) -> str:
    pairs: list[Point] = list(points)
    return "M" + "L".join(f"{fmt(x)} {fmt(y)}" for x, y in pairs)


def _cls(kind: str, colour: Colour | None) -> str:
    return kind if colour is None else f"{kind} c{colour % SERIES}" if isinstance(colour, int) else f"{kind} {colour}"


def _data(tags: Mapping[str, Any]) -> dict[str, Any]:
    return {f"data_{name}": fmt(value) if isinstance(value, float) else value for name, value in tags.items()}


def _tag(tag: str, text: str = "", tip: str = "", **attributes: Any) -> Markup:
    """An element; `cls` is its class, ``_`` in a name becomes ``-``, None leaves an attribute out."""
    inner = Markup("<title>{}</title>").format(tip) if tip else Markup("")
    words = Markup("")
    for name, value in attributes.items():
        if value is not None:
            shown = fmt(value) if isinstance(value, float) else value
            words += Markup(' {}="{}"').format(Markup("class" if name == "cls" else name.replace("_", "-")), shown)
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(tag), words, inner + escape(text))
