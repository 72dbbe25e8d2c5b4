"""`agree` from whatever was named: a run, a table, or labelled records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.analysis.agree import CORRELATION_COLUMNS, Ratings, agree, correlations, parse_levels
from judgekit.analysis.frames import as_rows, filtered, is_run, numbers, read_table
from judgekit.analysis.panel import PanelRun
from judgekit.analysis.ratings import label_rows, ratings_from_labels, ratings_from_table
from judgekit.analysis.result import Result, Table, signature
from judgekit.errors import DataError, InputError, UsageError
from judgekit.runs.model import SCORED

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["agree_source", "correlation_matrix", "judge_correlations"]


def agree_source(
    source: Any,
    *,
    raters: str | Sequence[str] | None = None,
    judge: Sequence[str] = (),
    rubric: Sequence[str] = (),
    levels: str | Sequence[Any] | None = None,
    cluster: str | None = None,
    on: str = "complete",
    met: str | Sequence[str] | None = None,
    construct: str | None = None,
    dataset: str | None = None,
    card: str | None = None,
    missing: Sequence[str] = (),
    where: Sequence[str] = (),
    level: float = 0.95,
    replicates: int = 2000,
    seed: int = 0,
    panel: str | None = None,
) -> Result:
    """Agreement for a run's folder (or a Run), a table file, or a file of labelled records (`card`, or no `raters`).

    The options are those of ``judgekit agree``; lists may be given as such or joined by commas.
    """
    names, words = _list(raters), _list(met)
    scale = parse_levels(levels) if isinstance(levels, str) else None if levels is None else list(levels)
    common = {"replicates": replicates, "seed": seed, "level": level}
    related: list[dict[str, Any]] = []
    extra: list[Table] = []
    if hasattr(source, "latest") or is_run(source):
        if panel is not None:
            from judgekit.runs.reader import open_run

            run = source if hasattr(source, "latest") else open_run(source)
            datasets = [dataset] if dataset else []
            source = PanelRun(run, panel, judges=judge, rubrics=rubric, datasets=datasets)
            extra, judge = [source.table(**common)], ()
            if not len(source.labels):
                notes = ["there are no labels: the members are compared with each other alone"]
                return _finish(
                    Result(extra, signature(panel=panel, **common), notes), judge_correlations(source.members_only())
                )
        ratings, related = _run(source, names, judge, rubric, scale, on, words, construct, dataset, missing, common)
    elif panel is not None:
        raise UsageError(
            "--panel joins the judges of a run", field="panel", mend="leave it out, or name a run's folder"
        )
    elif card is None and names:
        file = str(source)
        frame = filtered(read_table(source), where, file)
        ratings = ratings_from_table(
            frame, raters=names, judges=judge, cluster=cluster, levels=scale, missing=missing, file=file
        )
        related = _table_correlations(frame, judge, ratings, missing, file, common)
    else:
        ratings = _records(source, card, names, judge, scale, on, words, construct, missing)
    result = agree(ratings, **common)  # type: ignore[arg-type]
    result.tables.extend(extra)
    return _finish(result, related)


def _finish(result: Result, related: list[dict[str, Any]]) -> Result:
    if related:
        columns = [one for one in CORRELATION_COLUMNS if one.key in related[0] or one.whole]
        result.tables.append(Table("correlations", "Judges with each other", related, columns))
    return result


def _list(text: str | Sequence[str] | None) -> list[str]:
    if text is None:
        return []
    return [part.strip() for part in text.split(",") if part.strip()] if isinstance(text, str) else list(text)


def _records(
    source: Any, card: str | None, names: list[str], judges: Sequence[str], scale: list[Any] | None, on: str, words: list[str],
    construct: str | None, missing: Sequence[str],
) -> Ratings:  # fmt: skip
    from judgekit.data import load_records

    if isinstance(source, (str, Path)) and not Path(source).exists():
        raise InputError("there is no such run, table or data", file=str(source), mend="check the path")
    if isinstance(source, (str, Path)) and Path(source).is_dir():
        raise InputError("this folder holds no run", file=str(source), mend="name a run's folder, a table, or records")
    try:
        records = load_records(source, card=card)
    except DataError as error:
        if card is None and error.mend is None:
            error.mend = "for a table name the raters' columns with --raters A,B; for records name a --card"
        raise
    said: dict[str, dict[str, Any]] = {}
    for name in judges:
        said[name] = {record.id: record.meta.get(name) for record in records}
        if all(value is None for value in said[name].values()):
            fields = sorted({key for record in records for key in record.meta})
            mend = f"it has {', '.join(fields) or 'nothing'}"
            raise InputError(f"the records' meta holds no {name!r}", field="judge", mend=mend)
    return ratings_from_labels(
        label_rows(records, "records"),
        said_by=said,
        on=on,
        construct=construct,
        raters=names,
        levels=scale,
        met=words,
        missing=missing,
    )


def _run(
    source: Any, names: list[str], judges: Sequence[str], rubrics: Sequence[str], scale: list[Any] | None, on: str,
    words: list[str], construct: str | None, dataset: str | None, missing: Sequence[str], common: dict[str, Any],
) -> tuple[Ratings, list[dict[str, Any]]]:  # fmt: skip
    from judgekit.runs.reader import open_run

    run = source if hasattr(source, "latest") else open_run(source)
    labels = as_rows(run.labels)
    frame = run.latest()
    there = list(dict.fromkeys([*(row["dataset"] for row in labels), *frame["dataset"]]))
    if dataset is None and len(there) > 1:
        raise UsageError(f"the run holds {len(there)} data sets", field="dataset", mend=f"--dataset {there[0]}")
    if dataset is not None and dataset not in there:
        raise InputError(
            f"the run has no data set {dataset!r}", field="dataset", mend=f"it has {', '.join(there) or 'none'}"
        )
    for column, wanted in (("dataset", [dataset] if dataset else []), ("rubric", rubrics), ("judge", judges)):
        have = sorted(set(frame[column]))
        for name in wanted:
            if name not in have and column != "dataset":
                raise InputError(
                    f"the run has no {column} {name!r}", field=column, mend=f"it has {', '.join(have) or 'none'}"
                )
        if wanted:
            frame = frame[frame[column].isin(list(wanted))]
    labels = [row for row in labels if dataset in (None, row["dataset"])]
    ratings = ratings_from_labels(
        labels,
        as_rows(frame),
        on=on,
        construct=construct,
        raters=names,
        levels=scale,
        met=words,
        missing=missing,
    )
    if isinstance(run, PanelRun):  # a panel is like its own members: that correlation says nothing
        frame = frame[~frame["judge"].isin(run.names)]
    return ratings, judge_correlations(frame, replicates=min(1000, common["replicates"]), seed=common["seed"])


def judge_correlations(frame: pd.DataFrame, *, replicates: int = 1000, seed: int = 0) -> list[dict[str, Any]]:
    """Pearson and Spearman between judges' raw scores, per data set and rubric (paper 002, appendix E.2).

    `frame` has the columns of a run's judgements; samples are averaged within a record first, unscored ones left out.
    """
    rows = []
    for (dataset, rubric), part in frame.groupby(["dataset", "rubric"], sort=False):
        scored = part[part["status"].isin(SCORED) & part["raw"].notna()]
        judges = list(dict.fromkeys(part["judge"]))
        if len(judges) < 2 or not len(scored):
            continue
        wide = scored.assign(raw=scored["raw"].astype(float)).pivot_table(
            index=["record_id", "cluster"], columns="judge", values="raw", sort=False
        )
        scores = {name: wide[name].tolist() for name in judges if name in wide}
        rows += correlations(
            scores, [str(name) for name in wide.index.get_level_values("cluster")], replicates=replicates, seed=seed,
            head={"dataset": str(dataset), "rubric": str(rubric)},
        )  # fmt: skip
    return rows


def correlation_matrix(
    rows: Sequence[dict[str, Any]], method: str = "pearson"
) -> tuple[list[str], list[list[float | None]]]:
    """Judges' names and the square of their correlations, for a heat map of one data set and rubric.

    `rows` come from `correlations`; the diagonal is None (a judge with itself says nothing), as is what is undefined.
    """
    names = list(dict.fromkeys(name for row in rows for name in (row["a"], row["b"])))
    place = {name: index for index, name in enumerate(names)}
    square: list[list[float | None]] = [[None] * len(names) for _ in names]
    for row in rows:
        a, b = place[row["a"]], place[row["b"]]
        square[a][b] = square[b][a] = row[method]
    return names, square


def _table_correlations(
    frame: pd.DataFrame,
    judges: Sequence[str],
    ratings: Ratings,
    missing: Sequence[str],
    file: str,
    common: dict[str, Any],
) -> list[dict[str, Any]]:
    if len(judges) < 2:
        return []
    try:
        scores = {name: numbers(frame, name, file, missing) for name in judges}
    except DataError:
        return []  # words have no correlation
    return correlations(scores, ratings.clusters, replicates=min(1000, common["replicates"]), seed=common["seed"])
