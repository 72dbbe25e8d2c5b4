"""`stability verify`: bidirectional entailment by K of M models, LLM judges, and the sweep that chooses the threshold (001, 3.2, 3.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from judgekit.data import RecordSet
from judgekit.errors import UsageError
from judgekit.judging.engine.units import Options
from judgekit.judging.provider.types import JudgeSpec
from judgekit.metrics.nli import NEEDS, Nli, Verdict, bidirectional, load_nlis, named, vacuous
from judgekit.records import Record
from judgekit.rubric import load_rubric
from judgekit.runs.model import Measured
from judgekit.runs.store import RunStore
from judgekit.stability.make import ask_all, export_final
from judgekit.stability.study import NAME, PAIRS, Spent, Study, load_study, save, write_jsonl

__all__ = ["SWEEP", "holds_at", "sweep", "verify_study"]

SWEEP: Final = tuple(round(0.70 + 0.01 * step, 2) for step in range(21))
CHUNK: Final = 64


def verify_study(
    out: str | Path,
    models: Sequence[str] = (),
    judges: Sequence[JudgeSpec] = (),
    *,
    k: int = 0,
    entail: float = 0.85,
    contradict: float = 0.15,
    labels: str = "",
    rubric: str | Path = "meaning-preserved",
    options: Options | None = None,
    quiet: bool = False,
) -> Spent:
    """Let entailment models and LLM judges read every candidate, and commit who said what.

    Parameters
    ----------
    models : NLI checkpoints (names or folders), or ``rules``, a weak baseline; each once. Without one the command ends with an error that
        names one to fetch.
    judges : LLM judges; they read what the models let through at the loosest threshold of the sweep, so that the sweep has a verdict
        at every threshold.
    k : how many models must agree; 0 is a majority (2 of 3). A model that cannot read a pair gives no vote, and M stays.
    entail : least entailment probability both ways, inclusive. contradict : contradiction must stay under it both ways.

    What a model or judge said of a text before is not asked again. Raises UsageError for a wrong K, a wrong threshold or a model named
    twice.
    """
    names = [named(name) for name in models]
    if not names:
        raise UsageError("verifying needs an entailment model, and none is named", field="nli", mend=NEEDS)
    if len(set(names)) < len(names):
        raise UsageError("an entailment model is named twice", field="nli", mend="name each once")
    need = k or len(names) // 2 + 1
    if not 1 <= need <= len(names):
        raise UsageError(f"k={k} with {len(names)} models", field="k", mend=f"1 to {len(names)}, or 0 for a majority")
    for field, value in (("entail", entail), ("contradict", contradict)):
        if not 0 < value <= 1:
            raise UsageError(f"{field}={value:g} is no probability", field=field, mend="a number over 0 and up to 1")
    study = load_study(out)
    pairs = [_pair(row) for row in study.candidates()]
    with save(out) as store:
        store.put_records(PAIRS, pairs)
    loaded = load_nlis(names, labels)
    said: dict[str, list[dict[str, Any]]] = {record.id: [] for record in pairs}
    for name, nli in zip(names, loaded, strict=True):
        for identity, entry in _read(out, pairs, name, nli).items():
            said[identity].append(entry)
    loosest = min(entail, *SWEEP)
    offered = [record for record in pairs if holds_at(said[record.id], loosest, contradict, need) is not False]
    spent, compiled = Spent(run=str(out)), load_rubric(rubric)
    if judges and offered:
        ask_all([RecordSet(offered, name=PAIRS)], [compiled], judges, out, options or Options(), spent, quiet=quiet)
        with save(out) as store:
            store.put_records(PAIRS, pairs)
    rows = {}
    with RunStore(out, "r") as store:
        for record in pairs:
            verdicts = {}
            for judge in judges:
                row = store.judgement(PAIRS, record.id, compiled.name, judge.notation, 0, compiled.ask_fingerprint)
                if row is not None:
                    verdicts[judge.notation] = None if row.raw is None else bool(row.raw)
            rows[record.id] = {
                "text": record.inputs["variant"],
                "nli": holds_at(said[record.id], entail, contradict, need),
                "models": said[record.id],
                "judges": verdicts,
            }
    warning = vacuous(entail, contradict)
    state = {
        "models": names, "versions": [nli.version for nli in loaded], "k": need, "entail": entail, "contradict": contradict,
        "judges": [judge.notation for judge in judges], "rubric": compiled.name, "ask": compiled.ask_fingerprint,
        "notes": [warning] if warning else [], "rows": rows,
    }  # fmt: skip
    with save(out) as store:
        store.put_study(NAME, "verify", state)
    write_jsonl(Path(out) / "verified.jsonl", [{"id": key, **row} for key, row in rows.items()])
    export_final(out)
    return spent


def _pair(row: Mapping[str, Any]) -> Record:
    return Record(
        id=row["id"],
        cluster=row["cluster"],
        inputs={"original": row["stem"], "variant": row["text"]},
        meta={"base": row["base"], "kind": row["kind"]},
    )


def _read(out: str | Path, pairs: Sequence[Record], name: str, nli: Nli) -> dict[str, dict[str, Any]]:
    """What one model says of every pair; committed chunk by chunk, and read from the store where it said so before."""
    metric = f"entailment({name})"
    found: dict[str, dict[str, Any]] = {}
    with RunStore(out, "r") as store:
        for record in pairs:
            row = store.measurement(PAIRS, record.id, metric, nli.version)
            if row is not None and row.details is not None:
                found[record.id] = row.details
    due = [record for record in pairs if record.id not in found]
    for start in range(0, len(due), CHUNK):
        chunk = due[start : start + CHUNK]
        results = bidirectional([(one.inputs["original"], one.inputs["variant"]) for one in chunk], nli)
        measured = []
        for record, (_, there, back, reason) in zip(chunk, results, strict=True):
            details = {"model": name, "forward": _shown(there), "backward": _shown(back), "reason": reason}
            found[record.id] = details
            value = None if there is None or back is None else min(there.entailment, back.entailment)
            measured.append(
                Measured(PAIRS, record.id, metric, nli.version, value, reason, details, record.fingerprint())
            )
        with save(out) as store:
            store.put_measurements(measured)
    return {record.id: found[record.id] for record in pairs}


def _shown(verdict: Verdict | None) -> dict[str, float] | None:
    if verdict is None:
        return None
    return {name: float(getattr(verdict, name)) for name in ("entailment", "neutral", "contradiction")}


def holds_at(said: Sequence[Mapping[str, Any]], entail: float, contradict: float, k: int) -> bool | None:
    """The consensus of stored probabilities at any thresholds; None where models that could not read the pair may turn it."""
    yes = failed = 0
    for entry in said:
        there, back = entry["forward"], entry["backward"]
        if there is None or back is None:
            failed += 1
        elif all(side["entailment"] >= entail and side["contradiction"] < contradict for side in (there, back)):
            yes += 1
    return True if yes >= k else False if yes + failed < k else None


def sweep(study: Study, thresholds: Sequence[float] = SWEEP) -> list[dict[str, Any]]:
    """Entailment thresholds against the judges (001, Figure 2).

    One row a threshold: `accepted` by the models, of these `yes` (all judges), `no` (one judge at least) and `undecided`; `kept_yes` the
    share of all YES that is accepted, `precision` = yes / (yes + no), `agreement` = share of decided pairs where models and judges say the
    same. Pairs that no judge read are in no share. `best` marks the highest agreement, of equal ones the strictest; None without judges.
    """
    if study.verify is None:
        return []
    state = study.verify
    rows: list[dict[str, Any]] = []
    read = {key: study.judged(key) for key in state["rows"]} if study.judges else {}
    known = [key for key, verdict in read.items() if verdict is not None]
    for value in thresholds:
        accepted = {
            key
            for key, row in state["rows"].items()
            if holds_at(row["models"], value, state["contradict"], state["k"]) is True
        }
        yes = sum(read.get(key) is True for key in accepted)
        no = sum(read.get(key) is False for key in accepted)
        all_yes = sum(read[key] is True for key in known)
        same = sum((key in accepted) == read[key] for key in known)
        rows.append(
            {
                "threshold": float(value), "accepted": len(accepted), "yes": yes, "no": no,
                "undecided": len(accepted) - yes - no if study.judges else None,
                "kept_yes": yes / all_yes if all_yes else None, "precision": yes / (yes + no) if yes + no else None,
                "agreement": same / len(known) if known else None, "judged": len(known), "best": False,
                "current": bool(np.isclose(value, state["entail"])),
            }
        )  # fmt: skip
    scored = [row for row in rows if row["agreement"] is not None]
    if scored:
        top = max(row["agreement"] for row in scored)
        max((row for row in scored if row["agreement"] == top), key=lambda row: float(row["threshold"]))["best"] = True
    return rows
