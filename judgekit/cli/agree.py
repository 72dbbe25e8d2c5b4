"""`judgekit agree`: raters and judges, from a run, labelled records or a table."""

from __future__ import annotations

import click

from judgekit.cli.options import Finite

__all__ = ["agree"]


@click.command()
@click.argument("source", metavar="RUN|TABLE|DATA")
@click.option("--raters", metavar="A,B,C", help="Table: the raters' columns. Run or data: only these raters.")
@click.option(
    "--judge",
    multiple=True,
    metavar="NAME",
    help="Table: a judge's column. Data: a field of meta. Run: only this judge. [repeatable]",
)
@click.option(
    "--panel", type=click.Choice(["mean", "majority"]), help="Run: also all judges (or those of --judge) as one panel."
)
@click.option("--rubric", multiple=True, help="Run: only this rubric.")
@click.option("--levels", metavar="1..5|low,mid,high", help="The scale's levels in order; needed for weighted kappa.")
@click.option("--cluster", metavar="COL", help="Table: column of the question; 'none' when rows are independent.")
@click.option(
    "--on",
    type=click.Choice(["complete", "severity", "score", "value", "criteria"]),
    default="complete",
    show_default=True,
    help="Run or data: which part of the labels to compare.",
)
@click.option(
    "--met", metavar="WORD,WORD", help="With --on criteria: the words that mean met; ratings become yes and no."
)
@click.option("--construct", metavar="NAME", help="Run or data: which construct, when labels speak of several.")
@click.option("--dataset", metavar="NAME", help="Run: which data set, when it holds several.")
@click.option("--card", metavar="CARD", help="Data: how to read it.")
@click.option(
    "--missing", multiple=True, metavar="WORD", help="A word that means 'not rated'. An empty cell always does."
)
@click.option("--where", multiple=True, metavar="FIELD=A,B", help="Table: only these rows; FIELD!=A leaves rows out.")
@click.option("--level", default=0.95, show_default=True, type=Finite(0.5, 0.999), help="Of the intervals.")
@click.option(
    "--replicates", default=2000, show_default=True, type=click.IntRange(0), help="Bootstrap resamples; 0: none."
)
@click.option("--seed", default=0, show_default=True, help="Of the resamples.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def agree(source: str, as_json: bool, **options: object) -> int:
    """Agreement of raters and judges.

    Percent, Cohen's kappa over the declared levels, balanced F1, Fleiss, Krippendorff's alpha; each judge with each rater; the
    judge and a left-out rater against the same other raters; correlations between judges. SOURCE is a run folder, a table with
    one row a unit and one column a rater, or labelled records.
    """
    import json

    from judgekit.analysis.agree_source import agree_source

    found = agree_source(source, **options)  # type: ignore[arg-type]
    click.echo(json.dumps(found.to_dict(), ensure_ascii=False, allow_nan=False) if as_json else found.text())
    return 0
