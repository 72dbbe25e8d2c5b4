"""What a panel hands to the page: headings, figures with their data, tables, notes and widgets; never HTML."""

from __future__ import annotations

import csv
import io
import math
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from judgekit.data.cells import safe_cell
from judgekit.draw.spec import Figure as Drawing

__all__ = [
    "MOST_FIGURES",
    "Block",
    "Figure",
    "Grid",
    "LeftOut",
    "Notes",
    "Panel",
    "Says",
    "Section",
    "Widget",
    "gathered",
    "grid_of",
    "number",
    "percent",
    "pvalue",
    "share",
    "with_data",
]

NONE = "–"
MOST_FIGURES = 12  # of one kind in a panel; the tables have every row


def number(value: Any, digits: int = 2) -> str:
    """A float with `digits` decimals; None, NaN and infinities are a dash."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return NONE
    return f"{value:.{digits}f}"


def share(part: float | None, whole: float | None, digits: int = 1) -> str:
    """`part` of `whole` as a percentage, rounded half to even in whole numbers; more digits where some would look like none or all.
    The page's script rounds alike.

    None, or a `whole` of 0, is a dash. Sums of weights are rounded as floats.
    """
    if part is None or not whole:
        return NONE
    if part != int(part) or whole != int(whole):
        return f"{100 * part / whole:.{digits}f} %"
    scale = 10**digits
    top, bottom = int(part) * 100 * scale, int(whole)
    quotient, rest = divmod(top, bottom)
    if 2 * rest > bottom or (2 * rest == bottom and quotient % 2):
        quotient += 1
    if (quotient == 0 and part > 0) or (quotient == 100 * scale and part < whole):
        return share(part, whole, digits + 1)
    head, tail = divmod(quotient, scale)
    return f"{head}.{tail:0{digits}d} %" if digits else f"{head} %"


def percent(value: float | None, digits: int = 1, *, beside: float | None = None) -> str:
    """A share in [0, 1] as a percentage, never on another side of `beside` (a target), 0 or 1 than the value; None is a dash."""
    from judgekit.analysis.result import percent as told

    return NONE if value is None or not math.isfinite(value) else told(value, digits, beside=beside)


def pvalue(value: float | None) -> str:
    """Four decimals; below that ``< .0001``, since a p value is never 0."""
    return NONE if value is None else "< .0001" if value < 1e-4 else f"{value:.4f}"


@dataclass(frozen=True)
class Grid:
    """A table: `rows` hold what is downloaded (numbers, text, None), `shown` the same cells as people read them.

    `folded` tables open at a click. `titles` head the shown cells where these are other columns than the downloaded ones. `most` rows are printed on the page; the download always has all. `heads` counts leading columns that name a row.
    """

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    shown: Sequence[Sequence[str]] | None = None
    notes: Sequence[str] = ()
    signature: str | None = None
    most: int = 200
    heads: int = 1
    titles: Sequence[str] | None = None
    folded: bool = False

    @property
    def printed(self) -> list[list[str]]:
        cells = self.shown if self.shown is not None else self.rows
        return [[_cell(value) for value in row] for row in cells[: self.most]]

    @property
    def numeric(self) -> list[bool]:
        """Which printed columns hold numbers only, and are set to the right."""
        if self.titles is not None:
            cells = self.printed
            return [bool(cells) and all(_figures(row[i]) for row in cells) for i in range(len(self.titles))]
        return [
            bool(self.rows)
            and all(isinstance(row[i], int | float) or row[i] is None for row in self.rows)
            and any(row[i] is not None for row in self.rows)
            for i in range(len(self.columns))
        ]

    @property
    def csv(self) -> str:
        """CSV that no spreadsheet computes; None is an empty cell."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\r\n")
        writer.writerow([safe_cell(str(name)) for name in self.columns])
        for row in self.rows:
            writer.writerow([_plain(value) for value in row])
        return out.getvalue()

    @property
    def href(self) -> str:
        """The CSV as a data address, so that a click saves it without a script."""
        body = b64encode(b"\xef\xbb\xbf" + self.csv.encode("utf-8", "backslashreplace")).decode()
        return f"data:text/csv;charset=utf-8;base64,{body}"


@dataclass(frozen=True)
class Figure(Drawing):
    """A picture (`draw.spec.Figure`) with its data."""

    data: Grid
    wide: bool = False


def with_data(drawn: Drawing, data: Grid) -> Figure:
    """A picture of an analysis with its data, under the data's name."""
    return Figure(**(vars(drawn) | {"name": data.name}), data=data)


@dataclass(frozen=True)
class Says:
    """A paragraph; `tone` is plain, good, warn or bad, and `mark` the word that stands for it."""

    text: str
    tone: str = "plain"
    mark: str | None = None
    head: str | None = None


@dataclass(frozen=True)
class Notes:
    """A list of remarks; folded away when `title` is given."""

    items: Sequence[str]
    title: str | None = None


@dataclass(frozen=True)
class Widget:
    """A part with a template of its own, ``widget_KIND.html.j2``, and its data as JSON-ready values."""

    kind: str
    data: dict[str, Any]


Block = Figure | Grid | Says | Notes | Widget


@dataclass(frozen=True)
class Panel:
    """One section of the page."""

    lead: str
    blocks: Sequence[Block] = field(default_factory=tuple)


@dataclass(frozen=True)
class LeftOut:
    """Why a panel is not there, in one line."""

    reason: str


@dataclass(frozen=True)
class Section:
    """A panel in its place: `panel` is what it shows, or why it is left out; it is folded under its `question`, if it has one."""

    name: str
    title: str
    order: float
    panel: Panel | LeftOut
    question: str = ""


def _figures(text: str) -> bool:
    return text in (NONE, "-") or text.lstrip("+-<$[ .")[:1].isdigit()


def _cell(value: Any) -> str:
    if value is None:
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return NONE if not math.isfinite(value) else f"{value:.4g}"
    return str(value)


def _plain(value: Any) -> Any:
    if value is None:
        return ""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ("" if math.isnan(value) else str(value))
    return value if isinstance(value, int) else safe_cell(str(value))


def gathered(said: Sequence[tuple[str, str]], everyone: int) -> list[str]:
    """Remarks of (who, words): each once, with those it concerns, or nobody's name when it concerns all `everyone`."""
    found: dict[str, list[str]] = {}
    for who, words in said:
        found.setdefault(words, [])
        if who not in found[words]:
            found[words].append(who)
    return [words if len(who) == everyone else f"{words} ({'; '.join(who)})" for words, who in found.items()]


def grid_of(table: Any, signature: str | None = None, name: str | None = None, folded: bool = False) -> Grid:
    """A table of `analysis` (rows as objects, columns that show them); the download holds every key of the rows."""
    from judgekit.analysis.result import plain

    shown = [
        column for column in table.columns if not column.optional or any(column.cell(row) != "-" for row in table.rows)
    ]
    keys = list(dict.fromkeys(key for row in table.rows for key in row))
    reasons = list(dict.fromkeys(str(row["reason"]) for row in table.rows if row.get("reason")))
    return Grid(
        name or table.name, table.title, keys,
        [[_text(plain(row.get(key))) for key in keys] for row in table.rows],
        [[column.cell(row) for column in shown] for row in table.rows],
        notes=[*table.notes, *(f"A dash: {reason}." for reason in reasons[:6])], signature=signature,
        titles=[column.title if column.title is not None else column.key for column in shown], folded=folded,
    )  # fmt: skip


def _text(value: Any) -> Any:
    import json

    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
