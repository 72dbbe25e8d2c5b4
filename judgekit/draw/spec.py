"""What a picture shows, and nothing of how it is drawn: `svg` draws it for a page, `paper` as PNG, SVG or PDF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "Axis", "Bar", "Bars", "Box", "Boxes", "Cell", "Chart", "Colour", "Figure", "Flow", "Guide", "Heat", "Interval", "Intervals", "Plot", "Point",
    "Sankey", "Series",
]  # fmt: skip

Point = tuple[float, float]
Colour = int | str  # a series' number, or what it means: "good", "bad", "none"


@dataclass(frozen=True)
class Axis:
    """What an axis counts and where it ends; `percent` writes 0.2 as 20."""

    label: str
    low: float = 0.0
    high: float = 1.0
    percent: bool = False


@dataclass(frozen=True)
class Series:
    """Points in order, joined by a line unless `line` is false. `steps` goes up before it goes on, `dots` marks every point, and `mark` is
    the point that is used."""

    name: str
    points: Sequence[Point]
    index: int = 0
    mark: Point | None = None
    line: bool = True
    steps: bool = False
    dots: bool = False


@dataclass(frozen=True)
class Guide:
    """A line to compare with, and the words at `at`; a `target` is dashed, others are dotted."""

    points: Sequence[Point]
    text: str = ""
    at: Point | None = None
    target: bool = False


@dataclass(frozen=True)
class Plot:
    """Series over two axes. A page's script finds marks, lines and the target by the name `script`."""

    x: Axis
    y: Axis
    series: Sequence[Series]
    guides: Sequence[Guide] = ()
    script: str = ""


@dataclass(frozen=True)
class Bar:
    """The counts of one name, a group each; `tips` are read out."""

    name: str
    values: Sequence[float]
    tips: Sequence[str] = ()


@dataclass(frozen=True)
class Bars:
    """Upright bars, a cluster a row and a bar a group; `stacked` puts a row's bars upon each other. Counts stand with them."""

    groups: Sequence[str]
    rows: Sequence[Bar]
    label: str
    colours: Sequence[Colour] = ()
    stacked: bool = False


@dataclass(frozen=True)
class Interval:
    """A value with its ends; where the value is None, `note` says why. A nameless one belongs to the name above it."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    index: int = 0
    note: str = ""


@dataclass(frozen=True)
class Intervals:
    """Values with intervals, a line each, the numbers beside them; `legend` names the series where there are several."""

    rows: Sequence[Interval]
    x: Axis
    guide: float | None = None
    legend: Sequence[str] = ()
    digits: int = 2
    wide: bool = False


@dataclass(frozen=True)
class Box:
    """The five numbers of a group of values, and their mean."""

    name: str
    least: float
    lower: float
    median: float
    upper: float
    most: float
    mean: float
    colour: Colour = 0
    note: str = ""


@dataclass(frozen=True)
class Boxes:
    """Groups of values beside each other: the box holds the middle half, the line is the median, the mark the mean, and whiskers reach the
    ends."""

    boxes: Sequence[Box]
    y: Axis


@dataclass(frozen=True)
class Cell:
    """What stands in a heat map's cell, in one line or two; `value` in [0, 1], or [-1, 1] where it diverges, is the depth of its tint."""

    value: float | None
    text: str
    tip: str = ""


@dataclass(frozen=True)
class Heat:
    """A table of tinted numbers, `cells[row][column]`."""

    across: Sequence[str]
    down: Sequence[str]
    cells: Sequence[Sequence[Cell]]
    label: str = ""
    diverging: bool = False


@dataclass(frozen=True)
class Sankey:
    """Bands of (from, to, count), each above 0, over a graph without cycles; a node's column is its distance from the left."""

    links: Sequence[tuple[str, str, int]]


@dataclass(frozen=True)
class Flow:
    """What is left after each step, and what was lost between two, as (count, words)."""

    steps: Sequence[tuple[str, str]]
    lost: Sequence[tuple[str, str]]


Chart = Plot | Bars | Intervals | Boxes | Heat | Sankey | Flow


@dataclass(frozen=True)
class Figure:
    """Charts beside each other under one title. `says` is the picture in words, `caption` its denominators, `signature` everything that
    decides its numbers."""

    name: str
    title: str
    charts: Sequence[Chart]
    says: str
    caption: str
    signature: str
