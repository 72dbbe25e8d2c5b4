"""MedExpert: worst severities, styled letters, double annotations, and the annotation tool's own exports."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from judgekit.data import load_records
from judgekit.data.labels import joined, raters, standing_behind
from judgekit.data.validate import counts

ROW: dict[str, Any] = {
    "id": 7,
    "domain": "PC",
    "model": "gemma2",
    "question": "q?",
    "response": "a",
    "title": "t",
    "annotator": "ann1",
    "omissions": [],
    "omission_severity": None,
    "factuality": [],
    "highest_fact_severity": None,
    "model_certainty": "High",
    "comments": None,
    "references": None,
    "meta": None,
}


def write(folder: Path, *rows: dict[str, Any], name: str = "rows.jsonl") -> Path:
    path = folder / name
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("severity", "word", "score", "complete"),
    [
        (None, "none", 1.0, True),
        ("Mild - no action is required", "Mild", 0.75, True),
        ("Moderate - may negatively impact the patients health if no action is taken", "Moderate", 0.5, False),
        ("Severe  may require medical intervention by a doctor", "Severe", 0.25, False),
        ("Life-threatening - can be life-threatening without medical intervention", "Life-threatening", 0.0, False),
        # "Moderate" in mathematical bold letters, as some rows of the published file have it
        ("".join(chr(0x1D5D4 + ord(c) - 65) if c.isupper() else chr(0x1D5EE + ord(c) - 97) for c in "Moderate"),
         "Moderate", 0.5, False),
    ],
)  # fmt: skip
def test_the_worst_severity_makes_the_score(
    tmp_path: Path, severity: str | None, word: str, score: float, complete: bool
) -> None:
    # 002, 3.2: none 1, mild .75, moderate .5, severe .25, life-threatening 0; complete from .75.
    (record,) = load_records(write(tmp_path, {**ROW, "omission_severity": severity}), card="medexpert")
    (label,) = record.labels
    assert (label.rater, label.severity, label.score, label.complete) == ("ann1", word, score, complete)


def test_omissions_without_a_worst_are_read_and_become_the_rationale(tmp_path: Path) -> None:
    omissions = [
        {"description": "no dose", "severity": "Mild - x"},
        {"description": "no warning", "severity": "Severe – x"},
    ]
    (record,) = load_records(write(tmp_path, {**ROW, "omissions": omissions}), card="medexpert")
    (label,) = record.labels
    assert (label.severity, label.score, label.rationale) == ("Severe", 0.25, "no dose\nno warning")
    assert label.value["id"] == 7


def test_an_answer_that_nobody_rated_has_no_label_rather_than_no_omissions(tmp_path: Path) -> None:
    (record,) = load_records(write(tmp_path, {**ROW, "annotator": None}), card="medexpert")
    assert record.labels == ()


def test_double_annotations_are_two_raters_of_one_record(tmp_path: Path) -> None:
    second = {**ROW, "id": 8, "annotator": "ann2", "omission_severity": "Severe - x"}
    (record,) = load_records(write(tmp_path, ROW, second), card="medexpert")
    assert [(label.rater, label.score) for label in raters(record)] == [("ann1", 1.0), ("ann2", 0.25)]
    mean = joined(record)
    assert mean is not None
    assert (mean.rater, mean.score, mean.complete) == ("join:mean", 0.625, False)


@pytest.mark.parametrize("key", ["completions", "annotations"])
def test_exports_of_the_annotation_tool_keep_every_annotation(tmp_path: Path, key: str) -> None:
    def annotation(person: Any, *severity: str, cancelled: bool = False) -> dict[str, Any]:
        result = [
            {"from_name": "completeness_opts", "to_name": "text", "type": "choices", "value": {"choices": [word]}}
            for word in severity
        ]
        result.append(
            {"from_name": "answer_omission", "to_name": "text", "type": "textarea", "value": {"text": ["gap"]}}
        )
        return {"completed_by": person, "was_cancelled": cancelled, "result": result}

    task = {
        "id": 3,
        "data": {"question": "q", "response": "r"},
        key: [
            annotation({"email": "a@x"}, "Mild - x"),
            annotation(12, "Severe – x"),
            annotation({"email": "a@x"}, "Moderate - x"),  # the same person again: kept, not only the newest
            annotation({"email": "b@x"}, cancelled=True),
        ],
    }
    path = tmp_path / "export.json"
    path.write_text(json.dumps([task]), encoding="utf-8")
    records = load_records(path, card="medexpert")
    (record,) = records
    assert [(label.rater, label.severity) for label in raters(record)] == [
        ("a@x", "Mild"),
        ("12", "Severe"),
        ("a@x [rating 2]", "Moderate"),
    ]
    assert any("1 further labels" in note for note in records.notes)
    mean = joined(record)
    assert mean is not None
    assert mean.score == 0.375  # of 12's .25 and a@x's latest .5


def test_the_real_sample_has_its_severities_and_one_double_annotation(shared_data: Path) -> None:
    path = shared_data / "medexpert_sample.jsonl"
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    records = load_records(path, card="medexpert")
    # Counted from the file by another road: the first word of each completeness choice, nothing where there is none.
    told = Counter(
        next(
            (item["choices"][0].split(" ")[0] for item in line["annotations"] if item["field"] == "completeness_opts"),
            "none",
        )
        for line in lines
    )
    labels = [label for record in records for label in raters(record)]
    assert len(labels) == len(lines) == 11
    assert Counter(label.severity for label in labels) == told
    assert Counter(label.rater for label in labels) == Counter(line["annotator"] for line in lines)
    assert len(records) == len({(line["question"], line["response"]) for line in lines}) == 10
    assert [len(raters(record)) for record in records].count(2) == 1
    assert sum(label.complete is False for label in labels) == 4  # 2 moderate, 1 severe, 1 life-threatening
    assert counts(records)["severities"]["none"] == 5


def test_the_questions_alone(shared_data: Path) -> None:
    questions = load_records(shared_data / "medexpert_questions.csv", card="medexpert")
    assert (len(questions), questions.name) == (111, "medexpert-questions")
    assert {record.meta["domain"] for record in questions} == {"MH", "PC"}


def test_healthbench_physicians_labels(shared_data: Path) -> None:
    path = shared_data / "healthbench_meta_labels.jsonl"
    records = load_records(path, card="healthbench")
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert len(records) == 60
    for record, line in zip(records, lines, strict=True):
        people = raters(record, "criterion-met")
        assert [(label.rater, label.complete) for label in people] == list(
            zip(line["raters"], line["physician_met"], strict=True)
        )
        join = joined(record, "criterion-met")
        yes, n = sum(line["physician_met"]), len(line["physician_met"])
        assert join is not None
        assert join.complete is (None if 2 * yes == n else 2 * yes > n)


def test_every_labelled_answer_has_one_joined_label_however_many_rated_it(tmp_path: Path) -> None:
    # 300 answers, of which 16 are rated twice and the last 8 by nobody. Answer n has severity n % 5 by the first rater; the second rater of
    # n = 0..15 says none. Complete from .75: none and Mild of one rater; of two, the mean with none's 1: Mild .875, Moderate .75
    # complete; Severe .625, Life-threatening .5 incomplete.
    words = [None, "Mild - x", "Moderate - x", "Severe - x", "Life-threatening - x"]
    rows = [
        {
            **ROW,
            "id": n,
            "question": f"q{n}?",
            "annotator": "ann1" if n < 292 else None,
            "omission_severity": words[n % 5],
        }
        for n in range(300)
    ]
    rows += [{**row, "annotator": "ann2", "omission_severity": None} for row in rows[:16]]
    records = load_records(write(tmp_path, *rows), card="medexpert")
    found = [joined(record) for record in records]
    labels = [label for label in found if label is not None]
    assert (len(records), len(labels)) == (300, 292)
    assert {label.rater for label in labels} == {"join:mean"}
    assert Counter(standing_behind(label) for label in labels) == {1: 276, 2: 16}
    # n = 16..291 incomplete where n % 5 is 2, 3 or 4: 165 of 276. Of n = 0..15 where it is 3 or 4: 3, 4, 8, 9, 13, 14.
    assert sum(label.complete is False for label in labels) == 165 + 6
    assert (
        "completeness: raters are joined by mean; 276 records have one rater, whose label it is, and 16 have several; on 9 of these the "
        "raters' verdicts differ: 3 read as complete, 6 read as incomplete, by the mean of their scores and '>= 0.75'"
    ) in records.notes
    assert found[2] is not None
    assert "though 1 of 2 raters says incomplete" in (found[2].rationale or "")
