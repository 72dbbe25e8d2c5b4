"""Two groups: t tests, effect sizes, spread over samples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from judgekit.stats.compare import mean_interval, paired, spread, welch
from judgekit.stats.permutation import shuffle, sign_flip

numbers = st.lists(st.integers(0, 20).map(lambda i: i / 4), min_size=3, max_size=20)


def test_repeated_samples_are_averaged_first() -> None:
    # Differences 1, 2, 3: mean 2, sd 1, t = 2 / (1 / sqrt 3) = 3.464 on 2 degrees: p = .0742. d_z = 2.
    found = paired([1, 2, 3], [0, 0, 0])
    assert found.p == pytest.approx(0.0742, abs=5e-5)
    assert found.t == pytest.approx(2 * math.sqrt(3))
    assert found.dz == 2.0
    # Over the fifteen rows of five identical repetitions it would say 2.7e-7.
    rows = paired(np.repeat([1.0, 2, 3], 5), np.zeros(15))
    assert rows.p == pytest.approx(2.7e-7, rel=0.02)


def test_zero_variance_is_degenerate_and_not_p_zero() -> None:
    found = paired([4, 5, 4], [3, 4, 3])
    assert (found.difference, found.p, found.t, found.dz) == (1.0, None, None, None)
    assert found.degenerate
    assert "no variance" in str(found.reason)
    flat = welch([2.0, 2.0, 2.0], [1.0, 1.0])
    assert (flat.difference, flat.p, flat.degenerate) == (1.0, None, True)
    same = paired([1, 2, 3], [1, 2, 3])
    assert (same.difference, same.p, same.degenerate) == (0.0, None, True)


def test_tiny_differences_between_large_numbers_are_not_variance() -> None:
    assert paired([0.1 + 0.2, 1.1], [0.3 - 1, 0.1]).degenerate  # both differences are 1, but for the last digit


@pytest.mark.parametrize("size", [0, 1])
def test_one_question_or_none(size: int) -> None:
    found = paired([1.0] * size, [2.0] * size)
    assert found.p is None
    assert found.reason == "fewer than two questions in common"
    assert welch([1.0] * size, [2.0, 3.0]).p is None


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=3, max_size=25))
def test_paired_equals_scipy(pairs: list[tuple[int, int]]) -> None:
    x, y = (np.asarray(side, dtype=float) for side in zip(*pairs, strict=True))
    assume(np.ptp(x - y) > 0)
    ours, theirs = paired(x, y, replicates=0), stats.ttest_rel(x, y)
    assert ours.t == pytest.approx(theirs.statistic, abs=1e-9)
    assert ours.p == pytest.approx(theirs.pvalue, abs=1e-9)
    low, high = theirs.confidence_interval()
    assert (ours.low, ours.high) == (pytest.approx(low, abs=1e-9), pytest.approx(high, abs=1e-9))


@settings(max_examples=60, deadline=None)
@given(numbers, numbers)
def test_welch_equals_scipy(x: list[float], y: list[float]) -> None:
    assume(np.ptp(x) > 0 or np.ptp(y) > 0)
    ours, theirs = welch(x, y), stats.ttest_ind(x, y, equal_var=False)
    assert ours.t == pytest.approx(theirs.statistic, abs=1e-8)
    assert ours.df == pytest.approx(theirs.df, rel=1e-9)
    assert ours.p == pytest.approx(theirs.pvalue, abs=1e-9)
    low, high = theirs.confidence_interval()
    assert (ours.low, ours.high) == (pytest.approx(low, abs=1e-8), pytest.approx(high, abs=1e-8))


@pytest.mark.parametrize("sign", [1, -1])
def test_effect_size_intervals_invert_the_noncentral_t(sign: int) -> None:
    # Independent check: at the ends of the interval the observed t is the 97.5 % and the 2.5 % point of scipy's nct.
    rng = np.random.default_rng(2)
    x, y = sign * rng.normal(0.7, 1, 25), rng.normal(0, 1, 25)
    found = paired(x, y)
    assert found.t is not None
    assert found.dz_low is not None
    assert found.dz_high is not None
    assert stats.nct.cdf(found.t, 24, found.dz_low * 5) == pytest.approx(0.975, abs=1e-4)
    assert stats.nct.cdf(found.t, 24, found.dz_high * 5) == pytest.approx(0.025, abs=1e-4)
    two = welch(x, y[:16])
    assert two.d is not None
    assert two.d_low is not None
    assert two.d_high is not None
    scale = math.sqrt(25 * 16 / 41)
    assert stats.nct.cdf(two.d * scale, 39, two.d_low * scale) == pytest.approx(0.975, abs=1e-4)
    assert stats.nct.cdf(two.d * scale, 39, two.d_high * scale) == pytest.approx(0.025, abs=1e-4)


def test_d_by_hand() -> None:
    # Means 3 and 1, variances 1 and 1: d = 2 / 1 = 2.
    assert welch([2, 3, 4], [0, 1, 2]).d == pytest.approx(2.0)
    # Paired, differences 1, 2, 3: x = 1, 2, 3 has variance 1, y = 0 none: pooled sd = sqrt(.5): d = 2.828, d_z = 2.
    found = paired([1, 2, 3], [0, 0, 0])
    assert found.d == pytest.approx(2 / math.sqrt(0.5))


def test_swapping_the_sides_swaps_the_signs() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(1, 1, 20), rng.normal(0, 2, 20)
    one, two = paired(x, y), paired(y, x)
    for name in ("difference", "t", "d", "dz"):
        assert getattr(one, name) == pytest.approx(-getattr(two, name))
    assert (one.dz_low, one.dz_high) == (pytest.approx(-two.dz_high), pytest.approx(-two.dz_low))  # type: ignore[operator]
    assert one.p == pytest.approx(two.p)


def test_spread_over_iterations_by_hand() -> None:
    # Means 4.0, 4.1, 4.2, 4.1, 4.1: mean 4.1, sd sqrt(.02 / 4) = .0707; half width t(.975, 4) sd / sqrt 5 = 2.776 * .0316.
    found = spread([4.0, 4.1, 4.2, 4.1, 4.1])
    assert found.mean == pytest.approx(4.1)
    assert found.sd == pytest.approx(math.sqrt(0.005))
    assert found.high == pytest.approx(4.1 + 2.7764451 * math.sqrt(0.005 / 5), abs=1e-6)
    assert spread([4.0]).low is None
    assert spread([4.0]).reason == "one sample has no spread"
    assert mean_interval([]).reason == "there are no values"


def test_nan_is_refused() -> None:
    with pytest.raises(ValueError, match="without NaN"):
        paired([1.0, float("nan")], [0.0, 1.0])


def fields(found: Any) -> dict[str, Any]:
    return {name: getattr(found, name) for name in found.__slots__}


@settings(max_examples=40, deadline=None)
@given(numbers, numbers)
def test_no_result_holds_nan(x: list[float], y: list[float]) -> None:
    size = min(len(x), len(y))
    for found in (paired(x[:size], y[:size], replicates=50), welch(x, y), mean_interval(x)):
        assert not any(isinstance(value, float) and not math.isfinite(value) for value in fields(found).values())


@pytest.mark.parametrize("seed", range(4))
def test_the_signed_rank_test_equals_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for size in (6, 8, 30):
        delta = rng.integers(-3, 6, size).astype(float)  # ties and zeros
        assert paired(delta, np.zeros(size), replicates=0).wilcoxon_p == pytest.approx(stats.wilcoxon(delta).pvalue)


def test_d_and_p_do_not_depend_on_the_unit_of_money() -> None:
    # Dollars or millionths of them: x - y = 1, 2, 4, -1, mean 1.5. Pooled variance of x (3, 5, 8, 2: 7) and y (2, 3, 4, 3: 2/3) is
    # 23/6, so d = 1.5 / sqrt(23/6) = .7661. Of 16 sign patterns those with no 1 or one 1 flipped, and their mirrors, reach |6|: p = 6/16.
    x, y = np.array([3.0, 5.0, 8.0, 2.0]), np.array([2.0, 3.0, 4.0, 3.0])
    for unit in (1.0, 2.0**-30, 2.0**30):
        found = paired(x * unit, y * unit, replicates=0)
        assert found.d == pytest.approx(1.5 / math.sqrt(23 / 6))
        assert sign_flip((x - y) * unit).p == 6 / 16
        # 3 + 8 of x's total 18 is 2 off the half, and so is 5 + 2; 3 + 5 is 1 off: two of six deals are less extreme than 2
        assert shuffle(x[[0, 2]] * unit, x[[1, 3]] * unit).p == 4 / 6


def test_means_that_differ_in_their_last_binary_digit_tie() -> None:
    # Tenths: 0.3 - 0.1 and 0.5 - 0.3 differ in floating point. Ranks of 2, 2, 2, -1, 3 (tenths): 3, 3, 3, 1, 5, so W = 14 - 1 = 13
    # of 15; patterns with |W| >= 13: none or only the 1 flipped, and their mirrors: 4 of 32.
    x, y = np.array([0.3, 0.5, 0.9, 0.6, 0.8]), np.array([0.1, 0.3, 0.7, 0.7, 0.5])
    assert len({*(x - y)[:3]}) > 1
    assert paired(x, y, replicates=0).wilcoxon_p == 4 / 32
