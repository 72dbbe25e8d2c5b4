"""Study files: data sets, rubrics, judges, metrics and analyses in one YAML file, read with line numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from judgekit.errors import InputError
from judgekit.forms import Document, Form, parse_yaml, read_utf8

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


class _Strict(Form):
    model_config = ConfigDict(populate_by_name=True)


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
    answers: Annotated[list[Answers], BeforeValidator(_list)] = Field([])
    rubrics: Annotated[list[Annotated[Judged, _short("rubric")]], BeforeValidator(_list)] = Field([])
    judges: Annotated[list[Annotated[Judge, _short("model")]], BeforeValidator(_list)] = Field([])
    samples: Positive = 1
    metrics: Annotated[list[Annotated[Measured, _short("metric")]], BeforeValidator(_list)] = Field([])
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

    def __init__(self, study: Study, path: Path, shown: str, document: Document) -> None:
        self.study, self.path, self.shown, self.document = study, path, shown, document

    def line(self, *place: str | int) -> int | None:
        """The line of a place such as ``("rubrics", 0)``; of what holds it where it has none."""
        found = self.document.place(place)
        return None if found is None else found.line

    def error(self, message: str, *place: str | int, mend: str | None = None) -> InputError:
        """An error at a place in the file."""
        found: InputError = self.document.error(place, message, mend, key=True)
        return found

    def beside(self, name: str) -> str:
        """A file's path: from where the command runs, else beside the study; any other name as it is."""
        if not Path(name).exists() and (self.path.parent / name).is_file():
            return str(self.path.parent / name)
        return name


def load_study(path: str | Path) -> StudyFile:
    """Read a study file. Raises InputError with file, line and field for all that is wrong with its form."""
    place = Path(path)
    document = parse_yaml(read_utf8(place, "study", name=str(path)), str(path), "study", from_one=False)
    for key in ("data", "answers", "rubrics", "judges", "metrics"):
        document.listed(key)
    return StudyFile(document.read(Study), place, str(path), document)


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
