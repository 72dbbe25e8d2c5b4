"""Walks records x rubrics x judges x samples, and writes a judgement for each: from calls, by rule, or skipped."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit import __version__
from judgekit.errors import BudgetError, InputError
from judgekit.judging.engine.calls import Caller, Judge, request_for
from judgekit.judging.engine.checklist import Checklists, bind_writers, writer_specs, writers_of
from judgekit.judging.engine.evidence import TUNED, evidence_judgement, is_evidence
from judgekit.judging.engine.judgement import combine, rescore, rubric_row
from judgekit.judging.engine.outcome import Outcome, Wanted, summarise
from judgekit.judging.engine.replay import Replay, is_replay
from judgekit.judging.engine.retrieve import Retrievers
from judgekit.judging.engine.schedule import Budget, Drained, Lane, Stop
from judgekit.judging.engine.units import (
    Options,
    Unit,
    blank_judgement,
    criteria_from_record,
    guarded,
    settle,
    total,
    units,
)
from judgekit.judging.provider.client import open_client
from judgekit.judging.provider.endpoint import endpoint_of, resolve_base
from judgekit.judging.provider.prices import price_for
from judgekit.judging.provider.types import JudgeSpec
from judgekit.progress import Progress
from judgekit.records import Criterion
from judgekit.runs.model import CallRow, Judgement
from judgekit.runs.store import RunStore

if TYPE_CHECKING:
    from judgekit.data import RecordSet
    from judgekit.rubric import CompiledRubric

__all__ = ["run_judges"]

DEFAULT_CONCURRENCY = 32


async def run_judges(
    sets: Sequence[RecordSet],
    rubrics: Sequence[CompiledRubric],
    judges: Sequence[JudgeSpec],
    out: str | Path,
    options: Options | None = None,
    *,
    stop: Stop | None = None,
    quiet: bool = False,
    argv: Sequence[str] | None = None,
    known: Mapping[str, set[str]] | None = None,
) -> Outcome:
    """Judge everything that the run does not hold yet, and say what the run holds afterwards.

    Parameters
    ----------
    sets, rubrics, judges : all combinations are judged; names must differ within each.
    out : the run's folder, made where it is absent.
    stop : `stop.interrupt()` from the same loop ends the work early; Ctrl-C does so by itself in the main thread.
    quiet : no progress on stderr, only notes.
    argv : the command, for the run's log.
    known : per data set, ids that exist although they are not asked for; recorded verdicts may name them.

    Returns
    -------
    Outcome, also when the budget, the provider or the person stopped the work: what was done is kept.

    Raises
    ------
    InputError where the run cannot be written; BudgetError where a budget is given and a price unknown; MissingDependency.
    """
    options, stop = options or Options(), stop or Stop()
    _distinct(sets, rubrics, judges)
    with RunStore(out) as store:
        number = store.begin_command(list(argv or sys.argv), __version__, _about(sets, rubrics, judges))
        try:
            outcome = await _Work(store, number, sets, rubrics, judges, options, stop, quiet, known).run()
        except BaseException as error:
            with contextlib.suppress(InputError):
                store.end_command(number, f"failed: {type(error).__name__}")
            raise
        store.end_command(number, outcome.stopped or ("provider" if outcome.error else "done"))
        return outcome


def _about(sets: Sequence[RecordSet], rubrics: Sequence[CompiledRubric], judges: Sequence[JudgeSpec]) -> dict[str, Any]:
    """What the run's log says of a command: data, rubrics with their fingerprints, judges with the address that they are asked at."""
    return {
        "data": [{"name": one.name, "file": one.path, "records": len(one)} for one in sets],
        "rubrics": [{"name": one.name, "ask": one.ask_fingerprint, "score": one.score_fingerprint} for one in rubrics],
        "judges": [{"judge": one.notation, "address": _address(one)} for one in judges],
    }


def _address(judge: JudgeSpec) -> str | None:
    """Where a judge is asked, without passwords; None for recorded verdicts and what runs on this machine without a server."""
    if judge.model.startswith(("replay/", "local/")):
        return None
    return endpoint_of(judge.model, resolve_base(judge.model, judge.api_base))


