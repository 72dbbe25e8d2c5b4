"""Verdicts that were recorded elsewhere: ``replay/FILE`` as a judge.

FILE is JSONL of ``record_id, rubric, judge, sample, verdict | null, status, raw`` (and ``dataset`` where ids repeat between
sets). Nothing is asked; the judge's name in the run is the recorded one. Numbers keep their values: off the scale or
between its levels they count as they are, and are flagged.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.errors import DataError, InputError
from judgekit.judging.engine.judgement import criterion_row, score_recorded
from judgekit.judging.engine.units import Unit, blank_judgement
from judgekit.judging.provider.types import JudgeSpec
from judgekit.limits import json_value, open_text
from judgekit.records import content_hash
from judgekit.runs.model import STATUSES, CallRow, Judgement

if TYPE_CHECKING:
    from judgekit.data import RecordSet
    from judgekit.rubric import CompiledRubric

__all__ = ["Recorded", "Replay", "is_replay", "read_recorded"]

PREFIX = "replay/"
KEYS = ("dataset", "record_id", "rubric", "judge", "sample", "verdict", "status", "raw")


def is_replay(judge: JudgeSpec) -> bool:
    """Whether a judge is a file of recorded verdicts."""
    return judge.model.startswith(PREFIX)


@dataclass(frozen=True, slots=True)
class Recorded:
    """One line of the file. `raw` is the judge's words, or None."""

    line: int
    dataset: str | None
    record_id: str
    rubric: str | None
    judge: str
    sample: int
    verdict: dict[str, Any] | None
    status: str
    raw: str | None


def read_recorded(path: Path) -> Iterator[Recorded]:
    """The lines of a file of recorded verdicts; DataError with file and line for the first that is wrong."""
    try:
        file = open_text(path, DataError)
    except OSError as error:
        raise DataError(
            f"the recorded verdicts cannot be read ({error.strerror})",
            file=str(path),
            mend="check the path after replay/",
        ) from error
    with file:
        number = 0
        try:
            for number, text in enumerate(file, 1):
                if text.strip():
                    yield recorded(_json(text, path, number), path, number)
        except UnicodeDecodeError as error:
            raise DataError(
                "this is not UTF-8 text", file=str(path), line=number + 1, mend="save it as UTF-8"
            ) from error


def _json(text: str, path: Path, line: int) -> Any:
    def refuse(name: str) -> Any:
        raise ValueError(f"{name} is no JSON number")

    try:
        return json_value(text, partial(json.loads, parse_constant=refuse))
    except ValueError as error:
        raise DataError(
            f"this line is not JSON ({error})", file=str(path), line=line, mend="one object a line"
        ) from error


def recorded(value: Any, path: Path, line: int) -> Recorded:
    """A checked line."""

    def wrong(field: str | None, message: str, mend: str) -> DataError:
        return DataError(message, file=str(path), line=line, field=field, mend=mend)

    if not isinstance(value, dict):
        raise wrong(
            None, "this line is not an object", 'write {"record_id": ..., "rubric": ..., "judge": ..., "verdict": ...}'
        )
    for key in value:
        if key not in KEYS:
            raise wrong(key, "no such key", f"use {', '.join(KEYS)}")
    record_id = value.get("record_id")
    if not isinstance(record_id, str) or not record_id:
        raise wrong("record_id", "must be the record's id, as text", 'write "record_id": "001"')
    verdict = value.get("verdict")
    if verdict is not None and not isinstance(verdict, dict):
        raise wrong("verdict", "must be an object with the rubric's fields, or null", 'write {"score": 4}')
    status = value.get("status") or ("ok" if verdict is not None else "invalid")
    if status not in STATUSES or status == "rule":
        known = ", ".join(name for name in STATUSES if name != "rule")
        raise wrong("status", f"{status!r} is no status of a recorded verdict", f"use one of {known}")
    if (status == "ok") != (verdict is not None):
        raise wrong(
            "verdict",
            f"status {status} and the verdict do not fit",
            "a verdict goes with status ok, null with any other",
        )
    sample = value.get("sample", 0)
    if not isinstance(sample, int) or isinstance(sample, bool) or sample < 0:
        raise wrong("sample", "must be a whole number from 0", "number the repetitions 0, 1, 2, ...")
    for key in ("dataset", "rubric", "judge", "raw"):
        if value.get(key) is not None and not isinstance(value[key], str):
            raise wrong(key, "must be text", "put it in quotes")
    return Recorded(
        line=line,
        dataset=value.get("dataset"),
        record_id=record_id,
        rubric=value.get("rubric"),
        judge=value.get("judge") or path.stem,
        sample=sample,
        verdict=verdict,
        status=status,
        raw=value.get("raw"),
    )


