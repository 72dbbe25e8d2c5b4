from __future__ import annotations

import pytest
from pydantic import ValidationError

from judgekit.records import Label, Record, Score, Turn


def test_a_record_goes_to_a_dict_and_back() -> None:
    record = Record(
        id="001",
        question=(Turn("user", "May I?"), Turn("assistant", "Yes."), Turn("user", "Sure?")),
        response="None",
        labels=(Label(rater="r1", complete=False, score=0.5, criteria={"c1": "Entailment", "c2": True}),),
    )
    assert Record.from_dict(record.to_dict()) == record
    assert record.id == "001"
    assert record.response == "None"


def test_unknown_keys_and_wrong_types_are_refused() -> None:
    with pytest.raises(ValidationError, match="answr"):
        Record.from_dict({"id": "a", "answr": "A"})
    with pytest.raises(ValidationError):
        Record.from_dict({"id": 1})


def test_a_label_changes_no_fingerprint_and_a_response_does() -> None:
    record = Record(id="a", question="q", response="r")
    labelled = Record(id="a", question="q", response="r", labels=(Label(complete=True),))
    assert record.fingerprint() == labelled.fingerprint()
    assert record.fingerprint() != Record(id="a", question="q", response="r.").fingerprint()


def test_the_cluster_is_the_question_unless_said_otherwise() -> None:
    assert Record(id="a", question="q").cluster_id == Record(id="b", question="q", response="x").cluster_id
    assert Record(id="a", question="q").cluster_id != Record(id="b", question="q2").cluster_id
    assert Record(id="a", question="q", cluster="c").cluster_id == "c"
    assert Record(id="a").cluster_id == "a"


def test_a_conversation_is_flattened_with_roles_and_a_single_turn_is_its_text() -> None:
    assert Record(id="a", question=(Turn("user", "x"),)).question_text == "x"
    talk = Record(id="a", question=(Turn("user", "x"), Turn("assistant", "y")))
    assert talk.question_text == "user: x\n\nassistant: y"


def test_a_score_without_value_needs_a_reason_and_is_never_nan() -> None:
    with pytest.raises(ValueError, match="reason"):
        Score(None)
    with pytest.raises(ValueError, match="NaN"):
        Score(float("nan"))
    assert Score(None, "one class only").value is None
