"""spaCy and scispaCy pipelines: a real one, made here and loaded from disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgekit.errors import MissingDependency, UsageError
from judgekit.metrics.entity_f1 import EntityF1
from judgekit.metrics.ner import PIECE, recogniser
from judgekit.records import Record


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> str:
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed (extra: scispacy)")
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler", config={"phrase_matcher_attr": "LOWER"})
    ruler.add_patterns(
        [{"label": "CHEMICAL", "pattern": "zidovudine", "id": "D1"}, {"label": "DISEASE", "pattern": "optic neuritis"}]
    )
    place = tmp_path_factory.mktemp("pipeline") / "tiny"
    nlp.to_disk(place)
    return str(place)


@pytest.mark.parametrize("kind", ["spacy", "scispacy"])
def test_a_pipeline_from_disk_finds_its_terms(pipeline: str, kind: str) -> None:
    found = list(recogniser(f"{kind}:{pipeline}").find(["Zidovudine for optic neuritis", "", "nothing"]))
    assert found == [[(0, 10, "chemical", ("kb:D1",)), (15, 29, "disease", ())], [], []]
    record = Record(id="1", reference="Zidovudine treats optic neuritis.", response="zidovudine")
    # 2 reference entities, 1 response entity, 1 match: P = 1, R = .5, F1 = 2/3.
    assert EntityF1(ner=f"{kind}:{pipeline}").measure([record])[0].value == pytest.approx(2 / 3)


def test_the_signature_names_pipeline_and_library(pipeline: str) -> None:
    assert "+spacy-" in EntityF1(ner=f"spacy:{pipeline}").signature


def test_offsets_hold_in_a_text_longer_than_one_piece(pipeline: str) -> None:
    text = "word " * (PIECE // 4) + "zidovudine"
    ((start, end, _, _),) = next(recogniser(f"spacy:{pipeline}").find([text]))
    assert text[start:end] == "zidovudine"


def test_what_is_missing_is_named_with_the_way_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="names no recogniser"):
        recogniser("magic")
    pytest.importorskip("spacy", reason="spaCy is not installed (extra: scispacy)")
    with pytest.raises(MissingDependency) as caught:
        recogniser("scispacy:en_core_sci_md")
    assert "ai2-s2-scispacy" in str(caught.value.mend)
    with pytest.raises(UsageError, match="no scispaCy model"):
        recogniser("scispacy:en_core_web_sm")
    with pytest.raises(MissingDependency):
        recogniser(f"spacy:{tmp_path / 'absent'}")
