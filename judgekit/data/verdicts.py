"""Judges' verdicts that were recorded elsewhere, as rows for a replay (``judgekit import``)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from judgekit.data.build import Problems
from judgekit.data.cards import Card, VerdictSpec, format_module, load_card
from judgekit.data.mapping import Mapper
from judgekit.data.model import RecordSet
from judgekit.data.source import FORMATS, Row, read_json_text, read_rows
from judgekit.data.table import is_missing
from judgekit.errors import DataError
from judgekit.records import Record

__all__ = ["RecordedVerdicts", "criteria_met", "load_verdicts", "yes_no"]


@dataclass(frozen=True)
class RecordedVerdicts:
    """A file of recorded verdicts.

    Attributes
    ----------
    records : what the verdicts are about: ids, clusters, meta; texts only where the file has them.
    rows : ``{"record_id", "rubric", "judge", "sample", "verdict" | None, "status", "raw" | None}``, one a source row, in order.
    reading : the name of the reading, for the signature of every table that is made from it.
    counts : source statuses and how many rows had them.
    touched : for each row, whether the reading turned a reply without scores into numbers; `changed` is how many.
    several : whether the card has more than one reading.
    """

    records: RecordSet
    rows: list[dict[str, Any]]
    reading: str
    counts: dict[str, int] = field(default_factory=dict)
    touched: tuple[bool, ...] = ()
    several: bool = False

    def about(self, records: RecordSet) -> RecordedVerdicts:
        """The verdicts on these records alone, with a note on how many others were left out."""
        ids = {record.id for record in records}
        pairs = [pair for pair in zip(self.rows, self.touched, strict=True) if pair[0]["record_id"] in ids]
        kept = [row for row, _ in pairs]
        gone = len(self.rows) - len(kept)
        note = f"{gone} of {len(self.rows)} verdicts are about records that are not in {records.name}: left out"
        data = records.derive(records, note if gone else None)
        return replace(self, records=data, rows=kept, touched=tuple(touched for _, touched in pairs))

    def write(self, path: str | Path) -> None:
        """Write the rows as a file for ``replay/FILE``. Where a card has several readings, the judge's name holds the one taken."""
        with Path(path).open("w", encoding="utf-8", newline="\n") as file:
            for row in self.rows:
                judge = f"{row['judge']}(reading={self.reading})" if self.several else row["judge"]
                file.write(json.dumps({**row, "judge": judge}, ensure_ascii=False, allow_nan=False) + "\n")

    @property
    def changed(self) -> int:
        return sum(self.touched)

    @property
    def signature(self) -> str:
        """What decides the numbers: the card, the reading, and how many rows it touched."""
        card = self.records.card
        return f"verdicts={card.name if card else 'none'},reading={self.reading},read_as_number={self.changed}/{len(self.rows)}"


def load_verdicts(path: str | Path, card: str | Path | Card, *, reading: str | None = None) -> RecordedVerdicts:
    """Read recorded verdicts through a card whose shape has `verdicts`.

    `reading` names one of the card's readings of replies without scores; by default its first, which leaves them out: such a row
    keeps its status and has no verdict. Numbers stay what they were, on the scale or off it. Raises DataError with file and line
    for an unknown status, a row that is ``ok`` without all its numbers, or the same record, rubric, judge and sample twice.
    """
    found = load_card(card)
    file = str(path)
    mapper = Mapper(found, file)
    rows: list[dict[str, Any]] = []
    records: dict[str, Record] = {}
    counts: Counter[str] = Counter()
    seen: dict[tuple[Any, ...], int] = {}
    touched: list[bool] = []
    chosen = reading
    for source in _rows(path, found):
        for row in mapper.objects(source):
            spec = mapper.shape().verdicts
            if spec is None:
                raise DataError(
                    f"the shape {mapper.shape_name!r} of the card {found.name!r} holds no verdicts",
                    file=file,
                    line=row.line,
                    mend=f"name a shape that does: {', '.join(_with_verdicts(found)) or 'none has'}",
                )
            chosen = chosen or next(iter(spec.readings))
            values = _reading(spec, chosen, found)
            record = mapper.record(row)
            first = records.setdefault(record.id, record)
            if first != record:
                raise DataError(
                    f"the record {record.id!r} differs from an earlier row", file=file, line=row.line, field="id"
                )
            made, told = _row(mapper, spec, values, record, row)
            counts[told] += 1
            touched.append(told in values)
            key = tuple(made[name] for name in ("record_id", "rubric", "judge", "sample"))
            if seen.setdefault(key, row.line) != row.line:
                raise DataError(
                    f"the verdict on {record.id!r} stands here and on line {seen[key]}",
                    file=file,
                    line=row.line,
                    mend="keep one, or map `sample`",
                )
            rows.append(made)
    if not rows:
        raise DataError("the file holds no rows", file=file)
    data = RecordSet(records.values(), name=found.name, card=found, path=file, notes=mapper.notes())
    spec = mapper.shape().verdicts
    several = spec is not None and len(spec.readings) > 1
    return RecordedVerdicts(data, rows, chosen or "exclude", dict(counts), tuple(touched), several)


