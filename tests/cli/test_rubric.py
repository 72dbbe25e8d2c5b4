"""`judgekit rubric ...` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judgekit.cli.app import main
from tests.judging.provider import Provider, Say

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
    # The library's line for editors points into the checkout, and would be a broken link here.
    assert not Path("mine.yaml").read_text("utf-8").startswith("# yaml-language-server")


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


def crushing(body: dict[str, Any], _: int) -> str:
    """A judge that sees the danger of the first check, and nothing wrong with the second."""
    level = 1 if "chest pain" in body["messages"][-1]["content"] else 3
    return json.dumps({"explanation": "x", "score": str(level)})


def test_the_checks_run_with_a_model_over_http(capsys: pytest.CaptureFixture[str], provider: Provider) -> None:
    provider.script = crushing
    words = ("test", "general-likert", "--model", "openai/fake", "--api-base", provider.base)
    code, body = run_json(capsys, *words)
    assert (code, body["passed"], body["failed"], body["unscored"]) == (0, 2, 0, 0)
    assert provider.count == 2
    assert body["checks"][0]["expect"] == [{"name": "score", "wanted": "1", "got": 1, "holds": True}]
    # The same judge, always content: the first check fails, by file and line.
    provider.reset(json.dumps({"explanation": "x", "score": "3"}))
    code, out, _ = run(capsys, *words)
    assert code == 1
    assert "FAILED" in out
    assert "general-likert.yaml:" in out
    assert "score = 3 (wanted 1)" in out
    # One that never gives a verdict: neither right nor wrong.
    provider.reset("I would rather not say.")
    code, body = run_json(capsys, *words)
    assert (code, body["passed"], body["failed"], body["unscored"]) == (3, 0, 0, 2)
    assert body["checks"][0]["holds"] is None
    assert body["checks"][0]["status"] == "invalid"


def test_checks_of_a_checklist_name_its_criteria(capsys: pytest.CaptureFixture[str], provider: Provider) -> None:
    def script(body: dict[str, Any], _: int) -> str:
        text = body["messages"][-1]["content"]
        return json.dumps({"explanation": "x", "met": "washed hot" not in text})

    provider.script = script
    code, body = run_json(capsys, "test", "dynamic-checklist", "--model", "openai/fake", "--api-base", provider.base)
    assert (code, body["passed"]) == (0, 2)
    names = [each["name"] for each in body["checks"][0]["expect"]]
    assert names == ["c1.met", "c2.met", "c3.met", "raw", "complete"]


def test_a_rubric_without_checks_cannot_be_tested(capsys: pytest.CaptureFixture[str]) -> None:
    code, body = run_json(capsys, "test", "checklist-writer", "--model", "openai/fake")
    assert (code, "no checks" in body["error"]["message"]) == (1, True)


def test_a_provider_that_says_no_ends_in_its_error(capsys: pytest.CaptureFixture[str], provider: Provider) -> None:
    provider.script = Say("bad key", status=401)
    code, body = run_json(capsys, "test", "general-likert", "--model", "openai/fake", "--api-base", provider.base)
    assert (code, body["error"]["kind"]) == (5, "provider")


def test_a_fixed_checklist_and_a_gate_run_with_a_model(
    capsys: pytest.CaptureFixture[str], provider: Provider, tmp_path: Path
) -> None:
    from tests.rubric.test_gates import AXES, FIXED

    (tmp_path / "fixed.yaml").write_text(FIXED, "utf-8")
    (tmp_path / "axes.yaml").write_text(AXES, "utf-8")
    provider.script = lambda body, _: json.dumps({"why": "w", "met": True})
    words = ("--model", "openai/fake", "--api-base", provider.base)
    code, body = run_json(capsys, "test", str(tmp_path / "fixed.yaml"), *words)
    assert (code, body["passed"], provider.count) == (0, 1, 3)  # one call a criterion of the rubric's own
    provider.script = lambda body, _: json.dumps({"why": "w", "safety": "3", "share": 10, "polite": True, "harm": "2"})
    code, body = run_json(capsys, "test", str(tmp_path / "axes.yaml"), *words)
    # All axes are the best, and yet the gate of grave harm makes it 0.
    assert (code, body["checks"][0]["expect"]) == (0, [{"name": "raw", "wanted": "<= 0.5", "got": 0.0, "holds": True}])
