"""The rule baseline of NLI: negation, amounts, opposites and quantity words, over shared words. No checkpoint, no network.

It reads words, not meaning, and says so: ``rules:baseline`` stands in every notation and signature that rests on it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from judgekit.metrics.negation import negated_word, polarity
from judgekit.metrics.quantities import quantities
from judgekit.metrics.text import ABBREVIATIONS, sentences, words

__all__ = ["VERSION", "content_words", "is_function_word", "judge_pair", "opposites", "stem"]

VERSION: Final = "baseline-rules-2"
ALIKE: Final = 0.5  # share of the hypothesis's content words that the premise must hold before the rules speak

FUNCTION_WORDS: Final = frozenset(
    [
        "a",
        "an",
        "the",
        "and",
        "or",
        "but",
        "if",
        "then",
        "else",
        "so",
        "than",
        "that",
        "this",
        "these",
        "those",
        "there",
        "here",
        "it",
        "its",
        "he",
        "she",
        "they",
        "them",
        "his",
        "her",
        "their",
        "you",
        "your",
        "we",
        "our",
        "i",
        "me",
        "my",
        "of",
        "in",
        "on",
        "at",
        "to",
        "for",
        "from",
        "by",
        "with",
        "about",
        "into",
        "over",
        "under",
        "after",
        "before",
        "during",
        "between",
        "through",
        "per",
        "as",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "am",
        "do",
        "does",
        "did",
        "done",
        "have",
        "has",
        "had",
        "having",
        "can",
        "could",
        "may",
        "might",
        "will",
        "would",
        "shall",
        "should",
        "must",
        "not",
        "no",
        "nor",
        "never",
        "without",
        "only",
        "also",
        "very",
        "more",
        "most",
        "less",
        "least",
        "any",
        "some",
        "all",
        "each",
        "every",
        "both",
        "either",
        "neither",
        "which",
        "who",
        "whom",
        "whose",
        "what",
        "when",
        "where",
        "why",
        "how",
        "such",
        "other",
        "another",
        "same",
        "own",
        "just",
        "too",
        "up",
        "out",
        "off",
        "again",
        "once",
        "etc",
        "eg",
        "ie",
        "via",
    ]
)

# Pairs that cannot both hold of one thing. Written for medical advice; both directions are meant.
_OPPOSITE: Final = """
    increase decrease; increases decreases; increased decreased; increasing decreasing; raise lower; raises lowers; high low; higher lower; more less;
    safe unsafe; safe dangerous; safe harmful; effective ineffective; recommended contraindicated; start stop; start discontinue; continue stop;
    continue discontinue; take avoid; use avoid; eat avoid; before after; with without; positive negative; present absent; always never; often rarely;
    common rare; common uncommon; frequent rare; benign malignant; acute chronic; hot cold; warm cold; allow forbid; allowed forbidden; allowed prohibited;
    possible impossible; necessary unnecessary; required optional; normal abnormal; improve worsen; improves worsens; better worse; gain loss; cause prevent;
    causes prevents; cure cause; live dead; first last; long short; early late; full empty; left right; upper lower; systolic diastolic; many few;
    viral bacterial; hypertension hypotension; hyperglycemia hypoglycemia; hyperkalemia hypokalemia; tachycardia bradycardia; constipation diarrhea;
    likely unlikely; can cannot; able unable; contagious noncontagious; curable incurable; reversible irreversible; male female; adults children;
    daily weekly; day night; morning evening; all none; increase reduce; increases reduces; increased reduced; raise reduce; raises reduces
