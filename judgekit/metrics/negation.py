"""Is a term denied? NegEx's idea (Chapman et al. 2001): a trigger word with a short reach that a clause's end cuts."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from functools import lru_cache
from itertools import product
from typing import Final

from judgekit.metrics.text import folded, span_in, tokens

__all__ = ["NEGATORS", "is_negated", "negated_spans", "negated_word", "polarity"]

REACH: Final = 6  # words after a trigger

# Words that turn a statement round. Multi-word triggers are looked up by their words; a negated contraction is read as its verb and "not".
BEFORE: Final = (
    "no", "not", "never", "without", "denies", "denied", "deny", "denying", "neither", "nor", "none of", "negative for", "absence of", "lack of",
    "lacks", "lacking", "free of", "rule out", "rules out", "ruled out", "excludes", "rather than", "instead of", "stop", "avoid",
    "contraindicated in", "unable to", "fails to", "failed to", "no evidence of",
)  # fmt: skip
_SAID: Final = ("ruled out", "absent", "unlikely", "negative", "denied", "excluded", "contraindicated", "to be avoided", "not present", "not seen", "not found", "not noted", "not observed", "not reported", "not detected", "not evident", "not recommended", "not advised", "not indicated")  # fmt: skip
_ADVISED: Final = (
    "be avoided",
    "be stopped",
    "not be used",
    "not be taken",
    "not be given",
    "not be started",
    "not be prescribed",
)
AFTER: Final = (
    *(" ".join(pair) for pair in product(("is", "are", "was", "were", "been"), _SAID)),
    *(" ".join(pair) for pair in product(("should", "must", "can", "may"), _ADVISED)),
)
# They look like triggers and deny nothing.
PSEUDO: Final = (
    "not only", "no doubt", "not necessarily", "not just", "no longer than", "no more than", "no less than", "no later than", "not more than",
    "not less than",
)  # fmt: skip
# "No change in fever" denies the change, not the fever. The statement is negative all the same, so `polarity` counts it.
_MOVES: Final = frozenset(
    [
        "change",
        "changes",
        "increase",
        "increases",
        "decrease",
        "decreases",
        "reduction",
        "rise",
        "fall",
        "drop",
        "improvement",
        "worsening",
        "progression",
        "difference",
        "relief",
        "resolution",
        "reduce",
        "improve",
        "relieve",
        "worsen",
        "resolve",
        "affect",
    ]
)
_HOW: Final = frozenset(
    [
        "significant",
        "further",
        "interval",
        "definite",
        "suspicious",
        "major",
        "marked",
        "clear",
        "real",
        "relevant",
        "notable",
        "such",
        "clinically",
        "clinical",
        "apparent",
        "obvious",
        "substantial",
        "appreciable",
        "meaningful",
        "dramatic",
        "any",
        "recent",
    ]
)
_STOP_WORDS: Final = frozenset(
    ["but", "however", "although", "though", "except", "unless", "which", "because", "yet", "nevertheless", "still"]
)
_STOP_MARKS: Final = re.compile(r"[.;:!?\n()]")
# "Fever: no", "Fever? None.", "fever (-)": a field and its value. The value is the whole of what stands there.
_FIELD: Final = re.compile(
    r"(?:[:=?]|\s--?(?=\s)|\()[ \t]*(?:no|none|nil|absent|negative|neg|denied|denies|never|false|excluded|ruled out"
    r"|not (?:present|seen|found|noted|observed|reported|detected|evident)|-)(?=[ \t]*(?:[.,;!?)\n]|$|(?:but|and|however)\b))",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(r"[.;!?\n()]")

_CONTRACTED: Final = {"can't": "can", "won't": "will", "shan't": "shall", "ain't": "is", "cannot": "can", "cant": "can"}
_BARE: Final = frozenset(
    "don't doesn't didn't isn't aren't wasn't weren't haven't hasn't hadn't shouldn't couldn't wouldn't mustn't needn't mightn't".replace(
        "'", ""
    ).split()
)

NEGATORS: Final = frozenset(trigger for trigger in BEFORE if " " not in trigger and trigger not in {"stop", "avoid"})


def negated_word(form: str) -> str | None:
    """The verb of a negated contraction ("have" of "haven't" and "havent", "can" of "cannot"); None for any other word."""
    if form in _CONTRACTED:
        return _CONTRACTED[form]
    if form.endswith("n't") and len(form) > 4:
        return form[:-3]
    return form[:-2] if form in _BARE else None


def _words(text: str) -> list[tuple[str, int, int]]:
    """(form, start, end) of each word; a negated contraction counts as two at one place: "haven't" is have, not."""
    found: list[tuple[str, int, int]] = []
    for token in tokens(text):
        verb = negated_word(token.form)
        found += [(form, token.start, token.end) for form in ((token.form,) if verb is None else (verb, "not"))]
    return found


def _table(triggers: Iterable[str]) -> dict[str, list[list[str]]]:
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


def _moves(forms: list[str], at: int) -> int:
    """How many words from `at` say that something does not move: "no significant change in", "not reduce"; else 0."""
    if forms[at] not in {"no", "not", "without"}:
        return 0
    end = at + 1
    while end < len(forms) and forms[end] in _HOW:
        end += 1
    return end + 1 - at if end < len(forms) and forms[end] in _MOVES else 0


def negated_spans(text: str) -> list[tuple[int, int]]:
    """Character spans of `text` that stand under a negation. A comma does not end a reach, a clause word does."""
    plain, places = folded(text)
    return [span_in(places, start, end) for start, end in _spans(plain)]


@lru_cache(maxsize=4096)
def _spans(text: str) -> tuple[tuple[int, int], ...]:
    found = _words(text)
    forms = [form for form, _, _ in found]

    def stops(at: int) -> bool:
        """Whether a clause ends between a word and the one before it."""
        return forms[at] in _STOP_WORDS or bool(_STOP_MARKS.search(text, found[at - 1][2], found[at][1]))

    spans, values = _fields(text)
    at = 0
    while at < len(forms):
        passed = _at(_PSEUDO, forms, at) or _moves(forms, at) or (1 if found[at][1] in values else 0)
        if passed:
            at += passed
            continue
        size = _at(_AFTER, forms, at)
        if size and at:
            first = at
            while (
                first > 0 and at - first < REACH and not _STOP_MARKS.search(text, found[first - 1][2], found[first][1])
            ):
                if forms[first - 1] in _STOP_WORDS:
                    break
                first -= 1
            if first < at:
                spans.append((found[first][1], found[at][1]))
            at += size
            continue
        size = _at(_BEFORE, forms, at)
        if size:
            end = at + size
            while end < len(forms) and end - at - size < REACH and not stops(end):
                end += 1
            if end > at + size:
                spans.append((found[at + size][1], found[end - 1][2]))
            at += size
            continue
        at += 1
    return tuple(sorted(spans))


def _fields(text: str) -> tuple[list[tuple[int, int]], set[int]]:
    """The names of fields whose value denies them ("Fever" of "Fever: no"), and where those values' words start."""
    spans: list[tuple[int, int]] = []
    values: set[int] = set()
    for match in _FIELD.finditer(text):
        end = match.start()
        start = max((mark.end() for mark in _CLAUSE.finditer(text, 0, end)), default=0)
        if match.group()[0] == "(":
            start = max(start, text.rfind(",", start, end) + 1)
        else:
            earlier = max(text.rfind(mark, start, end) for mark in ":=")
            if earlier >= 0:  # "Cough: yes, fever: no" and "Symptoms: fever: no"
                start = max(earlier, text.rfind(",", start, end)) + 1
        names = tokens(text[start:end])
        if names:
            spans.append((start + names[max(0, len(names) - REACH)].start, start + names[-1].end))
            values.update(match.start() + word.start for word in tokens(match.group()))
    return spans, values


def is_negated(span: tuple[int, int], spans: list[tuple[int, int]]) -> bool:
    """True where the term lies wholly under a negation; `spans` sorted by start, as `negated_spans` gives them."""
    at = bisect_left(spans, (span[0] + 1, 0))
    return any(start <= span[0] and span[1] <= end for start, end in spans[max(0, at - 8) : at])


def polarity(text: str, more: frozenset[str] = frozenset()) -> int:
    """+1, or -1 where an odd number of single-word negators (and of the words in `more`) stands in the text."""
    forms = [form for form, _, _ in _words(text)]
    count, at = 0, 0
    while at < len(forms):
        pseudo = _at(_PSEUDO, forms, at)
        if pseudo:
            at += pseudo
            continue
        count += forms[at] in NEGATORS or forms[at] in more
        at += 1
    return -1 if count % 2 else 1
