"""What a command leaves behind: the counts that `judge --json` prints, and the table beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judgekit.errors import JudgekitError
from judgekit.runs.model import UNSCORED, Bill

if TYPE_CHECKING:
    from judgekit.judging.engine.calls import Caller
    from judgekit.rubric import CompiledRubric
    from judgekit.runs.store import RunStore

__all__ = ["Outcome", "Row", "Wanted", "summarise"]


_ANSWERED = ("ok", "invalid", "refused", "filtered", "truncated")  # a model said something, and may have billed it


@dataclass(frozen=True, slots=True)
class Wanted:
    """The judgements that a command asked for, of one data set, rubric and judge."""

    dataset: str
    ids: set[str]
    rubric: CompiledRubric
    judge: str
    samples: frozenset[int]


@dataclass(slots=True)
class Row:
    """One line of the table: a data set, rubric and judge."""

    dataset: str
    rubric: str
    judge: str
    wanted: int
    statuses: Counter[str] = field(default_factory=Counter)
    flags: Counter[str] = field(default_factory=Counter)
    tokens_in: int = 0
    tokens_out: int = 0
    bill: Bill = field(default_factory=Bill)
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)  # (status, why) of the unscored

    @property
    def cost(self) -> float | None:
        """US dollars; None where they are not known exactly."""
        return self.bill.exact


@dataclass(slots=True)
class Outcome:
    """The state of the requested judgements after a command, and what the command itself did.

    `judgements`, `ok`, `rule`, `unscored` describe what was asked for; `calls`, `reused`, `bill` this command alone;
    `bill_total` the whole run. `cost` and `cost_total` are their figures, None where there are only bounds.
    """

    run: str
    dataset: str
    judgements: int
    ok: int
    rule: int
    unscored: dict[str, int]
    calls: int
    reused: int
    bill: Bill
    bill_total: Bill
    stopped: str | None
    rows: list[Row] = field(default_factory=list)
    error: JudgekitError | None = None

    @property
    def cost(self) -> float | None:
        """US dollars of this command; None where they are not known exactly."""
        return self.bill.exact

    @property
    def cost_total(self) -> float | None:
        """US dollars of the whole run; None where they are not known exactly."""
        return self.bill_total.exact

    @property
    def exit_code(self) -> int:
        """0 all scored, 3 some unscored, 4 budget, 5 provider, 130 interrupted."""
        if self.stopped == "budget":
            return 4
        if self.stopped == "interrupted":
            return 130
        if self.error is not None:
            return self.error.exit_code
        return 3 if self.unscored else 0

    def to_dict(self) -> dict[str, Any]:
        """The JSON contract (`judgekit --help`, docs/runs.md); `error` is there only when the provider ended the work, and bounds of a cost only
        where it is None and they are known.
        """
        names = [
            "run",
            "dataset",
            "judgements",
            "ok",
            "rule",
            "unscored",
            "calls",
            "reused",
            "cost",
            "cost_total",
            "stopped",
        ]
        value: dict[str, Any] = {name: getattr(self, name) for name in names}
        for name, bill in (("cost", self.bill), ("cost_total", self.bill_total)):
            value |= bill.bounds(name)
        if self.error is not None:
            value["error"] = self.error.to_dict()
        return value


def summarise(
    store: RunStore, wanted: Sequence[Wanted], caller: Caller, cause: str | None, error: BaseException | None
) -> Outcome:
    """Count what the run holds of `wanted`."""
    rows = [_row(store, one) for one in wanted]
    statuses: Counter[str] = Counter()
    for row in rows:
        statuses.update(row.statuses)
    return Outcome(
        run=str(store.path),
        dataset=", ".join(dict.fromkeys(one.dataset for one in wanted)),
        judgements=sum(statuses.values()),
        ok=statuses["ok"],
        rule=statuses["rule"],
        unscored={status: statuses[status] for status in UNSCORED if statuses[status]},
        calls=caller.calls,
        reused=caller.reused,
        bill=caller.progress.bill,
        bill_total=store.bill(),
        stopped=cause if cause in ("budget", "interrupted") else None,
        rows=rows,
        error=error if isinstance(error, JudgekitError) else None,
    )


def _row(store: RunStore, one: Wanted) -> Row:
    row = Row(one.dataset, one.rubric.name, one.judge, len(one.ids) * len(one.samples))
    bounded = store.judged_bill(one.dataset, one.rubric.name, one.judge, one.rubric.ask_fingerprint)
    for item in store.tally(one.dataset, one.rubric.name, one.judge, one.rubric.ask_fingerprint):
        record_id, sample, status, flags, tokens_in, tokens_out, cost, why = item
        if record_id not in one.ids or sample not in one.samples:
            continue
        row.statuses[status] += 1
        if why:
            row.reasons[status, why] += 1
        row.flags.update(flags)
        row.tokens_in += tokens_in or 0
        row.tokens_out += tokens_out or 0
        if cost is not None:
            row.bill += Bill(cost, cost)
        elif (bill := bounded.get((record_id, sample))) is not None:
            row.bill += bill
        elif tokens_in is not None or status in _ANSWERED:
            row.bill += Bill(0.0, None)
    return row
