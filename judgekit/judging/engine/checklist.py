"""Checklists that a model writes: once per question, stored, and shared by all answers to it."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.errors import InputError, RubricError
from judgekit.judging.engine.calls import Caller, Judge, request_for
from judgekit.judging.engine.units import Unit
from judgekit.judging.provider.types import JudgeSpec
from judgekit.records import Criterion, Record, content_hash
from judgekit.runs.store import RunStore

if TYPE_CHECKING:
    from judgekit.judging.engine.retrieve import Retrievers
    from judgekit.rubric import CompiledRubric

__all__ = [
    "Checklists",
    "about_the_question",
    "bind_writers",
    "from_verdict",
    "question_hash",
    "who_writes",
    "writer_specs",
    "writers_of",
]


def writers_of(rubrics: Iterable[CompiledRubric], retrievers: Retrievers) -> dict[str, CompiledRubric]:
    """The rubric that writes criteria, by the name of the rubric that wants them."""
    from judgekit.rubric import load_rubric

    found = {}
    for rubric in rubrics:
        spec = rubric.spec.criteria
        if spec is None or spec.write is None or "written" not in spec.sources:
            continue
        beside = None if rubric.path is None else Path(rubric.path).parent / f"{spec.write.rubric}.yaml"
        writer = load_rubric(str(beside) if beside is not None and beside.is_file() else spec.write.rubric)
        if _list_field(writer) is None:
            raise RubricError(
                f"{writer.name} writes the criteria of {rubric.name}, but its verdict has no list of texts",
                file=None if writer.path is None else str(writer.path),
                field="verdict",
                mend='write: criteria: {list: {of: {text: {text: "..."}}}}',
            )
        found[rubric.name] = retrievers.bind([writer])[0]
    return found


def bind_writers(rubrics: Iterable[CompiledRubric], writers: dict[str, CompiledRubric]) -> list[CompiledRubric]:
    """The rubrics, those with written criteria under an `ask` fingerprint that holds the writer's as well."""
    bound = []
    for rubric in rubrics:
        if rubric.name in writers:
            rubric = copy.copy(rubric)
            rubric.ask_fingerprint = content_hash([rubric.ask_fingerprint, writers[rubric.name].ask_fingerprint])
        bound.append(rubric)
    return bound


def _list_field(writer: CompiledRubric) -> str | None:
    from judgekit.rubric.fields import ListField

    found = (field for field in writer.spec.verdict if isinstance(field, ListField))
    return next((field.name for field in found if any(item.name == "text" for item in field.of)), None)


def about_the_question(record: Record) -> Record:
    """What a writer may see: nothing that differs from one answer to the next."""
    return Record(
        id="question",
        question=record.question,
        reference=record.reference,
        options=record.options,
        inputs=record.inputs,
    )


def from_verdict(writer: CompiledRubric, verdict: dict[str, Any]) -> list[Criterion]:
    """Criteria ``w1``, ``w2``, ... from what the writer said; an item without text is left out."""
    found: list[Criterion] = []
    for item in verdict.get(_list_field(writer) or "") or []:
        text = str(item.get("text") or "").strip()
        if text:
            kind, points = item.get("kind"), item.get("points", 1)
            found.append(
                Criterion(
                    id=f"w{len(found) + 1}",
                    text=text,
                    points=points if isinstance(points, int | float) else 1,
                    kind=None if kind is None else str(kind),
                )
            )
    return found


def question_hash(record: Record) -> str:
    """What makes two records' questions the same."""
    return content_hash({"question": record.to_dict()["question"], "options": record.options})


def writer_specs(rubrics: Iterable[CompiledRubric], judges: Sequence[JudgeSpec]) -> dict[str, JudgeSpec]:
    """By rubric, the model that writes its checklists, where the rubric names one (`write.model`).

    It is asked at the judges' own address, with its rubric's sampling. Where it is one of the judges, it is that judge.
    """
    base = judges[0].api_base if judges else None
    known = {judge.notation: judge for judge in judges}
    found = {}
    for rubric in rubrics:
        spec = rubric.spec.criteria
        if spec is not None and spec.write is not None and spec.write.model is not None and "written" in spec.sources:
            model = spec.write.model
            writer = JudgeSpec(model, api_base=None if model.startswith("local/") else base)
            found[rubric.name] = known.setdefault(model, writer)
    return found


def who_writes(judge: JudgeSpec, client: Any) -> str:
    """A writing model in the key of its checklists."""
    return f"{judge.notation} at {client.endpoint}"


class Checklists:
    """Written criteria for one command. `judges` (by notation) and `specs` (who writes, by rubric; by default the judge itself) are set before `criteria` is awaited."""

    def __init__(
        self, store: RunStore, caller: Caller, writers: dict[str, CompiledRubric], retrievers: Retrievers
    ) -> None:
        self.store, self.caller, self.by_rubric, self.retrievers = store, caller, writers, retrievers
        self.judges: dict[str, Judge] = {}
        self.specs: dict[str, JudgeSpec] = {}
        self._locks: dict[tuple[str, str, str], asyncio.Lock] = {}

    async def criteria(self, unit: Unit) -> list[Criterion] | str:
        """The question's written criteria; or, as text, why there are none."""
        writer = self.by_rubric[unit.rubric.name]
        judge = self.judges[self.specs.get(unit.rubric.name, unit.judge).notation]
        key = (question_hash(unit.record), writer.ask_fingerprint, who_writes(judge.spec, judge.client))
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:
            stored = self.store.checklist(*key)
            if stored is not None:
                return stored[1]
            record = about_the_question(unit.record)
            missing = writer.missing_inputs(record)
            if missing:
                return f"the checklist's writer {writer.name} lacks {', '.join(missing)}"
            try:
                asks = writer.asks(record, None, self.retrievers.examples(writer, unit.record))
            except InputError as error:
                return f"the checklist's writer {writer.name}: {error}"
            ask = asks[0]
            request = request_for(judge.client, writer, ask, record=record)
            row = await self.caller.get(judge, request, ask.model)
            if row.status != "ok" or row.verdict is None:
                return f"the checklist was not written: {row.status}" + (f" ({row.reason})" if row.reason else "")
            written = from_verdict(writer, writer.merge([(ask, row.verdict)]))
            self.store.put_checklist(key[0], writer.name, key[1], key[2], request.key, written)
            return written
