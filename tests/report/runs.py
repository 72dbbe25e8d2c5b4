"""Runs for the report's tests, written through the real store from real rubrics: a deterministic scorer stands for the judge.

The scorer knows the label and errs by a seeded draw, so that every number of a test can be computed from the run itself.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from judgekit.data import load_records
from judgekit.judging.engine.judgement import rubric_row
from judgekit.records import Label, Record
from judgekit.rubric import load_rubric
from judgekit.runs.model import CallRow, Judgement
from judgekit.runs.store import RunStore

RUBRICS = ("general-likert", "analytical-rubric")
JUDGES = {"openai/careful-judge": 0.75, "openai/hasty-judge": 0.15}
EVIL = "</script><script>document.title='owned'</script><!-- <img src=x onerror=alert(1)> =cmd|' /C calc'!A0"


def draw(*parts: Any) -> float:
    """A number in [0, 1) that depends on nothing but the words."""
    return int.from_bytes(hashlib.sha256("\x00".join(map(str, parts)).encode()).digest()[:6], "big") / 2**48


def level(record: Record, rubric: str, judge: str, skill: float, low: int, high: int) -> int:
    """With probability `skill` a level on the label's side, else any."""
    bad = any(label.complete is False for label in record.labels)
    at = draw(record.id, rubric, judge, "level")
    span = high - low + 1
    if draw(record.id, rubric, judge, "skill") < skill:
        half = span / 2
        return low + int(at * half) if bad else high - int(at * half)
    return low + int(at * span)


def planted(raters: int = 1) -> list[Record]:
    """The bundled planted omissions; with more raters, people who now and then see it otherwise."""
    found = []
    for record in load_records("planted-omissions"):
        if raters == 1:
            found.append(record)
            continue
        base = record.labels[0]
        labels = [
            dataclasses.replace(
                base,
                rater=f"r{k + 1}",
                complete=base.complete if draw(record.id, "rater", k) > 0.12 else not base.complete,
                rationale=f"r{k + 1}: {base.rationale or 'nothing of weight is missing'}",
            )
            for k in range(raters)
        ]
        majority = sum(1 for label in labels if label.complete) * 2 > raters
        join = dataclasses.replace(base, rater="join:majority", complete=majority, rationale=None)
        found.append(dataclasses.replace(record, labels=(*labels, join)))
    return found


def write_run(
    path: Path,
    records: Sequence[Record],
    *,
    rubrics: Iterable[str] = RUBRICS,
    judges: dict[str, float] | None = None,
    dataset: str = "planted-omissions",
    unscored: float = 0.04,
    priced: bool = True,
) -> Path:
    """A run folder with records, calls and judgements; `unscored` is the share of replies that are no verdict."""
    with RunStore(path) as store:
        number = store.begin_command(["judge", dataset], "test")
        store.put_records(dataset, records)
        for name in rubrics:
            rubric = load_rubric(name)
            store.put_rubric(rubric_row(rubric))
            levels = [each.value for each in rubric.spec.verdict[-1].levels]
            for judge, skill in (JUDGES if judges is None else judges).items():
                store.use(dataset, name, judge, rubric.ask_fingerprint, rubric.score_fingerprint)
                with store.transaction():
                    for record in records:
                        _one(store, dataset, record, rubric, judge, skill, levels, unscored, priced)
        store.end_command(number, "done")
    return path


def _one(store: Any, dataset: str, record: Record, rubric: Any, judge: str, skill: float, levels: list[int], unscored: float, priced: bool) -> None:  # fmt: skip
    ask = rubric.asks(record)[0]
    lost = draw(record.id, rubric.name, judge, "lost") < unscored
    score = level(record, rubric.name, judge, skill, int(min(levels)), int(max(levels)))
    missing = record.labels[0].rationale if record.labels else None
    verdict = {
        "explanation": f"The answer to {record.id} reads as level {score}. {missing or ''}".strip(),
        "score": score,
    }
    text = "I would rather not say." if lost else json.dumps(verdict)
    key = hashlib.sha256(f"{dataset}{record.id}{rubric.name}{judge}".encode()).hexdigest()
    spent: dict[str, Any] = {"tokens_in": 700, "tokens_out": 60, "cost": 0.0004 if priced else None, "latency_s": 0.8}
    status = "invalid" if lost else "ok"
    reason = "no JSON object in the reply" if lost else None
    store.put_call(
        CallRow(
            key=key, model=judge, endpoint="openai", sample=0, status=status, reason=reason, text=text,
            verdict=None if lost else verdict,
            request={"messages": ask.messages, "schema": ask.schema, "mode": "json_schema", "sampling": {"temperature": 0}},
            attempts=[{"text": text, "problem": reason, "finish_reason": "stop", "usage": None}], **spent,
        )
    )  # fmt: skip
    found = None if lost else rubric.score(verdict)
    store.put_judgement(
        Judgement(
            dataset=dataset, record_id=record.id, rubric=rubric.name, judge=judge, sample=0, ask=rubric.ask_fingerprint,
            score_fp=rubric.score_fingerprint, status=status, reason=reason, raw=found.raw if found else None,
            score=found.score if found else None, complete=found.complete if found else None, verdict=None if lost else verdict,
            calls=[key], **spent,
        )
    )  # fmt: skip


