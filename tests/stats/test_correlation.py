"""Correlations against scipy; undefined ones say why."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from judgekit.stats.correlation import correlation


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=4, max_size=30))
def test_equal_scipy(pairs: list[tuple[int, int]]) -> None:
    x, y = zip(*pairs, strict=True)
    assume(len(set(x)) > 1 and len(set(y)) > 1)
    for method, theirs in (("pearson", stats.pearsonr(x, y)), ("spearman", stats.spearmanr(x, y))):
        ours = correlation(x, y, method=method, replicates=0)
        assert ours.value == pytest.approx(theirs.statistic, abs=1e-9)
        if abs(theirs.statistic) < 1 - 1e-9:
            assert ours.p == pytest.approx(theirs.pvalue, abs=1e-9)
        else:
            assert ours.p is None


def test_undefined_ones_say_why() -> None:
    assert correlation([1, 1, 1, 1], [1, 2, 3, 4]).reason == "one side does not vary"
    assert correlation([0.1] * 9, range(9)).reason == "one side does not vary"
    assert correlation([1, 2], [1, 2]).reason == "fewer than three pairs"
    nan = float("nan")
    assert correlation([1, nan, 3, 4], [1, 2, nan, 3]).n == 2


def test_repeats_in_a_cluster_add_no_certainty_and_no_p() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=30)
    y = x + rng.normal(size=30)
    once = correlation(x, y, clusters=range(30), replicates=400)
    many = correlation(np.repeat(x, 3), np.repeat(y, 3), clusters=np.repeat(np.arange(30), 3), replicates=400)
    assert many.value == pytest.approx(once.value)
    assert (many.low, many.high) == (pytest.approx(once.low), pytest.approx(once.high))
    assert once.p is not None
    assert many.p is None
