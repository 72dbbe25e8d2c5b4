"""Analysis of variance against hand work, scipy and statsmodels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.formula.api import ols

from judgekit.stats.anova import blocked_anova, interaction, one_way_anova

FIRST, SECOND, THIRD = [1, 2, 3], [1.5, 2.4, 3.6], [2.1, 3, 3.9]


def test_the_block_finds_what_one_way_cannot() -> None:
    # Group means 2, 2.5, 3; grand mean 2.5: between = 3(.25 + 0 + .25) = 1.5 on 2. Within = 2 + 2.22 + 1.62 = 5.84 on 6:
    # F = .75 / .97333 = .7705. Block means 4.6/3, 7.4/3, 10.5/3: blocks = 3 * sum of squares = 5.80667; what is left: 5.84 -
    # 5.80667 = .03333 on 4: F = .75 / .008333 = 90.
    values, groups, blocks = FIRST + SECOND + THIRD, list("AAABBBCCC"), [1, 2, 3] * 3
    one = one_way_anova(values, groups)
    assert one.f == pytest.approx(0.77055, abs=1e-5)
    assert (one.df1, one.df2) == (2, 6)
    assert one.f == pytest.approx(stats.f_oneway(FIRST, SECOND, THIRD).statistic)
    assert one.eta_squared == pytest.approx(1.5 / 7.34)
    two = blocked_anova(values, groups, blocks)
    assert two.f == pytest.approx(90)
    assert (two.df1, two.df2, two.blocks) == (2, 4, 3)
    assert two.eta_squared == pytest.approx(1.5 / (1.5 + 1 / 30))
    assert two.partial


def test_two_groups_blocked_is_the_paired_t_test() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(0.4, 1, 15), rng.normal(0, 1, 15)
    found = blocked_anova([*x, *y], ["x"] * 15 + ["y"] * 15, [*range(15)] * 2)
    theirs = stats.ttest_rel(x, y)
    assert found.f == pytest.approx(theirs.statistic**2)
    assert found.p == pytest.approx(theirs.pvalue)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_unbalanced_blocks_equal_statsmodels(seed: int, gaps: bool) -> None:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame([(g, b) for b in range(8) for g in "ABCD"], columns=["g", "b"])
    frame["y"] = rng.normal(size=len(frame)) + frame.b * 0.3 + (frame.g == "A") * 0.5
    if gaps:
        frame = frame.drop(frame.index[rng.choice(len(frame), 5, replace=False)])
    theirs = sm.stats.anova_lm(ols("y ~ C(b) + C(g)", frame).fit(), typ=2).loc["C(g)"]
    ours = blocked_anova(frame.y.to_numpy(), frame.g.to_list(), frame.b.to_list())
    assert ours.f == pytest.approx(theirs["F"], rel=1e-8)
    assert ours.p == pytest.approx(theirs["PR(>F)"], abs=1e-10)


def test_interaction_equals_statsmodels() -> None:
    rng = np.random.default_rng(7)
    frame = pd.DataFrame([(m, c, q) for q in range(12) for c in [q % 3] for m in "AB"], columns=["m", "c", "q"])
    frame["y"] = rng.normal(size=len(frame)) + (frame.m == "A") * frame.c
    plain = sm.stats.anova_lm(ols("y ~ C(m) * C(c)", frame).fit(), typ=2).loc["C(m):C(c)"]
    ours = interaction(frame.y, frame.m, frame.c)
    assert ours.f == pytest.approx(plain["F"])
    assert (ours.df1, ours.df2) == (2, 18)
    # Questions as blocks absorb the category; the interaction is then tested against the question-by-model residual.
    full = ols("y ~ C(q) + C(m) + C(m):C(c)", frame).fit()
    less = ols("y ~ C(q) + C(m)", frame).fit()
    f = ((less.ssr - full.ssr) / (less.df_resid - full.df_resid)) / (full.ssr / full.df_resid)
    blocked = interaction(frame.y, frame.m, frame.c, frame.q)
    assert blocked.f == pytest.approx(f)
    assert (blocked.df1, blocked.df2) == (2, 9)


@pytest.mark.parametrize(
    ("values", "groups", "blocks", "reason"),
    [
        ([], [], [], "no values"),
        ([1.0, 2.0], ["a", "a"], [1, 2], "one group only"),
        ([1.0, 2.0], ["a", "b"], [1, 2], "no block holds two groups"),
        ([1.0, 2.0], ["a", "b"], [1, 1], "no degrees of freedom"),
        ([1.0, 2.0, 3.0, 4.0], ["a", "b", "a", "b"], [1, 1, 2, 2], "no variance is left"),
        ([1.0, 2, 2, 3, 5, 6, 4, 3], list("abab") + list("cdcd"), [1, 1, 2, 2, 3, 3, 4, 4], "share no block"),
    ],
)
def test_what_does_not_exist_says_so(values: Any, groups: Any, blocks: Any, reason: str) -> None:
    found = blocked_anova(values, groups, blocks)
    assert found.f is None
    assert found.p is None
    assert reason in str(found.reason)


def test_no_variance_at_all_is_degenerate() -> None:
    found = one_way_anova([1.0, 1.0, 2.0, 2.0], list("aabb"))
    assert found.f is None
    assert found.degenerate


@pytest.mark.parametrize("value", [0.1, 0.7, 3.3, 2.0, 1e9 + 0.1])
def test_constant_values_have_no_test(value: float) -> None:
    # Eight questions of A, five of B, every score the same: sums of equal floats differ in their last digits, and a test on that noise gave p 6e-7.
    for n, m in ((8, 5), (1, 1), (2, 2)):
        values, groups, units = [value] * (n + m), ["A"] * n + ["B"] * m, [*range(n), *range(m)]
        for found in (one_way_anova(values, groups), blocked_anova(values, groups, units)):
            assert (found.f, found.p) == (None, None)
            assert found.reason is not None
