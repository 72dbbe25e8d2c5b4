"""ROUGE-L: what the package cannot read has no value."""

from __future__ import annotations

import pytest

from judgekit.metrics.rouge_l import RougeL
from judgekit.records import Record


def test_a_reference_in_other_letters_has_no_value() -> None:
    pytest.importorskip("rouge_score", reason="rouge-score is not installed (extra: metrics)")
    # The package keeps a to z and digits: it would give two equal Greek texts 0.
    greek, latin, mixed = RougeL().measure(
        [
            Record(id="1", question="q", reference="πονοκέφαλος και πυρετός", response="πονοκέφαλος και πυρετός"),
            Record(id="2", question="q", reference="headache and fever", response="headache and fever"),
            Record(id="3", question="q", reference="headache and fever", response="πονοκέφαλος"),
        ]
    )
    assert (greek.value, greek.reason) == (
        None,
        "the reference has no word in the letters a to z, and ROUGE-L reads no others",
    )
    assert latin.value == 1.0
    assert mixed.value == 0.0
