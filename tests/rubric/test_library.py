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
    compiled = {
        name: load_rubric(name) for name in ("general-likert", "analytical-rubric", "medgpt", "dynamic-checklist")
    }
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


# Paper 002: few-shot variants, alignment of reasons, failure modes, roles; HealthBench's criteria.


@pytest.mark.parametrize(
    ("name", "counts"),
    [("general-likert-fss", {1: 1, 2: 1, 3: 1}), ("analytical-rubric-fss", dict.fromkeys(range(1, 6), 2))],
)
def test_few_shot_variants_show_every_level(name: str, counts: dict[int, int]) -> None:
    compiled, base = load_rubric(name), load_rubric(name.removesuffix("-fss"))
    levels = [example.verdict["score"] for example in compiled.examples_for(Record(id="")) if example.verdict]
    assert {level: levels.count(level) for level in set(levels)} == counts
    assert compiled.score_fingerprint == base.score_fingerprint
    assert compiled.complete_when == base.complete_when
    assert "red flags" in str(compiled.system_text) or "warning signs that are not named" in str(compiled.system_text)
    assert "red flags that are not named" not in str(base.system_text)
    for example in compiled.examples_for(Record(id="")):
        assert example.verdict is not None
        assert [f"({step})" in example.verdict["explanation"] for step in range(1, 5)] == [True] * 4


def pair(kind: str) -> Record:
    reasons = {"pair_kind": kind, "clinician_reason": "Names no dose.", "judge_reason": "Complete."}
    return Record(id="1", question="q", response="r", inputs=reasons)


def test_failure_modes_depend_on_the_kind_of_pair() -> None:
    compiled = load_rubric("failure-mode")
    for kind, modes in (("FP", 4), ("FN", 5)):
        (ask,) = compiled.asks(pair(kind))
        assert ask.schema is not None
        assert ask.schema["properties"]["mode"]["enum"] == [f"{kind}0{i}" for i in range(1, modes + 1)]
        other = "FN" if kind == "FP" else "FP"
        assert f"{kind}01" in ask.messages[-1]["content"]
        assert f"{other}01" not in json.dumps(ask.messages)
    assert compiled.missing_inputs(pair("TP")) == ["pair_kind (one of FP, FN)"]


def test_reason_alignment_has_three_options_and_says_who_said_what() -> None:
    compiled = load_rubric("reason-alignment")
    for kind, said in (("TP", "Both reviewers called the answer incomplete."), ("FN", "the clinician incomplete")):
        (ask,) = compiled.asks(pair(kind))
        assert ask.schema is not None
        assert ask.schema["properties"]["alignment"]["enum"] == ["yes", "partially", "no"]
        assert said in ask.messages[-1]["content"]


def test_professional_role_has_three_examples_of_each() -> None:
    verdicts = [example.verdict for example in load_rubric("professional-role").examples_for(Record(id=""))]
    assert verdicts.count({"professional": True}) == verdicts.count({"professional": False}) == 3


def test_a_healthbench_fault_that_is_there_costs_its_points() -> None:
    compiled = load_rubric("healthbench-criterion")
    criteria = (Criterion("good", "Names it", points=6), Criterion("fault", "Advises ibuprofen", points=-3))
    record = Record(id="1", question="q", response="r", criteria=criteria)
    asks = compiled.asks(record)
    assert [ask.criterion_ids for ask in asks] == [("good",), ("fault",)]
    assert "worth -3 points" in asks[1].messages[-1]["content"]
    # Points met over positive points: (6 - 3) / 6.
    verdict = {"criteria": {name: {"explanation": "x", "met": True} for name in ("good", "fault")}}
    assert compiled.score(verdict, criteria).raw == 0.5


