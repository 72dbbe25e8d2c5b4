"""How well a text supports a claim, word by word: each word of the claim against its nearest word of the text, by token vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from judgekit.metrics.factual_consistency import windows
from judgekit.metrics.models import MINILM, Encoder, encoder, on_device_change
from judgekit.metrics.nli_rules import content_words, is_function_word, stem
from judgekit.metrics.text import encodable, tokens

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Support", "readable", "support", "what_is_cut"]

LEAST_SIMILARITY: Final = (
    0.05  # a word without any counterpart counts this much, so that a geometric mean stays defined
)
FUNCTION_WEIGHT: Final = 0.05
QUESTION_FACTOR: Final = 0.3  # words that the question already holds say little about what the answer adds
MOST_SENTENCES: Final = 400
MUCH_UNREAD: Final = 0.2
# How criteria speak about answers; these words are no content of the claim.
_ABOUT: Final = frozenset(
    [
        "mention",
        "mentions",
        "mentioned",
        "mentioning",
        "state",
        "states",
        "stated",
        "stating",
        "say",
        "says",
        "includes",
        "include",
        "included",
        "including",
        "explain",
        "explains",
        "explaining",
        "response",
        "answer",
        "advises",
        "advise",
        "advising",
        "recommends",
        "recommend",
        "recommending",
        "notes",
        "note",
        "noting",
        "describes",
        "describe",
        "provides",
        "provide",
        "should",
        "clearly",
        "explicitly",
        "correctly",
        "identifies",
        "identify",
        "discusses",
        "discuss",
        "patient",
        "user",
    ]
)


@dataclass(frozen=True, slots=True)
class Support:
    """What a response holds of a claim.

    `alignment` in [0.05, 1] is the weighted geometric mean, over the claim's words, of the cosine to the nearest word of the response;
    `evidence` is the sentence that aligns best by itself, with `sentence` its weighted mean in [0, 1]; `weakest` are the claim's content
    words that found least.
    """

    alignment: float
    sentence: float
    evidence: str
    weakest: tuple[str, ...]


def _words(text: str, spans: list[tuple[int, int]], vectors: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Word forms and unit vectors: the mean over each word's pieces. Words past the model's window are left out."""
    import numpy as np

    forms, rows = [], []
    at = 0
    for token in tokens(encodable(text)):  # spans are places in what the model was given
        while at < len(spans) and spans[at][1] <= token.start:
            at += 1
        inside = at
        while inside < len(spans) and spans[inside][0] < token.end:
            inside += 1
        if inside > at:
            vector = vectors[at:inside].mean(axis=0)
            rows.append(vector / max(float(np.linalg.norm(vector)), 1e-9))
            forms.append(token.form)
    return forms, np.stack(rows) if rows else np.zeros((0, 1), np.float32)


@lru_cache(maxsize=65536)
def _weight(form: str) -> float:
    """How much a word tells: function words .05, else by its rank in the model's vocabulary, which is ordered by frequency.

    A word of several pieces is rare: 1.
    """
    if is_function_word(form) or form in _ABOUT:
        return FUNCTION_WEIGHT
    ids = encoder(MINILM).piece_ids(form)
    if len(ids) != 1:
        return 1.0
    rank = (math.log(max(ids[0], 1000)) - math.log(1000)) / (math.log(30000) - math.log(1000))
    return min(1.0, max(FUNCTION_WEIGHT, rank))


class _Texts:
    """Sentences of a few recent texts with their vectors: the criteria of one record share its response."""

    def __init__(self, reader: Encoder) -> None:
        self._reader = reader
        self._kept: dict[str, list[tuple[str, np.ndarray]]] = {}

    def sentences(self, text: str) -> list[tuple[str, np.ndarray]]:
        if text not in self._kept:
            if len(self._kept) >= 32:
                self._kept.pop(next(iter(self._kept)))
            pieces = [text[start:end] for start, end in windows(text)][:MOST_SENTENCES]
            self._kept[text] = [
                (piece, _words(piece, spans, vectors)[1])
                for piece, (spans, vectors) in zip(pieces, self._reader.token_vectors(pieces), strict=True)
            ]
        return self._kept[text]


@lru_cache(maxsize=1)
def _texts() -> _Texts:
    on_device_change(_texts.cache_clear)
    return _Texts(encoder(MINILM))


def what_is_cut(response: str, claim: str) -> list[str]:
    """Flags for what `support` does not read.

    ``response_cut`` past 400 sentences; ``criterion_cut`` past the model's window; ``criterion_unread`` where the model's vocabulary lacks a
    piece of the claim, ``response_unread`` where it lacks a fifth or more of the response's.
    """
    flags = ["response_cut"] if len(windows(response)) > MOST_SENTENCES else []
    reader = encoder(MINILM)
    (lost, _), (missing, pieces) = reader.unknown([claim, response])
    flags += ["criterion_cut"] if reader.lengths([claim])[0] > reader.limit else []
    flags += ["criterion_unread"] if lost else []
    return flags + (["response_unread"] if missing and missing >= MUCH_UNREAD * pieces else [])


def readable(text: str) -> bool:
    """Whether a text has a word that the model can read."""
    return any(len(vectors) for _, vectors in _texts().sentences(text))


def support(response: str, claims: Sequence[str], question: str = "") -> list[Support | None]:
    """How well `response` supports each claim; None for a response without words, or a claim without words of its own.

    Function words and words about answers ("mentions", "response") are none of a claim's own: any text holds them.

    Parameters
    ----------
    question : words of the claim that stand in it count less.

    A response of more than 400 sentences is read up to there.
    """
    import numpy as np

    found = [item for item in _texts().sentences(response) if len(item[1])]
    known = set(content_words(question))
    results: list[Support | None] = []
    read = encoder(MINILM).token_vectors(list(claims)) if claims else []
    for claim, (spans, vectors) in zip(claims, read, strict=True):
        forms, rows = _words(claim, spans, vectors)
        if not found or all(is_function_word(form) or form in _ABOUT for form in forms):
            results.append(None)
            continue
        base = np.array([_weight(form) for form in forms])
        weights = base * np.array([QUESTION_FACTOR if stem(form) in known else 1.0 for form in forms])
        if weights.sum() < 0.2:
            weights = base
        near = np.stack([(rows @ vectors.T).max(axis=1) for _, vectors in found])  # (sentences, claim words)
        best = np.clip(near.max(axis=0), LEAST_SIMILARITY, 1.0)
        each = (np.clip(near, 0, 1) * weights).sum(axis=1) / weights.sum()
        at = int(each.argmax())
        order = sorted(range(len(forms)), key=lambda i: (float(best[i]), i))
        weak = tuple(forms[i] for i in order if base[i] > 2 * FUNCTION_WEIGHT and best[i] < 0.6)[:3]
        alignment = float(np.exp((np.log(best) * weights).sum() / weights.sum()))
        results.append(Support(alignment, float(each[at]), found[at][0], weak))
    return results
