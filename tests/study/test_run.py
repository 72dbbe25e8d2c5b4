"""A study asks what the single commands ask, into the same store; it resumes, and shows what its analyses print."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judgekit.cli.app import main
from judgekit.runs.store import open_run
from tests.judging.judged import write_rubric
from tests.judging.provider import Provider, Say

WRITER = """
rubric: writer
version: "1"
output: text
inputs: {required: [question]}
sampling: {temperature: 0, max_tokens: 50}
prompt:
  user: |
    Please write. {{ question }}
"""


def data(folder: Path, n: int = 4) -> Path:
    """Records 000, 001, ...; the odd ones are incomplete by their clinician's label."""
    path = folder / "d.jsonl"
    rows = (
        {
            "id": f"{i:03}", "question": f"question of item{i}", "response": f"an answer to item{i}",
            "labels": [{"construct": "completeness", "rater": "r1", "complete": i % 2 == 0}],
        }
        for i in range(n)
    )  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def study(folder: Path, provider: Provider, more: str = "", models: str = "openai/fake") -> Path:
    write_rubric(folder / "rubrics")
    write_rubric(folder / "rubrics", WRITER, "writer")
    data(folder)
    path = folder / "study.yaml"
    judges = "".join(f"\n  - {{model: {name}, api_base: {provider.base}}}" for name in models.split())
    path.write_text(f"study: mine\ndata: d.jsonl\njudges:{judges}\n{more}", "utf-8")
    return path


def says(body: dict[str, Any], n: int) -> str:
    """Even items are good (3), odd ones bad (1): what the labels say too."""
    text = json.dumps(body)
    found = int(re.findall(r"item(\d+)", text)[-1])
    if "Please write" in text:
        return f"{body['model']} answers item{found}"
    return json.dumps({"score": 1 if found % 2 else 3})


Call = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    def go(*args: object) -> tuple[int, dict[str, Any]]:
        capsys.readouterr()
        code = main([*map(str, args), "--json"])
        return code, json.loads(capsys.readouterr().out)

    return go


JUDGING = "rubrics: [rubrics/mini.yaml]\nanalyses:\n  - triage: {recall: 0.9}\n  - agree: {replicates: 20}\n"


def single(folder: Path, provider: Provider, out: Path) -> list[object]:
    return [
        "judge", folder / "d.jsonl", "--rubric", folder / "rubrics/mini.yaml", "--model", "openai/fake",
        "--api-base", provider.base, "--out", out,
    ]  # fmt: skip


def test_a_study_then_the_single_command_asks_nothing_new(provider: Provider, tmp_path: Path, call: Call) -> None:
    provider.script = says
    path, out = study(tmp_path, provider, JUDGING), tmp_path / "run"
    code, done = call("run", path, "--out", out)
    assert code == 0
    assert [(one["judgements"], one["ok"], one["calls"]) for one in done["judging"]] == [(4, 4, 4)]
    # The judge says what the labels say: it ranks every incomplete answer (raw 1) under every complete one (raw 3).
    row = done["analyses"][0]["result"]["rows"][0]
    assert (row["n"], row["n_incomplete"], row["auc"], row["threshold"]) == (4, 2, 1.0, 1.0)
    assert done["analyses"][1]["result"]["signature"].startswith("judgekit")
    code, again = call(*single(tmp_path, provider, out))
    assert (code, again["calls"], again["reused"]) == (0, 0, 4)
    assert provider.count == 4
    assert (out / "study.yaml").read_bytes() == path.read_bytes()


def test_the_single_command_then_a_study_asks_nothing_new(provider: Provider, tmp_path: Path, call: Call) -> None:
    provider.script = says
    path, out = study(tmp_path, provider, JUDGING), tmp_path / "run"
    code, first = call(*single(tmp_path, provider, out))
    assert (code, first["calls"]) == (0, 4)
    assert call("run", path, "--out", out, "--plan")[1]["calls"] == 0
    code, done = call("run", path, "--out", out)
    assert (code, done["judging"][0]["calls"], done["judging"][0]["reused"]) == (0, 0, 4)
    assert provider.count == 4
    assert done["analyses"][0]["result"] == call("triage", out, "--recall", "0.9")[1]


def test_a_plan_asks_nothing_and_counts_what_the_run_then_asks(provider: Provider, tmp_path: Path, call: Call) -> None:
    provider.script = says
    more = "samples: 2\nrubrics: [rubrics/mini.yaml]\nanswers: {name: written, writers: rubrics/writer.yaml}\n"
    path, out = study(tmp_path, provider, more, "openai/a openai/b"), tmp_path / "run"
    code, plan = call("run", path, "--out", out, "--plan")
    # 4 records x 1 writer x 2 models = 8 answers; 8 answers x 2 judges x 2 samples = 32 judgements.
    assert (code, plan["calls"], provider.count) == (0, 8 + 32, 0)
    assert not out.exists()
    code, done = call("run", path, "--out", out)
    assert [one["calls"] for one in done["judging"]] == [8, 32]
    assert done["answers"] == [
        {"dataset": "written", "file": str(out / "written.jsonl"), "written": 8, "truncated": 0, "absent": 0}
    ]
    ids = [json.loads(line)["id"] for line in (out / "written.jsonl").read_text("utf-8").splitlines()]
    assert len(set(ids)) == 8
    assert ids[0].startswith("000~writer~openai/a")
    assert call("run", path, "--out", out, "--plan")[1]["calls"] == 0
    assert [one["calls"] for one in call("run", path, "--out", out)[1]["judging"]] == [0, 0]


