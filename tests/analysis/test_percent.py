"""A percentage must not cross the threshold that it stands beside."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.analysis.result import percent
from judgekit.analysis.triage import triage
from judgekit.report.model import share


@pytest.mark.parametrize(
    ("value", "beside", "text"),
    [
        (0.896, 0.9, "89.6 %"), (0.9, 0.9, "90 %"), (0.904, 0.9, "90.4 %"), (0.8999, 0.9, "89.99 %"), (0.9996, None, "99.96 %"),
        (1.0, 0.9, "100 %"), (0.0, 0.9, "0 %"), (0.0004, None, "0.04 %"), (1 / 3, 0.3333, "33.333 %"), (0.5, 0.9, "50 %"),
        (None, 0.9, "-"),
    ],
)  # fmt: skip
def test_by_hand(value: float | None, beside: float | None, text: str) -> None:
    assert percent(value, beside=beside) == text


@given(st.integers(1, 10_000), st.data(), st.sampled_from([0.9, 0.95, 0.85, 0.3333, 1.0]))
def test_the_text_is_on_the_values_side(whole: int, data: st.DataObject, target: float) -> None:
    part = data.draw(st.integers(0, whole))
    told = float(percent(part / whole, beside=target).removesuffix(" %")) / 100
    for mark in (0.0, target, 1.0):
        assert (told >= mark - 1e-13) == (part / whole >= mark - 1e-13)
    report = float(share(part, whole).removesuffix(" %"))
    assert (report == 0) == (part == 0)
    assert (report == 100) == (part == whole)


def test_a_missed_target_is_not_rounded_into_a_reached_one() -> None:
    # 125 incomplete answers, 112 of them (89.6 %) at or under the threshold that was set beforehand; 15 complete ones above it
    rows = [{"incomplete": 1, "score": 1 if i < 112 else 5} for i in range(125)] + [{"incomplete": 0, "score": 4}] * 15
    text = triage(pd.DataFrame(rows, dtype=object), threshold=1).text(200)
    assert "The threshold catches 89.6 % of the incomplete answers" in text
    assert "Recall 89.6 %, 95 % interval" in text
    assert text.count("89.6 %") == 3  # the sentence, the table, the interval


def test_the_sentence_counts_the_unscored_and_says_when_nothing_is_saved() -> None:
    # Scores without information, 20 incomplete and 20 complete alike over 1 to 5 (4 + 4 a level), 5 unscored. 18 of 20 are needed:
    # level 4 catches 16, so all 40 are read, with the unscored 45 of 45; a random order needs 18 * 41 / (21 * 40) = 87.9 %.
    rows = [{"incomplete": int(i < 20), "score": 1 + i % 5} for i in range(40)] + [{"incomplete": 0, "score": None}] * 5
    text = " ".join(triage(pd.DataFrame(rows, dtype=object)).text().split())
    assert (
        "must still read 40 of 40 (100 %), with the 5 unscored 45 of 45 (100 %); reading in random order would need 88 %"
        in text
    )
    assert "at this target the judge saves nothing" in text


def test_a_p_value_is_never_printed_as_zero() -> None:
    rows = [{"incomplete": int(i < 60), "score": i} for i in range(120)]
    text = triage(pd.DataFrame(rows, dtype=object)).text(160)
    assert "<.0001" in text
    assert "0.0000" not in text
