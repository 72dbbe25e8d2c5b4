"""`judgekit compare`: models, judges, rubrics or prompts, from a run or a table."""

from __future__ import annotations

import click

from judgekit.cli.options import Finite

__all__ = ["compare"]


@click.command()
@click.argument("source", metavar="RUN|TABLE")
@click.option(
    "--what",
    metavar="model|judge|rubric|prompt|FIELD",
    default="model",
    show_default=True,
    help="Run: what is compared.",
)
@click.option("--group", metavar="COL", help="Table: the column that names the groups.")
@click.option(
    "--value",
    multiple=True,
    metavar="COL",
    help="Table: column of numbers. Run: raw, score, complete, a verdict field. [repeatable]",
)
@click.option("--metric", multiple=True, metavar="NOTATION", help="Run: compare a local metric instead of judgements.")
@click.option(
    "--unit", metavar="COL", help="Table: column of the question; everything of a group and question is averaged first."
)
@click.option("--sample", metavar="COL", help="Column of repeated samples. [run: its samples]")
@click.option("--by", multiple=True, metavar="FIELD", help="Compare within each level of this field. [repeatable]")
@click.option("--baseline", metavar="GROUP", help="Compare this group with each other one, instead of all pairs.")
@click.option(
    "--design", type=click.Choice(["auto", "paired", "independent"]), default="auto", show_default=True,
    help="Paired by question, or Welch's test; auto pairs where groups share questions.",
)  # fmt: skip
@click.option("--family", type=click.IntRange(1), help="How many comparisons were looked at, when more than are shown.")
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
def compare(source: str, as_json: bool, **options: object) -> int:
    """Compare models, judges, rubrics or prompts.

    Means by question, blocked and one-way ANOVA, paired t (or Welch) with Bonferroni and Holm over a printed family, d and d_z
    with intervals, and a permutation test that flips whole questions.
    """
    import json

    from judgekit.analysis.compare_source import compare_source

    found = compare_source(source, **options)  # type: ignore[arg-type]
    click.echo(json.dumps(found.to_dict(), ensure_ascii=False, allow_nan=False) if as_json else found.text())
    return 0
