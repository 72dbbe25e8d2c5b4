"""Turns a table of labels and scores into triage cells. Text stays text until it is needed."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from typing import Any

import numpy as np

from judgekit.analysis.cells import Cell, complete_by_rule, counted, default_complete_when, join_labels
from judgekit.analysis.selection import Columns
from judgekit.analysis.tables import Table
from judgekit.errors import DataError, StatisticsError

__all__ = ["table_cells"]

_TRUE = {"1", "1.0", "true", "yes"}
_FALSE = {"0", "0.0", "false", "no"}
_WORDS = {"incomplete": 1, "complete": 0}  # these say what they mean, whatever the column is called
_NO_SCORE = {
    "", "na", "n/a", "nan", "null", "none", "-", "inf", "+inf", "-inf", "infinity", "-infinity",
    "invalid", "refused", "truncated", "filtered", "error", "skipped", "unscored",
}  # fmt: skip
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_QUESTIONS = ("question_id", "questionid", "question", "qid", "prompt_id", "promptid", "question_text", "query_id")
_PROBABILITIES = ("sampling_probability", "sampling_prob", "inclusion_probability", "sample_probability", "p_sampled")
_IDS = ("id", "record_id")


def table_cells(
    table: Table,
    columns: Columns,
    *,
    join: str | None = None,
    complete_when: str | None = None,
) -> list[Cell]:
    """Turn a table into one cell a score column, judge, rubric, data set, rater and stratum.

    Columns named ``dataset``, ``rubric`` and ``judge`` split the rows; `columns.rater` gives a cell a rater, and `join` one more
    that joins them.

    Raises
    ------
    DataError : a missing column, a duplicate id, or a label, score or probability that cannot be read (with its line).
    StatisticsError : questions repeat and no cluster is named.
    """
    _check_columns(table, columns)
    label_is = _label_sense(table, columns)
    cells: list[Cell] = []
    for key, members in _split(table, columns).items():
        dataset, rubric, judge, stratum = key
        for column in columns.score:
            name = judge if judge is not None else column
            cells += _one(
                table, columns, members, column, label_is, join, complete_when, (dataset, rubric, name, stratum)
            )
    return cells


def _one(
    table: Table,
    columns: Columns,
    members: list[int],
    column: str,
    label_is: str,
    join: str | None,
    complete_when: str | None,
    key: tuple[str, str | None, str, str | None],
) -> list[Cell]:
    dataset, rubric, judge, stratum = key
    told = _ids(table, columns, members)
    ids, keys = _apart(table, columns, told, members)
    scores, missing = [], []
    for row in members:
        value, why = _score(table, row, column)
        scores.append(value)
        if why is not None:
            missing.append(why)
    labels = [_label(table, row, columns.label, label_is) for row in members]
    base = Cell(
        dataset=dataset,
        rubric=rubric,
        judge=judge,
        rater=None,
        ids=tuple(ids),
        hashes=_hashes(table, columns, told, members),
        named=columns.id is not None or any(c.strip().lower() in _IDS for c in table.columns),
        score=np.array(scores, dtype=np.float64),
        label=np.array(labels, dtype=np.int8),
        cluster=_clusters(table, columns, members),
        severity=None
        if columns.severity is None
        else tuple(_text(table.rows[row].get(columns.severity)) for row in members),
        weight=_weights(table, columns, members),
        unscored=counted(missing),
        stratum=None if columns.by is None else (columns.by, stratum or ""),
        fixed=complete_by_rule(np.array(scores, dtype=np.float64), complete_when or default_complete_when(rubric)),
        keys=keys,
    )
    if columns.rater is None:
        return [base]
    raters = [_text(table.rows[row].get(columns.rater)) or "" for row in members]
    who = tuple(dict.fromkeys(raters))
    found = [
        base.take([r == name for r in raters], rater=name, raters=(name,), unscored=_left(base, raters, name, missing))
        for name in who
    ]
    return found if join is None else [*found, _joined(table, base, ids, raters, who, join)]


def _left(base: Cell, raters: list[str], name: str, missing: list[str]) -> dict[str, int]:
    reasons = iter(missing)
    return counted(
        [
            why
            for rater, s in zip(raters, base.score, strict=True)
            if np.isnan(s) and (why := next(reasons)) and rater == name
        ]
    )


def _joined(table: Table, base: Cell, ids: list[str], raters: list[str], names: tuple[str, ...], join: str) -> Cell:
    if len(set(ids)) == len(ids) and len(names) > 1:
        raise StatisticsError(
            "raters cannot be joined: no id says which rows rate the same answer",
            file=table.file,
            mend="name the id column with --id",
        )
    first: dict[str, int] = {}
    votes: dict[str, list[int]] = {}
    for place, name in enumerate(ids):
        first.setdefault(name, place)
        votes.setdefault(name, [])
        if base.label[place] >= 0:
            votes[name].append(int(base.label[place]))
        if not np.array_equal(base.score[place], base.score[first[name]], equal_nan=True):
            raise DataError(
                f"the answer {name!r} has two scores",
                file=table.file,
                mend="give every row of an answer the same score",
            )
    joined, notes = join_labels([votes[name] for name in first], join)
    keep = np.zeros(len(ids), bool)
    keep[list(first.values())] = True
    whole = base.take(keep)
    return whole.take(
        np.ones(len(first), bool), label=np.array(joined, np.int8), rater=f"{join} of {len(names)}", raters=names, notes=tuple(notes),
        severity=None,
    )  # fmt: skip


def _check_columns(table: Table, columns: Columns) -> None:
    wanted = [columns.label, *columns.score]
    wanted += [
        c
        for c in (
            columns.cluster,
            columns.rater,
            columns.id,
            columns.sampling_probability,
            columns.severity,
            columns.by,
        )
        if c
    ]
    for name in wanted:
        if name not in table.columns:
            raise DataError(
                f"no column {name!r}", file=table.file, line=1 if table.lines is not None else None,
                mend=f"the columns are {', '.join(table.columns)}",
            )  # fmt: skip
    if not table.rows:
        raise DataError("the table has a header and no rows", file=table.file, mend="write one row an answer")


def _label_sense(table: Table, columns: Columns) -> str:
    name = columns.label.strip().lower().replace("-", "_").removeprefix("is_")
    if columns.label_is is None and name in ("complete", "completeness"):
        raise DataError(
            f"does 1 in the column {columns.label!r} mean complete?", file=table.file, field=columns.label,
            mend="say --label-is complete or --label-is incomplete",
        )  # fmt: skip
    return columns.label_is or "incomplete"


def _split(table: Table, columns: Columns) -> dict[tuple[str, str | None, str | None, str | None], list[int]]:
    taken = {columns.label, *columns.score, columns.rater, columns.by, columns.cluster}
    parts: dict[tuple[str, str | None, str | None, str | None], list[int]] = {}
    for index, row in enumerate(table.rows):
        dataset, rubric, judge = (
            _text(row.get(name)) if name in table.columns and name not in taken else None
            for name in ("dataset", "rubric", "judge")
        )
        stratum = None if columns.by is None else _text(row.get(columns.by))
        parts.setdefault((dataset or table.name, rubric, judge, stratum), []).append(index)
    return parts


def _ids(table: Table, columns: Columns, members: list[int]) -> list[str]:
    name = columns.id or next((c for c in table.columns if c.strip().lower() in _IDS), None)
    if name is None:
        return [str(row + 1) for row in members]
    seen: dict[tuple[str, str], int] = {}
    ids = []
    for row in members:
        value = _text(table.rows[row].get(name)) or ""
        ids.append(value)
        rater = "" if columns.rater is None else _text(table.rows[row].get(columns.rater)) or ""
        if columns.cluster == name:
            continue
        if (value, rater) in seen:
            first = seen[value, rater]
            where = f"line {table.lines[first]}" if table.lines is not None else f"row {first + 1}"
            raise table.fail(
                row, name, f"the id {value!r} was there before, on {where}",
                f"give every answer its own id, or say --cluster {name} if it names the question (--rater COL if raters repeat it)",
            )  # fmt: skip
        seen[value, rater] = row
    return ids


def _apart(
    table: Table, columns: Columns, names: list[str], members: list[int]
) -> tuple[list[str], tuple[str, ...] | None]:
    """Ids that tell rows apart, and keys to hash where those ids hold row numbers.

    An id column that names the question may repeat. Were its values taken as ids, scores of one answer would be set against
    another's of the same question, so the row's number is added. A hash of it would change with the order of rows: a key is the
    content of the row (equal rows counted), and rows of equal content are interchangeable.
    """
    raters = ["" if columns.rater is None else _text(table.rows[row].get(columns.rater)) or "" for row in members]
    named = columns.id is not None or any(c.strip().lower() in _IDS for c in table.columns)
    repeated = len(set(zip(names, raters, strict=True))) < len(names)
    if named and not repeated:
        return names, None
    ids = [f"{name} (row {row + 1})" for name, row in zip(names, members, strict=True)] if named else names
    wanted = (*columns.score, columns.label, columns.cluster, columns.rater, columns.severity)
    seen: Counter[tuple[str, ...]] = Counter()
    keys = []
    for name, row in zip(names, members, strict=True):
        content = (name if named else "", *(_text(table.rows[row].get(c)) or "" for c in wanted if c))
        seen[content] += 1
        keys.append("\x1f".join((*content, str(seen[content]))))
    return ids, tuple(keys)


def _hashes(table: Table, columns: Columns, ids: list[str], members: list[int]) -> tuple[str, ...]:
    """A name of each row's content that survives another order: its id, or without one its scores and cluster."""
    named = columns.id is not None or any(c.strip().lower() in _IDS for c in table.columns)
    keep = (*columns.score, columns.cluster)
    texts = [
        f"id {name}" if named else "\x1f".join(_text(table.rows[row].get(c)) or "" for c in keep if c)
        for name, row in zip(ids, members, strict=True)
    ]
    return tuple(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in texts)


