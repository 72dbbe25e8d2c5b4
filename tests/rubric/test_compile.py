"""A compiled rubric: what it asks, what it reads, what it makes of records that lack something."""

from __future__ import annotations

import json
import time

import pytest

from judgekit.errors import DataError
from judgekit.records import Criterion, Record
from judgekit.rubric import load_rubric

from .helpers import RECORD, SMALL, rubric


def test_an_ask_holds_messages_schema_and_model() -> None:
    compiled = rubric()
    (ask,) = compiled.asks(RECORD)
    assert [message["role"] for message in ask.messages] == ["system", "user"]
    assert ask.messages[0]["content"] == (
        "Judge it.\n1: Leaves out the danger.\n2: Leaves out detail.\n3: Leaves out nothing."
    )
    assert ask.schema == {
        "type": "object",
        "properties": {
            "explanation": {"type": "string", "description": "Say why. At most about 20 characters."},
            "score": {
                "type": "string",
                "enum": ["1", "2", "3"],
                "description": "1 = poor: Leaves out the danger; 2 = fair: Leaves out detail; 3 = good: Leaves out nothing",
            },
        },
        "required": ["explanation", "score"],
        "additionalProperties": False,
    }
    assert ask.model is not None
    assert ask.model.model_json_schema() == ask.schema
    assert ask.model.model_validate({"explanation": "x", "score": "2"}).model_dump() == {"explanation": "x", "score": 2}
    assert compiled.calls(RECORD) == [(ask.messages, ask.schema)]
    assert compiled.response_model(RECORD) is ask.model


def test_the_user_message_differs_by_record_and_the_rest_does_not() -> None:
    compiled = rubric()
    one, two = (compiled.asks(Record(id=i, question="Q", response=r))[0] for i, r in (("1", "a"), ("2", "b")))
    assert one.messages[0] == two.messages[0]
    assert one.schema is two.schema
    assert one.model is two.model
    assert one.messages[1] != two.messages[1]
    assert compiled.asks(Record(id="3", question="Q", response="a"))[0].messages == one.messages  # the id is not asked


@pytest.mark.parametrize("blank", ["", "  \n\t", "\u200b\ufeff", "\u00a0\u2003"])
def test_a_blank_response_is_scored_by_rule(blank: str) -> None:
    compiled = rubric()
    record = Record(id="1", question="Q", response=blank)
    assert compiled.blank(record)
    assert compiled.missing_inputs(record) == []
    result = compiled.rule_result(record)
    # Level 1 is the low end of 1..3: raw 1, score 0.0; 1 >= 2 is false.
    assert result is not None
    assert (result.raw, result.score, result.complete, result.verdict) == (1.0, 0.0, False, {"score": 1})


def test_without_a_rule_a_blank_response_has_no_result() -> None:
    compiled = rubric(SMALL.replace("when_response_empty: {raw: 1}\n", ""))
    assert compiled.blank(Record(id="1", question="Q", response=" "))
    assert compiled.rule_result(Record(id="1", question="Q", response=" ")) is None


def test_an_absent_response_is_missing_and_not_blank() -> None:
    # A file of questions without answers must never become a column of worst scores.
    record = Record(id="1", question="Q")
    compiled = rubric()
    assert not compiled.blank(record)
    assert compiled.rule_result(record) is None
    assert compiled.missing_inputs(record) == ["response"]
    with pytest.raises(DataError, match="lacks response"):
        compiled.asks(record)


def test_a_blank_question_is_missing() -> None:
    assert rubric().missing_inputs(Record(id="1", question=" ", response="r")) == ["question"]


CHECKLIST = """\
rubric: list
inputs: {required: [question, response]}
verdict:
  why: {text: "Why."}
  met: {boolean: "Is it met?"}
score: {fraction: met}
complete_when: ">= 0.75"
criteria: {from: [record], where: {kind: "!= nice_to_have"}, ask: HOW}
prompt:
  user: |
    {{ question }} {{ response }}
    {% for c in criteria %}
    {{ c.number }}. {{ c.text }}
    {% endfor %}
"""
CRITERIA = (
    Criterion("a", "Says one", kind="must_have"),
    Criterion("b", "Says two", kind="nice_to_have"),
    Criterion("c", "Says three"),
)


def test_each_criterion_is_a_call() -> None:
    compiled = rubric(CHECKLIST.replace("HOW", "each"))
    record = Record(id="1", question="Q", response="R", criteria=CRITERIA)
    asks = compiled.asks(record)
    assert [ask.criterion_ids for ask in asks] == [("a",), ("c",)]
    assert "Says one" in asks[0].messages[-1]["content"]
    assert "Says three" not in asks[0].messages[-1]["content"]
    verdict = compiled.merge([(ask, {"why": "w", "met": ask.criterion_ids == ("a",)}) for ask in asks])
    assert verdict == {"criteria": {"a": {"why": "w", "met": True}, "c": {"why": "w", "met": False}}}
    assert compiled.score(verdict, compiled.select_criteria(record)).raw == 0.5


