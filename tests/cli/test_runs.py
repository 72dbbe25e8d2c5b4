"""`judgekit runs`: list, log, check, drop."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judgekit.cli.app import main
from judgekit.runs.store import RunStore, open_run

Say = Callable[..., tuple[int, str]]


@pytest.fixture
def say(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Say:
    """A run of two records by gpt-x and by gtp-x, the same judge mistyped, which never answered."""
    monkeypatch.chdir(tmp_path)
    rows = [{"id": str(i), "question": "q", "response": "r"} for i in range(2)]
    Path("d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = [
        {"record_id": str(i), "rubric": "general-likert", "judge": judge, "verdict": verdict}
        for judge, verdict in (("gpt-x", {"explanation": "x", "score": 3}), ("gtp-x", None))
        for i in range(2)
    ]
    Path("v.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    def go(*words: str) -> tuple[int, str]:
        code = main(list(words))
        said = capsys.readouterr()
        return code, said.out + said.err

    go("judge", "d.jsonl", "--rubric", "general-likert", "--model", "replay/v.jsonl", "--out", "runs/one")
    return go


def test_list_says_what_runs_hold_and_names_a_broken_one(say: Say) -> None:
    Path("runs/empty").mkdir()
    Path("runs/broken").mkdir()
    Path("runs/broken/run.sqlite").write_bytes(b"no database" * 100)
    code, text = say("runs", "list", "--json")
    rows = {row["run"]: row for row in json.loads(text)["runs"]}
    assert code == 0
    assert set(rows) == {"runs/one", "runs/broken"}
    assert "runs check runs/broken" in rows["runs/broken"]["error"]
    one = rows["runs/one"]
    assert (one["records"], one["judgements"], one["unscored"], one["judges"]) == (2, 4, 2, ["gpt-x", "gtp-x"])
    assert one["last"]["outcome"] == "done"
    code, text = say("runs", "list")
    assert "4 judgements, 2 of them unscored" in text
    assert say("runs", "list", "nowhere")[0] == 1


def test_log_says_who_when_what_with_which_versions_and_fingerprints(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    code, text = say("runs", "log", "runs/one", "--json")
    row = json.loads(text)["commands"][0]
    about = row["about"]
    assert code == 0
    assert row["outcome"] == "done"
    assert about["user"]
    assert about["host"] == os.uname().nodename
    assert about["versions"]["python"].startswith("3.")
    rubric = open_run("runs/one").rubrics.iloc[0]
    assert about["rubrics"] == [{"name": "general-likert", "ask": rubric.ask, "score": rubric.score_fp}]
    assert about["data"] == [{"name": "d", "file": "d.jsonl", "records": 2}]
    text = say("runs", "log", "runs/one")[1]
    assert f"{about['user']} on {about['host']}: done" in text
    assert f"ask {rubric.ask[:12]}" in text


def test_check_and_repair(say: Say) -> None:
    assert say("runs", "check", "runs/one") == (0, say("runs", "check", "runs/one")[1])
    con = sqlite3.connect("runs/one/run.sqlite")
    con.execute("UPDATE judgements SET flags = '[broken' WHERE judge = 'gpt-x' AND record_id = '1'")
    con.commit()
    con.close()
    code, text = say("triage", "runs/one")
    assert code == 1
    assert "table judgements" in text
    assert "record_id '1'" in text
    code, text = say("runs", "check", "runs/one")
    assert code == 1
    assert "judgements    3 sound, 1 damaged" in text
    assert "--repair" in text
    code, text = say("runs", "check", "runs/one", "--repair", "--json")
    assert code == 0
    assert json.loads(text)["damaged_file"] == "runs/one/run.sqlite.damaged"
    assert say("runs", "check", "runs/one")[0] == 0
    # The same command again brings back what was lost.
    assert (
        say("judge", "d.jsonl", "--rubric", "general-likert", "--model", "replay/v.jsonl", "--out", "runs/one")[0] == 3
    )
    assert len(open_run("runs/one").judgements) == 4


def test_drop_asks_and_takes_out_one_judge_and_no_call(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = len(open_run("runs/one").calls)
    monkeypatch.setattr("click.confirm", lambda *_: False)
    code, text = say("runs", "drop", "runs/one", "--judge", "gtp-x")
    assert code == 1
    assert "gtp-x: 2 judgements, 0 of them scored" in text
    assert len(open_run("runs/one").judgements) == 4
    code, text = say("runs", "drop", "runs/one", "--judge", "gtp", "--yes")
    assert code == 1
    assert "did you mean 'gtp-x'" in text
    assert say("runs", "drop", "runs/one", "--judge", "gtp-x", "--json")[0] == 2, "--json asks nothing"
    code, text = say("runs", "drop", "runs/one", "--judge", "gtp-x", "--yes", "--json")
    assert json.loads(text)["dropped"] == {"gtp-x": 2}
    run = open_run("runs/one")
    assert set(run.judgements.judge) == set(run.latest().judge) == {"gpt-x"}
    assert len(run.calls) == calls
    last: Any = run.commands.iloc[-1]
    assert last.about["dropped"] == {"gtp-x": 2}
    assert last.outcome == "done"


def test_passwords_in_an_address_are_not_in_the_log(tmp_path: Path) -> None:
    with RunStore(tmp_path) as store:
        store.begin_command(["judgekit", "--api-base", "https://me:hunter2@host/v1"], "0", {"judges": []})
    assert "hunter2" not in str(open_run(tmp_path).commands.to_dict("records"))
