from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.errors import UsageError
from judgekit.judging.provider.prices import Price, given_price, listed_price, total, total_bill
from judgekit.runs.model import Bill


def test_a_price_is_a_million_tokens_and_an_unknown_count_is_an_unknown_cost() -> None:
    price = given_price(3.0, 15.0)
    assert price is not None
    # 2,000 tokens at 3 dollars a million and 100 at 15: .006 + .0015
    assert price.of(2000, 100) == pytest.approx(0.0075, abs=1e-15)
    assert price.of(None, 100) is None
    assert price.of(2000, None) is None
    assert given_price(None, None) is None
    assert given_price(0.0, 0.0) == Price(0.0, 0.0, "given")


@pytest.mark.parametrize("pair", [(1.0, None), (None, 1.0), (-1.0, 1.0), (1.0, float("nan")), (float("inf"), 1.0)])
def test_half_a_price_or_no_number_is_refused(pair: tuple[float | None, float | None]) -> None:
    with pytest.raises(UsageError, match="--price"):
        given_price(*pair)


def test_a_listed_price_must_be_by_token() -> None:
    assert listed_price({"input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6}) == Price(1e-6, 2e-6, "listed")
    assert listed_price(None) is None
    assert listed_price({}) is None
    assert listed_price({"input_cost_per_token": 1e-6}) is None
    assert listed_price({"input_cost_per_token": 0, "output_cost_per_token": 0, "input_cost_per_second": 0.1}) is None


def test_what_runs_here_is_known_to_cost_nothing_even_where_tokens_are_not_counted() -> None:
    assert Price(0.0, 0.0, "local").of(None, None) == 0.0


@given(st.lists(st.one_of(st.none(), st.integers(0, 10**6)), max_size=6))
def test_a_sum_is_known_only_where_every_part_is(counts: list[int | None]) -> None:
    assert (total(counts) is None) == (not counts or None in counts)
    if counts and None not in counts:
        assert total(counts) == sum(count for count in counts if count is not None)
    bills = [Bill(0.0, None) if count is None else Bill(count / 10, count / 10) for count in counts]
    assert (total_bill(bills).exact is None) == (None in counts)


def test_costs_add_without_loss() -> None:
    assert total_bill([Bill(0.1, 0.1)] * 10) == Bill(1.0, 1.0)
