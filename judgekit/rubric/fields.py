"""The verdict's fields: what kinds there are, and how they are written in a rubric file."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from judgekit.rubric.nodes import (
    Map,
    Node,
    Scalar,
    as_int,
    as_map,
    as_number,
    as_text,
    check_keys,
    fail,
    is_null,
)

__all__ = [
    "FIELD_TYPES",
    "SIBLINGS",
    "BooleanField",
    "ChoiceField",
    "Field",
    "Level",
    "ListField",
    "NumberField",
    "ScaleField",
    "TextField",
    "read_field",
    "read_fields",
]

FIELD_TYPES = ("scale", "boolean", "number", "text", "choice", "list")
SIBLINGS = ("describe", "max_chars")
RESERVED_FIELDS = ("raw", "complete")
MAX_FIELD_NAME = 64


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a scale: a whole number, a short label (may be empty) and the anchor that defines it."""

    value: int
    label: str
    anchor: str


@dataclass(frozen=True, slots=True)
class ScaleField:
    """Ordered whole-number levels; larger is better."""

    name: str
    levels: tuple[Level, ...]
    describe: str | None = None

    @property
    def low(self) -> int:
        return min(level.value for level in self.levels)

    @property
    def high(self) -> int:
        return max(level.value for level in self.levels)

    def share(self, raw: Fraction) -> Fraction:
        """`raw` mapped by the scale's ends to [0, 1]: 1 of 1..5 is 0, not 0.2."""
        return (raw - self.low) / (self.high - self.low)


@dataclass(frozen=True, slots=True)
class BooleanField:
    name: str
    asked: str
    describe: str | None = None


@dataclass(frozen=True, slots=True)
class NumberField:
    """A number from `low` to `high`, both inclusive; None is unbounded."""

    name: str
    low: int | float | None
    high: int | float | None
    describe: str | None = None


@dataclass(frozen=True, slots=True)
class TextField:
    """Free text. A text longer than `max_chars` characters is kept and flagged."""

    name: str
    asked: str
    max_chars: int | None = None
    describe: str | None = None


@dataclass(frozen=True, slots=True)
class ChoiceField:
    """One of several labels. Exactly one of `options`, `by` (with `sets`) and `source` says which.

    `options` maps labels to meanings; `sets` maps a value of the input `by` to such a map; `source` is ``"options"``,
    the record's own.
    """

    name: str
    options: dict[str, str] | None = None
    by: str | None = None
    sets: dict[str, dict[str, str]] | None = None
    source: str | None = None
    describe: str | None = None

    @property
    def dynamic(self) -> bool:
        return self.options is None


@dataclass(frozen=True, slots=True)
class ListField:
    """A list of `low` to `high` items (inclusive; None is unbounded), each an object with the fields `of`."""

    name: str
    of: tuple[Field, ...]
    low: int | None = None
    high: int | None = None
    describe: str | None = None


Field = ScaleField | BooleanField | NumberField | TextField | ChoiceField | ListField


def read_fields(node: Node, field: str, *, inside_list: bool = False) -> tuple[Field, ...]:
    """The fields of a verdict, or of a list's items, in the file's order."""
    body = as_map(node, field, "`explanation: {text: what to write}`")
    if not body.items:
        fail(node, field, "no field stands here", "write at least one, such as `explanation: {text: what to write}`")
    return tuple(
        read_field(name, value, f"{field}.{name}", body.keys[name], inside_list) for name, value in body.items.items()
    )


def read_field(name: str, node: Node, where: str, key: Scalar, inside_list: bool = False) -> Field:
    if not name.strip() or name != name.strip() or len(name) > MAX_FIELD_NAME or not name.isprintable():
        fail(
            key,
            where,
            "not usable as a field's name",
            f"use 1 to {MAX_FIELD_NAME} printable characters, no space at the ends",
        )
    if name in RESERVED_FIELDS:
        fail(key, where, f"`{name}` already means the judgement's result", "give the field another name")
    body = as_map(node, where, f"`{name}: {{text: what to write}}`")
    types = [key for key in body if key in FIELD_TYPES]
    if len(types) != 1:
        check_keys(body, where, (*FIELD_TYPES, *SIBLINGS))
        said = "no type" if not types else f"{len(types)} types ({', '.join(types)})"
        fail(key, where, f"this field has {said}", f"give it exactly one of {', '.join(FIELD_TYPES)}")
    kind = types[0]
    check_keys(body, where, (kind, "describe", "max_chars") if kind == "text" else (kind, "describe"))
    describe = (
        None
        if is_null(body.get("describe")) or "describe" not in body.items
        else as_text(body.items["describe"], f"{where}.describe")
    )
    value = body.items[kind]
    inner = f"{where}.{kind}"
    if kind == "scale":
        return ScaleField(name, _levels(value, inner), describe)
    if kind == "boolean":
        return BooleanField(name, as_text(value, inner), describe)
    if kind == "number":
        low, high = _ends(value, inner)
        return NumberField(name, low, high, describe)
    if kind == "text":
        limit = body.get("max_chars")
        chars = None if limit is None or is_null(limit) else as_int(limit, f"{where}.max_chars", low=1)
        return TextField(name, as_text(value, inner), chars, describe)
    if kind == "choice":
        return _choice(name, value, inner, describe)
    if inside_list:
        fail(value, inner, "a list inside a list is not supported", "flatten it into the fields of the outer list")
    return _list(name, value, inner, describe)


