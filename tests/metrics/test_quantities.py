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
        # Fractions, decimal commas, thousands, words, powers.
        (
            "½ tablet, 1½ tablets, 1 1/2 tablets",
            [("dose", "0.5 tablet"), ("dose", "1.5 tablet"), ("dose", "1.5 tablet")],
        ),
        ("half a tablet", [("dose", "0.5 tablet")]),
        ("2,5 mg", [("dose", "2.5 mg")]),
        ("0,125 mg", [("dose", "0.125 mg")]),
        (".5 mg", [("dose", "0.5 mg")]),
        ("1,250 mg", [("dose", "1250 mg")]),
        ("1.250.000 IU", [("dose", "1250000 iu")]),
        ("1,00,000 IU", [("dose", "100000 iu")]),
        ("a hundred and fifty mg", [("dose", "150 mg")]),
        ("twenty five mg", [("dose", "25 mg")]),
        ("two and a half tablets", [("dose", "2.5 tablet")]),
        ("two point five mg", [("dose", "2.5 mg")]),
        ("2.4 million units", [("dose", "2400000 unit")]),
        ("5 × 10⁹ IU", [("dose", "5000000000 iu")]),
        ("2 x 500 mg", [("dose", "1000 mg")]),
        # Ranges and pairs.
        ("between 5 and 10 mg", [("dose", "5-10 mg")]),
        ("5mg–10mg", [("dose", "5-10 mg")]),
        ("500 mg to 1 g", [("dose", "500-1000 mg")]),
        ("5, 10 or 20 mg", [("dose", "5-10-20 mg")]),
        ("5/325 mg", [("dose", "5/325 mg")]),
        ("once or twice daily", [("frequency", "1-2 per day")]),
        ("<5 mg", [("dose", "<5 mg")]),
        # Units and how they are written.
        ("75\u2011mg for a 2\u2011week course", [("dose", "75 mg"), ("duration", "14 day")]),
        ("250 mg/5 ml", [("dose", "50 mg/ml")]),
        ("5 mcg/kg/min", [("dose", "0.005 mg/kg/minute")]),
        ("4 g/24h", [("dose", "4000 mg/day")]),
        ("39 °C", [("measure", "39 °c")]),
        ("102.2 °F", [("measure", "39 °c")]),
        ("120/80 mmHg", [("measure", "120/80 mmhg")]),
        ("72 beats per minute", [("measure", "72 bpm")]),
        (
            "tds, bd, every other day, q3w",
            [
                ("frequency", "3 per day"),
                ("frequency", "2 per day"),
                ("frequency", "every 2 day"),
                ("frequency", "every 21 day"),
            ],
        ),
        ("every week, weekly, every 7 days", [("frequency", "1 per week")] * 3),
        ("a 45-year-old, 24F, aged 45", [("duration", "45 year"), ("duration", "24 year"), ("duration", "45 year")]),
        # What can be read in two ways or in none is no amount, and no part of it is one.
        ("1 500 mg", []),
        ("5 000 IU", []),
        ("1.000 mg", []),
        ("1.2.3 mg", []),
        ("1,2,3 mg", []),
        ("5 mg/xyz", []),
        ("twenty thirty mg", []),
        ("(−5 mg)", []),
        ("1:1000 ml", []),
        ("10 x 15 cm", []),
    ],
)
def test_amounts(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(item.kind, item.norm) for item in quantities(text)] == expected


@given(st.text(alphabet="0123456789.,- mgkl/xqhdayetwice", max_size=80))
def test_no_text_breaks_the_rules_and_spans_never_overlap(text: str) -> None:
    found = quantities(text)
    assert all(one.end <= two.start for one, two in itertools.pairwise(found))


# Written out, an amount of mg below a million: thousands separated or not, by hand from its definition.
@given(st.integers(1, 999_999))
def test_an_amount_is_itself_however_its_thousands_are_written(value: int) -> None:
    for written in (f"{value} mg", f"{value:,} mg", f"{value}.0 mg", f"{value},0 mg", f"{value}-mg", f"{value}mg"):
        assert [item.norm for item in quantities(f"Take {written} now")] == [f"{value} mg"]


@given(st.text(alphabet="0123456789., /-", min_size=1, max_size=12))
def test_an_amount_is_read_whole_or_not_at_all(written: str) -> None:
    text = f"x {written}mg"
    for item in quantities(text):
        before = text[: item.start].rstrip(" ")
        assert not (before[-1:].isdigit() and item.start == len(before)), "a part of a longer number"
