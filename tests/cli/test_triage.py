"""`judgekit triage` as a person types it, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from judgekit.cli.app import main


def judgekit(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "judgekit", *args], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("number", range(6))
def test_the_six_cases_from_a_csv(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    case = json.loads((shared_data / "triage_cases.json").read_text("utf-8"))["cases"][number]
    lines = [
        f"{label},{'' if score is None else score}" for label, score in zip(case["label"], case["score"], strict=True)
    ]
    path = tmp_path / "scores.csv"
    path.write_text("incomplete,score\n" + "\n".join(lines) + "\n", "utf-8")
    assert main(["triage", str(path), "--label", "incomplete", "--score", "score", "--recall", "0.90", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)["rows"][0]
    want = case["expected"]["drop_missing"]
    point, test = want["at_recall_0_90"] or {}, want["mann_whitney"]
    assert (row["n"], row["n_incomplete"], row["n_unscored"]) == (want["n"], want["n_incomplete"], case["n_missing"])
    assert row["auc"] == (None if want["auc"] is None else pytest.approx(want["auc"], abs=1e-12))
    ends = want["delong_ci95"] or [None, None]
    assert (row["auc_low"], row["auc_high"]) == (
        pytest.approx(tuple(ends), abs=1e-12) if ends[0] is not None else (None, None)
    )
    for ours, theirs in {
        "threshold": "threshold", "recall": "recall", "workload": "flag_fraction", "precision": "precision",
        "false_alarms_per_catch": "fp_per_tp", "missed": "fn",
    }.items():  # fmt: skip
        expected = point.get(theirs)
        assert row[ours] == (None if expected is None else pytest.approx(expected, abs=1e-12)), ours
    p = None
    if test is not None:
        exact = test["p_two_sided_permutation_exact"]
        p = pytest.approx(test["p_two_sided_asymptotic_cc"] if exact is None else exact, abs=1e-12)
    assert row["mann_whitney_p"] == p


def test_json_is_alone_on_stdout_and_errors_are_json_too(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("incomplete,score\n1,1\n0,2\n0,x\n", "utf-8")
    bad = judgekit("triage", str(path), "--json")
    assert bad.returncode == 1
    error = json.loads(bad.stdout)["error"]
    assert (error["kind"], error["line"], error["field"]) == ("data", 4, "score")
    path.write_text("incomplete,score\n1,1\n0,2\n", "utf-8")
    good = judgekit("triage", str(path), "--json", "--details", "--picture", str(tmp_path / "p.png"))
    assert good.returncode == 0
    body = json.loads(good.stdout)
    assert body["details"][0]["auc_exact"] == "1"
    assert body["pairs"] == []
    assert (tmp_path / "p.png").stat().st_size > 10_000
    assert "p.png" in good.stderr


def test_text_and_exit_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.csv"
    path.write_text("incomplete,score\n0,1\n0,2\n", "utf-8")
    assert main(["triage", str(path)]) == 0  # an undefined statistic is not a failure
    out = capsys.readouterr().out
    assert "no incomplete answer" in out
    assert "Traceback" not in out
    assert main(["triage", str(path), "--recall", "2"]) == 2
    assert main(["triage", str(path), "--nope"]) == 2
    assert main(["triage", str(tmp_path / "absent.csv")]) == 1
