"""Cards: declarative files that say where a data set is, whose it is, and how its rows become records and labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from judgekit.data.expressions import MAX_LENGTH
from judgekit.data.source import FORMATS
from judgekit.data.table import NO, YES
from judgekit.errors import DataError
from judgekit.exact import comparison, exact, meets
from judgekit.forms import read_yaml
from judgekit.records import content_hash
from judgekit.registry import library_files, modules

__all__ = ["Card", "LabelSpec", "Shape", "SourceFile", "card_names", "load_card"]

_PLAIN = re.compile(r"[^\[\](){}'\"`|&?@*<>=!]+")


def _jmespath(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("must be a JMESPath expression, in quotes where it holds special characters")  # noqa: TRY004
    import jmespath
    from jmespath.exceptions import JMESPathError

    try:
        if len(value) > MAX_LENGTH:
            raise JMESPathError(f"longer than {MAX_LENGTH:,} characters")
        jmespath.compile(value)
    except RecursionError:
        raise ValueError("this expression is nested too deeply: write it flatter") from None
    except JMESPathError as error:
        if not (
            value.strip() and _PLAIN.fullmatch(value)
        ):  # a column's name with spaces or other signs is taken as it is
            raise ValueError(
                f"{value!r} is no JMESPath expression ({str(error).splitlines()[0]}): a column of this name is written '\"{value}\"'"
            ) from None
    return value


def _rule(value: Any) -> Any:
    comparison(str(value))
    return value


Path_ = Annotated[str, BeforeValidator(_jmespath)]
Rule = Annotated[str, BeforeValidator(_rule)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Unit = Annotated[float, Field(ge=0, le=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SourceFile(_Strict):
    """One file as its owner publishes it. `bytes` and `sha256` only where the owner's are known."""

    url: str
    file: str = Field(pattern=r"^[^/\\]+$")
    bytes: int | None = Field(None, ge=1)
    sha256: str | None = Field(None, pattern=r"^[0-9a-f]{64}$")
    about: str | None = None
    shape: str | None = None


class CriteriaSpec(_Strict):
    """Where a record's criteria are. Without `id` they are c1, c2, ... by position."""

    each: Path_
    id: Path_ | None = None
    text: Path_ = "@"
    points: Path_ | None = None
    kind: Path_ | None = None
    tags: Path_ | None = None


class Fraction(_Strict):
    """Share of the criteria that a rater called met. `where` keeps criteria by equality; `weighted` takes their points.

    Criteria with negative points are left out; a criterion that the rater left unsaid makes the share undefined.
    """

    met: list[str] = Field(default=["true"], min_length=1)
    where: dict[str, str] = {}
    weighted: bool = False


class ScoreSpec(_Strict):
    """A label's score: a number at `path` on a scale from `min` (worst) to `max` (best), or a fraction of criteria."""

    path: Path_ | None = None
    min: Finite = 0.0
    max: Finite = 1.0
    fraction: Fraction | None = None

    @model_validator(mode="after")
    def _one(self) -> ScoreSpec:
        if (self.path is None) == (self.fraction is None):
            raise ValueError("needs either path or fraction")
        if self.min == self.max:
            raise ValueError("min and max must differ")
        return self


class TruthSpec(_Strict):
    """A yes-or-no verdict: which texts at `path` mean complete, and which incomplete; any other text is an error.

    Case and outer spaces do not matter. A rater who gave words of both kinds gave no verdict.
    """

    path: Path_
    yes: list[str] = list(YES)
    no: list[str] = list(NO)


def _score(value: Any) -> Any:
    return {"path": value} if isinstance(value, str) else value


def _scores(value: Any) -> Any:
    return [_score(item) for item in (value if isinstance(value, list) else [value])]


