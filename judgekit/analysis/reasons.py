"""Do judge and clinician give the same reasons? Pairs to classify, and tables of what the classifier said (Same Verdict, RQ2 and RQ3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from judgekit.analysis.guards import same_model
from judgekit.analysis.options import Seeded, Selected, function, opt
from judgekit.analysis.result import Column, Result, Table, interval, share, signature
from judgekit.errors import DataError, InputError, StatisticsError
from judgekit.runs.model import SCORED

if TYPE_CHECKING:
    from judgekit.analysis.source import Source

__all__ = ["ALIGNMENT", "KINDS", "MODES", "Reasons", "make_pairs", "reasons", "show_reasons"]

KINDS = {
    (True, True): "TP",  # judge incomplete, clinician incomplete
    (False, False): "TN",
    (True, False): "FP",
    (False, True): "FN",
}
ALIGNMENT = ("yes", "partially", "no")
MODES = {
    "FP01": "over-flags minor gaps",
    "FP02": "wants depth beyond a patient's answer",
    "FP03": "safety-netting where nothing is urgent",
    "FP04": "misreads the question or the rubric",
    "FN01": "does not see the omission",
    "FN02": "sees it, thinks it light",
    "FN03": "sees it, finds the answer sufficient",
    "FN04": "the clinician's gap is debatable",
    "FN05": "takes a general referral for guidance",
}
"""Short names of the nine failure modes (Same Verdict, Table 14); the rubric `failure-mode` holds their full wording."""

NO_OMISSION = "No omission was noted."


class Pairs(Selected):
    """Which judgements are paired with clinicians' labels."""

    name: ClassVar[str] = "reasons-make"
    reads: ClassVar[tuple[str, ...]] = ("run",)


class Reasons(Seeded):
    """Do judge and clinician give the same reasons? Tables of a run over the pairs of `reasons make`."""

    name: ClassVar[str] = "reasons"
    reads: ClassVar[tuple[str, ...]] = ("run",)

    hand: str | None = opt(None, "Hand-labelled sample: id, and alignment or mode (CSV or JSONL).", metavar="FILE")

    def analyse(self, source: Source) -> Result:
        rows = []
        if self.hand is not None:
            from judgekit.analysis.frames import table_frame
            from judgekit.data.table import read_table

            frame = table_frame(read_table(self.hand))
            rows = [{str(key): value for key, value in row.items()} for row in frame.to_dict("records")]
        return show_reasons(source, hand=rows, replicates=self.replicates, seed=self.seed, file=self.hand)


reasons = function(Reasons)


