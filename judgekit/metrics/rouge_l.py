"""ROUGE-L (Lin 2004), by Google's `rouge-score` package."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from judgekit.errors import MissingDependency
from judgekit.metrics.base import Measurement, Metric
from judgekit.metrics.pairs import missing_side
from judgekit.metrics.text import fold, words
from judgekit.records import Record

__all__ = ["METRIC", "RougeL"]

_READ = re.compile("[a-z0-9]")
MOST_WORDS = 5000  # the longest common subsequence takes time in the product of both lengths


@dataclass(frozen=True)
class RougeL(Metric):
    """F-measure of the longest common subsequence of words.

    Options
    -------
    stemmer : Porter's stemmer first (``yes`` or ``no``).

    None where a side is missing, the reference has no words, or none in the letters a to z and digits (the package reads no others), or a side has more than 5,000 words (time and memory grow with the
    product of the lengths). A response without words: 0.
    """

    stemmer: bool = True

    name: ClassVar[str] = "rouge_l"
    summary: ClassVar[str] = "Longest common subsequence of words (F), for comparison."
    source: ClassVar[str] = "Lin 2004"

    needs: ClassVar[tuple[str, ...]] = ("rouge_score",)

    def versions(self) -> dict[str, str]:
        from importlib.metadata import PackageNotFoundError, version

        try:
            return {"rouge-score": version("rouge-score")}
        except PackageNotFoundError:
            raise MissingDependency(
                "rouge_l needs the package rouge-score",
                mend="pip install 'clinical-judgekit[metrics]', or --metric token_f1",
            ) from None

    def measure(self, records: Sequence[Record]) -> list[Measurement]:
        self.versions()
        from rouge_score.rouge_scorer import RougeScorer

        scorer = RougeScorer(["rougeL"], use_stemmer=self.stemmer)
        results = []
        for record in records:
            missing = missing_side(record)
            if missing is None:
                lengths = [len(words(text or "")) for text in (record.reference, record.response)]
                if not lengths[0]:
                    missing = Measurement(None, "the reference has no words")
                elif not _READ.search(fold(record.reference or "").lower()):
                    missing = Measurement(
                        None, "the reference has no word in the letters a to z, and ROUGE-L reads no others"
                    )
                elif max(lengths) > MOST_WORDS:
                    missing = Measurement(None, f"a side has {max(lengths)} words, and ROUGE-L stops at {MOST_WORDS}")
            if missing is not None:
                results.append(missing)
                continue
            score = scorer.score(fold(record.reference or ""), fold(record.response or ""))["rougeL"]
            results.append(
                Measurement(
                    float(score.fmeasure), None, {"precision": float(score.precision), "recall": float(score.recall)}
                )
            )
        return results


METRIC = RougeL
