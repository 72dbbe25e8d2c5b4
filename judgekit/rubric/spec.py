"""What a rubric file says, typed: the resolved RubricSpec and its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from judgekit.forms import Place
from judgekit.records import Criterion, Record
from judgekit.rubric.conditions import Condition
from judgekit.rubric.fields import Field

__all__ = [
    "Check",
    "CriteriaSpec",
    "Example",
    "Gate",
    "PromptText",
    "RetrieveSpec",
    "RubricSpec",
    "ScoreSpec",
    "WriteSpec",
]

RECORD_INPUTS = ("question", "turns", "response", "reference", "criteria", "options")
HIDDEN_INPUTS = ("labels", "answer", "id", "meta", "cluster")
# What other tools call a record's parts.
MEANT = {
    **dict.fromkeys(("answer", "answers", "output", "completion", "prediction", "reply"), "response"),
    **dict.fromkeys(("query", "prompt", "input"), "question"),
    **dict.fromkeys(("ideal", "gold", "expected", "ground_truth"), "reference"),
}


@dataclass(frozen=True, slots=True)
class ScoreSpec:
    """How a verdict becomes a number: ``field``, ``mean`` and ``weighted_mean`` (with a weight each) name verdict fields,
    ``fraction`` and ``weighted`` a boolean."""

    kind: Literal["field", "mean", "weighted_mean", "fraction", "weighted"]
    fields: tuple[str, ...]
    weights: tuple[int | float, ...] = ()


@dataclass(frozen=True, slots=True)
class Gate:
    """Where the verdict's `field` fulfils `when`, the raw score is `raw`, whatever the rest says; `reason` is for people."""

    field: str
    when: Condition
    raw: int | float
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class WriteSpec:
    """Who writes a checklist where the record has none: another rubric, once per `per`, with `model` or the judge itself."""

    rubric: str
    per: str = "question"
    model: str | None = None


@dataclass(frozen=True, slots=True)
class CriteriaSpec:
    """Where criteria come from (first source with any left wins), which of the record's count, and how they are asked.

    `fixed` is a checklist that the rubric itself brings, the same for every record.
    """

    sources: tuple[Literal["record", "written"], ...] = ("record",)
    where: Mapping[str, Condition] = field(default_factory=dict)
    write: WriteSpec | None = None
    ask: Literal["each", "together"] = "each"
    fixed: tuple[Criterion, ...] = ()


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example: a record and the verdict (or, for a writer of text, the text) that it deserves."""

    record: Record
    verdict: dict[str, Any] | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class RetrieveSpec:
    """Examples looked up per record: the `count` records of `source` whose `by` is most alike, never of the same cluster.

    `using` is ``tfidf`` or ``minilm``; `where` filters the source's records; `verdict` is a JMESPath from a source record
    to the verdict that it shows.
    """

    count: int
    source: str
    by: str = "question"
    using: Literal["tfidf", "minilm"] = "tfidf"
    where: Mapping[str, Condition] = field(default_factory=dict)
    verdict: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """The rubric's own unit test: what a judge should say of `record`. Names are verdict fields, ``ID.FIELD``, raw, complete."""

    record: Record
    expect: Mapping[str, Condition]
    place: Place


@dataclass(frozen=True, slots=True)
class PromptText:
    """A template as written, with where it stands: `line` of its first line, `folder` for includes."""

    text: str
    file: str
    line: int
    folder: str


@dataclass(frozen=True, slots=True)
class RubricSpec:
    """A rubric after `extends` and `blocks`; `where` maps dotted field paths to file and line for messages."""

    name: str
    version: str
    title: str | None
    source: Mapping[str, str]
    construct: str | None
    required: tuple[str, ...]
    optional: tuple[str, ...]
    output: Literal["verdict", "text"]
    verdict: tuple[Field, ...]
    score: ScoreSpec | None
    complete_when: Condition | None
    when_response_empty: int | float | None
    sampling: Mapping[str, Any]
    system: PromptText | None
    user: PromptText
    blocks: Mapping[str, PromptText]
    criteria: CriteriaSpec | None
    examples: tuple[Example, ...] | RetrieveSpec
    checks: tuple[Check, ...]
    where: Mapping[str, Place]
    gates: tuple[Gate, ...] = ()

    @property
    def inputs(self) -> tuple[str, ...]:
        """All declared inputs; a rubric with a `criteria` section has `criteria` declared by it."""
        names = self.required + self.optional
        return (*names, "criteria") if self.criteria is not None and "criteria" not in names else names

    def field(self, name: str) -> Field | None:
        return next((field for field in self.verdict if field.name == name), None)
