"""Pictures of a study: the funnel, the threshold sweep, confidence against accuracy, and instability by kind of rewording."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from judgekit.errors import InputError, MissingDependency, StatisticsError

__all__ = ["confidence_picture", "funnel_picture", "kinds_picture", "sweep_picture"]

# Okabe and Ito's palette: told apart under every common colour blindness.
BLUE, RED, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#777777"
KINDS: Final = (".png", ".svg", ".pdf")


def _figure(path: str | Path, size: tuple[float, float]) -> tuple[Any, Any, Path]:
    target = Path(path)
    if target.suffix.lower() not in KINDS:
        raise InputError(
            f"cannot draw a {target.suffix or 'nameless'} file", file=str(target), mend="end in .png, .svg or .pdf"
        )
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependency("a picture needs matplotlib", mend="pip install 'clinical-judgekit[report]'") from None
    figure = Figure(figsize=size, dpi=192, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes, target


def _save(figure: Any, target: Path, signature: str) -> None:
    from textwrap import wrap

    figure.suptitle("\n".join(wrap(signature, 130)), x=0.01, ha="left", fontsize=5.5, color="#555555")
    try:
        figure.savefig(target, metadata={"Description": signature} if target.suffix.lower() == ".png" else None)
    except OSError as error:
        raise InputError(f"cannot write the picture: {error.strerror}", file=str(target)) from None


def funnel_picture(rows: Sequence[dict[str, Any]], path: str | Path, signature: str) -> None:
    """Bars of what each stage kept and dropped, with counts (rows of `Study.funnel`)."""
    figure, axes, target = _figure(path, (8, 0.5 * len(rows) + 1.6))
    names = [row["stage"] for row in rows]
    axes.barh(names, [row["kept"] for row in rows], color=BLUE, label="kept")
    axes.barh(
        names,
        [row["dropped"] for row in rows],
        left=[row["kept"] for row in rows],
        color="#DDDDDD",
        label="dropped here",
    )
    for place, row in enumerate(rows):
        text = f"{row['kept']}" + (f"  (-{row['dropped']})" if row["dropped"] else "")
        axes.annotate(
            text,
            (row["kept"] + row["dropped"], place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
    axes.invert_yaxis()
    axes.set_xlabel("variants")
    axes.margins(x=0.15)
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    _save(figure, target, signature)


def sweep_picture(rows: Sequence[dict[str, Any]], path: str | Path, signature: str) -> None:
    """How many variants the models accept at each threshold, and of these the judges' YES and NO (rows of `verify.sweep`)."""
    if not rows:
        raise StatisticsError("nothing to draw: nothing is verified yet")
    figure, axes, target = _figure(path, (7, 4.5))
    x = [row["threshold"] for row in rows]
    axes.plot(
        x,
        [row["accepted"] for row in rows],
        color=GREY,
        linestyle=":",
        marker="o",
        markersize=3,
        label="accepted by the models",
    )
    if any(row["undecided"] is not None for row in rows):
        axes.plot(x, [row["yes"] for row in rows], color=GREEN, marker="s", markersize=3, label="judges: YES")
        axes.plot(
            x, [row["no"] for row in rows], color=RED, linestyle="--", marker="^", markersize=3, label="judges: NO"
        )
    current = [row["threshold"] for row in rows if row["current"]]
    for value in current:
        axes.axvline(value, color=GREY, linewidth=1, linestyle=(0, (4, 3)))
        axes.annotate("in use", (value, 0), rotation=90, fontsize=8, ha="right", color=GREY)
    axes.set(xlabel="entailment threshold, both ways", ylabel="variants")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=8)
    _save(figure, target, signature)


def confidence_picture(rows: Sequence[dict[str, Any]], path: str | Path, signature: str) -> None:
    """Mean confidence against accuracy, a point a model; above the diagonal a model is surer than it is right (001, Figure 5)."""
    points = [row for row in rows if row.get("confidence") is not None and row.get("accuracy") is not None]
    if not points:
        raise StatisticsError("nothing to draw: no model has both probabilities and known right answers")
    figure, axes, target = _figure(path, (6, 5.5))
    axes.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1)
    for row in points:
        axes.plot(row["accuracy"], row["confidence"], marker="o", color=BLUE, linestyle="none")
        label = f"{row['model']} (n = {row['variants']})"
        axes.annotate(
            label, (row["accuracy"], row["confidence"]), xytext=(5, 3), textcoords="offset points", fontsize=7
        )
    axes.set(
        xlabel="accuracy on variants", ylabel="mean confidence on variants", xlim=(0, 1), ylim=(0, 1.02), aspect="equal"
    )
    _save(figure, target, signature)


def kinds_picture(rows: Sequence[dict[str, Any]], path: str | Path, signature: str) -> None:
    """MVS by kind of rewording and model, with intervals (001, Figure 3)."""
    drawn = [row for row in rows if row["mvs"] is not None]
    if not drawn:
        raise StatisticsError("nothing to draw: no kind of rewording has a verified variant with an answer")
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    models = list(dict.fromkeys(row["model"] for row in rows))
    colours = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
    figure, axes, target = _figure(path, (8, 0.45 * len(kinds) + 0.2 * len(kinds) * len(models) / 3 + 1.6))
    for number, model in enumerate(models):
        mine = [row for row in drawn if row["model"] == model]
        shift = 0.6 * ((number + 0.5) / len(models) - 0.5)
        for row in mine:
            place = kinds.index(row["kind"]) + shift
            if row["mvs_low"] is not None:
                axes.plot([row["mvs_low"], row["mvs_high"]], [place, place], color=colours[number % 7], linewidth=1)
            axes.plot(
                row["mvs"], place, marker="o", markersize=4, color=colours[number % 7], linestyle="none", label=model
            )
    handles, labels = axes.get_legend_handles_labels()
    first = dict(zip(labels, handles, strict=True))
    axes.legend(first.values(), first.keys(), frameon=False, fontsize=7)
    axes.set_yticks(range(len(kinds)), kinds, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("MVS: share of variants that change the answer")
    axes.set_xlim(-0.02, 1.02)
    _save(figure, target, signature)
