"""Operating points: the worked examples, the float trap, the unscored both ways, leave-one-cluster-out, laws."""

from __future__ import annotations

import json
from fractions import Fraction
from math import ceil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgekit.stats.operating_point import (
    baselines,
    fill_unscored,
    loco_recall,
    operating_point,
    optimism,
    point_at,
    transport,
    triage_curve,
    with_unscored,
)

CASE_01 = ([1, 1, 1, 1, 0, 0, 0, 0, 0, 0], [1.1, 1.4, 2.2, 3.9, 2.0, 3.1, 3.3, 4.0, 4.4, 4.8])
# Case 11: 10 incomplete, 15 complete; a block of ties at 3, where 9 of 10 are caught.
CASE_11 = ([1] * 10 + [0] * 15, [1, 1, 1, 2, 2, 2, 2, 3, 3, 5, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5])

rows = st.lists(st.tuples(st.booleans(), st.integers(0, 6), st.integers(0, 5)), min_size=1, max_size=20)
targets = st.sampled_from(["0.5", "0.7", "0.8", "0.9", "0.95", "1"])


@pytest.mark.parametrize("case", range(6))
def test_the_six_cases(shared_data: Path, case: int) -> None:
    found = json.loads((shared_data / "triage_cases.json").read_text("utf-8"))["cases"][case]
    label, score = np.array(found["label"]), np.array(found["score"], dtype=float)
    want = found["expected"]["drop_missing"]["at_recall_0_90"]
    keep = ~np.isnan(score)
    got = operating_point(label[keep], score[keep], "0.90")
    if want is None:
        assert got.threshold is None
        return
    assert got.threshold == float(want["threshold"])
    assert (got.flagged, got.caught, got.false_alarms, got.missed) == tuple(
        want[k] for k in ("n_flagged", "tp", "fp", "fn")
    )
    assert Fraction(int(got.flagged or 0), int(got.n)) == Fraction(want["flag_fraction_exact"])
    assert (got.recall, got.precision) == (want["recall"], pytest.approx(want["precision"], abs=1e-15))
    assert got.false_alarms_per_catch == pytest.approx(want["fp_per_tp"], abs=1e-15)


def test_case_11_by_hand() -> None:
    point = operating_point(*CASE_11, "0.9")
    # 9 of 10 at score 3, with 1 + 4 complete ones: 14 of 25 flagged
    assert (point.threshold, point.flagged, point.caught, point.missed) == (3, 14, 9, 1)
    assert point.precision == 9 / 14
    assert point.false_alarms_per_catch == 5 / 9
    assert point.specificity == 10 / 15
    assert point.wss == pytest.approx(0.34, abs=1e-15)  # .90 - .56; and (1 - .4)(.9 + 2/3 - 1) = .34
    # of the 11 unread one is incomplete; Clopper-Pearson .0023 to .4128
    assert point.unread_risk == 1 / 11
    assert point.unread_risk_interval is not None
    assert (point.unread_risk_interval.low, point.unread_risk_interval.high) == pytest.approx(
        (0.0023, 0.4128), abs=5e-5
    )
    # one float less than .9 and 8 of 10 would not do; a target of .91 needs all ten, at score 5
    assert operating_point(*CASE_11, "0.91").threshold == 5
    assert operating_point(*CASE_11, 0.9).threshold == 3


def test_case_01_work_saved() -> None:
    assert operating_point(*CASE_01).wss == pytest.approx(0.30, abs=1e-15)  # recall 1.0 - 7 of 10


def test_baselines_by_hand() -> None:
    # k = ceil(.9 * 10) = 9: 9/25 = .36; 9 * 26 / (11 * 25) = 234/275 = .8509
    found = baselines(25, 10)
    assert (found.everything, found.perfect, found.random) == (1.0, 0.36, pytest.approx(234 / 275))
    assert baselines(6, 0).perfect is None


def test_random_order_by_enumeration() -> None:
    # where does the 2nd of 2 incomplete answers among 4 stand, over all 6 orders? 2, 3, 3, 4, 4, 4: mean 20/6; / 4 = .8333
    assert baselines(4, 2, "0.9").random == pytest.approx(20 / 6 / 4)


def test_optimism_by_hand() -> None:
    # k = 9 of m = 10: expected 9/11; Beta(9, 2) below .9 is P(Bin(10, .9) >= 9) = 10 * .9^9 * .1 + .9^10 = .7361
    found = optimism(10, "0.9")
    assert found.expected_recall == pytest.approx(9 / 11)
    assert found.chance_under_target == pytest.approx(0.9**9 + 0.9**10, abs=1e-12)
    assert optimism(0).expected_recall is None


def test_leave_one_cluster_out_of_case_01() -> None:
    # Without 3.9 the other three choose 2.2 (all of 3), which misses 3.9; without any other the threshold is 3.9: 3 of 4
    assert loco_recall(*CASE_01) == 0.75
    # All incomplete answers in one cluster: nothing else could choose
    assert loco_recall(*CASE_01, clusters=["a"] * 4 + ["b"] * 6) is None
    assert loco_recall([0, 0], [1, 2]) is None


