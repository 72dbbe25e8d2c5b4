"""The triage as tables and sentences: counts, the operating point, what stands beside it, and every note."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judgekit.analysis.result import Column, Table, number, percent, pvalue
from judgekit.analysis.triage.extras import Pair
from judgekit.analysis.triage.row import Choices, Row

__all__ = ["sections", "tables", "verdict"]

MANY = 12
LEGEND = (
    "+ unscored: share with these read too; wss (work saved over sampling): recall minus share; LOCO (leave one cluster out): recall "
    "with each question left out in turn"
)


def tables(rows: Sequence[Row], choices: Choices, plain: list[dict[str, Any]]) -> list[Table]:
    """The contract's fields under ``rows``, and the tables that a person reads."""
    cells = [_cells(number, row) for number, row in enumerate(rows, start=1)]
    aim = f"recall >= {choices.recall_text}" if choices.threshold is None else f"threshold {choices.threshold:g}"
    fixed = [
        one for one, row in zip(cells, rows, strict=True) if any(v is not None for v in row.values["fixed"].values())
    ]
    return [
        Table("rows", "Operating points", plain, [Column(name) for name in (plain[0] if plain else ())]),
        Table("discrimination", "Can the score tell incomplete answers from complete ones?", cells, _DISCRIMINATION),
        Table("point", f"Operating point at {aim}", cells, _POINT, [LEGEND]),
        *(
            [Table("fixed", "The rubric's own fixed threshold, for the incomplete class", fixed, _FIXED)]
            if fixed
            else []
        ),
    ]


def sections(rows: Sequence[Row], pairs: Sequence[Pair]) -> list[tuple[str, list[str]]]:
    """What each row means, and how the judges compare."""
    found = []
    for number_, row in enumerate(rows, start=1):
        sentence = verdict(row)
        lines = ([sentence] if sentence else []) + _extras(row) + [f"- {note}" for note in row.values["notes"]]
        found.append((f"[{number_}] {row.name}", lines))
    if len(rows) > MANY:
        found.append((f"{len(rows)} rows: their comparison two by two is in --json --details", []))
    elif pairs:
        title = f"AUC compared two by two over common records (paired DeLong; {len(pairs)} comparisons, Bonferroni)"
        found.append((title, [_pair(one) for one in pairs]))
    return found


def _pair(pair: Pair) -> str:
    one, show = pair.found, number(3)
    name = f"{pair.first} minus {pair.second}" + (f" ({pair.rater})" if pair.rater else "")
    if one.difference is None or one.p is None:
        return f"{name}: {show(one.difference)}, n = {one.n}; no test: {one.reason}"
    span = f"{one.low:+.3f} to {one.high:+.3f}"
    return f"{name}: {one.difference:+.3f} ({span}), n = {one.n}, p = {pvalue(one.p)}, times {pair.family}: {pvalue(pair.p_bonferroni)}"


def _cells(place: int, row: Row) -> dict[str, Any]:
    values, point, aim = row.values, row.point, row.values["recall_target"]
    return {
        "place": f"[{place}]", "name": f"[{place}] {row.name}", "incomplete": f"{values['n_incomplete']}/{values['n']}",
        "unscored": values["n_unscored"], "unlabelled": values["n_unlabelled"], "auc": values["auc"],
        "span": _span(row.headline.interval.low, row.headline.interval.high), "p": values["mann_whitney_p"],
        "read_if": "-" if point.threshold is None else f"{values['flag_if'].split()[1]} {point.threshold:g}",
        "caught": _of(point.caught, point.n_incomplete), "recall": _percent(values["recall"], aim), "to_read": _of(point.flagged, point.n),
        "workload": _percent(values["workload"]), "workload_all": _percent(values["workload_all"]),
        "random": _percent(row.baselines.random), "perfect": _percent(row.baselines.perfect), "precision": values["precision"],
        "false": values["false_alarms_per_catch"], "wss": values["wss"], "loco": _percent(values["recall_loco"], aim),
        **{f"fixed_{key}": value for key, value in values["fixed"].items()},
    }  # fmt: skip


_DISCRIMINATION = [
    Column("name", ""), Column("incomplete", "incomplete/n"), Column("unscored"), Column("unlabelled"), Column("auc", "AUC", number()),
    Column("span", "95 %"), Column("p", "M-W p", pvalue),
]  # fmt: skip
_POINT = [
    Column("place", ""), Column("read_if", "read if"), Column("caught"), Column("recall"), Column("to_read", "to\nread"),
    Column("workload", "share"), Column("workload_all", "+ un-\nscored"), Column("random"), Column("perfect"),
    Column("precision", "prec.", number(2)), Column("false", "false/\ncatch", number(2)), Column("wss", "wss", number(2)), Column("loco", "LOCO"),
]  # fmt: skip
_FIXED = [
    Column("place", ""), Column("fixed_f1", "F1", number(2)), Column("fixed_precision", "precision", number(2)),
    Column("fixed_recall", "recall", number(2)),
]  # fmt: skip


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


def _flow(row: Row) -> str:
    cell, values = row.cell, row.values
    labelled = len(cell.ids) - values["n_unlabelled"]
    bad = int((cell.label == 1).sum())
    return (
        f"Flow: {len(cell.ids)} records, {labelled} with a label ({bad} incomplete), {labelled - values['n_unscored']} of them scored; "
        f"{values['n']} in the figures ({values['n_incomplete']} incomplete)."
    )


def _percent(value: float | None, beside: float | None = None) -> str:
    if value is None:
        return "-"
    return percent(value, int(0 < value < 0.01), beside=beside)


def _of(part: float | None, whole: float | None) -> str:
    return "-" if part is None or not whole else f"{part:g}/{whole:g}"


def _span(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{low:.3f} to {high:.3f}"
