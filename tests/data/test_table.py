"""The one table reader, and the words that all readers share."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judgekit.data.table import MISSING, QUESTION_COLUMNS, is_missing, question_columns, read_table, truth
from judgekit.errors import DataError

ROWS = [{"id": "001", "score": 0.5, "said": "yes, he did"}, {"id": "NA", "score": 1.0, "said": "no"}]


def write(folder: Path, kind: str) -> Path:
    path = folder / f"rows.{kind}"
    lines = "\n".join(json.dumps(row) for row in ROWS)
    csv = 'id,score,said\n001,0.5,"yes, he did"\nNA,1.0,no\n'
    if kind == "parquet":
        pd.DataFrame(ROWS).to_parquet(path)
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(csv.encode()))
    else:
        path.write_text(
            {"csv": csv, "tsv": csv.replace(",", "\t").replace('"yes\t he did"', "yes, he did"),
             "jsonl": lines + "\n", "json": json.dumps(ROWS)}[kind]
        )  # fmt: skip
    return path


@pytest.mark.parametrize("kind", ["csv", "tsv", "csv.gz", "jsonl", "json", "parquet"])
def test_every_form_gives_the_same_cells(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path, kind)
    table = read_table(path)
    assert table.name == "rows"
    assert table.columns == ("id", "score", "said")
    assert [[row["id"], float(row["score"]), row["said"]] for row in table.rows] == [
        ["001", 0.5, "yes, he did"],
        ["NA", 1.0, "no"],
    ]
    assert table.digest == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (table.lines is None) == (kind == "parquet")


def test_a_frame_is_a_table_without_lines() -> None:
    frame = pd.DataFrame({"id": ["a", "b", "c"], "x": [1.0, np.nan, 2.5], "n": pd.array([1, None, 3], dtype="Int64")})
    table = read_table(frame)
    assert table.rows[1] == {"id": "b", "x": None, "n": None}
    assert table.rows[2] == {"id": "c", "x": 2.5, "n": 3}
    assert str(table.fail(1, "x", "is missing", "write it")) == "x, row 2: is missing: write it"
    single = read_table(pd.DataFrame({"x": np.array([0.7, np.nan], dtype=np.float32)}))
    assert [row["x"] for row in single.rows] == [0.7, None]


def test_an_error_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('id,text\n1,"two\nlines"\n2,x\n')
    error = read_table(path).fail(1, "text", "is odd", "mend it")
    assert (error.line, error.field, error.file) == (4, "text", str(path))


@pytest.mark.parametrize(
    ("name", "text", "line", "words"),
    [
        ("a.jsonl", b'{"a": 1}\n{"a": 1, "a": 2}\n', 2, "stands twice"),
        ("a.csv", b"a,a\n1,2\n", 1, "two columns are named 'a'"),
        ("a.csv", b"a,b\n1,2\n1\n", 3, "1 cells, but the header has 2"),
        ("a.csv", b"a,b\n1,2\n\xff,2\n", 3, "is not UTF-8"),
        ("a.jsonl", b'{"a": 1}\n{"a": NaN}\n', 2, "NaN is not a value"),
        ("a.jsonl", b'{"a": 1}\n[1]\n', 2, "a row must be an object"),
    ],
)
def test_what_is_broken_is_refused_with_its_line(tmp_path: Path, name: str, text: bytes, line: int, words: str) -> None:
    path = tmp_path / name
    path.write_bytes(text)
    with pytest.raises(DataError, match=words) as caught:
        read_table(path)
    assert caught.value.line == line
    assert caught.value.mend


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="this folder holds no run"):
        read_table(tmp_path)
    with pytest.raises(DataError, match="no such run or table"):
        read_table(tmp_path / "no.csv")
    with pytest.raises(DataError, match="two columns are named 'a'"):
        read_table(pd.DataFrame([[1, 2]], columns=["a", "a"]))


@pytest.mark.parametrize(
    "value", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT, "", "  ", "NA", "n/a", " NaN ", "NONE", "Null", "-"]
)
def test_missing_is_missing(value: Any) -> None:
    assert is_missing(value)
    assert truth(value) is None


@pytest.mark.parametrize("value", [0, 0.0, False, "0", "no", "x", [], "none at all"])
def test_a_value_is_not_missing(value: Any) -> None:
    assert not is_missing(value)


def test_the_list_of_missing_words_is_as_it_is_compared() -> None:
    assert all(word == word.strip().casefold() for word in MISSING)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["1", 1, 1.0, True, np.True_, "TRUE", "true ", " Yes", "complete", np.int64(1)], True),
        (["0", 0, 0.0, False, np.False_, "False", "NO", "Incomplete ", "0.0"], False),
    ],
)
def test_one_truth(words: list[Any], wanted: bool) -> None:
    assert {truth(word) for word in words} == {wanted}
    with pytest.raises(ValueError, match="neither yes nor no"):
        truth("maybe")


def test_question_columns_are_found_in_any_case() -> None:
    assert question_columns(["Stem", "score", "Question_ID "]) == ["Question_ID ", "Stem"]
    # What `agree` knew and what `triage` knew, in one list.
    assert {"cluster", "stem", "query_id", "questionid", "question_text", "qid"} <= set(QUESTION_COLUMNS)
