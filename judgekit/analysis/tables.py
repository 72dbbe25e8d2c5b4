"""Tables as they were written: CSV, TSV, JSONL, Parquet or a DataFrame, with line numbers and no guessed types."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgekit.errors import DataError, InputError

__all__ = ["Table", "read_table"]


@dataclass(frozen=True)
class Table:
    """Rows as they were written, with the line where each begins (1-based; None for a DataFrame)."""

    name: str
    file: str | None
    columns: tuple[str, ...]
    rows: list[dict[str, Any]]
    lines: list[int] | None
    digest: str

    def fail(self, row: int, column: str, message: str, mend: str) -> DataError:
        line = None if self.lines is None else self.lines[row]
        where = column if line is not None else f"{column}, row {row + 1}"
        return DataError(message, file=self.file, line=line, field=where, mend=mend)


def read_table(source: Any) -> Table:
    """Read a table without guessing any type.

    Parameters
    ----------
    source : a path ending in .csv, .tsv, .jsonl or .parquet, or a pandas DataFrame.

    Raises
    ------
    InputError, DataError : no such file, another kind of file, a broken row, a column named twice, or no row at all.
    """
    if hasattr(source, "columns") and hasattr(source, "to_dict"):
        rows = source.to_dict(orient="records")
        columns = tuple(str(name) for name in source.columns)
        digest = hashlib.sha256(repr([columns, [list(row.values()) for row in rows]]).encode("utf-8")).hexdigest()
        return Table("table", None, columns, [{str(k): v for k, v in row.items()} for row in rows], None, digest)
    path = Path(source)
    if not path.is_file():
        raise InputError(
            "no such file", file=str(path), mend="give a run folder, or a .csv, .tsv, .jsonl or .parquet table"
        )
    kind = path.suffix.lower()
    if kind in (".csv", ".tsv"):
        columns, rows, lines = _read_csv(path, "\t" if kind == ".tsv" else ",")
    elif kind == ".jsonl":
        columns, rows, lines = _read_jsonl(path)
    elif kind == ".parquet":
        import pandas

        frame = pandas.read_parquet(path)
        columns, rows, lines = tuple(frame.columns), frame.to_dict(orient="records"), None
    else:
        raise InputError(
            f"cannot read a {kind or 'nameless'} file as a table", file=str(path), mend="use CSV, TSV, JSONL or Parquet"
        )
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Table(path.stem, str(path), columns, rows, lines, digest)


def _read_csv(path: Path, delimiter: str) -> tuple[tuple[str, ...], list[dict[str, Any]], list[int]]:
    rows, lines = [], []
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, delimiter=delimiter, strict=True)
            header = next(reader, None)
            if not header:
                raise DataError("the table is empty", file=str(path), mend="write a header line with column names")
            names = tuple(name.strip() for name in header)
            twice = [name for name, n in Counter(names).items() if n > 1]
            if twice:
                raise DataError(
                    f"the column {twice[0]!r} is named twice", file=str(path), line=1, mend="rename one of them"
                )
            start = reader.line_num + 1
            for cells in reader:
                if cells and len(cells) != len(names):
                    raise DataError(
                        f"{len(cells)} fields where the header has {len(names)}",
                        file=str(path),
                        line=start,
                        mend="mend this line",
                    )
                if cells:
                    rows.append(dict(zip(names, cells, strict=True)))
                    lines.append(start)
                start = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"broken CSV: {error}", file=str(path), line=reader.line_num, mend="check the quotes") from None
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 text: {error.reason}", file=str(path), mend="save the table as UTF-8") from None
    return names, rows, lines


def _read_jsonl(path: Path) -> tuple[tuple[str, ...], list[dict[str, Any]], list[int]]:
    rows, lines = [], []
    names: dict[str, None] = {}
    for line, text in enumerate(path.read_text("utf-8-sig").split("\n"), start=1):
        if not text.strip():
            continue
        try:
            row = json.loads(text)
        except json.JSONDecodeError as error:
            raise DataError(
                f"not JSON: {error.msg}", file=str(path), line=line, mend="one JSON object a line"
            ) from None
        if not isinstance(row, dict):
            raise DataError("not a JSON object", file=str(path), line=line, mend="one JSON object a line")
        names |= dict.fromkeys(row)
        rows.append(row)
        lines.append(line)
    return tuple(names), rows, lines
