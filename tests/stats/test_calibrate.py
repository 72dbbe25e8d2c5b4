"""Brier, reliability, Platt and isotonic: by hand and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss

from judgekit.stats.calibrate import brier, fit_isotonic, fit_platt, newton_logistic, reliability

both = st.lists(st.tuples(st.booleans(), st.integers(0, 6)), min_size=3, max_size=30).filter(
    lambda rows: 0 < sum(b for b, _ in rows) < len(rows)
)


def test_brier_by_hand() -> None:
    # (1 - .8)^2 + (0 - .3)^2 = .04 + .09; / 2 = .065
    assert brier([1, 0], [0.8, 0.3]) == pytest.approx(0.065)
    assert brier([1, 0], [0.8, 0.3]) == pytest.approx(brier_score_loss([1, 0], [0.8, 0.3]))
    assert brier([], []) is None
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        brier([1], [1.2])


def test_reliability_by_hand() -> None:
    # .05 and .09 fall into [0, .1): none of two incomplete; 1.0 into the last bin, which includes its end
    bins = reliability([0, 0, 1], [0.05, 0.09, 1.0])
    assert [(b.low, b.n, b.observed) for b in bins] == [(0.0, 2, 0.0), (pytest.approx(0.9), 1, 1.0)]
    assert bins[0].predicted == pytest.approx(0.07)
    assert bins[0].observed_high == pytest.approx(1 - 0.025**0.5)


@given(both)
@settings(max_examples=60, deadline=None)
def test_isotonic_equals_sklearn(rows: list[tuple[bool, int]]) -> None:
    label, score = np.array([b for b, _ in rows]), np.array([float(s) for _, s in rows])
    found = fit_isotonic(label, score)
    theirs = IsotonicRegression(increasing=False, out_of_bounds="clip").fit(score, label)
    assert found is not None
    points = np.linspace(-1, 8, 37)
    assert found(points) == pytest.approx(theirs.predict(points), abs=1e-9)
    turned = fit_isotonic(label, -score, higher_is_worse=True)
    assert turned is not None
    assert turned(-points) == pytest.approx(found(points), abs=1e-12)


def test_platt_is_finite_where_classes_are_apart_and_falls_with_the_score() -> None:
    found = fit_platt([1, 1, 1, 0, 0, 0], [1, 1, 2, 4, 5, 5])
    assert found is not None
    assert found.slope < 0
    assert 0.5 < found(1.0) < 0.95
    # smoothed targets 4/5 and 1/5 have the mean .5, and the fit keeps it
    assert found([1, 1, 2, 4, 5, 5]).mean() == pytest.approx(0.5, abs=1e-6)
    assert fit_platt([1, 1], [1, 2]) is None
    turned = fit_platt([1, 1, 1, 0, 0, 0], [-1, -1, -2, -4, -5, -5], higher_is_worse=True)
    assert turned is not None
    assert turned(-2.0) == pytest.approx(found(2.0))


def test_newton_equals_sklearn() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, 3))
    y = rng.random(200) < 1 / (1 + np.exp(-(0.5 + x @ np.array([1.0, -2.0, 0.0]))))
    theirs = LogisticRegression(C=0.5, tol=1e-10, max_iter=1000).fit(x, y)  # penalty 1 / C = 2
    ours = newton_logistic(x, y.astype(float), 2.0)
    assert ours == pytest.approx([float(theirs.intercept_[0]), *theirs.coef_[0]], abs=1e-5)
