"""`compare` and `strata` from whatever was named: a run or a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from judgekit.analysis.compare import compare
from judgekit.analysis.failures import measured_frame
from judgekit.analysis.frames import filtered, is_run, need, read_table, run_frame
from judgekit.analysis.ratings import QUESTION_COLUMNS
from judgekit.analysis.result import Result
from judgekit.analysis.strata import strata
from judgekit.errors import InputError, UsageError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["compare_source", "strata_source"]

PROMPTS = ("prompt", "writer", "answer_prompt")


def compare_source(
    source: Any,
    *,
    what: str = "model",
    group: str | None = None,
    value: Sequence[str] = (),
    metric: Sequence[str] = (),
    unit: str | None = None,
    sample: str | None = None,
    by: Sequence[str] = (),
    rubric: Sequence[str] = (),
    judge: Sequence[str] = (),
    where: Sequence[str] = (),
    **options: Any,
) -> Result:
    """`analysis.compare.compare` for a run's folder (or a Run) or a table file; the options are those of ``judgekit compare``.

    In a run, `what` is compared within each data set and everything else that was held fixed (rubric, judge), questions are the units, and
    `value` is `raw` by default (`score` between rubrics, whose scales differ).
    """
    if hasattr(source, "latest") or is_run(source):
        frame, fixed, notes = _run(source, metric, rubric, judge)
        name = _field(frame, what)
        values = list(value) or (metric_names(frame, metric) if metric else ["score" if what == "rubric" else "raw"])
        split = [one for one in fixed if one != name and frame[one].nunique() > 1] + [
            one for one in by if one not in fixed
        ]
        frame = filtered(frame, where, None)
        found = compare(
            frame,
            value=values,
            group=name,
            unit="unit",
            sample=_field(frame, sample) if sample else "sample" if _repeats(frame) else None,
            by=split,
            **options,
        )
        return _told(found, frame, notes + _mixed(frame, {name, *split}, "by"))
    file = str(source)
    frame = filtered(read_table(source), where, file)
    return compare(
        frame, value=_values(value), group=_named(group, "group", file), unit=_unit(unit, frame, file), sample=sample,
        by=list(by), file=file, **options,
    )  # fmt: skip


def strata_source(
    source: Any,
    *,
    by: Sequence[str],
    value: Sequence[str] = (),
    metric: Sequence[str] = (),
    unit: str | None = None,
    pair: str | None = None,
    within: Sequence[str] = (),
    rubric: Sequence[str] = (),
    judge: Sequence[str] = (),
    where: Sequence[str] = (),
    **options: Any,
) -> Result:
    """`analysis.strata.strata` for a run's folder (or a Run) or a table file; the options are those of ``judgekit strata``."""
    if hasattr(source, "latest") or is_run(source):
        frame, fixed, notes = _run(source, metric, rubric, judge)
        fields = [_field(frame, name) for name in by]
        values = list(value) or (metric_names(frame, metric) if metric else ["raw"])
        split = [one for one in fixed if one not in fields and frame[one].nunique() > 1]
        split += [one for one in within if one not in split]
        frame = filtered(frame, where, None)
        found = strata(frame, value=values, by=fields, unit="unit", pair=pair, within=split, **options)
        return _told(found, frame, notes + _mixed(frame, {*fields, *split}, "within"))
    file = str(source)
    frame = filtered(read_table(source), where, file)
    if pair is not None:
        need(frame, [pair], file)
    return strata(
        frame, value=_values(value), by=list(by), unit=pair or _unit(unit, frame, file), pair=pair, within=list(within),
        file=file, **options,
    )  # fmt: skip


def _run(
    source: Any, metric: Sequence[str], rubric: Sequence[str], judge: Sequence[str]
) -> tuple[pd.DataFrame, list[str], list[str]]:
    from judgekit.runs.reader import open_run

    run = source if hasattr(source, "latest") else open_run(source)
    if metric:
        frame, notations = measured_frame(run, metric)
        if not len(frame):
            raise InputError("the run holds no measurements", mend="judgekit measure DATA --metric M --out RUN")
        asked = {text.split("(", 1)[0].strip() for text in metric}
        shown = [text for text in notations if text.split("(", 1)[0] in asked]
        return frame, ["dataset"], [f"measured: {', '.join(shown)}"]
    frame = run_frame(run, rubrics=rubric, judges=judge)
    if not len(frame):
        raise InputError("the run holds no judgements", mend="judgekit judge DATA --rubric R --model M --out RUN")
    left = frame.attrs.get("left_out", [])
    notes = [f"{item['n']} judgements of {item['rubric']} under an earlier version are left out" for item in left]
    off = sum(any(str(flag).startswith("off_scale") for flag in flags or ()) for flags in frame["flags"])
    if off:
        notes.append(f"{off} recorded scores lie off their rubric's scale and are used as they stand")
    return frame, ["dataset", "rubric", "judge"], notes


def _told(found: Result, frame: pd.DataFrame, notes: list[str]) -> Result:
    """With the run's notes; its units are questions, and the signature says so, who judged by which rubric, and what was measured."""
    found.notes += notes
    found.signature = found.signature.replace("|unit:unit", "|unit:question")
    if {"rubric", "judge", "ask"} <= set(frame.columns):
        rubrics = sorted({f"{name}@{ask[:8]}" for name, ask in zip(frame["rubric"], frame["ask"], strict=True)})
        found.signature += f"|rubric:{','.join(rubrics)}|judge:{','.join(sorted(set(frame['judge'])))}"
    found.signature += "".join("|" + note.replace(": ", ":", 1) for note in notes if note.startswith("measured: "))
    return found


def metric_names(frame: pd.DataFrame, metric: Sequence[str]) -> list[str]:
    """The columns that the asked notations stand for."""
    names = [text.split("(", 1)[0].strip() for text in metric]
    need(frame, names, None)
    return names


def _field(frame: pd.DataFrame, name: str) -> str:
    for one in PROMPTS if name == "prompt" else (name, f"meta.{name}"):
        if one in frame.columns:
            return one
    have = [str(one) for one in frame.columns if not str(one).startswith("__")]
    raise InputError(f"the records do not say their {name}", field=name, mend=f"compare one of {', '.join(have)}")


def _mixed(frame: pd.DataFrame, held: set[str], option: str) -> list[str]:
    """A note for each field that decides an answer, differs, and is averaged over."""
    return [
        f"answers of {frame[name].nunique()} different {name}s are averaged: keep them apart with --{option} {name}"
        for name in ("model", *PROMPTS)
        if name in frame.columns and name not in held and frame[name].nunique() > 1
    ]


def _repeats(frame: pd.DataFrame) -> bool:
    return "sample" in frame.columns and frame["sample"].nunique() > 1


def _values(value: Sequence[str]) -> list[str]:
    if not value:
        raise UsageError("no column of values is named", field="value", mend="--value COL")
    return list(value)


def _named(name: str | None, option: str, file: str) -> str:
    if name is None:
        raise UsageError(f"no {option} column is named", file=file, field=option, mend=f"--{option} COL")
    return name


def _unit(unit: str | None, frame: pd.DataFrame, file: str) -> str:
    if unit is not None:
        return unit
    guess = next((name for name in QUESTION_COLUMNS if name in frame.columns), "COL")
    raise UsageError(
        "which column holds the question is not named, and rows of one question are not independent",
        file=file,
        field="unit",
        mend=f"--unit {guess}",
    )
