"""Ratings for `analysis.agree` out of tables, labelled records and runs: raters stay apart, joins of raters are left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from judgekit.analysis.agree import Ratings
from judgekit.analysis.frames import need
from judgekit.errors import InputError, StatisticsError
from judgekit.runs.model import SCORED

if TYPE_CHECKING:
    import pandas as pd

    from judgekit.records import Record

__all__ = ["QUESTION_COLUMNS", "label_rows", "ratings_from_labels", "ratings_from_table", "refuse_repeats", "wrote_it"]

QUESTION_COLUMNS = ("cluster", "question_id", "qid", "prompt_id", "stem", "question")
"""Columns that, when their values repeat, say that rows are not independent."""

ON = ("complete", "severity", "score", "value", "criteria")
UNNAMED = "unnamed rater"


def refuse_repeats(frame: pd.DataFrame, file: str | None, option: str = "cluster") -> None:
    """Raise StatisticsError when a question repeats in a table and nobody named the cluster."""
    for name in QUESTION_COLUMNS:
        if name in frame.columns:
            repeats = int(frame[name].dropna().map(str).duplicated().sum())
            if repeats:
                raise StatisticsError(
                    f"{repeats} rows repeat a {name}, so that rows are not independent",
                    file=file,
                    field=option,
                    mend=f"--{option} {name}; or --{option} none when they truly are",
                )


def ratings_from_table(
    frame: pd.DataFrame,
    *,
    raters: Sequence[str],
    judges: Sequence[str] = (),
    cluster: str | None = None,
    levels: list[Any] | None = None,
    missing: Sequence[str] = (),
    file: str | None = None,
) -> Ratings:
    """One row a unit, one column a rater.

    `cluster` names the column of independent units, ``none`` says that every row is one; None refuses where questions repeat
    (StatisticsError). Empty cells and words in `missing` are missing ratings.
    """
    need(frame, [*raters, *judges, *([cluster] if cluster not in (None, "none") else [])], file)
    twice = [name for name in judges if name in raters]
    if twice or len({*raters}) < len(raters):
        raise InputError(f"{(twice or raters)[0]!r} is named twice", file=file, field="raters")
    if cluster is None:
        refuse_repeats(frame, file)
    columns = {name: [_said(value, missing) for value in frame[name]] for name in (*raters, *judges)}
    return Ratings(
        units=[str(index) for index in range(len(frame))],
        raters={name: columns[name] for name in raters},
        judges={name: columns[name] for name in judges},
        clusters=None if cluster in (None, "none") else [str(value) for value in frame[cluster]],
        levels=levels,
        what=f"{len(frame)} rows",
    )


def wrote_it(rater: str | None, judge: str) -> bool:
    """Whether a label's rater is the judge's own model, whatever its sampling: such a label cannot test the judge."""
    return rater is not None and rater.startswith("model:") and rater[6:].split("(")[0] == judge.split("(")[0]


def _said(value: Any, missing: Sequence[str]) -> Any:
    if value is None or (isinstance(value, float) and value != value):
        return None
    return None if isinstance(value, str) and (value in missing or not value.strip()) else value


def label_rows(records: Iterable[Record], dataset: str) -> list[dict[str, Any]]:
    """Labels of records in the shape of a run's `labels` frame."""
    return [
        {
            "dataset": dataset, "record_id": record.id, "cluster": record.cluster_id, "construct": label.construct,
            "rater": label.rater, "complete": label.complete, "score": label.score, "severity": label.severity,
            "value": label.value, "criteria": label.criteria, "rationale": label.rationale,
        }
        for record in records
        for label in record.labels
    ]  # fmt: skip


