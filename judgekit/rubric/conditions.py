"""Small conditions: ``">= 4"``, ``must_have``, ``[a, b]``, ``"!= nice_to_have"``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

from pydantic import PlainValidator, WithJsonSchema

from judgekit.exact import compare
from judgekit.forms import TextRule, wrong

__all__ = ["Comparison", "Condition", "Written", "holds", "matches", "read_condition"]

_COMPARISON = re.compile(r"\s*(>=|<=|==|!=|>|<|=)\s*(.*\S)\s*", re.DOTALL)
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Condition:
    """`op` is ``>=``, ``<=``, ``>``, ``<``, ``==``, ``!=`` or ``in``; `operands` are texts, None for an absent value.

    `written` is the condition as the file has it.
    """

    op: str
    operands: tuple[str | None, ...]
    written: str

    @property
    def number(self) -> float | None:
        text = self.operands[0]
        return float(text) if text is not None and _NUMBER.fullmatch(text) else None


def holds(condition: Condition, value: Any) -> bool:
    """Does `value` (a text, number, boolean, list of these, or None) fulfil the condition?

    Order is compared between numbers only: anything else fails it. A list fulfils it where any of its items does, and
    ``!=`` where all do.
    """
    if isinstance(value, list | tuple):
        results = [holds(condition, item) for item in value]
        return all(results) if condition.op == "!=" else any(results)
    if condition.op in ("in", "=="):
        return any(_same(operand, value) for operand in condition.operands)
    if condition.op == "!=":
        return not any(_same(operand, value) for operand in condition.operands)
    return condition.number is not None and _finite(value) and compare(value, condition.op, condition.operands[0])


def _same(operand: str | None, value: Any) -> bool:
    if operand is None or value is None:
        return operand is None and value is None
    if isinstance(value, bool):
        return operand == ("true" if value else "false")
    if isinstance(value, int | float | Fraction):
        return bool(_NUMBER.fullmatch(operand)) and _finite(value) and compare(operand, "==", value)
    return operand == str(value)


def _finite(value: Any) -> bool:
    return isinstance(value, int | float | Fraction) and not isinstance(value, bool) and math.isfinite(value)


def matches(conditions: Mapping[str, Condition], item: Any) -> bool:
    """All conditions hold for the attributes (or, for a map, the keys) that they name; an absent one is None."""
    return all(
        holds(condition, item.get(name) if isinstance(item, Mapping) else getattr(item, name, None))
        for name, condition in conditions.items()
    )


def read_condition(value: Any) -> Condition:
    """The condition that a text, a list of texts or null means."""
    text = TextRule()
    if isinstance(value, list):
        if not value:
            raise wrong("an empty list matches nothing", "list the values that count")
        operands = tuple(None if item is None else text(item) for item in value)
        return Condition("in", operands, "[" + ", ".join("null" if each is None else each for each in operands) + "]")
    if value is None:
        return Condition("==", (None,), "null")
    written = text(value)
    found = _COMPARISON.fullmatch(written)
    if found is None:
        return Condition("==", (written,), written)
    op = "==" if found[1] == "=" else found[1]
    if op not in ("==", "!=") and not _NUMBER.fullmatch(found[2]):
        raise wrong(f"{found[2]!r} is not a number", 'write a comparison with a number, such as ">= 4"')
    return Condition(op, (found[2],), written.strip())


def _comparison(value: Any) -> Condition:
    condition = read_condition(value)
    if condition.op == "in" or condition.number is None or condition.operands[0] == condition.written:
        raise wrong(f"{condition.written!r} is not a comparison", 'write for example ">= 4", in quotes')
    return condition


_SCALAR = {"type": ["string", "number", "boolean", "null"]}
Written = Annotated[
    Condition,
    PlainValidator(read_condition),
    WithJsonSchema({"anyOf": [_SCALAR, {"type": "array", "minItems": 1, "items": _SCALAR}]}),
]
Comparison = Annotated[
    Condition,
    PlainValidator(_comparison),
    WithJsonSchema({"type": "string", "pattern": "^\\s*(>=|<=|==|!=|>|<|=)\\s*[-+]?[0-9.]+\\s*$"}),
]
