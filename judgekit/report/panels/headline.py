"""The first screen: can one of these judges take reading away from clinicians, how much, and how sure is that?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.draw.sheet import SERIES
from judgekit.report.model import NONE, Figure, Grid, LeftOut, Panel, Says, number, percent, share
from judgekit.report.panels.operating import thresholds
from judgekit.report.panels.summary import sentence

if TYPE_CHECKING:
    from judgekit.analysis.triage.row import Row
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
    """The answer for the judge that leaves most unread: green only where its scores are shown to rank better than chance, and it saves
    reading at a threshold that was not chosen on these same records."""
    able = [row for row in rows if sentence(row)[1] not in ("Refused", "No verdict")]
    if not able:
        return Says(sentence(rows[0])[2], "warn", "No verdict")
    target = f"{100 * float(able[0].values['recall_target']):g} %"
    saving = sorted((row for row in able if _saves(row)), key=_ranks, reverse=True)  # stable: most unread first
    if not saving:
        who = "this judge does not save" if len(rows) == 1 else f"none of the {len(rows)} rubrics and judges saves"
        said = f"No: {who} reading. To catch {target} of the incomplete answers, as many are read as in random order."
        return Says(said, "bad", "Saves nothing")
    row = saving[0]
    v, point, span = row.values, row.point, row.headline.interval
    every = len(row.cell.ids) - v["n_unlabelled"]  # unscored ones too: they are read
    left = int(point.n) - int(point.flagged or 0)
    text = (
        f"With {context.name(row)}, {left} of {every} answers ({share(left, every)}) need not be read, and {share(point.caught, point.n_incomplete)} of "
        f"the incomplete ones ({point.caught:g} of {point.n_incomplete:g}) are caught; a random order would leave {percent(1 - (row.baselines.random or 0))} "
        f"unread. How sure: AUC {number(row.auc.value)}"
    )
    text += "" if span.low is None else f" (95 % interval {number(span.low)} to {number(span.high)})"
    if v["optimistic"]:
        text += "; the threshold was chosen on these same records"
        if v["recall_loco"] is not None:
            text += f"; with each question left out in turn recall is {percent(v['recall_loco'], beside=v['recall_target'])}"
        text += ". Certify it on others before it decides what nobody reads."
    else:
        text += "; the threshold was set beforehand."
    text += f" The best of {len(rows)} that were looked at, which flatters it." if len(rows) > 1 else ""
    if not _ranks(row):
        return Says(text, "warn", "Not shown to beat chance")
    return Says(text, "warn", "On these records, yes") if v["optimistic"] else Says(text, "good", "Yes")


def _ranks(row: Row) -> bool:
    """Whether the scores are shown to rank better than chance."""
    return row.headline.interval.low is not None and row.headline.interval.low > 0.5


def _saved(context: Context, rows: list[Row], target: float) -> Figure:
    from judgekit.analysis.triage.pictures import workload_plot

    names = [context.name(row) for row in rows]
    said = "; ".join(
        f"{name}: {share(row.point.n - (row.point.flagged or 0), row.point.n)} unread at {share(row.point.caught, row.point.n_incomplete)} caught"
        for name, row in zip(names, rows, strict=True)
    )
    counts = "; ".join(
        f"{name}: {row.point.n_incomplete:g} incomplete of {row.point.n:g}"
        for name, row in zip(names, rows, strict=True)
    )
    chart = workload_plot(rows, names, target, saved=True)
    says = f"Work saved against recall. {said}. Dotted: a random order. Dashed: the target."
    caption = f"{counts}. Unscored answers are not on the curves; the table counts them as read."
    return Figure(
        "saved",
        "Work saved against recall",
        (chart,),
        says,
        caption,
        context.signature,
        thresholds("saved", rows, names),
    )


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
