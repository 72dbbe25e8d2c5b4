"""From what SQLite holds to values: every cell is checked, and a damaged one is an error that names table, row and column."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from judgekit.errors import InputError
from judgekit.limits import json_value
from judgekit.runs.model import STATUSES
from judgekit.runs.schema import DATABASE

__all__ = ["COLUMNS", "Reader", "values"]

# What each column holds. A kind with a ! is never null.
COLUMNS: dict[str, dict[str, str]] = {
    "records": {
        "dataset": "text!", "record_id": "text!", "hash": "text!", "cluster": "text!", "position": "int!", "record": "object!",
        "labels_hash": "text!",
    },
    "labels": {
        "dataset": "text!", "record_id": "text!", "n": "int!", "construct": "text!", "rater": "text", "complete": "bool",
        "score": "real", "severity": "text", "value": "any", "criteria": "object", "rationale": "text",
    },
    "calls": {
        "id": "int!", "key": "text!", "served": "bool!", "model": "text!", "endpoint": "text!", "sample": "int!",
        "status": "status!", "request": "object!", "text": "text", "verdict": "object", "reason": "text", "flags": "texts!",
        "attempts": "objects!", "effective": "object!", "tokens_in": "int", "tokens_out": "int", "cost": "real",
        "latency_s": "real", "created": "text!",
    },
    "judgements": {
        "dataset": "text!", "record_id": "text!", "rubric": "text!", "judge": "text!", "sample": "int!", "ask": "text!",
        "score_fp": "text!", "status": "status!", "reason": "text", "raw": "real", "score": "real", "complete": "bool",
        "verdict": "object", "criteria": "objects", "flags": "texts!", "calls": "texts!", "record_hash": "text",
        "tokens_in": "int", "tokens_out": "int", "cost": "real", "latency_s": "real", "created": "text!",
    },
    "rubrics": {
        "name": "text!", "ask": "text!", "score_fp": "text!", "version": "text", "title": "text", "construct": "text",
        "complete_when": "text", "scale": "object", "path": "text", "resolved": "object!", "created": "text!",
    },
    "uses": {
        "dataset": "text!", "rubric": "text!", "judge": "text!", "ask": "text!", "score_fp": "text!", "used": "any_order!",
    },
    "checklists": {
        "question_hash": "text!", "writer": "text!", "writer_ask": "text!", "model": "text!", "call": "text!",
        "criteria": "objects!", "created": "text!",
    },
    "measurements": {
        "dataset": "text!", "record_id": "text!", "metric": "text!", "signature": "text!", "value": "real", "reason": "text",
        "details": "object", "record_hash": "text", "created": "text!",
    },
    "studies": {"name": "text!", "kind": "text!", "payload": "object!", "created": "text!"},
    "commands": {
        "id": "int!", "argv": "texts!", "version": "text!", "started": "text!", "ended": "text", "outcome": "text",
        "about": "object",
    },
}  # fmt: skip
_KEYS = ("dataset", "record_id", "n", "name", "rubric", "judge", "sample", "ask", "metric", "kind", "key", "id")


class _Bad(Exception):
    pass


def _text(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):  # a text with half a character, which SQLite does not take as text
        try:
            return value.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            pass
    raise _Bad("is no text")


def _status(value: Any) -> Any:
    if value in STATUSES:
        return value
    raise _Bad(f"{str(value)[:40]!r} is no status")


def _int(value: Any) -> Any:
    if isinstance(value, int):
        return value
    raise _Bad("is no whole number")


def _real(value: Any) -> Any:
    if isinstance(value, float | int) and math.isfinite(value):
        return value
    raise _Bad("is no number")


def _bool(value: Any) -> Any:
    if value in (0, 1):
        return bool(value)
    raise _Bad("is neither true nor false")


def _any_order(value: Any) -> Any:
    if isinstance(value, int | str):
        return value
    raise _Bad("is no place in an order")


def _json(value: Any) -> Any:
    try:
        return json_value(_text(value))
    except ValueError as error:
        raise _Bad(f"is no JSON ({error})") from None


def _shaped(what: str, fits: Callable[[Any], bool]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        found = _json(value)
        if not fits(found):
            raise _Bad(f"is no {what}")
        return found

    return read


def _list_of(kind: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(isinstance(item, kind) for item in value)


_READ: dict[str, Callable[[Any], Any]] = {
    "text": _text,
    "status": _status,
    "int": _int,
    "real": _real,
    "bool": _bool,
    "any_order": _any_order,
    "any": _json,
    "object": _shaped("object", lambda value: isinstance(value, dict)),
    "texts": _shaped("list of texts", _list_of(str)),
    "objects": _shaped("list of objects", _list_of(dict)),
}


class Reader:
    """Reads rows of some columns of one table."""

    def __init__(self, folder: Path, table: str, names: Sequence[str]) -> None:
        self.folder, self.table, self.names = folder, table, list(names)
        # A cluster beside another table's row is the record's.
        kinds = [COLUMNS[table].get(name, "text") for name in names]
        self._cells = [(_READ[kind.rstrip("!")], kind.endswith("!")) for kind in kinds]

    def row(self, row: Sequence[Any]) -> list[Any]:
        """The values of a row; InputError that names the table, the row and the column of the first that is damaged."""
        out: list[Any] = []
        for place, (value, (read, needed)) in enumerate(zip(row, self._cells, strict=True)):
            try:
                if value is None:
                    if needed:
                        raise _Bad("is missing")
                    out.append(None)
                else:
                    out.append(read(value))
            except _Bad as error:
                raise self.damage(row, self.names[place], str(error)) from None
        return out

    def damage(self, row: Sequence[Any], column: str, problem: str) -> InputError:
        """The error about one cell."""
        known = dict(zip(self.names, row, strict=True))
        keys = [
            f"{name} {str(known[name])[:80]!r}"
            for name in _KEYS
            if name in known and name in COLUMNS[self.table] and name != column
        ]
        return InputError(
            f"the run is damaged: in the table {self.table}, row {', '.join(keys) or '(without a key)'}, {column} {problem}",
            file=str(self.folder / DATABASE),
            field=f"{self.table}.{column}",
            mend=f"`judgekit runs check {self.folder}` says what can be saved",
        )

    def rows(self, rows: Iterable[Sequence[Any]]) -> Iterator[list[Any]]:
        """Every row's values."""
        return map(self.row, rows)


def values(folder: Path, table: str, names: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    """One row as a map of its columns."""
    return dict(zip(names, Reader(folder, table, names).row(row), strict=True))
