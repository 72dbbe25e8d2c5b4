"""What goes out comes back equal, and no cell of a CSV is computed by a spreadsheet."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judgekit.data import load_records
from judgekit.data.cells import safe_cell, unsafe_cell
from judgekit.data.export import export, to_frame, to_huggingface
from judgekit.errors import DataError, UsageError
from judgekit.records import Criterion, Label, Record, Turn

FULL = Record(
    id="001",
    question=(Turn("user", "May I?"), Turn("assistant", "=No"), Turn("user", "Sure?")),
    response="=HYPERLINK(1)",
    reference="",
    criteria=(Criterion(id="c1", text="x", points=-2.5, kind="k", tags=("a", "b")), Criterion(id="c2", text="y")),
    options={"A": "None", "B": ""},
    answer="A",
    labels=(
        Label(rater="r1", complete=False, score=0.5, criteria={"c1": True, "c2": None}, rationale="+1"),
        Label(rater="join:majority", complete=True, value={"k": [1, None]}),
        Label(construct="harm", severity="Mild"),
    ),
    cluster="007",
    inputs={"reason": "r"},
    meta={"model": None, "n": 3, "x": [1.5, None]},
)
ODD = [
    FULL,
    Record(id="002", question='[{"role": "user", "content": "x"}]', response=None),
    Record(id="003", question="", response=""),
    Record(id="'4", question="'=1", response="'", reference="-5 mg", answer="\t"),
]


@pytest.mark.parametrize("to", ["jsonl", "csv", "parquet"])
def test_records_go_out_and_come_back_equal(tmp_path: Path, to: str) -> None:
    path = tmp_path / f"out.{to}"
    assert export(ODD, path, to) == len(ODD)
    assert list(load_records(path)) == ODD


def test_frames_and_hugging_face_data_sets_come_back_equal() -> None:
    assert list(load_records(to_frame(ODD))) == ODD
    pytest.importorskip("datasets.arrow_dataset", reason="the Hugging Face package is not installed")
    assert list(load_records(to_huggingface(ODD))) == ODD


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
RISKY = st.tuples(st.sampled_from(["=", "+", "-", "@", "'", "''", "\t", "\r", "\n", "＝", ""]), TEXT).map("".join)


@given(RISKY)
def test_a_guarded_cell_starts_harmlessly_and_gives_the_text_back(text: str) -> None:
    cell = safe_cell(text)
    assert unsafe_cell(cell) == text
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(st.none() | RISKY, st.none() | RISKY, st.none() | RISKY, st.dictionaries(TEXT, st.none() | TEXT)),
        min_size=1,
        max_size=4,
    )
)
def test_any_record_survives_csv(tmp_path: Path, rows: list[tuple[Any, Any, Any, dict[str, Any]]]) -> None:
    records = [
        Record(id=f"r{index}", question=question, response=response, reference=reference, meta=meta)
        for index, (question, response, reference, meta) in enumerate(rows)
    ]
    path = tmp_path / "any.csv"
    export(records, path, "csv")
    assert list(load_records(path)) == records
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.reader(file):
            assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) for cell in row)


def test_label_studio_tasks_keep_every_rater_and_no_join(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    export([FULL], path, "label-studio")
    (task,) = json.loads(path.read_text("utf-8"))
    assert task["data"]["id"] == "001"
    assert [item["completed_by"]["email"] for item in task["annotations"]] == ["r1", None]
    first = {item["from_name"]: item["value"] for item in task["annotations"][0]["result"]}
    assert first == {
        "complete": {"choices": ["incomplete"]},
        "score": {"number": 0.5},
        "rationale": {"text": ["+1"]},
    }


def test_a_failed_export_leaves_the_old_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    export([FULL], path, "jsonl")
    before = path.read_bytes()
    with pytest.raises(ValueError, match="not JSON compliant"):
        export([FULL, Record(id="x", meta={"n": float("nan")})], path, "jsonl")
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["out.jsonl"]
    with pytest.raises(UsageError, match="xlsx"):
        export([FULL], path, "xlsx")
    with pytest.raises(DataError, match="no such folder"):
        export([FULL], tmp_path / "none" / "out.csv", "csv")
