"""Files to rows, character for character: JSONL, JSON, CSV, TSV, Parquet, plain or gzipped, each row with its line."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgekit.errors import DataError, MissingDependency
from judgekit.limits import MAX_COLUMNS, MAX_DEPTH, gunzip, json_value, read_file

__all__ = ["FORMATS", "Row", "format_of", "plain", "read_json_text", "read_rows", "stem"]

FORMATS = ("jsonl", "json", "csv", "tsv", "parquet")
_SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a source. `line` counts from 1 and is where the row begins (Parquet: the row's number)."""

    value: dict[str, Any]
    line: int
    textual: bool = False  # every cell is text, as in CSV: "" may stand for nothing


def format_of(path: str | Path) -> str:
    """`jsonl`, `json`, `csv`, `tsv` or `parquet`, by the file's name; ``.gz`` is looked through."""
    name = Path(path).name.lower()
    suffix = Path(name.removesuffix(".gz")).suffix
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    raise DataError(
        f"cannot tell the format from the ending {suffix!r}" if suffix else "the file's name has no ending",
        file=str(path),
        mend="save the sheet as 'CSV UTF-8'; .jsonl, .json, .csv, .tsv and .parquet are read"
        if suffix in (".xlsx", ".xls", ".ods", ".sav", ".dta")
        else "name it .jsonl, .json, .csv, .tsv or .parquet (.gz may follow)",
    )


def stem(path: str | Path) -> str:
    """A file's name without the endings that tell its format: ``ratings`` of ``ratings.csv.gz``."""
    name = Path(path).name
    for suffix in (".gz", *_SUFFIXES):
        name = name.removesuffix(suffix)
    return name


def plain(value: Any) -> Any:
    """Column types as plain JSON values: missing is None, arrays are lists, times are ISO text."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return None if value != value else float(value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value)


def _raise(error: DataError) -> None:
    raise error


def _silent(note: str) -> None:
    pass


def read_rows(
    path: str | Path,
    format: str | None = None,
    on_error: Callable[[DataError], None] = _raise,
    on_note: Callable[[str], None] = _silent,
) -> Iterator[Row]:
    """Yield the rows of a file in order.

    `format` is one of `FORMATS`; by default the file's name tells. Nothing is converted: CSV cells stay text, JSON numbers
    stay numbers. DataError, with the line, for bad bytes, bad JSON, NaN, duplicate keys or columns, ragged rows. One bad line of
    many goes to `on_error`, which raises it, unless the caller wants to hear of them all. `on_note` hears what was found out about the file: a
    table divided by semicolons, tabs or bars, text in UTF-16, and a table in Windows-1252, as Excel saves it.
    """
    kind = format or format_of(path)
    if kind == "parquet":
        yield from _parquet(path)
        return
    text = _text(path, kind, on_note)
    if kind == "jsonl":
        yield from _jsonl(str(path), text, on_error)
    elif kind == "json":
        yield from _json(str(path), text)
    else:
        usual = "\t" if kind == "tsv" else ","
        delimiter = _delimiter(text, usual)
        if delimiter != usual:
            on_note(f"the columns of {Path(path).name} are divided by {_MARKS[delimiter]}")
        yield from _csv(str(path), text, delimiter, on_error)


_MARKS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
# What Windows-1252 holds beyond ASCII in texts that people write: other bytes mean that the file is something else.
_WESTERN = frozenset(
    "äöüÄÖÜßàáâãåæçèéêëìíîïñòóôõøùúûýœšžÀÁÂÃÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕØÙÚÛÝŒŠŽ€‚„…‘’“”•–—°±²³µ·¹º»«¼½¾¿¡§©®™×÷´¨\xa0"
)


def _delimiter(text: str, usual: str) -> str:
    """The mark that divides a table's columns: the usual one where it does, else the one that gives the most."""
    columns: dict[str, int] = {}
    for mark in (usual, *_MARKS):
        try:
            rows = [
                row
                for row in itertools.islice(csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True), 20)
                if row
            ]
        except csv.Error:
            continue
        if rows and len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows):
            columns[mark] = len(rows[0])
    return usual if usual in columns or not columns else max(columns, key=lambda mark: columns[mark])


def _text(path: str | Path, kind: str, on_note: Callable[[str], None]) -> str:
    place = Path(path)
    try:
        raw = read_file(place, error=DataError)
    except FileNotFoundError:
        raise DataError("there is no such file", file=str(path), mend="check the path") from None
    except IsADirectoryError:
        raise DataError("this is a folder, not a file", file=str(path), mend="name one file in it") from None
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", file=str(path)) from None
    if place.name.lower().endswith(".gz") or raw[:2] == b"\x1f\x8b":
        try:
            raw = gunzip(raw, str(path), DataError)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"not a whole gzip file ({error})", file=str(path), mend="fetch it again") from None
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            text = raw.decode("utf-16")
        except UnicodeDecodeError as error:
            raise DataError(
                f"not whole UTF-16 text ({error.reason})", file=str(path), mend="save it as UTF-8"
            ) from None
        on_note(f"{place.name} is UTF-16")
        return text
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        western = raw.decode("cp1252", "replace") if kind in ("csv", "tsv") else "\ufffd"
        strange = {char for char in western if ord(char) > 127}
        if strange <= _WESTERN:
            on_note(
                f"{place.name} is not UTF-8 and was read as Windows-1252, with the letters {' '.join(sorted(strange)[:12])}"
            )
            return western
        line = raw.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"byte {raw[error.start]:#04x} is not UTF-8",
            file=str(path),
            line=line,
            mend="save the file as UTF-8 (from Excel: 'CSV UTF-8'; or: iconv -f WINDOWS-1252 -t UTF-8)",
        ) from None


