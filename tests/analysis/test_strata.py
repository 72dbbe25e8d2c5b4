"""Strata: pairs by what is the same, interactions within questions, shares."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from judgekit.analysis.strata import strata
from judgekit.errors import UsageError

QUICK: dict[str, Any] = {"replicates": 0, "permutations": 500}


def frame(rows: list[tuple[Any, ...]], columns: str) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=columns.split(), dtype=object)


def test_twins_are_paired_by_their_stem() -> None:
    # Plain 4, 5, 3; biased twins 3, 3, 2: drops 1, 2, 1: mean 4/3, t = (4/3) / (.57735 / sqrt 3) = 4 on 2 degrees.
    rows = [("plain", f"p{i}", i, v) for i, v in enumerate((4, 5, 3))] + [
        ("biased", f"b{i}", i, v) for i, v in enumerate((3, 3, 2))
    ]
    found = strata(frame(rows, "kind q stem v"), value="v", by=["kind"], unit="q", pair="stem", **QUICK)
    (gap,) = found["gaps"].rows
    assert (gap["design"], gap["n"], gap["difference"], gap["t"]) == (
        "paired",
        3,
        pytest.approx(4 / 3),
        pytest.approx(4.0),
    )
    apart = strata(frame(rows, "kind q stem v"), value="v", by=["kind"], unit="q", **QUICK)
    assert apart["gaps"].rows[0]["design"] == "welch"
    assert found["across"].rows[0]["mean"] == pytest.approx((4 + 8 / 3) / 2)


def test_the_interaction_is_tested_within_questions() -> None:
    # Model B loses 2 points on hard questions and none on easy ones; every question has its own level.
    rows = []
    for q in range(8):
        hard = q % 2
        noise = (0.1, -0.1, 0.2, -0.2, 0.1, -0.1, 0.0, 0.1)[q]
        rows += [("A", "hard" if hard else "easy", q, q), ("B", "hard" if hard else "easy", q, q - 2 * hard + noise)]
    found = strata(frame(rows, "model level q v"), value="v", by=["model", "level"], unit="q", **QUICK)
    (test,) = found["interaction"].rows
    # Within questions only A - B matters: .1, .2, .1, 0 off on easy ones, 2.1, 2.2, 2.1, 1.9 on hard: F on 1 and 6 degrees.
    assert (test["df1"], test["df2"], test["blocks"]) == (1, 6, 8)
    assert test["F"] > 100
    assert len(found["gaps"].rows) == 2  # the model gap inside each level


def test_shares_are_shares_and_means_are_means() -> None:
    # The field decides, not the values that one stratum happens to hold: whole numbers 0 and 1 of a scale are numbers.
    rows = [("x", q, q % 2) for q in range(4)] + [("y", q, 0.5 + q) for q in range(4)]
    one, two = strata(frame(rows, "s q v"), value="v", by=["s"], unit="q", **QUICK)["strata"].rows
    assert (one["kind"], one["count"], two["kind"]) == ("mean", None, "mean")
    # mean .5, sd .577: .5 +- 3.182 * .577 / 2
    assert one["mean_high"] == pytest.approx(0.5 + 3.1824463 * 0.5773503 / 2)
    words = [("x", q, "yes" if q % 2 else "no") for q in range(4)] + [("y", q, "yes") for q in range(4)]
    one, two = strata(frame(words, "s q v"), value="v", by=["s"], unit="q", **QUICK)["strata"].rows
    assert (one["kind"], one["count"], one["mean"]) == ("share", 2, 0.5)
    assert (one["mean_low"], one["mean_high"]) == (pytest.approx(0.1500, abs=1e-4), pytest.approx(0.8500, abs=1e-4))
    assert (two["kind"], two["count"], two["mean"]) == ("share", 4, 1.0)


def test_empty_strata_are_counted_and_not_averaged() -> None:
    found = strata(
        frame([("x", 1, 2.0), ("x", 2, 4.0), ("y", 3, None)], "s q v"), value="v", by=["s"], unit="q", **QUICK
    )
    assert found["across"].rows[0]["mean"] == 3.0
    assert found["across"].rows[0]["empty"] == 1
    with pytest.raises(UsageError, match="not 3"):
        strata(frame([], "s q v"), value="v", by=["s", "q", "v"], unit="q")


def test_kqa_completeness_by_model(shared_data: Any) -> None:
    """Shares of complete answers with Wilson's interval, as computed independently."""
    import json

    from tests.analysis.conftest import read_frame as read_table

    wanted = json.loads((shared_data / "expected_dev.json").read_text("utf-8"))["kqa"]["completeness"]
    table = read_table(shared_data / "kqa_completeness.jsonl").assign(all="all_models")
    found = strata(table, value=["complete", "score"], by=["model"], unit="qid", **QUICK)
    for row in found["strata"].rows:
        model = wanted["per_model"][row["group"]]
        if row["value"] == "complete":
            assert (row["n_units"], row["count"]) == (model["n"], model["n_complete"])
            assert [row["mean_low"], row["mean_high"]] == pytest.approx(model["wilson95"], abs=1e-9)
        else:
            assert row["mean"] == pytest.approx(model["mean_must_have_met"], abs=1e-9)
    assert "confounded" in found.text()
    (whole,) = strata(table, value="complete", by=["all"], unit="qid", **QUICK)["strata"].rows
    assert [whole["mean_low"], whole["mean_high"]] == pytest.approx(wanted["all_models"]["wilson95"], abs=1e-9)
