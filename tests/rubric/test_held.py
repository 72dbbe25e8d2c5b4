"""What must not move by a change of the reader: the fingerprints of the shipped rubrics, and where each error points."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judgekit.errors import RubricError
from judgekit.registry import library_files
from judgekit.rubric import load_rubric

from .helpers import rubric

HERE = Path(__file__).parent
# The values of the reader that stood before pydantic; a shipped rubric that changes on purpose changes its entry here.
FINGERPRINTS: dict[str, dict[str, str]] = json.loads((HERE / "fingerprints.json").read_text("utf-8"))
# Sound rubrics, one replaced text each, and the error that it gives.
BAD: dict[str, Any] = json.loads((HERE / "bad_rubrics.json").read_text("utf-8"))


def test_every_shipped_rubric_is_held() -> None:
    assert set(FINGERPRINTS) == set(library_files("rubrics", ".yaml"))


@pytest.mark.parametrize("name", sorted(FINGERPRINTS))
def test_fingerprints_stay(name: str) -> None:
    found = load_rubric(name)
    assert {"ask": found.ask_fingerprint, "score": found.score_fingerprint} == FINGERPRINTS[name]


@pytest.mark.parametrize("base", sorted(BAD["bases"]))
def test_the_bases_are_sound(base: str) -> None:
    rubric(BAD["bases"][base])


@pytest.mark.parametrize("case", BAD["cases"], ids=lambda case: f"{case['base']}-{case['old']}-{case['new']}"[:80])
def test_an_error_says_where_it_is_and_what_to_write(case: dict[str, Any]) -> None:
    text = BAD["bases"][case["base"]]
    assert text.count(case["old"])
    with pytest.raises(RubricError) as caught:
        rubric(text.replace(case["old"], case["new"], 1))
    error = caught.value
    assert (error.file, error.line, error.field) == ("small.yaml", case["line"], case["field"])
    assert (error.message, error.mend) == (case["message"], case["mend"])
