"""Pictures for papers: ROC with workload, scores by label, severity, agreement, correlations; PNG and SVG, with signatures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from judgekit.errors import InputError, MissingDependency
from judgekit.report.model import Figure, Panel

if TYPE_CHECKING:
    from judgekit.report.context import Context
    from judgekit.report.write import Section

__all__ = ["write_figures"]

BAD, GOOD, NONE = "#D55E00", "#0072B2", "#999999"  # Okabe and Ito; hatches differ too


def write_figures(context: Context, found: list[Section], folder: str | Path) -> list[Path]:
    """Draw what the report shows into `folder` as PNG (300 dots an inch) and SVG, with a CSV of each figure's data; returns the files.

    Raises
    ------
    MissingDependency : matplotlib is not installed. InputError : the folder cannot be made or written.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingDependency("pictures need matplotlib", mend="pip install 'clinical-judgekit[report]'") from None
    place = Path(folder)
    files: list[Path] = []
    try:
        place.mkdir(parents=True, exist_ok=True)
        if context.drawable and context.triage is not None:
            for kind in ("png", "svg"):
                context.triage.picture(place / f"triage.{kind}")
                files.append(place / f"triage.{kind}")
        for section in found:
            for block in section.panel.blocks if isinstance(section.panel, Panel) else ():
                if not isinstance(block, Figure):
                    continue
                (place / f"{block.name}.csv").write_bytes(
                    b"\xef\xbb\xbf" + block.data.csv.encode("utf-8", "backslashreplace")
                )
                files.append(place / f"{block.name}.csv")
                for start, draw in _DRAWN.items():
                    if block.name.startswith(start):
                        files += _save(block, draw, place)
    except OSError as error:
        raise InputError(
            f"the figures cannot be written ({error.strerror or error})", file=str(place), mend="name a folder"
        ) from error
    return files


def _save(block: Figure, draw: Callable[[Any, Figure], None], place: Path) -> list[Path]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Drawing

    figure = Drawing(figsize=(6.2, 4.4), dpi=300, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    draw(axes, block)
    axes.set_title(_plain(block.title), loc="left", fontsize=10)
    figure.supxlabel(
        "\n".join(wrap(_plain(f"{block.caption} {block.signature}"), 150)),
        x=0.01,
        ha="left",
        fontsize=4.5,
        color="#555555",
    )
    out = []
    for kind in ("png", "svg"):
        path = place / f"{block.name}.{kind}"
        # A fixed date keeps the file the same when nothing changed.
        figure.savefig(
            path, metadata={"Date": None} if kind == "svg" else {"Title": block.title, "Description": block.signature}
        )
        out.append(path)
    return out


def _plain(text: str) -> str:
    return text.replace("$", r"\$")  # matplotlib would read it as mathematics


def _levels(axes: Any, block: Figure) -> None:
    rows = [row for row in block.data.rows[:-1] if any(row[1:])]
    groups = [(1, "incomplete", BAD, "//"), (2, "complete", GOOD, ""), (3, "no label", NONE, "..")]
    groups = [group for group in groups if any(row[group[0]] for row in rows)]
    wide = 0.8 / max(1, len(groups))
    for i, (column, name, colour, hatch) in enumerate(groups):
        at = [k + (i - (len(groups) - 1) / 2) * wide for k in range(len(rows))]
        drawn = axes.bar(
            at,
            [row[column] for row in rows],
            wide * 0.94,
            label=name,
            color=colour,
            hatch=hatch,
            edgecolor="white",
            linewidth=0.5,
        )
        axes.bar_label(drawn, fontsize=7)
    axes.set_xticks(range(len(rows)), [_plain(str(row[0])) for row in rows], fontsize=8)
    axes.set(xlabel="score", ylabel="answers")
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def _severity(axes: Any, block: Figure) -> None:
    down = list(dict.fromkeys(row[0] for row in block.data.rows))
    across = list(dict.fromkeys(row[1] for row in block.data.rows))
    cells = {(row[0], row[1]): (row[2], row[3]) for row in block.data.rows}
    shares = [[cells[a, b][0] / cells[a, b][1] if cells[a, b][1] else 0 for b in across] for a in down]
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for i, a in enumerate(down):
        for j, b in enumerate(across):
            axes.text(
                j,
                i,
                f"{cells[a, b][0]}",
                ha="center",
                va="center",
                fontsize=8,
                color="white" if shares[i][j] > 0.55 else "black",
            )
    axes.set_xticks(range(len(across)), [_plain(str(word)) for word in across], fontsize=8)
    axes.set_yticks(range(len(down)), [_plain(str(word)) for word in down], fontsize=8)
    axes.set(xlabel="score")


def _correlation(axes: Any, block: Figure) -> None:
    names = list(dict.fromkeys([row[0] for row in block.data.rows] + [row[1] for row in block.data.rows]))
    found = {frozenset(row[:2]): row[3] for row in block.data.rows}
    grid = [[1.0 if a == b else found.get(frozenset((a, b))) for b in names] for a in names]
    axes.imshow([[float("nan") if v is None else v for v in row] for row in grid], cmap="RdBu_r", vmin=-1, vmax=1)
    for i, row in enumerate(grid):
        for j, value in enumerate(row):
            axes.text(
                j,
                i,
                "–" if value is None else f"{value:.2f}",
                ha="center",
                va="center",
                fontsize=8,
                color="white" if value and abs(value) > 0.6 else "black",
            )
    for set_ticks in (axes.set_xticks, axes.set_yticks):
        set_ticks(range(len(names)), [_plain("\n".join(wrap(str(name), 18))) for name in names], fontsize=7)


def _ceiling(axes: Any, block: Figure) -> None:
    labels = []
    for i, row in enumerate(block.data.rows):
        for k, (start, name, colour, mark) in enumerate(((2, "judge", GOOD, "o"), (5, "left-out clinician", BAD, "s"))):
            value, low, high = row[start : start + 3]
            if value is None:
                continue
            y = i + 0.18 * (2 * k - 1)
            if low is not None and high is not None:
                axes.plot([low, high], [y, y], color=colour, linewidth=1.4)
            axes.plot(
                [value], [y], marker=mark, color=colour, linestyle="none", label=name if name not in labels else None
            )
            labels.append(name)
    axes.set_yticks(
        range(len(block.data.rows)), [_plain("\n".join(wrap(str(row[0]), 26))) for row in block.data.rows], fontsize=7
    )
    axes.invert_yaxis()
    axes.set(xlabel=_plain(block.title.split(":")[0]))
    if labels:
        axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def _modes(axes: Any, block: Figure) -> None:
    rows = block.data.rows
    drawn = axes.barh([f"{row[0]} {_plain(str(row[1]))}"[:60] for row in rows], [row[2] for row in rows], color=GOOD)
    axes.bar_label(drawn, fontsize=7, padding=2)
    axes.invert_yaxis()
    axes.tick_params(labelsize=7)
    axes.set(xlabel="pairs")
    axes.spines[["top", "right"]].set_visible(False)


_DRAWN: dict[str, Callable[[Any, Figure], None]] = {
    "levels-": _levels, "severity-": _severity, "correlation-": _correlation, "ceiling-": _ceiling, "modes-": _modes,
}  # fmt: skip
