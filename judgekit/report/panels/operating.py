"""How much must a clinician still read? ROC and workload, with a slider that moves the operating point on both."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from judgekit.draw.sheet import SERIES
from judgekit.report.model import Figure, Grid, LeftOut, Panel, Widget, number, percent, pvalue, share

if TYPE_CHECKING:
    from judgekit.analysis.triage.row import Row
    from judgekit.report.context import Context

TITLE = "How much must a clinician still read?"
QUESTION = "How much, and how sure?"
ORDER = 30
LOWEST, STEP = 500, 5  # per mille: where the slider begins, and its step

__all__ = ["ORDER", "QUESTION", "TITLE", "build", "slider_row", "thresholds"]


def build(context: Context) -> Panel | LeftOut:
    rows = context.drawable
    if not rows:
        return LeftOut(context.no_curve())
    assert context.triage is not None
    target = context.triage.choices.recall
    blocks: list[Figure | Widget | Grid] = []
    for start in range(0, len(rows), SERIES):
        part = rows[start : start + SERIES]
        blocks += _curves(context, part, start, float(target))
    found = _pairs(context)
    blocks += [found] if found else []
    widget = Widget(
        "slider",
        {
            "target": [target.numerator, target.denominator],
            "lowest": LOWEST, "step": STEP, "value": int(target * 1000),
            "rows": [slider_row(row, context.name(row), target) for row in rows],
            "first": _first(context, rows[0]),
        },
    )  # fmt: skip
    lead = (
        "AUC is the chance that an incomplete answer scores worse than a complete one; it is never flipped. Workload is the share of "
        "all answers that fall at or beyond the threshold, and are read."
    )
    return Panel(lead, (widget, *blocks))


def _curves(context: Context, rows: list[Row], start: int, target: float) -> list[Figure]:
    """ROC, and workload against recall, of up to eight rows, the first of which is number `start` of all."""
    from judgekit.analysis.triage.pictures import roc_plot, workload_plot

    names = [context.name(row) for row in rows]
    tail = "" if start == 0 else f"-{start // SERIES + 1}"
    counts = "; ".join(
        f"{name}: {row.auc.n_incomplete} incomplete, {row.auc.n_complete} complete"
        for name, row in zip(names, rows, strict=True)
    )
    points = "; ".join(
        f"{name}: {share(row.point.flagged, row.point.n)} read to catch {share(row.point.caught, row.point.n_incomplete)}"
        for name, row in zip(names, rows, strict=True)
    )
    ranks, work = roc_plot(rows, names, start), workload_plot(rows, names, target, start)
    says = f"ROC curves. {'; '.join(series.name for series in ranks.series)}. Dotted: no better than chance. The marks are the operating points."
    told = f"Workload against recall. {points}. A random order reads about as many per cent as it catches."
    lost = "Unscored answers are not on the curves; the numbers beside the slider count them as read."
    return [
        Figure(name + tail, title, (chart,), words, f"{counts}. {caption}", context.signature, thresholds(name + tail, rows, names))
        for name, title, chart, words, caption in (
            ("roc", "ROC", ranks, says, "Ties count half. Intervals of 95 %."),
            ("workload", "Workload against recall", work, told, lost),
        )
    ]  # fmt: skip


def thresholds(name: str, rows: list[Row], names: list[str]) -> Grid:
    """What every threshold of rows with a curve catches and leaves: the data of their figures."""
    columns = [
        "row", "threshold", "incomplete caught", "complete read", "incomplete", "complete", "recall", "false alarms", "workload",
    ]  # fmt: skip
    data = []
    for row, said in zip(rows, names, strict=True):
        curve = row.curve
        assert curve is not None
        m, q = int(curve.n_incomplete), int(curve.n_complete)
        for t, c, f in zip(curve.threshold, curve.caught, curve.false_alarms, strict=True):
            data.append([said, float(t), int(c), int(f), m, q, float(c / m), float(f / q), float((c + f) / (m + q))])
    return Grid(name, "Each threshold", columns, data, most=60)


def slider_row(row: Row, name: str, target: Fraction) -> dict[str, Any]:
    """What the page needs to compute every operating point of a row in whole numbers.

    `t`, `c`, `f` are thresholds with the incomplete caught and the complete read at each, strictest first; `risk` maps the
    positions that the slider can reach to the ends of the interval of the share incomplete among the unread.
    """
    from judgekit.stats.binomial import clopper_pearson

    curve = row.curve
    assert curve is not None
    caught, alarms = [int(v) for v in curve.caught], [int(v) for v in curve.false_alarms]
    p, q = int(curve.n_incomplete), int(curve.n_complete)
    clustered = (
        row.point.flagged is not None and row.point.flagged < row.point.n and row.point.unread_risk_interval is None
    )
    risk: dict[str, list[float | None]] = {}
    for share_ in {target, *(Fraction(k, 1000) for k in range(LOWEST, 1001, STEP))}:
        at = next(i for i, c in enumerate(caught) if c * share_.denominator >= share_.numerator * p)
        unread = p + q - caught[at] - alarms[at]
        if str(at) not in risk and unread and not clustered:
            found = clopper_pearson(p - caught[at], unread)
            risk[str(at)] = [found.low, found.high]
    label = row.cell.label
    lost = [int((~row.cell.scored & (label == k)).sum()) for k in (1, 0)]
    return {
        "name": name, "sign": "≥" if row.worse else "≤", "t": [f"{v:g}" for v in curve.threshold], "c": caught, "f": alarms,
        "p": p, "q": q, "lost": lost, "risk": risk, "random": row.baselines.random, "clustered": clustered,
    }  # fmt: skip


def _first(context: Context, row: Row) -> list[tuple[str, str, str]]:
    """The numbers of the first row as the page shows them before any script runs: key, words, value."""
    point = row.point
    flagged, caught, missed = int(point.flagged or 0), int(point.caught or 0), int(point.missed or 0)
    n, m = int(point.n), int(point.n_incomplete)
    unread, lost = n - flagged, int((~row.cell.scored & (row.cell.label >= 0)).sum())
    span = point.unread_risk_interval
    risk = share(missed, unread)
    if span is not None and span.low is not None:
        risk += f" ({percent(span.low)} to {percent(span.high)})"
    elif unread:
        risk += " (questions repeat: no interval)"
    return [
        ("threshold", "Read an answer if its score is", str(context.rule(row))),
        ("workload", "Answers read", f"{share(flagged, n)} ({flagged} of {n})"),
        ("workload_all", "Answers read, unscored ones too", share(flagged + lost, n + lost)),
        ("recall", "Incomplete answers caught", f"{share(caught, m)} ({caught} of {m})"),
        ("missed", "Incomplete answers missed", f"{missed}"),
        ("precision", "Incomplete among those read", share(caught, flagged)),
        ("false_alarms_per_catch", "Complete answers read for each catch", number(point.false_alarms_per_catch)),
        ("specificity", "Complete answers left unread", share(n - m - int(point.false_alarms or 0), n - m)),
        ("wss", "Work saved over a random sample", number(point.wss, 3)),
        ("unread_risk", "Incomplete among the unread", risk),
    ]


def _pairs(context: Context) -> Grid | None:
    if context.triage is None or not 1 < len(context.rows) <= 24:
        return None
    found = context.triage.pairs()
    if not found:
        return None
    columns = ["first", "second", "rater", "n", "AUC difference", "low", "high", "p", "p, Bonferroni", "why not"]
    rows: list[list[Any]] = [
        [pair.first, pair.second, pair.rater, pair.found.n, pair.found.difference, pair.found.low, pair.found.high, pair.found.p,
         pair.p_bonferroni, pair.found.reason]
        for pair in found
    ]  # fmt: skip
    shown = [[str(a), str(b), r or "", str(n), number(d, 3), number(lo, 3), number(hi, 3), pvalue(p), pvalue(q), w or ""]
             for a, b, r, n, d, lo, hi, p, q, w in rows]  # fmt: skip
    return Grid(
        "auc-pairs", "AUC compared two by two", columns, rows, shown, heads=2, signature=context.signature,
        notes=(f"Paired DeLong over the answers that both scored; the family of the Bonferroni correction is all {len(found)} comparisons.",),
    )  # fmt: skip
