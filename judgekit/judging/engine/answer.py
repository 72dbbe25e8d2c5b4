"""Answers that a model wrote, as records to be judged."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.paths import written_whole
from judgekit.records import Record
from judgekit.runs.model import Judgement
from judgekit.runs.store import RunStore

if TYPE_CHECKING:
    from judgekit.data import RecordSet
    from judgekit.rubric import CompiledRubric

__all__ = ["answered", "write_answers"]


def answered(record: Record, judgement: Judgement, *, alone: bool) -> Record | None:
    """The record with what was written as its response; None where nothing was.

    The labels go: they were about another text. The cluster stays that of the question. `meta` says who wrote it, by which
    rubric, which sample, and whether it was cut short. Where a record is answered more than once (`alone` False), the id says by
    whom.
    """
    text = (judgement.verdict or {}).get("text")
    if judgement.status not in ("ok", "truncated") or text is None:
        return None
    meta = {**record.meta, "model": judgement.judge, "writer": judgement.rubric, "sample": judgement.sample}
    if judgement.status == "truncated":
        meta["truncated"] = True
    return dataclasses.replace(
        record,
        id=record.id if alone else f"{record.id}~{judgement.judge}~{judgement.sample}",
        response=text,
        labels=(),
        cluster=record.cluster if record.question is not None else record.cluster_id,
        meta=meta,
    )


def write_answers(
    run: str | Path, data: RecordSet, writer: CompiledRubric, judges: Sequence[str], samples: int, out: str | Path
) -> dict[str, int]:
    """Write the answers that a run holds as JSONL, whole or not at all, in the order of the data.

    Returns counts: ``written``, ``truncated`` (of these, cut short), ``absent`` (wanted and not there: refused, failed, not done).
    """
    counts = {"written": 0, "truncated": 0, "absent": 0}
    target = Path(out)

    def lines(store: RunStore) -> Iterator[str]:
        for record in data:
            for judge in judges:
                for sample in range(samples):
                    found = store.judgement(data.name, record.id, writer.name, judge, sample, writer.ask_fingerprint)
                    answer = None if found is None else answered(record, found, alone=len(judges) * samples == 1)
                    if answer is None:
                        counts["absent"] += 1
                        continue
                    counts["written"] += 1
                    counts["truncated"] += answer.meta.get("truncated", False)
                    yield json.dumps(answer.to_dict(), ensure_ascii=False, allow_nan=False) + "\n"

    with (
        written_whole(target, "the answers") as place,
        place.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file,
        RunStore(run, "r") as store,
    ):
        file.writelines(lines(store))
    return counts
