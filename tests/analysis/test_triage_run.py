"""Triage from a run: a real store, real cards, samples, raters, statuses and guards."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judgekit.analysis.triage import triage
from judgekit.cli.app import main
from judgekit.errors import InputError, StatisticsError, UsageError
from judgekit.records import Criterion, Label, Record
from judgekit.runs.model import Judgement, RubricRow
from judgekit.runs.store import RunStore, open_run

RUBRIC = {
    "name": "analytical-rubric", "ask": "a" * 8, "score_fp": "s" * 8, "version": "1", "title": None, "construct": "completeness",
    "complete_when": ">= 4", "scale": None, "path": None, "resolved": {},
}  # fmt: skip


def judged(record: str, raw: float | None, **more: Any) -> Judgement:
    values: dict[str, Any] = {
        "dataset": "d", "record_id": record, "rubric": "analytical-rubric", "judge": "openai/gpt-5-mini", "sample": 0,
        "ask": "a" * 8, "score_fp": "s" * 8, "status": "ok", "raw": raw, "complete": None if raw is None else raw >= 4,
    }  # fmt: skip
    return Judgement(**(values | more))


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Path]:
    def build(records: list[Record], judgements: list[Judgement], **rubric: Any) -> Path:
        folder = tmp_path / "run"
        with RunStore(folder) as store:
            store.put_records("d", records)
            for name in dict.fromkeys(j.rubric for j in judgements):
                store.put_rubric(RubricRow(**(RUBRIC | {"name": name} | rubric)))
            for judgement in judgements:
                store.put_judgement(judgement)
        return folder

    return build


def labelled(name: str, incomplete: bool | None, **more: Any) -> Record:
    labels = () if incomplete is None else (Label(rater="r1", complete=not incomplete),)
    return Record(**({"id": name, "question": f"question {name}", "response": "x", "labels": labels} | more))


CASE_11 = list(
    zip([1] * 10 + [0] * 15, [1, 1, 1, 2, 2, 2, 2, 3, 3, 5, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5], strict=True)
)


def test_case_11_from_a_run(make: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    run = make(
        [labelled(f"{i:03d}", bool(y)) for i, (y, _) in enumerate(CASE_11)],
        [judged(f"{i:03d}", float(s)) for i, (_, s) in enumerate(CASE_11)],
    )
    assert main(["triage", str(run), "--recall", "0.9", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)["rows"][0]
    assert (row["dataset"], row["rubric"], row["judge"], row["rater"], row["fingerprint"]) == (
        "d", "analytical-rubric", "openai/gpt-5-mini", "r1", "a" * 8,
    )  # fmt: skip
    assert (row["n"], row["threshold"], row["workload"], row["recall"]) == (25, 3.0, 0.56, 0.9)
    assert row["auc"] == pytest.approx(13 / 15)
    # every question once: DeLong and Mann-Whitney as from a table
    assert row["auc_low"] == pytest.approx(0.7024675501307729)
    assert row["mann_whitney_p"] == pytest.approx(0.0019449176048570549)
    # the rubric's own threshold, >= 4 complete: 9 incomplete and 5 complete flagged
    assert row["fixed"] == {"f1": 0.75, "precision": pytest.approx(9 / 14), "recall": 0.9}
    assert triage(open_run(run)).to_json()["rows"][0] == row
    assert main(["triage", str(run)]) == 0
    assert "must still read 14 of 25" in " ".join(capsys.readouterr().out.split())


def test_the_question_is_the_cluster(make: Callable[..., Path]) -> None:
    # two answers a question, by the question's text: 4 clusters
    rows = [
        ("a1", 1, 1),
        ("a2", 0, 3),
        ("b1", 1, 2),
        ("b2", 0, 4),
        ("c1", 1, 5),
        ("c2", 0, 6),
        ("d1", 0, 5),
        ("d2", 1, 1),
    ]
    records = [labelled(name, bool(y), question=f"about {name[0]}") for name, y, _ in rows]
    run = make(records, [judged(name, float(s)) for name, _, s in rows])
    row = triage(run).to_json()["rows"][0]
    assert row["mann_whitney_p"] is None
    assert any("8 answers in 4 clusters" in note for note in row["notes"])


def test_samples_are_averaged_and_the_unscored_counted(make: Callable[..., Path]) -> None:
    records = [
        labelled("a", True),
        labelled("b", False),
        labelled("c", True),
        labelled("d", False),
        labelled("e", None),
    ]
    judgements = [
        judged("a", 1.0), judged("a", 2.0, sample=1), judged("b", 4.0), judged("b", None, sample=1, status="invalid"),
        judged("c", None, status="refused"), judged("c", None, sample=1, status="refused"),
        judged("d", 1.0, status="rule"), judged("d", 1.0, sample=1, status="rule"), judged("e", 3.0), judged("e", 3.0, sample=1),
    ]  # fmt: skip
    row = triage(make(records, judgements)).to_json()["rows"][0]
    assert (row["n"], row["n_unscored"], row["n_unlabelled"], row["n_rule"]) == (3, 1, 1, 1)
    assert row["threshold"] == 1.5  # the mean of 1 and 2
    assert (row["recall_all"], row["workload_all"]) == (1.0, 0.75)  # a, d and the refused c are read, of four
    notes = " ".join(row["notes"])
    assert "means over up to 2 samples of a record; 1 samples had no score" in notes
    assert "1 labelled answers are unscored (1 incomplete, 0 complete; 1 refused)" in notes


def test_raters_apart_joined_by_the_card_or_by_a_word(make: Callable[..., Path]) -> None:
    def record(name: str, votes: tuple[bool, bool, bool]) -> Record:
        labels = tuple(Label(rater=f"r{i}", complete=vote) for i, vote in enumerate(votes))
        return Record(id=name, question=name, response="x", labels=labels)

    records = [
        record("a", (False, False, False)), record("b", (True, False, False)), record("c", (True, True, False)), record("d", (True,) * 3),
    ]  # fmt: skip
    run = make(records, [judged(name, float(i)) for i, name in enumerate("abcd")])
    apart = triage(run).to_json()["rows"]  # no card says how to join: each rater alone
    assert [(row["rater"], row["n_incomplete"]) for row in apart] == [("r0", 1), ("r1", 2), ("r2", 3)]
    assert [row["n_incomplete"] for row in triage(run, rater="each").to_json()["rows"]] == [1, 2, 3]
    assert [(row["rater"], row["n_incomplete"]) for row in triage(run, rater="majority").to_json()["rows"]] == [
        ("majority", 2)
    ]
    assert triage(run, rater="worst").to_json()["rows"][0]["n_incomplete"] == 3
    assert triage(run, rater="r2").to_json()["rows"][0]["rater"] == "r2"
    with pytest.raises(StatisticsError, match="no rater is called 'r9'"):
        triage(run, rater="r9")


def test_the_judge_as_rater_is_refused(make: Callable[..., Path]) -> None:
    records = [
        Record(id=n, question=n, response="x", labels=(Label(rater="model:gpt-5-mini", complete=n == "a"),))
        for n in ("a", "b")
    ]
    with pytest.raises(StatisticsError, match="the judge itself"):
        triage(make(records, [judged("a", 1.0), judged("b", 2.0)]))


def test_oracle_criteria_few_criteria_and_own_answers_are_said(make: Callable[..., Path]) -> None:
    def record(name: str, complete: bool) -> Record:
        criteria = (Criterion(id="c1", text="x", kind="must_have"), Criterion(id="c2", text="y", kind="nice_to_have"))
        label = Label(rater="r1", complete=complete, criteria={"c1": complete, "c2": True})
        return Record(
            id=name, question=name, response="x", criteria=criteria, labels=(label,), meta={"model": "gpt-5-mini"}
        )

    asked = [{"id": "c1", "text": "x", "points": 1, "kind": "must_have"}]
    run = make(
        [record("a", False), record("b", True)],
        [
            judged("a", 0.0, rubric="dynamic-checklist", criteria=asked),
            judged("b", 1.0, rubric="dynamic-checklist", criteria=asked),
        ],
        complete_when=">= 0.75",
    )
    notes = " ".join(triage(run).to_json()["rows"][0]["notes"])
    assert "oracle criteria" in notes
    assert "2 of 2 records have one or two criteria" in notes
    assert "2 of 2 answers were written by the judge's own model" in notes


def test_a_rubric_that_says_lower_is_complete_turns_the_direction(make: Callable[..., Path]) -> None:
    run = make([labelled("a", True), labelled("b", False)], [judged("a", 5.0), judged("b", 1.0)], complete_when="<= 2")
    row = triage(run).to_json()["rows"][0]
    assert (row["auc"], row["flag_if"], row["threshold"]) == (1.0, "score >= threshold", 5.0)


def test_an_earlier_version_of_the_rubric_is_left_out_and_counted(make: Callable[..., Path], tmp_path: Path) -> None:
    run = make([labelled("a", True), labelled("b", False)], [judged("a", 5.0), judged("b", 1.0)])
    with RunStore(run) as store:
        for name, raw in (("a", 1.0), ("b", 4.0)):
            store.put_judgement(judged(name, raw, ask="b" * 8))
    found = triage(run)
    assert (found.to_json()["rows"][0]["auc"], found.to_json()["rows"][0]["fingerprint"]) == (1.0, "b" * 8)
    assert any("left out: 2 judgements" in line for line in found.left_out)


def test_strata_by_a_field_of_meta(make: Callable[..., Path]) -> None:
    records = [labelled(n, n in "ab", meta={"category": "x" if n in "ac" else "y"}) for n in "abcd"]
    run = make(records, [judged(n, float(i)) for i, n in enumerate("abcd")])
    rows = triage(run, by="category").to_json()["rows"]
    assert [(row["by"], row["n"], row["auc"]) for row in rows] == [
        ({"category": "x"}, 2, 1.0),
        ({"category": "y"}, 2, 1.0),
    ]
    with pytest.raises(StatisticsError, match="no record has the field"):
        triage(run, by="nope")


def test_records_not_judged_are_counted(make: Callable[..., Path]) -> None:
    run = make([labelled("a", True), labelled("b", False), labelled("c", True)], [judged("a", 1.0), judged("b", 2.0)])
    found = triage(run)
    assert found.to_json()["rows"][0]["n"] == 2
    assert "1 of 3 records of d that openai/gpt-5-mini has not judged" in found.text()


def test_sampling_probabilities_in_meta(make: Callable[..., Path]) -> None:
    rows = [("a", 1, 1, 1), ("b", 0, 1, 1), ("c", 1, 2, 0.5), ("d", 0, 2, 0.5)]
    records = [labelled(n, bool(y), meta={"p": p}) for n, y, _, p in rows]
    run = make(records, [judged(n, float(s)) for n, _, s, _ in rows])
    # at score 1: one of 1 + 2 incomplete
    assert triage(run, threshold=1, sampling_probability="p").to_json()["rows"][0]["recall"] == pytest.approx(1 / 3)
    with pytest.raises(StatisticsError, match="no sampling probability"):
        triage(run, sampling_probability="q")


def test_words_that_a_source_would_not_heed_are_refused(make: Callable[..., Path], tmp_path: Path) -> None:
    run = make([labelled("a", True), labelled("b", False)], [judged("a", 1.0), judged("b", 2.0)])
    with pytest.raises(UsageError, match="--cluster says nothing about a run"):
        triage(run, cluster="question")
    (tmp_path / "t.csv").write_text("incomplete,score\n1,1\n0,2\n", "utf-8")
    with pytest.raises(UsageError, match="--rubric says nothing about a table"):
        triage(tmp_path / "t.csv", rubric="x")


def test_filters_and_empty_runs(make: Callable[..., Path], tmp_path: Path) -> None:
    run = make([labelled("a", True), labelled("b", False)], [judged("a", 1.0), judged("b", 2.0)])
    assert len(triage(run, judge="openai/gpt-5-mini").operating_points) == 1
    with pytest.raises(InputError, match="the run has no judge 'x'"):
        triage(run, judge="x")
    with RunStore(tmp_path / "empty"):
        pass
    with pytest.raises(StatisticsError, match="holds no judgement"):
        triage(tmp_path / "empty")


def test_kqa_through_its_card(shared_data: Path, tmp_path: Path) -> None:
    from judgekit.data import load_records

    records = load_records(shared_data / "kqa_completeness.jsonl", card="kqa")
    with RunStore(tmp_path / "kqa") as store:
        store.put_records("kqa", records)
        store.put_rubric(RubricRow(**RUBRIC))
        for index, record in enumerate(records):
            store.put_judgement(judged(record.id, float(index % 5 + 1), dataset="kqa"))
    joined = triage(tmp_path / "kqa").to_json()["rows"]
    # the file's own majority verdict: `complete` is false for as many
    expected = sum(
        not json.loads(line)["complete"]
        for line in (shared_data / "kqa_completeness.jsonl").read_text("utf-8").splitlines()
    )
    assert [(row["rater"], row["n"], row["n_incomplete"]) for row in joined] == [("criteria-majority", 24, expected)]
    assert any("10 of 24 records have one or two criteria" in note for note in joined[0]["notes"])
    apart = triage(tmp_path / "kqa", rater="each").to_json()["rows"]
    # STATISTICS: 18, 16, 18 of 24 incomplete
    assert [(row["rater"], row["n_incomplete"]) for row in apart][:3] == [("r1", 18), ("r2", 16), ("r3", 18)]


def test_labels_of_another_construct_are_named_not_merely_missed(make: Callable[..., Path]) -> None:
    records = [labelled(name, True) for name in "ab"]  # labels of completeness
    run = make(records, [judged("a", 1), judged("b", 2)], construct="readability")
    (row,) = triage(run).to_json()["rows"]
    assert (row["n"], row["n_unlabelled"]) == (0, 2)
    assert "the labels are of completeness; this judge was asked about readability" in row["notes"]
    (row,) = triage(run, construct="completeness").to_json()["rows"]
    assert row["n"] == 2
    assert not any("was asked about" in note for note in row["notes"])


def test_the_mean_of_raters_needs_the_cards_threshold(make: Callable[..., Path]) -> None:
    # Raters' scores lie in [0, 1]: by the rubric's own ">= 4" of 1 to 5 every mean would be incomplete.
    def record(i: int, *more: Label) -> Record:
        scores = (1.0, 0.75) if i % 3 else (0.25, 0.5)
        two = (Label(rater=name, score=s, complete=s >= 0.75) for name, s in zip("ab", scores, strict=True))
        return Record(id=f"r{i}", question=f"q{i}", response="x", labels=(*two, *more))

    judgements = [judged(f"r{i}", float(1 + i % 5)) for i in range(30)]
    run = make([record(i) for i in range(30)], judgements)
    with pytest.raises(StatisticsError, match="no card says which mean"):
        triage(run, rater="mean")
    with RunStore(run) as store:
        made = [Label(rater="join:mean", score=0.875 if i % 3 else 0.375, complete=i % 3 > 0) for i in range(30)]
        store.put_records("d", [record(i, made[i]) for i in range(30)])
    row = triage(run, rater="mean").to_json()["rows"][0]
    assert (row["n"], row["n_incomplete"]) == (30, 10)


def test_recorded_scores_off_the_scale_are_named(make: Callable[..., Path]) -> None:
    from judgekit.analysis.strata import strata

    records = [labelled(f"{i}", i < 12, meta={"kind": "ab"[i % 2]}) for i in range(24)]
    wild = {5: 98989.0, 20: 0.0}
    run = make(records, [
        judged(f"{i}", wild.get(i, 3.0), flags=["off_scale:score"] if i in wild else []) for i in range(24)
    ])  # fmt: skip
    said = "2 recorded scores lie off"
    assert any(note.startswith(said) for note in triage(run).to_json()["rows"][0]["notes"])
    assert any(note.startswith(said) for note in strata(run, by=["kind"], replicates=0, permutations=10).notes)
