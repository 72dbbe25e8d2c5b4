"""Judgements made from calls and from stored verdicts: merging, scoring, scoring anew."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgekit.judging.engine.units import Unit, blank_judgement, scored, settle
from judgekit.judging.provider.types import JudgeSpec
from judgekit.records import Criterion
from judgekit.runs.model import CallRow, Judgement, RubricRow
from judgekit.runs.store import RunStore

if TYPE_CHECKING:
    from judgekit.rubric import CompiledRubric

__all__ = ["combine", "criterion_row", "rescore", "rubric_row", "score_recorded", "score_verdict"]

# What a judgement is called when its calls ended differently: the first that applies.
WORST = ("error", "invalid", "refused", "filtered", "truncated")
SCORE_FLAGS = (
    "over_long",
    "empty",
    "off_scale",
    "between_levels",
    "conflict_with_score",
)  # given by scoring, so given anew with it


def combine(
    unit: Unit, asks: Sequence[Any], rows: Sequence[CallRow], criteria: Sequence[Criterion] | None
) -> Judgement:
    """One judgement from its calls. One call without a verdict leaves the whole judgement unscored, and says which."""
    shared: dict[str, Any] = {
        "criteria": None if criteria is None else [criterion_row(criterion) for criterion in criteria],
        "flags": list(dict.fromkeys(flag for row in rows for flag in row.flags)),
        "calls": [row.key for row in rows],
        "tokens_in": _total(row.tokens_in for row in rows),
        "tokens_out": _total(row.tokens_out for row in rows),
        "cost": None if any(row.cost is None for row in rows) else sum(row.cost or 0.0 for row in rows),
        "latency_s": _total(row.latency_s for row in rows),
    }
    bad = [(ask, row) for ask, row in zip(asks, rows, strict=True) if row.status != "ok"]
    if unit.rubric.output == "text":
        status, reason = (bad[0][1].status, bad[0][1].reason) if bad else ("ok", None)
        text = rows[0].text
        return blank_judgement(unit, status, reason, verdict=None if text is None else {"text": text}, **shared)
    if bad:
        status = min((row.status for _, row in bad), key=WORST.index)
        if len(rows) == 1:
            reason = bad[0][1].reason
        else:
            which = "; ".join(f"{', '.join(ask.criterion_ids) or 'call'}: {row.status}" for ask, row in bad[:5])
            reason = f"{len(bad)} of {len(rows)} calls gave no verdict ({which}{', ...' if len(bad) > 5 else ''})"
        return blank_judgement(unit, status, reason, **shared)
    verdict = unit.rubric.merge([(ask, row.verdict or {}) for ask, row in zip(asks, rows, strict=True)])
    return score_verdict(blank_judgement(unit, "ok", verdict=verdict, **shared), unit.rubric, criteria)


def score_verdict(judgement: Judgement, rubric: CompiledRubric, criteria: Sequence[Criterion] | None) -> Judgement:
    """The judgement with the numbers that its verdict is worth."""
    return _flagged(scored(judgement, rubric.score(judgement.verdict or {}, criteria)), rubric)


_SAYS_PASS = re.compile(
    r"(?:is_|overall_|final_)?(?:pass(?:ed|es)?|complete|acceptable|accepted|sufficient)", re.IGNORECASE
)
_YES = {True, "true", "yes", "pass", "passed", "complete", "acceptable"}
_NO = {False, "false", "no", "fail", "failed", "incomplete", "unacceptable"}


def _flagged(judgement: Judgement, rubric: CompiledRubric) -> Judgement:
    """With ``conflict_with_score:FIELD`` where the judge's own word on passing is not what its score comes to."""
    flags = []
    counted = () if rubric.spec.score is None else rubric.spec.score.fields
    for name, value in (judgement.verdict or {}).items():
        said = value.strip().lower() if isinstance(value, str) else value
        if (
            judgement.complete is None
            or name in counted
            or not _SAYS_PASS.fullmatch(name)
            or not isinstance(said, str | bool)
        ):
            continue
        if said in (_NO if judgement.complete else _YES):
            flags.append(f"conflict_with_score:{name}")
    return dataclasses.replace(judgement, flags=list(dict.fromkeys([*judgement.flags, *flags]))) if flags else judgement