def ratings_from_labels(
    labels: Sequence[dict[str, Any]],
    judgements: Sequence[dict[str, Any]] = (),
    *,
    on: str = "complete",
    construct: str | None = None,
    raters: Sequence[str] = (),
    levels: list[Any] | None = None,
    met: Sequence[str] = (),
    missing: Sequence[str] = (),
    said_by: dict[str, dict[str, Any]] | None = None,
) -> Ratings:
    """Ratings of one data set from its label rows and, of a run, its judgement rows (the columns of `runs.reader`).

    Parameters
    ----------
    on : ``complete`` (judges by their rubric's fixed threshold, the majority of their samples), ``severity``, ``score``,
        ``value`` (judges by `raw`), or ``criteria``: one unit a record and criterion.
    said_by : further judges, each a map from record ids to what it said.
    met : with ``criteria``, words that mean met; ratings become yes (1) and no (0), and judges' `met` is compared with them.

    Raises
    ------
    StatisticsError : there are no labels; a rater is the judge itself. InputError : an unknown rater or `on`.
    """
    if on not in ON:
        raise InputError(f"labels hold no {on!r}", field="on", mend=f"one of {', '.join(ON)}")
    rows = [row for row in labels if construct is None or row["construct"] == construct]
    joins = sum(_is_join(row["rater"]) for row in rows)
    rows = [row for row in rows if not _is_join(row["rater"])]
    found = sorted({row["construct"] for row in rows})
    if not rows:
        what = f"there are no labels of {construct}" if construct else "there are no labels"
        raise StatisticsError(what, mend="judge labelled records, or name a card that maps their labels")
    if len(found) > 1:
        raise StatisticsError(f"labels of several constructs: {', '.join(found)}", field="construct", mend="name one")
    names = list(dict.fromkeys(row["rater"] or UNNAMED for row in rows))
    for name in raters:
        if name not in names:
            raise InputError(f"no rater is called {name!r}", field="raters", mend=f"there are {', '.join(names)}")
    names = [name for name in names if not raters or name in raters]
    units: dict[tuple[str, str | None], str] = {}
    said: dict[str, dict[Any, Any]] = {name: {} for name in names}
    for row in rows:
        name = row["rater"] or UNNAMED
        if name not in said:
            continue
        for key, value in _label_values(row, on, met):
            units.setdefault(key, row["cluster"])
            said[name][key] = _said(value, missing)
    machine, notes = _judged(judgements, units, on)
    for name, values in (said_by or {}).items():
        machine[name] = {
            (record, None): int(value) if isinstance(value, bool) else _said(value, missing)
            for record, value in values.items()
        }
    if (
        machine
        and on == "criteria"
        and not met
        and any(isinstance(word, str) for mine in said.values() for word in mine.values())
    ):
        machine = {}
        notes.append(
            "judges say met or not met, and raters use words: name those that mean met (--met) to compare them"
        )
    for judge in machine:
        grader = next((name for name in names if wrote_it(name, judge.split(" / ")[-1])), None)
        if grader is not None:
            raise StatisticsError(
                f"the labels of {grader} were written by the judge itself",
                mend="leave that rater out with --raters, or leave the judge out",
            )
    if joins:
        notes.append(f"{joins} labels that join several raters were left out: raters are compared one by one")
    keys = list(units)
    spoken: dict[Any, str] = {}
    if on == "complete" or (on == "criteria" and met):
        words = ("incomplete", "complete") if found[0] == "completeness" else ("no", "yes")
        spoken = dict(enumerate(words if on == "complete" else ("not met", "met")))
        levels = levels if levels is not None else list(spoken.values())

    def columns(side: dict[str, dict[Any, Any]]) -> dict[str, list[Any]]:
        return {
            name: [None if values.get(key) is None else spoken.get(values[key], values[key]) for key in keys]
            for name, values in side.items()
        }

    return Ratings(
        units=["/".join(filter(None, key)) for key in keys],
        raters=columns(said),
        judges=columns(machine),
        clusters=[units[key] for key in keys],
        levels=levels,
        what=f"{found[0]}, {on}" + (f" ({' or '.join(met)} is met)" if met and on == "criteria" else ""),
        notes=notes,
    )


def _is_join(rater: str | None) -> bool:
    return rater is not None and rater.startswith("join:")


def _label_values(row: dict[str, Any], on: str, met: Sequence[str]) -> list[tuple[tuple[str, str | None], Any]]:
    if on != "criteria":
        value = row[on]
        return [((row["record_id"], None), int(value) if isinstance(value, bool) else value)]
    out: list[tuple[tuple[str, str | None], Any]] = []
    for criterion, word in (row["criteria"] or {}).items():
        if word is not None and met:
            word = int(word if isinstance(word, bool) else word in met)
        out.append(((row["record_id"], criterion), int(word) if isinstance(word, bool) else word))
    return out


def _judged(
    judgements: Sequence[dict[str, Any]], units: dict[tuple[str, str | None], str], on: str
) -> tuple[dict[str, dict[Any, Any]], list[str]]:
    """Each judge's word on each unit, over its scored samples, and notes on what is missing."""
    rubrics = {row["rubric"] for row in judgements}
    votes: dict[str, dict[Any, list[float]]] = {}
    unscored: dict[str, int] = {}
    for row in judgements:
        name = f"{row['rubric']} / {row['judge']}" if len(rubrics) > 1 else row["judge"]
        mine = votes.setdefault(name, {})
        if row["status"] not in SCORED:
            unscored[name] = unscored.get(name, 0) + 1
            continue
        for key, value in _judge_values(row, on):
            if key in units and value is not None:
                mine.setdefault(key, []).append(float(value))
    notes = [f"{name}: {n} unscored judgements are missing ratings" for name, n in unscored.items()]
    out: dict[str, dict[Any, Any]] = {}
    for name, mine in votes.items():
        if on in ("complete", "criteria"):
            tied = sum(1 for values in mine.values() if 2 * sum(values) == len(values))
            out[name] = {
                key: int(2 * sum(values) > len(values))
                for key, values in mine.items()
                if 2 * sum(values) != len(values)
            }
            if tied:
                notes.append(f"{name}: on {tied} units its samples tie, which is a missing rating")
        else:
            out[name] = {key: sum(values) / len(values) for key, values in mine.items()}
    return {name: values for name, values in out.items() if values}, notes


def _judge_values(row: dict[str, Any], on: str) -> list[tuple[tuple[str, str | None], Any]]:
    if on == "criteria":
        said = (row["verdict"] or {}).get("criteria")
        if not isinstance(said, dict):
            return []
        return [
            ((row["record_id"], criterion), word.get("met"))
            for criterion, word in said.items()
            if isinstance(word, dict) and isinstance(word.get("met"), bool)
        ]
    if on == "severity":
        return []
    value = row["complete"] if on == "complete" else row["score"] if on == "score" else row["raw"]
    return [((row["record_id"], None), value)]
