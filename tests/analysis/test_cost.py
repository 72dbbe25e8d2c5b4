"""Cost: unknown stays unknown; what a catch costs; who is on the frontier."""

from __future__ import annotations

import json

import pytest

from judgekit.analysis.cost import cost, frontier
from judgekit.errors import InputError
from judgekit.records import Label, Record
from judgekit.runs.model import CallRow, RubricRow
from judgekit.runs.store import RunStore
from tests.analysis.conftest import Build, judged


def records(n: int = 6) -> list[Record]:
    # Even ones are incomplete.
    return [
        Record(id=f"r{i}", question=f"q{i}", response="x", labels=(Label(rater="ann", complete=bool(i % 2)),))
        for i in range(n)
    ]


def call(key: str, model: str = "m/one", price: float | None = 0.01, status: str = "ok") -> CallRow:
    return CallRow(key, model, "e", 0, status, {}, tokens_in=100, tokens_out=20, cost=price)


def test_prices_by_hand(build: Build) -> None:
    raws = [
        1.0,
        5.0,
        2.0,
        5.0,
        4.0,
        3.0,
    ]  # incomplete r0, r2, r4: flagged (under 4) are r0 and r2: two catches; r5 a false alarm
    run = build(
        records(), [judged(f"r{i}", raw=raw, cost=0.01, tokens_in=100, tokens_out=20) for i, raw in enumerate(raws)],
        calls=[call(f"k{i}") for i in range(6)] + [call("bad", status="invalid")],
    )  # fmt: skip
    found = cost(run)
    (spent,) = found["spent"].rows
    assert (spent["calls"], spent["failed"], spent["tokens_in"]) == (7, 1, 700)
    assert spent["cost"] == pytest.approx(0.07)
    (row,) = found["bought"].rows
    assert row["cost"] == pytest.approx(0.06)
    assert row["per_thousand"] == pytest.approx(10.0)
    assert (row["caught"], row["n_incomplete"]) == (2, 3)
    assert row["per_catch"] == pytest.approx(0.03)
    # AUC: pairs of incomplete (1, 2, 4) under complete (5, 5, 3): 1 beats 3 of 3, 2 beats 3, 4 beats 2: 8/9.
    assert row["quality"] == pytest.approx(8 / 9)
    assert row["on_frontier"] is True
    assert cost(run, quality="recall")["bought"].rows[0]["quality"] == pytest.approx(2 / 3)


def test_one_unknown_price_makes_the_sum_unknown(build: Build) -> None:
    run = build(
        records(2), [judged("r0", raw=1.0, cost=0.01), judged("r1", raw=5.0, cost=None)],
        calls=[call("k0"), call("k1", price=None), call("k2", model="m/two", price=None)],
    )  # fmt: skip
    found = cost(run)
    (row,) = found["bought"].rows
    assert (row["cost"], row["n_unknown"], row["per_catch"], row["on_frontier"]) == (None, 1, None, None)
    assert row["cost_known"] == pytest.approx(0.01)
    assert [spent["cost"] for spent in found["spent"].rows] == [None, None, None]
    text = found.text()
    assert "unknown (1 of them; known $0.01)" in text
    assert "$0.00" not in text


def test_a_rule_is_free_and_a_recorded_verdict_is_not(build: Build) -> None:
    rule = judged("r0", raw=1.0, status="rule", calls=[])
    found = cost(build(records(2), [rule, judged("r1", raw=5.0, cost=0.02)]))
    assert found["bought"].rows[0]["cost"] == pytest.approx(0.02)
    found = cost(build(records(1), [judged("r0", raw=1.0, calls=[])]))
    assert found["bought"].rows[0]["cost"] is None


def test_the_frontier_by_hand() -> None:
    points = [(1.0, 0.6), (2.0, 0.7), (3.0, 0.65), (2.0, 0.7), (None, 0.9), (0.5, None)]
    assert frontier(points) == [True, True, False, True, None, None]


def test_judges_on_the_frontier(build: Build) -> None:
    good = [judged(f"r{i}", raw=1.0 if i % 2 == 0 else 5.0, cost=0.02) for i in range(6)]
    dear = [judged(f"r{i}", raw=float(1 + i % 3), cost=0.05, judge="m/dear") for i in range(6)]
    rows = {row["judge"]: row for row in cost(build(records(), good + dear))["bought"].rows}
    assert rows["m/one"]["on_frontier"] is True
    assert rows["m/one"]["quality"] == 1.0
    assert rows["m/dear"]["on_frontier"] is False


