"""The screen: nothing leaks between folds, noise stays noise, and the numbers decide how much may be learnt."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from judgekit.stats.auc import auc
from judgekit.stats.operating_point import operating_point
from judgekit.stats.resample import cluster_draw, cluster_folds, percentile_interval
from judgekit.stats.screen import KINDS, _limit, choose_kind, cross_fit, fit_screen, screen, within_fold_auc


def test_an_intercept_only_model_gets_one_half() -> None:
    # Leave-one-out: without an incomplete record the share of complete ones is higher, so each incomplete record gets the higher
    # score. Compared across folds that is an AUC of 0; within folds (here pairs of one each) all scores tie: .5.
    label = np.array([1, 0] * 6, dtype=bool)
    pooled = np.array([(~np.delete(label, i)).mean() for i in range(12)])
    assert auc(label, pooled).value == 0.0
    fold = np.repeat(np.arange(6), 2)
    held = np.array([(~label[fold != f]).mean() for f in fold])
    assert within_fold_auc(label, held, fold) == (0.5, 6)
    found = cross_fit(label, np.zeros((12, 0)), np.arange(12), KINDS[1], np.random.default_rng(0))
    assert found is not None
    assert found.auc == 0.5
    assert within_fold_auc(label, pooled, np.arange(12)) == (None, 0)


def test_within_fold_pairs_by_hand() -> None:
    # fold 0: incomplete 1, complete 2, 0: one of two pairs won. Fold 1: incomplete 9, complete 9: half. (1 + .5) / 3 = .5
    assert within_fold_auc([1, 0, 0, 1, 0], [1, 2, 0, 9, 9], [0, 0, 0, 1, 1]) == (0.5, 3)


def test_how_much_may_be_learnt() -> None:
    label = np.array([1] * 40 + [0] * 60, dtype=bool)
    assert choose_kind(label, 4)[0] == KINDS[1]  # one coefficient for ten records of the smaller class
    assert choose_kind(label, 5)[0] == KINDS[0]
    assert choose_kind(label[:99], 1)[0] == KINDS[0]


def test_the_models() -> None:
    x = np.array([[1.0, 10.0], [3.0, 10.0]])
    z = fit_screen([1, 0], x, KINDS[0])
    # first part z = -1, 1; the second does not vary and has no say: mean -.5, .5
    assert z(x) == pytest.approx([-0.5, 0.5])
    assert np.isnan(z(np.array([[np.nan, 10.0]]))).all()
    rng = np.random.default_rng(0)
    parts = rng.normal(size=(300, 2))
    label = rng.random(300) < 1 / (1 + np.exp(2 * parts[:, 0]))
    model = fit_screen(label, parts, KINDS[1])
    assert model.weight[0] > 1 > abs(model.weight[1])
    assert ((model(parts) > 0) & (model(parts) < 1)).all()  # the probability of complete


def test_clusters_stay_whole() -> None:
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(10), [1, 2, 3, 4, 5, 1, 2, 3, 4, 5])
    label = codes < 5
    fold = cluster_folds(label, codes, 5, rng)
    assert all(len(set(fold[codes == c].tolist())) == 1 for c in range(10))
    assert all(label[fold == f].any() and not label[fold == f].all() for f in range(5))
    rows = cluster_draw(codes, rng)
    drawn = np.bincount(codes[rows], minlength=10) / np.bincount(codes)
    assert (drawn == np.round(drawn)).all()  # whole clusters, some twice
    assert drawn.sum() == 10


def test_noise_looks_good_only_when_it_is_not_held_out() -> None:
    # 24 pure-noise records, eight parts: the fit on all of them flatters; pairs within held-out folds do not
    rng = np.random.default_rng(7)
    apparent, held = [], []
    for _ in range(120):
        label = np.array([1] * 16 + [0] * 8, dtype=bool)
        parts = rng.normal(size=(24, 8))
        apparent.append(auc(label, fit_screen(label, parts, KINDS[1])(parts)).value)
        found = cross_fit(label, parts, np.arange(24), KINDS[1], rng)
        assert found is not None
        held.append(found.auc)
    assert np.mean(apparent) > 0.75
    assert abs(np.mean(held) - 0.5) < 3 * np.std(held) / 120**0.5 + 0.02  # type: ignore[arg-type]


def test_a_real_signal_is_found_with_an_interval() -> None:
    rng = np.random.default_rng(2)
    label = rng.random(200) < 0.4
    parts = rng.normal(size=(200, 3)) - np.outer(label, [1.0, 1.0, 0.0])
    found = screen(label, parts, clusters=np.arange(200) // 2, repeats=60, rng=rng)
    assert found.fit is not None
    assert found.fit.auc is not None
    assert found.fit.auc > 0.8
    assert found.auc_interval is not None
    assert found.auc_interval.low is not None
    assert found.auc_interval.low < found.fit.auc < (found.auc_interval.high or 0)
    assert set(found.fit.chosen) <= {0, 1}
    assert not found.descriptive
    # the same seed gives the same numbers
    assert screen(label, parts, repeats=5, rng=np.random.default_rng(1)) == screen(
        label, parts, repeats=5, rng=np.random.default_rng(1)
    )


def test_undefined() -> None:
    one = screen([1, 0, 0], np.zeros((3, 1)))
    assert one.fit is None
    assert one.reason
    with pytest.raises(ValueError, match="NaN"):
        screen([1, 0], [[np.nan], [1.0]])
    assert percentile_interval([1.0] * 50, asked=100).low is None


def test_the_short_way_to_a_threshold_is_the_operating_points() -> None:
    rng = np.random.default_rng(4)
    for _ in range(200):
        label = rng.random(15) < 0.5
        label[0] = True
        score = rng.integers(0, 5, 15).astype(float)
        for target in ("0.5", "0.9", "1"):
            assert _limit(label, score, Fraction(target)) == operating_point(label, score, target).threshold