def _clusters(table: Table, columns: Columns, members: list[int]) -> tuple[str, ...] | None:
    if columns.cluster is not None:
        values = []
        for row in members:
            value = _text(table.rows[row].get(columns.cluster))
            if not value:
                raise table.fail(row, columns.cluster, "no cluster", "say which question this answer belongs to")
            values.append(value)
        return tuple(values)
    for name in table.columns:
        if name.strip().lower() not in _QUESTIONS:
            continue
        keys = [
            (_text(table.rows[row].get(name)), _text(table.rows[row].get(columns.rater)) if columns.rater else None)
            for row in members
        ]
        repeated = [key for key, n in Counter(key for key in keys if key[0]).items() if n > 1]
        if repeated:
            raise StatisticsError(
                f"{len(repeated)} questions in the column {name!r} have several answers, and answers to one question are not independent",
                file=table.file, field=name, mend=f"say --cluster {name} (or another column that names the unit)",
            )  # fmt: skip
    return None


def _weights(table: Table, columns: Columns, members: list[int]) -> Any:
    name = columns.sampling_probability
    if name is None:
        named = next((c for c in table.columns if c.strip().lower() in _PROBABILITIES), None)
        if named is not None and len({_text(table.rows[row].get(named)) for row in members}) > 1:
            raise StatisticsError(
                f"the column {named!r} says that answers were labelled with unequal probabilities",
                file=table.file, field=named, mend=f"say --sampling-probability {named}, or rename the column if it means something else",
            )  # fmt: skip
        return None
    weights = []
    for row in members:
        text = _text(table.rows[row].get(name)) or ""
        value = float(text) if _NUMBER.fullmatch(text) else float("nan")
        if not 0 < value <= 1:
            raise table.fail(
                row,
                name,
                f"{text!r} is no sampling probability",
                "a number in (0, 1]: how likely this answer was to be labelled",
            )
        weights.append(1 / value)
    return np.array(weights)


def _label(table: Table, row: int, column: str, label_is: str) -> int:
    value = table.rows[row].get(column)
    text = (_text(value) or "").lower()
    if text == "":
        return -1
    if text in _WORDS:
        return _WORDS[text]
    if text not in _TRUE | _FALSE:
        raise table.fail(
            row,
            column,
            f"{value!r} is no label",
            "write 1, 0, true, false, yes, no, incomplete or complete, or leave it empty if nobody labelled it",
        )
    return int((text in _TRUE) == (label_is == "incomplete"))


def _score(table: Table, row: int, column: str) -> tuple[float, str | None]:
    value = table.rows[row].get(column)
    text = _text(value) or ""
    if isinstance(value, bool):
        return float(value), None
    if text.lower() in _NO_SCORE:
        return float("nan"), text.lower() or "empty"
    if _NUMBER.fullmatch(text):
        number = float(text)
        return (number, None) if np.isfinite(number) else (float("nan"), "not finite")
    raise table.fail(
        row, column, f"{value!r} is no number", "write a number with a point, or leave it empty if there is no score"
    )


def _text(value: Any) -> str | None:
    if value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType"):
        return None
    return str(value).strip()
