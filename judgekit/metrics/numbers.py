"""Numbers as the world writes them: digits, words, fractions, powers, ranges. What can be read in two ways is none."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import Final

__all__ = ["DIGITS", "RANGE", "SPELT", "amount", "number", "number_words", "plain", "values_of"]

_ONES: Final = dict(
    zip(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ],
        range(20),
        strict=True,
    )
)
_TENS: Final = {
    word: 10 * at
    for at, word in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2)
}
_POWERS: Final = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_PARTS: Final = {"half": Decimal("0.5"), "quarter": Decimal("0.25")}

_PLAIN_NUMBER: Final = re.compile(r"\d+|\d*\.\d+")
_ENGLISH: Final = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|[1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d+)?")
_CONTINENTAL: Final = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+,\d+|[1-9]\d{0,2}(?:\.\d{3}){2,}")
_COMMA: Final = re.compile(r"\d+,\d+")
_TWO_WAYS: Final = re.compile(r"[1-9]\d{0,2}\.000")  # a thousand in one country, one in another


def number(text: str) -> Decimal | None:
    """The value of a number in digits, as it is written in the world; None where it can be read in two ways or in none.

    ``1,000`` and ``1.000.000`` have thousands, ``2,5`` and ``0,125`` a decimal comma, ``1.234,5`` both, ``1,00,000`` lakhs.
    """
    if _TWO_WAYS.fullmatch(text):
        return None
    if _PLAIN_NUMBER.fullmatch(text):
        return Decimal(text)
    if _ENGLISH.fullmatch(text):
        return Decimal(text.replace(",", ""))
    if _CONTINENTAL.fullmatch(text):
        return Decimal(text.replace(".", "").replace(",", "."))
    return Decimal(text.replace(",", ".")) if _COMMA.fullmatch(text) else None


def number_words(text: str) -> Decimal | None:
    """The value of a number in words: ``twenty-five``, ``a hundred and fifty``, ``two and a half``; None where it is none."""
    words = re.findall(r"[a-z]+", text.casefold())
    if words[-3:] in (["and", "a", "half"], ["and", "a", "quarter"]):
        above = number_words(" ".join(words[:-3]))
        return None if above is None else above + _PARTS[words[-1]]
    if "point" in words:
        at = words.index("point")
        whole, digits = number_words(" ".join(words[:at])), [_ONES.get(word, 10) for word in words[at + 1 :]]
        if whole is None or not digits or max(digits) > 9:
            return None
        return Decimal(f"{whole}.{''.join(map(str, digits))}")
    words = [word for word in words if word not in {"a", "an"}]
    if len(words) == 1 and words[0] in _PARTS:
        return _PARTS[words[0]]
    total, part, last = 0, 0, ""
    for word in words:
        if word in _ONES and (not last or last in _POWERS or last == "and" or (last in _TENS and 0 < _ONES[word] < 10)):
            part += _ONES[word]
        elif word in _TENS and (not last or last in _POWERS or last == "and"):
            part += _TENS[word]
        elif word == "hundred" and last not in _POWERS and last != "and":
            part = (part or 1) * 100
        elif word in _POWERS and word != "hundred" and last != "and":
            total, part = total + (part or 1) * _POWERS[word], 0
        elif word != "and" or last not in _POWERS:
            return None
        last = word
    return None if not last or last == "and" else Decimal(total + part)


DIGITS: Final = r"(?>\d(?:[\d.,]*\d)?|\.\d+)"  # never a part of a longer number
_WORD: Final = "(?:" + "|".join((*_ONES, *_TENS, *_POWERS, *_PARTS)) + ")"
SPELT: Final = rf"(?:(?:an?[\s-]+)?{_WORD}(?:(?:\s+and\s+(?:an?\s+)?|[\s-]+){_WORD}){{0,12}}(?:\s+point(?:\s+{_WORD}){{1,6}})?(?:\s+an?(?=\s))?)"
_IN_DIGITS: Final = (
    rf"(?:{DIGITS}(?:\s?x\s?10\^\d+|\^\d+)?(?:(?:\s+|-)\d+/\d+|/{DIGITS})?(?:\s+and\s+a\s+(?:half|quarter)\b)?"
    rf"(?:[\s-](?:hundred|thousand|million|billion)\b)?)"
)
_ONE: Final = rf"(?:{_IN_DIGITS}|{SPELT}\b)"
RANGE: Final = (
    rf"(?:between\s+{_ONE}\s+and\s+{_ONE}|(?:{_ONE},\s+){{1,6}}{_ONE},?\s+or\s+{_ONE}|{DIGITS}\s?x\s?{DIGITS}(?!\^|\s?x)"
    rf"|{_ONE}(?:\s*-\s*{_ONE}|\s+(?:to|or)\s+{_ONE})?)"
)
_FRACTION: Final = re.compile(rf"(?:({DIGITS})(?:\s+|-))?(\d+)/({DIGITS})")
_POWER: Final = re.compile(rf"({DIGITS})\s?x\s?10\^(\d+)|10\^(\d+)")


@lru_cache(maxsize=4096)
def values_of(text: str) -> tuple[Decimal, ...] | None:
    """The numbers of a range or list, or the one number; None where any of it cannot be read."""
    text = text.strip().casefold()
    found = re.fullmatch(rf"({DIGITS})\s?x\s?({DIGITS})", text)
    if found:
        one, two = number(found[1]), number(found[2])
        return None if one is None or two is None else (one * two,)
    whole = _value(text)
    if whole is not None:
        return whole
    between = re.fullmatch(rf"between\s+({_ONE})\s+and\s+({_ONE})", text)
    parts = between.groups() if between else re.split(r",\s+or\s+|,\s+|(?<=\d)\s*-\s*(?=[\d.])|\s+to\s+|\s+or\s+", text)
    values: list[Decimal] = []
    for part in parts:
        value = _value(part)
        if value is None:
            return None
        values += value
    return tuple(values) if len(values) > 1 else None


def _value(text: str) -> tuple[Decimal, ...] | None:
    found = _POWER.fullmatch(text)
    if found:
        base = Decimal(1) if found[1] is None else number(found[1])
        return None if base is None else (base * 10 ** int(found[2] or found[3]),)
    found = re.fullmatch(r"(.*\d)[\s-](hundred|thousand|million|billion)", text)
    if found:
        value = _value(found[1])
        return None if value is None else tuple(item * _POWERS[found[2]] for item in value)
    found = re.fullmatch(r"(.*\d)\s+and\s+a\s+(half|quarter)", text)
    if found:
        value = _value(found[1])
        return None if value is None or len(value) > 1 else (value[0] + _PARTS[found[2]],)
    found = _FRACTION.fullmatch(text)
    if found:
        above, below = number(found[2]), number(found[3])
        if above is None or below is None:
            return None
        if not (0 < above < below <= 10):
            return None if found[1] else (above, below)  # 5/325 mg holds two drugs
        whole = Decimal(0) if found[1] is None else number(found[1])
        return None if whole is None else (whole + above / below,)
    value_of = number(text) if re.match(r"[\d.]", text) else number_words(text)
    return None if value_of is None else (value_of,)


def plain(value: Decimal) -> str:
    """A number without an exponent and without zeros that say nothing."""
    text = format(round(value, 9).normalize(), "f")
    return "0" if text in {"-0", ""} else text


def amount(values: tuple[Decimal, ...], factor: Decimal = Decimal(1)) -> str:
    return "-".join(plain(value * factor) for value in values)
