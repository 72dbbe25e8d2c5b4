"""From files and runs to frames that an analysis can use: text stays text until a column is asked for as numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.errors import DataError, InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "LINE",
    "as_rows",
    "filtered",
    "is_run",
    "need",
    "numbers",
    "read_table",
    "run_frame",
    "said_number",
]

LINE = "__line__"
"""The column that holds each row's line in its file."""


def is_run(path: str | Path) -> bool:
    """Whether `path` is a run's folder."""
    return (Path(path) / "run.sqlite").is_file()


def read_table(path: str | Path) -> pd.DataFrame:
    """A CSV, TSV, JSONL, JSON or Parquet file as a frame of dtype object, with each row's line in `LINE`.

    Cells of CSV stay text; an empty cell is None. Raises DataError as `judgekit.data.source.read_rows`; for a folder that is no
    run, InputError.
    """
    import pandas as pd

    from judgekit.data.source import read_rows

    if not Path(path).exists():
        raise InputError("there is no such run or table", file=str(path), mend="check the path")
    if Path(path).is_dir():
        raise InputError("this folder holds no run", file=str(path), mend="name a run's folder, or a table")
    rows = []
    for row in read_rows(path):
        cells = {key: None if row.textual and value == "" else value for key, value in row.value.items()}
        rows.append({**cells, LINE: row.line})
    columns: dict[str, None] = {}
    for cells in rows:
        columns.update(dict.fromkeys(cells))
    return pd.DataFrame(
        {name: pd.Series([cells.get(name) for cells in rows], dtype=object) for name in columns or [LINE]}
    )


def need(frame: pd.DataFrame, columns: Iterable[str], file: str | None) -> None:
    """Raise DataError, naming what there is, when a column is missing."""
    have = [str(name) for name in frame.columns if name != LINE]
    for name in columns:
        if name not in have:
            if not have:
                raise DataError("the table has no rows", file=file, field=name, mend="name a table with rows")
            raise DataError(
                f"there is no column {name!r}", file=file, field=name, mend=f"there are {', '.join(have[:20])}"
            )


def said_number(value: Any) -> float | None:
    """A number that a cell holds as one or as text; None for nothing; ValueError for anything else."""
    if (
        value is None
        or (isinstance(value, float) and math.isnan(value))
        or (isinstance(value, str) and not value.strip())
    ):
        return None
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return float(value.strip().lower() == "true")
    found = float(value)
    if not math.isfinite(found):
        raise ValueError(value)
    return found


def numbers(frame: pd.DataFrame, column: str, file: str | None, missing: Sequence[str] = ()) -> list[float | None]:
    """The column as floats, None where a cell is empty or one of `missing`; true and false are 1 and 0.

    Raises DataError, with file and line, for a cell that is no number.
    """
    need(frame, [column], file)
    lines = frame[LINE] if LINE in frame.columns else range(1, len(frame) + 1)
    out: list[float | None] = []
    for value, line in zip(frame[column], lines, strict=True):
        if isinstance(value, str) and value in missing:
            out.append(None)
            continue
        try:
            out.append(said_number(value))
        except (TypeError, ValueError):
            raise DataError(
                f"{value!r} is no number",
                file=file,
                line=int(line),
                field=column,
                mend="leave the cell empty, or name such words with --missing",
            ) from None
    return out


def filtered(frame: pd.DataFrame, where: Sequence[str], file: str | None) -> pd.DataFrame:
    """Rows that meet every condition: ``field=a,b`` (one of) or ``field!=a,b`` (none of), compared as text."""
    for condition in where:
        name, sign, words = condition.partition("!=" if "!=" in condition else "=")
        if not sign or not name.strip():
            raise InputError(f"{condition!r} is no condition", field="where", mend="write field=value or field!=a,b")
        need(frame, [name.strip()], file)
        chosen = {word.strip() for word in words.split(",")}
        inside = frame[name.strip()].map(lambda value, chosen=chosen: ("" if value is None else str(value)) in chosen)
        frame = frame[~inside if sign == "!=" else inside]
    return frame.reset_index(drop=True)


def as_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as dicts, None kept."""
    names = [str(name) for name in frame.columns]
    return [dict(zip(names, row, strict=True)) for row in frame.itertuples(index=False, name=None)]


def run_frame(run: Any, *, rubrics: Sequence[str] = (), judges: Sequence[str] = ()) -> pd.DataFrame:
    """The latest judgements of a run, one row each, beside what the records say of themselves.

    Columns of the judgements, `unit` (the record's cluster), each verdict field that is a number, a yes/no or a word under its name, and the
    record's `meta` fields under theirs; a name that is taken already gets ``verdict.`` or ``meta.`` in front. Unscored
    judgements stay, with None in their numbers.
    """
    import pandas as pd

    frame = run.latest()
    for column, wanted in (("rubric", rubrics), ("judge", judges)):
        if wanted:
            there = sorted(set(frame[column]))
            for name in wanted:
                if name not in there:
                    raise InputError(
                        f"the run has no {column} {name!r}", field=column, mend=f"it has {', '.join(there)}"
                    )
            frame = frame[frame[column].isin(list(wanted))]
    frame = frame.reset_index(drop=True)
    records = run.records
    meta = {(row.dataset, row.record_id): row.meta or {} for row in records.itertuples()}
    out = {name: frame[name] for name in frame.columns}
    out["unit"] = frame["cluster"]
    details = [_flat(verdict) for verdict in frame["verdict"]]
    about = [meta.get(key, {}) for key in zip(frame["dataset"], frame["record_id"], strict=True)]
    for prefix, rows in (("verdict", details), ("meta", about)):
        for name in dict.fromkeys(key for row in rows for key in row):
            key = name if name not in out else f"{prefix}.{name}"
            out[key] = pd.Series([row.get(name) for row in rows], dtype=object)
    result = pd.DataFrame(out)
    result.attrs["left_out"] = frame.attrs.get("left_out", [])
    return result


def _flat(verdict: Any) -> dict[str, Any]:
    if not isinstance(verdict, dict):
        return {}
    return {key: value for key, value in verdict.items() if isinstance(value, (bool, int, float, str))}
