"""`judgekit strata`: results by any field of the records."""

from __future__ import annotations

import click

from judgekit.cli.options import Finite

__all__ = ["strata"]


@click.command()
@click.argument("source", metavar="RUN|TABLE")
@click.option(
    "--by", multiple=True, required=True, metavar="FIELD", help="The field; two of them: also their interaction."
)
@click.option(
    "--value",
    multiple=True,
    metavar="COL",
    help="Table: column of numbers. Run: raw, score, complete, a verdict field. [repeatable]",
)
@click.option(
    "--metric", multiple=True, metavar="NOTATION", help="Run: strata of a local metric instead of judgements."
)
@click.option(
    "--unit",
    metavar="COL",
    help="Table: column of the question; everything of a stratum and question is averaged first.",
)
@click.option(
    "--pair", metavar="COL", help="Column that names what is the same across strata, such as a question's stem."
)
@click.option(
    "--within", multiple=True, metavar="FIELD", help="Everything within each level of this field. [repeatable]"
)
@click.option("--baseline", metavar="LEVEL", help="Gaps of this stratum to each other one, instead of all pairs.")
@click.option(
    "--design", type=click.Choice(["auto", "paired", "independent"]), default="auto", show_default=True,
    help="Paired by question, or Welch's test; auto pairs where strata share questions.",
)  # fmt: skip
@click.option("--family", type=click.IntRange(1), help="How many gaps were looked at, when more than are shown.")
@click.option("--rubric", multiple=True, help="Run: only this rubric.")
@click.option("--judge", multiple=True, help="Run: only this judge.")
@click.option("--where", multiple=True, metavar="FIELD=A,B", help="Only these rows; FIELD!=A leaves rows out.")
@click.option(
    "--missing", multiple=True, metavar="WORD", help="A word that means 'no value'. An empty cell always does."
)
@click.option("--unscored-as", type=Finite(), help="Count unscored rows as this number; stamped on the result.")
@click.option("--level", default=0.95, show_default=True, type=Finite(0.5, 0.999), help="Of the intervals.")
@click.option(
    "--permutations", default=10_000, show_default=True, type=click.IntRange(1), help="Of the permutation test."
)
@click.option(
    "--replicates", default=2000, show_default=True, type=click.IntRange(0), help="Bootstrap resamples; 0: none."
)
@click.option("--seed", default=0, show_default=True, help="Of permutations and resamples.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def strata(source: str, as_json: bool, **options: object) -> int:
    """Results by any field of the records: means or shares, gaps with tests, the interaction of two fields."""
    import json

    from judgekit.analysis.compare_source import strata_source

    found = strata_source(source, **options)  # type: ignore[arg-type]
    click.echo(json.dumps(found.to_dict(), ensure_ascii=False, allow_nan=False) if as_json else found.text())
    return 0
