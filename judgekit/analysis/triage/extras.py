"""What stands beside a row: severity of the misses, net benefit, the same threshold at other prevalences, pairs of judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from judgekit.analysis.cells import Cell
from judgekit.analysis.result import percent, plain
from judgekit.analysis.triage.certified import clusters_of
from judgekit.analysis.triage.row import Choices, Row
from judgekit.stats.auc import AucDifference, paired_auc
from judgekit.stats.binomial import clopper_pearson
from judgekit.stats.decision import net_benefit, severity_misses
from judgekit.stats.operating_point import transport

__all__ = ["SEVERITIES", "Pair", "add_extras", "details", "pairs", "severity_name"]

# Severity of an omission and how much missing it counts: 1 - the score that Same Verdict (arXiv 2604.16383, section 3.2) gives the answer.
SEVERITIES = {"none": 0.0, "mild": 0.25, "moderate": 0.5, "severe": 0.75, "life-threatening": 1.0}
PREVALENCES = (0.05, 0.1, 0.2, 0.5)
READS_PER_CATCH = (1.0, 4.0, 9.0, 19.0)


@dataclass(frozen=True)
class Pair:
    """Two judges or rubrics over their common records; `p_bonferroni` is p times the number of pairs of the whole table."""

    dataset: str
    rater: str | None
    first: str
    second: str
    found: AucDifference
    family: int
    p_bonferroni: float | None


def severity_name(text: str | None) -> str | None:
    """The severity that a text begins with (``Severe - may require ...`` is severe), or None where it names none we know."""
    if text is None:
        return None
    word = text.strip().lower().replace("life threatening", "life-threatening")
    return next((name for name in SEVERITIES if word.startswith(name)), None)


def add_extras(row: Row, choices: Choices) -> Row:
    """The row with `extra` filled: recall interval of a preset threshold, transport, net benefit, misses by severity."""
    if row.refused or row.point.recall is None:
        return row
    extra: dict[str, Any] = dict(row.extra)
    lines = list(extra.get("lines", []))
    extra["transport"] = [asdict(t) for pi in PREVALENCES if (t := transport(row.point, pi)) is not None]
    extra["transport_assumes"] = "the incomplete answers there are as severe as here"
    extra["net_benefit"] = [asdict(net_benefit(row.point, x)) for x in READS_PER_CATCH]
    if not row.values["optimistic"] and row.cell.weight is None:
        low = _recall_interval(row)
        extra["recall_interval"] = low
        if low is not None:
            aim = row.values["recall_target"]
            lines.append(
                f"Recall {percent(row.point.recall, beside=aim)}, 95 % interval {percent(low['low'], beside=aim)} to "
                f"{percent(low['high'], beside=aim)} (Clopper-Pearson, {low['unit']})."
            )
    found = _severity(row)
    if row.cell.weight is not None and row.cell.severity is not None:
        lines.append("Missed by severity: not counted, since the answers were sampled with unequal probabilities.")
    elif found is not None:
        extra["severity"] = found
        lines += _severity_lines(found)
    extra["lines"] = lines
    return replace(row, extra=extra)


def _flagged(row: Row) -> Any:
    cell, threshold = row.cell, row.point.threshold
    assert threshold is not None, "a row with a recall has a threshold"
    with np.errstate(invalid="ignore"):
        read = cell.score >= threshold if row.worse else cell.score <= threshold
    return read | np.isnan(cell.score)


def _recall_interval(row: Row) -> dict[str, Any] | None:
    from judgekit.analysis.triage.certified import pick_units

    used = row.cell.take(row.cell.used)
    units = pick_units(used)
    if not units:
        return None
    read = _flagged(row)[row.cell.used]
    interval = clopper_pearson(int(sum(read[i] for i in units)), len(units))
    several = len(units) < int((used.label == 1).sum())
    unit = f"one incomplete answer of each of {len(units)} questions" if several else f"{len(units)} incomplete answers"
    return {"low": interval.low, "high": interval.high, "unit": unit}


def _severity(row: Row) -> dict[str, Any] | None:
    cell = row.cell
    if cell.severity is None:
        return None
    bad = cell.label == 1
    names = [severity_name(text) for text in cell.severity]
    known = np.array([name is not None for name in names]) & bad
    if not known.any():
        return None
    missed = ~_flagged(row)
    found = severity_misses([str(names[i]) for i in np.flatnonzero(known)], missed[known], SEVERITIES)
    groups = [name for name, k in zip(clusters_of(cell), known, strict=True) if k]
    return asdict(found) | {
        "n": int(known.sum()),
        "without_severity": int((bad & ~known).sum()),
        "repeated_questions": len(set(groups)) < len(groups),
    }


def _severity_lines(found: dict[str, Any]) -> list[str]:
    parts = [f"{m['missed']} of {m['n']} {m['severity']} (at most {percent(m['upper'])})" for m in found["by_severity"]]
    text = f"Missed by severity, with one-sided 95 % bounds: {', '.join(parts)}"
    if found["weighted"] is not None:
        text += f"; weighted {percent(found['weighted'])} (at most {percent(found['weighted_upper'])})"
    if found["without_severity"]:
        text += f"; {found['without_severity']} incomplete answers name no severity"
    if found["repeated_questions"]:
        text += "; questions repeat, so the bounds are too tight"
    return [text + "."]


def pairs(rows: Sequence[Row], choices: Choices) -> list[Pair]:
    """Every pair of rows of one data set, rater and stratum, compared by paired DeLong over the records both scored."""
    able = [row for row in rows if not row.refused and row.cell.weight is None]
    found = []
    for place, one in enumerate(able):
        for two in able[place + 1 :]:
            same = (one.cell.dataset, one.cell.rater, one.cell.stratum) == (
                two.cell.dataset,
                two.cell.rater,
                two.cell.stratum,
            )
            if same and set(one.cell.ids) & set(two.cell.ids):
                found.append((one, two, _compare(one.cell, two.cell, choices)))
    family = len(found)
    return [
        Pair(
            one.cell.dataset, one.cell.rater, _short(one.cell), _short(two.cell), difference, family,
            None if difference.p is None else min(1.0, family * difference.p),
        )
        for one, two, difference in found
    ]  # fmt: skip


def _compare(one: Cell, two: Cell, choices: Choices) -> AucDifference:
    where = {name: i for i, name in enumerate(two.ids)}
    both = [(i, where[name]) for i, name in enumerate(one.ids) if name in where]
    left = np.array([i for i, _ in both], dtype=int)
    right = np.array([j for _, j in both], dtype=int)
    keep = one.used[left] & two.used[right] & (one.label[left] == two.label[right])
    left, right = left[keep], right[keep]
    groups = None if one.cluster is None else np.array(one.cluster, dtype=object)[left].astype(str)
    return paired_auc(
        one.label[left] == 1, _oriented(one, choices)[left], _oriented(two, choices)[right], clusters=groups
    )


def _oriented(cell: Cell, choices: Choices) -> Any:
    worse = choices.higher_is_worse if cell.higher_is_worse is None else cell.higher_is_worse
    return -cell.score if worse else cell.score


def _short(cell: Cell) -> str:
    return " · ".join(part for part in (cell.rubric, cell.judge) if part)


def details(row: Row, choices: Choices) -> dict[str, Any]:
    """Headline interval with its method, exact AUC, unread risk, optimism, the unscored both ways, and extras."""
    found: dict[str, Any] = {
        "name": row.name,
        "auc_exact": None if row.auc.exact is None else str(row.auc.exact),
        "auc_reason": row.auc.reason,
        "auc_se": row.wald.se,
        "auc_interval": asdict(row.wald),
        "headline": asdict(row.headline.interval) | {"pairs": row.headline.pairs},
        "point": asdict(row.point),
        "baselines": asdict(row.baselines),
        "optimism": asdict(row.optimism),
        "unscored_cases": {
            name: value if not isinstance(value, dict) else {"auc": value["auc"], "point": asdict(value["point"])}
            for name, value in row.cases.items()
        },
        "refused": row.refused,
    }
    clean: dict[str, Any] = plain(found | {k: v for k, v in row.extra.items() if k != "lines"})
    return clean
