"""MedSynF1 (003, supplement 5): entities as synonym sets, lemmatised, matched one-to-one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from judgekit.metrics.base import Measurement, Metric
from judgekit.metrics.entities import Entity, maximum_matching
from judgekit.metrics.entity_f1 import AMOUNTS, both_sides, scored
from judgekit.metrics.gazetteer import PACKAGES
from judgekit.metrics.ner import recogniser
from judgekit.metrics.pairs import missing_side
from judgekit.metrics.quantities import QUANTITY_KINDS
from judgekit.metrics.synonyms import lemmatised, lemmatiser_version, synonym_sources
from judgekit.metrics.text import is_blank
from judgekit.records import Record

__all__ = ["METRIC", "MedSynF1", "ablation", "match_sets"]


def match_sets(reference: Sequence[frozenset[str]], response: Sequence[frozenset[str]], matching: str) -> list[int]:
    """The index in `response` that each set of `reference` is matched with, or -1.

    Two sets may match where they share a member. ``greedy`` walks the reference in order and takes the first response set that is
    still free, as the paper's formula reads; its count depends on the order. ``maximum`` finds as many pairs as there can
    be, and its count does not.
    """
    links = [[j for j, other in enumerate(response) if names & other] for names in reference]
    if matching == "maximum":
        return maximum_matching(links, len(response))
    used: set[int] = set()
    chosen = []
    for row in links:
        take = next((j for j in row if j not in used), -1)
        chosen.append(take)
        if take >= 0:
            used.add(take)
    return chosen


@dataclass(frozen=True)
class MedSynF1(Metric):
    """F1 of entities whose synonym sets meet.

    Options
    -------
    ner : as in ``entity_f1``.
    synonyms : sources joined by "+": ``concepts`` (ids of the recogniser), ``dict:FILE``, ``wordnet``, ``umls:MRCONSO.RRF``; or ``none``.
    lemmas : ``simplemma``, ``stanza`` or ``none``.
    matching : ``maximum`` (default) or ``greedy`` as printed.
    negation : ``aware`` lets a denied entity match only a denied one.
    empty : the value where the reference has no entities: ``none``, or ``zero`` as the formula gives.
    amounts : as in ``entity_f1``.

    Entities that share a normal form after lemmatisation are one. None as in ``entity_f1``; a blank response: 0.
    """

    ner: str = "gazetteer"
    synonyms: str = "concepts"
    lemmas: str = "simplemma"
    matching: str = "maximum"
    negation: str = "ignore"
    empty: str = "none"
    amounts: str = "auto"

    name: ClassVar[str] = "med_syn_f1"
    summary: ClassVar[str] = "Entities as sets of synonyms and lemmas, matched one-to-one (F1)."
    source: ClassVar[str] = "HIVMedQA, 2.3 and supplement 5"
    needs: ClassVar[tuple[str, ...]] = (*PACKAGES, "simplemma")
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        "lemmas": ("simplemma", "stanza", "none"),
        "matching": ("maximum", "greedy"),
        "negation": ("ignore", "aware"),
        "empty": ("none", "zero"),
        "amounts": AMOUNTS,
    }

    def versions(self) -> dict[str, str]:
        found = {"ner": recogniser(self.ner).version}
        for source in synonym_sources(self.synonyms):
            if source.version != "concepts":
                found[source.version.partition("-")[0]] = source.version
        if self.lemmas != "none":
            found["lemmas"] = lemmatiser_version(self.lemmas)
        return found

    def measure(self, records: Sequence[Record]) -> list[Measurement]:
        sides = both_sides(records, self.ner, self.negation == "aware", self.amounts)
        return [
            missing_side(record) or self._one(record, *(side or ([], [])))
            for record, side in zip(records, sides, strict=True)
        ]

    def names(self, entity: Entity) -> frozenset[str]:
        """All that an entity goes by: itself, its synonyms, their lemmas; under ``negation=aware`` marked when denied.

        An amount goes only by itself: no dictionary makes 5 mg another dose.
        """
        mark = "\x01not " if self.negation == "aware" and entity.negated else ""
        if entity.kind in QUANTITY_KINDS:
            return frozenset({f"{mark}\x02{entity.kind}:{entity.norm}"})
        own = [entity.norm, *(name for source in synonym_sources(self.synonyms) for name in source.of(entity))]
        return frozenset(
            mark + (name if name.startswith("\x00") else lemmatised(name, self.lemmas)) for name in own if name
        )

    def _distinct(self, entities: Sequence[Entity]) -> list[Entity]:
        kept: dict[tuple[str, bool], Entity] = {}
        for entity in entities:
            amount = entity.kind in QUANTITY_KINDS
            form = f"{entity.kind}:{entity.norm}" if amount else lemmatised(entity.norm, self.lemmas)
            kept.setdefault((form, entity.negated and self.negation == "aware"), entity)
        return list(kept.values())

    def _one(self, record: Record, reference: list[Entity], response: list[Entity]) -> Measurement:
        reference, response = self._distinct(reference), self._distinct(response)
        chosen = match_sets(
            [self.names(entity) for entity in reference], [self.names(entity) for entity in response], self.matching
        )
        pairs = [(i, j) for i, j in enumerate(chosen) if j >= 0]
        return scored(reference, response, pairs, (len(pairs), len(pairs)), self.empty, is_blank(record.response))


def ablation(metric: MedSynF1) -> dict[str, MedSynF1]:
    """The paper's four variants of one setting: plain, synonyms, lemmas, both (003, figure 5a)."""
    from dataclasses import replace

    return {
        "plain": replace(metric, synonyms="none", lemmas="none"),
        "synonyms": replace(metric, lemmas="none"),
        "lemmas": replace(metric, synonyms="none"),
        "both": metric,
    }


METRIC = MedSynF1
