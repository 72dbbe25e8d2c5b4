"""Same verdict, same reason? Alignment with the clinician's concern, and how wrong verdicts go wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgekit.draw.spec import Bar, Bars, Cell, Heat, Sankey
from judgekit.errors import JudgekitError
from judgekit.report.model import Figure, Grid, LeftOut, Notes, Panel, grid_of, share

if TYPE_CHECKING:
    from judgekit.analysis.result import Result
    from judgekit.report.context import Context

TITLE = "Reasons and failure modes"
QUESTION = "Does it agree, and for the right reasons?"
ORDER = 90
KINDS = {
    "TP": "both say incomplete",
    "TN": "both say complete",
    "FP": "only the judge says incomplete",
    "FN": "only the clinician says incomplete",
}

__all__ = ["ORDER", "QUESTION", "TITLE", "build"]


def build(context: Context) -> Panel | LeftOut:
    from judgekit.analysis.reasons import reasons

    try:
        found = reasons(context.reasons or context.source)
    except JudgekitError as error:
        mend = f" ({error.mend})" if error.mend else ""
        return LeftOut(f"{error.message}{mend}")
    blocks: list[Figure | Grid | Notes] = []
    aligned = [row for row in found["alignment"].rows if row["rubric"] == "all"]
    if aligned:
        blocks.append(_alignment(found, aligned))
    for kind in ("FP", "FN"):
        modes = [row for row in found["modes"].rows if row["rubric"] == "all" and row["kind"] == kind]
        if modes:
            blocks.append(_modes(found, kind, modes))
    flows = found["flows"].rows
    if flows:
        blocks.append(_flows(found, flows))
    blocks += [
        grid_of(table, found.signature, f"reasons-{table.name}")
        for table in found.tables
        if table.rows and table.name != "flows"
    ]
    blocks.append(Notes(list(dict.fromkeys(found.notes))))
    lead = (
        "Two verdicts may agree for different reasons. Alignment asks whether the judge names the clinician's concern; a failure mode "
        "says how a verdict that differs went wrong. A model sorted them: it is a judge too."
    )
    return Panel(lead, tuple(blocks))


def _alignment(found: Result, rows: list[dict[str, Any]]) -> Figure:
    words = [word for word in ("yes", "partially", "no") if word in rows[0]]
    cells = [
        [Cell(row[word] / row["n"], f"{row[word]}\n{share(row[word], row['n'], 0)}", f"{row['kind']}, {word}: {row[word]} of {row['n']}") for word in words]
        for row in rows
    ]  # fmt: skip
    said = "; ".join(f"{row['kind']}: " + ", ".join(f"{word} {row[word]}" for word in words) for row in rows)
    says = f"Does the judge name the clinician's concern? {said}."
    down = [f"{row['kind']}: {KINDS.get(row['kind'], '')}" for row in rows]
    chart = Heat(words, down, cells, "the judge names the concern")
    data = [[row["kind"], row["n"], *(row[word] for word in words)] for row in rows]
    grid = Grid("alignment", "Alignment by kind of pair", ["kind", "pairs", *words], data)
    counts = "; ".join(f"{row['kind']}: n = {row['n']}" for row in rows)
    title = "Does the judge name the clinician's concern?"
    return Figure(
        "alignment",
        title,
        (chart,),
        says,
        f"{counts}. Counts, and the share of each row, which is the tint.",
        found.signature,
        grid,
    )


def _modes(found: Result, kind: str, rows: list[dict[str, Any]]) -> Figure:
    name = f"modes-{kind.lower()}"
    drawn = [
        Bar(row["mode"], [float(row["count"])], [f"{row['mode']}, {row['meaning']}: {row['count']} of {row['n']}"])
        for row in rows
    ]
    said = "; ".join(f"{row['mode']} ({row['meaning']}): {row['count']}" for row in rows)
    title = f"{kind}: {KINDS[kind]}"
    chart = Bars(("pairs",), drawn, "pairs", ("bad" if kind == "FN" else "good",))
    grid = Grid(
        name, "Failure modes", ["mode", "meaning", "pairs", "of", "share", "low", "high"],
        [[row["mode"], row["meaning"], row["count"], row["n"], row["share"], row["share_low"], row["share_high"]] for row in rows],
    )  # fmt: skip
    legend = "; ".join(f"{row['mode']} {row['meaning']}" for row in rows if row["count"])
    caption = f"n = {rows[0]['n']} pairs. {legend}."
    return Figure(name, title, (chart,), f"Failure modes. {said}.", caption, found.signature, grid)


def _flows(found: Result, rows: list[dict[str, Any]]) -> Figure:
    links = [(str(row["rubric"]), str(row["kind"]), int(row["count"])) for row in rows]
    links += [(str(row["kind"]), str(row["mode"]), int(row["count"])) for row in rows]
    total = sum(int(row["count"]) for row in rows)
    said = "; ".join(f"{row['rubric']}, {row['kind']}, {row['mode']}: {row['count']}" for row in rows)
    grid = Grid(
        "flows",
        "Flows",
        ["rubric", "kind", "mode", "pairs"],
        [[row["rubric"], row["kind"], row["mode"], row["count"]] for row in rows],
        heads=3,
    )
    title, caption = "From rubric to kind of error to failure mode", f"n = {total} pairs whose verdicts differ."
    return Figure("sankey", title, (Sankey(links),), f"Flows. {said}.", caption, found.signature, grid, wide=True)
