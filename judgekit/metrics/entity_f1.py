"""Entity F1 (000, 3.2.1 and 3.2.2): do the reference's medical entities appear in the response?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from judgekit.metrics.base import Measurement, Metric
from judgekit.metrics.entities import MATCHES, Entity, entities_of, match_entities
from judgekit.metrics.gazetteer import PACKAGES
from judgekit.metrics.ner import recogniser
from judgekit.metrics.pairs import Memory, f1, missing_side
from judgekit.metrics.text import is_blank
from judgekit.records import Record

__all__ = ["METRIC", "EntityF1"]

_SEEN: Memory[list[Entity]] = Memory()


AMOUNTS: Final = ("auto", "yes", "no")


def found_in(texts: Sequence[str], ner: str, aware: bool, amounts: str) -> list[list[Entity]]:
    """`entities_of` with a memory over the process. `amounts` is an option of the metrics; ``auto``: with the gazetteer alone."""
    counted = amounts == "yes" or (amounts == "auto" and ner == "gazetteer")
    keys = [(ner, aware, counted, text) for text in texts]
    return _SEEN.get(keys, lambda new: entities_of([key[3] for key in new], ner, aware=aware, amounts=counted))  # type: ignore[index]


def both_sides(
    records: Sequence[Record], ner: str, aware: bool, amounts: str
) -> list[tuple[list[Entity], list[Entity]] | None]:
    """The entities of reference and response of each record; None where a side is missing."""
    usable = [record for record in records if missing_side(record) is None]
    texts = [side or "" for record in usable for side in (record.reference, record.response)]
    found = iter(found_in(texts, ner, aware, amounts))
    return [(next(found), next(found)) if missing_side(record) is None else None for record in records]


def scored(
    reference: list[Entity],
    response: list[Entity],
    pairs: list[tuple[int, int]],
    hits: tuple[int, int],
    empty: str,
    blank: bool,
) -> Measurement:
    """F1 of matched entities: `pairs` of indices, `hits` the matched ones of reference and response; see `EntityF1` for `empty`."""
    left, right = {i for i, _ in pairs}, {j for _, j in pairs}
    details: dict[str, Any] = {
        "n_reference": len(reference),
        "n_response": len(response),
        "matched": [[reference[i].shown(), response[j].shown()] for i, j in pairs],
        "missed": [entity.shown() for i, entity in enumerate(reference) if i not in left],
        "extra": [entity.shown() for j, entity in enumerate(response) if j not in right],
    }
    if blank:
        details["blank_response"] = True
    if not reference and empty == "none":
        return Measurement(None, "the reference has no entities", details)
    precision = hits[1] / len(response) if response else 0.0
    recall = hits[0] / len(reference) if reference else 0.0
    return Measurement(f1(precision, recall), None, {"precision": precision, "recall": recall, **details})


@dataclass(frozen=True)
class EntityF1(Metric):
    """F1 of the distinct entities of response against reference.

    Options
    -------
    ner : ``gazetteer``, ``scispacy:MODEL``, ``spacy:PATH``, ``gliner:MODEL``.
    match : ``substring`` (the paper's rule), ``words``, ``exact``, ``token`` (the paper's Table 1); see `entities.matches`.
    count : ``one`` matches one-to-one; ``many`` is the paper's loose counting, where one entity may match several.
    negation : ``aware`` keeps "fever" and "no fever" apart; ``ignore`` does not.
    empty : the value where the reference has no entities: ``none``, or ``zero`` as F1's formula gives.
    amounts : whether doses, frequencies and durations, found by rule, are entities too: ``yes``, ``no``, or ``auto`` (default): with the
        gazetteer, and not with another recogniser, whose columns in the papers have none.

    None where a side is missing, the reference is blank, or (``empty=none``) it has no entities. A blank response has found
    nothing: 0.
    """

    ner: str = "gazetteer"
    match: str = "substring"
    count: str = "one"
    negation: str = "ignore"
    empty: str = "none"
    amounts: str = "auto"

    name: ClassVar[str] = "entity_f1"
    summary: ClassVar[str] = "Medical entities of the reference that the response has, and the other way round (F1)."
    source: ClassVar[str] = "VB-Score, 3.2.2"
    needs: ClassVar[tuple[str, ...]] = PACKAGES
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        "match": MATCHES,
        "count": ("one", "many"),
        "negation": ("ignore", "aware"),
        "empty": ("none", "zero"),
        "amounts": AMOUNTS,
    }

    def versions(self) -> dict[str, str]:
        return {"ner": recogniser(self.ner).version}

    def measure(self, records: Sequence[Record]) -> list[Measurement]:
        sides = both_sides(records, self.ner, self.negation == "aware", self.amounts)
        return [
            missing_side(record) or self._one(record, *(side or ([], [])))
            for record, side in zip(records, sides, strict=True)
        ]

    def _one(self, record: Record, reference: list[Entity], response: list[Entity]) -> Measurement:
        pairs, *hits = match_entities(
            reference, response, match=self.match, count=self.count, aware=self.negation == "aware"
        )
        return scored(reference, response, pairs, (hits[0], hits[1]), self.empty, is_blank(record.response))


METRIC = EntityF1
