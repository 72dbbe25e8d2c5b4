"""Nodes -> RubricSpec: the keys of a rubric file, one reader each, every error with its place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from judgekit.rubric.conditions import read_conditions
from judgekit.rubric.fields import ChoiceField, Field, read_fields
from judgekit.rubric.nodes import (
    Map,
    Node,
    Place,
    Scalar,
    Seq,
    as_int,
    as_list,
    as_map,
    as_text,
    check_keys,
    fail,
    given,
    is_null,
)
from judgekit.rubric.read_scoring import read_complete_when, read_criteria, read_sampling, read_score, read_when_empty
from judgekit.rubric.records import read_check, read_example
from judgekit.rubric.spec import (
    HIDDEN_INPUTS,
    Check,
    CriteriaSpec,
    Example,
    PromptText,
    RetrieveSpec,
    RubricSpec,
)

__all__ = ["TOP_KEYS", "read_spec"]

TOP_KEYS = (
    "rubric", "version", "title", "source", "construct", "extends", "inputs", "verdict", "output", "score",
    "complete_when", "when_response_empty", "sampling", "criteria", "prompt", "blocks", "examples", "checks",
)  # fmt: skip
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)
_INPUT = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
_RESERVED_INPUTS = ("fields", "loop", "none", "true", "false", "not", "and", "or", "in", "is", "if", "else", "for")


def read_spec(root: Map, folders: Mapping[str, str]) -> RubricSpec:
    """The typed rubric of a resolved map (after `extends`); `folders` maps each file's name to its folder."""
    check_keys(root, "", TOP_KEYS)
    name = _name(root)
    output = _output(root)
    required, optional = _inputs(root)
    verdict = (
        ()
        if output == "text"
        else read_fields(_need(root, "verdict", "say what the judge must return, or `output: text`"), "verdict")
    )
    criteria = read_criteria(root)
    score = read_score(root, verdict, criteria)
    system, user = _prompt(root, folders)
    spec = RubricSpec(
        name=name,
        version=_optional_text(root, "version") or "1",
        title=_optional_text(root, "title"),
        source=_source(root),
        construct=_optional_text(root, "construct"),
        required=required,
        optional=optional,
        output=output,
        verdict=verdict,
        score=score,
        complete_when=read_complete_when(root, score),
        when_response_empty=read_when_empty(root, verdict, score, required + optional),
        sampling=read_sampling(root),
        system=system,
        user=user,
        blocks=_blocks(root, folders),
        criteria=criteria,
        examples=_examples(root, verdict, output, criteria),
        checks=_checks(root, verdict, criteria),
        where=_places(root),
    )
    _choices_have_inputs(root, spec)
    return spec


def _need(root: Map, key: str, mend: str) -> Node:
    node = root.get(key)
    if node is None or is_null(node):
        fail(root.place if node is None else node, key, "this key is missing", mend)
    return node


def _optional_text(root: Map, key: str) -> str | None:
    node = given(root, key)
    return None if node is None else as_text(node, key)


def _name(root: Map) -> str:
    node = _need(root, "rubric", "write `rubric: my-name` first")
    name = as_text(node, "rubric")
    if not _NAME.fullmatch(name) or len(name) > 64:
        fail(
            node,
            "rubric",
            f"{name!r} is not usable as a name",
            "use small letters, digits and single hyphens: my-rubric-2",
        )
    return name


def _output(root: Map) -> Any:
    node = given(root, "output")
    if node is None:
        return "verdict"
    text = as_text(node, "output")
    if text != "text":
        fail(
            node,
            "output",
            f"{text!r} is no kind of output",
            "write `output: text`, or leave it out and write `verdict:`",
        )
    for key in ("verdict", "score", "complete_when", "when_response_empty", "criteria"):
        if (other := given(root, key)) is not None:
            fail(
                root.keys.get(key, other),
                key,
                "a writer of free text (`output: text`) has none of this",
                f"remove `{key}` or `output`",
            )
    return "text"


def _inputs(root: Map) -> tuple[tuple[str, ...], tuple[str, ...]]:
    body = as_map(
        _need(root, "inputs", "write `inputs: {required: [question, response]}`"),
        "inputs",
        "{required: [question, response]}",
    )
    check_keys(body, "inputs", ("required", "optional"))
    seen: dict[str, str] = {}

    def names(key: str) -> tuple[str, ...]:
        node = given(body, key)
        for item in as_list(node, f"inputs.{key}", "[question, response]").items if node is not None else ():
            name = as_text(item, f"inputs.{key}")
            if name in HIDDEN_INPUTS:
                fail(
                    item,
                    f"inputs.{key}",
                    f"a judge never sees `{name}`",
                    "carry what it may see in the record's `inputs`, under another name",
                )
            if not _INPUT.fullmatch(name) or name in _RESERVED_INPUTS:
                fail(item, f"inputs.{key}", f"{name!r} is not usable as an input's name", "use letters, digits and _")
            if name in seen:
                fail(item, f"inputs.{key}", f"`{name}` is declared twice", "keep one")
            seen[name] = key
        return tuple(name for name, where in seen.items() if where == key)

    required, optional = names("required"), names("optional")
    if not seen:
        fail(body, "inputs", "no input is declared", "write `inputs: {required: [question, response]}`")
    return required, optional


