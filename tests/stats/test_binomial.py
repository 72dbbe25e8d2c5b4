"""Exact binomial bounds."""

from __future__ import annotations

import pytest
from scipy.stats import binom, binomtest

from judgekit.stats.binomial import at_least, clopper_pearson, upper_bound


@pytest.mark.parametrize(("hits", "trials"), [(1, 11), (0, 5), (5, 5), (37, 100)])
def test_equals_scipys_exact_interval(hits: int, trials: int) -> None:
    want = binomtest(hits, trials).proportion_ci(method="exact")
    got = clopper_pearson(hits, trials)
    assert (got.low, got.high) == pytest.approx((want.low, want.high), abs=1e-10)


def test_nothing_tried_is_undefined() -> None:
    assert clopper_pearson(0, 0).low is None
    assert upper_bound(0, 0) is None
    with pytest.raises(ValueError, match="no share"):
        clopper_pearson(3, 2)


def test_none_of_twelve_severe_missed() -> None:
    # (1 - p)^12 = .05: p = 1 - .05^(1/12) = .2209
    assert upper_bound(0, 12) == pytest.approx(1 - 0.05 ** (1 / 12))
    assert upper_bound(3, 3) == 1.0


@pytest.mark.parametrize("k", [-1, 0, 1, 5, 10, 11])
def test_upper_tail(k: int) -> None:
    assert at_least(k, 10, 0.3) == pytest.approx(binom.sf(k - 1, 10, 0.3))
