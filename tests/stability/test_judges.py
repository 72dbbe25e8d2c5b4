"""Judges under rewording, over real HTTP: noise is subtracted, nothing is asked twice, a card comes out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from judgekit.data import RecordSet
from judgekit.errors import InputError
from judgekit.judging.engine.units import Options
from judgekit.judging.provider.types import JudgeSpec
from judgekit.records import Label, Record
from judgekit.stability.card import card_html, card_markdown, card_sections
from judgekit.stability.judges import judge_stability
from tests.judging.judged import score
from tests.judging.provider import Provider, Say

N = 8


def data() -> RecordSet:
    def labels(i: int) -> tuple[Label, ...]:
        return tuple(Label(rater=name, complete=i >= 4) for name in ("r1", "r2"))

    return RecordSet(
        [
            Record(id=f"a{i}", question=f"question item{i}?", response=f"answer item{i}", labels=labels(i))
            for i in range(N)
        ],
        name="answers",
    )


def told(body: dict[str, Any]) -> tuple[int, str, str]:
    system, user = body["messages"][0]["content"], body["messages"][-1]["content"]
    return int(re.findall(r"item(\d+)", user)[-1]), system, user


def steady(body: dict[str, Any], n: int) -> str:
    """Levels 1 and 3 by the record alone, but 1 wherever the levels' names are neutral and the record is 7; padding adds a level."""
    item, system, user = told(body)
    level = 1 if item < 4 else 3
    if "(level 1)" in system and item == 7:
        level = 1
    if "Thank you for your question." in user and item == 0:
        level = 2
    return score_likert(level)


def score_likert(level: int) -> str:
    return score(level)[:-1] + ', "explanation": ""}'


def spec(provider: Provider) -> JudgeSpec:
    return JudgeSpec("openai/judge", {}, provider.base)


WAYS = ("words", "label-names", "order-examples", "order-criteria", "length")


def test_flips_by_wording_are_measured_and_nothing_is_asked_twice(provider: Provider, tmp_path: Path) -> None:
    provider.script = steady
    found = judge_stability(
        "general-likert",
        data(),
        spec(provider),
        tmp_path / "r",
        ways=WAYS,
        samples=2,
        join="majority",
        replicates=100,
        quiet=True,
    )
    # Two samples at the same wording, words, label-names and length once each.
    assert provider.count == N * (2 + 3)
    rows = {row["wording"]: row for row in found.rows}
    assert rows["same wording"]["level_mvs"] == 0.0
    assert rows["words"]["level_mvs"] == 0.0
    # One of eight records changes from 3 to 1: MVS .125, shift -2/8, and the verdict (complete at 2) flips with it.
    assert rows["label-names"]["level_mvs"] == pytest.approx(1 / 8)
    assert rows["label-names"]["verdict_excess"] == pytest.approx(1 / 8)
    assert rows["label-names"]["shift"] == pytest.approx(-0.25)
    # AUC: 4 incomplete at 1; complete at 3, 3, 3 and now 1: 12 pairs won, 4 tied of 16: (12 + 2)/16 = .875, down from 1.
    assert rows["label-names"]["auc"] == pytest.approx(0.875)
    assert rows["label-names"]["auc_change"] == pytest.approx(-0.125)
    # All four caught: reading scores <= 1 means 4 of 8 at first, 5 of 8 then.
    assert rows["label-names"]["workload_change"] == pytest.approx(1 / 8)
    # Padding moved record 0 from 1 to 2.
    assert rows["length"]["shift"] == pytest.approx(1 / 8)
    assert set(found.skipped) == {"order-examples", "order-criteria"}
    # Over the two rewordings: (0 + 1)/2 for record 7, 0 elsewhere: 1/16.
    assert found.overall["level_mvs"] == pytest.approx(1 / 16)
    provider.reset()
    judge_stability(
        "general-likert",
        data(),
        spec(provider),
        tmp_path / "r",
        ways=WAYS,
        samples=2,
        join="majority",
        replicates=100,
        quiet=True,
    )
    assert provider.count == 0


