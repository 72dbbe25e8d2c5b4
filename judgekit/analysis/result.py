"""What an analysis hands over: named tables with notes and a signature, as text for people and as JSON for machines."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import TYPE_CHECKING, Any

from judgekit import __version__

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Column", "Result", "Table", "interval", "number", "percent", "plain", "pvalue", "share", "signature"]

NONE = "-"


def plain(value: Any) -> Any:
    """JSON's types only: numpy scalars unwrapped, NaN as None, infinities and fractions as text, dataclasses as objects."""
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(inner) for inner in value]
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if hasattr(value, "item") and not isinstance(value, float):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None if value != value else "inf" if value > 0 else "-inf"
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    return str(value)


def number(digits: int = 3, *, signed: bool = False) -> Callable[[Any], str]:
    """A formatter of floats; None is a dash."""
    sign = "+" if signed else ""

    def show(value: Any) -> str:
        if value is None:
            return NONE
        text = f"{value:{sign}.{digits}f}"
        return text.replace("-", "", 1) if float(text) == 0 and text.startswith("-") else text

    return show


def percent(value: float | None, digits: int = 0, *, beside: float | None = None) -> str:
    """A share in [0, 1] as a percentage; None is a dash.

    Decimals are added until the text lies on the same side of 0, of 100 % and of the share `beside` (a recall target) as the value
    does: .896 beside .9 is 89.6 %, not 90 %, and .9996 is never 100 %.
    """
    if value is None:
        return NONE
    marks = [mark for mark in (0.0, 1.0, beside) if mark is not None and abs(value - mark) > 1e-12]
    while True:
        text = f"{100 * value:.{digits}f}"
        told = float(text) / 100
        if digits > 12 or all(abs(told - mark) > 1e-14 and (told > mark) == (value > mark) for mark in marks):
            return f"{text} %"
        digits += 1


def share(value: Any) -> str:
    """A share as a percentage with one decimal; more where it would look like none or all."""
    return percent(value, 1)


def pvalue(value: Any) -> str:
    """Four decimals; below that, ``<.0001``, since a p value is never 0."""
    if value is None:
        return NONE
    return "<.0001" if value < 1e-4 else f"{value:.4f}"


def interval(
    name: str, digits: int = 3, *, signed: bool = False, low: str | None = None, high: str | None = None
) -> Any:
    """A cell of value and interval from the row's `name`, `name`_low and `name`_high."""
    show = number(digits, signed=signed)

    def cell(row: dict[str, Any]) -> str:
        value, a, b = row.get(name), row.get(low or f"{name}_low"), row.get(high or f"{name}_high")
        return show(value) if value is None or a is None or b is None else f"{show(value)} [{show(a)}, {show(b)}]"

    return cell


@dataclass(frozen=True)
class Column:
    """`show` takes the row's value of `key`, or with `whole` the row. An `optional` column of nothing but dashes is not printed."""

    key: str
    title: str | None = None
    show: Callable[[Any], str] | None = None
    whole: bool = False
    optional: bool = False

    def cell(self, row: dict[str, Any]) -> str:
        value = row if self.whole else row.get(self.key)
        if self.show is not None:
            return self.show(value)
        return NONE if value is None else str(value)


