"""Study files: data sets, rubrics, judges, metrics and analyses in one YAML file, read with line numbers."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from judgekit.errors import InputError
from judgekit.yamltext import read_yaml

__all__ = ["Answers", "Data", "Judge", "Judged", "Measured", "Study", "StudyFile", "load_study", "study_schema"]


def _flag(value: Any) -> Any:
    if isinstance(value, str) and value not in ("true", "false"):
        raise ValueError(f"{value!r} is neither true nor false: write true or false")
    return value


def _whole(value: Any) -> Any:
    if isinstance(value, str) and not value.isascii():
        raise ValueError(f"{value!r} is no number: write digits")
    return value


def _short(key: str) -> Any:
    """A text alone stands for a map with only this key."""
    return BeforeValidator(lambda value: {key: value} if isinstance(value, str) else value)


def _list(value: Any) -> Any:
    return [value] if isinstance(value, str | dict) else value


Flag = Annotated[bool, BeforeValidator(_flag)]
Positive = Annotated[int, BeforeValidator(_whole), Field(ge=1)]
Money = Annotated[float, BeforeValidator(_whole), Field(ge=0, allow_inf_nan=False)]
Rate = Annotated[float, BeforeValidator(_whole), Field(gt=0, allow_inf_nan=False)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
Names = Annotated[list[str], BeforeValidator(_list), Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Data(_Strict):
    """A data set: its name in the library, or a file (beside the study, or from where the command runs) with its card."""

    source: str = Field(alias="from", min_length=1)
    card: str | None = None
    name: str | None = Field(None, description="The data set's name in the run; by default the card's, or the file's.")
    limit: Positive | None = Field(None, description="Only the first records.")


class Judge(_Strict):
    """A model with its sampling parameters, which go over the rubric's own."""

    model: str = Field(min_length=1)
    temperature: Money | None = None
    max_tokens: Positive | None = None
    seed: Annotated[int, BeforeValidator(_whole)] | None = None
    api_base: str | None = None
    endpoint: str | None = None
    price_in: Money | None = Field(None, description="US dollars a million tokens in, over running.price_in.")
    price_out: Money | None = Field(None, description="US dollars a million tokens out, over running.price_out.")

    @property
    def sampling(self) -> dict[str, Any]:
        """The parameters that are given."""
        said = {name: getattr(self, name) for name in ("temperature", "max_tokens", "seed")}
        return {name: value for name, value in said.items() if value is not None}


class Answers(_Strict):
    """Answers that models write, which become a data set called `name`: every record x writer x model x sample."""

    name: Name
    writers: Names = Field(description="Rubrics with `output: text`.")
    data: Names | None = Field(None, description="Names of data sets of this study; by default all under `data`.")
    judges: Names | None = Field(None, description="Models of this study that write; by default all.")
    samples: Positive = 1


class Judged(_Strict):
    """A rubric, and what it judges; by default every data set (where the study has answers: the answers), every judge."""

    rubric: str = Field(min_length=1)
    data: Names | None = None
    judges: Names | None = None
    samples: Positive | None = None


class Measured(_Strict):
    """A local metric with its options, and what it measures."""

    metric: str = Field(min_length=1)
    data: Names | None = None


class Running(_Strict):
    """How the calls are made; none of it changes what is asked."""

    max_cost: Money | None = Field(
        None, description="US dollars of the whole run; stops before the call that would pass it."
    )
    allow_unknown_price: Flag = False
    price_in: Money | None = Field(None, description="US dollars a million tokens in.")
    price_out: Money | None = Field(None, description="US dollars a million tokens out.")
    concurrency: Positive | None = None
    rpm: Rate | None = None
    tpm: Rate | None = None
    timeout: Rate = 120.0
    reasks: Annotated[int, Field(ge=0)] = 2
    max_chars: Positive | None = None
    local_only: Flag = Field(False, description="Refuse every call to another machine, before it is made.")


Option = str | list[str] | None


def _analysis(value: Any) -> Any:
    if isinstance(value, str):
        return {value: {}}
    if isinstance(value, dict) and len(value) == 1:
        return {name: {} if options is None else options for name, options in value.items()}
    raise ValueError("an analysis is one name with its options: write `- triage: {recall: 0.9}`")


class Study(_Strict):
    """A whole study file."""

    study: Name
    title: str | None = None
    about: str | None = None
    source: dict[str, str] = Field({}, description="The paper whose design this follows.")
    out: str | None = Field(None, description="The run's folder; by default runs/ and the study's name.")
    data: Annotated[list[Annotated[Data, _short("from")]], BeforeValidator(_list), Field(min_length=1)]
    answers: Annotated[list[Answers], BeforeValidator(_list)] = []
    rubrics: Annotated[list[Annotated[Judged, _short("rubric")]], BeforeValidator(_list)] = []
    judges: Annotated[list[Annotated[Judge, _short("model")]], BeforeValidator(_list)] = []
    samples: Positive = 1
    metrics: Annotated[list[Annotated[Measured, _short("metric")]], BeforeValidator(_list)] = []
    running: Running = Running()
    analyses: list[Annotated[dict[str, dict[str, Option]], BeforeValidator(_analysis)]] = Field(
        [], description="Commands that read a run, with their long options: `- triage: {recall: 0.9, by: category}`."
    )

    @model_validator(mode="after")
    def _has_work(self) -> Study:
        if not (self.rubrics or self.metrics or self.answers):
            raise ValueError("the study does nothing: name rubrics and judges, metrics, or answers")
        return self


