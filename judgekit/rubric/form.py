"""A rubric file as it is written: one pydantic model, from which the editors' JSON Schema is made.

What needs more than one key to be judged (a score that names a field, the verdict of an example) stands in `read`.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Discriminator, Tag, model_validator
from pydantic import Field as Key

from judgekit.forms import (
    LIST,
    MAP,
    MARK,
    TEXT,
    AnyText,
    Form,
    Number,
    Text,
    json_schema,
    suggest,
    wrong,
)
from judgekit.rubric.conditions import Comparison, Written
from judgekit.rubric.fields import (
    BooleanField,
    ChoiceField,
    Field,
    Level,
    ListField,
    NumberField,
    ScaleField,
    TextField,
)
from judgekit.rubric.spec import HIDDEN_INPUTS, MEANT

__all__ = ["CRITERION_KEYS", "FIELD_TYPES", "SCORE_KINDS", "TOP_KEYS", "RubricForm", "editor_schema"]

MAX_NAME = {"a name": 64, "a field's name": 64, "an option": 1_000}
RESERVED_FIELDS = ("raw", "complete")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)
_INPUT = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
_RESERVED_INPUTS = ("fields", "loop", "none", "true", "false", "not", "and", "or", "in", "is", "if", "else", "for")


def _name(name: str) -> str:
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME["a name"]:
        raise wrong(f"{name!r} is not usable as a name", "use small letters, digits and single hyphens: my-rubric-2")
    return name


def _input(name: str) -> str:
    if name in HIDDEN_INPUTS:
        mend = "carry what it may see in the record's `inputs`, under another name"
        if name in MEANT:
            mend = f"what is judged is called `{MEANT[name]}`; {mend}"
        raise wrong(f"a judge never sees `{name}`", mend)
    if not _INPUT.fullmatch(name) or name in _RESERVED_INPUTS:
        raise wrong(f"{name!r} is not usable as an input's name", "use letters, digits and _")
    return name


def _printable(name: str, what: str) -> str:
    if not name.strip() or name != name.strip() or len(name) > MAX_NAME[what] or not name.isprintable():
        raise wrong(f"not usable as {what}", f"use 1 to {MAX_NAME[what]} printable characters, no space at the ends")
    return name


def _field_name(name: str) -> str:
    if name in RESERVED_FIELDS:
        raise wrong(f"`{name}` already means the judgement's result", "give the field another name")
    return _printable(name, "a field's name")


def _one_of(known: tuple[str, ...]) -> AfterValidator:
    def check(key: str) -> str:
        if key not in known:
            raise wrong("unknown key", suggest(key, known))
        return key

    return AfterValidator(check)


def _several(what: str, mend: str) -> AfterValidator:
    def check(items: Any) -> Any:
        if len(items) < 2:
            raise wrong(f"{what} needs two {'levels' if 'scale' in what else 'options'} or more", mend)
        return items

    return AfterValidator(check)


def _stripped(value: str) -> str:
    return value.strip()


def _in_order(levels: dict[int, Any]) -> dict[int, Any]:
    values = list(levels)
    if values != sorted(values) and values != sorted(values, reverse=True):
        raise wrong(f"the levels {', '.join(map(str, values))} are not in order", "list them from low to high")
    return levels


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Positive = Annotated[int, Number(1, whole=True)]
Whole = Annotated[int, Number(0, whole=True)]
AnyNumber = Annotated[int | float, Number()]
OneText = Annotated[Text, Tag(TEXT)]
Texts = Annotated[tuple[AnyText, ...], BeforeValidator(_listed, json_schema_input_type=str | list[str])]


# fields of the verdict


class LevelForm(Form):
    example = "{label: poor, anchor: what makes it a 1}"
    label: Text = ""
    anchor: Text = ""


class FieldForm(Form):
    describe: Text | None = None


class ScaleForm(FieldForm):
    scale: Annotated[
        dict[
            Annotated[int, Number(whole=True)],
            Annotated[Annotated[LevelForm, Tag(MAP)] | Annotated[Text | None, Tag(TEXT)], Discriminator(lambda value: MAP if isinstance(value, dict) else TEXT)],
        ],
        _several("a scale", "write each level as `1: {label: ..., anchor: ...}`"),
        AfterValidator(_in_order),
    ] = Key(json_schema_extra={"minProperties": 2, "additionalProperties": False})  # fmt: skip
    mends: ClassVar[dict[str, str]] = {"scale": "write for example `1: {label: poor, anchor: what makes it a 1}`"}

    def made(self, name: str) -> Field:
        levels = [
            Level(value, level.label, level.anchor.strip())
            if isinstance(level, LevelForm)
            else Level(value, "", (level or "").strip())
            for value, level in self.scale.items()
        ]
        return ScaleField(name, tuple(levels), self.describe)


class BooleanForm(FieldForm):
    boolean: Text = Key(description="What is asked.")

    def made(self, name: str) -> Field:
        return BooleanField(name, self.boolean, self.describe)


class Ends(Form):
    example = "{min: 0, max: 10}"
    min: AnyNumber | None = None
    max: AnyNumber | None = None

    @model_validator(mode="after")
    def _apart(self) -> Ends:
        if self.min is not None and self.max is not None and self.min >= self.max:
            raise wrong(f"min {self.min} is not below max {self.max}", "exchange them")
        return self


class NumberForm(FieldForm):
    number: Ends | None = None

    def made(self, name: str) -> Field:
        ends = self.number or Ends()
        return NumberField(name, ends.min, ends.max, self.describe)


class TextForm(FieldForm):
    text: Text = Key(description="What to write.")
    max_chars: Positive | None = None

    def made(self, name: str) -> Field:
        return TextField(name, self.text, self.max_chars, self.describe)


Labels = Annotated[
    dict[
        Annotated[str, AfterValidator(lambda label: _printable(label, "an option"))],
        Annotated[AnyText, AfterValidator(_stripped)] | None,
    ],
    _several("a choice", 'write {yes: "...", no: "..."}'),
    Key(json_schema_extra={"minProperties": 2}),
]


class OwnOptions(Form):
    source: Literal["options"] = Key(alias="from")
    mends: ClassVar[dict[str, str]] = {"from": "write `from: options`, the record's own"}


class OptionSets(Form):
    model_config = ConfigDict(extra="allow", frozen=True)
    example = '{yes: "what yes means", no: "what no means"}'
    __pydantic_extra__: dict[str, Labels]
    by: Text

    @model_validator(mode="after")
    def _any(self) -> OptionSets:
        if not self.__pydantic_extra__:
            mend = 'write {by: kind, A: {A1: "..."}, B: {B1: "..."}}'
            raise wrong(f"no option set for any value of `{self.by}`", mend)
        return self


def _is_choice(value: Any) -> Any:
    if not isinstance(value, dict):
        raise wrong(
            "this must be a map of keys and values", 'write for example {yes: "what yes means", no: "what no means"}'
        )
    if "of" in value and "from" not in value and "by" not in value:
        mend = "options stand directly under `choice`; put the label in another word"
        raise wrong("`of` is reserved", mend, at="of")
    return value


def _choice_kind(value: dict[str, Any]) -> str:
    return next((MARK + key for key in ("from", "by") if key in value), MARK + "labels")


class ChoiceForm(FieldForm):
    choice: Annotated[
        Annotated[OwnOptions, Tag(MARK + "from")]
        | Annotated[OptionSets, Tag(MARK + "by")]
        | Annotated[Labels, Tag(MARK + "labels")],
        Discriminator(_choice_kind),
        BeforeValidator(_is_choice),
    ]
    mends: ClassVar[dict[str, str]] = {"choice": 'write for example {yes: "what yes means", no: "what no means"}'}

    def made(self, name: str) -> Field:
        choice = self.choice
        if isinstance(choice, OwnOptions):
            return ChoiceField(name, source=choice.source, describe=self.describe)
        if isinstance(choice, OptionSets):
            sets = {key: _meanings(labels) for key, labels in (choice.__pydantic_extra__ or {}).items()}
            return ChoiceField(name, by=choice.by, sets=sets, describe=self.describe)
        return ChoiceField(name, options=_meanings(choice), describe=self.describe)


def _meanings(labels: dict[str, str | None]) -> dict[str, str]:
    return {label: meaning or "" for label, meaning in labels.items()}


FIELD_TYPES = ("scale", "boolean", "number", "text", "choice", "list")


def _kind(value: dict[str, Any]) -> str:
    return MARK + next(key for key in value if key in FIELD_TYPES)


def _is_field(value: Any) -> Any:
    if not isinstance(value, dict):
        raise wrong("this must be a map of keys and values", "write for example `explanation: {text: what to write}`")
    kinds = [key for key in value if key in FIELD_TYPES]
    for key in value if len(kinds) != 1 else ():
        if key not in (*FIELD_TYPES, "describe", "max_chars"):
            raise wrong("unknown key", suggest(key, (*FIELD_TYPES, "describe", "max_chars")), at=key)
    if len(kinds) != 1:
        said = f"{len(kinds)} types ({', '.join(kinds)})" if kinds else "no type"
        raise wrong(f"this field has {said}", f"give it exactly one of {', '.join(FIELD_TYPES)}", key=True)
    return value


def _is_item(value: Any) -> Any:
    if "list" in _is_field(value):
        mend = "flatten it into the fields of the outer list"
        raise wrong("a list inside a list is not supported", mend, at="list")
    return value


ItemForm = (
    Annotated[ScaleForm, Tag(MARK + "scale")]
    | Annotated[BooleanForm, Tag(MARK + "boolean")]
    | Annotated[NumberForm, Tag(MARK + "number")]
    | Annotated[TextForm, Tag(MARK + "text")]
    | Annotated[ChoiceForm, Tag(MARK + "choice")]
)
FieldName = Annotated[str, AfterValidator(_field_name)]


def _not_empty(fields: Any) -> Any:
    if not fields:
        raise wrong("no field stands here", "write at least one, such as `explanation: {text: what to write}`")
    return fields


class ListOf(Form):
    example = '{of: {text: {text: "one item"}}, min: 1, max: 5}'
    of: Annotated[
        dict[FieldName, Annotated[ItemForm, Discriminator(_kind), BeforeValidator(_is_item)]],
        AfterValidator(_not_empty),
    ]
    min: Whole | None = None
    max: Positive | None = None

    @model_validator(mode="after")
    def _apart(self) -> ListOf:
        if self.min is not None and self.max is not None and self.min > self.max:
            raise wrong(f"min {self.min} is above max {self.max}", "exchange them")
        return self

    mends: ClassVar[dict[str, str]] = {"of": 'say what one item holds: {of: {text: {text: "one item"}}}'}


class ListForm(FieldForm):
    each: ListOf = Key(alias="list")

    def made(self, name: str) -> Field:
        of = tuple(field.made(inner) for inner, field in self.each.of.items())
        return ListField(name, of, self.each.min, self.each.max, self.describe)


AnyField = Annotated[
    ItemForm | Annotated[ListForm, Tag(MARK + "list")], Discriminator(_kind), BeforeValidator(_is_field)
]


# records


class TurnForm(Form):
    example = "{role: user, content: ...}"
    role: Literal["system", "user", "assistant"]
    content: AnyText
    mends: ClassVar[dict[str, str]] = {"role": "write system, user or assistant"}


class CriterionForm(Form):
    example = '{id: c1, text: "Names the dose"}'
    id: Text | None = None
    text: Text
    points: AnyNumber = 1
    kind: Text | None = None
    tags: tuple[Text, ...] = ()
    mends: ClassVar[dict[str, str]] = {"text": "say what the response must do", "tags": "write for example [a]"}


CRITERION_KEYS = tuple(CriterionForm.model_fields)
Criteria = tuple[
    Annotated[
        Annotated[CriterionForm, Tag(MAP)] | OneText,
        Discriminator(lambda value: TEXT if isinstance(value, str) else MAP),
    ],
    ...,
]


class RecordForm(Form):
    example = '{question: "...", response: "..."}'
    id: AnyText | None = None
    question: Annotated[
        Annotated[AnyText, Tag(TEXT)] | Annotated[tuple[TurnForm, ...], Tag(LIST)],
        Discriminator(lambda value: TEXT if isinstance(value, str) else LIST),
    ] | None = None  # fmt: skip
    response: AnyText | None = None
    reference: AnyText | None = None
    criteria: Criteria = ()
    options: dict[str, AnyText] | None = None
    inputs: dict[str, Any] = Key({})
    cluster: AnyText | None = None
    mends: ClassVar[dict[str, str]] = {
        "question": "write for example [{role: user, content: ...}]",
        "criteria": 'write for example ["Names the dose"]',
        "options": 'write for example {A: "...", B: "..."}',
        "inputs": "write for example {name: text}",
    }


class ExampleForm(Form):
    example = "{record: {...}, verdict: ...}"
    record: RecordForm
    verdict: Any = Key(None, json_schema_extra={"type": "object"})
    text: Text | None = None


class CheckForm(Form):
    example = '{record: {question: "...", response: "..."}, expect: {score: "<= 2"}}'
    record: RecordForm
    expect: dict[str, Written] = Key(json_schema_extra={"minProperties": 1})
    mends: ClassVar[dict[str, str]] = {
        "record": 'write {record: {...}, expect: {raw: "<= 2"}}',
        "expect": 'write for example {raw: "<= 2"}',
    }


class RetrieveForm(Form):
    example = "{retrieve: 2, from: healthbench, by: question}"
    retrieve: Annotated[int, Number(1, 50, whole=True)]
    source: Text = Key(alias="from")
    by: Text = "question"
    using: Literal["tfidf", "minilm"] = "tfidf"
    where: dict[str, Written] = Key({})
    verdict: Text | None = None
    mends: ClassVar[dict[str, str]] = {"where": "write for example {kind: must_have}", "using": "write tfidf or minilm"}


# the file


class SourceForm(Form):
    paper: Text | None = None
    note: Text | None = None
    url: Text | None = None
    licence: Text | None = None


class InputsForm(Form):
    example = "{required: [question, response]}"
    required: tuple[Annotated[Text, AfterValidator(_input)], ...] = ()
    optional: tuple[Annotated[Text, AfterValidator(_input)], ...] = ()
    mends: ClassVar[dict[str, str]] = {
        "required": "write for example [question, response]",
        "optional": "write for example [reference]",
    }


class ScoreForm(Form):
    example = "{field: score}"
    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})
    field: Text | None = None
    mean: Annotated[tuple[Text, ...], Key(json_schema_extra={"minItems": 2})] | None = None
    fraction: Text | None = None
    weighted: Text | None = None
    weighted_mean: dict[str, AnyNumber] | None = None
    mends: ClassVar[dict[str, str]] = {
        "mean": "write for example [comprehension, reasoning]",
        "weighted_mean": "write for example {safety: 3, tone: 1}",
    }


SCORE_KINDS = tuple(ScoreForm.model_fields)


class GateForm(Form):
    example = '{when: "harm >= 3", raw: 0, reason: "dangerous advice"}'
    when: Text
    raw: AnyNumber
    reason: Text | None = None


class EmptyForm(Form):
    example = "{raw: 1}"
    raw: AnyNumber
    mends: ClassVar[dict[str, str]] = {"raw": "write {raw: 1}"}


class SamplingForm(Form):
    example = "{temperature: 0, max_tokens: 800}"
    temperature: Annotated[int | float, Number(0, 2)] | None = None
    max_tokens: Positive | None = None
    top_p: Annotated[int | float, Number(0, 1)] | None = None
    top_k: Whole | None = None
    min_p: Annotated[int | float, Number(0, 1)] | None = None
    seed: Annotated[int, Number(whole=True)] | None = None
    frequency_penalty: Annotated[int | float, Number(-2, 2)] | None = None
    presence_penalty: Annotated[int | float, Number(-2, 2)] | None = None
    reasoning_effort: Text | None = None
    stop: Texts | None = None


class WriteForm(Form):
    example = "{rubric: checklist-writer, per: question}"
    rubric: Text
    per: Literal["question"] = "question"
    model: Text | None = None
    mends: ClassVar[dict[str, str]] = {
        "rubric": "name the rubric that writes the checklist",
        "per": "write `per: question`",
    }


_SOURCES = "list `record`, `written`, or both, each once"


def _each_once(sources: tuple[str, ...]) -> tuple[str, ...]:
    for source in sources:
        if sources.count(source) > 1:
            raise wrong(f"{source!r} is not usable here", _SOURCES)
    return sources


class CriteriaForm(Form):
    example = "{from: [record], ask: each}"
    sources: Annotated[
        tuple[Literal["record", "written"], ...],
        BeforeValidator(_listed, json_schema_input_type=str | list[str]),
        AfterValidator(_each_once),
    ] = Key(("record",), alias="from")
    where: dict[Annotated[str, _one_of(CRITERION_KEYS)], Written] = Key({})
    write: WriteForm | None = None
    fixed: Criteria = ()
    ask: Literal["each", "together"] = "each"
    mends: ClassVar[dict[str, str]] = {
        "from": _SOURCES,
        "where": "write for example {kind: must_have}",
        "ask": "write `each` (a call each) or `together` (one call)",
    }


class PromptForm(Form):
    model_config = ConfigDict(json_schema_extra={"required": []})  # a parent may bring it
    example = '{system: "...", user: "..."}'
    system: Text | None = None
    user: Text
    mends: ClassVar[dict[str, str]] = {"user": 'write `user: |` and below it {% include "_parts/case.j2" %}'}


def _map_or_list(value: Any) -> str:
    return MAP if isinstance(value, dict) else LIST


class RubricForm(Form):
    """The keys of a rubric file."""

    model_config = ConfigDict(json_schema_extra={"required": ["rubric"]})  # a parent may bring the others

    rubric: Annotated[Text, AfterValidator(_name)] = Key(
        description="The rubric's name, the same as the file's: small letters, digits and hyphens.",
        json_schema_extra={"pattern": "^[a-z0-9]+(-[a-z0-9]+)*$", "maxLength": MAX_NAME["a name"]},
    )
    version: Text = Key("1", description="Yours to count; it changes no fingerprint.")
    title: Text | None = Key(None, description="One line for people.")
    source: Annotated[Annotated[SourceForm, Tag(MAP)] | OneText, Discriminator(lambda value: MAP if isinstance(value, dict) else TEXT)] | None = Key(
        None, description="Where the scale comes from; never seen by a judge."
    )  # fmt: skip
    judged: Text | None = Key(
        None, alias="construct", description="What is judged. Labels of the same construct are compared with it."
    )
    extends: Text | None = Key(
        None,
        description="A rubric beside this file, or of the library: its keys are taken over, and those here replace them.",
    )
    inputs: InputsForm = Key(description="What the judge may see of a record. What is not declared, it never sees.")
    verdict: Annotated[dict[FieldName, AnyField | None], AfterValidator(_not_empty)] | None = Key(
        None, description="What the judge must return, in this order. Put reasons before scores."
    )
    output: Literal["text"] | None = Key(None, description="`text` makes a writer of free text, in place of a verdict.")
    score: ScoreForm | None = Key(
        None, description="How a verdict becomes a number; without it the rubric is a classifier."
    )
    complete_when: Comparison | None = Key(
        None, description='A comparison with the raw score, such as ">= 4". What fails it is what triage looks for.'
    )
    when_response_empty: EmptyForm | None = Key(
        None, description="The raw score of a blank response, given without asking a model."
    )
    sampling: SamplingForm | None = Key(None, description="Defaults; the command line overrides them.")
    gates: tuple[GateForm, ...] = Key((), description="Raw scores that a field of the verdict decides alone.")
    criteria: Annotated[Annotated[CriteriaForm, Tag(MAP)] | Annotated[Criteria, Tag(LIST)], Discriminator(_map_or_list)] | None = Key(
        None, description="A checklist: `verdict` then describes one criterion."
    )  # fmt: skip
    prompt: PromptForm = Key(
        description="jinja2 templates. `system` holds nothing of the record; inputs printed in `user` fence themselves."
    )
    blocks: dict[str, AnyText | None] | None = Key(None, description="Texts that fill the parent's {% block name %}.")
    examples: Annotated[
        Annotated[tuple[ExampleForm, ...], Tag(LIST)] | Annotated[RetrieveForm, Tag(MAP)], Discriminator(_map_or_list)
    ] | None = Key(None, description="Worked examples, given here or retrieved from a data set.")  # fmt: skip
    checks: tuple[CheckForm, ...] = Key((), description="The rubric's own unit tests, run by `judgekit rubric test`.")
    mends: ClassVar[dict[str, str]] = {
        "rubric": "write `rubric: my-name` first",
        "inputs": "write `inputs: {required: [question, response]}`",
        "prompt": "write `prompt:` with `system: |` and `user: |`",
        "output": "write `output: text`, or leave it out and write `verdict:`",
        "verdict": "write for example `explanation: {text: what to write}`",
        "gates": f"write for example [{GateForm.example}]",
        "criteria": f"write for example {CriteriaForm.example}",
        "blocks": 'write for example {steps: "..."}',
        "examples": "write for example [{record: {...}, verdict: {...}}]",
        "checks": f"write for example [{CheckForm.example}]",
    }


TOP_KEYS = tuple(field.alias or name for name, field in RubricForm.model_fields.items())


def editor_schema() -> dict[str, Any]:
    """JSON Schema of a rubric file. What needs more than a schema (names, parents, templates) is left to the lint."""
    about = "A rubric file of judgekit: all that determines a judgement, except the model. See docs/rubrics.md."
    return json_schema(RubricForm, "judgekit rubric", about)
