"""The triage table as text: counts, the operating point, what stands beside it, and every note."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, Any

from judgekit.analysis.result import percent, pvalue
from judgekit.analysis.triage_row import Row

if TYPE_CHECKING:
    from judgekit.analysis.triage import Triage

__all__ = ["render", "verdict"]

MANY = 12
LEGEND = "+ unscored: share with these read too; wss: recall minus share; LOCO: recall, each question left out"


def render(found: Triage, width: int = 110) -> str:
    """Text of at most `width` columns, ending with the signature."""
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if not found.operating_points:
        return "Nothing to triage: no judgement is there.\n" + found.signature + "\n"
    stream = StringIO()
    console = Console(file=stream, width=width, color_system=None, highlight=False, emoji=False, markup=False)
    blocks = _blocks(found)
    legends = {title: LEGEND for title, (heads, _) in blocks.items() if "LOCO" in heads}
    for title, (heads, lines) in blocks.items():
        console.print(Text(title))
        table = Table(box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
        for index, head in enumerate(heads):
            table.add_column(head, justify="left" if index == 0 else "right", overflow="fold")
        for cells in lines:
            table.add_row(*[Text(cell) for cell in cells])
        console.print(table)
        if title in legends:
            console.print(Text(legends[title]))
            console.print()
    for number, row in enumerate(found.operating_points, start=1):
        console.print(Text(f"[{number}] {row.name}"))
        sentence = verdict(row)
        if sentence:
            console.print(Text("    " + sentence))
        for line in _extras(row):
            console.print(Text("    " + line))
        for note in row.values["notes"]:
            console.print(Text("    - " + note))
    for line in _pairs(found):
        console.print(Text(line))
    for line in found.left_out:
        console.print(Text(line))
    console.print()
    console.print(Text(found.signature, overflow="fold"))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def verdict(row: Row) -> str | None:
    """The plain sentence, or None where fewer than ten records in a class forbid one."""
    m, n, point = row.auc.n_incomplete, row.auc.n_complete, row.point
    if row.refused or min(m, n) < 10 or point.recall is None or point.workload is None or row.cell.weight is not None:
        return None
    beside, flagged = row.baselines, round(point.flagged or 0)
    read, by_chance = _percent(point.workload, beside.random), _percent(beside.random, point.workload)
    target = f"{100 * row.values['recall_target']:g} %"
    if row.values["optimistic"]:
        start = f"To catch {target} of the incomplete answers a clinician must still read {flagged} of {m + n} ({read})"
    else:
        start = f"The threshold catches {_percent(point.recall, row.values['recall_target'])} of the incomplete answers and a clinician reads {flagged} of {m + n} ({read})"
    lost = len(row.cell.ids) - row.values["n_unlabelled"] - (m + n)  # unscored, and not filled
    if lost:
        start += (
            f", with the {lost} unscored {flagged + lost} of {m + n + lost} ({_percent(row.values['workload_all'])})"
        )
    text = f"{start}; reading in random order would need {by_chance}, a perfect judge {_percent(beside.perfect)}."
    if row.values["optimistic"] and beside.random is not None and point.workload >= beside.random:
        text += " That is no less than in random order: at this target the judge saves nothing."
    low, high = row.headline.interval.low, row.headline.interval.high
    if low is not None and high is not None and low <= 0.5 <= high:
        text += " The interval of the AUC holds .5: these scores are not shown to rank better than chance."
    return text


def _blocks(found: Triage) -> dict[str, tuple[list[str], list[list[str]]]]:
    rows = list(enumerate(found.operating_points, start=1))
    choices = found.choices
    aim = f"recall >= {choices.recall_text}" if choices.threshold is None else f"threshold {choices.threshold:g}"
    discrimination = [
        [
            f"[{number}] {row.name}",
            f"{row.values['n_incomplete']}/{row.values['n']}",
            str(row.values["n_unscored"]),
            str(row.values["n_unlabelled"]),
            _number(row.values["auc"], 3),
            _span(row.headline.interval.low, row.headline.interval.high),
            pvalue(row.values["mann_whitney_p"]),
        ]
        for number, row in rows
    ]
    points = [
        [
            f"[{number}]",
            "-" if row.point.threshold is None else f"{row.values['flag_if'].split()[1]} {row.point.threshold:g}",
            _of(row.point.caught, row.point.n_incomplete),
            _percent(row.values["recall"], row.values["recall_target"]),
            _of(row.point.flagged, row.point.n),
            _percent(row.values["workload"]),
            _percent(row.values["workload_all"]),
            _percent(row.baselines.random),
            _percent(row.baselines.perfect),
            _number(row.values["precision"], 2),
            _number(row.values["false_alarms_per_catch"], 2),
            _number(row.values["wss"], 2),
            _percent(row.values["recall_loco"], row.values["recall_target"]),
        ]
        for number, row in rows
    ]
    heads = ["", "read if", "caught", "recall", "to\nread", "share", "+ un-\nscored", "random", "perfect", "prec."]
    blocks = {
        "Can the score tell incomplete answers from complete ones?": (
            ["", "incomplete/n", "unscored", "unlabelled", "AUC", "95 %", "M-W p"],
            discrimination,
        ),
        f"Operating point at {aim}": ([*heads, "false/\ncatch", "wss", "LOCO"], points),
    }
    fixed = [
        [f"[{number}]", *(_number(row.values["fixed"][name], 2) for name in ("f1", "precision", "recall"))]
        for number, row in rows
        if any(value is not None for value in row.values["fixed"].values())
    ]
    if fixed:
        blocks["The rubric's own fixed threshold, for the incomplete class"] = (
            ["", "F1", "precision", "recall"],
            fixed,
        )
    return blocks


def _extras(row: Row) -> list[str]:
    lines = [_flow(row)]
    point = row.point
    if point.threshold is not None and float(f"{point.threshold:g}") != point.threshold:
        lines.append(f"The threshold to the last digit: {row.values['flag_if'].split()[1]} {point.threshold!r}.")
    if point.unread_risk is not None and point.flagged is not None:
        unread = round(point.n - point.flagged)
        span = point.unread_risk_interval
        ends = f" ({_percent(span.low)} to {_percent(span.high)})" if span is not None else ""
        lines.append(
            f"Among the {unread} unread answers {point.missed:g} {'is' if point.missed == 1 else 'are'} incomplete{ends}."
        )
    hope = row.optimism
    untied = point.caught == hope.needed
    if row.values["optimistic"] and untied and hope.expected_recall is not None and row.cell.weight is None:
        lines.append(
            f"On new answers such a threshold catches about {_percent(hope.expected_recall, row.values['recall_target'])} (without ties), and less than the target "
            f"with probability {hope.chance_under_target:.2f}."
        )
    return lines + list(row.extra.get("lines", []))


def _pairs(found: Triage) -> list[str]:
    if len(found.operating_points) > MANY:
        return ["", f"{len(found.operating_points)} rows: their comparison two by two is in --json --details"]
    pairs = found.pairs()
    if not pairs:
        return []
    lines = ["", f"AUC compared two by two over common records (paired DeLong; {len(pairs)} comparisons, Bonferroni)"]
    for pair in pairs:
        one = pair.found
        name = f"{pair.first} minus {pair.second}" + (f" ({pair.rater})" if pair.rater else "")
        if one.difference is None or one.p is None:
            lines.append(f"  {name}: {_number(one.difference, 3)}, n = {one.n}; no test: {one.reason}")
            continue
        span = f"{one.low:+.3f} to {one.high:+.3f}"
        lines.append(
            f"  {name}: {one.difference:+.3f} ({span}), n = {one.n}, p = {pvalue(one.p)}, times {pair.family}: {pvalue(pair.p_bonferroni)}"
        )
    return lines


def _flow(row: Row) -> str:
    cell, values = row.cell, row.values
    labelled = len(cell.ids) - values["n_unlabelled"]
    bad = int((cell.label == 1).sum())
    return (
        f"Flow: {len(cell.ids)} records, {labelled} with a label ({bad} incomplete), {labelled - values['n_unscored']} of them scored; "
        f"{values['n']} in the figures ({values['n_incomplete']} incomplete)."
    )


def _number(value: Any, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _percent(value: float | None, beside: float | None = None) -> str:
    if value is None:
        return "-"
    return percent(value, int(0 < value < 0.01), beside=beside)


def _of(part: float | None, whole: float | None) -> str:
    return "-" if part is None or not whole else f"{part:g}/{whole:g}"


def _span(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{low:.3f} to {high:.3f}"