def test_the_nearest_writer_retrieves_two_by_minilm() -> None:
    import jmespath

    from judgekit.rubric.spec import RetrieveSpec

    examples = load_rubric("checklist-writer-nearest").spec.examples
    assert isinstance(examples, RetrieveSpec)
    assert (examples.count, examples.source, examples.using) == (2, "healthbench", "minilm")
    rows = [Criterion(str(i), f"t{i}", points=i - 2, tags=("axis:completeness",)) for i in range(6)]
    found = jmespath.search(str(examples.verdict), Record(id="1", criteria=tuple(rows)).to_dict())
    assert found == {
        "criteria": [{"text": "t3", "points": 1}, {"text": "t4", "points": 2}, {"text": "t5", "points": 3}]
    }
    assert jmespath.search(str(examples.verdict), Record(id="1", criteria=tuple(rows[:5])).to_dict()) is None


# Paper 003.


def test_medgpt_unsupervised_differs_by_the_reference_only() -> None:
    compiled, base = load_rubric("medgpt-unsupervised"), load_rubric("medgpt")
    record = Record(id="1", question="q", response="r", reference="SECRET")
    (ask,) = compiled.asks(record)
    assert "SECRET" not in json.dumps(ask.messages)
    assert "reference" not in json.dumps(ask.messages)
    assert compiled.spec.verdict == base.spec.verdict
    assert compiled.score_fingerprint == base.score_fingerprint


@pytest.mark.parametrize(
    "name",
    [
        "gold-rephraser",
        "reword",
        "answer-zero-shot",
        "answer-strict",
        "answer-rag",
        "answer-few-shot",
        "answer-physician",
    ],
)
def test_writers_write_text(name: str) -> None:
    assert load_rubric(name).output == "text"


# Paper 000: one persona, four prompts, temperature 0, 300 tokens.


def test_the_four_answer_prompts_differ_in_one_thing_each() -> None:
    prompts = {name: load_rubric(f"answer-{name}") for name in ("zero-shot", "strict", "rag", "few-shot")}
    for compiled in prompts.values():
        assert compiled.sampling == {"temperature": 0, "max_tokens": 300}
    record = Record(id="1", question="What is asthma?", reference="AUTHORITY")
    seen = {name: compiled.asks(record)[0].messages for name, compiled in prompts.items()}
    assert [len(seen[name]) for name in prompts] == [2, 2, 2, 6]
    assert {name for name in prompts if "AUTHORITY" in json.dumps(seen[name])} == {"rag"}
    assert seen["zero-shot"][0] == seen["few-shot"][0] != seen["strict"][0]
    assert prompts["rag"].missing_inputs(Record(id="1", question="q")) == ["reference"]


# Paper 001.

REWORDINGS = (
    "abbreviation-expansion", "abbreviation-compression", "clinical-to-lay", "lay-to-clinical", "syntactic-reordering",
    "active-to-passive", "question-reframing", "documentation-style", "format-shift", "redundancy-trimming",
)  # fmt: skip


def test_ten_rewordings_and_no_eleventh() -> None:
    compiled = load_rubric("reword")
    assert compiled.sampling["temperature"] == 0.35

    def told(kind: str) -> str:
        (ask,) = compiled.asks(Record(id="1", question="q", inputs={"kind": kind}))
        return ask.messages[-1]["content"].splitlines()[0]

    assert len({told(kind) for kind in REWORDINGS}) == 10
    assert told("sarcastic") == "How to reword: not at all. Return the text unchanged."
    text = Path(str(compiled.path)).read_text("utf-8")
    assert all(kind in text.split("rubric: reword")[0] for kind in REWORDINGS)
    for word in ("numbers", "units", "negation", "time", "side", "severity", "medicines", "doses"):
        assert word in str(compiled.system_text)


def test_option_answer_takes_the_records_letters() -> None:
    record = Record(id="1", question="q", options=dict.fromkeys("ABCDE", "x"))
    (ask,) = load_rubric("option-answer").asks(record)
    assert ask.schema is not None
    assert ask.schema["properties"]["answer"]["enum"] == list("ABCDE")
    assert ask.model is not None
    assert ask.model.model_validate({"answer": "c"}).model_dump() == {"answer": "C"}
