"""The verdict on the wire: its JSON schema in a neutral dialect, and the strict model that reads a reply.

Scales and choices go out as string enums, objects are closed, and nothing is a reference. Replies are read strictly:
``"4"`` and ``4.0`` are 4, because they cannot mean anything else; ``true``, 4.5, ``"4/5"``, 0 and 98989 are refused, never
clamped.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model
from pydantic_core import PydanticCustomError

from judgekit.forms import did_you_mean
from judgekit.rubric.fields import BooleanField, ChoiceField, ListField, NumberField, ScaleField, TextField
from judgekit.rubric.fields import Field as VerdictField

__all__ = [
    "VerdictModel",
    "bounded",
    "object_schema",
    "positions_schema",
    "problems",
    "read_level",
    "read_number",
    "together_model",
    "verdict_model",
]

Choices = Mapping[str, Mapping[str, str]]  # choice field -> its labels and meanings for this record

_WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]{0,8})(\.0{1,9})?", re.ASCII)
_LARGEST = 10**18  # of whole numbers that are read; beyond, floats and stores lose digits
_DECIMAL = re.compile(r"[+-]?([0-9]{1,18}(\.[0-9]{0,18})?|\.[0-9]{1,18})([eE][+-]?[0-9]{1,3})?", re.ASCII)


class VerdictModel(BaseModel):
    """Base of all verdict models. Fields carry the rubric's own names as aliases, in and out."""

    model_config = ConfigDict(extra="forbid", validate_by_alias=True, validate_by_name=False, serialize_by_alias=True)
    neutral_schema: ClassVar[dict[str, Any]] = {}

    @classmethod
    def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The rubric's own schema, not pydantic's."""
        return cls.neutral_schema


# reading


def read_level(value: Any) -> int | None:
    """The whole number that `value` can only mean, or None: 4, 4.0, ``"4"``, ``"4.0"``; never a boolean."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and value.is_integer() else None
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(value.strip().split(".")[0])
    return None