@dataclass
class Table:
    """Rows under a `name` (the key in JSON). A row's `reason` says why its dashes are dashes. `shown` bounds the rows in text."""

    name: str
    title: str
    rows: list[dict[str, Any]]
    columns: list[Column]
    notes: list[str] = field(default_factory=list)
    shown: int = 100

    def heads(self) -> list[Column]:
        """The columns that are printed."""
        return [one for one in self.columns if not one.optional or any(one.cell(row) != NONE for row in self.rows)]

    def cells(self) -> list[list[str]]:
        """The printed cells of the rows that are shown, a heading row first."""
        shown = self.heads()
        first = [column.title if column.title is not None else column.key for column in shown]
        return [first, *([_one_line(column.cell(row)) for column in shown] for row in self.rows[: self.shown])]

    def remarks(self) -> list[str]:
        """What stands under the table: rows that are not shown, the reasons of its dashes, its notes."""
        more = len(self.rows) - self.shown
        head = [f"... and {more} more rows: all of them with --json"] if more > 0 else []
        return [*head, *_reasons(self.rows, self.columns), *self.notes]

    def text(self, width: int = 200) -> str:
        """Aligned columns, numbers to the right, reasons and notes below; too wide a table is cut into blocks of whole columns."""
        lines = _wrapped([self.title], width, "")
        if not self.rows:
            return "\n".join([*lines, "  (no rows)", *_wrapped(self.notes, width)])
        cells = self.cells()
        if len(max((row[0] for row in cells), key=len)) > width // 3 and len(cells[0]) > 1:
            lines += [f"  [{n}] {row[0]}" for n, row in enumerate(cells[1:], start=1)]
            cells = [["", *cells[0][1:]], *([f"[{n}]", *row[1:]] for n, row in enumerate(cells[1:], start=1))]
        deep = max(head.count("\n") for head in cells[0]) + 1
        heads = [[""] * (deep - len(parts)) + parts for parts in (head.split("\n") for head in cells[0])]
        cells = [[head[line] for head in heads] for line in range(deep)] + cells[1:]
        widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
        right = [i > 0 and all(_numeric(row[i]) for row in cells[deep:]) for i in range(len(widths))]
        for block in _blocks(widths, width - 2):
            for row in cells:
                parts = (row[i].rjust(widths[i]) if right[i] else row[i].ljust(widths[i]) for i in block)
                lines.append(("  " + "  ".join(parts)).rstrip())
        return "\n".join([*lines, *_wrapped(self.remarks(), width)])

    def html(self) -> str:
        """The same table for a notebook."""
        from html import escape

        head, *body = self.cells()
        rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in body)
        notes = "".join(f"<div><small>{escape(line)}</small></div>" for line in self.remarks())
        heads = "".join(f"<th>{escape(cell)}</th>" for cell in head)
        return f"<table><caption>{escape(self.title)}</caption><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{notes}"

    def frame(self) -> pd.DataFrame:
        """The rows as a DataFrame with real types: nullable floats, integers and booleans, text; None stays missing."""
        import pandas as pd

        frame = pd.DataFrame([plain(row) for row in self.rows], dtype=object)
        for name in frame.columns:
            kinds = {type(value) for value in frame[name] if value is not None}
            if kinds and kinds <= {bool}:
                frame[name] = frame[name].astype("boolean")
            elif kinds and kinds <= {int}:
                frame[name] = frame[name].astype("Int64")
            elif kinds and kinds <= {int, float}:
                frame[name] = frame[name].astype("Float64")
            elif kinds == {str}:
                frame[name] = frame[name].astype("category" if frame[name].nunique() <= 50 else "string")
        return frame


