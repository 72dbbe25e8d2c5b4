"""From a table to rows: the contract's fields, strata, raters, and every guard."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from judgekit.analysis.guards import few_criteria, oracle_criteria, same_model
from judgekit.analysis.triage import triage
from judgekit.analysis.triage.row import FIELDS
from judgekit.cli.app import main
from judgekit.data.labels import joined_set
from judgekit.errors import DataError, InputError, StatisticsError, UsageError
from judgekit.records import Label, Record

LABEL_11 = [1] * 10 + [0] * 15
SCORE_11 = [1, 1, 1, 2, 2, 2, 2, 3, 3, 5, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5]


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def table(path: Path, label: list[object], score: list[object], **more: list[object]) -> Path:
    heads = ["id", "incomplete", "score", *more]
    body = zip([f"{i:03d}" for i in range(len(label))], label, score, *more.values(), strict=True)
    return write(path, ",".join(heads), *[",".join(map(str, row)) for row in body])


@pytest.fixture
def case_11(tmp_path: Path) -> Path:
    return table(tmp_path / "case11.csv", LABEL_11, SCORE_11)


def test_the_contract(case_11: Path) -> None:
    body = triage(case_11).to_json()
    assert list(body) == ["rows", "notes", "signature"]
    row = body["rows"][0]
    assert tuple(row) == FIELDS
    assert json.loads(json.dumps(body, allow_nan=False)) == body
    assert (row["n"], row["n_incomplete"], row["threshold"], row["flag_if"]) == (25, 10, 3.0, "score <= threshold")
    assert (row["workload"], row["recall"], row["wss"]) == (0.56, 0.9, pytest.approx(0.34))
    assert (row["workload_perfect"], row["workload_random"]) == (0.36, pytest.approx(234 / 275))
    assert row["optimistic"] is True
    assert row["certified"] is None
    for piece in ("recall:0.9", "flag:score<=t", "numpy:", "scipy:", "source:case11@"):
        assert piece in body["signature"]


def test_the_sentence_and_its_silence(case_11: Path, tmp_path: Path) -> None:
    text = " ".join(triage(case_11).text().split())
    assert "must still read 14 of 25 (56 %); reading in random order would need 85 %, a perfect judge 36 %." in text
    assert "Among the 11 unread answers 1 is incomplete (0.2 % to 41 %)" in text
    # nine incomplete answers: no verdict sentence, and a note that says why
    small = triage(table(tmp_path / "small.csv", LABEL_11[1:], SCORE_11[1:]))
    assert "must still read" not in small.text()
    assert any("no verdict" in note for note in small.operating_points[0].values["notes"])


def test_fewer_than_29_cannot_certify(case_11: Path) -> None:
    assert any("fewer than 29 cannot certify" in note for note in triage(case_11).operating_points[0].values["notes"])
    # .8^m <= .05 first at m = 14
    assert any(
        "fewer than 14 cannot certify" in note
        for note in triage(case_11, recall="0.8").operating_points[0].values["notes"]
    )


def test_direction_is_declared_and_never_flipped(tmp_path: Path) -> None:
    turned = table(tmp_path / "t.csv", LABEL_11, [6 - s for s in SCORE_11])
    wrong, right = triage(turned).to_json()["rows"][0], triage(turned, higher_is_worse=True).to_json()["rows"][0]
    assert wrong["auc"] == pytest.approx(2 / 15)
    assert any("--higher-is-worse" in note for note in wrong["notes"])
    assert (right["auc"], right["threshold"], right["flag_if"]) == (pytest.approx(13 / 15), 3.0, "score >= threshold")
    assert right["workload"] == 0.56


def test_unscored_are_counted_by_class_and_read_by_the_clinician(tmp_path: Path) -> None:
    # STATISTICS' example: 10 of 17 over the scored, 13 of 20 in truth
    label = [1] * 10 + [0] * 10
    score = [1, 1, 1, 2, 2, 2, 3, 3, "", "NA", 2, 3, 4, 4, 4, 5, 5, 5, 5, "inf"]
    found = triage(table(tmp_path / "u.csv", label, score))
    row = found.to_json()["rows"][0]
    assert (row["n"], row["n_unscored"], row["workload"], row["workload_all"]) == (17, 3, 10 / 17, 0.65)
    assert (row["recall"], row["recall_all"]) == (1.0, 1.0)
    notes = " ".join(row["notes"])
    assert "2 incomplete, 1 complete; 1 empty, 1 na, 1 inf" in notes
    # over 5 %: AUC from worst to best. Scored pairs won: of 72 the incomplete ones lose or tie against 2 (3 ties, 2 losses)
    # and against 3 (2 ties): 72 - 2 - 2.5 = 67.5. Best: all 100 - 72 = 28 other pairs won: .955; worst: none: .675.
    assert "AUC lies between 0.68 and 0.95" in notes or "AUC lies between 0.68 and 0.96" in notes
    cases = found.operating_points[0].cases
    assert (cases["auc_low"], cases["auc_high"]) == (0.675, 0.955)
    first = triage(tmp_path / "u.csv", unscored="first").to_json()["rows"][0]
    # read first: 10 incomplete, nine needed: the two unscored and 1,1,1,2,2,2 make 8; so t = 3: 10 + 3 of 20
    assert (first["n"], first["threshold"], first["workload"]) == (20, 3.0, 0.65)
    last = triage(tmp_path / "u.csv", unscored="last").to_json()["rows"][0]
    assert (last["threshold"], last["workload"]) == ("inf", 1.0)


def test_unlabelled_are_counted(tmp_path: Path) -> None:
    row = triage(table(tmp_path / "u.csv", [1, "", 0, 1, ""], [1, 2, 3, 4, 3])).to_json()["rows"][0]
    assert (row["n"], row["n_unlabelled"]) == (3, 2)
    assert any("2 answers have no label" in note for note in row["notes"])


def test_labels_only_for_the_flagged_are_refused(tmp_path: Path) -> None:
    path = table(tmp_path / "flagged.csv", [1, 1, 0, 1, 0, 1] + [""] * 6, [1, 1, 2, 2, 2, 1, 3, 3, 4, 5, 4, 5])
    with pytest.raises(StatisticsError, match="only on one side"):
        triage(path)
    other = table(tmp_path / "passed.csv", [1, 1, 0, 1, 0, 1] + [""] * 6, [6, 6, 7, 7, 7, 6, 3, 3, 4, 5, 4, 5])
    with pytest.raises(StatisticsError, match="only on one side"):
        triage(other)
    # one refused judge beside a good one: its row has counts, no figures, and the reason
    wide = table(
        tmp_path / "two.csv",
        [1, 1, 0, 1, 0, 1] + [""] * 6,
        [1, 1, 2, 2, 2, 1, 3, 3, 4, 5, 4, 5],
        fair=[1, 5, 2, 4, 3, 2, 1, 5, 2, 4, 3, 5],
    )
    rows = triage(wide, score=["score", "fair"]).to_json()["rows"]
    assert (rows[0]["auc"], rows[0]["recall"], rows[0]["n"]) == (None, None, 6)
    assert rows[0]["notes"][0].startswith("refused")
    assert rows[1]["auc"] is not None


def test_labels_that_depend_on_the_score_are_a_warning(tmp_path: Path) -> None:
    # 40 of the low half labelled, 4 of the high half
    label = [1, 0] * 20 + [1, 0, 1, 0] + [""] * 36
    score = list(range(40)) + [40, 50, 60, 70] + [45 + i * 0.5 for i in range(36)]
    row = triage(table(tmp_path / "w.csv", label, score)).to_json()["rows"][0]
    assert any("depends on the score" in note for note in row["notes"])


def test_sampling_probabilities_correct_it(tmp_path: Path) -> None:
    # 100 flagged with 60 incomplete; 90 of 900 others sampled, 3 incomplete: .667, not .952
    label = [1] * 60 + [0] * 40 + [1] * 3 + [0] * 87
    path = table(tmp_path / "s.csv", label, [1] * 100 + [2] * 90, p=[1] * 100 + [0.1] * 90)
    naive = triage(path, threshold=1).to_json()["rows"][0]
    fair = triage(path, threshold=1, sampling_probability="p").to_json()["rows"][0]
    assert naive["recall"] == pytest.approx(60 / 63)
    assert fair["recall"] == pytest.approx(2 / 3)
    assert (fair["auc_low"], fair["mann_whitney_p"], fair["recall_loco"]) == (None, None, None)
    # AUC by weights: incomplete 60 at 1, 30 at 2; complete 40 at 1, 870 at 2: (60 (870 + 20) + 30 * 435) / (90 * 910)
    assert fair["auc"] == pytest.approx((60 * 890 + 30 * 435) / (90 * 910))
    # a column of that name cannot be overlooked
    named = table(tmp_path / "n.csv", label, [1] * 100 + [2] * 90, sampling_probability=[1] * 100 + [0.1] * 90)
    with pytest.raises(StatisticsError, match="--sampling-probability sampling_probability"):
        triage(named)
    with pytest.raises(DataError, match=r"s\.csv:2: p"):
        triage(table(tmp_path / "s.csv", [1, 0], [1, 2], p=[0, 1]), sampling_probability="p")


def test_sampling_from_all_thousand_answers(tmp_path: Path) -> None:
    # the same with all 1,000 rows there: 810 have no label, and two of the labelled ones no score
    label = [1] * 60 + [0] * 40 + [1] * 3 + [0] * 87 + [""] * 810
    score = [1] * 98 + ["", ""] + [2] * 900
    path = table(tmp_path / "s.csv", label, score, p=[1] * 100 + [0.1] * 900)
    row = triage(path, recall="0.6", sampling_probability="p").to_json()["rows"][0]
    assert (row["threshold"], row["recall"]) == (1.0, pytest.approx(2 / 3))
    assert (row["n_unlabelled"], row["n_unscored"]) == (810, 2)
    assert row["workload_all"] == pytest.approx(100 / 1000)
    assert row["workload"] == pytest.approx(98 / 998)


def test_the_judge_as_rater_is_refused(tmp_path: Path) -> None:
    path = write(
        tmp_path / "r.csv",
        "id,rater,judge,incomplete,score",
        "a,gpt-5-mini,openai/gpt-5-mini,1,1",
        "b,gpt-5-mini,openai/gpt-5-mini,0,2",
    )
    with pytest.raises(StatisticsError, match="the judge itself"):
        triage(path, rater="rater")
    assert same_model("openai/gpt-5-mini", ["r1", "OpenAI/GPT-5-mini"]) == "OpenAI/GPT-5-mini"
    assert same_model("openai/gpt-5-mini", ["r1", "gpt-5"]) is None


def test_oracle_and_few_criteria() -> None:
    assert oracle_criteria([["c1", "c2"], ["c1"]], [["c1", "c2"], ["c1"]])
    assert not oracle_criteria([["w1", "w2"], ["w1"]], [["c1", "c2"], ["c1"]])
    # 10 of 24 records with one or two criteria
    assert "10 of 24" in (few_criteria([1] * 4 + [2] * 6 + [5] * 14) or "")
    assert few_criteria([1] + [5] * 23) is None


def test_repeated_questions_need_a_cluster(tmp_path: Path) -> None:
    twice = table(tmp_path / "q.csv", [1, 1, 0, 0, 1, 0], [1, 3, 2, 4, 2, 5], question=["a", "a", "b", "b", "c", "c"])
    with pytest.raises(StatisticsError, match="--cluster question"):
        triage(twice)
    row = triage(twice, cluster="question").to_json()["rows"][0]
    assert row["mann_whitney_p"] is None
    assert any("3 clusters" in note for note in row["notes"])
    once = table(tmp_path / "o.csv", [1, 0], [1, 2], qid=["a", "b"])
    assert triage(once).to_json()["rows"][0]["n"] == 2
    with pytest.raises(DataError, match=r"q\.csv:2: question: no cluster"):
        triage(table(tmp_path / "q.csv", [1, 0], [1, 2], question=["", "b"]), cluster="question")


def test_case_01_doubled_inside_clusters(tmp_path: Path) -> None:
    label, score = [1] * 4 + [0] * 6, [1.1, 1.4, 2.2, 3.9, 2.0, 3.1, 3.3, 4.0, 4.4, 4.8]
    path = table(tmp_path / "d.csv", label * 2, score * 2, q=list(range(10)) * 2)
    found = triage(path, cluster="q").operating_points[0]
    assert found.wald.se == pytest.approx(0.14433756729740643)
    assert found.values["recall_loco"] == 0.75


def test_ids_are_text_and_duplicates_are_refused(tmp_path: Path) -> None:
    found = triage(write(tmp_path / "i.csv", "id,incomplete,score", "001,1,1", "010,0,2", "NA,0,3", "None,1,1"))
    assert found.operating_points[0].cell.ids == ("001", "010", "NA", "None")
    with pytest.raises(DataError, match=r"i\.csv:4: id: .*'a' was there before, on line 2"):
        triage(write(tmp_path / "i.csv", "id,incomplete,score", "a,1,1", "b,0,2", "a,0,3"))
    repeated = triage(tmp_path / "i.csv", cluster="id").to_json()["rows"][0]
    assert repeated["n"] == 3


@pytest.mark.parametrize("word", ["1", "true", "TRUE", "yes", "Yes", "1.0"])
def test_words_for_incomplete(tmp_path: Path, word: str) -> None:
    assert (
        triage(write(tmp_path / "l.csv", "incomplete,score", f"{word},1", "0,2")).to_json()["rows"][0]["n_incomplete"]
        == 1
    )


@pytest.mark.parametrize("word", ["NA", "2", "unsure", "maybe", "-1"])
def test_other_labels_are_errors_with_their_line(tmp_path: Path, word: str) -> None:
    with pytest.raises(DataError, match=r"l\.csv:3: incomplete:"):
        triage(write(tmp_path / "l.csv", "incomplete,score", "1,1", f"{word},2"))


def test_a_quoted_line_break_keeps_the_line_number(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"l\.csv:5: score: '4/5' is no number"):
        triage(write(tmp_path / "l.csv", "text,incomplete,score", '"one\ntwo",1,1', "x,0,2", "y,0,4/5"))


def test_what_complete_means_must_be_said(tmp_path: Path) -> None:
    path = write(tmp_path / "c.csv", "complete,score", "0,1", "1,2")
    with pytest.raises(DataError, match="--label-is"):
        triage(path, label="complete")
    row = triage(path, label="complete", label_is="complete").to_json()["rows"][0]
    assert (row["n_incomplete"], row["auc"]) == (1, 1.0)


def test_raters_apart_then_joined(tmp_path: Path) -> None:
    lines = ["id,rater,incomplete,score"]
    votes = {"a": (1, 1, 0), "b": (1, 0, 0), "c": (0, 0, 0), "d": (1, 1, 1)}
    for place, (name, given) in enumerate(votes.items()):
        lines += [f"{name},r{i},{vote},{place}" for i, vote in enumerate(given)]
    path = write(tmp_path / "r.csv", *lines)
    rows = triage(path, rater="rater", join="majority").to_json()["rows"]
    assert [(row["rater"], row["n_incomplete"], row["n"]) for row in rows] == [
        ("r0", 3, 4), ("r1", 2, 4), ("r2", 1, 4), ("majority", 2, 4),
    ]  # fmt: skip
    assert triage(path, rater="rater", join="worst").to_json()["rows"][-1]["n_incomplete"] == 3
    with pytest.raises(StatisticsError, match="worst-of-raters needs equal numbers"):
        triage(write(tmp_path / "r.csv", *lines[:-1]), rater="rater", join="worst")


def test_worst_of_three_raises_the_prevalence() -> None:
    # independent raters at .10: worst of three 1 - .9^3 = .271. 1000 records with exactly those shares of vote patterns:
    patterns = [[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    votes = [p for p in patterns for _ in range(1 * 9 ** (3 - sum(p)))]  # weights 9^zeros: 1000 in all
    assert len(votes) == 1000
    records = [
        Record(id=str(i), question=str(i), labels=tuple(Label(rater=f"r{k}", complete=not v) for k, v in enumerate(p)))
        for i, p in enumerate(votes)
    ]
    joined = joined_set(records, "completeness", "worst").values()
    assert sum(label is not None and label.complete is False for label in joined) == 271


def test_strata(tmp_path: Path) -> None:
    path = table(tmp_path / "s.csv", LABEL_11, SCORE_11, topic=["x"] * 5 + ["y"] * 10 + ["x"] * 10)
    rows = triage(path, by="topic").to_json()["rows"]
    assert [(row["by"], row["n"]) for row in rows] == [({"topic": "x"}, 15), ({"topic": "y"}, 10)]
    assert list(triage(path, by="topic").table["n"]) == [15, 10]


def test_fixed_thresholds(tmp_path: Path) -> None:
    # analytical-rubric: >= 4 is complete. Flagged: scores 1-3: 9 incomplete and 5 complete. P 9/14, R 9/10, F1 18/24.
    path = table(tmp_path / "f.csv", LABEL_11, SCORE_11, rubric=["analytical-rubric"] * 25)
    fixed = triage(path).to_json()["rows"][0]["fixed"]
    assert fixed == {"f1": 0.75, "precision": pytest.approx(9 / 14), "recall": 0.9}
    likert = table(tmp_path / "g.csv", [1, 0], [2, 3], rubric=["general-likert"] * 2)
    # both are >= 2, so complete: nothing flagged; precision undefined, recall 0, F1 0
    assert triage(likert).to_json()["rows"][0]["fixed"] == {"f1": 0.0, "precision": None, "recall": 0.0}
    assert triage(table(tmp_path / "h.csv", [1, 0], [1, 2])).to_json()["rows"][0]["fixed"]["f1"] is None
    assert triage(tmp_path / "h.csv", complete_when="> 1").to_json()["rows"][0]["fixed"]["f1"] == 1.0


def test_a_threshold_with_many_digits_is_shown_whole(tmp_path: Path) -> None:
    found = triage(table(tmp_path / "d.csv", [1, 0], ["0.3888888888888889", 1]))
    assert "to the last digit: <= 0.3888888888888889" in found.text()


def test_a_preset_threshold_is_not_optimistic(case_11: Path) -> None:
    row = triage(case_11, threshold=3).to_json()["rows"][0]
    assert (row["optimistic"], row["recall_loco"], row["recall"]) == (False, None, 0.9)
    assert any("set beforehand" in note for note in row["notes"])


@pytest.mark.parametrize(
    ("label", "score", "word"),
    [
        ([1, 1], [1, 2], "no complete answer"),
        ([0, 0], [1, 2], "no incomplete answer"),
        ([1, 0], ["", ""], "no record is both scored and labelled"),
        (["", ""], [1, 2], "no record is both scored and labelled"),
    ],
)
def test_nothing_to_compute_is_a_sentence(tmp_path: Path, label: list[object], score: list[object], word: str) -> None:
    found = triage(table(tmp_path / "n.csv", label, score))
    assert found.to_json()["rows"][0]["auc"] is None
    assert word in found.text()


def test_data_frames_and_other_files(case_11: Path, tmp_path: Path) -> None:
    frame = pd.DataFrame({"incomplete": LABEL_11, "score": [float(s) for s in SCORE_11]})
    expected = triage(case_11).to_json()["rows"][0]
    for source in (frame, tmp_path / "t.jsonl", tmp_path / "t.parquet"):
        if not isinstance(source, pd.DataFrame):
            frame.to_json(source, orient="records", lines=True) if source.suffix == ".jsonl" else frame.to_parquet(
                source
            )
        row = triage(source).to_json()["rows"][0]
        assert {k: v for k, v in row.items() if k != "dataset"} == {k: v for k, v in expected.items() if k != "dataset"}


def test_usage(case_11: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="recall"):
        triage(case_11, recall="90")
    with pytest.raises(DataError, match="no column 'nope'"):
        triage(case_11, label="nope")
    with pytest.raises(InputError, match="there is no such run or table"):
        triage(tmp_path / "absent.csv")
    with pytest.raises(DataError, match="no rows"):
        triage(write(tmp_path / "e.csv", "incomplete,score"))
    with pytest.raises(DataError, match=r"b\.csv:3: 3 cells"):
        triage(write(tmp_path / "b.csv", "incomplete,score", "1,1", "0,2,3"))


def test_pictures(case_11: Path, tmp_path: Path) -> None:
    from matplotlib.image import imread

    found = triage(case_11)
    found.picture(tmp_path / "p.png")
    image = imread(tmp_path / "p.png")
    assert image.shape[1] == round(820 / 96 * 300)  # two charts of 400 pixels, 20 between them, 300 dots an inch
    assert b"judgekit:0." in (tmp_path / "p.png").read_bytes()  # the signature travels in the file
    found.picture(tmp_path / "p.svg")
    with pytest.raises(StatisticsError, match="nothing to draw"):
        triage(table(tmp_path / "n.csv", [1], [1])).picture(tmp_path / "n.png")
    with pytest.raises(InputError, match=r"\.png"):
        found.picture(tmp_path / "p.gif")


def test_the_fixed_threshold_is_weighted_too() -> None:
    # 100 answers under the fixed threshold, all labelled, 60 incomplete; 900 above it, a tenth labelled, 3 of these 90 incomplete: the
    # verdict's recall is 60 / (60 + 30) = .667, not 60 / 63, and its precision .6.
    rows = [{"incomplete": int(i < 60), "score": 1, "p": 1, "severity": "severe"} for i in range(100)]
    rows += [{"incomplete": int(i < 3), "score": 5, "p": 0.1, "severity": "severe"} for i in range(90)]
    found = triage(
        pd.DataFrame(rows, dtype=object),
        sampling_probability="p",
        complete_when=">= 4",
        severity="severity",
        threshold=1,
    )
    row = found.to_json()["rows"][0]
    assert row["fixed"]["recall"] == pytest.approx(60 / 90)
    assert row["fixed"]["precision"] == pytest.approx(0.6)
    assert row["recall"] == pytest.approx(60 / 90)
    # 3 of 63 severe ones missed would be 4.8 %, and is 33 % in truth: no count is shown
    assert "severity" not in found.operating_points[0].extra
    assert "not counted, since the answers were sampled" in found.text()


def test_the_best_of_many_is_called_so() -> None:
    rows = [{"incomplete": i % 2, "a": i, "b": -i, "c": i % 3} for i in range(30)]
    table = pd.DataFrame(rows, dtype=object)
    for score, told in ((["a"], False), (["a", "b", "c"], True)):
        for row in triage(table, score=score).to_json()["rows"]:
            assert any(note.startswith("one of 3 judges and rubrics looked at") for note in row["notes"]) is told
    assert "the estimate for the best of many is optimistic" in " ".join(triage(table, score=["a", "b"]).text().split())


@pytest.mark.parametrize("sense", [[], ["--label-is", "complete"], ["--label-is", "incomplete"]])
def test_the_words_incomplete_and_complete_say_what_they_mean(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], sense: list[str]
) -> None:
    path = tmp_path / "words.csv"
    path.write_text("id,verdict,score\n1,Incomplete,1\n2,complete,2\n3,,1\n", "utf-8")
    assert main(["triage", str(path), "--label", "verdict", "--score", "score", "--json", *sense]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["n"], row["n_incomplete"], row["n_unlabelled"], row["auc"]) == (2, 1, 1, 1.0)


def test_a_p_too_small_for_a_float_is_not_zero_in_json(tmp_path: Path) -> None:
    label = [1] * 1500 + [0] * 1500
    row = triage(table(tmp_path / "apart.csv", list(label), list(range(3000)))).to_json()["rows"][0]
    assert row["mann_whitney_p"] == 2.2250738585072014e-308
    assert "Mann-Whitney p: smaller than a float can say: under 2.2e-308" in row["notes"]


def test_the_operating_point_has_a_legend_and_no_line_is_too_wide(case_11: Path) -> None:
    text = triage(case_11).text(80)
    assert "wss (work saved over sampling): recall minus share" in " ".join(text.split())
    table = text[: text.index("[1] case11", text.index("Operating point"))]
    assert max(map(len, table.splitlines())) <= 80


def test_at_a_prompt_it_shows_its_table(case_11: Path) -> None:
    found = triage(case_11)
    assert repr(found) == str(found) == found.text()


@pytest.mark.parametrize("seed", range(12))
def test_the_workload_lies_between_its_bounds_whatever_the_unscored_are(seed: int) -> None:
    # Brute force: every way to place up to four unscored answers on, between and beyond three tied levels.
    from itertools import product
    from random import Random

    from judgekit.stats.operating_point import operating_point

    rng = Random(seed)
    rows = [{"id": i, "incomplete": rng.random() < 0.5, "score": rng.choice([1, 2, 3])} for i in range(9)]
    rows += [{"id": 9 + i, "incomplete": rng.random() < 0.5, "score": ""} for i in range(rng.randint(1, 4))]
    label = [bool(row["incomplete"]) for row in rows]
    if not any(label[:9]) or all(label):
        return
    (row,) = triage(pd.DataFrame(rows, dtype=object), recall="0.7").operating_points
    known = [float(one["score"]) for one in rows[:9]]
    reads = [
        operating_point(label, [*known, *more], "0.7").workload
        for more in product([0.5, 1, 1.5, 2, 2.5, 3, 3.5], repeat=len(rows) - 9)
    ]
    assert row.cases["workload_low"] <= min(reads) + 1e-12
    assert row.cases["workload_high"] >= max(reads) - 1e-12


def test_the_unscored_are_read_in_the_all_figures_also_when_they_count_last(tmp_path: Path) -> None:
    # 11 incomplete, 10 of them scored 1; the 11th has no score. At .9 the threshold 1 catches 10 of 11; read are all scored 1 and the unscored.
    path = table(tmp_path / "u.csv", [1] * 11 + [0] * 9, [1] * 10 + [""] + [2] * 9)
    row = triage(path, unscored="last").to_json()["rows"][0]
    assert (row["recall"], row["recall_all"]) == (pytest.approx(10 / 11), 1.0)
    assert (row["workload"], row["workload_all"]) == (0.5, pytest.approx(11 / 20))