"""
_PAIRS: Final = frozenset(
    frozenset(pair.split()) for pair in _OPPOSITE.replace("\n", " ").split(";") if len(pair.split()) == 2
)
# "Stop taking it" turns "take it" round as "do not take it" does.
_REFUSE: Final = frozenset(
    [
        "stop",
        "stops",
        "stopped",
        "stopping",
        "avoid",
        "avoids",
        "avoiding",
        "discontinue",
        "discontinuing",
        "refrain",
        "cease",
        "quit",
    ]
)
_ENDINGS: Final = ("ations", "ation", "ings", "ing", "ies", "ied", "edly", "ed", "es", "s", "ly")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A light stem, enough to join "headaches" and "headache", "treated" and "treats"."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def is_function_word(form: str) -> bool:
    """Whether a word form carries no content of its own; negated contractions carry none."""
    return form in FUNCTION_WORDS or negated_word(form) is not None


@lru_cache(maxsize=8192)
def content_words(text: str) -> tuple[str, ...]:
    """Stems of the words that carry content, abbreviations written out, in order."""
    found: list[str] = []
    for word in words(text):
        for part in ABBREVIATIONS.get(word, word).split():
            if not is_function_word(part) and (len(part) > 1 or part.isdigit()):
                found.append(stem(part))
    return tuple(found)


def opposites(one: str, two: str) -> list[tuple[str, str]]:
    """Opposite words, one on each side, where the side that holds the one does not hold the other too."""
    left, right = set(words(one)), set(words(two))
    hits = []
    for pair in _PAIRS:
        for a, b in (tuple(pair), tuple(pair)[::-1]):
            if a in left and b in right and b not in left and a not in right:
                hits.append((a, b))
    return sorted(hits)


def _amounts(text: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for item in quantities(text):
        key = f"{item.kind}:{item.norm.split(' ', 1)[1].partition('/')[0]}" if item.kind != "frequency" else "frequency"
        found.setdefault(key, set()).add(item.norm)
    return found


def judge_pair(premise: str, hypothesis: str) -> tuple[float, float, float, str]:
    """(entailment, neutral, contradiction, rule) of a pair.

    Sentence by sentence: each sentence of the hypothesis is held against the premise's sentence that shares most with it (rare words
    weigh more); entailment is the least over them, contradiction the largest. For two sentences: too few shared
    words is neutral; else the first rule that speaks: an odd difference of negations, amounts of one kind and unit without a common
    one, opposite words, each with contradiction .9. Else entailment grows with the share of the hypothesis's content words
    that the premise holds, up to .98 when it holds them all.
    """
    left = [premise[a:b] for a, b in sentences(premise)] or [premise]
    right = [hypothesis[a:b] for a, b in sentences(hypothesis)] or [hypothesis]
    if len(left) == len(right) == 1:
        return _judge(left[0], right[0])
    holders: dict[str, list[int]] = {}
    for at, text in enumerate(left):
        for word in set(content_words(text)):
            holders.setdefault(word, []).append(at)
    least, most, why = 1.0, 0.0, "nothing to compare"
    for text in dict.fromkeys(right):
        weight: dict[int, float] = {}
        for word in set(content_words(text)):
            for at in holders.get(word, ()):
                weight[at] = weight.get(at, 0.0) + 1 / len(holders[word])
        nearest = min(weight, key=lambda at: (text != left[at], -weight[at], at), default=None)  # itself first
        entailment, _, contradiction, rule = (
            (0.0, 1.0, 0.0, "few shared words") if nearest is None else _judge(left[nearest], text)
        )
        least = min(least, entailment)
        if contradiction >= most:
            most, why = contradiction, rule
    least = min(least, 1 - most)
    return least, 1 - least - most, most, why


def _judge(premise: str, hypothesis: str) -> tuple[float, float, float, str]:
    wanted = content_words(hypothesis)
    if not wanted:
        return 0.0, 1.0, 0.0, "nothing to compare"
    have = set(content_words(premise))
    share = sum(word in have for word in wanted) / len(wanted)
    both = set(wanted) & have
    reach = share if not have else max(share, len(both) / len(have))
    if reach < ALIKE or not both:
        return 0.1 * share, 1 - 0.1 * share - 0.02, 0.02, "few shared words"
    if polarity(premise, _REFUSE) != polarity(hypothesis, _REFUSE):
        return 0.03, 0.07, 0.9, "negation"
    one, two = _amounts(premise), _amounts(hypothesis)
    for key in sorted(one.keys() & two.keys()):
        if not one[key] & two[key]:
            return 0.03, 0.07, 0.9, f"amounts: {', '.join(sorted(one[key]))} against {', '.join(sorted(two[key]))}"
    against = opposites(premise, hypothesis)
    if against:
        return 0.03, 0.07, 0.9, f"opposites: {against[0][0]} against {against[0][1]}"
    entailment = 0.98 * share if share >= 0.8 else 0.6 * share
    return entailment, 0.99 - entailment, 0.01, "shared words"