@dataclass(repr=False)
class Result:
    """Tables with what decided them.

    `sections` are titled remarks in sentences, `notes` concern everything, `figures` are the pictures that can be drawn, `more` is
    what `to_json` adds to the tables. Printed and in a notebook it shows its tables.
    """

    tables: list[Table]
    signature: str
    notes: list[str] = field(default_factory=list)
    sections: list[tuple[str, list[str]]] = field(default_factory=list)
    figures: Callable[[], Any] | None = None
    more: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Table:
        for table in self.tables:
            if table.name == name:
                return table
        raise KeyError(name)

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        from html import escape

        parts = [table.html() for table in self.tables if table.rows or table.notes]
        for title, lines in self.sections:
            parts.append(f"<p><b>{escape(title)}</b></p>" + "".join(f"<div>{escape(line)}</div>" for line in lines))
        parts += [f"<div>note: {escape(note)}</div>" for note in self.notes]
        return "".join([*parts, f"<p><small>{escape(self.signature)}</small></p>"])

    def frame(self, name: str | None = None) -> pd.DataFrame:
        """One table as a DataFrame with real types; the first by default."""
        return (self.tables[0] if name is None else self[name]).frame()

    def text(self, width: int = 110) -> str:
        """The tables, the sections, the notes and the signature, at most `width` columns wide."""
        parts = [table.text(width) for table in self.tables if table.rows or table.notes]
        parts += [
            "\n".join([*_wrapped([title], width, ""), *_wrapped(lines, width, "    ")])
            for title, lines in self.sections
        ]
        if self.notes:
            parts.append("\n".join(_wrapped([f"note: {note}" for note in self.notes], width, "")))
        return "\n\n".join([*parts, _signed(self.signature, width)])

    def picture(self, path: Any) -> None:
        """Draw the figure into a PNG, SVG or PDF file; StatisticsError where there is nothing to draw."""
        from judgekit.draw.paper import save
        from judgekit.errors import StatisticsError

        if self.figures is None:
            raise StatisticsError("this analysis has no picture", field="picture", mend="leave --picture out")
        save(self.figures(), path)

    def to_json(self) -> dict[str, Any]:
        """One JSON object: each table's rows under its name, what `more` adds, notes and signature; no NaN."""
        out: dict[str, Any] = {table.name: [plain(row) for row in table.rows] for table in self.tables}
        out |= {key: plain(value) for key, value in self.more.items()}
        out["notes"] = [*self.notes, *(note for table in self.tables for note in table.notes)]
        out["signature"] = self.signature
        return out


def _signed(text: str, width: int) -> str:
    """The signature in lines that end at its bars."""
    lines = ["signature: "]
    for place, part in enumerate(text.split("|")):
        piece = part if place == 0 else f"|{part}"
        if len(lines[-1]) + len(piece) > width and place:
            lines.append("  ")
        lines[-1] += piece
    return "\n".join(lines)


def _blocks(widths: list[int], room: int) -> list[list[int]]:
    """Columns in blocks that fit, the first column heading each; one column too wide stands alone with it."""
    blocks: list[list[int]] = [[0]]
    used = widths[0]
    for place, width in enumerate(widths[1:], start=1):
        if used + 2 + width > room and len(blocks[-1]) > 1:
            blocks.append([0])
            used = widths[0]
        blocks[-1].append(place)
        used += 2 + width
    return blocks


def _wrapped(lines: Iterable[str], width: int, indent: str = "  ") -> list[str]:
    from textwrap import wrap

    return [
        part
        for line in lines
        for part in wrap(
            line,
            max(40, width),
            initial_indent=indent,
            subsequent_indent=indent + "  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        or [indent.rstrip()]
    ]


def signature(**parts: Any) -> str:
    """``judgekit:VERSION|part:value|...``; parts that are None are left out, lists are joined by commas."""
    shown = [f"judgekit:{__version__}"]
    for name, value in parts.items():
        if value is None or value == [] or value == ():
            continue
        text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
        shown.append(f"{name}:{text}")
    return "|".join(shown)


def _one_line(text: str) -> str:
    return " ".join(text.split()) if any(mark in text for mark in "\n\r\t") else text


def _numeric(text: str) -> bool:
    return text == NONE or text[:1].isdigit() or text[:1] in "+<[" or (text[:1] == "-" and text[1:2].isdigit())


def _reasons(rows: Iterable[dict[str, Any]], columns: Sequence[Column]) -> list[str]:
    """Each reason once, with the rows (by their first text columns) that it stands for."""
    names = [column for column in columns if not column.whole and column.show is None][:3]
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.get("reason"):
            words = (row.get(column.key) for column in names)
            found.setdefault(row["reason"], []).append(" ".join(str(word) for word in words if isinstance(word, str)))
    return [
        f"{NONE} {', '.join(who[:6])}{f' and {len(who) - 6} more' if len(who) > 6 else ''}: {reason}"
        for reason, who in found.items()
    ]