def make_pairs(
    run: Any,
    *,
    rubrics: Sequence[str] = (),
    judges: Sequence[str] = (),
    raters: Sequence[str] = (),
    construct: str = "completeness",
    kinds: Sequence[str] = ("TP", "TN", "FP", "FN"),
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """One record a judgement and clinician, for the rubrics `reason-alignment` and `failure-mode`.

    Each has the question and response, and in `inputs` what the two rubrics declare: `pair_kind` (TP, TN, FP or FN; positive is
    incomplete; the judge's verdict by its rubric's fixed threshold), `clinician_reason`, `judge_reason`. The clinician's reason is the
    rationale, else the criteria that the rater found unmet, else, for a complete answer, that no omission was noted.

    Returns
    -------
    (pairs, left_out): `left_out` counts, by reason, judgements and labels that make no pair.

    Raises
    ------
    InputError : an unknown rubric, judge or kind. StatisticsError : there is not one pair.
    """

    from judgekit.analysis.source import open_source
    from judgekit.data.labels import is_join

    for kind in kinds:
        if kind not in KINDS.values():
            raise InputError(f"{kind!r} is no kind of pair", field="kinds", mend=f"some of {', '.join(KINDS.values())}")
    source = open_source(run, Pairs.of({"rubric": list(rubrics), "judge": list(judges)}))
    run, frame = source.run, source.latest  # type: ignore[attr-defined]
    records = {(row.dataset, row.record_id): row for row in run.records.itertuples()}
    labels: dict[tuple[str, str], list[Any]] = {}
    left: Counter[str] = Counter()
    for row in run.labels.itertuples():
        if row.construct == construct and not is_join(row.rater) and (not raters or row.rater in raters):
            labels.setdefault((row.dataset, row.record_id), []).append(row)
    pairs: list[dict[str, Any]] = []
    for row in frame.itertuples():
        key = (row.dataset, row.record_id)
        if row.status not in SCORED:
            left["unscored judgements"] += 1
        elif row.status == "rule":
            left["judgements by rule, which give no reason"] += 1
        elif row.complete is None:
            left["judgements without a fixed threshold (complete_when)"] += 1
        elif key not in labels:
            left["judgements of records without a label"] += 1
        else:
            said = judge_reason(row.verdict, row.criteria)
            for label in labels[key]:
                pair = _pair(row, label, records[key], said, kinds, left)
                if pair is not None:
                    pairs.append(pair)
    if not pairs:
        why = "; ".join(f"{n} {what}" for what, n in left.items()) or "the run holds no judgements"
        raise StatisticsError(f"there is no pair of judge and clinician: {why}")
    return pairs, dict(left)


def _pair(
    row: Any, label: Any, record: Any, said: str | None, kinds: Sequence[str], left: Counter[str]
) -> dict[str, Any] | None:
    if same_model(row.judge, [label.rater]) is not None:
        left["labels that the judge's own model wrote"] += 1
        return None
    if label.complete is None:
        left["labels without a verdict"] += 1
        return None
    kind = KINDS[(not row.complete, not label.complete)]
    if kind not in kinds:
        left[f"{kind} pairs that were not asked for"] += 1
        return None
    reason = clinician_reason(label, record.criteria)
    if said is None:
        left["judgements without a written reason"] += 1
        return None
    if reason is None:
        left["incomplete labels without a rationale"] += 1
        return None
    rater = label.rater or "clinician"
    name = [row.record_id, row.rubric, row.judge, str(row.sample), rater]
    return {
        "id": " | ".join([row.dataset, *name]),
        "question": record.question,
        "response": record.response,
        "cluster": record.cluster,
        "inputs": {"pair_kind": kind, "clinician_reason": reason, "judge_reason": said},
        "meta": {
            "pair_kind": kind, "source_dataset": row.dataset, "source_record": row.record_id, "source_rubric": row.rubric,
            "source_judge": row.judge, "source_sample": row.sample, "source_rater": rater,
        },
    }  # fmt: skip


def judge_reason(verdict: Any, criteria: Any) -> str | None:
    """What a judge wrote: its text fields; of a checklist, the criteria that it found unmet. None without any."""
    if not isinstance(verdict, dict):
        return None
    if isinstance(verdict.get("criteria"), dict):
        asked = {item.get("id"): item for item in criteria or []}
        faults = []
        for key, said in verdict["criteria"].items():
            item = asked.get(key, {})
            # A criterion with negative points describes what must not be there.
            if isinstance(said, dict) and said.get("met") is ((item.get("points") or 1) < 0):
                words = f" ({said['explanation']})" if said.get("explanation") else ""
                faults.append(f"{item.get('text') or key}{words}")
        return "Not as it should be: " + "; ".join(faults) if faults else "Every criterion is as it should be."
    texts = [value.strip() for value in verdict.values() if isinstance(value, str) and value.strip()]
    return "\n".join(texts) or None


def clinician_reason(label: Any, criteria: Any) -> str | None:
    """The rationale, else the unmet criteria and the met ones of negative points, else `NO_OMISSION` for a complete answer; None otherwise."""
    if isinstance(label.rationale, str) and label.rationale.strip():
        return label.rationale.strip()
    if isinstance(label.criteria, dict) and label.criteria:
        asked = {item.get("id"): item for item in criteria or []}
        missing, present = [], []
        for key, word in label.criteria.items():
            item = asked.get(key, {})
            text = str(item.get("text") or key)
            if (item.get("points") or 1) < 0:  # it describes what must not be there
                present += [text] if word is not None and word not in (False, "Neutral", "Contradiction") else []
            elif word in (False, "Neutral", "Contradiction"):
                missing.append(text)
        parts = [
            f"{head}: {'; '.join(some)}"
            for head, some in (("Missing", missing), ("Should not be there", present))
            if some
        ]
        if parts:
            return ". ".join(parts)
    return NO_OMISSION if label.complete else None


def show_reasons(
    source: Source,
    *,
    hand: Sequence[dict[str, Any]] = (),
    replicates: int = 2000,
    seed: int = 0,
    file: str | None = None,
) -> Result:
    """Tables of a run over the pairs of `make_pairs`.

    Parameters
    ----------
    hand : rows of a sample labelled by hand: `id` (the pair's), and `alignment` or `mode` or both.

    Returns
    -------
    Result with tables `alignment` (by kind of pair, and by kind and source rubric), `recall` (share of incomplete labels whose concern the judge
    named, fully and at least partly: TP and FN pairs), `modes` (failure modes by source rubric), `flows` (rubric, kind, mode and
    count, for a Sankey), `classifier` (agreement with the hand labels).

    Raises
    ------
    InputError : the run holds no judgement with an alignment or a mode. DataError : a hand label that is not on the scale or names no pair.
    """
    rows, left = _classified(source)
    boot = {"replicates": replicates, "seed": seed}
    aligned = [row for row in rows if row["alignment"] is not None]
    moded = [row for row in rows if row["mode"] is not None]
    rubrics = list(dict.fromkeys(row["source_rubric"] for row in rows))
    alignment = [one for kind in KINDS.values() for one in [_aligned("all", kind, aligned)] if one["n"]]
    if len(rubrics) > 1:
        alignment += [
            one for name in rubrics for kind in KINDS.values() for one in [_aligned(name, kind, aligned)] if one["n"]
        ]
    recall = [one for name in ["all", *(rubrics if len(rubrics) > 1 else [])] for one in [_recall(name, aligned)]]
    modes = [one for name in ["all", *rubrics] for kind in ("FP", "FN") for one in _modes(name, kind, moded)]
    flows = Counter((row["source_rubric"], row["pair_kind"], row["mode"]) for row in moded)
    notes = [f"{n} judgements are unscored and left out ({status})" for status, n in left.items()]
    notes.append(
        "alignment measures recall of the clinician's concerns: further concerns of the judge take nothing away"
    )
    tables = [
        Table("alignment", "Does the judge name the clinician's concern?", alignment, _ALIGNED),
        Table("recall", "Recall of clinicians' concerns, over incomplete labels (TP and FN)", recall, _RECALL),
        Table("modes", "Failure modes, by rubric", modes, _MODES),
        Table("flows", "Flows", [dict(zip(("rubric", "kind", "mode", "count"), (*key, n), strict=True)) for key, n in flows.items()],
              [Column("rubric"), Column("kind"), Column("mode"), Column("count")]),
        Table("classifier", "The classifier against hand labels", _hand(rows, hand, boot, file) if hand else [], _HAND),
    ]  # fmt: skip
    if hand:
        notes.append("the classifier is a judge too: read its tables no more closely than it agrees with hand labels")
    judges = list(dict.fromkeys(row["classifier"] for row in rows))
    return Result(
        tables, signature(reasons=judges, pairs=len(rows), source=source.name, replicates=replicates, seed=seed), notes
    )


def _classified(source: Source) -> tuple[list[dict[str, Any]], Counter[str]]:
    run = source.run  # type: ignore[attr-defined]
    records = {(row.dataset, row.record_id): row for row in run.records.itertuples()}
    rows, left, seen = [], Counter[str](), 0
    for row in source.latest.itertuples():  # type: ignore[attr-defined]
        record = records[(row.dataset, row.record_id)]
        kind = (record.inputs or {}).get("pair_kind")
        if kind not in KINDS.values():
            continue
        if row.status == "skipped" and kind in ("TP", "TN"):
            continue  # a failure mode exists for FP and FN only
        seen += 1
        verdict = row.verdict if isinstance(row.verdict, dict) else {}
        if row.status not in SCORED:
            left[row.status] += 1
            continue
        said, mode = verdict.get("alignment"), verdict.get("mode")
        if said is None and mode is None:
            continue
        meta = record.meta or {}
        rows.append(
            {
                "id": row.record_id, "cluster": record.cluster, "pair_kind": kind, "classifier": row.judge,
                "aware": verdict.get("aware"),
                "alignment": None if said is None else str(said).lower(), "mode": None if mode is None else str(mode),
                "source_rubric": meta.get("source_rubric", "unknown"), "source_judge": meta.get("source_judge", "unknown"),
            }
        )  # fmt: skip
    if not rows:
        what = "every pair is unscored" if seen else "no record of the run is a pair of reasons"
        raise InputError(
            f"{what}, so there is nothing to show",
            file=str(getattr(run, "path", "")) or None,
            mend="judgekit reasons make RUN --out pairs.jsonl, then judgekit judge pairs.jsonl --rubric reason-alignment --rubric failure-mode",
        )
    return rows, left


def _of(rows: Sequence[dict[str, Any]], rubric: str, kinds: Sequence[str]) -> list[dict[str, Any]]:
    return [row for row in rows if row["pair_kind"] in kinds and rubric in ("all", row["source_rubric"])]


def _aligned(rubric: str, kind: str, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    from judgekit.stats.proportion import clustered_share

    mine = _of(rows, rubric, [kind])
    count = Counter(row["alignment"] for row in mine)
    full = clustered_share([row["alignment"] == "yes" for row in mine], [row["cluster"] for row in mine])
    return {
        "rubric": rubric, "kind": kind, "n": len(mine), **{word: count.get(word, 0) for word in ALIGNMENT},
        **{f"share_{word}": count.get(word, 0) / len(mine) if mine else None for word in ALIGNMENT},
        "share_yes_low": full.low, "share_yes_high": full.high,
    }  # fmt: skip


def _recall(rubric: str, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    from judgekit.stats.proportion import clustered_share

    mine = _of(rows, rubric, ["TP", "FN"])
    clusters = [row["cluster"] for row in mine]
    full = clustered_share([row["alignment"] == "yes" for row in mine], clusters)
    part = clustered_share([row["alignment"] in ("yes", "partially") for row in mine], clusters)
    return {
        "rubric": rubric, "n": len(mine), "full": full.value, "full_low": full.low, "full_high": full.high,
        "partial": part.value, "partial_low": part.low, "partial_high": part.high, "reason": full.reason,
    }  # fmt: skip


def _modes(rubric: str, kind: str, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    from judgekit.stats.proportion import clustered_share

    mine = _of(rows, rubric, [kind])
    count = Counter(row["mode"] for row in mine)
    names = [code for code in MODES if code.startswith(kind)]
    names += sorted(code for code in count if code not in names)
    out = []
    for code in names if mine else []:
        found = clustered_share([row["mode"] == code for row in mine], [row["cluster"] for row in mine])
        out.append(
            {
                "rubric": rubric, "kind": kind, "mode": code, "meaning": MODES.get(code, "-"), "count": count.get(code, 0),
                "n": len(mine), "share": found.value, "share_low": found.low, "share_high": found.high,
            }
        )  # fmt: skip
    return out


def _hand(
    rows: Sequence[dict[str, Any]], hand: Sequence[dict[str, Any]], boot: dict[str, Any], file: str | None
) -> list[dict[str, Any]]:
    from judgekit.stats.agreement import cohen_kappa, encode, percent_agreement

    seen: dict[Any, Any] = {}
    for row in hand:
        if row.get("id") in seen:
            raise DataError(
                f"the pair {row.get('id')!r} is labelled twice", file=file, line=row.get("__line__"), field="id",
                mend="keep one row a pair",
            )  # fmt: skip
        seen[row.get("id")] = row
    out = []
    for field, levels in (("alignment", list(ALIGNMENT)), ("mode", list(MODES))):
        said = {row["id"]: row for row in rows if row[field] is not None}
        mine = [row for row in hand if row.get(field)]
        pairs = []
        for row in mine:
            word = str(row[field]).lower() if field == "alignment" else str(row[field]).upper()
            if word not in levels:
                raise DataError(
                    f"{row[field]!r} is no {field}",
                    file=file,
                    line=row.get("__line__"),
                    field=field,
                    mend=f"one of {', '.join(levels)}",
                )
            if row.get("id") in said:
                pairs.append((said[row["id"]], word))
        if not mine:
            continue
        codes = [encode([pair[0][field] if pair[0][field] in levels else None for pair in pairs], levels)]
        codes.append(encode([word for _, word in pairs], levels))
        common = {"n_levels": len(levels), "clusters": [pair[0]["cluster"] for pair in pairs], **boot}
        same, kappa = percent_agreement(*codes, **common), cohen_kappa(*codes, **common)
        out.append(
            {
                "field": field, "n": same.n, "n_hand": len(mine), "percent": same.value, "percent_low": same.low,
                "percent_high": same.high, "kappa": kappa.value, "kappa_low": kappa.low, "kappa_high": kappa.high,
                "reason": kappa.reason,
            }
        )  # fmt: skip
    if not out:
        raise DataError(
            "the hand labels hold no alignment and no mode", file=file, mend="give the columns id, alignment and mode"
        )
    return out


_ALIGNED = [
    Column("rubric"), Column("kind"), Column("n", "pairs"), Column("share_yes", "yes [95 %]", interval("share_yes", 2), whole=True),
    Column("share_partially", "partially", share), Column("share_no", "no", share),
]  # fmt: skip
_RECALL = [
    Column("rubric"), Column("n", "pairs"), Column("full", "named in full", interval("full", 2), whole=True),
    Column("partial", "at least in part", interval("partial", 2), whole=True),
]  # fmt: skip
_MODES = [
    Column("rubric"), Column("kind"), Column("mode"), Column("meaning"), Column("count"), Column("n", "of"),
    Column("share", "share [95 %]", interval("share", 2), whole=True),
]  # fmt: skip
_HAND = [
    Column("field"), Column("n", "pairs"), Column("n_hand", "hand labels"), Column("percent", "same", share),
    Column("kappa", "kappa [95 %]", interval("kappa", 2), whole=True),
]  # fmt: skip
