"""RubricSpec -> CompiledRubric: everything static is prepared once; a record costs a rendering and a hash."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from judgekit.errors import DataError, RubricError
from judgekit.records import Criterion, Record, content_hash
from judgekit.registry import find_part
from judgekit.rubric.conditions import matches
from judgekit.rubric.fields import ChoiceField, Field, ListField, ScaleField
from judgekit.rubric.fingerprint import COMPILER, ask_fingerprint, score_fingerprint
from judgekit.rubric.render import canonical, fill_static, render
from judgekit.rubric.scoring import RubricScore, is_blank, rule_score, score_verdict
from judgekit.rubric.spec import Example, RetrieveSpec, RubricSpec
from judgekit.rubric.template import Template, TemplateCompiler
from judgekit.rubric.verdict import (
    VerdictModel,
    bounded,
    object_schema,
    positions_schema,
    problems,
    together_model,
    verdict_model,
)

__all__ = ["COMPILER", "Ask", "CompiledRubric", "compile_spec"]

_CACHE = 512


@dataclass(frozen=True, slots=True)
class Ask:
    """One request: what is said, what must come back, and which criteria it is about. Read only: parts are shared.

    `schema` and `model` are None for a writer of free text. `fields` are those of the verdict (of one criterion's).
    """

    messages: list[dict[str, str]]
    schema: dict[str, Any] | None
    model: type[BaseModel] | None
    criterion_ids: tuple[str, ...] = ()
    fields: tuple[Field, ...] = ()

    @property
    def bounded_schema(self) -> dict[str, Any] | None:
        """`schema` with ``maxLength`` from `max_chars`: for engines that decode under a grammar."""
        return None if self.schema is None else bounded(self.schema, self.fields)


class CompiledRubric:
    """A rubric, ready to ask and to score (docs/architecture.md, "rubric")."""

    def __init__(self, spec: RubricSpec, path: Path | None, system: Template | None, user: Template) -> None:
        self.spec = spec
        self.path = path
        self.name = spec.name
        self.version = spec.version
        self.title = spec.title
        self.construct = spec.construct
        self.source = dict(spec.source)
        self.sampling: dict[str, Any] = dict(spec.sampling)
        self.complete_when = None if spec.complete_when is None else spec.complete_when.written
        self.output = spec.output
        self.system_template = system
        self.user_template = user
        self.parts = tuple(dict.fromkeys((system.parts if system else ()) + user.parts))
        self.system_text = fill_static(system.program, {}).strip("\n") if system else None
        self._inputs = frozenset(spec.inputs)
        self._levels = {
            f"fields.{name}": value for name, value in _levels(spec.verdict).items() if not isinstance(value, str)
        }
        self._dynamic = tuple(field for field in spec.verdict if isinstance(field, ChoiceField) and field.dynamic)
        self._seed = content_hash([COMPILER, self.system_text, canonical(user.program)])
        self._models: dict[Any, tuple[type[VerdictModel], dict[str, Any]]] = {}
        self._examples: list[dict[str, str]] | None = None
        self.ask_fingerprint = ask_fingerprint(
            spec, self.system_text, user, None if isinstance(spec.examples, RetrieveSpec) else self._given_turns()
        )
        self.score_fingerprint = score_fingerprint(spec)

    def __repr__(self) -> str:
        return f"CompiledRubric({self.name!r}, ask={self.ask_fingerprint[:12]}, score={self.score_fingerprint[:12]})"

    # what a record offers

    def missing_inputs(self, record: Record) -> list[str]:
        """Required inputs that the record lacks (absent or blank); a blank `response` is `blank`, not missing."""
        missing = []
        for name in self.spec.required:
            if name == "response" and record.response is not None:
                continue
            if self._input(record, name, record.criteria) is None:
                missing.append(name)
        for field in self._dynamic:
            if field.sets is not None and field.by not in missing and self._set(field, record) is None:
                missing.append(f"{field.by} (one of {', '.join(field.sets)})")
        return missing

    def blank(self, record: Record) -> bool:
        """The rubric declares `response`, and the record's has nothing in it to be seen."""
        return "response" in self._inputs and record.response is not None and is_blank(record.response)

    def rule_result(self, record: Record) -> RubricScore | None:
        """For a blank response the score that `when_response_empty` states; else None."""
        return rule_score(self.spec) if self.blank(record) else None

    def select_criteria(self, record: Record) -> list[Criterion]:
        """The rubric's fixed criteria, else the record's own that pass `where`; empty where the rubric asks for none."""
        criteria = self.spec.criteria
        if criteria is None or "record" not in criteria.sources:
            return []
        if criteria.fixed:
            return list(criteria.fixed)
        return [criterion for criterion in record.criteria if matches(criteria.where, criterion)]

    def examples_for(self, record: Record) -> list[Example]:
        """The examples that the file gives; retrieved ones are passed to `asks` by who retrieves them."""
        return [] if isinstance(self.spec.examples, RetrieveSpec) else list(self.spec.examples)

    # asking

    def asks(
        self, record: Record, criteria: Sequence[Criterion] | None = None, examples: Sequence[Example] | None = None
    ) -> list[Ask]:
        """One `Ask` a request.

        Parameters
        ----------
        criteria : what to ask about; by default `select_criteria(record)`. Under ``ask: each`` every one is a request.
        examples : in place of the file's own.

        Raises
        ------
        DataError : an input is missing, or two criteria have the same id.
        """
        if missing := self.missing_inputs(record):
            raise DataError(f"record {record.id!r} lacks {', '.join(missing)}", mend=f"the rubric {self.name} needs it")
        turns = self._given_turns() if examples is None else self._turns(examples)
        section = self.spec.criteria
        if section is None:
            return [self._ask(record, None, turns)]
        chosen = list(self.select_criteria(record) if criteria is None else criteria)
        if len({criterion.id for criterion in chosen}) < len(chosen):
            raise DataError(f"two criteria of record {record.id!r} have the same id", mend="give each its own")
        if not chosen:
            return []
        if section.ask == "together":
            return [self._ask(record, chosen, turns)]
        return [self._ask(record, [criterion], turns) for criterion in chosen]

    def calls(
        self, record: Record, criteria: Sequence[Criterion] | None = None, examples: Sequence[Example] | None = None
    ) -> list[tuple[list[dict[str, str]], dict[str, Any] | None]]:
        """``[(messages, schema)]`` of `asks`."""
        return [(ask.messages, ask.schema) for ask in self.asks(record, criteria, examples)]

    def response_model(self, record: Record, criteria: Sequence[Criterion] | None = None) -> type[BaseModel] | None:
        """The strict model of one reply; None for a writer of free text, and where there is no criterion to ask."""
        if self.output == "text":
            return None
        if self.spec.criteria is None:
            return self._model(record, None)[0]
        chosen = list(self.select_criteria(record) if criteria is None else criteria)
        return self._model(record, chosen)[0] if chosen else None

    def merge(self, answers: Sequence[tuple[Ask, Mapping[str, Any]]]) -> dict[str, Any]:
        """The verdict of a judgement: plain fields, or ``{"criteria": {id: fields}}``."""
        if self.spec.criteria is None:
            return dict(answers[0][1]) if answers else {}
        merged: dict[str, Any] = {}
        for ask, answer in answers:
            if self.spec.criteria.ask == "together":
                for i, identity in enumerate(ask.criterion_ids, 1):
                    if str(i) in answer:
                        merged[identity] = dict(answer[str(i)])
            else:
                merged[ask.criterion_ids[0]] = dict(answer)
        return {"criteria": merged}

    def score(
        self, verdict: Mapping[str, Any], criteria: Sequence[Criterion | Mapping[str, Any]] | None = None
    ) -> RubricScore:
        """See `scoring.score_verdict`."""
        return score_verdict(self.spec, verdict, criteria)

    def ask_with(self, data_hash: str) -> str:
        """The `ask` fingerprint of a rubric that retrieves examples from data with this hash."""
        return content_hash([self.ask_fingerprint, data_hash])

    @property
    def example_turns(self) -> list[dict[str, str]]:
        """The messages of the examples that the file gives."""
        return list(self._given_turns()) if not isinstance(self.spec.examples, RetrieveSpec) else []

    @property
    def writer_path(self) -> str | Path | None:
        """The rubric that writes this one's checklists: a file beside it, else a library name. None where nobody does."""
        if self.spec.criteria is None or self.spec.criteria.write is None:
            return None
        name = self.spec.criteria.write.rubric
        if self.path is not None:
            beside = self.path.resolve().parent / (name if name.endswith((".yaml", ".yml")) else f"{name}.yaml")
            if beside.is_file():
                return beside
        return name

    def choices(self, record: Record) -> dict[str, dict[str, str]]:
        """Options, with their meanings, of the choices that depend on the record."""
        return {field.name: dict(self._set(field, record) or {}) for field in self._dynamic}

    # inside

    def _ask(self, record: Record, criteria: list[Criterion] | None, turns: list[dict[str, str]]) -> Ask:
        messages = [] if self.system_text is None else [{"role": "system", "content": self.system_text}]
        messages += [dict(turn) for turn in turns]
        messages.append({"role": "user", "content": self._user(record, criteria)})
        ids = tuple(criterion.id for criterion in criteria or ())
        if self.output == "text":
            return Ask(messages, None, None, ids)
        model, schema = self._model(record, criteria)
        return Ask(messages, schema, model, ids, self.spec.verdict)

    def _user(self, record: Record, criteria: Sequence[Criterion] | None) -> str:
        names: dict[str, Any] = dict(self._levels)
        for name in self.user_template.used:
            names[name] = self._input(record, name, record.criteria if criteria is None else criteria)
        for field in self._dynamic:
            names[f"fields.{field.name}"] = self._dynamic_levels(field, record)
        return render(self.user_template.program, names, self._seed)

    def _input(self, record: Record, name: str, criteria: Sequence[Criterion]) -> Any:
        """An input's value as templates see it; None where it is undeclared, absent, blank or empty."""
        if name not in self._inputs:
            return None
        value: Any
        if name == "criteria":
            return [
                {
                    "id": each.id,
                    "text": each.text,
                    "number": i,
                    "points": each.points,
                    "kind": each.kind,
                    "tags": list(each.tags),
                }
                for i, each in enumerate(criteria, 1)
            ] or None
        if name == "turns":
            return [
                {"role": turn.role, "content": turn.content, "number": i} for i, turn in enumerate(record.turns, 1)
            ] or None
        if name == "options":
            options = record.options or {}
            return [{"id": key, "text": text, "number": i} for i, (key, text) in enumerate(options.items(), 1)] or None
        if name == "question":
            value = record.question_text
        elif name == "response":
            value = record.response
        elif name == "reference":
            value = record.reference
        else:
            value = record.inputs.get(name)
        if isinstance(value, str) and is_blank(value):
            return None
        return None if isinstance(value, list | dict) and not value else value

    def _set(self, field: ChoiceField, record: Record) -> Mapping[str, str] | None:
        if field.sets is not None:
            return field.sets.get(str(record.inputs.get(field.by or "")))
        return record.options

    def _dynamic_levels(self, field: ChoiceField, record: Record) -> list[dict[str, Any]]:
        return [{"value": key, "label": key, "text": text} for key, text in (self._set(field, record) or {}).items()]

    def _model(self, record: Record, criteria: Sequence[Criterion] | None) -> tuple[type[VerdictModel], dict[str, Any]]:
        choices = self.choices(record)
        together = self.spec.criteria is not None and self.spec.criteria.ask == "together"
        count = len(criteria or ()) if together else None
        key = (count, tuple((name, tuple(labels)) for name, labels in choices.items()))
        found = self._models.get(key)
        if found is None:
            schema = object_schema(self.spec.verdict, choices)
            model = verdict_model(self.spec.verdict, choices, schema)
            if count is not None:
                schema = positions_schema(schema, count)
                model = together_model(model, count, schema)
            if len(self._models) >= _CACHE:
                self._models.clear()
            found = self._models[key] = (model, schema)
        return found

    # examples

    def _given_turns(self) -> list[dict[str, str]]:
        if self._examples is None:
            self._examples = self._turns(self.examples_for(Record(id="")))
        return self._examples

    def _turns(self, examples: Sequence[Example]) -> list[dict[str, str]]:
        turns: list[dict[str, str]] = []
        for i, example in enumerate(examples, 1):
            for criteria, reply in self._replies(example, i):
                turns.append({"role": "user", "content": self._user(example.record, criteria)})
                turns.append({"role": "assistant", "content": reply})
        return turns

    def _replies(self, example: Example, number: int) -> list[tuple[list[Criterion] | None, str]]:
        record = example.record
        if missing := self.missing_inputs(record):
            message = f"the example {record.id!r} lacks {', '.join(missing)}"
            raise self._example_error(number, message, "give it every required input")
        if self.output == "text":
            return [(None, example.text or "")]
        verdict = example.verdict or {}
        if self.spec.criteria is None:
            return [(None, self._wire(record, None, verdict, number))]
        answers = verdict.get("criteria", {})
        known = self.spec.criteria.fixed or record.criteria
        asked = [criterion for criterion in known if criterion.id in answers]
        if self.spec.criteria.ask == "together":
            whole = {str(i): answers[criterion.id] for i, criterion in enumerate(asked, 1)}
            return [(asked, self._wire(record, asked, whole, number))]
        return [([criterion], self._wire(record, [criterion], answers[criterion.id], number)) for criterion in asked]

    def _example_error(self, number: int, message: str, mend: str) -> RubricError:
        place = None if isinstance(self.spec.examples, RetrieveSpec) else self.spec.where.get(f"examples[{number}]")
        file = place.file if place is not None else None if self.path is None else str(self.path)
        return RubricError(message, file=file, line=None if place is None else place.line, field="examples", mend=mend)

    def _wire(self, record: Record, criteria: list[Criterion] | None, verdict: Mapping[str, Any], number: int) -> str:
        """The verdict as the schema wants it back: scales are strings there, so examples show strings."""
        model, _ = self._model(record, criteria)
        try:
            value = model.model_validate(verdict).model_dump()
        except ValidationError as error:
            message = f"the verdict of example {record.id!r} does not fit: {problems(error, model)}"
            raise self._example_error(number, message, "mend the example") from None
        together = self.spec.criteria is not None and self.spec.criteria.ask == "together"
        if together:
            value = {key: _strings(self.spec.verdict, inner) for key, inner in value.items()}
        else:
            value = _strings(self.spec.verdict, value)
        return json.dumps(value, ensure_ascii=False)


def compile_spec(spec: RubricSpec, path: Path | None = None) -> CompiledRubric:
    """Check the templates of a spec and prepare everything static."""
    compiler = TemplateCompiler(
        spec.required
        + (("criteria",) if spec.criteria is not None and "criteria" not in spec.required + spec.optional else ()),
        spec.optional,
        _levels(spec.verdict),
        spec.blocks,
        find_part,
    )
    system = compiler.compile(spec.system, static=True) if spec.system is not None else None
    user = compiler.compile(spec.user)
    compiler.check_blocks()
    return CompiledRubric(spec, path, system, user)


def _levels(fields: Sequence[Field]) -> dict[str, list[dict[str, Any]] | str]:
    levels: dict[str, list[dict[str, Any]] | str] = {}
    for field in fields:
        if isinstance(field, ScaleField):
            levels[field.name] = [
                {"value": level.value, "label": level.label, "text": level.anchor} for level in field.levels
            ]
        elif isinstance(field, ChoiceField):
            if field.options is not None:
                levels[field.name] = [
                    {"value": label, "label": label, "text": text} for label, text in field.options.items()
                ]
            else:
                levels[field.name] = field.by or "options"
    return levels


def _strings(fields: Sequence[Field], verdict: Mapping[str, Any]) -> dict[str, Any]:
    out = dict(verdict)
    for field in fields:
        if isinstance(field, ScaleField):
            out[field.name] = str(out[field.name])
        elif isinstance(field, ListField):
            out[field.name] = [_strings(field.of, item) for item in out[field.name]]
    return out
