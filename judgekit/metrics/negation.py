"""Is a term denied? NegEx's idea (Chapman et al. 2001): a trigger word with a short reach that a clause's end cuts."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Final

from judgekit.metrics.text import Token, tokens

__all__ = ["NEGATORS", "negated_spans", "polarity"]

REACH: Final = 6  # words after a trigger

# Words that turn a statement round. Multi-word triggers are looked up by their words.
BEFORE: Final = (
    "no", "not", "never", "without", "denies", "denied", "deny", "cannot", "can't", "don't", "doesn't", "isn't", "aren't", "wasn't",
    "weren't", "shouldn't", "won't", "didn't", "mustn't", "neither", "nor", "negative for", "absence of", "lack of", "free of", "rule out",
    "rules out", "ruled out", "rather than", "instead of", "stop", "avoid", "contraindicated in", "unable to", "fails to", "no evidence of",
)  # fmt: skip
AFTER: Final = ("is ruled out", "was ruled out", "is absent", "are absent", "is unlikely", "was negative", "is not present", "is contraindicated", "should be avoided", "is not recommended", "are not recommended")  # fmt: skip
# "not only", "no doubt": look like triggers and deny nothing.
PSEUDO: Final = ("not only", "no doubt", "not necessarily", "no change", "not just", "no longer than", "no more than", "no less than", "no later than", "not more than")  # fmt: skip
_STOP_WORDS: Final = {
    "but",
    "however",
    "although",
    "though",
    "except",
    "unless",
    "which",
    "because",
    "yet",
    "nevertheless",
    "still",
}
_STOP_MARKS: Final = re.compile(r"[.;:!?\n()]")

NEGATORS: Final = frozenset(trigger for trigger in BEFORE if " " not in trigger and trigger not in {"stop", "avoid"})


def _table(triggers: tuple[str, ...]) -> dict[str, list[list[str]]]:
    table: dict[str, list[list[str]]] = {}
    for trigger in triggers:
        parts = trigger.split()
        table.setdefault(parts[0], []).append(parts)
    return {first: sorted(rows, key=len, reverse=True) for first, rows in table.items()}


_BEFORE, _AFTER, _PSEUDO = _table(BEFORE), _table(AFTER), _table(PSEUDO)


def _at(table: dict[str, list[list[str]]], forms: list[str], at: int) -> int:
    for parts in table.get(forms[at], ()):
        if forms[at : at + len(parts)] == parts:
            return len(parts)
    return 0


def negated_spans(text: str, found: list[Token] | None = None) -> list[tuple[int, int]]:
    """Character spans of `text` that stand under a negation. A comma does not end a reach, a clause word does."""
    found = tokens(text) if found is None else found
    forms = [token.form.replace("’", "'") for token in found]
    spans: list[tuple[int, int]] = []
    at = 0
    while at < len(forms):
        pseudo = _at(_PSEUDO, forms, at)
        if pseudo:
            at += pseudo
            continue
        size = _at(_BEFORE, forms, at)
        if size:
            end, here = at + size, at + size
            while here < len(forms) and here - at - size < REACH:
                if forms[here] in _STOP_WORDS or _STOP_MARKS.search(text, found[here - 1].end, found[here].start):
                    break
                end = here + 1
                here += 1
            if end > at + size:
                spans.append((found[at + size].start, found[end - 1].end))
            at += size
            continue
        size = _at(_AFTER, forms, at)
        if size and at:
            first = at
            while first > 0 and at - first < REACH:
                if forms[first - 1] in _STOP_WORDS or _STOP_MARKS.search(
                    text, found[first - 1].end, found[first].start
                ):
                    break
                first -= 1
            spans.append((found[first].start, found[at].start))
        at += 1
    return spans


def is_negated(span: tuple[int, int], spans: list[tuple[int, int]]) -> bool:
    """True where the term lies wholly under a negation; `spans` sorted by start, as `negated_spans` gives them."""
    at = bisect_left(spans, (span[0] + 1, 0))
    return any(start <= span[0] and span[1] <= end for start, end in spans[max(0, at - 3) : at])


def polarity(text: str, more: frozenset[str] = frozenset()) -> int:
    """+1, or -1 where an odd number of single-word negators (and of the words in `more`) stands in the text."""
    forms = [token.form.replace("’", "'") for token in tokens(text)]
    count, at = 0, 0
    while at < len(forms):
        pseudo = _at(_PSEUDO, forms, at)
        if pseudo:
            at += pseudo
            continue
        count += forms[at] in NEGATORS or forms[at] in more
        at += 1
    return -1 if count % 2 else 1
