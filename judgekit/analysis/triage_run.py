"""Turns a run into triage cells: samples averaged within a record, labels joined in a stated way, guards looked up."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judgekit.analysis.cells import Cell, complete_by_rule, counted, default_complete_when
from judgekit.analysis.guards import few_criteria, oracle_criteria, own_answers, tuned_note
from judgekit.analysis.selection import Selection
from judgekit.data.labels import HOWS, PREFIX, is_join, joined_set, raters
from judgekit.errors import StatisticsError
from judgekit.judging.engine.evidence import TUNED
from judgekit.records import Label, Record
from judgekit.runs.model import SCORED

if TYPE_CHECKING:
    import pandas

__all__ = ["run_cells"]

EACH = "each"
_HASH = "\x00hash"  # carries the content's hash beside the inputs, under a name that no field can have


@dataclass(frozen=True)
class _Scores:
    """One record's judgements under one rubric and judge."""

    raw: float | None
    why: str | None
    samples: int
    unscored: int
    rule: bool
    complete: bool | None
    asked: tuple[str, ...]
    tuned: int = 0
    off_scale: int = 0


def run_cells(run: Any, selection: Selection) -> tuple[list[Cell], list[str]]:
    """One cell a data set, rubric, judge, rater and stratum; and sentences on what was left out.

    Raises
    ------
    StatisticsError : the run holds no judgement that was asked for, or a way to join raters is refused.
    """
    frame = run.latest()
    measured = _measured(run, selection)
    left = [
        f"left out: {item['n']} judgements of {item['rubric']} by {item['judge']} under an earlier version"
        for item in frame.attrs.get("left_out", [])
    ]
    for column, names in (("dataset", selection.datasets), ("rubric", selection.rubrics), ("judge", selection.judges)):
        there = list(dict.fromkeys(frame[column]))
        for name in names:
            if name not in there:
                raise StatisticsError(
                    f"the run has no {column} {name!r}",
                    field=column,
                    mend=f"it has {', '.join(map(str, there)) or 'none'}",
                )
        if names:
            frame = frame[frame[column].isin(names)]
    if frame.empty and not measured:
        raise StatisticsError("the run holds no judgement", mend="judgekit judge DATA --rubric R --model M --out RUN")
    records = _records(run, selection)
    rules = {(row.name, row.ask, row.score_fp): row for row in _rows(run.rubrics)}
    cells: list[Cell] = []
    totals: dict[str, int] = Counter(dataset for dataset, _ in records)
    for key, part in frame.groupby(["dataset", "rubric", "judge"], sort=False):
        dataset, rubric, judge = (str(name) for name in key)
        # Rows are walked once: a frame a record costs minutes at thousands of records.
        samples: dict[str, list[Any]] = defaultdict(list)
        for row in _rows(part):
            samples[str(row.record_id)].append(row)
        scores = {i: _scores(rows) for i, rows in samples.items()}
        first = part.iloc[0]
        rule = rules.get((rubric, first["ask"], first["score_fp"]))
        if all(s.raw is None and s.why is None for s in scores.values()):
            left.append(f"left out: {rubric} by {judge} gives no score")
            continue
        mine = [records[dataset, i] for i in scores if (dataset, i) in records]
        if totals[dataset] > len(mine):
            left.append(
                f"left out: {totals[dataset] - len(mine)} of {totals[dataset]} records of {dataset} that {judge} has not judged by {rubric}"
            )
        construct = selection.construct or (rule.construct if rule is not None else None) or "completeness"
        when = (
            selection.complete_when
            or (rule.complete_when if rule is not None else None)
            or default_complete_when(rubric)
        )
        base = (dataset, rubric, judge, str(first["ask"]))
        cells += _by_rater(base, mine, scores, construct, when, selection)
    for (dataset, metric, signature), scores in measured.items():
        mine = [records[dataset, i] for i in scores if (dataset, i) in records]
        cells += _by_rater(
            (dataset, None, metric, signature), mine, scores, selection.construct or "completeness", None, selection
        )
    return cells, left


