"""`judgekit stability judge`: how far a judge moves when only the rubric's words do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from judgekit.cli.judge import money, options_from, running_options

__all__ = ["judge"]


@click.command()
@click.argument("rubric", metavar="RUBRIC")
@click.argument("data", metavar="DATA", type=click.Path(path_type=Path))
@click.option("--model", required=True, metavar="M", help="The judge.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="RUN",
    help="The run's folder.  [default: runs/, the data's name and -stability]",
)
@click.option(
    "--way",
    "ways",
    multiple=True,
    metavar="WAY",
    help="Only this way: words, layout, courtesy, order-levels, order-examples, order-criteria, label-names, length.",
)
@click.option("--writer", metavar="M", help="A model that rewords the rubric too.")
@click.option("--rewordings", type=click.IntRange(1), default=3, show_default=True, help="By the writer.")
@click.option(
    "--same",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="Samples at the same wording: the judge's own noise.",
)
@click.option("--recall", default="0.9", show_default=True, help="Target of the workload.")
@click.option(
    "--join",
    default="card",
    show_default=True,
    metavar="HOW",
    help="How raters' labels are joined: card, majority, worst.",
)
@click.option(
    "--replicates",
    type=click.IntRange(0),
    default=2000,
    show_default=True,
    help="Bootstrap resamples of questions; 0: none.",
)
@click.option("--bootstrap-seed", default=0, show_default=True, help="Of the resamples.")
@click.option("--card", metavar="CARD", help="Read DATA through a data set card.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N records.")
@click.option(
    "--report",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the judge card: .md or .html.  [default: both into RUN]",
)
@running_options
def judge(
    rubric: str, data: Path, model: str, out: Path | None, ways: tuple[str, ...], writer: str | None, rewordings: int, same: int, recall: str,
    join: str, replicates: int, bootstrap_seed: int, card: str | None, limit: int | None, report: Path | None, plan: bool, as_json: bool,
    api_base: str | None, endpoint: str | None, **given: Any,
) -> int:  # fmt: skip
    """Judge DATA under several wordings of RUBRIC, and measure how the verdicts move.

    The rubric is reworded, its levels, criteria and examples are put in another order, its labels get neutral names, and the same answers
    are padded without content. What changes at the same wording (--same samples) is measured and subtracted. A judge card comes out.
    """
    from judgekit.cli.stability_common import no_samples
    from judgekit.cli.stability_tables import judged
    from judgekit.data import load_records
    from judgekit.errors import UsageError
    from judgekit.judging.api import specs_for
    from judgekit.rubric import load_rubric
    from judgekit.stability.card import card_html, card_markdown, card_sections
    from judgekit.stability.judges import WAYS, judge_stability
    from judgekit.stability.study import write_text

    no_samples(given)
    if report is not None and report.suffix.lower() not in (".md", ".html"):
        raise UsageError(f"a card is no {report.suffix or 'nameless'} file", field="report", mend="end in .md or .html")
    options, sampling = options_from(given)
    records = load_records(data, card=card, limit=limit)
    compiled = load_rubric(rubric)
    spec = specs_for([model], sampling, api_base, endpoint)[0]
    if plan:
        most = len(records) * (same + len(ways or WAYS) + (rewordings if writer else 0))
        click.echo(
            json.dumps({"judgements_max": most}) if as_json else f"at most {most} judgements of {len(records)} answers"
        )
        return 0
    folder = out if out is not None else Path("runs") / f"{records.name}-stability"
    author = None if writer is None else specs_for([writer], {}, api_base, endpoint)[0]
    found = judge_stability(
        compiled, records, spec, folder, ways=ways or WAYS, writer=author, rewordings=rewordings, samples=same, recall=recall, join=join,
        replicates=replicates, seed=bootstrap_seed, options=options,
    )  # fmt: skip
    sections = card_sections(found, recall=recall, replicates=replicates, seed=bootstrap_seed)
    stem = f"card-{compiled.name}-{''.join(char if char.isalnum() or char in '-._' else '-' for char in model)}"
    targets = [report] if report is not None else [folder / f"{stem}.md", folder / f"{stem}.html"]
    for target in targets:
        make = card_html if target.suffix.lower() == ".html" else card_markdown
        write_text(target, make(found, sections))
    if as_json:
        shown = {**found.to_dict(), "card": [str(target) for target in targets]}
        click.echo(json.dumps(shown, ensure_ascii=False, allow_nan=False))
        return found.spent.exit_code
    click.echo(judged(found).text())
    click.echo(f"\nthis command: {found.spent.calls} calls, {found.spent.reused} reused, {money(found.spent.cost)}")
    click.echo(f"judge card: {', '.join(map(str, targets))}")
    if found.spent.ended_early():
        click.echo("stopped early; what was done is kept, and the same command goes on", err=True)
    return found.spent.exit_code
