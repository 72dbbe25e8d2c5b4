"""What a run cost and what it bought: tokens, price, per thousand, per correct catch, and cost against quality.

Unknown is unknown: a sum with one unknown price is unknown, with the known part and the number of unknowns beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from judgekit.analysis.ratings import wrote_it
from judgekit.analysis.result import NONE, Column, Result, Table, interval, signature
from judgekit.errors import InputError
from judgekit.runs.model import SCORED, Bill

__all__ = ["QUALITIES", "cost", "frontier"]

QUALITIES = ("auc", "balanced_f1", "recall", "kappa")
UNKNOWN = "unknown"


def cost(
    run: Any,
    *,
    quality: str = "auc",
    rater: str | None = None,
    construct: str | None = None,
    replicates: int = 1000,
    seed: int = 0,
) -> Result:
    """Cost of a run, by model and by data set, rubric and judge.

    Parameters
    ----------
    quality : what is set against cost, over records with a label: ``auc`` of the raw scores, or of the verdicts by fixed threshold
        ``balanced_f1``, ``recall`` of incomplete answers, Cohen's ``kappa``.
    rater : whose labels; by default the run's only rater, or the join that the card stored. Without either, catches and quality
        are None, with the reason.

    Returns
    -------
    Result with tables `spent` (every request ever made, by model: also those that failed, since they are paid too), `bought` (latest
    judgements by data set, rubric and judge: tokens, price of each thousand, of each correct catch), `frontier` (which judges no
    other beats at lower or equal cost; a judge of unknown cost or undefined quality has no place).

    A correct catch is an answer that the clinician calls incomplete and the judge, by its fixed threshold, does too.
    """
    if quality not in QUALITIES:
        raise InputError(f"{quality!r} is no quality", field="quality", mend=f"one of {', '.join(QUALITIES)}")
    calls = run.calls
    spent = [_spent(str(model), part) for model, part in calls.groupby("model", sort=True)] if len(calls) else []
    if len(spent) > 1:
        spent.append(_spent("all", calls))
    frame = run.latest()
    labels = _labels(run, rater, construct)
    known = {name: _truth(labels[labels["dataset"] == name], rater) for name in dict.fromkeys(frame["dataset"])}
    whys = list(dict.fromkeys(why for _, why, _ in known.values() if why))
    keys = ["dataset", "rubric", "judge"]
    rules = {(row.name, row.ask, row.score_fp): row.complete_when for row in run.rubrics.itertuples()}
    bought = [
        dict(zip(keys, map(str, key), strict=True)) | _bought(
            part, *_fair(*known[key[0]], str(key[2])), quality, {"replicates": replicates, "seed": seed},
            (rules.get(tuple(part.iloc[0][["rubric", "ask", "score_fp"]])) or "").lstrip().startswith("<"),
        )
        for key, part in frame.groupby(keys, sort=False)
    ] if len(frame) else []  # fmt: skip
    for name in dict.fromkeys(row["dataset"] for row in bought):
        mine = [row for row in bought if row["dataset"] == name]
        for row, on in zip(mine, frontier([(row["per_thousand"], row["quality"]) for row in mine]), strict=True):
            row["on_frontier"] = on
    notes = []
    if not bought:
        notes.append("the run holds no judgements")
    if any(row["cost"] is None for row in [*spent, *bought]):
        notes.append("unknown prices stay unknown: a sum with one of them is unknown, and at least what is known of it")
    if frame.attrs.get("left_out"):
        n = sum(item["n"] for item in frame.attrs["left_out"])
        notes.append(
            f"{n} judgements under earlier versions are left out of what was bought; their calls were paid all the same"
        )
    notes += [
        f"{row['rubric']} by {row['judge']}: on {row['n_tied']} records the samples' verdicts tie, which is no verdict: no catch, and in no quality but the AUC"
        for row in bought
        if row["n_tied"]
    ]
    notes += whys if bought else []
    if any(row["n_calls_shared"] for row in bought):
        notes.append(
            "judgements that share a call (a checklist, a repeated text) each show its full price: `spent` counts it once"
        )
    return Result(
        [
            Table("spent", "Spent: every request", spent, _SPENT),
            Table("bought", "Bought: the latest judgements", bought, _BOUGHT),
            Table(
                "frontier", f"Cost against quality ({quality})",
                sorted(bought, key=lambda row: (row["dataset"], row["per_thousand"] is None, row["per_thousand"] or 0.0)), _FRONT,
            ),
        ],
        signature(cost="USD", quality=quality, rater=rater or "card", replicates=replicates, seed=seed),
        notes,
    )  # fmt: skip


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
    bill = sum((bill_of(row) for row in part.itertuples()), Bill())
    total, known, unknown = bill.exact, bill.at_least, sum(1 for cost in part["cost"] if cost is None)
    return {
        "model": model, "calls": len(part), "failed": int((part["status"] != "ok").sum()), "tokens_in": _tokens(part["tokens_in"]),
        "tokens_out": _tokens(part["tokens_out"]), "cost": total, "cost_known": known, "cost_at_most": bill.at_most, "n_unknown": unknown,
        "per_thousand_calls": None if total is None or not len(part) else 1000 * total / len(part),
    }  # fmt: skip


def bill_of(call: Any) -> Bill:
    """The bill of a row of `run.calls`."""
    answered = call.tokens_in is not None or call.text is not None or call.latency_s is not None
    return Bill.of(call.cost, call.effective or {}, answered)


def _bought(
    part: Any, truth: dict[Any, bool], why: str | None, quality: str, boot: dict[str, Any], worse: bool
) -> dict[str, Any]:
    # A rule and a skipped record cost nothing; a verdict recorded elsewhere has no calls here, and its price is unknown.
    free = part["status"].isin(("rule", "skipped")) & ~part["calls"].map(bool)
    asked = part[~free]
    total, known, unknown = _sum(asked["cost"])
    scored = part[part["status"].isin(SCORED)]
    used = [call for calls in part["calls"] for call in calls]
    caught, units, labelled = _catches(scored, truth)
    tied = (
        len({(row.dataset, row.record_id) for row in scored.itertuples() if row.complete is not None} & set(truth))
        - labelled
    )
    found = _quality(scored, truth, quality, boot, worse) if truth else {"quality": None}
    reason = (
        why if why else found.get("reason") or (None if caught is not None else "no fixed threshold (complete_when)")
    )
    return {
        "judgements": len(part), "scored": len(scored), "asked": len(asked), "n_calls": len(set(used)),
        "n_calls_shared": len(used) - len(set(used)), "tokens_in": _tokens(asked["tokens_in"]),
        "tokens_out": _tokens(asked["tokens_out"]), "cost": total, "cost_known": known, "n_unknown": unknown,
        "per_thousand": None if total is None or not len(part) else 1000 * total / len(part),
        "n_labelled": labelled + tied, "n_tied": tied, "n_incomplete": units, "caught": caught,
        "per_catch": None if total is None or not caught else total / caught,
        "quality": found.get("quality"), "quality_low": found.get("low"), "quality_high": found.get("high"), "reason": reason,
    }  # fmt: skip


def _labels(run: Any, rater: str | None, construct: str | None) -> Any:
    """Labels with a verdict, of the construct and rater that were asked for."""
    labels = run.labels
    labels = labels[labels["complete"].notna()]
    for column, wanted in (("construct", construct), ("rater", rater)):
        names = list(dict.fromkeys(labels[column]))
        if wanted is not None and wanted not in names:
            there = f"there are {', '.join(map(str, names))}" if names else "no record has a verdict"
            raise InputError(f"no {column} is called {wanted!r}", field=column, mend=there)
        if wanted is not None:
            labels = labels[labels[column] == wanted]
    return labels


def _truth(labels: Any, rater: str | None) -> tuple[dict[Any, bool], str | None, str | None]:
    """Incomplete or not by record of one data set, why there is no such thing, and whose labels these are."""
    names = list(dict.fromkeys(labels["rater"]))
    joins = [name for name in names if str(name).startswith("join:")]
    people = [name for name in names if name not in joins]
    constructs = sorted(set(labels["construct"]))
    if not names:
        return {}, "no record has a clinician's verdict: catches and quality are unknown", None
    if len(constructs) > 1:
        return {}, f"labels of several constructs ({', '.join(constructs)}): name one with --construct", None
    if rater is None and len(joins) != 1 and len(people) != 1:
        return {}, f"{len(people)} raters and nothing says how to join them: name one with --rater", None
    chosen = rater or (joins[0] if len(joins) == 1 else people[0])
    mine = labels[labels["rater"].map(lambda name: name == chosen)]
    return {(row.dataset, row.record_id): not row.complete for row in mine.itertuples()}, None, chosen


def _fair(truth: dict[Any, bool], why: str | None, rater: str | None, judge: str) -> tuple[dict[Any, bool], str | None]:
    return ({}, "the judge's own model wrote the labels") if wrote_it(rater, judge) else (truth, why)


def _by_record(scored: Any, truth: dict[Any, bool], column: str) -> tuple[list[bool], list[float], list[str]]:
    """Label, mean over samples and cluster of every labelled record with a value; samples whose verdicts tie are no verdict."""
    values: dict[Any, list[float]] = {}
    cluster: dict[Any, str] = {}
    for row in scored.itertuples():
        key, value = (row.dataset, row.record_id), getattr(row, column)
        if key in truth and value is not None:
            values.setdefault(key, []).append(float(value))
            cluster[key] = row.cluster
    tied = column == "complete"
    keys = [key for key, said in values.items() if not tied or 2 * sum(said) != len(said)]
    return (
        [truth[key] for key in keys],
        [sum(values[key]) / len(values[key]) for key in keys],
        [cluster[key] for key in keys],
    )


def _catches(scored: Any, truth: dict[Any, bool]) -> tuple[int | None, int | None, int]:
    label, complete, _ = _by_record(scored, truth, "complete")
    if not label:
        return None, None, 0
    return sum(bad and share < 0.5 for bad, share in zip(label, complete, strict=True)), sum(label), len(label)


def _quality(scored: Any, truth: dict[Any, bool], quality: str, boot: dict[str, Any], worse: bool) -> dict[str, Any]:
    import numpy as np

    if quality == "auc":
        from judgekit.stats.auc import auc, auc_headline

        label, raw, clusters = _by_record(scored, truth, "raw")
        found = auc(label, raw, higher_is_worse=worse)
        if found.value is None:
            return {"quality": None, "reason": found.reason or "no record is both scored and labelled"}
        span = auc_headline(label, raw, clusters=clusters, higher_is_worse=worse).interval
        return {"quality": float(found.value), "low": span.low, "high": span.high}
    from judgekit.stats.agreement import balanced_f1, cohen_kappa
    from judgekit.stats.proportion import clustered_share

    label, complete, clusters = _by_record(scored, truth, "complete")
    a = np.asarray(label, dtype=np.int64)
    b = np.asarray([share < 0.5 for share in complete], dtype=np.int64)
    if not len(a):
        return {"quality": None, "reason": "no record has a label and a verdict by fixed threshold"}
    if quality == "recall":
        share = clustered_share(b[a == 1], [name for name, bad in zip(clusters, a, strict=True) if bad])
        return {
            "quality": share.value,
            "low": share.low,
            "high": share.high,
            "reason": share.reason and "no incomplete record",
        }
    of = (
        balanced_f1(a, b, clusters=clusters, **boot)
        if quality == "balanced_f1"
        else cohen_kappa(a, b, n_levels=2, clusters=clusters, **boot)
    )
    return {"quality": of.value, "low": of.low, "high": of.high, "reason": of.reason}


def _dollars(value: Any) -> str:
    if value is None:
        return UNKNOWN
    return f"${value:.2f}" if value >= 1 or value == 0 else f"${value:.3g}"


def _known(row: dict[str, Any]) -> str:
    if row["cost"] is not None:
        return _dollars(row["cost"])
    if row.get("cost_at_most") is not None:
        return f"at least {_dollars(row['cost_known'])}, at most {_dollars(row['cost_at_most'])}"
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