def test_together_is_one_call_keyed_by_position() -> None:
    compiled = rubric(CHECKLIST.replace("HOW", "together"))
    record = Record(id="1", question="Q", response="R", criteria=CRITERIA)
    (ask,) = compiled.asks(record)
    assert ask.criterion_ids == ("a", "c")
    assert ask.schema is not None
    assert list(ask.schema["properties"]) == ["1", "2"]
    assert ask.model is not None
    answer = ask.model.model_validate_json(
        '{"1": {"why": "w", "met": true}, "2": {"why": "v", "met": false}}'
    ).model_dump()
    assert compiled.merge([(ask, answer)]) == {
        "criteria": {"a": {"why": "w", "met": True}, "c": {"why": "v", "met": False}}
    }


def test_criteria_that_were_written_can_be_passed_in() -> None:
    compiled = rubric(CHECKLIST.replace("HOW", "each"))
    record = Record(id="1", question="Q", response="R")
    assert compiled.asks(record) == []
    assert [ask.criterion_ids for ask in compiled.asks(record, criteria=[Criterion("w1", "Written")])] == [("w1",)]


def test_two_criteria_with_one_id_are_refused() -> None:
    record = Record(id="1", question="Q", response="R", criteria=(Criterion("a", "One"), Criterion("a", "Two")))
    with pytest.raises(DataError, match="same id"):
        rubric(CHECKLIST.replace("HOW", "each")).asks(record)


def test_odd_names_of_fields_and_choices() -> None:
    compiled = rubric(
        """\
rubric: odd
inputs: {required: [response]}
verdict:
  "met?": {boolean: "Is it?"}
  model_config: {text: "a"}
  class: {choice: {on: "", off: "", no: "", 010: "", 12:30: "", 1.0: "", null: ""}}
  copy: {text: "b"}
  größe: {number: {min: 0, max: 1}}
prompt: {user: "{{ response }}"}
"""
    )
    model = compiled.response_model(RECORD)
    assert model is not None
    verdict = {"met?": True, "model_config": "m", "class": "010", "copy": "c", "größe": 0.5}
    assert model.model_validate(verdict).model_dump() == verdict
    assert list(model.model_json_schema()["properties"]) == list(verdict)
    assert model.model_json_schema()["properties"]["class"]["enum"] == [
        "on", "off", "no", "010", "12:30", "1.0", "null"
    ]  # fmt: skip


def test_choices_that_depend_on_the_record() -> None:
    compiled = rubric(
        """\
rubric: dynamic
inputs: {required: [pair_kind, options]}
verdict:
  mode: {choice: {by: pair_kind, FP: {FP01: "first", FP02: "second"}, FN: {FN01: "only", FN02: "other"}}}
  answer: {choice: {from: options}}
prompt:
  user: |
    {% for level in fields.mode.levels %}{{ level.value }} {{ level.text }};{% endfor %}

    {% for option in options %}{{ option.id }} {{ option.text }}{% endfor %}
"""
    )
    record = Record(id="1", options={"A": "yes", "B": "no"}, inputs={"pair_kind": "FP"})
    (ask,) = compiled.asks(record)
    assert ask.schema is not None
    assert ask.schema["properties"]["mode"]["enum"] == ["FP01", "FP02"]
    assert ask.schema["properties"]["answer"]["enum"] == ["A", "B"]
    assert "FP01 first;FP02 second;" in ask.messages[0]["content"]
    wrong = Record(id="2", options={"A": "yes", "B": "no"}, inputs={"pair_kind": "XX"})
    assert compiled.missing_inputs(wrong) == ["pair_kind (one of FP, FN)"]
    assert compiled.missing_inputs(Record(id="3")) == ["pair_kind", "options"]


def test_a_writer_has_no_schema() -> None:
    compiled = rubric(
        "rubric: writer\noutput: text\ninputs: {required: [question]}\nprompt: {user: '{{ question }}'}\n"
    )
    (ask,) = compiled.asks(RECORD)
    assert ask.schema is None
    assert ask.model is None
    assert compiled.response_model(RECORD) is None
    assert compiled.output == "text"


def test_examples_are_turns_in_the_shape_of_the_schema() -> None:
    compiled = rubric(
        SMALL + 'examples:\n  - {record: {question: q, response: r}, verdict: {explanation: "é", score: 2}}\n'
    )
    (ask,) = compiled.asks(RECORD)
    assert [message["role"] for message in ask.messages] == ["system", "user", "assistant", "user"]
    assert ask.messages[2]["content"] == '{"explanation": "é", "score": "2"}'
    assert compiled.asks(RECORD, examples=[])[0].messages == [ask.messages[0], ask.messages[3]]
    assert [example.verdict for example in compiled.examples_for(RECORD)] == [{"explanation": "é", "score": 2}]


def test_compiling_a_record_is_quick() -> None:
    # A bound far above what it takes (about 10 microseconds), so that a lost cache is seen and a busy machine is not.
    compiled = load_rubric("general-likert")
    compiled.asks(RECORD)
    start = time.process_time()
    for _ in range(200):
        compiled.asks(RECORD)
    assert (time.process_time() - start) / 200 < 0.001


def test_bounded_schema_carries_max_chars_as_max_length() -> None:
    (ask,) = rubric().asks(RECORD)
    assert ask.bounded_schema is not None
    assert ask.bounded_schema["properties"]["explanation"]["maxLength"] == 20
    assert "maxLength" not in json.dumps(ask.schema)
