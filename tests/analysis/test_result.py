"""Tables: dashes with reasons, one JSON object, no NaN."""

from __future__ import annotations

import json

import numpy as np
import pytest

from judgekit.analysis.result import Column, Result, Table, interval, number, plain, pvalue, share, signature


def test_text_shows_reasons_rows_and_signature() -> None:
    table = Table(
        "t", "Title", [{"a": "x", "v": 0.5, "v_low": 0.25, "v_high": 0.75}, {"a": "y", "v": None, "reason": "nothing there"}],
        [Column("a"), Column("v", "value", interval("v", 2), whole=True), Column("w", optional=True)],
    )  # fmt: skip
    text = Result([table, Table("empty", "Empty", [], [])], signature(n=2, by=["a"], none=None), ["careful"]).text()
    assert text.splitlines()[:4] == [
        "Title",
        "  a              value",
        "  x  0.50 [0.25, 0.75]",
        "  y                  -",
    ]
    assert "- y: nothing there" in text
    assert "note: careful" in text
    assert text.endswith("|n:2|by:a")
    assert "Empty" not in text
    assert " w" not in text.splitlines()[1]


def test_json_is_one_object_without_nan() -> None:
    rows = [{"a": np.float64("nan"), "b": np.int64(3), "c": (1, None), "d": float("inf"), "e": np.bool_(True)}]
    body = Result([Table("t", "T", rows, [], ["n1"])], "s", ["n2"]).to_json()
    assert json.loads(json.dumps(body, allow_nan=False)) == {
        "t": [{"a": None, "b": 3, "c": [1, None], "d": "inf", "e": True}], "notes": ["n2", "n1"], "signature": "s",
    }  # fmt: skip
    assert plain({"x": {1: 2}}) == {"x": {"1": 2}}


def test_long_tables_are_cut_in_text_only() -> None:
    table = Table("t", "T", [{"a": str(i)} for i in range(5)], [Column("a")], shown=2)
    assert "... and 3 more rows" in table.text()
    assert len(table.frame()) == 5


def test_formats() -> None:
    assert [pvalue(p) for p in (None, 0.04999, 1e-9, 0.0)] == ["-", "0.0500", "<.0001", "<.0001"]
    assert [share(v) for v in (None, 0.125, 0.0)] == ["-", "12.5 %", "0.0 %"]
    assert [number(2)(v) for v in (None, -0.001, -1.0)] == ["-", "0.00", "-1.00"]
    assert number(1, signed=True)(2.0) == "+2.0"


def test_no_value_breaks_the_line() -> None:
    assert len(Table("t", "T", [{"a": "two\nlines\tand a tab"}], [Column("a")]).text().splitlines()) == 3


def test_names_are_looked_up() -> None:
    with pytest.raises(KeyError):
        Result([], "s")["nothing"]
