"""Records and verdicts as they stand in a rubric file, in `examples` and `checks`."""

from __future__ import annotations

from typing import Any

from judgekit.records import Criterion, Record, Turn
from judgekit.rubric.conditions import read_condition
from judgekit.rubric.fields import BooleanField, ChoiceField, Field, ListField, NumberField, ScaleField
from judgekit.rubric.nodes import (
    Map,
    Node,
    Scalar,
    Seq,
    as_bool,
    as_int,
    as_list,
    as_map,
    as_number,
    as_text,
    check_keys,
    did_you_mean,
    fail,
    is_null,
)
from judgekit.rubric.spec import Check, CriteriaSpec, Example

__all__ = ["read_check", "read_example", "read_record"]

RECORD_KEYS = ("id", "question", "response", "reference", "criteria", "options", "inputs", "cluster")


def read_record(node: Node, field: str, default_id: str) -> Record:
    body = as_map(node, field, '{question: "...", response: "..."}')
    check_keys(body, field, RECORD_KEYS)

    def text(key: str) -> str | None:
        value = body.get(key)
        return None if value is None or is_null(value) else as_text(value, f"{field}.{key}", blank=True)

    criteria, options, inputs = body.get("criteria"), body.get("options"), body.get("inputs")
    return Record(
        id=text("id") or default_id,
        question=_question(body.get("question"), f"{field}.question"),
        response=text("response"),
        reference=text("reference"),
        criteria=() if criteria is None or is_null(criteria) else _criteria(criteria, f"{field}.criteria"),
        options=None if options is None or is_null(options) else _options(options, f"{field}.options"),
        inputs={} if inputs is None or is_null(inputs) else _plain_map(inputs, f"{field}.inputs"),
        cluster=text("cluster"),
    )


def _question(node: Node | None, field: str) -> str | tuple[Turn, ...] | None:
    if node is None or is_null(node):
        return None
    if isinstance(node, Scalar):
        return as_text(node, field, blank=True)
    turns = []
    for item in as_list(node, field, "[{role: user, content: ...}]").items:
        turn = as_map(item, field, "{role: user, content: ...}")
        check_keys(turn, field, ("role", "content"))
        for key in ("role", "content"):
            if key not in turn.items:
                fail(turn, field, f"`{key}` is missing", "write {role: user, content: ...}")
        role = as_text(turn.items["role"], field)
        if role not in ("system", "user", "assistant"):
            fail(turn.items["role"], field, f"{role!r} is no role", "write system, user or assistant")
        turns.append(Turn(role=role, content=as_text(turn.items["content"], field, blank=True)))  # type: ignore[arg-type]
    return tuple(turns)


def _criteria(node: Node, field: str) -> tuple[Criterion, ...]:
    found: list[Criterion] = []
    for i, item in enumerate(as_list(node, field, '["Names the dose"]').items, 1):
        if isinstance(item, Scalar):
            found.append(Criterion(id=f"c{i}", text=as_text(item, field)))
            continue
        body = as_map(item, field, '{id: c1, text: "Names the dose"}')
        check_keys(body, field, ("id", "text", "points", "kind", "tags"))
        if "text" not in body.items:
            fail(body, field, "`text` is missing", "say what the response must do")
        kind, tags = body.get("kind"), body.get("tags")
        found.append(
            Criterion(
                id=as_text(body.items["id"], field) if "id" in body.items else f"c{i}",
                text=as_text(body.items["text"], field),
                points=as_number(body.items["points"], field) if "points" in body.items else 1,
                kind=None if kind is None or is_null(kind) else as_text(kind, field),
                tags=()
                if tags is None or is_null(tags)
                else tuple(as_text(tag, field) for tag in as_list(tags, field, "[a]").items),
            )
        )
    if len({criterion.id for criterion in found}) < len(found):
        fail(node, field, "two criteria have the same id", "give each its own")
    return tuple(found)


def _options(node: Node, field: str) -> dict[str, str]:
    body = as_map(node, field, '{A: "...", B: "..."}')
    return {key: as_text(value, f"{field}.{key}", blank=True) for key, value in body.items.items()}


def _plain_map(node: Node, field: str) -> dict[str, Any]:
    return {key: _plain(value, f"{field}.{key}") for key, value in as_map(node, field, "{name: text}").items.items()}


def _plain(node: Node, field: str) -> Any:
    if is_null(node):
        return None
    if isinstance(node, Map):
        return _plain_map(node, field)
    if isinstance(node, Seq):
        return [_plain(item, field) for item in node.items]
    return node.text


