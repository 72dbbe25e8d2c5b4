"""Cards proposed for files that nobody made for judgekit: what comes of them is what a person would have written."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgekit.data import load_records
from judgekit.data.labels import joined, raters
from judgekit.data.propose import propose
from judgekit.data.validate import warnings
from judgekit.errors import DataError
from judgekit.records import Record

WIDE = (
    "Fall-Nr.;Frage;Antwort (Bot);Pflege A;Pflege B;Station\n"
    "001;Darf ich Ibuprofen nehmen?;Ja, das ist in Ordnung, fragen Sie aber Ihren Arzt.;ja;Ja ;3B\n"
    "002;Wie lange dauert eine Grippe?;Meist eine Woche, selten zwei Wochen.;nein;ja;3B\n"
    "003;Was hilft gegen Fieber?;Trinken Sie viel, und ruhen Sie sich aus.;nein;;2A\n"
)
LONG = (
    "question,answer,nurse,rating,comment\n"
    "May I?,You may; do it slowly.,n1,\"4,5\",fine\n"
    "May I?,You may; do it slowly.,n2,2,\n"
    "Must I?,You must not do that at all.,n1,5,ok\n"
)  # fmt: skip
SEVERITIES = (
    "id,question,response,annotator,worst omission\n"
    "1,q?,an answer,a,Mild - no action\n"
    "1,q?,an answer,b,\n"
    "2,r?,bnother,a,Severe\n"
)


def load(folder: Path, text: str, encoding: str = "utf-8") -> tuple[list[Record], tuple[str, ...], tuple[str, ...]]:
    path = folder / "My ratings.csv"
    path.write_text(text, encoding=encoding)
    found = propose(path)
    (folder / "card.yaml").write_text(found.card, encoding="utf-8")
    return list(load_records(path, folder / "card.yaml")), found.words, found.unsure


def verdicts(records: list[Record]) -> list[dict[str | None, bool | None]]:
    return [{label.rater: label.complete for label in raters(record)} for record in records]


def test_two_nurses_in_columns_with_semicolons_in_windows_letters(tmp_path: Path) -> None:
    records, words, unsure = load(tmp_path, WIDE, "cp1252")
    assert [record.id for record in records] == ["001", "002", "003"]
    assert records[1].response == "Meist eine Woche, selten zwei Wochen."
    assert records[0].meta == {"Station": "3B"}
    assert verdicts(records) == [
        {"Pflege A": True, "Pflege B": True},
        {"Pflege A": False, "Pflege B": True},
        {"Pflege A": False},
    ]
    last = joined(records[2])
    assert last is not None
    assert last.complete is False  # one rater's label is the join
    assert "one answer a row, rated by 2 people in the columns 'Pflege A', 'Pflege B'" in words
    assert any("'Antwort (Bot)' was taken for the response" in sentence for sentence in unsure)


def test_one_rating_a_row_without_ids_and_with_decimal_commas(tmp_path: Path) -> None:
    records, words, unsure = load(tmp_path, LONG)
    assert len(records) == 2
    assert records[0].id != records[1].id
    assert verdicts(records) == [{"n1": True, "n2": False}, {"n1": True}]  # complete from 4 of 1 to 5
    assert [label.score for label in raters(records[0])] == [0.875, 0.25]  # (4.5 - 1) / 4, (2 - 1) / 4
    assert raters(records[0])[0].rationale == "fine"
    assert "one rating a row, by 2 raters (n1, n2) in 'nurse'" in words
    assert any("an id is made from the texts" in sentence for sentence in unsure)
    assert any("say yourself from which number on" in sentence for sentence in unsure)


def test_severities_become_a_table(tmp_path: Path) -> None:
    records, _, unsure = load(tmp_path, SEVERITIES)
    assert [[(label.rater, label.severity, label.score) for label in raters(record)] for record in records] == [
        [("a", "mild", 0.75), ("b", "none", 1.0)],
        [("a", "severe", 0.25)],
    ]
    assert any("empty severity is read as none" in sentence for sentence in unsure)


def test_a_table_without_ratings_says_so_and_its_card_has_no_labels(tmp_path: Path) -> None:
    records, _, unsure = load(tmp_path, "id,question,response,ward\n1,q?,a,x\n2,r?,b,y\n")
    assert [record.labels for record in records] == [(), ()]
    assert any("no column looks like ratings: ward" in sentence for sentence in unsure)


def test_what_is_asked_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,question,response,rating\n1,q?,a,3\n2,r?,b,5\n")
    asked: list[tuple[str, str]] = []

    def ask(question: str, guess: str) -> str:
        asked.append((question, guess))
        return "3"

    assert 'complete_when: ">= 3"' in propose(path, ask).card
    assert asked == [("From which number on (1 to 5) is an answer complete?", ">= 4")]


@pytest.mark.parametrize("text", ["id,ward\n1,x\n", "id,response\n"])
def test_a_table_without_answers_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=r"no column looks like answers|has no rows"):
        propose(path)


def test_a_wide_table_without_a_card_is_told_which_columns_look_like_ratings(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,question,response,nurse_a,nurse_b,ward\n1,q?,a,yes,no,x\n2,r?,b,no,no,y\n")
    records = load_records(path)
    assert (
        "nothing is labelled, and 'nurse_a', 'nurse_b' look like ratings: `judgekit data card FILE` proposes a card"
        in warnings(records)
    )
    assert not warnings(load_records(path, limit=1).derive([Record(id="1", meta={"ward": "x"})]))


def test_a_workbook_says_how_to_save_it(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="save the sheet as 'CSV UTF-8'"):
        propose(write(tmp_path / "a.xlsx"))


def write(path: Path) -> Path:
    path.write_bytes(b"PK")
    return path
