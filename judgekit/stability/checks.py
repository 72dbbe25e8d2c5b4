"""What a rewording must keep, checked by rule before any model is asked: each violation names what was lost or added (001, 3.1.2).

Rules see words, not meaning: they catch a changed dose, a lost "no", a swapped side. What they let through, entailment models, judges
and clinicians still read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from judgekit.errors import MissingDependency
from judgekit.metrics.entities import Entity, entities_of
from judgekit.metrics.negation import negated_spans
from judgekit.metrics.numbers import number, number_words, plain
from judgekit.metrics.quantities import quantities
from judgekit.metrics.text import ABBREVIATIONS, fold, words

__all__ = ["CHECKS", "Violation", "check_pairs"]

CHECKS: Final = ("number", "unit", "dose", "negation", "laterality", "drug")


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that a rewording did not keep. `check` is one of `CHECKS`; `lost` stood in the original only, `added` in the variant only."""

    check: str
    lost: str | None
    added: str | None

    def __str__(self) -> str:
        if self.lost is not None and self.added is not None:
            return f"{self.check}: {self.lost} became {self.added}"
        return f"{self.check}: {self.lost} is lost" if self.lost is not None else f"{self.check}: {self.added} is new"

    def to_dict(self) -> dict[str, Any]:
        return {"check": self.check, "lost": self.lost, "added": self.added}


_ORDINALS: Final = {
    word: number
    for number, word in enumerate(
        ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"], 1
    )
}
_LOOSE: Final = {"once": 1, "single": 1, "a": 1, "an": 1, "twice": 2, "both": 2, "pair": 2, "couple": 2, "half": 0}
_NUMBER: Final = re.compile(r"(?<![A-Za-z\d.])(?<![A-Za-z]-)(\d(?:[\d.,]*\d)?)(?:st|nd|rd|th)?(?![A-Za-z\d])")
_SIDES: Final = {"left": "left", "right": "right", "bilateral": "both sides", "bilaterally": "both sides", "ipsilateral": "same side",
                 "contralateral": "other side", "left-sided": "left", "right-sided": "right", "rt": "right", "lt": "left"}  # fmt: skip
_NOT_A_SIDE: Final = re.compile(
    r"\b(?:right (?:away|now|after|before|answer|choice|option|thing|time|dose|treatment|diagnosis|way)|(?:is|are|was) left\b"
    r"(?! (?:arm|leg|side|hand|eye|ear|foot|knee|hip|shoulder|breast|lung|kidney))|left (?:untreated|alone|out|over|the|home|behind)|all right)\b",
    re.IGNORECASE,
)
# Denial without a trigger word; a rewording may write "afebrile" for "no fever" and the other way round.
_DENYING: Final = re.compile(
    r"\b(?:afebrile|asymptomatic|anicteric|acyanotic|non-?\w{4,}|un(?:remarkable|changed|able|treated|vaccinated|likely|aware)"
    r"|unaffected|absent|absence|none|nil|negative|free of|lacks?|lacking|except|other than|rules? out|ruled out|excludes?|excluded|denying"
    r"|incorrect|false|least|contraindicated|avoid(?:ed)?|stopp?(?:ed)?|discontinued?)\b",
    re.IGNORECASE,
)


def check_pairs(
    pairs: Sequence[tuple[str, str]], *, ner: str | None = "gazetteer"
) -> tuple[list[list[Violation]], list[str]]:
    """Violations of each (original, variant), and sentences about what could not be checked.

    Parameters
    ----------
    pairs : texts; an unchanged one has no violation.
    ner : the recogniser that finds drug names and denied findings (see `metrics.entities`), or None to leave these out. Where its
        package is absent they are left out too, which the second value says.
    """
    pairs = [(fold(original), fold(variant)) for original, variant in pairs]
    notes: list[str] = []
    found: list[list[Entity]] | None = None
    if ner is None:
        notes.append("drug names and denied findings were not checked: no recogniser was named")
    elif pairs:
        try:
            found = entities_of([text for pair in pairs for text in pair], ner, aware=True)
        except MissingDependency as error:
            notes.append(f"drug names and denied findings were not checked: {error}")
    rows = []
    for at, (original, variant) in enumerate(pairs):
        row = [*_amounts(original, variant), *_sides(original, variant)]
        if found is None:
            row += _negation(original, variant)
        else:
            one, two = found[2 * at], found[2 * at + 1]
            row += _negation(original, variant) or _polarity(one, two)
            row += _drugs(one, two, original, variant)
        rows.append(list(dict.fromkeys(row)))
    return rows, notes


