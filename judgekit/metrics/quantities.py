"""Doses, frequencies, durations and measures: read by rule, compared exactly, never by containment.

An amount that cannot be read with one meaning ("1 500 mg", "1.000 mg", "5 mg/xyz") is none: it is never taken for another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import Final

from judgekit.metrics.numbers import DIGITS, RANGE, SPELT, amount, number, plain, values_of
from judgekit.metrics.text import UNITS, folded, span_in

__all__ = ["QUANTITY_KINDS", "Quantity", "quantities"]

QUANTITY_KINDS: Final = ("dose", "frequency", "duration")


@dataclass(frozen=True, slots=True)
class Quantity:
    """`kind` is one of `QUANTITY_KINDS` or ``measure`` (what was measured, or how old someone is); `norm` is equal for equal amounts: ``0.5 g`` and ``500 mg``, ``2 weeks`` and ``14 days``."""

    kind: str
    norm: str
    start: int
    end: int


# These mean a unit after a number only; `UNITS` holds those that mean one anywhere.
_SHORT_UNITS: Final = {"g": "g", "l": "l", "u": "unit", "h": "hour", "d": "day", "m": "m", "in": "inch", "c": "°c", "f": "°f", "lb": "lb", "lbs": "lb", "oz": "oz", "%": "%"}  # fmt: skip
_TIMES: Final = ("minute", "hour", "day", "week", "month", "year")
_MASS: Final = {"g": Decimal(1000), "mg": Decimal(1), "mcg": Decimal("0.001"), "ng": Decimal("0.000001")}  # fmt: skip
_VOLUME: Final = {"l": Decimal(1000), "dl": Decimal(100), "cl": Decimal(10), "ml": Decimal(1), "teaspoon": Decimal(5), "tablespoon": Decimal(15)}  # fmt: skip
_LENGTH: Final = {"cm": Decimal(10), "mm": Decimal(1)}
_SCALES: Final = ((_MASS, "mg"), (_VOLUME, "ml"), (_LENGTH, "mm"))
_MEASURED: Final = frozenset(
    {
        "mm",
        "cm",
        "m",
        "inch",
        "foot",
        "mmhg",
        "bpm",
        "beats",
        "breaths",
        "cells",
        "copies",
        "°c",
        "°f",
        "lb",
        "oz",
        "kcal",
        "kg",
    }
)


def _spellings(chosen: Iterator[str]) -> str:
    return "|".join(sorted(map(re.escape, chosen), key=len, reverse=True))


_TIME: Final = "(?:" + _spellings(key for key, value in UNITS.items() if value in _TIMES) + ")"
_UNIT: Final = (
    "(?:mm\\s?hg|beats|breaths|cells|copies|degrees?\\s+(?:celsius|fahrenheit|[cf]\\b)|°\\s?[cf]|international\\s+units?|"
    + _spellings(
        iter({key for key, value in UNITS.items() if value not in _TIMES} | (set(_SHORT_UNITS) - set("hdcfm")))
    )
    + "|m(?=\\b(?!\\.\\d)))"
)
_TAIL: Final = re.compile(
    rf"\s*(?:/|\bper\s+|(?<=\S)\s+a\s+(?=(?:dose|kilo)\b))\s*({DIGITS})?\s*"
    r"(kg|kilograms?|kilo|mm3|mm\^3|m2|m\^2|dl|ml|ul|l|litre|liter|day|d|dose|hours?|hr|h|minutes?|min|weeks?|wk|months?|years?|yr"
    r"|tablets?|tab|capsules?|puffs?|sprays?|mol|mmol|g|24\s?h|hpf)(?![\w^])",
    re.IGNORECASE,
)
_SINGLE: Final = re.compile(r"\d+(?:\.\d+)?")
_MORE: Final = re.compile(r"\s?/\s?[\w^]|\s+per\s+\w", re.IGNORECASE)

_START: Final = r"(?<![\w.,/:^])(?<![0-9]-)"
_DOSE: Final = re.compile(rf"([<>≤≥]=?\s?)?{_START}({RANGE})(?:\s*-\s*|\s*)({_UNIT})(?![^\W\d_]|\d|\^)", re.IGNORECASE)
_FREQUENCY: Final = re.compile(
    rf"\bevery\s+(other|second|alternate)\s+(day|night|week|month)\b|\b(?:on\s+)?(alternate)\s+(days|nights|weeks)\b"
    rf"|\bevery\s+(?:({RANGE})\s*-?\s*)?({_TIME}|h|d)\b"
    rf"|\bq\.?\s?(\d+(?:\s?-\s?\d+)?)\s?-?\s?(h(?:rs?|ours?)?|d(?:ays?)?|w(?:ks?|eeks?)?|min)\b"
    rf"|{_START}({RANGE}\s+times?|once\s+or\s+twice|once|twice|thrice)\s+(?:an?\s+|per\s+|every\s+|each\s+|in\s+a\s+)?(day|daily|night|nightly|week|weekly|month|monthly|year|yearly)\b"
    rf"|\b(\d)\s?x\s?(?:/|per|a)?\s?(day|daily|week|weekly)\b"
    r"|\b(b\.?i\.?d|t\.?i\.?d|q\.?i\.?d|q\.?d|q\.?o\.?d|qhs|o\.?d|b\.?d|t\.?d\.?s|q\.?d\.?s)\b\.?(?!\w)"
    r"|\b(daily|nightly|hourly|weekly|fortnightly|monthly|yearly|annually)\b",
    re.IGNORECASE,
)
_DURATION: Final = re.compile(
    rf"{_START}({RANGE})(?:\s*-\s*|\s+|(?<=\d))({_TIME}|h)\b(?!\s*(?:/|per\b))", re.IGNORECASE
)
_AGE: Final = re.compile(
    rf"{_START}(\d{{1,3}}|{SPELT})[\s-]*(?:years?|yrs?|y)[\s/-]*(?:olds?|o|of\s+age)\b|\baged?\s+(\d{{1,3}}|{SPELT})\b(?:[\s-]*(?:years?|yrs?)\b)?"
    rf"|{_START}(\d{{1,3}})[\s-]*(?:yo[mf]?|y/o)\b|{_START}(\d{{1,3}})(?-i:[MF])\b(?!\s*(?:/|per\b|catheter|sheath|tube|foley))",
    re.IGNORECASE,
)

_LATIN: Final = {
    "bid": "2 per day", "tid": "3 per day", "qid": "4 per day", "qd": "1 per day", "od": "1 per day", "qhs": "1 per night", "qod": "every 2 day",
    "bd": "2 per day", "tds": "3 per day", "qds": "4 per day",
}  # fmt: skip
_OFTEN: Final = {
    "once": (Decimal(1),),
    "twice": (Decimal(2),),
    "thrice": (Decimal(3),),
    "once or twice": (Decimal(1), Decimal(2)),
}
_PERIOD: Final = {"daily": "day", "nightly": "night", "weekly": "week", "monthly": "month", "yearly": "year"}
_ADVERB: Final = {
    "daily": "1 per day", "nightly": "1 per night", "hourly": "every 1 hour", "weekly": "1 per week", "fortnightly": "every 14 day",
    "monthly": "1 per month", "yearly": "1 per year", "annually": "1 per year",
}  # fmt: skip


def _short(unit: str) -> str:
    name = " ".join(unit.casefold().split())
    name = UNITS.get(name) or _SHORT_UNITS.get(name) or name
    if name.startswith("degree"):
        return "°" + name.split()[-1][0]
    return "iu" if name.startswith("international") else name.replace(" ", "")


def _temperature(values: tuple[Decimal, ...], unit: str) -> str:
    if unit == "°f":
        values = tuple(round((value - 32) * 5 / 9, 1) for value in values)
    return f"{amount(values)} °c"


def _dose(match: re.Match[str]) -> tuple[str, str, int] | None:
    sign, written, unit = match.groups()
    values = None if _torn(match.string, match.start(2), written) else values_of(written)
    if values is None:
        return None
    short, end, kind = _short(unit), match.end(), "dose"
    if re.search(r"\d\s?x\s?\d", written) and short in _MEASURED:
        return None
    factor, base = Decimal(1), short
    for table, name in _SCALES:
        # Concentrations keep their numerator's own base: 0.5 g/l and 500 mg/l are equal, mg/kg is not mg.
        if short in table:
            factor, base = table[short], name
    tail = ""
    while found := _TAIL.match(match.string, end):
        below, per = found[1], _per(found[2])
        if (below, per) == ("24", "hour"):
            per = "day"
        elif below is not None:
            share = number(below)
            if not share:
                return None
            factor /= share
        tail += f"/{per}"
        end = found.end()
    if _MORE.match(match.string, end):
        return None
    if (
        short in _MEASURED
        or tail.startswith(("/dl", "/l", "/ul", "/mm3"))
        or (tail == "/ml" and short in {"iu", "ng", "copies", "cells"})
    ):
        kind = "measure"
    if f"{short}{tail}" == "beats/minute":
        base, tail = "bpm", ""
    if short in {"°c", "°f"}:
        return kind, _sign(sign) + _temperature(values, short), end
    if re.fullmatch(rf"{DIGITS}/{DIGITS}", written) and len(values) == 2:
        shown = "/".join(plain(value * factor) for value in values)  # two drugs, or systolic and diastolic: no range
    else:
        shown = amount(values, factor)
    return kind, f"{_sign(sign)}{shown} {base}{tail}", end


def _torn(text: str, at: int, amount: str) -> bool:
    """Whether what stands before an amount belongs to it, so that it cannot be read alone."""
    before = text[max(0, at - 24) : at]
    if re.search(r"(?<![\w.,])\d{1,3} $", before) and re.match(r"\d{3}(?!\d)", amount):
        return True  # "1 500 mg": one and a half grams, or one of 500 mg
    if not before.endswith("-") or re.search(r"(?:^|\n)\s*-$", before):
        return False
    return (
        re.search(r"\d\s?[A-Za-z%]+-$", before) is None
    )  # "5mg-10mg" is a range; else a name ("COVID-19"), or below zero


def _sign(sign: str | None) -> str:
    return "" if sign is None else sign.strip().replace("<=", "≤").replace(">=", "≥")


def _per(unit: str) -> str:
    name = unit.casefold().replace(" ", "").replace("^", "")
    return {"24h": "day", "d": "day", "h": "hour"}.get(name, UNITS.get(name, name))


def _duration(match: re.Match[str]) -> tuple[str, str, int] | None:
    values = None if _torn(match.string, match.start(1), match[1]) else values_of(match[1])
    if values is None:
        return None
    unit = _short(match[2])
    if unit == "week":
        return "duration", f"{amount(values, Decimal(7))} day", match.end()
    return "duration", f"{amount(values)} {unit}", match.end()


def _age(match: re.Match[str]) -> tuple[str, str, int] | None:
    values = values_of(next(part for part in match.groups() if part is not None))
    return None if values is None else ("age", f"{amount(values)} year", match.end())


def _every(values: tuple[Decimal, ...], unit: str) -> str:
    if unit == "week":
        unit, values = "day", tuple(value * 7 for value in values)
    if unit == "hour" and len(values) == 1 and values[0] > 0:
        (hours,) = values
        if hours >= 4 and 24 % hours == 0:
            return f"{plain(24 / hours)} per day"
        if hours % 24 == 0:
            unit, values = "day", (hours / 24,)
    if values == (Decimal(1),) and unit in {"day", "night", "month", "year"}:
        return f"1 per {unit}"
    return "1 per week" if (values, unit) == ((Decimal(7),), "day") else f"every {amount(values)} {unit}"


def _frequency(match: re.Match[str]) -> tuple[str, str, int] | None:
    other, other_unit, alternate, alternate_unit, every, unit, q, q_unit, times, period, x, x_period, latin, adverb = (
        match.groups()
    )
    norm: str | None = None
    if other or alternate:
        norm = _every((Decimal(2),), (other_unit or alternate_unit).casefold().rstrip("s"))
    elif unit:
        values = values_of(every) if every else (Decimal(1),)
        norm = None if values is None else _every(values, _short(unit))
    elif q:
        values = values_of(q)
        norm = (
            None
            if values is None
            else _every(values, {"h": "hour", "d": "day", "w": "week", "m": "minute"}[q_unit[0].casefold()])
        )
    elif times:
        values = _OFTEN.get(" ".join(times.casefold().split())) or values_of(times.rsplit(None, 1)[0])
        norm = None if values is None else f"{amount(values)} per {_PERIOD.get(period.casefold(), period.casefold())}"
    elif x:
        norm = f"{x} per {_PERIOD.get(x_period.casefold(), x_period.casefold())}"
    elif latin:
        norm = _LATIN[latin.casefold().replace(".", "")]
    else:
        norm = _ADVERB[adverb.casefold()]
    return None if norm is None else ("frequency", norm, match.end())


_RULES: Final = ((_FREQUENCY, _frequency), (_AGE, _age), (_DOSE, _dose), (_DURATION, _duration))


def quantities(text: str) -> list[Quantity]:
    """Frequencies, doses, measures and durations of a text, in order; where they overlap, the one named first here is taken.

    An age is a duration in years. "500 mg to 1 g" and "0.5-1 g" are one range.
    """
    read, places = folded(text)
    found = []
    for item in _found(read):
        start, end = span_in(places, item.start, item.end)
        found.append(replace(item, start=start, end=end))
    return found


@lru_cache(maxsize=4096)
def _found(text: str) -> tuple[Quantity, ...]:
    found: list[Quantity] = []
    taken = bytearray(len(text) + 1)
    for pattern, read in _RULES:
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(taken[start:end]):
                continue
            result = read(match)
            if result is None:
                if pattern is not _AGE:
                    taken[start:end] = b"\x01" * (end - start)  # what cannot be read is not read in part
                continue
            kind, norm, end = result
            taken[start:end] = b"\x01" * (end - start)
            found.append(Quantity("duration" if kind == "age" else kind, norm, start, end))
    found.sort(key=lambda item: item.start)
    merged: list[Quantity] = []
    for item in found:
        if merged and _one_range(merged[-1], item, text):
            before = merged.pop()
            low = before.norm.partition(" ")[0]
            item = replace(item, norm=f"{low}-{item.norm}", start=before.start)
        merged.append(item)
    return tuple(merged)


def _one_range(one: Quantity, two: Quantity, text: str) -> bool:
    if (
        one.kind != two.kind
        or one.kind == "frequency"
        or not re.fullmatch(r"\s*(?:-|\bto\b)\s*", text[one.end : two.start])
    ):
        return False
    (low, unit), (high, other) = one.norm.split(" ", 1), two.norm.split(" ", 1)
    return unit == other and _SINGLE.fullmatch(low) is not None and _SINGLE.fullmatch(high) is not None