class _BadValue(ValueError):
    """A JSON value that JSON itself allows, or Python lets through, and that we do not."""


def _constant(token: str) -> Any:
    raise _BadValue(f"{token} is not a value: write null")


def _float(token: str) -> float:
    value = float(token)
    if not math.isfinite(value):
        raise _BadValue(f"the number {token} is out of range")
    return value


def _int(token: str) -> int:
    if len(token) > 4000:
        raise _BadValue("a number of more than 4000 digits: write it in quotes")
    return int(token)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _BadValue(f"the key {key!r} stands twice in one object: keep one of them")
            seen.add(key)
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_float, parse_int=_int)


def read_json_text(text: str, file: str | None, line: int, field: str | None = None) -> Any:
    """One JSON value, strictly: no NaN, no infinity, no key twice, no half surrogate. Errors name `file` and `line`."""
    try:
        value = json_value(text, _DECODER.decode)  # type: ignore[arg-type]
    except json.JSONDecodeError as error:
        at = line + text.count("\n", 0, error.pos)
        raise DataError(
            f"not valid JSON: {error.msg} (column {error.colno})",
            file=file,
            line=at,
            field=field,
            mend="mend or delete the line",
        ) from None
    except _BadValue as error:
        message, _, mend = str(error).partition(": ")
        raise DataError(message, file=file, line=line, field=field, mend=mend or None) from None
    except ValueError as error:
        raise DataError(str(error), file=file, line=line, field=field, mend=f"{MAX_DEPTH} levels are read") from None
    if "\\u" in text and _SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        raise DataError(
            "a \\ud800-\\udfff escape without its partner is not a character",
            file=file,
            line=line,
            field=field,
            mend="delete the escape, or write the whole pair",
        )
    return value


def _object(value: Any, file: str, line: int) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DataError(
            f"a row must be an object, this is {'a list' if isinstance(value, list) else repr(value)[:40]}",
            file=file,
            line=line,
            mend="one {...} a line; a file that holds one list is named .json",
        )
    _width(len(value), file, line)
    return value


def _width(n: int, file: str, line: int) -> None:
    if n > MAX_COLUMNS:
        raise DataError(
            f"{n:,} columns are too many",
            file=file,
            line=line,
            mend=f"a table has {MAX_COLUMNS:,} at most: keep what is needed",
        )


def _jsonl(file: str, text: str, on_error: Callable[[DataError], None]) -> Iterator[Row]:
    # Only \n ends a line: str.splitlines would also cut at U+2028 and at form feeds, which JSON strings may hold.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = Row(_object(read_json_text(line.rstrip("\r"), file, number), file, number), number)
        except DataError as error:
            on_error(error)
            continue
        yield row


def _json(file: str, text: str) -> Iterator[Row]:
    value = read_json_text(text, file, 1)
    if not isinstance(value, list):
        raise DataError(
            "the file must hold one list of records", file=file, line=1, mend="write [{...}, {...}], or use .jsonl"
        )
    # The value is good; walk it again element by element, for the line that each one begins on.
    gap = re.compile(r"[\s,]*")
    position, line = text.index("[") + 1, 1 + text.count("\n", 0, text.index("[") + 1)
    for element in value:
        match = gap.match(text, position)
        start = match.end() if match else position
        line += text.count("\n", position, start)
        yield Row(_object(element, file, line), line)
        _, end = _DECODER.raw_decode(text, start)
        line += text.count("\n", start, end)
        position = end


def _csv(file: str, text: str, delimiter: str, on_error: Callable[[DataError], None]) -> Iterator[Row]:
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    before = 0
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            raise DataError(
                f"not valid CSV: {error}",
                file=file,
                line=before + 1,
                mend='a cell with a comma, a quote or a line break stands in "...", and a quote inside is doubled',
            ) from None
        line, before = before + 1, reader.line_num
        if not cells or (len(cells) == 1 and not cells[0].strip() and (header is None or len(header) > 1)):
            continue
        if header is None:
            header = _header(cells, file, line)
            continue
        if len(cells) != len(header):
            on_error(
                DataError(
                    f"{len(cells)} cells, but the header has {len(header)}",
                    file=file,
                    line=line,
                    mend='put cells that hold the delimiter in "..."',
                )
            )
            continue
        yield Row(dict(zip(header, cells, strict=True)), line, textual=True)
    if header is None:
        raise DataError("the file is empty", file=file, line=1, mend="the first line names the columns")


def _header(cells: list[str], file: str, line: int) -> list[str]:
    _width(len(cells), file, line)
    names = [cell.strip() for cell in cells]
    seen: set[str] = set()
    for index, name in enumerate(names):
        if not name:
            raise DataError(f"column {index + 1} has no name", file=file, line=line, mend="name it, or delete it")
        if name in seen:
            raise DataError(f"two columns are named {name!r}", file=file, line=line, mend="rename one of them")
        seen.add(name)
    return names


def _parquet(path: str | Path) -> Iterator[Row]:
    try:
        from pyarrow import ArrowInvalid
        from pyarrow import parquet as pq
    except ImportError:
        raise MissingDependency(
            "Parquet files need pyarrow", file=str(path), mend="pip install pyarrow, or save the table as JSONL"
        ) from None
    if not Path(path).is_file():
        raise DataError("there is no such file", file=str(path), mend="check the path")
    try:
        table = pq.ParquetFile(path)
        _width(len(table.schema_arrow), str(path), 1)
        number = 0
        for batch in table.iter_batches(batch_size=1024):
            for value in batch.to_pylist():
                number += 1
                yield Row(plain(value), number)
    except (ArrowInvalid, OSError) as error:
        raise DataError(f"not a readable Parquet file ({error})", file=str(path)) from None
