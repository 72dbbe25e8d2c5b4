"""`judgekit import`: bring in verdicts that were recorded elsewhere."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from judgekit.cli.judge import show_outcome

__all__ = ["import_"]


@click.command("import")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--data",
    required=True,
    type=click.Path(path_type=Path),
    metavar="DATA",
    help="The records that the verdicts are about.",
)
@click.option("--card", metavar="CARD", help="Read DATA through a data set card.")
@click.option(
    "--rubric",
    "rubrics",
    multiple=True,
    metavar="R",
    help="The rubrics in FILE; may be repeated.  [default: those that FILE names]",
)
@click.option("--dataset", metavar="NAME", help="The data set's name in the run.")
@click.option(
    "--out", required=True, type=click.Path(path_type=Path, file_okay=False), metavar="RUN", help="The run's folder."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def import_(
    file: Path, data: Path, card: str | None, rubrics: tuple[str, ...], dataset: str | None, out: Path, as_json: bool
) -> int:
    """Import verdicts from FILE, JSONL of record_id, rubric, judge, sample, verdict (or null), status and raw.

    Nothing is asked. Numbers off the scale or between its levels are kept, counted and flagged. Records without a line are
    counted as skipped.
    """
    from judgekit.data import load_records
    from judgekit.errors import DataError
    from judgekit.judging.replay import read_recorded
    from judgekit.judging.run import run_judges
    from judgekit.judging.types import JudgeSpec
    from judgekit.rubric import load_rubric

    named = rubrics or tuple(sorted({row.rubric for row in read_recorded(file) if row.rubric is not None}))
    if not named:
        raise DataError("no line names a rubric", file=str(file), field="rubric", mend="say which with --rubric")
    records = load_records(data, card=card, dataset=dataset)
    loaded = [load_rubric(name) for name in named]
    outcome = asyncio.run(run_judges([records], loaded, [JudgeSpec(f"replay/{file}")], out))
    show_outcome(outcome, as_json)
    return outcome.exit_code
