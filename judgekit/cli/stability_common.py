"""What the commands of `judgekit stability` share."""

from __future__ import annotations

import json
from typing import Any

import click

__all__ = ["no_samples", "show"]


def no_samples(given: dict[str, Any]) -> None:
    """These commands decide themselves how often something is asked."""
    from judgekit.errors import UsageError

    if given["samples"] != 1:
        raise UsageError("--samples says nothing here", field="samples", mend="leave it out")


def show(result: Any, spent: Any, as_json: bool, then: str) -> int:
    """A result with what the calls came to; the exit code of what ended the work early, else 0."""
    from judgekit.cli.judge import money

    if as_json:
        click.echo(json.dumps({**result.to_json(), **spent.to_dict()}, ensure_ascii=False, allow_nan=False))
        return int(spent.exit_code)
    click.echo(result.text())
    click.echo(f"\nthis command: {spent.calls} calls, {spent.reused} reused, {money(spent.cost)}")
    if spent.error is not None:
        click.echo(f"judgekit: {spent.error}", err=True)
    if spent.ended_early():
        click.echo("stopped early; what was done is kept, and the same command goes on", err=True)
    else:
        click.echo(f"next: {then}")
    return int(spent.exit_code)