class LabelSpec(_Strict):
    """How raters' words become labels: one per rater, then, where `join` says how, one that joins them.

    `when` tells on a rater's item whether that rater rated at all. It matters where silence has a meaning of its own: with a row
    ``none`` in `severities`, an answer that nobody looked at must not count as one without omissions.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)
    about: str = Field("completeness", alias="construct")  # pydantic keeps `construct` for itself
    raters: dict[str, Path_] | None = None
    each: Path_ | None = None
    rater: Path_ | None = None
    when: Path_ | None = None
    complete: Annotated[TruthSpec | None, BeforeValidator(_score)] = None
    score: Annotated[list[ScoreSpec], BeforeValidator(_scores)] = []
    severity: Path_ | None = None
    severities: dict[str, Unit] | None = None
    value: Path_ | None = None
    rationale: Path_ | None = None
    criteria: Path_ | None = None
    complete_when: Rule | None = None
    join: Literal["criteria-majority", "majority", "worst", "mean", "none"] | None = None

    @property
    def fraction(self) -> Fraction | None:
        """The share of criteria that makes the score, where one does."""
        return next((item.fraction for item in self.score if item.fraction is not None), None)

    @property
    def scale(self) -> tuple[float, float]:
        """The worst and the best score as the card writes them: what `complete_when` speaks of."""
        return (self.score[0].min, self.score[0].max) if self.score and self.fraction is None else (0.0, 1.0)

    @property
    def default_join(self) -> str | None:
        """How raters are joined where the card does not say: by what their labels hold; None where nothing can be joined."""
        if self.fraction is not None:
            return "criteria-majority"
        if self.complete is not None:
            return "majority"
        return "mean" if self.score or self.severities is not None else None

    @model_validator(mode="after")
    def _coherent(self) -> LabelSpec:
        if self.raters is not None and (self.each is not None or self.rater is not None):
            raise ValueError("raters names each rater's place: take out each and rater")
        if self.severities is not None and (self.severity is None or self.score):
            raise ValueError("severities turns severity into the score: give severity, and no score")
        if self.fraction is not None and self.criteria is None:
            raise ValueError("a fraction needs criteria: where the rater's word on each criterion is")
        if self.fraction is not None and len(self.score) > 1:
            raise ValueError("a fraction is the only score: take the others out")
        if self.complete_when is not None and not self.score and self.severities is None:
            raise ValueError("complete_when needs a score or severities")
        if self.complete_when is not None and self.complete is not None:
            raise ValueError("complete and complete_when both say what is complete: keep one")
        if self.join == "criteria-majority" and self.fraction is None:
            raise ValueError("criteria-majority needs score: {fraction: ...}")
        if self.complete_when is not None:
            if len({(item.min, item.max) for item in self.score}) > 1:
                raise ValueError(
                    "complete_when speaks of one scale: give all scores the same min and max, or use `complete`"
                )
            results = {meets(end, self.complete_when, *self.scale) for end in self._ends()}
            if len(results) == 1:
                low, high = self.scale
                word = "always" if True in results else "never"
                raise ValueError(
                    f"complete_when {self.complete_when!r} is {word} true on this card's scale, {low:g} (worst) to {high:g} (best): "
                    "compare with a value inside the scale, as it is written"
                )
        return self

    def _ends(self) -> Sequence[float]:
        """Scores, on 0 to 1, between which a label's score must lie; for a table of severities those that it can be."""
        if self.severities is not None:
            return list(self.severities.values())
        limit = comparison(self.complete_when or ">= 0")[1]
        low, high = (exact(end) for end in self.scale)
        inside = (limit - low) / (high - low)
        return [0, 1, *([float(inside)] if 0 <= inside <= 1 else [])]


class VerdictSpec(_Strict):
    """Judges' verdicts recorded elsewhere, for ``judgekit import``.

    `rubric`, `judge` and `sample` are JMESPath (a literal in '...'); `values` are the verdict's fields; `statuses` maps the
    source's words to ours. `readings` says, per name, which source statuses become which value on every field.
    """

    rubric: Path_
    judge: Path_
    sample: Path_ | None = None
    status: Path_ | None = None
    statuses: dict[str, Literal["ok", "rule", "invalid", "refused", "truncated", "filtered", "error", "skipped"]] = {}
    values: dict[str, Path_]
    score: dict[str, Any] | None = None
    readings: dict[str, dict[str, Finite]] = {"exclude": {}}


class Filter(_Strict):
    """Rows where `keep` is true stay; `because` says what the others are, and their number is printed."""

    keep: Path_
    because: str


