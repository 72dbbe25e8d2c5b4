"""Failure shares, overlaps, the gap, correlations and examples, by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judgekit.analysis.failures import failures, parse_threshold
from judgekit.analysis.frames import measured_frame
from judgekit.errors import InputError, UsageError
from judgekit.records import Record
from tests.analysis.conftest import Build, measured

# entity, similarity, consistency: fails entity (strictly under .10) in rows 0, 2; row 1 sits on the threshold and passes.
ROWS = [
    ("A", "q0", 0.05, 0.80, 0.9),
    ("A", "q1", 0.10, 0.60, 0.4),
    ("A", "q2", 0.00, 0.50, 0.5),
    ("B", "q0", 0.40, 0.20, 0.1),
    ("B", "q1", None, 0.70, 0.3),
]
FRAME = pd.DataFrame(
    ROWS, columns=["model", "q", "entity_f1", "semantic_similarity", "factual_consistency"], dtype=object
)


def test_shares_by_hand() -> None:
    found = failures(FRAME, unit="q", replicates=200)
    rows = {row["component"]: row for row in found["failures"].rows if row["group"] == "all"}
    entity = rows["entity_f1"]
    assert (entity["failed"], entity["n"], entity["n_undefined"], entity["share"]) == (2, 4, 1, 0.5)
    assert rows["semantic_similarity"]["failed"] == 1  # .20
    assert rows["factual_consistency"]["failed"] == 3  # .4, .1, .3; the .5 passes
    assert "vb_score" not in rows


def test_overlaps_by_hand() -> None:
    rows = {row["overlap"]: row for row in failures(FRAME, replicates=0)["overlaps"].rows if row["group"] == "all"}
    vague = rows["fluent but vague"]
    # Both components: rows 0-3. Fluent (.5 and more): rows 0, 1, 2; of these with entity under .10: 0 and 2.
    assert (vague["count"], vague["n"], vague["n_fluent"]) == (2, 4, 3)
    assert vague["share"] == 0.5
    assert vague["share_of_fluent"] == pytest.approx(2 / 3)
    wrong = rows["fluent but contradicted"]
    assert (wrong["count"], wrong["n"], wrong["n_fluent"]) == (2, 5, 4)  # rows 1 and 4


def test_the_gap_is_in_points_over_answers_with_both() -> None:
    found = failures(FRAME, by="model", unit="q", replicates=300)
    rows = {row["group"]: row for row in found["gap"].rows}
    # A: (.75 + .50 + .50) / 3 = 58.33 points; B: one answer, -20.
    assert rows["A"]["points"] == pytest.approx(100 * (0.75 + 0.5 + 0.5) / 3)
    assert rows["A"]["points_low"] == pytest.approx(50)  # a resample of q1 and q2 alone
    assert (rows["B"]["points"], rows["B"]["n"], rows["B"]["n_undefined"]) == (pytest.approx(-20), 1, 1)
    assert rows["B"]["points_low"] is None
    assert rows["all"]["points"] == pytest.approx(100 * (0.75 + 0.5 + 0.5 - 0.2) / 4)


def test_correlations_and_examples() -> None:
    found = failures(FRAME.assign(id=list("abcde"), question="why?"), unit="none", examples=2, replicates=0)
    pair = next(
        row
        for row in found["correlations"].rows
        if row["b"] == "factual_consistency" and row["a"] == "semantic_similarity"
    )
    assert pair["n"] == 5
    assert pair["pearson"] == pytest.approx(
        FRAME[["semantic_similarity", "factual_consistency"]].astype(float).corr().iloc[0, 1]
    )
    worst = found["worst"].rows
    assert [row["id"] for row in worst] == ["a", "b"]  # the widest gaps: .75, then .50 (the first of two)
    assert worst[0]["values"]["entity_f1"] == 0.05
    assert "why?" in found.text()


def test_own_thresholds_and_columns() -> None:
    found = failures(FRAME, threshold=["entity_f1=0.11"], replicates=0)
    assert next(row for row in found["failures"].rows if row["component"] == "entity_f1")["failed"] == 3
    assert "entity_f1<0.11" in found.signature
    assert parse_threshold("a=.5") == ("a", 0.5)
    for text in ("a", "a=x", "=1", "a=nan"):
        with pytest.raises(InputError, match="is no threshold"):
            parse_threshold(text)


@pytest.mark.parametrize("rows", [[], [("A", "q", None, None, None)]])
def test_nothing_measured_gives_a_sentence(rows: list[Any]) -> None:
    found = failures(pd.DataFrame(rows, columns=FRAME.columns, dtype=object), replicates=0)
    assert "no answer has this component" in found.text()
    json.dumps(found.to_json(), allow_nan=False)


def test_no_component_at_all_names_them() -> None:
    with pytest.raises(InputError, match="no component") as error:
        failures(pd.DataFrame({"x": [1.0]}))
    assert "entity_f1" in str(error.value)


def records() -> list[Record]:
    return [Record(id=f"r{i}", question=f"q{i % 2}", response="x", meta={"model": "AB"[i // 2]}) for i in range(4)]


def test_a_run_gives_components_out_of_vb_score(build: Build) -> None:
    inner = {"entity": 0.05, "similarity": 0.7, "consistency": None, "structure": 0.2, "failures": {}}
    rows = [
        measured("r0", "vb_score(nli=baseline)", 0.3, details=inner),
        measured("r1", "vb_score(nli=baseline)", None),
    ]
    frame, notations = measured_frame(build(records(), measurements=rows))
    assert notations == ["vb_score(nli=baseline)"]
    assert frame.loc[0, ["entity_f1", "semantic_similarity", "structured_overlap"]].tolist() == [0.05, 0.7, 0.2]
    assert "factual_consistency" not in frame
    assert frame["model"].tolist() == ["A", "A"]
    assert frame.loc[1, "vb_score"] is None


def test_two_notations_of_one_metric_are_not_mixed(build: Build) -> None:
    rows = [measured("r0", "entity_f1(match=exact)", 0.1), measured("r1", "entity_f1(match=token)", 0.2)]
    run = build(records(), measurements=rows)
    with pytest.raises(InputError, match="measured in two ways"):
        failures(run)
    found = failures(run, metric=["entity_f1(match=token)"], replicates=0)
    assert found["failures"].rows[0]["n"] == 1
    assert "entity_f1(match=token)" in found.signature


def test_a_run_ranks_its_models_under_other_weights(build: Build) -> None:
    parts = ("entity_f1", "semantic_similarity", "factual_consistency", "structured_overlap")
    rows = [measured(f"r{i}", name, 0.1 * (i // 2 + 1)) for i in range(4) for name in parts]
    found = failures(build(records(), measurements=rows), weights=True, replicates=0)
    assert [row["order"] for row in found["schemes"].rows] == ["B > A"] * 5
    assert {row["group"] for row in found["failures"].rows} == {"all", "A", "B"}
    with pytest.raises(InputError, match="no measurements"):
        failures(build(records()))


def test_a_ranking_from_a_table_needs_its_question(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("model,entity_f1\nA,.1\nB,.2\n", encoding="utf-8")
    with pytest.raises(UsageError, match="question"):
        failures(str(table), scheme=["one:entity_f1=1"])
