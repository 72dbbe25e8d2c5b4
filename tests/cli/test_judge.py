"""`judgekit judge` as a process: kills, Ctrl-C, two at once, the JSON contract and the exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judgekit import judge
from judgekit.cli.app import main
from judgekit.cli.judge import show_outcome
from judgekit.errors import DataError
from judgekit.judging.engine.outcome import Outcome
from judgekit.runs.store import open_run
from tests.judging.judged import MINI, by_item, item, score, write_rubric
from tests.judging.provider import Provider, Say

ROOT = Path(__file__).resolve().parents[2]
CONTRACT = [
    "run",
    "dataset",
    "judgements",
    "ok",
    "rule",
    "unscored",
    "calls",
    "reused",
    "cost",
    "cost_total",
    "stopped",
]


def write_data(folder: Path, n: int) -> Path:
    path = folder / "d.jsonl"
    lines = (
        json.dumps({"id": f"{i:03}", "question": f"question of item{i}", "response": "an answer"}) for i in range(n)
    )
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.fixture
def args(provider: Provider, tmp_path: Path) -> Callable[..., list[str]]:
    rubric = write_rubric(tmp_path / "rubrics")

    def make(n: int, *more: str) -> list[str]:
        given = ["judge", str(write_data(tmp_path, n)), "--rubric", str(rubric), "--model", "openai/fake"]
        return [*given, "--api-base", provider.base, "--out", str(tmp_path / "run"), *more]

    return make


def start(args: list[str]) -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-m", "judgekit", *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
        cwd=ROOT,
    )


def wait_for(provider: Provider, n: int) -> None:
    until = time.monotonic() + 40
    while provider.count < n:
        assert time.monotonic() < until, "the child does not ask"
        time.sleep(0.01)


def as_json(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    out = capsys.readouterr().out
    assert out.count("\n") == 1, "one object on stdout and nothing else"
    value: dict[str, Any] = json.loads(out)
    return value


def test_500_records_a_sigkill_in_the_middle_and_the_same_command_again(
    provider: Provider, tmp_path: Path, args: Callable[..., list[str]]
) -> None:
    provider.script = Say(score(2), delay=0.1)
    child = start(args(500, "--json"))
    wait_for(provider, 200)
    child.send_signal(signal.SIGKILL)
    child.communicate(timeout=20)
    time.sleep(0.3)
    before = provider.count
    stored = len(open_run(tmp_path / "run").calls)
    assert 0 < stored < 500
    assert before - stored <= 32, "every call that was answered in time is there"
    provider.script = Say(score(2))
    out, err = start(args(500, "--json")).communicate(timeout=60)
    said = json.loads(out)
    assert (said["judgements"], said["ok"], said["calls"], said["reused"]) == (500, 500, 500 - stored, stored), err
    run = open_run(tmp_path / "run")
    assert len(run.judgements) == 500
    assert run.judgements.record_id.is_unique
    assert run.calls.key.is_unique
    asked = Counter(item(body) for body in provider.bodies)
    assert set(asked) == set(range(500))
    repeated = [i for i, n in asked.items() if n > 1]
    assert max(asked.values()) <= 2
    assert len(repeated) <= 32, "at most the calls in flight are asked twice"
    assert run.commands.outcome.tolist() == [None, "done"]


def test_ctrl_c_finishes_what_is_in_flight_and_says_how_to_go_on(
    provider: Provider, tmp_path: Path, args: Callable[..., list[str]]
) -> None:
    provider.script = Say(score(2), delay=0.4)
    child = start(args(40, "--json", "--concurrency", "4"))
    wait_for(provider, 6)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=20)
    said = json.loads(out)
    assert (child.returncode, said["stopped"]) == (130, "interrupted"), err
    assert said["judgements"] == said["calls"] == provider.count == len(open_run(tmp_path / "run").judgements) < 40
    assert "the same command" in err or "in flight" in err


def test_a_second_ctrl_c_drops_what_is_in_flight(
    provider: Provider, tmp_path: Path, args: Callable[..., list[str]]
) -> None:
    provider.script = Say(score(2), delay=60)
    child = start(args(10))
    wait_for(provider, 10)
    child.send_signal(signal.SIGINT)
    time.sleep(0.3)
    began = time.monotonic()
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=15)
    assert (child.returncode, time.monotonic() - began < 8) == (130, True), err
    assert "Traceback" not in err
    assert "goes on where it stopped" in err
    assert len(open_run(tmp_path / "run").calls) == 0


def test_a_second_process_on_the_same_run_is_told_who_writes(
    provider: Provider, tmp_path: Path, args: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    provider.script = Say(score(2), delay=1.5)
    child = start(args(2))
    wait_for(provider, 1)
    assert main(args(2, "--json")) == 1
    error = as_json(capsys)["error"]
    assert f"process {child.pid} " in error["message"]
    assert len(open_run(tmp_path / "run").records) == 2, "reading is not held up"
    child.communicate(timeout=20)
    assert child.returncode == 0
    assert provider.count == 2


def test_the_json_contract_and_the_exit_codes(
    provider: Provider, tmp_path: Path, args: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    provider.script = by_item(lambda i: "?" if i == 1 else score(2))
    assert main(args(3, "--json", "--reasks", "0")) == 3
    said = as_json(capsys)
    assert list(said) == CONTRACT
    assert said["unscored"] == {"invalid": 1}
    provider.script = score(2)
    assert main(args(3, "--json", "--price-in", "1", "--price-out", "1")) == 0
    said = as_json(capsys)
    assert (said["judgements"], said["ok"], said["calls"], said["reused"], said["unscored"]) == (3, 3, 1, 2, {})
    provider.script = Say("no", status=401)
    assert main(args(9, "--json")) == 5
    said = as_json(capsys)
    assert (said["judgements"], said["stopped"], said["error"]["kind"]) == (3, None, "provider")
    provider.script = Say(score(2), usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2})
    more = ["--price-in", "0", "--price-out", "1000000", "--max-cost", "52.5", "--reasks", "0"]
    assert main(args(9, "--json", *more)) == 4
    said = as_json(capsys)
    assert (said["stopped"], said["judgements"], said["cost"]) == ("budget", 6, 3.0)
    assert main(args(9, "--json", "--max-cost", "1")) == 4
    assert as_json(capsys)["error"]["kind"] == "budget"
    assert main([*args(9, "--json"), "--rubric", "no-such-rubric"]) == 1
    assert as_json(capsys)["error"]["message"]
    assert main(["judge", "--json"]) == 2
    assert as_json(capsys)["error"]["kind"] == "usage"


def test_the_plan_asks_nothing_and_writes_nothing(
    provider: Provider, tmp_path: Path, args: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(args(3, "--plan", "--json")) == 0
    said = as_json(capsys)
    assert list(said) == ["calls", "reused", "tokens_in", "tokens_out_max", "cost", "unknown_price"]
    assert (said["calls"], said["reused"], said["tokens_out_max"], said["cost"]) == (3, 0, 150, None)
    assert said["unknown_price"] == ["openai/fake"]
    assert said["tokens_in"] > 0
    assert not (tmp_path / "run").exists()
    assert provider.count == 0
    provider.script = score(2)
    main(args(2, "--json"))
    capsys.readouterr()
    assert main(args(3, "--plan", "--json", "--price-in", "0", "--price-out", "1000000")) == 0
    said = as_json(capsys)
    assert (said["calls"], said["reused"], said["cost"], said["unknown_price"]) == (1, 2, 50.0, [])


def test_a_person_reads_a_table_where_the_run_is_and_what_to_type_next(
    provider: Provider, tmp_path: Path, args: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    provider.script = by_item(lambda i: "?" if i == 1 else score(2))
    given = args(3, "--reasks", "0")
    label = ', "labels": [{"construct": "completeness", "complete": true}]}'
    data = Path(given[1])
    data.write_text(data.read_text("utf-8").replace("}", label, 1), "utf-8")
    assert main(given) == 3
    said = capsys.readouterr()
    assert "invalid 1" in said.out
    assert "cost unknown" in said.out
    assert f"run: {tmp_path / 'run'}" in said.out
    assert "next: the same command tries invalid again; judgekit triage" in said.out
    assert "done" in said.err


def test_why_judgements_are_unscored_stands_under_the_table_commonest_first(
    provider: Provider, tmp_path: Path, args: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    given = args(1)
    rows = [
        {"id": "a", "question": "q", "answer": "x"},
        {"id": "b", "question": "q", "answer": "y"},
        {"id": "c", "response": "z"},
    ]
    table = tmp_path / "mine.csv"
    lines = [f"{row['id']},{row.get('question', '')},{row.get('answer', '')}" for row in rows]
    table.write_text("\n".join(["id,question,answer", *lines]) + "\n", "utf-8")
    given[1] = str(table)
    assert main(given) == 3
    said = capsys.readouterr().out
    # a and b lack the response; c, an empty row, lacks both
    assert "skipped 3" in said
    assert said.index("skipped 2: the record lacks response") < said.index(
        "skipped 1: the record lacks question, response"
    )
    assert "judgekit report" in said  # nothing is labelled: triage would have nothing to say


def test_a_limit_and_a_name_hold(
    provider: Provider, tmp_path: Path, args: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    provider.script = score(2)
    assert main(args(9, "--json", "--limit", "2", "--dataset", "other")) == 0
    said = as_json(capsys)
    assert (said["dataset"], said["judgements"]) == ("other", 2)


def test_a_folder_that_cannot_be_made_is_a_sentence(
    tmp_path: Path, args: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("x")
    given = args(1, "--json")
    given[given.index("--out") + 1] = str(tmp_path / "file" / "run")
    assert main(given) == 1
    assert "--out" in as_json(capsys)["error"]["mend"]


def test_the_threshold_in_the_file_is_what_the_run_says(
    provider: Provider, tmp_path: Path, args: Callable[..., list[str]]
) -> None:
    provider.script = score(2)
    main(args(2, "--json"))
    write_rubric(tmp_path / "rubrics", MINI.replace(">= 2", ">= 3"))
    main(args(2, "--json"))
    assert open_run(tmp_path / "run").latest().complete.tolist() == [False, False]
    assert provider.count == 2


def kqa_like(folder: Path, *, labels: bool) -> Path:
    """A file with the columns of K-QA; without `labels` no physician said anything."""
    words = {"labels": ["Entailment", "Entailment", "Neutral"] if labels else None}
    rows = [
        {
            "id": f"k{i}", "qid": f"q{i}", "question": f"question of item{i}", "response": "an answer",
            "criteria": [{"text": "Says so.", "kind": "must_have", **words}],
        }
        for i in range(2)
    ]  # fmt: skip
    path = folder / "like-kqa.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_a_card_whose_labels_no_record_has_is_refused_before_anything_is_asked(
    provider: Provider, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    provider.script = score(2)
    rubric = write_rubric(tmp_path / "rubrics")
    more = [
        "--rubric",
        str(rubric),
        "--model",
        "openai/fake",
        "--api-base",
        provider.base,
        "--out",
        str(tmp_path / "r"),
    ]
    bare = ["judge", str(kqa_like(tmp_path, labels=False)), "--card", "kqa", *more]
    assert main([*bare, "--json", "--limit", "1"]) == 1
    error = as_json(capsys)["error"]
    assert (error["kind"], error["field"], error["file"]) == ("data", "card", str(tmp_path / "like-kqa.jsonl"))
    assert "none of the 2 records" in error["message"]
    assert error["mend"].startswith("leave --card out, or")
    assert provider.count == 0
    assert main([*bare, "--plan"]) == 0
    assert "found nothing in any row for" in capsys.readouterr().err
    with pytest.raises(DataError, match="none of the 2 records"):
        judge(
            tmp_path / "like-kqa.jsonl",
            card="kqa",
            rubric=rubric,
            model="openai/fake",
            api_base=provider.base,
            quiet=True,
        )
    assert provider.count == 0
    # the same columns with labels are judged
    assert main(["judge", str(kqa_like(tmp_path, labels=True)), "--card", "kqa", *more]) == 0
    assert provider.count == 2


def test_a_missing_key_is_no_call(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    rubric = write_rubric(tmp_path / "rubrics")
    args = ["judge", str(write_data(tmp_path, 2)), "--rubric", str(rubric), "--model", "anthropic/claude-sonnet-4-5"]
    assert main([*args, "--out", str(tmp_path / "run"), "--json"]) == 5
    said = as_json(capsys)
    assert said["error"]["mend"] == "set ANTHROPIC_API_KEY in the environment"
    assert (said["calls"], said["reused"], said["cost"], said["judgements"]) == (0, 0, 0.0, 0)


def test_a_command_that_goes_on_by_itself_names_no_next_step(capsys: pytest.CaptureFixture[str]) -> None:
    # The demo prints the triage right below, so it must not send the reader off to type it.
    done = Outcome("run", "d", 1, 1, 0, {}, 1, 0, 0.0, 0.0, None)
    show_outcome(done, False, then="")
    assert "next:" not in capsys.readouterr().out
    show_outcome(done, False)
    assert "next: judgekit triage run --recall 0.9" in capsys.readouterr().out
