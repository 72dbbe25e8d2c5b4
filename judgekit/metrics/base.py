"""The contract of a metric: options are its fields, the notation is its name with every option, a value is a number or None with a reason.

A metric is a frozen dataclass in a module of this folder (or one that an entry point of the group ``judgekit.metrics`` names), and the
module says which: ``METRIC = EntityF1``. Adding one touches nothing else.
"""

from __future__ import annotations

import dataclasses
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, ClassVar, Final

from judgekit import __version__
from judgekit.errors import UsageError
from judgekit.records import Record
from judgekit.registry import leave_out, left_out, modules

__all__ = ["Measurement", "Metric", "available", "parse_metric", "parse_notation"]

GROUP: Final = "judgekit.metrics"  # the folder, and the entry points of other packages


@dataclass(frozen=True, slots=True)
class Measurement:
    """A metric's value for one record, or None with the reason. Never NaN. `details` is JSON: what to look at."""

    value: float | None
    reason: str | None = None
    details: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.value is None and not self.reason:
            raise ValueError("a Measurement without a value needs a reason")
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError("a Measurement is a finite number: use Measurement(None, reason)")


@dataclass(frozen=True)
class Metric(ABC):
    """One metric with its options set. Equal notations mean equal definitions.

    Class attributes
    ----------------
    name : the short name, as on the command line.
    summary : one line for ``metric list``.
    source : where the definition comes from.
    choices : for each option with a closed set of values, those values.
    needs : packages without which it cannot run with its defaults; `install` brings them.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    source: ClassVar[str] = ""
    choices: ClassVar[dict[str, tuple[str, ...]]] = {}
    needs: ClassVar[tuple[str, ...]] = ()
    install: ClassVar[str] = "pip install 'clinical-judgekit[metrics]'"

    @classmethod
    def not_here(cls) -> str | None:
        """What is not here that the metric needs with its defaults, and how to get it; None where nothing is. Loads nothing."""
        absent = [name for name in cls.needs if find_spec(name) is None]
        return f"{', '.join(absent)} ({cls.install})" if absent else None

    def __post_init__(self) -> None:
        for option, allowed in self.choices.items():
            if getattr(self, option) not in allowed:
                raise UsageError(
                    f"{option}={getattr(self, option)} is no option of {self.name}",
                    field=option,
                    mend=f"one of {', '.join(allowed)}",
                )

    @property
    def notation(self) -> str:
        """Name and every option that decides the number, in a fixed order; `parse_metric` reads it back."""
        options = [f"{item.name}={_shown(getattr(self, item.name))}" for item in dataclasses.fields(self)]
        return f"{self.name}({','.join(options)})" if options else self.name

    @property
    def signature(self) -> str:
        """The notation with the versions of everything below it, as ``notation|part:version|...``."""
        parts = {"judgekit": __version__, **self.versions()}
        return "|".join([self.notation, *(f"{part}:{version}" for part, version in parts.items())])

    def versions(self) -> dict[str, str]:
        """Packages, models and data that decide the number, with their versions or hashes."""
        return {}

    @abstractmethod
    def measure(self, records: Sequence[Record]) -> list[Measurement]:
        """One Measurement a record, in order. A record's value does not depend on which others are in the batch."""


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


_NOTATION = re.compile(r"\s*([a-z][a-z0-9_]*)\s*(?:\((.*)\))?\s*", re.DOTALL)


def parse_notation(text: str) -> tuple[str, dict[str, str]]:
    """``entity_f1(ner=gazetteer,match=exact)`` -> name and options. Raises UsageError where it cannot be read."""
    match = _NOTATION.fullmatch(text)
    if not match:
        raise UsageError(f"{text!r} is no metric", mend="write name or name(option=value,...)")
    options: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in (match.group(2) or "").split(","))):
        key, sign, value = part.partition("=")
        if not sign or key.strip() in options:
            raise UsageError(f"{part!r} in {text!r} is no option", mend="write each option once, as option=value")
        options[key.strip()] = value.strip()
    return match.group(1), options


def available() -> dict[str, type[Metric]]:
    """Every metric by name: those of this folder and those of other packages that keep the contract."""
    found: dict[str, type[Metric]] = {}
    for place, module in modules(GROUP, GROUP).items():
        metric = getattr(module, "METRIC", None)
        if (
            isinstance(metric, type)
            and issubclass(metric, Metric)
            and dataclasses.is_dataclass(metric)
            and hasattr(metric, "name")
        ):
            found.setdefault(metric.name, metric)
        elif metric is not None or not module.__name__.startswith(f"{GROUP}."):
            leave_out(GROUP, place, "its METRIC is no frozen dataclass of the class Metric with a name")
    return dict(sorted(found.items()))


def parse_metric(text: str) -> Metric:
    """The metric that a notation names; options that are left out take their defaults.

    Raises UsageError for an unknown name, option or value, saying what there is.
    """
    name, options = parse_notation(text)
    known = available()
    if name not in known:
        why = (
            f"; what could not be loaded: {'; '.join(': '.join(row) for row in left_out(GROUP).items())}"
            if left_out(GROUP)
            else ""
        )
        raise UsageError(f"there is no metric {name!r}{why}", field="metric", mend=f"one of {', '.join(known)}")
    fields = {item.name: item for item in dataclasses.fields(known[name])}
    values: dict[str, Any] = {}
    for key, value in options.items():
        if key not in fields:
            raise UsageError(
                f"{name} has no option {key!r}",
                field=key,
                mend=f"one of {', '.join(fields)}" if fields else "it has none",
            )
        values[key] = _convert(name, key, value, fields[key].type)
    return known[name](**values)


def _convert(name: str, key: str, value: str, kind: Any) -> Any:
    try:
        if kind in ("float", float):
            number = float(value)
            if not math.isfinite(number):
                raise ValueError
            return number
        if kind in ("int", int):
            return int(value)
        if kind in ("bool", bool):
            return {"yes": True, "true": True, "no": False, "false": False}[value.casefold()]
    except (ValueError, KeyError):
        raise UsageError(
            f"{key}={value} of {name} is no {kind}", field=key, mend="write a number, or yes or no"
        ) from None
    return value
