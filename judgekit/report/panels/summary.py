"""First of all: can this judge triage? One sentence a rubric and judge, with the interval, where one may be said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.report.model import NONE, Grid, LeftOut, Notes, Panel, Says, number, percent, pvalue, share

if TYPE_CHECKING:
    from judgekit.analysis.triage_row import Row
    from judgekit.report.context import Context

TITLE = "Can this judge triage?"
ORDER = 10

__all__ = ["ORDER", "TITLE", "build", "sentence"]


def sentence(row: Row) -> tuple[str, str, str]:
    """(tone, mark, words) of a row; the words hold no verdict where fewer than ten records in a class forbid one."""
    from judgekit.analysis.triage_text import verdict

    m, n = row.auc.n_incomplete, row.auc.n_complete
    if row.refused:
        return "bad", "Refused", row.refused[:1].upper() + row.refused[1:] + "."
    interval = row.headline.interval
    span = (
        f"AUC {number(row.auc.value)} (95 % interval {number(interval.low)} to {number(interval.high)}; {m} incomplete, {n} complete)."
        if interval.low is not None
        else f"AUC {number(row.auc.value)} without an interval: {interval.reason or 'none is defined'} ({m} incomplete, {n} complete)."
    )
    said = verdict(row)
    if said is None:
        if min(m, n) == 0:
            only = "no answer is both scored and labelled" if m + n == 0 else (
                "no answer is labelled incomplete" if m == 0 else "every answer is labelled incomplete")  # fmt: skip
            return "warn", "No verdict", f"Nothing can be said: {only} ({m} incomplete, {n} complete)."
        return (
            "warn",
            "No verdict",
            f"Fewer than ten answers in a class ({m} incomplete, {n} complete) carry no verdict. {span}",
        )
    low, high = interval.low, interval.high
    if low is None or high is None:
        return "plain", "Interval undefined", f"{said} {span}"
    if low > 0.5:
        return "good", "Ranks better than chance", f"{said} {span}"
    if high < 0.5:
        return "bad", "Ranks the wrong way", f"{said} {span}"
    return "warn", "Not shown to beat chance", f"{said} {span}"


def build(context: Context) -> Panel | LeftOut:
    if not context.rows:
        why = context.problem or "no rubric of this run gives a score that can be set against labels"
        return Panel("", (Says(f"No operating point: {why}.".replace("..", "."), "warn", "No verdict"),))
    blocks: list[Says | Grid | Notes] = []
    for row in context.rows:
        tone, mark, words = sentence(row)
        blocks.append(Says(words + _optimism(row), tone, mark, context.name(row)))
    if len(context.rows) > 1:
        blocks.append(
            Says(
                f"{len(context.rows)} rows are shown, all that were looked at. The best of many flatters itself: choose one on "
                "these records and confirm it on others, or ask for a certified threshold at a confidence divided by their number.",
                "plain",
                "Best of many",
            )
        )
    blocks.append(_table(context))
    notes = [f"{context.name(row)}: {note}" for row in context.rows for note in row.values["notes"]]
    notes += context.triage.left_out if context.triage else []
    blocks.append(Notes(notes, f"All remarks on these numbers ({len(notes)})"))
    triage = context.triage
    assert triage is not None
    sets = dict.fromkeys(row.cell.dataset for row in context.rows)
    lead = (
        f"Positive class: incomplete answers, as labelled. Target: catch {percent(float(triage.choices.recall)).replace('.0 %', ' %')} of them. "
        f"Data: {', '.join(sets)}."
    )
    return Panel(lead, tuple(blocks))


def _optimism(row: Row) -> str:
    if row.refused or not row.values["optimistic"] or min(row.auc.n_incomplete, row.auc.n_complete) < 10:
        return ""
    found = row.values["recall_loco"]
    if found is None:
        return " Optimistic: the threshold was chosen on these same records."
    return f" Optimistic: the threshold was chosen on these same records; leaving each question out in turn, recall is {percent(found)}."


def _table(context: Context) -> Grid:
    columns = [
        "row", "n", "incomplete", "unscored", "unlabelled", "AUC", "AUC low", "AUC high", "Mann-Whitney p", "read if", "recall", "workload",
        "workload with unscored", "random order", "perfect judge", "precision", "false alarms per catch", "missed", "specificity",
        "work saved", "leave-one-out recall", "optimistic",
    ]  # fmt: skip
    rows, shown = [], []
    for row in context.rows:
        v, point, ends = row.values, row.point, row.headline.interval
        rule = None if point.threshold is None else f"{v['flag_if'].split()[1]} {point.threshold:g}"
        rows.append([
            context.name(row), v["n"], v["n_incomplete"], v["n_unscored"], v["n_unlabelled"], v["auc"], ends.low, ends.high,
            v["mann_whitney_p"], rule, v["recall"], v["workload"], v["workload_all"], v["workload_random"], v["workload_perfect"],
            v["precision"], v["false_alarms_per_catch"], v["missed"], v["specificity"], v["wss"], v["recall_loco"], v["optimistic"],
        ])  # fmt: skip
        p = v["mann_whitney_p"]
        shown.append([
            context.name(row), str(v["n"]), str(v["n_incomplete"]), str(v["n_unscored"]), str(v["n_unlabelled"]), number(v["auc"], 3),
            number(ends.low, 3), number(ends.high, 3), pvalue(p), rule or NONE,
            f"{share(point.caught, point.n_incomplete)} ({_of(point.caught, point.n_incomplete)})" if point.caught is not None else NONE,
            f"{share(point.flagged, point.n)} ({_of(point.flagged, point.n)})" if point.flagged is not None else NONE,
            percent(v["workload_all"]), percent(v["workload_random"]), percent(v["workload_perfect"]), percent(v["precision"]),
            number(v["false_alarms_per_catch"]), NONE if v["missed"] is None else f"{v['missed']:g}", percent(v["specificity"]),
            number(v["wss"], 3), percent(v["recall_loco"]), "yes" if v["optimistic"] else "no",
        ])  # fmt: skip
    return Grid(
        "operating-points", "Operating points", columns, rows, shown,
        notes=("Work saved is recall minus workload, the saving over reading a random sample.",), signature=context.signature,
    )  # fmt: skip


def _of(part: float | None, whole: float) -> str:
    return NONE if part is None else f"{part:g} of {whole:g}"
