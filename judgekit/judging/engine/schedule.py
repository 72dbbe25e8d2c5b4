"""When a call goes out: bounded concurrency that adapts, limits a minute, retries, the budget, and an orderly end.

A `Lane` serves one judge. All lanes of a command share one `Stop` (why and how the work ends early) and one `Budget`.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Literal

from judgekit.errors import ProviderError
from judgekit.judging.provider.types import RateLimited, Reply, Transient

__all__ = ["Budget", "Drained", "Lane", "Stop", "Window"]

Cause = Literal["interrupted", "budget", "provider", "fault"]


class Drained(Exception):
    """The work ends early; this call was not made, and the same command will make it."""


class Stop:
    """Tells everyone that no new call may start (`drain`), or that those in flight are to be dropped as well (`cut`)."""

    def __init__(self) -> None:
        self.cause: Cause | None = None
        self.error: BaseException | None = None
        self.cutting = False
        self._waiting: set[asyncio.Future[None]] = set()

    def drain(self, cause: Cause, error: BaseException | None = None) -> None:
        """Start no new call. The first cause counts."""
        if self.cause is None:
            self.cause, self.error = cause, error
        self.changed()

    def interrupt(self) -> None:
        """What Ctrl-C does: the first time drain, the second time cut."""
        if self.cause is not None:
            self.cutting = True
        self.drain("interrupted")

    def check(self) -> None:
        """Raise Drained when no new call may start."""
        if self.cause is not None:
            raise Drained

    def changed(self) -> None:
        """Wake whoever waits for a slot, for budget or for the end."""
        for future in self._waiting:
            if not future.done():
                future.set_result(None)
        self._waiting.clear()

    async def wait(self, seconds: float | None = None) -> None:
        """Until something changed, or `seconds` passed."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            await asyncio.wait({future}, timeout=seconds)
        finally:
            self._waiting.discard(future)

    async def sleep(self, seconds: float) -> None:
        """Sleep; raises Drained as soon as the work ends early."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        self.check()
        while (left := until - loop.time()) > 0:
            await self.wait(left)
            self.check()

    async def finish(self, tasks: list[asyncio.Task[None]], grace_s: float) -> None:
        """Wait for the tasks; once draining, for at most `grace_s` seconds, then cancel what is left."""
        loop = asyncio.get_running_loop()
        left, until = set(tasks), None
        for task in tasks:
            task.add_done_callback(lambda _: self.changed())
        while left := {task for task in left if not task.done()}:
            if self.cause is not None and until is None:
                until = loop.time() + grace_s
            if self.cutting or (until is not None and loop.time() >= until):
                for task in left:
                    task.cancel()
                await asyncio.gather(*left, return_exceptions=True)
                break
            await self.wait(None if until is None else max(0.0, until - loop.time()))

    @contextlib.contextmanager
    def signals(self, say: Callable[[str], None]) -> Iterator[None]:
        """Ctrl-C and SIGTERM go to `interrupt` while inside; in a thread that is not the main one nothing is changed."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()

        def caught() -> None:
            first = self.cause is None
            self.interrupt()
            say(
                "stopping: calls in flight may finish; once more drops them"
                if first
                else "dropping the calls in flight"
            )

        before: list[tuple[int, Any]] = []
        for number in (signal.SIGINT, signal.SIGTERM):
            before.append((number, signal.getsignal(number)))
            try:
                loop.add_signal_handler(number, caught)
            except NotImplementedError:  # pragma: no cover - Windows
                signal.signal(number, lambda *_: loop.call_soon_threadsafe(caught))
        try:
            yield
        finally:
            for caught_signal, handler in before:
                with contextlib.suppress(NotImplementedError):
                    loop.remove_signal_handler(caught_signal)
                signal.signal(caught_signal, handler)


class Budget:
    """US dollars that a run may cost: what may have been billed so far, and the most that the calls in flight may still cost.

    `spent` is what earlier commands left; `note` hears of every new height of `reserved` before such calls start, so that a
    command that is killed leaves word of what it may owe.
    """

    def __init__(
        self, limit: float | None, spent: float = 0.0, note: Callable[[float], None] = lambda reserved: None
    ) -> None:
        self.limit = limit
        self.spent = spent
        self.reserved = self._height = 0.0
        self._note = note

    def _hold(self, amount: float) -> None:
        self.reserved += amount
        if self.limit is not None and self.reserved > self._height:
            self._height = self.reserved
            self._note(self.reserved)

    def reserve(self, estimate: float) -> Literal["ok", "wait", "stop"]:
        """``ok``: reserved. ``wait``: calls in flight may turn out cheaper. ``stop``: this call would pass the limit."""
        if self.limit is not None:
            slack = 1e-12 * max(1.0, self.limit)  # sums of prices are not exact
            if self.spent + estimate > self.limit + slack:
                return "stop"
            if self.spent + self.reserved + estimate > self.limit + slack:
                return "wait"
        self._hold(estimate)
        return "ok"

    def extend(self, amount: float) -> bool:
        """Reserve more for a call in flight (a re-ask); False where that might pass the limit."""
        if self.limit is not None and self.spent + self.reserved + amount > self.limit + 1e-12 * max(1.0, self.limit):
            return False
        self._hold(amount)
        return True

    def settle(self, estimate: float, cost: float | None) -> None:
        """A call ended: its reservation goes, its cost counts."""
        self.reserved = max(0.0, self.reserved - estimate)
        self.spent += cost or 0.0