def _measured(run: Any, selection: Selection) -> dict[tuple[str, str, str], dict[str, _Scores]]:
    """Values of local metrics by data set, metric and signature; higher is better."""
    found: dict[tuple[str, str, str], dict[str, _Scores]] = defaultdict(dict)
    if selection.metrics == ():
        return found
    for row in _rows(run.measurements):
        wanted = selection.metrics is None or {row.metric, row.metric.split("(")[0]} & set(selection.metrics)
        if wanted and (not selection.datasets or row.dataset in selection.datasets):
            value = None if row.value is None else float(row.value)
            why = None if value is not None else "no value"
            found[row.dataset, row.metric, row.signature][row.record_id] = _Scores(
                value, why, 1, int(value is None), False, None, ()
            )
    missing = [
        name
        for name in selection.metrics or ()
        if name not in {word for _, metric, _ in found for word in (metric, metric.split("(")[0])}
    ]
    if missing:
        raise StatisticsError(
            f"the run has no values of {missing[0]!r}",
            field="metric",
            mend="judgekit measure DATA --metric M --out RUN",
        )
    return found


def _scores(group: Sequence[Any]) -> _Scores:
    raws, whys, rules, verdicts, off = [], [], [], [], 0
    asked: tuple[str, ...] = ()
    tuned = 0
    for row in group:
        if row.criteria:
            asked = tuple(str(item["id"]) for item in row.criteria)
        if row.status in SCORED and row.raw is not None:
            raws.append(float(row.raw))
            off += any(str(flag).startswith("off_scale") for flag in row.flags or ())
            rules.append(row.status == "rule")
            verdicts.append(row.complete)
            tuned += TUNED in (row.flags or ())
        elif row.status not in SCORED:
            whys.append(str(row.status))
        elif row.reason:
            whys.append("no score")
    n = len(group)
    if not raws:
        return _Scores(None, whys[0] if whys else None, n, n, False, None, asked)
    complete = verdicts[0] if len(verdicts) == 1 else None
    return _Scores(float(np.mean(raws)), None, n, n - len(raws), all(rules), complete, asked, tuned, off)


def _by_rater(
    base: tuple[str, str | None, str, str],
    records: Sequence[Record],
    scores: dict[str, _Scores],
    construct: str,
    when: str | None,
    selection: Selection,
) -> list[Cell]:
    names = list(dict.fromkeys(label.rater for record in records for label in raters(record, construct)))
    joins = list(
        dict.fromkeys(x.rater for record in records for x in record.labels if x.construct == construct and is_join(x))
    )
    wanted: list[str | None]
    if selection.rater == EACH:
        wanted = [*names, *joins]
    elif selection.rater in HOWS:
        wanted = [selection.rater if selection.rater != "card" or not joins else joins[0]]
    elif selection.rater is not None:
        known = [*names, *joins]
        name = selection.rater if selection.rater in known else PREFIX + selection.rater
        if name not in known:
            raise StatisticsError(
                f"no rater is called {selection.rater!r}", field="rater",
                mend=f"one of {', '.join(str(n) for n in known)}, {EACH}, {', '.join(h for h in HOWS if h != 'card')}",
            )  # fmt: skip
        wanted = [name]
    else:
        wanted = list(joins[:1]) if joins else list(names) or [None]
    out = []
    for rater in wanted:
        labels = _labels(records, construct, rater)
        shown = None if rater is None else rater.removeprefix(PREFIX)
        members = tuple(str(n) for n in names if n) if rater is None or is_join(rater) or rater in HOWS else (rater,)
        cell = _cell(base, records, scores, labels, when, shown, members)
        others = sorted({label.construct for record in records for label in record.labels} - {construct})
        if others and not any(labels.values()):
            note = f"the labels are of {', '.join(others)}; this judge was asked about {construct}"
            cell = cell.take(np.ones(len(cell.ids), bool), notes=(*cell.notes, note))
        if selection.sampling_probability is not None:
            cell = cell.take(np.ones(len(cell.ids), bool), weight=_weights(records, selection.sampling_probability))
        if selection.rater is None and joins and len(names) > 1:
            cell = cell.take(
                np.ones(len(cell.ids), bool),
                notes=(*cell.notes, f"{len(names)} raters joined: {shown}; --rater each shows them apart"),
            )
        out += _strata(cell, records, scores, selection.by)
    return out


