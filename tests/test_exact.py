"""Means in exact arithmetic."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.exact import exact, exact_mean


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (0.7, Fraction(7, 10)),
        (np.float64(0.7), Fraction(7, 10)),
        (np.float32(0.7), Fraction(7, 10)),
        (np.int64(3), Fraction(3)),
        (np.True_, Fraction(1)),
        (False, Fraction(0)),
        (3, Fraction(3)),
        ("0.75", Fraction(3, 4)),
        (Decimal("0.10"), Fraction(1, 10)),
        (1e-05, Fraction(1, 100000)),
        (1 / 3, Fraction(1, 3)),  # 0.3333333333333333 is what a third looks like, not what anybody writes
        (13 / 15, Fraction(13, 15)),
        (-2 / 7, Fraction(-2, 7)),
        (0.7999999999999999, Fraction("0.7999999999999999")),  # the neighbour of 0.8 is not 0.8
        (0.0, Fraction(0)),
    ],
)
def test_a_number_is_the_fraction_that_it_was_written_as(value: object, wanted: Fraction) -> None:
    assert exact(value) == wanted


@pytest.mark.parametrize("value", [math.nan, math.inf, "much", "", np.float64("nan")])
def test_what_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"Invalid|convert|nan|inf"):
        exact(value)


def test_the_mean_does_not_know_the_order() -> None:
    # .7 + .8 + .9 is 2.4, a third of it .8; in floats 0.7999999999999999 for two of the six orders.
    assert {exact_mean(order) for order in permutations([0.7, 0.8, 0.9])} == {Fraction(4, 5)}
    assert exact_mean([2 / 3, 1 / 3, 1.0]) == Fraction(2, 3)
    with pytest.raises(ValueError, match="nothing"):
        exact_mean([])


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_comes_back_and_the_order_is_kept(one: float, two: float) -> None:
    assert float(exact(one)) == one
    assert (exact(one) < exact(two)) == (one < two)


@given(st.integers(-1000, 1000), st.integers(1, 1000))
def test_a_division_is_undone(top: int, bottom: int) -> None:
    assert exact(top / bottom) == Fraction(top, bottom)
