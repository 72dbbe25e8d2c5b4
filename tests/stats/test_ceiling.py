"""The human ceiling: judge and left-out clinician against the same others."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from judgekit.stats.ceiling import human_ceiling


def test_a_coin_flip_rater_reaches_a_half_and_not_three_quarters() -> None:
    # All eight patterns of three coin tosses once: any two agree in half of them. With the majority of the three, which holds the
    # rater, each agrees in 6 of 8 = .75: the flattery that this comparison avoids.
    codes = np.array(list(itertools.product([0, 1], repeat=3)))
    majority = (codes.sum(axis=1) >= 2).astype(int)
    assert (codes[:, 0] == majority).mean() == 0.75
    rows = human_ceiling(codes, np.zeros(8, dtype=int), n_levels=2, statistic="percent", replicates=0)
    assert [row.human.value for row in rows] == [0.5, 0.5, 0.5, 0.5]
    assert [row.left_out for row in rows] == [None, 0, 1, 2]
    assert rows[0].comparisons == 8 * 6
    assert rows[1].comparisons == 8 * 2


def test_by_hand() -> None:
    # Units (r0, r1, r2 | judge): (1,1,0 | 1), (0,0,- | 1), (1,-,- | 0).
    # Rater 0 left out: against r1 and r2 on unit 1: agrees with 1 of 2; on unit 2 with 1 of 1: 2/3. The judge with the same
    # others: unit 1: 1 of 2; unit 2: 0 of 1: 1/3. The third unit has nobody to compare with.
    codes = np.array([[1, 1, 0], [0, 0, -1], [1, -1, -1]])
    rows = human_ceiling(codes, [1, 1, 0], n_levels=2, statistic="percent", replicates=0)
    zero = next(row for row in rows if row.left_out == 0)
    assert (zero.units, zero.comparisons) == (2, 3)
    assert zero.human.value == pytest.approx(2 / 3)
    assert zero.judge.value == pytest.approx(1 / 3)
    assert zero.difference.value == pytest.approx(-1 / 3)


def test_a_judge_that_copies_a_clinician_reaches_that_clinicians_ceiling() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 60)
    codes = np.stack([np.where(rng.random(60) < 0.7, truth, rng.integers(0, 3, 60)) for _ in range(3)], axis=1)
    rows = human_ceiling(codes, codes[:, 1], n_levels=3, statistic="kappa_quadratic", replicates=200)
    one = next(row for row in rows if row.left_out == 1)
    assert one.judge.value == one.human.value
    # Every resample gives 0: no interval, since it would say that no other data could differ.
    assert (one.difference.value, one.difference.low, one.difference.high) == (0.0, None, None)


def test_one_rater_gives_a_sentence() -> None:
    (row,) = human_ceiling(np.array([[0], [1]]), [0, 1], n_levels=2)
    assert row.human.value is None
    assert "two clinicians" in str(row.human.reason)


def test_healthbench_physicians_and_judge(shared_data: Path) -> None:
    """Pooled pairwise balanced F1 and kappa, counted here in plain loops over the file."""
    items = [
        json.loads(line) for line in (shared_data / "healthbench_meta_labels.jsonl").read_text("utf-8").splitlines()
    ]
    names = sorted({name for item in items for name in item["raters"]})
    codes = np.full((len(items), len(names)), -1)
    human, judge = np.zeros((2, 2)), np.zeros((2, 2))
    for u, item in enumerate(items):
        for name, met in zip(item["raters"], item["physician_met"], strict=True):
            codes[u, names.index(name)] = int(met)
        for i, one in enumerate(item["physician_met"]):
            for j, other in enumerate(item["physician_met"]):
                if i != j:
                    human[int(one), int(other)] += 1
                    judge[int(item["judge_met"]), int(other)] += 1
    verdicts = np.array([int(item["judge_met"]) for item in items])

    def kappa(table: np.ndarray) -> float:
        observed = np.trace(table) / table.sum()
        expected = float(table.sum(0) @ table.sum(1)) / table.sum() ** 2
        return float((observed - expected) / (1 - expected))

    def f1(table: np.ndarray) -> float:
        off = table[0, 1] + table[1, 0]
        return float(np.mean([2 * table[i, i] / (2 * table[i, i] + off) for i in (0, 1)]))

    for statistic, by_hand in (("kappa", kappa), ("balanced_f1", f1)):
        pooled = human_ceiling(codes, verdicts, n_levels=2, statistic=statistic, each=False, replicates=500)[0]
        assert pooled.units == len(items) == 60
        assert pooled.comparisons == human.sum()
        assert pooled.human.value == pytest.approx(by_hand(human))
        assert pooled.judge.value == pytest.approx(by_hand(judge))
        assert pooled.difference.low is not None
        assert pooled.difference.high is not None
        assert pooled.difference.low < by_hand(judge) - by_hand(human) < pooled.difference.high
