"""Checklists that a model writes: once a question, shared by all its answers, stored, and never the answer's business."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judgekit.data import RecordSet
from judgekit.errors import RubricError
from judgekit.judging.engine.checklist import from_verdict
from judgekit.records import Criterion, Record
from judgekit.rubric import load_rubric
from judgekit.runs.store import open_run
from tests.judging.judged import CHECKLIST, go, write_rubric
from tests.judging.provider import Provider

WRITER = """
rubric: writer
version: "1"
inputs: {required: [question]}
verdict:
  criteria: {list: {of: {text: {text: "What must be said"}, points: {number: {min: -10, max: 10}}}, min: 1, max: 5}}
prompt:
  user: "WRITE a checklist. {{ question }}"
"""
WRITTEN = CHECKLIST.replace(
    "{from: [record], ask: each}", "{from: [record, written], write: {rubric: writer, per: question}, ask: each}"
)
LIST = {"criteria": [{"text": "rest", "points": 1}, {"text": "see a doctor", "points": 2}]}


def script(body: dict[str, Any], n: int) -> str:
    text = body["messages"][-1]["content"]
    return json.dumps(LIST) if "WRITE" in text else json.dumps({"met": "rest" in text.split("Criterion")[-1]})


@pytest.fixture
def rubric(tmp_path: Path) -> Path:
    write_rubric(tmp_path / "rubrics", WRITER, "writer")
    return write_rubric(tmp_path / "rubrics", WRITTEN, "checklist")


def answers() -> RecordSet:
    # Two answers to one question, one to another.
    return RecordSet(
        [Record(id=f"{q}{a}", question=f"item{q}", response=f"answer {a}") for q, a in ((1, "a"), (1, "b"), (2, "a"))],
        name="d",
    )


def writing(provider: Provider) -> list[str]:
    return [body["messages"][-1]["content"] for body in provider.bodies if "WRITE" in body["messages"][-1]["content"]]


def test_it_is_written_once_a_question_and_shared_by_its_answers(
    provider: Provider, rubric: Path, tmp_path: Path
) -> None:
    # 2 questions are written for; 3 answers x 2 criteria are asked. "rest" is met, "see a doctor" is not: 1/2.
    provider.script = script
    outcome = go(provider, rubric, answers(), tmp_path / "run")
    assert len(writing(provider)) == 2
    assert "answer" not in "".join(writing(provider)), "the writer never sees an answer"
    assert (outcome.ok, outcome.calls, provider.count) == (3, 8, 8)
    frame = open_run(tmp_path / "run").judgements
    assert frame.raw.tolist() == [0.5] * 3
    assert frame.criteria[0] == [
        {"id": "w1", "text": "rest", "points": 1, "kind": None},
        {"id": "w2", "text": "see a doctor", "points": 2, "kind": None},
    ]
    assert go(provider, rubric, answers(), tmp_path / "run").calls == 0
    assert provider.count == 8


def test_samples_share_it_and_a_records_own_criteria_win(provider: Provider, rubric: Path, tmp_path: Path) -> None:
    provider.script = script
    own = Record(id="own", question="item3", response="x", criteria=(Criterion("c1", "rest"),))
    go(provider, rubric, RecordSet([answers()[0], own], name="d"), tmp_path / "run", samples=3)
    assert len(writing(provider)) == 1
    frame = open_run(tmp_path / "run").judgements.set_index("record_id")
    assert [criterion["id"] for criterion in frame.loc["own"].criteria.iloc[0]] == ["c1"]


def test_each_judge_writes_its_own_unless_the_rubric_says_who(provider: Provider, rubric: Path, tmp_path: Path) -> None:
    provider.script = script
    go(provider, rubric, answers(), tmp_path / "run", models=["openai/a", "openai/b"])
    assert sorted(body["model"] for body in provider.bodies if "WRITE" in body["messages"][-1]["content"]) == [
        "a",
        "a",
        "b",
        "b",
    ]
    provider.reset()
    write_rubric(rubric.parent, WRITTEN.replace("per: question", "per: question, model: openai/w"), "checklist")
    go(provider, rubric, answers(), tmp_path / "run", models=["openai/a", "openai/b"])
    assert [body["model"] for body in provider.bodies if "WRITE" in body["messages"][-1]["content"]] == ["w", "w"]
    frame = open_run(tmp_path / "run").latest()
    assert set(frame.judge) == {"openai/a", "openai/b"}, "who only writes is no judge"


def test_a_changed_writer_is_another_wording(provider: Provider, rubric: Path, tmp_path: Path) -> None:
    provider.script = script
    go(provider, rubric, answers(), tmp_path / "run")
    write_rubric(rubric.parent, WRITER.replace("WRITE a checklist", "WRITE a short checklist"), "writer")
    provider.reset()
    outcome = go(provider, rubric, answers(), tmp_path / "run")
    assert len(writing(provider)) == 2
    assert (outcome.ok, outcome.calls, outcome.reused) == (3, 2, 6), (
        "the same criteria came back: they are not asked again"
    )
    run = open_run(tmp_path / "run")
    assert len(run.latest()) == 3
    assert run.latest().attrs["left_out"][0]["n"] == 3


def test_a_writer_that_fails_leaves_its_answers_skipped_with_the_reason(
    provider: Provider, rubric: Path, tmp_path: Path
) -> None:
    provider.script = lambda body, n: "no list" if "WRITE" in body["messages"][-1]["content"] else script(body, n)
    outcome = go(provider, rubric, answers(), tmp_path / "run", reasks=0)
    assert (outcome.unscored, outcome.exit_code) == ({"skipped": 3}, 3)
    assert provider.count == 2, "useless once is useless for this command"
    assert "the checklist was not written: invalid" in open_run(tmp_path / "run").judgements.reason[0]
    provider.reset(script)
    assert go(provider, rubric, answers(), tmp_path / "run").ok == 3


def test_a_writer_without_a_list_is_refused(provider: Provider, rubric: Path, tmp_path: Path) -> None:
    write_rubric(
        rubric.parent,
        WRITER.replace("criteria: {list", "things: {list").replace("{text: {text:", "{what: {text:"),
        "writer",
    )
    with pytest.raises(RubricError, match="no list of texts"):
        go(provider, rubric, answers(), tmp_path / "run")


def test_items_without_text_are_left_out(rubric: Path) -> None:
    writer = load_rubric(str(rubric.parent / "writer.yaml"))
    items = [{"text": " a ", "points": -2}, {"text": "  ", "points": 1}, {"text": "b", "points": 1}]
    assert from_verdict(writer, {"criteria": items}) == [Criterion("w1", "a", -2), Criterion("w2", "b", 1)]