def read_number(value: Any) -> int | float | None:
    """A finite number, or a text that is nothing but one; never a boolean."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and _DECIMAL.fullmatch(value.strip()):
        text = value.strip()
        value = int(text) if _WHOLE.fullmatch(text) and "." not in text else float(text)
    if isinstance(value, int):
        return value if abs(value) < _LARGEST else None
    return value if isinstance(value, float) and math.isfinite(value) else None


def _wrong(kind: str, message: str, value: Any) -> PydanticCustomError:
    return PydanticCustomError(kind, "{message}, not {value}", {"message": message, "value": _short(value)})


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # a whole number of thousands of digits
        text = "a huge number"
    return text if len(text) <= 80 else text[:77] + "..."


def _scale_reader(field: ScaleField) -> Callable[[Any], int]:
    values = [level.value for level in field.levels]
    message = f"answer one of {', '.join(map(str, values))}"

    def read(value: Any) -> int:
        number = read_level(value)
        if number not in values or number is None:
            raise _wrong("level", message, value)
        return number

    return read


def _boolean_reader(field: BooleanField) -> Callable[[Any], bool]:
    def read(value: Any) -> bool:
        if not isinstance(value, bool):
            raise _wrong("boolean", "answer true or false as JSON, without quotes", value)
        return value

    return read


def _number_reader(field: NumberField) -> Callable[[Any], int | float]:
    message = f"answer a number{_span(field)}"

    def read(value: Any) -> int | float:
        number = read_number(value)
        if (
            number is None
            or (field.low is not None and number < field.low)
            or (field.high is not None and number > field.high)
        ):
            raise _wrong("number", message, value)
        return number

    return read


def _span(field: NumberField) -> str:
    if field.low is not None and field.high is not None:
        return f" from {field.low} to {field.high}"
    if field.low is not None:
        return f" of {field.low} or more"
    return f" up to {field.high}" if field.high is not None else ""


def _text_reader(field: TextField) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if not isinstance(value, str):
            raise _wrong("text", "answer a text in quotes", value)
        return value

    return read


def _choice_reader(labels: Sequence[str]) -> Callable[[Any], str]:
    exact = set(labels)
    loose: dict[str, list[str]] = {}
    for label in labels:
        loose.setdefault(label.strip().casefold(), []).append(label)
    message = f"answer exactly one of {', '.join(repr(label) for label in labels)}"

    def read(value: Any) -> str:
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST:
            value = str(value)
        if isinstance(value, str):
            if value in exact:
                return value
            near = loose.get(value.strip().casefold(), [])
            if len(near) == 1:
                return near[0]
        raise _wrong("choice", message, value)

    return read


def verdict_model(
    fields: Sequence[VerdictField], choices: Choices, schema: dict[str, Any], name: str = "Verdict"
) -> type[VerdictModel]:
    """A strict model of an object with `fields`; `choices` holds the options of those that depend on the record."""
    parts: dict[str, Any] = {}
    for i, field in enumerate(fields):
        kind: Any
        if isinstance(field, ScaleField):
            kind = _annotated(int, _scale_reader(field))
        elif isinstance(field, BooleanField):
            kind = _annotated(bool, _boolean_reader(field))
        elif isinstance(field, NumberField):
            kind = _annotated(Any, _number_reader(field))
        elif isinstance(field, TextField):
            kind = _annotated(str, _text_reader(field))
        elif isinstance(field, ChoiceField):
            kind = _annotated(str, _choice_reader(list(_labels(field, choices))))
        else:
            inner = verdict_model(field.of, choices, {}, f"{name}Item")
            kind = _counted(list[inner], field)  # type: ignore[valid-type]
        parts[f"f{i}"] = (kind, Field(alias=field.name))
    model: type[VerdictModel] = create_model(name, __base__=VerdictModel, **parts)
    model.neutral_schema = schema
    return model


def together_model(item: type[VerdictModel], count: int, schema: dict[str, Any]) -> type[VerdictModel]:
    """An object whose keys are the positions 1..count, each an `item`."""
    parts: dict[str, Any] = {f"f{i}": (item, Field(alias=str(i))) for i in range(1, count + 1)}
    model: type[VerdictModel] = create_model("Verdicts", __base__=VerdictModel, **parts)
    model.neutral_schema = schema
    return model


def _annotated(kind: Any, reader: Callable[[Any], Any]) -> Any:
    return Annotated[kind, BeforeValidator(reader)]


def _counted(kind: Any, field: ListField) -> Any:
    low, high = field.low, field.high

    def count(items: list[Any]) -> list[Any]:
        if (low is not None and len(items) < low) or (high is not None and len(items) > high):
            bounds = [f"at least {low}" if low is not None else "", f"at most {high}" if high is not None else ""]
            message = f"answer {' and '.join(bound for bound in bounds if bound)} items"
            raise _wrong("list", message, len(items))
        return items

    return Annotated[kind, AfterValidator(count)]


# the schema


def object_schema(fields: Sequence[VerdictField], choices: Choices) -> dict[str, Any]:
    """The closed JSON schema of an object with `fields`, in their order."""
    properties = {field.name: _schema(field, choices) for field in fields}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def positions_schema(item: dict[str, Any], count: int) -> dict[str, Any]:
    """Under `ask: together`: an object with one `item` a criterion, keyed by position from 1."""
    keys = [str(i) for i in range(1, count + 1)]
    return {
        "type": "object",
        "properties": {key: {**item, "description": f"Verdict on criterion {key}"} for key in keys},
        "required": keys,
        "additionalProperties": False,
    }


def _labels(field: ChoiceField, choices: Choices) -> Mapping[str, str]:
    return field.options if field.options is not None else choices[field.name]


def _schema(field: VerdictField, choices: Choices) -> dict[str, Any]:
    if isinstance(field, ScaleField):
        levels = "; ".join(_level(str(level.value), level.label, level.anchor.rstrip(".")) for level in field.levels)
        return {
            "type": "string",
            "enum": [str(level.value) for level in field.levels],
            "description": _sentence(field.describe, levels),
        }
    if isinstance(field, BooleanField):
        return {"type": "boolean", "description": _sentence(field.describe, field.asked)}
    if isinstance(field, NumberField):
        out: dict[str, Any] = {"type": "number"}
        if field.low is not None:
            out["minimum"] = field.low
        if field.high is not None:
            out["maximum"] = field.high
        out["description"] = _sentence(field.describe, f"A number{_span(field)}")
        return out
    if isinstance(field, TextField):
        limit = f"At most about {field.max_chars} characters." if field.max_chars else None
        return {"type": "string", "description": _sentence(field.describe, field.asked, limit)}
    if isinstance(field, ChoiceField):
        labels = _labels(field, choices)
        # The record's own options are untrusted text: only their letters go into the schema.
        meanings = (
            "; ".join(_level(label, "", meaning) for label, meaning in labels.items()) if field.source is None else None
        )
        return {
            "type": "string",
            "enum": list(labels),
            "description": _sentence(field.describe, meanings or "One of the options"),
        }
    array: dict[str, Any] = {"type": "array", "items": object_schema(field.of, choices)}
    if field.low is not None:
        array["minItems"] = field.low
    if field.high is not None:
        array["maxItems"] = field.high
    if field.describe:
        array["description"] = field.describe
    return array


def _level(value: str, label: str, anchor: str) -> str:
    return f"{value} = " + (f"{label}: {anchor}" if label and anchor else label or anchor) if label or anchor else value


def _sentence(*parts: str | None) -> str:
    return " ".join(" ".join(part.split()) for part in parts if part)


def bounded(schema: Mapping[str, Any], fields: Sequence[VerdictField]) -> dict[str, Any]:
    """A copy of `schema` with ``maxLength`` on texts that have `max_chars`, for engines that decode under a grammar.

    There a text that reaches its length ends and the verdict still closes; hosted providers mostly refuse the keyword.
    """
    limits = {field.name: field.max_chars for field in fields if isinstance(field, TextField) and field.max_chars}
    lists = {field.name: field.of for field in fields if isinstance(field, ListField)}

    def walk(node: Mapping[str, Any]) -> dict[str, Any]:
        out = dict(node)
        properties: dict[str, Any] = {}
        for name, inner in node.get("properties", {}).items():
            if name in limits and inner.get("type") == "string":
                inner = {**inner, "maxLength": limits[name]}
            elif name in lists and inner.get("type") == "array":
                inner = {**inner, "items": bounded(inner["items"], lists[name])}
            elif inner.get("type") == "object":
                inner = walk(inner)
            properties[name] = inner
        if properties:
            out["properties"] = properties
        return out

    return walk(schema)


# words for a re-ask


def problems(error: ValidationError, model: type[BaseModel] | None = None) -> str:
    """What is wrong with a reply, one line a field, in words that a model can act on."""
    keys: list[str] = (
        list(model.neutral_schema.get("properties", {}))
        if model is not None and issubclass(model, VerdictModel)
        else []
    )
    lines = []
    for each in error.errors(include_url=False, include_context=False):
        where = ".".join(str(part) for part in each["loc"])
        if each["type"] == "missing":
            lines.append(f"`{where}` is missing: the reply must have this key")
        elif each["type"] == "extra_forbidden":
            close = did_you_mean(where, keys)
            mend = (
                f"did you mean `{close}`?"
                if close
                else f"the keys are {', '.join(f'`{key}`' for key in keys)}"
                if keys
                else "leave it out"
            )
            lines.append(f"`{where}` is not a key of the reply: {mend}")
        elif each["type"] in ("model_type", "model_attributes_type"):
            wanted = f"`{where}`: answer" if where else "answer"
            lines.append(
                f"{wanted} one JSON object"
                + (f" with the keys {', '.join(f'`{key}`' for key in keys)}" if keys and not where else "")
            )
        else:
            lines.append(f"`{where}`: {each['msg']}" if where else each["msg"])
    return "\n".join(lines)
