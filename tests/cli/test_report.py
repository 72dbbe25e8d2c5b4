"""`judgekit report` as a person types it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from judgekit.analysis.triage import triage
from judgekit.cli.app import main
from judgekit.report.markdown import escape
from tests.report.runs import evil, planted, write_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    records = [*planted(), evil()]
    return write_run(
        tmp_path_factory.mktemp("cli") / "run", records, rubrics=("analytical-rubric",), judges={"openai/j": 0.7}
    )


def test_page_summary_and_figures(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="pictures need matplotlib: pip install 'clinical-judgekit[report]'")
    words = [
        "--out",
        str(tmp_path / "r.html"),
        "--markdown",
        str(tmp_path / "r.md"),
        "--figures",
        str(tmp_path / "figures"),
    ]
    assert main(["report", str(run), "--title", "My study", *words, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["page"] == str(tmp_path / "r.html")
    assert said["bytes"] == (tmp_path / "r.html").stat().st_size
    assert "summary" in said["panels"]
    assert {"Local metrics", "Stability under rewording"} <= {item["panel"] for item in said["left_out"]}
    assert "<h1>My study</h1>" in (tmp_path / "r.html").read_text("utf-8")
    names = {Path(name).name for name in said["figures"]}
    assert {"triage.png", "triage.svg", "levels-0.png", "levels-0.svg", "levels-0.csv", "severity-0.svg"} <= names
    assert (tmp_path / "figures" / "levels-0.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "figures" / "levels-0.svg").read_text("utf-8")


def test_the_summary_is_markdown_that_no_record_can_bend(run: Path, tmp_path: Path) -> None:
    assert main(["report", str(run), "--out", str(tmp_path / "r.html"), "--markdown", str(tmp_path / "r.md")]) == 0
    text = (tmp_path / "r.md").read_text("utf-8")
    assert text.startswith("# Judges on planted-omissions\n")
    assert "Nothing can be said" in text  # the rater whose name is markup has one answer
    assert not re.search(r"(?<!\\)<(script|img|!--)", text)
    assert "| rubric and judge |" in text


def test_the_summary_holds_every_remark_of_triage(run: Path, tmp_path: Path) -> None:
    # A reader of the pull request sees no page: what bounds the numbers (labels by construction, optimism) must stand beside them.
    assert main(["report", str(run), "--out", str(tmp_path / "r.html"), "--markdown", str(tmp_path / "r.md")]) == 0
    text = (tmp_path / "r.md").read_text("utf-8")
    notes = {note for row in triage(run).to_json()["rows"] for note in row["notes"]}
    assert any(note.startswith("optimistic") for note in notes)
    assert any("by construction" in note for note in notes)
    for note in notes:
        assert escape(note) in text


def test_the_page_lies_in_the_run_by_default(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(run)]) == 0
    out = capsys.readouterr()
    assert (run / "report.html").is_file()
    assert "opens in any browser" in out.out
    assert "not there: Local metrics: nothing was measured" in " ".join(out.out.split())


def test_what_is_no_run_is_an_error_with_exit_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "input"


def test_a_recall_that_is_none_is_a_usage_error(run: Path) -> None:
    assert main(["report", str(run), "--recall", "90"]) == 2
