"""Entities of a text by any recogniser, their normal forms, and when two of them match (000, 3.2.2)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from judgekit.metrics.negation import is_negated, negated_spans
from judgekit.metrics.ner import recogniser
from judgekit.metrics.quantities import QUANTITY_KINDS, quantities
from judgekit.metrics.text import fold, folded, normalise, span_in

__all__ = ["MATCHES", "Entity", "entities_of", "match_entities", "matches", "maximum_matching"]

MATCHES: Final = ("substring", "words", "exact", "token")


@dataclass(frozen=True, slots=True)
class Entity:
    """A term as found (`text`, `start`, `end`), its kind, its normal form and concept ids.

    `negated` is False unless the text denies it. Two entities of a text with one normal form (and, under
    ``negation=aware``, one polarity) are one.
    """

    text: str
    norm: str
    kind: str
    start: int
    end: int
    concepts: tuple[str, ...] = ()
    negated: bool = False

    def shown(self) -> dict[str, Any]:
        return {
            "text": self.text, "norm": self.norm, "kind": self.kind, "start": self.start, "end": self.end,
            "concepts": list(self.concepts), "negated": self.negated,
        }  # fmt: skip


def entities_of(texts: Sequence[str], ner: str, *, aware: bool = False) -> list[list[Entity]]:
    """The distinct entities of each text, in order of first appearance.

    Parameters
    ----------
    texts : any texts; a blank one has no entities.
    ner : ``gazetteer``, ``spacy:PATH``, ``scispacy:MODEL`` or ``gliner:MODEL``; doses, frequencies and durations come from rules.
    aware : keep a denied and an affirmed mention apart.

    Raises MissingDependency where the recogniser's package, model or data is absent.
    """
    plain = [fold(text) for text in texts]
    return [
        [_as_written(entity, text) for entity in _distinct(read, spans, aware)]
        for text, read, spans in zip(texts, plain, recogniser(ner).find(plain), strict=True)
    ]


def _as_written(entity: Entity, text: str) -> Entity:
    start, end = span_in(folded(text)[1], entity.start, entity.end)
    return replace(entity, text=text[start:end], start=start, end=end)


def _distinct(text: str, spans: Iterable[tuple[int, int, str, tuple[str, ...]]], aware: bool) -> list[Entity]:
    amounts = quantities(text)
    denied = negated_spans(text)
    kept: dict[tuple[str, bool], Entity] = {}
    found: list[Entity] = [
        Entity(text[item.start : item.end], item.norm, item.kind, item.start, item.end) for item in amounts
    ]
    # "500 mg" is one dose: a recogniser that also marks "mg", or takes the dose along with a drug, adds nothing to it.
    starts = [item.start for item in amounts]
    for start, end, kind, concepts in spans:
        at = bisect_right(starts, start) - 1
        if at >= 0 and end <= amounts[at].end:
            continue
        norm = normalise(text[start:end])
        if norm:
            found.append(Entity(text[start:end], norm, kind, start, end, concepts))
    for entity in sorted(found, key=lambda item: (item.start, item.end)):
        negated = is_negated((entity.start, entity.end), denied)
        key = (f"{entity.kind}:{entity.norm}" if entity.kind in QUANTITY_KINDS else entity.norm, negated and aware)
        if key not in kept:
            kept[key] = Entity(
                entity.text, entity.norm, entity.kind, entity.start, entity.end, entity.concepts, negated
            )
    return list(kept.values())


def matches(one: Entity, two: Entity, match: str = "substring", *, aware: bool = False) -> bool:
    """Do two entities match? Symmetric.

    ``exact``: equal normal forms. ``substring`` (the paper's rule): equal, or one normal form contains the other. ``words``: the
    same, but only whole words. ``token``: a content word of one equals, or begins like, a content word of the other, which
    is what the paper's Table 1 does with "shortness of breath" and "difficulty breathing".

    Amounts match only when equal, whatever `match` says: "5 mg" is part of "75 mg" and another dose. One word inside
    another word is no match where the recogniser knows both as different things: epinephrine, norepinephrine.
    """
    if aware and one.negated != two.negated:
        return False
    if one.kind in QUANTITY_KINDS or two.kind in QUANTITY_KINDS:
        return one.kind == two.kind and one.norm == two.norm
    if one.norm == two.norm:
        return True
    if match == "exact":
        return False
    if match == "token":
        return any(_alike(a, b) for a in _content(one.norm) for b in _content(two.norm))
    short, long = sorted((one.norm, two.norm), key=len)
    if f" {short} " in f" {long} ":
        return True
    if match == "words" or short not in long:
        return False
    # Known as different things, a word inside another word is chance: "art" in "heart attack".
    return not (one.concepts and two.concepts and not set(one.concepts) & set(two.concepts))


_GENERIC: Final = frozenset(
    [
        "of",
        "and",
        "or",
        "the",
        "in",
        "on",
        "to",
        "with",
        "for",
        "by",
        "at",
        "from",
        "symptoms",
        "symptom",
        "disease",
        "diseases",
        "disorder",
        "syndrome",
        "medication",
        "medications",
        "drug",
        "drugs",
        "oral",
        "treatment",
        "therapy",
        "acute",
        "chronic",
        "severe",
        "mild",
        "high",
        "low",
        "type",
        "difficulty",
        "shortness",
    ]
)


def _content(norm: str) -> list[str]:
    return [word for word in norm.split() if len(word) > 2 and word not in _GENERIC]


def _alike(one: str, two: str) -> bool:
    short, long = sorted((one, two), key=len)
    return one == two or (len(short) >= 5 and long.startswith(short))


def maximum_matching(links: Sequence[Sequence[int]], right: int) -> list[int]:
    """A largest one-to-one matching of a bipartite graph; its size does not depend on any order.

    Parameters
    ----------
    links : for each left node, the right nodes it may be matched with, in [0, right).

    Returns the right node of each left node, or -1. Hopcroft-Karp, from scipy.
    """
    if not links or right == 0 or not any(links):
        return [-1] * len(links)
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    rows = np.repeat(np.arange(len(links)), [len(row) for row in links])
    columns = np.concatenate([np.asarray(row, dtype=int) for row in links if len(row)])
    graph = csr_array((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(len(links), right))
    return [int(node) for node in maximum_bipartite_matching(graph, perm_type="column")]


def match_entities(
    reference: Sequence[Entity], response: Sequence[Entity], *, match: str, count: str, aware: bool
) -> tuple[list[tuple[int, int]], int, int]:
    """Matched pairs (index into reference, index into response), matched reference entities, matched response entities.

    ``count=one``: one-to-one, as many pairs as possible. ``count=many``: each entity counts that matches any of the other side.
    """
    links = [
        [j for j, other in enumerate(response) if matches(entity, other, match, aware=aware)] for entity in reference
    ]
    if count == "many":
        pairs = [(i, j) for i, row in enumerate(links) for j in row]
        return pairs, len({i for i, _ in pairs}), len({j for _, j in pairs})
    chosen = maximum_matching(links, len(response))
    pairs = [(i, j) for i, j in enumerate(chosen) if j >= 0]
    return pairs, len(pairs), len(pairs)
