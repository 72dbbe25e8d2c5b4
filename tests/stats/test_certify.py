"""Certified thresholds: the sample sizes by hand, ties, and that the guarantee holds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, binom

from judgekit.stats.certify import certified_threshold, needed_catches, smallest_sample


def test_sample_sizes() -> None:
    # no miss allowed: .9^m <= .05 first at m = 29 (.9^28 = .0523, .9^29 = .0471)
    assert [smallest_sample("0.9", "0.05", misses) for misses in range(4)] == [29, 46, 61, 76]
    assert needed_catches(28) is None
    assert needed_catches(29) == 29
    assert needed_catches(100) == 96  # P(Bin(100, .9) >= 96) = .0237, >= 95 = .0576
    assert smallest_sample("1", "0.05") is None


@pytest.mark.parametrize("m", [1, 28, 29, 45, 46, 60, 61, 76, 100, 350])
@pytest.mark.parametrize("target", ["0.8", "0.9", "0.95"])
def test_needed_catches_against_scipy(m: int, target: str) -> None:
    fits = [k for k in range(1, m + 1) if binom.sf(k - 1, m, float(target)) <= 0.05]
    assert needed_catches(m, target) == (fits[0] if fits else None)


def test_the_threshold_is_the_kth_worst_and_ties_help() -> None:
    scores = np.arange(100.0)
    found = certified_threshold(scores)
    assert (found.threshold, found.needed, found.caught) == (95.0, 96, 96)  # the 96th smallest of 0..99
    turned = certified_threshold(-scores, higher_is_worse=True)
    assert (turned.threshold, turned.caught) == (-95.0, 96)
    tied = certified_threshold([1] * 50 + [2] * 50)
    assert (tied.threshold, tied.caught) == (2.0, 100)


def test_28_certify_only_reading_everything() -> None:
    found = certified_threshold(range(28))
    assert found.threshold is None
    assert "at least 29" in (found.reason or "")


def test_choosing_among_judges_needs_more() -> None:
    # d / 15 = .00333: .9^m <= .00333 first at m = 55
    assert certified_threshold(range(54), judges=15).threshold is None
    assert certified_threshold(range(55), judges=15).threshold == 54.0


def test_unscored_units_are_read_first() -> None:
    # 46 units allow one miss: k = 45 of them is at score 3; were the unscored last, it would be beyond every score
    assert certified_threshold([-np.inf] * 44 + [3.0, 4.0]).threshold == 3.0
    last = certified_threshold([np.inf] * 44 + [3.0, 4.0])
    assert last.threshold is None
    assert "never flagged" in (last.reason or "")
    # 300 unscored and one scored: even no score at all is certified, and the strictest score that exists is returned
    assert certified_threshold([-np.inf] * 300 + [3.0]).threshold == 3.0


def test_shares_of_failure_by_formula() -> None:
    # With continuous scores the true recall of the k-th of m is Beta(k, m + 1 - k): under .9 with P(Bin(m, .9) >= k):
    # 0, .0471, .0138, .0237, .0320 for m = 28, 29, 60, 100, 200.
    shares = []
    for m in (28, 29, 60, 100, 200):
        k = needed_catches(m)
        shares.append(0.0 if k is None else float(beta.cdf(0.9, k, m + 1 - k)))
    assert shares == pytest.approx([0, 0.0471, 0.0138, 0.0237, 0.0320], abs=5e-5)
