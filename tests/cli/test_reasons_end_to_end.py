"""Reasons from the first verdict to the table: real rubrics, a real run, real HTTP, and a judge that replies by script."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judgekit.cli.app import main
from tests.judging.provider import Provider

# Clinician: r0, r1 incomplete, r2, r3 complete. Judge: r0, r2 incomplete (score 2), r1, r3 complete (score 5):
# TP, FN, FP, TN.
RECORDS = [
    {
        "id": f"r{i}", "question": f"question {i}?", "response": f"answer {i}",
        "labels": [{"construct": "completeness", "rater": "ann", "complete": i > 1, "rationale": f"concern {i}"}],
    }
    for i in range(4)
]  # fmt: skip


def reply(body: dict[str, Any], n: int) -> str:
    system, user = body["messages"][0]["content"], body["messages"][-1]["content"]
    item = next(i for i in range(4) if f"question {i}?" in user)
    if "the one failure" in system:
        return json.dumps({"explanation": "e", "aware": item == 2, "mode": {1: "FN01", 2: "FP02"}[item]})
    if "two reviewers" in system:
        return json.dumps({"explanation": "e", "alignment": {0: "partially", 1: "no", 2: "no", 3: "yes"}[item]})
    return json.dumps({"explanation": f"judge on {item}", "score": 2 if item in (0, 2) else 5})


def test_from_verdicts_to_failure_modes(provider: Provider, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    provider.script = reply
    data, pairs = tmp_path / "d.jsonl", tmp_path / "pairs.jsonl"
    data.write_text("\n".join(map(json.dumps, RECORDS)) + "\n", encoding="utf-8")
    common = ["--model", "openai/fake", "--api-base", provider.base]
    first, second = str(tmp_path / "one"), str(tmp_path / "two")
    assert main(["judge", str(data), "--rubric", "analytical-rubric", *common, "--out", first]) == 0
    capsys.readouterr()
    assert main(["reasons", "make", first, "--out", str(pairs), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["kinds"] == {"TP": 1, "FN": 1, "FP": 1, "TN": 1}
    assert "judge on 0" in pairs.read_text("utf-8")
    code = main(
        [
            "judge",
            str(pairs),
            "--rubric",
            "reason-alignment",
            "--rubric",
            "failure-mode",
            *common,
            "--out",
            second,
            "--json",
        ]
    )
    judged = json.loads(capsys.readouterr().out)
    # A mode exists for FP and FN only: the two agreeing pairs are skipped without a call.
    assert code == 3
    assert judged["unscored"] == {"skipped": 2}
    assert judged["calls"] == 6
    asked = [body["messages"][-1]["content"] for body in provider.bodies[-6:]]
    assert any("concern 1" in text and "judge on 1" in text for text in asked)
    assert main(["reasons", "show", second, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    alignment = {row["kind"]: row for row in shown["alignment"] if row["rubric"] == "all"}
    assert {kind: row["share_yes"] for kind, row in alignment.items()} == {"TP": 0.0, "TN": 1.0, "FP": 0.0, "FN": 0.0}
    assert shown["recall"][0]["n"] == 2
    assert shown["recall"][0]["partial"] == 0.5
    modes = {row["mode"]: row["count"] for row in shown["modes"] if row["rubric"] == "all"}
    assert modes["FP02"] == 1
    assert modes["FN01"] == 1
    assert {row["rubric"] for row in shown["flows"]} == {"analytical-rubric"}
    assert not any("skipped" in note for note in shown["notes"])
    # The other analyses read the same run.
    for words in (["agree", first], ["compare", first, "--what", "judge"], ["cost", first]):
        assert main([*words, "--json"]) == 0
        json.loads(capsys.readouterr().out)
