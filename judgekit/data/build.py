"""A row that names Record fields becomes a Record, or an error that names file, line, field and the mend."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from judgekit.data.cells import unsafe_cell
from judgekit.data.source import Row, read_json_text
from judgekit.data.table import decimal_point, is_missing, truth
from judgekit.errors import DataError
from judgekit.records import Criterion, Label, Record, Turn

__all__ = ["LABEL_COLUMNS", "RECORD_FIELDS", "Problems", "build", "id_text", "split_columns"]

RECORD_FIELDS = (
    "id",
    "question",
    "response",
    "reference",
    "criteria",
    "options",
    "answer",
    "labels",
    "cluster",
    "inputs",
    "meta",
)
LABEL_COLUMNS = ("construct", "rater", "complete", "score", "severity", "rationale")
_SAID = ("complete", "score", "severity", "rationale")
_NESTED = ("criteria", "options", "labels", "inputs", "meta")


@dataclass(slots=True)
class Problems:
    """Collects errors up to `limit`, or, with `limit` 0, raises the first; and notes on the source."""

    limit: int = 0
    found: list[DataError] = field(default_factory=list)
    more: int = 0
    notes: list[str] = field(default_factory=list)

    def add(self, error: DataError) -> None:
        if self.limit == 0:
            raise error
        if len(self.found) < self.limit:
            self.found.append(error)
        else:
            self.more += 1


def id_text(value: Any, file: str | None, line: int, name: str = "id") -> str:
    """An id as the text that the source holds. A whole number in JSON is its own digits; anything else is refused."""
    if isinstance(value, str):
        if not value.strip():
            raise DataError("is blank", file=file, line=line, field=name, mend="give every record an id")
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    shown = "null" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)
    raise DataError(
        f"{shown[:40]} is not text", file=file, line=line, field=name, mend=f'write it in quotes, "{shown[:40]}"'
    )


def split_columns(row: Row, file: str | None) -> dict[str, Any]:
    """A table's row as Record fields: columns named after a field, label columns, dotted columns; the others go to meta.

    In a textual row an empty cell is None, but for `response`, where it is the blank answer "".
    """
    value: dict[str, Any] = {}
    meta: dict[str, Any] = {}
    label: dict[str, Any] = {}
    row = _unguarded(row)
    for column, cell in row.value.items():
        if row.textual and cell == "" and column != "response":
            cell = None
        head, _, tail = column.partition(".")
        if column in RECORD_FIELDS:
            if column in _NESTED:
                cell = _cell_json(cell, file, row.line, column) if isinstance(cell, str) else _undo_union(cell)
            if cell is not None:
                value[column] = cell
        elif column == "turns" and (cell is None or (isinstance(cell, str) and cell.lstrip().startswith("["))):
            if cell is not None:
                value["question"] = read_json_text(cell, file, row.line, column)
        elif tail and head in ("meta", "inputs", "options"):
            if cell is not None or head == "meta":
                value.setdefault(head, {})[tail] = cell
        elif column in LABEL_COLUMNS:
            cell = _label_cell(column, cell, file, row.line, textual=row.textual)
            if cell is not None:
                label[column] = cell
        else:
            meta[column] = cell
    if label and not any(name in label for name in _SAID):
        meta |= label  # a rater who said nothing made no label, and the column is kept
        label = {}
    if meta:
        value["meta"] = {**meta, **(value.get("meta") or {})}
    if label:
        if value.get("labels"):
            raise DataError(
                f"the column {next(iter(label))!r} and the column 'labels' both hold labels",
                file=file,
                line=row.line,
                mend="keep one of them, or rename it",
            )
        value["labels"] = [label]
    return value


def _unguarded(row: Row) -> Row:
    """A row of our own CSV export, whose column ``_guarded`` says so: quotes that kept a spreadsheet from computing come off."""
    marks = str(row.value.get("_guarded") or "").split()
    if not row.textual or marks[:1] != ["yes"]:
        return row
    cells = {name: unsafe_cell(cell) for name, cell in row.value.items() if name != "_guarded"}
    # An empty cell means nothing was there, unless the mark names it; for `response` it is the other way round.
    cells = {name: cell for name, cell in cells.items() if cell != "" or name in marks or name == "response"}
    if "-response" in marks:
        del cells["response"]
    return Row(cells, row.line)


def _cell_json(cell: str, file: str | None, line: int, column: str) -> Any:
    if cell.lstrip()[:1] in ("[", "{"):
        return read_json_text(cell, file, line, column)
    raise DataError(
        f"{cell[:40]!r} is neither a JSON list nor an object",
        file=file,
        line=line,
        field=column,
        mend='write JSON in the cell, such as [{"id": "c1", "text": "..."}], rename the column, or use a card',
    )


def _undo_union(value: Any) -> Any:
    """Column formats give every struct the keys of all rows: keys without a value are taken out again."""
    if isinstance(value, dict):
        return {key: _undo_union(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_undo_union(item) for item in value]
    return value


def _label_cell(column: str, cell: Any, file: str | None, line: int, *, textual: bool) -> Any:
    if cell is None or (column in ("complete", "score") and is_missing(cell)):
        return None
    if column == "complete":
        try:
            return truth(cell)
        except ValueError:
            raise DataError(
                f"{cell!r} is neither true nor false",
                file=file,
                line=line,
                field="complete",
                mend="write true, false, or leave the cell empty",
            ) from None
    if column == "score" and textual:
        try:
            return float(decimal_point(cell))
        except ValueError:
            raise DataError(
                f"{cell!r} is not a number", file=file, line=line, field="score", mend="write a number from 0 to 1"
            ) from None
    return cell


def build(value: dict[str, Any], file: str | None, line: int) -> Record:
    """Validate one object as a Record; raises DataError for the first thing that is wrong."""
    value = dict(value)
    if "id" not in value:
        near = [key for key in value if key.strip().lower() in ("id", "_id", "ids")]
        mend = f"rename {near[0]!r} to id" if near else "give every record an id, or map one with a card (--card)"
        raise DataError("is missing", file=file, line=line, field="id", mend=mend)
    value["id"] = id_text(value["id"], file, line)
    if value.get("cluster") is not None:
        value["cluster"] = id_text(value["cluster"], file, line, "cluster")
    _number_ids(value, file, line)
    for name in ("criteria", "labels", "inputs", "meta"):
        if name in value and value[name] is None:
            del value[name]
    for key in value:
        if key not in RECORD_FIELDS:
            near = get_close_matches(key, RECORD_FIELDS, 1)
            mend = f"did you mean {near[0]!r}? " if near else ""
            raise DataError(
                "is not a field of a record",
                file=file,
                line=line,
                field=key,
                mend=f"{mend}Put it under meta (kept aside) or inputs (shown to rubrics that declare it), "
                "or read the file through a card (--card)",
            )
    try:
        record = Record.from_dict(value)
    except ValidationError as error:
        raise _translated(error, file, line) from None
    _consistent(record, file, line)
    return record


def _number_ids(value: dict[str, Any], file: str | None, line: int) -> None:
    criteria = value.get("criteria")
    if isinstance(criteria, list | tuple):
        value["criteria"] = [
            {**item, "id": id_text(item["id"], file, line, f"criteria.{index}.id")}
            if isinstance(item, dict) and "id" in item
            else item
            for index, item in enumerate(criteria)
        ]


def _translated(error: ValidationError, file: str | None, line: int) -> DataError:
    # A union reports every branch; the branch that got furthest is the one that the writer meant.
    first = max(error.errors(include_url=False), key=lambda item: len(item["loc"]))
    place = [str(part) for part in first["loc"] if part not in ("str", "bool", "int", "float", "Turn")]
    place = [part for part in place if not part.startswith(("tuple[", "dict["))]
    got = first.get("input")
    mends = {
        "string_type": "write it in quotes",
        "bool_type": "write true or false, without quotes",
        "missing": "add it",
    }
    mend = mends.get(first["type"])
    message = f"{first['msg'][:1].lower()}{first['msg'][1:]} (it is {got!r:.60})"
    if first["type"] == "missing":
        message = "is missing"
    elif first["type"] == "unexpected_keyword_argument":
        message = "is not a known field"
        known = {"criteria": Criterion, "labels": Label, "question": Turn}.get(place[0] if place else "")
        names = [item.name for item in fields(known)] if known else []
        near = get_close_matches(place[-1], names, 1)
        mend = f"did you mean {near[0]!r}?" if near else f"the fields are {', '.join(names)}" if names else None
    return DataError(message, file=file, line=line, field=".".join(place) or None, mend=mend)


def _consistent(record: Record, file: str | None, line: int) -> None:
    """What types cannot say: unique criterion ids, finite numbers, label scores in [0, 1], labels that fit the record."""
    ids = [criterion.id for criterion in record.criteria]
    for index, criterion in enumerate(record.criteria):
        place = f"criteria.{index}"
        if criterion.id in ids[:index]:
            raise DataError(
                f"the criterion id {criterion.id!r} stands twice",
                file=file,
                line=line,
                field=place,
                mend="give each its own id",
            )
        if not math.isfinite(criterion.points):
            raise DataError(
                "is not a finite number", file=file, line=line, field=f"{place}.points", mend="write a number"
            )
    seen: set[tuple[str, str | None]] = set()
    for index, label in enumerate(record.labels):
        place = f"labels.{index}"
        if (label.construct, label.rater) in seen:
            raise DataError(
                f"{'rater ' + repr(label.rater) if label.rater else 'an unnamed rater'} has two labels for {label.construct!r}",
                file=file,
                line=line,
                field=place,
                mend="name raters apart, or keep one of the labels",
            )
        seen.add((label.construct, label.rater))
        if label.score is not None and not 0 <= label.score <= 1:
            raise DataError(
                f"{label.score!r} is outside 0 to 1",
                file=file,
                line=line,
                field=f"{place}.score",
                mend="map it to 0..1 (1 best), with a card's score table, or keep it under another name",
            )
        strange = sorted(set(label.criteria or {}) - set(ids))
        if strange:
            near = get_close_matches(strange[0], ids, 1, 0.5)
            raise DataError(
                f"names the criterion {strange[0]!r}, which the record does not have",
                file=file,
                line=line,
                field=f"{place}.criteria",
                mend=f"did you mean {near[0]!r}?" if near else "correct the id",
            )
