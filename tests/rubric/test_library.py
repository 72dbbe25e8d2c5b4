"""Every rubric that ships: lints clean, compiles, says what it must."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgekit.records import Criterion, Record
from judgekit.registry import library_files
from judgekit.rubric import load_rubric
from judgekit.rubric.fields import ScaleField
from judgekit.rubric.lint import lint_file
from judgekit.rubric.sample import sample_record, starter

NAMES = sorted(library_files("rubrics", ".yaml"))


def test_the_first_four_ship() -> None:
    assert {"general-likert", "analytical-rubric", "dynamic-checklist", "medgpt"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_it_lints_clean(name: str) -> None:
    assert [str(finding) for finding in lint_file(library_files("rubrics", ".yaml")[name])] == []


@pytest.mark.parametrize("name", NAMES)
def test_it_asks_about_a_sample_and_about_its_own_checks(name: str) -> None:
    compiled = load_rubric(name)
    for record in [sample_record(compiled), *(check.record for check in compiled.spec.checks)]:
        asks = compiled.asks(record)
        assert asks
        for ask in asks:
            assert ask.messages[-1]["role"] == "user"
            assert (ask.schema is None) == (compiled.output == "text")
            assert json.loads(json.dumps(ask.schema)) == ask.schema
            assert all(message["content"].strip() for message in ask.messages)


@pytest.mark.parametrize("name", NAMES)
def test_the_wording_names_no_model_and_asks_for_no_format(name: str) -> None:
    # The schema says what to return; a prompt that says so too, in its own words, sooner or later contradicts it.
    text = (load_rubric(name).system_text or "").lower()
    for word in ("gpt-", "claude", "llama", "json"):
        assert word not in text


def test_scales_and_thresholds_are_the_papers() -> None:
    # 002: General-Likert >= 2 of 1..3, Analytical-Rubric >= 4 of 1..5, Dynamic-Checklist >= .75; 003: five axes 0..5.
    def levels(name: str, field: str) -> list[int]:
        scale = load_rubric(name).spec.field(field)
        assert isinstance(scale, ScaleField)
        return [level.value for level in scale.levels]

    assert (levels("general-likert", "score"), load_rubric("general-likert").complete_when) == ([1, 2, 3], ">= 2")
    assert (levels("analytical-rubric", "score"), load_rubric("analytical-rubric").complete_when) == (
        [1, 2, 3, 4, 5],
        ">= 4",
    )
    assert load_rubric("dynamic-checklist").complete_when == ">= 0.75"
    for axis in ("comprehension", "reasoning", "knowledge", "bias", "harm"):
        assert levels("medgpt", axis) == [0, 1, 2, 3, 4, 5]
    assert load_rubric("medgpt").spec.required == ("question", "response", "reference")


def test_the_checklist_takes_must_haves_and_criteria_of_no_kind() -> None:
    compiled = load_rubric("dynamic-checklist")
    record = Record(
        id="1",
        question="q",
        response="r",
        criteria=(
            Criterion("a", "A", kind="must_have"),
            Criterion("b", "B", kind="nice_to_have"),
            Criterion("c", "C"),
            Criterion("d", "D", points=-4),
        ),
    )
    assert [criterion.id for criterion in compiled.select_criteria(record)] == ["a", "c"]
    assert [ask.criterion_ids for ask in compiled.asks(record)] == [("a",), ("c",)]
    assert compiled.select_criteria(Record(id="2", question="q", response="r")) == []
    assert compiled.spec.criteria is not None
    assert compiled.spec.criteria.sources == ("record", "written")


def test_the_checklists_writer_sees_no_answer() -> None:
    compiled = load_rubric("dynamic-checklist")
    assert compiled.writer_path is not None
    writer = load_rubric(compiled.writer_path)
    (ask,) = writer.asks(Record(id="1", question="Is it safe?", response="SECRET"))
    assert "SECRET" not in json.dumps(ask.messages)
    assert ask.model is not None
    item = {"text": "Names it", "points": 5}
    assert ask.model.model_validate({"criteria": [item] * 3}).model_dump() == {"criteria": [item] * 3}


def test_the_starter_lints_clean_and_renders(tmp_path: Path) -> None:
    path = tmp_path / "my-scale.yaml"
    path.write_text(starter("my-scale"), "utf-8")
    assert lint_file(path) == []
    compiled = load_rubric(path)
    assert compiled.asks(sample_record(compiled))
    assert "NAME" not in path.read_text("utf-8")


def test_real_records_fit_the_completeness_rubrics(shared_data: Path) -> None:
    rows = [json.loads(line) for line in (shared_data / "kqa_completeness.jsonl").read_text("utf-8").splitlines()]
    compiled = {name: load_rubric(name) for name in ("general-likert", "analytical-rubric", "medgpt", "dynamic-checklist")}
    for row in rows:
        criteria = tuple(
            Criterion(f"c{i}", each["text"], kind=each["kind"]) for i, each in enumerate(row["criteria"], 1)
        )
        record = Record(
            id=row["id"],
            question=row["question"],
            response=row["response"],
            reference=row["gold_answer"],
            criteria=criteria,
        )
        for name in ("general-likert", "analytical-rubric", "medgpt"):
            (ask,) = compiled[name].asks(record)
            assert row["response"] in ask.messages[-1]["content"]
        must = [each for each in criteria if each.kind != "nice_to_have"]
        assert len(compiled["dynamic-checklist"].asks(record)) == len(must) > 0
