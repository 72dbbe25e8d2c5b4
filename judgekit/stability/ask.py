"""`stability ask`: what the models under study answer to every question and every verified variant (001, 4.3).

A local model's answer is the option with the largest next-token probability after the cue, its confidence that probability, normalised
over the options. Any other model chooses through the rubric `option-answer`. The order of the options is the record's, always.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Final, Protocol

from judgekit.data import RecordSet
from judgekit.errors import DataError
from judgekit.judging.engine.units import Options
from judgekit.judging.provider.types import JudgeSpec
from judgekit.records import Record, content_hash
from judgekit.rubric import load_rubric
from judgekit.runs.model import Measured
from judgekit.runs.store import RunStore
from judgekit.stability.logprobs import choice_confidence
from judgekit.stability.make import ask_all
from judgekit.stability.study import ANSWERS, NAME, Spent, Study, load_study, save

__all__ = ["CUE", "Answers", "ask_by_choice", "ask_by_probability", "option_prompt", "stored_answers"]

CUE: Final = "Answer:"
CHUNK: Final = 64
_INTRODUCTION: Final = "You are a careful assistant for medical questions. Read the question, think about each option, and pick the single best one."
PROMPT_VERSION: Final = content_hash([_INTRODUCTION, CUE, "1"])[:8]
NO_PROBABILITY: Final = "the provider gave no log-probabilities"


class _Model(Protocol):
    version: str

    def probabilities(
        self, prompts: Sequence[str], options: Sequence[Sequence[str]], cue: str
    ) -> list[dict[str, float] | str]: ...


def option_prompt(record: Record) -> str:
    """The prompt of one question: introduction, stem, options in the record's order, and the cue, with nothing after it."""
    options = "\n".join(f"{letter}. {text}" for letter, text in (record.options or {}).items())
    return f"{_INTRODUCTION}\n\nQuestion: {record.question_text}\n\n{options}\n\n{CUE}"


def questions_of(study: Study) -> list[Record]:
    """Every question and every verified variant of it, as records; DataError where a question has fewer than two options."""
    bad = next((record.id for record in study.questions if len(record.options or {}) < 2), None)
    if bad is not None:
        raise DataError(
            f"the question {bad!r} has no options to choose from",
            field="options",
            mend="make the study from multiple-choice questions",
        )
    found = {record.id: record for record in study.questions}
    out = []
    for record in study.questions:
        out.append(
            dataclasses.replace(record, labels=(), cluster=record.cluster_id, meta={**record.meta, "base": record.id})
        )
    for row in study.final():
        base = found[row["base"]]
        out.append(
            dataclasses.replace(
                base, id=row["id"], question=row["text"], labels=(), cluster=base.cluster_id,
                meta={**base.meta, "base": base.id, "kind": row["kind"]},
            )
        )  # fmt: skip
    return out


def ask_by_probability(out: str | Path, model: str, *, dtype: str = "auto", quiet: bool = False) -> Spent:
    """Ask a local model by next-token probabilities.

    Parameters
    ----------
    model : ``hf/NAME_OR_FOLDER`` for a causal checkpoint, or an embedded one (``local/smollm2-135m``).
    dtype : of a checkpoint (see `metrics.causal.causal_model`).

    Answers are committed chunk by chunk; a question that was answered by the same weights, library and precision is not asked again.
    """
    records = questions_of(load_study(out))
    with save(out) as store:
        store.put_records(ANSWERS, records)
    spent = Spent(run=str(out))
    opened: AbstractContextManager[_Model]
    if model.startswith("hf/"):
        from judgekit.metrics.causal import causal_model

        loaded = causal_model(model.removeprefix("hf/"), dtype)
        name, version = f"{model}(dtype={loaded.dtype})", loaded.version
        opened = nullcontext(loaded)
    else:
        from judgekit.judging.provider.local import local_model
        from judgekit.stability.embedded import embedded

        local = local_model(model)
        name, version = model, local.endpoint() if local is not None else ""
        opened = embedded(model)
    signature = f"{version}|prompt:{PROMPT_VERSION}"
    due = []
    with RunStore(out, "r") as reader:
        for record in records:
            known = reader.measurement(ANSWERS, record.id, name, signature) is not None
            spent.reused += known
            if not known:
                due.append(record)
    if due:
        with opened as ready:
            for start in range(0, len(due), CHUNK if model.startswith("hf/") else 8):
                chunk = due[start : start + (CHUNK if model.startswith("hf/") else 8)]
                _ask_chunk(out, ready, name, signature, chunk)
                spent.calls += len(chunk)
    _remember(
        out,
        {
            "model": name,
            "way": "probability",
            "signature": signature,
            "family": model,
            "dtype": dtype if model.startswith("hf/") else None,
        },
    )
    return spent


