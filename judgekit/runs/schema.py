"""How a run lies on disk: the SQL, and opening it for writing or for reading.

A run is a folder with ``run.sqlite`` in WAL mode. ``application_id`` says that the file is ours, ``user_version`` which
schema it has. Both are easily forged, so the tables themselves must be those that judgekit makes: a view or a trigger in their place
could run for ever. Files of the run that are links lead out of it and are refused.
"""

from __future__ import annotations

import contextlib
import functools
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from judgekit.errors import InputError

__all__ = ["DATABASE", "SCHEMA_VERSION", "guard", "no_links", "open_reader", "open_writer", "tables"]

DATABASE = "run.sqlite"
SCHEMA_VERSION = 2
APPLICATION_ID = 0x4A4B4954  # "JKIT"

TABLES = """
CREATE TABLE records (
    dataset TEXT NOT NULL, record_id TEXT NOT NULL, hash TEXT NOT NULL, cluster TEXT NOT NULL, position INTEGER NOT NULL,
    record TEXT NOT NULL, labels_hash TEXT NOT NULL, PRIMARY KEY (dataset, record_id));
CREATE TABLE labels (
    dataset TEXT NOT NULL, record_id TEXT NOT NULL, n INTEGER NOT NULL, construct TEXT NOT NULL, rater TEXT,
    complete INTEGER, score REAL, severity TEXT, value TEXT, criteria TEXT, rationale TEXT,
    PRIMARY KEY (dataset, record_id, n)) WITHOUT ROWID;
CREATE TABLE calls (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, served INTEGER NOT NULL, model TEXT NOT NULL, endpoint TEXT NOT NULL,
    sample INTEGER NOT NULL, status TEXT NOT NULL, request TEXT NOT NULL, text TEXT, verdict TEXT, reason TEXT,
    flags TEXT NOT NULL, attempts TEXT NOT NULL, effective TEXT NOT NULL, tokens_in INTEGER, tokens_out INTEGER, cost REAL,
    latency_s REAL, created TEXT NOT NULL);
CREATE UNIQUE INDEX calls_served ON calls (key) WHERE served = 1;
CREATE INDEX calls_key ON calls (key);
CREATE TABLE judgements (
    dataset TEXT NOT NULL, record_id TEXT NOT NULL, rubric TEXT NOT NULL, judge TEXT NOT NULL, sample INTEGER NOT NULL,
    ask TEXT NOT NULL, score_fp TEXT NOT NULL, status TEXT NOT NULL, reason TEXT, raw REAL, score REAL, complete INTEGER,
    verdict TEXT, criteria TEXT, flags TEXT NOT NULL, calls TEXT NOT NULL, record_hash TEXT, tokens_in INTEGER,
    tokens_out INTEGER, cost REAL, latency_s REAL, created TEXT NOT NULL,
    PRIMARY KEY (dataset, record_id, rubric, judge, sample, ask));
CREATE TABLE rubrics (
    name TEXT NOT NULL, ask TEXT NOT NULL, score_fp TEXT NOT NULL, version TEXT, title TEXT, construct TEXT,
    complete_when TEXT, scale TEXT, path TEXT, resolved TEXT NOT NULL, created TEXT NOT NULL,
    PRIMARY KEY (name, ask, score_fp)) WITHOUT ROWID;
CREATE TABLE uses (
    dataset TEXT NOT NULL, rubric TEXT NOT NULL, judge TEXT NOT NULL, ask TEXT NOT NULL, score_fp TEXT NOT NULL,
    used TEXT NOT NULL, PRIMARY KEY (dataset, rubric, judge, ask)) WITHOUT ROWID;
CREATE TABLE checklists (
    question_hash TEXT NOT NULL, writer TEXT NOT NULL, writer_ask TEXT NOT NULL, model TEXT NOT NULL, call TEXT NOT NULL,
    criteria TEXT NOT NULL, created TEXT NOT NULL, PRIMARY KEY (question_hash, writer_ask, model)) WITHOUT ROWID;
CREATE TABLE measurements (
    dataset TEXT NOT NULL, record_id TEXT NOT NULL, metric TEXT NOT NULL, signature TEXT NOT NULL, value REAL, reason TEXT,
    details TEXT, record_hash TEXT, created TEXT NOT NULL,
    PRIMARY KEY (dataset, record_id, metric, signature)) WITHOUT ROWID;
CREATE TABLE studies (
    name TEXT NOT NULL, kind TEXT NOT NULL, payload TEXT NOT NULL, created TEXT NOT NULL, PRIMARY KEY (name, kind)) WITHOUT ROWID;
CREATE TABLE commands (
    id INTEGER PRIMARY KEY, argv TEXT NOT NULL, version TEXT NOT NULL, started TEXT NOT NULL, ended TEXT, outcome TEXT);
"""
# What each later schema does to the one before; a new run is made as the first and takes every step.
STEPS = {
    # Which wording is in use follows a counter (the clocks of two machines differ), and the log says who did what.
    2: """
ALTER TABLE commands ADD COLUMN about TEXT;
CREATE TABLE uses_counted (
    dataset TEXT NOT NULL, rubric TEXT NOT NULL, judge TEXT NOT NULL, ask TEXT NOT NULL, score_fp TEXT NOT NULL,
    used INTEGER NOT NULL, PRIMARY KEY (dataset, rubric, judge, ask)) WITHOUT ROWID;
INSERT INTO uses_counted SELECT dataset, rubric, judge, ask, score_fp, row_number() OVER (ORDER BY used) FROM uses;
DROP TABLE uses;
ALTER TABLE uses_counted RENAME TO uses;
""",
}
_FILES = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", f"{DATABASE}-journal", "run.lock")


