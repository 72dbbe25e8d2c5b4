"""A certified threshold for a row, chosen on some questions and reported on others."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from judgekit.analysis.cells import Cell
from judgekit.analysis.result import percent
from judgekit.analysis.triage.row import Choices, Row
from judgekit.errors import StatisticsError
from judgekit.stats.binomial import clopper_pearson
from judgekit.stats.certify import certified_threshold

__all__ = ["calibration_half", "certify_rows", "clusters_of", "match_calibration", "pick_units"]


def _digest(*words: str) -> bytes:
    return hashlib.sha256("\x1f".join(words).encode("utf-8", "surrogatepass")).digest()


def clusters_of(cell: Cell) -> tuple[str, ...]:
    """The unit of each record: its cluster, else itself."""
    return cell.cluster if cell.cluster is not None else cell.ids


def _keys(cell: Cell) -> tuple[str, ...]:
    return cell.keys if cell.keys is not None else cell.ids


def calibration_half(cell: Cell) -> Any:
    """Booleans, one a record: whether its cluster falls into the half that chooses, by a hash of the cluster's name."""
    names = cell.cluster if cell.cluster is not None else _keys(cell)
    return np.array([_digest("judgekit split", name)[0] % 2 == 0 for name in names], dtype=bool)


def pick_units(cell: Cell) -> list[int]:
    """Places of the incomplete units: of each cluster's incomplete answers the one whose id has the smallest hash."""
    groups: dict[str, list[int]] = defaultdict(list)
    keys = _keys(cell)
    for place, name in enumerate(clusters_of(cell)):
        if cell.label[place] == 1:
            groups[name].append(place)
    return sorted(min(places, key=lambda i: (_digest("judgekit pick", keys[i]), i)) for places in groups.values())


def match_calibration(cells: Sequence[Cell], others: Sequence[Cell]) -> list[Cell]:
    """The calibration cell of each cell: the same rubric version, judge and rater, over other answers and questions.

    Raises
    ------
    StatisticsError : there is none or more than one, the rubric's version differs, or answers or questions are in both.
    """
    found = []
    for cell in cells:
        name = " · ".join(part for part in (cell.rubric, cell.judge, cell.rater) if part)
        same = [c for c in others if (c.rubric, c.judge, c.rater) == (cell.rubric, cell.judge, cell.rater)]
        if cell.stratum is not None:
            same = [c for c in same if c.stratum == cell.stratum]
        if len(same) != 1:
            raise StatisticsError(
                f"the calibration has {len(same)} sets of scores for {name}",
                mend="judge the calibration records the same way",
            )
        other = same[0]
        if other.fingerprint != cell.fingerprint:
            raise StatisticsError(
                f"the rubric of {name} was another version in the calibration",
                mend="judge both with the same rubric file",
            )
        if cell.named and other.named:
            shared = set(clusters_of(cell)) & set(clusters_of(other)) | set(cell.ids) & set(other.ids)
            if shared:
                raise StatisticsError(
                    f"{len(shared)} answers or questions are in the calibration too (such as {sorted(shared)[0]!r})",
                    mend="a threshold is reported on records that did not choose it: take them out",
                )
        found.append(other)
    return found


def certify_rows(
    rows: Sequence[Row], choices: Choices, confidence: Fraction, others: Sequence[Cell] | None = None, origin: str = ""
) -> list[Row]:
    """Each row with its `certified` object; the risk is divided among the rubrics and judges of its data set.

    Parameters
    ----------
    others : calibration cells, one a row; None splits each row's own records by a hash of the cluster.
    """
    judges: dict[str, set[tuple[str | None, str | None]]] = defaultdict(set)
    for row in rows:
        judges[row.cell.dataset].add((row.cell.rubric, row.cell.judge))
    done = []
    for place, row in enumerate(rows):
        if row.refused:
            done.append(row)
            continue
        cell = row.cell
        if cell.weight is not None:
            raise StatisticsError("a threshold cannot be certified from records sampled with unequal probabilities")
        if others is None:
            half = calibration_half(cell)
            chosen, checked = cell.take(half), cell.take(~half)
            split = "half of the questions, by a hash"
        else:
            chosen, checked, split = others[place], cell, f"calibration {origin}"
        one = choices if cell.higher_is_worse is None else replace(choices, higher_is_worse=cell.higher_is_worse)
        found = _certify(chosen, checked, one, confidence, len(judges[cell.dataset]), split)
        notes = [n for n in row.values["notes"] if "cannot certify a recall" not in n]
        lines = [*row.extra.get("lines", []), *_lines(found)]
        done.append(replace(row.with_values(certified=found, notes=notes), extra=row.extra | {"lines": lines}))
    return done


