"""jinja2 prompt templates, checked on their syntax tree: only bare inputs and attributes of loop variables are printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, TemplateSyntaxError, nodes
from jinja2.sandbox import SandboxedEnvironment

from judgekit.errors import RubricError
from judgekit.forms import read_utf8, shown
from judgekit.rubric.flow import guards, join, reads_record
from judgekit.rubric.names import Context, Names
from judgekit.rubric.render import Budget, Compare, For, If, Logic, Node, Text, fill_static
from judgekit.rubric.spec import RECORD_INPUTS, PromptText

__all__ = ["Template", "TemplateCompiler"]

# The parser's environment; no filter, test or global of jinja2's is reachable, because nothing of it is ever run.
_ENVIRONMENT = SandboxedEnvironment(
    undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True, autoescape=False
)
MAX_INCLUDES = 40
MAX_NODES = 20_000


@dataclass(frozen=True, slots=True)
class Template:
    """A checked template. `used` are the inputs it reads, `unguarded` the optional ones printed outside any ``is none`` test, with
    file and line."""

    program: tuple[Node, ...]
    used: frozenset[str]
    unguarded: tuple[tuple[str, str, int], ...]
    parts: tuple[str, ...]


class TemplateCompiler(Names):
    """Compiles the prompts of one rubric.

    Parameters
    ----------
    required, optional : declared inputs.
    levels : verdict field -> its levels or choices as ``[{value, label, text}]``; or, where they depend on the record,
        the name of the input that decides.
    blocks : bodies that replace ``{% block %}``.
    find_part : name and folder -> file of an include, or None.
    """

    def __init__(
        self,
        required: Iterable[str],
        optional: Iterable[str],
        levels: Mapping[str, Sequence[Mapping[str, Any]] | str],
        blocks: Mapping[str, PromptText],
        find_part: Callable[[str, str], Path | None],
    ) -> None:
        super().__init__(required, optional, levels)
        self.blocks = blocks
        self.find_part = find_part
        self.seen_blocks: set[str] = set()
        self.includes = 0
        self.nodes = 0
        self.budget = Budget()

    def compile(self, prompt: PromptText, static: bool = False) -> Template:
        """Check and compile one prompt; under `static` nothing of the record may stand in it."""
        self.static_only = static
        self.used: set[str] = set()
        self.parts: list[str] = []
        self.unguarded: list[tuple[str, str, int]] = []
        context = Context(prompt.file, prompt.line, prompt.folder)
        try:
            program = join(self._body(self._parse(prompt.text, context).body, context))
        except RecursionError:
            raise RubricError("nested too deeply", file=context.file, field="prompt", mend="flatten it") from None
        return Template(program, frozenset(self.used), tuple(self.unguarded), tuple(self.parts))

    def check_blocks(self) -> None:
        """Every block that is filled must stand in a prompt."""
        for name, text in self.blocks.items():
            if name not in self.seen_blocks:
                known = ", ".join(sorted(self.seen_blocks))
                raise RubricError(
                    "no prompt has a block of this name",
                    file=text.file,
                    line=text.line,
                    field=f"blocks.{name}",
                    mend=f"the blocks are {known}"
                    if known
                    else "write {% block " + name + " %}{% endblock %} in the parent's prompt",
                )

    # parsing

    def _parse(self, text: str, context: Context) -> nodes.Template:
        try:
            return _ENVIRONMENT.parse(text)
        except TemplateSyntaxError as error:
            raise RubricError(
                f"not readable as a template: {error.message}",
                file=context.file,
                line=context.line + error.lineno - 1,
                field="prompt",
                mend="print with {{ name }}, loop with {% for c in criteria %}...{% endfor %}, and close what is open",
            ) from None

    def _body(self, body: Iterable[nodes.Node], context: Context) -> list[Node]:
        out: list[Node] = []
        for node in body:
            self.nodes += 1
            if self.nodes > MAX_NODES:  # blocks that hold super() many times multiply
                self.fail(node, context, f"more than {MAX_NODES:,} pieces", "write less")
            if isinstance(node, nodes.Output):
                for piece in node.nodes:
                    out.extend(self._piece(piece, context))
            elif isinstance(node, nodes.For):
                out.extend(self._for(node, context))
            elif isinstance(node, nodes.If):
                out.extend(self._if(node, context))
            elif isinstance(node, nodes.Include):
                out.extend(self._include(node, context))
            elif isinstance(node, nodes.Block):
                out.extend(self._block(node, context))
            else:
                word = type(node).__name__.lower()
                self.fail(
                    node,
                    context,
                    f"{{% {word} %}} is not part of prompt templates",
                    "use for, if, include and block only",
                )
        return out

    def _piece(self, node: nodes.Node, context: Context) -> list[Node]:
        if isinstance(node, nodes.TemplateData):
            return [Text(node.data)]
        if isinstance(node, nodes.Const) and isinstance(node.value, str):
            return [Text(node.value)]
        if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name) and node.node.name == "super":
            if context.parent_block is None or context.parent is None or node.args or node.kwargs:
                self.fail(
                    node, context, "super() stands outside a block that fills another", "use it in `blocks:` only"
                )
            inner = replace(context.parent, variables=context.variables, record_variables=context.record_variables)
            return self._body(context.parent_block, inner)
        if isinstance(node, nodes.Name | nodes.Getattr | nodes.Getitem):
            return [self.print(node, context)]
        self.fail(
            node,
            context,
            "only an input's bare name, or an attribute of a loop variable, can be printed",
            "write {{ response }} without filters, operators, slices or calls; it fences itself",
        )

    # blocks of text

    def _for(self, node: nodes.For, context: Context) -> list[Node]:
        if not isinstance(node.target, nodes.Name) or node.test is not None or node.recursive:
            self.fail(node, context, "a loop has one variable and no condition", "write {% for c in criteria %}")
        variable = node.target.name
        if variable in ("loop", "fields", "super", *RECORD_INPUTS) or variable in self.required | self.optional | set(
            context.variables
        ):
            self.fail(
                node,
                context,
                f"`{variable}` already has a meaning",
                "name the loop variable otherwise, such as c or item",
            )
        ref, source, dynamic = self.iterable(node.iter, context)
        inner = replace(
            context,
            variables={**context.variables, variable: source},
            record_variables=context.record_variables | {variable} if dynamic else context.record_variables,
        )
        loop = For(variable, ref, join(self._body(node.body, inner)), join(self._body(node.else_, context)))
        own = {variable, "loop"} | set(context.variables)
        if not dynamic and not context.variables and not reads_record(loop, context.record_variables, own):
            return [
                Text(
                    fill_static([loop], {f"fields.{name}": levels for name, levels in self.levels.items()}, self.budget)
                )
            ]
        return [loop]

    def _if(self, node: nodes.If, context: Context) -> list[Node]:
        test = self._test(node.test, context)
        given = replace(context, guards=context.guards | guards(test, True))
        absent = replace(context, guards=context.guards | guards(test, False))
        body = join(self._body(node.body, given))
        rest: list[Node] = []
        if node.elif_:
            following, *others = node.elif_
            following.elif_, following.else_ = others, node.else_
            rest = self._if(following, absent)
        elif node.else_:
            rest = self._body(node.else_, absent)
        return [If(test, body, join(rest))]

    def _test(self, node: nodes.Node, context: Context) -> Compare | Logic:
        if isinstance(node, nodes.Not):
            return Logic("not", (self._test(node.node, context),))
        if isinstance(node, nodes.And | nodes.Or):
            op = "and" if isinstance(node, nodes.And) else "or"
            return Logic(op, (self._test(node.left, context), self._test(node.right, context)))
        if isinstance(node, nodes.Test) and node.name == "none" and not node.args:
            return Compare("none", self.ref(node.node, context)[0])
        if isinstance(node, nodes.Compare) and len(node.ops) == 1 and node.ops[0].op in ("eq", "ne", "in", "notin"):
            op, right = node.ops[0].op, node.ops[0].expr
            items = right.items if isinstance(right, nodes.List | nodes.Tuple) and op in ("in", "notin") else [right]
            if all(isinstance(item, nodes.Const) for item in items) and (op in ("eq", "ne") or items is not None):
                ref = self.ref(node.expr, context)[0]
                return Compare(op, ref, tuple(item.value for item in items if isinstance(item, nodes.Const)))
        if isinstance(node, nodes.Getattr):
            ref, source = self.ref(node, context)
            if source == "loop" and ref.attribute in ("first", "last"):
                return Compare("true", ref)
        self.fail(
            node,
            context,
            "a condition may test `is none` or compare an input with a literal",
            'write {% if reference is not none %} or {% if kind == "A" %}',
        )

    def _include(self, node: nodes.Include, context: Context) -> list[Node]:
        if (
            not isinstance(node.template, nodes.Const)
            or not isinstance(node.template.value, str)
            or node.ignore_missing
        ):
            self.fail(node, context, "an include names one file", 'write {% include "_parts/case.j2" %}')
        name = node.template.value
        path = Path(name)
        if path.is_absolute() or ".." in path.parts or path.suffix != ".j2":
            self.fail(
                node,
                context,
                f"{name!r} cannot be included",
                "include a .j2 file beside the rubric or in the library, such as _parts/case.j2",
            )
        found = self.find_part(name, context.folder)
        if found is None:
            self.fail(node, context, f"there is no part {name!r} beside the rubric or in the library", "check the name")
        if str(found) in context.stack:
            self.fail(node, context, f"{name!r} includes itself", "take the include out")
        self.includes += 1
        if self.includes > MAX_INCLUDES:
            self.fail(node, context, f"more than {MAX_INCLUDES} includes", "write less")
        self.parts.append(name)
        inner = replace(context, file=shown(found), line=1, stack=(*context.stack, str(found)))
        return self._body(self._parse(read_utf8(found, "prompt part", RubricError), inner).body, inner)

    def _block(self, node: nodes.Block, context: Context) -> list[Node]:
        self.seen_blocks.add(node.name)
        text = self.blocks.get(node.name)
        if text is None:
            return self._body(node.body, context)
        key = f"block {node.name}"
        if key in context.stack:
            self.fail(node, context, f"the block `{node.name}` stands inside itself", "take it out")
        inner = replace(
            context,
            file=text.file,
            line=text.line,
            folder=text.folder,
            parent_block=tuple(node.body),
            parent=context,
            stack=(*context.stack, key),
        )
        return self._body(self._parse(text.text, inner).body, inner)
