# ruff: noqa: S608 - all names in the SQL are constants of this file; values are bound
"""Reading a run as pandas frames, also while it is written, after a kill, and in a folder nobody may write to."""

from __future__ import annotations

import difflib
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.errors import InputError
from judgekit.runs.cells import Reader, values
from judgekit.runs.schema import DATABASE, guard, open_reader

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Run", "is_run", "open_run"]


# Column lists are the contract with analysis and reports: names, order, and which are JSON on disk.
JUDGEMENTS = [
    "dataset",
    "record_id",
    "cluster",
    "rubric",
    "judge",
    "sample",
    "ask",
    "score_fp",
    "status",
    "reason",
    "raw",
    "score",
    "complete",
    "verdict",
    "criteria",
    "flags",
    "calls",
    "record_hash",
    "tokens_in",
    "tokens_out",
    "cost",
    "latency_s",
    "created",
]
RECORDS = [
    "dataset",
    "record_id",
    "cluster",
    "position",
    "hash",
    "question",
    "response",
    "reference",
    "criteria",
    "options",
    "answer",
    "inputs",
    "meta",
]
LABELS = [
    "dataset",
    "record_id",
    "cluster",
    "construct",
    "rater",
    "complete",
    "score",
    "severity",
    "value",
    "criteria",
    "rationale",
]
MEASUREMENTS = ["dataset", "record_id", "cluster", "metric", "signature", "value", "reason", "details", "created"]
CALLS = [
    "key",
    "served",
    "model",
    "endpoint",
    "sample",
    "status",
    "reason",
    "flags",
    "text",
    "verdict",
    "request",
    "attempts",
    "effective",
    "tokens_in",
    "tokens_out",
    "cost",
    "latency_s",
    "created",
]
RUBRICS = [
    "name",
    "ask",
    "score_fp",
    "version",
    "title",
    "construct",
    "complete_when",
    "scale",
    "path",
    "resolved",
    "created",
]
COMMANDS = ["argv", "version", "started", "ended", "outcome", "about"]

_COLUMNS = {
    "judgements": JUDGEMENTS,
    "labels": LABELS,
    "measurements": MEASUREMENTS,
    "calls": CALLS,
    "rubrics": RUBRICS,
    "commands": COMMANDS,
}
_NONE = type(None)
_RECORD: dict[str, tuple[tuple[type, ...], str]] = {
    "question": ((str, list, _NONE), "text or conversation"),
    "response": ((str, _NONE), "text"),
    "reference": ((str, _NONE), "text"),
    "criteria": ((list, _NONE), "list"),
    "options": ((dict, _NONE), "map"),
    "answer": ((str, _NONE), "text"),
    "inputs": ((dict, _NONE), "map"),
    "meta": ((dict, _NONE), "map"),
}
_KINDS = {"dataset": "data set", "rubric": "rubric", "judge": "judge"}
_SELECTED: dict[str, dict[str, str]] = {  # which column of a table each part of a selection speaks of
    "judgements": {"dataset": "dataset", "rubric": "rubric", "judge": "judge"},
    "records": {"dataset": "dataset"},
    "labels": {"dataset": "dataset"},
    "measurements": {"dataset": "dataset"},
    "rubrics": {"rubric": "name"},
    "calls": {},
    "commands": {},
}
_ORDER = {
    "judgements": "t.dataset, t.rubric, t.judge, t.ask, r.position, t.sample",
    "labels": "t.dataset, r.position, t.n",
    "measurements": "t.dataset, t.metric, t.signature, r.position",
    "calls": "t.id",
    "rubrics": "t.name, t.created",
    "commands": "t.id",
}


def open_run(path: str | Path) -> Run:
    """Open a run for reading.

    Raises InputError when `path` holds no run, the file is broken or not ours, or a newer judgekit wrote it.
    """
    run = Run(Path(path))
    with open_reader(run.path):
        pass
    return run


def is_run(source: Any) -> bool:
    """Whether `source` is a run: a `Run`, or a folder that holds the database file. Every other folder, file or value is none."""
    return isinstance(source, Run) or (
        isinstance(source, str | os.PathLike) and os.path.isfile(os.path.join(os.fspath(source), DATABASE))
    )