class Replay:
    """The recorded verdicts that a command takes in.

    Parameters
    ----------
    judge : `replay/FILE`.
    rubrics, sets : what the command asks for. Lines about other rubrics are left out and counted in `ignored`.
    known : per data set, ids that exist although the command does not ask for them (`--limit`).

    Raises
    ------
    DataError naming file and line: an unknown record id, one that stands in several sets without `dataset`, the same record,
    rubric, judge and sample twice.
    """

    def __init__(
        self,
        judge: JudgeSpec,
        rubrics: Sequence[CompiledRubric],
        sets: Sequence[RecordSet],
        known: Mapping[str, set[str]] | None = None,
    ) -> None:
        self.path = Path(judge.model.removeprefix(PREFIX))
        self.rubrics, self.sets = {rubric.name: rubric for rubric in rubrics}, sets
        self.ignored = 0
        self._known = known or {}
        self._ids = {data.name: {record.id for record in data} for data in sets}
        self._rows: dict[tuple[str, str, str, int, str], Recorded] = {}  # data set, rubric, judge, sample, record
        for row in read_recorded(self.path):
            self._take(row)
        if not self._rows:
            raise DataError(
                f"no verdict here is about {', '.join(self.rubrics)}",
                file=str(self.path),
                mend="check --rubric and the file's rubric names",
            )

    def _take(self, row: Recorded) -> None:
        rubric = row.rubric or (next(iter(self.rubrics)) if len(self.rubrics) == 1 else None)
        if rubric is None:
            raise DataError(
                "which rubric is this about?", file=str(self.path), line=row.line, field="rubric", mend="name it"
            )
        if rubric not in self.rubrics:
            self.ignored += 1
            return
        homes = [name for name in self._ids if row.dataset in (None, name) and self._has(name, row.record_id)]
        if len(homes) != 1:
            what = "is in several data sets" if homes else "is in none of the data sets"
            raise DataError(
                f"the record {row.record_id!r} {what}",
                file=str(self.path),
                line=row.line,
                field="record_id",
                mend="add `dataset` to the line" if homes else "check the id, or leave the line out",
            )
        if row.record_id not in self._ids[homes[0]]:
            self.ignored += 1
            return
        key = (homes[0], rubric, row.judge, row.sample, row.record_id)
        first = self._rows.setdefault(key, row)
        if first is not row:
            raise DataError(
                f"record {row.record_id!r}, rubric {rubric}, judge {row.judge}, sample {row.sample} stands on line {first.line} already",
                file=str(self.path),
                line=row.line,
                mend="keep one of the two, or number them as samples",
            )

    def _has(self, dataset: str, record_id: str) -> bool:
        return record_id in self._ids[dataset] or record_id in self._known.get(dataset, ())

    @property
    def judges(self) -> list[str]:
        """The recorded judges' names."""
        return list(dict.fromkeys(judge for _, _, judge, _, _ in self._rows))

    def samples(self, rubric: str) -> list[tuple[str, frozenset[int]]]:
        """Per judge, the sample numbers that the file has for a rubric."""
        found: dict[str, set[int]] = {}
        for _, name, judge, sample, _ in self._rows:
            if name == rubric:
                found.setdefault(judge, set()).add(sample)
        return [(judge, frozenset(samples)) for judge, samples in found.items()]

    @property
    def total(self) -> int:
        """How many judgements come of it."""
        n = sum(len(data) for data in self.sets)
        return n * sum(len(samples) for rubric in self.rubrics for _, samples in self.samples(rubric))

    def judgements(self) -> Iterator[tuple[CallRow | None, Judgement]]:
        """A judgement for each record, and the call to keep beside it; a record without a line is ``skipped``."""
        for data in self.sets:
            for record in data:
                for name, rubric in self.rubrics.items():
                    for judge, samples in self.samples(name):
                        for sample in sorted(samples):
                            unit = Unit(data.name, record, rubric, JudgeSpec(judge), sample)
                            row = self._rows.get((data.name, name, judge, sample, record.id))
                            if row is None:
                                yield None, blank_judgement(unit, "skipped", f"{self.path.name} holds no verdict")
                            else:
                                yield self._judgement(unit, row)

    def _judgement(self, unit: Unit, row: Recorded) -> tuple[CallRow, Judgement]:
        about = {
            name: getattr(row, name) for name in ("record_id", "rubric", "judge", "sample", "verdict", "status", "raw")
        }
        key = content_hash({"replay": about, "dataset": unit.dataset, "rubric": unit.rubric.name})
        try:
            judgement = recorded_judgement(unit, row)
        except InputError as error:
            raise DataError(
                error.message, file=str(self.path), line=row.line, field=error.field, mend=error.mend
            ) from error
        call = CallRow(
            key=key,
            model=row.judge,
            endpoint=f"{PREFIX}{self.path.name}",
            sample=row.sample,
            status=judgement.status,
            request={"replay": f"{self.path.name}:{row.line}"},
            text=row.raw,
            verdict=row.verdict,
            reason=judgement.reason,
        )
        return call, dataclasses.replace(judgement, calls=[key])


def recorded_judgement(unit: Unit, row: Recorded) -> Judgement:
    """The judgement of one recorded line, flagged ``recorded``."""
    if row.verdict is None:
        return blank_judgement(unit, row.status, "recorded without a verdict", flags=["recorded"])
    judgement = blank_judgement(unit, "ok", verdict=row.verdict, flags=["recorded"])
    criteria = unit.rubric.select_criteria(unit.record) if unit.rubric.spec.criteria is not None else None
    if criteria is not None:
        judgement = dataclasses.replace(judgement, criteria=[criterion_row(criterion) for criterion in criteria])
    return score_recorded(judgement, unit.rubric, criteria)
