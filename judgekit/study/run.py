"""Does what a study says, step by step, in one run: the same calls in the same store as the single commands."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.data import RecordSet
from judgekit.errors import InputError, JudgekitError
from judgekit.judging.engine.answer import answered
from judgekit.judging.engine.plan import Plan, make_plan
from judgekit.judging.engine.retrieve import Retrievers
from judgekit.judging.engine.run import run_judges
from judgekit.records import Record
from judgekit.runs.model import Bill
from judgekit.runs.schema import DATABASE
from judgekit.runs.store import RunStore
from judgekit.study.resolve import Block, Resolved
from judgekit.study.spec import Answers

if TYPE_CHECKING:
    from judgekit.judging.engine.outcome import Outcome

__all__ = ["Finished", "plan_study", "run_study"]

STAND_IN = "An answer that is not written yet. " * 24  # about 200 tokens, for the plan alone


@dataclass
class Finished:
    """What a study left behind, step by step; `stopped` says what ended it early."""

    study: str
    run: str
    outcomes: list[tuple[Block, Outcome]] = field(default_factory=list)
    answers: list[dict[str, Any]] = field(default_factory=list)
    metrics: list[dict[str, Any]] = field(default_factory=list)
    analyses: list[dict[str, Any]] = field(default_factory=list)
    stopped: str | None = None
    exit_code: int = 0

    @property
    def bill(self) -> Bill:
        """What this command was billed."""
        return sum((outcome.bill for _, outcome in self.outcomes), Bill())

    def to_dict(self) -> dict[str, Any]:
        """One JSON object: judging as `judge --json`, and each analysis with its command and its result as under --json."""
        judging = [
            {
                **outcome.to_dict(),
                "rubrics": [one.name for one in block.rubrics],
                "judges": [one.notation for one in block.judges],
            }
            for block, outcome in self.outcomes
        ]
        return {
            "study": self.study,
            "run": self.run,
            "judging": judging,
            "answers": self.answers,
            "metrics": self.metrics,
            "analyses": self.analyses,
            "cost": self.bill.exact,
            **self.bill.bounds("cost"),
            "stopped": self.stopped,
        }


def run_study(
    found: Resolved,
    *,
    quiet: bool = False,
    step: Callable[[str], None] = lambda text: None,
    shown: Callable[[str, Any], None] = lambda kind, what: None,
) -> Finished:
    """Write the answers, judge, measure and analyse what the run does not hold yet.

    Parameters
    ----------
    step : hears the headline of each step. shown : hears what a step left behind: ``outcome`` (an Outcome), ``answers`` and
        ``metric`` (their counts), ``analysis`` (its `Result`), ``failed`` (why an analysis could not be computed).

    A stop (budget, provider, Ctrl-C) ends the study before the next step, with the exit code of ``judgekit judge``; the same study
    again goes on where it stopped. A copy of the study file is kept in the run's folder.
    """
    done = Finished(found.file.study.study, str(found.out))
    work: list[tuple[Answers | None, Block]] = [*found.answers, *((None, block) for block in found.blocks)]
    for answers, block in work:
        who = ", ".join(one.name for one in block.rubrics)
        step(f"{'answers by' if answers else 'judging by'} {who}: {', '.join(block.data)}")
        sets = [found.sets[name] for name in block.data]
        if answers is None:
            for name in block.data:
                found.whole.get(name, found.sets[name]).need_promised_labels()
        outcome = asyncio.run(
            run_judges(
                sets, block.rubrics, block.judges, found.out, found.options(block.samples), quiet=quiet,
                known=found.known,
            )
        )  # fmt: skip
        done.outcomes.append((block, outcome))
        shown("outcome", outcome)
        done.exit_code = max(done.exit_code, 3 if outcome.unscored else 0)
        if outcome.stopped or outcome.error is not None:
            done.stopped = outcome.stopped or "provider"
            done.exit_code = outcome.exit_code
            return done
        if answers is not None:
            done.answers.append(_keep_answers(found, answers, block))
            shown("answers", done.answers[-1])
    (found.out).mkdir(parents=True, exist_ok=True)
    for names, metrics in found.metrics:
        from judgekit.measuring.measure import run_metrics

        for name in names:
            step(f"measuring {', '.join(one.notation for one in metrics)}: {name}")
            records = found.sets[name]
            for tally in run_metrics(records, metrics, found.out, keep=found.whole.get(name, records), quiet=quiet):
                values = list(tally.values.values())
                mean = sum(values) / len(values) if values else None
                row = {
                    "dataset": name,
                    "metric": tally.metric.notation,
                    "signature": tally.signature,
                    "records": len(records),
                }
                done.metrics.append({**row, "measured": len(values), "without_value": tally.counts, "mean": mean})
                shown("metric", done.metrics[-1])
    (found.out / "study.yaml").write_bytes(found.file.path.read_bytes())
    for analysis in found.analyses:
        words = [analysis.name, str(found.out), *analysis.words()]
        step("judgekit " + " ".join(words))
        entry: dict[str, Any] = {"analysis": analysis.name, "command": ["judgekit", *words]}
        try:
            result = analysis.run(str(found.out))
        except JudgekitError as error:  # kept, and the other analyses go on
            entry["error"] = error.to_dict()
            shown("failed", f"{analysis.name} could not be computed: {error}")
            done.exit_code = error.exit_code
        else:
            entry["result"] = result.to_json()
            shown("analysis", result)
        done.analyses.append(entry)
    return done


def _keep_answers(found: Resolved, answers: Answers, block: Block) -> dict[str, Any]:
    """The answers that the run holds become a data set, and a file in the run's folder; what is absent is counted."""
    counts = {"written": 0, "truncated": 0, "absent": 0}
    records: list[Record] = []
    with RunStore(found.out, "r") as store:
        for answer in _answers(found, block, store):
            if answer is None:
                counts["absent"] += 1
                continue
            counts["written"] += 1
            counts["truncated"] += bool(answer.meta.get("truncated", False))
            records.append(answer)
    if not records:
        raise InputError(
            f"no answer was written for {answers.name}",
            file=found.file.shown, line=found.file.line("answers"), field="answers", mend="see the run's calls for the reasons",
        )  # fmt: skip
    target = found.out / f"{answers.name}.jsonl"
    lines = (json.dumps(one.to_dict(), ensure_ascii=False, allow_nan=False) + "\n" for one in records)
    target.write_text("".join(lines), encoding="utf-8", errors="backslashreplace", newline="\n")
    _join(found, answers, records, target)
    return {"dataset": answers.name, "file": str(target), **counts}