def _levels(node: Node, field: str) -> tuple[Level, ...]:
    body = as_map(node, field, "`1: {label: poor, anchor: what makes it a 1}`")
    levels = []
    for key, value in body.items.items():
        where = f"{field}.{key}"
        number = as_int(body.keys[key], where)
        if isinstance(value, Map):
            check_keys(value, where, ("label", "anchor"))
            label = value.get("label")
            anchor = value.get("anchor")
            levels.append(
                Level(
                    number,
                    "" if label is None else as_text(label, f"{where}.label"),
                    "" if anchor is None else as_text(anchor, f"{where}.anchor").strip(),
                )
            )
        else:
            levels.append(Level(number, "", "" if is_null(value) else as_text(value, where).strip()))
    if len(levels) < 2:
        fail(node, field, "a scale needs two levels or more", "write each level as `1: {label: ..., anchor: ...}`")
    values = [level.value for level in levels]
    if values != sorted(values) and values != sorted(values, reverse=True):
        fail(node, field, f"the levels {', '.join(map(str, values))} are not in order", "list them from low to high")
    return tuple(levels)


def _ends(node: Node, field: str) -> tuple[int | float | None, int | float | None]:
    if is_null(node):
        return None, None
    body = as_map(node, field, "{min: 0, max: 10}")
    check_keys(body, field, ("min", "max"))
    low = as_number(body.items["min"], f"{field}.min") if "min" in body.items else None
    high = as_number(body.items["max"], f"{field}.max") if "max" in body.items else None
    if low is not None and high is not None and low >= high:
        fail(node, field, f"min {low} is not below max {high}", "exchange them")
    return low, high


def _labels(node: Node, field: str) -> dict[str, str]:
    body = as_map(node, field, '{yes: "what yes means", no: "what no means"}')
    if len(body.items) < 2:
        fail(node, field, "a choice needs two options or more", 'write {yes: "...", no: "..."}')
    labels = {}
    for label, meaning in body.items.items():
        if not label.strip() or label != label.strip() or not label.isprintable():
            fail(
                body.keys[label],
                f"{field}.{label}",
                "not usable as an option",
                "use printable text, no space at the ends",
            )
        labels[label] = "" if is_null(meaning) else as_text(meaning, f"{field}.{label}", blank=True).strip()
    return labels


def _choice(name: str, node: Node, field: str, describe: str | None) -> ChoiceField:
    body = as_map(node, field, '{yes: "what yes means", no: "what no means"}')
    if "from" in body.items:
        check_keys(body, field, ("from",))
        source = as_text(body.items["from"], f"{field}.from")
        if source != "options":
            fail(
                body.items["from"],
                f"{field}.from",
                f"{source!r} is no list of options",
                "write `from: options`, the record's own",
            )
        return ChoiceField(name, source=source, describe=describe)
    if "by" in body.items:
        by = as_text(body.items["by"], f"{field}.by")
        sets = {key: _labels(value, f"{field}.{key}") for key, value in body.items.items() if key != "by"}
        if not sets:
            fail(
                node,
                field,
                f"no option set for any value of `{by}`",
                'write {by: kind, A: {A1: "..."}, B: {B1: "..."}}',
            )
        return ChoiceField(name, by=by, sets=sets, describe=describe)
    if "of" in body.items:
        fail(
            body.keys["of"],
            f"{field}.of",
            "`of` is reserved",
            "options stand directly under `choice`; put the label in another word",
        )
    return ChoiceField(name, options=_labels(node, field), describe=describe)


def _list(name: str, node: Node, field: str, describe: str | None) -> ListField:
    body = as_map(node, field, '{of: {text: {text: "one item"}}, min: 1, max: 5}')
    check_keys(body, field, ("of", "min", "max"))
    if "of" not in body.items:
        fail(node, field, "`of` is missing", 'say what one item holds: {of: {text: {text: "one item"}}}')
    low = as_int(body.items["min"], f"{field}.min", low=0) if "min" in body.items else None
    high = as_int(body.items["max"], f"{field}.max", low=1) if "max" in body.items else None
    if low is not None and high is not None and low > high:
        fail(node, field, f"min {low} is above max {high}", "exchange them")
    return ListField(name, read_fields(body.items["of"], f"{field}.of", inside_list=True), low, high, describe)
