"""`judgekit triage`: AUC and the operating point, from a run or straight from a table."""

from __future__ import annotations

from typing import Any

import click

from judgekit.cli.options import Finite

__all__ = ["triage"]


@click.command()
@click.argument("source", metavar="RUN|TABLE")
@click.option("--recall", default="0.9", show_default=True, help="Share of the incomplete answers to catch, in (0, 1].")
@click.option(
    "--label",
    default="incomplete",
    show_default=True,
    metavar="COL",
    help="Column of the clinician's label: 0/1, true/false, yes/no.",
)
@click.option(
    "--label-is", type=click.Choice(["incomplete", "complete"]), help="What 1 means in the label column (incomplete)."
)
@click.option(
    "--score", multiple=True, metavar="COL", help="Column of the raw score; several are several judges. [score]"
)
@click.option("--higher-is-worse", is_flag=True, help="A higher score means more incomplete.")
@click.option("--cluster", metavar="COL", help="Column that names the question; needed when questions repeat.")
@click.option("--id", "id_", metavar="COL", help="Column of the answer's id. [id, record_id]")
@click.option(
    "--rater",
    metavar="COL",
    help="Table: column of the rater, one row a rater. Run: a name, 'each', or a join (majority, worst, mean).",
)
@click.option("--join", type=click.Choice(["majority", "worst"]), help="Table: also join the raters, in this way.")
@click.option("--dataset", multiple=True, help="Run: only this data set.")
@click.option("--rubric", multiple=True, help="Run: only this rubric.")
@click.option("--judge", multiple=True, help="Run: only this judge.")
@click.option(
    "--panel", type=click.Choice(["mean", "majority"]), help="Run: also all judges (or those of --judge) as one panel."
)
@click.option("--metric", multiple=True, help="Run: also this local metric as a score.")
@click.option("--construct", help="Run: labels of this construct. [the rubric's own]")
@click.option("--complete-value", multiple=True, help="Run: label value that means complete, such as Entailment.")
@click.option(
    "--sampling-probability", metavar="COL", help="How likely an answer was to be labelled; weights by the inverse."
)
@click.option("--severity", metavar="COL", help="Column with the severity of what is missing.")
@click.option("--complete-when", metavar="RULE", help="The judge's own fixed threshold, such as '>= 4'.")
@click.option("--by", metavar="FIELD", help="Split into strata by this column.")
@click.option(
    "--unscored",
    type=click.Choice(["drop", "first", "last"]),
    default="drop",
    show_default=True,
    help="How unscored answers count in the main figures; the _all figures always count them as read.",
)
@click.option(
    "--threshold",
    type=Finite(),
    help="A threshold that was set beforehand (inclusive); nothing is chosen on these records.",
)
@click.option(
    "--certify",
    metavar="CONFIDENCE",
    help="Certify a threshold, with a confidence such as 0.95, on half of the questions.",
)
@click.option("--calibration", metavar="RUN|TABLE", help="Other records that choose the thresholds.")
@click.option(
    "--calibrate",
    is_flag=True,
    help="Also learn the chance of incompleteness on half of the questions, test it on the others.",
)
@click.option("--screen", metavar="FILE", help="Triage the score of a saved screen.")
@click.option("--picture", metavar="FILE", help="Draw ROC and workload against recall (PNG, SVG or PDF).")
@click.option("--details", is_flag=True, help="With --json: add what the rows have no field for.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def triage(
    source: str,
    score: tuple[str, ...],
    id_: str | None,
    picture: str | None,
    details: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """AUC and the operating point against clinicians' labels.

    How well do scores find the incomplete answers, and how much must a clinician still read to catch most of them? SOURCE is a
    run folder, or a CSV, TSV, JSONL or Parquet table with a label and a score column.
    """
    import json
    import shutil
    from dataclasses import asdict

    from judgekit.analysis.triage import triage as compute
    from judgekit.analysis.triage_details import plain

    found = compute(source, score=score or "score", id=id_, **options)
    if picture:
        found.picture(picture)
        click.echo(f"picture: {picture}", err=True)
    if as_json:
        body = found.to_json()
        if details:
            body["details"] = found.details()
            body["pairs"] = plain([asdict(pair) for pair in found.pairs()])
        click.echo(json.dumps(body, ensure_ascii=False, allow_nan=False))
    else:
        click.echo(found.text(max(100, min(160, shutil.get_terminal_size((120, 24)).columns))), nl=False)
    return 0
