"""Words, normal forms and sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.metrics.text import encodable, is_blank, normalise, sentences, tokens


# Every example of the paper's normalisation list (000, 3.2.2), and units both ways.
@pytest.mark.parametrize(
    ("written", "norm"),
    [
        ("Fever", "fever"),
        ("acetaminophen,", "acetaminophen"),
        ("the cough", "cough"),
        ("500 milligrams", "500 mg"),
        ("500 mg", "500 mg"),
        ("1 tab", "1 tablet"),
        ("1 tablet", "1 tablet"),
        ("  chest \t pain ", "chest pain"),
        ("Crohn's disease", "crohn disease"),
        ("TB", "tuberculosis"),
        ("!!!", ""),
    ],
)
def test_normal_forms(written: str, norm: str) -> None:
    assert normalise(written) == norm


@given(st.text(max_size=200))
def test_normalising_twice_changes_nothing_and_spans_fit(text: str) -> None:
    for token in tokens(text):
        assert 0 <= token.start < token.end <= len(text)
    for start, end in sentences(text):
        assert text[start:end].strip() == text[start:end] != ""
    once = normalise(text)
    assert normalise(once).split() == normalise(normalise(once)).split()


@given(st.text(st.characters(), max_size=100))  # lone surrogates too
def test_what_a_model_gets_can_be_encoded(text: str) -> None:
    encodable(text).encode("utf-8")


@pytest.mark.parametrize("text", [None, "", "  \n\t", "\x00\x07", "\u200b\u200f"])
def test_blank(text: str | None) -> None:
    assert is_blank(text)


def test_emoji_and_a_single_letter_are_not_blank() -> None:
    assert not is_blank("💊")
    assert not is_blank("a")


def test_sentences_keep_decimals_and_abbreviations_and_drop_bullets() -> None:
    text = "Take 2.5 mg, e.g. at night. Dr. Smith agrees!\n- Rest well\n2. Drink"
    assert [text[a:b] for a, b in sentences(text)] == [
        "Take 2.5 mg, e.g. at night.", "Dr. Smith agrees!", "Rest well", "Drink",
    ]  # fmt: skip
