"""Small runs, written through the real store and read back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from judgekit.analysis.frames import table_frame
from judgekit.data.table import read_table
from judgekit.records import Record
from judgekit.runs.model import CallRow, Judgement, Measured
from judgekit.runs.reader import Run, open_run
from judgekit.runs.store import RunStore

Build = Callable[..., Run]


def judged(record_id: str, **values: Any) -> Judgement:
    """A judgement of `record_id`; `raw` alone makes the score on 1..5 and the verdict by >= 4."""
    raw = values.get("raw")
    status = values.pop("status", "ok" if raw is not None or values.get("verdict") else "invalid")
    base: dict[str, Any] = {
        "dataset": "d", "rubric": "analytical-rubric", "judge": "m/one", "sample": 0, "ask": "a", "score_fp": "s",
        "status": status, "reason": None if status == "ok" else "no reply could be read",
        "score": None if raw is None else (raw - 1) / 4, "complete": None if raw is None else raw >= 4,
        "verdict": None if raw is None else {"explanation": f"raw {raw}", "score": raw}, "calls": [f"call-{record_id}"],
    }  # fmt: skip
    return Judgement(record_id=record_id, **(base | values))


def read_frame(path: Any) -> Any:
    """A table file as the frame that analyses see."""
    return table_frame(read_table(path))


def measured(record_id: str, metric: str, value: float | None, **rest: Any) -> Measured:
    return Measured(
        "d", record_id, metric, f"{metric}|judgekit:0", value, None if value is not None else "none", **rest
    )


@pytest.fixture
def build(tmp_path: Path) -> Build:
    made = iter(range(100))

    def make(
        records: Sequence[Record], judgements: Iterable[Judgement] = (), *, measurements: Iterable[Measured] = (),
        calls: Iterable[CallRow] = (), dataset: str = "d",
    ) -> Run:  # fmt: skip
        folder = tmp_path / f"run{next(made)}"
        with RunStore(folder) as store:
            store.put_records(dataset, records)
            for call in calls:
                store.put_call(call)
            for one in judgements:
                store.put_judgement(one)
            store.put_measurements(measurements)
        return open_run(folder)

    return make
