"""What tokens cost. An unknown price is None, never 0; a model that runs here costs 0.0, and that is known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from judgekit.errors import UsageError
from judgekit.runs.model import Bill

__all__ = [
    "ASSUMED_MAX_TOKENS", "Price", "Prices", "given_price", "listed_price", "max_tokens", "price_for", "states_max_tokens", "total",
    "total_bill",
]  # fmt: skip

ASSUMED_MAX_TOKENS = 2048
_LIMITS = ("max_completion_tokens", "max_tokens")

Prices = float | Mapping[str, float] | None
"""US dollars a million tokens: one figure for all models, or figures by model, where "" stands for every other model."""


def price_for(prices: Prices, model: str) -> float | None:
    """A model's own figure, else that of all models; None where there is none."""
    return prices.get(model, prices.get("")) if isinstance(prices, Mapping) else prices


def max_tokens(sampling: Mapping[str, Any]) -> int:
    """The most tokens that a reply may have, over all its choices; where nobody said, 2048 are assumed."""
    most = next((sampling[name] for name in _LIMITS if isinstance(sampling.get(name), int)), ASSUMED_MAX_TOKENS)
    choices = sampling.get("n")
    return int(most) * max(1, choices if isinstance(choices, int) else 1)


def states_max_tokens(sampling: Mapping[str, Any]) -> bool:
    """Whether the parameters themselves bound a reply."""
    return any(isinstance(sampling.get(name), int) for name in _LIMITS)


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars a token, and where the figure is from."""

    token_in: float
    token_out: float
    source: Literal["given", "listed", "local"]

    def of(self, tokens_in: int | None, tokens_out: int | None) -> float | None:
        """US dollars for so many tokens; None where a count is unknown."""
        if self.source == "local":
            return 0.0
        if tokens_in is None or tokens_out is None:
            return None
        return tokens_in * self.token_in + tokens_out * self.token_out


def given_price(price_in: float | None, price_out: float | None) -> Price | None:
    """A user's own price, in US dollars a million tokens; both or neither, finite and not negative."""
    if price_in is None and price_out is None:
        return None
    if price_in is None or price_out is None:
        missing = "--price-in" if price_in is None else "--price-out"
        raise UsageError(f"{missing} is missing", mend="give both prices, in US dollars a million tokens (0 for free)")
    for name, value in (("--price-in", price_in), ("--price-out", price_out)):
        if not math.isfinite(value) or value < 0:
            raise UsageError(f"{name} is {value}", mend="a price is 0 or more, in US dollars a million tokens")
    return Price(price_in / 1e6, price_out / 1e6, "given")


def listed_price(entry: Mapping[str, Any] | None) -> Price | None:
    """The price in an entry of litellm's list; None where it has no price for text tokens.

    Models that are billed by time or by character have no token price there, so theirs is unknown.
    """
    if not entry:
        return None
    token_in, token_out = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if not isinstance(token_in, int | float) or not isinstance(token_out, int | float):
        return None
    if any(entry.get(key) for key in ("input_cost_per_second", "output_cost_per_second", "input_cost_per_character")):
        return None
    return Price(float(token_in), float(token_out), "listed")


def total(counts: list[int | None]) -> int | None:
    """The sum; None where there is nothing or a part is unknown."""
    known = [count for count in counts if count is not None]
    return sum(known) if counts and len(known) == len(counts) else None


def total_bill(bills: Sequence[Bill]) -> Bill:
    """The sum, without loss by order; `at_most` is None where a part's is."""
    most = [bill.at_most for bill in bills if bill.at_most is not None]
    return Bill(math.fsum(bill.at_least for bill in bills), math.fsum(most) if len(most) == len(bills) else None)
