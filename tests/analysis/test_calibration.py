"""Calibration is learnt on some questions and tested on others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from judgekit.analysis.cells import Cell
from judgekit.analysis.triage import triage
from judgekit.analysis.triage.calibration import calibrate
from judgekit.analysis.triage.certified import calibration_half


def cell(n: int, seed: int = 0) -> Cell:
    rng = np.random.default_rng(seed)
    score = rng.uniform(0, 1, n)
    label = (rng.random(n) > score).astype(np.int8)  # P(incomplete) = 1 - score
    return Cell("d", "r", "j", "r1", tuple(f"a{i}" for i in range(n)), score, label)


def test_a_true_probability_is_recovered_on_the_other_half() -> None:
    found = calibrate(cell(2000))
    half = calibration_half(cell(2000))
    assert (found.n_taught, found.n_tested) == (int(half.sum()), int((~half).sum()))
    # the Brier score of the truth is the mean of p (1 - p) over a uniform p: 1/6; that of the prevalence 1/4
    assert found.brier_reference == pytest.approx(0.25, abs=0.005)
    for item in found.maps:
        assert item.brier == pytest.approx(1 / 6, abs=0.015)
        assert item.skill == pytest.approx(1 / 3, abs=0.06)
        assert sum(b.n for b in item.curve) == found.n_tested
        assert all(abs(b.predicted - b.observed) < 0.12 for b in item.curve)
    turned = cell(2000)
    flipped = Cell("d", "r", "j", "r1", turned.ids, -turned.score, turned.label)
    assert calibrate(flipped, higher_is_worse=True).maps[0].brier == pytest.approx(found.maps[0].brier)


def test_one_class_says_so_and_the_table_shows_it(tmp_path: Path) -> None:
    one = cell(10)
    assert calibrate(Cell("d", "r", "j", "r1", one.ids, one.score, np.ones(10, np.int8))).reason
    many = cell(300)
    path = tmp_path / "c.csv"
    lines = [f"{i},{y},{s:.4f}" for i, y, s in zip(many.ids, many.label, many.score, strict=True)]
    path.write_text("id,incomplete,score\n" + "\n".join(lines) + "\n", "utf-8")
    found = triage(path, calibrate=True)
    assert "isotonic: Brier" in found.text()
    assert len(found.details()[0]["calibration"]["maps"]) == 2
