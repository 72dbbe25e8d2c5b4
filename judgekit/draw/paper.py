"""Figures for papers: PNG (300 dots an inch), SVG or PDF through matplotlib, with title, caption and signature in the picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judgekit.draw.layout import lay_out
from judgekit.draw.sheet import DASHES, OUTLINES, SERIES, SIZES, Band, Mark, Rect, Shape, Stroke, Words, wrap
from judgekit.draw.spec import Colour, Figure
from judgekit.errors import InputError, MissingDependency

__all__ = ["KINDS", "save"]

KINDS = (".png", ".svg", ".pdf")
# Okabe and Ito's palette: told apart under every common colour blindness; dashes, marks and hatches differ as well.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#777777")
MEANING = {"good": COLOURS[0], "bad": COLOURS[1], "none": "#BBBBBB"}
HATCHES: dict[Colour, str] = {
    "bad": "//",
    "none": "..",
    1: "//",
    2: "..",
    3: "xx",
    4: "--",
    5: "\\\\",
    6: "++",
    7: "oo",
}
GREY, SOFT, PALE = "#777777", "#444444", "#E5E5E5"
STROKES = {"grid": (PALE, 0.8), "base": (GREY, 1.2), "guide": (GREY, 1.2), "target": (GREY, 1.2), "curve": ("", 2.2), "span": ("", 1.8),
           "arrow": (GREY, 1.2), "head": (GREY, 1.0), "median": ("black", 2.2)}  # fmt: skip
FILLS = {"bar": "", "plus": COLOURS[0], "minus": COLOURS[1], "blank": "none", "cell": "white", "box": "white", "side": "white",
         "main": "#E3EFF5", "node": GREY}  # fmt: skip
EDGED = {
    "blank": (PALE, "--"),
    "cell": (PALE, "-"),
    "box": (GREY, "-"),
    "side": (GREY, "--"),
    "main": (COLOURS[0], "-"),
}
INCH, POINT, LETTERS = (
    96.0,
    0.75,
    0.9,
)  # CSS pixels an inch, points a pixel; matplotlib's typeface is wider than a page's


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure into one file.

    Parameters
    ----------
    path : ends in .png, .svg or .pdf.

    Raises
    ------
    MissingDependency : matplotlib is not installed. InputError : another kind of file, or it cannot be written.
    """
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in KINDS:
        raise InputError(
            f"cannot draw a {target.suffix or 'nameless'} file", file=str(target), mend="end in .png, .svg or .pdf"
        )
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Drawing
    except ImportError:
        raise MissingDependency("a picture needs matplotlib", mend="pip install 'clinical-judgekit[report]'") from None
    sheets = lay_out(figure)
    width = sheets[-1][0] + sheets[-1][1].width
    texts = [
        (text, size, colour)
        for words, size, colour, most in ((figure.title, 13.0, "black", 3), (figure.caption, 9.0, SOFT, 8), (figure.signature, 6.5, GREY, 20))
        for text in wrap(words, width - 16, most, size)
    ]  # fmt: skip
    head = [one for one in texts if one[1] == 13.0]
    foot = texts[len(head) :]
    top = 18.0 * len(head) + 10
    bottom = top + max(sheet.height for _, sheet in sheets) + 6
    height = bottom + sum(1.45 * size for _, size, _ in foot) + 8
    drawing = Drawing(figsize=(width / INCH, height / INCH), dpi=300)
    FigureCanvasAgg(drawing)
    axes = drawing.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    y = 0.0
    for text, size, colour in head:
        y += 18
        _text(axes, 8, y, text, size, color=colour, weight="bold")
    for left, sheet in sheets:
        for order, shape in enumerate(sheet.shapes):
            _draw(axes, shape, left, top, 2 + order)
    y = bottom
    for text, size, colour in foot:
        y += 1.45 * size
        _text(axes, 8, y, text, size, color=colour)
    # A fixed date keeps a file the same when nothing changed.
    about: dict[str, Any] = {
        ".png": {"Title": figure.title, "Description": figure.signature},
        ".svg": {"Title": figure.title, "Description": figure.signature, "Date": None},
        ".pdf": {"Title": figure.title, "Subject": figure.signature, "CreationDate": None},
    }
    try:
        with rc_context({"svg.hashsalt": figure.name}):
            drawing.savefig(target, metadata=about[kind])
    except OSError as error:
        raise InputError(f"cannot write the picture: {error.strerror}", file=str(target)) from None


