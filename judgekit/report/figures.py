"""Every picture of the report for papers: PNG, SVG and PDF with captions and signatures, and a CSV of its data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from judgekit.draw.paper import KINDS, save
from judgekit.draw.spec import Figure as Drawing
from judgekit.errors import InputError
from judgekit.report.context import Context
from judgekit.report.model import Figure, Panel, Section

__all__ = ["write_figures"]


def write_figures(context: Context, found: Sequence[Section], folder: str | Path) -> list[Path]:
    """Draw what the report shows into `folder`, and ROC and workload beside each other as ``triage``; returns the files.

    Raises
    ------
    MissingDependency : matplotlib is not installed. InputError : the folder cannot be made or written.
    """
    from judgekit.analysis.triage.pictures import triage_figure

    place = Path(folder)
    shown = [block for section in found if isinstance(section.panel, Panel) for block in section.panel.blocks]
    figures = [block for block in shown if isinstance(block, Figure)]
    drawn: list[Drawing] = list(figures)
    if context.drawable and context.triage is not None:
        drawn.append(triage_figure(context.rows, float(context.triage.choices.recall), context.signature))
    try:
        place.mkdir(parents=True, exist_ok=True)
        files = []
        for figure in drawn:
            for kind in KINDS:
                files.append(place / f"{figure.name}{kind}")
                save(figure, files[-1])
        for figure in figures:
            files.append(place / f"{figure.name}.csv")
            files[-1].write_bytes(b"\xef\xbb\xbf" + figure.data.csv.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise InputError(
            f"the figures cannot be written ({error.strerror or error})", file=str(place), mend="name a folder"
        ) from error
    return files
