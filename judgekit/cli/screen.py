"""`judgekit screen`: combine judges' scores and local metrics into one score, honestly measured."""

from __future__ import annotations

from typing import Any

import click

__all__ = ["screen"]


@click.command()
@click.argument("source", metavar="RUN|TABLE")
@click.option("--out", metavar="FILE", help="Save the screen for `judgekit triage --screen FILE`.")
@click.option("--name", default="screen", show_default=True, help="Name of the screen.")
@click.option("--recall", default="0.9", show_default=True, help="Share of the incomplete answers to catch, in (0, 1].")
@click.option("--score", multiple=True, metavar="COL", help="Table: columns to combine, two or more.")
@click.option("--label", default="incomplete", show_default=True, metavar="COL", help="Table: column of the label.")
@click.option("--label-is", type=click.Choice(["incomplete", "complete"]), help="What 1 means in the label column.")
@click.option("--cluster", metavar="COL", help="Table: column that names the question.")
@click.option("--id", "id_", metavar="COL", help="Table: column of the answer's id. [id, record_id]")
@click.option("--rater", help="Run: a rater's name, or a way to join (majority, worst, mean).")
@click.option("--dataset", multiple=True, help="Run: this data set.")
@click.option("--rubric", multiple=True, help="Run: only these rubrics.")
@click.option("--judge", multiple=True, help="Run: only these judges.")
@click.option("--metric", multiple=True, help="Run: only these local metrics. [all]")
@click.option("--construct", help="Run: labels of this construct. [the rubric's own]")
@click.option("--complete-value", multiple=True, help="Run: label value that means complete.")
@click.option("--higher-is-worse", is_flag=True, help="In all parts a higher score means more incomplete.")
@click.option(
    "--worse", "worse_parts", multiple=True, metavar="PART", help="In this part a higher score means more incomplete."
)
@click.option("--folds", default=5, show_default=True, type=click.IntRange(2), help="Folds, by question.")
@click.option(
    "--repeats", default=500, show_default=True, type=click.IntRange(20), help="Bootstrap samples of the procedure."
)
@click.option("--seed", default=0, show_default=True, help="Seed of folds and bootstrap.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def screen(
    source: str,
    out: str | None,
    score: tuple[str, ...],
    id_: str | None,
    metric: tuple[str, ...],
    as_json: bool,
    **words: Any,
) -> int:
    """Combine judges and metrics into one screen.

    The screen is cross-fitted by question and shown beside each of its parts and the best single one. With --out it is
    refitted on all records and saved; triage then applies it to records that it never saw.
    """
    import json
    import shutil

    from judgekit.analysis.screen import make_screen

    found = make_screen(source, score=score or "score", id=id_, metric=metric or "all", **words)
    if out:
        found.save(out)
        click.echo(f"screen: {out}", err=True)
    if as_json:
        click.echo(json.dumps(found.to_json(), ensure_ascii=False, allow_nan=False))
    else:
        click.echo(found.text(max(100, min(160, shutil.get_terminal_size((120, 24)).columns))), nl=False)
    return 0
