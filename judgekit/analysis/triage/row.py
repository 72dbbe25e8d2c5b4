"""One row of a triage: the numbers of one cell, its details, and every guard that spoke."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from judgekit.analysis.cells import Cell
from judgekit.analysis.guards import partial_labels, same_model
from judgekit.stats.auc import Auc, Headline, auc, auc_bounds, auc_headline, auc_interval, weighted_auc
from judgekit.stats.certify import smallest_sample
from judgekit.stats.interval import Interval
from judgekit.stats.mannwhitney import mann_whitney
from judgekit.stats.operating_point import (
    Baselines,
    Curve,
    Optimism,
    Point,
    baselines,
    fill_unscored,
    loco_recall,
    operating_point,
    optimism,
    point_at,
    triage_curve,
    with_unscored,
)

__all__ = ["FIELDS", "Choices", "Row", "make_row"]

FIELDS = (
    "dataset", "rubric", "judge", "rater", "fingerprint", "n", "n_incomplete", "n_unscored", "n_unlabelled", "n_rule",
    "auc", "auc_low", "auc_high", "auc_logit_low", "auc_logit_high", "mann_whitney_p", "recall_target", "threshold",
    "flag_if", "recall", "workload", "recall_all", "workload_all", "precision", "false_alarms_per_catch", "missed",
    "specificity", "wss", "recall_loco", "workload_perfect", "workload_random", "fixed", "optimistic", "certified", "notes",
)  # fmt: skip


@dataclass(frozen=True)
class Choices:
    """What a person chose; all of it stands in the signature. `recall` is exact; `threshold` was set beforehand or is None."""

    recall: Fraction
    recall_text: str = "0.9"
    higher_is_worse: bool = False
    unscored: str = "drop"
    threshold: float | None = None
    threshold_from: str | None = None


@dataclass(frozen=True)
class Row:
    """Everything known about one data set, rubric, judge and rater; `values` holds the contract's fields."""

    values: dict[str, Any]
    cell: Cell
    auc: Auc
    wald: Interval
    headline: Headline
    point: Point
    baselines: Baselines
    optimism: Optimism
    curve: Curve | None = None
    cases: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    refused: str | None = None

    @property
    def name(self) -> str:
        """Data set, rubric, judge and rater, for people."""
        parts = [self.cell.dataset, self.cell.rubric, self.cell.judge, self.cell.rater]
        if self.cell.stratum is not None:
            parts.append(f"{self.cell.stratum[0]} = {self.cell.stratum[1]}")
        return " · ".join(part for part in parts if part)

    @property
    def worse(self) -> bool:
        """Whether a higher score means more incomplete."""
        return str(self.values["flag_if"]).startswith("score >=")

    def with_values(self, **values: Any) -> Row:
        return replace(self, values=self.values | values)


