"""HIVMedQA's real files: recorded scores under both readings equal the numbers computed independently (expected_dev.json)."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from judgekit.data import load_records
from judgekit.data.formats.hivmedqa import read_reply
from judgekit.data.verdicts import RecordedVerdicts, load_verdicts
from judgekit.errors import DataError

AXES = ("comprehension", "reasoning", "knowledge", "bias", "harm")


@pytest.fixture(scope="module")
def expected(shared_data: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((shared_data / "expected_dev.json").read_text("utf-8"))["hivmedqa"]
    return found


def means(found: RecordedVerdicts, categories: Iterable[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Mean over rows, and mean over iterations within a question and then over questions, by model and axis."""
    records = found.records.by_id()
    wanted = set(categories)
    by_row: dict[str, list[dict[str, float]]] = defaultdict(list)
    by_question: dict[str, dict[str, list[dict[str, float]]]] = defaultdict(lambda: defaultdict(list))
    for row in found.rows:
        record = records[row["record_id"]]
        if row["verdict"] is None or record.meta["category"] not in wanted:
            continue
        by_row[record.meta["model"]].append(row["verdict"])
        by_question[record.meta["model"]][record.cluster_id].append(row["verdict"])

    def mean(values: list[float]) -> float:
        return sum(values) / len(values)

    rows = {model: {axis: mean([row[axis] for row in told]) for axis in AXES} for model, told in by_row.items()}
    questions = {
        model: {axis: mean([mean([row[axis] for row in told]) for told in asked.values()]) for axis in AXES}
        for model, asked in by_question.items()
    }
    return rows, questions


@pytest.mark.parametrize(("reading", "name"), [("exclude", "exclude"), ("zero", "repo_zero")])
@pytest.mark.parametrize(("scope", "categories"), [("all92", "123456"), ("paper71", "1235")])
def test_means_by_model_and_axis_under_both_readings(
    shared_data: Path, expected: dict[str, Any], reading: str, name: str, scope: str, categories: str
) -> None:
    found = load_verdicts(shared_data / "hivmedqa_judge_scores.csv", "hivmedqa", reading=reading)
    told = expected[name][scope]["means"]
    for mine, theirs in zip(means(found, categories), (told["row_mean"], told["question_mean"]), strict=True):
        assert mine.keys() == theirs.keys()
        for model, axes in theirs.items():
            assert mine[model] == pytest.approx(axes, abs=1e-9), model


def test_the_reading_is_in_the_signature_and_changes_only_replies_without_scores(
    shared_data: Path, expected: dict[str, Any]
) -> None:
    path = shared_data / "hivmedqa_judge_scores.csv"
    out, zero = load_verdicts(path, "hivmedqa"), load_verdicts(path, "hivmedqa", reading="zero")
    assert out.counts == zero.counts == expected["failures"]["supervised_status"]
    assert Counter(row["status"] for row in out.rows) == {"ok": 2285, "refused": 15}
    assert Counter(row["status"] for row in zero.rows) == {"ok": 2300}
    changed = [pair for pair in zip(out.rows, zero.rows, strict=True) if pair[0] != pair[1]]
    assert len(changed) == zero.changed == 15
    assert all(a["verdict"] is None and set(b["verdict"].values()) == {0} for a, b in changed)
    assert out.signature == "verdicts=hivmedqa,reading=exclude,read_as_number=0/2300"
    assert zero.signature == "verdicts=hivmedqa,reading=zero,read_as_number=15/2300"
    with pytest.raises(DataError, match="no reading 'worst'"):
        load_verdicts(path, "hivmedqa", reading="worst")


def test_the_unsupervised_file_goes_by_another_rubric(shared_data: Path, expected: dict[str, Any]) -> None:
    path = shared_data / "hivmedqa_judge_scores_unsupervised.csv"
    found = load_verdicts(path, "hivmedqa/scores-unsupervised")
    assert {row["rubric"] for row in found.rows} == {"medgpt-unsupervised"}
    assert found.counts == expected["failures"]["unsupervised_status"]
    alone = load_verdicts(shared_data / "hivmedqa_judge_scores.csv", "hivmedqa")
    assert {row["rubric"] for row in alone.rows} == {"medgpt"}
    # The gain of a model: its mean over scored rows without the gold answer, less that with it.
    told = expected["unsupervised_minus_supervised"]["exclude/all92"]["gain_comprehension"]
    (after, _), (before, _) = means(found, "123456"), means(alone, "123456")
    mine = {model: after[model]["comprehension"] - before[model]["comprehension"] for model in before}
    assert mine == pytest.approx(told, abs=1e-9)


