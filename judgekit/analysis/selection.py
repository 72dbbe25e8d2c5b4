"""Which columns of a table, or which rows of a run, an analysis reads."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Columns", "Selection"]


@dataclass(frozen=True)
class Columns:
    """Which columns of a table mean what; None where there is none. Several `score` columns are several judges."""

    label: str = "incomplete"
    score: tuple[str, ...] = ("score",)
    cluster: str | None = None
    rater: str | None = None
    id: str | None = None
    sampling_probability: str | None = None
    severity: str | None = None
    by: str | None = None
    label_is: str | None = None


@dataclass(frozen=True)
class Selection:
    """Which rows of a run to look at: names to keep (None keeps all), whose labels, which field splits the records.

    `rater`: None uses the card's join (each rater alone where the card has none), ``each``, a way to join, or a rater's name.
    """

    rater: str | None = None
    by: str | None = None
    datasets: tuple[str, ...] = ()
    rubrics: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    complete_when: str | None = None
    construct: str | None = None  # whose labels; None: the rubric's own construct, else completeness
    complete_values: tuple[str, ...] = ()  # label values that mean complete, for labels that have only a value
    sampling_probability: str | None = None  # field of meta: how likely a record was to be labelled
    metrics: tuple[str, ...] | None = ()  # local metrics to treat as scores; None: all of the run's
    panel: str | None = None  # join the judges of each rubric into one more: mean or majority
