"""A stability study: a run's folder that also holds its variants, what verified them, and who looked at them.

Each stage commits its state under the study's name; every later stage, the funnel and the final set are computed from these states, so
that a command that was killed goes on and counts the same.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from judgekit.errors import InputError
from judgekit.judging.engine.outcome import Outcome
from judgekit.metrics.nli import BASELINE
from judgekit.records import Record
from judgekit.runs.model import Bill
from judgekit.runs.store import RunStore

__all__ = ["ANSWERS", "NAME", "PAIRS", "QUESTIONS", "REWORDINGS", "Spent", "Study", "load_study", "save", "write_jsonl"]

NAME: Final = "stability"
QUESTIONS: Final = "questions"
REWORDINGS: Final = "rewordings"
PAIRS: Final = "pairs"
ANSWERS: Final = "answers"


@dataclass
class Spent:
    """What the calls of one command came to; `cost` is None where there are only bounds of it (`bill`)."""

    calls: int = 0
    reused: int = 0
    bill: Bill = field(default_factory=Bill)
    stopped: str | None = None
    error: Any = None
    run: str = ""

    @property
    def cost(self) -> float | None:
        """US dollars, None where they are not known exactly."""
        return self.bill.exact

    def add(self, outcome: Outcome | Spent) -> None:
        self.calls += outcome.calls
        self.reused += outcome.reused
        self.bill += outcome.bill
        self.stopped = self.stopped or outcome.stopped
        self.error = self.error or outcome.error
        self.run = outcome.run

    def ended_early(self) -> bool:
        """Whether the budget, the provider or the person stopped the work."""
        return self.stopped is not None or self.error is not None

    @property
    def exit_code(self) -> int:
        """0, or that of what ended the work early (`judgekit --help`, docs/runs.md)."""
        if self.stopped is not None:
            return {"budget": 4, "interrupted": 130}[self.stopped]
        return 0 if self.error is None else int(self.error.exit_code)

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {
            "run": self.run, "calls": self.calls, "reused": self.reused, "cost": self.cost, "stopped": self.stopped
        }  # fmt: skip
        out |= self.bill.bounds("cost")
        if self.error is not None:
            out["error"] = self.error.to_dict()
        return out


@dataclass(frozen=True)
class Study:
    """The states of a study, read once.

    `make`, `verify` and `audits` are what the stages committed; `verify` is None before `stability verify`. `audits` maps
    ``(round, expert)`` to ``{variant id: True | False}``; `sheets` maps a round to its sheet (seed, items).
    """

    path: Path
    make: dict[str, Any]
    verify: dict[str, Any] | None
    sheets: dict[int, dict[str, Any]] = field(default_factory=dict)
    audits: dict[tuple[int, str], dict[str, bool]] = field(default_factory=dict)
    questions: tuple[Record, ...] = ()

    @property
    def variants(self) -> list[dict[str, Any]]:
        """Every wanted variant, in the order of questions and kinds, dropped ones too."""
        rows: list[dict[str, Any]] = self.make["variants"]
        return rows

    def distinct(self) -> list[dict[str, Any]]:
        return [row for row in self.variants if row["status"] == "distinct"]

    @property
    def rules_drop(self) -> bool:
        """Whether a broken rule drops a variant (``--rules drop``), or only flags it."""
        return bool(self.make.get("rules", "drop") == "drop")

    def candidates(self) -> list[dict[str, Any]]:
        """What the entailment models read: distinct variants, less those that break a rule where rules drop."""
        return [row for row in self.distinct() if not (self.rules_drop and row["violations"])]

    def nli(self, identity: str) -> dict[str, Any] | None:
        return None if self.verify is None else self.verify["rows"].get(identity)

    def entailed(self) -> list[dict[str, Any]]:
        """Candidates that the entailment consensus lets through."""
        return [row for row in self.candidates() if (self.nli(row["id"]) or {}).get("nli") is True]

    @property
    def judges(self) -> list[str]:
        return [] if self.verify is None else list(self.verify["judges"])

    def judged(self, identity: str) -> bool | None:
        """True where every judge said YES, False where one said NO, None without judges or where a verdict is missing."""
        verdicts = list(((self.nli(identity) or {}).get("judges") or {}).values())
        if not self.judges or len(verdicts) < len(self.judges):
            return None
        return False if False in verdicts else None if None in verdicts else True

    def experts(self, stage: int) -> list[str]:
        return sorted(name for number, name in self.audits if number == stage)

    def audited(self, identity: str, stage: int) -> bool | None:
        """True where every expert of the round who saw it said yes, False where one said no, None where nobody saw it."""
        said = [
            self.audits[stage, name][identity] for name in self.experts(stage) if identity in self.audits[stage, name]
        ]
        return None if not said else all(said)

    def round_one(self) -> list[dict[str, Any]]:
        return self.entailed()

    def round_two(self) -> list[dict[str, Any]]:
        """What the judges did not accept: a NO, or no verdict."""
        return [row for row in self.entailed() if self.judges and self.judged(row["id"]) is not True]

    def fate(self, row: Mapping[str, Any]) -> tuple[str, str | None]:
        """Where a variant ended: (stage, reason), or ``("final", None)``. Every variant ends exactly once."""
        if row["status"] != "distinct":
            return ("generated" if row["status"] in ("failed", "pending") else "distinct"), _why(row)
        if self.rules_drop and row["violations"]:
            kinds = dict.fromkeys(violation["check"] for violation in row["violations"])
            return "rules", f"changed {', '.join(kinds)}"
        if self.verify is None:
            return "final", None
        found = self.nli(row["id"])
        if found is None:
            return "nli", "not verified yet"
        if found["nli"] is None:
            return "nli", "undecided: a model could not read the pair"
        if not found["nli"]:
            return "nli", "no entailment both ways"
        if self.judges:
            verdict = self.judged(row["id"])
            if verdict is not True:
                again = self.audited(row["id"], 2)
                why = "a judge said NO" if verdict is False else "a judge gave no verdict"
                if again:
                    return "final", None
                return "judges", f"{why}; {'an expert agreed in round 2' if again is False else 'not offered again'}"
        if self.experts(1):
            said = self.audited(row["id"], 1)
            if said is None:
                return "expert", "no expert looked at it"
            if not said:
                return "expert", "an expert said the meaning changed"
        return "final", None

    def final(self) -> list[dict[str, Any]]:
        """The verified variants: what models are asked. Stages that were not done are left out (see `missing_stages`)."""
        return [row for row in self.variants if self.fate(row)[0] == "final"]

    def missing_stages(self) -> list[str]:
        """Sentences about the stages of Semantic stability that this set has not been through."""
        notes = []
        if self.verify is None:
            notes.append("variants are not verified: no entailment model has read them")
        else:
            if not self.judges:
                notes.append("no LLM judge has read the variants")
            elif not any(row["judges"] for row in self.verify["rows"].values()):
                notes.append("no variant got as far as the LLM judges")
            elif len(self.judges) == 1:
                notes.append("one LLM judge has read the variants; the paper has two")
            if set(self.verify["models"]) & {BASELINE, "baseline"}:
                notes.append("entailment was decided by rules, a baseline that knows words and no medicine")
        if not self.experts(1):
            notes.append("no clinician has audited the variants")
        return notes

    def funnel(self) -> list[dict[str, Any]]:
        """One row a stage: ``stage, entered, kept, dropped, reasons`` (reason -> count).

        Stages: generated, distinct, rules, nli, judges, expert, reinstated, final. `reinstated` adds what an expert of round 2
        took back from the judges' rejections. All wanted = final + everything that any row drops.
        """
        rows: list[dict[str, Any]] = []
        ends = [self.fate(row) for row in self.variants]
        left = len(ends)
        back = sum(1 for row in self.round_two() if self.audited(row["id"], 2))
        stages = ["generated", "distinct", *(["rules"] if self.rules_drop else [])]
        stages += ["nli"] if self.verify is not None else []
        stages += ["judges"] if self.judges else []
        stages += ["expert"] if self.experts(1) else []
        for stage in stages:
            reasons: dict[str, int] = {}
            for where, why in ends:
                if where == stage:
                    reasons[why or "?"] = reasons.get(why or "?", 0) + 1
            dropped = sum(reasons.values())
            if stage == "judges":
                entered, kept = left, left - dropped - back
                rows.append(
                    {
                        "stage": stage,
                        "entered": entered,
                        "kept": kept,
                        "dropped": dropped,
                        "held": back,
                        "reasons": reasons,
                    }
                )
                left = kept
                continue
            rows.append(
                {
                    "stage": stage,
                    "entered": left,
                    "kept": left - dropped,
                    "dropped": dropped,
                    "held": 0,
                    "reasons": reasons,
                }
            )
            left -= dropped
        if self.judges and self.experts(2):
            rows.append(
                {"stage": "reinstated", "entered": left, "kept": left + back, "dropped": 0, "held": 0, "reasons": {}}
            )
            left += back
        rows.append({"stage": "final", "entered": left, "kept": left, "dropped": 0, "held": 0, "reasons": {}})
        return rows


def _why(row: Mapping[str, Any]) -> str:
    """Reasons are grouped, so numbers that differ from row to row stay out."""
    return {
        "unchanged": "the writer gave the text back unchanged",
        "alike": "too like the stem or an earlier variant",
        "pending": "not done yet",
    }.get(row["status"], f"no usable reply: {row['reason']}")


def load_study(path: str | Path) -> Study:
    """Read a study; InputError where the folder is none."""
    with RunStore(path, "r") as store:
        make = store.study(NAME, "make")
        if make is None:
            raise InputError(
                "this run holds no stability study",
                file=str(path),
                mend="judgekit stability make DATA --model M --out STUDY",
            )
        verify = store.study(NAME, "verify")
        index = store.study(NAME, "audits") or {"sheets": [], "experts": []}
        sheets = {number: store.study(NAME, f"sheet:{number}") or {} for number in index["sheets"]}
        audits = {
            (number, name): (store.study(NAME, f"audit:{number}:{name}") or {"verdicts": {}})["verdicts"]
            for number, name in index["experts"]
        }
        questions = tuple(
            record for one in store.record_ids(QUESTIONS) if (record := store.record(QUESTIONS, one)) is not None
        )
    order = {identity: place for place, identity in enumerate(make["questions"])}
    kept = sorted((one for one in questions if one.id in order), key=lambda one: order[one.id])
    # What was verified speaks of the text that was read: a variant made anew since then is not verified.
    if verify is not None:
        texts = {row["id"]: row["text"] for row in make["variants"]}
        verify = {**verify, "rows": {key: row for key, row in verify["rows"].items() if row["text"] == texts.get(key)}}
    return Study(Path(path), make, verify, sheets, audits, tuple(kept))


@contextmanager
def save(path: str | Path) -> Iterator[RunStore]:
    """The study's store, open for writing."""
    with RunStore(path) as store:
        yield store


def write_jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows whole or not at all."""
    text = "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
    write_text(path, text)


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all; InputError where it cannot be written."""
    temporary: str | None = None
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
        temporary = None
    except OSError as error:
        raise InputError(
            f"it cannot be written ({error.strerror})", file=str(path), mend="choose a folder that exists"
        ) from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def base_and_kind(identity: str) -> tuple[str, str | None]:
    """The question's id and the kind of a variant's id; the kind is None for the question itself."""
    base, mark, kind = identity.rpartition("~")
    return (base, kind) if mark else (identity, None)


def restrict(records: Sequence[Record], ids: Iterable[str]) -> list[Record]:
    wanted = set(ids)
    return [record for record in records if record.id in wanted]
