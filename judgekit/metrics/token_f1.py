"""Token F1, as in SQuAD: words that both sides share, counted with their repetitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from judgekit.metrics.base import Measurement, Metric
from judgekit.metrics.pairs import f1, missing_side
from judgekit.metrics.text import words
from judgekit.records import Record

__all__ = ["METRIC", "TokenF1"]


@dataclass(frozen=True)
class TokenF1(Metric):
    """F1 of the bags of words (articles left out) of response and reference.

    None where a side is missing, or the reference has no words. A response without words: 0.
    """

    name: ClassVar[str] = "token_f1"
    summary: ClassVar[str] = "Shared words (F1), for comparison."
    source: ClassVar[str] = "Rajpurkar et al. 2016, 6.1"

    def measure(self, records: Sequence[Record]) -> list[Measurement]:
        return [missing_side(record) or self._one(record) for record in records]

    def _one(self, record: Record) -> Measurement:
        one, two = (
            Counter(word for word in words(text or "") if word not in {"a", "an", "the"})
            for text in (record.reference, record.response)
        )
        if not one:
            return Measurement(None, "the reference has no words")
        shared = sum((one & two).values())
        precision, recall = shared / max(1, two.total()), shared / one.total()
        return Measurement(f1(precision, recall), None, {"precision": precision, "recall": recall, "shared": shared})


METRIC = TokenF1