def _rows(path: str | Path, card: Card) -> Iterator[Row]:
    problems = Problems()
    if card.spec.format is None or card.spec.format in FORMATS:
        return read_rows(path, card.spec.format)
    made: Iterator[Row] = format_module(card.spec.format, card).rows(Path(path), problems.add)
    return made


def _with_verdicts(card: Card) -> list[str]:
    return [f"{card.name}/{name}" for name, shape in card.spec.shapes.items() if shape.verdicts is not None]


def _reading(spec: VerdictSpec, name: str, card: Card) -> Mapping[str, float]:
    if name not in spec.readings:
        raise DataError(
            f"the card {card.name!r} has no reading {name!r}",
            file=card.path,
            field="verdicts.readings",
            mend=f"choose one of {', '.join(spec.readings)}",
        )
    return spec.readings[name]


def _row(
    mapper: Mapper, spec: VerdictSpec, values: Mapping[str, float], record: Record, row: Row
) -> tuple[dict[str, Any], str]:
    def at(path: str, name: str) -> Any:
        return mapper.at(path, row.value, f"verdicts.{name}", row.line)

    def wrong(field: str, message: str, mend: str) -> DataError:
        return DataError(message, file=mapper.file, line=row.line, field=field, mend=mend)

    told = "ok" if spec.status is None else str(at(spec.status, "status"))
    status: str | None = "ok" if told == "ok" and not spec.statuses else spec.statuses.get(told)
    if status is None:
        raise wrong(
            "status", f"{told!r} is no status of the card", f"add it to verdicts.statuses in {mapper.card.path}"
        )
    verdict: dict[str, Any] | None = None
    if told in values:
        verdict, status = dict.fromkeys(spec.values, values[told]), "ok"
    elif status == "ok":
        verdict = {name: _value(at(path, f"values.{name}"), row.textual) for name, path in spec.values.items()}
        missing = [name for name, value in verdict.items() if value is None]
        if missing:
            raise wrong(missing[0], "is missing although the status is ok", "correct the status, or the value")
    sample = 0 if spec.sample is None else at(spec.sample, "sample")
    made = {
        "record_id": record.id,
        "rubric": at(spec.rubric, "rubric"),
        "judge": at(spec.judge, "judge"),
        "sample": int(sample),
        "verdict": verdict,
        "status": status,
        "raw": None,
    }
    return made, told


def _value(value: Any, textual: bool) -> Any:
    """A number as a number (a whole one as an int), other words as they are; nothing is None."""
    if isinstance(value, str) and textual:
        if is_missing(value):
            return None
        try:
            value = float(value)
        except ValueError:
            return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _verdict_lines(path: str | Path) -> Iterator[tuple[dict[str, Any], int]]:
    for row in read_rows(path, "jsonl"):
        if not isinstance(row.value.get("record_id"), str):
            raise DataError("is missing or no text", file=str(path), line=row.line, field="record_id")
        yield row.value, row.line


def _first_truth(verdict: Any) -> bool | None:
    """The one yes or no of a verdict: its only boolean field."""
    truths = [value for value in verdict.values() if isinstance(value, bool)] if isinstance(verdict, dict) else []
    return truths[0] if len(truths) == 1 else None


def yes_no(rows: Iterator[Mapping[str, Any]] | list[Mapping[str, Any]] | str | Path) -> dict[str, bool | None]:
    """A yes-or-no verdict by record id, from a JSONL file of recorded verdicts or from rows (a run's judgements).

    None stands for a record whose judgement has no verdict, or several that differ.
    """
    items = (row for row, _ in _verdict_lines(rows)) if isinstance(rows, str | Path) else iter(rows)
    found: dict[str, bool | None] = {}
    for row in items:
        truth = _first_truth(_plain(row.get("verdict")))
        name = str(row["record_id"])
        found[name] = truth if name not in found or found[name] == truth else None
    return found


def criteria_met(
    rows: Iterator[Mapping[str, Any]] | list[Mapping[str, Any]] | str | Path,
) -> tuple[dict[str, dict[str, bool | None]], list[str]]:
    """For each record, which criteria a grader called met, and the graders' names.

    Verdicts are ``{"criteria": {id: {..., one boolean}}}``, as ``healthbench-criterion`` gives them.
    """
    items = (row for row, _ in _verdict_lines(rows)) if isinstance(rows, str | Path) else iter(rows)
    found: dict[str, dict[str, bool | None]] = {}
    judges: dict[str, None] = {}
    for row in items:
        judges[str(row.get("judge") or "unnamed")] = None
        verdict = _plain(row.get("verdict"))
        name = str(row["record_id"])
        if name in found:
            raise DataError(
                f"the record {name!r} has two graded verdicts", field="labels", mend="keep one grader, one sample"
            )
        criteria = verdict.get("criteria") if isinstance(verdict, dict) else None
        found[name] = {
            key: value if isinstance(value, bool) else _first_truth(value) for key, value in (criteria or {}).items()
        }
    return found, list(judges)


def _plain(verdict: Any) -> Any:
    return read_json_text(verdict, None, 0, "verdict") if isinstance(verdict, str) else verdict
