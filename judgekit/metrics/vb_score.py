"""VB-Score (000, 3.2.3 to 3.2.5): four components, weighted, with failure flags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, ClassVar, Final

from judgekit.errors import UsageError
from judgekit.metrics.base import Measurement, Metric
from judgekit.metrics.entity_f1 import EntityF1
from judgekit.metrics.factual_consistency import FactualConsistency
from judgekit.metrics.models import MINILM
from judgekit.metrics.nli import named
from judgekit.metrics.semantic_similarity import SemanticSimilarity
from judgekit.metrics.structured_overlap import StructuredOverlap
from judgekit.records import Record

__all__ = [
    "COMPONENTS",
    "METRIC",
    "SCHEMES",
    "THRESHOLDS",
    "VBScore",
    "by_formula",
    "composite",
    "failure_flags",
    "rankings",
    "shared",
]

COMPONENTS: Final = ("entity", "similarity", "consistency", "structure")
# 000, Table 2: entity, similarity, consistency, structure.
SCHEMES: Final[dict[str, tuple[float, float, float, float]]] = {
    "paper": (0.30, 0.30, 0.25, 0.15),
    "equal": (0.25, 0.25, 0.25, 0.25),
    "entity": (0.50, 0.20, 0.20, 0.10),
    "safety": (0.20, 0.20, 0.45, 0.15),
    "semantic": (0.20, 0.50, 0.20, 0.10),
}
# 000, 3.2.5: a value under its threshold is a failure.
THRESHOLDS: Final = {"entity": 0.10, "similarity": 0.30, "consistency": 0.50, "structure": 0.10, "vb_score": 0.20}


def composite(
    parts: Mapping[str, float | None], weights: tuple[float, ...] = SCHEMES["paper"], *, missing: str = "none"
) -> tuple[float | None, float, float]:
    """(value, lowest, highest) of the weighted sum; components are clipped to [0, 1], so a negative cosine counts as 0.

    With a component missing the bounds are what the sum would be at 0 and at 1 of it, and the value is None, or, under
    ``missing=renormalise``, the sum over what there is divided by its weights. None also where nothing is left.
    """
    clipped = {
        name: None if parts[name] is None else min(1.0, max(0.0, float(parts[name] or 0.0))) for name in COMPONENTS
    }
    have = fsum(weight * value for weight, value in zip(weights, clipped.values(), strict=True) if value is not None)
    known = fsum(weight for weight, value in zip(weights, clipped.values(), strict=True) if value is not None)
    lost = fsum(weight for weight, value in zip(weights, clipped.values(), strict=True) if value is None)
    if not any(value is None for value in clipped.values()):
        return have, have, have
    value = have / known if missing == "renormalise" and known > 0 else None
    return value, have, have + lost


def failure_flags(parts: Mapping[str, float | None], value: float | None) -> dict[str, bool | None]:
    """For each component and the composite: is it under its threshold (exclusive)? None where there is no value."""
    found: dict[str, bool | None] = {
        name: None if parts[name] is None else float(parts[name] or 0.0) < THRESHOLDS[name] for name in COMPONENTS
    }
    found["vb_score"] = None if value is None else value < THRESHOLDS["vb_score"]
    return found


def by_formula(found: Mapping[str, Measurement]) -> dict[str, str]:
    """The components that have no value because of the response, with the reason: they count 0.

    A blank response, one without words, or without a word that the model reads said nothing; a reference like that asked nothing.
    """
    if any(item.details.get("blank_response") for item in found.values()):
        return {
            name: "the response is blank"
            for name in COMPONENTS
            if not (found[name].reason or "").startswith("the reference")
        }
    return {name: item.reason for name, item in found.items() if item.reason and "the response" in item.reason}


def rankings(rows: Sequence[tuple[str, Mapping[str, float | None]]]) -> dict[str, list[tuple[str, float, int]]]:
    """For each weight scheme of Table 2, groups (models) by their mean composite, best first: (group, mean, n).

    Only complete rows count; a group without any is left out. Groups that were scored on different questions are no ranking: see `shared`.
    """
    result = {}
    for scheme, weights in SCHEMES.items():
        values: dict[str, list[float]] = {}
        for group, parts in rows:
            value, _, _ = composite(parts, weights)
            if value is not None:
                values.setdefault(group, []).append(value)
        table = [(group, sum(found) / len(found), len(found)) for group, found in values.items()]
        result[scheme] = sorted(table, key=lambda row: (-row[1], row[0]))
    return result


def shared(rows: Sequence[tuple[str, str, bool]]) -> tuple[set[str], bool]:
    """(questions that every group has a score for, whether that is all of them), from (group, question, has it a score?) a row."""
    scored: dict[str, set[str]] = {}
    for group, question, complete in rows:
        scored.setdefault(group, set()).update([question] if complete else [])
    if not scored:
        return set(), True
    common = set.intersection(*scored.values())
    return common, all(found == common for found in scored.values())


@dataclass(frozen=True)
class VBScore(Metric):
    """The composite, in [0, 1].

    Options
    -------
    weights : a scheme (``paper``, ``equal``, ``entity``, ``safety``, ``semantic``), or four numbers joined by "/", for entity, similarity,
        consistency and structure, that sum to 1.
    missing : ``none``: a component that is missing because of the reference makes the composite None, with bounds in `details`; ``renormalise``: the rest is
        reweighted, flagged, and not to be ranked beside complete ones.
    ner, match, count, negation, empty, amounts : as in ``entity_f1``. nli, level, labels, neutral : as in ``factual_consistency``. model, long : as in
        ``semantic_similarity``.

    A response that refuses, says nothing or something else scores by the formula: what it lacks counts 0, and a blank one scores 0 in all. Only
    where the reference gives nothing to compare with is there no value. `details` holds the components, the failure flags and the value under each scheme. Both sides without lists count 0 for structure,
    as in the paper.
    """

    weights: str = "paper"
    missing: str = "none"
    ner: str = "gazetteer"
    match: str = "substring"
    count: str = "one"
    negation: str = "ignore"
    empty: str = "none"
    amounts: str = "auto"
    model: str = MINILM
    long: str = "chunk"
    nli: str = ""
    level: str = "sentence"
    labels: str = ""
    neutral: str = "free"

    name: ClassVar[str] = "vb_score"
    summary: ClassVar[str] = (
        "Entities, similarity, consistency and structure in one weighted score, with failure flags."
    )
    source: ClassVar[str] = "VB-Score, 3.2.3 to 3.2.5"
    needs: ClassVar[tuple[str, ...]] = (*EntityF1.needs, *SemanticSimilarity.needs)
    choices: ClassVar[dict[str, tuple[str, ...]]] = {"missing": ("none", "renormalise")}

    @classmethod
    def not_here(cls) -> str | None:
        return super().not_here() or FactualConsistency.not_here()

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "nli", named(self.nli))
        self._weights()
        self._parts()

    def _weights(self) -> tuple[float, ...]:
        if self.weights in SCHEMES:
            return SCHEMES[self.weights]
        try:
            numbers = tuple(float(part) for part in self.weights.split("/"))
        except ValueError:
            numbers = ()
        if len(numbers) != 4 or not all(0 <= number <= 1 for number in numbers) or abs(sum(numbers) - 1) > 1e-9:
            raise UsageError(
                f"weights={self.weights} is no set of weights",
                field="weights",
                mend=f"one of {', '.join(SCHEMES)}, or four numbers that sum to 1, as 0.3/0.3/0.25/0.15",
            )
        return numbers

    def _parts(self) -> dict[str, Metric]:
        return {
            "entity": EntityF1(
                ner=self.ner,
                match=self.match,
                count=self.count,
                negation=self.negation,
                empty=self.empty,
                amounts=self.amounts,
            ),
            "similarity": SemanticSimilarity(model=self.model, long=self.long),
            "consistency": FactualConsistency(
                nli=self.nli, level=self.level, labels=self.labels, neutral=self.neutral, unrelated="pair"
            ),
            "structure": StructuredOverlap(),
        }

    def versions(self) -> dict[str, str]:
        return {key: version for part in self._parts().values() for key, version in part.versions().items()}

    def measure(self, records: Sequence[Record]) -> list[Measurement]:
        columns = {name: metric.measure(records) for name, metric in self._parts().items()}
        return [self._one({name: column[at] for name, column in columns.items()}) for at in range(len(records))]

    def _one(self, found: dict[str, Measurement]) -> Measurement:
        parts: dict[str, float | None] = {name: item.value for name, item in found.items()}
        if all(
            item.reason and item.reason.startswith(("the record has no", "the reference is blank"))
            for item in found.values()
        ):
            return found["structure"]
        nothing = by_formula(found)
        parts |= dict.fromkeys(nothing, 0.0)
        value, low, high = composite(parts, self._weights(), missing=self.missing)
        absent = [name for name, part in parts.items() if part is None]
        details: dict[str, Any] = {
            **parts,
            "failures": failure_flags(parts, value),
            "schemes": {scheme: composite(parts, weights)[0] for scheme, weights in SCHEMES.items()},
            "gap": None
            if parts["entity"] is None or parts["similarity"] is None
            else parts["similarity"] - parts["entity"],
            "bounds": [low, high],
            "parts": {name: _pick(item) for name, item in found.items()},
        }
        if nothing:
            details["counted_as_zero"] = nothing
        if absent:
            details["missing"] = {name: found[name].reason for name in absent}
            details["renormalised"] = value is not None
        if value is None:
            return Measurement(None, "; ".join(f"{name}: {found[name].reason}" for name in absent), details)
        return Measurement(value, None, details)


def _pick(item: Measurement) -> dict[str, Any]:
    """What is worth keeping of a component: numbers and flags, and the pair that contradicts; entities are `entity_f1`'s to show."""
    return {key: value for key, value in item.details.items() if isinstance(value, int | float | str | bool)}


METRIC = VBScore
