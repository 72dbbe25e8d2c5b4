"""`stability make`: ask the writer for every kind of rewording of every question, again where it is not distinct (001, 3.1.2)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from judgekit import __version__
from judgekit.data import RecordSet
from judgekit.errors import DataError, UsageError
from judgekit.judging.api import run_in_thread
from judgekit.judging.engine.run import run_judges
from judgekit.judging.engine.schedule import Stop
from judgekit.judging.engine.units import Options
from judgekit.judging.provider.types import JudgeSpec
from judgekit.records import Record
from judgekit.rubric import load_rubric
from judgekit.runs.store import RunStore
from judgekit.stability.checks import check_pairs
from judgekit.stability.study import NAME, QUESTIONS, REWORDINGS, Spent, load_study, save, write_jsonl
from judgekit.stability.variants import ALIKE, KINDS, TRIES, Try, Variant, choose, plain_reply

if TYPE_CHECKING:
    from judgekit.rubric import CompiledRubric

__all__ = ["Ask", "ask_all", "make_study"]


def ask_all(
    data: Sequence[RecordSet], rubrics: Sequence[Any], judges: Sequence[JudgeSpec], out: str | Path, options: Options,
    spent: Spent, *, quiet: bool = False,
) -> None:  # fmt: skip
    """Run judges and add what it came to; works inside a running event loop too."""
    stop = Stop()
    spent.add(run_in_thread(run_judges(data, rubrics, judges, out, options, stop=stop, quiet=quiet), stop))


RULES: Final = ("flag", "drop")
Ask = tuple[str, str]  # question id, kind


def make_study(
    data: RecordSet,
    writer: JudgeSpec,
    out: str | Path,
    *,
    kinds: Sequence[str] = KINDS,
    tries: int = TRIES,
    alike: float = ALIKE,
    ner: str | None = "gazetteer",
    rules: str = "flag",
    rubric: str | Path = "reword",
    options: Options | None = None,
    quiet: bool = False,
) -> Spent:
    """Reword every question, keep what is distinct, check it by rule, and write ``variants.jsonl`` into the study.

    Parameters
    ----------
    data : records with a question; the stem alone is reworded, options stay as they are.
    writer : the model; its temperature is the rubric's (0.35) unless it says otherwise.
    kinds : which rewordings, in the order in which they are compared.
    tries : replies a kind at most, >= 1. `alike` : see `variants.choose`.
    ner : see `checks.check_pairs`.
    rules : ``flag`` marks what breaks a rule and lets entailment and people decide; ``drop`` leaves it out (the paper knows neither).

    The same call again asks only what is missing. Raises DataError where a record has no question, or an id holds ``~``.
    """
    options = options or Options()
    if rules not in RULES:
        raise UsageError(f"rules={rules} is no choice", field="rules", mend=f"one of {', '.join(RULES)}")
    if not kinds or tries < 1 or not 0 < alike <= 1:
        raise UsageError("a study needs a kind, one try at least, and a similarity limit in (0, 1]")
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise UsageError(f"there is no rewording {unknown[0]!r}", field="kind", mend=f"one of {', '.join(KINDS)}")
    stems = {record.id: _stem(record) for record in data}
    compiled = load_rubric(rubric)
    units = {
        (record.id, kind): Record(
            id=f"{record.id}~{kind}",
            question=stems[record.id],
            cluster=record.cluster_id,
            inputs={"kind": kind},
            meta={"base": record.id, "kind": kind},
        )
        for record in data
        for kind in kinds
    }
    with save(out) as store:
        store.put_records(QUESTIONS, data)
    spent, before = Spent(run=str(out)), -1
    while True:
        found = _state(out, compiled, writer, stems, kinds, alike, tries)
        due = {key: variant for key, variant in found.items() if variant.status == "pending"}
        done = sum(len(variant.history) for variant in found.values())
        if not due or spent.ended_early() or done == before:
            break
        before = done
        for count in sorted({variant.tries for variant in due.values()}):
            asked = [units[key] for key, variant in due.items() if variant.tries == count]
            more = dataclasses.replace(options, samples=count + 1)
            ask_all([RecordSet(asked, name=REWORDINGS)], [compiled], [writer], out, more, spent, quiet=quiet)
            if spent.ended_early():
                break
    _commit(data, found, compiled, writer, out, stems, kinds, tries, alike, ner, rules)
    return spent


def _stem(record: Record) -> str:
    text = record.question_text
    if text is None or not text.strip():
        raise DataError(
            f"record {record.id!r} has no question to reword", field="question", mend="leave it out, or give it one"
        )
    if "~" in record.id:
        raise DataError(
            f"the id {record.id!r} holds '~', which joins a question's id and a rewording's kind",
            field="id",
            mend="rename it",
        )
    return text


def _state(
    out: str | Path,
    rubric: CompiledRubric,
    writer: JudgeSpec,
    stems: Mapping[str, str],
    kinds: Sequence[str],
    alike: float,
    tries: int,
) -> dict[Ask, Variant]:
    found: dict[Ask, Variant] = {}
    with RunStore(out, "r") as store:
        for identity, stem in stems.items():
            replies = {kind: _replies(store, rubric, writer, identity, kind, tries) for kind in kinds}
            for variant in choose(stem, replies, kinds=kinds, alike=alike, tries=tries):
                found[identity, variant.kind] = variant
    return found


def _replies(
    store: RunStore, rubric: CompiledRubric, writer: JudgeSpec, identity: str, kind: str, tries: int
) -> list[Try]:
    replies: list[Try] = []
    for sample in range(tries):
        row = store.judgement(
            REWORDINGS, f"{identity}~{kind}", rubric.name, writer.notation, sample, rubric.ask_fingerprint
        )
        if row is None:
            break
        call = row.calls[0] if row.calls else None
        text = (row.verdict or {}).get("text") if row.status == "ok" else None
        if text is not None:
            replies.append(Try(plain_reply(str(text)), None, True, call))
        else:
            # A refusal or a cut reply is a try; a failed connection is none, and is tried again.
            replies.append(Try(None, f"{row.status}: {row.reason or 'no text'}", row.status != "error", call))
    return replies


def _commit(
    data: RecordSet, found: Mapping[Ask, Variant], rubric: CompiledRubric, writer: JudgeSpec, out: str | Path, stems: Mapping[str, str],
    kinds: Sequence[str], tries: int, alike: float, ner: str | None, rules: str,
) -> None:  # fmt: skip
    texts = [
        (key, variant.text)
        for key, variant in found.items()
        if variant.status == "distinct" and variant.text is not None
    ]
    violations, notes = check_pairs([(stems[key[0]], text) for key, text in texts], ner=ner)
    broken = {key: row for (key, _), row in zip(texts, violations, strict=True)}
    rows: list[dict[str, Any]] = []
    for record in data:
        for kind in kinds:
            variant = found[record.id, kind]
            rows.append(
                {
                    "id": f"{record.id}~{kind}", "base": record.id, "kind": kind, "cluster": record.cluster_id,
                    "status": variant.status, "reason": variant.reason, "stem": stems[record.id],
                    "text": variant.text, "tries": variant.tries,
                    "similarity": None if variant.similarity is None else round(variant.similarity, 6), "nearest": variant.nearest,
                    "violations": [item.to_dict() | {"says": str(item)} for item in broken.get((record.id, kind), [])],
                    "writer": writer.notation, "rubric": rubric.name, "ask": rubric.ask_fingerprint, "history": list(variant.history),
                }
            )  # fmt: skip
    state = {
        "dataset": data.name, "questions": [record.id for record in data], "kinds": list(kinds), "tries": tries, "alike": alike,
        "ner": ner, "rules": rules, "writer": writer.notation, "temperature": writer.sampling.get("temperature", rubric.sampling.get("temperature")),
        "rubric": rubric.name, "ask": rubric.ask_fingerprint, "judgekit": __version__, "notes": notes, "variants": rows,
    }  # fmt: skip
    with save(out) as store:
        store.put_study(NAME, "make", state)
    write_jsonl(Path(out) / "variants.jsonl", rows)


def export_final(out: str | Path) -> Path:
    """Write ``final.jsonl``: the verified variants as records that any other command reads, with the question itself first."""
    study = load_study(out)
    by_base: dict[str, list[dict[str, Any]]] = {}
    for row in study.final():
        by_base.setdefault(row["base"], []).append(row)
    lines = []
    for record in study.questions:
        lines.append(
            {**record.to_dict(), "labels": [], "cluster": record.cluster_id, "meta": {**record.meta, "base": record.id}}
        )
        for row in by_base.get(record.id, []):
            meta = {**record.meta, "base": record.id, "kind": row["kind"]}
            plain = {
                **record.to_dict(),
                "id": row["id"],
                "question": row["text"],
                "labels": [],
                "cluster": record.cluster_id,
                "meta": meta,
            }
            lines.append(plain)
    target = Path(out) / "final.jsonl"
    write_jsonl(target, lines)
    return target
