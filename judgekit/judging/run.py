"""Walks records x rubrics x judges x samples, and writes a judgement for each: from calls, by rule, or skipped."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit import __version__
from judgekit.errors import BudgetError, InputError
from judgekit.judging.calls import Caller, Judge
from judgekit.judging.checklist import Checklists
from judgekit.judging.client import open_client
from judgekit.judging.outcome import Outcome, Wanted, summarise
from judgekit.judging.plan import (
    Options,
    Unit,
    blank_judgement,
    criteria_from_record,
    guarded,
    scored,
    settle,
    total,
    units,
)
from judgekit.judging.progress import Progress
from judgekit.judging.replay import Replay, is_replay
from judgekit.judging.retrieve import Retrievers
from judgekit.judging.schedule import Budget, Drained, Lane, Stop
from judgekit.judging.types import JudgeSpec
from judgekit.records import Criterion
from judgekit.runs.model import SCORED, CallRow, Judgement, RubricRow
from judgekit.runs.store import RunStore

if TYPE_CHECKING:
    from judgekit.data import RecordSet
    from judgekit.rubric import CompiledRubric

__all__ = ["combine", "rescore", "run_judges"]

DEFAULT_CONCURRENCY = 32
# What a judgement is called when its calls ended differently: the first that applies.
WORST = ("error", "invalid", "refused", "filtered", "truncated")


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
) -> Outcome:
    """Judge everything that the run does not hold yet, and say what the run holds afterwards.

    Parameters
    ----------
    sets, rubrics, judges : all combinations are judged; names must differ within each.
    out : the run's folder, made where it is absent.
    stop : `stop.interrupt()` from the same loop ends the work early; Ctrl-C does so by itself in the main thread.
    quiet : no progress on stderr, only notes.
    argv : the command, for the run's log.

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
        number = store.begin_command(list(argv or sys.argv), __version__)
        work = _Work(store, sets, rubrics, judges, options, stop, quiet)
        outcome = await work.run()
        store.end_command(number, outcome.stopped or ("failed" if outcome.error else "done"))
        return outcome


