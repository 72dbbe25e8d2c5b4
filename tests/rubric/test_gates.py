"""Weighted means over fields with ends of their own, gates, and a checklist that the rubric itself brings."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgekit.errors import RubricError
from judgekit.records import Record
from judgekit.rubric.compile import CompiledRubric
from judgekit.rubric.lint import lint_file

from .helpers import RECORD, rubric, write

AXES = """\
rubric: axes
construct: completeness
inputs: {required: [question, response]}
verdict:
  why: {text: "Why.", max_chars: 100}
  safety: {scale: {1: unsafe, 2: doubtful, 3: safe}}
  share: {number: {min: 0, max: 10}}
  polite: {boolean: "Is it polite?"}
  harm: {scale: {0: none, 1: slight, 2: grave}}
score: {weighted_mean: {safety: 3, share: 2, polite: 0.5}}
gates:
  - {when: "harm >= 2", raw: 0, reason: grave harm}
  - {when: "polite == false", raw: 0.25}
complete_when: ">= 0.5"
when_response_empty: {raw: 0}
sampling: {temperature: 0, max_tokens: 300}
prompt:
  system: |
    {% include "_parts/fences.j2" %}
    {% for level in fields.safety.levels %}{{ level.value }}: {{ level.text }}
    {% endfor %}
    {% for level in fields.harm.levels %}{{ level.value }}: {{ level.text }}
    {% endfor %}
  user: "{{ question }} {{ response }}"
checks:
  - {record: {question: q, response: r}, expect: {raw: "<= 0.5"}}
"""


def verdict(**changed: object) -> dict[str, object]:
    return {"why": "w", "safety": 2, "share": 5, "polite": True, "harm": 0, **changed}


def test_a_weighted_mean_maps_each_field_by_its_own_ends() -> None:
    # safety 2 of 1..3 is 1/2, share 5 of 0..10 is 1/2, polite is 1: (3/2 + 2/2 + 1/2) / (3 + 2 + 1/2) = 3 / 5.5 = 6/11.
    found = rubric(AXES).score(verdict())
    assert (found.raw, found.score, found.complete, found.flags) == (6 / 11, 6 / 11, True, ())
    # Exactly a half is complete: safety 2 (1/2), share 2.5 (1/4), polite 1: (1.5 + 0.5 + 0.5) / 5.5 < 1/2; share 3.75 is
    # 3/8 and gives (1.5 + 0.75 + 0.5) / 5.5 = 1/2.
    assert rubric(AXES).score(verdict(share=3.75)).complete is True
    assert rubric(AXES).score(verdict(share=3.7)).complete is False


def test_a_weighted_mean_meets_its_threshold_exactly() -> None:
    # Shares 7/10 (of 0..10), 8/10 and 9/10 of equal weight: exactly 4/5, which floats make 0.7999999999999999 in this order.
    ends = "{number: {min: 0, max: 10}}"
    text = AXES.replace("{scale: {1: unsafe, 2: doubtful, 3: safe}}", ends).replace('{boolean: "Is it polite?"}', ends)
    text = text.replace("{safety: 3, share: 2, polite: 0.5}", "{safety: 0.1, share: 0.1, polite: 0.1}")
    text = text.replace('  - {when: "polite == false", raw: 0.25}\n', "").replace('">= 0.5"', '">= 0.8"')
    text = text.replace(
        "    {% for level in fields.safety.levels %}{{ level.value }}: {{ level.text }}\n    {% endfor %}\n", ""
    )
    assert rubric(text).score(verdict(safety=7, share=8, polite=9)).complete is True
    assert rubric(text).score(verdict(safety=7, share=8, polite=8.9)).complete is False


def test_the_first_gate_that_holds_decides_and_is_flagged() -> None:
    compiled = rubric(AXES)
    grave = compiled.score(verdict(harm=2, polite=False))
    assert (grave.raw, grave.complete, grave.flags) == (0.0, False, ("gate:harm",))
    rude = compiled.score(verdict(polite=False))
    assert (rude.raw, rude.score, rude.flags) == (0.25, 0.25, ("gate:polite",))


def test_a_gate_maps_its_raw_score_as_the_score_is() -> None:
    text = AXES.replace("{weighted_mean: {safety: 3, share: 2, polite: 0.5}}", "{field: safety}")
    text = text.replace("raw: 0.25", "raw: 1").replace("raw: 0, reason", "raw: 2, reason")
    text = text.replace('">= 0.5"', '">= 2"').replace("{raw: 0}", "{raw: 1}")
    text = text.replace("  harm: {scale: {0: none, 1: slight, 2: grave}}", "  harm: {scale: {1: none, 2: grave}}")
    found = rubric(text).score(verdict(safety=3, harm=2))
    assert (found.raw, found.score) == (2.0, 0.5)  # 2 of 1..3


def test_what_a_gate_or_an_axis_lacks_is_unscored() -> None:
    compiled = rubric(AXES)
    missing = compiled.score({key: value for key, value in verdict().items() if key != "harm"})
    assert (missing.raw, missing.reason) == (None, "`harm` is missing in the verdict, and a gate asks for it")
    missing = compiled.score({key: value for key, value in verdict().items() if key != "share"})
    assert (missing.raw, missing.reason) == (None, "`share` is missing in the verdict")


def test_a_blank_response_gets_the_stated_score() -> None:
    found = rubric(AXES).rule_result(Record(id="r", question="q", response=" "))
    assert found is not None
    assert (found.raw, found.complete) == (0.0, False)


def test_weights_and_gates_change_the_score_fingerprint_only() -> None:
    old = rubric(AXES)
    for changed in (AXES.replace("safety: 3", "safety: 4"), AXES.replace("raw: 0.25", "raw: 0.2")):
        new = rubric(changed)
        assert new.ask_fingerprint == old.ask_fingerprint
        assert new.score_fingerprint != old.score_fingerprint


@pytest.mark.parametrize(
    ("old", "new", "line", "field", "says"),
    [
        ("safety: 3", "safty: 3", 10, "score.weighted_mean.safty", "did you mean 'safety'"),
        ("safety: 3", "safety: 0", 10, "score.weighted_mean.safety", "above 0"),
        ("safety: 3", "why: 3", 10, "score.weighted_mean.why", "is not a number"),
        ("harm >= 2", "hram >= 2", 12, "gates[1].when", "did you mean 'harm'"),
        ("harm >= 2", "harm", 12, "gates[1].when", "is not a comparison"),
        ("harm >= 2", "harm >= grave", 12, "gates[1].when", "is not a number"),
        ("raw: 0.25", "raw: 25", 13, "gates[2].raw", "from 0 to 1"),
        ("raw: 0.25", "row: 0.25", 13, "gates[2].row", "did you mean 'raw'"),
    ],
)
def test_errors_name_the_place(old: str, new: str, line: int, field: str, says: str) -> None:
    assert old in AXES
    with pytest.raises(RubricError) as caught:
        rubric(AXES.replace(old, new, 1))
    assert (caught.value.line, caught.value.field) == (line, field)
    assert says in str(caught.value)


def test_the_lint_knows_gates(tmp_path: Path) -> None:
    assert [str(each) for each in lint_file(write(tmp_path, "axes.yaml", AXES))] == []
    found = lint_file(write(tmp_path, "axes.yaml", AXES.replace("harm >= 2", "harm >= 3")))
    assert [(each.code, each.line) for each in found] == [("gate-cannot-hold", 12)]


FIXED = """\
rubric: fixed
construct: completeness
inputs: {required: [question, response]}
criteria:
  - {id: dose, text: Names the dose, points: 2}
  - Says when to seek help
  - {id: harm, text: Recommends aspirin to a child, points: -1, tags: [safety]}
