"""BERTScore (Zhang et al. 2020), by the `bert-score` package; optional, for comparison tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import ClassVar

from judgekit.errors import MissingDependency
from judgekit.metrics.base import Measurement, Metric
from judgekit.metrics.pairs import missing_side, wordless
from judgekit.metrics.text import encodable
from judgekit.records import Record

__all__ = ["METRIC", "BertScore"]


@dataclass(frozen=True)
class BertScore(Metric):
    """F of greedily aligned token embeddings.

    Options
    -------
    model : a transformers model, by name or folder.
    layer : which layer's vectors, 0 for the package's own choice (it knows the common names only).

    None where a side is missing or has no words. The package cuts a text at the model's window: `details` counts words, not tokens.
    """

    model: str = "roberta-large"
    layer: int = 0

    name: ClassVar[str] = "bert_score"
    summary: ClassVar[str] = "Aligned token embeddings (F), for comparison; needs bert-score and a model."
    source: ClassVar[str] = "Zhang et al. 2020"

    needs: ClassVar[tuple[str, ...]] = ("torch", "bert_score")
    install: ClassVar[str] = "pip install bert-score"

    def versions(self) -> dict[str, str]:
        if find_spec("bert_score") is None:
            raise MissingDependency(
                "bert_score needs the package bert-score",
                mend="pip install bert-score, or --metric semantic_similarity",
            )
        from importlib.metadata import version

        return {"bert-score": version("bert-score")}

    def measure(self, records: Sequence[Record]) -> list[Measurement]:
        self.versions()
        from judgekit.metrics.models import device, quiet

        quiet()

        reasons = [missing_side(record) or wordless(record) for record in records]
        usable = [record for record, reason in zip(records, reasons, strict=True) if reason is None]
        values: list[float] = []
        if usable:
            from bert_score import BERTScorer

            try:
                scorer = BERTScorer(model_type=self.model, num_layers=self.layer or None, device=device())
            except (OSError, ValueError, KeyError) as error:
                raise MissingDependency(
                    f"bert_score cannot load {self.model} ({type(error).__name__})",
                    mend="bert_score(model=FOLDER,layer=N) with a downloaded model; N is needed where the package does not know the name",
                ) from None
            _, _, found = scorer.score(
                [encodable(record.response or "") for record in usable],
                [encodable(record.reference or "") for record in usable],
            )
            values = [float(value) for value in found]
        left = iter(values)
        return [reason or Measurement(next(left)) for reason in reasons]


METRIC = BertScore
