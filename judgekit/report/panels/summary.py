"""Each rubric and judge at the target: one sentence with the interval, where one may be said, and all numbers beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.draw.spec import Axis, Interval, Intervals
from judgekit.report.model import (
    NONE,
    Figure,
    Grid,
    LeftOut,
    Notes,
    Panel,
    Says,
    gathered,
    number,
    percent,
    pvalue,
    share,
)

if TYPE_CHECKING:
    from judgekit.analysis.triage.row import Row
    from judgekit.report.context import Context

TITLE = "Each rubric and judge at the target"
QUESTION = "How much, and how sure?"
ORDER = 10

__all__ = ["ORDER", "QUESTION", "TITLE", "build", "sentence"]


def sentence(row: Row) -> tuple[str, str, str]:
    """(tone, mark, words) of a row; the words hold no verdict where fewer than ten records in a class forbid one."""
    from judgekit.analysis.triage.text import verdict

    m, n = row.auc.n_incomplete, row.auc.n_complete
    if row.refused:
        return "bad", "Refused", row.refused[:1].upper() + row.refused[1:] + "."
    interval = row.headline.interval
    low, high = interval.low, interval.high
    counts = f"{m} incomplete, {n} complete"
    if low is not None and high is not None:
        span = f"AUC {number(row.auc.value)} (95 % interval {_end(low)} to {_end(high)}; {counts})."
    else:
        span = f"AUC {number(row.auc.value)} without an interval: {interval.reason or 'none is defined'} ({counts})."
    said = verdict(row)
    if said is None:
        if min(m, n) == 0:
            only = "no answer is both scored and labelled"
            if m + n:
                only = f"every answer in the figures is labelled {'incomplete' if m else 'complete'}"
            return "warn", "No verdict", f"Nothing can be said: {only} ({counts})."
        few = (
            "Fewer than ten answers in a class carry no verdict."
            if min(m, n) < 10
            else "No operating point is defined."
        )
        return "warn", "No verdict", f"{few} {span}"
    if low is None or high is None:
        return "plain", "Interval undefined", f"{said} {span}"
    if low > 0.5 and row.point.workload is not None and row.point.workload >= (row.baselines.random or 0):
        return "warn", "Saves nothing at this target", f"{said} {span}"
    if low > 0.5:
        return "good", "Ranks better than chance", f"{said} {span}"
    if high < 0.5:
        return "bad", "Ranks the wrong way", f"{said} {span}"
    return "warn", "Not shown to beat chance", f"{said} {span}"


def _end(value: float) -> str:
    """Two decimals, more where these would put an end of the AUC's interval on .5 or beyond it."""
    return next(
        text for text in (number(value, digits) for digits in (2, 3, 4, 16)) if (float(text) > 0.5) == (value > 0.5)
    )


def build(context: Context) -> Panel | LeftOut:
    if context.triage is None or not context.rows:
        return LeftOut(context.no_curve())
    rows = context.rows
    blocks: list[Says | Grid | Notes | Figure] = []
    for row in rows:
        tone, mark, words = sentence(row)
        blocks.append(Says(words + _optimism(row), tone, mark, context.name(row)))
    if len(rows) > 1:
        blocks.append(
            Says(
                f"{len(rows)} rows are shown, all that were looked at. The best of many flatters itself: choose one on these records and "
                "confirm it on others, or ask for a certified threshold at a confidence divided by their number.",
                "plain",
                "Best of many",
            )
        )
    if any(row.auc.value is not None for row in rows):
        blocks.append(_forest(context))
    blocks += [_discrimination(context), _points(context)]
    notes = gathered([(context.name(row), note) for row in rows for note in row.values["notes"]], len(rows))
    notes += context.triage.left_out
    if notes:
        blocks.append(Notes(notes, f"All remarks on these numbers ({len(notes)})"))
    sets = dict.fromkeys(row.cell.dataset for row in rows)
    target = f"{100 * float(context.triage.choices.recall):g} %"
    return Panel(
        f"What is looked for: incomplete answers, as labelled. Target: catch {target} of them. Data: {', '.join(sets)}.",
        tuple(blocks),
    )


def _optimism(row: Row) -> str:
    if row.refused or not row.values["optimistic"] or min(row.auc.n_incomplete, row.auc.n_complete) < 10:
        return ""
    found = row.values["recall_loco"]
    if found is None:
        return " Optimistic: the threshold was chosen on these same records."
    return f" Optimistic: the threshold was chosen on these same records; with each question left out in turn, recall is {percent(found, beside=row.values['recall_target'])}."


