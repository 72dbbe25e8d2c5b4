"""The expressions of cards: JMESPath with a few functions of our own, plain column names, and what they never found."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from judgekit.errors import DataError

__all__ = ["Trace", "find", "no", "nothing"]

MAX_LENGTH = 4_000
MAX_WORK = 1_000_000
"""Values that one expression may build for one row; 64 characters of text count as one more."""


@lru_cache(maxsize=512)
def _compiled(expression: str) -> Any:
    import jmespath
    from jmespath.exceptions import JMESPathError

    if len(expression) > MAX_LENGTH:
        raise JMESPathError(f"an expression of more than {MAX_LENGTH:,} characters")
    try:
        return jmespath.compile(expression)
    except RecursionError:
        raise JMESPathError("nested too deeply") from None


def _size(value: Any) -> int:
    """How many values a value holds, up to just over `MAX_WORK`; what stands in several places counts as often."""
    work, waiting = 0, [value]
    while waiting and work <= MAX_WORK:
        item = waiting.pop()
        work += 1 + (len(item) // 64 if isinstance(item, str) else 0)
        if isinstance(item, list):
            work += len(item) if len(item) > MAX_WORK else 0
            waiting += item if len(item) <= MAX_WORK else []
        elif isinstance(item, dict):
            waiting += item.values()
    return work


def _bounded(chars: int) -> None:
    if chars > 64 * MAX_WORK:
        raise DataError("an expression makes a text of more than 64 million characters")


@lru_cache(maxsize=1)
def _options() -> Any:
    import hashlib

    import jmespath
    from jmespath import functions

    class Functions(functions.Functions):  # type: ignore[misc]
        @functions.signature({"types": ["string"]})  # type: ignore[untyped-decorator]
        def _func_digest(self, text: str) -> str:
            """`digest(text)`: twelve hex digits of its sha256, for sources whose rows have no id."""
            return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]

        @functions.signature({"types": ["string"]})  # type: ignore[untyped-decorator]
        def _func_strip(self, text: str) -> str:
            """`strip(text)`: without white space at its ends."""
            return text.strip()

        @functions.signature({"types": ["string"]}, {"types": ["string"]}, {"types": ["string"]})  # type: ignore[untyped-decorator]
        def _func_replace(self, text: str, old: str, new: str) -> str:
            """`replace(text, old, new)`: every `old` becomes `new`."""
            _bounded(text.count(old) * len(new) + len(text))
            return text.replace(old, new)

        @functions.signature({"types": ["string"]}, {"types": ["array-string"]})  # type: ignore[untyped-decorator]
        def _func_join(self, glue: str, texts: list[str]) -> str:
            """JMESPath's own, bounded."""
            _bounded(len(glue) * len(texts) + sum(map(len, texts)))
            return glue.join(texts)

        @functions.signature({"types": ["array"]}, {"types": ["array"]})  # type: ignore[untyped-decorator]
        def _func_zip(self, first: list[Any], second: list[Any]) -> list[list[Any]]:
            """`zip(a, b)`: pairs of two lists of the same length."""
            if len(first) != len(second):
                raise DataError(f"two lists of {len(first)} and {len(second)} belong together")
            return [list(pair) for pair in zip(first, second, strict=True)]

    return jmespath.Options(custom_functions=Functions())


@dataclass(slots=True)
class Trace:
    """What an expression of a card found over the rows of a file: anything at all, and which of its keys were never there."""

    expressions: set[str] = field(default_factory=set)
    found: bool = False
    there: set[str] = field(default_factory=set)
    absent: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def see(self, key: str, value: Any) -> None:
        if isinstance(value, dict) and key in value:
            self.there.add(key)
        elif value is not None:
            self.absent.setdefault(key, tuple(value) if isinstance(value, dict) else ())

    def never(self) -> tuple[str, tuple[str, ...]] | None:
        """The first key that was never there, and the keys beside which it was looked for; None where the expression found what it names.

        An empty cell is found. So is what stands in one of several places that the expression tries.
        """
        ends = {name for text in self.expressions for name in _ends(text)}
        missing = [(key, beside) for key, beside in self.absent.items() if key not in self.there]
        return missing[0] if missing and not self.found and not ends & self.there else None


def _ends(expression: str) -> set[str]:
    """The keys that an expression ends on: ``b`` of ``a.b``, ``d`` of ``c[?x=='y'].d | [0]``."""

    def walk(node: dict[str, Any]) -> set[str]:
        if node["type"] == "field":
            return {node["value"]}
        steps = [walk(child) for child in node["children"][:2] if isinstance(child, dict)]
        if node["type"] in (
            "subexpression",
            "pipe",
            "index_expression",
            "projection",
            "value_projection",
            "filter_projection",
        ):
            return next((step for step in reversed(steps) if step), set())
        return set().union(*(walk(child) for child in node["children"] if isinstance(child, dict)))

    return {expression} if _plain(expression) else walk(_compiled(expression).parsed)


@lru_cache(maxsize=512)
def _plain(expression: str) -> bool:
    """Whether the expression is a column's name and nothing else: an identifier, or what is no JMESPath."""
    from jmespath.exceptions import JMESPathError

    try:
        _compiled(expression)
    except JMESPathError:
        return True
    return expression.isidentifier()


def find(expression: str, value: Any, trace: Trace | None = None) -> Any:
    """The value of a JMESPath expression, or of the column of this very name; errors of its functions become DataErrors without a place."""
    if trace is not None:
        trace.expressions.add(expression)
    if _plain(expression) or (isinstance(value, dict) and expression in value):
        if trace is not None:
            trace.see(expression, value)
            trace.there |= _ends(expression) if isinstance(value, dict) and expression in value else set()
        return value.get(expression) if isinstance(value, dict) else None
    from jmespath.exceptions import JMESPathError

    try:
        return _interpreter()(_options(), trace).visit(_compiled(expression).parsed, value)
    except RecursionError:
        raise DataError(f"{expression[:80]!r} is nested too deeply") from None
    except JMESPathError as error:
        raise DataError(f"{expression!r} does not fit this row: {str(error).splitlines()[0]}") from None


@lru_cache(maxsize=1)
def _interpreter() -> Any:
    from jmespath.visitor import TreeInterpreter

    class Interpreter(TreeInterpreter):  # type: ignore[misc]
        def __init__(self, options: Any, trace: Trace | None) -> None:
            super().__init__(options)
            self.trace = trace
            self.work = 0

        def visit(self, node: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
            # What is built out of what was built multiplies: a short expression of a stranger's card would never end.
            found = super().visit(node, *args, **kwargs)
            self.work += 1
            if node["type"] in ("multi_select_list", "multi_select_dict", "function_expression"):
                self.work += _size(found)
            if self.work > MAX_WORK:
                raise DataError("an expression builds more than a million values for one row")
            return found

        def visit_field(self, node: dict[str, Any], value: Any) -> Any:
            if self.trace is not None:
                self.trace.see(node["value"], value)
            return super().visit_field(node, value)

    return Interpreter


def no(value: Any) -> bool:
    """What JMESPath takes as false: null, false and what is empty. The number 0 is not."""
    return value is None or value is False or (isinstance(value, str | list | dict) and not value)


def nothing(value: Any) -> bool:
    """Null, and texts, lists and maps that hold nothing."""
    if isinstance(value, dict):
        return all(nothing(item) for item in value.values())
    return value is None or value == "" or (isinstance(value, list) and all(nothing(item) for item in value))
