"""What both ways of drawing understand: a sheet of strokes, rectangles, marks and words, in CSS pixels, and how wide words are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from unicodedata import east_asian_width

from judgekit.draw.spec import Colour, Point

__all__ = ["DASHES", "LINE", "OUTLINES", "SERIES", "SIZES", "Band", "Mark", "Rect", "Shape", "Sheet", "Stroke", "Words", "room", "wrap"]  # fmt: skip

SERIES = 8  # colours; a dash pattern and a marker go with each, so that colour never stands alone
DASHES = ((), (8, 4), (10, 3, 2, 3), (3, 3), (14, 4), (6, 3, 2, 3, 2, 3), (2, 5), (12, 6, 4, 6))
OUTLINES: tuple[tuple[Point, ...], ...] = (
    (),  # a disc
    ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    ((0, -1.25), (1.25, 1), (-1.25, 1)),
    ((0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)),
    ((0, 1.25), (1.25, -1), (-1.25, -1)),
    ((-1, -1), (1, -1), (-1, 1), (1, 1)),
)
SIZES = {"tick": 12.0, "legend": 12.0, "halo": 12.0, "hint": 11.0, "axis": 12.5, "count": 12.0, "cell": 12.0, "deep": 12.0, "big": 19.0}  # fmt: skip
LINE = 15.0
_BREAK = re.compile(r"(?<=[-/_.:])")  # where a name that is too long may be cut


@dataclass(frozen=True)
class Stroke:
    """Points that a line joins; `kind` says what it is (grid, base, median, guide, target, curve, span, arrow, or a filled head)."""

    points: Sequence[Point]
    kind: str
    colour: Colour | None = None
    tags: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Band:
    """A curve from left to right that is as wide as its count."""

    start: Point
    end: Point
    width: float
    colour: Colour
    tip: str


@dataclass(frozen=True)
class Rect:
    """A rectangle: bar, plus, minus, blank, cell, box, side, main or node."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    colour: Colour | None = None
    depth: float = 1.0
    tip: str = ""


@dataclass(frozen=True)
class Mark:
    """The marker of a series around a point."""

    x: float
    y: float
    index: int
    size: float = 5.0
    tags: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Words:
    """A line of text, its base line at `y`."""

    x: float
    y: float
    text: str
    kind: str
    anchor: str = "start"
    turned: bool = False


Shape = Stroke | Band | Rect | Mark | Words


class Sheet:
    """A chart's shapes, in the order in which they cover each other."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self.shapes: list[Shape] = []

    def line(self, kind: str, *points: Point, colour: Colour | None = None, **tags: Any) -> None:
        self.shapes.append(Stroke(points, kind, colour, tags))

    def rect(self, x: float, y: float, width: float, height: float, kind: str, **more: Any) -> None:
        self.shapes.append(Rect(x, y, width, height, kind, **more))

    def mark(self, x: float, y: float, index: int, size: float = 5.0, **tags: Any) -> None:
        self.shapes.append(Mark(x, y, index, size, tags))

    def words(self, x: float, y: float, text: str, kind: str, anchor: str = "start", turned: bool = False) -> None:
        self.shapes.append(Words(x, y, text, kind, anchor, turned))

    def column(self, x: float, y: float, lines: Sequence[str], kind: str, anchor: str = "start") -> None:
        """Lines around the middle `y`."""
        for place, line in enumerate(lines):
            self.words(x, y + 4 + LINE * (place - (len(lines) - 1) / 2), line, kind, anchor)


def room(text: str, size: float = 12.0) -> float:
    """About how wide a line of text is, in any common sans-serif typeface."""
    return size * sum(
        1.0 if east_asian_width(c) in "WF" else 0.75 if c.isupper() or c in "mwMW@%…" else 0.57 for c in text
    )


def wrap(text: str, width: float, lines: int = 2, size: float = 12.0) -> list[str]:
    """`text` in at most `lines` lines, each within `width` pixels; what is left over is an ellipsis."""
    out = [""]
    for word in text.split():
        for place, bit in enumerate(_bits(word, width, size)):
            gap = " " if place == 0 and out[-1] else ""
            if out[-1] and room(out[-1] + gap + bit, size) > width:
                out.append(bit)
            else:
                out[-1] += gap + bit
    if len(out) > lines:
        last = out[lines - 1]
        while last and room(last + "…", size) > width:
            last = last[:-1]
        out = [*out[: lines - 1], last + "…"]
    return out


def _bits(word: str, width: float, size: float) -> list[str]:
    """A word in pieces that fit, cut after its marks where it has some."""
    if room(word, size) <= width:
        return [word]
    out = [""]
    for piece in _BREAK.split(word):
        for bit in [piece] if room(piece, size) <= width else list(piece):
            if out[-1] and room(out[-1] + bit, size) > width:
                out.append(bit)
            else:
                out[-1] += bit
    return out
