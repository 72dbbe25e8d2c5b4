"""The K-QA card against the real file and the numbers computed independently from it (expected_dev.json)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from judgekit.data import RecordSet, load_records
from judgekit.data.labels import joined, joined_set, raters
from judgekit.data.validate import counts
from judgekit.errors import StatisticsError


@pytest.fixture(scope="module")
def expected(shared_data: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((shared_data / "expected_dev.json").read_text("utf-8"))["kqa"]
    return found


@pytest.fixture(scope="module")
def kqa(shared_data: Path) -> RecordSet:
    return load_records(shared_data / "kqa_completeness.jsonl", card="kqa")


def test_the_join_equals_the_score_and_verdict_in_the_file(kqa: RecordSet, shared_data: Path) -> None:
    lines = [json.loads(line) for line in (shared_data / "kqa_completeness.jsonl").read_text("utf-8").splitlines()]
    assert [record.id for record in kqa] == [line["id"] for line in lines]
    for record, line in zip(kqa, lines, strict=True):
        label = joined(record)
        assert label is not None
        assert label.rater == "join:criteria-majority"
        assert label.score == pytest.approx(line["score"], abs=1e-12)
        assert label.complete is line["complete"]
        assert [label.criteria[item.id] == "Entailment" for item in record.criteria] == [  # type: ignore[index]
            item["met"] for item in line["criteria"]
        ]


def test_completeness_and_base_rates_are_the_expected_ones(kqa: RecordSet, expected: dict[str, Any]) -> None:
    whole = expected["completeness"]["all_models"]
    join = joined_set(kqa)
    scores = [label.score for label in join.values() if label is not None and label.score is not None]
    assert len(scores) == whole["n"]
    assert sum(label.complete is True for label in join.values() if label) == whole["n_complete"]
    assert sum(scores) / len(scores) == pytest.approx(whole["mean_must_have_met"], abs=1e-9)
    found = counts(kqa)
    by_rater = {row["rater"]: row["n_incomplete"] for row in found["labels"] if not row["join"]}
    assert by_rater == dict(zip(("r1", "r2", "r3"), whole["incomplete_by_annotator"], strict=True))
    (row,) = [row for row in found["labels"] if row["join"]]
    assert row["base_rate"] == pytest.approx(whole["base_rate_incomplete"], abs=1e-9)


def test_shares_by_model_are_the_expected_ones(kqa: RecordSet, expected: dict[str, Any]) -> None:
    for model, numbers in expected["completeness"]["per_model"].items():
        mine = [joined(record) for record in kqa if record.meta["model"] == model]
        assert len(mine) == numbers["n"]
        assert sum(label.complete is True for label in mine if label) == numbers["n_complete"]
        mean = sum(label.score or 0 for label in mine if label) / len(mine)
        assert mean == pytest.approx(numbers["mean_must_have_met"], abs=1e-9)


def test_worst_of_three_is_at_least_as_strict_as_any_rater(kqa: RecordSet) -> None:
    worst = joined_set(kqa, how="worst")
    for record in kqa:
        label = worst[record.id]
        assert label is not None
        assert label.complete is all(item.complete for item in raters(record))


def test_the_claims_hold_what_rater_agreement_needs(shared_data: Path, expected: dict[str, Any]) -> None:
    claims = load_records(shared_data / "kqa_claims.csv", card="kqa")
    assert claims.name == "kqa-claims"
    words = [[label.value for label in raters(record, "entailment")] for record in claims]
    agreement = expected["agreement"]
    assert len(words) == agreement["n_claims"]
    for index, told in enumerate(agreement["label_counts"]):
        assert Counter(row[index] for row in words) == told
    unanimous = sum(len(set(row)) == 1 for row in words) / len(words)
    assert unanimous == pytest.approx(agreement["unanimous_fraction"], abs=1e-9)
    for first, second in ((0, 1), (0, 2), (1, 2)):
        share = sum(row[first] == row[second] for row in words) / len(words)
        told = agreement["pairwise_cohen"][f"label_{first}~label_{second}"]["percent_agreement"]
        assert share == pytest.approx(told, abs=1e-9)
    with pytest.raises(StatisticsError):
        joined(claims[0], "entailment")  # three words of three raters: no card says how to join them


def test_claims_and_answers_speak_of_the_same_records(kqa: RecordSet, shared_data: Path) -> None:
    claims = load_records(shared_data / "kqa_claims.csv", card="kqa/claims")
    ids = {record.id for record in kqa}
    assert {record.meta["answer_id"] for record in claims} == ids
    assert {record.cluster_id for record in claims} == {record.cluster_id for record in kqa}


def test_questions_hold_both_kinds_of_statements(shared_data: Path) -> None:
    questions = load_records(shared_data / "kqa_questions.jsonl", card="kqa")
    lines = [json.loads(line) for line in (shared_data / "kqa_questions.jsonl").read_text("utf-8").splitlines()]
    assert len(questions) == len(lines) == 104
    for record, line in zip(questions, lines, strict=True):
        assert [item.text for item in record.criteria if item.kind == "must_have"] == line["must_have"]
        assert [item.text for item in record.criteria if item.kind == "nice_to_have"] == line["nice_to_have"]
        assert record.reference == line["gold_answer"]


def test_claims_are_checklists_when_asked(shared_data: Path) -> None:
    # Of 205 claims 87 are entailed by a majority's word (majority_label of the file), so 118 are not.
    records = load_records(shared_data / "kqa_claims.csv", card="kqa/claim-checklists")
    assert {(len(record.criteria), record.criteria[0].text == record.reference) for record in records} == {(1, True)}
    join = [label.complete for label in joined_set(records).values() if label is not None]
    assert (join.count(True), join.count(False)) == (87, 118)
    assert records[0].inputs == {}
    (plain, *_) = load_records(shared_data / "kqa_claims.csv", card="kqa")
    assert plain.criteria == ()  # the form that is taken unasked


def test_the_owners_own_files_have_shapes_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "questions_w_answers.jsonl"
    row = {"Question": "q?", "Free_form_answer": "a", "Must_have": ["x"], "Nice_to_have": ["y"]}
    path.write_text(json.dumps(row | {"Sources": "s", "ICD_10_diag": "d"}), encoding="utf-8")
    (record,) = load_records(path, card="kqa")
    assert [(item.text, item.kind) for item in record.criteria] == [("x", "must_have"), ("y", "nice_to_have")]
    path = tmp_path / "NLI_medical_annotator.csv"
    path.write_text(
        "Question,llm_x,answer,claim,category_x,majority_label,label_0,label_1,label_2\n"
        "q?,gpt4,answer,c one,Must_have,Neutral,Neutral,Neutral,Entailment\n"
        "q?,gpt4,answer,c two,Nice_to_have,Neutral,Neutral,,Neutral\n",
        encoding="utf-8",
    )
    first, second = load_records(path, card="kqa")
    assert first.cluster == second.cluster == record.id  # the digest of the question ties the two files together
    assert [label.value for label in raters(first, "entailment")] == ["Neutral", "Neutral", "Entailment"]
    assert [label.rater for label in raters(second, "entailment")] == ["r1", "r3"]
    one, two = load_records(path, card="kqa/owner-claim-checklists")
    assert (one.id, one.cluster, one.reference) == (first.id, first.cluster, "c one")
    assert [label.complete for label in raters(one)] == [False, False, True]
    assert [label.complete for label in raters(two)] == [False, False]
