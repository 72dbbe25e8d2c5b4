"""Damaged, forged and linked runs: one error that names table, row and column; what is sound can be saved."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from judgekit.errors import InputError
from judgekit.records import Criterion, Label, Record
from judgekit.runs.cells import COLUMNS
from judgekit.runs.check import check_run, repair_run
from judgekit.runs.model import CallRow, Judgement, Measured, RubricRow
from judgekit.runs.reader import open_run
from judgekit.runs.schema import TABLES, tables
from judgekit.runs.store import RunStore

FRAMES = ("judgements", "records", "labels", "measurements", "calls", "rubrics", "commands")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two records, one row or more in every table."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    with RunStore(folder) as store:
        label = Label(construct="c", rater="r", complete=True, score=0.5, value="v", criteria={"c1": True})
        store.put_records("d", [Record(id=name, response="x", labels=(label,)) for name in ("001", "002")])
        for name in ("001", "002"):
            store.put_judgement(
                Judgement("d", name, "r", "j", 0, "a", "s", "ok", raw=1.0, score=0.5, complete=True, verdict={"score": 1},
                    criteria=[{"id": "c1"}], flags=["f"], calls=["k"])
            )  # fmt: skip
            store.put_measurements([Measured("d", name, "m", "s", 0.5, details={"a": 1})])
        store.put_call(CallRow("k", "m", "e", 0, "ok", {"messages": []}, text="t", verdict={}, tokens_in=1, cost=0.1))
        store.put_rubric(RubricRow("r", "a", "s", scale={"score": [1]}, resolved={}))
        store.use("d", "r", "j", "a", "s")
        store.put_checklist("q", "w", "wa", "m", "k", [Criterion("w1", "t")])
        store.put_study("s", "kind", {"x": 1})
        store.end_command(store.begin_command(["judgekit"], "0"), "done")
    return folder


def spoilt(sound: Path, folder: Path, *statements: tuple[str, Any]) -> Path:
    shutil.copytree(sound, folder)
    con = sqlite3.connect(folder / "run.sqlite")
    for sql, value in statements:
        con.execute(sql, () if value is None else (value,))
    con.commit()
    con.close()
    return folder


def read_all(folder: Path) -> None:
    run = open_run(folder)
    for name in FRAMES:
        getattr(run, name)
    run.latest()
    run.study("s", "kind")
    with RunStore(folder, "r") as store:
        store.checklist("q", "wa", "m")


GARBAGE = {
    "text": b"\xff\xfe", "status": "weird", "int": "x", "real": "x", "bool": 7, "any_order": b"\x00", "any": "[broken",
    "object": "[]", "texts": "[1]", "objects": "[1]", "criteria": "[{}]", "said": '{"c1": []}', "request": '{"messages": 5}',
    "about": '{"versions": 5}',
}  # fmt: skip
READ = [
    (table, column, kind.rstrip("!"))
    for table, columns in COLUMNS.items()
    for column, kind in columns.items()
    # what only writing looks at, or only the check does
    if (table, column) not in {("records", "labels_hash"), ("labels", "n"), ("calls", "id"), ("commands", "id")}
    and column not in {"record_hash", "created"}
    and table != "uses"
    and not (table in ("checklists", "studies") and column not in ("criteria", "payload"))
]  # fmt: skip


@pytest.mark.parametrize(("table", "column", "kind"), READ, ids=lambda word: str(word))
def test_a_damaged_cell_is_named(sound: Path, tmp_path: Path, table: str, column: str, kind: str) -> None:
    row = "rowid = (SELECT max(rowid) FROM {0})" if table in ("records", "calls", "judgements", "commands") else "1"
    if table in ("labels", "measurements"):
        row = "record_id = '002'"
    run = spoilt(sound, tmp_path / "s", (f"UPDATE {table} SET {column} = ? WHERE {row.format(table)}", GARBAGE[kind]))
    with pytest.raises(InputError) as caught:
        read_all(run)
    assert caught.value.field == f"{table}.{column}"
    assert table in caught.value.message
    assert "runs check" in str(caught.value.mend)
    checked = check_run(run)
    assert checked.tables[table]["damaged"] == 1
    assert any(column in line for line in checked.problems)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ('{"a":' * 3000 + "1" + "}" * 3000, "nested"),
        ('{"a":' * 90 + "1" + "}" * 90, "nested deeper than 64"),
        ("{", "is no JSON"),
    ],
)
def test_deep_and_broken_json_is_an_error(sound: Path, tmp_path: Path, value: str, says: str) -> None:
    run = spoilt(sound, tmp_path / "s", ("UPDATE judgements SET verdict = ? WHERE record_id = '002'", value))
    with pytest.raises(InputError, match=says) as caught:
        open_run(run).latest()
    assert "record_id '002'" in caught.value.message


def test_repair_keeps_the_sound_rows_and_the_damaged_file(sound: Path, tmp_path: Path) -> None:
    run = spoilt(
        sound,
        tmp_path / "s",
        ("UPDATE records SET record = ? WHERE record_id = '002'", "[]"),
        ("CREATE VIEW v AS SELECT 1", None),
    )
    # The record is damaged; its judgement, label and measurement speak of nothing that is there.
    checked = repair_run(run)
    assert {name: tuple(n.values()) for name, n in checked.tables.items() if n["damaged"] or n["without_record"]} == {
        "records": (1, 1, 0), "labels": (1, 0, 1), "judgements": (1, 0, 1), "measurements": (1, 0, 1)
    }  # fmt: skip
    assert (run / "run.sqlite.damaged").is_file()
    assert check_run(run).sound
    read_all(run)
    assert open_run(run).judgements.record_id.tolist() == ["001"]
    with RunStore(run) as store:
        assert store.is_served("k"), "what was paid for is kept"
    assert repair_run(run).saved_as is None, "a sound run is left alone"


def test_a_file_cut_off_in_the_middle_gives_what_can_be_read(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run") as store:
        store.put_records("d", [Record(id=f"{i:04}", response="x" * 3000) for i in range(300)])
    path = tmp_path / "run" / "run.sqlite"
    data = bytearray(path.read_bytes())
    middle = len(data) // 2 // 4096 * 4096
    data[middle : middle + 4096 * 3] = b"\xff" * 4096 * 3
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        len(open_run(tmp_path / "run").records)
    assert "records" in caught.value.message
    checked = repair_run(tmp_path / "run")
    assert 250 < checked.tables["records"]["good"] < 300
    assert len(open_run(tmp_path / "run").records) == checked.tables["records"]["good"]


@pytest.mark.parametrize(
    "forge",
    [
        "DROP TABLE uses",
        "ALTER TABLE calls DROP COLUMN latency_s",
        "ALTER TABLE judgements ADD COLUMN x INTEGER GENERATED ALWAYS AS (1) VIRTUAL",
        "DROP TABLE studies; CREATE VIEW studies AS SELECT 's' name, 'kind' kind, '{}' payload, '' created",
    ],
)
def test_tables_that_judgekit_did_not_make_are_refused(sound: Path, tmp_path: Path, forge: str) -> None:
    run = spoilt(sound, tmp_path / "s", *((sql, None) for sql in forge.split("; ")))
    for use in (open_run, RunStore):
        with pytest.raises(InputError, match=r"the table .* is (missing|not as judgekit makes it)"):
            use(run)
    assert not check_run(run).sound


def test_triggers_are_refused_for_writing(sound: Path, tmp_path: Path) -> None:
    run = spoilt(sound, tmp_path / "s", ("CREATE TRIGGER t AFTER INSERT ON calls BEGIN DELETE FROM records; END", None))
    read_all(run)
    with pytest.raises(InputError, match="trigger 't'"):
        RunStore(run)


@pytest.mark.parametrize("name", ["run.sqlite", "run.lock", "run.sqlite-wal"])
def test_files_of_a_run_that_lead_out_of_it_are_refused(sound: Path, tmp_path: Path, name: str) -> None:
    run = tmp_path / "s"
    shutil.copytree(sound, run)
    other = tmp_path / "mine.txt"
    other.write_text("mine")
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(other)
    for use in (open_run, RunStore):
        with pytest.raises(InputError, match="a link"):
            use(run)
    assert other.read_text() == "mine"
    (run / name).unlink()
    os.mkfifo(run / name)
    with pytest.raises(InputError, match="a pipe"):
        open_run(run)


def test_a_run_of_the_first_schema_is_read_as_it_is_and_written_as_the_second(tmp_path: Path) -> None:
    folder = tmp_path / "old"
    folder.mkdir()
    con = sqlite3.connect(folder / "run.sqlite")
    con.executescript(f"{TABLES} PRAGMA application_id = {0x4A4B4954}; PRAGMA user_version = 1;")
    judged = (
        "INSERT INTO judgements VALUES ('d','1','r','j',0,?,'s','ok',NULL,1,1,1,NULL,NULL,'[]','[]',NULL,1,1,1,1,?)"
    )
    con.execute(judged, ("new", "2026-01-01"))
    con.execute(judged, ("old", "2026-01-02"))
    con.execute("INSERT INTO uses VALUES ('d','r','j','old','s','2026-01-01')")
    con.execute("INSERT INTO uses VALUES ('d','r','j','new','s','2026-01-03')")
    con.execute("INSERT INTO commands VALUES (1, '[\"judgekit\"]', '0', '2026', NULL, NULL)")
    con.commit()
    con.close()
    before = (folder / "run.sqlite").read_bytes()
    run = open_run(folder)
    assert run.latest().ask.tolist() == ["new"]
    assert run.commands.about.tolist() == [None]
    assert (folder / "run.sqlite").read_bytes() == before
    RunStore(folder).close()
    assert open_run(folder).latest().ask.tolist() == ["new"]
    with RunStore(folder) as store:  # the counter goes on after what the clock had ordered
        assert store.ask_in_use("d", "r", "j") == "new"
        store.use("d", "r", "j", "old", "s")
        assert store.ask_in_use("d", "r", "j") == "old"
    assert open_run(folder).latest().ask.tolist() == ["old"]


def test_what_is_latest_does_not_hang_on_the_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with RunStore(tmp_path) as store:
        store.put_records("d", [Record(id="1", response="x")])
        for clock, ask in (("2030", "first"), ("2020", "second")):
            monkeypatch.setattr("judgekit.runs.store.now", lambda clock=clock: clock)
            store.put_judgement(Judgement("d", "1", "r", "j", 0, ask, "s", "ok"))
            store.put_judgement(Judgement("d", "1", "r", "used", 0, ask, "s", "ok"))
            store.use("d", "r", "used", ask, "s")
    assert set(open_run(tmp_path).latest().ask) == {"second"}


def test_the_cells_are_those_of_the_tables() -> None:
    assert sorted(COLUMNS) == sorted(tables())