def read_example(
    node: Node, field: str, verdict: tuple[Field, ...], output: str, criteria: CriteriaSpec | None, number: int
) -> Example:
    kind = "text" if output == "text" else "verdict"
    sample = f"{{record: {{...}}, {kind}: ...}}"
    body = as_map(node, field, sample)
    check_keys(body, field, ("record", kind))
    for key in ("record", kind):
        if key not in body.items:
            fail(body, field, f"`{key}` is missing", f"write {sample}")
    record = read_record(body.items["record"], f"{field}.record", f"example-{number}")
    if kind == "text":
        return Example(record, text=as_text(body.items["text"], f"{field}.text"))
    where = f"{field}.verdict"
    if criteria is None:
        return Example(record, verdict=_verdict(body.items["verdict"], where, verdict, record))
    outer = as_map(body.items["verdict"], where, "{criteria: {c1: {met: true}}}")
    check_keys(outer, where, ("criteria",))
    inner = (
        as_map(outer.items["criteria"], f"{where}.criteria", "{c1: {met: true}}") if "criteria" in outer.items else None
    )
    if inner is None or not inner.items:
        fail(outer, where, "no criterion's verdict stands here", "write {criteria: {c1: {met: true}}}")
    known = [criterion.id for criterion in record.criteria]
    check_keys(inner, f"{where}.criteria", known)
    if criteria.ask == "together" and len(inner.items) < len(known):
        fail(inner, f"{where}.criteria", "not every criterion of the record has a verdict", "write one for each")
    return Example(
        record,
        verdict={
            "criteria": {
                key: _verdict(value, f"{where}.criteria.{key}", verdict, record) for key, value in inner.items.items()
            }
        },
    )


def _verdict(node: Node, field: str, fields: tuple[Field, ...], record: Record) -> dict[str, Any]:
    names = [each.name for each in fields]
    body = as_map(node, field, "{" + f"{names[0]}: ..." + "}")
    check_keys(body, field, names)
    for name in names:
        if name not in body.items:
            fail(body, field, f"`{name}` is missing", "write every field of the verdict")
    return {each.name: _value(body.items[each.name], f"{field}.{each.name}", each, record) for each in fields}


def _value(node: Node, field: str, kind: Field, record: Record) -> Any:
    if isinstance(kind, ScaleField):
        value = as_int(node, field)
        levels = [level.value for level in kind.levels]
        if value not in levels:
            fail(node, field, f"{value} is no level of `{kind.name}`", f"write one of {', '.join(map(str, levels))}")
        return value
    if isinstance(kind, BooleanField):
        return as_bool(node, field)
    if isinstance(kind, NumberField):
        return as_number(node, field, low=kind.low, high=kind.high)
    if isinstance(kind, ListField):
        items = as_list(node, field, "[{...}]").items
        return [_verdict(item, f"{field}[{i}]", kind.of, record) for i, item in enumerate(items, 1)]
    text = as_text(node, field, blank=True)
    if isinstance(kind, ChoiceField):
        labels = _labels(kind, record)
        if text not in labels:
            close = did_you_mean(text, labels)
            mend = f"did you mean {close!r}?" if close else f"write one of {', '.join(labels)}"
            fail(node, field, f"{text!r} is no option of `{kind.name}`", mend)
    return text


def _labels(kind: ChoiceField, record: Record) -> list[str]:
    if kind.options is not None:
        return list(kind.options)
    if kind.sets is not None:
        return list(kind.sets.get(str(record.inputs.get(kind.by or "")), {}))
    return list(record.options or {})


def read_check(node: Node, field: str, verdict: tuple[Field, ...], criteria: CriteriaSpec | None, number: int) -> Check:
    body = as_map(node, field, '{record: {question: "...", response: "..."}, expect: {score: "<= 2"}}')
    check_keys(body, field, ("record", "expect"))
    for key in ("record", "expect"):
        if key not in body.items:
            fail(body, field, f"`{key}` is missing", 'write {record: {...}, expect: {raw: "<= 2"}}')
    record = read_record(body.items["record"], f"{field}.record", f"check-{number}")
    expect = as_map(body.items["expect"], f"{field}.expect", '{raw: "<= 2"}')
    if not expect.items:
        fail(expect, f"{field}.expect", "nothing is expected", 'write for example {raw: "<= 2"}')
    names = [each.name for each in verdict]
    if criteria is None:
        known = ["raw", "complete", *names]
    else:
        known = ["raw", "complete", *(f"{criterion.id}.{name}" for criterion in record.criteria for name in names)]
    check_keys(expect, f"{field}.expect", known)
    conditions = {name: read_condition(value, f"{field}.expect.{name}") for name, value in expect.items.items()}
    return Check(record, conditions, body.place)
