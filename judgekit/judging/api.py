"""Judging from Python: ``judge(records, rubric=..., model=..., out=...) -> Run``."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import threading
from collections.abc import Coroutine, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.errors import ProviderError
from judgekit.judging.engine.outcome import Outcome
from judgekit.judging.engine.run import run_judges
from judgekit.judging.engine.schedule import Stop
from judgekit.judging.engine.units import Options
from judgekit.judging.provider.types import JudgeSpec
from judgekit.runs.store import Run, open_run

if TYPE_CHECKING:
    from judgekit.rubric import CompiledRubric

__all__ = ["judge", "run_in_thread", "specs_for"]


def judge(
    records: Any,
    *,
    rubric: str | Path | CompiledRubric | Sequence[str | Path | CompiledRubric],
    model: str | Sequence[str],
    out: str | Path | None = None,
    card: str | Path | None = None,
    dataset: str | None = None,
    limit: int | None = None,
    api_base: str | None = None,
    endpoint: str | None = None,
    temperature: float | None = None,
    max_tokens: int | None = None,
    seed: int | None = None,
    sampling: dict[str, Any] | None = None,
    quiet: bool = False,
    **options: Any,
) -> Run:
    """Judge records, keep everything in a run, and open it.

    Parameters
    ----------
    records : a path, a list of Records or dicts, a DataFrame (see `load_records`), or what `load_records` gave.
    rubric, model : one or several; all combinations are judged. A model is what litellm calls it, ``local/smollm2-135m``, or
        ``replay/FILE``.
    out : the run's folder; by default ``runs/`` and the data set's name. What it holds already is not asked again.
    temperature, max_tokens, seed, sampling : go over the rubric's own defaults, and into the judge's name.
    api_base, endpoint : the server's address, and what stands for it in keys (by default the address itself).
    quiet : no progress on stderr.
    options : `samples`, `max_cost`, `concurrency`, `rpm`, `tpm`, `timeout_s`, `reasks`, ... (see `judging.units.Options`).

    Returns
    -------
    Run. ``run.outcome`` holds the counts of this command; a stop at the budget shows there (``stopped``) and in the warnings.

    Raises
    ------
    InputError for a wrong file, rubric or option; BudgetError where a price is unknown; ProviderError when the provider ended
    the work, after what was done was kept; KeyboardInterrupt after an orderly stop. It works inside a running event loop
    (a notebook) too.
    """
    from judgekit.data import load_records
    from judgekit.rubric import load_rubric

    data = load_records(records, card=card, dataset=dataset)
    data.need_promised_labels()
    known = {data.name: {record.id for record in data}}
    if limit is not None:
        data = data[:limit]
    named: Any = [rubric] if isinstance(rubric, str | Path) or hasattr(rubric, "asks") else list(rubric)
    rubrics = [each if hasattr(each, "asks") else load_rubric(each) for each in named]
    models = [model] if isinstance(model, str) else list(model)
    asked = {**(sampling or {}), "temperature": temperature, "max_tokens": max_tokens, "seed": seed}
    specs = specs_for(models, {k: v for k, v in asked.items() if v is not None}, api_base, endpoint)
    folder = Path(out) if out is not None else Path("runs") / data.name
    stop = Stop()
    outcome = run_in_thread(
        run_judges(
            [data], rubrics, specs, folder, Options(**options), stop=stop, quiet=quiet, argv=sys.argv, known=known
        ),
        stop,
    )
    return finished(outcome, folder)


def finished(outcome: Outcome, folder: Path) -> Run:
    """The run, or what ended the work early."""
    if outcome.stopped == "interrupted":
        raise KeyboardInterrupt
    if isinstance(outcome.error, ProviderError):
        raise outcome.error
    run = open_run(folder)
    run.outcome = outcome
    return run


def specs_for(
    models: Iterable[str], sampling: dict[str, Any], api_base: str | None, endpoint: str | None
) -> list[JudgeSpec]:
    """Judges for models; recorded ones take no parameters, and local ones no address."""
    specs = []
    for model in models:
        if model.startswith("replay/") or model == "local/evidence":
            specs.append(JudgeSpec(model))
        elif model.startswith("local/"):
            specs.append(JudgeSpec(model, dict(sampling), None, endpoint))
        else:
            specs.append(JudgeSpec(model, dict(sampling), api_base, endpoint))
    return specs


def run_in_thread(work: Coroutine[Any, Any, Outcome], stop: Stop) -> Outcome:
    """Run `work` to its end from anywhere: in a thread of its own where an event loop runs already.

    There the first Ctrl-C drains and the second drops what is in flight, as in the main thread, whoever took the signal before:
    Python itself, `asyncio.run` (which would only cancel a task that cannot run meanwhile) or a notebook.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    result: list[Outcome] = []
    fault: list[BaseException] = []
    loops: list[asyncio.AbstractEventLoop] = []
    done = threading.Event()

    def inside() -> None:
        try:
            with asyncio.Runner() as runner:
                loops.append(runner.get_loop())
                result.append(runner.run(work))
        except BaseException as error:
            fault.append(error)
        finally:
            done.set()

    def interrupt(*_: Any) -> None:
        with contextlib.suppress(RuntimeError):  # over already
            if loops:
                loops[0].call_soon_threadsafe(stop.interrupt)
            else:
                stop.interrupt()

    thread = threading.Thread(target=inside, name="judgekit", daemon=True)
    with contextlib.ExitStack() as stack:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                before = signal.signal(number, interrupt)
                stack.callback(signal.signal, number, signal.SIG_DFL if before is None else before)
        thread.start()
        while not done.is_set():
            try:
                # Not join(): a Ctrl-C inside it makes Python take the thread for ended.
                done.wait(0.2)
            except KeyboardInterrupt:  # raised by somebody else, as some notebooks do
                interrupt()
    if fault:
        raise fault[0]
    return result[0]