class Window:
    """Requests and tokens within the last `span_s` seconds, held under their limits at every moment."""

    def __init__(self, rpm: float | None = None, tpm: float | None = None, span_s: float = 60.0) -> None:
        self.rpm, self.tpm, self.span_s = rpm, tpm, span_s
        self._sent: deque[list[float]] = deque()  # [time, requests, tokens]

    def wait(self, now: float, tokens: int) -> float:
        """Seconds until one more request of `tokens` fits; one larger than the whole limit goes when nothing else is inside."""
        while self._sent and self._sent[0][0] <= now - self.span_s:
            self._sent.popleft()
        requests, used = sum(entry[1] for entry in self._sent), sum(entry[2] for entry in self._sent)
        until = now
        for sent_at, n, t in self._sent:
            if (self.rpm is None or requests + 1 <= self.rpm or requests == 0) and (
                self.tpm is None or used + tokens <= self.tpm or used == 0
            ):
                break
            requests, used, until = requests - n, used - t, sent_at + self.span_s
        return until - now

    def add(self, now: float, tokens: int) -> list[float]:
        """A request goes out; returns the entry for `settle`."""
        entry = [now, 1.0, float(tokens)]
        if self.rpm is not None or self.tpm is not None:
            self._sent.append(entry)
        return entry

    @staticmethod
    def settle(entry: list[float], requests: int, tokens: int | None) -> None:
        """What it really was: re-asks are requests too."""
        entry[1] = float(max(1, requests))
        if tokens is not None:
            entry[2] = float(tokens)