def make_row(cell: Cell, choices: Choices) -> Row:
    """Compute a row; a refused one keeps its counts, has None elsewhere, and says why in `refused` and its notes."""
    worse = choices.higher_is_worse
    notes = list(cell.notes)
    rater = same_model(cell.judge, (*cell.raters, cell.rater), cell.members)
    refusal, warning = partial_labels(cell)
    if rater is not None:
        refusal = f"the rater {rater!r} is the judge itself: a model cannot be measured against its own labels"
    score = cell.score
    if choices.unscored != "drop":
        score = fill_unscored(score, choices.unscored == "first", higher_is_worse=worse)
    used = ~np.isnan(score) & (cell.label >= 0)
    label, value = cell.label[used] == 1, score[used]
    groups = None if cell.cluster is None else np.array(cell.cluster, dtype=object)[used].astype(str)
    weight = None if cell.weight is None else cell.weight[used]
    counts = _counts(cell, used, choices)
    notes += _flow(cell, choices)
    if refusal is not None:
        return _refused(cell, counts, choices, refusal, notes)
    if warning:
        notes.append(warning)

    found = auc(label, value, higher_is_worse=worse)
    wald = auc_interval(label, value, clusters=groups, higher_is_worse=worse)
    headline = auc_headline(label, value, clusters=groups, higher_is_worse=worse)
    clustered = groups is not None and len(set(groups.tolist())) < groups.size
    test = None
    if not clustered and weight is None:
        tested = mann_whitney(label, value)
        test = tested.p
        if tested.p is not None and tested.reason:
            notes.append(f"Mann-Whitney p: {tested.reason}")
    if weight is not None:
        none = Interval(None, None, "none", reason="weighted by inverse sampling probability: no interval is offered")
        found = Auc(
            weighted_auc(label, value, weight, higher_is_worse=worse),
            None,
            found.n_incomplete,
            found.n_complete,
            found.reason,
        )
        wald, headline = none, Headline(none)
        notes.append("weighted by inverse sampling probability: no interval, test or leave-one-out recall")
    if choices.threshold is not None:
        point = point_at(label, value, choices.threshold, weight=weight, higher_is_worse=worse)
    else:
        point = operating_point(label, value, choices.recall, weight=weight, higher_is_worse=worse)
    if clustered and point.unread_risk_interval is not None:
        point = replace(point, unread_risk_interval=None)  # Clopper-Pearson needs independent answers
    m = int(label.sum())
    units = m if groups is None else len(set(groups[label].tolist()))
    beside, hope = baselines(label.size, m, choices.recall), optimism(m, choices.recall)
    bad, good = _unscored_by_class(cell)
    dropped: tuple[float, float] = (bad, good) if choices.unscored == "drop" else (0, 0)
    if cell.weight is not None and choices.unscored == "drop":
        dropped = tuple(float(cell.weight[~cell.scored & (cell.label == k)].sum()) for k in (1, 0))  # type: ignore[assignment]
    if (
        choices.unscored == "last"
        and point.threshold is not None
        and np.isfinite(point.threshold)
        and cell.weight is None
    ):
        # They are counted in the figures as not flagged; the clinician reads them all the same.
        assert point.caught is not None
        assert point.flagged is not None
        recall_all = None if m == 0 else (point.caught + bad) / m
        workload_all: float | None = (point.flagged + bad + good) / point.n
    else:
        recall_all, workload_all = with_unscored(point, *dropped)
    optimistic = choices.threshold is None and point.recall is not None
    loco = None
    if weight is None and choices.threshold is None:
        loco = loco_recall(label, value, choices.recall, clusters=groups, higher_is_worse=worse)
    notes += _remarks(found, wald, headline, point, clustered, groups, m, label.size - m, choices, optimistic, units)
    values = counts | {
        "auc": found.value,
        "auc_low": wald.low,
        "auc_high": wald.high,
        "auc_logit_low": headline.interval.low,
        "auc_logit_high": headline.interval.high,
        "mann_whitney_p": test,
        "threshold": point.threshold,
        "recall": point.recall,
        "workload": point.workload,
        "recall_all": recall_all,
        "workload_all": workload_all,
        "precision": point.precision,
        "false_alarms_per_catch": point.false_alarms_per_catch,
        "missed": point.missed,
        "specificity": point.specificity,
        "wss": point.wss,
        "recall_loco": loco,
        "workload_perfect": None if weight is not None else beside.perfect,
        "workload_random": None if weight is not None else beside.random,
        "fixed": _fixed(cell, used),
        "optimistic": optimistic,
        "notes": notes,
    }
    notes += _twice_rated(cell, label, value, used, worse)
    curve = triage_curve(label, value, weight=weight, higher_is_worse=worse) if label.size else None
    cases = _cases(cell, choices, bad, good)
    if cases and (bad + good) > 0.05 * max(1, int((cell.label >= 0).sum())):
        notes.append(_cases_note(cases, bad + good, int((cell.label >= 0).sum())))
    return Row(
        {name: values.get(name) for name in FIELDS}, cell, found, wald, headline, point, beside, hope, curve, cases
    )


def _counts(cell: Cell, used: Any, choices: Choices) -> dict[str, Any]:
    return {
        "dataset": cell.dataset,
        "rubric": cell.rubric,
        "judge": cell.judge,
        "rater": cell.rater,
        "fingerprint": cell.fingerprint,
        "n": int(used.sum()),
        "n_incomplete": int((cell.label[used] == 1).sum()),
        "n_unscored": int((~cell.scored & (cell.label >= 0)).sum()),
        "n_unlabelled": int((cell.label < 0).sum()),
        "n_rule": 0 if cell.rule is None else int((cell.rule & used).sum()),
        "recall_target": float(choices.recall),
        "flag_if": "score >= threshold" if choices.higher_is_worse else "score <= threshold",
        "optimistic": False,
        "certified": None,
        "fixed": {"f1": None, "precision": None, "recall": None},
    }


