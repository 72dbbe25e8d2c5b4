"""`load_records`: any source that holds records, with or without a card, becomes one RecordSet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.data.build import Problems, build, split_columns
from judgekit.data.model import RecordSet
from judgekit.data.source import Row, format_of, read_rows
from judgekit.errors import DataError
from judgekit.records import Record

if TYPE_CHECKING:
    from judgekit.data.cards import Card

__all__ = ["load_records", "read_source"]


def load_records(
    path: Any, card: str | Path | Card | None = None, *, dataset: str | None = None, limit: int | None = None
) -> RecordSet:
    """Load records from a file or from memory.

    Parameters
    ----------
    path : a file (JSONL, JSON list, CSV, TSV, Parquet; ``.gz`` too), a list of dicts or Records, a pandas DataFrame or a
        Hugging Face Dataset (one split).
    card : a card's name in the library's ``datasets/``, a card file, or a Card: how the source's fields become records.
        Without one, JSON objects and table columns name Record fields themselves.
    dataset : the data set's name; by default the card's, else the file's stem, else ``records``.
    limit : only the first `limit` records that the card's filters leave; at least 1.

    Returns
    -------
    RecordSet, in the source's order. Ids stay text: ``001``, ``NA`` and ``None`` are what they are. A whole-number id in
    JSON becomes its digits. An empty CSV cell is None, but an empty `response` is the blank answer "".

    Raises
    ------
    DataError, with file, line, field and mend, for the first thing that is wrong: a duplicate id (both lines named), an
    unknown key, a value of the wrong type, bad JSON, bytes that are not UTF-8, ragged rows.
    """
    return read_source(path, card, dataset=dataset, limit=limit, problems=Problems())


def read_source(
    source: Any, card: str | Path | Card | None, *, dataset: str | None, limit: int | None, problems: Problems
) -> RecordSet:
    """As `load_records`, but errors go to `problems`, which may collect them."""
    if limit is not None and limit < 1:
        raise DataError(f"limit must be at least 1, not {limit}", field="limit", mend="leave it out to take all")
    if isinstance(source, RecordSet) and card is None and dataset is None:
        return source if limit is None else source[:limit]
    if card is not None:
        raise NotImplementedError("cards come next")
    file = str(source) if isinstance(source, str | Path) else None
    name = dataset or _name(source, None)
    records: list[Record] = []
    lines: dict[str, int] = {}
    for row, table in _rows(source, None):
        try:
            if isinstance(row, Record):
                record, line = row, len(records) + 1
            else:
                line = row.line
                record = build(split_columns(row, file) if table else row.value, file, line)
            _unique(record, lines, line, file)
        except DataError as error:
            problems.add(error)
            continue
        records.append(record)
        if limit is not None and len(records) == limit:
            break
    return RecordSet(records, name=name, path=file)


def _unique(record: Record, lines: dict[str, int], line: int, file: str | None) -> None:
    first = lines.setdefault(record.id, line)
    if first != line:
        raise DataError(
            f"the id {record.id!r} stands here and on line {first}",
            file=file,
            line=line,
            field="id",
            mend="give each record its own id; several raters of one record go into its labels (see `docs/data.md`)",
        )


def _name(source: Any, card: Card | None) -> str:
    if card is not None:
        return card.name
    if isinstance(source, RecordSet):
        return source.name
    if isinstance(source, str | Path):
        stem = Path(source).name
        for suffix in (".gz", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".tab", ".parquet", ".pq"):
            stem = stem.removesuffix(suffix)
        return stem
    return "records"


def _rows(source: Any, format: str | None) -> Iterator[tuple[Row | Record, bool]]:
    """Rows of any source, and whether they are a table's rows, whose columns map by name."""
    if isinstance(source, str | Path):
        kind = format or format_of(source)
        table = kind in ("csv", "tsv", "parquet")
        for row in read_rows(source, kind):
            yield (Row(_plain(row.value), row.line) if kind == "parquet" else row), table
    elif hasattr(source, "to_dict") and hasattr(source, "columns"):  # a pandas DataFrame
        for number, value in enumerate(source.to_dict("records"), 1):
            yield Row(_frame_row(value, number), number), True
    elif hasattr(source, "column_names") and hasattr(source, "features"):  # a Hugging Face Dataset
        if isinstance(source.column_names, dict):
            raise DataError(
                f"this is a dict of splits ({', '.join(source.column_names)})", mend="pass one split, data['train']"
            )
        for number, value in enumerate(source, 1):
            yield Row(_plain(value), number), True
    elif isinstance(source, Iterable) and not isinstance(source, dict | bytes):
        for number, value in enumerate(source, 1):
            if isinstance(value, Record):
                yield value, False
            elif isinstance(value, dict):
                yield Row(value, number), False
            else:
                raise DataError(f"item {number} is a {type(value).__name__}, neither a dict nor a Record")
    else:
        raise DataError(
            f"cannot read records from a {type(source).__name__}",
            mend="pass a path, a list of dicts or Records, a DataFrame or a Hugging Face Dataset",
        )


def _frame_row(value: dict[Any, Any], number: int) -> dict[str, Any]:
    row = {str(key): item for key, item in _plain(value).items()}
    if "id" in row and not isinstance(row["id"], str):
        raise DataError(
            f"the id of row {number} is the number {row['id']!r}: zeros in front may be lost already",
            field="id",
            mend='read the table with dtype=str, or say frame["id"] = frame["id"].astype(str)',
        )
    return row


def _plain(value: Any) -> Any:
    """Column types as plain JSON values: missing is None, arrays are lists, times are ISO text."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return None if value != value else float(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(item) for item in value]
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value)
