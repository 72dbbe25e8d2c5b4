"""`judgekit demo`: the main job on bundled records, with the embedded judge."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["demo"]

DATA = "planted-omissions/demo"
RUBRICS = ("general-likert", "analytical-rubric")
MODEL = "local/smollm2-135m"
SHORT = 160  # characters of an explanation: the judge's time goes into writing


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("demo-out"),
    show_default=True,
    help="Folder of the run, the picture and the page.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N records.")
def demo(out: Path, limit: int | None) -> None:
    """The main job, end to end: two rubrics, a judge, the triage table, a picture and a page.

    24 bundled answers, half of them with something important left out on purpose, are judged by a small model that runs on this
    machine: no key, and no network after its weights (98 MB) were fetched once. The model is real and weak. What it shows
    is how the work goes, not what a good judge can do. Nothing is asked twice: a second call reads the kept run.
    """
    import asyncio

    from judgekit.analysis.triage import triage
    from judgekit.cli.judge import show_outcome
    from judgekit.data import load_records
    from judgekit.errors import ProviderError, StatisticsError
    from judgekit.judging.engine.run import run_judges
    from judgekit.judging.engine.units import Options
    from judgekit.judging.provider.types import JudgeSpec
    from judgekit.rubric import load_rubric

    records = load_records(DATA)
    if limit is not None:
        records = records[:limit]
    run = out / "run"
    _say(
        f"1. {len(records)} answers to patients' questions; labels by construction: half leave something important out."
    )
    _say(
        f"2. Judged under {' and '.join(RUBRICS)} by {MODEL}, on this machine. Ctrl-C is safe: the same command goes on."
    )
    outcome = asyncio.run(
        run_judges(
            [records], [load_rubric(name) for name in RUBRICS], [JudgeSpec(MODEL)], run, Options(max_chars=SHORT)
        )
    )
    click.echo()
    show_outcome(outcome, False, then="")
    if outcome.stopped == "interrupted":
        raise KeyboardInterrupt
    if isinstance(outcome.error, ProviderError):
        raise outcome.error

    click.echo("\n3. Could this judge take reading away from a clinician?\n")
    found = triage(str(run), recall="0.9")
    click.echo(found.text())
    drawn: list[str] = []
    try:
        found.picture(out / "triage.png")
        drawn.append(f"picture  {out / 'triage.png'}")
    except StatisticsError as error:
        drawn.append(f"no picture: {error.message}")
    drawn.append(_page(run, out))
    click.echo("\n" + "\n".join(drawn))
    click.echo(
        "\nThis judge is a 135-million-parameter model: expect it to be no better than chance. Three things to type next:\n"
        "  judgekit rubric render general-likert            the exact prompt and schema that were sent\n"
        f"  judgekit judge {DATA} --rubric analytical-rubric --model openai/gpt-5-mini --plan\n"
        "  judgekit rubric new my-rubric                    a commented rubric file to start from"
    )


def _page(run: Path, out: Path) -> str:
    from judgekit.report.write import write_report

    page = out / "report.html"
    write_report(run, page)
    return f"page     {page}  (one file; opens in any browser, no network)"


def _say(line: str) -> None:
    click.echo(line, err=True)