def _refused(cell: Cell, counts: dict[str, Any], choices: Choices, why: str, notes: list[str]) -> Row:
    none = Interval(None, None, "none", reason=why)
    m = counts["n_incomplete"]
    values = {name: counts.get(name) for name in FIELDS} | {"notes": [f"refused: {why}", *notes]}
    return Row(
        values, cell, Auc(None, None, m, counts["n"] - m, why), none, Headline(none), Point(None, counts["n"], m, reason=why),
        Baselines(None, None, None), optimism(0, choices.recall), refused=why,
    )  # fmt: skip


def _unscored_by_class(cell: Cell) -> tuple[int, int]:
    return int((~cell.scored & (cell.label == 1)).sum()), int((~cell.scored & (cell.label == 0)).sum())


def _flow(cell: Cell, choices: Choices) -> list[str]:
    notes = []
    bad, good = _unscored_by_class(cell)
    if bad + good:
        why = ", ".join(f"{n} {name}" for name, n in cell.unscored.items())
        treated = {
            "drop": "left out of the scored figures, read by the clinician in the _all figures",
            "first": "counted as flagged before all others",
            "last": "counted as flagged only when everything is read",
        }[choices.unscored]
        notes.append(
            f"{bad + good} labelled answers are unscored ({bad} incomplete, {good} complete{'; ' + why if why else ''}): {treated}"
        )
    unlabelled = int((cell.label < 0).sum())
    if unlabelled:
        scored = int((cell.scored & (cell.label < 0)).sum())
        notes.append(f"{unlabelled} answers have no label ({scored} of them scored): not in any figure")
    return notes


def _remarks(
    found: Auc, wald: Interval, headline: Headline, point: Point, clustered: bool, groups: Any, m: int, n: int,
    choices: Choices, optimistic: bool, units: int,
) -> list[str]:  # fmt: skip
    notes = []
    if found.value is None:
        notes.append(f"AUC: {found.reason}")
    elif found.value < 0.5:
        other = "lower" if choices.higher_is_worse else "higher"
        now = "higher" if choices.higher_is_worse else "lower"
        notes.append(
            f"AUC under .5, not flipped: {now} score must mean more incomplete; did you mean "
            + (
                "to leave --higher-is-worse out?"
                if choices.higher_is_worse
                else f"--higher-is-worse ({other} = worse)?"
            )
        )
    if found.value is not None and wald.reason:
        notes.append(f"AUC interval: {wald.reason}")
    if headline.pairs is not None:
        notes.append(
            f"AUC of {found.value:g}: the headline interval is Clopper-Pearson on {headline.pairs} disjoint pairs"
        )
    if clustered:
        count = len(set(groups.tolist()))
        notes.append(
            f"{groups.size} answers in {count} clusters: Obuchowski's variance, t with {count - 1} degrees; no Mann-Whitney test"
        )
    need = smallest_sample(choices.recall)
    if need is not None and 0 < units < need:
        what = "questions with an incomplete answer" if units < m else "incomplete answers"
        notes.append(
            f"{units} {what}: fewer than {need} cannot certify a recall of {choices.recall_text} with 95 % confidence"
        )
    if m and n and min(m, n) < 10:
        notes.append(f"fewer than 10 in a class ({m} incomplete, {n} complete): no verdict")
    if optimistic:
        notes.append("optimistic: the threshold was chosen on the records it is reported on; see recall_loco")
    elif choices.threshold_from:
        notes.append(f"threshold {choices.threshold:g} {choices.threshold_from}")
    if point.reason and not (found.value is None and point.reason == found.reason):
        notes.append(f"operating point: {point.reason}")
    return notes