def test_unscored_both_ways() -> None:
    # Incomplete 1,1,1,2,2,2,3,3,-,- and complete 2,3,4,4,4,5,5,5,5,-. All 8 scored incomplete ones are needed (7.2 up), so t = 3:
    # 8 + 2 of 17 are flagged, and with the three unscored 13 of 20.
    label = [1] * 8 + [0] * 9
    point = operating_point(label, [1, 1, 1, 2, 2, 2, 3, 3, 2, 3, 4, 4, 4, 5, 5, 5, 5])
    assert (point.flagged, point.n, point.workload) == (10, 17, 10 / 17)
    assert with_unscored(point, 2, 1) == (1.0, 13 / 20)


def test_unscored_first_or_last_may_be_the_threshold() -> None:
    nan = float("nan")
    label, score = [1, 1, 0, 0], [nan, nan, 2, 3]
    first = operating_point(label, fill_unscored(score, True))
    assert (first.threshold, first.flagged) == (float("-inf"), 2)
    last = operating_point(label, fill_unscored(score, False))
    assert (last.threshold, last.flagged) == (float("inf"), 4)
    turned = operating_point(label, fill_unscored(score, True, higher_is_worse=True), higher_is_worse=True)
    assert (turned.threshold, turned.flagged) == (float("inf"), 2)


def test_prevalence_by_hand() -> None:
    # Case 11 at .10: .10 * .9 + .90 * 1/3 = .39; precision .09 / .39 = .2308
    moved = transport(operating_point(*CASE_11), 0.10)
    assert moved is not None
    assert (moved.workload, moved.precision) == (pytest.approx(0.39), pytest.approx(0.09 / 0.39))
    assert transport(operating_point([1], [1]), 0.1) is None


def test_sampling_weights_by_hand() -> None:
    # 100 flagged (score 1), all labelled, 60 incomplete. 900 others, 90 of them sampled with probability .1, 3 incomplete.
    # Unweighted the recall at score 1 is 60/63 = .952; in truth 60 / (60 + 3 * 10) = .667.
    label = [1] * 60 + [0] * 40 + [1] * 3 + [0] * 87
    score, weight = [1] * 100 + [2] * 90, [1] * 100 + [10] * 90
    assert point_at(label, score, 1).recall == pytest.approx(60 / 63)
    assert point_at(label, score, 1, weight=weight).recall == pytest.approx(2 / 3)
    assert operating_point(label, score, "0.9").threshold == 1
    assert operating_point(label, score, "0.9", weight=weight).threshold == 2


def test_a_preset_threshold_need_not_be_observed() -> None:
    point = point_at(*CASE_11, 3.5)
    assert (point.threshold, point.flagged) == (3.5, 14)
    nothing = point_at(*CASE_11, 0.5)
    assert (nothing.flagged, nothing.recall, nothing.precision, nothing.false_alarms_per_catch) == (0, 0.0, None, None)


@pytest.mark.parametrize("bad", ["0", "1.1", "-0.1", "90", "nan", "ten", ""])
def test_a_recall_outside_its_range_is_refused(bad: str) -> None:
    with pytest.raises(ValueError, match="recall"):
        operating_point([1, 0], [1, 2], bad)


@given(rows, targets)
@settings(max_examples=150, deadline=None)
def test_equals_trying_every_threshold(data: list[tuple[bool, int, int]], target: str) -> None:
    label, score = [b for b, _, _ in data], [s for _, s, _ in data]
    got = operating_point(label, score, target)
    positives = sum(label)
    if positives == 0:
        assert got.threshold is None
        return
    share = Fraction(target)
    fits = [
        t
        for t in sorted(set(score))
        if Fraction(sum(b and s <= t for b, s in zip(label, score, strict=True)), positives) >= share
    ]
    assert got.threshold == fits[0]
    turned = operating_point(label, [-s for s in score], target, higher_is_worse=True)
    assert (turned.threshold, turned.flagged, turned.caught) == (-fits[0], got.flagged, got.caught)
    assert got.wss == pytest.approx((got.recall or 0) - (got.workload or 0), abs=1e-12)


@given(rows, targets)
@settings(max_examples=150, deadline=None)
def test_leave_one_cluster_out_equals_doing_it(data: list[tuple[bool, int, int]], target: str) -> None:
    label, score, groups = (np.array(column) for column in zip(*data, strict=True))
    positives, caught = int(label.sum()), 0
    expected: float | None = None
    if positives and len(set(groups[label].tolist())) > 1:
        for group in set(groups.tolist()):
            inside = groups == group
            t = operating_point(label[~inside], score[~inside], target).threshold
            caught += int((label & inside & (score <= t)).sum())
        expected = caught / positives
    assert loco_recall(label, score, target, clusters=groups) == expected


@given(rows)
@settings(max_examples=60, deadline=None)
def test_the_curve_ends_with_reading_everything(data: list[tuple[bool, int, int]]) -> None:
    label, score = [b for b, _, _ in data], [s for _, s, _ in data]
    curve = triage_curve(label, score)
    assert curve.caught[-1] == curve.n_incomplete == sum(label)
    assert curve.false_alarms[-1] == curve.n_complete
    assert (np.diff(curve.threshold) > 0).all()


@given(st.integers(1, 60), targets)
@settings(max_examples=60, deadline=None)
def test_baselines_use_the_exact_ceiling(m: int, target: str) -> None:
    k = ceil(Fraction(target) * m)
    assert baselines(2 * m, m, target).perfect == pytest.approx(k / (2 * m))
    assert optimism(m, target).needed == k
