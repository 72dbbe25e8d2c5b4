"""Agreement of tables, labelled records and runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judgekit.analysis.agree import Ratings, agree, agreement, correlation_matrix, correlations, parse_levels
from judgekit.errors import DataError, InputError, StatisticsError, UsageError
from judgekit.records import Criterion, Label, Record
from tests.analysis.conftest import Build, judged

QUICK = {"replicates": 200}
LEVELS = "Contradiction,Neutral,Entailment"


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_kqa_agreement_from_the_table(shared_data: Path) -> None:
    wanted = json.loads((shared_data / "expected_dev.json").read_text("utf-8"))["kqa"]
    for part, where in (
        ("agreement", []),
        ("agreement_must_have", ["kind=must_have"]),
        ("agreement_nice_to_have", ["kind=nice_to_have"]),
    ):
        found = agree(
            shared_data / "kqa_claims.csv",
            raters="label_0,label_1,label_2",
            levels=LEVELS,
            cluster="qid",
            where=where,
            **QUICK,
        )
        expected = wanted[part]
        overall = {row["statistic"]: row for row in found["overall"].rows}

        def near(name: str, key: str, rows: dict[str, Any] = overall, numbers: dict[str, Any] = expected) -> None:
            assert rows[name]["value"] == pytest.approx(numbers[key], abs=1e-9)

        near("Krippendorff's alpha, nominal", "krippendorff_alpha_nominal")
        near("Krippendorff's alpha, ordinal", "krippendorff_alpha_ordinal_C_N_E")
        near("Fleiss' kappa", "fleiss_kappa")
        near("mean pairwise kappa", "mean_pairwise_kappa")
        near("all who rated say the same", "unanimous_fraction")
        assert [row["with_majority_of_all"] for row in found["raters"].rows] == pytest.approx(
            expected["annotator_vs_majority_accuracy"], abs=1e-9
        )
        for row, counts in zip(found["raters"].rows, expected["label_counts"], strict=True):
            assert row["counts"] == counts
        for row in found["pairs"].rows:
            pair = expected["pairwise_cohen"][f"{row['a']}~{row['b']}"]
            assert row["percent"] == pytest.approx(pair["percent_agreement"], abs=1e-9)
            for key in ("kappa", "kappa_linear", "kappa_quadratic"):
                assert row[key] == pytest.approx(pair[key], abs=1e-9)
            assert row["kappa_low"] < row["kappa"] < row["kappa_high"]
        assert overall["Fleiss' kappa"]["clusters"] == (20 if part == "agreement_nice_to_have" else 24)


def test_kqa_majority_of_the_raters_as_a_judge_beats_each_left_out_physician(shared_data: Path) -> None:
    """The majority holds the others' votes: as a judge it must look better than a left-out rater. That is the trap shown."""
    found = agree(
        shared_data / "kqa_claims.csv", raters="label_0,label_1,label_2", judge=["majority_label"], levels=LEVELS,
        cluster="qid", **QUICK,
    )  # fmt: skip
    rows = [row for row in found["ceiling"].rows if row["statistic"] == "kappa"]
    assert [row["left_out"] for row in rows] == ["each in turn", "label_0", "label_1", "label_2"]
    assert all(row["machine"] > row["human"] and row["n"] == 205 for row in rows)
    assert {(row["a"], row["n"]) for row in found["judges"].rows} == {("majority_label", 205)}


def test_questions_that_repeat_need_a_cluster(shared_data: Path) -> None:
    with pytest.raises(StatisticsError, match="repeat a qid") as error:
        agree(shared_data / "kqa_claims.csv", raters="label_0,label_1", levels=LEVELS)
    assert "--cluster qid" in str(error.value)