def score_recorded(judgement: Judgement, rubric: CompiledRubric, criteria: Sequence[Criterion] | None) -> Judgement:
    """As `score_verdict`, for a verdict that nobody has checked: what cannot be read as the rubric's numbers is ``invalid``.

    Numbers off the scale or between its levels are kept, and flagged.
    """
    verdict = judgement.verdict or {}
    result = rubric.score(verdict, criteria)
    answers = verdict.get("criteria")
    asked = {criterion.id for criterion in criteria or ()}
    unread = rubric.spec.score is not None and result.raw is None
    if unread and asked and isinstance(answers, dict) and asked <= set(answers):
        unread = "neither true nor false" in (result.reason or "")
    judgement = _flagged(scored(judgement, result), rubric)
    return dataclasses.replace(judgement, status="invalid") if unread else judgement


def criterion_row(criterion: Criterion) -> dict[str, Any]:
    """What a judgement keeps of a criterion."""
    return {"id": criterion.id, "text": criterion.text, "points": criterion.points, "kind": criterion.kind}


def rescore(store: RunStore, dataset: str, rubric: CompiledRubric) -> int:
    """Bring every stored judgement of this wording under the rubric's present scoring, asking nothing; returns how many.

    All of the data set's judgements are taken, not only those that a command asks for, so that no table mixes two scorings.
    """
    stale = [
        judgement
        for judgement in store.judgements(dataset=dataset, rubric=rubric.name, ask=rubric.ask_fingerprint)
        if judgement.score_fp != rubric.score_fingerprint
    ]
    with store.transaction():
        for old in stale:
            new = dataclasses.replace(old, score_fp=rubric.score_fingerprint)
            recorded = "recorded" in old.flags
            read = old.status == "ok" or (recorded and old.status == "invalid")
            if read and old.verdict is not None and rubric.output != "text":
                criteria = None if old.criteria is None else [Criterion(**item) for item in old.criteria]
                flags = [flag for flag in old.flags if flag.split(":")[0] not in SCORE_FLAGS]
                new = dataclasses.replace(new, flags=flags, status="ok")
                new = (score_recorded if recorded else score_verdict)(new, rubric, criteria)
            elif old.status in ("rule", "skipped"):
                record = store.record(dataset, old.record_id)
                judge = JudgeSpec(old.judge)
                early = None if record is None else settle(Unit(dataset, record, rubric, judge, old.sample))
                if early is not None:
                    new = dataclasses.replace(early, created=old.created)
            store.put_judgement(new)
    return len(stale)


def rubric_row(rubric: CompiledRubric) -> RubricRow:
    """What a run keeps of a rubric."""
    from judgekit.rubric.fields import ScaleField

    return RubricRow(
        name=rubric.name,
        ask=rubric.ask_fingerprint,
        score_fp=rubric.score_fingerprint,
        version=rubric.version,
        title=rubric.title,
        construct=rubric.construct,
        complete_when=rubric.complete_when,
        scale={
            field.name: [{"value": level.value, "label": level.label, "text": level.anchor} for level in field.levels]
            for field in rubric.spec.verdict
            if isinstance(field, ScaleField)
        },
        path=None if rubric.path is None else str(rubric.path),
        resolved=_plain(rubric.spec),
    )


def _plain(value: Any) -> Any:
    """A rubric's spec as JSON; conditions as they were written."""
    if hasattr(value, "operands"):
        return value.written
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: _plain(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if field.name not in ("where", "place")
        }
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list | set | frozenset):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _total(values: Any) -> Any:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
