"""AUC, its intervals and paired differences: exact cases, hand derivations, brute force, and invariances."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from statistics import variance

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from judgekit.stats.auc import auc, auc_bounds, auc_headline, auc_interval, paired_auc, weighted_auc

# Case 01 of the triage cases: ten distinct scores. Of 4 x 6 pairs the incomplete answer is lower in 20: 2.2 > 2.0 loses one,
# 3.9 > 2.0, 3.1, 3.3 loses three. AUC = 20 / 24 = 5/6.
LABEL = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
SCORE = [1.1, 1.4, 2.2, 3.9, 2.0, 3.1, 3.3, 4.0, 4.4, 4.8]

tables = st.lists(st.tuples(st.booleans(), st.integers(0, 6)), min_size=1, max_size=24)
both = tables.filter(lambda rows: 2 <= sum(bad for bad, _ in rows) <= len(rows) - 2)


def brute(label: list[bool], score: list[float]) -> tuple[Fraction, Fraction]:
    """AUC and DeLong's variance pair by pair, in exact fractions."""
    bad = [s for s, b in zip(score, label, strict=True) if b]
    good = [s for s, b in zip(score, label, strict=True) if not b]

    def win(x: float, y: float) -> Fraction:
        return Fraction(2 if x < y else 1 if x == y else 0, 2)

    v10 = [sum((win(x, y) for y in good), Fraction(0)) / len(good) for x in bad]
    v01 = [sum((win(x, y) for x in bad), Fraction(0)) / len(bad) for y in good]
    value = sum(v10, Fraction(0)) / len(v10)
    return value, variance(v10) / len(v10) + variance(v01) / len(v01)


@pytest.mark.parametrize("case", range(6))
def test_the_six_cases(shared_data: Path, case: int) -> None:
    found = json.loads((shared_data / "triage_cases.json").read_text("utf-8"))["cases"][case]
    label, score = np.array(found["label"]), np.array(found["score"], dtype=float)
    for expected in [found["expected"]["drop_missing"]]:
        keep = ~np.isnan(score)
        got = auc(label[keep], score[keep])
        assert got.value == (None if expected["auc"] is None else pytest.approx(expected["auc"], abs=1e-15))
        assert (None if got.exact is None else str(got.exact)) == expected["auc_exact"]
        for key, options in (
            ("delong_ci95", {}),
            ("delong_ci95_unclipped", {"clip": False}),
            ("delong_ci95_logit", {"logit": True}),
        ):
            interval = auc_interval(label[keep], score[keep], **options)
            want = expected[key]
            assert (interval.low, interval.high) == (
                (None, None) if want is None else pytest.approx(tuple(want), abs=1e-12)
            )
        se = auc_interval(label[keep], score[keep]).se
        assert se == (None if expected["delong_se"] is None else pytest.approx(expected["delong_se"], abs=1e-14))


def test_case_01_by_hand() -> None:
    got = auc(LABEL, SCORE)
    assert got.exact == Fraction(5, 6)
    # V10 = 1, 1, 5/6, 3/6: mean 5/6, sum of squares about it (1 + 1 + 0 + 4)/36 = 1/6, / 3 / 4 = 1/72.
    # V01 (2.0, 3.1, 3.3, then three wins) = 2/4, 3/4, 3/4, 1, 1, 1: about 5/6 (16 + 1 + 1 + 4 + 4 + 4)/144 = 30/144,
    # / 5 / 6 = 1/144. Sum 3/144 = 1/48; SE = .144338.
    assert auc_interval(LABEL, SCORE).se == pytest.approx((1 / 48) ** 0.5, abs=1e-15)


def test_doubling_inside_clusters_does_not_shrink_the_error() -> None:
    # Every record twice inside its cluster is no new information: Obuchowski's SE stays .1443; DeLong's, which believes in 20
    # independent records, falls: with m and n doubled each term becomes (2 S) / (2m - 1) / (2m): 2/6/(7 * 8) + 5/12/(11 * 12)
    # = .0059524 + .0031566 = .0091089, SE .0954.
    twice = auc_interval(LABEL * 2, SCORE * 2, clusters=list(range(10)) * 2)
    assert twice.se == pytest.approx(0.14433756729740643, abs=1e-14)
    assert auc_interval(LABEL * 2, SCORE * 2).se == pytest.approx(0.0954, abs=5e-5)
    # t with 9 degrees: 2.262157 x .144338 = .326514 below 5/6.
    assert twice.low == pytest.approx(5 / 6 - 2.2621571628 * 0.1443375673, abs=1e-9)


