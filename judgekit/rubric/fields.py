"""The kinds of fields that a verdict may have."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

__all__ = [
    "BooleanField",
    "ChoiceField",
    "Field",
    "Level",
    "ListField",
    "NumberField",
    "ScaleField",
    "TextField",
]


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a scale: a whole number, a short label (may be empty) and the anchor that defines it."""

    value: int
    label: str
    anchor: str


@dataclass(frozen=True, slots=True)
class ScaleField:
    """Ordered whole-number levels; larger is better."""

    name: str
    levels: tuple[Level, ...]
    describe: str | None = None

    @property
    def low(self) -> int:
        return min(level.value for level in self.levels)

    @property
    def high(self) -> int:
        return max(level.value for level in self.levels)

    def share(self, raw: Fraction) -> Fraction:
        """`raw` mapped by the scale's ends to [0, 1]: 1 of 1..5 is 0, not 0.2."""
        return (raw - self.low) / (self.high - self.low)


@dataclass(frozen=True, slots=True)
class BooleanField:
    name: str
    asked: str
    describe: str | None = None


@dataclass(frozen=True, slots=True)
class NumberField:
    """A number from `low` to `high`, both inclusive; None is unbounded."""

    name: str
    low: int | float | None
    high: int | float | None
    describe: str | None = None


@dataclass(frozen=True, slots=True)
class TextField:
    """Free text. A text longer than `max_chars` characters is kept and flagged."""

    name: str
    asked: str
    max_chars: int | None = None
    describe: str | None = None


@dataclass(frozen=True, slots=True)
class ChoiceField:
    """One of several labels. Exactly one of `options`, `by` (with `sets`) and `source` says which.

    `options` maps labels to meanings; `sets` maps a value of the input `by` to such a map; `source` is ``"options"``,
    the record's own.
    """

    name: str
    options: dict[str, str] | None = None
    by: str | None = None
    sets: dict[str, dict[str, str]] | None = None
    source: str | None = None
    describe: str | None = None

    @property
    def dynamic(self) -> bool:
        return self.options is None


@dataclass(frozen=True, slots=True)
class ListField:
    """A list of `low` to `high` items (inclusive; None is unbounded), each an object with the fields `of`."""

    name: str
    of: tuple[Field, ...]
    low: int | None = None
    high: int | None = None
    describe: str | None = None


Field = ScaleField | BooleanField | NumberField | TextField | ChoiceField | ListField