class _Work:
    """One command's shared state."""

    def __init__(
        self,
        store: RunStore,
        sets: Sequence[RecordSet],
        rubrics: Sequence[CompiledRubric],
        judges: Sequence[JudgeSpec],
        options: Options,
        stop: Stop,
        quiet: bool,
    ) -> None:
        self.store, self.sets, self.rubrics, self.options, self.stop = store, sets, rubrics, options, stop
        self.replays = [Replay(judge, rubrics, sets) for judge in judges if is_replay(judge)]
        self.specs = [judge for judge in judges if not is_replay(judge)]
        self.retrievers = Retrievers(rubrics)
        self.budget = Budget(options.max_cost)
        wanted = total(sets, rubrics, self.specs, options.samples) + sum(replay.total for replay in self.replays)
        self.progress = Progress(wanted, quiet=quiet)
        self.caller = Caller(store, stop, self.budget, self.progress, options.reasks)
        self.checklists = Checklists(store, self.caller, rubrics, self.retrievers)

    async def run(self) -> Outcome:
        self._prepare()
        error: BaseException | None = None
        async with contextlib.AsyncExitStack() as stack:
            judges = [self._judge(spec) for spec in self.specs]
            writers = [self._judge(spec) for spec in self.checklists.writers(self.rubrics, self.specs)]
            self._refuse_unknown_prices([*judges, *writers])
            for judge in [*judges, *writers]:
                await stack.enter_async_context(judge.client)
            self.checklists.judges = {judge.spec.notation: judge for judge in [*writers, *judges]}
            stack.enter_context(self.stop.signals(self.progress.note))
            stack.enter_context(self.progress)
            tasks = [asyncio.create_task(self._replay(replay)) for replay in self.replays]
            for judge in judges:
                source = units(self.sets, self.rubrics, judge.spec, self.options.samples)
                tasks += [asyncio.create_task(self._worker(judge, source)) for _ in range(judge.lane.cap)]
            await self.stop.finish(tasks, self.options.grace_s)
            for judge in [*judges, *writers]:
                self.caller.tell(judge.client.notes, self.progress.note)
            error = self.stop.error
        if self.stop.cause == "fault" and error is not None:
            raise error
        return self._outcome(error)

    def _prepare(self) -> None:
        names = [judge.notation for judge in self.specs] + [name for replay in self.replays for name in replay.judges]
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

    def _judge(self, spec: JudgeSpec) -> Judge:
        options = self.options
        client = open_client(
            spec,
            timeout_s=options.timeout_s,
            reasks=options.reasks,
            max_chars=options.max_chars,
            price_in=options.price_in,
            price_out=options.price_out,
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
        return Judge(spec, client, lane)

    def _refuse_unknown_prices(self, judges: list[Judge]) -> None:
        if self.options.max_cost is None or self.options.allow_unknown_price:
            return
        unknown = list(dict.fromkeys(judge.spec.model for judge in judges if judge.client.price(1000, 1000) is None))
        if unknown:
            raise BudgetError(
                f"the price of {', '.join(unknown)} is unknown, so a budget of ${self.options.max_cost:g} cannot be held",
                mend="give --price-in and --price-out (US dollars a million tokens), or --allow-unknown-price",
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
        requests = [
            judge.client.request(ask.messages, ask.schema, dict(unit.rubric.sampling), unit.sample) for ask in asks
        ]
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
                for spec in self.specs:
                    wanted.append(Wanted(data.name, ids, rubric, spec.notation, frozenset(range(self.options.samples))))
                for replay in self.replays:
                    for name, samples in replay.samples(rubric.name):
                        wanted.append(Wanted(data.name, ids, rubric, name, samples))
        return summarise(self.store, wanted, self.caller, self.stop.cause, error)


def combine(
    unit: Unit, asks: Sequence[Any], rows: Sequence[CallRow], criteria: Sequence[Criterion] | None
) -> Judgement:
    """One judgement from its calls. One call without a verdict leaves the whole judgement unscored, and says which."""
    shared: dict[str, Any] = {
        "criteria": None if criteria is None else [plain_criterion(criterion) for criterion in criteria],
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
    verdict = unit.rubric.merge([(ask, row.verdict) for ask, row in zip(asks, rows, strict=True)])
    judgement = blank_judgement(unit, "ok", verdict=verdict, **shared)
    return scored(judgement, unit.rubric.score(verdict, criteria))


def plain_criterion(criterion: Criterion) -> dict[str, Any]:
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
            if old.status == "ok" and old.verdict is not None and rubric.output != "text":
                criteria = None if old.criteria is None else [Criterion(**item) for item in old.criteria]
                new = scored(new, rubric.score(old.verdict, criteria))
            elif old.status in ("rule", "skipped"):
                record = store.record(dataset, old.record_id)
                judge = JudgeSpec(old.judge)
                early = None if record is None else settle(Unit(dataset, record, rubric, judge, old.sample))
                if early is not None:
                    new = dataclasses.replace(early, created=old.created)
            store.put_judgement(new)
    return sum(judgement.status in (*SCORED, "skipped") for judgement in stale)


def rubric_row(rubric: CompiledRubric) -> RubricRow:
    """What a run keeps of a rubric."""
    return RubricRow(
        name=rubric.name,
        ask=rubric.ask_fingerprint,
        score_fp=rubric.score_fingerprint,
        version=rubric.version,
        title=rubric.title,
        construct=rubric.construct,
        complete_when=_written(rubric.complete_when),
        path=None if rubric.path is None else str(rubric.path),
    )


def _written(condition: Any) -> str | None:
    return None if condition is None else str(getattr(condition, "written", condition))


def _total(values: Any) -> Any:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _distinct(sets: Sequence[Any], rubrics: Sequence[Any], judges: Sequence[JudgeSpec]) -> None:
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
