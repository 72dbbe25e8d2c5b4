"""`judgekit failures`: failure flags of the local metrics."""

from __future__ import annotations

import click

from judgekit.cli.options import Finite

__all__ = ["failures"]


@click.command()
@click.argument("source", metavar="RUN|TABLE")
@click.option("--by", metavar="FIELD", help="Split by this field. [model, where there is one]")
@click.option("--unit", metavar="COL", help="Table: column of the question; 'none' when rows are independent.")
@click.option(
    "--metric",
    multiple=True,
    metavar="NOTATION",
    help="Run: which notation, where a metric was measured in several ways.",
)
@click.option(
    "--threshold", multiple=True, metavar="NAME=X", help="Under X fails; replaces or adds to the paper's. [repeatable]"
)
@click.option(
    "--high-similarity", type=Finite(), default=0.5, show_default=True, help="From here on an answer counts as fluent."
)
@click.option(
    "--examples", default=5, show_default=True, type=click.IntRange(0), help="How many of the worst answers to show."
)
@click.option("--weights", is_flag=True, help="Also: does the ranking hold under other weights of the components?")
@click.option(
    "--scheme", multiple=True, metavar="NAME:PART=.5,...", help="A scheme of weights, besides the paper's five."
)
@click.option("--where", multiple=True, metavar="FIELD=A,B", help="Only these rows; FIELD!=A leaves rows out.")
@click.option(
    "--replicates", default=2000, show_default=True, type=click.IntRange(0), help="Bootstrap resamples; 0: none."
)
@click.option("--seed", default=0, show_default=True, help="Of the resamples.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def failures(source: str, as_json: bool, **options: object) -> int:
    """Failure flags of the local metrics.

    Shares under each component's threshold, dangerous overlaps (fluent but vague, fluent but contradicted), the semantic-entity
    gap in points, correlations of components, and the worst answers to read.
    """
    import json

    from judgekit.analysis.failures_source import failures_source

    found = failures_source(source, **options)  # type: ignore[arg-type]
    click.echo(json.dumps(found.to_dict(), ensure_ascii=False, allow_nan=False) if as_json else found.text())
    return 0