def _ask_chunk(out: str | Path, model: _Model, name: str, signature: str, chunk: Sequence[Record]) -> None:
    prompts = [option_prompt(record) for record in chunk]
    letters = [list(record.options or {}) for record in chunk]
    rows = []
    for record, found in zip(chunk, model.probabilities(prompts, letters, CUE), strict=True):
        if isinstance(found, str):
            rows.append(Measured(ANSWERS, record.id, name, signature, None, found, None, record.fingerprint()))
            continue
        best = max(found, key=lambda option: found[option])  # of equal ones the first: the order is fixed
        details = {"answer": best, "probabilities": found, "prompt": PROMPT_VERSION}
        rows.append(Measured(ANSWERS, record.id, name, signature, found[best], None, details, record.fingerprint()))
    with save(out) as store:
        store.put_measurements(rows)


def ask_by_choice(
    out: str | Path, judge: JudgeSpec, *, rubric: str | Path = "option-answer", options: Options | None = None, logprobs: bool = True,
    quiet: bool = False,
) -> Spent:  # fmt: skip
    """Ask any model for a structured choice.

    Parameters
    ----------
    logprobs : ask for log-probabilities too. A provider that does not take the parameter is asked without it, which is told; the
        confidence is then None. The embedded engine is not asked for them here: it decodes under a grammar, which bends them.
    """
    records = questions_of(load_study(out))
    if logprobs and not judge.model.startswith("local/"):
        judge = dataclasses.replace(judge, sampling={"logprobs": True, "top_logprobs": 20, **judge.sampling})
    spent, compiled = Spent(run=str(out)), load_rubric(rubric)
    with save(out) as store:
        store.put_records(ANSWERS, records)
    ask_all([RecordSet(records, name=ANSWERS)], [compiled], [judge], out, options or Options(), spent, quiet=quiet)
    _remember(
        out,
        {
            "model": judge.notation, "way": "choice", "signature": f"{compiled.name}:{compiled.ask_fingerprint[:8]}", "family": judge.model,
            "dtype": None, "rubric": compiled.name, "ask": compiled.ask_fingerprint,
        },
    )  # fmt: skip
    return spent


def _remember(out: str | Path, entry: dict[str, Any]) -> None:
    with save(out) as store:
        state = store.study(NAME, "ask") or {"models": []}
        state["models"] = [one for one in state["models"] if one["model"] != entry["model"]] + [entry]
        store.put_study(NAME, "ask", state)


@dataclasses.dataclass(frozen=True)
class Answers:
    """What one model answered: by record id ``answer`` (None: none, with `reasons`) and ``confidence`` (None where no probability exists)."""

    entry: dict[str, Any]
    answer: dict[str, str | None]
    confidence: dict[str, float | None]
    reasons: dict[str, str]

    @property
    def model(self) -> str:
        return str(self.entry["model"])


def stored_answers(out: str | Path, study: Study | None = None) -> list[Answers]:
    """The answers of every model that was asked, for the questions and the variants that are verified now."""
    study = load_study(out) if study is None else study
    records = questions_of(study)
    found = []
    with RunStore(out, "r") as store:
        for entry in (store.study(NAME, "ask") or {"models": []})["models"]:
            answers = Answers(entry, {}, {}, {})
            for record in records:
                if store.record(ANSWERS, record.id) is None:
                    answers.answer[record.id], answers.confidence[record.id] = None, None
                    answers.reasons[record.id] = "not asked yet"
                elif entry["way"] == "probability":
                    _by_probability(store, entry, record, answers)
                else:
                    _by_choice(store, entry, record, answers)
            found.append(answers)
    return found


def _by_probability(store: RunStore, entry: dict[str, Any], record: Record, into: Answers) -> None:
    row = store.measurement(ANSWERS, record.id, entry["model"], entry["signature"])
    current = row is not None and row.record_hash == record.fingerprint()
    details = row.details if row is not None and current else None
    into.answer[record.id] = None if details is None else details["answer"]
    into.confidence[record.id] = row.value if row is not None and current else None
    if details is None:
        into.reasons[record.id] = (row.reason if row is not None and current else None) or "not asked yet"


def _by_choice(store: RunStore, entry: dict[str, Any], record: Record, into: Answers) -> None:
    row = store.judgement(ANSWERS, record.id, entry["rubric"], entry["model"], 0, entry["ask"])
    answer = (
        None
        if row is None or row.status != "ok" or row.record_hash != record.fingerprint()
        else (row.verdict or {}).get("answer")
    )
    into.answer[record.id], into.confidence[record.id] = answer, None
    if answer is None:
        into.reasons[record.id] = "not asked yet" if row is None else f"{row.status}: {row.reason or 'no choice'}"
        return
    call = store.served(row.calls[0]) if row is not None and row.calls else None
    tokens = call.attempts[-1].get("logprobs") if call is not None and call.attempts else None
    score = choice_confidence(tokens, str(answer), list(record.options or {}))
    into.confidence[record.id] = score.value
    if score.value is None:
        into.reasons[record.id] = str(score.reason)