class StudyFile:
    """A validated study with its path and the line of every key."""

    def __init__(self, study: Study, path: Path, shown: str, lines: dict[tuple[str, ...], int]) -> None:
        self.study, self.path, self.shown, self.lines = study, path, shown, lines

    def line(self, *place: str | int) -> int | None:
        """The line of a place such as ``("rubrics", 0)``; of what holds it where it has none."""
        known = tuple(map(str, place))
        while known and known not in self.lines:
            known = known[:-1]
        return self.lines.get(known)

    def error(self, message: str, *place: str | int, mend: str | None = None) -> InputError:
        """An error at a place in the file."""
        field = ".".join(map(str, place)) or None
        return InputError(message, file=self.shown, line=self.line(*place), field=field, mend=mend)

    def beside(self, name: str) -> str:
        """A file's path: from where the command runs, else beside the study; any other name as it is."""
        if not Path(name).exists() and (self.path.parent / name).is_file():
            return str(self.path.parent / name)
        return name


def load_study(path: str | Path) -> StudyFile:
    """Read a study file. Raises InputError with file, line and field for the first thing that is wrong with its form."""
    place = Path(path)
    shown = str(path)
    value, lines = read_yaml(place, shown, "study")
    for key in ("data", "answers", "rubrics", "judges", "metrics"):
        if isinstance(value.get(key), str | dict):  # one stands for a list of one
            lines |= {(key, "0", *rest): line for (head, *rest), line in _inner(lines) if head == key}
    try:
        study = Study.model_validate(value)
    except ValidationError as error:
        raise _translated(error, shown, lines) from None
    return StudyFile(study, place, shown, lines)


def _inner(lines: dict[tuple[str, ...], int]) -> list[tuple[tuple[str, ...], int]]:
    return [(place, line) for place, line in lines.items() if place]


def _translated(error: ValidationError, file: str, lines: dict[tuple[str, ...], int]) -> InputError:
    first = max(error.errors(include_url=False), key=lambda item: item["type"] == "extra_forbidden")
    place = tuple(str(part) for part in first["loc"])
    known = place
    while known and known not in lines:
        known = known[:-1]
    message, mend = str(first["msg"]), None
    if first["type"] == "extra_forbidden":
        names = _keys_beside(place)
        near = get_close_matches(place[-1], names, 1)
        message, mend = "unknown key", f"did you mean {near[0]!r}?" if near else f"the keys here are {', '.join(names)}"
    elif first["type"] == "missing":
        message, mend = "is missing", "add it"
    elif first["type"] == "value_error":
        message, _, mend = message.removeprefix("Value error, ").partition(": ")
    elif isinstance(first.get("input"), str):
        message = f"{first['input']!r}: {message[0].lower()}{message[1:]}"
    field = ".".join(part for part in known if part) or ".".join(place)
    if first["type"] == "missing":
        field = ".".join(place)
    return InputError(message, file=file, line=lines.get(known, 1), field=field or None, mend=mend or None)


def _keys_beside(place: tuple[str, ...]) -> list[str]:
    """Keys that the map around an unknown key may have."""
    model: Any = Study
    for part in place[:-1]:
        fields: dict[str, Any] = model.model_fields
        if part in fields:
            model = _model_in(fields[part].annotation) or model
    return [field.alias or name for name, field in model.model_fields.items()]


def _model_in(kind: Any) -> Any:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind
    return next((found for inner in get_args(kind) if (found := _model_in(inner)) is not None), None)


def study_schema(analyses: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The JSON Schema of study files, for editors; `analyses` maps each analysis to the schema of its options."""
    schema = Study.model_json_schema(by_alias=True)
    shapes = schema["$defs"]
    names = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    for shape in shapes.values():
        for key in ("data", "judges", "writers"):
            if key in shape["properties"]:
                about = shape["properties"][key].get("description")
                shape["properties"][key] = {**names, **({"description": about} if about else {})}
    props = schema["properties"]
    for key, shape in (("data", "Data"), ("rubrics", "Judged"), ("judges", "Judge"), ("metrics", "Measured")):
        one = {"anyOf": [{"type": "string"}, {"$ref": f"#/$defs/{shape}"}]}
        props[key] = {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]}
    answers = {"$ref": "#/$defs/Answers"}
    props["answers"] = {"anyOf": [answers, {"type": "array", "items": answers}]}
    form = {name: {"anyOf": [{"type": "null"}, options]} for name, options in analyses.items()}
    props["analyses"]["items"] = {
        "anyOf": [
            {"enum": list(analyses)},
            {
                "type": "object",
                "properties": form,
                "additionalProperties": False,
                "maxProperties": 1,
                "minProperties": 1,
            },
        ]
    }
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "judgekit study"}
