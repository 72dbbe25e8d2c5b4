"""`judgekit stability` from the command line: tables, JSON, exit codes, pictures and cards."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from judgekit.cli.app import cli, main
from tests.judging.provider import Provider
from tests.stability.script import Script, questions


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps(record.to_dict()) + "\n" for record in questions(2)))
    return path


def run(*words: object) -> tuple[int, str]:
    found = CliRunner().invoke(cli, [str(word) for word in words], standalone_mode=False)
    if found.exception is not None:
        raise found.exception
    return found.return_value, found.stdout


def test_from_questions_to_scores(provider: Provider, cases: Path, tmp_path: Path) -> None:
    provider.script = Script()
    study = tmp_path / "study"
    server = ("--api-base", provider.base)
    code, text = run("stability", "make", cases, "--model", "openai/writer", "--out", study, "--ner", "none", *server)
    assert code == 0
    assert "number: 45 year became 54 year" in text
    assert "signature: judgekit:" in text
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra: report)")
    code, text = run(
        "stability",
        "verify",
        study,
        "--nli",
        "rules",
        "--model",
        "openai/judge-a",
        "--model",
        "openai/judge-b",
        "--picture",
        tmp_path / "sweep.svg",
        *server,
        "--json",
    )
    found = json.loads(text)
    assert code == 0
    assert (tmp_path / "sweep.svg").read_text().startswith("<?xml")
    assert found["funnel"][-1]["stage"] == "final"
    assert any(row["current"] for row in found["sweep"])
    code, _ = run("stability", "audit", study, "--out", tmp_path / "sheet.csv", "--seed", 3)
    rows = list(csv.DictReader((tmp_path / "sheet.csv").open(encoding="utf-8-sig")))
    assert set(rows[0]) == {"item", "original", "variant", "preserved", "comment"}
    with (tmp_path / "filled.csv").open("w", newline="") as stream:
        sheet = csv.DictWriter(stream, list(rows[0]))
        sheet.writeheader()
        sheet.writerows({**row, "preserved": "yes"} for row in rows)
    code, text = run(
        "stability",
        "audit",
        study,
        "--import",
        tmp_path / "filled.csv",
        "--expert",
        "dr",
        "--picture",
        tmp_path / "funnel.png",
    )
    assert code == 0
    assert (tmp_path / "funnel.png").read_bytes()[:4] == b"\x89PNG"
    code, text = run("stability", "ask", study, "--model", "openai/steady", "--model", "openai/fickle", *server)
    assert "the provider gave no log-probabilities" in text
    code, text = run(
        "stability",
        "score",
        study,
        "--replicates",
        50,
        "--permutations",
        100,
        "--pictures",
        tmp_path / "pictures",
        "--questions",
    )
    assert code == 0
    assert "MVS [95 %]" in text
    assert (tmp_path / "pictures" / "kinds.svg").is_file()
    before = provider.count
    run("stability", "ask", study, "--model", "openai/fickle", *server)
    assert provider.count == before
    _, text = run("stability", "score", study, "--json", "--replicates", 0)
    assert json.loads(text)["models"][1]["mvs"] > 0


def test_wrong_words_have_their_exit_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "none"
    assert main(["stability", "score", str(empty)]) == 1
    data = tmp_path / "d.jsonl"
    data.write_text('{"id": "a", "response": "no question"}\n')
    words = ["stability", "make", str(data), "--model", "openai/x", "--out", str(tmp_path / "s"), "--json"]
    assert main(words) == 1
    error: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert error["error"]["field"] == "question"
    assert main([*words[:-1], "--samples", "3"]) == 2
    assert main(["stability", "judge", "general-likert", str(data), "--model", "openai/x", "--report", "x.txt"]) == 2


def test_help_loads_nothing_heavy() -> None:
    code = "import sys; from judgekit.cli.app import main; main(['stability', '--help']); print([m for m in ('numpy', 'litellm', 'torch', 'pandas') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")
