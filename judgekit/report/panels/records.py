"""Every record with the prompt, the reply, the verdict and the clinicians' words: searched, filtered and read one by one."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from judgekit.report.context import rows_of
from judgekit.report.model import LeftOut, Panel, Widget
from judgekit.report.texts import PIECE, deflate, in_pieces, record_texts

if TYPE_CHECKING:
    from judgekit.analysis.triage.row import Row
    from judgekit.report.context import Context

TITLE = "The records"
QUESTION = "The records themselves"
ORDER = 900
COLUMNS = 6  # scores in columns of their own; with more series they stand in the opened record
SNIPPET = 140

__all__ = ["ORDER", "QUESTION", "TITLE", "build", "outcomes"]


def build(context: Context) -> Panel | LeftOut:
    records, frame = context.records, context.frame
    if not len(records):
        return LeftOut("the run holds no record")
    names = list(dict.fromkeys(zip(map(str, frame["rubric"]), map(str, frame["judge"]), strict=True)))
    series = {name: i for i, name in enumerate(names)}
    keys = [(row.dataset, row.record_id) for row in rows_of(records)]
    entries, skeletons = record_texts(context, keys, series)
    raws: dict[tuple[Any, Any], list[list[float]]] = defaultdict(lambda: [[] for _ in names])
    for row in rows_of(frame):
        if row.raw is not None:
            raws[row.dataset, row.record_id][series[str(row.rubric), str(row.judge)]].append(float(row.raw))
    several = len(dict.fromkeys(dataset for dataset, _ in keys)) > 1
    index = []
    for key, entry in zip(keys, entries, strict=True):
        scores = [None if not values else float(f"{np.mean(values):.6g}") for values in raws[key]]
        snippet = " ".join((entry[0] or entry[1] or "").split())
        snippet = snippet if len(snippet) <= SNIPPET else snippet[: SNIPPET - 1] + "…"
        index.append([key[1], key[0] if several else None, snippet, *_labels(entry[5]), scores])
    data = {
        "series": _short(names),
        "columns": min(len(names), COLUMNS) if len(names) <= COLUMNS else 0,
        "rows": [
            {"name": context.name(row), "threshold": context.rule(row), "codes": outcomes(row, keys)}
            for row in context.rows
            if not row.refused
        ],
        "piece": PIECE,
        "count": len(keys),
    }
    lead = (
        "Search looks into questions, answers, references, criteria, replies and rationales. Open a record to read its prompt as it was "
        "sent, the judge's reply, the verdict, and what the clinicians wrote."
    )
    widget = Widget(
        "records",
        {"data": data, "index": deflate(index), "skeletons": deflate(skeletons), "pieces": in_pieces(entries)},
    )
    return Panel(lead, (widget,))


def _short(names: list[tuple[str, str]]) -> list[str]:
    """Rubric and judge, without the one that all share."""
    rubrics, judges = ({name[i] for name in names} for i in (0, 1))
    if len(rubrics) == 1 and len(judges) > 1:
        return [judge for _, judge in names]
    if len(judges) == 1 and len(rubrics) > 1:
        return [rubric for rubric, _ in names]
    return [f"{rubric} · {judge}" for rubric, judge in names]


def outcomes(row: Row, keys: list[tuple[Any, Any]]) -> str:
    """One letter a record: c caught, m missed, f read for nothing, u rightly unread, s unscored, n no label, ``-`` not judged."""
    cell = row.cell
    with np.errstate(invalid="ignore"):
        threshold = row.point.threshold
        read = (
            np.zeros(len(cell.ids), bool)
            if threshold is None
            else cell.score >= threshold if row.worse else cell.score <= threshold
        )  # fmt: skip
    code = {}
    for place, name in enumerate(cell.ids):
        if cell.label[place] < 0:
            letter = "n"
        elif not cell.scored[place]:
            letter = "s"
        elif threshold is None:
            letter = "-"
        else:
            letter = ("c" if read[place] else "m") if cell.label[place] == 1 else ("f" if read[place] else "u")
        code[cell.dataset, name] = letter
    return "".join(code.get((dataset, name), "-") for dataset, name in keys)


def _labels(labels: list[Any]) -> tuple[str, str | None]:
    """(the label in words, the severity) of a record; a join speaks for its raters, raters who differ are counted."""
    from judgekit.data.labels import PREFIX

    joins = [one for one in labels if str(one[1] or "").startswith(PREFIX)]
    people = [one for one in labels if one not in joins]
    said = [one[2] for one in (joins[:1] or people) if one[2] is not None]
    severities = list(dict.fromkeys(str(one[4]) for one in (people or joins) if one[4] is not None))
    severity = None if not severities else severities[0].split(" - ")[0] if len(severities) == 1 else "differs"
    if not said:
        return "no label", severity
    bad = said.count(False)
    if bad in (0, len(said)):
        return ("incomplete" if bad else "complete"), severity
    return f"raters differ ({bad} of {len(said)} incomplete)", severity