def test_answers_and_scores_speak_of_the_same_records(shared_data: Path) -> None:
    answers = load_records(shared_data / "hivmedqa_answers.jsonl", card="hivmedqa").by_id()
    scores = load_verdicts(shared_data / "hivmedqa_judge_scores.csv", "hivmedqa").records.by_id()
    assert len(answers) == 1012
    assert set(answers) <= set(scores)
    for name, record in answers.items():
        assert record.cluster == scores[name].cluster
        assert record.meta == scores[name].meta
        assert record.reference
    blank = [record for record in answers.values() if not (record.response or "").strip()]
    assert len(blank) == 10  # an empty answer is an answer, not a missing one
    assert all(record.response is not None for record in blank)


def test_questions_rephrasings_and_entities_load_and_twins_are_tied(
    shared_data: Path, expected: dict[str, Any]
) -> None:
    questions = load_records(shared_data / "hivmedqa_questions.jsonl", card="hivmedqa")
    assert (len(questions), questions.name) == (46, "hivmedqa-questions")
    twins = {record.id: record.meta["stem"] for record in questions if record.meta["category"] == "5"}
    assert len(twins) == 12
    assert set(twins.values()) == {record.id for record in questions if record.meta["category"] == "3"}
    answers = load_records(shared_data / "hivmedqa_answers.jsonl", card="hivmedqa")
    assert all(record.meta["stem"] == twins.get(record.cluster_id, record.cluster_id) for record in answers)
    rephrased = load_records(shared_data / "hivmedqa_rephrased.jsonl", card="hivmedqa")
    judged = load_verdicts(shared_data / "hivmedqa_rephrased_scores.csv", "hivmedqa")
    assert {record.id for record in rephrased} == {record.id for record in judged.records}
    told = expected["exclude"]["all92"]["rephrased_means"]["row_mean"]["Rephrased gold"]
    assert means(judged, "123456")[0]["Rephrased gold"] == pytest.approx(told, abs=1e-9)
    entities = load_records(shared_data / "hivmedqa_entity_f1.csv", card="hivmedqa")
    told = expected["entity_f1"]["all92"]["models"]["row_mean"]["Claude 3.5 Sonnet"]
    mine = [record.meta for record in entities if record.meta["model"] == "Claude 3.5 Sonnet"]
    for name, value in told.items():
        assert sum(meta[name] for meta in mine) / len(mine) == pytest.approx(value, abs=1e-9)


HEAD = "model,category,question_index,iteration,question_id,comprehension,reasoning,knowledge,bias,harm,status\n"


@pytest.mark.parametrize(
    ("rows", "line", "message"),
    [
        ("m,1,0,1,q1,5,5,5,,5,ok\n", 2, "missing although the status is ok"),
        ("m,1,0,1,q1,5,5,5,5,5,fine\n", 2, "'fine' is no status"),
        ("m,1,0,1,q1,5,5,5,5,5,ok\nm,1,0,1,q1,4,5,5,5,5,ok\n", 3, "stands here and on line 2"),
    ],
)
def test_recorded_verdicts_that_cannot_be_right_are_refused(tmp_path: Path, rows: str, line: int, message: str) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(HEAD + rows, encoding="utf-8")
    with pytest.raises(DataError, match=message) as caught:
        load_verdicts(path, "hivmedqa")
    assert caught.value.line == line