def test_weighted_kappa_waits_for_declared_levels(tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", "a,b\n1,1\n2,5\n5,5\n5,2\n1,2\n2,2\n")
    found = agree(table, raters="a,b", **QUICK)
    assert found["pairs"].rows[0]["kappa_linear"] is None
    assert "declare them" in found.text()
    declared = agree(table, raters="a,b", levels="1..5", **QUICK)
    assert declared["pairs"].rows[0]["kappa_linear"] == pytest.approx(10 / 31)
    assert "levels:1,2,3,4,5" in declared.signature


def test_missing_cells_and_words_are_missing_unless_they_are_levels(tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", "a,b\nyes,yes\nno,NA\nno,\nyes,no\n")
    found = agree(table, raters="a,b", **QUICK)
    assert found["pairs"].rows[0]["n"] == 2
    assert any("1 cells say 'NA' and are read as missing" in note for note in found.notes)
    declared = agree(table, raters="a,b", levels="no,yes,NA", **QUICK)  # a level that is named is a level
    assert declared["pairs"].rows[0]["n"] == 3
    other = write(tmp_path / "u.csv", "a,b\nyes,yes\nno,unsure\n")
    assert agree(other, raters="a,b", missing=["unsure"], **QUICK)["pairs"].rows[0]["n"] == 1
    with pytest.raises(DataError, match=r"b said 'unsure' of unit 2"):
        agree(other, raters="a,b", levels="no,yes", **QUICK)


def test_numbers_as_text_meet_whole_levels(tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", "a,b\n4.0,4\n5,5.0\n4.5,4\n")
    with pytest.raises(DataError, match=r"'4.5' of unit 3"):
        agree(table, raters="a,b", levels="1..5", **QUICK)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n", "one cluster has no spread"),
        ("a,b\n1,1\n1,1\n", "one and the same level"),
        ("a,b\n1,\n,1\n", "share no unit"),
    ],
)
def test_little_or_nothing_gives_a_sentence(tmp_path: Path, text: str, words: str) -> None:
    found = agree(write(tmp_path / "t.csv", text), raters="a,b", **QUICK)
    assert words in found.text()
    json.dumps(found.to_json(), allow_nan=False)


def test_a_table_without_rows_says_so(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no rows"):
        agree(write(tmp_path / "t.csv", "a,b\n"), raters="a,b")


def test_one_rater_has_no_ceiling(tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", "a,j\n1,1\n0,1\n1,1\n")
    found = agree(table, raters="a", judge=["j"], **QUICK)
    assert found["ceiling"].rows == []
    assert "no human ceiling" in found.text()
    with pytest.raises(InputError, match="named twice"):
        agree(table, raters="a", judge=["a"])
    with pytest.raises(StatisticsError, match="no rater"):
        agreement(Ratings([], {}))


def test_levels() -> None:
    assert parse_levels("1..3") == [1, 2, 3]
    assert parse_levels("low, high") == ["low", "high"]
    assert parse_levels("0,0.5,1") == [0, 0.5, 1]
    for text in ("3..1", "a..b", "one", "a,a"):
        with pytest.raises(StatisticsError, match="names no levels"):
            parse_levels(text)


def labelled(answers: list[tuple[bool | None, bool | None]], **extra: Any) -> list[Record]:
    return [
        Record(
            id=f"r{i}", question=f"q{i}", response="x",
            labels=tuple(
                Label(rater=name, complete=value) for name, value in zip(("ann", "bob"), pair, strict=True) if value is not None
            ),
            **extra,
        )
        for i, pair in enumerate(answers)
    ]  # fmt: skip


def test_a_run_puts_the_judge_beside_the_ceiling(build: Build) -> None:
    people = [(True, True), (True, False), (False, False), (False, False), (True, True), (False, True), (True, None)]
    verdicts = [5.0, 5.0, 2.0, 2.0, 4.0, 1.0, None]
    run = build(labelled(people), [judged(f"r{i}", raw=raw) for i, raw in enumerate(verdicts)])
    found = agree(run, **QUICK)
    # ann and bob share r0..r5: they agree on 4 of 6. The judge says 1,1,0,0,1,0: with ann 6 of 6, with bob 4 of 6.
    (pair,) = found["pairs"].rows
    assert pair["percent"] == pytest.approx(4 / 6)
    judge = {row["b"]: row for row in found["judges"].rows}
    assert (judge["ann"]["percent"], judge["ann"]["n"]) == (1.0, 6)
    assert judge["bob"]["percent"] == pytest.approx(4 / 6)
    # Ceiling, bob left out: bob with ann 4/6, the judge with ann 6/6. Pooled: humans 8/12, the judge 10/12.
    rows = {(row["left_out"], row["statistic"]): row for row in found["ceiling"].rows}
    assert rows[("bob", "percent")]["human"] == pytest.approx(4 / 6)
    assert rows[("bob", "percent")]["machine"] == 1.0
    assert rows[("each in turn", "percent")]["human"] == pytest.approx(8 / 12)
    assert rows[("each in turn", "percent")]["machine"] == pytest.approx(10 / 12)
    assert "1 unscored judgements" in found.text()


def test_joins_are_not_raters_and_a_model_does_not_meet_its_own_labels(build: Build) -> None:
    labels = (Label(rater="ann", complete=True), Label(rater="join:worst", complete=False))
    records = [Record(id=f"r{i}", question=f"q{i}", response="x", labels=labels) for i in range(3)]
    found = agree(build(records, [judged(f"r{i}", raw=5.0) for i in range(3)]), **QUICK)
    assert [row["rater"] for row in found["raters"].rows] == ["ann"]
    assert "3 labels that join several raters were left out" in found.text()
    own = [Record(id="r0", question="q", response="x", labels=(Label(rater="model:m/one", complete=True),))]
    with pytest.raises(StatisticsError, match="written by the judge itself"):
        agree(build(own, [judged("r0", raw=5.0)]))


def test_criteria_are_units_and_questions_their_clusters(build: Build) -> None:
    criteria = (Criterion("c1", "names the drug"), Criterion("c2", "names the dose"))
    records = [
        Record(
            id=f"r{i}", question=f"q{i}", response="x", criteria=criteria,
            labels=(
                Label(rater="ann", criteria={"c1": "Entailment", "c2": "Neutral"}),
                Label(rater="bob", criteria={"c1": "Entailment", "c2": "Entailment" if i else "Neutral"}),
            ),
        )
        for i in range(3)
    ]  # fmt: skip
    verdict = {"criteria": {"c1": {"met": True}, "c2": {"met": False}}}
    run = build(records, [judged(f"r{i}", verdict=verdict, status="ok") for i in range(3)])
    found = agree(run, on="criteria", met="Entailment", **QUICK)
    assert found["pairs"].rows[0]["n"] == 6
    assert found["pairs"].rows[0]["percent"] == pytest.approx(4 / 6)
    assert {row["b"]: row["percent"] for row in found["judges"].rows} == {"ann": 1.0, "bob": pytest.approx(4 / 6)}
    assert "clusters:3" in found.signature
    words = agree(run, on="criteria", levels=LEVELS, **QUICK)
    assert words["judges"].rows == []
    assert "--met" in words.text()
    assert words["raters"].rows[0]["counts"] == {"Contradiction": 0, "Neutral": 3, "Entailment": 3}


def test_runs_without_labels_or_with_several_sets_say_what_to_do(build: Build) -> None:
    with pytest.raises(StatisticsError, match="no labels"):
        agree(build([Record(id="r", question="q", response="x")], [judged("r", raw=3.0)]))
    both = (Label(rater="a", complete=True), Label(rater="a", construct="safety", complete=True))
    with pytest.raises(StatisticsError, match="several constructs"):
        agree(build([Record(id="r", question="q", response="x", labels=both)]))
    run = build(labelled([(True, True)]))
    with pytest.raises(InputError, match="no rater is called 'eve'"):
        agree(run, raters="eve")
    with pytest.raises(InputError, match="no data set 'z'"):
        agree(run, dataset="z")


def test_two_data_sets_are_not_mixed(build: Build, tmp_path: Path) -> None:
    from judgekit.runs.reader import open_run
    from judgekit.runs.store import RunStore

    run = build(labelled([(True, True)]))
    with RunStore(run.path) as store:
        store.put_records("e", labelled([(True, False)]))
    with pytest.raises(UsageError, match="2 data sets"):
        agree(open_run(run.path))
    assert agree(run.path, dataset="e", **QUICK)["pairs"].rows[0]["percent"] == 0.0


def test_judges_are_correlated_per_rubric(build: Build) -> None:
    rng = np.random.default_rng(0)
    records = labelled([(True, True)] * 20)
    one, two = rng.integers(1, 6, 20), rng.integers(1, 6, 20)
    run = build(
        records,
        [judged(f"r{i}", raw=float(v)) for i, v in enumerate(one)]
        + [judged(f"r{i}", raw=float(v), judge="m/two") for i, v in enumerate(two)]
        + [judged(f"r{i}", raw=3.0, judge="m/three") for i in range(20)],
    )
    rows = agree(run, **QUICK)["correlations"].rows
    assert [row["n"] for row in rows] == [20, 20, 20]
    by = {frozenset((row["a"], row["b"])): row for row in rows}
    names, square = correlation_matrix(rows)
    i, j = names.index("m/one"), names.index("m/two")
    assert square[i][j] == square[j][i] == by[frozenset(("m/one", "m/two"))]["pearson"]
    assert square[i][i] is None
    assert by[frozenset(("m/one", "m/two"))]["pearson"] == pytest.approx(np.corrcoef(one, two)[0, 1])
    assert by[frozenset(("m/one", "m/three"))]["pearson"] is None
    assert by[frozenset(("m/one", "m/three"))]["reason"] == "one side does not vary"


def test_correlations_leave_unscored_out() -> None:
    (row,) = correlations({"a": [1.0, 2.0, None, 4.0, 3.0], "b": [2.0, 1.0, 3.0, None, 4.0]}, None, replicates=0)
    assert row["n"] == 3


def test_healthbench_ceiling_beside_the_judge(shared_data: Path) -> None:
    """Two to four of many anonymous physicians a criterion: pooled, with the recorded judge beside them."""
    file = shared_data / "healthbench_meta_labels.jsonl"
    found = agree(file, card="healthbench", judge=["judge_met"], **QUICK)
    items = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    pairs = [(a, b) for item in items for i, a in enumerate(item["physician_met"]) for b in item["physician_met"][:i]]
    rows = {row["statistic"]: row for row in found["ceiling"].rows}
    assert rows["percent"]["human"] == pytest.approx(np.mean([a == b for a, b in pairs]))
    assert rows["percent"]["comparisons"] == 2 * len(pairs)
    assert {row["left_out"] for row in found["ceiling"].rows} == {"each in turn"}
    assert rows["balanced_f1"]["machine"] is not None
    overall = {row["statistic"]: row for row in found["overall"].rows}
    same = np.mean([len(set(item["physician_met"])) == 1 for item in items])
    assert overall["all who rated say the same"]["value"] == pytest.approx(same)
    assert "pooled" in found.text()
    with pytest.raises(InputError, match="holds no 'nobody'"):
        agree(file, card="healthbench", judge=["nobody"])
