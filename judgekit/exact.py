"""Numbers as they were written, so that a mean that ought to equal a threshold does.

The mean of the floats 0.7, 0.8 and 0.9 is 0.7999999999999999 in one order and 0.8 in another. Where a mean, a share or a sum meets a tie or a
threshold it is taken over fractions instead: the numbers as somebody wrote them.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

__all__ = ["exact", "exact_mean"]

_WRITTEN = 12
"""Nobody writes more digits than this by hand: a float with more is the result of a division."""
_DENOMINATOR = 1_000_000


def exact(value: Any) -> Fraction:
    """The fraction that a number was written as: 0.7 is 7/10, not the nearest double to it.

    Takes ints, floats, Decimals, Fractions, booleans (1 and 0), decimal text and numpy's scalars. A float of more than twelve digits that is the
    nearest double to a fraction with a denominator of up to a million is that fraction (0.3333333333333333 is 1/3), else its
    shortest decimal. So ``float(exact(x)) == x`` for every float, and the order of two floats is kept. Raises ValueError for NaN, infinities and text that is no number.
    """
    if isinstance(value, int | Fraction):
        return Fraction(value)
    text = str(value).strip()
    if text in ("True", "False"):  # numpy's booleans
        return Fraction(int(text == "True"))
    found = Fraction(text)
    if sum(char.isdigit() for char in text.lower().partition("e")[0].lstrip("+-0.")) > _WRITTEN:
        near = found.limit_denominator(_DENOMINATOR)
        if near and float(near) == float(found):
            return near
    return found


def exact_mean(values: Iterable[Any]) -> Fraction:
    """The mean in exact arithmetic: it does not depend on the order. Raises ValueError for no values."""
    numbers = [exact(value) for value in values]
    if not numbers:
        raise ValueError("nothing has no mean")
    return sum(numbers, Fraction()) / len(numbers)
