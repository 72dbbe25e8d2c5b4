"""Tables to frames: text stays text; what is no number names its line; conditions; runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from judgekit.analysis.compare import Compare
from judgekit.analysis.frames import LINE, filtered, numbers
from judgekit.analysis.source import open_source
from judgekit.errors import DataError, InputError
from judgekit.records import Record
from judgekit.runs.reader import is_run
from tests.analysis.conftest import Build, judged
from tests.analysis.conftest import read_frame as read_table


def as_rows(frame: Any) -> list[dict[str, Any]]:
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.itertuples(index=False, name=None)]


def table(tmp_path: Path, text: str, name: str = "t.csv") -> str:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_cells_stay_text_and_empty_ones_are_none(tmp_path: Path) -> None:
    frame = read_table(table(tmp_path, 'id,v,w\n001,NA,\n1,"None",2\n'))
    assert as_rows(frame[["id", "v", "w"]]) == [{"id": "001", "v": "NA", "w": None}, {"id": "1", "v": "None", "w": "2"}]
    assert frame[LINE].tolist() == [2, 3]


def test_jsonl_keeps_its_types_and_rows_may_differ(tmp_path: Path) -> None:
    frame = read_table(table(tmp_path, '{"a": 1, "b": true}\n{"a": null, "c": [1]}\n', "t.jsonl"))
    assert as_rows(frame[["a", "b", "c"]]) == [{"a": 1, "b": True, "c": None}, {"a": None, "b": None, "c": [1]}]
    assert numbers(frame, "b", None) == [1.0, None]


@pytest.mark.parametrize("cell", ["four", "4,5", "inf", "[]"])
def test_what_is_no_number_names_its_line(tmp_path: Path, cell: str) -> None:
    file = table(tmp_path, f'v\n1\n" 2.5 "\n"{cell}"\n')
    with pytest.raises(DataError) as error:
        numbers(read_table(file), "v", file)
    assert (error.value.line, error.value.field, error.value.file) == (4, "v", file)
    assert numbers(read_table(file), "v", file, missing=[cell]) == [1.0, 2.5, None]


def test_conditions(tmp_path: Path) -> None:
    frame = read_table(table(tmp_path, "a,b\n1,x\n2,\n3,y\n"))
    assert filtered(frame, ["a=1,3"], None)["a"].tolist() == ["1", "3"]
    assert filtered(frame, ["b!="], None)["a"].tolist() == ["1", "3"]
    assert filtered(frame, ["a!=1", "b=y"], None)["a"].tolist() == ["3"]
    with pytest.raises(InputError, match="is no condition"):
        filtered(frame, ["a"], None)
    with pytest.raises(DataError, match="no column 'z'"):
        filtered(frame, ["z=1"], None)


def test_a_folder_is_a_run_or_a_mistake(tmp_path: Path, build: Build) -> None:
    assert is_run(build([]).path)
    assert not is_run(tmp_path)
    with pytest.raises(InputError, match="holds no run"):
        read_table(tmp_path)
    with pytest.raises(InputError, match="no such run or table"):
        read_table(tmp_path / "nowhere")


def test_a_runs_verdicts_and_meta_become_columns(build: Build) -> None:
    record = Record(id="r", question="q", response="x", cluster="c", meta={"model": "A", "judge": "meta of that name"})
    verdict = {"comprehension": 4, "harm": 5, "explanation": "words", "criteria": {"c1": {"met": True}}}
    row = as_rows(open_source(build([record], [judged("r", raw=4.0, verdict=verdict)]), Compare()).frame())[0]
    assert (row["comprehension"], row["harm"], row["model"], row["unit"]) == (4, 5, "A", "c")
    assert row["meta.judge"] == "meta of that name"
    assert row["judge"] == "m/one"
    with pytest.raises(InputError, match="no rubric 'z'"):
        open_source(build([record], [judged("r", raw=4.0)]), Compare(rubric=("z",))).frame()
