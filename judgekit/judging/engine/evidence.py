"""``local/evidence``: a judge of checklists without a language model, the free baseline that a paid judge must beat.

For each criterion it finds what the response holds of it: how well the criterion's words align with the response's (token vectors of
the embedded MiniLM), and whether the best evidence sentence contradicts it by the rules of negation, amounts and opposites. A
logistic map of the alignment, fitted once on K-QA's claims and frozen in ``evidence_map.json``, gives a probability; a conflict
halves it, so that what the evidence contradicts is never met. The explanation quotes the evidence.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from judgekit.errors import InputError
from judgekit.judging.engine.judgement import criterion_row, score_verdict
from judgekit.judging.engine.units import Unit, blank_judgement, criteria_from_record, settle
from judgekit.judging.provider.types import JudgeSpec
from judgekit.metrics.alignment import Support, readable, support, what_is_cut
from judgekit.metrics.models import MINILM, encoder
from judgekit.metrics.nli_rules import VERSION as RULES
from judgekit.metrics.nli_rules import judge_pair
from judgekit.records import Criterion, Record, content_hash
from judgekit.runs.model import CallRow, Judgement
from judgekit.runs.store import RunStore

if TYPE_CHECKING:
    from judgekit.rubric import CompiledRubric

__all__ = [
    "MODEL",
    "TUNED",
    "evidence_judgement",
    "evidence_map",
    "evidence_verdict",
    "evidence_verdicts",
    "features",
    "is_evidence",
    "row_hash",
    "signature",
]

MODEL: Final = "local/evidence"
FEATURES: Final = ("alignment",)
CONFLICT_FACTOR: Final = 0.5  # with a threshold of .5, what the evidence contradicts is never met
TUNED: Final = "tuned_on_this_row"
READING: Final = 2  # counts up when the same texts get other verdicts although the map stayed


def is_evidence(judge: JudgeSpec) -> bool:
    """Whether a judge is the evidence judge."""
    return judge.model == MODEL


def row_hash(response: str, criterion: str) -> str:
    """What marks a pair of response and criterion as one of those that made the map: 16 hex digits."""
    return hashlib.sha256(f"{response}\x00{criterion}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


@lru_cache(maxsize=1)
def evidence_map() -> dict[str, Any]:
    """The frozen map: `features`, `mean`, `scale`, `coefficients`, `intercept`, `threshold`, `conflict_factor`, `ridge`, `data`, `date`, `rows`."""
    value: dict[str, Any] = json.loads(
        files("judgekit.judging.engine").joinpath("evidence_map.json").read_text("utf-8")
    )
    if tuple(value["features"]) != FEATURES or value["conflict_factor"] != CONFLICT_FACTOR:
        raise InputError(f"evidence_map.json speaks of {value['features']}", mend="reinstall judgekit")
    return value


def signature() -> str:
    """Everything that decides a verdict: coefficients, the data that made them and when, the embedding model, the rules."""
    found = evidence_map()
    numbers = ",".join(f"{name}:{value:+.4g}" for name, value in zip(FEATURES, found["coefficients"], strict=True))
    return (
        f"{MODEL}({numbers},intercept:{found['intercept']:+.4g},threshold:{found['threshold']:g},conflict:*{CONFLICT_FACTOR:g})"
        f"|map:{found['data']['sha256'][:8]}@{found['date']}|reading:{READING}|model:{encoder(MINILM).version}|rules:{RULES}"
    )


def features(response: str, criteria: Sequence[str], question: str = "") -> list[tuple[Support, float, str] | None]:
    """(support, conflict 0 or 1, the rule that spoke) of each criterion; None where there is nothing to compare (see `support`)."""
    rows: list[tuple[Support, float, str] | None] = []
    for text, found in zip(criteria, support(response, criteria, question), strict=True):
        if found is None:
            rows.append(None)
            continue
        _, _, contradiction, why = judge_pair(found.evidence, text)
        rows.append((found, float(contradiction > 0.5), why))
    return rows


def probability(row: tuple[Support, float, str]) -> float:
    """What the map says, in (0, 1)."""
    found = evidence_map()
    z = found["intercept"]
    for value, mean, scale, coefficient in zip(
        (row[0].alignment,), found["mean"], found["scale"], found["coefficients"], strict=True
    ):
        z += coefficient * (value - mean) / scale
    return (CONFLICT_FACTOR if row[1] else 1.0) / (1 + math.exp(-z))


def evidence_verdict(record: Record, criterion: Criterion) -> dict[str, Any]:
    """``{"met": bool | None, "explanation": str, "probability": float | None, "flags": [...]}`` for one criterion; see `evidence_verdicts`."""
    return evidence_verdicts(record, [criterion])[0]


def evidence_verdicts(record: Record, criteria: Sequence[Criterion]) -> list[dict[str, Any]]:
    """The verdicts on a record's response, one a criterion.

    Keys
    ----
    met : the map's probability is at least its threshold (inclusive). None where nothing can be compared: the response has no words
        that the model can read, or the criterion none of its own. That is no verdict, and the judgement is `skipped`.
    explanation : the quoted evidence sentence, how well it aligns, what is missing, and any conflict; or why there is no verdict.
    probability : in (0, 1), or None with `met`.
    flags : ``tuned_on_this_row`` where this very response and criterion made the map: no evidence of anything then; ``response_cut``
        past 400 sentences, ``criterion_cut`` past the model's window; ``criterion_unread``,
        ``response_unread`` where the model's vocabulary lacks some of the one, much of the other.
    """
    response = record.response or ""
    results: list[dict[str, Any]] = []
    texts = [criterion.text for criterion in criteria]
    rows = features(response, texts, record.question_text or "")
    for criterion, text, row in zip(criteria, texts, rows, strict=True):
        if row is None:
            why = (
                f"criterion {criterion.id} has no words of its own that {MODEL} can look for"
                if readable(response)
                else f"the response has no words that {MODEL} can read"
            )
            results.append({"met": None, "explanation": why, "probability": None, "flags": []})
            continue
        p = probability(row)
        tuned = row_hash(response, text) in _tuned_rows()
        results.append(
            {
                "met": p >= evidence_map()["threshold"],
                "explanation": _explain(row, p),
                "probability": p,
                "flags": ([TUNED] if tuned else []) + what_is_cut(response, text),
            }
        )
    return results


@lru_cache(maxsize=1)
def _tuned_rows() -> frozenset[str]:
    return frozenset(evidence_map()["rows"])


def _explain(row: tuple[Support, float, str], p: float) -> str:
    found, conflict, why = row
    quote = found.evidence if len(found.evidence) <= 300 else found.evidence[:300] + "…"
    text = f"Nearest evidence: “{quote}” (alignment {found.alignment:.2f}, probability {p:.2f})."
    if found.weakest:
        text += f" Little was found for: {', '.join(found.weakest)}."
    if conflict:
        text += f" It conflicts with the criterion ({why})."
    return text


def evidence_judgement(
    unit: Unit, store: RunStore | None = None, written: Sequence[Criterion] | str | None = None
) -> tuple[CallRow | None, Judgement]:
    """The judgement of one unit, and the row that it rests on: a call that asked nobody and costs nothing.

    Parameters
    ----------
    store : a stored row of the same response, criteria and signature is taken as it is.
    written : criteria that the rubric's `write.model` wrote, or why it could not; this judge writes none itself, so without them
        a record that has no criteria of its own is `skipped`.

    One criterion without a verdict leaves the judgement `skipped`, with the reason.

    Raises InputError for a rubric that is no checklist, MissingDependency where the embedded model is not installed.
    """
    met, told = _fields(unit.rubric)
    early = settle(unit)
    if early is not None:
        return None, early
    criteria, writing = criteria_from_record(unit)
    if isinstance(written, str):
        return None, blank_judgement(unit, "skipped", written)
    if writing and written is not None:
        criteria, writing = list(written), False
    if writing or not criteria:
        reason = (
            f"{MODEL} writes no criteria, and the record has none" if writing else "no criterion is left to judge by"
        )
        return None, blank_judgement(unit, "skipped", reason)
    texts = [[criterion.id, criterion.text] for criterion in criteria]
    request = {
        "question": unit.record.question_text,
        "response": unit.record.response,
        "criteria": texts,
        "fields": [met, told],
    }
    key = content_hash({"request": request, "signature": signature(), "sample": unit.sample})
    row = store.served(key) if store is not None else None
    if row is None:
        verdicts = evidence_verdicts(unit.record, criteria)
        unknown = list(dict.fromkeys(verdict["explanation"] for verdict in verdicts if verdict["met"] is None))
        if unknown:
            return None, blank_judgement(
                unit, "skipped", "; ".join(unknown), criteria=[criterion_row(criterion) for criterion in criteria]
            )
        answers = {
            criterion.id: {met: verdict["met"], **({told: verdict["explanation"]} if told else {})}
            for criterion, verdict in zip(criteria, verdicts, strict=True)
        }
        shown = {criterion.id: verdict["probability"] for criterion, verdict in zip(criteria, verdicts, strict=True)}
        row = CallRow(
            key=key,
            model=MODEL,
            endpoint=signature(),
            sample=unit.sample,
            status="ok",
            request={
                "messages": [{"role": "user", "content": json.dumps(request, ensure_ascii=False)}],
                "schema": None,
                "mode": "evidence",
                "sampling": {},
            },
            text=json.dumps({"probability": shown}, ensure_ascii=False),
            verdict={"criteria": answers},
            flags=sorted({flag for verdict in verdicts for flag in verdict["flags"]}),
            tokens_in=0,
            tokens_out=0,
            cost=0.0,
            latency_s=0.0,
        )
    judgement = blank_judgement(
        unit,
        "ok",
        verdict=row.verdict,
        criteria=[criterion_row(criterion) for criterion in criteria],
        flags=list(row.flags),
        calls=[row.key],
        tokens_in=0,
        tokens_out=0,
        cost=0.0,
        latency_s=0.0,
    )
    return row, score_verdict(judgement, unit.rubric, criteria)


def _fields(rubric: CompiledRubric) -> tuple[str, str | None]:
    """The names of the boolean that says `met` and of the text that explains, in a checklist rubric's verdict."""
    from judgekit.rubric.fields import BooleanField, TextField

    booleans = [field.name for field in rubric.spec.verdict if isinstance(field, BooleanField)]
    texts = [field.name for field in rubric.spec.verdict if isinstance(field, TextField)]
    if rubric.spec.criteria is None or len(booleans) != 1 or len(booleans) + len(texts) != len(rubric.spec.verdict):
        raise InputError(
            f"{MODEL} judges checklists only, and {rubric.name} is none",
            file=None if rubric.path is None else str(rubric.path),
            field="verdict",
            mend="a rubric with `criteria` whose verdict is one boolean and texts, such as dynamic-checklist",
        )
    return booleans[0], texts[0] if texts else None
