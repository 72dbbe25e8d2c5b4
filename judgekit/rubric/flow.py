"""Questions about a compiled template: what is certainly given where, and what depends on the record."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from judgekit.rubric.render import Compare, For, If, Logic, Node, Print, Ref, Text

__all__ = ["guards", "join", "reads_record"]


def guards(test: Compare | Logic, when: bool) -> frozenset[str]:
    """Inputs that are certainly present where `test` came out as `when`."""
    if isinstance(test, Logic):
        if test.op == "not":
            return guards(test.parts[0], not when)
        if (test.op == "and") == when:
            return frozenset().union(*(guards(part, when) for part in test.parts))
        return frozenset()
    if test.ref.attribute is not None:
        return frozenset()
    if test.op == "none":
        return frozenset() if when else frozenset({test.ref.name})
    if test.op in ("eq", "in") and when:
        return frozenset({test.ref.name})
    return frozenset()


def reads_record(node: Any, record: frozenset[str], own: set[str]) -> bool:
    """Does any part of `node` read an input, or a loop variable that runs over something of the record?"""
    if isinstance(node, tuple):
        return any(reads_record(item, record, own) for item in node)
    if isinstance(node, Ref):
        return node.name in record or not (node.name in own or node.name.startswith("fields."))
    if isinstance(node, Print):
        return reads_record(node.ref, record, own)
    if isinstance(node, For):
        own = own | {node.variable}
        return any(reads_record(part, record, own) for part in (node.source, node.body, node.orelse))
    if isinstance(node, If):
        return any(reads_record(part, record, own) for part in (node.test, node.body, node.orelse))
    if isinstance(node, Compare):
        return reads_record(node.ref, record, own)
    if isinstance(node, Logic):
        return reads_record(node.parts, record, own)
    return False


def join(program: Iterable[Node]) -> tuple[Node, ...]:
    """Neighbouring texts become one."""
    out: list[Node] = []
    for node in program:
        if isinstance(node, Text) and out and isinstance(out[-1], Text):
            out[-1] = Text(out[-1].text + node.text)
        elif not (isinstance(node, Text) and not node.text):
            out.append(node)
    return tuple(out)
