"""Stability of answers: every value derived by hand, and the laws that hold for any data."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.stats.stability import disagreement, mean_over, paired_difference, question_stability, rarefied


def test_three_flips_among_ten_variants() -> None:
    # 3 of 10 answered B: MVS .3. The base (A) is right, so 3 variants go from right to wrong and correctness is not invariant.
    found = question_stability("A", ["A"] * 7 + ["B"] * 3, truth="A")
    assert (found.n, found.changed, found.mvs) == (10, 3, 0.3)
    assert found.wci == 1
    assert found.differing == 3
    assert found.flips is not None
    assert (found.flips.right_to_wrong, found.flips.wrong_to_right) == (3, 0)


def test_only_the_variants_that_really_differ_are_counted() -> None:
    # STATISTICS: 3 flips, 4 of 10 variants unchanged from the stem: the caller hands over the 6 that differ, 3/6 = .50.
    assert question_stability("A", ["B"] * 3 + ["A"] * 3).mvs == 0.5


def test_flips_between_wrong_answers_change_mvs_and_leave_correctness_alone() -> None:
    # Truth C: base A is wrong, so are B and A: correctness is wrong throughout, WCI 0; one answer of two changed, MVS .5.
    found = question_stability("A", ["B", "A"], truth="C")
    assert (found.mvs, found.wci) == (0.5, 0)
    assert found.flips is not None
    assert found.flips.between_wrong == 1


def test_a_wrong_base_and_a_right_variant_is_instability_too() -> None:
    found = question_stability("A", ["C", "A"], truth="C")
    assert found.wci == 1
    assert found.flips is not None
    assert found.flips.wrong_to_right == 1


def test_confidence_changes_without_a_flip() -> None:
    # |.9 - .7| and |.9 - .8|: mean .15, and no answer changed.
    found = question_stability("A", ["A", "A"], base_confidence=0.9, confidences=[0.7, 0.8])
    assert found.mvs == 0
    assert found.confidence_change == pytest.approx(0.15)
    assert found.n_confidence == 2


def test_no_variant_is_none_with_the_reason() -> None:
    found = question_stability("A", [], truth="A", base_confidence=0.5)
    assert (found.mvs, found.confidence_change, found.wci) == (None, None, None)
    assert found.mvs_reason == found.wci_reason == "no verified variant"


def test_one_variant_is_a_number() -> None:
    found = question_stability("A", ["B"], truth="A", base_confidence=0.5, confidences=[1.0])
    assert (found.mvs, found.confidence_change, found.wci) == (1.0, 0.5, 1)


def test_unanswered_variants_are_in_no_denominator_and_are_counted() -> None:
    found = question_stability("A", ["B", None, "A"], truth="A")
    assert (found.n, found.unanswered, found.mvs) == (2, 1, 0.5)
    assert question_stability(None, ["A"]).mvs_reason == "the question as it was has no answer"
    assert question_stability("A", [None]).mvs_reason == "no variant was answered"


def test_confidence_is_none_where_no_probability_exists() -> None:
    found = question_stability("A", ["A", "B"], confidences=[None, 0.3])
    assert found.confidence_change is None
    assert found.confidence_reason == "no probability of the base answer"
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        question_stability("A", ["A"], base_confidence=1.2, confidences=[0.1])


def test_a_models_mvs_is_the_mean_over_questions() -> None:
    # 3/10 and 1/1: (.3 + 1) / 2 = .65, not 4/11.
    found = mean_over([0.3, 1.0, None])
    assert found.value == pytest.approx(0.65)
    assert found.n == 2


def test_the_interval_resamples_clusters() -> None:
    # Two clusters with constant values 0 and 1: a resample's mean is 0, .5 or 1, so the interval is [0, 1]; one cluster has no spread.
    found = mean_over([0.0, 0.0, 1.0, 1.0], ["a", "a", "b", "b"])
    assert (found.value, found.low, found.high, found.clusters) == (0.5, 0.0, 1.0, 2)
    alone = mean_over([0.0, 1.0], ["a", "a"])
    assert alone.low is None
    assert alone.interval_reason is not None


def test_worst_case_instability_is_rarefied() -> None:
    # 3 wrong of 10, five drawn: none of the three with probability C(7,5)/C(10,5) = 21/252 = 1/12; 1 - 1/12 = .91667.
    assert rarefied(10, 3, 5) == pytest.approx(11 / 12)
    assert rarefied(10, 3, 11) is None
    assert rarefied(10, 3, 10) == 1.0
    assert rarefied(10, 0, 4) == 0.0
    assert rarefied(1, 1, 1) == 1.0


@given(st.integers(1, 14).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_rarefied_instability_grows_with_the_number_drawn_and_ends_at_wci(case: tuple[int, int, int]) -> None:
    n, differing, draw = case
    values = [rarefied(n, differing, k) for k in range(1, n + 1)]
    assert all(a is not None and b is not None and a <= b + 1e-12 for a, b in itertools.pairwise(values))
    assert values[0] == pytest.approx(differing / n)
    assert values[-1] == float(differing > 0)
    assert rarefied(n, differing, draw) == values[draw - 1]


@given(st.lists(st.sampled_from("ABCDE"), min_size=1, max_size=12), st.sampled_from("ABCDE"), st.sampled_from("ABCDE"))
def test_laws(variants: list[str], base: str, truth: str) -> None:
    found = question_stability(base, variants, truth=truth)
    assert found.mvs is not None
    assert found.wci is not None
    assert 0 <= found.mvs <= 1
    assert found.wci <= (found.mvs > 0)  # correctness cannot change where no answer does
    assert found.flips is not None
    assert found.changed == sum((found.flips.right_to_wrong, found.flips.wrong_to_right, found.flips.between_wrong))
    assert question_stability(base, variants[::-1], truth=truth) == found


def test_paired_models_are_tested_by_question() -> None:
    # Differences .2, .2, .2: 2 of 8 sign patterns reach the mean: p = .25; no variance, so no effect size.
    found = paired_difference([0.0, 0.1, 0.2], [0.2, 0.3, 0.4])
    assert found.p == 0.25
    assert found.exact
    assert found.estimate.value == pytest.approx(0.2)
    assert found.effect is None
    assert found.effect_reason == "the differences do not vary"


def test_the_effect_is_the_mean_over_the_spread_of_differences() -> None:
    # Differences 0 and .2: mean .1, sd .1414: d = .7071.
    found = paired_difference([0.0, 0.0, None], [0.0, 0.2, 0.4])
    assert found.effect == pytest.approx(0.70711, abs=1e-5)
    assert found.left_out == 1


def test_questions_of_one_cluster_flip_together() -> None:
    # Three clusters of two equal differences: 2 of 8 patterns, p = .25; as six questions it would be 2/64.
    ones, zeros = [1.0] * 6, [0.0] * 6
    assert paired_difference(zeros, ones, list("aabbcc")).p == 0.25
    assert paired_difference(zeros, ones).p == 2 / 64
    assert paired_difference(zeros, zeros).p_reason == "all differences are 0"


def test_disagreement_at_the_same_wording_and_between_wordings() -> None:
    assert disagreement([1, 1, 2]) == pytest.approx(2 / 3)
    assert disagreement([1]) is None
    assert disagreement([]) is None
    # 1,1,2 against 2,2: pairs (1,2) x4 differ of 6.
    assert disagreement([1, 1, 2], [2, 2]) == pytest.approx(4 / 6)
    assert disagreement([1, None], [1]) == 0.0


def test_noise_is_not_taken_for_an_effect_of_the_wording() -> None:
    # A judge that answers by coin, whatever the words are: disagreement within and between wordings both lie near .5.
    rng = np.random.default_rng(3)
    base, other = rng.integers(0, 2, (400, 4)).tolist(), rng.integers(0, 2, (400, 4)).tolist()
    within = [disagreement(row) for row in base]
    between = [disagreement(a, b) for a, b in zip(base, other, strict=True)]
    excess = [b - a for a, b in zip(within, between, strict=True) if a is not None and b is not None]
    # sd of an excess is about .32, so the mean of 400 has a standard error of .016
    assert abs(float(np.mean(excess))) < 0.05