@functools.lru_cache(maxsize=4)
def _expected(version: int) -> dict[str, str]:
    """The SQL of every table and index of a schema, as SQLite keeps it."""
    with contextlib.closing(sqlite3.connect(":memory:")) as con:
        con.executescript(TABLES + "".join(step for to, step in STEPS.items() if to <= version))
        return dict(con.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))


def tables(version: int = SCHEMA_VERSION) -> list[str]:
    """The names of a run's tables."""
    return [name for name, sql in _expected(version).items() if sql.startswith("CREATE TABLE")]


@contextlib.contextmanager
def guard(folder: Path, table: str | None = None) -> Iterator[None]:
    """Turn what SQLite and the disk say into a sentence with a way out; `table` is what is being read."""
    try:
        yield
    except sqlite3.OperationalError as error:
        text = str(error)
        if "full" in text:
            message, mend = (
                "the disk is full",
                "free some space and run the same command again; what was written is kept",
            )
        elif "readonly" in text or "unable to open" in text:
            message, mend = (
                "the run cannot be written here",
                "choose another folder with --out, or make this one writable",
            )
        elif "locked" in text:
            message, mend = "another program holds the database", "close it and run the same command again"
        elif "I/O" in text:
            message, mend = f"the disk failed ({text})", "check the disk, then run the same command again"
        else:
            message, mend = (
                f"the run's database cannot be used ({text})",
                "name another folder, or restore it from a copy",
            )
        raise InputError(message, file=str(folder / DATABASE), mend=mend) from error
    except sqlite3.DatabaseError as error:
        where = f"the table {table} cannot be read" if table else "this is not a run that can be read"
        raise InputError(
            f"{where} ({error})",
            file=str(folder / DATABASE),
            mend=f"`judgekit runs check {folder}` says what can be saved; or restore the run from a copy",
        ) from error
    except OSError as error:
        raise InputError(
            f"the run's folder cannot be used ({error.strerror or error})",
            file=str(error.filename or folder),
            mend="choose another folder with --out, or make this one writable",
        ) from error


