"""Who measures: this process, or Ray's workers. Both take the same jobs and give results in their order; neither sees the store."""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from importlib.util import find_spec
from typing import Any, Protocol, TypeVar

from judgekit.errors import InputError, JudgekitError, MissingDependency, UsageError
from judgekit.metrics.base import Measurement, Metric
from judgekit.records import Record

__all__ = ["Job", "here", "with_ray"]

AHEAD = 2  # jobs that a worker has at once, so that it need not wait for the next
HELD = 8  # jobs a worker whose results may wait for an earlier one


class Job(Protocol):
    """Records to measure together with one metric; `todo` may be empty."""

    @property
    def metric(self) -> Metric: ...

    @property
    def todo(self) -> Sequence[Record]: ...


J = TypeVar("J", bound=Job)


def here(jobs: Iterable[J]) -> Generator[tuple[J, list[Measurement]], None, None]:
    """Each job with its results, one after the other, in this process."""
    for job in jobs:
        yield job, job.metric.measure(job.todo) if job.todo else []


class _Worker:
    """What lives in a Ray actor: the metrics' models, loaded once."""

    def __init__(self, device: str) -> None:
        self._device = device

    def signatures(self, metrics: Sequence[Metric]) -> tuple[str, list[str] | JudgekitError]:
        """(host, what each metric would be signed with here), or the error that stands against it."""
        import platform

        from judgekit.metrics.models import use_device

        try:
            use_device(self._device)
            return platform.node(), [metric.signature for metric in metrics]
        except JudgekitError as error:
            return platform.node(), error

    def measure(self, metric: Metric, records: Sequence[Record]) -> list[Measurement] | JudgekitError:
        try:
            return metric.measure(records)
        except JudgekitError as error:
            return error


def with_ray(
    jobs: Iterable[J], metrics: Sequence[Metric], workers: int, address: str | None = None
) -> Generator[tuple[J, list[Measurement]], None, None]:
    """Each job with its results, in the order of `jobs`, measured by Ray actors.

    Parameters
    ----------
    metrics : all that the jobs may name; a worker that would sign one otherwise than this process is refused.
    workers : actors, at least 1. Each loads the models once.
    address : a running cluster (``auto``, ``HOST:PORT``, ``ray://...``); None starts Ray on this machine and ends it again.

    Ray starts with the first job that has something to do. Raises MissingDependency without ray, InputError where no cluster answers, a
    worker cannot start or ends; UsageError where the cluster has fewer CPUs than `workers`.
    """
    if find_spec("ray") is None:
        raise MissingDependency(
            "several workers need the package ray", mend="pip install 'clinical-judgekit[ray]', or leave --workers out"
        )
    crew: _Crew | None = None
    with contextlib.ExitStack() as stack:
        source = iter(jobs)
        waiting: deque[tuple[J, Any]] = deque()
        more = True
        while True:
            while more and len(waiting) < HELD * workers and (crew is None or crew.in_flight < AHEAD * workers):
                job = next(source, None)
                if job is None:
                    more = False
                    break
                if job.todo and crew is None:
                    crew = stack.enter_context(_Crew(metrics, workers, address))
                waiting.append((job, crew.send(job.metric, list(job.todo)) if crew is not None and job.todo else None))
            if not waiting:
                return
            job, ticket = waiting[0]
            if ticket is None or crew is None:
                waiting.popleft()
                yield job, []
            elif crew.is_done(ticket):
                waiting.popleft()
                yield job, crew.result(ticket)


class _Crew:
    """The actors and what they are at."""

    def __init__(self, metrics: Sequence[Metric], workers: int, address: str | None) -> None:
        self._metrics, self._address = metrics, address
        self._load = [0] * workers
        self._busy: dict[Any, int] = {}
        self._actors: list[Any] = []
        self._mine = False

    @property
    def in_flight(self) -> int:
        return len(self._busy)

    def __enter__(self) -> _Crew:
        # Ray would send usage statistics, and under uv upload the working directory: neither is asked for here.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
        import ray

        self._ray = ray
        try:
            self._connect()
            self._hire()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        for actor in self._actors:
            with contextlib.suppress(Exception):
                self._ray.kill(actor)
        if self._mine:
            self._ray.shutdown()

    def _connect(self) -> None:
        if self._ray.is_initialized():
            return
        quiet: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False}
        try:
            if self._address is None:
                # "local", since ray would else follow RAY_ADDRESS: records leave this machine only where that was asked for.
                cpus = max(os.cpu_count() or 1, len(self._load))
                self._ray.init(address="local", num_cpus=cpus, include_dashboard=False, **quiet)
            else:
                self._ray.init(address=self._address, **quiet)
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            where = "on this machine" if self._address is None else f"at {self._address}"
            raise InputError(
                f"Ray cannot be reached {where}: {_first_line(error)}",
                field="ray",
                mend="leave --workers and --ray out",
            ) from None
        self._mine = True

    def _hire(self) -> None:
        from judgekit.metrics import models

        device = models.device() if find_spec("torch") is not None else "auto"
        there = self._ray.cluster_resources()
        cpus, gpus, n = int(there.get("CPU", 0)), float(there.get("GPU", 0)), len(self._load)
        if cpus < n:
            raise UsageError(f"{n} workers, and the cluster has {cpus} CPUs", field="workers", mend=f"--workers {cpus}")
        options: dict[str, Any] = {"num_cpus": cpus // n if self._address is None else 1}
        if device == "cuda":
            if not gpus:
                raise UsageError("the cluster has no GPU", field="device", mend="--device cpu")
            options["num_gpus"] = min(1.0, int(1000 * gpus / n) / 1000)
        kind = self._ray.remote(**options)(_Worker)
        self._actors = [kind.remote(device) for _ in self._load]
        mine = [metric.signature for metric in self._metrics]
        for host, theirs in self._get([actor.signatures.remote(list(self._metrics)) for actor in self._actors]):
            if isinstance(theirs, JudgekitError):
                raise theirs
            for one, other in zip(mine, theirs, strict=True):
                if one != other:
                    raise InputError(
                        f"a worker on {host} would measure under another signature: {other}, here {one}",
                        field="ray", mend="install the same versions there as here",
                    )  # fmt: skip

    def _get(self, tickets: Any) -> Any:
        try:
            return self._ray.get(tickets)
        except self._ray.exceptions.RayActorError as error:
            raise InputError(
                f"a worker ended: {_first_line(error)}", field="workers",
                mend="what was measured is kept and the same command goes on; try fewer --workers, each holds its own models",
            ) from None  # fmt: skip

    def send(self, metric: Metric, records: list[Record]) -> Any:
        """Give a job to the worker with the least to do."""
        at = min(range(len(self._load)), key=self._load.__getitem__)
        ticket = self._actors[at].measure.remote(metric, records)
        self._load[at] += 1
        self._busy[ticket] = at
        return ticket

    def is_done(self, ticket: Any) -> bool:
        """Whether a job is done; waits for any one where it is not."""
        if ticket in self._busy:
            for done in self._ray.wait(list(self._busy), num_returns=1)[0]:
                self._load[self._busy.pop(done)] -= 1
        return ticket not in self._busy

    def result(self, ticket: Any) -> list[Measurement]:
        """What a finished job gave. Raises the worker's own JudgekitError."""
        found: list[Measurement] | JudgekitError = self._get(ticket)
        if isinstance(found, JudgekitError):
            raise found
        return found


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