def test_every_cluster_of_size_one_is_delong() -> None:
    assert auc_interval(LABEL, SCORE, clusters=[f"q{i}" for i in range(10)]) == auc_interval(LABEL, SCORE)


def test_clusters_in_both_classes_by_hand() -> None:
    # Three questions, each with one incomplete (1, 2, 5) and one complete answer (3, 4, 4). Wins: 1 and 2 beat all three, 5
    # none: V10 = 1, 1, 0; V01 = 2/3 each; AUC 2/3. S10 = (1/9 + 1/9 + 4/9) * 3/2/3 = 1/3; S01 = 0; cross = 0.
    # Variance 1/9; SE 1/3.
    label, score, groups = [1, 0, 1, 0, 1, 0], [1, 3, 2, 4, 5, 4], [1, 1, 2, 2, 3, 3]
    assert auc(label, score).exact == Fraction(2, 3)
    assert auc_interval(label, score, clusters=groups).se == pytest.approx(1 / 3)
    # With complete 3, 4, 6: V10 = 1, 1, 1/3; V01 = 2/3, 2/3, 1; AUC 7/9. Deviations 2/9, 2/9, -4/9 and -1/9, -1/9, 2/9.
    # S10 = 24/81 * 3/2/3 = 12/81; S01 = 6/81/2 = 3/81; S11 = 3/2 * (-2 - 2 - 8)/81 = -18/81.
    # Variance 12/243 + 3/243 - 2 * 18/(81 * 9) = (36 + 9 - 36)/729 = 9/729: SE 1/9.
    assert auc_interval(label, [1, 3, 2, 4, 5, 6], clusters=groups).se == pytest.approx(1 / 9)


def test_headline_at_the_ends_is_clopper_pearson_on_disjoint_pairs() -> None:
    # 5 of 5 pairs won: lower end solves p^5 = .025, p = .4782.
    perfect = auc_headline([1] * 5 + [0] * 5, range(10))
    assert (perfect.interval.low, perfect.interval.high, perfect.pairs) == (pytest.approx(0.025**0.2), 1.0, 5)
    assert auc_headline([0] * 5 + [1] * 5, range(10)).interval.high == pytest.approx(1 - 0.025**0.2)
    # Three answers of each class in two clusters that hold both: only one pair of different clusters, .025 to 1.
    shared = auc_headline([1, 1, 1, 0, 0, 0], [1, 1, 1, 2, 2, 2], clusters=[1, 1, 2, 1, 2, 2])
    assert (shared.pairs, shared.interval.low) == (1, pytest.approx(0.025))


def test_undefined_is_none_with_a_reason() -> None:
    for label, score in (([0, 0], [1, 2]), ([1], [2]), ([], [])):
        assert auc(label, score).value is None
        assert auc(label, score).reason
    one = auc_interval([1, 0, 0], [1, 2, 3])
    assert (one.low, one.high) == (None, None)
    assert "fewer than two" in (one.reason or "")
    two_in_one = auc_interval([1, 1, 0, 0], [1, 3, 2, 4], clusters=["a", "a", "b", "c"])
    assert two_in_one.low is None
    assert "clusters" in (two_in_one.reason or "")


def test_ties_are_half_and_nan_is_refused() -> None:
    assert auc([1, 0, 1, 0], [4, 4, 4, 4]).exact == Fraction(1, 2)
    with pytest.raises(ValueError, match="NaN"):
        auc([1, 0], [1.0, float("nan")])
    with pytest.raises(ValueError, match="labels must be 0"):
        auc([2, 0], [1.0, 1.0])


@given(both)
@settings(max_examples=150, deadline=None)
def test_equals_brute_force_and_sklearn(rows: list[tuple[bool, int]]) -> None:
    label, score = [bad for bad, _ in rows], [float(s) for _, s in rows]
    value, spread = brute(label, score)
    assert auc(label, score).exact == value
    assert auc(label, score).value == pytest.approx(roc_auc_score(label, [-s for s in score]), abs=1e-12)
    assert auc_interval(label, score).se == pytest.approx(float(spread) ** 0.5, abs=1e-12)


