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
    ],
)
def test_reach(text: str, term: str, denied: bool) -> None:
    start = text.index(term)
    assert is_negated((start, start + len(term)), negated_spans(text)) is denied


@pytest.mark.parametrize(
    ("text", "sign"),
    [("Take with food", 1), ("Do not take with food", -1), ("It isn’t true that you can't", 1), ("no doubt", 1)],
)
def test_polarity(text: str, sign: int) -> None:
    assert polarity(text) == sign
