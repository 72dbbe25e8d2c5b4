"""Options that take a number take a finite one, in every command."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from judgekit.cli.app import cli
from judgekit.cli.options import Finite, each_model


def walk(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        with click.Context(command) as ctx:
            for inner in command.list_commands(ctx):
                if (found := command.get_command(ctx, inner)) is not None:
                    yield from walk(found, f"{name} {inner}")


def test_no_option_of_any_command_takes_nan_or_infinity() -> None:
    seen = 0
    for name, command in walk(cli, "judgekit"):
        for option in command.params:
            if isinstance(option.type, click.types.FloatParamType):
                assert isinstance(option.type, Finite), f"{name} {option.name}: judgekit.cli.options.Finite"
                seen += 1
    assert seen > 10


@pytest.mark.parametrize("value", ["nan", "NaN", "inf", "-inf", "Infinity", "1e999", "x"])
def test_what_is_no_finite_number_is_refused(value: str) -> None:
    for kind in (Finite(), Finite(0), Finite(0, 1)):
        with pytest.raises(click.BadParameter):
            kind.convert(value, None, None)


def test_a_price_is_for_all_models_for_one_or_both() -> None:
    ctx, option = click.Context(cli), click.Option(["--price-in"])
    assert each_model(ctx, option, ()) is None
    assert each_model(ctx, option, ("1.5",)) == 1.5
    assert each_model(ctx, option, ("1.5", "openai/b=2")) == {"": 1.5, "openai/b": 2.0}
    assert each_model(ctx, option, ("openai/b=0",)) == {"openai/b": 0.0}
    for wrong in (("1", "2"), ("a=1", "a=2"), ("a=nan",), ("a=-1",), ("a=",)):
        with pytest.raises(click.BadParameter):
            each_model(ctx, option, wrong)