@given(both, st.randoms())
@settings(max_examples=60, deadline=None)
def test_laws(rows: list[tuple[bool, int]], random: object) -> None:
    label, score = np.array([bad for bad, _ in rows]), np.array([float(s) for _, s in rows])
    groups = np.array([i % 5 for i in range(len(rows))])
    base, interval = auc(label, score), auc_interval(label, score, clusters=groups)
    order = np.arange(len(rows))
    random.shuffle(order)  # type: ignore[attr-defined]
    # the order of the records does not matter
    assert auc(label[order], score[order]) == base
    moved = auc_interval(label[order], score[order], clusters=groups[order])
    assert moved.se == (None if interval.se is None else pytest.approx(interval.se, abs=1e-12))
    # nor does a growing function of the score
    assert auc(label, np.exp(score) * 3 - 7) == base
    # turning the direction gives 1 - AUC
    assert auc(label, score, higher_is_worse=True).exact == 1 - base.exact  # type: ignore[operator]
    assert auc(label, -score, higher_is_worse=True) == base


@given(both, st.lists(st.integers(1, 3), min_size=24, max_size=24))
@settings(max_examples=60, deadline=None)
def test_whole_number_weights_repeat_records(rows: list[tuple[bool, int]], weights: list[int]) -> None:
    label, score, weight = [b for b, _ in rows], [s for _, s in rows], weights[: len(rows)]
    repeated = auc(np.repeat(label, weight), np.repeat(score, weight))
    assert weighted_auc(label, score, weight) == pytest.approx(repeated.value)


def test_paired_difference_by_hand() -> None:
    # First judge as above, V10 = 1, 1, 0, V01 = 2/3, 2/3, 2/3 without clusters; second ranks all rightly: all placements 1.
    # Difference -1/3; its placements 0, 0, -1 and -1/3 thrice: variance (1/9 + 1/9 + 4/9)/2/3 = 1/9.
    found = paired_auc([1, 0, 1, 0, 1, 0], [1, 3, 2, 4, 5, 4], [1, 4, 2, 5, 3, 6])
    assert found.difference == pytest.approx(-1 / 3)
    assert found.se == pytest.approx(1 / 3)
    assert found.p == pytest.approx(0.3173105, abs=1e-6)  # two-sided normal at z = 1


def test_paired_without_variance_has_no_p() -> None:
    same = paired_auc(LABEL, SCORE, [s * 2 for s in SCORE])
    assert (same.difference, same.p, same.low) == (0.0, None, None)
    assert "zero variance" in (same.reason or "")
    # judge one right everywhere, judge two wrong everywhere: difference 1, but nothing varies
    apart = paired_auc([1, 1, 0, 0], [1, 1, 2, 2], [2, 2, 1, 1])
    assert (apart.difference, apart.p) == (1.0, None)


def test_bounds_of_the_unscored() -> None:
    # Incomplete 1, complete 3, one more of each unscored. Best: -inf and +inf, all 4 pairs won. Worst: the unscored incomplete
    # lies above all, the unscored complete below all: only 1 < 3 is won, 1/4.
    assert auc_bounds([1, 0], [1, 3], 1, 1) == (0.25, 1.0)


def test_a_hundred_thousand_records_are_quick() -> None:
    import time

    rng = np.random.default_rng(0)
    label, score = rng.random(100_000) < 0.4, np.round(rng.normal(size=100_000), 3)
    start = time.perf_counter()
    auc(label, score)
    auc_interval(label, score, clusters=rng.integers(0, 30_000, 100_000))
    assert time.perf_counter() - start < 5  # takes about .1 s; pair by pair it would take minutes


def test_the_best_of_fifteen_useless_judges_looks_useful() -> None:
    # Without signal an AUC over 16 + 8 records has mean .5 and variance (16 + 8 + 1) / (12 * 16 * 8) = .01628, so sd .1276; the
    # largest of 15 normal values lies 1.736 sd above the mean: .5 + .2215 = .7215. Mean of 600 such maxima: error about .003.
    rng = np.random.default_rng(15)
    label = [1] * 16 + [0] * 8
    best = [max(float(auc(label, rng.normal(size=24)).value or 0) for _ in range(15)) for _ in range(600)]
    assert np.mean(best) == pytest.approx(0.72, abs=0.012)
