"""Structured overlap (000, 3.2.1): the items of bullets, numbered lists and enumerations, compared by Jaccard."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from judgekit.metrics.base import Measurement, Metric
from judgekit.metrics.pairs import missing_side
from judgekit.metrics.text import fold, is_blank, normalise, sentences, words
from judgekit.records import Record

__all__ = ["METRIC", "StructuredOverlap", "list_items"]

_LINE: Final = re.compile(r"^[ \t]*(?:[-*+•‣▪◦·]|\(?\d{1,2}[.)]|\(?[a-z][.)])[ \t]+(\S.*)$", re.MULTILINE)
# "1) rest 2) fluids 3) aspirin" on one line: a number counts as a marker only in a rising sequence from 1.
_INLINE: Final = re.compile(r"(?:(?<=\s)|^)\(?(\d{1,2})[.)]\s+(?=[^\W\d_])")
# A comma or semicolon parts; between digits it does not ("1,000 mg"), nor before a year ("May 3, 2024").
_PART: Final = re.compile(r"(?<!\d),(?=\s)|(?<=\d),(?=\s+(?!\d{4}\b))|;(?=\s|$)")
_ITEM_END: Final = re.compile(r"\n|\. ")
_CONJUNCTION: Final = re.compile(r"^(?:and/or|and|or|as well as|plus)\s+", re.IGNORECASE)
_LAST: Final = re.compile(r"(?<!\s)\s+(?:and/or|and|or|as well as)\s+", re.IGNORECASE)
# What stands before the first item: up to the last of these words. "of" only where it opens a list: "shortness of breath" is an item.
_LEAD: Final = re.compile(
    r"^.*(?::|\b(?:includ(?:e|es|ed|ing)|such as|namely|like|e\.g\.|are|is|causes?|caused by|experience|with|for|have|has|takes?|avoid|for example"
    r"|(?:signs?|symptoms?|history|types?|consists?|forms?|examples?|risk) of)\b)\s+",
    re.IGNORECASE | re.DOTALL,
)
_OPENING: Final = frozenset(
    [
        "however",
        "therefore",
        "moreover",
        "furthermore",
        "additionally",
        "also",
        "finally",
        "generally",
        "overall",
        "typically",
        "usually",
        "first",
        "then",
    ]
)
_CLAUSE: Final = _OPENING | frozenset(
    [
        "if",
        "when",
        "while",
        "which",
        "who",
        "whose",
        "that",
        "where",
        "because",
        "since",
        "as",
        "on",
        "in",
        "of",
        "at",
        "by",
        "for",
        "from",
        "to",
        "with",
        "it",
        "this",
        "these",
        "they",
        "you",
        "he",
        "she",
        "we",
        "i",
        "see",
        "is",
        "are",
        "was",
        "may",
        "can",
        "should",
        "will",
        "would",
        "could",
        "must",
        "not",
    ]
)
_MOST_WORDS: Final = 6  # an enumerated item longer than this is a clause, not an item
_BOLD_HEAD: Final = re.compile(r"^\**([^:*\n]{2,60}?)\**\s*:\**\s+\S")


def _clean(item: str) -> str:
    """The normal form of an item: markdown marks go, "**Fever**: over 38" is the item "fever"."""
    head = _BOLD_HEAD.match(item)
    return normalise(head.group(1) if head else item)


def _enumerated(sentence: str) -> list[str]:
    """Items of "a, b, and c" or "a; b; c": at least three short parts."""
    body = sentence.rstrip(" .!?:")
    parts = [part.strip() for part in _PART.split(body) if part.strip()]
    if len(parts) < 2:
        return []
    first = parts[0]
    lead = _LEAD.match(first)
    parts[0] = first[lead.end() :] if lead and lead.end() < len(first) else first
    had_conjunction = _CONJUNCTION.match(parts[-1]) is not None
    parts = [_CONJUNCTION.sub("", part) for part in parts]
    if not had_conjunction:
        halves = _LAST.split(parts[-1])
        if len(halves) == 2 and all(len(words(half)) <= _MOST_WORDS for half in halves):
            parts[-1:] = halves
            had_conjunction = True
    if not had_conjunction and ";" not in body and any(words(part)[:1] and words(part)[0] in _CLAUSE for part in parts):
        return []  # "However, if pain persists, see a doctor" is a sentence with commas
    if words(parts[0])[:1] and words(parts[0])[0] in _OPENING:
        return []
    short = [part for part in parts if 0 < len(words(part)) <= _MOST_WORDS]
    if len(parts) < 3 or len(short) != len(parts):
        # A long first part is the sentence's opening, a long last one its end: the items between still are items.
        inner = [part for part in parts[1:] if 0 < len(words(part)) <= _MOST_WORDS]
        if len(parts) < 4 or len(inner) < 3 or not had_conjunction:
            return []
        return inner
    return short


def list_items(text: str) -> list[str]:
    """The distinct items of all lists of a text, in normal form, in order.

    Bullets, numbered and lettered lines; numbers within a line that rise from 1; comma and semicolon enumerations of three items
    and more, of at most six words each. Decimals, doses ("1,000 mg") and dates ("May 3, 2024") stay whole.
    """
    text = fold(text)
    items: list[str] = []
    covered = bytearray(len(text) + 1)  # 1 where a character belongs to a list that was read already
    for match in _LINE.finditer(text):
        items.append(_clean(match.group(1)))
        covered[match.start() : match.end()] = b"\x01" * (match.end() - match.start())
    marks: list[re.Match[str]] = []
    for match in _INLINE.finditer(text):
        if not covered[match.start()] and int(match.group(1)) == len(marks) + 1:
            marks.append(match)
    if len(marks) >= 2:
        ends = [mark.start() for mark in marks[1:]] + [len(text)]
        for mark, end in zip(marks, ends, strict=True):
            found = _ITEM_END.search(text, mark.end(), end)
            stop = found.start() if found else end
            items.append(_clean(text[mark.end() : stop].strip(" ,;.\n")))
            covered[mark.start() : stop] = b"\x01" * (stop - mark.start())
    for start, end in sentences(text):
        if not covered[start]:
            items.extend(normalise(part) for part in _enumerated(text[start:end]))
    return list(dict.fromkeys(item for item in items if item))


@dataclass(frozen=True)
class StructuredOverlap(Metric):
    """Jaccard similarity of the list items of response and reference.

    Options
    -------
    empty : the value where neither side has a list: ``zero`` (the paper's profile, default), ``none``, or ``one``.

    None where a side is missing or the reference is blank. A list on one side only: 0.
    """

    empty: str = "zero"

    name: ClassVar[str] = "structured_overlap"
    summary: ClassVar[str] = "List items of both sides, compared by Jaccard."
    source: ClassVar[str] = "VB-Score, 3.2.1"
    choices: ClassVar[dict[str, tuple[str, ...]]] = {"empty": ("zero", "none", "one")}

    def measure(self, records: Sequence[Record]) -> list[Measurement]:
        return [missing_side(record) or self._one(record) for record in records]

    def _one(self, record: Record) -> Measurement:
        one, two = list_items(record.reference or ""), list_items(record.response or "")
        shared = [item for item in one if item in set(two)]
        details = {"shared": shared, "reference": one, "response": two}
        if is_blank(record.response):
            details["blank_response"] = True  # type: ignore[assignment]
        union = len(set(one) | set(two))
        if union:
            return Measurement(len(shared) / union, None, details)
        if self.empty == "none":
            return Measurement(None, "neither side has a list", details)
        return Measurement(1.0 if self.empty == "one" else 0.0, None, {**details, "both_empty": True})


METRIC = StructuredOverlap