class Shape(_Strict):
    """One form that a data set's files come in: which keys a row has, and how it becomes a record.

    `native` rows name Record fields themselves, as without a card. With `merge`, rows of the same id are ratings of one record.
    `named` tells forms of the same columns apart by the file's name, such as ``*unsupervised*``.
    """

    about: str | None = None
    has: list[str] = []
    named: str | None = None
    rows: Path_ | None = None
    where: list[Filter] = []
    merge: bool = False
    native: bool = False
    fields: dict[Literal["id", "question", "response", "reference", "options", "answer", "cluster"], Path_] = {}
    criteria: CriteriaSpec | None = None
    inputs: dict[str, Path_] = {}
    meta: dict[str, Path_] = {}
    labels: Annotated[
        list[LabelSpec], BeforeValidator(lambda value: [value] if isinstance(value, dict) else value)
    ] = []
    verdicts: VerdictSpec | None = None

    @model_validator(mode="after")
    def _has_id(self) -> Shape:
        if self.native and (self.fields or self.labels or self.criteria or self.meta or self.inputs):
            raise ValueError("native rows are records already: take out fields, criteria, labels, meta and inputs")
        if not self.native and "id" not in self.fields:
            raise ValueError("fields needs id")
        return self


class CardSpec(_Strict):
    """A whole card file."""

    card: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    title: str
    about: str | None = None
    licence: str
    citation: str
    homepage: str | None = None
    labels_by: str | None = None
    notes: list[str] = []
    source: list[SourceFile] = []
    bundled: str | None = None
    prepare: str | None = None
    format: str | None = None
    shapes: dict[str, Shape] = Field(min_length=1)


@dataclass(frozen=True)
class Card:
    """A validated card. `shape` is the shape asked for by ``name/shape``, or None to tell it from the first row."""

    spec: CardSpec
    path: str
    shape: str | None = None
    lines: dict[tuple[str, ...], int] = field(default_factory=dict, compare=False, repr=False)

    @property
    def name(self) -> str:
        return self.spec.card

    @property
    def fingerprint(self) -> str:
        """Hash of everything that decides how a row becomes a record."""
        return content_hash({name: shape.model_dump(mode="json") for name, shape in self.spec.shapes.items()})

    def twins(self, name: str) -> list[str]:
        """Other shapes of the same columns, which only a file's name or the person tells apart."""
        mine = set(self.spec.shapes[name].has)
        return [
            other
            for other, shape in self.spec.shapes.items()
            if other != name and mine and set(shape.has) == mine and (shape.named or self.spec.shapes[name].named)
        ]

    def shape_for(self, row: dict[str, Any], file: str | None, line: int) -> tuple[str, Shape]:
        """The first shape whose `has` keys all stand in the row, and whose `named` fits the file; DataError when none does."""
        if self.shape is not None:
            return self.shape, self.spec.shapes[self.shape]
        here = "" if file is None else Path(file).name
        for name, shape in self.spec.shapes.items():
            if all(key in row for key in shape.has) and (shape.named is None or fnmatch(here, shape.named)):
                return name, shape
        wanted = "; ".join(f"{name}: {', '.join(shape.has)}" for name, shape in self.spec.shapes.items())
        raise DataError(
            f"no shape of the card {self.name!r} fits a row with the fields {', '.join(list(row)[:12])}",
            file=file,
            line=line,
            mend=f"the card expects {wanted}",
        )


_FLAT = tuple(Shape.model_fields)


def format_module(name: str, card: Card | None) -> Any:
    """The module in `judgekit/data/formats` (or of an entry point) that reads a format; it has ``rows(path, on_error)``."""
    known = modules("judgekit.data.formats", "judgekit.formats")
    if name not in known:
        near = get_close_matches(name, [*FORMATS, *known], 1)
        raise DataError(
            f"there is no format {name!r}",
            file=card.path if card else None,
            field="format",
            mend=f"did you mean {near[0]!r}?" if near else f"the formats are {', '.join([*FORMATS, *known])}",
        )
    return known[name]


def card_names() -> dict[str, Path]:
    """The library's cards by name."""
    return library_files("datasets", ".yaml")


