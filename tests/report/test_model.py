"""Numbers, tables and prompts in parts, against values worked out by hand."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from judgekit.report.model import Grid, gathered, share
from judgekit.report.texts import fill, pieces


def test_shares_round_half_to_even_in_whole_numbers() -> None:
    # 1/16 = 6.25 % -> 6.2 (even), 3/16 = 18.75 % -> 18.8 (even); 1/3 = 33.33..., 2/3 = 66.66...
    assert [share(a, b) for a, b in ((1, 16), (3, 16), (1, 3), (2, 3), (0, 5), (5, 5))] == [
        "6.2 %", "18.8 %", "33.3 %", "66.7 %", "0.0 %", "100.0 %",
    ]  # fmt: skip
    assert share(1, 0) == share(None, 3) == "–"


@given(st.integers(0, 5000), st.integers(1, 5000))
def test_shares_are_never_off_by_more_than_half_a_digit(part: int, whole: int) -> None:
    said = Fraction(share(part, whole).removesuffix(" %"))
    assert abs(said - Fraction(100 * part, whole)) <= Fraction(1, 20)


@given(st.lists(st.text(max_size=30), max_size=4), st.text(max_size=20))
def test_a_prompt_is_put_together_as_it_was(texts: list[str], before: str) -> None:
    nonce = "0123456789ab"
    message = before + "".join(f"<part-{nonce}>\n{text}\n</part-{nonce}>, then " for text in texts)
    found = pieces(message)
    if found is not None:  # None keeps the prompt whole
        assert fill(*found) == message


def test_a_prompt_without_a_fence_is_its_own_skeleton() -> None:
    assert pieces("You judge.") == ("You judge.", "", [])


def test_a_table_downloads_all_its_rows_and_no_formula() -> None:
    grid = Grid("t", "T", ["name", "n"], [["=1+1", 1], ["plain", None], ["a,b", 0.5]], most=1)
    assert grid.csv == 'name,n\r\n\'=1+1,1\r\nplain,\r\n"a,b",0.5\r\n'
    assert grid.printed == [["=1+1", "1"]]
    assert grid.numeric == [False, True]


def test_a_remark_is_said_once_with_those_it_concerns() -> None:
    assert gathered([("a", "x"), ("b", "x"), ("a", "y")], 2) == ["x", "y (a)"]