def _join(found: Resolved, answers: Answers, records: list[Record], path: Path | None) -> None:
    made = RecordSet(records, name=answers.name, path=None if path is None else str(path))
    found.sets[answers.name] = found.whole[answers.name] = made
    found.known[answers.name] = {record.id for record in records}


def _answers(found: Resolved, block: Block, store: RunStore | None) -> Iterator[Record | None]:
    writers = Retrievers().bind(block.rubrics) if store is not None else list(block.rubrics)
    for name in block.data:
        for record in found.sets[name]:
            for writer in writers:
                for judge in block.judges:
                    for sample in range(block.samples):
                        ident = f"{record.id}~{writer.name}~{judge.notation}~{sample}"
                        ident = ident if len(block.data) == 1 else f"{name}~{ident}"
                        if store is None:
                            # Each its own text: two answers alike would be one call.
                            yield dataclasses.replace(record, id=ident, response=f"{STAND_IN}{ident}", labels=())
                            continue
                        held = store.judgement(
                            name, record.id, writer.name, judge.notation, sample, writer.ask_fingerprint
                        )
                        answer = None if held is None else answered(record, held, alone=True)
                        yield None if answer is None else dataclasses.replace(answer, id=ident)


def plan_study(found: Resolved) -> Plan:
    """What `run_study` would ask now. Answers that are not written yet are planned with a stand-in of about 200 tokens."""
    plan = Plan()
    there = (found.out / DATABASE).is_file()
    for answers, block in found.answers:
        _add(plan, _plan(found, block))
        real: list[Record | None] = []
        if there:
            with RunStore(found.out, "r") as store:
                real = list(_answers(found, block, store))
        stand_ins = _answers(found, block, None)
        records = [one or stand_in for one, stand_in in zip(real, stand_ins, strict=True)] if real else list(stand_ins)
        missing = sum(one is not None and (one.response or "").startswith(STAND_IN) for one in records)
        if missing:
            plan.note(f"{answers.name}: {missing} answers are not written yet; about 200 tokens each are assumed")
        _join(found, answers, [one for one in records if one is not None], None)
    for block in found.blocks:
        _add(plan, _plan(found, block))
    return plan


def _plan(found: Resolved, block: Block) -> Plan:
    sets = [found.sets[name] for name in block.data]
    return make_plan(sets, block.rubrics, block.judges, found.out, found.options(block.samples))


def _add(plan: Plan, more: Plan) -> None:
    plan.calls += more.calls
    plan.reused += more.reused
    plan.tokens_in += more.tokens_in
    plan.tokens_out_max += more.tokens_out_max
    plan.cost = None if plan.cost is None or more.cost is None else plan.cost + more.cost
    plan.unknown_price += [name for name in more.unknown_price if name not in plan.unknown_price]
    for note in more.notes:
        plan.note(note)
