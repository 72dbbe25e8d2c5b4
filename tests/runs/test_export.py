"""A run's tables as files: exact, without NaN, and harmless in a spreadsheet."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from judgekit.errors import InputError, UsageError
from judgekit.records import Record
from judgekit.runs.export import TABLES, export_table
from judgekit.runs.model import CallRow, Judgement
from judgekit.runs.store import Run, RunStore, open_run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    with RunStore(tmp_path / "run") as store:
        store.put_records("d", [Record(id="001", response="=1+1"), Record(id="NA")])
        store.put_judgement(
            Judgement("d", "001", "r", "j", 0, "a", "s", "ok", raw=-0.5, score=0.25, complete=False, verdict={"a": 1})
        )
        store.put_judgement(Judgement("d", "NA", "r", "j", 0, "a", "s", "refused", reason="@no", flags=["x"]))
        store.put_call(CallRow("k", "m", "e", 0, "ok", {"messages": []}, text='=HYPERLINK("x")\nü\ud800'))
    return open_run(tmp_path / "run")


def test_jsonl_holds_null_and_objects(run: Run, tmp_path: Path) -> None:
    assert export_table(run, "judgements", tmp_path / "j.jsonl") == 2
    rows = [json.loads(line) for line in (tmp_path / "j.jsonl").read_text("utf-8").splitlines()]
    assert [row["record_id"] for row in rows] == ["001", "NA"]
    assert (rows[0]["raw"], rows[0]["complete"], rows[0]["verdict"]) == (-0.5, False, {"a": 1})
    assert (rows[1]["raw"], rows[1]["complete"], rows[1]["flags"]) == (None, None, ["x"])
    export_table(run, "calls", tmp_path / "c.jsonl")
    assert json.loads((tmp_path / "c.jsonl").read_text("utf-8"))["text"] == '=HYPERLINK("x")\nü\ud800'


def test_csv_computes_nothing_and_numbers_stay_numbers(run: Run, tmp_path: Path) -> None:
    export_table(run, "judgements", tmp_path / "j.csv")
    with (tmp_path / "j.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["record_id"] for row in rows] == ["001", "NA"]
    assert (rows[0]["raw"], rows[0]["complete"], rows[0]["verdict"]) == ("-0.5", "false", '{"a": 1}')
    assert (rows[1]["raw"], rows[1]["reason"]) == ("", "'@no")
    export_table(run, "calls", tmp_path / "c.csv")
    with (tmp_path / "c.csv").open(encoding="utf-8", newline="") as file:
        assert next(csv.DictReader(file))["text"].startswith("'=HYPERLINK")
    assert "nan" not in (tmp_path / "j.csv").read_text("utf-8").lower()


def test_parquet_keeps_types_and_nulls(run: Run, tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    for table in TABLES:
        export_table(run, table, tmp_path / f"{table}.parquet")
    rows = pq.read_table(tmp_path / "judgements.parquet").to_pylist()
    assert (rows[0]["record_id"], rows[0]["raw"], rows[0]["complete"]) == ("001", -0.5, False)
    assert (rows[1]["raw"], rows[1]["complete"], rows[1]["verdict"]) == (None, None, None)


def test_a_wrong_table_ending_or_folder_is_said(run: Run, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nonsense"):
        export_table(run, "nonsense", tmp_path / "x.csv")
    with pytest.raises(UsageError, match="ending"):
        export_table(run, "calls", tmp_path / "x.xls")
    with pytest.raises(InputError, match="cannot be written"):
        export_table(run, "calls", tmp_path / "none" / "x.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]
