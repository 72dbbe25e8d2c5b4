# ruff: noqa: S608 - all names in the SQL are constants of this file; values are bound
"""Reading a run as pandas frames, also while it is written, after a kill, and in a folder nobody may write to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.runs.schema import DATABASE, open_reader

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
COMMANDS = ["argv", "version", "started", "ended", "outcome"]

_SOURCES = {
    "judgements": ("judgements t", JUDGEMENTS, {"verdict", "criteria", "flags", "calls"}),
    "labels": ("labels t", LABELS, {"value", "criteria"}),
    "measurements": ("measurements t", MEASUREMENTS, {"details"}),
    "calls": ("calls t", CALLS, {"flags", "verdict", "request", "attempts", "effective"}),
    "rubrics": ("rubrics t", RUBRICS, {"scale", "resolved"}),
    "commands": ("commands t", COMMANDS, {"argv"}),
}
_ORDER = {
    "judgements": "t.dataset, t.rubric, t.judge, t.ask, r.position, t.sample",
    "labels": "t.dataset, r.position, t.n",
    "measurements": "t.dataset, t.metric, t.signature, r.position",
    "calls": "t.id",
    "rubrics": "t.name, t.created",
    "commands": "t.id",
}


def is_run(source: Any) -> bool:
    """Whether `source` is a run: an object with a run's tables, or a folder that holds a run's database."""
    if hasattr(source, "latest") and hasattr(source, "judgements"):
        return True
    return isinstance(source, str | Path) and (Path(source) / DATABASE).is_file()


def open_run(path: str | Path) -> Run:
    """Open a run for reading.

    Raises InputError when `path` holds no run, the file is broken or not ours, or a newer judgekit wrote it.
    """
    run = Run(Path(path))
    with open_reader(run.path):
        pass
    return run


class Run:
    """A run's tables as pandas frames; each access reads what is committed at that moment.

    All columns are of dtype object, so that ids stay text and None stays None (there is no NaN); `sample`, `position` are
    whole numbers, `raw`, `score`, `cost`, `latency_s`, `value` floats or None, `complete` and `served` booleans, JSON
    columns (`verdict`, `criteria`, `flags`, `calls`, `meta`, ...) are dicts and lists.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.outcome: Any = None  # what the command that made this object did; None for a run that was only opened

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"

    @property
    def judgements(self) -> pd.DataFrame:
        """All judgements of the records as they are now, of every version of every rubric (see `latest`)."""
        return self._frame("judgements")

    @property
    def records(self) -> pd.DataFrame:
        """Records without their labels; `cluster` is what counts as the same unit in statistics."""
        rows = []
        for dataset, record_id, cluster, position, digest, text in self._rows(
            "SELECT dataset, record_id, cluster, position, hash, record FROM records ORDER BY dataset, position"
        ):
            value = json.loads(text)
            head = [dataset, record_id, _text(cluster), position, digest]
            rows.append(head + [value.get(name) for name in RECORDS[len(head) :]])
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
        used = {
            (dataset, rubric, judge): (ask, score_fp)
            for dataset, rubric, judge, ask, score_fp in self._rows(
                "SELECT dataset, rubric, judge, ask, score_fp FROM uses ORDER BY used"
            )
        }
        newest: dict[tuple[str, str, str], tuple[str, str]] = {}
        rows: list[list[str]] = frame[["dataset", "rubric", "judge", "ask", "score_fp", "created"]].to_numpy().tolist()
        for dataset, rubric, judge, ask, score_fp, _ in sorted(rows, key=lambda row: row[-1]):
            newest[(dataset, rubric, judge)] = (ask, score_fp)
        newest.update(used)
        keep: list[int] = []
        left: dict[tuple[str, str, str, str], int] = {}
        for i, (dataset, rubric, judge, ask, score_fp, _) in enumerate(rows):
            if (ask, score_fp) == newest[(dataset, rubric, judge)]:
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
        rows = self._rows("SELECT payload FROM studies WHERE name = ? AND kind = ?", (name, kind))
        return json.loads(rows[0][0]) if rows else None

    def _frame(self, table: str) -> pd.DataFrame:
        source, names, as_json = _SOURCES[table]
        joined = "record_id" in names
        columns = ", ".join("r.cluster" if name == "cluster" else f"t.{name}" for name in names)
        join = " LEFT JOIN records r ON r.dataset = t.dataset AND r.record_id = t.record_id" if joined else ""
        rows = self._rows(f"SELECT {columns} FROM {source}{join} ORDER BY {_ORDER[table]}")
        read = [
            (lambda v: None if v is None else json.loads(v))
            if name in as_json
            else (lambda v: None if v is None else bool(v))
            if name in ("complete", "served")
            else _text
            for name in names
        ]
        return _frame([[f(v) for f, v in zip(read, row, strict=True)] for row in rows], names)

    def _rows(self, sql: str, values: tuple[Any, ...] = ()) -> list[Any]:
        with open_reader(self.path) as con:
            if con.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
                return []  # killed before its first table: an empty run
            return con.execute(sql, values).fetchall()


def _text(value: Any) -> Any:
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value


def _frame(rows: list[list[Any]], names: list[str]) -> pd.DataFrame:
    import pandas as pd

    columns = {
        name: pd.Series([row[i] for row in rows], dtype=object, name=name)  # object: pandas must not turn None into NaN
        for i, name in enumerate(names)
    }
    return pd.DataFrame(columns, columns=names)
