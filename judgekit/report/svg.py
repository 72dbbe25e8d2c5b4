"""Drawing in SVG: every value is escaped, colours come from classes so that dark, light and print each have their own."""

from __future__ import annotations

import re
from typing import Any

from markupsafe import Markup, escape

__all__ = ["SERIES", "Svg", "fmt", "wrap"]

_BREAK = re.compile(r"(?<=[-/_.:])")  # where a name that is too long may be cut
SERIES = 8  # classes c0 .. c7; a dash pattern and a marker go with each, so that colour never stands alone


def fmt(value: float) -> str:
    """A coordinate with at most two decimals."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def wrap(text: str, width: int, lines: int = 2) -> list[str]:
    """`text` in at most `lines` lines of about `width` characters; the rest is an ellipsis."""
    out = [""]
    for word in text.split():
        bits = [word] if len(word) <= width else _BREAK.split(word)
        for place, bit in enumerate(bits):
            gap = " " if place == 0 and out[-1] else ""
            if len(out[-1]) + len(bit) + len(gap) > width and out[-1]:
                out.append(bit)
            else:
                out[-1] += gap + bit
    out = [line if len(line) <= width else line[: width - 1] + "…" for line in out]
    if len(out) > lines:
        out = [*out[: lines - 1], out[lines - 1][: width - 1] + "…"]
    return out


class Svg:
    """An SVG picture that is built element by element.

    Parameters
    ----------
    width, height : of the view box, in units that are about CSS pixels.
    title : its short name. says : what it shows, for those who do not see it.
    """

    def __init__(self, width: float, height: float, title: str, says: str, *, name: str) -> None:
        self.width, self.height = width, height
        self.name = name
        self._parts = [
            Markup(
                '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-labelledby="{}-t {}-d" xmlns="http://www.w3.org/2000/svg">'
            ).format(fmt(width), fmt(height), name, name),
            Markup('<title id="{}-t">{}</title><desc id="{}-d">{}</desc>').format(name, title, name, says),
        ]

    def add(self, tag: str, text: str | None = None, tip: str | None = None, **attributes: Any) -> None:
        """Append an element; `cls` is its class, ``_`` in a name becomes ``-``, None leaves an attribute out."""
        inner = Markup("") if tip is None else Markup("<title>{}</title>").format(tip)
        inner += escape("" if text is None else text)
        self._parts.append(Markup("<{0}{1}>{2}</{0}>").format(Markup(tag), self._attributes(attributes), inner))

    def open(self, tag: str, **attributes: Any) -> None:
        self._parts.append(Markup("<{}{}>").format(Markup(tag), self._attributes(attributes)))

    def shut(self, tag: str) -> None:
        self._parts.append(Markup("</{}>").format(Markup(tag)))

    def line(self, x1: float, y1: float, x2: float, y2: float, cls: str) -> None:
        self.add("line", x1=x1, y1=y1, x2=x2, y2=y2, cls=cls)

    def text(self, x: float, y: float, text: str, cls: str = "", anchor: str = "start", **more: Any) -> None:
        self.add("text", text, x=x, y=y, cls=f"t {cls}".strip(), text_anchor=anchor, **more)

    def mark(self, x: float, y: float, index: int, *, size: float = 5, tip: str | None = None, **more: Any) -> None:
        """The marker of a series at a point."""
        self.add(
            "path",
            d=marker(index, size),
            cls=f"mark c{index % SERIES}",
            transform=f"translate({fmt(x)} {fmt(y)})",
            tip=tip,
            **more,
        )

    def path(self, points: list[tuple[float, float]], cls: str, **more: Any) -> None:
        d = "M" + "L".join(f"{fmt(x)} {fmt(y)}" for x, y in points)
        self.add("path", d=d, cls=cls, **more)

    def done(self) -> Markup:
        return Markup("").join([*self._parts, Markup("</svg>")])

    @staticmethod
    def _attributes(attributes: dict[str, Any]) -> Markup:
        out = Markup("")
        for name, value in attributes.items():
            if value is None:
                continue
            shown = fmt(value) if isinstance(value, float) else value
            out += Markup(' {}="{}"').format(Markup("class" if name == "cls" else name.replace("_", "-")), shown)
        return out


def marker(index: int, r: float) -> str:
    """The outline of a series' marker around the origin: disc, square, triangle, diamond, and these turned."""
    a, b = fmt(r), fmt(r * 1.25)
    shapes = (
        f"M-{a} 0A{a} {a} 0 1 0 {a} 0A{a} {a} 0 1 0 -{a} 0Z",
        f"M-{a} -{a}H{a}V{a}H-{a}Z",
        f"M0 -{b}L{b} {a}H-{b}Z",
        f"M0 -{b}L{b} 0L0 {b}L-{b} 0Z",
        f"M0 {b}L{b} -{a}H-{b}Z",
        f"M-{a} -{a}H{a}L0 {a}ZM-{a} {a}H{a}L0 -{a}Z",
    )
    return shapes[index % len(shapes)]
