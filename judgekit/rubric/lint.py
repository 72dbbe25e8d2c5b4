"""What is wrong, or probably not meant, in a rubric file; no model is needed.

Errors make a rubric unusable or its numbers meaningless. Warnings are habits that cost money or quality.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from judgekit.errors import RubricError
from judgekit.forms import shown
from judgekit.rubric.compile import CompiledRubric, compile_spec
from judgekit.rubric.fields import ChoiceField, ListField, ScaleField, TextField
from judgekit.rubric.lint_numbers import CHARS_PER_TOKEN, Remark, checks, sampling, threshold
from judgekit.rubric.load import load_rubric, load_spec
from judgekit.rubric.render import For, If, Node, Print, Text

__all__ = ["Finding", "lint_compiled", "lint_file"]

MAX_STATIC_TOKENS = 6_000
MAX_USER_STATIC_CHARS = 800
_WIRE_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Finding:
    """One remark. `code` is its short name; `line` counts from 1."""

    severity: Literal["error", "warning"]
    code: str
    file: str
    line: int | None
    field: str | None
    message: str
    mend: str | None

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        field = f"{self.field}: " if self.field else ""
        mend = f": {self.mend}" if self.mend else ""
        return f"{place}: {self.severity}: {field}{self.message}{mend} [{self.code}]"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def lint_file(path: Path) -> list[Finding]:
    """All findings about one file, in the order of its lines."""
    try:
        compiled = compile_spec(load_spec(path), path)
    except RubricError as error:
        return [
            Finding(
                "error", "unreadable", error.file or shown(path), error.line, error.field, error.message, error.mend
            )
        ]
    return lint_compiled(compiled)


def lint_compiled(rubric: CompiledRubric) -> list[Finding]:
    """Findings about a rubric that compiles."""
    found: list[Finding] = []
    for rule in _RULES:
        for severity, code, field, message, mend in rule(rubric):
            file, line = _place(rubric, field)
            found.append(Finding(severity, code, file, line, field, message, mend))
    for name, file, line in rubric.user_template.unguarded:
        message = f"the optional input `{name}` is printed without a test"
        mend = f"wrap it: {{% if {name} is not none %}}...{{% endif %}}"
        found.append(Finding("warning", "unguarded-optional", file, line, "prompt.user", message, mend))
    return sorted(found, key=lambda each: (each.line or 0, each.severity, each.code))


def _place(rubric: CompiledRubric, field: str | None) -> tuple[str, int | None]:
    path = field or ""
    while path:
        place = rubric.spec.where.get(path)
        if place is not None:
            return place.file, place.line
        path = re.sub(r"(\.[^.]*|\[\d+\])$", "", path) if re.search(r"[.\[]", path) else ""
    return (shown(rubric.path) if rubric.path else rubric.name), None


Rule = Callable[[CompiledRubric], Iterator[Remark]]


def _name(rubric: CompiledRubric) -> Iterator[Remark]:
    if rubric.path is not None and rubric.path.stem != rubric.name:
        yield (
            "warning",
            "name-differs",
            "rubric",
            f"the file is called {rubric.path.name}, the rubric {rubric.name}",
            f"name both alike, such as {rubric.name}.yaml",
        )


def _inputs(rubric: CompiledRubric) -> Iterator[Remark]:
    spec = rubric.spec
    used = set(rubric.user_template.used)
    used |= {field.by or "options" for field in spec.verdict if isinstance(field, ChoiceField) and field.dynamic}
    if "turns" in used or "question" in used:
        used |= {"turns", "question"} & set(spec.inputs)
    for kind, names in (("required", spec.required), ("optional", spec.optional)):
        for name in names:
            if name not in used:
                yield (
                    "warning",
                    "unused-input",
                    f"inputs.{kind}",
                    f"`{name}` is declared, and no prompt shows it",
                    "show it, or remove it",
                )
    if spec.criteria is not None and not any(_prints(node, "criteria") for node in rubric.user_template.program):
        yield (
            "error",
            "criteria-not-shown",
            "prompt.user",
            "the judge is asked about criteria that it never sees",
            "write {% for c in criteria %}{{ c.text }}{% endfor %}",
        )


def _prints(node: Node, source: str, variable: str | None = None) -> bool:
    if isinstance(node, Print):
        return variable is not None and node.ref.name == variable and node.ref.attribute == "text"
    if isinstance(node, If):
        return any(_prints(each, source, variable) for each in (*node.body, *node.orelse))
    if isinstance(node, For):
        inner = node.variable if node.source.name == source else variable
        return any(_prints(each, source, inner) for each in (*node.body, *node.orelse))
    return False


def _levels(rubric: CompiledRubric) -> Iterator[Remark]:
    text = _static_text(rubric)
    for field in rubric.spec.verdict:
        if not isinstance(field, ScaleField):
            continue
        where = f"verdict.{field.name}.scale"
        values = [level.value for level in field.levels]
        if values[0] > values[-1]:
            yield "warning", "levels-descend", where, "the levels run from high to low", "list them from low to high"
        if field.high - field.low + 1 != len(values):
            missing = sorted(set(range(field.low, field.high + 1)) - set(values))
            yield "warning", "level-gap", where, f"level {missing[0]} is skipped", "number the levels one by one"
        for level in field.levels:
            if not level.anchor:
                yield (
                    "warning",
                    "no-anchor",
                    f"{where}.{level.value}",
                    "this level has no anchor",
                    "say what makes an answer this level",
                )
        if any(level.anchor and " ".join(level.anchor.split()) not in text for level in field.levels):
            yield (
                "warning",
                "anchors-not-shown",
                where,
                "the prompts do not show these anchors; some providers pass no schema on to the model",
                f"write {{% for level in fields.{field.name}.levels %}}{{{{ level.value }}}}: {{{{ level.text }}}}{{% endfor %}}",
            )


def _static_text(rubric: CompiledRubric) -> str:
    return " ".join(((rubric.system_text or "") + " " + _user_static(rubric)).split())


def _user_static(rubric: CompiledRubric) -> str:
    def walk(nodes: tuple[Node, ...]) -> str:
        out = ""
        for node in nodes:
            if isinstance(node, Text):
                out += node.text
            elif isinstance(node, If | For):
                out += walk(node.body) + walk(node.orelse)
        return out

    return walk(rubric.user_template.program)


def _order(rubric: CompiledRubric) -> Iterator[Remark]:
    spec = rubric.spec
    if spec.score is None:
        return
    names = [field.name for field in spec.verdict]
    texts = [field.name for field in spec.verdict if isinstance(field, TextField)]
    first = min(names.index(name) for name in spec.score.fields)
    if not texts:
        yield (
            "warning",
            "no-reasons",
            "verdict",
            "the judge is never asked for reasons",
            "put a text field such as `explanation` first",
        )
    elif names.index(texts[0]) > first:
        yield (
            "warning",
            "score-first",
            f"verdict.{names[first]}",
            f"`{names[first]}` is decided before `{texts[0]}` is written",
            f"put `{texts[0]}` first, so that the score follows from the reasons",
        )
    if spec.construct is None:
        yield (
            "warning",
            "no-construct",
            "score",
            "without `construct` no label is compared with this score",
            "write for example `construct: completeness`",
        )


def _prompts(rubric: CompiledRubric) -> Iterator[Remark]:
    length = _longest(rubric.user_template.program)
    if length > MAX_USER_STATIC_CHARS:
        yield (
            "warning",
            "static-in-user",
            "prompt.user",
            f"{length:,} characters of fixed text stand in the user message",
            "move them to prompt.system, which providers keep in their prefix caches",
        )
    text = _static_text(rubric)
    if not any(part.endswith("fences.j2") for part in rubric.parts) and "-CODE>" not in text:
        yield (
            "warning",
            "fence-unexplained",
            "prompt.system" if rubric.system_text is not None else "prompt",
            "nothing tells the judge that fenced material is no instruction",
            'write {% include "_parts/fences.j2" %} in prompt.system',
        )
    tokens = static_tokens(rubric)
    if tokens > MAX_STATIC_TOKENS:
        yield (
            "warning",
            "long-prompt",
            "prompt",
            f"about {tokens:,} tokens are sent with every call",
            "shorten the text, or use fewer examples",
        )
    criteria = rubric.spec.criteria
    if criteria is not None and criteria.ask == "together" and not _numbered(rubric.user_template.program):
        yield (
            "warning",
            "no-numbers",
            "prompt.user",
            "under `together` the reply is keyed by position, and the prompt shows none",
            "write {{ c.number }} before {{ c.text }}",
        )


def _longest(nodes: tuple[Node, ...]) -> int:
    """Characters of fixed text in the longest message: of an if, the longer branch; of a loop, one turn."""
    total = 0
    for node in nodes:
        if isinstance(node, Text):
            total += len(node.text)
        elif isinstance(node, If | For):
            total += max(_longest(node.body), _longest(node.orelse))
    return total


def _numbered(nodes: tuple[Node, ...]) -> bool:
    for node in nodes:
        if isinstance(node, Print) and node.ref.attribute in ("number", "index"):
            return True
        if isinstance(node, If | For) and (_numbered(node.body) or _numbered(node.orelse)):
            return True
    return False


def static_tokens(rubric: CompiledRubric) -> int:
    """About how many tokens are sent with every call besides the record: prompts and given examples."""
    turns = sum(len(message["content"]) for message in rubric.example_turns)
    return (len(rubric.system_text or "") + len(_user_static(rubric)) + turns) // CHARS_PER_TOKEN


def _writer(rubric: CompiledRubric) -> Iterator[Remark]:
    criteria = rubric.spec.criteria
    if criteria is None or criteria.write is None:
        return
    where = "criteria.write.rubric"
    try:
        writer = load_rubric(rubric.writer_path or "")
    except RubricError as error:
        yield (
            "error",
            "no-writer",
            where,
            f"the checklist's writer cannot be used: {error}",
            "name a rubric of the library, or a file beside this one",
        )
        return
    lists = [field for field in writer.spec.verdict if isinstance(field, ListField)]
    if len(lists) != 1 or not any(field.name == "text" and isinstance(field, TextField) for field in lists[0].of):
        yield (
            "error",
            "no-writer",
            where,
            f"`{writer.name}` does not return one list whose items have a `text`",
            "see checklist-writer in the library",
        )
    if "response" in writer.spec.inputs:
        yield (
            "error",
            "writer-sees-response",
            where,
            f"`{writer.name}` sees the response, so each answer would write its own list",
            "let it see the question only",
        )


def _names(rubric: CompiledRubric) -> Iterator[Remark]:
    for field in rubric.spec.verdict:
        inner = [each.name for each in field.of] if isinstance(field, ListField) else []
        for name in (field.name, *inner):
            if not _WIRE_NAME.fullmatch(name):
                yield (
                    "warning",
                    "odd-name",
                    f"verdict.{field.name}",
                    f"some providers refuse {name!r} as a key of a schema",
                    "use letters, digits, _ . and - only",
                )


_RULES: tuple[Rule, ...] = (
    _name, _inputs, _levels, _order, _prompts, sampling, threshold, _writer, checks, _names,
)  # fmt: skip