def _certify(
    chosen: Cell, checked: Cell, choices: Choices, confidence: Fraction, judges: int, split: str
) -> dict[str, Any]:
    worse = choices.higher_is_worse
    first = np.inf if worse else -np.inf
    units = pick_units(chosen)
    scores = np.array([chosen.score[i] if not np.isnan(chosen.score[i]) else first for i in units], dtype=np.float64)
    found = certified_threshold(scores, choices.recall, 1 - confidence, judges=judges, higher_is_worse=worse)
    return {
        "recall": float(choices.recall),
        "confidence": float(confidence),
        "delta": found.delta,
        "judges": judges,
        "units": found.units,
        "needed": found.needed,
        "caught": found.caught,
        "threshold": found.threshold,
        "flag_if": "score >= threshold" if worse else "score <= threshold",
        "read_everything": found.threshold is None,
        "reason": found.reason,
        "split": split,
        "n_calibration": len(chosen.ids),
        "meaning": "recall averaged over questions, one incomplete answer each; unscored answers are read",
        "checked": _check(checked, found.threshold, worse),
    }


def _check(cell: Cell, threshold: float | None, worse: bool) -> dict[str, Any]:
    labelled = cell.label >= 0
    part = cell.take(labelled)
    with np.errstate(invalid="ignore"):
        read = np.isnan(part.score)
        if threshold is not None:
            read |= part.score >= threshold if worse else part.score <= threshold
        else:
            read[:] = True
    bad = part.label == 1
    picked = pick_units(part)
    caught = int(sum(read[i] for i in picked))
    interval = clopper_pearson(caught, len(picked))
    shares: dict[str, list[bool]] = defaultdict(list)
    for name, is_bad, is_read in zip(clusters_of(part), bad, read, strict=True):
        if is_bad:
            shares[name].append(bool(is_read))
    return {
        "n": int(labelled.sum()),
        "n_incomplete": int(bad.sum()),
        "questions": len(picked),
        "recall": float(read[bad].mean()) if bad.any() else None,
        "recall_questions": float(np.mean([np.mean(v) for v in shares.values()])) if shares else None,
        "recall_low": interval.low,
        "recall_high": interval.high,
        "workload": float(read.mean()) if read.size else None,
    }


def _lines(found: dict[str, Any]) -> list[str]:
    target, sure = f"{100 * found['recall']:g} %", f"{100 * found['confidence']:g} %"
    among = f" (risk shared among {found['judges']} judges or rubrics)" if found["judges"] > 1 else ""
    if found["threshold"] is None:
        return [
            f"Certified for {target} with {sure} confidence{among}: only reading everything, since {found['reason'].removeprefix('cannot certify: ').split(';')[0]}."
        ]
    sign, checked = found["flag_if"].split()[1], found["checked"]
    head = (
        f"Certified with {sure} confidence{among}: reading every answer with score {sign} {found['threshold']:g} catches {target} of the "
        f"incomplete answers, averaged over questions ({found['caught']} of {found['units']} calibration questions caught, "
        f"{found['needed']} needed; {found['split']})."
    )
    if checked["recall"] is None:
        return [head, "No other incomplete answer is there to check it on."]
    tail = (
        f"On {checked['n']} answers that did not choose it: {percent(checked['recall_questions'], beside=found['recall'])} caught over "
        f"{checked['questions']} questions ({percent(checked['recall_low'], beside=found['recall'])} to {percent(checked['recall_high'], beside=found['recall'])}), "
        f"{percent(checked['workload'])} read."
    )
    return [head, tail]
