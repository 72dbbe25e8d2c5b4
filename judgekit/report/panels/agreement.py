"""Agreement of the judge with the clinicians, beside what the clinicians reach among themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgekit.draw.spec import Axis, Interval, Intervals
from judgekit.errors import JudgekitError
from judgekit.report.model import Figure, Grid, LeftOut, Notes, Panel, Says, grid_of

if TYPE_CHECKING:
    from judgekit.analysis.result import Result
    from judgekit.report.context import Context

TITLE = "Agreement, beside the human ceiling"
QUESTION = "Does it agree, and for the right reasons?"
ORDER = 70
REPLICATES = 300
STATISTICS = {"percent": "same verdict", "kappa": "Cohen's kappa", "balanced_f1": "balanced F1"}

__all__ = ["ORDER", "QUESTION", "TITLE", "build"]


def build(context: Context) -> Panel | LeftOut:
    from judgekit.analysis.agree import agree

    if not len(context.labels):
        return LeftOut("the run holds no label")
    blocks: list[Figure | Grid | Notes | Says] = []
    reasons = []
    sets = list(dict.fromkeys(map(str, context.labels["dataset"])))
    for number, dataset in enumerate(sets):
        try:
            found = agree(context.source, dataset=dataset, replicates=REPLICATES)
        except JudgekitError as error:
            reasons.append(f"{dataset}: {error}" if len(sets) > 1 else str(error))
            continue
        blocks += _blocks(found, number, dataset if len(sets) > 1 else None)
    if not blocks:
        return LeftOut("; ".join(reasons) or "nothing can be compared")
    lead = (
        "What clinicians reach among themselves is the measure of a judge. Judge and left-out rater are held against the "
        "same other raters, on the same answers. Verdicts are those of the rubric's own fixed threshold."
    )
    return Panel(lead, (*blocks, *(Says(f"Left out: {reason}", "warn") for reason in reasons)))


def _blocks(found: Result, number: int, dataset: str | None) -> list[Figure | Grid | Notes | Says]:
    blocks: list[Figure | Grid | Notes | Says] = []
    ceiling = [row for row in found["ceiling"].rows if row["left_out"] == "each in turn"]
    for statistic, words in STATISTICS.items():
        mine = [row for row in ceiling if row["statistic"] == statistic]
        if mine and statistic != "percent":
            blocks.append(_ceiling(found, mine, f"ceiling-{statistic.replace('_', '-')}-{number}", words, dataset))
    tail = "" if number == 0 else f"-{number}"
    for name in ("ceiling", "judges", "pairs", "overall", "raters"):
        table = found[name]
        if table.rows:
            blocks.append(
                grid_of(table, found.signature, f"agreement-{name}{tail}", folded=name not in ("overall", "judges"))
            )
    notes = list(dict.fromkeys(found.notes))
    if notes:
        blocks.append(Notes(notes))
    return blocks


def _ceiling(found: Result, rows: list[dict[str, object]], name: str, words: str, dataset: str | None) -> Figure:
    marks, said = [], []
    for row in rows:
        for index, (side, who) in enumerate((("machine", str(row["judge"])), ("human", "clinicians"))):
            value, low, high = (_float(row.get(f"{side}{end}")) for end in ("", "_low", "_high"))
            marks.append(Interval("" if index else who, value, low, high, index))
            said.append(f"{who}: {'not defined' if value is None else format(value, '.2f')}")
    low = min(0.0, *(value for mark in marks for value in (mark.low, mark.value) if value is not None), 0.0)
    says = f"{words[:1].upper() + words[1:]} with the same other raters. {'; '.join(said)}."
    title = f"{words[:1].upper() + words[1:]}: judge beside left-out clinician" + (f" ({dataset})" if dataset else "")
    axis = Axis(words, -1.0 if low < -0.5 else -0.5 if low < 0 else 0.0)
    chart = Intervals(marks, axis, legend=("judge", "clinicians, each left out in turn"))
    columns = [
        "judge", "answers", "judge value", "low", "high", "clinician", "clinician low", "clinician high", "difference", "difference low",
        "difference high",
    ]  # fmt: skip
    keys = [
        "judge",
        "n",
        *(f"{side}{end}" for side in ("machine", "human", "difference") for end in ("", "_low", "_high")),
    ]
    grid = Grid(name, title, columns, [[row.get(key) for key in keys] for row in rows])
    counts = "; ".join(f"{row['judge']}: {row['n']} answers" for row in rows)
    caption = f"{counts}. Intervals of 95 % by resampling questions."
    return Figure(name, title, (chart,), says, caption, found.signature, grid)


def _float(value: Any) -> float | None:
    return None if value is None else float(value)
