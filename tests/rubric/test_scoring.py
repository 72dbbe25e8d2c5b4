"""From verdicts to numbers. Expected values are worked out in the comments."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgekit.records import Criterion
from judgekit.rubric import RubricScore, load_rubric
from judgekit.rubric.compile import CompiledRubric
from judgekit.rubric.conditions import Condition, holds

from .helpers import SMALL, rubric

HEAD = "rubric: r\ninputs: {required: [response]}\nprompt:\n  user: |\n    {{ response }}\n    {% for c in criteria %}{{ c.text }}{% endfor %}\n"


def made(body: str) -> CompiledRubric:
    return rubric(HEAD.replace("    {% for c in criteria %}{{ c.text }}{% endfor %}\n", "") + body)


def counted(kind: str, when: str = "") -> CompiledRubric:
    return rubric(
        HEAD + f"verdict: {{met: {{boolean: ok}}}}\ncriteria: {{from: [record]}}\nscore: {{{kind}: met}}\n{when}"
    )


# CASES 5: 1 maps to 0.0 and 5 to 1.0.


@pytest.mark.parametrize(("level", "score"), [(1, 0.0), (2, 0.25), (3, 0.5), (4, 0.75), (5, 1.0)])
def test_a_scale_is_mapped_by_its_ends(level: int, score: float) -> None:
    result = load_rubric("analytical-rubric").score({"explanation": "x", "score": level})
    assert (result.raw, result.score, result.complete) == (float(level), score, level >= 4)


def test_general_likert_is_complete_from_two() -> None:
    scores = [load_rubric("general-likert").score({"explanation": "x", "score": level}) for level in (1, 2, 3)]
    assert [(each.raw, each.score, each.complete) for each in scores] == [(1, 0, False), (2, 0.5, True), (3, 1, True)]


def test_a_boolean_is_one_or_zero() -> None:
    compiled = made("verdict: {ok: {boolean: x}}\nscore: {field: ok}\n")
    assert compiled.score({"ok": True}) == RubricScore(1.0, 1.0, None)
    assert compiled.score({"ok": False}) == RubricScore(0.0, 0.0, None)
    assert compiled.score({"ok": "false"}).raw is None
    assert compiled.score({"ok": 1}).raw is None


def test_a_number_is_mapped_by_its_ends() -> None:
    compiled = made("verdict: {n: {number: {min: -1, max: 3}}}\nscore: {field: n}\ncomplete_when: '> 0'\n")
    # (0 - -1) / (3 - -1) = 1/4; 0 > 0 is false.
    assert compiled.score({"n": 0}) == RubricScore(0.0, 0.25, False)
    assert made("verdict: {n: {number: {min: 0.1, max: 0.3}}}\nscore: {field: n}\n").score({"n": 0.2}).score == 0.5


def test_a_mean_is_exact_and_needs_every_axis() -> None:
    compiled = load_rubric("medgpt")
    axes = ["comprehension", "reasoning", "knowledge", "bias", "harm"]
    verdict: dict[str, Any] = {"explanation": "x", **dict(zip(axes, (4, 4, 4, 5, 5), strict=True))}
    # 22/5 = 4.4 (the overall score that the paper's own judge reports for these five), 4.4/5 = 0.88.
    assert (compiled.score(verdict).raw, compiled.score(verdict).score) == (4.4, 0.88)
    for axis in axes:
        result = compiled.score({**verdict, axis: None})
        assert (result.raw, result.score, result.reason) == (None, None, f"`{axis}` is missing in the verdict")


def test_medgpt_gives_a_blank_answer_zero_on_every_axis() -> None:
    from judgekit.records import Record

    result = load_rubric("medgpt").rule_result(Record(id="1", question="q", response=" ", reference="r"))
    assert result is not None
    assert (result.raw, result.score) == (0.0, 0.0)
    assert result.verdict == dict.fromkeys(["comprehension", "reasoning", "knowledge", "bias", "harm"], 0)


MUST = [Criterion("a", "A"), Criterion("b", "B", points=3), Criterion("c", "C", points=-5)]


def answers(*met: Any) -> dict[str, Any]:
    return {"criteria": {name: {"met": value} for name, value in zip("abc", met, strict=True)}}


def test_a_fraction_leaves_negative_criteria_out() -> None:
    compiled = counted("fraction", "complete_when: '>= 0.5'\n")
    # Of a, b (c is negative) one is met: 1/2, and 0.5 >= 0.5.
    assert compiled.score(answers(True, False, True), MUST) == RubricScore(0.5, 0.5, True)
    assert compiled.score({"criteria": {"c": {"met": True}}}, MUST[2:]).reason == (
        "every criterion is negative, and a fraction leaves these out"
    )


def test_weighted_may_fall_below_zero_and_is_none_without_positive_points() -> None:
    compiled = counted("weighted")
    # Positive points 1 + 3 = 4. Met a and c: (1 - 5) / 4 = -1.
    assert compiled.score(answers(True, False, True), MUST) == RubricScore(-1.0, -1.0, None)
    assert compiled.score(answers(True, True, False), MUST) == RubricScore(1.0, 1.0, None)
    assert compiled.score({"criteria": {"c": {"met": True}}}, MUST[2:]).reason == "no criterion has positive points"


@pytest.mark.parametrize("kind", ["fraction", "weighted"])
def test_a_missing_criterion_makes_it_unscored(kind: str) -> None:
    compiled = counted(kind)
    for gone in "abc":
        verdict = answers(True, True, True)
        del verdict["criteria"][gone]
        result = compiled.score(verdict, MUST)
        assert (result.raw, result.score, result.complete) == (None, None, None)
        assert result.reason == f"`met` of criterion '{gone}' is missing"
    assert (
        compiled.score(answers(True, "false", True), MUST).reason
        == "`met` of criterion 'b' is 'false', neither true nor false"
    )
    assert compiled.score({}, MUST).raw is None
    assert compiled.score({"criteria": ["a"]}, MUST).raw is None
    assert compiled.score({"criteria": {"a": None, "b": [], "c": True}}, MUST).raw is None
    assert compiled.score(answers(True, True, True), []).reason == "no criteria were asked"
    assert compiled.score(answers(True, True, True), None).reason == "no criteria were asked"
    assert compiled.score(answers(True, True, True), [MUST[0], MUST[0]]).reason == "two criteria have the id 'a'"


def test_criteria_as_a_run_stores_them() -> None:
    stored = [
        {"id": "a", "text": "A", "points": 1, "kind": None},
        {"id": "b", "text": "B", "points": 0.5, "kind": None},
    ]
    # 0.5 / 1.5 = 1/3.
    assert counted("weighted").score({"criteria": {"a": {"met": False}, "b": {"met": True}}}, stored).raw == 1 / 3


@pytest.mark.parametrize(("share", "complete"), [((3, 4), True), ((2, 3), False), ((6, 8), True), ((5, 7), False)])
def test_three_quarters_is_complete(share: tuple[int, int], complete: bool) -> None:
    met, total = share
    criteria = [Criterion(str(i), "x") for i in range(total)]
    verdict = {"criteria": {str(i): {"explanation": "x", "met": i < met} for i in range(total)}}
    assert load_rubric("dynamic-checklist").score(verdict, criteria).complete is complete


def test_thresholds_meet_fractions_exactly() -> None:
    # 3/5 as a float is 0.6 and "0.6" is read as the same float, so ">= 0.6" holds; so for every fraction of two digits.
    for total, met in itertools.product((4, 5, 8, 10, 20, 25), range(1, 25)):
        if met <= total:
            compiled = counted("fraction", f"complete_when: '>= {met / total}'\n")
            criteria = [Criterion(str(i), "x") for i in range(total)]
            verdict = {"criteria": {str(i): {"met": i < met} for i in range(total)}}
            assert compiled.score(verdict, criteria).complete is True


def test_recorded_verdicts_keep_their_numbers() -> None:
    compiled = load_rubric("analytical-rubric")
    between = compiled.score({"explanation": "x", "score": 4.5})
    # (4.5 - 1) / 4 = 0.875.
    assert (between.raw, between.score, between.complete, between.flags) == (
        4.5,
        0.875,
        True,
        ("between_levels:score",),
    )
    off = compiled.score({"explanation": "x", "score": 0})
    # (0 - 1) / 4 = -0.25: kept and flagged, not clamped.
    assert (off.raw, off.score, off.flags) == (0.0, -0.25, ("off_scale:score",))
    for value in (True, "4/5", float("nan"), [4], 10**400):
        assert compiled.score({"explanation": "x", "score": value}).raw is None


def test_long_and_empty_texts_are_flagged() -> None:
    assert rubric().score({"explanation": "x" * 20, "score": 2}).flags == ()
    assert rubric().score({"explanation": "x" * 21, "score": 2}).flags == ("over_long:explanation",)
    assert rubric().score({"explanation": " ", "score": 2}).flags == ("empty:explanation",)
    assert rubric().score({"explanation": "x" * 21}).flags == ("over_long:explanation",)


def test_a_classifier_has_no_number() -> None:
    compiled = made("verdict: {mode: {choice: {a: x, b: y}}}\n")
    assert compiled.score({"mode": "a"}) == RubricScore(None, None, None, "this rubric has no score")


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(-10, 10)), min_size=1, max_size=12))
def test_laws_of_counted_scores(items: list[tuple[bool, int]]) -> None:
    criteria = [Criterion(str(i), "x", points=points) for i, (_, points) in enumerate(items)]
    verdict = {"criteria": {str(i): {"met": met} for i, (met, _) in enumerate(items)}}
    fraction, weighted = (counted(kind).score(verdict, criteria) for kind in ("fraction", "weighted"))
    assert (fraction.raw is None) == all(points < 0 for _, points in items)
    assert (weighted.raw is None) == all(points <= 0 for _, points in items)
    if fraction.raw is not None:
        assert 0 <= fraction.raw <= 1
    if weighted.raw is not None:
        assert weighted.raw <= 1
    shuffled = counted("weighted").score(verdict, criteria[::-1])
    assert shuffled == weighted


def test_a_blank_checklist_answer_is_zero() -> None:
    from judgekit.records import Record

    result = load_rubric("dynamic-checklist").rule_result(Record(id="1", question="q", response=""))
    assert result is not None
    assert (result.raw, result.score, result.complete, result.verdict) == (0.0, 0.0, False, {})


def test_the_rule_maps_like_a_judge() -> None:
    from judgekit.records import Record

    compiled = rubric(SMALL.replace("{raw: 1}", "{raw: 2}"))
    result = compiled.rule_result(Record(id="1", question="q", response=""))
    assert result is not None
    assert (result.raw, result.score, result.complete) == (2.0, 0.5, True)


@pytest.mark.parametrize(
    ("rule", "value", "wanted"),
    [
        (">= 0.8", Fraction(4, 5), True),
        (">= 0.8", 0.8, True),
        ("> 0.8", Fraction(4, 5), False),
        ("== 0.8", Fraction(4, 5), True),
        (">= 0.8", 0.7999999999999999, False),
        ("<= 0.3", Fraction(3, 10), True),  # 0.1 + 0.2 as it was written, not 0.30000000000000004
        (">= 0.5", math.nan, False),
    ],
)
def test_a_threshold_is_met_in_exact_arithmetic(rule: str, value: float | Fraction, wanted: bool) -> None:
    op, number = rule.split()
    assert holds(Condition(op, (number,), rule), value) is wanted
