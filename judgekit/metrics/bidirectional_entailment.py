"""Bidirectional entailment with K-of-M consensus (001, 3.2): does the response mean the same as the reference?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from judgekit.errors import UsageError
from judgekit.metrics.base import Measurement, Metric
from judgekit.metrics.nli import NEEDS, Nli, consensus, load_nlis, named, vacuous
from judgekit.metrics.pairs import missing_side
from judgekit.metrics.text import is_blank
from judgekit.records import Record

__all__ = ["METRIC", "BidirectionalEntailment"]


@dataclass(frozen=True)
class BidirectionalEntailment(Metric):
    """1 where at least `k` models find entailment both ways, 0 where they do not.

    Options
    -------
    nli : checkpoints joined by "+", or ``rules``, a weak baseline. Without one the metric ends with an error that names one to fetch.
    k : how many of them must agree; 0 is a majority (2 of 3, 1 of 1).
    entail : least entailment probability, inclusive, in both directions (001: 0.85).
    contradict : contradiction must stay under it (001 names no value; at 0.15 and more it excludes nothing that `entail` lets through,
        which `details` then says).
    labels : as in ``factual_consistency``; one for all checkpoints, or one each, joined by "+".

    None where a side is missing or blank, or where a checkpoint that cannot read the pair could turn the result: the number of
    models stays what it was.
    """

    nli: str = ""
    k: int = 0
    entail: float = 0.85
    contradict: float = 0.15
    labels: str = ""

    name: ClassVar[str] = "bidirectional_entailment"
    summary: ClassVar[str] = "Do response and reference entail each other, by at least K of M models?"
    source: ClassVar[str] = "Semantic stability, 3.2"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "nli", named(self.nli))
        if self.models and not 0 <= self.k <= len(self.models):
            raise UsageError(
                f"k={self.k} with {len(self.models)} models",
                field="k",
                mend=f"1 to {len(self.models)}, or 0 for a majority",
            )
        for option in ("entail", "contradict"):
            if not 0 <= getattr(self, option) <= 1:
                raise UsageError(
                    f"{option}={getattr(self, option):g} is no probability", field=option, mend="a number from 0 to 1"
                )

    @property
    def models(self) -> list[str]:
        return [part for part in self.nli.split("+") if part]

    @property
    def needed(self) -> int:
        return self.k or len(self.models) // 2 + 1

    needs: ClassVar[tuple[str, ...]] = ("torch", "transformers")

    @classmethod
    def not_here(cls) -> str | None:
        return super().not_here() or f"an NLI checkpoint: {NEEDS}"

    def versions(self) -> dict[str, str]:
        return {"nli": "+".join(model.version for model in self._loaded())}

    def _loaded(self) -> list[Nli]:
        return load_nlis(self.models or [""], self.labels)

    def measure(self, records: Sequence[Record]) -> list[Measurement]:
        reasons = [
            missing_side(record) or (Measurement(None, "the response is blank") if is_blank(record.response) else None)
            for record in records
        ]
        pairs = [
            (record.reference or "", record.response or "")
            for record, reason in zip(records, reasons, strict=True)
            if reason is None
        ]
        loaded = self._loaded()
        found = iter(consensus(pairs, loaded, k=self.needed, entail=self.entail, contradict=self.contradict))
        results = []
        for reason in reasons:
            if reason is not None:
                results.append(reason)
                continue
            row = next(found)
            details: dict[str, Any] = {
                "needed": self.needed,
                "models": [
                    {
                        "model": name,
                        "holds": vote,
                        "reason": why,
                        "forward": there and there.shown(),
                        "backward": back and back.shown(),
                    }
                    for name, vote, why, there, back in zip(
                        self.models, row.votes, row.reasons, row.forward, row.backward, strict=True
                    )
                ],
            }
            warning = vacuous(self.entail, self.contradict)
            if warning:
                details["warning"] = warning
            if row.holds is None:
                why = next(item for item in row.reasons if item)
                results.append(Measurement(None, f"too few models could read the pair: {why}", details))
            else:
                results.append(Measurement(float(row.holds), None, details))
        return results


METRIC = BidirectionalEntailment
