"""Raters apart and joined: a join is never one more rater, and what cannot be joined says why."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.data import load_records
from judgekit.data.labels import describe, fraction, is_join, join, joined, joined_set, raters, standing_behind
from judgekit.errors import StatisticsError
from judgekit.exact import meets
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


TENTHS = st.integers(0, 10).map(lambda n: n / 10)


@given(st.lists(TENTHS, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_raters_never_matters(scores: list[float], chance: random.Random) -> None:
    people = [Label(rater=f"r{n}", score=score, complete=score >= 0.5) for n, score in enumerate(scores)]
    other = chance.sample(people, len(people))
    for how in ("mean", "majority", "worst"):
        assert join(people, how, ">= 0.5") == join(other, how, ">= 0.5")


@given(st.lists(TENTHS, min_size=2, max_size=6))
def test_a_mean_that_equals_the_threshold_meets_it(scores: list[float]) -> None:
    # The mean of tenths, over fractions by another road than the code's: whole tenths over the number of raters.
    mean = Fraction(sum(round(10 * score) for score in scores), 10 * len(scores))
    people = [Label(rater=f"r{n}", score=score) for n, score in enumerate(scores)]
    if mean.denominator in (1, 2, 4, 5, 8, 10, 20, 25, 40, 50):  # a decimal that can be written as a rule
        assert join(people, "mean", f">= {float(mean)}").complete is True
        assert join(people, "mean", f"> {float(mean)}").complete is False


def test_a_mean_on_a_written_scale_meets_its_number() -> None:
    # 2, 3 and 4 of 1 to 4 are 1/3, 2/3 and 1; their mean is 3, as the scale has it.
    people = [Label(rater=f"r{n}", score=score) for n, score in enumerate((1 / 3, 2 / 3, 1.0))]
    label = join(people, "mean", ">= 3", 1, 4)
    assert (label.complete, label.score) == (True, 2 / 3)
    assert label.rationale == "mean of 3 raters: 2, 3, 4; 3 is complete (>= 3)"


def test_a_mean_of_severities_says_how_it_was_read() -> None:
    people = [
        Label(rater="a", severity="none", score=1.0, complete=True),
        Label(rater="b", severity="Moderate", score=0.5, complete=False),
    ]
    label = join(people, "mean", ">= 0.75")
    assert (label.complete, standing_behind(label)) == (True, 2)
    assert label.rationale == (
        "mean of 2 raters: Moderate 0.5, none 1; 0.75 is complete (>= 0.75), though 1 of 2 raters says incomplete"
    )


@pytest.mark.parametrize("how", ["majority", "worst", "mean"])
def test_a_join_of_one_rater_is_that_raters_label(how: str) -> None:
    label = joined(record(R2), how=how)
    assert label is not None
    assert (label.rater, label.complete, label.score, standing_behind(label)) == (f"join:{how}", False, 0.5, 1)
    assert standing_behind(R2) == 1


def test_the_cards_own_mean_is_taken_where_no_rule_is_given() -> None:
    whole = record(R1, R3, Label(rater="join:mean", complete=True, score=0.5, value={"raters": 2}))
    assert joined(whole, how="mean").complete is True  # type: ignore[union-attr]
    assert joined(whole, how="mean", complete_when="> 0.5").complete is False  # type: ignore[union-attr]


def write_ratings(folder: Path, *rows: tuple[str, str, str], join: str = "") -> Path:
    (folder / "mine.yaml").write_text(
        "card: mine\ntitle: Mine\nlicence: MIT\ncitation: none\nmerge: true\nfields: {id: id, response: answer}\n"
        f"labels: {{rater: who, complete: ok{join}}}\n"
    )
    path = folder / "ratings.csv"
    path.write_text("id,answer,who,ok\n" + "".join(f"{id},x{id},{who},{ok}\n" for id, who, ok in rows))
    return path


def test_clinicians_with_answers_of_their_own_are_joined_without_being_asked(tmp_path: Path) -> None:
    path = write_ratings(tmp_path, ("1", "dr-a", "yes"), ("2", "dr-b", "no"), ("3", "dr-c", "no"))
    records = load_records(path, card=tmp_path / "mine.yaml")
    assert [(label.rater, label.complete) for label in (joined(record) for record in records) if label] == [
        ("join:majority", True),
        ("join:majority", False),
        ("join:majority", False),
    ]
    assert records.notes == [
        "completeness: raters are joined by majority (the card does not say how); 3 records have one rater, whose label it is, "
        "and 0 have several"
    ]


@pytest.mark.parametrize(
    ("rows", "join"),
    [
        ((("1", "dr-a", "yes"), ("2", "dr-b", "no")), ", join: none"),
        ((("1", "dr-a", "yes"), ("2", "dr-a", "no")), ", join: majority"),  # one person: nothing to join
        ((("1", "construction", "yes"), ("2", "dr-a", "no")), ""),  # not all by people
        ((("1", "model:m", "yes"), ("1", "dr-a", "no")), ""),
        ((("1", "dr-a", "yes"), ("1", "dr-b", "no"), ("2", "dr-b", "no")), ", join: worst"),  # unequal numbers
    ],
)
def test_raters_stay_apart_where_there_is_nothing_to_join_or_the_card_forbids_it(
    tmp_path: Path, rows: tuple[tuple[str, str, str], ...], join: str
) -> None:
    records = load_records(write_ratings(tmp_path, *rows, join=join), card=tmp_path / "mine.yaml")
    assert not any(is_join(label) for record in records for label in record.labels)
    assert any("are not joined by worst" in note for note in records.notes) == ("worst" in join)
