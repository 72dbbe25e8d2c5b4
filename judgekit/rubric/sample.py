"""A record to look at a rubric with, and a commented rubric to start from."""

from __future__ import annotations

from pathlib import Path

from judgekit.errors import RubricError
from judgekit.records import Criterion, Record
from judgekit.registry import library_roots
from judgekit.rubric.compile import CompiledRubric
from judgekit.rubric.fields import ChoiceField

__all__ = ["sample_record", "starter"]

QUESTION = "I take lisinopril for my blood pressure and now have a dry cough. Should I stop it?"
RESPONSE = "A dry cough is a known side effect of lisinopril. Do not stop it on your own; ask your doctor about another medicine."
REFERENCE = (
    "A dry cough is common with ACE inhibitors. Do not stop without advice; the doctor can change to another class. "
    "Swelling of the lips, face or tongue is an emergency."
)


def sample_record(rubric: CompiledRubric) -> Record:
    """A record with all that the rubric needs: its own first check or example, else a made-up one."""
    own = [check.record for check in rubric.spec.checks] + [
        example.record for example in rubric.examples_for(Record(id=""))
    ]
    for record in own:
        if not rubric.missing_inputs(record) and (rubric.spec.criteria is None or rubric.select_criteria(record)):
            return record
    inputs = {name: f"(a sample of {name})" for name in (*rubric.spec.required, *rubric.spec.optional)}
    for field in rubric.spec.verdict:
        if isinstance(field, ChoiceField) and field.sets is not None and field.by is not None:
            inputs[field.by] = next(iter(field.sets))
    return Record(
        id="sample",
        question=QUESTION,
        response=RESPONSE,
        reference=REFERENCE,
        criteria=(
            Criterion("c1", "Names cough as a side effect of ACE inhibitors", kind="must_have"),
            Criterion("c2", "Says that swelling of lips, face or tongue needs help at once", kind="must_have"),
        ),
        options={"A": "Stop it today", "B": "Ask the doctor about another medicine", "C": "Double the dose"},
        inputs=inputs,
    )


def starter(name: str) -> str:
    """The text of a new rubric called `name`: it lints clean and renders."""
    for root in library_roots():
        path = root / "rubrics" / "_parts" / "starter.yaml"
        if path.is_file():
            return Path(path).read_text("utf-8").replace("NAME", name)
    raise RubricError("the library's starter is missing", mend="install judgekit again")
