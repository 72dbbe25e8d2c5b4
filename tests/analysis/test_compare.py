"""Comparison over tables and runs: the unit, the family, what is unscored, what cannot be tested."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judgekit.analysis.compare import compare
from judgekit.analysis.strata import strata
from judgekit.errors import DataError, InputError, StatisticsError, UsageError
from judgekit.records import Record
from tests.analysis.conftest import Build, judged, measured

QUICK: dict[str, Any] = {"replicates": 0, "permutations": 1000}


def frame(rows: list[tuple[Any, ...]], columns: str = "model q v") -> pd.DataFrame:
    return pd.DataFrame(rows, columns=columns.split(), dtype=object)


def test_five_identical_repetitions_change_nothing() -> None:
    # Differences 1, 2, 3 over three questions: p = .0742, with one row a question or with five.
    once = frame([("A", q, 1 + q) for q in range(3)] + [("B", q, 0) for q in range(3)])
    five = pd.concat([once] * 5, ignore_index=True)
    for table in (once, five):
        (row,) = compare(table, value="v", group="model", unit="q", **QUICK)["pairs"].rows
        assert row["n"] == 3
        assert row["p"] == pytest.approx(0.0742, abs=5e-5)
        assert row["p_permutation"] == 0.25


def test_blocked_is_the_default_and_one_way_is_named() -> None:
    rows = [
        (m, q, v)
        for m, vs in (("A", (1, 2, 3)), ("B", (1.5, 2.4, 3.6)), ("C", (2.1, 3, 3.9)))
        for q, v in enumerate(vs)
    ]
    first, second = compare(frame(rows), value="v", group="model", unit="q", **QUICK)["anova"].rows
    assert (first["method"], first["F"]) == ("blocked", pytest.approx(90))
    assert (second["method"], second["F"]) == ("one-way", pytest.approx(0.77055, abs=1e-5))


def test_zero_variance_is_flagged_and_not_p_zero() -> None:
    rows = [("A", q, v) for q, v in enumerate((4, 5, 4))] + [("B", q, v) for q, v in enumerate((3, 4, 3))]
    found = compare(frame(rows), value="v", group="model", unit="q", **QUICK)
    (row,) = found["pairs"].rows
    assert (row["p"], row["p_bonferroni"], row["degenerate"], row["p_permutation"]) == (None, None, True, 0.25)
    assert "degenerate" in found.text()


def test_the_family_counts_axes_and_what_was_looked_at_elsewhere() -> None:
    rows = [(m, q, q + d * (q % 2), q) for m, d in (("A", 0), ("B", 1), ("C", 2)) for q in range(6)]
    two = compare(frame(rows, "model q v w"), value=["v", "w"], group="model", unit="q", baseline="A", **QUICK)
    assert "family of 4 comparisons" in two["pairs"].title
    one = two["pairs"].rows[0]
    assert one["p_bonferroni"] == pytest.approx(min(1, 4 * one["p"]))
    more = compare(frame(rows, "model q v w"), value="v", group="model", unit="q", baseline="A", family=45, **QUICK)
    assert more["pairs"].rows[0]["p_bonferroni"] == pytest.approx(min(1, 45 * one["p"]))
    with pytest.raises(InputError, match="no smaller"):
        compare(frame(rows, "model q v w"), value="v", group="model", unit="q", family=1, **QUICK)


def test_unscored_rows_are_counted_and_never_zero() -> None:
    rows = [("A", 1, 4), ("A", 2, None), ("B", 1, 3), ("B", 2, 2)]
    found = compare(frame(rows), value="v", group="model", unit="q", **QUICK)
    a = found["groups"].rows[0]
    assert (a["mean"], a["n_units"], a["n_unscored"]) == (4.0, 1, 1)
    assert "1 of 4 rows are unscored" in found.text()
    zero = compare(frame(rows), value="v", group="model", unit="q", unscored_as=0, **QUICK)
    assert zero["groups"].rows[0]["mean"] == 2.0
    assert "counted as 0, as was asked" in zero.text()
    assert "unscored_as:0" in zero.signature


def test_groups_without_common_questions_are_tested_by_welch_and_say_so() -> None:
    rows = [("A", f"a{i}", i) for i in range(5)] + [("B", f"b{i}", i + 2) for i in range(4)]
    found = compare(frame(rows), value="v", group="model", unit="q", **QUICK)
    assert found["pairs"].rows[0]["design"] == "welch"
    assert [row["method"] for row in found["anova"].rows] == ["one-way"]
    assert "confounded" in found.text()
    with pytest.raises(StatisticsError, match="share no unit"):
        compare(frame(rows), value="v", group="model", unit="q", design="paired", **QUICK)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "no rows"),
        ([("A", 1, 2.0)], "one group only"),
        ([("A", 1, None), ("B", 1, None)], "everything is unscored"),
        ([("A", 1, 2.0), ("B", 1, 3.0)], "fewer than two"),
        ([("A", 1, 2.0), ("A", 2, 2.0)], "one group only"),
    ],
)
def test_little_or_nothing_gives_a_sentence(rows: list[Any], words: str) -> None:
    found = compare(frame(rows), value="v", group="model", unit="q", sample=None, **QUICK)
    assert words in found.text()
    json.dumps(found.to_json(), allow_nan=False)


def test_what_cannot_be_read_names_file_line_and_mend(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("model,question_id,v\nA,1,4\nA,2,four\n", encoding="utf-8")
    with pytest.raises(DataError) as error:
        compare(str(table), group="model", value=["v"], unit="question_id")
    assert (error.value.line, error.value.field) == (3, "v")
    with pytest.raises(UsageError, match="not independent"):
        compare(str(table), group="model", value=["v"])
    with pytest.raises(DataError, match="no column 'w'"):
        compare(str(table), group="model", value=["w"], unit="question_id")
    with pytest.raises(InputError, match="no group is called 'Z'"):
        compare(str(table), group="model", value=["v"], unit="question_id", baseline="Z", missing=["four"])


def test_ids_and_na_stay_text(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("model,q,v\nNA,001,4\nNA,1,2\nNone,001,3\nNone,1,3\n", encoding="utf-8")
    found = compare(str(table), group="model", value=["v"], unit="q", **QUICK)
    assert [row["group"] for row in found["groups"].rows] == ["NA", "None"]
    assert [row["n_units"] for row in found["groups"].rows] == [2, 2]  # 001 and 1 are two questions


def records(models: str = "AB", questions: int = 4) -> list[Record]:
    return [
        Record(
            id=f"{m}{q}",
            question=f"question {q}",
            response="x",
            meta={"model": m, "category": "easy" if q % 2 else "hard"},
        )
        for m in models
        for q in range(questions)
    ]


def test_models_of_a_run_are_paired_by_question(build: Build) -> None:
    run = build(
        records(),
        [judged(f"A{q}", raw=3.0 + q % 2, sample=s) for q in range(4) for s in range(2)]
        + [judged(f"B{q}", raw=2.0 + (q == 3)) for q in range(3)]
        + [judged("B3", status="refused", raw=None)],
    )
    found = compare(run, what="model", **QUICK)
    a, b = found["groups"].rows
    assert (a["group"], a["n_units"], a["n_rows"], a["samples"]) == ("A", 4, 8, 2)
    assert (b["n_units"], b["n_unscored"]) == (3, 1)
    (row,) = found["pairs"].rows
    assert (row["n"], row["design"], row["difference"]) == (3, "paired", pytest.approx(4 / 3))  # (1 + 2 + 1) / 3
    axes = compare(run, what="model", value=["raw", "score"], **QUICK)
    assert len(axes["pairs"].rows) == 2
    with pytest.raises(InputError, match="do not say their prompt"):
        compare(run, what="prompt", **QUICK)


def test_judges_and_rubrics_of_a_run(build: Build) -> None:
    run = build(
        records("A"),
        [judged(f"A{q}", raw=3.0 + q % 2) for q in range(4)]
        + [judged(f"A{q}", raw=1.0 + q % 3, judge="m/two") for q in range(4)]
        + [judged(f"A{q}", raw=2.0, rubric="general-likert") for q in range(4)],
    )
    judges = compare(run, what="judge", rubric=["analytical-rubric"], **QUICK)
    assert [row["group"] for row in judges["groups"].rows] == ["m/one", "m/two"]
    rubrics = compare(run, what="rubric", judge=["m/one"], **QUICK)
    assert {row["value"] for row in rubrics["groups"].rows} == {"score"}  # scales differ, so scores in [0, 1]
    with pytest.raises(InputError, match="the run has no judge 'x'"):
        compare(run, judge=["x"])


def test_an_empty_run_is_a_sentence(build: Build) -> None:
    with pytest.raises(InputError, match="no judgements"):
        compare(build([]))
    with pytest.raises(InputError, match="no measurements"):
        compare(build([]), metric=["entity_f1"])


def test_a_metric_of_a_run(build: Build) -> None:
    run = build(records(), measurements=[measured(r.id, "rouge_l(beta=1)", 0.1 * i) for i, r in enumerate(records())])
    found = compare(run, metric=["rouge_l"], **QUICK)
    (row,) = found["pairs"].rows
    assert row["difference"] == pytest.approx(-0.4)
    assert "rouge_l(beta=1)" in found.text()


def test_strata_of_shares_and_means(build: Build) -> None:
    run = build(
        records("AB", 6), [judged(r.id, raw=5.0 if r.meta["category"] == "easy" else 2.0) for r in records("AB", 6)]
    )
    found = strata(run, by=["category"], value=["complete"], **QUICK)
    hard, easy = found["strata"].rows
    assert (hard["group"], hard["mean"], hard["count"], hard["kind"]) == ("hard", 0.0, 0, "share")
    assert hard["mean_high"] == pytest.approx(0.5615, abs=1e-4)  # Wilson, 0 of 3 questions
    assert (easy["mean"], easy["n_units"], easy["n_rows"]) == (1.0, 3, 6)
    both = strata(run, by=["category", "model"], **QUICK)
    assert len(both["strata"].rows) == 4
    assert both["interaction"].rows[0]["p"] is None  # no variance at all
    with pytest.raises(UsageError, match="named twice"):
        strata(run, by=["model", "model"])


def test_prompts_are_compared_and_averaged_models_are_named(build: Build) -> None:
    prompts = [
        Record(id=f"{m}{w}{q}", question=f"question {q}", response="x", meta={"model": m, "writer": w})
        for m in "AB" for w in ("answer-rag", "answer-zero-shot") for q in range(3)
    ]  # fmt: skip
    run = build(
        prompts, [judged(r.id, raw=3.0 + (r.meta["writer"] == "answer-rag") + (r.id[-1] == "1")) for r in prompts]
    )
    found = compare(run, what="prompt", baseline="answer-rag", **QUICK)
    (row,) = found["pairs"].rows
    assert (row["b"], row["difference"], row["n"], row["degenerate"]) == ("answer-zero-shot", 1.0, 3, True)
    assert "answers of 2 different models are averaged" in found.text()
    apart = compare(run, what="prompt", by=["model"], **QUICK)
    assert len(apart["pairs"].rows) == 2
    assert "averaged: keep them apart" not in apart.text()


def test_a_few_common_questions_do_not_throw_the_others_away() -> None:
    rows = [("A", f"q{i}", i % 3) for i in range(20)] + [("B", f"q{i}", i % 2) for i in range(18, 38)]
    (row,) = compare(frame(rows), value="v", group="model", unit="q", **QUICK)["pairs"].rows
    assert (row["design"], row["n"], row["n_b"], row["n_common"]) == ("welch", 20, 20, 2)
    (row,) = compare(frame(rows), value="v", group="model", unit="q", design="paired", **QUICK)["pairs"].rows
    assert (row["design"], row["n"]) == ("paired", 2)
