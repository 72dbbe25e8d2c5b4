"""What a name in a prompt template means, and what of it may be printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from jinja2 import nodes

from judgekit.errors import RubricError
from judgekit.forms import did_you_mean
from judgekit.rubric.render import Node, Print, Ref
from judgekit.rubric.spec import HIDDEN_INPUTS, MEANT, RECORD_INPUTS

__all__ = ["Context", "Names"]

_BASE = {"criteria": "criterion", "options": "option", "turns": "turn", "choices": "option"}
_ATTRIBUTES = {
    "criteria": ("id", "text", "number", "points", "kind", "tags"),
    "options": ("id", "text", "number"),
    "turns": ("role", "content", "number"),
    "levels": ("value", "label", "text"),
    "choices": ("value", "label", "text"),
}
_LOOP = ("index", "first", "last")


@dataclass(frozen=True, slots=True)
class Context:
    """Where a piece of template stands, and what is in sight there."""

    file: str
    line: int
    folder: str
    variables: Mapping[str, str] = field(default_factory=dict)  # loop variable -> what it runs over
    record_variables: frozenset[str] = frozenset()  # those that run over something of the record
    guards: frozenset[str] = frozenset()
    parent_block: tuple[nodes.Node, ...] | None = None
    parent: Context | None = None
    stack: tuple[str, ...] = ()


class Names:
    """Names in sight of a rubric's prompts: declared inputs, loop variables, levels of the verdict's fields.

    `levels` maps a verdict field to ``[{value, label, text}]``, or, where its options depend on the record, to the name of
    the input that decides: ``"options"`` for the record's own.
    """

    def __init__(
        self, required: Iterable[str], optional: Iterable[str], levels: Mapping[str, Sequence[Mapping[str, Any]] | str]
    ) -> None:
        self.required = frozenset(required)
        self.optional = frozenset(optional)
        self.levels = levels
        self.static_only = False
        self.used: set[str] = set()
        self.unguarded: list[tuple[str, str, int]] = []

    def fail(self, node: nodes.Node, context: Context, message: str, mend: str) -> NoReturn:
        raise RubricError(message, file=context.file, line=context.line + node.lineno - 1, field="prompt", mend=mend)

    def ref(self, node: nodes.Node, context: Context, printing: bool = False) -> tuple[Ref, str]:
        """The value that `node` names, and what it is: ``input``, ``loop``, ``levels``, or the list a loop runs over."""
        attribute: str | None = None
        base: nodes.Node
        if isinstance(node, nodes.Getattr):
            attribute, base = node.attr, node.node
        elif isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const) and isinstance(node.arg.value, str):
            attribute, base = node.arg.value, node.node
        else:
            base = node
        if not isinstance(base, nodes.Name):
            self.fail(
                node, context, "this is more than a name or one attribute", "write {{ response }} or {{ c.text }}"
            )
        name = base.name
        if name == "loop" and context.variables and "loop" not in context.variables:
            if attribute not in _LOOP:
                self.fail(node, context, f"`loop.{attribute}` is not known", f"use loop.{', loop.'.join(_LOOP)}")
            return Ref("loop", attribute), "loop"
        if name in context.variables:
            source = context.variables[name]
            known = _ATTRIBUTES.get(source)
            if attribute is not None and known is not None and attribute not in known:
                close = did_you_mean(attribute, known)
                self.fail(
                    node,
                    context,
                    f"`{name}` has no `{attribute}`",
                    f"did you mean {close}?" if close else f"it has {', '.join(known)}",
                )
            return Ref(name, attribute), source
        if name == "fields":
            self.fail(
                node,
                context,
                "levels are listed, not printed whole",
                "write {% for level in fields.NAME.levels %}{{ level.label }}{% endfor %}",
            )
        self._known(node, name, context, printing)
        if attribute is not None:
            self.fail(node, context, f"`{name}` is an input, and inputs are printed whole", f"write {{{{ {name} }}}}")
        self._static(node, context)
        self.used.add(name)
        return Ref(name), "input"

    def _static(self, node: nodes.Node, context: Context) -> None:
        if self.static_only:
            self.fail(
                node,
                context,
                "the system message may hold nothing of the record, so that prefix caches work and fences stay in one place",
                "move it to prompt.user",
            )

    def _known(self, node: nodes.Node, name: str, context: Context, printing: bool) -> None:
        if name in self.required or name in self.optional:
            return
        meant = MEANT.get(name) if MEANT.get(name) in self.required | self.optional else None
        if name in HIDDEN_INPUTS:
            mend = "carry what it may see in the record's `inputs`, under another name"
            self.fail(node, context, f"a prompt never sees `{name}`", f"did you mean {meant}?" if meant else mend)
        if name in RECORD_INPUTS:
            if printing:
                self.fail(
                    node,
                    context,
                    f"`{name}` is printed but not declared",
                    f"add {name} to inputs.required or inputs.optional",
                )
            return
        close = meant or did_you_mean(name, [*self.required, *self.optional, *context.variables, *RECORD_INPUTS])
        self.fail(
            node,
            context,
            f"`{name}` is neither a declared input nor a loop variable",
            f"did you mean {close}?" if close else "declare it under inputs",
        )

    def iterable(self, node: nodes.Node, context: Context) -> tuple[Ref, str, bool]:
        name = self._levels_of(node)
        if name is not None:
            if name not in self.levels:
                close = did_you_mean(name, self.levels)
                mend = (
                    f"did you mean {close}?"
                    if close
                    else f"the fields with levels are {', '.join(self.levels) or 'none'}"
                )
                self.fail(node, context, f"no scale or choice of the verdict is called `{name}`", mend)
            levels = self.levels[name]
            if isinstance(levels, str):
                self._static(node, context)
                self.used.add(levels)
                return Ref(f"fields.{name}"), "choices" if levels == "options" else "levels", True
            return Ref(f"fields.{name}"), "levels", False
        ref, source = self.ref(node, context)
        if source == "input":
            if ref.name in ("question", "response", "reference"):
                self.fail(
                    node,
                    context,
                    f"`{ref.name}` is a text, not a list",
                    "loop over criteria, options, turns, or a list of the record's inputs",
                )
            self._known(node, ref.name, context, printing=True)
            return ref, ref.name, True
        if source in ("loop", "levels", "choices") or (source in _ATTRIBUTES and ref.attribute != "tags"):
            self.fail(node, context, "this is not a list", "loop over criteria, options, turns, or fields.NAME.levels")
        return ref, f"{source}-{ref.attribute}", True

    def _levels_of(self, node: nodes.Node) -> str | None:
        if not isinstance(node, nodes.Getattr) or node.attr != "levels":
            return None
        inner = node.node
        if isinstance(inner, nodes.Getattr) and isinstance(inner.node, nodes.Name) and inner.node.name == "fields":
            return inner.attr
        if (
            isinstance(inner, nodes.Getitem)
            and isinstance(inner.node, nodes.Name)
            and inner.node.name == "fields"
            and isinstance(inner.arg, nodes.Const)
        ):
            return str(inner.arg.value)
        return None

    def print(self, node: nodes.Node, context: Context) -> Node:
        ref, source = self.ref(node, context, printing=True)
        if source == "loop":
            if ref.attribute != "index":
                self.fail(
                    node,
                    context,
                    f"`loop.{ref.attribute}` is a condition, not a text",
                    "print loop.index, or test it with if",
                )
            return Print(ref, None)
        if source == "levels":
            if ref.attribute is None:
                self.fail(
                    node,
                    context,
                    f"`{ref.name}` is a level with value, label and text",
                    f"write {{{{ {ref.name}.label }}}}",
                )
            return Print(ref, None)
        if source == "input":
            if ref.name in ("criteria", "turns", "options"):
                self.fail(
                    node, context, f"`{ref.name}` is a list", f"write {{% for x in {ref.name} %}}...{{% endfor %}}"
                )
            if ref.name in self.optional and ref.name not in context.guards:
                self.unguarded.append((ref.name, context.file, context.line + node.lineno - 1))
            return Print(ref, ref.name)
        base = _BASE.get(source, f"{source}-item")
        if source in _ATTRIBUTES and ref.attribute is None:
            self.fail(
                node, context, f"`{ref.name}` has several parts", f"write {{{{ {ref.name}.{_ATTRIBUTES[source][1]} }}}}"
            )
        if source in _ATTRIBUTES and ref.attribute == "number":
            return Print(ref, None)
        main = ref.attribute in (None, "text", "content")
        return Print(ref, base if main else f"{base}-{ref.attribute}")
