"""Nodes -> what the judge is asked about and how a verdict becomes a number: criteria, score, thresholds, sampling."""

from __future__ import annotations

from typing import Any

from judgekit.rubric.conditions import Condition, read_comparison, read_conditions
from judgekit.rubric.fields import BooleanField, Field, NumberField, ScaleField
from judgekit.rubric.nodes import (
    Map,
    Node,
    Seq,
    as_int,
    as_list,
    as_map,
    as_number,
    as_text,
    check_keys,
    did_you_mean,
    fail,
    given,
    is_null,
)
from judgekit.rubric.spec import CriteriaSpec, ScoreSpec, WriteSpec

__all__ = [
    "CRITERION_KEYS",
    "SAMPLING",
    "SCORE_KINDS",
    "read_complete_when",
    "read_criteria",
    "read_sampling",
    "read_score",
    "read_when_empty",
]

SCORE_KINDS = ("field", "mean", "fraction", "weighted")
CRITERION_KEYS = ("id", "text", "points", "kind", "tags")
# parameter -> kind, least, most
SAMPLING: dict[str, tuple[str, float | None, float | None]] = {
    "temperature": ("number", 0, 2),
    "max_tokens": ("int", 1, None),
    "top_p": ("number", 0, 1),
    "top_k": ("int", 0, None),
    "min_p": ("number", 0, 1),
    "seed": ("int", None, None),
    "frequency_penalty": ("number", -2, 2),
    "presence_penalty": ("number", -2, 2),
    "reasoning_effort": ("text", None, None),
    "stop": ("texts", None, None),
}


def read_criteria(root: Map) -> CriteriaSpec | None:
    node = given(root, "criteria")
    if node is None:
        return None
    body = as_map(node, "criteria", "{from: [record], ask: each}")
    check_keys(body, "criteria", ("from", "where", "write", "ask"))
    sources: list[Any] = []
    if "from" in body.items:
        listed = body.items["from"]
        for item in listed.items if isinstance(listed, Seq) else (listed,):
            source = as_text(item, "criteria.from")
            if source not in ("record", "written") or source in sources:
                fail(
                    item,
                    "criteria.from",
                    f"{source!r} is not usable here",
                    "list `record`, `written`, or both, each once",
                )
            sources.append(source)
    write = None
    if (given_write := given(body, "write")) is not None:
        writer = as_map(given_write, "criteria.write", "{rubric: checklist-writer, per: question}")
        check_keys(writer, "criteria.write", ("rubric", "per", "model"))
        if "rubric" not in writer.items:
            fail(writer, "criteria.write", "`rubric` is missing", "name the rubric that writes the checklist")
        per = as_text(writer.items["per"], "criteria.write.per") if "per" in writer.items else "question"
        if per != "question":
            fail(writer.items["per"], "criteria.write.per", f"{per!r} is not supported", "write `per: question`")
        model = given(writer, "model")
        write = WriteSpec(
            as_text(writer.items["rubric"], "criteria.write.rubric"),
            per,
            None if model is None else as_text(model, "criteria.write.model"),
        )
    if ("written" in sources) != (write is not None):
        fail(body, "criteria", "`from: [..., written]` and `write:` belong together", "write both, or neither")
    ask = as_text(body.items["ask"], "criteria.ask") if "ask" in body.items else "each"
    if ask not in ("each", "together"):
        fail(
            body.items["ask"],
            "criteria.ask",
            f"{ask!r} is no way to ask",
            "write `each` (a call each) or `together` (one call)",
        )
    where = (
        read_conditions(body.items["where"], "criteria.where", CRITERION_KEYS)
        if given(body, "where") is not None
        else {}
    )
    return CriteriaSpec(tuple(sources) or ("record",), where, write, "each" if ask == "each" else "together")


