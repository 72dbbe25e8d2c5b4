"""An analysis is one class: its fields are its options, its docstring the help, `analyse` the work.

From the fields come the command line's options, the keys of study files with their JSON Schema, and the keywords in Python. A package of
its own brings an analysis by an entry point of the group ``judgekit.analyses`` that names such a class.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, ClassVar, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticUndefined

from judgekit.analysis.index import analyses, load
from judgekit.analysis.result import Result
from judgekit.errors import InputError, JudgekitError, UsageError

__all__ = ["Analysis", "Clustered", "Filtered", "Seeded", "Selected", "find", "function", "opt", "options_schema"]

warnings.filterwarnings("ignore", message='Field name "construct"')  # a deprecated method of pydantic's; here an option


def opt(default: Any, help: str, *, only: str | None = None, metavar: str | None = None, **bounds: Any) -> Any:
    """An option: its default (``...`` when it must be given), its help, the one kind of source that heeds it, its name for values.

    `bounds` are pydantic's: ``ge``, ``gt``, ``le``, ``lt``.
    """
    return Field(default, description=help, json_schema_extra={"only": only, "metavar": metavar}, **bounds)


class Analysis(BaseModel):
    """What every analysis is. `reads` names the kinds of source it takes: ``run``, ``table``, ``records``."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
    name: ClassVar[str]
    first: ClassVar[str] = ""  # the option that Python takes by place, after the source
    reads: ClassVar[tuple[str, ...]] = ("run", "table", "records")

    @field_validator("*", mode="before")
    @classmethod
    def _one_is_a_list_of_one(cls, value: Any, info: Any) -> Any:
        """A text stands for a list of one; a list for a tuple; numbers are taken where text is wanted (a study's 0.9)."""
        several = str(cls.model_fields[info.field_name].annotation).startswith("tuple")
        if several:
            return () if value is None else (value,) if isinstance(value, str) else tuple(value)
        if isinstance(value, list | tuple):
            raise ValueError(f"takes one value: write {next(iter(value), '...')}")  # noqa: TRY004 - pydantic's way to say it
        if (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and "str" in str(cls.model_fields[info.field_name].annotation)
        ):
            return str(value)
        return value

    @classmethod
    def of(cls, options: dict[str, Any]) -> Analysis:
        """The analysis with these options (dashes stand for underscores); UsageError that names the option and what to write."""
        known = cls.model_fields
        said: dict[str, Any] = {}
        for key, value in options.items():
            field = key.replace("-", "_")
            if field not in known:
                near = get_close_matches(field, known, 1)
                hint = f"did you mean {near[0].replace('_', '-')!r}?" if near else f"it has {', '.join(known)}"
                raise UsageError(f"{cls.name} has no option {key!r}", field=key, mend=hint)
            said[field] = value
        try:
            return cls.model_validate(said)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = str(first["loc"][0]) if first["loc"] else None
            if isinstance(cause := first.get("ctx", {}).get("error"), JudgekitError):
                raise cause from None
            message = str(first["msg"]).removeprefix("Value error, ")
            if first["type"] == "missing":
                message = "is needed"
            elif first["type"] != "value_error":
                message = f"{first.get('input')!r}: {message[0].lower()}{message[1:]}"
            hint = f"judgekit {cls.name} --help"
            raise UsageError(message, field=None if place is None else place.replace("_", "-"), mend=hint) from None

    def run(self, source: Any) -> Result:
        """Open `source` (a run, a table or records) and analyse it.

        Raises
        ------
        UsageError : an option that this kind of source would silently not heed. InputError : a kind of source that is not read.
        """
        from judgekit.analysis.source import open_source

        found = open_source(source, self)
        if found.kind not in self.reads:
            raise InputError(
                f"this is no {' and no '.join(self.reads)}, but {found.kind}",
                file=found.file,
                mend=f"{self.name} reads a run's folder",
            )
        for field, about in type(self).model_fields.items():
            only = (about.json_schema_extra or {}).get("only")  # type: ignore[union-attr]
            default = None if about.default is PydanticUndefined else about.default
            if only is not None and found.kind not in str(only).split() and getattr(self, field) != default:
                kind = (
                    "a run, which has labels, scores and questions of its own"
                    if found.kind == "run"
                    else f"{found.kind}"
                )
                word = field.replace("_", "-")
                raise UsageError(
                    f"--{word} says nothing about {'a ' if kind == 'table' else ''}{kind}",
                    field=word,
                    mend="leave it out",
                )
        return self.analyse(found)

    def analyse(self, source: Any) -> Result:
        """The work: from a `judgekit.analysis.source.Source` to a `Result`."""
        raise NotImplementedError

    def words(self) -> list[str]:
        """The options that differ from their defaults, as words of the command line."""
        out: list[str] = []
        for field, about in type(self).model_fields.items():
            value = getattr(self, field)
            if value == about.default or value in (None, (), False):
                continue
            for one in value if isinstance(value, tuple) else (value,):
                out += [f"--{field.replace('_', '-')}"] + ([] if value is True else [str(one)])
        return out


