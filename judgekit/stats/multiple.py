"""Bonferroni and Holm over everything that was looked at, not only over what is shown."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["bonferroni", "holm"]


def _family(p: Sequence[float | None], family: int | None) -> int:
    for value in p:
        if value is not None and not 0 <= value <= 1:
            raise ValueError(f"a p value lies in [0, 1], not {value}")
    size = len(p) if family is None else family
    if size < len(p):
        raise ValueError(f"the family holds {len(p)} comparisons at least, not {size}")
    return size


def bonferroni(p: Sequence[float | None], family: int | None = None) -> list[float | None]:
    """Each p times the size of the family, at most 1.

    `p` may hold None for a degenerate test: it stays None and still counts, since it was looked at. `family` is the number of
    comparisons looked at, by default ``len(p)``; ValueError when smaller.
    """
    size = _family(p, family)
    return [None if value is None else min(1.0, value * size) for value in p]


def holm(p: Sequence[float | None], family: int | None = None) -> list[float | None]:
    """Holm's step-down adjustment; never larger than `bonferroni` and as safe. None and `family` as there.

    Source: Holm 1979. Comparisons of the family that are not in `p` are taken to have smaller p values, the careful side.
    """
    size = _family(p, family)
    known = sorted((value, index) for index, value in enumerate(p) if value is not None)
    out: list[float | None] = [None] * len(p)
    top, missing = 0.0, size - len(p)
    for rank, (value, index) in enumerate(known):
        # With comparisons elsewhere whose p values are not known here, only the full family is safe.
        factor = size if missing else size - rank
        top = max(top, min(1.0, value * factor))
        out[index] = top
    return out