def evil() -> Record:
    """A record whose every text tries to leave its place."""
    return Record(
        id=f"evil {EVIL}", question=f"Is this safe? {EVIL}", response=EVIL, reference=EVIL, cluster="evil", meta={"topic": EVIL},
        labels=(Label(rater=f"dr {EVIL}", complete=False, severity="Severe", rationale=EVIL),),
    )  # fmt: skip


def many(n: int) -> list[Record]:
    """`n` records with texts of their own, of the planted omissions' length, for size and speed."""
    base = planted()
    words = sorted({word for record in base for word in (record.response or "").split()})
    out = []
    for i in range(n):
        record = base[i % len(base)]
        response = " ".join(words[int(draw(i, k) * len(words))] for k in range(len((record.response or "").split())))
        question = f"{record.question} (case {i})"
        out.append(
            dataclasses.replace(record, id=f"{i:05d}", question=question, response=response, cluster=f"q{i // 3}")
        )
    return out


def write_reasons(run: Path, path: Path) -> Path:
    """A run over the pairs of `run`, sorted by a seeded draw under the rubrics that `judgekit reasons` runs."""
    from judgekit.analysis.reasons import MODES, make_pairs
    from judgekit.runs.reader import open_run

    pairs, _ = make_pairs(open_run(run))
    records = [Record.from_dict(pair) for pair in pairs]
    with RunStore(path) as store:
        store.put_records("pairs", records)
        for name in ("reason-alignment", "failure-mode"):
            rubric = load_rubric(name)
            store.put_rubric(rubric_row(rubric))
            store.use("pairs", name, "openai/sorter", rubric.ask_fingerprint, rubric.score_fingerprint)
            for record in records:
                kind, at = str(record.inputs["pair_kind"]), draw(record.id, name)
                if name == "reason-alignment":
                    verdict: dict[str, Any] = {
                        "explanation": "e",
                        "alignment": ("yes", "partially", "no")[int(3 * at**1.5)],
                    }
                elif kind in ("FP", "FN"):
                    codes = [code for code in MODES if code.startswith(kind)]
                    verdict = {"explanation": "e", "mode": codes[int(len(codes) * at**2)]}
                else:
                    continue
                store.put_judgement(
                    Judgement(
                        dataset="pairs", record_id=record.id, rubric=name, judge="openai/sorter", sample=0, status="ok",
                        ask=rubric.ask_fingerprint, score_fp=rubric.score_fingerprint, verdict=verdict,
                    )
                )  # fmt: skip
    return path


def write_measurements(run: Path) -> None:
    """Values of four components for every record of a run, a few of them undefined."""
    from judgekit.runs.model import Measured
    from judgekit.runs.reader import open_run

    names = ("entity_f1", "semantic_similarity", "factual_consistency", "structured_overlap")
    rows = []
    for row in open_run(run).records.itertuples():
        for name in names:
            lost = draw(row.record_id, name, "lost") < 0.05
            value = None if lost else round(draw(row.record_id, name), 3)
            rows.append(
                Measured(row.dataset, row.record_id, f"{name}()", f"{name}:test", value, "no entity" if lost else None)
            )
    with RunStore(run) as store:
        store.put_measurements(rows)


def write_stability(run: Path) -> None:
    """What `judgekit stability judge` leaves in a run, with the noise at the same wording and two rewordings."""
    rows = []
    for i, (wording, change) in enumerate((("same wording", 0.05), ("formal", 0.12), ("levels turned", 0.31))):
        rows.append({
            "wording": wording, "n": 24, "scored": 24, "level_mvs": change, "level_mvs_low": change / 2, "level_mvs_high": change * 1.5,
            "level_excess": change - 0.05 if i else None, "verdict_mvs": change / 2, "verdict_excess": None, "shift": 0.1 * i, "labelled": 24,
            "auc": 0.8 - 0.05 * i, "auc_change": -0.05 * i if i else None, "workload": 0.7, "workload_change": 0.0 if i else None, "reason": None,
        })  # fmt: skip
    state = {
        "rubric": "analytical-rubric", "judge": "openai/careful-judge", "dataset": "planted-omissions", "rows": rows, "overall": {},
        "skipped": {"order of examples": "the rubric has none"}, "notes": ["two samples at the same wording"], "signature": "judgekit|stability",
    }  # fmt: skip
    with RunStore(run) as store:
        store.put_study("stability", "judge:analytical-rubric:openai/careful-judge", state)