class Run:
    """A run's tables as pandas frames; each access reads what is committed at that moment.

    All columns are of dtype object, so that ids stay text and None stays None (there is no NaN); `sample`, `position` are
    whole numbers, `raw`, `score`, `cost`, `latency_s`, `value` floats or None, `complete` and `served` booleans, JSON
    columns (`verdict`, `criteria`, `flags`, `calls`, `meta`, ...) are dicts and lists.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.outcome: Any = None  # what the command that made this object did; None for a run that was only opened
        self.selection: dict[str, tuple[str, ...]] = {}  # see `select`; empty: all of the run

    def __repr__(self) -> str:
        chosen = "".join(f", {name}={list(names)!r}" for name, names in self.selection.items())
        return f"Run({str(self.path)!r}{chosen})"

    def select(
        self,
        *,
        dataset: str | Sequence[str] | None = None,
        rubric: str | Sequence[str] | None = None,
        judge: str | Sequence[str] | None = None,
    ) -> Run:
        """A view of the run that holds only these data sets, rubrics and judges (names as they stand in the run).

        Every frame keeps what belongs to the selection: judgements all three; records, labels and measurements their data
        sets; rubrics their names; calls those that the selected judgements rest on. The log of commands stays whole. A view
        can be narrowed again; the run on the disk is not touched.

        Raises InputError for a name that the run (or the view) has nothing of, and for an empty list of names.
        """
        view = Run(self.path)
        view.outcome = self.outcome
        view.selection = dict(self.selection)
        for field, wanted in (("dataset", dataset), ("rubric", rubric), ("judge", judge)):
            if wanted is None:
                continue
            names = tuple(dict.fromkeys([wanted] if isinstance(wanted, str) else wanted))
            there = self._names(field)
            if not names:
                raise InputError(
                    "no name is given", field=field, mend=f"name one of: {', '.join(there) or 'none here'}"
                )
            for name in names:
                if name not in there:
                    near = difflib.get_close_matches(name, there, 1)
                    raise InputError(
                        f"the run has no {_KINDS[field]} {name!r}",
                        file=str(self.path),
                        field=field,
                        mend=f"did you mean {near[0]!r}?"
                        if near
                        else f"choose from: {', '.join(there) or 'none here'}",
                    )
            view.selection[field] = names
        return view

    def _names(self, field: str) -> list[str]:
        """What there is to select: names in the judgements, for data sets also those of the records, for rubrics of the rubrics."""
        where, values = self._where("judgements")
        parts = [(f"SELECT DISTINCT {field} FROM judgements t{where}", values)]
        if field == "dataset":
            parts += [
                (f"SELECT dataset FROM {other} t{where}", values)
                for other in ("records", "measurements")
                for where, values in [self._where(other)]
            ]
        if field == "rubric":
            where, values = self._where("rubrics")
            parts.append((f"SELECT name FROM rubrics t{where}", values))
        rows = self._rows(
            " UNION ".join(sql for sql, _ in parts) + " ORDER BY 1", tuple(v for _, vs in parts for v in vs)
        )
        return [str(_text(row[0])) for row in rows]

    def _where(self, table: str) -> tuple[str, tuple[str, ...]]:
        """The selection as SQL for one table (named t), with the values to bind."""
        if table == "calls" and self.selection:
            inner, values = self._where("judgements")
            return f" WHERE t.key IN (SELECT e.value FROM judgements t, json_each(t.calls) e{inner})", values
        columns = {column: names for field, names in self.selection.items() if (column := _SELECTED[table].get(field))}
        clause = " AND ".join(f"t.{column} IN ({', '.join('?' for _ in names)})" for column, names in columns.items())
        return (f" WHERE {clause}" if clause else ""), tuple(name for names in columns.values() for name in names)

    @property
    def judgements(self) -> pd.DataFrame:
        """All judgements of the records as they are now, of every version of every rubric (see `latest`)."""
        return self._frame("judgements")

    @property
    def records(self) -> pd.DataFrame:
        """Records without their labels; `cluster` is what counts as the same unit in statistics."""
        where, bound = self._where("records")
        head = ["dataset", "record_id", "cluster", "position", "hash"]
        reader = Reader(self.path, "records", [*head, "record"])
        found = self._rows(
            f"SELECT {', '.join(head)}, record FROM records t{where} ORDER BY dataset, position", bound, "records"
        )
        rows = []
        for row in found:
            *first, value = reader.row(row)
            for name, (kinds, word) in _RECORD.items():
                if not isinstance(value.get(name), kinds):
                    raise reader.damage(row, "record", f"has {name}, which is no {word}")
            rows.append(first + [value.get(name) for name in RECORDS[len(head) :]])
        return _frame(rows, RECORDS)

    @property
    def labels(self) -> pd.DataFrame:
        """One row a record, construct and rater."""
        return self._frame("labels")

    @property
    def measurements(self) -> pd.DataFrame:
        """One row a record, metric and signature."""
        return self._frame("measurements")

    @property
    def calls(self) -> pd.DataFrame:
        """Every request ever made, in order, also those whose reply was of no use (`served` False)."""
        return self._frame("calls")

    @property
    def rubrics(self) -> pd.DataFrame:
        """Every version of every rubric that the run used."""
        return self._frame("rubrics")

    @property
    def commands(self) -> pd.DataFrame:
        """The commands that wrote to the run; `ended` None: still running, or killed."""
        return self._frame("commands")

    def latest(self) -> pd.DataFrame:
        """Per data set, rubric and judge, all judgements of the version that was used last.

        ``frame.attrs["left_out"]`` lists what that leaves out: dicts of `dataset, rubric, judge, ask, n`.
        """
        frame = self.judgements
        # A counter decides, never the clock: the place in `uses`; for what no command has used, the order of writing.
        written = {
            (dataset, rubric, judge): (ask, score_fp)
            for dataset, rubric, judge, ask, score_fp in self._rows(
                "SELECT dataset, rubric, judge, ask, score_fp FROM judgements "
                "GROUP BY dataset, rubric, judge, ask, score_fp ORDER BY max(rowid)",
                table="judgements",
            )
        }
        used = {
            (dataset, rubric, judge): (ask, score_fp)
            for dataset, rubric, judge, ask, score_fp in self._rows(
                "SELECT dataset, rubric, judge, ask, score_fp FROM uses ORDER BY used", table="uses"
            )
        }
        newest = written | used
        rows: list[list[str]] = frame[["dataset", "rubric", "judge", "ask", "score_fp"]].to_numpy().tolist()
        keep: list[int] = []
        left: dict[tuple[str, str, str, str], int] = {}
        for i, (dataset, rubric, judge, ask, score_fp) in enumerate(rows):
            if (ask, score_fp) == newest.get((dataset, rubric, judge)):
                keep.append(i)
            else:
                key = (dataset, rubric, judge, ask)
                left[key] = left.get(key, 0) + 1
        names = ("dataset", "rubric", "judge", "ask", "n")
        result = frame.iloc[keep].reset_index(drop=True)
        result.attrs["left_out"] = [dict(zip(names, (*key, n), strict=True)) for key, n in left.items()]
        return result

    def study(self, name: str, kind: str) -> dict[str, Any] | None:
        """A study's stored state, or None."""
        rows = self._rows(
            "SELECT name, kind, payload FROM studies WHERE name = ? AND kind = ?", (name, kind), "studies"
        )
        return values(self.path, "studies", ["name", "kind", "payload"], rows[0])["payload"] if rows else None

    def _frame(self, table: str) -> pd.DataFrame:
        names = _COLUMNS[table]
        joined = "record_id" in names
        with open_reader(self.path) as con:
            there = {row[1] for row in con.execute(f"PRAGMA table_info({table})")}
        columns = ", ".join(
            "r.cluster" if name == "cluster" else f"t.{name}" if name in there else "NULL" for name in names
        )
        join = " LEFT JOIN records r ON r.dataset = t.dataset AND r.record_id = t.record_id" if joined else ""
        where, bound = self._where(table)
        rows = self._rows(f"SELECT {columns} FROM {table} t{join}{where} ORDER BY {_ORDER[table]}", bound, table)
        return _frame(list(Reader(self.path, table, names).rows(rows)), names)

    def _rows(self, sql: str, bound: tuple[Any, ...] = (), table: str | None = None) -> list[Any]:
        with open_reader(self.path) as con:
            if con.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
                return []  # killed before its first table: an empty run
            with guard(self.path, table):
                try:
                    return con.execute(sql, bound).fetchall()
                except sqlite3.OperationalError as error:
                    if "decode" not in str(error):
                        raise
                # Text that is no UTF-8 comes as bytes, and whoever reads the rows says in which one it stands.
                con.text_factory = _text_or_bytes
                return con.execute(sql, bound).fetchall()


def _text_or_bytes(value: bytes) -> str | bytes:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _text(value: Any) -> Any:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value


def _frame(rows: list[list[Any]], names: list[str]) -> pd.DataFrame:
    import pandas as pd

    columns = {
        name: pd.Series([row[i] for row in rows], dtype=object, name=name)  # object: pandas must not turn None into NaN
        for i, name in enumerate(names)
    }
    return pd.DataFrame(columns, columns=names)
