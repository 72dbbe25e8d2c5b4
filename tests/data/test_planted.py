"""The bundled records: what datasets/examples/README.md says of them is so."""

from __future__ import annotations

from collections import Counter

import pytest

from judgekit.data import RecordSet, load_records
from judgekit.data.validate import counts

SCORES = {None: 1.0, "Mild": 0.75, "Moderate": 0.5, "Severe": 0.25, "Life-threatening": 0.0}


@pytest.fixture(scope="module")
def planted() -> RecordSet:
    return load_records("planted-omissions")


def test_the_readme_counts_hold(planted: RecordSet) -> None:
    found = counts(planted)
    assert (found["records"], found["clusters"], found["duplicate_texts"], found["blank_responses"]) == (123, 40, 0, 0)
    assert Counter(record.labels[0].severity for record in planted) == {
        None: 40,
        "Mild": 21,
        "Moderate": 25,
        "Severe": 19,
        "Life-threatening": 18,
    }
    (row,) = found["labels"]
    assert (row["rater"], row["shown"], row["n_incomplete"]) == ("construction", "by construction", 62)


def test_labels_follow_from_what_was_removed_and_are_called_by_construction(planted: RecordSet) -> None:
    for record in planted:
        (label,) = record.labels
        assert label.rater == "construction"
        assert (label.rationale or "").startswith("By construction")
        assert label.score == SCORES[label.severity]
        assert label.complete is (label.score >= 0.75)  # mild counts as complete, as in Same Verdict
        missing = [name for name, met in (label.criteria or {}).items() if not met]
        assert set(label.criteria or {}) == {item.id for item in record.criteria}
        kinds = {item.id: item.kind for item in record.criteria}
        if record.id.endswith("-full"):
            assert (missing, label.severity, record.response) == ([], None, record.reference)
        else:
            assert len(missing) == 1, record.id
            assert kinds[missing[0]] == ("nice_to_have" if label.severity == "Mild" else "must_have"), record.id
            assert record.response != record.reference


def test_every_question_has_one_full_answer_and_two_or_more_versions(planted: RecordSet) -> None:
    by: dict[str, list[str]] = {}
    for record in planted:
        by.setdefault(record.cluster_id, []).append(record.id)
    assert len(by) >= 36
    for ids in by.values():
        assert sum(name.endswith("-full") for name in ids) == 1
        assert len(ids) >= 3
    for field in ("question", "reference", "criteria"):
        for cluster in by:
            assert len({getattr(record, field) for record in planted if record.cluster_id == cluster}) == 1


def test_length_does_not_give_the_incomplete_ones_away(planted: RecordSet) -> None:
    wrong = [len((record.response or "").split()) for record in planted if not record.labels[0].complete]
    right = [len((record.response or "").split()) for record in planted if record.labels[0].complete]
    wins = sum((a < b) + 0.5 * (a == b) for a in wrong for b in right)
    assert abs(wins / (len(wrong) * len(right)) - 0.5) < 0.06  # the README says .48


def test_the_demo_takes_24_short_answers_half_of_them_incomplete() -> None:
    demo = load_records("planted-omissions/demo")
    assert len(demo) == 24
    assert sum(not record.labels[0].complete for record in demo) == 12
    assert len({record.cluster_id for record in demo}) == 8
    assert max(len(f"{record.question_text} {record.response}".split()) for record in demo) <= 150
