"""Shares: Wilson, and its form for records that come in clusters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from judgekit.stats.proportion import clustered_share, wilson


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_equals_statsmodels(pair: tuple[int, int]) -> None:
    found = wilson(*pair)
    low, high = proportion_confint(*pair, method="wilson")
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-12), pytest.approx(high, abs=1e-12))


def test_wilson_interval() -> None:
    # 8 of 24 (K-QA, complete answers): .1797 to .5329 in the independently computed numbers of the shared data.
    found = wilson(8, 24)
    assert (found.low, found.high) == (pytest.approx(0.1797219033), pytest.approx(0.5329368316))
    assert wilson(0, 0).value is None
    assert wilson(0, 12).low == 0.0
    with pytest.raises(ValueError, match="a count lies"):
        wilson(3, 2)


def test_copies_inside_a_cluster_add_nothing() -> None:
    # Every record four times: the effective number is that of the clusters, but for the G / (G - 1) of the variance.
    hits = np.array([1, 0, 0, 1, 0, 0, 0, 1, 0, 0], dtype=bool)
    four = clustered_share(np.repeat(hits, 4), np.repeat(np.arange(10), 4))
    once = wilson(3, 10)
    assert (four.count, four.n, four.value) == (12, 40, 0.3)
    # Effective number: .21 / (10/9 * .021) = 9, so a little wider than ten independent records.
    assert four.low == pytest.approx(wilson_at(0.3, 9)[0])
    assert four.low is not None
    assert once.low is not None
    assert four.low < once.low
    assert clustered_share(hits, range(10)) == once


def wilson_at(share: float, n: float) -> tuple[float, float]:
    z2 = 1.959963984540054**2
    middle, half = (
        (share + z2 / (2 * n)) / (1 + z2 / n),
        np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n),
    )
    return float(middle - half), float(middle + half)


def test_none_and_all_keep_an_upper_and_a_lower_bound() -> None:
    found = clustered_share([False] * 24, np.repeat(np.arange(12), 2))
    assert found.low == 0.0
    assert found.high == pytest.approx(wilson(0, 12).high)
    assert clustered_share([True] * 4, ["a"] * 4).reason == "one cluster has no spread"
    assert clustered_share([], []).value is None


def test_the_interval_covers_where_the_naive_one_does_not() -> None:
    # 30 clusters of 6, share .3 with a strong cluster effect (beta 1.2, 2.8: intracluster correlation .2).
    rng = np.random.default_rng(6)
    clusters = np.repeat(np.arange(30), 6)
    ours = naive = 0
    for _ in range(400):
        hits = rng.random(180) < np.repeat(rng.beta(1.2, 2.8, 30), 6)
        a, b = clustered_share(hits, clusters), wilson(int(hits.sum()), 180)
        assert a.low is not None
        assert a.high is not None
        assert b.low is not None
        assert b.high is not None
        ours += a.low <= 0.3 <= a.high
        naive += b.low <= 0.3 <= b.high
    assert 0.92 <= ours / 400 <= 0.98
    assert naive / 400 < 0.90
