"""`stability judge`: how far a judge's verdicts move when only the rubric's words do, or only the answer's length.

Verdicts at the same wording differ too when a judge samples. That noise is measured on repeated samples and subtracted: what is left
is due to the wording. Without repeated samples it is unknown, and so is the excess.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from judgekit import __version__
from judgekit.data import RecordSet
from judgekit.data.labels import joined_set
from judgekit.errors import InputError, StatisticsError, UsageError
from judgekit.judging.engine.units import Options
from judgekit.judging.provider.types import JudgeSpec
from judgekit.records import Record
from judgekit.rubric.compile import CompiledRubric
from judgekit.runs.model import Judgement
from judgekit.runs.store import RunStore
from judgekit.stability.checks import check_pairs
from judgekit.stability.make import ask_all
from judgekit.stability.rewrite import BUILT_IN, Wording, built_in, pad, pieces, reload, rewritten
from judgekit.stability.study import NAME, Spent, save
from judgekit.stability.variants import plain_reply
from judgekit.stats.auc import auc, paired_auc
from judgekit.stats.operating_point import operating_point
from judgekit.stats.resample import cluster_bootstrap, percentile_interval
from judgekit.stats.stability import disagreement, mean_over

__all__ = ["WAYS", "JudgeStability", "judge_stability"]

WAYS: Final = (*BUILT_IN, "order-criteria", "length")
SAME: Final = "same wording"
UNKNOWN: Final = "the noise at the same wording is unknown"
PIECES: Final = "pieces"


@dataclass
class JudgeStability:
    """What was measured. `rows`: one a wording, in the order asked, the repeated samples of the same wording first.

    `wording` means over all rewordings (length left out). `skipped` maps ways that do not apply to why. `labelled` holds, per record, whether
    a clinician called it incomplete (None: no label).
    """

    rubric: CompiledRubric
    judge: str
    dataset: str
    rows: list[dict[str, Any]]
    overall: dict[str, Any]
    skipped: dict[str, str]
    notes: list[str]
    signature: str
    spent: Spent
    records: tuple[Record, ...] = ()
    base: dict[str, list[Judgement]] = field(default_factory=dict)
    labelled: dict[str, bool | None] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {
            "rubric": self.rubric.name, "fingerprint": self.rubric.ask_fingerprint, "judge": self.judge, "dataset": self.dataset,
            "rows": self.rows, "overall": self.overall, "skipped": self.skipped, "notes": self.notes, "signature": self.signature,
            **self.spent.to_dict(),
        }  # fmt: skip


@dataclass(frozen=True)
class _Told:
    """Verdicts of one wording: per record its samples, as judgements."""

    name: str
    said: Mapping[str, list[Judgement]]

    def levels(self, identity: str) -> list[float | None]:
        return [row.raw for row in self.said.get(identity, [])]

    def verdicts(self, identity: str) -> list[bool | None]:
        return [row.complete for row in self.said.get(identity, [])]

    def mean(self, identity: str) -> float | None:
        known = [value for value in self.levels(identity) if value is not None]
        return float(np.mean(known)) if known else None


def judge_stability(
    rubric: str | Path | CompiledRubric,
    data: RecordSet,
    judge: JudgeSpec,
    out: str | Path,
    *,
    ways: Sequence[str] = WAYS,
    writer: JudgeSpec | None = None,
    rewordings: int = 3,
    samples: int = 3,
    recall: str = "0.9",
    join: str = "card",
    replicates: int = 2000,
    seed: int = 0,
    options: Options | None = None,
    quiet: bool = False,
) -> JudgeStability:
    """Judge the same answers under several wordings of one rubric, and measure how verdicts move.

    Parameters
    ----------
    ways : of `WAYS`: built-in paraphrases (``words``, ``layout``, ``courtesy``), the order of levels, examples and criteria, neutral
        ``label-names``, and ``length`` (the same answer padded without content). One that does not apply is skipped, with the reason.
    writer : a model that also rewords instructions and anchors, `rewordings` times; a piece whose numbers changed stays as it was.
    samples : at the same wording, >= 1; with one sample the judge's noise is unknown, and so is what the wording adds to it.
    recall : target of the workload. join : how raters' labels are joined (see `data.labels.joined`); without a usable label AUC and
        workload are None.

    The same call again asks only what is missing. Raises InputError for a writer of text.
    """
    compiled, options = reload(rubric), options or Options()
    if compiled.output == "text":
        raise InputError(f"{compiled.name} writes texts and gives no verdict", mend="name a rubric that judges")
    unknown = [way for way in ways if way not in WAYS]
    if unknown:
        raise UsageError(f"there is no way {unknown[0]!r}", field="ways", mend=f"of {', '.join(WAYS)}")
    if samples < 1 or rewordings < 1:
        raise UsageError("one sample and one rewording at least")
    spent = Spent(run=str(out))
    wordings = built_in(compiled, [way for way in ways if way in BUILT_IN])
    if writer is not None:
        wordings += _by_writer(compiled, writer, out, rewordings, options, spent, quiet)
    skipped = {one.name: str(one.reason) for one in wordings if one.rubric is None}
    usable = [one for one in wordings if one.rubric is not None]
    others = {}
    for way in ("order-criteria", "length"):
        if way in ways:
            made = _data(way, compiled, data)
            if isinstance(made, str):
                skipped[way] = made
            else:
                others[way] = made
    if not spent.ended_early():
        ask_all([data], [compiled], [judge], out, dataclasses.replace(options, samples=samples), spent, quiet=quiet)
    once = dataclasses.replace(options, samples=1)
    if usable and not spent.ended_early():
        ask_all([data], [one.rubric for one in usable], [judge], out, once, spent, quiet=quiet)
    if others and not spent.ended_early():
        ask_all(list(others.values()), [compiled], [judge], out, once, spent, quiet=quiet)
    with RunStore(out, "r") as store:
        base = _Told(SAME, _said(store, data.name, compiled, judge, samples))
        told = [
            _Told(one.name, _said(store, data.name, one.rubric, judge, 1)) for one in usable if one.rubric is not None
        ]
        told += [_Told(way, _said(store, made.name, compiled, judge, 1)) for way, made in others.items()]
    labelled, why = _labels(data, compiled.construct or "completeness", join)
    measure = _Measure(tuple(data), base, labelled, recall, {"replicates": replicates, "seed": seed})
    rows = [measure.row(one) for one in [base, *told]]
    notes = [f"AUC and workload are not defined: {why}"] if why else []
    if samples == 1:
        notes.append(
            "one sample at the same wording: the judge's own noise is unknown, so nothing is subtracted and the excess is not defined"
        )
    notes += [
        f"{one.name}: {one.kept} pieces kept as they were (the writer changed a number, or gave none)"
        for one in usable
        if one.kept
    ]
    unscored = sum(
        1 for one in [base, *told] for record in data for value in one.levels(record.id) or [None] if value is None
    )
    if unscored:
        notes.append(f"{unscored} wanted judgements are unscored or missing: they are in no pair that is compared")
    found = JudgeStability(
        compiled, judge.notation, data.name, rows, measure.overall([one for one in told if one.name != "length"]), skipped, notes,
        "|".join(
            [f"judgekit:{__version__}", f"rubric:{compiled.name}", f"ask:{compiled.ask_fingerprint[:8]}", f"judge:{judge.notation}",
             f"data:{data.name}", f"n:{len(data)}", f"samples:{samples}", f"recall:{recall}", f"labels:{join}", f"writer:{writer.notation if writer else 'none'}",
             f"bootstrap:{replicates}", f"seed:{seed}"]
        ),
        spent, tuple(data), dict(base.said), labelled,
    )  # fmt: skip
    with save(out) as store:
        store.put_study(NAME, f"judge:{compiled.name}:{judge.notation}", found.to_dict())
    return found


def _said(
    store: RunStore, dataset: str, rubric: CompiledRubric, judge: JudgeSpec, samples: int
) -> dict[str, list[Judgement]]:
    # A rubric that retrieves examples or has its checklist written is asked under a fingerprint of its own: then the latest counts.
    rows: dict[str, list[Judgement]] = {}
    for row in store.judgements(dataset=dataset, rubric=rubric.name, judge=judge.notation):
        if row.score_fp == rubric.score_fingerprint and row.sample < samples:
            rows.setdefault(row.ask, []).append(row)
    latest = store.ask_in_use(dataset, rubric.name, judge.notation)
    found: dict[str, list[Judgement]] = {}
    for row in rows.get(rubric.ask_fingerprint) or rows.get(latest, []):
        found.setdefault(row.record_id, []).append(row)
    return found


def _by_writer(
    rubric: CompiledRubric, writer: JudgeSpec, out: str | Path, n: int, options: Options, spent: Spent, quiet: bool
) -> list[Wording]:
    texts = pieces(rubric)
    editor = reload("reword-instructions")
    records = [Record(id=f"{rubric.name}:{number:03d}", inputs={"piece": text}) for number, text in enumerate(texts)]
    if records:
        ask_all(
            [RecordSet(records, name=PIECES)],
            [editor],
            [writer],
            out,
            dataclasses.replace(options, samples=n),
            spent,
            quiet=quiet,
        )
    made = []
    for sample in range(n):
        new: dict[str, str] = {}
        with RunStore(out, "r") as store:
            for record, text in zip(records, texts, strict=True):
                row = store.judgement(PIECES, record.id, editor.name, writer.notation, sample, editor.ask_fingerprint)
                said = (
                    plain_reply(str((row.verdict or {}).get("text") or ""))
                    if row is not None and row.status == "ok"
                    else ""
                )
                # A tag in a reply would be run as a template; a changed number would be another rule.
                if (
                    said
                    and said != text
                    and not any(mark in said for mark in ("{{", "{%", "{#"))
                    and not _numbers(text, said)
                ):
                    new[text] = said
        made.append(rewritten(rubric, f"reworded-{sample + 1}", new))
    return made


def _numbers(text: str, said: str) -> bool:
    return any(
        violation.check in ("number", "dose", "unit") for violation in check_pairs([(text, said)], ner=None)[0][0]
    )


def _data(way: str, rubric: CompiledRubric, data: RecordSet) -> RecordSet | str:
    if way == "length":
        if "response" not in rubric.spec.inputs:
            return "the rubric reads no response"
        made = [
            record
            if record.response is None or rubric.blank(record)
            else dataclasses.replace(record, response=pad(record.response))
            for record in data
        ]
    else:
        if rubric.spec.criteria is None:
            return "the rubric has no criteria"
        if rubric.spec.criteria.ask == "each":
            return "each criterion is asked by itself, so their order is never seen"
        made = [dataclasses.replace(record, criteria=record.criteria[::-1]) for record in data]
        if all(len(record.criteria) < 2 for record in data):
            return "no record has two criteria of its own"
    # Padding must not change what counts as the same question.
    made = [dataclasses.replace(new, cluster=old.cluster_id) for new, old in zip(made, data, strict=True)]
    return RecordSet(made, name=f"{data.name}~{way}")


def _labels(data: RecordSet, construct: str, join: str) -> tuple[dict[str, bool | None], str | None]:
    try:
        found = joined_set(data, construct, join)
    except StatisticsError as error:
        return {record.id: None for record in data}, str(error)
    labelled = {
        key: None if label is None or label.complete is None else not label.complete for key, label in found.items()
    }
    if not any(value is not None for value in labelled.values()):
        return labelled, f"no record has a label of {construct} that says complete or incomplete"
    return labelled, None


class _Measure:
    """Compares wordings with the base, record by record."""

    def __init__(
        self,
        records: tuple[Record, ...],
        base: _Told,
        labelled: Mapping[str, bool | None],
        recall: str,
        boot: dict[str, Any],
    ) -> None:
        self.records, self.base, self.labelled, self.recall, self.boot = records, base, labelled, recall, boot
        self.clusters = [record.cluster_id for record in records]
        self.noise = {
            "level": [disagreement(base.levels(record.id)) for record in records],
            "verdict": [disagreement(base.verdicts(record.id)) for record in records],
        }

    def _mean(self, row: dict[str, Any], name: str, values: Sequence[float | None], reason: str) -> None:
        found = mean_over(list(values), self.clusters, reason=reason, **self.boot)
        row[name], row[f"{name}_low"], row[f"{name}_high"], row[f"{name}_n"] = (
            found.value,
            found.low,
            found.high,
            found.n,
        )
        if found.reason:
            row[f"{name}_reason"] = found.reason

    def _flips(self, told: _Told, kind: str) -> list[float | None]:
        if told is self.base:
            return self.noise[kind]
        pairs: list[tuple[list[Any], list[Any]]] = []
        for record in self.records:
            if kind == "level":
                pairs.append((list(self.base.levels(record.id)), list(told.levels(record.id))))
            else:
                pairs.append((list(self.base.verdicts(record.id)), list(told.verdicts(record.id))))
        return [disagreement(first, second) for first, second in pairs]

    def row(self, told: _Told) -> dict[str, Any]:
        row: dict[str, Any] = {
            "wording": told.name,
            "n": len(self.records),
            "scored": sum(told.mean(record.id) is not None for record in self.records),
        }
        for kind in ("level", "verdict"):
            flips = self._flips(told, kind)
            why = (
                "fewer than two samples at the same wording" if told is self.base else f"no pair of {kind}s to compare"
            )
            self._mean(row, f"{kind}_mvs", flips, why)
            if told is self.base:
                row[f"{kind}_excess"] = None
                continue
            excess = [
                a - b if a is not None and b is not None else None for a, b in zip(flips, self.noise[kind], strict=True)
            ]
            self._mean(row, f"{kind}_excess", excess, row.get(f"{kind}_mvs_reason") or UNKNOWN)
        if told is self.base:
            row.update(shift=None, auc_change=None, workload_change=None)
        else:
            shifts = [self._shift(told, record.id) for record in self.records]
            self._mean(row, "shift", shifts, "no record is scored under both wordings")
            self._mean(
                row,
                "shift_size",
                [None if value is None else abs(value) for value in shifts],
                "no record is scored under both wordings",
            )
        self._triage(row, told)
        row["reason"] = row.get("level_mvs_reason") or row.get("level_excess_reason")
        return row

    def _shift(self, told: _Told, identity: str) -> float | None:
        before, after = self.base.mean(identity), told.mean(identity)
        return None if before is None or after is None else after - before

    def _triage(self, row: dict[str, Any], told: _Told) -> None:
        kept = [
            (bool(self.labelled[record.id]), before, after, record.cluster_id)
            for record in self.records
            if self.labelled.get(record.id) is not None
            and (before := self.base.mean(record.id)) is not None
            and (after := told.mean(record.id)) is not None
        ]
        label = np.asarray([one[0] for one in kept], dtype=bool)
        first, second = (np.asarray([one[i] for one in kept], dtype=float) for i in (1, 2))
        clusters = np.asarray([one[3] for one in kept])
        row["labelled"] = len(kept)
        row["auc"], row["auc_change"], row["workload"], row["workload_change"] = (None,) * 4
        if not label.any() or label.all():
            row["auc_reason"] = "labelled and scored records are of one class"
            return
        row["auc"] = auc(label, second).value
        row["workload"] = operating_point(label, second, self.recall).workload
        if told is self.base:
            return
        found = paired_auc(label, second, first, clusters=list(clusters))
        row["auc_change"], row["auc_change_low"], row["auc_change_high"], row["auc_p"] = (
            found.difference,
            found.low,
            found.high,
            found.p,
        )

        def change(rows: Any) -> tuple[float | None, ...]:
            a, b = (operating_point(label[rows], score[rows], self.recall).workload for score in (first, second))
            return (None if a is None or b is None else b - a,)

        row["workload_change"] = change(np.arange(label.size))[0]
        repeats = min(self.boot["replicates"], 1000)
        if repeats and len(set(clusters)) > 1:
            drawn = cluster_bootstrap(
                change, list(clusters), label.size, np.random.default_rng(self.boot["seed"]), repeats=repeats
            )
            span = percentile_interval(drawn[0], asked=repeats)
            row["workload_change_low"], row["workload_change_high"] = span.low, span.high

    def overall(self, told: Sequence[_Told]) -> dict[str, Any]:
        """Means over all rewordings: of a record first, then over records."""
        met = [one for one in told if any(value is not None for value in self._flips(one, "level"))]
        row: dict[str, Any] = {"wordings": len(met), "wordings_wanted": len(told)}
        for kind in ("level", "verdict"):
            per = [self._flips(one, kind) for one in told]
            values: list[float | None] = []
            for at in range(len(self.records)):
                known = [value for flips in per if (value := flips[at]) is not None]
                values.append(float(np.mean(known)) if known else None)
            self._mean(row, f"{kind}_mvs", values, "no rewording applies, or none is judged")
            excess = [
                a - b if a is not None and b is not None else None
                for a, b in zip(values, self.noise[kind], strict=True)
            ]
            self._mean(row, f"{kind}_excess", excess, row.get(f"{kind}_mvs_reason") or UNKNOWN)
            self._mean(row, f"{kind}_noise", self.noise[kind], "fewer than two samples at the same wording")
        return row
