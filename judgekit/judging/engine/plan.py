"""`--plan`: what a command would ask, and what that would cost; nothing is sent and nothing is written."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.judging.engine.calls import request_for
from judgekit.judging.engine.checklist import (
    about_the_question,
    bind_writers,
    question_hash,
    who_writes,
    writer_specs,
    writers_of,
)
from judgekit.judging.engine.evidence import is_evidence
from judgekit.judging.engine.replay import is_replay
from judgekit.judging.engine.retrieve import Retrievers
from judgekit.judging.engine.units import (
    Options,
    Unit,
    criteria_from_record,
    guarded,
    settle,
    units,
)
from judgekit.judging.provider.client import open_client
from judgekit.judging.provider.prices import max_tokens, price_for, states_max_tokens
from judgekit.judging.provider.types import JudgeSpec
from judgekit.records import Criterion
from judgekit.runs.model import Judgement
from judgekit.runs.schema import DATABASE
from judgekit.runs.store import RunStore

if TYPE_CHECKING:
    from judgekit.data import RecordSet
    from judgekit.rubric import CompiledRubric

__all__ = ["Plan", "make_plan"]

ASSUMED_CRITERIA = 8


@dataclass(slots=True)
class Plan:
    """What a command would do (`judgekit --help`, docs/runs.md). Tokens out are the most there can be without re-asks."""

    calls: int = 0
    reused: int = 0
    tokens_in: int = 0
    tokens_out_max: int = 0
    cost: float | None = 0.0
    unknown_price: list[str] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The JSON contract."""
        value = dataclasses.asdict(self)
        del value["notes"]
        return value

    def add(self, judge: JudgeSpec, client: Any, tokens_in: int, tokens_out: int) -> None:
        """One more call."""
        self.calls += 1
        self.tokens_in += tokens_in
        self.tokens_out_max += tokens_out
        price = client.price(tokens_in, tokens_out)
        if price is None:
            self.cost = None
            if judge.model not in self.unknown_price:
                self.unknown_price.append(judge.model)
        elif self.cost is not None:
            self.cost += price

    def note(self, text: str) -> None:
        """A sentence for the person, once."""
        if text not in self.notes:
            self.notes.append(text)


def make_plan(
    sets: Sequence[RecordSet],
    rubrics: Sequence[CompiledRubric],
    judges: Sequence[JudgeSpec],
    out: str | Path,
    options: Options | None = None,
) -> Plan:
    """What `run_judges` with the same arguments would ask now. Reads the run where there is one; writes nothing."""
    options = options or Options()
    specs = [judge for judge in judges if not is_replay(judge) and not is_evidence(judge)]
    with contextlib.ExitStack() as stack:
        there = (Path(out) / DATABASE).is_file()
        store = stack.enter_context(RunStore(out, "r")) if there else None
        planner = _Planner(store, rubrics, specs, options)
        for spec in specs:
            for unit in units(sets, planner.rubrics, spec, options.samples):
                planner.take(unit)
    return planner.plan


class _Planner:
    def __init__(
        self, store: RunStore | None, rubrics: Sequence[CompiledRubric], specs: Sequence[JudgeSpec], options: Options
    ) -> None:
        self.store = store
        self.plan = Plan()
        self.retrievers = Retrievers()
        self.writers = writers_of(rubrics, self.retrievers)
        self.rubrics = bind_writers(self.retrievers.bind(rubrics), self.writers)
        self.writer_specs = writer_specs(self.rubrics, specs)
        self.clients = {
            spec.notation: open_client(
                spec,
                reasks=options.reasks,
                max_chars=options.max_chars,
                price_in=price_for(options.price_in, spec.model),
                price_out=price_for(options.price_out, spec.model),
                only_here=options.local_only,
            )
            for spec in [*self.writer_specs.values(), *specs]
        }
        self._keys: set[str] = set()

    def take(self, unit: Unit) -> None:
        """Count the calls of one unit."""
        if settle(unit) is not None:
            return
        criteria, writing = criteria_from_record(unit)
        if writing:
            criteria = self._written(unit)
        if criteria == []:
            return
        asks = guarded(
            unit, lambda: unit.rubric.asks(unit.record, criteria, self.retrievers.examples(unit.rubric, unit.record))
        )
        if not isinstance(asks, Judgement):
            for ask in asks:
                self._count(unit.judge, unit.rubric, ask, unit.sample)

    def _written(self, unit: Unit) -> list[Criterion]:
        writer = self.writers[unit.rubric.name]
        judge = self.writer_specs.get(unit.rubric.name, unit.judge)
        who = who_writes(judge, self.clients[judge.notation])
        stored = (
            None
            if self.store is None
            else self.store.checklist(question_hash(unit.record), writer.ask_fingerprint, who)
        )
        if stored is not None:
            return stored[1]
        examples = self.retrievers.examples(writer, unit.record)
        asks = guarded(unit, lambda: writer.asks(about_the_question(unit.record), None, examples))
        if isinstance(asks, Judgement):
            return []
        self._count(judge, writer, asks[0], 0)
        self.plan.note(
            f"{unit.rubric.name}: checklists are not written yet; {ASSUMED_CRITERIA} criteria a question are assumed"
        )
        return [Criterion(id=f"w{i}", text=f"criterion {i} " + "x" * 90) for i in range(1, ASSUMED_CRITERIA + 1)]

    def _count(self, judge: JudgeSpec, rubric: CompiledRubric, ask: Any, sample: int) -> None:
        client = self.clients[judge.notation]
        request = request_for(client, rubric, ask, sample)
        key = request.key
        if key in self._keys or (self.store is not None and self.store.is_served(key)):
            self.plan.reused += 1
            return
        self._keys.add(key)
        tokens_out = max_tokens(request.sampling)
        if not states_max_tokens(request.sampling):
            self.plan.note(f"{rubric.name} sets no max_tokens: {tokens_out} a reply are assumed")
        self.plan.add(judge, client, client.count_tokens(request.messages, request.schema), tokens_out)
