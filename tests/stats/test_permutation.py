"""Permutation tests against scipy, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from judgekit.stats.permutation import shuffle, sign_flip


def test_identical_differences_by_hand() -> None:
    # [4,5,4] against [3,4,3]: differences 1, 1, 1. Of 8 sign patterns +++ and --- are as extreme: .25.
    found = sign_flip(np.array([4, 5, 4]) - np.array([3, 4, 3]))
    assert (found.p, found.exact, found.arrangements) == (0.25, True, 8)


def test_ties_of_floats_count() -> None:
    # .1 + .2 - .3 is not 0 in floats. Of the 8 sums ±.1±.2±.3 (/3) all are at least as far from 0 as the observed 0.
    assert sign_flip([0.1, 0.2, -0.3]).p == 1.0
    assert sign_flip([0.1, 0.2, 0.3]).p == 0.25


def test_enumerates_up_to_b_and_samples_beyond() -> None:
    assert sign_flip(np.arange(1.0, 14), replicates=8192).exact
    drawn = sign_flip(np.arange(1.0, 15), replicates=8192)
    assert not drawn.exact
    assert drawn.arrangements == 8192
    # No drawn pattern can be more extreme than all signs alike; (b + 1) / (B + 1) is never 0.
    assert drawn.p is not None
    assert drawn.p >= 1 / 8193


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-6, 6), min_size=2, max_size=9))
def test_sign_flip_equals_scipy(values: list[int]) -> None:
    assume(any(values))
    theirs = stats.permutation_test(
        (np.asarray(values, dtype=float),), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    # scipy doubles the smaller tail; the distribution is symmetric, so both are the two-sided p.
    assert sign_flip(values).p == pytest.approx(theirs.pvalue)


def test_the_sampled_p_comes_close_to_the_exact_one() -> None:
    rng = np.random.default_rng(8)
    values = rng.normal(0.5, 1, 15)
    exact = sign_flip(values, replicates=2**15)
    drawn = sign_flip(values, replicates=20_000, seed=1)
    assert exact.exact
    assert exact.p is not None
    assert drawn.p is not None
    error = np.sqrt(exact.p * (1 - exact.p) / 20_000)
    assert abs(drawn.p - exact.p) < 4 * error


def test_same_seed_same_p() -> None:
    values = np.random.default_rng(1).normal(size=40)
    assert sign_flip(values, seed=3) == sign_flip(values, seed=3)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=3, max_size=3), st.lists(st.integers(0, 5), min_size=3, max_size=4))
def test_shuffle_equals_scipy(x: list[int], y: list[int]) -> None:
    assume(len({*x, *y}) > 1)
    # Two-sided as |difference|: given to scipy as the statistic, since its doubling of a tail is another definition.
    theirs = stats.permutation_test(
        (x, y), lambda a, b: abs(np.mean(a) - np.mean(b)), n_resamples=np.inf, alternative="greater"
    )
    assert shuffle(x, y).p == pytest.approx(theirs.pvalue)


def test_nothing_to_permute() -> None:
    assert sign_flip([]).reason == "there are no pairs"
    assert sign_flip([0, 0]).p is None
    assert shuffle([], [1.0]).reason == "a group is empty"
    assert shuffle([1.0, 1.0], [1.0]).reason == "all values are equal"


def test_coarse_differences_are_drawn_by_size() -> None:
    # 40 questions, four distinct sizes: too many to enumerate, so drawn; against the exact distribution by convolution.
    rng = np.random.default_rng(2)
    values = rng.integers(-2, 4, 40).astype(float)
    sums = {0.0: 1.0}
    for size in np.abs(values):
        step: dict[float, float] = {}
        for total, p in sums.items():
            for sign in (-size, size):
                step[total + sign] = step.get(total + sign, 0.0) + p / 2
        sums = step
    exact = sum(p for total, p in sums.items() if abs(total) >= abs(values.sum()) - 1e-9)
    drawn = sign_flip(values, replicates=20_000)
    assert drawn.p == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 20_000) + 1e-4)


def test_without_a_difference_one_in_twenty_is_significant() -> None:
    # 300 sets of 20 heavy-tailed differences about 0: p <= .05 in 5 % of them, give or take 3 Monte Carlo errors.
    rng = np.random.default_rng(12)
    hits = sum((sign_flip(rng.standard_t(3, 20), replicates=999, seed=seed).p or 1) <= 0.05 for seed in range(300))
    assert abs(hits / 300 - 0.05) < 3 * np.sqrt(0.05 * 0.95 / 300)