def read_score(root: Map, verdict: tuple[Field, ...], criteria: CriteriaSpec | None) -> ScoreSpec | None:
    node = given(root, "score")
    if node is None:
        return None
    body = as_map(node, "score", "{field: score}")
    check_keys(body, "score", SCORE_KINDS)
    if len(body.items) != 1:
        fail(node, "score", f"{len(body.items)} ways to score", f"write exactly one of {', '.join(SCORE_KINDS)}")
    kind, value = next(iter(body.items.items()))
    where = f"score.{kind}"
    fields = {field.name: field for field in verdict}

    def named(item: Node) -> Field:
        name = as_text(item, where)
        if name not in fields:
            close = did_you_mean(name, fields)
            fail(
                item,
                where,
                f"the verdict has no field {name!r}",
                f"did you mean {close!r}?" if close else f"its fields are {', '.join(fields)}",
            )
        return fields[name]

    if kind in ("fraction", "weighted"):
        field = named(value)
        if criteria is None:
            fail(value, where, f"`{kind}` counts criteria, and this rubric has none", "write a `criteria:` section")
        if not isinstance(field, BooleanField):
            fail(
                value,
                where,
                f"`{field.name}` is not a boolean field",
                "name the field that says whether a criterion is met",
            )
        return ScoreSpec(kind, (field.name,))  # type: ignore[arg-type]
    if criteria is not None:
        fail(
            value,
            where,
            f"`{kind}` reads one verdict, and this rubric has one for each criterion",
            "use fraction or weighted",
        )
    if kind == "mean":
        axes = [named(item) for item in as_list(value, where, "[comprehension, reasoning]").items]
        if len(axes) < 2 or len({axis.name for axis in axes}) < len(axes):
            fail(value, where, "a mean needs two or more different fields", "list each scale once")
        scales = [axis for axis in axes if isinstance(axis, ScaleField)]
        if len(scales) < len(axes):
            fail(value, where, "a mean is taken over scales", "name scale fields only")
        if len({(scale.low, scale.high) for scale in scales}) > 1:
            fail(value, where, "the scales have different ends, so their mean means nothing", "give them the same ends")
        return ScoreSpec("mean", tuple(axis.name for axis in axes))
    field = named(value)
    if isinstance(field, NumberField) and (field.low is None or field.high is None):
        fail(value, where, f"the number `{field.name}` has no ends to map by", "give it both min and max")
    if not isinstance(field, ScaleField | BooleanField | NumberField):
        fail(value, where, f"`{field.name}` is not a number", "score by a scale, a boolean or a number")
    return ScoreSpec("field", (field.name,))


def read_complete_when(root: Map, score: ScoreSpec | None) -> Condition | None:
    node = given(root, "complete_when")
    if node is None:
        return None
    if score is None:
        fail(root.keys["complete_when"], "complete_when", "there is no score to compare", "write `score: {field: ...}`")
    return read_comparison(node, "complete_when")


def read_when_empty(
    root: Map, verdict: tuple[Field, ...], score: ScoreSpec | None, inputs: tuple[str, ...]
) -> int | float | None:
    node = given(root, "when_response_empty")
    if node is None:
        return None
    body = as_map(node, "when_response_empty", "{raw: 1}")
    check_keys(body, "when_response_empty", ("raw",))
    where = "when_response_empty.raw"
    if "raw" not in body.items:
        fail(body, "when_response_empty", "`raw` is missing", "write {raw: 1}")
    value = as_number(body.items["raw"], where)
    if score is None or "response" not in inputs:
        missing = "a score" if score is None else "the input `response`"
        fail(body, "when_response_empty", f"this needs {missing}", "remove it, and a blank response is skipped")
    if score.kind in ("fraction", "weighted"):
        as_number(body.items["raw"], where, low=0 if score.kind == "fraction" else None, high=1)
        return value
    for field in verdict:
        if isinstance(field, ScaleField) and value not in [level.value for level in field.levels]:
            fail(
                body.items["raw"],
                where,
                f"{value} is no level of `{field.name}`",
                f"write one of {', '.join(str(level.value) for level in field.levels)}",
            )
        if isinstance(field, BooleanField) and field.name in score.fields and value not in (0, 1):
            fail(body.items["raw"], where, f"{value} is neither 0 nor 1", "write 0 or 1")
        if isinstance(field, NumberField) and field.name in score.fields:
            as_number(body.items["raw"], where, low=field.low, high=field.high)
    return value


def read_sampling(root: Map) -> dict[str, Any]:
    node = given(root, "sampling")
    if node is None:
        return {}
    body = as_map(node, "sampling", "{temperature: 0, max_tokens: 800}")
    check_keys(body, "sampling", SAMPLING)
    values: dict[str, Any] = {}
    for key, value in body.items.items():
        kind, low, high = SAMPLING[key]
        where = f"sampling.{key}"
        if is_null(value):
            continue
        if kind == "int":
            values[key] = as_int(
                value, where, low=None if low is None else int(low), high=None if high is None else int(high)
            )
        elif kind == "number":
            values[key] = as_number(value, where, low=low, high=high)
        elif kind == "text":
            values[key] = as_text(value, where)
        else:
            items = value.items if isinstance(value, Seq) else (value,)
            values[key] = [as_text(item, where, blank=True) for item in items]
    return values