def _labels(records: Sequence[Record], construct: str, rater: str | None) -> dict[str, Label | None]:
    if rater == "mean":
        # Raters' scores lie in [0, 1] and the rubric's threshold on its own scale: only the card knows which mean is complete.
        rater = PREFIX + rater
        if not any(x.construct == construct and x.rater == rater for record in records for x in record.labels):
            raise StatisticsError(
                "no card says which mean of the raters' scores is complete", field="rater",
                mend="write `join: mean` and `complete_when` into the card and judge again, or choose majority or worst",
            )  # fmt: skip
    if rater in HOWS and rater is not None:
        return dict(joined_set(records, construct, rater))
    found: dict[str, Label | None] = {}
    for record in records:
        found[record.id] = next((x for x in record.labels if x.construct == construct and x.rater == rater), None)
    return found


def _cell(
    base: tuple[str, str | None, str, str],
    records: Sequence[Record],
    scores: dict[str, _Scores],
    labels: dict[str, Label | None],
    when: str | None,
    rater: str | None,
    members: tuple[str, ...],
) -> Cell:
    dataset, rubric, judge, ask = base
    mine = [scores[record.id] for record in records]
    said = [labels[record.id] for record in records]
    raw = np.array([np.nan if s.raw is None else s.raw for s in mine], dtype=np.float64)
    incomplete = np.array([-1 if x is None or x.complete is None else int(not x.complete) for x in said], dtype=np.int8)
    fixed = _fixed(mine, raw, when)
    return Cell(
        dataset=dataset,
        rubric=rubric,
        judge=judge,
        rater=rater,
        ids=tuple(record.id for record in records),
        score=raw,
        label=incomplete,
        fingerprint=ask,
        cluster=tuple(record.cluster_id for record in records),
        hashes=tuple(str(record.inputs[_HASH]) for record in records),
        rule=np.array([s.rule for s in mine], dtype=bool),
        fixed=fixed,
        severity=tuple(_severity(record, x) for record, x in zip(records, said, strict=True)),
        unscored=counted(
            [s.why or "no score" for s, x in zip(mine, incomplete, strict=True) if s.raw is None and x >= 0]
        ),
        raters=members,
        notes=tuple(_notes(mine, records, said, judge, incomplete)),
        higher_is_worse=True if when is not None and when.lstrip().startswith("<") else None,
    )


def _weights(records: Sequence[Record], name: str) -> Any:
    weights = []
    for record in records:
        text = str(record.meta.get(name.removeprefix("meta."), ""))
        try:
            value = float(text)
        except ValueError:
            value = 0.0
        if not 0 < value <= 1:
            raise StatisticsError(
                f"record {record.id!r} has no sampling probability in (0, 1]", field=name, mend=f"it says {text!r}"
            )
        weights.append(1 / value)
    return np.array(weights)


def _fixed(mine: Sequence[_Scores], raw: Any, when: str | None) -> Any:
    by_rule = complete_by_rule(raw, when)
    if by_rule is None:
        verdicts = [s.complete for s in mine]
        if all(v is None for v in verdicts):
            return None
        return np.array([-1 if v is None else int(not v) for v in verdicts], dtype=np.int8)
    return by_rule


def _severity(record: Record, label: Label | None) -> str | None:
    if label is None:
        return None
    if label.severity is not None or not is_join(label):
        return label.severity
    named = [x.severity for x in raters(record, label.construct) if x.severity is not None]
    return named[0] if len(set(named)) == 1 else None


