"""Forms that a user copies: multiple choice under any name, clinicians' ratings, Label Studio there and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judgekit.data import load_records
from judgekit.data.export import export
from judgekit.data.formats.multiple_choice import normalise
from judgekit.data.labels import joined, raters
from judgekit.errors import DataError
from judgekit.records import Label, Record

OPTIONS = {"A": "asthma", "B": "COPD", "C": "flu"}


@pytest.mark.parametrize(
    "row",
    [
        {"question": "q", "options": OPTIONS, "answer": "B"},
        {"question": "q", "options": OPTIONS, "answer": "copd", "answer_idx": "B"},
        {"stem": "q", "choices": ["asthma", "COPD", "flu"], "label": "COPD"},
        {"case": "q", "options": [{"key": "A", "value": "asthma"}, {"key": "B", "value": "COPD"}, {"key": "C", "value": "flu"}], "answer": "b."},
        {"question": "q", "choices": {"label": ["A", "B", "C"], "text": ["asthma", "COPD", "flu"]}, "answer": "B"},
        {"question": "q", "A": "asthma", "B": "COPD", "C": "flu", "D": "", "answer": "B"},
        {"question": "q", "opa": "asthma", "opb": "COPD", "opc": "flu", "correct": "B"},
        {"prompt": "q", "option_a": "asthma", "option_b": "COPD", "option_c": "flu", "diagnosis": "COPD"},
        {"question": "q", "options": json.dumps(OPTIONS), "answer": "B"},
    ],
    ids=lambda row: "-".join(row),
)  # fmt: skip
def test_options_and_answers_under_any_name(row: dict[str, Any]) -> None:
    found = normalise(row)
    assert (found["question"], found["options"], found["answer"]) == ("q", OPTIONS, "B")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"question": "q", "options": OPTIONS, "answer": 1}, "counting may start at 0 or at 1"),
        ({"question": "q", "options": OPTIONS, "answer": "1"}, "counting may start at 0 or at 1"),
        ({"question": "q", "options": OPTIONS, "answer": "cold"}, "no option's letter or text"),
        ({"question": "q", "options": ["x"]}, "has 1 options"),
        ({"question": " ", "options": OPTIONS}, "has no question"),
        ({"question": "q", "options": {"A": "x", "a": "y"}}, "two options 'A'"),
        ({"question": "q", "options": {"A": "x", "B": 5}}, "no text"),
        ({"question": "q", "options": OPTIONS, "answer": "COPD", "answer_idx": "A"}, "say different things"),
    ],
)
def test_what_is_not_clear_is_refused(row: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        normalise(row)


@pytest.mark.parametrize("card", ["diagnosisqa", "multiple-choice"])
def test_the_cards_read_files_with_lines(tmp_path: Path, card: str) -> None:
    path = tmp_path / "set.csv"
    path.write_text("id,question,A,B,answer,topic\n007,q,x,y,B,lung\n,q2,x,y,,\n", encoding="utf-8")
    first, second = load_records(path, card=card)
    assert (first.id, first.options, first.answer) == ("007", {"A": "x", "B": "y"}, "B")
    assert first.meta["source"] == {"topic": "lung"}
    assert second.answer is None
    path.write_text("question,A,B,answer\nq,x,y,B\nq2,x,y,2\n", encoding="utf-8")
    with pytest.raises(DataError, match="letter") as caught:
        load_records(path, card=card)
    assert (caught.value.file, caught.value.line) == (str(path), 3)


def test_medqa_with_five_and_four_options(tmp_path: Path) -> None:
    path = tmp_path / "test.jsonl"
    five = {
        "question": "q",
        "options": dict.fromkeys("ABCDE", "x") | {"C": "y"},
        "answer": "y",
        "answer_idx": "C",
        "meta_info": "step1",
    }
    four = {**five, "options": dict.fromkeys("ABCD", "x")}
    path.write_text(json.dumps(five) + "\n" + json.dumps(four), encoding="utf-8")
    first, second = load_records(path, card="medqa-usmle")
    assert (first.answer, first.reference, len(first.options or {}), len(second.options or {})) == ("C", "y", 5, 4)
    assert first.id != second.id
    assert first.cluster_id == second.cluster_id


def test_ratings_one_a_row_become_records_with_raters(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text(
        "id,question,response,rater,verdict,severity,comment,model\n"
        "001,q,r,dr-a,complete,,,m\n001,q,r,dr-b,Incomplete,Severe,no dose,m\n001,q,r,dr-c,no,Mild,,m\n002,q,,dr-a,,,,m\n",
        encoding="utf-8",
    )
    first, second = load_records(path, card="clinician-labels")
    assert [(label.rater, label.complete, label.severity, label.rationale) for label in raters(first)] == [
        ("dr-a", True, None, None),
        ("dr-b", False, "Severe", "no dose"),
        ("dr-c", False, "Mild", None),
    ]
    assert joined(first).complete is False  # type: ignore[union-attr]
    assert second.response == ""
    assert second.labels == ()  # a row without a word is no rating


def test_label_studio_there_and_back(tmp_path: Path) -> None:
    record = Record(
        id="001",
        question="q",
        response="=r",
        reference="ref",
        labels=(
            Label(rater="a", complete=False, score=0.25, severity="Severe", rationale="no dose"),
            Label(rater="b", complete=True, score=1),
            Label(
                rater="join:majority",
                complete=None,
                value={"raters": 2},
                rationale="1 of 2 raters say complete, a tie",
            ),
        ),
        cluster="c",
        meta={"model": "m"},
    )
    path = tmp_path / "tasks.json"
    export([record], path, "label-studio")
    (back,) = load_records(path, card="label-studio")
    assert back == record


def task(*annotations: list[dict[str, Any]]) -> str:
    made = [
        {"id": n, "completed_by": n, "result": result, "was_cancelled": False} for n, result in enumerate(annotations)
    ]
    return json.dumps([{"id": 1, "data": {"id": "t", "question": "q?", "response": "r"}, "annotations": made}])


def said(name: str, kind: str, **value: Any) -> dict[str, Any]:
    return {"from_name": name, "to_name": "response", "type": kind, "value": value}


def test_label_studio_reads_stars_numbers_texts_and_taxonomies(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    path.write_text(
        task(
            [said("complete", "choices", choices=["complete"]), said("score", "rating", rating=4)],
            [said("score", "number", number=0.5), said("rationale", "textarea", text="one text")],
            [said("score", "rating", rating=1), said("severity", "taxonomy", taxonomy=[["Severe"]])],
            [said("tone", "rating", rating=2), said("complete", "choices", choices=["incomplete"])],
        )
    )
    (record,) = load_records(path, card="label-studio")
    # Stars count from 1 to 5: (4 - 1) / 4 and (1 - 1) / 4.
    assert [(label.complete, label.score, label.severity, label.rationale) for label in raters(record)] == [
        (True, 0.75, None, None),
        (None, 0.5, None, "one text"),
        (None, 0.0, "Severe", None),
        (False, None, None, None),
    ]
    assert raters(record)[3].value == [{"name": "tone", "type": "rating", "value": {"rating": 2}}]


def test_label_studio_both_ticked_is_no_verdict(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    path.write_text(task([said("complete", "choices", choices=["complete", "incomplete"])]))
    records = load_records(path, card="label-studio")
    (label,) = records[0].labels
    assert (label.complete, label.rationale) == (None, "said complete and incomplete: no verdict")
    assert "labels.complete: one rater said complete and incomplete, which is no verdict (1 times)" in records.notes


def test_label_studio_names_a_control_of_another_type(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    path.write_text(task([said("complete", "choices", choices=["complete"]), said("score", "choices", choices=["4"])]))
    with pytest.raises(DataError, match=r"labels.score: finds nothing in any row.*there is no 'number' among choices"):
        load_records(path, card="label-studio")
