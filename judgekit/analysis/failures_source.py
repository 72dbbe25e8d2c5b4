"""`failures` from whatever was named: a run's measurements or a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judgekit.analysis.failures import failures, measured_frame, parse_threshold
from judgekit.analysis.frames import filtered, is_run, read_table
from judgekit.analysis.ratings import refuse_repeats
from judgekit.analysis.result import Result
from judgekit.analysis.weights import SCHEMES, parse_scheme, weight_schemes
from judgekit.errors import InputError, UsageError

__all__ = ["failures_source"]


def failures_source(
    source: Any,
    *,
    by: str | None = None,
    unit: str | None = None,
    metric: Sequence[str] = (),
    threshold: Sequence[str] = (),
    high_similarity: float = 0.5,
    examples: int = 5,
    weights: bool = False,
    scheme: Sequence[str] = (),
    where: Sequence[str] = (),
    replicates: int = 2000,
    seed: int = 0,
) -> Result:
    """`analysis.failures.failures`, and with `weights` or `scheme` the ranking under other weights.

    `source` is a run's folder (or a Run) or a table file; the options are those of ``judgekit failures``.
    """
    notations: list[str] = []
    if hasattr(source, "latest") or is_run(source):
        from judgekit.runs.reader import open_run

        run = source if hasattr(source, "latest") else open_run(source)
        frame, notations = measured_frame(run, metric)
        if not len(frame):
            raise InputError("the run holds no measurements", mend="judgekit measure DATA --metric vb_score --out RUN")
        unit, file = "unit", None
    else:
        file = str(source)
        frame = read_table(source)
        if unit is None:
            refuse_repeats(frame, file, "unit")
        unit = None if unit == "none" else unit
    frame = filtered(frame, where, file)
    if by is None and "model" in frame.columns and frame["model"].notna().all() and frame["model"].nunique() > 1:
        by = "model"
    found = failures(
        frame, by=by, unit=unit, thresholds=dict(parse_threshold(text) for text in threshold), high_similarity=high_similarity,
        examples=examples, replicates=replicates, seed=seed, notations=notations, file=file,
    )  # fmt: skip
    if weights or scheme:
        if by is None:
            raise UsageError("a ranking needs groups", field="by", mend="--by model")
        if unit is None:
            raise UsageError("a ranking needs the question's column", field="unit", mend="--unit COL")
        own = dict(parse_scheme(text) for text in scheme)
        schemes = {**(SCHEMES if weights else {}), **own}
        ranked = weight_schemes(frame, group=by, unit=unit, schemes=schemes, seed=seed, file=file)
        found.tables += ranked.tables
        found.notes += ranked.notes
        found.signature += f"|weights:{','.join(schemes)}"
    return found
