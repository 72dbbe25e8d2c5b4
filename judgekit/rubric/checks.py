"""Does a verdict fulfil what a rubric's check expects?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judgekit.rubric.conditions import holds
from judgekit.rubric.spec import Check

__all__ = ["Expectation", "expectations"]


@dataclass(frozen=True, slots=True)
class Expectation:
    """One line of `expect`: what was wanted, what came, and whether it holds."""

    name: str
    wanted: str
    got: Any
    holds: bool


def expectations(
    check: Check, verdict: Mapping[str, Any] | None, raw: float | None, complete: bool | None
) -> list[Expectation]:
    """Compare a scored judgement with a check. A value that is absent fulfils nothing but ``null``."""
    found = []
    for name, condition in check.expect.items():
        got = _value(name, verdict or {}, raw, complete)
        found.append(Expectation(name, condition.written, got, holds(condition, got)))
    return found


def _value(name: str, verdict: Mapping[str, Any], raw: float | None, complete: bool | None) -> Any:
    if name == "raw":
        return raw
    if name == "complete":
        return complete
    if name in verdict:
        return verdict[name]
    identity, _, field = name.rpartition(".")
    criteria = verdict.get("criteria")
    one = criteria.get(identity) if isinstance(criteria, Mapping) else None
    return one.get(field) if isinstance(one, Mapping) else None