def _source(root: Map) -> dict[str, str]:
    node = given(root, "source")
    if node is None:
        return {}
    if not isinstance(node, Map):
        return {"note": as_text(node, "source")}
    check_keys(node, "source", ("paper", "note", "url", "licence"))
    return {key: as_text(value, f"source.{key}") for key, value in node.items.items()}


def _text_of(node: Node, field: str, folders: Mapping[str, str]) -> PromptText:
    text = as_text(node, field)
    assert isinstance(node, Scalar)
    return PromptText(text, node.place.file, node.text_line(1), folders[node.place.file])


def _prompt(root: Map, folders: Mapping[str, str]) -> tuple[PromptText | None, PromptText]:
    body = as_map(
        _need(root, "prompt", "write `prompt:` with `system: |` and `user: |`"),
        "prompt",
        '{system: "...", user: "..."}',
    )
    check_keys(body, "prompt", ("system", "user"))
    system = given(body, "system")
    user = given(body, "user")
    if user is None:
        fail(body, "prompt", "`user` is missing", 'write `user: |` and below it {% include "_parts/case.j2" %}')
    return None if system is None else _text_of(system, "prompt.system", folders), _text_of(
        user, "prompt.user", folders
    )


def _blocks(root: Map, folders: Mapping[str, str]) -> dict[str, PromptText]:
    node = given(root, "blocks")
    if node is None:
        return {}
    body = as_map(node, "blocks", '{steps: "..."}')
    return {
        name: PromptText("", value.place.file, value.place.line, folders[value.place.file])
        if isinstance(value, Scalar) and not value.text.strip() and not is_null(value)
        else _text_of(value, f"blocks.{name}", folders)
        for name, value in body.items.items()
        if not is_null(value)
    }


def _examples(
    root: Map, verdict: tuple[Field, ...], output: str, criteria: CriteriaSpec | None
) -> tuple[Example, ...] | RetrieveSpec:
    node = given(root, "examples")
    if node is None:
        return ()
    if isinstance(node, Map):
        check_keys(node, "examples", ("retrieve", "from", "by", "using", "where", "verdict"))
        for key in ("retrieve", "from"):
            if key not in node.items:
                fail(node, "examples", f"`{key}` is missing", "write {retrieve: 2, from: healthbench, by: question}")
        using = as_text(node.items["using"], "examples.using") if "using" in node.items else "tfidf"
        if using not in ("tfidf", "minilm"):
            fail(
                node.items["using"], "examples.using", f"{using!r} is no way to compare texts", "write tfidf or minilm"
            )
        path = given(node, "verdict")
        return RetrieveSpec(
            as_int(node.items["retrieve"], "examples.retrieve", low=1, high=50),
            as_text(node.items["from"], "examples.from"),
            as_text(node.items["by"], "examples.by") if "by" in node.items else "question",
            "tfidf" if using == "tfidf" else "minilm",
            read_conditions(node.items["where"], "examples.where") if given(node, "where") is not None else {},
            None if path is None else as_text(path, "examples.verdict"),
        )
    items = as_list(node, "examples", "[{record: {...}, verdict: {...}}]").items
    return tuple(read_example(item, f"examples[{i}]", verdict, output, criteria, i) for i, item in enumerate(items, 1))


def _checks(root: Map, verdict: tuple[Field, ...], criteria: CriteriaSpec | None) -> tuple[Check, ...]:
    node = given(root, "checks")
    if node is None:
        return ()
    items = as_list(node, "checks", '[{record: {question: "...", response: "..."}, expect: {score: "<= 2"}}]').items
    return tuple(read_check(item, f"checks[{i}]", verdict, criteria, i) for i, item in enumerate(items, 1))


def _choices_have_inputs(root: Map, spec: RubricSpec) -> None:
    for field in spec.verdict:
        if not isinstance(field, ChoiceField) or not field.dynamic:
            continue
        name = field.by or "options"
        where = f"verdict.{field.name}.choice"
        if name not in spec.required:
            place = spec.where.get(where) or root.place
            fail(
                place,
                where,
                f"the options depend on `{name}`, which is not a required input",
                f"add `{name}` to inputs.required",
            )


def _places(root: Map) -> dict[str, Place]:
    places: dict[str, Place] = {}

    def walk(node: Node, path: str) -> None:
        if isinstance(node, Map):
            for key, value in node.items.items():
                inner = f"{path}.{key}" if path else key
                places[inner] = node.keys[key].place
                walk(value, inner)
        elif isinstance(node, Seq):
            for i, item in enumerate(node.items, 1):
                places[f"{path}[{i}]"] = item.place
                walk(item, f"{path}[{i}]")

    walk(root, "")
    return places
