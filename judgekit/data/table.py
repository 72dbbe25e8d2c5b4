"""Tables as they were written, with line numbers and no guessed types, and the words that every reader takes alike."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Number
from pathlib import Path
from typing import Any

from judgekit.data.source import format_of, plain, read_rows, stem
from judgekit.errors import DataError

__all__ = [
    "MISSING",
    "NO",
    "QUESTION_COLUMNS",
    "YES",
    "Table",
    "decimal_point",
    "is_missing",
    "question_columns",
    "read_table",
    "truth",
]

MISSING = ("", "na", "n/a", "n.a.", "#n/a", "nan", "nat", "<na>", "null", "none", "-", "–", "—")
"""What stands for no value where a score, a verdict or a level is expected; `is_missing` compares it in any case, without outer spaces."""

QUESTION_COLUMNS = (
    "cluster", "question_id", "questionid", "qid", "prompt_id", "promptid", "query_id", "stem", "question", "question_text",
)  # fmt: skip
"""Columns that, when their values repeat, say that rows are not independent; the surest first."""

YES = ("true", "yes", "1", "1.0", "complete")
NO = ("false", "no", "0", "0.0", "incomplete")
"""What a yes and a no look like; `truth` compares them in any case, without outer spaces."""


_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+", re.ASCII)


@dataclass(frozen=True)
class Table:
    """Rows as they were written, with the line where each begins (1-based; None where the source has no lines).

    `columns` are in the order of their first appearance; a row of JSON lacks the keys that it did not have. `digest` is the sha256 of the
    file's bytes (of a DataFrame: of its cells), for signatures. `notes` says what was found out about the file, such as columns divided by semicolons.
    """

    name: str
    file: str | None
    columns: tuple[str, ...]
    rows: list[dict[str, Any]]
    lines: list[int] | None
    digest: str
    notes: tuple[str, ...] = ()

    def fail(self, row: int, column: str, message: str, mend: str) -> DataError:
        """The error to raise about one cell (`row` counts from 0)."""
        line = None if self.lines is None else self.lines[row]
        where = column if line is not None else f"{column}, row {row + 1}"
        return DataError(message, file=self.file, line=line, field=where, mend=mend)


def read_table(source: Any) -> Table:
    """Read a table without guessing any type: cells of CSV are text, JSON's numbers are numbers, and an empty CSV cell is "".

    Parameters
    ----------
    source : a file that `judgekit.data.source.read_rows` reads (CSV, TSV, JSONL, a JSON list, Parquet; ``.gz`` too), or a pandas DataFrame.

    Raises
    ------
    DataError, with the line: no such file, another kind of file, a broken row, a column or key twice, bytes that are no text.
    """
    if hasattr(source, "columns") and hasattr(source, "to_dict"):
        return _frame(source)
    path = Path(source)
    if path.is_dir():
        raise DataError("this folder holds no run", file=str(path), mend="name a run's folder, or a table")
    if not path.is_file():
        raise DataError("there is no such run or table", file=str(path), mend="check the path")
    kind = format_of(path)
    notes: list[str] = []
    rows = list(read_rows(path, kind, on_note=notes.append))
    columns: dict[str, None] = {}
    for row in rows:
        columns.update(dict.fromkeys(row.value))
    return Table(
        stem(path),
        str(path),
        tuple(columns),
        [row.value for row in rows],
        None if kind == "parquet" else [row.line for row in rows],
        hashlib.sha256(path.read_bytes()).hexdigest(),
        tuple(notes),
    )


def _frame(frame: Any) -> Table:
    columns = tuple(str(name) for name in frame.columns)
    twice = next((name for name, number in Counter(columns).items() if number > 1), None)
    if twice is not None:
        raise DataError(f"two columns are named {twice!r}", field=twice, mend="rename one of them")
    raw = frame.to_dict(orient="records")
    digest = hashlib.sha256(repr([columns, [list(row.values()) for row in raw]]).encode("utf-8")).hexdigest()
    narrow = {
        name: frame[name].astype(str) for name in frame.columns if str(frame[name].dtype) in ("float16", "float32")
    }
    rows = [{str(name): plain(cell) for name, cell in row.items()} for row in raw]
    for name, written in narrow.items():  # 0.7 in single precision is 0.7, not 0.699999988079071
        for row, text in zip(rows, written, strict=True):
            row[str(name)] = plain(float(text))
    return Table("table", None, columns, rows, None, digest)


def is_missing(value: Any) -> bool:
    """Whether a cell holds no value: None, NaN, or one of the words of `MISSING`."""
    if isinstance(value, str):
        return value.strip().casefold() in MISSING
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, Number) and bool(value != value)


def question_columns(columns: Iterable[str]) -> list[str]:
    """Those of `columns` that name a question (in any case), the surest first."""
    by = {name.strip().casefold(): name for name in columns}
    return [by[name] for name in QUESTION_COLUMNS if name in by]


def truth(value: Any) -> bool | None:
    """A yes or a no however it was written; None where there is no value.

    True: 1, 1.0, true, yes, complete; False: 0, 0.0, false, no, incomplete; in any case, with or without spaces around, as text, number or
    boolean. Raises ValueError for anything else.
    """
    if is_missing(value):
        return None
    word = str(value).strip().casefold()
    if word not in YES + NO:
        raise ValueError(f"{value!r} is neither yes nor no")
    return word in YES


def decimal_point(text: str) -> str:
    """A number that was written with a decimal comma, ``3,5``, with a point; any other text as it is."""
    return text.replace(",", ".") if _COMMA.fullmatch(text.strip()) else text
