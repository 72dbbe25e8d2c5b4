"""Progress on stderr: done, failed, rate, cost, time left. A bar on a terminal, else a line every few seconds."""

from __future__ import annotations

import sys
import time
from collections import deque
from typing import Any, TextIO

from judgekit.runs.model import SCORED, Bill
from judgekit.terminal import console, printable

__all__ = ["Progress"]


class Progress:
    """Counts judgements as they come in and shows them.

    `total` is how many are wanted, `every_s` the seconds between lines where stderr is no terminal. `quiet` shows only notes.
    """

    def __init__(self, total: int, *, stream: TextIO | None = None, every_s: float = 10.0, quiet: bool = False) -> None:
        self.total = total
        self.done = 0
        self.failed = 0
        self.asked = 0
        self.bill = Bill()
        self._stream = stream or sys.stderr
        self._every_s, self._quiet = every_s, quiet
        self._said = time.monotonic()
        self._marks: deque[tuple[float, int]] = deque([(self._said, 0)], maxlen=30)
        self._said_at = -1
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        if not self._quiet and self._stream.isatty():
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"),
                console=console(self._stream), transient=True,
            )  # fmt: skip
            self._task = self._bar.add_task("judging", total=self.total, state="")
            self._bar.start()
        return self

    def __exit__(self, *exc: object) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        if not self._quiet and self._said_at != self.done:
            self._line()

    def judged(self, status: str) -> None:
        """One more judgement is settled."""
        self.done += 1
        self.failed += status not in SCORED
        self._show()

    def called(self, bill: Bill) -> None:
        """One call came back with its bill."""
        self.asked += 1
        self.bill += bill

    def note(self, text: str) -> None:
        """A sentence for the person at the screen."""
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            print(printable(text), file=self._stream, flush=True)

    def state(self) -> str:
        """The line: ``120/500 done, 3 unscored, 8.1/s, $0.42, about 47 s left``."""
        rate = self._rate()
        parts = [f"{self.done}/{self.total} done"]
        if self.failed:
            parts.append(f"{self.failed} unscored")
        if rate:
            parts.append(f"{rate:.1f}/s" if rate >= 1 else f"{60 * rate:.1f}/min")
        parts.append(str(self.bill))
        if rate and self.done < self.total:
            parts.append(f"about {_span((self.total - self.done) / rate)} left")
        return ", ".join(parts)

    def _rate(self) -> float | None:
        # Over the last half minute: what a resumed run takes from the store at once says nothing of the calls to come.
        at = time.monotonic()
        if at - self._marks[-1][0] >= 1.0:
            self._marks.append((at, self.done))
        then, done = self._marks[0]
        return (self.done - done) / (at - then) if at - then > 0.5 else None

    def _show(self) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, state=self.state())
        elif not self._quiet and time.monotonic() - self._said >= self._every_s:
            self._line()

    def _line(self) -> None:
        self._said = time.monotonic()
        self._said_at = self.done
        print(self.state(), file=self._stream, flush=True)


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
