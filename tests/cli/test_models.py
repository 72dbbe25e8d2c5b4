from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgekit.cli.app import main


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGEKIT_CACHE", str(tmp_path / "cache"))


def test_the_list_says_what_the_model_is_good_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "list"]) == 0
    text = capsys.readouterr().out
    assert "local/smollm2-135m" in text
    assert "very weak" in text
    assert "judgekit models fetch smollm2-135m" in text
    assert "Apache-2.0" in text


def test_the_list_for_machines_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "list", "--json"]) == 0
    out = capsys.readouterr().out
    row = json.loads(out)["models"][0]
    assert row["model"] == "local/smollm2-135m"
    assert row["here"] is False
    assert row["bytes"] == 98_362_432


def test_an_unknown_name_and_a_wrong_file_are_the_users_to_mend(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["models", "fetch", "gpt-9"]) == 1
    assert "known: smollm2-135m" in capsys.readouterr().err
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(b"GGUF")
    assert main(["models", "fetch", "local/smollm2-135m", "--from", str(wrong), "--json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["file"] == str(wrong)
    assert "sha256" in error["message"]
