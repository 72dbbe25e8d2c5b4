"""An interval that may be undefined, quantiles, and the checks that every statistic makes of its arrays."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Interval", "as_classes", "as_codes", "exact_share", "normal_quantile", "t_quantile"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Interval:
    """Two ends, or None with the reason why there are none.

    `se` is the standard error on the scale of the estimate, None where the method has none; `method` names what was done.
    """

    low: float | None
    high: float | None
    method: str
    level: float = 0.95
    se: float | None = None
    reason: str | None = None


def normal_quantile(p: float) -> float:
    """Quantile of the standard normal distribution; `p` in (0, 1)."""
    from scipy.special import ndtri

    return float(ndtri(p))


def t_quantile(p: float, df: float) -> float:
    """Quantile of Student's t with `df` > 0 degrees of freedom; `p` in (0, 1)."""
    from scipy.special import stdtrit

    return float(stdtrit(df, p))


def exact_share(value: str | float | Fraction | Decimal, name: str = "recall") -> Fraction:
    """Read a share such as a recall target as an exact decimal: ``"0.9"`` and ``0.9`` are both 9/10.

    Raises
    ------
    ValueError : not a decimal number, or not in (0, 1].
    """
    if isinstance(value, Fraction):
        share = value
    else:
        try:
            decimal = Decimal(str(value).strip())
            if not decimal.is_finite():
                raise InvalidOperation
            share = Fraction(decimal)
        except (InvalidOperation, ValueError):
            raise ValueError(f"{name} must be a decimal number such as 0.9, not {str(value)!r}") from None
    if not 0 < share <= 1:
        raise ValueError(f"{name} must lie in (0, 1], not {value}: write 0.9 for 90 %")
    return share


def as_classes(incomplete: Any, score: Any, *, higher_is_worse: bool = False) -> tuple[Bools, Floats]:
    """Check one label and one score a record, and turn scores so that lower means more incomplete.

    Parameters
    ----------
    incomplete : shape (n,), booleans or 0 and 1; 1 = incomplete, the positive class.
    score : shape (n,), finite or infinite; NaN is refused, since an unscored record must be counted by the caller.
    higher_is_worse : the scores are negated when true.

    Raises
    ------
    ValueError : shapes differ, a label is neither 0 nor 1, or a score is NaN.
    """
    label = np.asarray(incomplete)
    value = np.asarray(score, dtype=np.float64)
    if label.ndim != 1 or value.shape != label.shape:
        raise ValueError(f"labels and scores must be two arrays of one length, not {label.shape} and {value.shape}")
    if label.dtype != np.bool_:
        if label.size and not np.isin(label, (0, 1)).all():
            raise ValueError("labels must be 0 (complete) or 1 (incomplete)")
        label = label.astype(np.bool_)
    if np.isnan(value).any():
        raise ValueError("scores hold NaN: leave unscored records out, and count them")
    return label, (-value if higher_is_worse else value) + 0.0  # + 0.0 makes -0.0 print as 0.0


def as_codes(clusters: Any, n: int) -> Ints | None:
    """Whole-number codes of `clusters`, shape (n,); None stays None.

    Raises
    ------
    ValueError : another length than `n`.
    """
    if clusters is None:
        return None
    values = np.asarray(clusters)
    if values.dtype == object:
        values = values.astype(str)
    if values.shape != (n,):
        raise ValueError(f"clusters must have one entry a record: {values.shape} for {n} records")
    return np.unique(values, return_inverse=True)[1].astype(np.int64).reshape(n)
