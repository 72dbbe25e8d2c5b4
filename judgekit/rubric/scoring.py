"""Verdicts -> numbers: exact, unscored rather than invented, never clamped."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from judgekit.exact import exact, exact_mean
from judgekit.records import Criterion
from judgekit.rubric.conditions import holds
from judgekit.rubric.fields import BooleanField, Field, ListField, NumberField, ScaleField, TextField
from judgekit.rubric.spec import RubricSpec, ScoreSpec
from judgekit.rubric.verdict import read_number

__all__ = ["RubricScore", "is_blank", "rule_score", "score_verdict"]


@dataclass(frozen=True, slots=True)
class RubricScore:
    """What a verdict is worth.

    Attributes
    ----------
    raw : on the rubric's own scale; None with a `reason`.
    score : a scale mapped by its ends to [0, 1], a boolean as 1 or 0; fraction and weighted are not rescaled (weighted may
        fall below 0). An imported value off the scale is mapped by the same line, and flagged.
    complete : does `raw` fulfil `complete_when`? None without a threshold or without `raw`.
    reason : why there is no number; None where there is one.
    flags : ``over_long:FIELD``, ``empty:FIELD``, ``off_scale:FIELD``, ``between_levels:FIELD``, ``gate:FIELD``.
    verdict : only for a score by rule: the scales' values.
    """

    raw: float | None
    score: float | None
    complete: bool | None
    reason: str | None = None
    flags: tuple[str, ...] = ()
    verdict: dict[str, Any] | None = None


def is_blank(text: str) -> bool:
    """Nothing to be seen: white space, control and format characters (zero width space, byte order mark) only."""
    return all(char.isspace() or unicodedata.category(char) in ("Cc", "Cf", "Zs", "Zl", "Zp") for char in text)


def score_verdict(
    spec: RubricSpec, verdict: Mapping[str, Any], criteria: Sequence[Criterion | Mapping[str, Any]] | None = None
) -> RubricScore:
    """Score a verdict: one that a model of `response_model` read, or one recorded elsewhere.

    Parameters
    ----------
    verdict : plain fields, or ``{"criteria": {id: fields}}``.
    criteria : what was asked (needed by fraction and weighted): Criterion objects, or maps with id and points.
    """
    flags: list[str] = []
    if spec.criteria is None:
        _text_flags(spec.verdict, verdict, flags)
    else:
        several = verdict.get("criteria")
        for one in several.values() if isinstance(several, Mapping) else ():
            if isinstance(one, Mapping):
                _text_flags(spec.verdict, one, flags)
    if spec.score is None:
        return RubricScore(None, None, None, "this rubric has no score", tuple(dict.fromkeys(flags)))
    raw: Fraction | None
    share: Fraction | None
    if spec.score.kind == "weighted_mean":
        raw, reason = _weighted_mean(spec, verdict, flags)
        share = raw
    elif spec.score.kind in ("fraction", "weighted"):
        raw, reason = _counted(spec.score.kind, spec.score.fields[0], verdict, criteria)
        share = raw
    else:
        raw, share, reason = _fields(spec, verdict, flags)
    for gate in spec.gates if raw is not None else ():
        if verdict.get(gate.field) is None:
            raw, reason = None, f"`{gate.field}` is missing in the verdict, and a gate asks for it"
            break
        if holds(gate.when, verdict[gate.field]):
            raw = exact(gate.raw)
            share = _share(spec, raw)
            flags.append(f"gate:{gate.field}")
            break
    if raw is None or share is None:
        return RubricScore(None, None, None, reason, tuple(dict.fromkeys(flags)))
    return RubricScore(float(raw), float(share), _complete(spec, raw), None, tuple(dict.fromkeys(flags)))


def rule_score(spec: RubricSpec) -> RubricScore | None:
    """The score of a blank response: `raw` and every scale become the number that the rubric states; None where it states none."""
    value = spec.when_response_empty
    if value is None or spec.score is None:
        return None
    if spec.score.kind == "weighted_mean":  # no level of any one field follows from it
        return RubricScore(float(value), float(value), _complete(spec, value), None, (), {})
    verdict: dict[str, Any] = {}
    for field in spec.verdict if spec.criteria is None else ():
        if isinstance(field, ScaleField):
            verdict[field.name] = int(value)
        elif field.name in spec.score.fields:
            verdict[field.name] = bool(value) if isinstance(field, BooleanField) else value
    share = exact(value)
    scored = spec.field(spec.score.fields[0])
    if isinstance(scored, ScaleField) and spec.score.kind in ("field", "mean"):
        share = scored.share(share)
    elif isinstance(scored, NumberField):
        share = _by_ends(scored, share)
    return RubricScore(float(value), float(share), _complete(spec, value), None, (), verdict)


def _share(spec: RubricSpec, raw: Fraction) -> Fraction:
    """A raw score mapped to [0, 1] as the rubric's score is."""
    assert spec.score is not None
    field = spec.field(spec.score.fields[0])
    if spec.score.kind in ("field", "mean") and isinstance(field, ScaleField):
        return field.share(raw)
    return _by_ends(field, raw) if spec.score.kind == "field" and isinstance(field, NumberField) else raw


