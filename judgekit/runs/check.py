# ruff: noqa: S608 - all names in the SQL are those of our own tables and columns
"""What is wrong with a run, row by row, and a new run of all that can be saved."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgekit.errors import InputError
from judgekit.records import Record, content_hash
from judgekit.runs.cells import COLUMNS, Reader
from judgekit.runs.lock import WriterLock
from judgekit.runs.schema import DATABASE, create, guard, open_raw, schema_problems, tables

__all__ = ["Checked", "check_run", "repair_run"]

_OF_A_RECORD = ("judgements", "labels", "measurements")


@dataclass
class Checked:
    """What `check_run` found. `tables` counts rows by table: good ones, and those that are damaged or lost their record."""

    run: str
    problems: list[str] = field(default_factory=list)
    tables: dict[str, dict[str, int]] = field(default_factory=dict)
    saved_as: str | None = None  # where `repair_run` left the damaged file

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        """The ``--json`` object."""
        return {
            "run": self.run,
            "sound": self.sound,
            "problems": self.problems,
            "tables": self.tables,
            "damaged_file": self.saved_as,
        }


def check_run(folder: str | Path) -> Checked:
    """Read every row of a run and say what is wrong; nothing is written.

    Raises InputError where there is no database to read at all.
    """
    with contextlib.closing(_Salvage(Path(folder))) as found:
        for table in tables():
            for _ in found.rows(table):
                pass
        return found.checked


def repair_run(folder: str | Path) -> Checked:
    """Put a database of all sound rows in the place of a damaged one, which stays beside it as ``run.sqlite.damaged``.

    Judgements, labels and measurements whose record is lost are left out: the same commands bring them back, and calls that were kept
    are not asked again. A run that is sound is left as it is.
    """
    place = Path(folder)
    if check_run(place).sound:
        return check_run(place)
    with guard(place):
        lock = WriterLock(place)
        try:
            return _repaired(place)
        finally:
            lock.release()


def _repaired(place: Path) -> Checked:
    handle, name = tempfile.mkstemp(dir=place, prefix=f".{DATABASE}.")
    os.close(handle)
    try:
        with contextlib.closing(_Salvage(place)) as found, contextlib.closing(sqlite3.connect(name)) as new:
            create(new)
            for table in tables():
                for names, row in found.rows(table):
                    new.execute(
                        f"INSERT OR IGNORE INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' for _ in names)})",
                        row,
                    )
            new.commit()
            checked = found.checked
        damaged = place / f"{DATABASE}.damaged"
        while damaged.exists() or damaged.is_symlink():
            damaged = damaged.with_name(damaged.name + "+")
        os.replace(place / DATABASE, damaged)
        for end in ("-wal", "-shm", "-journal"):
            with contextlib.suppress(FileNotFoundError):
                os.replace(place / f"{DATABASE}{end}", f"{damaged}{end}")
        os.chmod(name, 0o644)
        os.replace(name, place / DATABASE)
        checked.saved_as = str(damaged)
        return checked
    finally:
        Path(name).unlink(missing_ok=True)


class _Salvage:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.checked = Checked(str(folder))
        self._stack = contextlib.ExitStack()
        self.con = self._stack.enter_context(open_raw(folder))
        self.records: set[tuple[Any, Any]] = set()
        try:
            with guard(folder):
                self.checked.problems += schema_problems(self.con)
                for (line,) in self.con.execute("PRAGMA quick_check(20)"):
                    if line != "ok":
                        self.checked.problems.append(f"the database itself: {line}")
        except InputError as error:
            self.checked.problems.append(error.message)

    def close(self) -> None:
        self._stack.close()

    def rows(self, table: str) -> Iterator[tuple[list[str], list[Any]]]:
        """The sound rows of a table as they stand, with the names of their columns; the others are noted."""
        count = self.checked.tables[table] = {"good": 0, "damaged": 0, "without_record": 0}
        names = self._columns(table)
        if not names:
            return
        reader = Reader(self.folder, table, names)
        order = 0
        for row in self._raw(table, names):
            try:
                read = reader.row(row)
                if table == "records":
                    self._record(reader, row, read, names)
            except InputError as error:
                count["damaged"] += 1
                self._note(error.message)
                continue
            if table == "records":
                self.records.add((row[names.index("dataset")], row[names.index("record_id")]))
            elif table in _OF_A_RECORD and (row[0], row[1]) not in self.records:
                count["without_record"] += 1
                self._note(
                    f"in the table {table}, record {str(row[1])[:80]!r} of {str(row[0])[:80]!r} is not in the run"
                )
                continue
            count["good"] += 1
            out = list(row)
            if table == "uses":  # places in an order, whatever they were counted in
                order += 1
                out[names.index("used")] = order
            yield names, out

    def _note(self, text: str) -> None:
        text = text.removeprefix("the run is damaged: ")
        if len(self.checked.problems) < 1000:
            self.checked.problems.append(text)

    def _columns(self, table: str) -> list[str]:
        try:
            found = self.con.execute(
                "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)
            ).fetchone()
            there = self.con.execute(f"PRAGMA table_xinfo({table})").fetchall()
        except sqlite3.DatabaseError as error:
            self._note(f"the table {table} cannot be read ({error})")
            return []
        # A virtual table or a computed column could run for ever.
        if found is None or not str(found[0]).startswith("CREATE TABLE") or any(row[6] for row in there):
            return []
        names = {row[1] for row in there}
        lacking = [name for name, kind in COLUMNS[table].items() if kind.endswith("!") and name not in names]
        if lacking:
            self._note(f"the table {table} has no column {lacking[0]}")
            return []
        return [name for name in COLUMNS[table] if name in names]

    def _raw(self, table: str, names: list[str]) -> Iterator[tuple[Any, ...]]:
        """Rows in order; where the file is broken in the middle, also those that can be reached from the other end."""
        keys = [
            row[1] for row in sorted(self.con.execute(f"PRAGMA table_info({table})"), key=lambda row: row[5]) if row[5]
        ]
        rowid = table not in ("labels", "rubrics", "uses", "checklists", "measurements", "studies")
        seen: set[tuple[Any, ...]] = set()
        at = [names.index(key) for key in keys if key in names]
        ways = ["used"] if table == "uses" else ["rowid"] if rowid else [", ".join(keys)]
        ways.append(", ".join(f"{key} DESC" for key in ([ways[0]] if rowid or table == "uses" else keys)))
        for way, order in enumerate(ways):
            try:
                for row in self.con.execute(f"SELECT {', '.join(names)} FROM {table} ORDER BY {order}"):
                    key = tuple(row[place] for place in at)
                    if key in seen:
                        continue
                    seen.add(key)
                    yield row
                return
            except sqlite3.DatabaseError as error:
                if way == 0:
                    self._note(f"the table {table} cannot be read past {len(seen)} rows ({error})")

    def _record(self, reader: Reader, row: Any, read: list[Any], names: list[str]) -> None:
        value = dict(zip(names, read, strict=True))
        try:
            Record.from_dict(value["record"])
        except ValueError as error:  # pydantic's
            raise reader.damage(row, "record", f"is no record ({str(error).splitlines()[0]})") from None
        if content_hash({key: item for key, item in value["record"].items() if key != "labels"}) != value["hash"]:
            raise reader.damage(row, "record", "is not the text that was judged (its hash differs)")