class Lane:
    """The way to one judge.

    Parameters
    ----------
    concurrency : the most calls in flight. It is halved when the provider says 429, at most once for those that were under
        way together, and grows again by one for every round of successes.
    rpm, tpm : requests and tokens in any 60 seconds, or None.
    timeout_s : seconds for one call with all its re-asks; past that it counts as a transient failure.
    tries : how often a call is made at all when it fails in a way that may pass.
    After 20 calls that failed in a row (3, when none ever succeeded) everything stops: the provider is not there.
    patience_s : seconds without a single success while the provider says 429, after which everything stops.
    """

    def __init__(
        self,
        stop: Stop,
        budget: Budget,
        *,
        concurrency: int = 32,
        rpm: float | None = None,
        tpm: float | None = None,
        timeout_s: float = 400.0,
        tries: int = 5,
        backoff_s: float = 1.0,
        patience_s: float = 600.0,
    ) -> None:
        self.stop, self.budget = stop, budget
        self.cap = concurrency
        self.limit = float(concurrency)
        self.timeout_s, self.tries, self.backoff_s, self.patience_s = timeout_s, tries, backoff_s, patience_s
        self.active = 0
        self.rate_limited = 0
        self.counts_tokens = tpm is not None
        self._window = Window(rpm, tpm)
        self._door = asyncio.Lock()  # first come, first served; one waits at the head, the others behind it
        self._paused_until = 0.0
        self._lowered_at = float("-inf")
        self._starved_since: float | None = None
        self._strikes = self._failed_in_a_row = 0
        self._answered = False
        self.silent: ProviderError | None = None  # calls were made and the provider never answered one
        self._random = random.Random()

    async def call(
        self,
        send: Callable[[], Awaitable[Reply]],
        *,
        tokens: int = 0,
        estimate: float = 0.0,
        left: Callable[[], Reply | None] = lambda: None,
    ) -> Reply:
        """Make a call when its turn comes; failures that outlast the tries become a Reply with status ``error``.

        `tokens` and `estimate` are the most that it may use and cost; `left` says what a try that broke off has asked and may
        owe. Raises Drained when the work ends early.
        """
        loop = asyncio.get_running_loop()
        failures: list[dict[str, Any]] = []
        limited, paid = 0, 0.0
        partial: Reply | None = None  # what this call has already asked and paid, should it never end
        while True:
            try:
                entry = await self._enter(tokens, estimate)
            except Drained:
                if partial is None or not _owes(partial):
                    raise
                return _given_up("stopped before it ended", failures, partial)
            # Whatever reached the provider and does not say what it cost may have cost all that was reserved.
            free = False
            pause = 0.0
            partial, before = None, partial
            try:
                reply = partial = await asyncio.wait_for(send(), self.timeout_s)
                Window.settle(entry, len(reply.attempts), _sum(reply.tokens_in, reply.tokens_out))
                self._succeeded()
                reply.attempts[:0] = failures
                if limited:
                    reply.effective["rate_limited"] = limited
                return reply
            except RateLimited as error:
                limited += 1
                free = True
                partial = error.partial or before
                self._lower(loop.time(), entry[0], error.retry_after)
            except ProviderError as error:
                self.stop.drain("provider", error)
                free = True
                partial = left() or before
                if partial is None or not _owes(partial):
                    raise Drained from error
                return _given_up(str(error), failures, partial)
            except (Transient, TimeoutError) as error:
                free = not getattr(error, "sent", True)
                partial = getattr(error, "partial", None) or left()
                problem = str(error) or f"no answer within {self.timeout_s:g} s"
                failures.append({"text": None, "problem": problem, "finish_reason": None, "usage": None})
                if len(failures) >= self.tries:
                    self._failed(problem)
                    return _given_up(f"{problem} ({len(failures)} tries)", failures, partial)
                # Jitter, so that calls which failed together do not come back together.
                pause = self._random.uniform(0.5, 1.0) * min(30.0, self.backoff_s * 2 ** (len(failures) - 1))
                pause = max(pause, min(self.patience_s, getattr(error, "retry_after", None) or 0.0))
            finally:
                partial = partial or left()  # also where the call was dropped
                known = None if partial is None else partial.bill.at_most
                so_far = known if known is not None else paid if free else paid + estimate
                self.active -= 1
                self.budget.settle(estimate, max(0.0, so_far - paid))
                paid = max(paid, so_far)
                partial = partial or before
                self.stop.changed()
            with contextlib.suppress(Drained):  # the door says whether there is something to give back
                await self.stop.sleep(pause)

    async def _enter(self, tokens: int, estimate: float) -> list[float]:
        loop = asyncio.get_running_loop()
        async with self._door:
            while True:
                self.stop.check()
                now = loop.time()
                pause = max(self._paused_until - now, self._window.wait(now, tokens))
                if pause > 0:
                    await self.stop.sleep(pause)
                    continue
                if self.active >= max(1, int(self.limit)):
                    await self.stop.wait()
                    continue
                answer = self.budget.reserve(estimate)
                if answer == "wait":
                    await self.stop.wait()
                    continue
                if answer == "stop":
                    self.stop.drain("budget")
                    raise Drained
                self.active += 1
                return self._window.add(now, tokens)

    def _succeeded(self) -> None:
        self.limit = min(float(self.cap), self.limit + 1.0 / self.limit)
        self._starved_since = None
        self._strikes = self._failed_in_a_row = 0
        self._answered, self.silent = True, None

    def _failed(self, problem: str) -> None:
        self._failed_in_a_row += 1
        how = "the last 20 calls" if self._answered else "every call so far"
        error = ProviderError(
            f"{how} failed: {problem}", mend="check the address and the network, then run the same command again"
        )
        self.silent = None if self._answered else error
        if self._failed_in_a_row >= (20 if self._answered else 3):
            self.stop.drain("provider", error)

    def _lower(self, now: float, sent_at: float, retry_after: float | None) -> None:
        self.rate_limited += 1
        if self._starved_since is None:
            self._starved_since = now
        if sent_at >= self._lowered_at:
            self.limit = max(1.0, self.limit / 2)
            self._lowered_at = now
            self._strikes += 1
        if retry_after is None:
            pause = self._random.uniform(0.5, 1.0) * min(60.0, self.backoff_s * 2 ** min(10, self._strikes - 1))
        else:
            pause = retry_after
        self._paused_until = max(self._paused_until, now + pause)
        if pause > self.patience_s or now - self._starved_since > self.patience_s:
            waited = f"asks to wait {pause:.0f} s" if pause > self.patience_s else "has let nothing through for minutes"
            self.stop.drain(
                "provider",
                ProviderError(
                    f"the provider says that there are too many requests, and {waited}",
                    mend="check the account's quota, lower --rpm, --tpm or --concurrency, then run the same command again",
                ),
            )


def _owes(partial: Reply) -> bool:
    """Whether a call that broke off has something to keep: what was said, or a bill that may come."""
    return bool(partial.attempts or partial.bill.at_most)


def _given_up(reason: str, failures: list[dict[str, Any]], partial: Reply | None) -> Reply:
    reply = partial or Reply(status="error")
    reply.status, reply.verdict, reply.reason = "error", None, reason
    reply.attempts = [*reply.attempts, *failures]
    return reply


def _sum(*values: int | None) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
