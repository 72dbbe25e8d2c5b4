"""`judgekit cost`: what a run cost, and what it bought."""

from __future__ import annotations

import click

__all__ = ["cost"]


@click.command()
@click.argument("run", metavar="RUN")
@click.option(
    "--quality", type=click.Choice(["auc", "balanced_f1", "recall", "kappa"]), default="auc", show_default=True,
    help="What is set against cost.",
)  # fmt: skip
@click.option("--rater", help="Whose labels; by default the only rater's, or the join of the card.")
@click.option("--construct", help="Which labels, when they speak of several constructs.")
@click.option(
    "--replicates", default=1000, show_default=True, type=click.IntRange(0), help="Bootstrap resamples; 0: none."
)
@click.option("--seed", default=0, show_default=True, help="Of the resamples.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def cost(run: str, as_json: bool, **options: object) -> int:
    """What a run cost, and what it bought: tokens, price, per thousand, per correct catch, cost against quality."""
    import json

    from judgekit.analysis.cost import cost as compute
    from judgekit.runs.reader import open_run

    found = compute(open_run(run), **options)  # type: ignore[arg-type]
    click.echo(json.dumps(found.to_dict(), ensure_ascii=False, allow_nan=False) if as_json else found.text())
    return 0
