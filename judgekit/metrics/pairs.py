"""What every metric of response against reference does alike: blank sides, F1, and a memory for repeated texts."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

from judgekit.metrics.base import Measurement
from judgekit.metrics.text import is_blank, words
from judgekit.records import Record

__all__ = ["Memory", "f1", "missing_side", "wordless"]

T = TypeVar("T")


def missing_side(record: Record) -> Measurement | None:
    """A Measurement without value where the record has no response, or no or a blank reference; else None.

    A *blank* response is left to the metric: it said nothing, which some metrics can score and others cannot.
    """
    if record.response is None:
        return Measurement(None, "the record has no response")
    if record.reference is None:
        return Measurement(None, "the record has no reference")
    if is_blank(record.reference):
        return Measurement(None, "the reference is blank")
    return None


def wordless(record: Record) -> Measurement | None:
    """A Measurement without value where the response is blank, or a side has no words (emoji or marks alone); else None."""
    if is_blank(record.response):
        return Measurement(None, "the response is blank")
    for side, text in (("reference", record.reference), ("response", record.response)):
        if not words(text or ""):
            return Measurement(None, f"the {side} has no words")
    return None


def f1(precision: float, recall: float) -> float:
    """The harmonic mean; 0 where both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


class Memory(Generic[T]):
    """Results by text, the least recently used dropped past `size`: a reference that many records share is read once."""

    def __init__(self, size: int = 4096) -> None:
        self._size = size
        self._kept: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, texts: Sequence[Hashable], compute: Callable[[list[Hashable]], Sequence[T]]) -> list[T]:
        """The result of each text, in order; `compute` sees each unknown text once."""
        wanted = {text: self._kept[text] for text in set(texts) if text in self._kept}
        new = [text for text in dict.fromkeys(texts) if text not in wanted]
        if new:
            wanted.update(zip(new, compute(new), strict=True))
        for text in dict.fromkeys(texts):
            self._kept[text] = wanted[text]
            self._kept.move_to_end(text)
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)
        return [wanted[text] for text in texts]
