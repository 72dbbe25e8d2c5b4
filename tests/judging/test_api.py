"""`judge(...)` from Python, in a script and inside a running event loop; and answers that a model writes."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import judgekit
from judgekit.cli.app import main
from judgekit.data import load_records
from judgekit.errors import InputError, ProviderError, UsageError
from tests.judging.judged import by_item, records, score, write_rubric
from tests.judging.provider import Provider, Say

ROOT = Path(__file__).resolve().parents[2]

WRITER = """
rubric: answerer
version: "1"
inputs: {required: [question]}
output: text
sampling: {max_tokens: 60}
prompt: {user: "Answer. {{ question }}"}
"""


def test_it_gives_a_run(provider: Provider, tmp_path: Path) -> None:
    provider.script = score(3)
    rubric = write_rubric(tmp_path / "rubrics")
    run = judgekit.judge(
        records(3),
        rubric=str(rubric),
        model="openai/fake",
        api_base=provider.base,
        out=tmp_path / "run",
        temperature=0.5,
    )
    assert run.judgements.raw.tolist() == [3.0] * 3
    assert set(run.judgements.judge) == {"openai/fake(temperature=0.5)"}
    assert provider.bodies[0]["temperature"] == 0.5
    assert (run.outcome.calls, run.outcome.stopped) == (3, None)


def test_it_takes_a_compiled_rubric_several_models_and_plain_dicts(provider: Provider, tmp_path: Path) -> None:
    provider.script = score(3)
    rubric = judgekit.load_rubric(str(write_rubric(tmp_path / "rubrics")))
    rows = [{"id": "001", "question": "item1", "response": "r"}]
    run = judgekit.judge(
        rows,
        rubric=[rubric],
        model=["openai/a", "openai/b"],
        api_base=provider.base,
        out=tmp_path / "run",
        dataset="mine",
    )
    assert sorted(run.judgements.judge) == ["openai/a", "openai/b"]
    assert set(run.judgements.dataset) == {"mine"}


def test_it_works_inside_a_running_loop(provider: Provider, tmp_path: Path) -> None:
    provider.script = score(3)
    rubric = write_rubric(tmp_path / "rubrics")

    async def notebook() -> int:
        run = judgekit.judge(
            records(2), rubric=str(rubric), model="openai/fake", api_base=provider.base, out=tmp_path / "run"
        )
        return len(run.judgements)

    assert asyncio.run(notebook()) == 2


def test_what_ends_the_work_is_raised_after_the_rest_was_kept(provider: Provider, tmp_path: Path) -> None:
    rubric = str(write_rubric(tmp_path / "rubrics"))
    provider.script = lambda body, n: score(3) if n < 2 else Say("bad key", status=401)

    def go(**more: object) -> judgekit.runs.store.Run:
        return judgekit.judge(
            records(9), rubric=rubric, model="openai/fake", api_base=provider.base, out=tmp_path / "run", **more
        )

    with pytest.raises(ProviderError, match="bad key"):
        go(concurrency=1)
    assert len(judgekit.open_run(tmp_path / "run").judgements) == 2
    provider.reset(Say(score(3), usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}))
    run = go(price_in=0.0, price_out=1e6, max_cost=52.0, reasks=0)
    assert (run.outcome.stopped, len(run.judgements)) == ("budget", 5)
    with pytest.raises(UsageError):
        go(samples=0)
    with pytest.raises(TypeError):
        go(nonsense=1)


@pytest.mark.parametrize("runs", ["asyncio.new_event_loop().run_until_complete", "asyncio.run"])
def test_ctrl_c_in_a_running_loop_drains_and_keeps_what_was_done(provider: Provider, tmp_path: Path, runs: str) -> None:
    # As in a notebook, and under asyncio.run, which takes the signal for itself and would only cancel a task that cannot run.
    provider.script = Say(score(3), delay=0.3)
    code = """
        import asyncio, sys
        import judgekit
        from tests.judging.judged import records

        async def notebook():
            judgekit.judge(records(40), rubric=sys.argv[1], model="openai/fake", api_base=sys.argv[2], out=sys.argv[3], concurrency=2)

        try:
            RUNS(notebook())
        except KeyboardInterrupt:
            print("interrupted")
    """
    code = code.replace("RUNS", runs)
    rubric = write_rubric(tmp_path / "rubrics")
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), str(rubric), provider.base, str(tmp_path / "run")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    until = time.monotonic() + 40
    while provider.count < 4 and time.monotonic() < until:
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=30)
    assert out == "interrupted\n", err
    run = judgekit.open_run(tmp_path / "run")
    assert len(run.judgements) == provider.count < 40
    assert run.commands.outcome.tolist() == ["interrupted"]


# answers


def write_questions(folder: Path) -> Path:
    path = folder / "q.jsonl"
    rows = [
        {
            "id": f"{i:03}",
            "question": f"item{i}",
            "response": "old",
            "labels": [{"complete": True}],
            "meta": {"topic": "t"},
        }
        for i in range(3)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_answers_become_records_and_the_same_command_goes_on(
    provider: Provider, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    writer = write_rubric(tmp_path / "rubrics", WRITER, "answerer")
    provider.script = by_item(
        lambda i: [Say("Rest."), Say("Drink and", finish_reason="length"), Say("busy", status=503)][i]
    )
    args = [
        "answer",
        str(write_questions(tmp_path)),
        "--writer",
        str(writer),
        "--model",
        "openai/fake",
        "--api-base",
        provider.base,
    ]
    args += ["--out", str(tmp_path / "a.jsonl"), "--run", str(tmp_path / "run"), "--json"]
    assert main(args) == 3
    said = json.loads(capsys.readouterr().out)
    assert (said["written"], said["truncated"], said["absent"]) == (2, 1, 1)
    answers = load_records(tmp_path / "a.jsonl")
    assert [(record.id, record.response) for record in answers] == [("000", "Rest."), ("001", "Drink and")]
    assert answers[0].labels == ()
    assert answers[0].meta == {"topic": "t", "model": "openai/fake", "writer": "answerer", "sample": 0}
    assert answers[1].meta["truncated"] is True
    provider.reset(by_item(lambda i: f"Answer {i}."))
    assert main(args) == 3, "what was cut short stays so"
    said = json.loads(capsys.readouterr().out)
    assert (said["calls"], said["written"], said["unscored"]) == (1, 3, {"truncated": 1})
    assert [record.response for record in load_records(tmp_path / "a.jsonl")] == ["Rest.", "Drink and", "Answer 2."]


def test_several_writers_are_told_apart_by_id_and_share_the_cluster(
    provider: Provider, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    writer = write_rubric(tmp_path / "rubrics", WRITER, "answerer")
    provider.script = lambda body, n: f"by {body['model']}"
    args = [
        "answer",
        str(write_questions(tmp_path)),
        "--writer",
        str(writer),
        "--model",
        "openai/a",
        "--model",
        "openai/b",
    ]
    args += [
        "--api-base",
        provider.base,
        "--out",
        str(tmp_path / "a.jsonl"),
        "--run",
        str(tmp_path / "run"),
        "--limit",
        "1",
    ]
    assert main(args) == 0
    assert "judgekit judge" in capsys.readouterr().out
    answers = load_records(tmp_path / "a.jsonl")
    assert [record.id for record in answers] == ["000~openai/a~0", "000~openai/b~0"]
    assert len({record.cluster_id for record in answers}) == 1


def test_a_rubric_that_gives_verdicts_is_no_writer(tmp_path: Path) -> None:
    rubric = write_rubric(tmp_path / "rubrics")
    args = [
        "answer",
        str(write_questions(tmp_path)),
        "--writer",
        str(rubric),
        "--model",
        "openai/a",
        "--out",
        str(tmp_path / "a.jsonl"),
    ]
    assert main(args) == 1
    with pytest.raises(InputError):
        judgekit.open_run(tmp_path / "run")