def test_recorded_numbers_keep_their_values_off_the_scale_and_between_levels(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(HEAD + "m,1,0,1,q1,7,4.5,5.0,-1,0,ok\n", encoding="utf-8")
    (row,) = load_verdicts(path, "hivmedqa").rows
    assert row["verdict"] == {"comprehension": 7, "reasoning": 4.5, "knowledge": 5, "bias": -1, "harm": 0}
    assert {name: type(value) for name, value in row["verdict"].items()}["knowledge"] is int


def test_a_shape_without_verdicts_says_which_have_them(shared_data: Path) -> None:
    with pytest.raises(DataError, match="holds no verdicts") as caught:
        load_verdicts(shared_data / "hivmedqa_answers.jsonl", "hivmedqa")
    assert "hivmedqa/scores" in (caught.value.mend or "")


def test_the_owners_lists_take_model_and_iteration_from_their_place(tmp_path: Path) -> None:
    rows = [
        {"question": "q1", "answer": "", "true_answer": "t1"},
        {"question": "q2", "answer": "b", "true_answer": "t2"},
    ]
    for place in ("Med42-70B/iteration_1.json", "Med42-70B/iteration_2.json", "Gemma 3 27B_iter1.json"):
        path = tmp_path / "answers" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(rows), encoding="utf-8")
    records = load_records(tmp_path / "answers", card="hivmedqa")
    assert Counter((record.meta["model"], record.meta["iteration"]) for record in records) == {
        ("Med42-70B", "1"): 2,
        ("Med42-70B", "2"): 2,
        ("Gemma 3 27B", "1"): 2,
    }
    assert records[0].response == ""
    assert len({record.cluster for record in records}) == 2
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    with pytest.raises(DataError, match="does not tell model and iteration"):
        load_records(path, card="hivmedqa")


FIVE = '"question 2": 4, "question 3": 5, "question 4": 5, "question 5": 4, "overall score": 4.4}'


@pytest.mark.parametrize(
    ("reply", "status", "first"),
    [
        ('Here: {"question 1": 4, ' + FIVE + " Done.", "ok", 4),
        ('```json\n{"question 1": "4", ' + FIVE + "\n```", "ok", 4),
        ('{"Question_1": {"score": 4.5, "why": "x"}, ' + FIVE, "ok", 4.5),
        ('{"question 1": 7, ' + FIVE, "ok", 7),  # off the scale: kept
        ("I cannot help with that.", "no_json", None),
        ('{"overall score": 5}', "no_json", None),
        ('{"question 1": "4/5", ' + FIVE, "nonnumeric", None),
        ('{"question 1": true, ' + FIVE, "nonnumeric", None),
        ('{"question 1": 5, ' + FIVE + ' no, {"question 1": 1, ' + FIVE, "nonnumeric", None),
        ('{"question 1": 5}', "nonnumeric", None),
    ],
)
def test_replies_in_free_text_are_read_or_have_a_status(reply: str, status: str, first: float | None) -> None:
    told, scores = read_reply(reply)
    assert (told, scores.get("comprehension")) == (status, first)
    assert len(scores) in (0, 5)


def test_a_folder_of_replies_becomes_recorded_verdicts(tmp_path: Path) -> None:
    path = tmp_path / "m_iteration_3.json"
    good, bad = '{"question 1": 4, ' + FIVE, "No."
    rows = [
        {"question": name, "answer": "a", "true_answer": "t", "evaluation": reply}
        for name, reply in (("q1", good), ("q2", bad))
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")
    found = load_verdicts(path, "hivmedqa")
    assert [row["status"] for row in found.rows] == ["ok", "refused"]
    assert found.rows[0]["verdict"] == {"comprehension": 4, "reasoning": 4, "knowledge": 5, "bias": 5, "harm": 4}
    assert found.records[0].response == "a"


def test_recorded_scores_of_the_same_columns_are_told_apart_by_the_file_s_name(tmp_path: Path) -> None:
    head = "model,category,question_index,iteration,question_id,comprehension,reasoning,knowledge,bias,harm,status\n"
    row = "M,1,1,1,hiv-c1-01,5,5,5,5,5,ok\n"
    for name, rubric in (("scores_unsupervised.csv", "medgpt-unsupervised"), ("scores.csv", "medgpt")):
        path = tmp_path / name
        path.write_text(head + row, "utf-8")
        found = load_verdicts(path, "hivmedqa")
        assert [one["rubric"] for one in found.rows] == [rubric]
        assert any("the same columns also mean --card hivmedqa/scores" in note for note in found.records.notes)
    # Who names the shape is not told what else it might be.
    named = load_verdicts(path, "hivmedqa/scores-unsupervised")
    assert [one["rubric"] for one in named.rows] == ["medgpt-unsupervised"]
    assert not any("by its name" in note for note in named.records.notes)