def _colour(colour: Colour | None, other: str) -> str:
    return other if colour is None else COLOURS[colour % SERIES] if isinstance(colour, int) else MEANING[colour]


def _text(axes: Any, x: float, y: float, text: str, size: float, **more: Any) -> None:
    axes.text(x, y, text, fontsize=size * POINT * LETTERS, parse_math=False, **{"va": "baseline", **more})


def _draw(axes: Any, shape: Shape, dx: float, dy: float, order: int) -> None:
    from matplotlib.patches import Circle, PathPatch, Polygon, Rectangle
    from matplotlib.path import Path as Curve

    match shape:
        case Stroke():
            colour, width = STROKES[shape.kind]
            points = [(x + dx, y + dy) for x, y in shape.points]
            colour = _colour(shape.colour, colour)
            if shape.kind == "head":
                axes.add_patch(Polygon(points, closed=True, color=colour, zorder=order))
                return
            dashes: Sequence[float] = {"guide": (1.5, 4), "target": (5, 4)}.get(shape.kind, ())
            if shape.kind == "curve" and isinstance(shape.colour, int):
                dashes = DASHES[shape.colour % SERIES]
            style = (0, [each * POINT for each in dashes]) if dashes else "-"
            lines = Curve(points)
            axes.add_patch(
                PathPatch(lines, fill=False, edgecolor=colour, linewidth=width * POINT, linestyle=style, joinstyle="round", zorder=order)
            )  # fmt: skip
        case Band():
            (x1, y1), (x2, y2) = shape.start, shape.end
            middle = (x1 + x2) / 2
            curve = Curve(
                [(x1 + dx, y1 + dy), (middle + dx, y1 + dy), (middle + dx, y2 + dy), (x2 + dx, y2 + dy)],
                [Curve.MOVETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4],
            )
            edge = _colour(shape.colour, GREY)
            axes.add_patch(PathPatch(curve, fill=False, edgecolor=edge, linewidth=shape.width * POINT, alpha=0.4, capstyle="butt", zorder=order))  # fmt: skip
        case Rect():
            edge, line = EDGED.get(shape.kind, ("white" if shape.kind == "bar" else "none", "-"))
            axes.add_patch(
                Rectangle(
                    (shape.x + dx, shape.y + dy), shape.width, shape.height, facecolor=_colour(shape.colour, FILLS[shape.kind]), edgecolor=edge,
                    linestyle=line, linewidth=0.6, alpha=shape.depth, zorder=order,
                    hatch=HATCHES.get(shape.colour) if shape.kind == "bar" and shape.colour is not None else None,
                )
            )  # fmt: skip
        case Mark():
            look: dict[str, Any] = {
                "facecolor": _colour(shape.index, ""),
                "edgecolor": "white",
                "linewidth": 0.8,
                "zorder": order,
            }
            x, y, size = shape.x + dx, shape.y + dy, shape.size
            outline = [(x + a * size, y + b * size) for a, b in OUTLINES[shape.index % len(OUTLINES)]]
            axes.add_patch(Polygon(outline, closed=True, **look) if outline else Circle((x, y), size, **look))
        case Words():
            _text(
                axes, shape.x + dx, shape.y + dy, shape.text, SIZES[shape.kind], zorder=order + 0.5,
                ha={"start": "left", "middle": "center", "end": "right"}[shape.anchor], rotation=90 if shape.turned else 0,
                rotation_mode="anchor", color={"deep": "white", "tick": SOFT, "axis": SOFT, "hint": SOFT}.get(shape.kind, "black"),
                style="italic" if shape.kind == "hint" else "normal", weight="bold" if shape.kind == "big" else "normal",
            )  # fmt: skip
