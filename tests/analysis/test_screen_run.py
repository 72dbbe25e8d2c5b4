"""The screen on real runs: judges and local metrics combined, and refused when anything that decides a score differs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judgekit.analysis.screen import screen
from judgekit.analysis.triage import triage
from judgekit.errors import StatisticsError
from judgekit.records import Label, Record
from judgekit.runs.model import Judgement, Measured, RubricRow
from judgekit.runs.store import RunStore

RUBRIC = {
    "name": "analytical-rubric", "ask": "a" * 8, "score_fp": "s" * 8, "version": "1", "title": None, "construct": "completeness",
    "complete_when": ">= 4", "scale": None, "path": None, "resolved": {},
}  # fmt: skip


def make(
    folder: Path,
    prefix: str,
    seed: int,
    *,
    ask: str = "a" * 8,
    judge: str = "m/j",
    signature: str = "f1|v1",
    **more: Any,
) -> Path:
    rng = np.random.default_rng(seed)
    bad = np.array([i % 5 < 2 for i in range(120)])
    with RunStore(folder) as store:
        store.put_records(
            "d",
            [
                Record(
                    id=f"{prefix}{i}",
                    question=f"{prefix}-question {i // 2}",
                    response=f"answer {prefix}{i}",
                    labels=(
                        Label(rater=more.get("rater", "r1"), complete=not bad[i], value="no" if bad[i] else "yes"),
                    ),
                )
                for i in range(120)
            ],
        )
        store.put_rubric(RubricRow(**(RUBRIC | {"ask": ask})))
        for i in range(120):
            raw = float(np.clip(round(rng.normal(4 - 1.5 * bad[i], 1)), 1, 5))
            store.put_judgement(
                Judgement(
                    dataset="d", record_id=f"{prefix}{i}", rubric="analytical-rubric", judge=judge, sample=0, ask=ask,
                    score_fp="s" * 8, status="ok", raw=raw,
                )
            )  # fmt: skip
        store.put_measurements(
            Measured("d", f"{prefix}{i}", "entity_f1", signature, float(rng.normal(0.6 - 0.2 * bad[i], 0.15)))
            for i in range(120)
        )
    return folder


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    screen(make(tmp_path / "one", "a", 1), repeats=20).screen.save(tmp_path / "s.json")
    return tmp_path / "s.json"


def test_judge_and_metric_together_on_new_records(saved: Path, tmp_path: Path) -> None:
    new = make(tmp_path / "two", "b", 2)
    row = triage(new, screen=saved).to_json()["rows"][0]
    assert (row["judge"], row["n"]) == ("screen screen", 120)
    alone = triage(new, metric="all").to_json()["rows"]
    assert [(r["rubric"], r["judge"], r["fingerprint"]) for r in alone] == [
        ("analytical-rubric", "m/j", "a" * 8), (None, "entity_f1", "f1|v1"),
    ]  # fmt: skip
    assert row["auc"] > max(r["auc"] for r in alone)
    # questions repeat: two answers each
    assert any("clusters" in note for note in row["notes"])


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"ask": "b" * 8}, "another rubric version"),
        ({"judge": "m/other"}, "which is not here"),
        ({"signature": "f1|v2"}, "another metric signature"),
    ],
)
def test_anything_else_is_refused(saved: Path, tmp_path: Path, changed: dict[str, Any], word: str) -> None:
    with pytest.raises(StatisticsError, match=word):
        triage(make(tmp_path / "two", "b", 2, **changed), screen=saved)


def test_the_records_that_made_it_are_known_by_their_content(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(StatisticsError, match="120 of these records made the screen"):
        triage(tmp_path / "one", screen=saved)


def test_a_judge_of_the_screen_is_no_rater(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(StatisticsError, match="is a judge of this screen"):
        triage(make(tmp_path / "two", "b", 2, rater="model:j"), screen=saved)


def test_labels_that_hold_only_a_value(tmp_path: Path) -> None:
    words = ["Entailment", "Neutral", "Contradiction"]
    with RunStore(tmp_path / "run") as store:
        store.put_records(
            "claims",
            [
                Record(id=str(i), question=str(i), labels=(Label(construct="entailment", rater="r1", value=word),))
                for i, word in enumerate(words)
            ],
        )
        store.put_measurements(
            Measured("claims", str(i), "consistency(nli=baseline)", "x", v) for i, v in enumerate([0.9, 0.5, 0.1])
        )
    found = triage(tmp_path / "run", metric="consistency", construct="entailment", complete_value="Entailment")
    row = found.to_json()["rows"][0]
    assert (row["n"], row["n_incomplete"], row["auc"]) == (3, 2, 1.0)
    with pytest.raises(StatisticsError, match="no values of 'other'"):
        triage(tmp_path / "run", metric="other")
