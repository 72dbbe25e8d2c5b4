"""Whatever a file or a card holds: records, or a DataError with the file's name. Never a traceback, never a silent loss."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judgekit.data import RecordSet, load_records
from judgekit.data.cards import load_card
from judgekit.data.validate import counts, validate
from judgekit.errors import JudgekitError

QUICK = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
SCALAR = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
JSON = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    ["id", "question", "response", "criteria", "options", "answer", "labels", "cluster", "inputs", "meta", "x"]
)
ROW = st.dictionaries(FIELDS, JSON, max_size=5) | JSON


def attempt(work: Callable[[], Any]) -> tuple[Any, JudgekitError | None]:
    """What came of it, or the error that it raised on purpose; any other exception fails the test."""
    try:
        return work(), None
    except JudgekitError as error:
        return None, error


def check(path: Path, **options: Any) -> None:
    records, error = attempt(lambda: load_records(path, **options))
    if error is not None:
        assert error.message
        assert str(path) in str(error), str(error)
        return
    assert isinstance(records, RecordSet)
    assert len({record.id for record in records}) == len(records)
    json.dumps([record.to_dict() for record in records], allow_nan=False)
    json.dumps(counts(records), allow_nan=False)


@QUICK
@given(st.lists(ROW, max_size=4))
def test_any_json_lines(tmp_path: Path, rows: list[Any]) -> None:
    path = tmp_path / "any.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    check(path)
    check(path, card="kqa/completeness")
    check(path, card="medexpert")
    records, errors, number = validate(path)
    # Nothing is lost in silence: every row is a record or an error.
    assert len(records or []) + number == len(rows)
    assert len(errors) == number


@QUICK
@given(st.binary(max_size=60), st.sampled_from(["jsonl", "json", "csv", "tsv", "parquet", "jsonl.gz"]))
def test_any_bytes(tmp_path: Path, content: bytes, ending: str) -> None:
    path = tmp_path / f"any.{ending}"
    path.write_bytes(content)
    check(path)
    check(path, card="multiple-choice")


@QUICK
@given(st.text(alphabet=st.sampled_from('id,question;"\n\r\t\x00abc \u2028'), max_size=60))
def test_any_table(tmp_path: Path, text: str) -> None:
    path = tmp_path / "any.csv"
    path.write_text(text, encoding="utf-8", newline="")
    check(path)


PIECE = st.sampled_from(
    ["card", "title", ": ", "\n", "  ", "- ", "{", "}", "[", "]", "'", '"', "fields", "id", "labels", "score", "severities", "shapes",
     "null", "&a ", "*a", "!!x ", "|", "#", "a", "0.5", "join", "mean", "licence", "citation", "each", "@", "merge", "true"]
)  # fmt: skip


@QUICK
@given(st.lists(PIECE, max_size=25).map("".join))
def test_any_card(tmp_path: Path, text: str) -> None:
    path = tmp_path / "any.yaml"
    for content in (text, f"card: a\ntitle: b\nlicence: c\ncitation: d\n{text}"):
        path.write_text(content, encoding="utf-8")
        _, error = attempt(lambda: load_card(path))
        assert error is None or error.file == str(path)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, '[{"id": "a", "meta": ' + "[" * 5000])
def test_deep_nesting_is_an_error_with_a_line(tmp_path: Path, text: str) -> None:
    for ending in ("json", "jsonl"):
        path = tmp_path / f"deep.{ending}"
        path.write_text(text, encoding="utf-8")
        check(path)
