"""What an analysis hands over: named tables with notes and a signature, as text for people and as JSON for machines."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judgekit import __version__

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Column", "Result", "Table", "interval", "number", "percent", "plain", "pvalue", "share", "signature"]

NONE = "-"


def plain(value: Any) -> Any:
    """JSON's types only: numpy scalars unwrapped, NaN and infinities as None, tuples as lists."""
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(inner) for inner in value]
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if hasattr(value, "item") and not isinstance(value, float):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
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

    def text(self) -> str:
        """Aligned columns, numbers to the right, reasons and notes below."""
        lines = [self.title]
        if not self.rows:
            return "\n".join([*lines, "  (no rows)", *(f"  {note}" for note in self.notes)])
        shown = [
            column
            for column in self.columns
            if not column.optional or any(column.cell(row) != NONE for row in self.rows)
        ]
        heads = [column.title if column.title is not None else column.key for column in shown]
        cells = [[_one_line(column.cell(row)) for column in shown] for row in self.rows[: self.shown]]
        widths = [max(len(head), *(len(row[i]) for row in cells)) for i, head in enumerate(heads)]
        right = [all(_numeric(row[i]) for row in cells) for i in range(len(heads))]
        for row in [heads, *cells]:
            line = "  ".join(
                text.rjust(width) if flag else text.ljust(width)
                for text, width, flag in zip(row, widths, right, strict=True)
            )
            lines.append("  " + line.rstrip())
        if len(self.rows) > self.shown:
            lines.append(f"  ... and {len(self.rows) - self.shown} more rows: all of them with --json")
        lines += [f"  {note}" for note in [*_reasons(self.rows, self.columns), *self.notes]]
        return "\n".join(lines)

    def frame(self) -> pd.DataFrame:
        """The rows as a DataFrame of dtype object, so that None stays None."""
        import pandas as pd

        return pd.DataFrame([plain(row) for row in self.rows], dtype=object)


@dataclass
class Result:
    """Tables with what decided them. `notes` concern all tables."""

    tables: list[Table]
    signature: str
    notes: list[str] = field(default_factory=list)

    def __getitem__(self, name: str) -> Table:
        for table in self.tables:
            if table.name == name:
                return table
        raise KeyError(name)

    def text(self) -> str:
        """The tables, the notes, the signature."""
        parts = [table.text() for table in self.tables if table.rows or table.notes]
        if self.notes:
            parts.append("\n".join(f"note: {note}" for note in self.notes))
        return "\n\n".join([*parts, f"signature: {self.signature}"])

    def to_dict(self) -> dict[str, Any]:
        """One JSON object: each table's rows under its name, notes and signature."""
        out: dict[str, Any] = {table.name: [plain(row) for row in table.rows] for table in self.tables}
        out["notes"] = [*self.notes, *(note for table in self.tables for note in table.notes)]
        out["signature"] = self.signature
        return out


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
