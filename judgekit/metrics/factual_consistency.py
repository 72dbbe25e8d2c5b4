"""Factual consistency (000, 3.2.1): one minus how strongly the response is contradicted by the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from judgekit.metrics.base import Measurement, Metric
from judgekit.metrics.nli import NEEDS, Nli, Verdict, load_nli, named
from judgekit.metrics.nli_rules import content_words
from judgekit.metrics.pairs import missing_side, wordless
from judgekit.metrics.text import fold, sentences
from judgekit.records import Record

__all__ = ["METRIC", "FactualConsistency", "windows"]

NEAREST: Final = 3  # windows of the reference that each response sentence is held against
MOST_WORDS: Final = 80  # a longer sentence is read in parts
MOST_SENTENCES: Final = 5000
ENTAILS: Final = 0.5  # the most likely of the three, whatever the others are


def windows(text: str) -> list[tuple[int, int]]:
    """Spans of sentences; one of more than 80 words in parts, so that a pair fits any checkpoint."""
    spans: list[tuple[int, int]] = []
    for start, end in sentences(text):
        here = start
        while True:
            rest = text[here:end]
            pieces = rest.split(None, MOST_WORDS)
            if len(pieces) <= MOST_WORDS:
                # Without spaces (or with very long words) length in characters is the limit.
                for at in range(here, end, 1000):
                    spans.append((at, min(end, at + 1000)))
                break
            cut = end - len(pieces[-1])
            spans.append((here, here + len(text[here:cut].rstrip())))
            here = cut
    return [(a, b) for a, b in spans if text[a:b].strip()]


@dataclass(frozen=True)
class FactualConsistency(Metric):
    """1 minus contradiction, in [0, 1].

    Options
    -------
    nli : an NLI checkpoint (name or folder; paper: FacebookAI/roberta-large-mnli), or ``rules``, a weak baseline. Without one the metric
        ends with an error that names one to fetch.
    level : ``sentence`` (default): the worst of the response's sentences, each against its three nearest sentences of the reference (by shared
        words); a sentence that one of these entails is not contradicted by another. `details` shows the pair. ``document``: the paper's single pair, reference as
        premise and response as hypothesis; flagged where the checkpoint cannot read it whole.
    direction : ``reference`` takes the reference as premise; ``both`` the larger contradiction of both directions.
    labels : for a checkpoint whose labels have no names, their order, as ``contradiction/neutral/entailment``; what a checkpoint names itself wins.
    neutral : what a verdict that is neither costs. ``free`` (default): the value is one minus the contradiction. ``costs``: the value is the
        entailment, so that neutral costs as much as contradiction, which is how 3.2.4 speaks of the paper's own.
    unrelated : a response no sentence of which shares a content word with the reference: ``none`` (default) has no value, since it is elsewhere;
        ``pair`` asks about the two texts whole, as the paper's formula does.

    A sentence that shares no content word with the reference cannot be contradicted by it; those are counted in `details`. None
    where a side is missing or has no words, or where no sentence of the response touches the reference.
    """

    nli: str = ""
    level: str = "sentence"
    direction: str = "reference"
    labels: str = ""
    neutral: str = "free"
    unrelated: str = "none"

    name: ClassVar[str] = "factual_consistency"
    summary: ClassVar[str] = "One minus the largest contradiction of the response by the reference (NLI)."
    source: ClassVar[str] = "VB-Score, 3.2.1"
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        "level": ("sentence", "document"),
        "direction": ("reference", "both"),
        "neutral": ("free", "costs"),
        "unrelated": ("none", "pair"),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "nli", named(self.nli))

    needs: ClassVar[tuple[str, ...]] = ("torch", "transformers")

    @classmethod
    def not_here(cls) -> str | None:
        return super().not_here() or f"an NLI checkpoint: {NEEDS}"

    def versions(self) -> dict[str, str]:
        return {"nli": load_nli(self.nli, self.labels).version}

    def measure(self, records: Sequence[Record]) -> list[Measurement]:
        nli = load_nli(self.nli, self.labels)
        reasons = [missing_side(record) or wordless(record) for record in records]
        plans = [None if reason else self._plan(record) for record, reason in zip(records, reasons, strict=True)]
        # All pairs of all records in one pass: the model sorts and batches them, and repeated pairs are read once.
        asked = [pair for plan in plans if plan for pair in plan["pairs"]]
        if self.direction == "both":
            asked += [(two, one) for one, two in asked]
        lengths = dict(zip(asked, nli.lengths(asked), strict=True)) if nli.limit is not None else {}
        verdicts = dict(zip(asked, nli.predict(asked), strict=True))
        return [
            reason or self._one(plan or {}, verdicts, lengths, nli) for reason, plan in zip(reasons, plans, strict=True)
        ]

    def _plan(self, record: Record) -> dict[str, Any]:
        reference, response = record.reference or "", record.response or ""
        if self.level == "document":
            return {"pairs": [(reference, response)], "sentences": 1, "unrelated": 0}
        left = [reference[a:b] for a, b in windows(reference)]
        right = [response[a:b] for a, b in windows(response)]
        distinct = list(dict.fromkeys(right))
        itself = {_bare(text): text for text in left}
        bags = [frozenset(content_words(text)) for text in dict.fromkeys(left)]
        left = list(dict.fromkeys(left))
        holders: dict[str, list[int]] = {}
        for at, bag in enumerate(bags):
            for word in bag:
                holders.setdefault(word, []).append(at)
        pairs, unrelated = [], 0
        for text in distinct[:MOST_SENTENCES]:
            weight: dict[int, float] = {}
            for word in set(content_words(text)):
                for at in holders.get(word, ()):
                    weight[at] = weight.get(at, 0.0) + 1 / len(holders[word])
            nearest = sorted(weight, key=lambda at: (-weight[at], at))[:NEAREST]
            against = [itself[_bare(text)]] if _bare(text) in itself else [left[at] for at in nearest]
            unrelated += not against
            pairs += [(premise, text) for premise in against]
        if not pairs and self.unrelated == "pair":
            pairs = [(reference, response)]
        return {"pairs": pairs, "sentences": len(distinct), "unrelated": unrelated}

    def _decided(
        self, ways: list[tuple[str, str]], verdicts: dict[tuple[str, str], Verdict]
    ) -> tuple[tuple[str, str], float]:
        """The pair that decides on one hypothesis, and its value: the one that entails it, else the one that contradicts it most."""
        best = max(ways, key=lambda way: verdicts[way].entailment)
        if verdicts[best].entailment < ENTAILS and self.neutral == "free":
            best = max(ways, key=lambda way: verdicts[way].contradiction)
        found = verdicts[best]
        return best, min(1.0, max(0.0, 1.0 - found.contradiction if self.neutral == "free" else found.entailment))

    def _one(
        self,
        plan: dict[str, Any],
        verdicts: dict[tuple[str, str], Verdict],
        lengths: dict[tuple[str, str], int],
        nli: Nli,
    ) -> Measurement:
        details: dict[str, Any] = {"sentences": plan["sentences"], "unrelated": plan["unrelated"]}
        if plan["sentences"] > MOST_SENTENCES:
            details["truncated"] = True
            details["sentences_read"] = MOST_SENTENCES
        if not plan["pairs"]:
            return Measurement(None, "no sentence of the response shares a content word with the reference", details)
        held: dict[str, list[tuple[str, str]]] = {}
        for pair in plan["pairs"]:
            for way in (pair, pair[::-1]) if self.direction == "both" else (pair,):
                held.setdefault(way[1], []).append(way)
        way, value = min(
            (self._decided(ways, verdicts) for ways in held.values()),
            key=lambda found: found[1],
        )
        details |= {"premise": _short(way[0]), "hypothesis": _short(way[1]), **verdicts[way].shown()}
        if lengths:
            tokens = max(lengths[pair] for pair in plan["pairs"])
            details["tokens"] = tokens
            if nli.limit is not None and tokens > nli.limit:
                details["truncated"] = True
                details["limit"] = nli.limit
        return Measurement(value, None, details)


def _bare(text: str) -> str:
    return " ".join(fold(text).casefold().split())


def _short(text: str) -> str:
    return text if len(text) <= 600 else text[:600] + "…"


METRIC = FactualConsistency
