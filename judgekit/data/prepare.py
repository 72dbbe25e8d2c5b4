"""HealthBench made ready as arXiv:2604.16383 does (appendix B.2), with what every step leaves and takes away."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from judgekit.data.labels import fraction
from judgekit.data.model import RecordSet
from judgekit.errors import DataError, MissingDependency
from judgekit.exact import meets
from judgekit.records import Label, Record

__all__ = ["HCP_TAGS", "Prepared", "Step", "flatten", "language_of", "prepare_healthbench", "says_professional"]

HCP_TAGS = ("theme:health_data_tasks", "physician_agreed_category:health-professional")
CONSENSUS = "level:cluster"
COMPLETENESS = "axis:completeness"

_JOB = (
    r"(?:doctor|physician|nurse|gp|general practitioner|pharmacist|surgeon|midwife|paramedic|clinician|resident|intern|"
    r"registrar|consultant|dentist|therapist|physiotherapist|dietitian|psychiatrist|psychologist|paediatrician|pediatrician|"
    r"cardiologist|oncologist|radiologist|neurologist|dermatologist|anesthesiologist|anaesthetist|medical student|"
    r"nurse practitioner|physician assistant|medical assistant|emt|hospitalist|intensivist|obstetrician|gynecologist)"
)
_PROFESSIONAL = re.compile(
    rf"\b(?:i am|i'm|i’m|im|as|i work as) (?:an?|the) (?:[\w-]+ ){{0,3}}{_JOB}\b"
    r"|\b(?:have|saw|seeing|treating|admitted|following|managing) (?:an?|this|the|my) (?:[\w-]+ ){0,4}patient\b"
    r"|\bmy (?:[\w-]+ ){0,2}patients?\b"
    r"|\b(?:in|at) (?:my|our) (?:clinic|practice|ward|icu|er|ed|emergency department)\b"
    r"|\b(?:write|draft|rewrite) (?:me )?(?:an?|the|this|my) (?:[\w-]+ ){0,3}"
    r"(?:soap note|discharge summary|progress note|referral letter|handover|h&p)\b",
    re.IGNORECASE,
)
# "I am a patient of a doctor", "my doctor is", "as a nurse told me" stay with laypersons.
_NOT_PROFESSIONAL = re.compile(
    rf"\b(?:as (?:a|the) {_JOB} (?:told|said|suggested)|for my patients? (?:wife|husband|mother))\b", re.I
)


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what it did, how many rows were left after it, and how many of all rows it concerns.

    `concerned` is counted over the whole file, not only what earlier steps left, so that it can be held against the paper's own
    counts; None where the step was not done.
    """

    name: str
    left: int
    removed: int
    concerned: int | None
    note: str | None = None


@dataclass(frozen=True)
class Prepared:
    """The records that are left, and the steps."""

    records: RecordSet
    steps: list[Step] = field(default_factory=list)

    def lines(self) -> list[str]:
        """The steps as a plain table."""
        rows = [("step", "left", "removed", "of all rows", "")]
        for step in self.steps:
            of_all = "not done" if step.concerned is None else str(step.concerned)
            rows.append((step.name, str(step.left), str(step.removed), of_all, step.note or ""))
        widths = [max(len(row[index]) for row in rows) for index in range(4)]
        return [
            f"{a.ljust(widths[0])}  {b.rjust(widths[1])}  {c.rjust(widths[2])}  {d.rjust(widths[3])}  {e}".rstrip()
            for a, b, c, d, e in rows
        ]


def flatten(record: Record) -> str:
    """A conversation as text with ``User:`` and ``Assistant:`` before each message."""
    return "\n\n".join(f"{turn.role.capitalize()}: {turn.content}" for turn in record.turns)


def says_professional(record: Record) -> bool:
    """Whether tags or the user's own words say that a health professional asks (stage 1 of appendix B.2)."""
    tags = record.meta.get("tags") or []
    if any(tag in HCP_TAGS for tag in tags):
        return True
    words = " ".join(turn.content for turn in record.turns if turn.role == "user")
    return bool(_PROFESSIONAL.search(_NOT_PROFESSIONAL.sub(" ", words)))


@lru_cache(maxsize=1)
def _identifier() -> Any:
    try:
        from py3langid import langid
    except ImportError:
        raise MissingDependency(
            "telling languages apart needs py3langid",
            mend="pip install 'clinical-judgekit[language]', or leave the step out with --language none",
        ) from None
    make = getattr(langid.LanguageIdentifier, "from_model_file", None) or langid.LanguageIdentifier.from_pickled_model
    return make(langid.MODEL_FILE, norm_probs=True)


def language_of(text: str) -> tuple[str, float]:
    """The most probable language (ISO 639-1) of a text, and its probability, by langid's model (py3langid)."""
    name, probability = _identifier().classify(text)
    return str(name), float(probability)


def _english(record: Record) -> bool:
    return language_of("\n".join(turn.content for turn in record.turns))[0] == "en"


