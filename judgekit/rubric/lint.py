"""What is wrong, or probably not meant, in a rubric file; no model is needed.

Errors make a rubric unusable or its numbers meaningless. Warnings are habits that cost money or quality.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from string import Template
from typing import Any, Literal

from judgekit.errors import RubricError
from judgekit.forms import shown
from judgekit.records import Record
from judgekit.rubric.compile import CompiledRubric, compile_spec
from judgekit.rubric.conditions import Condition, holds
from judgekit.rubric.fields import BooleanField, ChoiceField, Field, ListField, NumberField, ScaleField, TextField
from judgekit.rubric.load import load_rubric, load_spec
from judgekit.rubric.render import For, If, Node, Print, Text

__all__ = ["FINDINGS", "Finding", "lint_compiled", "lint_file", "static_tokens"]

CHARS_PER_TOKEN = 4  # a rule of thumb for English
MAX_STATIC_TOKENS = 6_000
MAX_USER_STATIC_CHARS = 800
_WIRE_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)

# code: severity, message, mend; $words are filled in
FINDINGS: dict[str, tuple[Literal["error", "warning"], str, str]] = {
    "unreadable": ("error", "$message", "$mend"),
    "name-differs": ("warning", "the file is called $file, the rubric $name", "name both alike, such as $name.yaml"),
    "unused-input": ("warning", "`$name` is declared, and no prompt shows it", "show it, or remove it"),
    "criteria-not-shown": ("error", "the judge is asked about criteria that it never sees",
        "write {% for c in criteria %}{{ c.text }}{% endfor %}"),
    "levels-descend": ("warning", "the levels run from high to low", "list them from low to high"),
    "level-gap": ("warning", "level $value is skipped", "number the levels one by one"),
    "no-anchor": ("warning", "this level has no anchor", "say what makes an answer this level"),
    "anchors-not-shown": ("warning",
        "the prompts do not show these anchors; some providers pass no schema on to the model",
        "write {% for level in fields.$name.levels %}{{ level.value }}: {{ level.text }}{% endfor %}"),
    "no-reasons": ("warning", "the judge is never asked for reasons", "put a text field such as `explanation` first"),
    "score-first": ("warning", "`$name` is decided before `$text` is written",
        "put `$text` first, so that the score follows from the reasons"),
    "no-construct": ("warning", "without `construct` no label is compared with this score",
        "write for example `construct: completeness`"),
    "static-in-user": ("warning", "$length characters of fixed text stand in the user message",
        "move them to prompt.system, which providers keep in their prefix caches"),
    "fence-unexplained": ("warning", "nothing tells the judge that fenced material is no instruction",
        'write {% include "_parts/fences.j2" %} in prompt.system'),
    "long-prompt": ("warning", "about $tokens tokens are sent with every call",
        "shorten the text, or use fewer examples"),
    "no-numbers": ("warning", "under `together` the reply is keyed by position, and the prompt shows none",
        "write {{ c.number }} before {{ c.text }}"),
    "unguarded-optional": ("warning", "the optional input `$name` is printed without a test",
        "wrap it: {% if $name is not none %}...{% endif %}"),
    "no-max-tokens": ("warning", "a judge that rambles is not stopped",
        "write `sampling: {temperature: 0, max_tokens: 800}`"),
    "max-tokens-small": ("warning", "the texts that are asked for may need about $need tokens",
        "write $enough, or lower max_chars"),
    "no-temperature": ("warning", "the provider's default temperature is used, mostly 1",
        "write `temperature: 0` to repeat yourself"),
    "blank-not-worst": ("warning", "a blank response gets $value, and that is not the worst score",
        "write {raw: $worst}"),
    "threshold-off-scale": ("error", "'$condition' is $word true on this rubric's scale",
        "compare with a value inside the scale"),
    "gate-cannot-hold": ("error", "'$condition' cannot become true", "compare with a value that the field can have"),
    "no-writer": ("error", "$message", "$mend"),
    "writer-sees-response": ("error", "`$name` sees the response, so each answer would write its own list",
        "let it see the question only"),
    "no-checks": ("warning", "the rubric has no checks of its own",
        'write `checks: [{record: {...}, expect: {raw: "<= 2"}}]`'),
    "check-lacks-input": ("error", "the record lacks $names", "add it"),
    "check-lacks-criteria": ("error", "no criterion of the record passes `where`", "add one"),
    "check-cannot-hold": ("error", "'$condition' cannot become true", "expect a value that the verdict can have"),
    "odd-name": ("warning", "some providers refuse '$name' as a key of a schema",
        "use letters, digits, _ . and - only"),
}  # fmt: skip

Remark = tuple[str, str | None, dict[str, Any]]  # code, field, words
Rule = Callable[[CompiledRubric], Iterator[Remark]]


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
            Finding("error", "unreadable", each.file or shown(path), each.line, each.field, each.message, each.mend)
            for each in (error, *error.also)
        ]
    return lint_compiled(compiled)


def lint_compiled(rubric: CompiledRubric) -> list[Finding]:
    """Findings about a rubric that compiles."""
    found = [_finding(remark, *_place(rubric, remark[1])) for rule in _RULES for remark in rule(rubric)]
    for name, file, line in rubric.user_template.unguarded:
        found.append(_finding(("unguarded-optional", "prompt.user", {"name": name}), file, line))
    return sorted(found, key=lambda each: (each.line or 0, each.severity, each.code))


def _finding(remark: Remark, file: str, line: int | None) -> Finding:
    code, field, words = remark
    severity, message, mend = FINDINGS[code]
    said, write = Template(message).substitute(words), Template(mend).substitute(words)
    return Finding(severity, code, file, line, field, said, write)


def _place(rubric: CompiledRubric, field: str | None) -> tuple[str, int | None]:
    path = field or ""
    while path:
        place = rubric.spec.where.get(path)
        if place is not None:
            return place.file, place.line
        path = re.sub(r"(\.[^.]*|\[\d+\])$", "", path) if re.search(r"[.\[]", path) else ""
    return (shown(rubric.path) if rubric.path else rubric.name), None


# names, inputs and levels


def _names(rubric: CompiledRubric) -> Iterator[Remark]:
    if rubric.path is not None and rubric.path.stem != rubric.name:
        yield "name-differs", "rubric", {"file": rubric.path.name, "name": rubric.name}
    for field in rubric.spec.verdict:
        inner = [each.name for each in field.of] if isinstance(field, ListField) else []
        for name in (field.name, *inner):
            if not _WIRE_NAME.fullmatch(name):
                yield "odd-name", f"verdict.{field.name}", {"name": name}


def _inputs(rubric: CompiledRubric) -> Iterator[Remark]:
    spec = rubric.spec
    used = set(rubric.user_template.used)
    used |= {field.by or "options" for field in spec.verdict if isinstance(field, ChoiceField) and field.dynamic}
    if "turns" in used or "question" in used:
        used |= {"turns", "question"} & set(spec.inputs)
    for kind, names in (("required", spec.required), ("optional", spec.optional)):
        for name in names:
            if name not in used:
                yield "unused-input", f"inputs.{kind}", {"name": name}
    if spec.criteria is not None and not any(_prints(node, "criteria") for node in rubric.user_template.program):
        yield "criteria-not-shown", "prompt.user", {}


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
            yield "levels-descend", where, {}
        if field.high - field.low + 1 != len(values):
            yield "level-gap", where, {"value": min(set(range(field.low, field.high + 1)) - set(values))}
        for level in field.levels:
            if not level.anchor:
                yield "no-anchor", f"{where}.{level.value}", {}
        if any(level.anchor and " ".join(level.anchor.split()) not in text for level in field.levels):
            yield "anchors-not-shown", where, {"name": field.name}


def _order(rubric: CompiledRubric) -> Iterator[Remark]:
    spec = rubric.spec
    if spec.score is None:
        return
    names = [field.name for field in spec.verdict]
    texts = [field.name for field in spec.verdict if isinstance(field, TextField)]
    first = min(names.index(name) for name in spec.score.fields)
    if not texts:
        yield "no-reasons", "verdict", {}
    elif names.index(texts[0]) > first:
        yield "score-first", f"verdict.{names[first]}", {"name": names[first], "text": texts[0]}
    if spec.construct is None:
        yield "no-construct", "score", {}


# prompts


def _walk(nodes: tuple[Node, ...]) -> Iterator[Node]:
    for node in nodes:
        yield node
        if isinstance(node, If | For):
            yield from _walk(node.body)
            yield from _walk(node.orelse)


def _user_static(rubric: CompiledRubric) -> str:
    return "".join(node.text for node in _walk(rubric.user_template.program) if isinstance(node, Text))


def _static_text(rubric: CompiledRubric) -> str:
    return " ".join(((rubric.system_text or "") + " " + _user_static(rubric)).split())


def _longest(nodes: tuple[Node, ...]) -> int:
    """Characters of fixed text in the longest message: of an if, the longer branch; of a loop, one turn."""
    total = 0
    for node in nodes:
        if isinstance(node, Text):
            total += len(node.text)
        elif isinstance(node, If | For):
            total += max(_longest(node.body), _longest(node.orelse))
    return total


def static_tokens(rubric: CompiledRubric) -> int:
    """About how many tokens are sent with every call besides the record: prompts and given examples."""
    turns = sum(len(message["content"]) for message in rubric.example_turns)
    return (len(rubric.system_text or "") + len(_user_static(rubric)) + turns) // CHARS_PER_TOKEN


def _prompts(rubric: CompiledRubric) -> Iterator[Remark]:
    program = rubric.user_template.program
    if (length := _longest(program)) > MAX_USER_STATIC_CHARS:
        yield "static-in-user", "prompt.user", {"length": f"{length:,}"}
    if not any(part.endswith("fences.j2") for part in rubric.parts) and "-CODE>" not in _static_text(rubric):
        yield "fence-unexplained", "prompt.system" if rubric.system_text is not None else "prompt", {}
    if (tokens := static_tokens(rubric)) > MAX_STATIC_TOKENS:
        yield "long-prompt", "prompt", {"tokens": f"{tokens:,}"}
    criteria = rubric.spec.criteria
    numbered = any(isinstance(node, Print) and node.ref.attribute in ("number", "index") for node in _walk(program))
    if criteria is not None and criteria.ask == "together" and not numbered:
        yield "no-numbers", "prompt.user", {}


def _writer(rubric: CompiledRubric) -> Iterator[Remark]:
    criteria = rubric.spec.criteria
    if criteria is None or criteria.write is None:
        return
    where = "criteria.write.rubric"
    try:
        writer = load_rubric(rubric.writer_path or "")
    except RubricError as error:
        mend = "name a rubric of the library, or a file beside this one"
        yield "no-writer", where, {"message": f"the checklist's writer cannot be used: {error}", "mend": mend}
        return
    lists = [field for field in writer.spec.verdict if isinstance(field, ListField)]
    if len(lists) != 1 or not any(field.name == "text" and isinstance(field, TextField) for field in lists[0].of):
        message = f"`{writer.name}` does not return one list whose items have a `text`"
        yield "no-writer", where, {"message": message, "mend": "see checklist-writer in the library"}
    if "response" in writer.spec.inputs:
        yield "writer-sees-response", where, {"name": writer.name}


# numbers: what the score can be, whether a condition can hold, how long a reply may get


def _sampling(rubric: CompiledRubric) -> Iterator[Remark]:
    spec = rubric.spec
    limit = spec.sampling.get("max_tokens")
    where = "sampling" if spec.sampling else "rubric"
    if limit is None:
        yield "no-max-tokens", where, {}
    elif spec.output == "verdict" and (need := _reply_tokens(spec.verdict)) > limit:
        yield "max-tokens-small", "sampling.max_tokens", {"need": need, "enough": -(-need // 100) * 100}
    if "temperature" not in spec.sampling:
        yield "no-temperature", where, {}


def _reply_tokens(fields: tuple[Field, ...]) -> int:
    total = 0
    for field in fields:
        total += 8
        if isinstance(field, TextField):
            total += (field.max_chars or 400) // CHARS_PER_TOKEN
        elif isinstance(field, ListField):
            total += (field.high or 10) * _reply_tokens(field.of)
    return total


def _threshold(rubric: CompiledRubric) -> Iterator[Remark]:
    spec = rubric.spec
    # A blank response meets no criterion, good or bad: for counted scores that is 0, also where worse is possible.
    counted = spec.score is not None and spec.score.kind in ("fraction", "weighted")
    worst = 0.0 if counted else min(_raws(rubric, None), default=0.0)
    if spec.when_response_empty is not None and spec.when_response_empty != worst:
        words = {"value": spec.when_response_empty, "worst": f"{worst:g}"}
        yield "blank-not-worst", "when_response_empty", words
    if spec.complete_when is None:
        return
    results = {holds(spec.complete_when, value) for value in _raws(rubric, spec.complete_when)}
    if len(results) == 1:
        word = "always" if True in results else "never"
        yield "threshold-off-scale", "complete_when", {"condition": spec.complete_when.written, "word": word}


def _raws(rubric: CompiledRubric, condition: Condition | None) -> list[float]:
    """Values that the raw score can take, enough of them to see whether a condition can hold or fail."""
    spec = rubric.spec
    if spec.score is None:
        return []
    return [*_ungated(rubric, condition), *(float(gate.raw) for gate in spec.gates)]


def _ungated(rubric: CompiledRubric, condition: Condition | None) -> list[float]:
    spec = rubric.spec
    assert spec.score is not None
    scored = [spec.field(name) for name in spec.score.fields]
    if spec.score.kind in ("fraction", "weighted", "weighted_mean"):
        return _spread(-10.0 if spec.score.kind == "weighted" else 0.0, 1.0, condition)
    first = scored[0]
    if isinstance(first, NumberField):
        return _spread(float(first.low or 0), float(first.high or 0), condition)
    if isinstance(first, BooleanField):
        return [0.0, 1.0]
    levels = [[level.value for level in field.levels] for field in scored if isinstance(field, ScaleField)]
    low, high = min(levels[0]), max(levels[0])
    if len(levels) > 3:
        return [total / len(levels) for total in range(low * len(levels), high * len(levels) + 1)]
    return sorted({sum(combination) / len(levels) for combination in itertools.product(*levels)})


def _spread(low: float, high: float, condition: Condition | None) -> list[float]:
    at = condition.number if condition is not None else None
    near = [] if at is None else [at, at - 1e-9, at + 1e-9]
    return [low, *(value for value in near if low <= value <= high), high]


def _checks(rubric: CompiledRubric) -> Iterator[Remark]:
    spec = rubric.spec
    if not spec.checks and spec.output == "verdict" and spec.score is not None:
        yield "no-checks", "rubric", {}
    written = spec.criteria is None or "written" in spec.criteria.sources
    for i, check in enumerate(spec.checks, 1):
        where = f"checks[{i}]"
        if missing := rubric.missing_inputs(check.record):
            yield "check-lacks-input", f"{where}.record", {"names": ", ".join(missing)}
        if not written and not rubric.select_criteria(check.record):
            yield "check-lacks-criteria", f"{where}.record", {}
        for name, condition in check.expect.items():
            if not any(holds(condition, value) for value in _possible(rubric, name, condition, check.record)):
                yield "check-cannot-hold", f"{where}.expect.{name}", {"condition": condition.written}


def _gates(rubric: CompiledRubric) -> Iterator[Remark]:
    for i, gate in enumerate(rubric.spec.gates, 1):
        field = rubric.spec.field(gate.field)
        if isinstance(field, ChoiceField) and field.dynamic:
            continue
        if not any(holds(gate.when, value) for value in _possible(rubric, gate.field, gate.when, Record(id=""))):
            yield "gate-cannot-hold", f"gates[{i}].when", {"condition": gate.when.written}


def _possible(rubric: CompiledRubric, name: str, condition: Condition, record: Any) -> list[Any]:
    if name == "raw":
        return list(_raws(rubric, condition))
    if name == "complete":
        return [] if rubric.spec.complete_when is None else [True, False]
    field = rubric.spec.field(name if rubric.spec.criteria is None else name.rpartition(".")[2])
    if isinstance(field, ScaleField):
        return [level.value for level in field.levels]
    if isinstance(field, BooleanField):
        return [True, False]
    if isinstance(field, ChoiceField):
        return list(rubric.choices(record).get(field.name) or field.options or {})
    if isinstance(field, NumberField):
        at = condition.number or 0.0
        low = at - 1 if field.low is None else float(field.low)
        return _spread(low, max(low, at + 1) if field.high is None else float(field.high), condition)
    # A text can be anything: what may be equal can hold; an order between texts never does.
    return ["?", *condition.operands] if condition.op in ("==", "in", "!=") else []


_RULES: tuple[Rule, ...] = (_names, _inputs, _levels, _order, _prompts, _sampling, _threshold, _gates, _writer, _checks)
