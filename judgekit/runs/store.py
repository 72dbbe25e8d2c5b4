# ruff: noqa: S608 - all names in the SQL are fields of this package's dataclasses; values are bound
"""The run store: one folder, one writer, any number of readers.

Everything that is paid for or decided is committed here before it counts. `RunStore` writes (and reads while writing);
`open_run` gives the read-only view as pandas frames.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from judgekit.errors import DataError
from judgekit.records import Criterion, Label, Record, content_hash
from judgekit.runs.cells import Reader, values
from judgekit.runs.lock import WriterLock
from judgekit.runs.model import SERVED, Bill, CallRow, Judgement, Measured, RubricRow
from judgekit.runs.reader import Run, open_run
from judgekit.runs.schema import guard, open_reader, open_writer
from judgekit.safety import words_without_secrets

__all__ = ["Run", "RunStore", "encode", "now", "open_run"]

_CALL_JSON = {"request", "verdict", "flags", "attempts", "effective"}
_JUDGEMENT_JSON = {"verdict", "criteria", "flags", "calls"}
_CALLS = [field.name for field in dataclasses.fields(CallRow)]
_JUDGEMENTS = [field.name for field in dataclasses.fields(Judgement)]
_LABELS = [field.name for field in dataclasses.fields(Label)]
_IN_FLIGHT = "in flight"
# A call's bill as `Bill.of` reads it.
_BILLS = """WITH bills AS (SELECT id, endpoint LIKE 'replay/%' AS recorded,
    coalesce(cost, json_extract(effective, '$.bill[0]'), 0.0) AS least,
    coalesce(cost, json_extract(effective, '$.bill[1]'),
        CASE WHEN tokens_in IS NULL AND text IS NULL AND latency_s IS NULL THEN 0.0 END) AS most FROM calls)"""


def now() -> str:
    """The time as ISO 8601, UTC, to the microsecond."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def who() -> dict[str, Any]:
    """The user, the host and the versions that decide a result, for the log."""
    import platform
    import socket
    from importlib.metadata import PackageNotFoundError, version

    try:
        import getpass

        user: str | None = getpass.getuser()
    except (OSError, KeyError, ImportError):  # a user without a name, as in some containers
        user = f"uid {os.getuid()}" if hasattr(os, "getuid") else None
    versions = {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    for package in ("litellm", "pydantic", "numpy"):
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return {"user": user, "host": socket.gethostname(), "system": platform.platform(), "versions": versions}


def encode(value: Any) -> str | None:
    """JSON text, or None for None; NaN is refused. A lone surrogate, which UTF-8 cannot hold, is written as an escape."""
    if value is None:
        return None
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(value, allow_nan=False)
    return text


def _plain(value: Any) -> Any:
    # sqlite3 refuses text with a lone surrogate; such a reply is kept as bytes and comes back as the text it was.
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-8", "surrogatepass")
    return value


def _row(item: Any, names: Iterable[str], as_json: set[str]) -> list[Any]:
    values = ((name, getattr(item, name)) for name in names)
    return [encode(value) if name in as_json else _plain(value) for name, value in values]


class RunStore:
    """A run's folder, open for writing (``rw``: made if absent, locked) or for reading (``r``: never blocks, makes nothing).

    Raises InputError when the folder cannot be used, is not a run, was written by a newer version, or when another
    process writes to it.
    """

    def __init__(self, path: str | Path, mode: Literal["rw", "r"] = "rw") -> None:
        self.path = Path(path)
        self.mode = mode
        self._lock: WriterLock | None = None
        self._reader: Any = None
        if mode == "r":
            self._reader = open_reader(self.path)
            self.con: sqlite3.Connection = self._reader.__enter__()
            return
        with guard(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = WriterLock(self.path)
        try:
            self.con = open_writer(self.path)
        except BaseException:
            self._lock.release()
            raise

    def close(self) -> None:
        """Fold the write-ahead log into the file, so that the folder can be copied, and let the next writer in."""
        if self._reader is not None:
            self._reader.__exit__(None, None, None)
            self._reader = None
        elif self._lock is not None:
            try:
                if self.con.in_transaction:
                    self.con.rollback()
                self.con.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.Error:
                pass  # a full disk or a reader in the way: the log stays beside the file and is read with it
            self.con.close()
            self._lock.release()
            self._lock = None

    def __enter__(self) -> RunStore:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing; a nested one joins the outer one."""
        with guard(self.path):
            if self.con.in_transaction:
                yield self.con
                return
            self.con.execute("BEGIN IMMEDIATE")
            try:
                yield self.con
                self.con.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # a full disk has rolled back already
                    self.con.execute("ROLLBACK")
                raise

    # -- records and labels ---------------------------------------------------------------------------------------

    def put_records(self, dataset: str, records: Iterable[Record]) -> dict[str, int]:
        """Write records and their labels; returns how many are ``new``, ``changed`` and the ``same``.

        When a record's content changed, its judgements and measurements go: they speak of another text. The calls stay, so
        nothing is paid twice if the old text comes back. Labels that changed are replaced whole.
        """
        counts = {"new": 0, "changed": 0, "same": 0}
        with self.transaction() as con:
            for position, record in enumerate(records):
                _encodable(record.id, dataset)
                value = record.to_dict()
                labels = value.pop("labels")
                mine, theirs = content_hash(value), content_hash(labels)
                key = (dataset, record.id)
                old = con.execute(
                    "SELECT hash, labels_hash, position FROM records WHERE dataset = ? AND record_id = ?", key
                ).fetchone()
                if old == (mine, theirs, position):
                    counts["same"] += 1
                    continue
                if old is not None and old[0] != mine:
                    counts["changed"] += 1
                    con.execute("DELETE FROM judgements WHERE dataset = ? AND record_id = ?", key)
                    con.execute("DELETE FROM measurements WHERE dataset = ? AND record_id = ?", key)
                else:
                    counts["new" if old is None else "same"] += 1
                con.execute(
                    "INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (*key, mine, _plain(record.cluster_id), position, encode(value), theirs),
                )
                if old is None or old[1] != theirs:
                    con.execute("DELETE FROM labels WHERE dataset = ? AND record_id = ?", key)
                    for n, label in enumerate(record.labels):
                        con.execute(
                            f"INSERT INTO labels (dataset, record_id, n, {', '.join(_LABELS)}) VALUES (?, ?, ?, {_marks(_LABELS)})",
                            (*key, n, *_row(label, _LABELS, {"value", "criteria"})),
                        )
        return counts

    def record(self, dataset: str, record_id: str) -> Record | None:
        """The stored record, with its labels; None when the run has none of that id."""
        with guard(self.path):
            row = self.con.execute(
                "SELECT record FROM records WHERE dataset = ? AND record_id = ?", (dataset, record_id)
            ).fetchone()
            labels = self.con.execute(
                f"SELECT {', '.join(_LABELS)} FROM labels WHERE dataset = ? AND record_id = ? ORDER BY n",
                (dataset, record_id),
            ).fetchall()
        if row is None:
            return None
        found = [values(self.path, "labels", _LABELS, label) for label in labels]
        reader = Reader(self.path, "records", ["dataset", "record_id", "record"])
        full = (dataset, record_id, row[0])
        try:
            return Record.from_dict({**reader.row(full)[-1], "labels": found})
        except ValueError as error:  # pydantic's
            raise reader.damage(full, "record", f"is no record ({str(error).splitlines()[0]})") from None

    def record_ids(self, dataset: str) -> list[str]:
        """Ids of a data set's records, in their order."""
        with guard(self.path):
            rows = self.con.execute("SELECT record_id FROM records WHERE dataset = ? ORDER BY position", (dataset,))
            return [row[0] for row in rows]

    def datasets(self) -> list[str]:
        """Names of the data sets in the run."""
        with guard(self.path):
            return [row[0] for row in self.con.execute("SELECT DISTINCT dataset FROM records ORDER BY dataset")]

    # -- rubrics --------------------------------------------------------------------------------------------------

    def put_rubric(self, row: RubricRow) -> None:
        """Keep a rubric's version; a later title replaces the earlier one."""
        names = [field.name for field in dataclasses.fields(RubricRow)]
        with self.transaction() as con:
            con.execute(
                f"INSERT OR REPLACE INTO rubrics ({', '.join(names)}, created) VALUES ({_marks(names)}, "
                "coalesce((SELECT created FROM rubrics WHERE name = ? AND ask = ? AND score_fp = ?), ?))",
                (*_row(row, names, {"scale", "resolved"}), row.name, row.ask, row.score_fp, now()),
            )

    def use(self, dataset: str, rubric: str, judge: str, ask: str, score_fp: str) -> None:
        """Say that this version is the one in use now: readers take the latest."""
        with self.transaction() as con:
            con.execute(
                "INSERT OR REPLACE INTO uses VALUES (?, ?, ?, ?, ?, (SELECT coalesce(max(used), 0) + 1 FROM uses))",
                (dataset, rubric, judge, ask, score_fp),
            )

    # -- calls ----------------------------------------------------------------------------------------------------

    def served(self, key: str) -> CallRow | None:
        """The stored call that answers this key, or None: it must be asked."""
        return self._call("key = ? AND served = 1", key)

    def is_served(self, key: str) -> bool:
        """Whether a call with this key is stored and answers later runs."""
        with guard(self.path):
            return self.con.execute("SELECT 1 FROM calls WHERE key = ? AND served = 1", (key,)).fetchone() is not None

    def last_call(self, key: str) -> CallRow | None:
        """The newest call of this key, served or not."""
        return self._call("key = ? ORDER BY id DESC LIMIT 1", key)

    def _call(self, where: str, key: str) -> CallRow | None:
        with guard(self.path):
            row = self.con.execute(f"SELECT {', '.join(_CALLS)} FROM calls WHERE {where}", (key,)).fetchone()
        return None if row is None else CallRow(**values(self.path, "calls", _CALLS, row))

    def put_call(self, row: CallRow) -> None:
        """Commit one call. A served call stays the only one of its key; others pile up for the eye."""
        row = row if row.created else dataclasses.replace(row, created=now())
        served = row.status in SERVED
        with self.transaction() as con:
            con.execute(
                f"INSERT OR IGNORE INTO calls (served, {', '.join(_CALLS)}) VALUES (?, {_marks(_CALLS)})",
                (int(served), *_row(row, _CALLS, _CALL_JSON)),
            )

    def bill(self, *, recorded: bool = True) -> Bill:
        """What all calls of the run were billed, and what the commands that were killed may have left in flight.

        `recorded` False leaves out verdicts recorded elsewhere, which this run has not paid.
        """
        with guard(self.path):
            least, most, unknown = self.con.execute(
                f"{_BILLS} SELECT total(least), total(most), total(most IS NULL) FROM bills WHERE ?1 OR NOT recorded",
                (recorded,),
            ).fetchone()
            (flying,) = self.con.execute(
                "SELECT total(json_extract(payload, '$.at_most')) FROM studies WHERE name = ?", (_IN_FLIGHT,)
            ).fetchone()
        return Bill(float(least), None if unknown else float(most) + float(flying))

    def cost_total(self) -> float | None:
        """US dollars of all calls of the run; None as soon as one of them is not known exactly (see `bill`)."""
        return self.bill().exact

    def judged_bill(self, dataset: str, rubric: str, judge: str, ask: str) -> dict[tuple[str, int], Bill]:
        """By record id and sample, the bill of the judgements whose cost is not known exactly but has bounds."""
        with guard(self.path):
            rows = self.con.execute(
                f"{_BILLS} SELECT j.record_id, j.sample, total(b.least), total(b.most), total(b.most IS NULL) "
                "FROM judgements j, json_each(j.calls) used JOIN bills b "
                "ON b.id = (SELECT id FROM calls WHERE key = used.value ORDER BY served DESC, id DESC LIMIT 1) "
                "WHERE j.cost IS NULL AND j.dataset = ? AND j.rubric = ? AND j.judge = ? AND j.ask = ? "
                "GROUP BY j.record_id, j.sample",
                (dataset, rubric, judge, ask),
            ).fetchall()
        return {(ident, sample): Bill(least, None if unknown else most) for ident, sample, least, most, unknown in rows}

    def in_flight(self, number: int, at_most: float) -> None:
        """Say what the calls that a command has in flight may cost; 0 when it ends. What a killed one said stays, and counts."""
        if at_most:
            self.put_study(_IN_FLIGHT, str(number), {"at_most": at_most})
            return
        with self.transaction() as con:
            con.execute("DELETE FROM studies WHERE name = ? AND kind = ?", (_IN_FLIGHT, str(number)))

    # -- judgements -----------------------------------------------------------------------------------------------

    def judgement(
        self, dataset: str, record_id: str, rubric: str, judge: str, sample: int, ask: str
    ) -> Judgement | None:
        """The stored judgement of exactly this, or None."""
        found = self.judgements(
            dataset=dataset, record_id=record_id, rubric=rubric, judge=judge, sample=sample, ask=ask
        )
        return next(iter(found), None)

    def judgements(self, **where: Any) -> Iterator[Judgement]:
        """Stored judgements whose fields equal those given, in the order of the records."""
        unknown = set(where) - set(_JUDGEMENTS)
        if unknown:
            raise TypeError(f"no such field of a judgement: {', '.join(sorted(unknown))}")
        clause = " AND ".join(f"j.{name} = ?" for name in where) or "1"
        with guard(self.path):
            rows = self.con.execute(
                f"SELECT {', '.join('j.' + name for name in _JUDGEMENTS)} FROM judgements j "
                "LEFT JOIN records r ON r.dataset = j.dataset AND r.record_id = j.record_id "
                f"WHERE {clause} ORDER BY j.dataset, j.rubric, j.judge, r.position, j.sample",
                tuple(where.values()),
            )
            for row in rows:
                yield Judgement(**values(self.path, "judgements", _JUDGEMENTS, row))

    def tally(self, dataset: str, rubric: str, judge: str, ask: str) -> Iterator[tuple[Any, ...]]:
        """Per judgement: record id, sample, status, flags, tokens in and out, cost, why it is unscored. Texts stay on the disk."""
        with guard(self.path):
            rows = self.con.execute(
                "SELECT record_id, sample, status, flags, tokens_in, tokens_out, cost, "
                "CASE WHEN score IS NULL THEN substr(reason, 1, 200) END FROM judgements "
                "WHERE dataset = ? AND rubric = ? AND judge = ? AND ask = ?",
                (dataset, rubric, judge, ask),
            )
            names = ["record_id", "sample", "status", "flags", "tokens_in", "tokens_out", "cost", "reason"]
            yield from map(tuple, Reader(self.path, "judgements", names).rows(rows))

    def put_judgement(self, judgement: Judgement) -> None:
        """Commit one judgement; it replaces the one of the same data set, record, rubric, judge, sample and ask."""
        row = judgement if judgement.created else dataclasses.replace(judgement, created=now())
        with self.transaction() as con:
            con.execute(
                f"INSERT OR REPLACE INTO judgements ({', '.join(_JUDGEMENTS)}) VALUES ({_marks(_JUDGEMENTS)})",
                _row(row, _JUDGEMENTS, _JUDGEMENT_JSON),
            )

    # -- written checklists, measurements, studies, the log -------------------------------------------------------

    def checklist(self, question_hash: str, writer_ask: str, model: str) -> tuple[str, list[Criterion]] | None:
        """The key of the call that wrote it, and the criteria, for a question; None when none was written."""
        with guard(self.path):
            row = self.con.execute(
                "SELECT call, criteria FROM checklists WHERE question_hash = ? AND writer_ask = ? AND model = ?",
                (question_hash, writer_ask, model),
            ).fetchone()
        if row is None:
            return None
        reader = Reader(self.path, "checklists", ["call", "criteria"])
        call, criteria = reader.row(row)
        try:
            return call, [Criterion(**item) for item in criteria]
        except (ValueError, TypeError) as error:
            raise reader.damage(row, "criteria", f"are no criteria ({str(error).splitlines()[0]})") from None

    def put_checklist(
        self, question_hash: str, writer: str, writer_ask: str, model: str, call: str, criteria: Iterable[Criterion]
    ) -> None:
        """Keep a written checklist; all answers to the question share it."""
        plain = [{**dataclasses.asdict(item), "tags": list(item.tags)} for item in criteria]
        with self.transaction() as con:
            con.execute(
                "INSERT OR REPLACE INTO checklists VALUES (?, ?, ?, ?, ?, ?, ?)",
                (question_hash, writer, writer_ask, model, call, encode(plain), now()),
            )

    def put_measurements(self, rows: Iterable[Measured]) -> None:
        """Commit metric values, all or none of them; each replaces the one of the same record, metric and signature."""
        names = [field.name for field in dataclasses.fields(Measured)]
        with self.transaction() as con:
            con.executemany(
                f"INSERT OR REPLACE INTO measurements ({', '.join(names)}, created) VALUES ({_marks(names)}, ?)",
                ((*_row(row, names, {"details"}), now()) for row in rows),
            )

    def measurement(self, dataset: str, record_id: str, metric: str, signature: str) -> Measured | None:
        """The stored value of one record under one metric and signature, or None where there is none."""
        names = [field.name for field in dataclasses.fields(Measured)]
        with guard(self.path):
            row = self.con.execute(
                f"SELECT {', '.join(names)} FROM measurements WHERE dataset = ? AND record_id = ? AND metric = ? AND signature = ?",
                (dataset, record_id, metric, signature),
            ).fetchone()
        return None if row is None else Measured(**values(self.path, "measurements", names, row))

    def put_study(self, name: str, kind: str, payload: dict[str, Any]) -> None:
        """Keep a study's state under its name and kind."""
        with self.transaction() as con:
            con.execute("INSERT OR REPLACE INTO studies VALUES (?, ?, ?, ?)", (name, kind, encode(payload), now()))

    def study(self, name: str, kind: str) -> dict[str, Any] | None:
        """A study's state, or None."""
        with guard(self.path):
            row = self.con.execute(
                "SELECT name, kind, payload FROM studies WHERE name = ? AND kind = ?", (name, kind)
            ).fetchone()
        return None if row is None else values(self.path, "studies", ["name", "kind", "payload"], row)["payload"]

    def begin_command(self, argv: list[str], version: str, about: dict[str, Any] | None = None) -> int:
        """Log that a command starts: who, where and with which versions, and what the caller tells of it (`about`).

        Returns its number for `end_command`. Keys and passwords in words and addresses are struck out.
        """
        with self.transaction() as con:
            cursor = con.execute(
                "INSERT INTO commands (argv, version, started, about) VALUES (?, ?, ?, ?)",
                (encode(words_without_secrets(argv)), version, now(), encode({**who(), **(about or {})})),
            )
            return int(cursor.lastrowid or 0)

    def end_command(self, number: int, outcome: str) -> None:
        """Log how it ended; a command without an end was killed."""
        with self.transaction() as con:
            con.execute("UPDATE commands SET ended = ?, outcome = ? WHERE id = ?", (now(), outcome, number))


def _encodable(record_id: str, dataset: str) -> None:
    for what, field, text, mend in (
        ("data set's name", "dataset", dataset, "give it a readable one: --dataset NAME"),
        ("id", "id", record_id, "give it a readable id"),
    ):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise DataError(
                f"the {what} {text!r} holds half a character, which no file can", field=field, mend=mend
            ) from error


def _marks(names: Iterable[Any]) -> str:
    return ", ".join("?" for _ in names)