def test_a_judge_that_flips_by_itself_is_not_blamed_on_the_wording(provider: Provider, tmp_path: Path) -> None:
    # Each reply is the next of 1, 3, 1, 3, ...: by arrival, so neither record nor wording decides.
    from judgekit.judging.engine.units import Options

    provider.script = lambda body, n: score_likert(1 + 2 * (n % 2))
    found = judge_stability(
        "general-likert", data(), spec(provider), tmp_path / "r", ways=("words",), samples=2, join="majority", replicates=100,
        options=Options(concurrency=1), quiet=True,
    )  # fmt: skip
    # Samples of a record come one after the other: 1 and 3, so they always differ; against another wording half of the pairs differ.
    same, words = found.rows
    assert same["level_mvs"] == 1.0
    assert words["level_mvs"] == 0.5
    assert words["level_excess"] == -0.5


def test_without_repeated_samples_the_excess_is_not_defined(provider: Provider, tmp_path: Path) -> None:
    provider.script = steady
    found = judge_stability(
        "general-likert", data(), spec(provider), tmp_path / "r", ways=("words",), samples=1, replicates=50, quiet=True
    )
    words = found.rows[1]
    assert words["level_mvs"] == 0.0
    assert words["level_excess"] is None
    assert words["level_excess_reason"] == "the noise at the same wording is unknown"
    assert any("own noise is unknown" in note for note in found.notes)
    # Two raters and no word on how to join them: no AUC, and the reason is told.
    assert words["auc"] is None
    assert any("AUC and workload are not defined" in note for note in found.notes)


def test_a_writer_rewords_the_rubric_and_a_changed_number_is_not_taken(provider: Provider, tmp_path: Path) -> None:
    def script(body: dict[str, Any], n: int) -> str:
        text = body["messages"][-1]["content"]
        if "The piece:" not in text:
            return steady(body, n)
        piece = text.split("\n", 3)[2]
        return f"In other words: {piece} {{% raw %}}" if n % 3 == 0 else f"Put otherwise. {piece}"

    provider.script = script
    found = judge_stability(
        "general-likert", data(), spec(provider), tmp_path / "r", ways=("words",), writer=JudgeSpec("openai/writer", {}, provider.base),
        rewordings=1, samples=1, replicates=50, quiet=True,
    )  # fmt: skip
    assert "reworded-1" in {row["wording"] for row in found.rows}
    assert any(note.startswith("reworded-1: ") and "kept as they were" in note for note in found.notes)


def test_a_card_says_who_what_and_how_far(provider: Provider, tmp_path: Path) -> None:
    provider.script = steady
    found = judge_stability(
        "general-likert",
        data(),
        spec(provider),
        tmp_path / "r",
        ways=("words", "length"),
        samples=2,
        join="majority",
        replicates=50,
        quiet=True,
    )
    sections = card_sections(found, replicates=50)
    markdown, page = card_markdown(found, sections), card_html(found, sections)
    for text in (markdown, page):
        assert found.rubric.ask_fingerprint in text
        assert "fewer than 29" in text
        assert "left-out clinician" in text
        assert "Wording by wording" in text
    assert "http" not in page.replace("http://127.0.0.1", "")
    assert "<script" not in page


def test_a_writer_of_text_is_no_judge(provider: Provider, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="gives no verdict"):
        judge_stability("reword", data(), spec(provider), tmp_path / "r")


def test_a_card_of_a_run_that_broke_off_says_what_is_missing(provider: Provider, tmp_path: Path) -> None:
    # The key stops working after the sixteen samples at the same wording: noise is known, no rewording is judged.
    provider.script = lambda body, n: steady(body, n) if n < 2 * N else Say("no", status=401)
    found = judge_stability(
        "general-likert", data(), spec(provider), tmp_path / "r", ways=("words", "layout"), samples=2, join="majority",
        replicates=50, quiet=True, options=Options(concurrency=1),
    )  # fmt: skip
    assert found.spent.exit_code == 5
    assert (found.overall["level_noise"], found.overall["level_mvs"], found.overall["level_excess"]) == (
        0.0,
        None,
        None,
    )
    assert found.overall["level_excess_reason"] == found.overall["level_mvs_reason"]
    card = card_markdown(found, card_sections(found, replicates=50))
    assert "Means over 0 of 2 rewordings of the rubric" in card
    assert "noise at the same wording is unknown" not in card
    assert "16 wanted judgements are unscored or missing" in card