def _weighted_mean(
    spec: RubricSpec, verdict: Mapping[str, Any], flags: list[str]
) -> tuple[Fraction | None, str | None]:
    """The mean of fields mapped each by its own ends, with the weights that the rubric states."""
    assert spec.score is not None
    total = Fraction()
    weights = [exact(weight) for weight in spec.score.weights]
    for name, weight in zip(spec.score.fields, weights, strict=True):
        _, share, reason = _fields(dataclasses.replace(spec, score=ScoreSpec("field", (name,))), verdict, flags)
        if share is None:
            return None, reason
        total += weight * share
    return total / sum(weights), None


def _complete(spec: RubricSpec, raw: Fraction | float) -> bool | None:
    return None if spec.complete_when is None else holds(spec.complete_when, raw)


def _by_ends(field: NumberField, value: Fraction) -> Fraction:
    low, high = exact(field.low), exact(field.high)
    return (value - low) / (high - low)


def _fields(
    spec: RubricSpec, verdict: Mapping[str, Any], flags: list[str]
) -> tuple[Fraction | None, Fraction | None, str | None]:
    assert spec.score is not None
    raws, shares = [], []
    for name in spec.score.fields:
        field, value = spec.field(name), verdict.get(name)
        if value is None:
            return None, None, f"`{name}` is missing in the verdict"
        if isinstance(field, BooleanField):
            if not isinstance(value, bool):
                return None, None, f"`{name}` is {value!r}, neither true nor false"
            raws.append(Fraction(int(value)))
            shares.append(Fraction(int(value)))
            continue
        number = read_number(value)
        if number is None:
            return None, None, f"`{name}` is {value!r}, not a number"
        written = exact(number)
        raws.append(written)
        if isinstance(field, ScaleField):
            if number not in [level.value for level in field.levels]:
                flags.append(f"{'between_levels' if field.low < number < field.high else 'off_scale'}:{name}")
            shares.append(field.share(written))
        else:
            assert isinstance(field, NumberField)
            if field.low is not None and field.high is not None and not field.low <= number <= field.high:
                flags.append(f"off_scale:{name}")
            shares.append(_by_ends(field, written))
    return exact_mean(raws), exact_mean(shares), None


def _counted(
    kind: str, name: str, verdict: Mapping[str, Any], criteria: Sequence[Criterion | Mapping[str, Any]] | None
) -> tuple[Fraction | None, str | None]:
    if not criteria:
        return None, "no criteria were asked"
    answers = verdict.get("criteria")
    if not isinstance(answers, Mapping):
        return None, "the verdict holds no criteria"
    met: list[tuple[Fraction, bool]] = []
    seen: set[str] = set()
    for criterion in criteria:
        identity, points = _identity(criterion)
        if identity in seen:
            return None, f"two criteria have the id {identity!r}"
        seen.add(identity)
        answer = answers.get(identity)
        value = answer.get(name) if isinstance(answer, Mapping) else None
        if not isinstance(value, bool):
            what = "is missing" if value is None else f"is {value!r}, neither true nor false"
            return None, f"`{name}` of criterion {identity!r} {what}"
        met.append((points, value))
    if kind == "fraction":
        counted = [value for points, value in met if points >= 0]
        if not counted:
            return None, "every criterion is negative, and a fraction leaves these out"
        return Fraction(sum(counted), len(counted)), None
    positive = sum((points for points, _ in met if points > 0), Fraction())
    if positive == 0:
        return None, "no criterion has positive points"
    return sum((points for points, value in met if value), Fraction()) / positive, None


def _identity(criterion: Criterion | Mapping[str, Any]) -> tuple[str, Fraction]:
    if isinstance(criterion, Mapping):
        return str(criterion["id"]), exact(criterion.get("points", 1))
    return criterion.id, exact(criterion.points)


def _text_flags(fields: Sequence[Field], verdict: Mapping[str, Any], flags: list[str], prefix: str = "") -> None:
    for field in fields:
        value = verdict.get(field.name)
        if isinstance(field, TextField) and isinstance(value, str):
            if field.max_chars is not None and len(value) > field.max_chars:
                flags.append(f"over_long:{prefix}{field.name}")
            elif not value.strip():
                flags.append(f"empty:{prefix}{field.name}")
        elif isinstance(field, ListField) and isinstance(value, list):
            for item in value:
                if isinstance(item, Mapping):
                    _text_flags(field.of, item, flags, f"{prefix}{field.name}.")
