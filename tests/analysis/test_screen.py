"""The screen from a table: made, saved, applied to new records, and refused on its own."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from judgekit.analysis.screen import read_screen, screen
from judgekit.analysis.triage import triage
from judgekit.cli.app import main
from judgekit.errors import InputError, StatisticsError, UsageError


def table(path: Path, n: int, seed: int, prefix: str, signal: float = 1.5) -> Path:
    rng = np.random.default_rng(seed)
    bad = rng.random(n) < 0.4
    one, two = rng.normal(size=n) - signal * bad, rng.normal(size=n) + signal * bad  # `two`: higher is worse
    lines = ["id,incomplete,one,two,topic"]
    lines += [
        f"{prefix}{i},{int(b)},{x:.4f},{y:.4f},{prefix}q{i // 2}"
        for i, (b, x, y) in enumerate(zip(bad, one, two, strict=True))
    ]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = table(tmp_path / "train.csv", 160, 1, "a")
    screen(path, score=["one", "two"], cluster="topic", worse=["two"], repeats=30, title="both").screen.save(
        tmp_path / "s.json"
    )
    return tmp_path / "s.json"


def test_a_screen_beside_its_parts(tmp_path: Path) -> None:
    path = table(tmp_path / "train.csv", 160, 1, "a")
    found = screen(path, score=["one", "two"], cluster="topic", worse=["two"], repeats=30).screen
    assert found.result is not None
    fit = found.result.fit
    assert fit is not None
    assert found.model.kind == "ridge logistic"
    assert fit.auc is not None
    assert fit.auc > max(p for p in fit.parts if p is not None)
    assert all(weight > 0 for weight in found.model.weight)  # both parts turned so that lower is worse
    text = found.text()
    for piece in (
        "the screen, cross-fitted",
        "best part, inside folds",
        "refit on all of these records",
        "replicates:30|seed:0",
    ):
        assert piece in " ".join(text.split())


def test_few_records_are_described_without_weights(tmp_path: Path) -> None:
    found = screen(
        table(tmp_path / "t.csv", 40, 1, "a"), score=["one", "two"], cluster="topic", worse=["two"], repeats=20
    ).screen
    assert (found.model.kind, found.descriptive, found.model.weight) == ("equal-weight z", True, (0.5, 0.5))
    assert "descriptive" in found.text()


def test_saved_read_and_applied_to_new_records(saved: Path, tmp_path: Path) -> None:
    body = json.loads(saved.read_text("utf-8"))
    assert body["judgekit_screen"] == 1
    assert len(body["made_from"]["rows"]) == body["made_from"]["n"] == 160
    assert "\n" in saved.read_text("utf-8")  # readable
    assert read_screen(saved).digest == read_screen(saved).digest
    fresh = table(tmp_path / "new.csv", 120, 2, "b")
    row = triage(fresh, screen=saved, score=["one", "two"], cluster="topic").to_json()["rows"][0]
    assert (row["judge"], row["rubric"], row["n"], row["fingerprint"]) == (
        "screen both",
        None,
        120,
        read_screen(saved).digest,
    )
    alone = [r["auc"] for r in triage(fresh, score=["one", "two"], cluster="topic").to_json()["rows"]]
    assert row["auc"] > max(alone[0], 1 - alone[1])


def test_certified_on_records_that_it_never_saw(saved: Path, tmp_path: Path) -> None:
    fresh = table(tmp_path / "new.csv", 400, 2, "b", 2.5)
    found = triage(fresh, screen=saved, score=["one", "two"], cluster="topic", certify="0.95").to_json()["rows"][0][
        "certified"
    ]
    assert (found["judges"], found["read_everything"]) == (1, False)


def test_refused_on_the_records_that_made_it(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(StatisticsError, match="160 of these records made the screen 'both'"):
        triage(tmp_path / "train.csv", screen=saved, score=["one", "two"], cluster="topic")


def test_refused_without_its_parts_or_with_others(saved: Path, tmp_path: Path) -> None:
    fresh = table(tmp_path / "new.csv", 50, 2, "b")
    with pytest.raises(StatisticsError, match="needs two, which is not here"):
        triage(fresh, screen=saved, score="one", cluster="topic")
    with pytest.raises(UsageError, match="direction of its own"):
        triage(fresh, screen=saved, score=["one", "two"], cluster="topic", higher_is_worse=True)
    body = json.loads(saved.read_text("utf-8"))
    body["parts"][0]["fingerprint"] = "abc"
    saved.write_text(json.dumps(body), "utf-8")
    with pytest.raises(StatisticsError, match="another rubric version"):
        triage(fresh, screen=saved, score=["one", "two"], cluster="topic")


@pytest.mark.parametrize("text", ["{}", "no", '{"judgekit_screen": 1}', "[]"])
def test_another_file_is_no_screen(tmp_path: Path, text: str) -> None:
    (tmp_path / "s.json").write_text(text, "utf-8")
    with pytest.raises(InputError, match="screen"):
        read_screen(tmp_path / "s.json")


def test_one_part_is_no_screen(tmp_path: Path) -> None:
    with pytest.raises(StatisticsError, match="two or more scores"):
        screen(table(tmp_path / "t.csv", 40, 1, "a"), score="one", cluster="topic")


def test_a_missing_part_makes_the_answer_unscored(saved: Path, tmp_path: Path) -> None:
    fresh = table(tmp_path / "new.csv", 50, 2, "b")
    lines = fresh.read_text("utf-8").splitlines()
    name, label, _, two, topic = lines[1].split(",")
    lines[1] = ",".join([name, label, "", two, topic])
    fresh.write_text("\n".join(lines) + "\n", "utf-8")
    row = triage(fresh, screen=saved, score=["one", "two"], cluster="topic").to_json()["rows"][0]
    assert (row["n"], row["n_unscored"]) == (49, 1)
    assert any("1 a part is missing" in note for note in row["notes"])


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = table(tmp_path / "train.csv", 60, 1, "a")
    words = [
        "screen",
        str(path),
        "--score",
        "one",
        "--score",
        "two",
        "--worse",
        "two",
        "--cluster",
        "topic",
        "--repeats",
        "20",
    ]
    assert main([*words, "--out", str(tmp_path / "s.json"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads((tmp_path / "s.json").read_text("utf-8"))
    assert main([*words[:4], "--cluster", "topic"]) == 1
