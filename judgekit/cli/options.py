"""Types of options that several commands share."""

from __future__ import annotations

import math
from typing import Any

import click

__all__ = ["Finite", "each_model"]


class Finite(click.FloatRange):
    """A number within bounds; neither NaN nor an infinity, which no option means."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is no number: write a finite one.", param, ctx)
        return float(number)


def each_model(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> float | dict[str, float] | None:
    """A price for all models (``1.5``), for some (``openai/a=1.5``, repeated), or both: ``judging.provider.prices.Prices``."""
    found: dict[str, float] = {}
    for value in values:
        model, _, price = value.rpartition("=")
        if model in found:
            raise click.BadParameter(f"two prices for {model or 'all models'}: give one.", ctx, param)
        found[model] = Finite(0).convert(price, param, ctx)
    return found.get("") if set(found) <= {""} else found
