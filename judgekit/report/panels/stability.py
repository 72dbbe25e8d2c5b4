"""Does it change when only the words do? What rewording studies, of models or of judges, left in the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgekit.draw.spec import Axis, Interval, Intervals
from judgekit.errors import InputError, JudgekitError, StatisticsError
from judgekit.report.model import Figure, Grid, LeftOut, Notes, Panel, number, with_data

if TYPE_CHECKING:
    from judgekit.report.context import Context

TITLE = "Stability under rewording"
QUESTION = "How much, and how sure?"
ORDER = 45
NONE = "the run holds no rewording study (judgekit stability)"

__all__ = ["ORDER", "QUESTION", "TITLE", "build"]


def build(context: Context) -> Panel | LeftOut:
    blocks: list[Figure | Grid | Notes] = []
    reasons: list[str] = []
    for place, state in enumerate(context.studies("stability", "judge:")):
        blocks += _judge(state, place)
    if context.studies("stability", "make"):
        from judgekit.stability.scores import score_study
        from judgekit.stability.study import load_study

        try:
            study = load_study(context.run.path)
            blocks.append(_funnel(study.funnel(), str(study.make.get("writer"))))
            if not context.studies("stability", "ask"):
                raise InputError("no model was asked about these questions yet (judgekit stability ask)")
            found = score_study(context.run.path, replicates=300, permutations=1000)
        except JudgekitError as error:
            reasons.append(error.message)
        else:
            blocks += _models(found)
    if not blocks:
        return LeftOut("; ".join(reasons) or NONE)
    if reasons:
        blocks.append(Notes(reasons))
    lead = (
        "The same question, or the same rubric, in other words that mean the same. A flip is a changed answer or verdict; what a judge "
        "changes at the very same wording is its own noise, shown beside and taken off in the excess."
    )
    return Panel(lead, tuple(blocks))


def _judge(study: dict[str, Any], place: int) -> list[Figure | Grid | Notes]:
    rows = [row for row in study.get("rows", []) if isinstance(row, dict)]
    who, mark = f"{study.get('rubric')} · {study.get('judge')}", str(study.get("signature", ""))
    marks = [
        Interval(str(row["wording"]), row.get("level_mvs"), row.get("level_mvs_low"), row.get("level_mvs_high"), 1 if i == 0 else 0, "not defined")
        for i, row in enumerate(rows)
    ]  # fmt: skip
    said = "; ".join(f"{m.name}: {number(m.value)}" for m in marks)
    title, name = f"Levels that change: {who}", f"stability-judge-{place}"
    chart = Intervals(marks, Axis("share of levels that change"))
    keys = [
        "wording", "n", "scored", "level_mvs", "level_mvs_low", "level_mvs_high", "level_excess", "verdict_mvs", "verdict_excess", "shift",
        "labelled", "auc", "auc_change", "workload", "workload_change", "reason",
    ]  # fmt: skip
    grid = Grid(name, title, keys, [[row.get(key) for key in keys] for row in rows])
    caption = f"n = {rows[0].get('n') if rows else 0} answers of {study.get('dataset')}; the square is the same wording asked again."
    figure = Figure(name, title, (chart,), f"Share of levels that change. {said}.", caption, mark, grid)
    shown = [
        [
            str(row["wording"]),
            f"{row.get('scored')} of {row.get('n')}",
            *(number(row.get(key), 3) for key in keys[3:4] + keys[6:10] + keys[11:15]),
        ]
        for row in rows
    ]
    titles = [
        "wording", "scored", "levels that change", "excess", "verdicts that change", "excess", "shift", "AUC", "change", "workload", "change",
    ]  # fmt: skip
    table = Grid(f"{name}-table", f"Every wording: {who}", keys, grid.rows, shown, titles=titles, signature=mark)
    notes = [str(note) for note in study.get("notes", [])]
    notes += [f"{way}: does not apply, {why}" for way, why in (study.get("skipped") or {}).items()]
    return [figure, table, *([Notes(notes)] if notes else [])]


def _funnel(rows: list[dict[str, Any]], writer: str) -> Figure:
    from judgekit.analysis.result import signature
    from judgekit.stability.pictures import funnel_figure

    data = [
        [row["stage"], row["entered"], row["kept"], row["dropped"], "; ".join(f"{why} {n}" for why, n in (row.get("reasons") or {}).items())]
        for row in rows
    ]  # fmt: skip
    grid = Grid("stability-funnel", "Stages", ["stage", "entered", "kept", "dropped", "why"], data)
    return with_data(funnel_figure(rows, signature(study="stability", writer=writer)), grid)


def _models(found: Any) -> list[Figure | Grid | Notes]:
    from judgekit.stability.pictures import confidence_figure, kinds_figure

    blocks: list[Figure | Grid | Notes] = []
    for key, words in (
        ("mvs", "answers that change (MVS)"),
        ("wci_rarefied", "worst-case instability, at a common number of variants"),
    ):
        marks = [
            Interval(f"{row['model']} ({row['scored']})", row.get(key), row.get(f"{key}_low"), row.get(f"{key}_high"), i, str(row.get("reason") or "not defined"))
            for i, row in enumerate(found.models)
        ]  # fmt: skip
        said = "; ".join(f"{m.name}: {number(m.value)}" for m in marks)
        name, title = f"stability-{key.replace('_', '-')}", words[:1].upper() + words[1:]
        names = ["model", "questions", "scored", "variants", key, f"{key}_low", f"{key}_high"]
        grid = Grid(name, title, names, [[row.get(each) for each in names] for row in found.models])
        caption = "In brackets the questions with verified variants. Intervals of 95 %."
        chart = Intervals(marks, Axis(words))
        blocks.append(Figure(name, title, (chart,), f"{title}. {said}.", caption, found.signature, grid))
    for name, title, rows, draw in (
        ("kinds", "By kind of rewording", found.kinds, kinds_figure),
        ("comparisons", "Models compared", found.comparisons, None),
        ("confidence", "Confidence against accuracy", found.confidence, confidence_figure),
    ):
        keys = list(dict.fromkeys(key for row in rows for key in row))
        data = [[_flat(row.get(key)) for key in keys] for row in rows]
        grid = Grid(f"stability-{name}", title, keys, data, signature=found.signature, folded=True)
        try:
            blocks += [] if not rows else [grid] if draw is None else [with_data(draw(rows, found.signature), grid)]
        except StatisticsError:  # nothing to draw: the table says why, row by row
            blocks.append(grid)
    return [*blocks, Notes(list(found.notes))] if found.notes else blocks


def _flat(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float) else str(value)