class _Work:
    """One command's shared state."""

    def __init__(
        self,
        store: RunStore,
        number: int,
        sets: Sequence[RecordSet],
        rubrics: Sequence[CompiledRubric],
        judges: Sequence[JudgeSpec],
        options: Options,
        stop: Stop,
        quiet: bool,
        known: Mapping[str, set[str]] | None = None,
    ) -> None:
        self.store, self.sets, self.options, self.stop = store, sets, options, stop
        self.retrievers = Retrievers()
        writers = writers_of(rubrics, self.retrievers)
        self.rubrics = rubrics = bind_writers(self.retrievers.bind(rubrics), writers)
        self.replays = [Replay(judge, rubrics, sets, known) for judge in judges if is_replay(judge)]
        self.evidence = [judge for judge in judges if is_evidence(judge)]
        self.specs = [judge for judge in judges if not is_replay(judge) and not is_evidence(judge)]
        self.number = number
        spent = store.bill(recorded=False)
        self.earlier_unknown = spent.at_most is None
        so_far = spent.at_least if spent.at_most is None else spent.at_most
        self.budget = Budget(options.max_cost, so_far, lambda reserved: store.in_flight(number, reserved))
        modelled = [*self.specs, *self.evidence]
        wanted = total(sets, rubrics, modelled, options.samples) + sum(replay.total for replay in self.replays)
        self.progress = Progress(wanted, quiet=quiet)
        self.caller = Caller(store, stop, self.budget, self.progress)
        self.checklists = Checklists(store, self.caller, writers, self.retrievers)

    async def run(self) -> Outcome:
        self._prepare()
        error: BaseException | None = None
        async with contextlib.AsyncExitStack() as stack:
            judges = [self._judge(spec, stack) for spec in self.specs]
            self.checklists.specs = writer_specs(self.rubrics, self.specs)
            mine = {spec.notation for spec in self.specs}
            others = {spec.notation: spec for spec in self.checklists.specs.values() if spec.notation not in mine}
            writers = [self._judge(spec, stack) for spec in others.values()]
            self._refuse_unknown_prices([*judges, *writers])
            self.checklists.judges = {judge.spec.notation: judge for judge in [*writers, *judges]}
            stack.enter_context(self.stop.signals(self.progress.note))
            stack.enter_context(self.progress)
            tasks = [asyncio.create_task(self._replay(replay)) for replay in self.replays]
            tasks += [asyncio.create_task(self._judge_by_evidence(spec)) for spec in self.evidence]
            for judge in judges:
                source = units(self.sets, self.rubrics, judge.spec, self.options.samples)
                tasks += [asyncio.create_task(self._worker(judge, source)) for _ in range(judge.lane.cap)]
            await self.stop.finish(tasks, self.options.grace_s)
            for judge in [*judges, *writers]:
                self.caller.tell(judge.client.notes, self.progress.note)
            self.store.in_flight(self.number, 0.0)
            error = self.stop.error
            if self.stop.cause is None:  # fewer calls than it takes to give up, and none of them answered
                error = next((judge.lane.silent for judge in [*judges, *writers] if judge.lane.silent), None)
        if self.stop.cause == "fault" and error is not None:
            raise error
        return self._outcome(error)

    def _prepare(self) -> None:
        names = [judge.notation for judge in [*self.specs, *self.evidence]] + [
            name for replay in self.replays for name in replay.judges
        ]
        for rubric in self.rubrics:
            self.store.put_rubric(rubric_row(rubric))
        for data in self.sets:
            changes = self.store.put_records(data.name, data)
            if changes["changed"]:
                self.progress.note(
                    f"{data.name}: {changes['changed']} records changed since the last time; judged anew"
                )
            for note in getattr(data, "notes", []):
                self.progress.note(f"{data.name}: {note}")
            for rubric in self.rubrics:
                n = rescore(self.store, data.name, rubric)
                if n:
                    self.progress.note(f"{rubric.name}: {n} judgements scored anew from what is stored, nothing asked")
                for name in names:
                    self.store.use(data.name, rubric.name, name, rubric.ask_fingerprint, rubric.score_fingerprint)

    def _judge(self, spec: JudgeSpec, stack: contextlib.AsyncExitStack) -> Judge:
        options = self.options
        client = open_client(
            spec,
            timeout_s=options.timeout_s,
            reasks=options.reasks,
            max_chars=options.max_chars,
            price_in=price_for(options.price_in, spec.model),
            price_out=price_for(options.price_out, spec.model),
            only_here=options.local_only,
        )
        most = client.concurrency
        concurrency = min(options.concurrency or DEFAULT_CONCURRENCY, most or sys.maxsize)
        if options.concurrency is not None and most is not None and options.concurrency > most:
            self.progress.note(f"{spec.model}: {most} call at a time, so that it repeats itself")
        lane = Lane(
            self.stop,
            self.budget,
            concurrency=concurrency,
            rpm=options.rpm,
            tpm=options.tpm,
            timeout_s=options.timeout_s * (options.reasks + 1) + 10,
            tries=options.tries,
        )
        return Judge(spec, client, lane, stack)

    def _refuse_unknown_prices(self, judges: list[Judge]) -> None:
        if self.options.max_cost is None:
            return
        if self.earlier_unknown:
            self.progress.note("the run holds earlier calls whose price is unknown: the budget cannot count them")
        if self.options.allow_unknown_price:
            return
        unknown = list(dict.fromkeys(judge.spec.model for judge in judges if judge.client.price(1000, 1000) is None))
        if unknown:
            raise BudgetError(
                f"the price of {', '.join(unknown)} is unknown, so a budget of ${self.options.max_cost:g} cannot be held",
                mend="give --price-in and --price-out (US dollars a million tokens, or MODEL=USD), or --allow-unknown-price",
            )

    async def _worker(self, judge: Judge, source: Iterator[Unit]) -> None:
        for unit in source:
            if self.stop.cause is not None:
                return
            try:
                self._keep(await self._judgement(judge, unit))
            except Drained:
                return
            except Exception as error:
                self.stop.drain("fault", error)
                return
            await asyncio.sleep(0)  # units that need no call must let the calls in flight be read

    async def _replay(self, replay: Replay) -> None:
        try:
            for call, judgement in replay.judgements():
                if self.stop.cause is not None:
                    return
                with self.store.transaction():
                    if call is not None:
                        self.store.put_call(call)
                    self._keep(judgement)
                await asyncio.sleep(0)
        except Exception as error:
            self.stop.drain("fault", error)

    async def _judge_by_evidence(self, spec: JudgeSpec) -> None:
        tuned = 0
        try:
            for unit in units(self.sets, self.rubrics, spec, self.options.samples):
                if self.stop.cause is not None:
                    return
                written: list[Criterion] | str | None = None
                if unit.rubric.name in self.checklists.specs and criteria_from_record(unit)[1] and settle(unit) is None:
                    written = await self.checklists.criteria(unit)
                call, judgement = evidence_judgement(unit, self.store, written)
                with self.store.transaction():
                    if call is not None and not self.store.is_served(call.key):
                        self.store.put_call(call)
                    self._keep(judgement)
                tuned += TUNED in judgement.flags
                await asyncio.sleep(0)
        except Exception as error:
            self.stop.drain("fault", error)
        if tuned:
            self.progress.note(
                f"{spec.model}: {tuned} judgements rest on pairs of answer and criterion that its map was fitted on; they say "
                "nothing about how it does on new ones"
            )

    def _keep(self, judgement: Judgement) -> None:
        old = self.store.judgement(
            judgement.dataset, judgement.record_id, judgement.rubric, judgement.judge, judgement.sample, judgement.ask
        )
        if old is None or dataclasses.replace(old, created=None) != judgement:
            self.store.put_judgement(judgement)
        self.progress.judged(judgement.status)

    async def _judgement(self, judge: Judge, unit: Unit) -> Judgement:
        early = settle(unit)
        if early is not None:
            return early
        criteria, writing = criteria_from_record(unit)
        if writing:
            written = await self.checklists.criteria(unit)
            if isinstance(written, str):
                return blank_judgement(unit, "skipped", written)
            criteria = written
        if criteria == []:
            return blank_judgement(unit, "skipped", "no criterion is left to judge by")
        asks = guarded(
            unit, lambda: unit.rubric.asks(unit.record, criteria, self.retrievers.examples(unit.rubric, unit.record))
        )
        if isinstance(asks, Judgement):
            return asks
        requests = [request_for(judge.client, unit.rubric, ask, unit.sample, unit.record) for ask in asks]
        rows = await asyncio.gather(
            *(self.caller.get(judge, request, ask.model) for ask, request in zip(asks, requests, strict=True)),
            return_exceptions=True,
        )
        faults = [row for row in rows if isinstance(row, BaseException)]
        for fault in sorted(faults, key=lambda fault: isinstance(fault, Drained)):
            raise fault
        return combine(unit, asks, [row for row in rows if isinstance(row, CallRow)], criteria)

    def _outcome(self, error: BaseException | None) -> Outcome:
        wanted: list[Wanted] = []
        for data in self.sets:
            ids = {record.id for record in data}
            for rubric in self.rubrics:
                for spec in [*self.specs, *self.evidence]:
                    wanted.append(Wanted(data.name, ids, rubric, spec.notation, frozenset(range(self.options.samples))))
                for replay in self.replays:
                    for name, samples in replay.samples(rubric.name):
                        wanted.append(Wanted(data.name, ids, rubric, name, samples))
        return summarise(self.store, wanted, self.caller, self.stop.cause, error)


def _distinct(sets: Sequence[Any], rubrics: Sequence[Any], judges: Sequence[JudgeSpec]) -> None:
    if sets and not any(len(data) for data in sets):
        raise InputError(
            f"{', '.join(data.name for data in sets)} holds no record", mend="check that the file is the one you mean"
        )
    for what, names in (
        ("data set", [data.name for data in sets]),
        ("rubric", [rubric.name for rubric in rubrics]),
        ("judge", [judge.notation for judge in judges]),
    ):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InputError(f"the {what} {twice[0]} is named twice", mend="name each once, or rename one")
        if not names:
            raise InputError(f"no {what} is named", mend=f"name at least one {what}")
