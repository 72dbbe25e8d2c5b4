"""What `measure` and `metric explain` say to a newcomer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgekit.cli.app import main


def test_responses_that_are_the_reference_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # The first three planted omissions: po-01-full is its own reference, the two others leave something out.
    words = ["measure", "planted-omissions", "--metric", "token_f1", "--limit", "3", "--out", str(tmp_path / "run")]
    assert main([*words, "--json"]) == 0
    found = capsys.readouterr()
    said = "1 of 3 responses are their reference word for word: they raise the means and say nothing"
    assert json.loads(found.out)["notes"] == [said]
    assert f"note: {said}" in found.err


def test_an_unknown_id_is_answered_with_some_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metric", "explain", "planted-omissions", "--id", "17", "--metric", "token_f1"]) == 1
    assert "its 123 ids are such as po-01-full, po-01-b, po-01-c" in capsys.readouterr().err


def test_explain_rounds_for_people_and_not_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["metric", "explain", "planted-omissions", "--id", "po-01-b", "--metric", "token_f1"]
    assert main(words) == 0
    shown = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("precision: "))
    assert main([*words, "--json"]) == 0
    exact = json.loads(capsys.readouterr().out)["details"]["precision"]
    assert shown == f"precision: {round(exact, 4)}"
    assert round(exact, 4) != exact
