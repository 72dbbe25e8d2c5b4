"""Certified thresholds, calibration on other records, severities, net benefit and pairs, from tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from judgekit.analysis.source import open_source
from judgekit.analysis.triage import Triage, triage
from judgekit.analysis.triage.certified import calibration_half, pick_units
from judgekit.analysis.triage.extras import severity_name
from judgekit.errors import StatisticsError, UsageError


def write(path: Path, rows: list[tuple[object, ...]], head: str = "id,incomplete,score") -> Path:
    path.write_text("\n".join([head, *[",".join(map(str, row)) for row in rows]]) + "\n", "utf-8")
    return path


def sample(m: int, n: int, seed: int = 0, prefix: str = "a") -> list[tuple[object, ...]]:
    rng = np.random.default_rng(seed)
    bad = [(f"{prefix}{i}", 1, round(float(s), 4)) for i, s in enumerate(rng.normal(0, 1, m))]
    return bad + [(f"{prefix}{m + i}", 0, round(float(s), 4)) for i, s in enumerate(rng.normal(1.5, 1, n))]


def test_certify_splits_by_a_hash_and_reports_on_the_other_half(tmp_path: Path) -> None:
    path = write(tmp_path / "big.csv", sample(200, 200))
    row = triage(path, certify="0.95").to_json()["rows"][0]
    found = row["certified"]
    cell = open_source(path, Triage()).cells()[0]
    half = calibration_half(cell)
    units = int((cell.label[half] == 1).sum())
    assert (found["units"], found["n_calibration"]) == (units, int(half.sum()))
    # the k-th smallest incomplete score of the half that chooses
    chosen = np.sort(cell.score[half & (cell.label == 1)])
    assert found["threshold"] == chosen[found["needed"] - 1]
    rest = ~half
    bad = rest & (cell.label == 1)
    assert found["checked"]["recall"] == pytest.approx((cell.score[bad] <= found["threshold"]).mean())
    assert found["checked"]["n"] == int(rest.sum())
    assert found["judges"] == 1
    # the main figures are still those of all records, and say that they are optimistic
    assert (row["n"], row["optimistic"]) == (400, True)


def test_several_judges_share_the_risk(tmp_path: Path) -> None:
    rows = [(*row, row[2]) for row in sample(200, 50)]
    path = write(tmp_path / "two.csv", rows, "id,incomplete,one,two")
    found = triage(path, score=["one", "two"], certify="0.95").to_json()["rows"][0]["certified"]
    assert (found["judges"], found["delta"]) == (2, pytest.approx(0.025))


def test_28_certify_only_reading_everything(tmp_path: Path) -> None:
    calibration = write(tmp_path / "c.csv", sample(28, 30, prefix="c"))
    path = write(tmp_path / "t.csv", sample(20, 20, 1))
    found = triage(path, certify="0.95", calibration=calibration)
    certified = found.to_json()["rows"][0]["certified"]
    assert (certified["threshold"], certified["read_everything"], certified["units"]) == (None, True, 28)
    assert "at least 29 are needed" in certified["reason"]
    assert certified["checked"]["workload"] == 1.0
    assert "only reading everything" in found.text()
    more = write(tmp_path / "c.csv", sample(29, 30, prefix="c"))
    certified = triage(path, certify="0.95", calibration=more).to_json()["rows"][0]["certified"]
    assert certified["threshold"] == max(row[2] for row in sample(29, 30, prefix="c") if row[1] == 1)  # type: ignore[type-var]


def test_a_calibration_chooses_and_the_recall_gets_an_interval(tmp_path: Path) -> None:
    calibration = write(tmp_path / "c.csv", sample(40, 40, 1, "c"))
    path = write(tmp_path / "t.csv", sample(40, 40, 2))
    found = triage(path, calibration=calibration)
    row = found.to_json()["rows"][0]
    chosen = sorted(r[2] for r in sample(40, 40, 1, "c") if r[1] == 1)[35]  # type: ignore[type-var]
    assert (row["threshold"], row["optimistic"], row["recall_loco"]) == (chosen, False, None)
    assert any("was chosen on c@" in note for note in row["notes"])
    assert found.details()[0]["recall_interval"]["unit"] == "40 incomplete answers"
    assert "calibration:c@" in found.signature


def test_records_that_chose_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", sample(40, 40, 2))
    with pytest.raises(StatisticsError, match="80 answers or questions are in the calibration too"):
        triage(path, calibration=path)


def test_one_incomplete_answer_a_question(tmp_path: Path) -> None:
    # 30 questions with three incomplete answers each are 30 units, not 90
    rows = [(f"{q}-{i}", 1, q + i / 10, q) for q in range(30) for i in range(3)]
    path = write(tmp_path / "c.csv", rows, "id,incomplete,score,qid")
    cell = open_source(path, Triage(cluster="qid")).cells()[0]
    units = pick_units(cell)
    assert len(units) == 30
    # picked by a hash of the id, so not always the first, and the same whatever the order
    assert len({cell.ids[i].split("-")[1] for i in units}) == 3
    turned = cell.take(np.ones(90, bool))
    again = write(tmp_path / "d.csv", rows[::-1], "id,incomplete,score,qid")
    other = open_source(again, Triage(cluster="qid")).cells()[0]
    assert (
        {cell.ids[i] for i in units}
        == {other.ids[i] for i in pick_units(other)}
        == {turned.ids[i] for i in pick_units(turned)}
    )
    # both halves hold whole questions
    half = calibration_half(cell)
    assert all(len(set(half[3 * q : 3 * q + 3].tolist())) == 1 for q in range(30))


@pytest.mark.parametrize("bad", ["1", "0", "95", "x"])
def test_a_confidence_outside_its_range(tmp_path: Path, bad: str) -> None:
    with pytest.raises(UsageError, match="certify"):
        triage(write(tmp_path / "t.csv", sample(3, 3)), certify=bad)


def test_severities(tmp_path: Path) -> None:
    assert severity_name("Severe  may require medical intervention by a doctor") == "severe"
    assert severity_name("Life-threatening - can be") == "life-threatening"
    assert severity_name("Life threatening") == "life-threatening"
    assert severity_name("odd") is None
    rows = (
        [(i, 1, 1, "Severe") for i in range(12)]
        + [(12, 1, 5, "Mild - no action")]
        + [(13 + i, 0, 4, "") for i in range(12)]
    )
    found = triage(write(tmp_path / "s.csv", rows, "id,incomplete,score,harm"), severity="harm")
    text = " ".join(found.text().split())
    # 12 of 13 caught at score 1: none of 12 severe (at most 22 %), the mild one missed
    assert "1 of 1 mild (at most 100 %), 0 of 12 severe (at most 22 %)" in text
    assert found.details()[0]["severity"]["weighted"] == pytest.approx(0.25 / 9.25)


def test_net_benefit_and_transport_in_the_details(tmp_path: Path) -> None:
    rows = [
        (i, label, score) for i, (label, score) in enumerate([(1, 1)] * 9 + [(1, 5)] + [(0, 1)] * 5 + [(0, 4)] * 10)
    ]
    found = triage(write(tmp_path / "n.csv", rows)).details()[0]
    nine = next(x for x in found["net_benefit"] if x["reads_per_catch"] == 9)
    assert nine["judge"] == pytest.approx((9 - 5 / 9) / 25)
    tenth = next(x for x in found["transport"] if x["prevalence"] == 0.1)
    assert (tenth["workload"], tenth["precision"]) == (pytest.approx(0.39), pytest.approx(0.09 / 0.39))


def test_pairs_over_common_records(tmp_path: Path) -> None:
    rows = [
        ("a", 1, 1, 1), ("b", 0, 3, 4), ("c", 1, 2, 2), ("d", 0, 4, 5), ("e", 1, 5, 3), ("f", 0, 4, 6), ("g", 1, "", 1),
    ]  # fmt: skip
    found = triage(write(tmp_path / "p.csv", rows, "id,incomplete,one,two"), score=["one", "two"])
    pair = found.pairs()[0]
    # the six common records of the hand example in tests/stats/test_auc.py: difference -1/3, SE 1/3
    assert (pair.found.n, pair.found.difference, pair.found.se) == (6, pytest.approx(-1 / 3), pytest.approx(1 / 3))
    assert (pair.family, pair.p_bonferroni) == (1, pytest.approx(pair.found.p))
    assert "one minus two: -0.333" in found.text()
