"""Denied terms."""

from __future__ import annotations

import pytest

from judgekit.metrics.negation import is_negated, negated_spans, polarity


@pytest.mark.parametrize(
    ("text", "term", "denied"),
    [
        ("There is no fever or cough.", "fever", True),
        ("There is no fever or cough.", "cough", True),
        ("No fever. Cough persists.", "Cough", False),
        ("No fever but a cough.", "cough", False),
        ("Pneumonia was ruled out.", "Pneumonia", True),
        ("He denies chest pain.", "chest pain", True),
        ("Not only fever but rash.", "fever", False),
        ("Ibuprofen should be avoided.", "Ibuprofen", True),
        ("Take ibuprofen.", "ibuprofen", False),
        # A field's value denies its name, and nothing after it.
        ("Fever: no. Cough: yes.", "Fever", True),
        ("Fever: no. Cough: yes.", "Cough", False),
        ("Fever: no, cough: yes", "cough", False),
        ("Cough: yes, fever: no", "fever", True),
        ("Cough: yes, fever: no", "Cough", False),
        ("Fever: none", "Fever", True),
        ("Fever = absent", "Fever", True),
        ("Fever: negative", "Fever", True),
        ("Fever - not reported", "Fever", True),
        ("Fever (-), cough (+)", "Fever", True),
        ("Fever (-), cough (+)", "cough", False),
        ("Fever? No.", "Fever", True),
        ("Allergies: no known drug allergies", "Allergies", False),
        # What does not move is there.
        ("No increase in fever", "fever", False),
        ("No change in fever", "fever", False),
        ("No significant interval change in the mass", "mass", False),
        ("It did not reduce the fever", "fever", False),
        # After the term.
        ("Fever is denied.", "Fever", True),
        ("Fever wasn’t present.", "Fever", True),
        ("Aspirin should not be taken.", "Aspirin", True),
    ],
)
def test_reach(text: str, term: str, denied: bool) -> None:
    start = text.index(term)
    assert is_negated((start, start + len(term)), negated_spans(text)) is denied


VERBS = [
    "do",
    "does",
    "did",
    "is",
    "are",
    "was",
    "were",
    "have",
    "has",
    "had",
    "should",
    "could",
    "would",
    "must",
    "need",
    "might",
    "wo",
    "ca",
    "sha",
    "ai",
]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("mark", ["'", "’", "ʼ", "`"])
def test_every_negated_contraction_denies(verb: str, mark: str) -> None:
    text = f"I {verb}n{mark}t taken aspirin"
    start = text.index("aspirin")
    assert is_negated((start, start + 7), negated_spans(text))
    assert polarity(text) == -1


@pytest.mark.parametrize(
    ("text", "sign"),
    [("Take with food", 1), ("Do not take with food", -1), ("It isn’t true that you can't", 1), ("no doubt", 1)],
)
def test_polarity(text: str, sign: int) -> None:
    assert polarity(text) == sign
