"""Numbers as they were written, so that a mean that ought to equal a threshold does.

The mean of the floats 0.7, 0.8 and 0.9 is 0.7999999999999999 in one order and 0.8 in another. Where a mean, a share or a sum meets a tie or a
threshold it is taken over fractions instead: the numbers as somebody wrote them.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

__all__ = ["compare", "comparison", "exact", "exact_mean", "meets"]

_SIGNS = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "==": operator.eq, "=": operator.eq, "!=": operator.ne,
}  # fmt: skip
_RULE = re.compile(r"\s*(>=|<=|==|!=|>|<|=)\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)\s*", re.ASCII)

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


def comparison(rule: str) -> tuple[str, Fraction]:
    """``">= 0.75"`` as its sign and number; ValueError when it is neither."""
    found = _RULE.fullmatch(rule)
    if found is None:
        raise ValueError(f"{rule!r} is no threshold: write for example '>= 0.75'")
    return found[1], Fraction(found[2])


def compare(left: Any, sign: str, right: Any) -> bool:
    """Whether two numbers stand so to each other as the sign says, in exact arithmetic."""
    found: bool = _SIGNS[sign](exact(left), exact(right))
    return found


def meets(score: Any, rule: str | None, low: Any = 0, high: Any = 1) -> bool | None:
    """Whether a score meets ``complete_when``; None without a score or a rule. The sign says which side is inclusive.

    The rule speaks of the scale as it is written. A score that was mapped to [0, 1] is taken back to it by its ends, worst and best: .5 of 1 to 5 is 3.
    """
    if score is None or rule is None:
        return None
    sign, limit = comparison(rule)
    return compare(exact(low) + exact(score) * (exact(high) - exact(low)), sign, limit)
