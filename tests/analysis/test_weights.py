"""Rankings under other weights."""

from __future__ import annotations

import pandas as pd
import pytest

from judgekit.analysis.weights import SCHEMES, parse_scheme, weight_schemes
from judgekit.errors import InputError

COLUMNS = ["entity_f1", "semantic_similarity", "factual_consistency", "structured_overlap"]


def frame(groups: dict[str, list[float | None]], questions: int = 3) -> pd.DataFrame:
    rows = [[name, q, *values] for name, values in groups.items() for q in range(questions)]
    return pd.DataFrame(rows, columns=["model", "q", *COLUMNS], dtype=object)


def test_the_paper_profiles_keep_their_order() -> None:
    # Means of VB-Score, Table 4 (entity, similarity, consistency, structure). By hand under vb-score:
    # Gemini .3(.050)+.3(.494)+.25(.696)+.15(.020) = .3402; GPT-4 .3(.071)+.3(.535)+.25(.338)+.15(.036) = .2717.
    found = weight_schemes(
        frame({"GPT-4": [0.071, 0.535, 0.338, 0.036], "Gemini": [0.050, 0.494, 0.696, 0.020]}), group="model", unit="q"
    )
    assert [row["order"] for row in found["schemes"].rows] == ["Gemini > GPT-4"] * 5
    means = {(row["scheme"], row["group"]): row["mean"] for row in found["means"].rows}
    assert means[("vb-score", "Gemini")] == pytest.approx(0.3402)
    assert means[("vb-score", "GPT-4")] == pytest.approx(0.2717)
    assert "same under every scheme" in found.text()


def test_a_ranking_that_turns_says_so() -> None:
    found = weight_schemes(frame({"A": [0.9, 0.2, 0.2, 0.2], "B": [0.1, 0.6, 0.6, 0.6]}), group="model", unit="q")
    orders = {row["scheme"]: row for row in found["schemes"].rows}
    assert orders["vb-score"]["order"] == "B > A"  # .27 + .14 = .41 against .03 + .42 = .45
    assert orders["entity"]["order"] == "A > B"  # .45 + .10 = .55 against .05 + .30 = .35
    assert orders["entity"]["tau"] == pytest.approx(-1)
    assert "depends on the weights" in found.text()


def test_a_missing_component_is_left_out_and_counted() -> None:
    table = frame({"A": [0.5, 0.5, 0.5, 0.5], "B": [0.6, 0.6, 0.6, 0.6]})
    table.loc[0, "factual_consistency"] = None
    row = weight_schemes(table, group="model", unit="q")["schemes"].rows[0]
    assert (row["n_left_out"], row["n_units"]) == (1, 2)  # question 0 has no composite for A, so B is not ranked on it


def test_ties_and_single_groups() -> None:
    row = weight_schemes(frame({"A": [0.5] * 4, "B": [0.5] * 4}), group="model", unit="q")["schemes"].rows[0]
    assert row["order"] == "A = B"
    assert row["tau"] is None
    assert (
        weight_schemes(frame({"A": [0.5] * 4}), group="model", unit="q")["schemes"].rows[0]["reason"]
        == "one group only"
    )


def test_schemes_are_read_and_checked() -> None:
    assert parse_scheme("mine:a=.5, b=1.5") == ("mine", {"a": 0.5, "b": 1.5})
    for text in ("mine", "mine:a", "mine:a=-1", "mine:a=0", ":a=1"):
        with pytest.raises(InputError, match="is no scheme"):
            parse_scheme(text)
    assert all(sum(weights.values()) == pytest.approx(1) for weights in SCHEMES.values())


def test_a_negative_cosine_counts_as_nothing() -> None:
    found = weight_schemes(frame({"A": [0.4, -0.5, 0.4, 0.4], "B": [0.3, 0.0, 0.4, 0.4]}), group="model", unit="q")
    means = {row["group"]: row["mean"] for row in found["means"].rows if row["scheme"] == "equal"}
    assert means == {"A": pytest.approx(0.3), "B": pytest.approx(0.275)}
