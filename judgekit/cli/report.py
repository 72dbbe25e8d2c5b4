"""`judgekit report`: one HTML file that tells the whole run."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["report"]


@click.command()
@click.argument("run", metavar="RUN")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The page to write. [RUN/report.html]",
    metavar="FILE",
)
@click.option("--recall", default="0.9", show_default=True, help="Share of the incomplete answers to catch, in (0, 1].")
@click.option("--title", help="The page's heading.")
@click.option(
    "--reasons", metavar="RUN", help="The run that judged the pairs of `judgekit reasons`, when it is another one."
)
@click.option(
    "--markdown",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Also a summary for a pull request.",
)
@click.option(
    "--figures",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Also every figure as PNG, SVG and PDF, with its data.",
)
@click.option("--metric", multiple=True, metavar="NAME", help="Also set this local metric against the labels, or all.")
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON object on stdout: what was written, what is not there and why."
)
def report(
    run: str, out: Path | None, recall: str, title: str | None, reasons: str | None, markdown: Path | None, figures: Path | None,
    as_json: bool, metric: tuple[str, ...],
) -> None:  # fmt: skip
    """One HTML file that tells the whole run.

    It opens from disk in any browser, asks nothing of any server, and holds every record with prompt, reply and verdict. A panel
    whose data the run lacks is left out, with the reason.
    """
    import json

    from judgekit.report.write import make_report

    page = out if out is not None else Path(run) / "report.html"
    done = make_report(
        run, page, recall=recall, title=title, reasons=reasons, metrics=metric, markdown=markdown, figures=figures
    )
    if as_json:
        body = {
            "page": str(done.page),
            "bytes": done.page.stat().st_size,
            "panels": done.panels,
            "left_out": [{"panel": name, "reason": why} for name, why in done.left_out],
            "markdown": None if markdown is None else str(markdown),
            "figures": [str(path) for path in done.figures],
        }
        click.echo(json.dumps(body, ensure_ascii=False))
        return
    for name, why in done.left_out:
        click.echo(f"not there: {name}: {why}", err=True)
    click.echo(f"page      {done.page}  ({done.page.stat().st_size / 1e6:.1f} MB, opens in any browser, no network)")
    if markdown is not None:
        click.echo(f"summary   {markdown}")
    if done.figures:
        click.echo(f"figures   {figures}  ({len(done.figures)} files)")
