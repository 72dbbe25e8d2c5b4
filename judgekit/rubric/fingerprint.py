"""Two hashes: what is asked, and what turns a verdict into numbers.

A changed anchor, included part, parent, example or sampling default changes `ask`, and only then is anything asked again.
`score`, `complete_when` and `when_response_empty` change `score` alone. Name, version, title, source, construct and checks
change neither, since no judge sees them and no number comes from them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from judgekit.records import content_hash
from judgekit.rubric.conditions import Condition
from judgekit.rubric.fields import ScaleField
from judgekit.rubric.render import canonical
from judgekit.rubric.spec import RubricSpec
from judgekit.rubric.template import Template

__all__ = ["COMPILER", "ask_fingerprint", "score_fingerprint"]

COMPILER = 1  # raise it when the same file would be asked otherwise: all fingerprints change with it


def ask_fingerprint(spec: RubricSpec, system: str | None, user: Template, turns: list[dict[str, str]] | None) -> str:
    """Hash of all that decides what is asked.

    Parameters
    ----------
    system : the rendered system message.
    user : the user template, with parts and blocks resolved.
    turns : the rendered examples that the file gives; None where they are retrieved per record.
    """
    return content_hash(
        {
            "compiler": COMPILER,
            "required": sorted(spec.required),
            "optional": sorted(spec.optional),
            "output": spec.output,
            "verdict": [[type(field).__name__, _plain(field)] for field in spec.verdict],
            "system": system,
            "user": canonical(user.program),
            "sampling": dict(spec.sampling),
            "criteria": _criteria(spec),
            "examples": _plain(spec.examples) if turns is None else turns,
        }
    )


def _criteria(spec: RubricSpec) -> Any:
    plain = _plain(spec.criteria)
    if plain is not None and not plain["fixed"]:
        del plain["fixed"]
    return plain


def _plain(value: Any) -> Any:
    """Dataclasses as lists and maps, for hashing; order of options and levels counts, since judges see it."""
    if isinstance(value, Condition):
        return [value.op, list(value.operands)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return [[key, _plain(inner)] for key, inner in value.items()]
    if isinstance(value, tuple | list):
        return [
            [type(item).__name__, _plain(item)] if dataclasses.is_dataclass(item) else _plain(item) for item in value
        ]
    return value


def score_fingerprint(spec: RubricSpec) -> str:
    """Hash of what turns a verdict into numbers, and of nothing else: anchors and wording do not count here."""
    ends: dict[str, Any] = {}
    for name in spec.score.fields if spec.score is not None else ():
        field = spec.field(name)
        if isinstance(field, ScaleField):
            ends[name] = sorted(level.value for level in field.levels)
        else:
            ends[name] = [type(field).__name__, getattr(field, "low", None), getattr(field, "high", None)]
    added: dict[str, Any] = {}
    if spec.score is not None and spec.score.weights:
        added["weights"] = list(spec.score.weights)
    if spec.gates:
        added["gates"] = [[gate.field, _plain(gate.when), gate.raw] for gate in spec.gates]
    return content_hash(
        {
            **added,
            "compiler": COMPILER,
            "score": None if spec.score is None else [spec.score.kind, list(spec.score.fields)],
            "fields": ends,
            "complete_when": None if spec.complete_when is None else [spec.complete_when.op, spec.complete_when.number],
            "when_response_empty": spec.when_response_empty,
        }
    )
