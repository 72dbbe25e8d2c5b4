"""Records out: JSONL, CSV, Parquet, pandas, Hugging Face, Label Studio tasks. CSV is safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from judgekit.data.cells import safe_cell
from judgekit.data.labels import is_join
from judgekit.errors import DataError, MissingDependency, UsageError
from judgekit.records import Record

__all__ = ["TARGETS", "export", "to_frame", "to_huggingface"]

TARGETS = ("jsonl", "csv", "parquet", "label-studio")
_COLUMNS = (
    "id", "turns", "question", "response", "reference", "criteria", "options", "answer", "labels", "cluster", "inputs", "meta",
)  # fmt: skip


def export(records: Iterable[Record], path: str | Path, to: str) -> int:
    """Write records to a file, whole or not at all, and return their number.

    `to` is one of `TARGETS`. ``jsonl`` and ``parquet`` hold everything and read back equal. So does ``csv``, whose column
    ``_guarded`` tells the loader that cells went through `safe_cell`. ``label-studio`` holds tasks with the labels as annotations.
    """
    records = list(records)
    writer = {"jsonl": _jsonl, "csv": _csv, "parquet": _parquet, "label-studio": _label_studio}.get(to)
    if writer is None:
        raise UsageError(f"cannot export to {to!r}", mend=f"choose one of {', '.join(TARGETS)}")
    target = Path(path)
    if not target.parent.is_dir():
        raise DataError("there is no such folder", file=str(target.parent), mend="make it first")
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(handle)
    try:
        writer(records, Path(name))
        os.chmod(name, 0o644)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return len(records)


def _slim(record: Record) -> dict[str, Any]:
    """The record's object without what is empty; `Record.from_dict` gives the record back."""
    value = record.to_dict()
    slim = {key: item for key, item in value.items() if item is not None and (item not in ([], {}) or key == "options")}
    slim["labels"] = [
        {key: item for key, item in label.items() if item is not None} for label in value["labels"]
    ] or None
    return {key: item for key, item in slim.items() if item is not None}


def _jsonl(records: list[Record], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(json.dumps(_slim(record), ensure_ascii=False, allow_nan=False) + "\n")


def _cells(record: Record) -> dict[str, str | None]:
    """One text a column; a conversation has a column of its own, so that no question is taken for one."""
    value = _slim(record)
    if isinstance(value.get("question"), list):
        value["turns"] = value.pop("question")
    return {
        column: None
        if column not in value
        else value[column]
        if isinstance(value[column], str)
        else json.dumps(value[column], ensure_ascii=False, allow_nan=False)
        for column in _COLUMNS
    }


def _csv(records: list[Record], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow([*_COLUMNS, "_guarded"])
        for record in records:
            cells = _cells(record)
            # Null and "" are the same empty cell in CSV: what would be lost is written as JSON, which the loader reads back.
            marks = [name for name in _COLUMNS if cells[name] == "" and name != "response"]
            marks += ["-response"] if cells["response"] is None else []
            writer.writerow([*(safe_cell(cells[name] or "") for name in _COLUMNS), " ".join(["yes", *marks])])


def _parquet(records: list[Record], path: Path) -> None:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingDependency("Parquet needs pyarrow", mend="pip install pyarrow, or export to jsonl") from None
    rows = [_cells(record) for record in records]
    table = pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in _COLUMNS})
    parquet.write_table(table, path)


def to_frame(records: Iterable[Record]) -> Any:
    """A pandas DataFrame with one text column a field, nested fields as JSON; `load_records` takes it back."""
    import pandas as pd

    rows = [_cells(record) for record in records]
    return pd.DataFrame({name: pd.Series([row[name] for row in rows], dtype=object) for name in _COLUMNS})


def to_huggingface(records: Iterable[Record]) -> Any:
    """A Hugging Face Dataset with the same columns as `to_frame`; needs the `datasets` package."""
    try:
        from datasets import Dataset  # type: ignore[attr-defined]
    except ImportError:
        raise MissingDependency("this needs the package datasets", mend="pip install datasets") from None
    rows = [_cells(record) for record in records]
    return Dataset.from_dict({name: [row[name] for row in rows] for name in _COLUMNS})


def _label_studio(records: list[Record], path: Path) -> None:
    """Tasks for Label Studio: texts under ``data``, each rater's label as an annotation of its own. Joins stay out."""
    tasks = []
    for record in records:
        data: dict[str, Any] = {"id": record.id, "question": record.question_text, "response": record.response}
        data |= {"reference": record.reference, "criteria": [item.text for item in record.criteria]}
        data |= {"cluster": record.cluster, "meta": record.meta}
        annotations = []
        for label in record.labels:
            if is_join(label):
                continue
            result: list[dict[str, Any]] = []
            if label.complete is not None:
                result.append(_choice("complete", "complete" if label.complete else "incomplete"))
            if label.severity is not None:
                result.append(_choice("severity", label.severity))
            if label.score is not None:
                result.append(
                    {"from_name": "score", "to_name": "response", "type": "number", "value": {"number": label.score}}
                )
            if label.rationale is not None:
                result.append(
                    {
                        "from_name": "rationale",
                        "to_name": "response",
                        "type": "textarea",
                        "value": {"text": [label.rationale]},
                    }
                )
            annotations.append({"completed_by": {"email": label.rater}, "construct": label.construct, "result": result})
        tasks.append(
            {"data": {key: item for key, item in data.items() if item is not None}, "annotations": annotations}
        )
    path.write_text(json.dumps(tasks, ensure_ascii=False, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def _choice(name: str, word: str) -> dict[str, Any]:
    return {"from_name": name, "to_name": "response", "type": "choices", "value": {"choices": [word]}}