def _forest(context: Context) -> Figure:
    marks = [
        Interval(
            context.name(row), row.auc.value, row.headline.interval.low, row.headline.interval.high, place,
            row.refused or row.auc.reason or "not defined",
        )
        for place, row in enumerate(context.rows)
    ]  # fmt: skip
    said = "; ".join(
        f"{m.name}: {m.note if m.value is None else number(m.value)}"
        + (f" ({number(m.low)} to {number(m.high)})" if m.value is not None and m.low is not None else "")
        for m in marks
    )
    title = "AUC of each rubric and judge"
    chart = Intervals(marks, Axis("AUC, with its 95 % interval"), guide=0.5, wide=True)
    counts = "; ".join(gathered([(context.name(row), _counts(row)) for row in context.rows], len(context.rows)))
    grid = Grid(
        "auc", title, ["row", "AUC", "low", "high", "incomplete", "complete"],
        [[m.name, m.value, m.low, m.high, row.auc.n_incomplete, row.auc.n_complete] for m, row in zip(marks, context.rows, strict=True)],
    )  # fmt: skip
    says = f"{said}. The dashed line is chance."
    return Figure("auc", title, (chart,), says, f"{counts}.", context.signature, grid, wide=True)


def _counts(row: Row) -> str:
    return f"{row.auc.n_incomplete} incomplete, {row.auc.n_complete} complete"


def _discrimination(context: Context) -> Grid:
    columns = [
        "row", "n", "incomplete", "unscored", "unlabelled", "AUC", "AUC low", "AUC high", "Mann-Whitney p", "F1", "precision", "recall",
    ]  # fmt: skip
    rows, shown = [], []
    for row in context.rows:
        v, ends, fixed = row.values, row.headline.interval, row.values["fixed"]
        kept = [fixed["f1"], fixed["precision"], fixed["recall"]]
        rows.append([
            context.name(row), v["n"], v["n_incomplete"], v["n_unscored"], v["n_unlabelled"], v["auc"], ends.low, ends.high,
            v["mann_whitney_p"], *kept,
        ])  # fmt: skip
        shown.append([
            context.name(row), str(v["n"]), str(v["n_incomplete"]), str(v["n_unscored"]), str(v["n_unlabelled"]), number(v["auc"], 3),
            NONE if ends.low is None else f"{number(ends.low, 3)} to {number(ends.high, 3)}", pvalue(v["mann_whitney_p"]), *map(number, kept),
        ])  # fmt: skip
    titles = [
        "rubric and judge", "n", "incomplete", "unscored", "no label", "AUC", "95 % interval", "Mann-Whitney p", "F1", "precision", "recall",
    ]  # fmt: skip
    return Grid(
        "discrimination", "Telling incomplete answers from complete ones", columns, rows, shown, titles=titles, signature=context.signature,
        notes=("F1, precision and recall are of the rubric's own fixed threshold, for the incomplete class. n counts answers both scored and labelled.",),
    )  # fmt: skip


def _points(context: Context) -> Grid:
    columns = [
        "row", "read if", "recall", "workload", "recall with unscored", "workload with unscored", "random order", "perfect judge", "precision",
        "false alarms per catch", "missed", "specificity", "work saved", "leave-one-out recall", "optimistic",
    ]  # fmt: skip
    rows, shown = [], []
    for row in context.rows:
        v, point = row.values, row.point
        rule = context.rule(row)
        rows.append([
            context.name(row), rule, v["recall"], v["workload"], v["recall_all"], v["workload_all"], v["workload_random"],
            v["workload_perfect"], v["precision"], v["false_alarms_per_catch"], v["missed"], v["specificity"], v["wss"], v["recall_loco"],
            v["optimistic"],
        ])  # fmt: skip
        shown.append([
            context.name(row), rule or NONE, _of(point.caught, point.n_incomplete), _of(point.flagged, point.n), percent(v["workload_all"]),
            percent(v["workload_random"]), percent(v["workload_perfect"]), percent(v["precision"]), number(v["false_alarms_per_catch"]),
            number(v["wss"], 3), percent(v["recall_loco"], beside=v["recall_target"]),
        ])  # fmt: skip
    titles = [
        "rubric and judge", "read if", "recall", "workload", "with unscored", "random order", "perfect judge", "precision", "false alarms per catch",
        "work saved", "leave-one-out recall",
    ]  # fmt: skip
    return Grid(
        "operating-points", "Operating points", columns, rows, shown, titles=titles, signature=context.signature,
        notes=("Workload is the share of answers that a clinician reads. Work saved is recall minus workload, the saving over a random sample.",),
    )  # fmt: skip


def _of(part: float | None, whole: float) -> str:
    return NONE if part is None else f"{share(part, whole)} ({part:g}/{whole:g})"
