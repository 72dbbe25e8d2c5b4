"""`judgekit import`: bring in verdicts that were recorded elsewhere."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgekit.cli.judge import next_step, show_outcome

if TYPE_CHECKING:
    from judgekit.data import RecordSet

__all__ = ["import_"]


@click.command("import")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="DATA",
    help="The records that the verdicts are about.  [default: what FILE itself says of them, with a card]",
)
@click.option(
    "--card", metavar="CARD", help="A data set card: how to read DATA, and FILE where it is in the owner's form."
)
@click.option("--reading", metavar="NAME", help="How the card reads a reply without scores.  [default: its first]")
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
    file: Path,
    data: Path | None,
    card: str | None,
    reading: str | None,
    rubrics: tuple[str, ...],
    dataset: str | None,
    out: Path,
    as_json: bool,
) -> int:
    """Import verdicts from FILE, JSONL of record_id, rubric, judge, sample, verdict (or null), status and raw.

    With a card that knows recorded verdicts, FILE may be in the owner's own form. Nothing is asked. Numbers off the scale or
    between its levels are kept, counted and flagged. Records without a line are counted as skipped.
    """
    from judgekit.data import load_records
    from judgekit.errors import DataError, UsageError
    from judgekit.judging.engine.replay import read_recorded
    from judgekit.judging.engine.run import run_judges
    from judgekit.judging.provider.types import JudgeSpec
    from judgekit.rubric import load_rubric

    records = None
    if card is not None and not _has_our_form(file):
        file, records = _through_card(file, card, reading, rubrics, data, dataset, out)
        rubrics = ()  # the file that was made names them
    elif reading is not None:
        raise UsageError("--reading needs a FILE that is read through a card", mend="leave it out")
    elif data is None:
        raise UsageError("which records are these verdicts about?", mend="name them with --data")
    named = rubrics or tuple(sorted({row.rubric for row in read_recorded(file) if row.rubric is not None}))
    if not named:
        raise DataError("no line names a rubric", file=str(file), field="rubric", mend="say which with --rubric")
    if records is None:
        records = load_records(data, card=card, dataset=dataset)
    loaded = [load_rubric(name) for name in named]
    outcome = asyncio.run(run_judges([records], loaded, [JudgeSpec(f"replay/{file}")], out))
    show_outcome(outcome, as_json, then=next_step(records, out))
    return outcome.exit_code


def _has_our_form(file: Path) -> bool:
    """Whether a file is JSONL whose first row names a `record_id`."""
    from judgekit.data.source import read_rows

    if file.is_dir() or not file.name.endswith((".jsonl", ".ndjson", ".jsonl.gz")):
        return False
    return any("record_id" in row.value for row, _ in zip(read_rows(file), range(1), strict=False))


def _through_card(
    file: Path,
    card: str,
    reading: str | None,
    rubrics: tuple[str, ...],
    data: Path | None,
    dataset: str | None,
    out: Path,
) -> tuple[Path, RecordSet]:
    """The verdicts of a file in its owner's form as a file of our own in the run's folder, and the records they are about."""
    from dataclasses import replace

    from judgekit.data import RecordSet, load_records
    from judgekit.data.verdicts import load_verdicts
    from judgekit.errors import UsageError

    if len(rubrics) > 1:
        raise UsageError("one --rubric names the rubric of all verdicts in FILE", mend="give one")
    found = load_verdicts(file, card, reading=reading)
    if rubrics:
        found = replace(found, rows=[{**row, "rubric": rubrics[0]} for row in found.rows])
    if data is not None:
        found = found.about(load_records(data, card=card.partition("/")[0], dataset=dataset))
    elif dataset is not None:
        found = replace(found, records=RecordSet(found.records, name=dataset, card=found.records.card))
    out.mkdir(parents=True, exist_ok=True)
    made = out / f"imported-{file.stem}-{found.reading}.jsonl"
    found.write(made)
    click.echo(f"note: {found.signature}", err=True)
    for note in found.records.notes:
        click.echo(f"note: {note}", err=True)
    return made, found.records