def _blank(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text with spans overwritten by spaces, so that a number is read once."""
    out = list(text)
    for start, end in spans:
        out[start:end] = " " * (end - start)
    return "".join(out)


@dataclass(slots=True)
class _Amounts:
    """What a text counts: `doses` and `measures` with their units, `numbers` by value, `loose` what words may stand for."""

    doses: set[str]
    measures: set[str]
    numbers: set[str]
    loose: set[str]


def _read(text: str) -> _Amounts:
    doses: set[str] = set()
    measures: set[str] = set()
    found = quantities(text)
    for item in found:
        (doses if item.kind in ("dose", "frequency") else measures).add(item.norm)
    text = _blank(text, [(item.start, item.end) for item in found])
    numbers: set[str] = set()
    loose: set[str] = set()
    for match in _NUMBER.finditer(text):
        value = number(match[1])
        numbers.add(match[1] if value is None else plain(value))
    for word in re.findall(r"[A-Za-z]+(?:-[A-Za-z]+)?", text):
        low = word.casefold()
        value = None if low in _LOOSE else number_words(low)
        if value is not None:
            (loose if value <= 1 else numbers).add(plain(value))
        for table in (_ORDINALS, _LOOSE):
            if low in table:
                loose.add(str(table[low]))
        if value is not None and "-" not in low:
            loose.add(plain(value))
        if low in ABBREVIATIONS:  # T2DM holds the 2 of "type 2"
            loose.update(re.findall(r"\d+", ABBREVIATIONS[low]))
    loose.update(re.findall(r"\d+", " ".join(re.findall(r"\b[A-Za-z]+\d+[A-Za-z]*\b", text))))
    return _Amounts(doses, measures, numbers, loose)


def _value(amount: str) -> str:
    return amount.split(" ")[0]


def _stands(amount: str, numbers: set[str]) -> bool:
    """Whether the numbers of a measure stand without its unit, which is then understood ("120/80" for "120/80 mmHg"); they are taken out."""
    parts = set(re.split("[-/]", _value(amount)))
    if not parts <= numbers:
        return False
    numbers -= parts
    return True


def _amounts(original: str, variant: str) -> list[Violation]:
    one, two = _read(original), _read(variant)
    found: list[Violation] = []
    for name, lost, new in (
        ("dose", one.doses - two.doses, two.doses - one.doses),
        ("unit", one.measures - two.measures, two.measures - one.measures),
    ):
        for amount in sorted(lost):
            same = next((other for other in sorted(new) if _value(other) == _value(amount)), None)
            if same is not None:
                new.discard(same)
                found.append(
                    Violation("unit" if name == "unit" or _split(same) != _split(amount) else name, amount, same)
                )
            elif name != "unit" or not _stands(amount, two.numbers):
                other = min(new, default=None)
                if other is not None and _split(other) == _split(amount):
                    new.discard(other)
                    found.append(Violation(name if name == "dose" else "number", amount, other))
                else:
                    found.append(Violation(name if name == "dose" else "number", amount, None))
        for amount in sorted(new):
            if name != "unit" or not _stands(amount, one.numbers):
                found.append(Violation(name if name == "dose" else "number", None, amount))
    found += [Violation("number", value, None) for value in sorted(one.numbers - two.numbers - two.loose)]
    found += [Violation("number", None, value) for value in sorted(two.numbers - one.numbers - one.loose)]
    return found


def _split(amount: str) -> str:
    return amount.partition(" ")[2]


def _sides(original: str, variant: str) -> list[Violation]:
    one, two = _sides_of(original), _sides_of(variant)
    lost, added = sorted(one - two), sorted(two - one)
    if len(lost) == len(added):
        return [Violation("laterality", a, b) for a, b in zip(lost, added, strict=True)]
    return [Violation("laterality", side, None) for side in lost] + [
        Violation("laterality", None, side) for side in added
    ]


def _sides_of(text: str) -> set[str]:
    text = _NOT_A_SIDE.sub(" ", text)
    found = {_SIDES[word] for word in words(text) if word in _SIDES}
    found |= {
        "left"
        for _ in re.finditer(r"(?<!\w)L(?=\s+(?:arm|leg|side|hand|eye|ear|foot|knee|hip|shoulder|lung|kidney)\b)", text)
    }
    found |= {
        "right"
        for _ in re.finditer(r"(?<!\w)R(?=\s+(?:arm|leg|side|hand|eye|ear|foot|knee|hip|shoulder|lung|kidney)\b)", text)
    }
    if re.search(
        r"\bboth\s+(?:sides|arms|legs|hands|eyes|ears|feet|knees|hips|shoulders|breasts|lungs|kidneys)\b",
        text,
        re.IGNORECASE,
    ):
        found.add("both sides")
    if {"left", "right"} <= found:  # "left and right", "both sides", "bilateral" are one thing to say
        found = (found - {"left", "right"}) | {"both sides"}
    return found


def _negation(original: str, variant: str) -> list[Violation]:
    one, two = _denied(original), _denied(variant)
    if one and not two:
        return [Violation("negation", f'"{one}"', None)]
    if two and not one:
        return [Violation("negation", None, f'"{two}"')]
    return []


def _denied(text: str) -> str | None:
    """The first denial of a text, in its own words; None without one."""
    spans = negated_spans(text)
    if spans:
        start, end = spans[0]
        before = text[:start].rstrip().rsplit(None, 1)
        return " ".join(f"{before[-1] if before else ''} {text[start:end]}".split())[:60]
    match = _DENYING.search(text)
    return None if match is None else match.group()


def _key(entity: Entity) -> set[str]:
    return set(entity.concepts) or {entity.norm}


def _polarity(one: Sequence[Entity], two: Sequence[Entity]) -> list[Violation]:
    """A finding that one text denies and the other affirms."""
    found = []
    for entity in one:
        same = [other for other in two if _key(entity) & _key(other)]
        if same and all(other.negated != entity.negated for other in same):
            mine = [other for other in one if _key(entity) & _key(other)]
            if all(other.negated == entity.negated for other in mine):
                found.append(Violation("negation", _said(entity), _said(same[0])))
    return found


def _said(entity: Entity) -> str:
    return f'{"no " if entity.negated else ""}"{entity.text}"'


def _drugs(one: Sequence[Entity], two: Sequence[Entity], original: str, variant: str) -> list[Violation]:
    def names(found: Sequence[Entity]) -> dict[str, set[str]]:
        return {entity.text: _key(entity) for entity in found if "drug" in entity.kind}

    first, second = names(one), names(two)
    there, here = set().union(*second.values()), set().union(*first.values())
    plain_there, plain_here = " ".join(words(variant)), " ".join(words(original))
    found = [
        Violation("drug", text, None)
        for text, keys in first.items()
        if not keys & there and " ".join(words(text)) not in plain_there
    ]
    found += [
        Violation("drug", None, text)
        for text, keys in second.items()
        if not keys & here and " ".join(words(text)) not in plain_here
    ]
    return found
