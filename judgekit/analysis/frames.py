"""Columns of a table or a run: text stays text until a column is asked for as numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from judgekit.errors import DataError, InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "COMPONENTS", "LINE", "NUMBER", "TEXTS", "filtered", "is_share", "measured_frame", "need", "numbers", "run_frame", "said_number",
    "table_frame",
]  # fmt: skip

LINE = "__line__"
"""The column that holds each row's line in its file."""


NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

COMPONENTS = {
    "entity": "entity_f1",
    "similarity": "semantic_similarity",
    "consistency": "factual_consistency",
    "structure": "structured_overlap",
}
"""Names of the components inside the details of a `vb_score` measurement."""

TEXTS = ("question", "response", "reference")


def table_frame(table: Any) -> pd.DataFrame:
    """A table's rows as a frame of dtype object, with each row's line in `LINE`; an empty cell is None."""
    import pandas as pd

    columns: dict[Any, Any] = {
        name: pd.Series([None if row.get(name) in ("", None) else row[name] for row in table.rows], dtype=object)
        for name in table.columns
    }
    if table.lines is not None:
        columns[LINE] = pd.Series(table.lines, dtype=object)
    return pd.DataFrame(columns)


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


def yes_or_no(value: Any) -> bool | None:
    """A yes or a no; None where there is no value; ValueError for anything else.

    ``complete`` and ``incomplete`` are neither here: as the 1 and 0 of a column that may be called either way they would turn its direction.
    """
    from judgekit.data.table import truth

    if str(value).strip().casefold() in ("complete", "incomplete"):
        raise ValueError(f"{value!r} is a word, not a yes or no")
    return truth(value)


def said_number(value: Any) -> float | None:
    """A number that a cell holds as one or as text; None for nothing; ValueError for anything else."""
    from judgekit.data.table import is_missing

    if is_missing(value):
        return None
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str) and not NUMBER.fullmatch(value.strip()):
        said = yes_or_no(value)
        return None if said is None else float(said)
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


def is_share(frame: pd.DataFrame, column: str) -> bool:
    """Whether a column's field is yes/no: it holds truth values, or words for them; numbers that happen to be 0 and 1 are numbers."""
    from judgekit.data.table import is_missing

    said = [value for value in frame[column] if not is_missing(value)]
    try:
        return bool(said) and all(
            isinstance(value, bool)
            or (isinstance(value, str) and not NUMBER.fullmatch(value.strip()) and yes_or_no(value) is not None)
            for value in said
        )
    except ValueError:
        return False


def run_frame(latest: pd.DataFrame, records: pd.DataFrame) -> pd.DataFrame:
    """Judgements, one row each, beside what the records say of themselves.

    Columns of the judgements, `unit` (the record's cluster), each verdict field that is a number, a yes/no or a word under its name, and the
    record's `meta` fields under theirs; a name that is taken already gets ``verdict.`` or ``meta.`` in front. Unscored
    judgements stay, with None in their numbers.
    """
    import pandas as pd

    meta: dict[Any, Any] = {(row.dataset, row.record_id): row.meta or {} for row in records.itertuples()}
    out: dict[str, Any] = {name: latest[name] for name in latest.columns}
    out["unit"] = latest["cluster"]
    details = [_flat(verdict) for verdict in latest["verdict"]]
    about: list[dict[str, Any]] = [
        meta.get(key, {}) for key in zip(latest["dataset"], latest["record_id"], strict=True)
    ]
    for prefix, rows in (("verdict", details), ("meta", about)):
        for name in dict.fromkeys(key for row in rows for key in row):
            key = name if name not in out else f"{prefix}.{name}"
            out[key] = pd.Series([row.get(name) for row in rows], dtype=object)
    return pd.DataFrame(out)


def measured_frame(run: Any, metrics: Sequence[str] = ()) -> tuple[pd.DataFrame, list[str]]:
    """A run's measurements as one row a record and one column a metric, and the notations that the columns stand for.

    `metrics` chooses among several notations of one name. Components that were not measured by themselves are taken from the
    details of `vb_score`. Records' `meta` become columns, beside `unit` (the cluster) and the texts.

    Raises InputError when a metric was measured under several notations and none was chosen.
    """
    import pandas as pd

    wanted = set(metrics)
    columns: dict[str, dict[tuple[str, str], float | None]] = {}
    names: dict[str, tuple[str, str]] = {}
    inner: dict[str, dict[tuple[str, str], float | None]] = {}
    for row in run.measurements.itertuples():
        base = _base(row.metric)
        if wanted and any(_base(text) == base for text in wanted) and row.metric not in wanted and base not in wanted:
            continue
        seen = names.setdefault(base, (row.metric, row.signature))
        if seen != (row.metric, row.signature):
            what = f"{seen[0]} and {row.metric}" if seen[0] != row.metric else f"{row.metric} with two signatures"
            raise InputError(
                f"{base} was measured in two ways: {what}", field="metric", mend=f"--metric '{row.metric}'"
            )
        key = (str(row.dataset), str(row.record_id))
        columns.setdefault(base, {})[key] = row.value
        if base == "vb_score" and isinstance(row.details, dict):
            for short, full in COMPONENTS.items():
                inner.setdefault(full, {})[key] = row.details.get(short)
    notations = [names[base][0] for base in columns]
    for full, values in inner.items():
        if full not in columns and any(value is not None for value in values.values()):
            columns[full] = values
    keys = {key for values in columns.values() for key in values}
    rows = []
    for record in run.records.itertuples():
        key = (record.dataset, record.record_id)
        if key in keys:
            head = {"dataset": record.dataset, "record_id": record.record_id, "unit": record.cluster}
            texts = {name: getattr(record, name) for name in TEXTS}
            measured = {base: found.get(key) for base, found in columns.items()}
            rows.append({**(record.meta or {}), **head, **texts, **measured})
    return pd.DataFrame(rows, dtype=object), notations


def _base(notation: str) -> str:
    return re.split(r"[(|]", notation.strip(), maxsplit=1)[0]


def _flat(verdict: Any) -> dict[str, Any]:
    if not isinstance(verdict, dict):
        return {}
    return {key: value for key, value in verdict.items() if isinstance(value, (bool, int, float, str))}
