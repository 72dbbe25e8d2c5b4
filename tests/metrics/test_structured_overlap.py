"""Lists of a text and their overlap."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.metrics.structured_overlap import StructuredOverlap, list_items
from judgekit.records import Record


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("Symptoms include fever, cough, and shortness of breath.", ["fever", "cough", "shortness of breath"]),
        ("Signs: red eyes; itching; tears", ["red eyes", "itching", "tears"]),
        ("- rest\n- fluids: 2.5 L a day\n3. aspirin", ["rest", "fluids", "aspirin"]),
        ("* **Fever**: over 38\n* **Rash**: on the arms", ["fever", "rash"]),
        ("Do this: 1) rest 2) drink fluids 3) take aspirin. Then go.", ["rest", "drink fluids", "take aspirin"]),
        ("The dose is 1.5 mg, 2.5 mg, or 3 mg", ["1.5 mg", "2.5 mg", "3 mg"]),
        ("Take 1,000 mg once.", []),
        ("Seen on May 3, 2024, in the clinic.", []),
        ("However, if pain persists, see a doctor.", []),
        ("The result was 3.5 and rising.", []),
        ("Nothing here", []),
    ],
)
def test_items(text: str, items: list[str]) -> None:
    assert list_items(text) == items


@given(st.text(max_size=300))
def test_any_text_has_a_finite_number_of_distinct_items(text: str) -> None:
    items = list_items(text)
    assert len(items) == len(set(items))


def overlap(reference: str, response: str, empty: str = "zero") -> tuple[float | None, str | None]:
    (result,) = StructuredOverlap(empty=empty).measure([Record(id="1", reference=reference, response=response)])
    return result.value, result.reason


# {fever, cough, rash} and {fever, cough, chills}: 2 shared of 4.
def test_jaccard() -> None:
    assert overlap("- fever\n- cough\n- rash", "1. Fever\n2. Cough\n3. Chills") == (0.5, None)


def test_two_empty_sides_are_what_the_option_says() -> None:
    assert overlap("No list.", "None here.") == (0.0, None)
    assert overlap("No list.", "None here.", "one") == (1.0, None)
    assert overlap("No list.", "None here.", "none") == (None, "neither side has a list")
    assert overlap("- a list\n- of two", "None here.", "none") == (0.0, None)
