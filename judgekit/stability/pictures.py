"""Pictures of a study: the funnel, the threshold sweep, confidence against accuracy, and instability by kind of rewording."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judgekit.draw.spec import Axis, Bar, Bars, Figure, Guide, Interval, Intervals, Plot, Series
from judgekit.errors import StatisticsError

__all__ = ["confidence_figure", "funnel_figure", "kinds_figure", "sweep_figure"]

Rows = Sequence[dict[str, Any]]


def funnel_figure(rows: Rows, signature: str) -> Figure:
    """What each stage kept and dropped (rows of `Study.funnel`)."""
    bars = [
        Bar(row["stage"], [row["kept"], row["dropped"]], [f"{row['stage']}: {row[k]} {k}" for k in ("kept", "dropped")])
        for row in rows
    ]
    said = "; ".join(f"{row['stage']}: {row['kept']} kept, {row['dropped']} dropped" for row in rows)
    chart = Bars(("kept", "dropped here"), bars, "variants", ("good", "none"), stacked=True)
    caption = f"{rows[0]['entered'] if rows else 0} variants were wanted; behind the + what the stage dropped."
    return Figure("funnel", "From wanted to verified variants", (chart,), f"{said}.", caption, signature)


def sweep_figure(rows: Rows, signature: str) -> Figure:
    """How many variants the models accept at each threshold, and of these the judges' YES and NO (rows of `verify.sweep`)."""
    if not rows:
        raise StatisticsError("nothing to draw: nothing is verified yet")
    shown = [("accepted", "accepted by the models", 7)]
    if any(row["undecided"] is not None for row in rows):
        shown += [("yes", "judges: YES", 2), ("no", "judges: NO", 1)]
    series = [
        Series(words, [(row["threshold"], row[key]) for row in rows], index, dots=True) for key, words, index in shown
    ]
    x = [row["threshold"] for row in rows]
    most = max(1, *(row["accepted"] for row in rows))
    guides = [
        Guide(((row["threshold"], 0), (row["threshold"], most)), "in use", (row["threshold"], 0.02 * most), target=True)
        for row in rows if row["current"]
    ]  # fmt: skip
    across = Axis("entailment threshold, both ways", min(x), max(x) if max(x) > min(x) else min(x) + 0.01)
    chart = Plot(across, Axis("variants", 0, most), series, guides)
    said = "; ".join(f"at {row['threshold']:g} {row['accepted']} accepted" for row in rows)
    caption = (
        f"{rows[0]['judged']} variants were read by judges; pairs that no judge read are in neither of their lines."
    )
    return Figure("sweep", "The threshold of entailment", (chart,), f"{said}.", caption, signature)


def confidence_figure(rows: Rows, signature: str) -> Figure:
    """Mean confidence against accuracy, a point a model; above the diagonal a model is surer than it is right."""
    points = [row for row in rows if row.get("confidence") is not None and row.get("accuracy") is not None]
    if not points:
        raise StatisticsError("nothing to draw: no model has both probabilities and known right answers")
    series = [
        Series(f"{row['model']} (n = {row['variants']})", [(row["accuracy"], row["confidence"])], i, line=False, dots=True)
        for i, row in enumerate(points)
    ]  # fmt: skip
    chart = Plot(
        Axis("accuracy on variants, %", percent=True), Axis("mean confidence on variants, %", percent=True), series,
        (Guide(((0, 0), (1, 1)), "as sure as right", (0.6, 0.54)),),
    )  # fmt: skip
    said = "; ".join(f"{row['model']}: {row['accuracy']:.2f} right, {row['confidence']:.2f} sure" for row in points)
    caption = "n counts verified variants with an answer. Above the diagonal a model is surer than it is right."
    return Figure("confidence", "Confidence against accuracy", (chart,), f"{said}.", caption, signature)


def kinds_figure(rows: Rows, signature: str) -> Figure:
    """MVS by kind of rewording and model, with intervals."""
    drawn = [row for row in rows if row["mvs"] is not None]
    if not drawn:
        raise StatisticsError("nothing to draw: no kind of rewording has a verified variant with an answer")
    models = list(dict.fromkeys(row["model"] for row in rows))
    marks: list[Interval] = []
    for kind in dict.fromkeys(row["kind"] for row in rows):
        for place, row in enumerate(row for row in rows if row["kind"] == kind):
            ends = (row["mvs"], row["mvs_low"], row["mvs_high"])
            marks.append(Interval("" if place else kind, *ends, models.index(row["model"]), "not defined"))
    chart = Intervals(marks, Axis("MVS: share of variants that change the answer"), legend=models)
    said = "; ".join(f"{row['kind']}, {row['model']}: {row['mvs']:.2f}" for row in drawn)
    caption = "Intervals of 95 % by resampling questions."
    return Figure("kinds", "By kind of rewording", (chart,), f"{said}.", caption, signature)
