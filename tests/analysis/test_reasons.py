"""Pairs of reasons out of a run, and tables out of the run over the pairs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from judgekit.analysis.reasons import NO_OMISSION, Reasons, make_pairs, show_reasons
from judgekit.analysis.source import open_source
from judgekit.errors import DataError, InputError, StatisticsError
from judgekit.records import Criterion, Label, Record
from tests.analysis.conftest import Build, judged


def record(i: int, complete: bool | None, rationale: str | None = "no dose", **extra: Any) -> Record:
    return Record(
        id=f"r{i}", question=f"q{i}", response=f"answer {i}",
        labels=(Label(rater="ann", complete=complete, rationale=rationale, **extra),),
    )  # fmt: skip


def test_the_four_kinds_and_what_is_left_out(build: Build) -> None:
    run = build(
        [record(0, False), record(1, True, None), record(2, True), record(3, False), record(4, False, None), record(5, None),
         record(6, False), Record(id="r7", question="q7", response="x")],
        [judged("r0", raw=1.0), judged("r1", raw=5.0), judged("r2", raw=2.0), judged("r3", raw=4.0), judged("r4", raw=1.0),
         judged("r5", raw=1.0), judged("r6", raw=None), judged("r7", raw=1.0)],
    )  # fmt: skip
    pairs, left = make_pairs(run)
    kinds = {pair["meta"]["source_record"]: pair["inputs"]["pair_kind"] for pair in pairs}
    assert kinds == {"r0": "TP", "r1": "TN", "r2": "FP", "r3": "FN"}
    assert left == {
        "incomplete labels without a rationale": 1, "labels without a verdict": 1, "unscored judgements": 1,
        "judgements of records without a label": 1,
    }  # fmt: skip
    first = pairs[0]
    assert first["inputs"] == {"pair_kind": "TP", "clinician_reason": "no dose", "judge_reason": "raw 1.0"}
    assert (first["question"], first["response"]) == ("q0", "answer 0")
    assert pairs[1]["inputs"]["clinician_reason"] == NO_OMISSION
    assert len({pair["id"] for pair in pairs}) == 4
    for pair in pairs:
        assert Record.from_dict(json.loads(json.dumps(pair))).inputs == pair["inputs"]  # what `judgekit judge` reads
    only, left = make_pairs(run, kinds=["FP", "FN"])
    assert {pair["meta"]["pair_kind"] for pair in only} == {"FP", "FN"}
    assert left["TP pairs that were not asked for"] == 2


def test_checklists_give_what_was_not_met(build: Build) -> None:
    criteria = (
        Criterion("c1", "names the dose"),
        Criterion("c2", "names the drug"),
        Criterion("c3", "advises to stop", points=-5),
    )
    rated = Record(
        id="r0", question="q", response="x", criteria=criteria,
        labels=(Label(rater="ann", complete=False, criteria={"c1": "Neutral", "c2": "Entailment"}),),
    )  # fmt: skip
    verdict = {"criteria": {"c1": {"met": True}, "c2": {"met": False, "explanation": "no name"}, "c3": {"met": True}}}
    asked = [{"id": one.id, "text": one.text, "points": one.points, "kind": None} for one in criteria]
    run = build([rated], [judged("r0", raw=0.5, complete=False, verdict=verdict, criteria=asked)])
    (pair,), _ = make_pairs(run)
    assert pair["inputs"]["clinician_reason"] == "Missing: names the dose"
    assert pair["inputs"]["judge_reason"] == "Not as it should be: names the drug (no name); advises to stop"


def test_no_pair_is_a_sentence(build: Build) -> None:
    with pytest.raises(StatisticsError, match="no judgements"):
        make_pairs(build([]))
    with pytest.raises(StatisticsError, match="1 unscored"):
        make_pairs(build([record(0, False)], [judged("r0", raw=None)]))
    with pytest.raises(InputError, match="no kind of pair"):
        make_pairs(build([]), kinds=["XX"])
    with pytest.raises(InputError, match="no judge 'x'"):
        make_pairs(build([record(0, False)], [judged("r0", raw=1.0)]), judges=["x"])


def test_a_model_is_not_paired_with_its_own_label(build: Build) -> None:
    own = Label(rater="model:m/one", complete=False, rationale="mine")
    run = build(
        [Record(id="r0", question="q", response="x", labels=(own,))],
        [judged("r0", raw=1.0, judge="m/one(temperature=0)")],
    )
    with pytest.raises(StatisticsError, match="own model wrote"):
        make_pairs(run)


def pair_record(i: int, kind: str, rubric: str = "general-likert") -> Record:
    return Record(
        id=f"p{i}", question="q", response="x", cluster=f"q{i}",
        inputs={"pair_kind": kind, "clinician_reason": "a", "judge_reason": "b"},
        meta={"pair_kind": kind, "source_rubric": rubric, "source_judge": "m/one"},
    )  # fmt: skip


def classified(i: int, **verdict: str) -> Any:
    rubric = "failure-mode" if "mode" in verdict else "reason-alignment"
    return judged(f"p{i}", verdict=dict(verdict), rubric=rubric, judge="m/classifier", status="ok")


def studied(build: Build) -> Any:
    kinds = ["TP", "TP", "TP", "TP", "TN", "TN", "FP", "FP", "FP", "FN", "FN"]
    said = ["yes", "partially", "no", "no", "yes", "no", "no", "no", "partially", "no", "partially"]
    modes = {6: "FP01", 7: "FP01", 8: "FP02", 9: "FN01", 10: "FN02"}
    records = [pair_record(i, kind, "general-likert" if i % 2 else "analytical-rubric") for i, kind in enumerate(kinds)]
    judgements = [classified(i, alignment=word) for i, word in enumerate(said)]
    judgements += [classified(i, mode=code) for i, code in modes.items()]
    records.append(pair_record(11, "FN"))
    judgements.append(judged("p11", raw=None, rubric="failure-mode", judge="m/classifier"))
    return build(records, judgements)


def test_alignment_recall_and_modes_by_hand(build: Build) -> None:
    found = show_reasons(open_source(studied(build), Reasons()), replicates=200)
    rows = {row["kind"]: row for row in found["alignment"].rows if row["rubric"] == "all"}
    assert (rows["TP"]["n"], rows["TP"]["yes"], rows["TP"]["partially"], rows["TP"]["no"]) == (4, 1, 1, 2)
    assert rows["TN"]["share_yes"] == 0.5
    recall = found["recall"].rows[0]
    # TP and FN: yes 1 of 6; at least partly 3 of 6.
    assert (recall["n"], recall["full"], recall["partial"]) == (6, pytest.approx(1 / 6), 0.5)
    modes = {(row["kind"], row["mode"]): row for row in found["modes"].rows if row["rubric"] == "all"}
    assert (modes[("FP", "FP01")]["count"], modes[("FP", "FP01")]["n"]) == (2, 3)
    assert modes[("FP", "FP04")]["count"] == 0
    assert modes[("FN", "FN01")]["share"] == 0.5
    flows = {(row["rubric"], row["kind"], row["mode"]): row["count"] for row in found["flows"].rows}
    assert sum(flows.values()) == 5
    assert flows[("analytical-rubric", "FP", "FP01")] == 1
    assert "1 judgements are unscored" in found.text()
    json.dumps(found.to_json(), allow_nan=False)


def test_the_classifier_against_hand_labels(build: Build) -> None:
    run = studied(build)
    hand = [
        {"id": "p0", "alignment": "Yes"}, {"id": "p1", "alignment": "partially"}, {"id": "p2", "alignment": "yes"},
        {"id": "p6", "mode": "fp01"}, {"id": "gone", "alignment": "no"},
    ]  # fmt: skip
    rows = {
        row["field"]: row
        for row in show_reasons(open_source(run, Reasons()), hand=hand, replicates=100)["classifier"].rows
    }
    assert (rows["alignment"]["n"], rows["alignment"]["n_hand"]) == (3, 4)
    assert rows["alignment"]["percent"] == pytest.approx(2 / 3)
    assert (rows["mode"]["percent"], rows["mode"]["kappa"]) == (1.0, None)  # one pair: no kappa
    with pytest.raises(DataError, match="'maybe' is no alignment"):
        show_reasons(open_source(run, Reasons()), hand=[{"id": "p0", "alignment": "maybe"}], replicates=0)
    with pytest.raises(DataError, match="labelled twice"):
        show_reasons(
            open_source(run, Reasons()),
            hand=[{"id": "p0", "alignment": "yes"}, {"id": "p0", "alignment": "no"}],
            replicates=0,
        )
    with pytest.raises(DataError, match="no alignment and no mode"):
        show_reasons(open_source(run, Reasons()), hand=[{"id": "p0"}], replicates=0)


def test_a_run_without_pairs_says_how_to_make_them(build: Build) -> None:
    with pytest.raises(InputError, match="no record of the run is a pair"):
        show_reasons(open_source(build([record(0, True)], [judged("r0", raw=5.0)]), Reasons()))
    with pytest.raises(InputError, match="every pair is unscored"):
        show_reasons(open_source(build([pair_record(0, "TP")], [judged("p0", raw=None)]), Reasons()))