def load_card(card: str | Path | Card) -> Card:
    """A card by its name in the library (``kqa``, or ``kqa/claims`` for one shape), or from a file.

    Raises DataError with the card's file and line for anything that is wrong with it.
    """
    if isinstance(card, Card):
        return card
    text = str(card)
    path = Path(card)
    shape: str | None = None
    if not text.endswith((".yaml", ".yml")):
        known = card_names()
        name, _, tail = text.partition("/")
        if name not in known:
            near = get_close_matches(name, known, 1)
            raise DataError(
                f"there is no card {text!r}",
                field="card",
                mend=f"did you mean {near[0]!r}?"
                if near
                else f"the cards are {', '.join(known)}; or name a .yaml file",
            )
        path, shape = known[name], tail or None
    shown = str(path)
    value, lines = read_yaml(path, shown, "card", DataError)
    if "shapes" not in value:
        inner = {key: value.pop(key) for key in list(value) if key in _FLAT and key != "about"}
        value["shapes"] = {"rows": inner}
        for place in list(lines):
            if place and place[0] in inner:
                lines[("shapes", "rows", *place)] = lines[place]
    for name, item in (value["shapes"] if isinstance(value["shapes"], dict) else {}).items():
        here = ("shapes", name, "labels")
        if isinstance(item, dict) and isinstance(item.get("labels"), dict):  # one map stands for a list of one
            lines |= {(*here, "0", *place[3:]): line for place, line in lines.items() if place[:3] == here}
    try:
        spec = CardSpec.model_validate(value)
    except ValidationError as error:
        raise _translated(error, shown, lines) from None
    if shape is not None and shape not in spec.shapes:
        raise DataError(
            f"the card {spec.card!r} has no shape {shape!r}", file=shown, mend=f"it has {', '.join(spec.shapes)}"
        )
    return Card(spec, shown, shape, lines)


def _translated(error: ValidationError, file: str, lines: dict[tuple[str, ...], int]) -> DataError:
    """The first of a card's errors, unknown keys before others; the further ones stand at the end of its `mend`."""
    found = sorted(error.errors(include_url=False), key=lambda item: item["type"] != "extra_forbidden")
    first, *others = [_one(item, file, lines) for item in found]
    if others:
        told = "; ".join(
            f"{f'line {other.line}, ' if other.line else ''}{other.field or 'the card'}: {other.message}"
            + (f" ({other.mend})" if other.mend else "")
            for other in others
        )
        mend = first.mend or "correct it"
        first.mend = f"{mend}{'' if mend.endswith('?') else '.'} Also wrong: {told}"
    return first


def _one(item: Any, file: str, lines: dict[tuple[str, ...], int]) -> DataError:
    place = tuple(str(part) for part in item["loc"] if str(part) != "[key]")
    known = place
    while known and known not in lines:
        known = known[:-1]
    field = ".".join(part for part in place if place[:2] != ("shapes", "rows") or part not in ("shapes", "rows"))
    message, mend = str(item["msg"]), None
    if item["type"] == "extra_forbidden":
        near = get_close_matches(place[-1], _keys_beside(place), 1)
        message = "unknown key"
        mend = f"did you mean {near[0]!r}?" if near else f"the keys here are {', '.join(_keys_beside(place))}"
    elif item["type"] == "missing":
        message, mend = "is missing", "add it"
    elif item["type"] == "value_error":
        message, _, mend = message.removeprefix("Value error, ").partition(": ")
    elif item["type"] == "literal_error":
        message = f"{item['input']!r} is none of {item['ctx']['expected']}"
    return DataError(message, file=file, line=lines.get(known), field=field or None, mend=mend or None)


def _keys_beside(place: tuple[str, ...]) -> list[str]:
    """Keys that the map around an unknown key may have."""
    model: Any = CardSpec
    flat = list(_FLAT) if len(place) == 1 else []
    for part in place[:-1]:
        step = {
            "shapes": Shape,
            "source": SourceFile,
            "criteria": CriteriaSpec,
            "labels": LabelSpec,
            "verdicts": VerdictSpec,
            "where": Filter,
            "score": ScoreSpec,
            "complete": TruthSpec,
            "fraction": Fraction,
        }
        model = step.get(part, model)
    return [*(field.alias or name for name, field in model.model_fields.items()), *flat]
