"""Mann-Whitney: exact under ties by enumeration, asymptotic like scipy's."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu, rankdata

from judgekit.stats.mannwhitney import mann_whitney


@pytest.mark.parametrize("case", range(6))
def test_the_six_cases(shared_data: Path, case: int) -> None:
    found = json.loads((shared_data / "triage_cases.json").read_text("utf-8"))["cases"][case]
    label, score = np.array(found["label"]), np.array(found["score"], dtype=float)
    want = found["expected"]["drop_missing"]["mann_whitney"]
    keep = ~np.isnan(score)
    got = mann_whitney(label[keep], score[keep])
    if want is None:
        assert got.p is None
        assert got.reason
        return
    assert got.u == want["U_incomplete_higher"]
    exact = want["p_two_sided_permutation_exact"]
    assert got.p == pytest.approx(want["p_two_sided_asymptotic_cc"] if exact is None else exact, abs=1e-12)
    approximate = mann_whitney(label[keep], score[keep], exact_up_to=0)
    assert approximate.p == pytest.approx(want["p_two_sided_asymptotic_cc"], abs=1e-12)


def test_case_01_by_hand() -> None:
    # Ranks of the incomplete answers 1, 2, 4, 7: sum 14, mean 4 * 11 / 2 = 22, distance 8. Of the 210 subsets of four ranks
    # 24 lie as far: p = 24/210 = .1143.
    got = mann_whitney([1] * 4 + [0] * 6, [1.1, 1.4, 2.2, 3.9, 2.0, 3.1, 3.3, 4.0, 4.4, 4.8])
    assert (got.p, got.method) == (pytest.approx(24 / 210), "exact")


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=2, max_size=9))
@settings(max_examples=80, deadline=None)
def test_equals_brute_force(rows: list[tuple[bool, int]]) -> None:
    label, score = np.array([b for b, _ in rows]), np.array([s for _, s in rows])
    m = int(label.sum())
    got = mann_whitney(label, score)
    if m in (0, len(rows)):
        assert got.p is None
        return
    ranks = rankdata(score)
    seen = abs(ranks[label].sum() - ranks.mean() * m)
    sums = [abs(sum(some) - ranks.mean() * m) for some in combinations(ranks, m)]
    assert got.p == pytest.approx(np.mean([s >= seen - 1e-9 for s in sums]))
    scipy = mannwhitneyu(score[label], score[~label], method="asymptotic")
    assert got.u == scipy.statistic
    if len(set(score.tolist())) > 1:
        assert mann_whitney(label, score, exact_up_to=0).p == pytest.approx(scipy.pvalue)


def test_all_equal_scores() -> None:
    assert mann_whitney([1, 0] * 4, [4] * 8).p == 1.0
    assert mann_whitney([1, 0] * 200, [4] * 400).p == 1.0


def test_a_p_that_no_float_can_hold_is_its_least_bound_and_says_so() -> None:
    # 1,500 against 1,500, fully apart: z = (mn/2 - .5) / sqrt(mn (m + n + 1) / 12) = 1,124,999.5 / 23,721.2 = 47.4, and
    # 2 Phi(-47.4) is about 1e-489.
    m = 1500
    got = mann_whitney([1] * m + [0] * m, list(range(2 * m)))
    assert got.p == 2.2250738585072014e-308
    assert got.reason == "smaller than a float can say: under 2.2e-308"
    json.loads(json.dumps(got.p))  # a number like any other
    # 800 against 800: z = 34.6, p about 1e-262, which a float holds as it is
    near = mann_whitney([1] * 800 + [0] * 800, list(range(1600)))
    assert near.p is not None
    assert 0 < near.p < 1e-250
    assert near.reason is None