class Selected(Analysis):
    """Which part of a run is looked at."""

    dataset: tuple[str, ...] = opt((), "Run: only this data set. [repeatable]", only="run")
    rubric: tuple[str, ...] = opt((), "Run: only this rubric. [repeatable]", only="run")
    judge: tuple[str, ...] = opt((), "Run: only this judge. [repeatable]", only="run")


class Filtered(Analysis):
    """Which rows are looked at, and which words mean that a value is missing."""

    where: tuple[str, ...] = opt((), "Only these rows; FIELD!=A leaves rows out. [repeatable]", metavar="FIELD=A,B")
    missing: tuple[str, ...] = opt(
        (),
        "A further word that means 'no value', beside empty cells, NA, nan, null and the like. [repeatable]",
        metavar="WORD",
    )


class Clustered(Analysis):
    """What counts as one independent unit."""

    cluster: str | None = opt(
        None,
        "Table: column of the question; needed when questions repeat; 'none' when rows are independent.",
        only="table",
        metavar="COL",
    )


class Seeded(Analysis):
    """Intervals by resampling."""

    level: float = opt(0.95, "Level of the intervals.", ge=0.5, le=0.999)
    replicates: int = opt(2000, "Bootstrap resamples; 0: none.", ge=0)
    seed: int = opt(0, "Seed of the resamples.")


def find(name: str) -> type[Analysis]:
    """The class of an analysis; UsageError with the nearest name for one that is not there, InputError for a broken plug-in."""
    known = analyses()
    if name not in known:
        near = get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"the analyses are {', '.join(sorted(known))}"
        raise UsageError(f"there is no analysis {name!r}", mend=hint)
    return cast(type[Analysis], load(name, known[name][0]))


def function(kind: type[Analysis]) -> Callable[..., Any]:
    """The analysis as a function of a source and keywords; the first option may be given by place."""

    def call(source: Any, *first: Any, **options: Any) -> Result:
        if len(first) > bool(kind.first):
            raise TypeError(f"{kind.name}() takes no more values by place: name them")
        return kind.of({**dict(zip([kind.first], first, strict=False)), **options}).run(source)

    lines = [
        f"{inspect.getdoc(kind)}\n",
        "Parameters",
        "----------",
        "source : a run, a table (file or DataFrame), or records.",
    ]
    parameters = [inspect.Parameter("source", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    for name, field in sorted(kind.model_fields.items(), key=lambda item: item[0] != kind.first):
        default = inspect.Parameter.empty if field.is_required() else field.default
        how = inspect.Parameter.POSITIONAL_OR_KEYWORD if name == kind.first else inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(name, how, default=default))
        lines.append(f"{name} : {field.description}")
    call.__name__ = call.__qualname__ = kind.name.replace("-", "_")
    call.__doc__ = "\n".join(lines)
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return call


def options_schema(kind: type[Analysis]) -> dict[str, Any]:
    """The JSON Schema of an analysis' options in a study file."""
    schema = kind.model_json_schema()
    for shape in schema["properties"].values():
        for key in ("only", "metavar", "title"):
            shape.pop(key, None)
        if shape.get("type") == "array":
            inner = {"type": "string"}
            about = {key: shape[key] for key in ("description",) if key in shape}
            shape.clear()
            shape.update({"anyOf": [inner, {"type": "array", "items": inner}], **about})
    schema["properties"]["picture"] = {"type": "string", "description": "Draw the result (PNG, SVG or PDF)."}
    return {
        "type": "object", "properties": schema["properties"], "additionalProperties": False,
        **({"required": schema["required"]} if schema.get("required") else {}),
    }  # fmt: skip
