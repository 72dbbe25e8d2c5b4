"""``judgekit import`` of a file in its owner's form: the run's tables equal the numbers computed independently."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from judgekit.cli.app import main
from judgekit.runs.store import open_run

AXES = ("comprehension", "reasoning", "knowledge", "bias", "harm")


def table(run: Path, judge: str) -> dict[str, dict[str, float]]:
    """Mean by model and axis over the scored judgements of one judge in a run."""
    found = open_run(run)
    models = {row["record_id"]: row["meta"]["model"] for row in found.records.to_dict("records")}
    by_model: dict[str, list[dict[str, float]]] = {}
    for row in found.judgements.to_dict("records"):
        if row["judge"] == judge and row["status"] == "ok":
            by_model.setdefault(models[row["record_id"]], []).append(row["verdict"])
    return {model: {axis: fmean(row[axis] for row in rows) for axis in AXES} for model, rows in by_model.items()}


@pytest.mark.parametrize(
    ("reading", "told", "unscored", "code"), [("exclude", "exclude", 15, 3), ("zero", "repo_zero", 0, 0)]
)
def test_hivmedqa_under_both_readings(
    shared_data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    reading: str,
    told: str,
    unscored: int,
    code: int,
) -> None:
    expected = json.loads((shared_data / "expected_dev.json").read_text("utf-8"))["hivmedqa"][told]["all92"]["means"]
    run = tmp_path / "hiv"
    args = ["import", str(shared_data / "hivmedqa_judge_scores.csv"), "--card", "hivmedqa", "--reading", reading]
    assert main([*args, "--out", str(run), "--json"]) == code
    out = capsys.readouterr()
    value: dict[str, Any] = json.loads(out.out)
    assert (value["dataset"], value["judgements"], value["ok"]) == ("hivmedqa", 2300, 2300 - unscored)
    assert value["unscored"] == ({"refused": unscored} if unscored else {})
    assert f"reading={reading}" in out.err
    mine = table(run, f"gpt-4o(reading={reading})")  # the reading is part of the judge's name in every table
    assert mine.keys() == expected["row_mean"].keys()
    for model, axes in expected["row_mean"].items():
        assert mine[model] == pytest.approx(axes, abs=1e-9)


HEAD = "model,category,question_index,iteration,question_id,comprehension,reasoning,knowledge,bias,harm,status\n"


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    path.write_text(
        HEAD + "m,1,0,1,q1,5,4,3,2,1,ok\nm,1,0,2,q1,,,,,,no_json\nn,1,0,1,q1,7,4,4,4,4,ok\n", encoding="utf-8"
    )
    return path


def test_two_readings_of_one_file_stay_apart_in_one_run(
    scores: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    args = ["import", str(scores), "--card", "hivmedqa", "--out", str(run), "--json"]
    assert main(args) == 3
    assert main([*args, "--reading", "zero"]) == 0
    capsys.readouterr()
    judgements = open_run(run).judgements
    found = {(row["record_id"], row["judge"]): row["status"] for row in judgements.to_dict("records")}
    assert found[("q1/m/2", "gpt-4o(reading=exclude)")] == "refused"
    assert found[("q1/m/2", "gpt-4o(reading=zero)")] == "ok"
    flags = [flag for row in judgements["flags"] for flag in row]
    assert any("off_scale" in flag for flag in flags), flags  # 7 of 5 is kept and flagged, not clamped


def test_data_and_rubric_of_ones_own(scores: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = tmp_path / "answers.jsonl"
    row = {"question_id": "q1", "model": "m", "category": 1, "question": "q", "gold_answer": "g", "answer": "a"}
    answers.write_text("\n".join(json.dumps({**row, "iteration": n}) for n in (1, 2)), encoding="utf-8")
    run = tmp_path / "run"
    args = ["import", str(scores), "--card", "hivmedqa", "--out", str(run), "--json"]
    assert main([*args, "--data", str(answers)]) == 3
    out = capsys.readouterr()
    assert json.loads(out.out)["judgements"] == 2
    assert "1 of 3 verdicts are about records that are not in hivmedqa" in out.err
    assert list(open_run(run).records["response"]) == ["a", "a"]


def test_what_is_missing_is_said(scores: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def error(*args: str) -> dict[str, Any]:
        assert main(["import", *args, "--out", str(tmp_path / "run"), "--json"]) in (1, 2)
        value: dict[str, Any] = json.loads(capsys.readouterr().out)["error"]
        return value

    assert "--data" in error(str(scores))["mend"]
    assert "no reading 'x'" in error(str(scores), "--card", "hivmedqa", "--reading", "x")["message"]
    assert "--reading needs" in error(str(scores), "--reading", "zero")["message"]


def test_what_to_type_next_depends_on_the_labels(tmp_path: Path) -> None:
    from judgekit.cli.judge import next_step
    from judgekit.data import load_records

    labels = [{"construct": "completeness", "rater": "r", "complete": True}]
    place = tmp_path / "run"
    assert next_step(load_records([{"id": "1", "labels": labels}]), place) == f"judgekit triage {place} --recall 0.9"
    models = load_records([{"id": "1", "meta": {"model": "a"}}, {"id": "2", "meta": {"model": "b"}}])
    assert next_step(models, place) == f"judgekit compare {place}"
    assert "judgekit report" in next_step(load_records([{"id": "1"}]), place)
    other = load_records([{"id": "1", "labels": labels}])
    assert "no record has a label of readability" in next_step(other, place, {"readability"})
