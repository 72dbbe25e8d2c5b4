"""From a raw score to the chance that an answer is incomplete: learnt on half of the questions, tested on the other half."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from judgekit.analysis.cells import Cell
from judgekit.analysis.triage.certified import calibration_half
from judgekit.stats.calibrate import Bin, Isotonic, Platt, brier, fit_isotonic, fit_platt, reliability

__all__ = ["Calibration", "MapResult", "calibrate", "calibration_lines"]

BINS = 5


@dataclass(frozen=True)
class MapResult:
    """One map on the half that did not teach it. `skill` = 1 - Brier / Brier of always saying the taught prevalence."""

    name: str
    learnt: Platt | Isotonic
    brier: float
    skill: float | None
    curve: tuple[Bin, ...]


@dataclass(frozen=True)
class Calibration:
    """Both maps over the same halves; no map, with the reason, where a half lacks a class."""

    n_taught: int
    n_tested: int
    prevalence_taught: float | None
    brier_reference: float | None
    maps: tuple[MapResult, ...]
    reason: str | None = None

    def to_json(self) -> dict[str, object]:
        """Plain values."""
        return asdict(self)


def calibrate(cell: Cell, *, higher_is_worse: bool = False) -> Calibration:
    """Learn Platt's and the isotonic map on half of the questions (by a hash) and test them on the others.

    Only records that are scored and labelled take part. Brier scores and the curve (equal-width bins with Clopper-Pearson
    intervals, records taken as independent) are those of the half that taught nothing.
    """
    used = cell.take(cell.used)
    half = calibration_half(used)
    label = used.label == 1
    taught, tested = label[half], label[~half]
    if len(set(taught.tolist())) < 2 or len(set(tested.tolist())) < 2:
        return Calibration(taught.size, tested.size, None, None, (), "a half of the questions lacks a class")
    prevalence = float(taught.mean())
    base = brier(tested, np.full(tested.size, prevalence))
    maps = []
    for name, fit in (("Platt", fit_platt), ("isotonic", fit_isotonic)):
        learnt = fit(taught, used.score[half], higher_is_worse=higher_is_worse)
        if learnt is None:
            continue
        says = learnt(used.score[~half])
        found = brier(tested, says)
        if found is not None:
            skill = None if not base else 1 - found / base
            maps.append(MapResult(name, learnt, found, skill, reliability(tested, says, BINS)))
    return Calibration(taught.size, tested.size, prevalence, base, tuple(maps))


def calibration_lines(found: Calibration) -> list[str]:
    """The result in sentences and a small table."""
    if not found.maps:
        return [f"Calibration: not possible, {found.reason}."]
    lines = [
        f"Calibration, learnt on {found.n_taught} answers and tested on {found.n_tested} of other questions; always saying "
        f"{found.prevalence_taught:.2f} has a Brier score of {found.brier_reference:.3f}:"
    ]
    for item in found.maps:
        skill = "" if item.skill is None else f" ({100 * item.skill:+.0f} %)"
        bins = "; ".join(
            f"says {b.predicted:.2f}, was {b.observed:.2f} ({b.observed_low:.2f} to {b.observed_high:.2f}) of {b.n}"
            for b in item.curve
        )
        lines.append(f"  {item.name}: Brier {item.brier:.3f}{skill}; {bins}")
    return lines
