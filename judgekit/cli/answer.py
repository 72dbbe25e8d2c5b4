"""`judgekit answer`: let a model write the answers that are then judged."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import click

from judgekit.cli.judge import options_from, running_options, show_outcome, show_plan

__all__ = ["answer"]


@click.command()
@click.argument("data", metavar="DATA", type=click.Path(path_type=Path))
@click.option("--writer", required=True, metavar="W", help="A rubric with `output: text`: its name or file.")
@click.option("--model", "models", multiple=True, required=True, metavar="M", help="Who writes; may be repeated.")
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Where the answers go, as JSONL records.",
)
@click.option(
    "--run",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="RUN",
    help="Where calls are kept.  [default: runs/ and FILE's name]",
)
@click.option("--card", metavar="CARD", help="Read DATA through a data set card.")
@click.option("--dataset", metavar="NAME", help="The data set's name in the run.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N records.")
@running_options
def answer(
    data: Path,
    writer: str,
    models: tuple[str, ...],
    out: Path,
    folder: Path | None,
    card: str | None,
    dataset: str | None,
    limit: int | None,
    plan: bool,
    as_json: bool,
    api_base: str | None,
    endpoint: str | None,
    **given: Any,
) -> int:
    """Write an answer to each record of DATA, as new records with `response` and `meta.model`.

    The same command again asks only for what is missing. With several models or samples an id says who answered.
    """
    from judgekit.data import load_records
    from judgekit.errors import RubricError
    from judgekit.judging.api import specs_for
    from judgekit.judging.engine.answer import write_answers
    from judgekit.judging.engine.plan import make_plan
    from judgekit.judging.engine.retrieve import Retrievers
    from judgekit.judging.engine.run import run_judges
    from judgekit.rubric import load_rubric

    options, sampling = options_from(given)
    rubric = load_rubric(writer)
    if rubric.output != "text":
        raise RubricError(
            f"{rubric.name} gives verdicts, not texts",
            file=None if rubric.path is None else str(rubric.path),
            field="output",
            mend="name a rubric with `output: text`",
        )
    records = load_records(data, card=card, dataset=dataset, limit=limit)
    specs = specs_for(models, sampling, api_base, endpoint)
    place = folder if folder is not None else Path("runs") / out.stem
    if plan:
        show_plan(make_plan([records], [rubric], specs, place, options), as_json)
        return 0
    outcome = asyncio.run(run_judges([records], [rubric], specs, place, options))
    bound = Retrievers().bind([rubric])[0]
    counts = write_answers(place, records, bound, [spec.notation for spec in specs], options.samples, out)
    if as_json:
        click.echo(json.dumps({**outcome.to_dict(), "out": str(out), **counts}, ensure_ascii=False, allow_nan=False))
        return outcome.exit_code
    show_outcome(outcome, False, then=f"judgekit judge {out} --rubric R --model M")
    click.echo(
        f"answers: {counts['written']} in {out}, {counts['truncated']} of them cut short, {counts['absent']} absent"
    )
    return outcome.exit_code