@pytest.mark.parametrize("quality", ["auc", "balanced_f1", "recall", "kappa"])
def test_what_cannot_be_said_says_why(build: Build, quality: str) -> None:
    found = cost(build([]), quality=quality)
    assert "no judgements" in found.text()
    bare = cost(
        build([Record(id="r0", question="q", response="x")], [judged("r0", raw=3.0, cost=0.1)]), quality=quality
    )
    assert bare["bought"].rows[0]["caught"] is None
    assert "no record has a clinician's verdict" in bare.text()
    unscored = cost(
        build(records(2), [judged("r0", raw=None, cost=0.1), judged("r1", raw=None, cost=0.1)]), quality=quality
    )
    assert unscored["bought"].rows[0]["quality"] is None
    one_class = [record for record in records() if record.labels[0].complete]
    found = cost(build(one_class, [judged(record.id, raw=5.0, cost=0.1) for record in one_class]), quality=quality)
    assert found["bought"].rows[0]["quality"] is None
    assert found["bought"].rows[0]["per_catch"] is None  # nothing was caught
    for one in (bare, unscored, found):
        json.dumps(one.to_json(), allow_nan=False)


def test_several_raters_must_be_named(build: Build) -> None:
    both = (Label(rater="ann", complete=True), Label(rater="bob", complete=False))
    run = build([Record(id="r0", question="q", response="x", labels=both)], [judged("r0", raw=2.0, cost=0.1)])
    assert "2 raters and nothing says how to join them" in cost(run).text()
    assert cost(run, rater="bob")["bought"].rows[0]["caught"] == 1
    with pytest.raises(InputError, match="no rater is called"):
        cost(run, rater="eve")


def test_a_model_is_not_graded_by_its_own_labels(build: Build) -> None:
    own = [
        Record(id=f"r{i}", question=f"q{i}", response="x", labels=(Label(rater="model:m/one", complete=bool(i)),))
        for i in range(2)
    ]
    both = [judged(f"r{i}", raw=1.0 + 4 * i, cost=0.1, judge=name) for i in range(2) for name in ("m/one", "m/two")]
    rows = {row["judge"]: row for row in cost(build(own, both))["bought"].rows}
    assert rows["m/one"]["quality"] is None
    assert rows["m/one"]["reason"] == "the judge's own model wrote the labels"
    assert rows["m/two"]["quality"] == 1.0


def test_where_a_low_score_is_complete_the_auc_is_not_upside_down(build: Build) -> None:
    # complete_when "<= 2": a higher score is worse. Incomplete r0, r2, r4 score 5, 4, 3, complete ones 1, 2, 3: of 9 pairs 8 are won
    # and 3 = 3 ties, (8 + .5) / 9.
    run = build(
        records(),
        [
            judged(f"r{i}", raw=raw, complete=raw <= 2, rubric="harm", cost=0.01)
            for i, raw in enumerate([5.0, 1.0, 4.0, 2.0, 3.0, 3.0])
        ],
    )
    with RunStore(run.path) as store:
        store.put_rubric(RubricRow("harm", "a", "s", "1", None, "completeness", "<= 2", None, None, {}))
    assert cost(run)["bought"].rows[0]["quality"] == pytest.approx(8.5 / 9)


def test_recall_knows_that_answers_to_one_question_resemble_each_other(build: Build) -> None:
    # 4 questions with 10 incomplete answers each, caught all or none of a question: 20 of 40. Taken one by one Wilson says .352 to
    # .648. Between clusters the variance is 4/3 * 4 * 5^2 / 40^2 = 1/12, so the effective number is (1/4) / (1/12) = 3, and
    # Wilson's for half of 3 is .5 +- 1.96 sqrt((1/4)/3 + 1.96^2 / 36) / (1 + 1.96^2 / 3) = .5 +- .3745.
    some = [
        Record(id=f"r{i}", question=f"q{i % 4}", response=f"x{i}", labels=(Label(rater="ann", complete=False),))
        for i in range(40)
    ]
    run = build(some, [judged(f"r{i}", raw=1.0 if i % 4 < 2 else 5.0, cost=0.01) for i in range(40)])
    row = cost(run, quality="recall")["bought"].rows[0]
    assert row["quality"] == 0.5
    assert (row["quality_low"], row["quality_high"]) == pytest.approx((0.1255, 0.8745), abs=5e-4)


def test_the_rule_applies_to_the_mean_of_the_samples(build: Build) -> None:
    # r0 and r2 incomplete, r1 and r3 complete. r0 is called incomplete twice, r1 complete twice, r2 and r3 once each way: their verdicts are
    # made of their means: 3 is under 4, so both are called incomplete. r2 is caught and r3 a false alarm: kappa (3/4 - 1/2) / (1/2) = 1/2.
    twice = {0: (1.0, 1.0), 1: (5.0, 5.0), 2: (1.0, 5.0), 3: (5.0, 1.0)}
    judgements = [
        judged(f"r{i}", raw=raw, sample=k, cost=0.01) for i, two in twice.items() for k, raw in enumerate(two)
    ]
    found = cost(build(records(4), judgements), quality="kappa")
    row = found["bought"].rows[0]
    assert (row["quality"], row["caught"], row["n_incomplete"], row["n_labelled"], row["n_tied"]) == (0.5, 2, 2, 4, 0)
    assert "samples:mean, then the rule" in found.signature