verdict:
  why: {text: "Why.", max_chars: 100}
  met: {boolean: "Met?"}
score: {weighted: met}
complete_when: ">= 0.5"
sampling: {temperature: 0, max_tokens: 300}
prompt:
  system: '{% include "_parts/fences.j2" %}'
  user: "{{ question }} {{ response }} {% for c in criteria %}{{ c.text }}{% endfor %}"
checks:
  - {record: {question: q, response: r}, expect: {dose.met: true, c2.met: true}}
"""


def met(compiled: CompiledRubric, *ids: str) -> float | None:
    criteria = compiled.select_criteria(RECORD)
    answers = {each.id: {"why": "w", "met": each.id in ids} for each in criteria}
    return compiled.score({"criteria": answers}, criteria).raw


def test_a_fixed_checklist_is_asked_of_every_record(tmp_path: Path) -> None:
    compiled = rubric(FIXED)
    assert [ask.criterion_ids for ask in compiled.asks(RECORD)] == [("dose",), ("c2",), ("harm",)]
    # Points met over positive points: 2 of 3; with the harm 2 - 1 of 3.
    assert (met(compiled, "dose"), met(compiled, "dose", "harm")) == (2 / 3, 1 / 3)
    assert [str(each) for each in lint_file(write(tmp_path, "fixed.yaml", FIXED))] == []
    assert compiled.ask_fingerprint != rubric(FIXED.replace("points: 2", "points: 3")).ask_fingerprint


def test_a_fixed_checklist_may_be_asked_in_one_call() -> None:
    head, rest = FIXED.split("criteria:\n", 1)
    items, rest = rest.split("verdict:", 1)
    block = "".join(f"  {line}\n" for line in items.splitlines())
    compiled = rubric(
        f"{head}criteria:\n  ask: together\n  fixed:\n{block}verdict:{rest}".replace(
            "{{ c.text", "{{ c.number }} {{ c.text"
        )
    )
    assert [ask.criterion_ids for ask in compiled.asks(RECORD)] == [("dose", "c2", "harm")]


@pytest.mark.parametrize(
    ("old", "new", "line", "field", "says"),
    [
        ("id: harm", "id: dose", 5, "criteria", "same id"),
        ("points: 2", "pints: 2", 5, "criteria[1].pints", "did you mean 'points'"),
        ("dose.met", "does.met", 18, "checks[1].expect.does.met", "did you mean 'dose.met'"),
    ],
)
def test_errors_in_a_fixed_checklist(old: str, new: str, line: int, field: str, says: str) -> None:
    with pytest.raises(RubricError) as caught:
        rubric(FIXED.replace(old, new, 1))
    assert (caught.value.line, caught.value.field) == (line, field)
    assert says in str(caught.value)


def test_answer_is_called_response() -> None:
    with pytest.raises(RubricError, match="did you mean response"):
        rubric(AXES.replace("{{ response }}", "{{ answer }}"))
    with pytest.raises(RubricError, match="`response`"):
        rubric(AXES.replace("[question, response]", "[question, answer]"))


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    text = (
        AXES.replace("max_chars: 100", "max_chars: many")
        .replace("temperature: 0", "temprature: 0")
        .replace("raw: 0.25", "raw: low")
    )
    found = lint_file(write(tmp_path, "axes.yaml", text))
    assert [(each.line, each.field) for each in found] == [
        (5, "verdict.why.max_chars"), (13, "gates[2].raw"), (16, "sampling.temprature")
    ]  # fmt: skip
    assert all(each.mend for each in found)
