"""Walks records x metrics and writes a measurement for each into the run: in chunks, resumable, in flat memory."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit import __version__
from judgekit.measuring.workers import here, with_ray
from judgekit.metrics.base import Measurement, Metric, parse_metric
from judgekit.progress import Progress
from judgekit.records import Record
from judgekit.runs.model import Measured
from judgekit.runs.store import RunStore

if TYPE_CHECKING:
    from judgekit.data import RecordSet
    from judgekit.runs.reader import Run

__all__ = ["Tally", "measure", "run_metrics"]

CHUNK = 64  # records that are read, measured and committed together


@dataclass
class Tally:
    """What the run holds of one metric for the records asked for: `values` and `reasons` by record id."""

    metric: Metric
    signature: str
    values: dict[str, float] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    components: dict[str, dict[str, float | None]] = field(default_factory=dict)
    reused: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """How many records have no value, by reason, most frequent first."""
        found: dict[str, int] = {}
        for reason in self.reasons.values():
            found[reason] = found.get(reason, 0) + 1
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    def take(self, record_id: str, value: float | None, reason: str | None, details: dict[str, Any]) -> None:
        if value is None:
            self.reasons[record_id] = reason or "no reason given"
        else:
            self.values[record_id] = value
        if self.metric.name == "vb_score" and "entity" in details:
            self.components[record_id] = {
                name: details.get(name) for name in ("entity", "similarity", "consistency", "structure")
            }


class _Bar(Progress):
    """Progress without a price."""

    def state(self) -> str:
        text = super().state()
        return ", ".join(part for part in text.split(", ") if not part.startswith("$")).replace(
            "unscored", "without a value"
        )


@dataclass(frozen=True)
class _Job:
    """A chunk of records under one metric: what the run holds of it, and what is to be measured."""

    tally: Tally
    held: dict[str, Measured]
    todo: list[Record]
    last: bool

    @property
    def metric(self) -> Metric:
        return self.tally.metric


def run_metrics(
    records: RecordSet,
    metrics: Sequence[Metric],
    out: str | Path,
    *,
    keep: Sequence[Record] | None = None,
    quiet: bool = False,
    argv: Sequence[str] | None = None,
    workers: int = 1,
    ray: str | None = None,
) -> list[Tally]:
    """Measure what the run does not hold yet, and say what it holds afterwards.

    Parameters
    ----------
    records : what to measure, with the data set's name.
    out : the run's folder; judgements may lie in it too.
    keep : all records of the data set where `records` is a part of them, so that the run knows their order.
    quiet : no progress on stderr.
    workers : processes that measure, at least 1; more than one need the package ray. Chunks and their order are the same.
    ray : the address of a running Ray cluster; None starts one here where `workers` is more than 1.

    A chunk of 64 records is committed before the next one, so a killed command loses what was in work; the same command
    again goes on. A value is taken over only where record, metric and signature are the same: another version measures anew.
    """
    tallies = [
        Tally(metric, metric.signature) for metric in metrics
    ]  # loads models first: what is missing is said before any work
    hashes = {record.id: record.fingerprint() for record in records}
    with RunStore(out) as store:
        about = {
            "data": [{"name": records.name, "file": records.path, "records": len(records)}],
            "metrics": [tally.signature for tally in tallies],
        }
        number = store.begin_command(list(argv or sys.argv), __version__, about)
        store.put_records(records.name, keep if keep is not None else records)
        outcome = "interrupted"
        jobs = _jobs(store, records, tallies)
        try:
            done = here(jobs) if workers == 1 and ray is None else with_ray(jobs, metrics, workers, ray)
            with _Bar(len(records) * len(tallies), quiet=quiet) as progress, contextlib.closing(done):
                rows: list[Measured] = []
                for job, results in done:
                    rows += _settle(records.name, job, results, hashes, progress)
                    if job.last:
                        store.put_measurements(rows)
                        rows = []
            outcome = "done"
        finally:
            store.end_command(number, outcome)
    return tallies


def _chunks(records: Sequence[Record]) -> Iterator[list[Record]]:
    for at in range(0, len(records), CHUNK):
        yield list(records[at : at + CHUNK])


def _jobs(store: RunStore, records: RecordSet, tallies: Sequence[Tally]) -> Iterator[_Job]:
    for chunk in _chunks(records):
        for at, tally in enumerate(tallies):
            found = {
                record.id: store.measurement(records.name, record.id, tally.metric.notation, tally.signature)
                for record in chunk
            }
            held = {name: row for name, row in found.items() if row is not None}
            yield _Job(tally, held, [record for record in chunk if record.id not in held], at == len(tallies) - 1)


def _settle(
    dataset: str, job: _Job, results: Sequence[Measurement], hashes: dict[str, str], progress: Progress
) -> list[Measured]:
    for name, held in job.held.items():
        job.tally.reused += 1
        job.tally.take(name, held.value, held.reason, held.details or {})
        progress.judged("ok" if held.value is not None else "skipped")
    rows = []
    for record, result in zip(job.todo, results, strict=True):
        rows.append(_row(dataset, record, job.tally, result, hashes[record.id]))
        job.tally.take(record.id, result.value, result.reason, result.details)
        progress.judged("ok" if result.value is not None else "skipped")
    return rows


def _row(dataset: str, record: Record, tally: Tally, result: Measurement, record_hash: str) -> Measured:
    return Measured(
        dataset,
        record.id,
        tally.metric.notation,
        tally.signature,
        result.value,
        result.reason,
        result.details,
        record_hash,
    )


def measure(
    records: Any,
    metric: str | Sequence[str],
    *,
    out: str | Path | None = None,
    card: str | None = None,
    device: str = "auto",
    workers: int = 1,
    ray: str | None = None,
) -> Run:
    """Measure records with one metric or several, and open the run.

    Parameters
    ----------
    records : a RecordSet, or anything that `load_records` takes (with `card`).
    metric : a notation, or several: ``"vb_score"``, ``"entity_f1(match=exact)"``.
    out : the run's folder; by default ``runs/<data>``.
    device : ``auto``, ``cpu``, ``cuda`` or ``mps``.
    workers, ray : see `run_metrics`.

    Returns
    -------
    Run, whose `.measurements` is a DataFrame: dataset, record_id, metric, signature, value (None with a reason), details.
    """
    from judgekit.data import load_records
    from judgekit.metrics.models import use_device
    from judgekit.runs.store import open_run

    use_device(device)
    found = load_records(records, card=card)
    names = [metric] if isinstance(metric, str) else list(metric)
    folder = Path(out) if out is not None else Path("runs") / found.name
    run_metrics(found, [parse_metric(name) for name in names], folder, workers=workers, ray=ray)
    return open_run(folder)
