"""Bonferroni and Holm against statsmodels, and the families of STATISTICS."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from judgekit.stats.multiple import bonferroni, holm

pvalues = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@settings(max_examples=12, deadline=None)  # statsmodels takes a tenth of a second a call
@given(pvalues)
def test_equal_statsmodels(p: list[float]) -> None:
    assert bonferroni(p) == pytest.approx(multipletests(p, method="bonferroni")[1])
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])


def test_the_family_is_everything_that_was_looked_at() -> None:
    # p = .004 over nine comparisons: .036; over nine comparisons on five axes: .18.
    assert bonferroni([0.004] + [0.5] * 8)[0] == pytest.approx(0.036)
    assert bonferroni([0.004], family=9 * 5)[0] == pytest.approx(0.18)
    assert holm([0.004], family=45)[0] == pytest.approx(0.18)


def test_a_degenerate_test_stays_none_and_counts() -> None:
    assert bonferroni([0.01, None, 0.4]) == [pytest.approx(0.03), None, 1.0]
    assert holm([0.01, None, 0.4]) == [pytest.approx(0.03), None, pytest.approx(0.8)]


@given(pvalues)
def test_holm_is_never_larger_and_keeps_the_order(p: list[float]) -> None:
    adjusted = holm(p)
    assert all(h <= b + 1e-12 for h, b in zip(adjusted, bonferroni(p), strict=True))  # type: ignore[operator]
    ordered = [value for _, value in sorted(zip(p, adjusted, strict=True))]
    assert ordered == sorted(ordered)  # type: ignore[type-var]


def test_bad_values_are_refused() -> None:
    with pytest.raises(ValueError, match=r"lies in \[0, 1\]"):
        bonferroni([1.5])
    with pytest.raises(ValueError, match="at least"):
        holm([0.1, 0.2], family=1)
