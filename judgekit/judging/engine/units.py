"""What a command is made of: its options, its units of work, and what settles a unit without a call."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judgekit.errors import InputError, MissingDependency, UsageError
from judgekit.judging.provider.prices import Prices
from judgekit.judging.provider.types import JudgeSpec
from judgekit.records import Criterion, Record
from judgekit.runs.model import Judgement

if TYPE_CHECKING:
    from judgekit.data import RecordSet
    from judgekit.rubric import CompiledRubric

__all__ = [
    "Options",
    "Unit",
    "blank_judgement",
    "criteria_from_record",
    "guarded",
    "scored",
    "settle",
    "total",
    "units",
]


@dataclass(frozen=True, slots=True)
class Options:
    """How a command runs; what decides a judgement is in the rubric and the judge, not here.

    Parameters
    ----------
    samples : judgements a record, rubric and judge; at least 1.
    max_cost : US dollars that the whole run may cost, this command and all others together, or None. What may have been billed
        counts as billed: a request that reached the provider and brought no bill counts as all that was set aside for it.
    allow_unknown_price : start although a price is unknown and `max_cost` cannot hold it.
    concurrency : most calls in flight a judge; None: 32, or what the client says (`local/`: 1).
    rpm, tpm : requests and tokens a minute and judge, or None.
    timeout_s : seconds that one HTTP request may take.
    reasks : how often an unusable reply is asked again within one call.
    tries : how often a call is made when it fails in a way that may pass.
    max_chars : see `judging.provider.client.open_client`.
    price_in, price_out : US dollars a million tokens: a figure for all models, or a map of figures by model ("": all others).
    grace_s : seconds that calls in flight may take to finish after the first Ctrl-C.
    local_only : refuse every judge that is not asked on this machine, before anything is sent.
    """

    samples: int = 1
    max_cost: float | None = None
    allow_unknown_price: bool = False
    concurrency: int | None = None
    rpm: float | None = None
    tpm: float | None = None
    timeout_s: float = 120.0
    reasks: int = 2
    tries: int = 5
    max_chars: int | None = None
    price_in: Prices = None
    price_out: Prices = None
    grace_s: float = 20.0
    local_only: bool = False

    def __post_init__(self) -> None:
        for name, least in (("samples", 1), ("concurrency", 1), ("reasks", 0), ("tries", 1), ("max_chars", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise UsageError(f"{name} must be at least {least}, not {value}", field=name)
        for name in ("max_cost", "rpm", "tpm", "timeout_s", "grace_s"):
            value = getattr(self, name)
            if value is not None and not (0 if name in ("max_cost", "grace_s") else 1e-9) <= value < math.inf:
                raise UsageError(f"{name} must be positive and finite, not {value}", field=name)
        if (self.price_in is None) != (self.price_out is None):
            raise UsageError("one price alone says nothing", mend="give both --price-in and --price-out")


@dataclass(frozen=True, slots=True)
class Unit:
    """One judgement that is wanted."""

    dataset: str
    record: Record
    rubric: CompiledRubric
    judge: JudgeSpec
    sample: int


def units(
    sets: Iterable[RecordSet], rubrics: Iterable[CompiledRubric], judge: JudgeSpec, samples: int
) -> Iterator[Unit]:
    """A judge's units, made as they are needed: record by record, so that an early stop leaves rubrics and samples level."""
    for data in sets:
        for record in data:
            for sample in range(samples):
                for rubric in rubrics:
                    yield Unit(data.name, record, rubric, judge, sample)


def total(
    sets: Iterable[RecordSet], rubrics: Iterable[CompiledRubric], judges: Iterable[JudgeSpec], samples: int
) -> int:
    """How many units there are."""
    return sum(len(data) for data in sets) * len(list(rubrics)) * len(list(judges)) * samples


def blank_judgement(unit: Unit, status: str, reason: str | None = None, **fields: Any) -> Judgement:
    """A judgement of `unit` with a status and no number yet."""
    return Judgement(
        dataset=unit.dataset,
        record_id=unit.record.id,
        rubric=unit.rubric.name,
        judge=fields.pop("judge", unit.judge.notation),
        sample=unit.sample,
        ask=unit.rubric.ask_fingerprint,
        score_fp=unit.rubric.score_fingerprint,
        status=status,
        reason=reason,
        record_hash=unit.record.fingerprint(),
        **fields,
    )


def scored(judgement: Judgement, result: Any) -> Judgement:
    """The judgement with the numbers of a RubricScore; a score that is undefined keeps its reason."""
    return dataclasses.replace(
        judgement,
        raw=result.raw,
        score=result.score,
        complete=result.complete,
        reason=result.reason,
        flags=list(dict.fromkeys([*judgement.flags, *result.flags])),
    )


def settle(unit: Unit) -> Judgement | None:
    """The judgement that needs no call: a blank response by the rubric's rule, or a record that lacks an input."""
    rubric, record = unit.rubric, unit.record
    if rubric.blank(record):
        result = rubric.rule_result(record)
        if result is not None:
            return scored(blank_judgement(unit, "rule", verdict=result.verdict), result)
    missing = rubric.missing_inputs(record)
    if missing:
        return blank_judgement(unit, "skipped", f"the record lacks {', '.join(missing)}")
    if rubric.blank(record):
        return blank_judgement(unit, "skipped", "the response is blank, and the rubric has no when_response_empty")
    return None


def criteria_from_record(unit: Unit) -> tuple[list[Criterion] | None, bool]:
    """The criteria that the record itself gives, and whether the writer must be asked for them instead."""
    spec = unit.rubric.spec.criteria
    if spec is None:
        return None, False
    for source in spec.sources:
        if source == "written":
            return None, True
        if found := list(unit.rubric.select_criteria(unit.record)):
            return found, False
    return [], False


def guarded(unit: Unit, make: Callable[[], Any]) -> Any:
    """What `make` gives, or a `skipped` judgement where the record does not fit the rubric: one record never ends a run."""
    try:
        return make()
    except MissingDependency:
        raise
    except InputError as error:
        return blank_judgement(unit, "skipped", str(error))