def _notes(
    mine: Sequence[_Scores], records: Sequence[Record], said: Sequence[Label | None], judge: str, incomplete: Any
) -> Iterable[str]:
    most = max((s.samples for s in mine), default=1)
    if most > 1:
        lost = sum(s.unscored for s in mine if s.raw is not None)
        yield f"raw scores are means over up to {most} samples of a record" + (
            f"; {lost} samples had no score" if lost else ""
        )
    off = sum(s.off_scale for s in mine)
    if off:
        yield f"{off} recorded scores lie off the rubric's scale and are used as they stand"
    asked = [s.asked for s in mine]
    rated = [tuple(x.criteria) if x is not None and x.criteria else () for x in said]
    if oracle_criteria(asked, rated):
        yield "oracle criteria: the checklist holds the criteria that the label was made from, which new answers will not have"
    if any(rated):
        few = few_criteria([_counting(record) for record, ids in zip(records, rated, strict=True) if ids])
        if few:
            yield few
    tuned = sum(s.tuned for s in mine)
    if tuned:
        yield tuned_note(tuned, sum(s.samples - s.unscored for s in mine))
    own = own_answers(judge, [record.meta.get("model") for record in records])
    if own:
        yield f"{own} of {len(records)} answers were written by the judge's own model"
    if any(x is not None and x.rater == "construction" for x in said):
        yield "labels by construction: they follow from how the answers were written, no clinician rated them"
    unsure = Counter(
        x.rationale or "no verdict" for x, y in zip(said, incomplete, strict=True) if x is not None and y < 0
    )
    for why, n in unsure.most_common(3):
        yield f"{n} labels without a verdict: {why}"


def _counting(record: Record) -> int:
    positive = [c for c in record.criteria if c.points > 0]
    musts = [c for c in positive if c.kind == "must_have"]
    return len(musts or positive)


def _strata(cell: Cell, records: Sequence[Record], scores: dict[str, _Scores], by: str | None) -> list[Cell]:
    if by is None:
        return [cell]
    groups: dict[str, list[int]] = defaultdict(list)
    for place, record in enumerate(records):
        groups[_field(record, by)].append(place)
    if set(groups) == {"(none)"}:
        raise StatisticsError(
            f"no record has the field {by!r}", field="by", mend="name a key of meta, such as category or model"
        )
    out = []
    for name in sorted(groups):
        keep = np.isin(np.arange(len(records)), groups[name])
        why = [
            scores[records[i].id].why or "no score"
            for i in groups[name]
            if np.isnan(cell.score[i]) and cell.label[i] >= 0
        ]
        out.append(cell.take(keep, stratum=(by, name), unscored=counted(why)))
    return out


def _field(record: Record, by: str) -> str:
    name = by.removeprefix("meta.")
    value = record.meta.get(name, record.inputs.get(name.removeprefix("inputs.")))
    return "(none)" if value is None else str(value)


def _records(run: Any, selection: Selection) -> dict[tuple[str, str], Record]:
    labels: dict[tuple[str, str], list[Label]] = defaultdict(list)
    for row in _rows(run.labels):
        complete = row.complete
        if complete is None and selection.complete_values and row.value is not None:
            complete = str(row.value) in selection.complete_values
        labels[row.dataset, row.record_id].append(
            Label(
                construct=row.construct,
                rater=row.rater,
                complete=complete,
                score=row.score,
                severity=row.severity,
                criteria=row.criteria,
                rationale=row.rationale,
            )
        )
    found = {}
    for row in _rows(run.records):
        found[row.dataset, row.record_id] = Record.from_dict(
            {
                "id": row.record_id,
                "cluster": row.cluster,
                "criteria": row.criteria or [],
                "labels": labels[row.dataset, row.record_id],
                "meta": row.meta or {},
                "inputs": (row.inputs or {}) | {_HASH: row.hash},
            }
        )
    return found


def _rows(frame: pandas.DataFrame) -> Iterable[Any]:
    return frame.itertuples(index=False)
