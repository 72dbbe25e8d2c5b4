"""Agreement: worked examples by hand, named independent sources, and laws."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, f1_score
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from judgekit.stats.agreement import (
    balanced_f1,
    cohen_kappa,
    encode,
    fleiss_kappa,
    krippendorff_alpha,
    percent_agreement,
)

# Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C: four observers, twelve units, five values,
# with missing data. Published: nominal .743, ordinal .815, interval .849.
PUBLISHED = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


def published() -> np.ndarray[Any, Any]:
    return np.stack([encode(row, [1, 2, 3, 4, 5]) for row in PUBLISHED], axis=1)


@pytest.mark.parametrize(("metric", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_the_published_example(metric: Any, value: float) -> None:
    found = krippendorff_alpha(published(), n_levels=5, metric=metric, values=[1, 2, 3, 4, 5])
    assert found.value == pytest.approx(value, abs=5e-4)
    assert found.n == 11  # the twelfth unit has one rating
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high


ratings = st.lists(st.lists(st.integers(-1, 3), min_size=3, max_size=3), min_size=4, max_size=25)


@settings(max_examples=60, deadline=None)
@given(ratings, st.sampled_from(["nominal", "ordinal", "interval"]))
def test_alpha_equals_the_krippendorff_package(rows: list[list[int]], metric: Any) -> None:
    codes = np.asarray(rows)
    pairable = [row for row in rows if sum(value >= 0 for value in row) >= 2]
    assume(len({value for row in pairable for value in row if value >= 0}) > 1)
    data = np.where(codes < 0, np.nan, codes).T
    theirs = krippendorff.alpha(reliability_data=data, level_of_measurement=metric, value_domain=[0, 1, 2, 3])
    ours = krippendorff_alpha(codes, n_levels=4, metric=metric, replicates=0)
    assert ours.value == pytest.approx(theirs, abs=1e-9)


def test_alpha_without_expected_disagreement_is_undefined() -> None:
    found = krippendorff_alpha(np.ones((5, 3), dtype=int), n_levels=3)
    assert found.value is None
    assert "only one level" in str(found.reason)
    assert krippendorff_alpha(np.array([[0, -1], [-1, 1]]), n_levels=2).reason == "no unit has two ratings"


def test_a_missing_rating_is_no_category() -> None:
    # The third rater saw nothing: the same as if there were two raters.
    two = np.array([[0, 0], [1, 1], [0, 1], [1, 1]])
    three = np.column_stack([two, np.full(4, -1)])
    one = krippendorff_alpha(two, n_levels=2, replicates=0).value
    assert krippendorff_alpha(three, n_levels=2, replicates=0).value == one


def test_kappa_runs_over_declared_levels() -> None:
    # Linear costs over 1..5. Observed: |1-1|,|2-5|,|5-5|,|5-2|,|1-2|,|2-2| = 0,3,0,3,1,0: 7/6.
    # Expected, each of 1, 2, 5 (twice in a) against all of b = 1,2,2,2,5,5:
    # |1-b| = 0+1+1+1+4+4 = 11; |2-b| = 1+0+0+0+3+3 = 7; |5-b| = 4+3+3+3+0+0 = 13: 2 * 31 = 62 over 36 pairs.
    # kappa = 1 - (7/6) / (62/36) = 1 - 42/62 = 10/31 = .3226.
    a, b = [1, 2, 5, 5, 1, 2], [1, 5, 5, 2, 2, 2]
    levels = [1, 2, 3, 4, 5]
    declared = cohen_kappa(encode(a, levels), encode(b, levels), n_levels=5, weights="linear", replicates=0)
    assert declared.value == pytest.approx(10 / 31)
    # Over the observed levels 1, 2, 5 as ranks 0, 1, 2 it would be .400, which is why levels are declared.
    observed = cohen_kappa(encode(a, [1, 2, 5]), encode(b, [1, 2, 5]), n_levels=3, weights="linear", replicates=0)
    assert observed.value == pytest.approx(0.4)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=30),
    st.sampled_from([None, "linear", "quadratic"]),
)
def test_kappa_equals_sklearn_where_it_is_told_the_levels(pairs: list[tuple[int, int]], weights: Any) -> None:
    a, b = zip(*pairs, strict=True)
    assume(len({*a, *b}) > 1)
    theirs = cohen_kappa_score(a, b, labels=[0, 1, 2, 3, 4], weights=weights)
    assert cohen_kappa(a, b, n_levels=5, weights=weights, replicates=0).value == pytest.approx(theirs, abs=1e-9)


def test_kappa_of_one_level_is_undefined_and_percent_is_not() -> None:
    same = [1, 1, 1]
    assert cohen_kappa(same, same, n_levels=2).value is None
    assert "one and the same level" in str(cohen_kappa(same, same, n_levels=2).reason)
    assert percent_agreement(same, same, n_levels=2).value == 1.0
    assert cohen_kappa([-1, 0], [0, -1], n_levels=2).reason == "the raters share no unit"


def test_balanced_f1_by_hand() -> None:
    # met/met 6, discordant 1 and 2, not/not 1: F1 of met 12/15 = .8, of not met 2/5 = .4, mean .6.
    a = [1] * 6 + [1] + [0] * 2 + [0]
    b = [1] * 6 + [0] + [1] * 2 + [0]
    found = balanced_f1(a, b, replicates=0)
    assert found.value == pytest.approx(0.6)
    assert found.n == 10
    assert found.value == pytest.approx(np.mean(f1_score(a, b, average=None)))
    assert balanced_f1([1, 1], [1, 1]).value is None


def test_fleiss_of_his_own_example() -> None:
    # Fleiss 1971 style table with 14 ratings a subject, ten subjects, five categories: kappa .210; statsmodels says the same.
    table = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    codes = np.array([[level for level, times in enumerate(row) for _ in range(times)] for row in table])
    found = fleiss_kappa(codes, n_levels=5, replicates=0)
    assert found.value == pytest.approx(0.210, abs=5e-4)
    assert found.value == pytest.approx(statsmodels_fleiss(np.array(table)), abs=1e-12)


def test_fleiss_refuses_unequal_numbers_of_ratings() -> None:
    found = fleiss_kappa(np.array([[0, 1, 1], [0, 0, -1], [1, -1, -1]]), n_levels=2)
    assert found.value is None
    assert "2 to 3 ratings" in str(found.reason)


def test_whole_clusters_are_resampled() -> None:
    # Every record four times inside its cluster: the value stays, and so does the standard error (same draws, same totals).
    rng = np.random.default_rng(5)
    a = rng.integers(0, 3, 40)
    b = np.where(rng.random(40) < 0.6, a, rng.integers(0, 3, 40))
    once = cohen_kappa(a, b, n_levels=3, clusters=range(40), replicates=500)
    four = cohen_kappa(
        np.repeat(a, 4), np.repeat(b, 4), n_levels=3, clusters=np.repeat(np.arange(40), 4), replicates=500
    )
    naive = cohen_kappa(np.repeat(a, 4), np.repeat(b, 4), n_levels=3, replicates=500)
    assert four.value == pytest.approx(once.value)
    assert four.se == pytest.approx(once.se)
    assert naive.se is not None
    assert once.se is not None
    assert naive.se < 0.6 * once.se


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    # Two raters agree with probability .8 on independent binary units: 95 % intervals should hold .8 in about 95 % of sets.
    rng = np.random.default_rng(3)
    held = 0
    for seed in range(120):
        a = rng.integers(0, 2, 80)
        b = np.where(rng.random(80) < 0.8, a, 1 - a)
        found = percent_agreement(a, b, n_levels=2, replicates=300, seed=seed)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0.8 <= found.high
    assert 0.88 <= held / 120 <= 0.99


def test_codes_are_checked() -> None:
    with pytest.raises(ValueError, match="not among the levels"):
        encode(["a", "d"], ["a", "b"])
    with pytest.raises(ValueError, match=r"codes 0\.\.2"):
        cohen_kappa([0, 3], [0, 1], n_levels=3)
    with pytest.raises(ValueError, match="declared twice"):
        encode([], ["a", "a"])


@settings(max_examples=40, deadline=None)
@given(ratings, st.randoms(use_true_random=False))
def test_the_order_of_units_and_raters_changes_nothing(rows: list[list[int]], random: Any) -> None:
    codes = np.asarray(rows)
    units, raters = list(range(len(rows))), [0, 1, 2]
    random.shuffle(units)
    random.shuffle(raters)
    other = codes[units][:, raters]

    def same(a: float | None, b: float | None) -> bool:
        return a == b if a is None or b is None else a == pytest.approx(b, abs=1e-9)

    for metric in ("nominal", "ordinal", "interval"):
        one, two = (krippendorff_alpha(part, n_levels=4, metric=metric, replicates=0) for part in (codes, other))  # type: ignore[arg-type]
        assert same(one.value, two.value)
    a, b = codes[:, 0], codes[:, 1]
    for weights in (None, "linear", "quadratic"):
        one, two = (cohen_kappa(*pair, n_levels=4, weights=weights, replicates=0) for pair in ((a, b), (b, a)))  # type: ignore[arg-type]
        assert same(one.value, two.value)
    # Renaming the levels changes nothing that does not depend on their order.
    assert same(
        krippendorff_alpha(codes, n_levels=4, replicates=0).value,
        krippendorff_alpha(np.where(codes >= 0, 3 - codes, -1), n_levels=4, replicates=0).value,
    )


LEVELS = ["Contradiction", "Neutral", "Entailment"]


@pytest.mark.parametrize(
    ("part", "kind"),
    [("agreement", None), ("agreement_must_have", "must_have"), ("agreement_nice_to_have", "nice_to_have")],
)
def test_kqa_physicians_agree_as_computed_independently(shared_data: Path, part: str, kind: str | None) -> None:
    expected = json.loads((shared_data / "expected_dev.json").read_text("utf-8"))["kqa"][part]
    with (shared_data / "kqa_claims.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if kind is None or row["kind"] == kind]
    codes = np.stack([encode([row[f"label_{i}"] for row in rows], LEVELS) for i in range(3)], axis=1)
    binary = (codes == 2).astype(int)

    def near(value: float | None, key: str) -> None:
        assert value == pytest.approx(expected[key], abs=1e-9)

    assert len(rows) == expected["n_claims"]
    near(krippendorff_alpha(codes, n_levels=3, replicates=0).value, "krippendorff_alpha_nominal")
    near(
        krippendorff_alpha(codes, n_levels=3, metric="ordinal", replicates=0).value, "krippendorff_alpha_ordinal_C_N_E"
    )
    near(
        krippendorff_alpha(binary, n_levels=2, replicates=0).value,
        "krippendorff_alpha_nominal_binary_entailment_vs_rest",
    )
    near(fleiss_kappa(codes, n_levels=3, replicates=0).value, "fleiss_kappa")
    near(fleiss_kappa(binary, n_levels=2, replicates=0).value, "fleiss_kappa_binary_entailment_vs_rest")
    for pair, values in expected["pairwise_cohen"].items():
        i, j = (int(name[-1]) for name in pair.split("~"))
        for key, weights in (("kappa", None), ("kappa_linear", "linear"), ("kappa_quadratic", "quadratic")):
            found = cohen_kappa(codes[:, i], codes[:, j], n_levels=3, weights=weights, replicates=0)  # type: ignore[arg-type]
            assert found.value == pytest.approx(values[key], abs=1e-9)
        assert percent_agreement(codes[:, i], codes[:, j], n_levels=3, replicates=0).value == pytest.approx(
            values["percent_agreement"], abs=1e-9
        )
    assert [dict(Counter(LEVELS[c] for c in codes[:, i])) for i in range(3)] == expected["label_counts"]
