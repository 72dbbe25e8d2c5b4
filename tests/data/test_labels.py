"""Raters apart and joined: a join is never one more rater, and what cannot be joined says why."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.data import load_records
from judgekit.data.labels import describe, fraction, is_join, joined, joined_set, meets, raters
from judgekit.errors import StatisticsError
from judgekit.records import Criterion, Label, Record


def record(*labels: Label, id: str = "a") -> Record:
    return Record(id=id, labels=labels)


R1 = Label(rater="r1", complete=True, score=1.0)
R2 = Label(rater="r2", complete=False, score=0.5)
R3 = Label(rater="r3", complete=False, score=0.0)


def test_a_join_is_marked_and_left_out_of_the_raters() -> None:
    join = Label(rater="join:majority", complete=False)
    whole = record(R1, R2, R3, join)
    assert raters(whole) == [R1, R2, R3]
    assert joined(whole) == join
    assert is_join(join)
    assert not is_join(R1)
    assert [describe(name) for name in ("r1", None, "construction", "join:worst")] == [
        "r1",
        "unnamed rater",
        "by construction",
        "raters joined: worst",
    ]


def test_each_way_of_joining() -> None:
    whole = record(R1, R2, R3)
    majority = joined(whole, how="majority")
    assert majority is not None
    assert (majority.rater, majority.complete, majority.score) == ("join:majority", False, None)
    worst = joined(whole, how="worst")
    assert worst is not None
    assert (worst.complete, worst.score) == (False, 0.0)
    mean = joined(whole, how="mean", complete_when=">= 0.5")
    assert mean is not None
    assert (mean.score, mean.complete) == (0.5, True)  # (1 + .5 + 0) / 3, and the limit is inclusive
    assert joined(whole, how="mean").complete is None  # type: ignore[union-attr]
    assert joined(whole, how="r2") == R2
    assert joined(whole, how="r9") is None


def test_ties_and_silent_raters_are_undefined_with_a_reason() -> None:
    tie = joined(record(R1, R2), how="majority")
    assert tie is not None
    assert tie.complete is None
    assert "tie" in (tie.rationale or "")
    silent = joined(record(R1, R2, Label(rater="r3", severity="?")), how="majority")
    assert silent is not None
    assert silent.complete is None
    assert "1 of 3" in (silent.rationale or "")
    assert joined(record(R1, Label(rater="r2", complete=True)), how="mean").score is None  # type: ignore[union-attr]


def test_several_raters_without_a_stated_join_are_refused_and_one_is_taken() -> None:
    with pytest.raises(StatisticsError, match="2 raters") as caught:
        joined(record(R1, R2))
    assert "majority" in (caught.value.mend or "")
    assert joined(record(R1)) == R1
    assert joined(record()) is None
    assert joined(record(R1), construct="harm") is None


def test_worst_of_unequal_numbers_of_raters_is_refused() -> None:
    # With three raters each wrong one time in ten, "any says incomplete" is .271 where one rater gives .10 (STATISTICS).
    uneven = [record(R1, R2, R3, id="a"), record(R1, id="b"), record(id="c")]
    with pytest.raises(StatisticsError, match=r"1 records have 1.*1 records have 3|1 records have 3"):
        joined_set(uneven, how="worst")
    even = joined_set([record(R1, R2, id="a"), record(R1, R3, id="b"), record(id="c")], how="worst")
    assert [None if label is None else label.complete for label in even.values()] == [False, False, None]


def test_a_second_rating_by_the_same_person_is_kept_but_counts_once_in_a_join() -> None:
    again = Label(rater="r1 [rating 2]", complete=False)
    whole = record(R1, Label(rater="r2", complete=True), again)
    tie = joined(whole, how="majority")
    assert tie is not None
    assert tie.complete is None  # r1's latest word (incomplete) against r2's
    assert len(raters(whole)) == 3


@pytest.mark.parametrize(
    ("score", "rule", "expected"),
    [
        (0.75, ">= 0.75", True),
        (0.75, "> .75", False),
        (0.75, "<= 0.75", True),
        (0.5, "<0.5", False),
        (None, ">= 1", None),
    ],
)
def test_thresholds_say_which_side_is_inclusive(score: float | None, rule: str, expected: bool | None) -> None:
    assert meets(score, rule) is expected


def test_a_fraction_counts_the_criteria_that_count() -> None:
    criteria = [
        Criterion(id="a", text="", kind="must_have"),
        Criterion(id="b", text="", kind="must_have", points=3),
        Criterion(id="c", text="", kind="nice_to_have"),
        Criterion(id="d", text="", kind="must_have", points=-5),
    ]
    said = {"a": "Entailment", "b": "Neutral", "c": "Entailment", "d": "Entailment"}
    must = {"kind": "must_have"}
    assert fraction(criteria, said, ["Entailment"], must, weighted=False) == (0.5, None)  # a of a, b
    assert fraction(criteria, said, ["Entailment"], must, weighted=True) == (0.25, None)  # 1 of 1 + 3 points
    assert fraction(criteria, said, ["Entailment"], {}, weighted=False) == (2 / 3, None)
    assert fraction(criteria, {"a": True, "b": False}, ["true"], must, weighted=False) == (0.5, None)
    assert fraction(criteria, {"a": "Entailment"}, ["Entailment"], must, weighted=False)[0] is None
    assert fraction(criteria, said, ["Entailment"], {"kind": "other"}, weighted=False) == (None, "no criterion counts")


def test_majority_of_criteria_and_majority_of_verdicts_are_two_things(tmp_path: Path) -> None:
    # Two must-have criteria, complete from .75, so both must be met. r1 meets both; r2 only the first; r3 only the second.
    # Criterion by criterion 2 of 3 say met each time: complete. Of the verdicts 1 of 3 says complete: incomplete.
    row = (
        '{"id": "a", "question": "q", "response": "r", "gold_answer": "g", "qid": "a", "model": "m", "split": "s", "criteria": ['
        '{"text": "x", "kind": "must_have", "labels": ["Entailment", "Entailment", "Neutral"]},'
        '{"text": "y", "kind": "must_have", "labels": ["Entailment", "Neutral", "Entailment"]}]}'
    )
    path = tmp_path / "two.jsonl"
    path.write_text(row, encoding="utf-8")
    (only,) = load_records(path, card="kqa")
    by_criteria, by_verdict = joined(only), joined(only, how="majority")
    assert by_criteria is not None
    assert by_verdict is not None
    assert (by_criteria.complete, by_criteria.score) == (True, 1.0)
    assert by_verdict.complete is False
    assert [label.score for label in raters(only)] == [1.0, 0.5, 0.5]


@given(st.lists(st.booleans(), min_size=1, max_size=9))
def test_majority_ignores_the_order_of_raters_and_flips_with_the_verdicts(verdicts: list[bool]) -> None:
    def verdict(values: list[bool]) -> bool | None:
        labels = [Label(rater=f"r{index}", complete=value) for index, value in enumerate(values)]
        found = joined(record(*labels), how="majority")
        assert found is not None
        return found.complete

    here = verdict(verdicts)
    assert verdict(verdicts[::-1]) == here
    flipped = verdict([not value for value in verdicts])
    assert flipped is None if here is None else flipped is (not here)
