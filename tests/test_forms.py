"""Files that people write: places survive aliases and short forms, and pydantic's errors come out in words, all at once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgekit.errors import DataError, InputError
from judgekit.forms import MAX_BYTES, MAX_DEPTH, MAX_NODES, Form, Number, Text, parse_yaml, read_yaml
from judgekit.rubric.form import Positive


class Dose(Form):
    example = "{drug: aspirin, times: 3}"
    mends: ClassVar[dict[str, str]] = {"drug": "name the drug"}
    drug: Text
    times: Positive = 1


class Plan(Form):
    plan: Text
    doses: tuple[Dose, ...] = ()
    first: Dose | None = None


def wrong(text: str, *, from_one: bool = True) -> list[InputError]:
    with pytest.raises(InputError) as caught:
        parse_yaml(text, "p.yaml", "plan", DataError, aliases=True, from_one=from_one).read(Plan)
    assert isinstance(caught.value, DataError)
    return [caught.value, *caught.value.also]  # type: ignore[list-item]


def places(errors: list[InputError]) -> list[tuple[int | None, str | None, str | None]]:
    return [(error.line, error.field, error.mend) for error in errors]


def test_all_errors_come_at_once_in_the_order_of_the_file() -> None:
    text = "plan: p\ndoses:\n  - {drug: a, times: 0}\n  - times: two\n  - {drgu: c}\nfrist: {}\n"
    assert places(wrong(text)) == [
        (3, "doses[1].times", "write a number of 1 or more"),
        (4, "doses[2].times", "write digits only, such as 3"),
        (4, "doses[2]", "name the drug"),
        (5, "doses[3].drgu", "did you mean 'drug'?"),  # and not also that `drug` is missing
        (6, "frist", "did you mean 'first'?"),
    ]
    assert wrong(text, from_one=False)[0].field == "doses.0.times"


def test_an_error_below_an_alias_is_shown_where_the_value_stands() -> None:
    text = "plan: p\nfirst: &one\n  drug: a\n  times: none\ndoses: [*one]\n"
    assert {(error.line, error.field) for error in wrong(text)} == {(4, "first.times"), (4, "doses[1].times")}


def test_one_may_stand_for_a_list_of_one_and_keeps_its_lines() -> None:
    document = parse_yaml("plan: p\ndoses:\n  drug: a\n  times: x\n", "p.yaml", "plan")
    document.listed("doses")
    with pytest.raises(InputError) as caught:
        document.read(Plan)
    assert (caught.value.line, caught.value.field) == (4, "doses[1].times")


def test_null_is_absent_and_an_empty_needed_key_says_so() -> None:
    assert parse_yaml("plan: p\nfirst: null\ndoses: ~\n", "p.yaml").read(Plan) == Plan(plan="p")
    assert places(wrong("plan:\n")) == [(1, "plan", "write something, or remove the key")]


def test_aliases_are_refused_where_nobody_asked_for_them() -> None:
    with pytest.raises(InputError, match="anchors and aliases are not read in a card"):
        parse_yaml("a: &x b\nc: *x\n", "c.yaml", "card")


def test_aliases_count_as_often_as_they_stand() -> None:
    # Ten lists of ten times the list before: 10 ** 10 values from 11 short lines.
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 11))
    with pytest.raises(InputError, match=f"more than {MAX_NODES:,} values"):
        parse_yaml(bomb, "b.yaml", aliases=True)


@settings(deadline=None)
@given(st.integers(-(10**15), 10**15), st.integers(-5, 5), st.integers(0, 10))
def test_a_number_is_read_exactly_or_refused(value: int, low: int, span: int) -> None:
    assert Number()(str(value)) == value
    bounded = Number(low, low + span)
    small = value % 21 - 10
    if low <= small <= low + span:
        assert bounded(str(small)) == small
    else:
        with pytest.raises(ValueError, match="out of range"):
            bounded(str(small))


def test_aliases_inside_aliases_do_not_pass_the_limit_of_depth() -> None:
    # Each line nests 20 lists around the line before it: 3 lines are 60 deep, though none is deeper than 20 as written.
    chain = "a0: &a0 x\n" + "".join(f"a{i}: &a{i} {'[' * 20}*a{i - 1}{']' * 20}\n" for i in range(1, 4))
    with pytest.raises(InputError, match=f"nested deeper than {MAX_DEPTH}") as caught:
        parse_yaml(chain, "d.yaml", aliases=True)
    assert (caught.value.line, caught.value.field) == (3, "a2")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are POSIX")
def test_a_pipe_is_refused_unread(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p.yaml")
    with pytest.raises(DataError, match="a pipe or a device, no card"):
        read_yaml(tmp_path / "p.yaml", "p.yaml", "card", DataError)


def test_a_file_of_too_many_bytes_is_refused_by_the_name_it_was_given(tmp_path: Path) -> None:
    (tmp_path / "big.yaml").write_text("card: x\n" + "#" * MAX_BYTES, "utf-8")
    with pytest.raises(InputError, match="bytes are too many for a card") as caught:
        read_yaml(tmp_path / "big.yaml", "big.yaml")
    assert caught.value.file == "big.yaml"