def _twice_rated(cell: Cell, label: Any, value: Any, used: Any, worse: bool) -> list[str]:
    """Where some labels are one rater's and others a join of several: the same figures over the latter alone."""
    if cell.n_raters is None:
        return []
    several = cell.n_raters[used] > 1
    if not several.any() or several.all():
        return []
    found = auc(label[several], value[several], higher_is_worse=worse)
    told = f"AUC {found.value:.3f}" if found.value is not None else f"no AUC ({found.reason})"
    n, m = int(several.sum()), int(label[several].sum())
    return [
        f"over the {n} answers that several raters labelled alone: {m} incomplete, {told}; the rest have one rater's label"
    ]


def _fixed(cell: Cell, used: Any) -> dict[str, float | None]:
    """F1, precision and recall of the rubric's own verdict for the incomplete class; None where nothing defines them."""
    if cell.fixed is None:
        return {"f1": None, "precision": None, "recall": None}
    known = used & (cell.fixed >= 0)
    truth, said = cell.label[known] == 1, cell.fixed[known] == 1
    weight = np.ones(truth.size) if cell.weight is None else cell.weight[known]
    tp, fp, fn = (float(weight[which].sum()) for which in (truth & said, ~truth & said, truth & ~said))
    return {
        "f1": 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else None,
        "precision": tp / (tp + fp) if tp + fp else None,
        "recall": tp / (tp + fn) if tp + fn else None,
    }


def _cases(cell: Cell, choices: Choices, bad: int, good: int) -> dict[str, Any]:
    """Both extremes of what the unscored answers could do; empty where all are scored."""
    if bad + good == 0 or cell.weight is not None:
        return {}
    labelled = cell.label >= 0
    label, worse = cell.label[labelled] == 1, choices.higher_is_worse
    scored = cell.scored & labelled
    ends = auc_bounds(cell.label[scored] == 1, cell.score[scored], bad, good, higher_is_worse=worse)
    first, last = (fill_unscored(cell.score, how, higher_is_worse=worse)[labelled] for how in (True, False))
    fills = {"first": first, "last": last, "best": np.where(label, first, last), "worst": np.where(label, last, first)}
    points = {
        how: {
            "auc": auc(label, filled, higher_is_worse=worse).value,
            "point": operating_point(label, filled, choices.recall, higher_is_worse=worse),
        }
        for how, filled in fills.items()
    }
    found = {"auc_low": ends[0], "auc_high": ends[1], **points}
    scores = -cell.score[scored] if worse else cell.score[scored]
    low, high = _workload_bounds(cell.label[scored] == 1, scores, bad, good, choices.recall)
    return found | {"workload_low": low, "workload_high": high}


def _workload_bounds(
    label: Any, score: Any, bad: int, good: int, recall: Fraction
) -> tuple[float | None, float | None]:
    """The least and the most to read, as shares, that any scores of the unscored answers could give at the recall target.

    With P incomplete answers k = ceil(recall P) must be caught. Least: if j of the `bad` unscored ones come first and all other unscored last, the
    scored ones must give k - j, and all that tie with the (k - j)th incomplete score are read; the least is over j, since one group of ties
    may catch more than is needed. Most: no unscored one helps, and all of them tie with the kth incomplete score; where the scored ones
    cannot give k, everything is read.
    """
    ours = np.sort(score[label])
    total, needed = score.size + bad + good, -(-recall.numerator * (ours.size + bad) // recall.denominator)
    if not total or not needed:
        return None, None
    reads = [
        j + (int((score <= ours[needed - j - 1]).sum()) if needed > j else 0)
        for j in range(max(0, needed - ours.size), min(bad, needed) + 1)
    ]
    most = int((score <= ours[needed - 1]).sum()) + bad + good if needed <= ours.size else total
    return min(reads) / total, most / total


def _cases_note(cases: dict[str, Any], unscored: int, labelled: int) -> str:
    text = f"{unscored} of {labelled} labelled answers (over 5 %) are unscored"
    if cases["auc_low"] is not None:
        text += f": whatever their scores, the AUC lies between {cases['auc_low']:.2f} and {cases['auc_high']:.2f}"
    if cases["workload_low"] is not None and cases["workload_high"] is not None:
        text += f", the workload between {cases['workload_low']:.2f} and {cases['workload_high']:.2f}"
    return text