def open_writer(folder: Path) -> sqlite3.Connection:
    """Open or create the run's database for writing; the caller holds the writer's lock."""
    with guard(folder):
        no_links(folder)
        con = sqlite3.connect(folder / DATABASE, isolation_level=None, timeout=30)
        try:
            _check(con, folder)
            for kind, name in con.execute("SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view')"):
                raise InputError(
                    f"the run holds the {kind} {name!r}, which judgekit did not make",
                    file=str(folder / DATABASE),
                    mend=f"`judgekit runs check {folder} --repair` makes a run without it",
                )
            con.execute("PRAGMA foreign_keys = ON")
            # NORMAL in WAL mode: a killed process loses nothing that was committed; a power cut may lose the last
            # replies (they are then asked again) and never breaks the file.
            con.execute("PRAGMA journal_mode = WAL")
            con.execute("PRAGMA synchronous = NORMAL")
            _upgrade(con)
        except BaseException:
            con.close()
            raise
    return con


def _upgrade(con: sqlite3.Connection) -> None:
    version = con.execute("PRAGMA user_version").fetchone()[0]
    if version < SCHEMA_VERSION:
        script = "" if version else f"{TABLES}PRAGMA application_id = {APPLICATION_ID};"
        script += "".join(step for to, step in STEPS.items() if to > version)
        con.executescript(f"BEGIN IMMEDIATE; {script} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")


def no_links(folder: Path) -> None:
    """Refuse a run whose files lead somewhere else, or are pipes and devices."""
    for name in _FILES:
        path = folder / name
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise InputError(
                f"{name} is a link, a pipe or a device, not a file",
                file=str(path),
                mend="put the file itself into the run's folder",
            )


def _check(con: sqlite3.Connection, folder: Path) -> None:
    con.execute("PRAGMA trusted_schema = OFF")
    version = con.execute("PRAGMA user_version").fetchone()[0]
    ours = con.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
    empty = con.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    if not ours and not empty:
        raise InputError(
            "this database was not made by judgekit", file=str(folder / DATABASE), mend="name another folder"
        )
    if version > SCHEMA_VERSION:
        raise InputError(
            f"this run was written by a newer judgekit (schema {version}; this one knows {SCHEMA_VERSION})",
            file=str(folder / DATABASE),
            mend="pip install -U clinical-judgekit",
        )
    found = {name: (kind, sql) for kind, name, sql in con.execute("SELECT type, name, sql FROM sqlite_master")}
    for name, sql in _expected(version).items() if not empty else ():
        kind = sql.split()[1].lower() if not sql.startswith("CREATE UNIQUE") else "index"
        if found.get(name) != (kind, sql):
            raise InputError(
                f"the {kind} {name} {'is missing' if name not in found else 'is not as judgekit makes it'}",
                file=str(folder / DATABASE),
                mend=f"`judgekit runs check {folder}` says what can be saved",
            )


@contextlib.contextmanager
def open_reader(folder: Path) -> Iterator[sqlite3.Connection]:
    """A read-only connection that never blocks a writer, also in a folder that nobody may write to."""
    path = folder / DATABASE
    no_links(folder)
    if not path.is_file():
        raise InputError(
            "there is no run here",
            file=str(folder),
            mend="make one: judgekit judge DATA --rubric R --model M --out FOLDER",
        )
    with guard(folder), contextlib.ExitStack() as stack:
        con = _reading(path, stack)
        _check(con, folder)
        yield con


def _reading(path: Path, stack: contextlib.ExitStack) -> sqlite3.Connection:
    try:
        return _try(f"{_uri(path)}?mode=ro", stack)
    except sqlite3.OperationalError:
        # A WAL database needs its -shm file, which cannot be made in a read-only folder.
        wal = path.with_name(path.name + "-wal")
        if not (wal.is_file() and wal.stat().st_size):
            return _try(f"{_uri(path)}?mode=ro&immutable=1", stack)
        copy = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="judgekit-"))) / path.name
        shutil.copyfile(path, copy)
        shutil.copyfile(wal, copy.with_name(wal.name))
        return _try(_uri(copy), stack)


def _try(uri: str, stack: contextlib.ExitStack) -> sqlite3.Connection:
    con = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=30)
    try:
        con.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        con.close()
        raise
    stack.callback(con.close)
    return con


def _uri(path: Path) -> str:
    return "file:" + quote(str(path.resolve()))
