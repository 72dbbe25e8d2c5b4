"""Doses, frequencies, durations."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.metrics.quantities import quantities


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("acetaminophen 500 mg every 6 hours", [("dose", "500 mg"), ("frequency", "4 per day")]),
        ("0.5 g q6h", [("dose", "500 mg"), ("frequency", "4 per day")]),
        ("1,000 milligrams twice a day", [("dose", "1000 mg"), ("frequency", "2 per day")]),
        ("50 mcg once daily", [("dose", "0.05 mg"), ("frequency", "1 per day")]),
        ("1-2 tablets b.i.d.", [("dose", "1-2 tablet"), ("frequency", "2 per day")]),
        ("10 mg/kg/day for two weeks", [("dose", "10 mg/kg/day"), ("duration", "14 day")]),
        ("2.5 ml/hr", [("dose", "2.5 ml/hour")]),
        ("for 10-14 days", [("duration", "10-14 day")]),
        ("a CD4 count of 200", []),
        ("COVID-19 g", []),
    ],
)
def test_amounts(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(item.kind, item.norm) for item in quantities(text)] == expected


@given(st.text(alphabet="0123456789.,- mgkl/xqhdayetwice", max_size=80))
def test_no_text_breaks_the_rules_and_spans_never_overlap(text: str) -> None:
    found = quantities(text)
    assert all(one.end <= two.start for one, two in itertools.pairwise(found))
