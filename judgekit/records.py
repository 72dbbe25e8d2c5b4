"""The nouns that everything else speaks of: Record, Turn, Criterion, Label, Score.

Ids, labels and texts stay exactly the strings that the file held: ``001``, ``NA`` and ``None`` are text.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import Any, Literal

from pydantic import ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr, TypeAdapter
from pydantic.dataclasses import dataclass

__all__ = ["Criterion", "Label", "Record", "Score", "Turn", "canonical_json", "content_hash"]


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces; NaN and infinities are refused (ValueError)."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def content_hash(value: Any) -> str:
    """sha256, in hex, of the canonical JSON of `value`."""
    return hashlib.sha256(canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()


@dataclasses.dataclass(frozen=True, slots=True)
class Score:
    """A number, or None with the reason why there is none. Never NaN, never a stand-in."""

    value: float | None
    reason: str | None = None

    def __post_init__(self) -> None:
        if self.value is None and not self.reason:
            raise ValueError("a Score without a value needs a reason")
        if self.value is not None and self.value != self.value:
            raise ValueError("a Score is never NaN: use Score(None, reason)")


_CONFIG = ConfigDict(extra="forbid", ser_json_inf_nan="strings")


@dataclass(frozen=True, config=_CONFIG)
class Turn:
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: StrictStr


@dataclass(frozen=True, config=_CONFIG)
class Criterion:
    """One thing that a response must (or, with negative `points`, must not) do."""

    id: StrictStr
    text: StrictStr
    points: StrictInt | StrictFloat = 1
    kind: StrictStr | None = None
    tags: tuple[StrictStr, ...] = ()


@dataclass(frozen=True, config=_CONFIG)
class Label:
    """What one rater said of one record about one construct.

    `rater` is a person's pseudonym, ``construction`` for labels made by how the record was written, or None when
    the source does not say. `score` lies in [0, 1], 1 best. `criteria` maps criterion ids to what the rater said.
    """

    construct: StrictStr = "completeness"
    rater: StrictStr | None = None
    complete: StrictBool | None = None
    score: StrictFloat | StrictInt | None = None
    severity: StrictStr | None = None
    value: Any = None
    criteria: dict[str, StrictBool | StrictStr | None] | None = None
    rationale: StrictStr | None = None


@dataclass(frozen=True, config=_CONFIG)
class Record:
    """One question with what was answered and what is known about it (docs/data.md)."""

    id: StrictStr
    question: StrictStr | tuple[Turn, ...] | None = None
    response: StrictStr | None = None
    reference: StrictStr | None = None
    criteria: tuple[Criterion, ...] = ()
    options: dict[str, StrictStr] | None = None
    answer: StrictStr | None = None
    labels: tuple[Label, ...] = ()
    cluster: StrictStr | None = None
    inputs: dict[str, Any] = Field(default_factory=dict)
    meta: dict[str, Any] = Field(default_factory=dict)

    @staticmethod
    def from_dict(value: Any) -> Record:
        """Validate a plain object; raises pydantic's ValidationError. Unknown keys are refused."""
        return _RECORD.validate_python(value)

    def to_dict(self) -> dict[str, Any]:
        """The plain JSON object; `from_dict` gives the record back."""
        value: dict[str, Any] = _RECORD.dump_python(self, mode="json")
        return value

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The conversation as turns; a plain question is one turn of the user."""
        if self.question is None:
            return ()
        if isinstance(self.question, str):
            return (Turn(role="user", content=self.question),)
        return self.question

    @property
    def question_text(self) -> str | None:
        """The question as text: a conversation is flattened to ``role: content`` paragraphs."""
        if self.question is None or isinstance(self.question, str):
            return self.question
        if len(self.question) == 1:
            return self.question[0].content
        return "\n\n".join(f"{turn.role}: {turn.content}" for turn in self.question)

    @property
    def cluster_id(self) -> str:
        """What counts as the same unit in statistics: `cluster`, else the question's text, else the id."""
        if self.cluster is not None:
            return self.cluster
        text = self.question_text
        return (
            self.id if text is None else "q:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        )

    def fingerprint(self) -> str:
        """Hash of everything but the labels: a new label does not make another record."""
        return content_hash({key: value for key, value in self.to_dict().items() if key != "labels"})


_RECORD = TypeAdapter(Record)