def test_a_stop_at_the_budget_skips_the_rest_and_the_same_command_goes_on(
    provider: Provider, tmp_path: Path, call: Call
) -> None:
    provider.script = says
    # A million dollars a million tokens: each call costs some tens of dollars, so the budget lasts for a few of them.
    more = JUDGING + "running: {price_in: 1000000, price_out: 1000000, concurrency: 1, max_cost: 200}\n"
    path, out = study(tmp_path, provider, more), tmp_path / "run"
    code, done = call("run", path, "--out", out)
    assert (code, done["stopped"], done["analyses"]) == (4, "budget", [])
    before = provider.count
    assert before < 4
    code, done = call("run", path, "--out", out, "--max-cost", "100000")
    assert (code, done["stopped"], provider.count) == (0, None, 4)
    assert done["judging"][0]["calls"] == 4 - before


def test_an_analysis_that_cannot_be_computed_does_not_take_the_others_along(
    provider: Provider, tmp_path: Path, call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    provider.script = says
    more = "rubrics: [rubrics/mini.yaml]\nanalyses:\n  - strata: {by: nowhere, replicates: 10}\n  - cost: {replicates: 10}\n"
    path = study(tmp_path, provider, more)
    code, done = call("run", path, "--out", tmp_path / "run")
    assert code == 1
    assert "nowhere" in done["analyses"][0]["error"]["message"]
    assert done["analyses"][1]["result"]["signature"]
    assert main(["run", str(path), "--out", str(tmp_path / "run")]) == 1
    out = capsys.readouterr().out
    assert "strata could not be computed" in out
    assert "judgekit triage" in out.split("look at next:")[1]


def test_unscored_judgements_give_exit_3_and_where_to_look(
    provider: Provider, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    provider.script = lambda body, n: Say(refusal="no") if "item1" in json.dumps(body) else says(body, n)
    path = study(tmp_path, provider, JUDGING)
    assert main(["run", str(path), "--out", str(tmp_path / "run")]) == 3
    out = capsys.readouterr().out
    assert "judgekit data export" in out.split("look at next:")[1]


def test_metrics_are_measured_where_they_are_wanted(provider: Provider, tmp_path: Path, call: Call) -> None:
    path = study(tmp_path, provider, "metrics: token_f1\n")
    code, done = call("run", path, "--out", tmp_path / "run")
    assert code == 0
    # No record has a reference, so nothing can be measured, and that is said and counted.
    assert [(row["metric"].split("(")[0], row["measured"], row["mean"]) for row in done["metrics"]] == [
        ("token_f1", 0, None)
    ]
    assert sum(done["metrics"][0]["without_value"].values()) == 4
    assert len(open_run(tmp_path / "run").measurements) == 4


def test_models_of_the_command_line_stand_in_for_the_study_s_own(
    tmp_path: Path, call: Call, provider: Provider
) -> None:
    path = study(tmp_path, provider, "rubrics: [{rubric: rubrics/mini.yaml, judges: [openai/fake]}]\n")
    _, plan = call("run", path, "--out", tmp_path / "run", "--plan", "--model", "openai/nobody-prices-this")
    assert plan["unknown_price"] == ["openai/nobody-prices-this"]


STUDIES = sorted((Path(__file__).resolve().parents[2] / "docs" / "studies").glob("*.yaml"))


def test_the_four_papers_have_a_study() -> None:
    assert [path.name[:3] for path in STUDIES] == ["000", "001", "002", "003"]


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_each_shipped_study_lints_and_plans(
    path: Path, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JUDGEKIT_CACHE", str(tmp_path / "cache"))  # neither needs a model's file
    monkeypatch.chdir(tmp_path)
    assert main(["run", str(path), "--lint"]) == 0
    code, plan = call("run", path, "--plan")
    # Small enough for a weak local judge on a laptop, and nothing to pay.
    assert code == 0
    assert 4 <= plan["calls"] <= 60
    assert plan["cost"] == 0.0
    assert not (tmp_path / "runs").exists()


def test_the_stability_study_runs_with_any_model(provider: Provider, tmp_path: Path, call: Call) -> None:
    path = next(path for path in STUDIES if path.name.startswith("001"))

    def script(body: dict[str, Any], n: int) -> str:
        text = json.dumps(body["messages"])
        if "rewordings" not in text:
            return '{"answer": "A"}'
        # A careful judge: a fever that was absent, and ten times the dose, are other cases.
        changed = "with fever and flank pain" in text or "200 mg" in text
        return json.dumps({"explanation": "-", "preserved": not changed})

    provider.script = script
    args = ["run", path, "--model", "openai/x", "--api-base", provider.base, "--out", tmp_path / "run"]
    code, done = call(*args)
    # The price of openai/x is unknown, so the study's own budget cannot be held: that is said before anything is asked.
    assert (code, provider.count) == (4, 0)
    assert "price" in done["error"]["message"]
    code, done = call(*args, "--allow-unknown-price")
    assert code == 0, done["error"]["message"]
    rows = done["analyses"][0]["result"]["rows"]
    # Both changed rewordings are called changed, the four others kept: AUC 1, and 2 of 6 are read.
    assert [(row["n"], row["n_incomplete"], row["auc"], row["workload"]) for row in rows] == [
        (6, 2, 1.0, pytest.approx(1 / 3))
    ]
    assert done["analyses"][1]["result"]["judges"][0]["percent"] == 1.0
