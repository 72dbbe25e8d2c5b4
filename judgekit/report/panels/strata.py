"""Results by what the records say of themselves: model, category, source, style."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from judgekit.draw.spec import Axis, Interval, Intervals
from judgekit.errors import JudgekitError
from judgekit.report.context import rows_of
from judgekit.report.model import Figure, Grid, LeftOut, Notes, Panel, grid_of

if TYPE_CHECKING:
    from judgekit.analysis.result import Result
    from judgekit.report.context import Context

TITLE = "Results by stratum"
QUESTION = "Where does it fail?"
ORDER = 65
FIELDS, LEVELS, SMALLEST, METRICS = 4, 12, 3, 3

__all__ = ["ORDER", "QUESTION", "TITLE", "build", "fields"]


def fields(context: Context) -> list[str]:
    """Fields of the records that split them into 2 to 12 groups of at least three, the evenest first."""
    found: dict[str, Counter[str]] = {}
    total = 0
    for row in rows_of(context.records):
        total += 1
        for name, value in (row.meta or {}).items():
            if isinstance(value, str | int | bool):
                found.setdefault(str(name), Counter())[str(value)] += 1
    able = [
        (len(counts), name)
        for name, counts in found.items()
        if 2 <= len(counts) <= LEVELS and min(counts.values()) >= SMALLEST and sum(counts.values()) == total
    ]
    return [name for _, name in sorted(able)][:FIELDS]


def build(context: Context) -> Panel | LeftOut:
    from judgekit.analysis.strata import strata

    names = fields(context)
    if not names:
        return LeftOut(f"no field of the records splits them into 2 to {LEVELS} groups of at least {SMALLEST}")
    blocks: list[Figure | Grid | Notes] = []
    reasons = []
    # Without a judge's score the local metrics are what there is to split.
    metrics = (
        []
        if context.frame["raw"].notna().any()
        else list(dict.fromkeys(map(str, context.measurements["metric"])))[:METRICS]
    )
    for name in names:
        try:
            found = strata(context.source, by=[name], metric=metrics, replicates=300, permutations=1000)
        except JudgekitError as error:
            reasons.append(f"{name}: {error}")
            continue
        blocks += _blocks(found, name, len(blocks))
    if not blocks:
        return LeftOut("; ".join(reasons) or "no judgement has a score")
    if reasons:
        blocks.append(Notes(reasons))
    lead = (
        "Mean raw score in each stratum, every question counting once. Gaps are tested and corrected for all that were looked at. "
        "A stratum differs from others in more than its name: this describes, it does not explain."
    )
    return Panel(lead, tuple(blocks))


def _blocks(found: Result, field: str, number: int) -> list[Figure | Grid | Notes]:
    rows = found["strata"].rows
    split = [key for key in ("value", "dataset", "rubric", "judge") if any(key in row for row in rows)]
    parts: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        parts.setdefault(tuple(row.get(key) for key in split), []).append(row)
    blocks: list[Figure | Grid | Notes] = []
    for place, (key, part) in enumerate(parts.items()):
        if any(row["mean"] is not None for row in part) and place < 8:
            who = " · ".join(str(part) for part in key if part != "raw")
            blocks.append(_figure(found, field, who, part, f"strata-{number}-{place}"))
    for name in ("gaps",):
        if found[name].rows:
            blocks.append(grid_of(found[name], found.signature, f"strata-{field}-{name}"))
    notes = list(dict.fromkeys(found.notes))
    return [*blocks, Notes(notes)] if notes else blocks


def _figure(found: Result, field: str, who: str, rows: list[dict[str, Any]], name: str) -> Figure:
    marks = [
        Interval(f"{row['group']} ({row['n_units']})", row["mean"], row.get("mean_low"), row.get("mean_high"), 0, str(row.get("reason") or ""))
        for row in rows
    ]  # fmt: skip
    known = [v for m in marks for v in (m.value, m.low, m.high) if v is not None]
    low, high = min(known), max(known)
    pad = (high - low) * 0.1 or 0.5
    said = "; ".join(f"{m.name}: {'not defined' if m.value is None else format(m.value, '.2f')}" for m in marks)
    says = f"Mean raw score by {field}. {said}."
    title = f"By {field}" + (f": {who}" if who else "")
    chart = Intervals(marks, Axis("mean raw score", low - pad, high + pad))
    columns = ["stratum", "questions", "rows", "unscored", "mean", "low", "high", "sd"]
    keys = ["group", "n_units", "n_rows", "n_unscored", "mean", "mean_low", "mean_high", "sd"]
    grid = Grid(name, title, columns, [[row.get(key) for key in keys] for row in rows])
    lost = sum(int(row.get("n_unscored") or 0) for row in rows)
    caption = f"In brackets the number of questions; {lost} unscored judgements are left out. Intervals of 95 %."
    return Figure(name, title, (chart,), says, caption, found.signature, grid)
