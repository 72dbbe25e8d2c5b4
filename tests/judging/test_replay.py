"""Verdicts recorded elsewhere: nothing asked, numbers kept, what cannot be right named by file and line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judgekit.cli.app import main
from judgekit.data import RecordSet
from judgekit.errors import DataError
from judgekit.records import Record
from judgekit.runs.store import open_run
from tests.judging.judged import CHECKLIST, MINI, go, records, write_rubric
from tests.judging.test_run import checklist_records


def recorded(folder: Path, *rows: dict[str, Any] | str) -> str:
    path = folder / "gpt.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows) + "\n", "utf-8")
    return f"replay/{path}"


def row(record_id: str, verdict: Any, **more: Any) -> dict[str, Any]:
    return {"record_id": record_id, "rubric": "mini", "judge": "gpt-4o", "verdict": verdict, **more}


def test_numbers_keep_their_values_off_the_scale_and_between_levels_and_are_flagged(tmp_path: Path) -> None:
    # On the scale 1..3: 2 -> .5; 2.5 lies between levels -> .75; 5 is off the scale -> (5 - 1) / 2 = 2; "3" is 3 -> 1.
    rubric = write_rubric(tmp_path / "rubrics")
    model = recorded(
        tmp_path,
        row("000", {"score": 2}, raw="Score: 2"),
        row("001", {"score": 2.5}),
        row("002", {"score": 5}),
        row("003", {"score": "3"}),
        row("004", None, status="refused", raw="I cannot."),
        row("005", {"score": "high"}),
    )
    outcome = go(None, rubric, records(7), tmp_path / "run", models=[model])
    assert (outcome.ok, outcome.unscored, outcome.calls) == (4, {"invalid": 1, "refused": 1, "skipped": 1}, 0)
    run = open_run(tmp_path / "run")
    frame = run.judgements
    assert set(frame.judge) == {"gpt-4o"}
    assert frame.raw.tolist() == [2.0, 2.5, 5.0, 3.0, None, None, None]
    assert frame.score.tolist() == [0.5, 0.75, 2.0, 1.0, None, None, None]
    assert frame.complete.tolist() == [True, True, True, True, None, None, None]
    assert frame["flags"].tolist()[:4] == [
        ["recorded"], ["recorded", "between_levels:score"], ["recorded", "off_scale:score"], ["recorded"],
    ]  # fmt: skip
    assert "high" in frame.reason[5]
    assert frame.reason[6] == "gpt.jsonl holds no verdict"
    assert run.calls.text.tolist() == ["Score: 2", None, None, None, "I cannot.", None]
    again = go(None, rubric, records(7), tmp_path / "run", models=[model])
    assert again.ok == 4
    assert len(open_run(tmp_path / "run").judgements) == 7


def test_several_judges_and_samples_come_from_one_file(tmp_path: Path) -> None:
    rubric = write_rubric(tmp_path / "rubrics")
    model = recorded(
        tmp_path,
        *(row("000", {"score": n + 1}, sample=n) for n in range(3)),
        row("000", {"score": 1}, judge="other"),
    )
    outcome = go(None, rubric, records(1), tmp_path / "run", models=[model])
    assert outcome.judgements == 4
    frame = open_run(tmp_path / "run").judgements
    assert list(zip(frame.judge, frame["sample"], frame.raw, strict=True)) == [
        ("gpt-4o", 0, 1.0), ("gpt-4o", 1, 2.0), ("gpt-4o", 2, 3.0), ("other", 0, 1.0),
    ]  # fmt: skip


def test_a_changed_threshold_scores_recorded_verdicts_anew_without_their_file(tmp_path: Path) -> None:
    rubric = write_rubric(tmp_path / "rubrics")
    model = recorded(tmp_path, row("000", {"score": 2.5}))
    go(None, rubric, records(1), tmp_path / "run", models=[model])
    write_rubric(rubric.parent, MINI.replace(">= 2", ">= 3"))
    go(None, rubric, records(1), tmp_path / "run", models=[model])
    frame = open_run(tmp_path / "run").judgements
    assert (frame.raw.tolist(), frame.complete.tolist()) == ([2.5], [False])
    assert frame["flags"][0] == ["recorded", "between_levels:score"]


def test_recorded_criteria_are_scored_and_a_missing_one_leaves_the_judgement_unscored(tmp_path: Path) -> None:
    rubric = write_rubric(tmp_path / "rubrics", CHECKLIST, "checklist")
    whole = {"criteria": {"c1": {"met": True}, "c2": {"met": False}, "c3": {"met": True}}}
    part = {"criteria": {"c1": {"met": True}}}
    model = recorded(
        tmp_path,
        {"record_id": "1", "verdict": whole, "judge": "a"},
        {"record_id": "1", "verdict": part, "judge": "b"},
    )
    outcome = go(None, rubric, checklist_records()[:1], tmp_path / "run", models=[model])
    assert (outcome.ok, outcome.unscored) == (1, {"invalid": 1})
    assert open_run(tmp_path / "run").judgements.raw.tolist() == [0.5, None]


@pytest.mark.parametrize(
    ("lines", "line", "says"),
    [
        (['{"record_id": "nobody", "verdict": {"score": 1}}'], 1, "none of the data sets"),
        (
            ['{"record_id": "000", "verdict": {"score": 1}}', '{"record_id": "000", "verdict": {"score": 2}}'],
            2,
            "on line 1 already",
        ),
        (["", "{not json"], 2, "not JSON"),
        (['{"record_id": "000", "verdict": {"score": NaN}}'], 1, "NaN"),
        (['{"record_id": 0, "verdict": {"score": 1}}'], 1, "as text"),
        (['{"record_id": "000", "verdict": null, "status": "ok"}'], 1, "do not fit"),
        (['{"record_id": "000", "verdict": {"score": 1}, "status": "no_json"}'], 1, "no status"),
        (['{"record_id": "000", "verdict": {"score": 1}, "sample": -1}'], 1, "whole number"),
        (['{"record_id": "000", "verdict": [1]}'], 1, "must be an object"),
        (['{"record_id": "000", "verdct": {"score": 1}}'], 1, "no such key"),
        (["[1]"], 1, "not an object"),
        (['{"record_id": "000", "rubric": "other", "verdict": {"score": 1}}'], None, "no verdict here"),
    ],
)
def test_what_cannot_be_right_is_named_by_file_and_line(
    tmp_path: Path, lines: list[str], line: int | None, says: str
) -> None:
    rubric = write_rubric(tmp_path / "rubrics")
    model = recorded(tmp_path, *lines)
    with pytest.raises(DataError, match=says) as caught:
        go(None, rubric, records(1), tmp_path / "run", models=[model])
    assert (caught.value.line, str(caught.value.file)) == (line, str(tmp_path / "gpt.jsonl"))


def test_an_id_in_two_sets_needs_the_sets_name(tmp_path: Path) -> None:
    rubric = write_rubric(tmp_path / "rubrics")
    sets = [records(1), RecordSet([Record(id="000", question="q", response="r")], name="e")]
    with pytest.raises(DataError, match="in several data sets"):
        go(None, rubric, sets, tmp_path / "run", models=[recorded(tmp_path, row("000", {"score": 1}))])
    model = recorded(tmp_path, row("000", {"score": 1}, dataset="e"))
    outcome = go(None, rubric, sets, tmp_path / "run", models=[model])
    assert (outcome.ok, outcome.unscored) == (1, {"skipped": 1})


def test_the_import_command_and_a_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rubric = write_rubric(tmp_path / "rubrics")
    data = tmp_path / "d.jsonl"
    data.write_text("".join(json.dumps(record.to_dict()) + "\n" for record in records(3)), "utf-8")
    model = recorded(tmp_path, *(row(f"{i:03}", {"score": 3}) for i in range(3)))
    file = model.removeprefix("replay/")
    args = ["import", file, "--data", str(data), "--rubric", str(rubric), "--out", str(tmp_path / "run"), "--json"]
    assert main(args) == 0
    assert json.loads(capsys.readouterr().out)["ok"] == 3
    limited = [
        "judge",
        str(data),
        "--rubric",
        str(rubric),
        "--model",
        model,
        "--out",
        str(tmp_path / "few"),
        "--limit",
        "2",
        "--json",
    ]
    assert main(limited) == 0
    assert json.loads(capsys.readouterr().out)["judgements"] == 2
