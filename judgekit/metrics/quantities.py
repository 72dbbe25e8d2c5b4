"""Doses, frequencies, durations and plain numbers with units: found by rule, compared exactly, never by containment."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Final

from judgekit.metrics.text import UNITS

__all__ = ["QUANTITY_KINDS", "Quantity", "quantities"]

QUANTITY_KINDS: Final = ("dose", "frequency", "duration")


@dataclass(frozen=True, slots=True)
class Quantity:
    """`kind` is one of `QUANTITY_KINDS` or ``number``; `norm` is equal for equal amounts: ``0.5 g`` and ``500 mg``, ``2 weeks`` and ``14 days``."""

    kind: str
    norm: str
    start: int
    end: int


_NUMBER_WORDS: Final = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
    "ten": "10", "twelve": "12", "fourteen": "14", "a": "1", "an": "1", "single": "1",
}  # fmt: skip
_N = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|" + "|".join(word for word in _NUMBER_WORDS if len(word) > 2) + ")"
_RANGE = rf"{_N}(?:\s*(?:-|–|to|or)\s*{_N})?"
_DOSE_UNIT = (
    r"(?:mg|mgs|milligrams?|milligrammes?|mcg|µg|μg|ug|micrograms?|g|gm|grams?|kg|kilograms?|ml|mls|millilit(?:er|re)s?|cc"
    r"|l|lit(?:er|re)s?|iu|units?|meq|mmol|tabs?|tablets?|caps|capsules?|drops?|puffs?|teaspoons?|tablespoons?|%|percent)"
)
_TIME = r"(?:h|hrs?|hours?|mins?|minutes?|days?|d|wks?|weeks?|months?|years?|yrs?)"
_LONG_TIME = r"(?:hours?|hrs?|minutes?|mins?|days?|weeks?|wks?|months?|years?|yrs?)"

_DOSE: Final = re.compile(
    rf"(?<![\w.])(?<![A-Za-z]-)({_RANGE})[\s-]*({_DOSE_UNIT})(?![^\W\d_])(?:\s*(?:/|per)\s*(kg|m2|dl|ml|l|day|dose|hour|hr|h)\b)?(?:\s*(?:/|per)\s*(day|dose|hour|hr|h)\b)?",
    re.IGNORECASE,
)
_FREQUENCY: Final = re.compile(
    rf"\bevery\s+(?:({_RANGE})\s*-?\s*)?({_TIME})\b"
    rf"|\bq\.?\s?(\d+)\s?-?\s?h(?:rs?|ours?)?\b"
    rf"|\b({_RANGE}\s+times|once|twice|thrice)\s+(?:a|an|per|every|each|in\s+a)?\s*(day|daily|week|weekly|month|monthly|year|yearly)\b"
    rf"|\b(\d)\s?x\s?(?:/|per|a)?\s?(day|daily|week|weekly)\b"
    r"|\b(b\.?i\.?d|t\.?i\.?d|q\.?i\.?d|q\.?d|qhs|o\.?d)\b\.?"
    r"|\b(daily|nightly|hourly|weekly|monthly|yearly|annually)\b",
    re.IGNORECASE,
)
_DURATION: Final = re.compile(rf"(?<![\w.])(?<![A-Za-z]-)({_RANGE})[\s-]+({_LONG_TIME})\b", re.IGNORECASE)

_LATIN: Final = {
    "bid": "2 per day",
    "tid": "3 per day",
    "qid": "4 per day",
    "qd": "1 per day",
    "od": "1 per day",
    "qhs": "1 per night",
}
_PERIOD: Final = {"daily": "day", "weekly": "week", "monthly": "month", "yearly": "year"}
_ADVERB: Final = {
    "daily": "1 per day", "nightly": "1 per night", "hourly": "every 1 hour", "weekly": "1 per week", "monthly": "1 per month",
    "yearly": "1 per year", "annually": "1 per year",
}  # fmt: skip
_TIME_NORM: Final = {
    "h": "hour",
    "d": "day",
    **{key: value for key, value in UNITS.items() if value in {"hour", "minute", "day", "week", "month", "year"}},
}
_MASS: Final = {"kg": Decimal(1_000_000), "g": Decimal(1000), "mg": Decimal(1), "mcg": Decimal("0.001")}
_VOLUME: Final = {"l": Decimal(1000), "ml": Decimal(1)}


def _plain(number: Decimal) -> str:
    text = format(number.normalize(), "f")
    return "0" if text in {"-0", ""} else text


def _number(text: str) -> Decimal | None:
    word = _NUMBER_WORDS.get(text.strip().casefold())
    try:
        return Decimal(word or text.strip().replace(",", ""))
    except InvalidOperation:
        return None


def _amounts(text: str, factor: Decimal = Decimal(1)) -> str:
    parts = re.split(r"\s*(?:-|–|\bto\b|\bor\b)\s*", text.strip(), flags=re.IGNORECASE)
    numbers = [number * factor for part in parts if (number := _number(part)) is not None]
    return "-".join(_plain(number) for number in numbers)


def _dose(match: re.Match[str]) -> str:
    amount, unit, *per = match.groups()
    short = UNITS.get(unit.casefold().replace("µ", "μ"), unit.casefold().replace("µ", "μ")).rstrip("s")
    for table, base in ((_MASS, "mg"), (_VOLUME, "ml")):
        # Concentrations keep their numerator's own base: 0.5 g/l and 500 mg/l are equal, mg/kg is not mg.
        if short in table:
            return f"{_amounts(amount, table[short])} {base}{_per(per)}"
    return f"{_amounts(amount)} {short}{_per(per)}"


def _per(parts: list[str | None]) -> str:
    return "".join(f"/{_TIME_NORM.get(part.casefold(), part.casefold())}" for part in parts if part)


def _duration(match: re.Match[str]) -> str:
    unit = _TIME_NORM[match.group(2).casefold()]
    return f"{_amounts(match.group(1), Decimal(7))} day" if unit == "week" else f"{_amounts(match.group(1))} {unit}"


def _frequency(match: re.Match[str]) -> str:
    every, unit, q_hours, times, period, x_times, x_period, latin, adverb = match.groups()
    if unit:
        time = _TIME_NORM.get(unit.casefold(), unit.casefold())
        amount = _amounts(every) if every else "1"
        hours = {
            "6 hour": "4 per day",
            "8 hour": "3 per day",
            "12 hour": "2 per day",
            "24 hour": "1 per day",
            "1 day": "1 per day",
        }
        return hours.get(f"{amount} {time}", f"every {amount} {time}")
    if q_hours:
        per_day = {"6": "4 per day", "8": "3 per day", "12": "2 per day", "24": "1 per day"}
        return per_day.get(q_hours, f"every {q_hours} hour")
    if times:
        count = {"once": "1", "twice": "2", "thrice": "3"}.get(times.casefold()) or _amounts(times.rsplit(None, 1)[0])
        return f"{count} per {_PERIOD.get(period.casefold(), period.casefold())}"
    if x_times:
        return f"{x_times} per {_PERIOD.get(x_period.casefold(), x_period.casefold())}"
    if latin:
        return _LATIN[latin.casefold().replace(".", "")]
    return _ADVERB[adverb.casefold()]


def quantities(text: str) -> list[Quantity]:
    """Doses, frequencies and durations of a text, in order; where they overlap, frequency before dose before duration."""
    found: list[Quantity] = []
    taken = bytearray(len(text))
    rules = (
        ("frequency", _FREQUENCY, _frequency),
        ("dose", _DOSE, _dose),
        ("duration", _DURATION, _duration),
    )
    for kind, pattern, norm in rules:
        for match in pattern.finditer(text):
            start, end = match.span()
            if not any(taken[start:end]):
                taken[start:end] = b"\x01" * (end - start)
                found.append(Quantity(kind, norm(match), start, end))
    return sorted(found, key=lambda item: item.start)
