"""The same rubric in other words: what changes, and what must not."""

from __future__ import annotations

import pytest

from judgekit.records import Record
from judgekit.rubric import load_rubric
from judgekit.stability.rewrite import BUILT_IN, built_in, pad, pieces, rewritten

RECORD = Record(id="r", question="Is ibuprofen safe in pregnancy?", response="Ask your doctor.")


@pytest.mark.parametrize("name", ["general-likert", "analytical-rubric", "general-likert-fss"])
def test_every_wording_asks_otherwise_and_scores_the_same(name: str) -> None:
    rubric = load_rubric(name)
    for wording in built_in(rubric):
        if wording.rubric is None:
            assert wording.reason
            continue
        made = wording.rubric
        assert made.name == f"{name}~{wording.name}"
        assert made.ask_fingerprint != rubric.ask_fingerprint
        assert made.score_fingerprint == rubric.score_fingerprint
        assert sorted(level.value for level in made.spec.verdict[1].levels) == sorted(
            level.value for level in rubric.spec.verdict[1].levels
        )  # type: ignore[union-attr]
        text = made.asks(RECORD)[0].messages[-1]["content"]
        assert "Is ibuprofen safe in pregnancy?" in text
        assert "<response-" in text  # the judged text stays inside its fence


def test_levels_turn_round_and_labels_lose_their_names() -> None:
    rubric = load_rubric("general-likert")
    found = {one.name: one.rubric for one in built_in(rubric)}
    assert found["order-levels"] is not None
    system = str(found["order-levels"].system_text)
    assert system.index("3 (nothing missing)") < system.index("1 (important content missing)")
    assert found["label-names"] is not None
    assert "1 (level 1):" in str(found["label-names"].system_text)
    assert "nothing missing)" not in str(found["label-names"].system_text)


def test_a_way_that_does_not_apply_says_why() -> None:
    reasons = {one.name: one.reason for one in built_in(load_rubric("meaning-preserved"))}
    assert reasons["order-levels"] == "the verdict has no scale"
    assert "examples" in str(reasons["order-examples"])
    assert set(reasons) == set(BUILT_IN)


def test_a_writers_pieces_go_in_and_the_rest_stays() -> None:
    rubric = load_rubric("general-likert")
    texts = pieces(rubric)
    assert not any("{%" in text or "{{" in text for text in texts)
    anchor = next(text for text in texts if text.startswith("Everything that this patient"))
    made = rewritten(rubric, "mine", {anchor: "All that the patient needs is there."})
    assert made.rubric is not None
    assert made.kept == len(texts) - 1
    assert "All that the patient needs is there." in str(made.rubric.system_text)
    assert anchor not in str(made.rubric.system_text)
    assert rewritten(rubric, "none", {}).rubric is None


def test_padding_is_longer_and_holds_the_answer_unchanged() -> None:
    answer = "Take 400 mg of ibuprofen with food. " * 8
    padded = pad(answer)
    assert answer in padded
    assert len(padded) >= 1.5 * len(answer)
    assert not any(char.isdigit() for char in padded.replace(answer, ""))
    assert pad("x") != "x"
