"""Writes the report: one HTML file that needs no network, its text escaped, its scripts and styles named by hash."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from markupsafe import Markup

from judgekit import __version__
from judgekit.draw.svg import svg
from judgekit.errors import JudgekitError
from judgekit.paths import written_whole
from judgekit.report.context import Context, Snapshot
from judgekit.report.model import LeftOut, Panel, Section
from judgekit.runs.reader import Run, open_run

__all__ = ["Report", "make_context", "make_report", "render_page", "sections", "write_report"]

HERE = Path(__file__).parent
OTHER = "What else is there?"  # panels that name no question


@dataclass(frozen=True)
class Report:
    """What was written: the page, the names of its panels, the titles of those left out with the reason, and pictures."""

    page: Path
    panels: list[str]
    left_out: list[tuple[str, str]]
    figures: list[Path]


def write_report(
    run: str | Path | Run,
    page: str | Path,
    *,
    recall: Any = "0.9",
    title: str | None = None,
    reasons: str | Path | Run | None = None,
    metrics: Sequence[str] = (),
) -> Path:
    """Write a run's report as one self-contained HTML file; returns its path.

    Parameters
    ----------
    run : a run's folder, or an open run.
    page : the file to write, whole or not at all.
    recall : the share of incomplete answers to catch, in (0, 1], an exact decimal.
    title : the page's heading; by default the data sets' names.
    metrics : local metrics of the run that are set against the labels too, as scores; ``all`` for every one.
    reasons : the run that judged the pairs of `judgekit reasons`, when it is another one.

    Raises
    ------
    InputError : no run is there, or the file cannot be written. UsageError : the recall is no share.
    """
    return make_report(run, page, recall=recall, title=title, reasons=reasons, metrics=metrics).page


def make_report(
    run: str | Path | Run,
    page: str | Path,
    *,
    recall: Any = "0.9",
    title: str | None = None,
    reasons: str | Path | Run | None = None,
    metrics: Sequence[str] = (),
    markdown: str | Path | None = None,
    figures: str | Path | None = None,
) -> Report:
    """As `write_report`, and also a Markdown summary into the file `markdown` and pictures into the folder `figures`."""
    context = make_context(run, recall=recall, title=title, reasons=reasons, metrics=metrics)
    found = sections(context)
    target = Path(page)
    write_text(target, render_page(context, found))
    drawn: list[Path] = []
    if markdown is not None:
        from judgekit.report.markdown import markdown as summary

        write_text(Path(markdown), summary(context, found, heading(context)))
    if figures is not None:
        from judgekit.report.figures import write_figures

        drawn = write_figures(context, found, figures)
    return Report(
        target,
        [section.name for section in found if isinstance(section.panel, Panel)],
        [(section.title, section.panel.reason) for section in found if isinstance(section.panel, LeftOut)],
        drawn,
    )


def heading(context: Context) -> str:
    """The page's heading: the title that was given, else the data sets' names."""
    names = ", ".join(dict.fromkeys(map(str, context.records["dataset"])))
    return context.title or f"Judges on {names or 'an empty run'}"


def make_context(
    run: str | Path | Run,
    *,
    recall: Any = "0.9",
    title: str | None = None,
    reasons: Any = None,
    metrics: Sequence[str] = (),
) -> Context:
    """The context of a report; UsageError when the recall is no share in (0, 1]."""
    from judgekit.analysis.triage.work import make_choices

    make_choices(recall)
    opened = run if isinstance(run, Run) else open_run(run)
    other = reasons if reasons is None or isinstance(reasons, Run) else open_run(reasons)
    return Context(Snapshot(opened), str(recall), title, other, tuple(metrics))


def sections(context: Context) -> list[Section]:
    """Every panel of the package and of other packages, in order."""
    from judgekit.registry import modules

    found = []
    for name, module in modules("judgekit.report.panels", "judgekit.panels").items():
        try:
            panel = module.build(context)
        except JudgekitError as error:  # one refused statistic must not take the rest of the page with it
            panel = LeftOut(str(error))
        question = getattr(module, "QUESTION", OTHER)
        found.append(Section(name.replace("_", "-"), module.TITLE, module.ORDER, panel, question))
    return sorted(found, key=lambda section: (section.order, section.name))


def render_page(context: Context, found: list[Section]) -> str:
    """The page's HTML."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["island"] = island
    environment.filters["tied"] = lambda text: str(text).replace(" %", "\u00a0%")
    environment.filters["svg"] = svg
    environment.filters["kind"] = lambda block: type(block).__name__
    style, script, records = (
        (HERE / "assets" / name).read_text("utf-8") for name in ("page.css", "page.js", "records.js")
    )
    datasets = list(dict.fromkeys(context.records["dataset"]))
    return environment.get_template("page.html.j2").render(
        title=heading(context),
        run=context.run.path.name,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        version=__version__,
        parts=_parts([section for section in found if isinstance(section.panel, Panel)]),
        left_out=[section for section in found if isinstance(section.panel, LeftOut)],
        style=Markup(style),
        script=Markup(script),
        style_hash=_hash(style),
        script_hash=_hash(script),
        records_script=Markup(records),
        records_hash=_hash(records),
        facts=_facts(context, datasets),
    )


def _parts(shown: list[Section]) -> list[tuple[str, list[Section]]]:
    """Panels under their questions, in the order in which a question comes first."""
    parts: dict[str, list[Section]] = {}
    for section in shown:
        parts.setdefault(section.question, []).append(section)
    return list(parts.items())


def island(value: Any) -> Markup:
    """JSON that may stand in a data block of a page: no ``<``, ``>`` or ``&``, so that nothing in it ends the block; no NaN."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for mark, code in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")):
        text = text.replace(mark, code)
    return Markup(text)


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all, in UTF-8; what UTF-8 cannot hold is written as an escape."""
    with written_whole(path, "the report") as place:
        place.write_bytes(text.encode("utf-8", "backslashreplace"))


def _hash(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode("utf-8")).digest()).decode()


def _facts(context: Context, datasets: list[str]) -> list[tuple[str, str]]:
    frame = context.frame
    count = len(context.records)
    facts = [
        ("Data", ", ".join(map(str, datasets)) or "none"),
        ("Records", f"{count:,}"),
        ("Rubrics", ", ".join(dict.fromkeys(map(str, frame["rubric"]))) or "none"),
        ("Judges", ", ".join(dict.fromkeys(map(str, frame["judge"]))) or "none"),
        ("Judgements", f"{len(frame):,}"),
    ]
    return facts
