"""A run's tables as files: JSONL, CSV or Parquet. There is no NaN, and CSV is safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from judgekit.data.cells import safe_cell
from judgekit.errors import MissingDependency, UsageError
from judgekit.paths import written_whole
from judgekit.runs.reader import Run

__all__ = ["TABLES", "export_table"]

TABLES = ("judgements", "latest", "calls", "records", "labels", "measurements", "rubrics", "commands")
FORMATS = {".jsonl": "jsonl", ".csv": "csv", ".parquet": "parquet"}


def export_table(run: Run, table: str, path: str | Path) -> int:
    """Write one table of a run to `path`, whole or not at all; returns its number of rows.

    Parameters
    ----------
    table : one of `TABLES`; ``latest`` holds the judgements of each rubric's wording in use (see `Run.latest`).
    path : ends in ``.jsonl`` (null for None, objects as objects), ``.csv`` (UTF-8; an empty cell for None, JSON text for objects,
        a ``'`` before text that a spreadsheet would compute), or ``.parquet`` (null for None, JSON text for objects).

    Raises
    ------
    UsageError for another table or ending; MissingDependency where Parquet needs pyarrow; InputError where the file cannot be
    written.
    """
    target = Path(path)
    kind = FORMATS.get(target.suffix.lower())
    if table not in TABLES:
        raise UsageError(f"a run has no table {table!r}", mend=f"choose one of {', '.join(TABLES)}")
    if kind is None:
        raise UsageError(f"{target.name} has no known ending", mend=f"end it in {', '.join(FORMATS)}")
    frame = run.latest() if table == "latest" else getattr(run, table)
    names = [str(name) for name in frame.columns]
    rows: list[list[Any]] = frame.to_numpy(dtype=object).tolist() if len(frame) else []
    with written_whole(target, "the table") as place:
        {"jsonl": _jsonl, "csv": _csv, "parquet": _parquet}[kind](names, rows, place)
    return len(rows)


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate in a reply
        text = json.dumps(value, allow_nan=False)
    return text


def _jsonl(names: list[str], rows: list[list[Any]], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(_json(dict(zip(names, row, strict=True))) + "\n")


def _csv(names: list[str], rows: list[list[Any]], path: Path) -> None:
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for row in rows:
            writer.writerow([_cell(value) for value in row])


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return safe_cell(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return _json(value) if isinstance(value, dict | list) else value


def _parquet(names: list[str], rows: list[list[Any]], path: Path) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingDependency("Parquet needs pyarrow", mend="pip install pyarrow, or write .jsonl") from error
    columns = {}
    for i, name in enumerate(names):
        values = [row[i] for row in rows]
        known = [value for value in values if value is not None]
        if known and all(isinstance(value, bool) for value in known):
            kind = pa.bool_()
        elif known and all(isinstance(value, int | float) for value in known):
            kind = pa.int64() if all(isinstance(value, int) for value in known) else pa.float64()
        else:
            kind = pa.string()
            values = [value if value is None or isinstance(value, str) else _json(value) for value in values]
            values = [
                value if value is None else value.encode("utf-8", "backslashreplace").decode() for value in values
            ]
        columns[name] = pa.array(values, type=kind)
    pq.write_table(pa.table(columns), path)
