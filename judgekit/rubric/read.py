"""A file's `RubricForm` -> the typed `RubricSpec`, and what needs more than one key to be judged."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic_core import PydanticCustomError

from judgekit.errors import RubricError
from judgekit.forms import Document, Number, TextRule, raise_all, suggest
from judgekit.records import Criterion, Record, Turn
from judgekit.rubric.conditions import read_condition
from judgekit.rubric.fields import BooleanField, ChoiceField, Field, ListField, NumberField, ScaleField
from judgekit.rubric.form import (
    CheckForm,
    CriteriaForm,
    CriterionForm,
    ExampleForm,
    GateForm,
    RecordForm,
    RetrieveForm,
    RubricForm,
    SourceForm,
)
from judgekit.rubric.spec import (
    Check,
    CriteriaSpec,
    Example,
    Gate,
    PromptText,
    RetrieveSpec,
    RubricSpec,
    ScoreSpec,
    WriteSpec,
)

__all__ = ["read_spec"]

T = TypeVar("T")
_GATE = re.compile(r"(.+?)(>=|<=|==|!=|>|<|=)(.+)", re.DOTALL)
Path_ = tuple[str | int, ...]
_MAP = "this must be a map of keys and values"


def read_spec(document: Document, folders: Mapping[str, str]) -> RubricSpec:
    """The typed rubric of a document (after `extends`); `folders` maps each file's name to its folder.

    All that is wrong is told at once: first what single keys show, then what they mean together.
    """
    return _Reader(document, document.read(RubricForm), folders).spec()


class _Reader:
    def __init__(self, document: Document, form: RubricForm, folders: Mapping[str, str]) -> None:
        self.document, self.form, self.folders = document, form, folders
        self.errors: list[RubricError] = []
        self.verdict = tuple(field.made(name) for name, field in (form.verdict or {}).items() if field is not None)
        listed = form.criteria
        self.section: CriteriaForm | None = (
            CriteriaForm.model_construct(fixed=listed) if isinstance(listed, tuple) else listed
        )
        self.fixed: tuple[Criterion, ...] = ()
        self.fields = {field.name: field for field in self.verdict}

    def fail(self, path: Path_, message: str, mend: str, key: bool = False) -> Any:
        raise self.document.error(path, message, mend, key=key)

    def gather(self, part: Callable[..., T], *values: Any) -> T | None:
        """What `part` makes; its error is kept for later."""
        try:
            return part(*values)
        except RubricError as error:
            self.errors.append(error)
            return None

    def raise_gathered(self) -> None:
        raise_all(sorted(self.errors, key=lambda error: error.line or 0))

    def spec(self) -> RubricSpec:
        form = self.form
        self.gather(self.output)
        self.gather(self.inputs)
        criteria = self.gather(self.criteria)
        self.raise_gathered()
        score = self.gather(self.score)
        empty = self.gather(self.when_empty, score) if score is not None or form.score is None else None
        if form.complete_when is not None and form.score is None:
            self.gather(
                self.fail, ("complete_when",), "there is no score to compare", "write `score: {field: ...}`", True
            )
        gates = [self.gather(self.gate, i, gate, score) for i, gate in enumerate(form.gates)]
        for field in self.verdict:
            self.gather(self.choice_has_input, field)
        self.raise_gathered()
        examples = self.examples()
        checks = [self.gather(self.check, i, check) for i, check in enumerate(form.checks)]
        self.raise_gathered()
        source = form.source.model_dump(exclude_none=True) if isinstance(form.source, SourceForm) else form.source
        system = form.prompt.system
        sampling = {} if form.sampling is None else form.sampling.model_dump(exclude_none=True)
        return RubricSpec(
            name=form.rubric,
            version=form.version,
            title=form.title,
            source={"note": source} if isinstance(source, str) else source or {},
            construct=form.judged,
            required=form.inputs.required,
            optional=form.inputs.optional,
            output=form.output or "verdict",
            verdict=self.verdict,
            score=score,
            complete_when=form.complete_when,
            when_response_empty=empty,
            sampling={key: list(value) if isinstance(value, tuple) else value for key, value in sampling.items()},
            system=None if system is None else self.text(("prompt", "system"), system),
            user=self.text(("prompt", "user"), form.prompt.user),
            blocks={
                name: self.text(("blocks", name), text)
                for name, text in (form.blocks or {}).items()
                if text is not None
            },
            criteria=criteria,
            examples=examples,
            checks=tuple(check for check in checks if check is not None),
            where=self.document.fields(),
            gates=tuple(gate for gate in gates if gate is not None),
        )

    def text(self, path: Path_, text: str) -> PromptText:
        place = self.document.place(path)
        assert place is not None
        return PromptText(text if text.strip() else "", place.file, place.text, self.folders[place.file])

    # the file as a whole

    def output(self) -> None:
        if self.form.output is None:
            if self.form.verdict is None:
                self.fail(("verdict",), "is missing", "say what the judge must return, or `output: text`")
            return
        for key in ("verdict", "score", "complete_when", "when_response_empty", "criteria"):
            if getattr(self.form, key) is not None:
                said = "a writer of free text (`output: text`) has none of this"
                self.fail((key,), said, f"remove `{key}` or `output`", True)

    def inputs(self) -> None:
        seen: set[str] = set()
        for key in ("required", "optional"):
            for i, name in enumerate(getattr(self.form.inputs, key)):
                if name in seen:
                    self.fail(("inputs", key, i), f"`{name}` is declared twice", "keep one")
                seen.add(name)
        if not seen:
            self.fail(("inputs",), "no input is declared", "write `inputs: {required: [question, response]}`")

    def criteria(self) -> CriteriaSpec | None:
        form = self.section
        if form is None:
            return None
        if form.fixed or isinstance(self.form.criteria, tuple):
            path: Path_ = ("criteria",) if isinstance(self.form.criteria, tuple) else ("criteria", "fixed")
            self.fixed = self.criteria_of(path, form.fixed)
            if not self.fixed or form.where or form.write or "sources" in form.model_fields_set:
                said = "a fixed checklist is never empty, and has no `from`, `where` or `write`"
                self.fail(path, said, 'write for example [{id: dose, text: "Names the dose", points: 2}]')
        if ("written" in form.sources) != (form.write is not None):
            self.fail(("criteria",), "`from: [..., written]` and `write:` belong together", "write both, or neither")
        write = None if form.write is None else WriteSpec(form.write.rubric, form.write.per, form.write.model)
        return CriteriaSpec(form.sources or ("record",), form.where, write, form.ask, self.fixed)

    def choice_has_input(self, field: Field) -> None:
        if isinstance(field, ChoiceField) and field.dynamic:
            name = field.by or "options"
            if name not in self.form.inputs.required:
                said = f"the options depend on `{name}`, which is not a required input"
                self.fail(("verdict", field.name, "choice"), said, f"add `{name}` to inputs.required", True)

    # the score

    def named(self, path: Path_, name: str) -> Field:
        if name not in self.fields:
            mend = suggest(name, self.fields, "its fields are ")
            self.fail(path, f"the verdict has no field {name!r}", mend)
        return self.fields[name]

    def score(self) -> ScoreSpec | None:
        if self.form.score is None:
            return None
        given = self.form.score.model_dump(exclude_none=True)
        if len(given) != 1:
            kinds = ", ".join(type(self.form.score).model_fields)
            self.fail(("score",), f"{len(given)} ways to score", f"write exactly one of {kinds}")
        ((kind, value),) = given.items()
        path: Path_ = ("score", kind)
        counted = kind in ("fraction", "weighted")
        if counted and self.section is None:
            self.named(path, value)
            self.fail(path, f"`{kind}` counts criteria, and this rubric has none", "write a `criteria:` section")
        if not counted and self.section is not None:
            said = f"`{kind}` reads one verdict, and this rubric has one for each criterion"
            self.fail(path, said, "use fraction or weighted")
        if kind == "mean":
            return self.mean(path, value)
        if kind == "weighted_mean":
            for name, weight in value.items():
                self.numeric((*path, name), name)
                if weight <= 0:
                    self.fail((*path, name), f"a weight of {weight} means nothing", "write a number above 0")
            if not value:
                self.fail(path, "no field has a weight", "write for example {safety: 3, tone: 1}")
            return ScoreSpec("weighted_mean", tuple(value), tuple(value.values()))
        if not counted:
            return ScoreSpec("field", (self.numeric(path, value).name,))
        field = self.named(path, value)
        if not isinstance(field, BooleanField):
            mend = "name the field that says whether a criterion is met"
            self.fail(path, f"`{field.name}` is not a boolean field", mend)
        return ScoreSpec(kind, (field.name,))  # type: ignore[arg-type]

    def numeric(self, path: Path_, name: str) -> Field:
        """A field that is a number with ends of its own."""
        field = self.named(path, name)
        if isinstance(field, NumberField) and (field.low is None or field.high is None):
            self.fail(path, f"the number `{field.name}` has no ends to map by", "give it both min and max")
        if not isinstance(field, ScaleField | BooleanField | NumberField):
            self.fail(path, f"`{field.name}` is not a number", "score by a scale, a boolean or a number")
        return field

    def ends(self, score: ScoreSpec) -> tuple[int | float | None, int | float | None]:
        """The least and the greatest raw score."""
        field = self.fields[score.fields[0]]
        if score.kind in ("field", "mean") and isinstance(field, ScaleField | NumberField):
            return field.low, field.high
        return None if score.kind == "weighted" else 0, 1

    def gate(self, i: int, form: GateForm, score: ScoreSpec | None) -> Gate:
        path: Path_ = ("gates", i)
        if score is None or self.section is not None:
            self.fail(path, "a gate needs a score of one verdict", "write `score: {field: ...}`, without `criteria`")
            raise AssertionError
        found = _GATE.fullmatch(form.when)
        if found is None or not (name := found[1].strip()) or not (operand := found[3].strip()):
            self.fail((*path, "when"), f"{form.when!r} is not a comparison", 'write for example "harm >= 3", in quotes')
            raise AssertionError
        field = self.named((*path, "when"), name)
        condition = self.scalar((*path, "when"), read_condition, f"{found[2]} {operand}")
        raw = self.scalar((*path, "raw"), Number(*self.ends(score)).bounded, form.raw)
        return Gate(field.name, condition, raw, form.reason)

    def mean(self, path: Path_, names: Sequence[str]) -> ScoreSpec:
        axes = [self.named(path, name) for name in names]
        if len(set(names)) < max(2, len(names)):
            self.fail(path, "a mean needs two or more different fields", "list each scale once")
        scales = [axis for axis in axes if isinstance(axis, ScaleField)]
        if len(scales) < len(axes):
            self.fail(path, "a mean is taken over scales", "name scale fields only")
        if len({(scale.low, scale.high) for scale in scales}) > 1:
            said = "the scales have different ends, so their mean means nothing"
            self.fail(path, said, "give them the same ends")
        return ScoreSpec("mean", tuple(names))

    def when_empty(self, score: ScoreSpec | None) -> int | float | None:
        form = self.form.when_response_empty
        if form is None:
            return None
        inputs = self.form.inputs.required + self.form.inputs.optional
        if score is None or "response" not in inputs:
            missing = "a score" if score is None else "the input `response`"
            mend = "remove it, and a blank response is skipped"
            self.fail(("when_response_empty",), f"this needs {missing}", mend)
            return None
        path = ("when_response_empty", "raw")
        if score.kind in ("fraction", "weighted", "weighted_mean"):
            self.scalar(path, Number(*self.ends(score)).bounded, form.raw)
            return form.raw
        for field in self.verdict:
            if isinstance(field, ScaleField) and form.raw not in (values := [level.value for level in field.levels]):
                said = f"{form.raw} is no level of `{field.name}`"
                self.fail(path, said, f"write one of {', '.join(map(str, values))}")
            if isinstance(field, BooleanField) and field.name in score.fields and form.raw not in (0, 1):
                self.fail(path, f"{form.raw} is neither 0 nor 1", "write 0 or 1")
            if isinstance(field, NumberField) and field.name in score.fields:
                self.scalar(path, Number(field.low, field.high).bounded, form.raw)
        return form.raw

    def scalar(self, path: Path_, rule: Callable[[Any], Any], value: Any) -> Any:
        """What `rule` reads of a value; its error at the path."""
        try:
            return rule(value)
        except PydanticCustomError as error:
            context: Mapping[str, Any] = error.context or {}
            return self.fail(path, str(context.get("message")), str(context.get("mend")))

    # examples and checks

    def examples(self) -> tuple[Example, ...] | RetrieveSpec:
        form = self.form.examples
        if isinstance(form, RetrieveForm):
            return RetrieveSpec(form.retrieve, form.source, form.by, form.using, form.where, form.verdict)
        made = [self.gather(self.example, i, example) for i, example in enumerate(form or ())]
        return tuple(example for example in made if example is not None)

    def criteria_of(self, path: Path_, forms: Sequence[CriterionForm | str]) -> tuple[Criterion, ...]:
        criteria = tuple(
            Criterion(each.id or f"c{i}", each.text, each.points, each.kind, each.tags)
            if isinstance(each, CriterionForm)
            else Criterion(f"c{i}", each)
            for i, each in enumerate(forms, 1)
        )
        if len({criterion.id for criterion in criteria}) < len(criteria):
            self.fail(path, "two criteria have the same id", "give each its own")
        return criteria

    def record(self, path: Path_, form: RecordForm, default: str) -> Record:
        question = form.question
        criteria = self.criteria_of((*path, "criteria"), form.criteria)
        return Record(
            id=form.id or default,
            question=question
            if isinstance(question, str) or question is None
            else tuple(Turn(role=turn.role, content=turn.content) for turn in question),
            response=form.response,
            reference=form.reference,
            criteria=criteria,
            options=form.options,
            inputs=form.inputs,
            cluster=form.cluster,
        )

    def example(self, i: int, form: ExampleForm) -> Example:
        path: Path_ = ("examples", i)
        kind, other = ("text", "verdict") if self.form.output == "text" else ("verdict", "text")
        if getattr(form, other) is not None:
            self.fail((*path, other), "unknown key", f"the keys here are record, {kind}", True)
        if getattr(form, kind) is None:
            self.fail(path, f"`{kind}` is missing", f"write {{record: {{...}}, {kind}: ...}}")
        record = self.record((*path, "record"), form.record, f"example-{i + 1}")
        if kind == "text":
            return Example(record, text=form.text)
        where = (*path, "verdict")
        section = self.section
        if section is None:
            return Example(record, verdict=self.answer(where, form.verdict, self.verdict, record))
        outer = self.keys(where, form.verdict, ["criteria"], "{criteria: {c1: {met: true}}}")
        where = (*where, "criteria")
        known = [criterion.id for criterion in self.fixed or record.criteria]
        inner = self.keys(where, outer.get("criteria") or {}, known, "{c1: {met: true}}")
        if not inner:
            self.fail(where[:-1], "no criterion's verdict stands here", "write {criteria: {c1: {met: true}}}")
        if section.ask == "together" and len(inner) < len(known):
            self.fail(where, "not every criterion of the record has a verdict", "write one for each")
        answers = {key: self.answer((*where, key), value, self.verdict, record) for key, value in inner.items()}
        return Example(record, verdict={"criteria": answers})

    def keys(self, path: Path_, value: Any, known: list[str], sample: str) -> dict[str, Any]:
        """A map that has none but the known keys."""
        if not isinstance(value, dict):
            self.fail(path, _MAP, f"write for example {sample}")
        for key in value:
            if key not in known:
                self.fail((*path, key), "unknown key", suggest(key, known), True)
        return dict(value)

    def answer(self, path: Path_, value: Any, fields: tuple[Field, ...], record: Record) -> dict[str, Any]:
        names = [field.name for field in fields]
        body = self.keys(path, value, names, "{" + f"{names[0]}: ..." + "}")
        for name in names:
            if name not in body:
                self.fail(path, f"`{name}` is missing", "write every field of the verdict")
        return {field.name: self.value((*path, field.name), body[field.name], field, record) for field in fields}

    def value(self, path: Path_, value: Any, field: Field, record: Record) -> Any:
        if isinstance(field, ListField):
            if not isinstance(value, list):
                self.fail(path, "this must be a list", "write for example [{...}]")
            return [self.answer((*path, i), item, field.of, record) for i, item in enumerate(value)]
        if isinstance(field, NumberField):
            return self.scalar(path, Number(field.low, field.high), value)
        if isinstance(field, ScaleField):
            number = self.scalar(path, Number(whole=True), value)
            levels = [level.value for level in field.levels]
            if number not in levels:
                self.fail(
                    path, f"{number} is no level of `{field.name}`", f"write one of {', '.join(map(str, levels))}"
                )
            return number
        text = self.scalar(path, TextRule(blank=True), value)
        if isinstance(field, BooleanField):
            if text not in ("true", "false"):
                self.fail(path, f"{text!r} is neither true nor false", "write true or false")
            return text == "true"
        if isinstance(field, ChoiceField):
            sets = field.sets or {}
            dynamic = sets.get(str(record.inputs.get(field.by or "")), {}) if field.by else record.options or {}
            labels = list(dynamic if field.options is None else field.options)
            if text not in labels:
                self.fail(path, f"{text!r} is no option of `{field.name}`", suggest(text, labels, "write one of "))
        return text

    def check(self, i: int, form: CheckForm) -> Check:
        path: Path_ = ("checks", i)
        record = self.record((*path, "record"), form.record, f"check-{i + 1}")
        if not form.expect:
            self.fail((*path, "expect"), "nothing is expected", 'write for example {raw: "<= 2"}')
        known = list(self.fields)
        if self.section is not None:
            known = [f"{criterion.id}.{name}" for criterion in self.fixed or record.criteria for name in known]
        self.keys((*path, "expect"), form.expect, ["raw", "complete", *known], '{raw: "<= 2"}')
        place = self.document.place(path)
        assert place is not None
        return Check(record, form.expect, place)
