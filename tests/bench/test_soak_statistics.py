"""Short forms of the simulations that `make soak` runs whole: certificates hold, intervals cover, noise stays noise."""

from __future__ import annotations

import numpy as np
import pytest

from bench import soak_statistics as soak
from judgekit.stats.auc import auc, auc_interval


def check(lines: list[soak.Line]) -> None:
    missed = [f"{line.what}: {line.got:.4f}, wanted {line.wanted}" for line in lines if not line.holds]
    assert not missed, missed


def test_certified_thresholds_keep_their_promise() -> None:
    check(soak.certify(2000))


def test_clustered_intervals_cover_and_naive_ones_do_not() -> None:
    check(soak.clusters(400))


def test_small_samples_are_covered() -> None:
    check(soak.small(200))


def test_a_screen_on_noise_finds_nothing() -> None:
    check(soak.noise(60, bootstraps=20, cases=2))


def test_the_simulated_clusters_are_what_they_say() -> None:
    # the AUC is .75 over records, and the naive error is far too small
    rng = np.random.default_rng(0)
    found = [soak.clustered_sample(rng, 60, 5) for _ in range(300)]
    values = [auc(label, score).value for label, score, _ in found]
    assert np.mean(values) == pytest.approx(0.75, abs=0.01)  # type: ignore[arg-type]
    spread = float(np.std(values))  # type: ignore[arg-type]
    clustered = np.mean([auc_interval(label, score, clusters=codes).se for label, score, codes in found])  # type: ignore[arg-type]
    plain = np.mean([auc_interval(label, score).se for label, score, _ in found])  # type: ignore[arg-type]
    assert clustered == pytest.approx(spread, rel=0.15)
    assert plain < 0.75 * spread


def test_the_table_and_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert soak.main(["clusters", "--short"]) == 0
    assert "naive coverage" in capsys.readouterr().out
    assert not soak.at_most("x", 0.2, 0.05, 1000).holds
    assert not soak.near("x", 0.2, 0.05, 1000).holds
