"""Lint rules about numbers: what the score can be, whether a condition can hold, and how long a reply may get."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Literal

from judgekit.rubric.compile import CompiledRubric
from judgekit.rubric.conditions import Condition, holds
from judgekit.rubric.fields import BooleanField, ChoiceField, Field, ListField, NumberField, ScaleField, TextField

__all__ = ["CHARS_PER_TOKEN", "Remark", "checks", "sampling", "threshold"]

CHARS_PER_TOKEN = 4  # a rule of thumb for English

# severity, code, field, message, mend
Remark = tuple[Literal["error", "warning"], str, str | None, str, str | None]


def sampling(rubric: CompiledRubric) -> Iterator[Remark]:
    spec = rubric.spec
    limit = spec.sampling.get("max_tokens")
    where = "sampling" if spec.sampling else "rubric"
    if limit is None:
        yield (
            "warning",
            "no-max-tokens",
            where,
            "a judge that rambles is not stopped",
            "write `sampling: {temperature: 0, max_tokens: 800}`",
        )
    elif spec.output == "verdict":
        need = _reply_tokens(spec.verdict)
        if need > limit:
            yield (
                "warning",
                "max-tokens-small",
                "sampling.max_tokens",
                f"the texts that are asked for may need about {need} tokens",
                f"write {-(-need // 100) * 100}, or lower max_chars",
            )
    if "temperature" not in spec.sampling:
        yield (
            "warning",
            "no-temperature",
            where,
            "the provider's default temperature is used, mostly 1",
            "write `temperature: 0` to repeat yourself",
        )


def _reply_tokens(fields: tuple[Field, ...]) -> int:
    total = 0
    for field in fields:
        total += 8
        if isinstance(field, TextField):
            total += (field.max_chars or 400) // CHARS_PER_TOKEN
        elif isinstance(field, ListField):
            total += (field.high or 10) * _reply_tokens(field.of)
    return total


def threshold(rubric: CompiledRubric) -> Iterator[Remark]:
    spec = rubric.spec
    # A blank response meets no criterion, good or bad: for counted scores that is 0, also where worse is possible.
    counted = spec.score is not None and spec.score.kind in ("fraction", "weighted")
    worst = 0.0 if counted else min(_raws(rubric, None), default=0.0)
    if spec.when_response_empty is not None and spec.when_response_empty != worst:
        yield (
            "warning",
            "blank-not-worst",
            "when_response_empty",
            f"a blank response gets {spec.when_response_empty}, and that is not the worst score",
            f"write {{raw: {worst:g}}}",
        )
    if spec.complete_when is None:
        return
    results = {holds(spec.complete_when, value) for value in _raws(rubric, spec.complete_when)}
    if len(results) == 1:
        word = "always" if True in results else "never"
        yield (
            "error",
            "threshold-off-scale",
            "complete_when",
            f"{spec.complete_when.written!r} is {word} true on this rubric's scale",
            "compare with a value inside the scale",
        )


def _raws(rubric: CompiledRubric, condition: Condition | None) -> list[float]:
    """Values that the raw score can take, enough of them to see whether a condition can hold or fail."""
    spec = rubric.spec
    if spec.score is None:
        return []
    scored = [spec.field(name) for name in spec.score.fields]
    if spec.score.kind in ("fraction", "weighted"):
        low = 0.0 if spec.score.kind == "fraction" else -10.0
        return _spread(low, 1.0, condition)
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


def checks(rubric: CompiledRubric) -> Iterator[Remark]:
    spec = rubric.spec
    if not spec.checks and spec.output == "verdict" and spec.score is not None:
        yield (
            "warning",
            "no-checks",
            "rubric",
            "the rubric has no checks of its own",
            'write `checks: [{record: {...}, expect: {raw: "<= 2"}}]`',
        )
    for i, check in enumerate(spec.checks, 1):
        where = f"checks[{i}]"
        if missing := rubric.missing_inputs(check.record):
            yield "error", "check-lacks-input", f"{where}.record", f"the record lacks {', '.join(missing)}", "add it"
        if (
            spec.criteria is not None
            and "written" not in spec.criteria.sources
            and not rubric.select_criteria(check.record)
        ):
            yield (
                "error",
                "check-lacks-criteria",
                f"{where}.record",
                "no criterion of the record passes `where`",
                "add one",
            )
        for name, condition in check.expect.items():
            if not any(holds(condition, value) for value in _possible(rubric, name, condition, check.record)):
                yield (
                    "error",
                    "check-cannot-hold",
                    f"{where}.expect.{name}",
                    f"{condition.written!r} cannot become true",
                    "expect a value that the verdict can have",
                )


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
