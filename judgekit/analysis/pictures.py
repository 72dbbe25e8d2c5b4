"""Pictures of a triage: the ROC curve, and workload against recall, with their signature and denominators."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from judgekit.analysis.triage.row import Row
from judgekit.errors import InputError, MissingDependency, StatisticsError

if TYPE_CHECKING:
    from judgekit.analysis.triage import Triage

__all__ = ["COLOURS", "triage_picture"]

# Okabe and Ito's palette: told apart under every common colour blindness; line styles differ as well.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", "-.", ":")
MARKS = ("o", "s", "^", "D", "v", "P", "X")
KINDS = (".png", ".svg", ".pdf")


def triage_picture(found: Triage, path: str | Path) -> None:
    """Write ROC and workload-against-recall curves, a line a row, into one picture.

    Parameters
    ----------
    path : ends in .png (192 dots an inch), .svg or .pdf.

    Raises
    ------
    MissingDependency : matplotlib is not installed.
    StatisticsError : no row has both classes, so that there is nothing to draw.
    InputError : another kind of file, or it cannot be written.
    """
    target = Path(path)
    if target.suffix.lower() not in KINDS:
        raise InputError(
            f"cannot draw a {target.suffix or 'nameless'} file", file=str(target), mend="end in .png, .svg or .pdf"
        )
    drawable = [row for row in found.operating_points if row.curve is not None and row.auc.value is not None]
    if not drawable:
        raise StatisticsError("nothing to draw: no row has both an incomplete and a complete answer with a score")
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError:
        raise MissingDependency("a picture needs matplotlib", mend="pip install 'clinical-judgekit[report]'") from None
    engine = ConstrainedLayoutEngine(h_pad=0.12, w_pad=0.08)
    figure = Figure(figsize=(11, 6.0 + 0.24 * len(drawable)), dpi=192, layout=engine)
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    for index, row in enumerate(drawable):
        _draw(left, right, row, index)
    _dress(left, right, drawable, float(found.choices.recall))
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=1, fontsize=8, frameon=False)
    figure.suptitle("\n".join(wrap(found.signature, 190)), x=0.01, ha="left", fontsize=5.5, color="#555555")
    meta = {"Title": "judgekit triage", "Description": found.signature} if target.suffix.lower() == ".png" else None
    try:
        figure.savefig(target, metadata=meta)
    except OSError as error:
        raise InputError(f"cannot write the picture: {error.strerror}", file=str(target)) from None


def _draw(left: Any, right: Any, row: Row, index: int) -> None:
    curve, colour = row.curve, COLOURS[index % len(COLOURS)]
    style: dict[str, Any] = {"color": colour, "linestyle": STYLES[index % len(STYLES)], "linewidth": 1.8}
    assert curve is not None
    recall = np.concatenate([[0.0], curve.caught / curve.n_incomplete])
    alarms = np.concatenate([[0.0], curve.false_alarms / curve.n_complete])
    work = np.concatenate([[0.0], (curve.caught + curve.false_alarms) / (curve.n_incomplete + curve.n_complete)])
    interval = row.headline.interval
    span = "" if interval.low is None or interval.high is None else f" ({interval.low:.2f} to {interval.high:.2f})"
    label = f"{row.name}: AUC {row.auc.value:.2f}{span}, {curve.n_incomplete:g} incomplete of {curve.n_incomplete + curve.n_complete:g}"
    if row.values["n_unscored"]:
        label += f", {row.values['n_unscored']} unscored"
    left.plot(alarms, recall, label=label, **style)
    right.plot(recall, work, drawstyle="steps-pre", **style)
    if row.point.recall is not None and row.point.workload is not None and row.point.specificity is not None:
        mark: dict[str, Any] = {"marker": MARKS[index % len(MARKS)], "color": colour, "markeredgecolor": "white"}
        mark |= {"markersize": 7, "zorder": 5}
        left.plot([1 - row.point.specificity], [row.point.recall], linestyle="none", **mark)
        right.plot([row.point.recall], [row.point.workload], linestyle="none", **mark)


def _dress(left: Any, right: Any, rows: list[Row], target: float) -> None:
    grey: dict[str, Any] = {"color": "#777777", "linewidth": 1}
    left.plot([0, 1], [0, 1], linestyle=(0, (1, 2)), **grey)
    left.set(xlabel="share of complete answers read for nothing", ylabel="share of incomplete answers caught (recall)")
    left.set_title("ROC", fontsize=11, loc="left")
    right.plot([0, 1], [0, 1], linestyle=(0, (1, 2)), **grey)
    right.axvline(target, linestyle=(0, (4, 3)), **grey)
    share = {round(row.auc.n_incomplete / (row.auc.n_incomplete + row.auc.n_complete), 6) for row in rows}
    if len(share) == 1:
        right.plot([0, 1], [0, share.pop()], linestyle=(0, (1, 1)), **grey)
        right.annotate("perfect judge", (0.3, 0.02), fontsize=7.5, color="#555555")
    right.annotate("random order", (0.1, 0.16), fontsize=7.5, color="#555555", rotation=38)
    right.annotate(f"target {100 * target:g} %", (target, 0.01), fontsize=7.5, color="#555555", rotation=90, ha="right")
    right.set(xlabel="share of incomplete answers caught (recall)", ylabel="share of all answers that must be read")
    right.set_title("Workload against recall", fontsize=11, loc="left")
    for axes in (left, right):
        axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        axes.grid(color="#E5E5E5", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