def prepare_healthbench(
    records: RecordSet,
    *,
    roles: Mapping[str, bool | None] | None = None,
    language: Callable[[Record], bool] | None = _english,
    graded: Mapping[str, Mapping[str, bool | None]] | None = None,
    grader: str | None = None,
    axis: str | None = None,
    weighted: bool = False,
    complete_when: str = ">= 0.75",
) -> Prepared:
    """Prepare HealthBench conversations: English, one turn, a layperson's, with an ideal reply and completeness criteria.

    Parameters
    ----------
    records : HealthBench rows through the card ``healthbench``.
    roles : verdicts of ``professional-role`` by record id (True: a professional asks; None: no verdict). Without them stage 2 is not
        done, and the table says so. A layperson's row without a verdict is left out and counted.
    language : tells whether a record is English; None leaves the step out.
    graded : criteria that a grader called met in the ideal reply, by record id: makes the label. `grader` names it.
    axis : only criteria of this kind count in the label (``axis:completeness``); by default every positive criterion does.
    weighted : the share of points instead of the share of criteria.

    Returns
    -------
    Prepared. Its records hold one user message as the question, the ideal reply as the response, and the fine-grained criteria.
    """
    everything = list(records)
    if any("tags" not in record.meta for record in everything):
        raise DataError("these records have no tags", mend="load the file with --card healthbench")
    steps = [Step("read", len(everything), 0, len(everything))]

    many = sum(len(record.turns) > 1 for record in everything)
    steps.append(Step("flatten conversations", len(everything), 0, many, "have several messages (User:, Assistant:)"))

    fine = [_without_consensus(record) for record in everything]
    pairs = list(zip(everything, fine, strict=True))
    dropped = sum(len(before.criteria) - len(after.criteria) for before, after in pairs)
    touched = sum(before.criteria != after.criteria for before, after in pairs)
    steps.append(Step("drop consensus criteria", len(fine), 0, touched, f"{dropped} criteria taken out"))

    left = fine

    def keep(name: str, test: Callable[[Record], bool], note: str | None = None, over: list[Record] = fine) -> None:
        nonlocal left
        fails = {record.id for record in over if not test(record)}
        before = len(left)
        left = [record for record in left if record.id not in fails]
        steps.append(Step(name, len(left), before - len(left), len(fails), note))

    if language is None:
        steps.append(Step("English", len(left), 0, None, "left out on request"))
    else:
        keep("English", language, "by langid's model (py3langid)" if language is _english else None)
    professional = {record.id for record in fine if says_professional(record)}
    keep("not a professional, by tags and phrases", lambda record: record.id not in professional)
    if roles is None:
        steps.append(
            Step(
                "not a professional, by a judge",
                len(left),
                0,
                None,
                "give the verdicts of professional-role with --roles",
            )
        )
    else:
        asked = [record for record in left if record.id in roles]
        keep(
            "not a professional, by a judge",
            lambda record: record.id in professional or roles.get(record.id) is not True,
            f"{len(asked)} of {len(left)} have a judgement",
        )
    keep("one turn", lambda record: len(record.turns) == 1)
    keep("has an ideal reply", lambda record: bool((record.response or "").strip()))
    keep("has completeness criteria", lambda record: any(item.kind == COMPLETENESS for item in record.criteria))

    if roles is not None:
        # Last, so that the counts are the same whether the judge saw every row or only those that pass the other steps.
        keep("role decided", lambda record: roles.get(record.id) is not None, "no verdict on who asks", left)

    out = [_single(record) for record in left]
    if graded is not None:
        out, step = _labelled(out, graded, grader or "unnamed", axis, weighted, complete_when)
        steps.append(step)
    notes = [
        *records.notes,
        f"prepared as arXiv:2604.16383, B.2: {len(out)} of {len(everything)} conversations are left",
    ]
    if graded is not None:
        notes.append(f"labels were made by {grader}: judging these records with the same model is circular")
    return Prepared(RecordSet(out, name=records.name, card=None, path=records.path, notes=notes), steps)


def _without_consensus(record: Record) -> Record:
    return replace(record, criteria=tuple(item for item in record.criteria if CONSENSUS not in item.tags))


def _single(record: Record) -> Record:
    return replace(record, question=record.turns[0].content)


def _labelled(
    records: Sequence[Record],
    graded: Mapping[str, Mapping[str, bool | None]],
    grader: str,
    axis: str | None,
    weighted: bool,
    complete_when: str,
) -> tuple[list[Record], Step]:
    out = []
    undefined = 0
    for record in records:
        met = graded.get(record.id)
        if met is None:
            undefined += 1
            out.append(record)
            continue
        counting = [item for item in record.criteria if axis is None or item.kind == axis]
        score, reason = fraction(counting, met, ["true"], {}, weighted=weighted)
        undefined += score is None
        said: dict[str, bool | str | None] = {item.id: met.get(item.id) for item in record.criteria}
        label = Label(
            rater=f"model:{grader}", complete=meets(score, complete_when), score=score, criteria=said, rationale=reason
        )
        out.append(replace(record, labels=(label,)))
    share = "points" if weighted else "criteria"
    note = f"share of positive {share}{f' of {axis}' if axis else ''} met, by {grader}; complete {complete_when}"
    return out, Step("labelled", len(out), 0, len(out) - undefined, f"{note}; {undefined} without a score")
