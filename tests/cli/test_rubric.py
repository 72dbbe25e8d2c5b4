"""`judgekit rubric ...` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judgekit.cli.app import main

FILE = '{"id": "a", "question": "Q1", "response": "R1"}\n{"id": "b", "question": "Q2", "response": ""}\n'


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["rubric", *words])
    out, err = capsys.readouterr()
    return code, out, err


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    code, out, _ = run(capsys, *words, "--json")
    return code, json.loads(out)


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    code, body = run_json(capsys, "list")
    assert code == 0
    row = next(row for row in body["rubrics"] if row["name"] == "analytical-rubric")
    assert row["construct"] == "completeness"
    assert row["fields"] == [{"name": "explanation", "type": "text"}, {"name": "score", "type": "scale"}]
    assert row["source"] == "arXiv:2604.16383"
    assert row["tokens"] > 100
    code, out, _ = run(capsys, "list")
    assert code == 0
    assert "analytical-rubric" in out
    assert "score:scale" in out


def test_new_lint_render_in_a_row(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(capsys, "new", "my-scale")[0] == 0
    assert (tmp_path / "my-scale.yaml").is_file()
    code, body = run_json(capsys, "lint", "my-scale.yaml")
    assert (code, body["errors"], body["warnings"], body["findings"]) == (0, 0, 0, [])
    code, out, _ = run(capsys, "render", "my-scale.yaml")
    assert code == 0
    assert "--- system" in out
    assert "--- user" in out
    assert "fingerprints: ask " in out
    code, out, err = run(capsys, "new", "my-scale")
    assert code == 1
    assert "exists already" in err


def test_new_from_a_library_rubric(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "new", "mine", "--from", "general-likert")[0] == 0
    code, body = run_json(capsys, "lint", "mine.yaml")
    assert (code, body["findings"]) == (0, [])
    assert run(capsys, "new", "Not A Name")[0] == 1


def test_lint_prints_file_and_line_and_exits_1_on_errors(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run(capsys, "new", "mine")
    path = tmp_path / "mine.yaml"
    text = path.read_text("utf-8")
    line = text.splitlines().index("score: {field: score}") + 1
    path.write_text(text.replace("score: {field: score}", "score: {field: scroe}"), "utf-8")
    code, out, _ = run(capsys, "lint", "mine.yaml")
    assert code == 1
    assert out.startswith(
        f"mine.yaml:{line}: error: score.field: the verdict has no field 'scroe': did you mean 'score'?"
    )
    code, body = run_json(capsys, "lint", "mine.yaml", "general-likert")
    assert (code, body["files"], body["errors"]) == (1, 2, 1)
    assert body["findings"][0]["line"] == line
    path.write_text(text.replace("construct: readability", "#"), "utf-8")
    code, out, _ = run(capsys, "lint", "mine.yaml")
    assert (code, "warning" in out) == (0, True)
    assert run(capsys, "lint", "--strict", "mine.yaml")[0] == 1


def test_render_json_is_the_contract(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(FILE, "utf-8")
    code, body = run_json(capsys, "render", "general-likert", "--record", "r.jsonl", "--id", "a")
    assert code == 0
    assert set(body) == {"calls", "fingerprint"}
    assert set(body["fingerprint"]) == {"ask", "score"}
    (call,) = body["calls"]
    assert set(call) == {"messages", "schema"}
    assert [message["role"] for message in call["messages"]] == ["system", "user"]
    assert "R1" in call["messages"][1]["content"]
    assert call["schema"]["properties"]["score"]["enum"] == ["1", "2", "3"]


def test_render_of_a_blank_response_says_that_no_call_is_made(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "r.jsonl").write_text(FILE, "utf-8")
    code = main(["rubric", "render", "general-likert", "--record", "r.jsonl", "--id", "b", "--json"])
    out, err = capsys.readouterr()
    assert (code, json.loads(out)["calls"]) == (0, [])
    assert "raw 1 by rule" in err


def test_errors_are_objects_under_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(FILE, "utf-8")
    code, body = run_json(capsys, "render", "general-likert", "--record", "r.jsonl", "--id", "zzz")
    assert (code, body["error"]["kind"], body["error"]["field"]) == (1, "data", "--id")
    code, body = run_json(capsys, "render", "no-such")
    assert (code, body["error"]["kind"]) == (1, "rubric")
    code, body = run_json(capsys, "render", "medgpt", "--record", "r.jsonl")
    assert (code, "lacks reference" in body["error"]["message"]) == (1, True)


def test_schema_is_the_committed_one(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "schema")
    committed = Path(__file__).resolve().parents[2] / "docs" / "schema" / "rubric.schema.json"
    assert (code, out) == (0, committed.read_text("utf-8"))


@pytest.mark.parametrize("name", ["medgpt", "dynamic-checklist", "checklist-writer"])
def test_every_rubric_renders_without_a_record(capsys: pytest.CaptureFixture[str], name: str) -> None:
    code, body = run_json(capsys, "render", name)
    assert code == 0
    assert body["calls"]
