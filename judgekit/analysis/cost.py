"""What a run cost and what it bought: tokens, price, per thousand, per correct catch, and cost against quality.

Unknown is unknown: a sum with one unknown price is unknown, with the known part and the number of unknowns beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from judgekit.analysis.guards import same_model
from judgekit.analysis.options import Seeded, function, opt
from judgekit.analysis.result import NONE, Column, Result, Table, interval, signature
from judgekit.errors import InputError, StatisticsError
from judgekit.runs.model import SCORED

if TYPE_CHECKING:
    from judgekit.analysis.said import Judged
    from judgekit.analysis.source import Source

__all__ = ["Cost", "cost", "frontier"]

UNKNOWN = "unknown"


class Cost(Seeded):
    """What a run cost, and what it bought: tokens, price, per thousand, per correct catch, cost against quality.

    Tables: `spent` (every request ever made, by model: also those that failed, since they are paid too), `bought` (latest judgements by
    data set, rubric and judge), `frontier` (which judges no other beats at lower or equal cost; a judge of unknown cost or undefined
    quality has no place). A correct catch is an answer that the clinician calls incomplete and the judge, by its fixed threshold, does too.
    """

    name: ClassVar[str] = "cost"
    reads: ClassVar[tuple[str, ...]] = ("run",)

    quality: Literal["auc", "balanced_f1", "recall", "kappa"] = opt("auc", "What is set against cost.")
    rater: str | None = opt(
        None, "Whose labels: a name or a join; by default the only rater's, or the join of the card."
    )
    construct: str | None = opt(  # type: ignore[assignment]
        None, "Which labels, when they speak of several constructs."
    )
    replicates: int = opt(1000, "Bootstrap resamples; 0: none.", ge=0)

    def analyse(self, source: Source) -> Result:
        calls = source.run.calls  # type: ignore[attr-defined]
        spent = [_spent(str(model), part) for model, part in calls.groupby("model", sort=True)] if len(calls) else []
        if len(spent) > 1:
            spent.append(_spent("all", calls))
        frame = source.latest  # type: ignore[attr-defined]
        boot = {"replicates": self.replicates, "seed": self.seed, "level": self.level}
        bought, whys = [], []
        judged = {(one.dataset, one.rubric, one.judge): one for one in source.judged}
        for key, part in frame.groupby(["dataset", "rubric", "judge"], sort=False) if len(frame) else ():
            dataset, rubric, judge = map(str, key)
            one = judged[dataset, rubric, judge]
            truth, why = _truth(source, one)
            whys += [why] if why else []
            head = {"dataset": one.dataset, "rubric": one.rubric, "judge": one.judge}
            bought.append(head | _bought(part, one, truth, why, source, self.quality, boot))
        for name in dict.fromkeys(row["dataset"] for row in bought):
            mine = [row for row in bought if row["dataset"] == name]
            for row, on in zip(mine, frontier([(row["per_thousand"], row["quality"]) for row in mine]), strict=True):
                row["on_frontier"] = on
        notes = list(dict.fromkeys(source.left_out))
        if not bought:
            notes.append("the run holds no judgements")
        if any(row["cost"] is None for row in [*spent, *bought]):
            notes.append(
                "unknown prices stay unknown: a sum with one of them is unknown, and at least what is known of it"
            )
        if frame.attrs.get("left_out") or any("earlier version" in line for line in source.left_out):
            notes.append("what is left out was paid all the same: `spent` counts it")
        notes += [
            f"{row['rubric']} by {row['judge']}: on {row['n_tied']} records the samples' verdicts tie, which is no verdict: no catch, and in no quality but the AUC"
            for row in bought
            if row["n_tied"]
        ]
        notes += list(dict.fromkeys(whys))
        if any(row["n_calls_shared"] for row in bought):
            notes.append(
                "judgements that share a call (a checklist, a repeated text) each show its full price: `spent` counts it once"
            )
        ranked = sorted(
            bought, key=lambda row: (row["dataset"], row["per_thousand"] is None, row["per_thousand"] or 0.0)
        )
        return Result(
            [
                Table("spent", "Spent: every request", spent, _SPENT),
                Table("bought", "Bought: the latest judgements", bought, _BOUGHT),
                Table("frontier", f"Cost against quality ({self.quality})", ranked, _FRONT),
            ],
            signature(
                cost="USD", quality=self.quality, rater=self.rater or "card", samples="mean, then the rule", source=source.name, **boot
            ),
            notes,
        )  # fmt: skip


cost = function(Cost)


def _truth(source: Source, judged: Judged) -> tuple[dict[str, bool], str | None]:
    """Incomplete or not by record, and why there is no such thing."""

    from judgekit.data.labels import is_join

    answers = source.of(judged)
    if not any(label.complete is not None for answer in answers for label in answer.labels):
        return {}, "no record has a clinician's verdict: catches and quality are unknown"
    try:
        raters = source.wanted_raters(answers, judged.construct)
    except StatisticsError as error:
        raise InputError(error.message, field=error.field, mend=error.mend) from None
    if len(raters) > 1:
        return {}, f"{len(raters)} raters and nothing says how to join them: name one with --rater"
    people = {
        label.rater
        for answer in answers
        for label in answer.labels
        if label.construct == judged.construct and not is_join(label)
    }
    named = people if raters[0] is None or is_join(raters[0]) else {raters[0]}
    if same_model(judged.judge, sorted(str(one) for one in named if one), judged.members) is not None:
        return {}, "the judge's own model wrote the labels"
    labels = source.labels(answers, judged.construct, raters[0])
    return {key: not one.complete for key, one in labels.items() if one is not None and one.complete is not None}, None


def frontier(points: Sequence[tuple[float | None, float | None]]) -> list[bool | None]:
    """For each (cost, quality): whether no other is at least as good on both and better on one; None where either is unknown."""
    known = [(c, q) for c, q in points if c is not None and q is not None]
    return [
        None
        if c is None or q is None
        else not any(other[0] <= c and other[1] >= q and other != (c, q) for other in known)
        for c, q in points
    ]


def _sum(values: Iterable[Any]) -> tuple[float | None, float, int]:
    """The sum, None when a value is unknown; the known part; how many are unknown."""
    there = list(values)
    unknown = sum(1 for value in there if value is None)
    known = float(sum(value for value in there if value is not None))
    return (None if unknown else known), known, unknown


def _tokens(values: Iterable[Any]) -> int | None:
    total, _, _ = _sum(values)
    return None if total is None else int(total)


def _spent(model: str, part: Any) -> dict[str, Any]:
    total, known, unknown = _sum(part["cost"])
    return {
        "model": model, "calls": len(part), "failed": int((part["status"] != "ok").sum()), "tokens_in": _tokens(part["tokens_in"]),
        "tokens_out": _tokens(part["tokens_out"]), "cost": total, "cost_known": known, "n_unknown": unknown,
        "per_thousand_calls": None if total is None or not len(part) else 1000 * total / len(part),
    }  # fmt: skip


def _bought(
    part: Any,
    judged: Judged,
    truth: dict[str, bool],
    why: str | None,
    source: Source,
    quality: str,
    boot: dict[str, Any],
) -> dict[str, Any]:
    # A rule and a skipped record cost nothing; a verdict recorded elsewhere has no calls here, and its price is unknown.
    free = part["status"].isin(("rule", "skipped")) & ~part["calls"].map(bool)
    asked = part[~free]
    total, known, unknown = _sum(asked["cost"])
    used = [call for calls in part["calls"] for call in calls]
    said = {key: one for key, one in judged.said.items() if key in truth}
    verdicts = {key: one.complete for key, one in said.items() if one.complete is not None}
    tied = sum(one.tied for one in said.values())
    caught = sum(truth[key] and not complete for key, complete in verdicts.items()) if verdicts else None
    found = _quality(judged, truth, verdicts, source, quality, boot) if truth else {"quality": None}
    reason = why or found.get("reason") or (None if caught is not None else "no fixed threshold (complete_when)")
    return {
        "judgements": len(part), "scored": int(part["status"].isin(SCORED).sum()), "asked": len(asked), "n_calls": len(set(used)),
        "n_calls_shared": len(used) - len(set(used)), "tokens_in": _tokens(asked["tokens_in"]),
        "tokens_out": _tokens(asked["tokens_out"]), "cost": total, "cost_known": known, "n_unknown": unknown,
        "per_thousand": None if total is None or not len(part) else 1000 * total / len(part),
        "n_labelled": len(verdicts) + tied, "n_tied": tied, "n_incomplete": sum(truth[key] for key in verdicts) if verdicts else None,
        "caught": caught, "per_catch": None if total is None or not caught else total / caught,
        "quality": found.get("quality"), "quality_low": found.get("low"), "quality_high": found.get("high"), "reason": reason,
    }  # fmt: skip


def _quality(
    judged: Judged,
    truth: dict[str, bool],
    verdicts: dict[str, bool],
    source: Source,
    quality: str,
    boot: dict[str, Any],
) -> dict[str, Any]:
    import numpy as np

    def clusters(keys: Iterable[str]) -> list[str]:
        return [str(source.answers[judged.dataset, key].cluster) for key in keys]

    if quality == "auc":
        from judgekit.stats.auc import auc, auc_headline

        raws = {key: one.raw for key, one in judged.said.items() if key in truth and one.raw is not None}
        label, raw = [truth[key] for key in raws], list(raws.values())
        worse = (judged.complete_when or "").lstrip().startswith("<")
        found = auc(label, raw, higher_is_worse=worse)
        if found.value is None:
            return {"quality": None, "reason": found.reason or "no record is both scored and labelled"}
        span = auc_headline(label, raw, clusters=clusters(raws), higher_is_worse=worse).interval
        return {"quality": float(found.value), "low": span.low, "high": span.high}
    from judgekit.stats.agreement import balanced_f1, cohen_kappa
    from judgekit.stats.proportion import clustered_share

    a = np.asarray([truth[key] for key in verdicts], dtype=np.int64)
    b = np.asarray([not complete for complete in verdicts.values()], dtype=np.int64)
    groups = clusters(verdicts)
    if not len(a):
        return {"quality": None, "reason": "no record has a label and a verdict by fixed threshold"}
    if quality == "recall":
        share = clustered_share(b[a == 1], [name for name, bad in zip(groups, a, strict=True) if bad])
        return {
            "quality": share.value,
            "low": share.low,
            "high": share.high,
            "reason": share.reason and "no incomplete record",
        }
    of = (
        balanced_f1(a, b, clusters=groups, **boot)
        if quality == "balanced_f1"
        else cohen_kappa(a, b, n_levels=2, clusters=groups, **boot)
    )
    return {"quality": of.value, "low": of.low, "high": of.high, "reason": of.reason}


def _dollars(value: Any) -> str:
    if value is None:
        return UNKNOWN
    return f"${value:.2f}" if value >= 1 or value == 0 else f"${value:.3g}"


def _known(row: dict[str, Any]) -> str:
    if row["cost"] is not None:
        return _dollars(row["cost"])
    if not row["cost_known"]:
        return UNKNOWN
    return f"{UNKNOWN} ({row['n_unknown']} of them; known {_dollars(row['cost_known'])})"


def _count(value: Any) -> str:
    return UNKNOWN if value is None else f"{value:,}"


def _catch(row: dict[str, Any]) -> str:
    if row["caught"] is None:
        return NONE
    return f"{row['caught']} of {row['n_incomplete']}"


def _mark(value: Any) -> str:
    return {True: "on it", False: "beaten", None: UNKNOWN}[value]


_SPENT = [
    Column("model"), Column("calls"), Column("failed"), Column("tokens_in", "tokens in", _count),
    Column("tokens_out", "tokens out", _count), Column("cost", "cost", _known, whole=True),
    Column("per_thousand_calls", "per 1,000 calls", _dollars),
]  # fmt: skip
_BOUGHT = [
    Column("dataset"), Column("rubric"), Column("judge"), Column("judgements"), Column("scored"),
    Column("tokens_in", "tokens in", _count), Column("tokens_out", "tokens out", _count),
    Column("cost", "cost", _known, whole=True), Column("per_thousand", "per 1,000", _dollars),
    Column("caught", "caught", _catch, whole=True), Column("per_catch", "per correct catch", _dollars),
]  # fmt: skip
_FRONT = [
    Column("dataset"), Column("rubric"), Column("judge"), Column("per_thousand", "per 1,000", _dollars),
    Column("n_labelled", "labelled"), Column("quality", "quality [95 %]", interval("quality"), whole=True),
    Column("on_frontier", "frontier", _mark),
]  # fmt: skip
