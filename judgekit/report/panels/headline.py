"""The first screen: can one of these judges take reading away from clinicians, how much, and how sure is that?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.draw.sheet import SERIES
from judgekit.report.model import NONE, Figure, Grid, LeftOut, Panel, Says, number, percent, share
from judgekit.report.panels.summary import sentence

if TYPE_CHECKING:
    from judgekit.analysis.triage_row import Row
    from judgekit.report.context import Context

TITLE = "Can one of these judges take reading away?"
QUESTION = ""  # the one panel that is not folded
ORDER = 1

__all__ = ["ORDER", "QUESTION", "TITLE", "build", "headline"]


def build(context: Context) -> Panel | LeftOut:
    if context.triage is None or not context.rows:
        why = context.problem or "no rubric of this run gives a score that can be set against labels"
        return Panel("", (Says(f"No operating point: {why.rstrip('.')}.", "warn", "No verdict"),))
    rows = sorted(context.rows, key=_left, reverse=True)
    blocks: list[Says | Figure | Grid] = [headline(context, rows)]
    drawn = [row for row in rows if row in context.drawable][:SERIES]
    if drawn:
        blocks.append(_saved(context, drawn, float(context.triage.choices.recall)))
    blocks.append(_judges(context, rows))
    sets = ", ".join(dict.fromkeys(row.cell.dataset for row in rows))
    target = f"{100 * float(context.triage.choices.recall):g} %"
    return Panel(
        f"What is looked for: incomplete answers, as labelled. Target: catch {target} of them. Data: {sets}.",
        tuple(blocks),
    )


def _left(row: Row) -> float:
    """The share of answers that nobody needs to read, the unscored being read; -1 where there is no operating point."""
    read = row.values["workload_all"]
    return -1.0 if read is None else 1 - float(read)


def _saves(row: Row) -> bool:
    return (
        row.point.workload is not None
        and row.baselines.random is not None
        and row.point.workload < row.baselines.random
    )


def headline(context: Context, rows: list[Row]) -> Says:
    """The answer for the judge that leaves most unread: green only where it saves reading at a threshold that was not chosen on these
    same records."""
    told = {id(row): sentence(row) for row in rows}
    able = [row for row in rows if told[id(row)][1] not in ("Refused", "No verdict")]
    if not able:
        return Says(told[id(rows[0])][2], "warn", "No verdict")
    many = f" The best of {len(rows)} that were looked at, which flatters it." if len(rows) > 1 else ""
    target = f"{100 * float(able[0].values['recall_target']):g} %"
    saving = [row for row in able if _saves(row)]
    if not saving:
        who = "this judge" if len(rows) == 1 else f"none of the {len(rows)} rubrics and judges"
        said = f"No: {who} saves reading. To catch {target} of the incomplete answers no fewer answers are read than in random order."
        return Says(said.replace("this judge saves", "this judge does not save"), "bad", "Saves nothing")
    row = saving[0]
    v, point = row.values, row.point
    n, lost = int(point.n), int(v["n_unscored"])
    left = n - int(point.flagged or 0)
    span = row.headline.interval
    sure = (
        "" if span.low is None or span.high is None else f" (95 % interval {number(span.low)} to {number(span.high)})"
    )
    text = (
        f"With {context.name(row)}, {left} of {n + lost} answers ({share(left, n + lost)}) need not be read, and {share(point.caught, point.n_incomplete)} of "
        f"the incomplete ones ({point.caught:g} of {point.n_incomplete:g}) are caught; a random order would leave {percent(1 - (row.baselines.random or 0))} "
        f"unread. How sure: AUC {number(row.auc.value)}{sure}"
    )
    if v["optimistic"]:
        again = (
            ""
            if v["recall_loco"] is None
            else f"; with each question left out in turn recall is {percent(v['recall_loco'], beside=v['recall_target'])}"
        )
        text += f"; the threshold was chosen on these same records{again}. Certify it on others before it decides what nobody reads."
        return Says(text + many, "warn", "On these records, yes")
    return Says(text + "; the threshold was set beforehand." + many, "good", "Yes")


def _saved(context: Context, rows: list[Row], target: float) -> Figure:
    from judgekit.analysis.pictures import saved_plot

    names = [context.name(row) for row in rows]
    said = "; ".join(
        f"{name}: {share(row.point.n - (row.point.flagged or 0), row.point.n)} unread at {share(row.point.caught, row.point.n_incomplete)} caught"
        for name, row in zip(names, rows, strict=True)
    )
    data = []
    for name, row in zip(names, rows, strict=True):
        curve = row.curve
        assert curve is not None
        n = curve.n_incomplete + curve.n_complete
        for t, c, f in zip(curve.threshold, curve.caught, curve.false_alarms, strict=True):
            data.append(
                [name, float(t), float(c / curve.n_incomplete), float(1 - (c + f) / n), int(curve.n_incomplete), int(n)]
            )
    grid = Grid(
        "saved", "Each threshold", ["row", "threshold", "recall", "left unread", "incomplete", "answers"], data, most=60
    )
    counts = "; ".join(
        f"{name}: {row.point.n_incomplete:g} incomplete of {row.point.n:g}"
        for name, row in zip(names, rows, strict=True)
    )
    chart = saved_plot(rows, names, target)
    says = f"Work saved against recall. {said}. Dotted: a random order. Dashed: the target."
    caption = f"{counts}. Unscored answers are not on the curves; the table counts them as read."
    return Figure("saved", "Work saved against recall", (chart,), says, caption, context.signature, grid)


def _judges(context: Context, rows: list[Row]) -> Grid:
    data, shown = [], []
    for row in rows:
        v, span = row.values, row.headline.interval
        left = None if v["workload_all"] is None else 1 - float(v["workload_all"])
        chance = None if row.baselines.random is None else 1 - row.baselines.random
        data.append(
            [
                context.name(row),
                context.rule(row),
                left,
                chance,
                v["recall"],
                v["recall_loco"],
                v["auc"],
                span.low,
                span.high,
            ]
        )
        ends = "" if span.low is None or span.high is None else f" ({number(span.low)}\u2060–\u2060{number(span.high)})"
        shown.append([
            context.name(row), context.rule(row) or NONE, percent(left), percent(chance), percent(v["recall"], beside=v["recall_target"]),
            percent(v["recall_loco"], beside=v["recall_target"]), number(v["auc"]) + ends,
        ])  # fmt: skip
    titles = [
        "rubric and judge",
        "read if",
        "left unread",
        "random order leaves",
        "incomplete caught",
        "each question left out",
        "AUC (95 %)",
    ]
    columns = [
        "row",
        "read if",
        "left unread",
        "random order leaves",
        "recall",
        "leave-one-out recall",
        "AUC",
        "AUC low",
        "AUC high",
    ]
    note = "Most saved first. Unscored answers count as read. “Each question left out” is the recall on questions that had no part in choosing the threshold."
    return Grid(
        "judges-first",
        "All judges, at the target",
        columns,
        data,
        shown,
        titles=titles,
        notes=(note,),
        signature=context.signature,
    )
