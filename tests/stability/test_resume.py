"""Killed at any stage and started again: no call is repeated but those in flight, and everything comes to the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from judgekit.cli.app import main
from judgekit.report.model import Figure, Grid, Panel
from judgekit.report.write import make_context, sections, write_report
from judgekit.stability.ask import ask_by_choice
from judgekit.stability.make import make_study
from judgekit.stability.scores import score_study
from judgekit.stability.study import load_study
from judgekit.stability.verify import verify_study
from tests.judging.provider import Provider, Say
from tests.stability.script import Script, questions, writer
from tests.stability.test_judges import data, steady

ROOT = Path(__file__).resolve().parents[2]
IN_FLIGHT = 4


def slowly(script: Callable[[dict[str, Any], int], Any]) -> Callable[[dict[str, Any], int], Say]:
    def told(body: dict[str, Any], n: int) -> Say:
        said = script(body, n)
        made = said if isinstance(said, Say) else Say(said)
        made.delay = 0.15
        return made

    return told


def killed_and_resumed(provider: Provider, script: Any, args: Sequence[object], at: int) -> Counter[str]:
    """Kill the command with SIGKILL at its request number `at`, then run it to its end; how often each request was sent."""
    words = [*map(str, args), "--api-base", provider.base, "--concurrency", str(IN_FLIGHT)]
    provider.reset(slowly(script))
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    child = subprocess.Popen(
        [sys.executable, "-m", "judgekit", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env, cwd=ROOT
    )  # fmt: skip
    until = time.monotonic() + 60
    while provider.count < at:
        assert time.monotonic() < until, "the child does not ask"
        assert child.poll() is None, "the child ended before it was killed"
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait(20)
    time.sleep(0.3)
    provider.script = script
    assert main(words) == 0
    asked = Counter(json.dumps([body["model"], body["messages"], body.get("seed")]) for body in provider.bodies)
    before = provider.count
    assert main(words) == 0
    assert provider.count == before, "a finished stage asks nothing"
    return asked


def repeated(asked: Counter[str], each: int = 1) -> int:
    return sum(max(0, n - each) for n in asked.values())


@pytest.fixture
def made(provider: Provider, tmp_path: Path) -> Path:
    provider.script = Script()
    make_study(questions(3), writer(provider), tmp_path / "s", ner=None, quiet=True)
    return tmp_path / "s"


def test_verify_killed_in_the_middle(provider: Provider, made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    args = ["stability", "verify", made, "--nli", "rules", "--model", "openai/judge-a", "--model", "openai/judge-b"]
    asked = killed_and_resumed(provider, Script(), args, 14)
    # Two judges read six rewordings of three questions; at most the calls in flight (of two judges) go out again.
    assert len(asked) == 2 * 6 * 3
    assert repeated(asked) <= 2 * IN_FLIGHT
    study = load_study(made)
    rows = {row["stage"]: row for row in study.funnel()}
    assert rows["judges"]["reasons"] == {"a judge said NO; not offered again": 3}
    assert len(study.final()) == 5 * 3


def test_ask_killed_in_the_middle(provider: Provider, made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    verify_study(made, ["rules"], quiet=True)
    args = ["stability", "ask", made, "--model", "openai/fickle", "--no-logprobs"]
    asked = killed_and_resumed(provider, Script(), args, 9)
    # Three questions and six rewordings of each.
    assert len(asked) == 3 * 7
    assert repeated(asked) <= IN_FLIGHT
    # One of six rewordings of each question flips.
    assert score_study(made, replicates=0, permutations=10).models[0]["mvs"] == pytest.approx(1 / 6)


def test_judge_killed_in_the_middle(provider: Provider, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(record.to_dict()) + "\n" for record in data()))
    args = [
        "stability", "judge", "general-likert", path, "--model", "openai/judge", "--out", tmp_path / "r", "--same", "2",
        "--way", "words", "--way", "length", "--join", "majority", "--replicates", "0", "--json",
    ]  # fmt: skip
    asked = killed_and_resumed(provider, steady, args, 20)
    # Eight answers: twice at the same wording (two samples of one request), once in other words, once padded.
    assert len(asked) == 8 * 3
    assert sum(asked.values()) - 8 * 4 <= IN_FLIGHT
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert first["calls"] + first["reused"] == 8 * 4
    assert (second["calls"], second["rows"]) == (0, first["rows"])
    assert all(row["scored"] == 8 for row in first["rows"])
    panel = next(one.panel for one in sections(make_context(tmp_path / "r")) if one.name == "stability")
    assert isinstance(panel, Panel), panel
    table = next(block for block in panel.blocks if isinstance(block, Grid))
    assert [row[0] for row in table.rows] == ["same wording", "words", "length"]
    assert [row[2] for row in table.rows] == [8, 8, 8]


def test_the_report_shows_a_real_study(provider: Provider, made: Path) -> None:
    judges = [writer(provider, "judge-a"), writer(provider, "judge-b")]
    verify_study(made, ["rules"], judges, quiet=True)
    early = next(one.panel for one in sections(make_context(made)) if one.name == "stability")
    assert isinstance(early, Panel), early
    assert "no model was asked about these questions yet (judgekit stability ask)" in str(early.blocks)
    for name in ("steady", "fickle"):
        ask_by_choice(made, writer(provider, name), quiet=True, logprobs=False)
    panel = next(one.panel for one in sections(make_context(made)) if one.name == "stability")
    assert isinstance(panel, Panel), panel
    grids = {block.name: block for block in panel.blocks if isinstance(block, Grid)}
    grids |= {block.name: block.data for block in panel.blocks if isinstance(block, Figure)}
    figures = {block.name: block for block in panel.blocks if isinstance(block, Figure)}
    funnel = load_study(made).funnel()
    assert [row[:4] for row in grids["stability-funnel"].rows] == [
        [row["stage"], row["entered"], row["kept"], row["dropped"]] for row in funnel
    ]
    assert funnel[0]["entered"] == 30
    assert funnel[-1]["kept"] == 15
    # The steady model never changes; the fickle one at one of the five rewordings left of each question.
    drawn = {row[0].split("/")[1].split("(")[0]: row for row in figures["stability-mvs"].data.rows}
    assert drawn["steady"][4] == 0.0
    assert drawn["fickle"][4] == pytest.approx(1 / 5)
    assert figures["stability-wci-rarefied"].data.rows[0][1] == 3
    assert {"stability-kinds", "stability-comparisons"} <= set(grids)
    page = write_report(made, made / "report.html").read_text("utf-8")
    assert "From wanted to verified variants" in page
    assert "NaN" not in page.split("<script")[0]
