"""The scheduler, on a real event loop with short times: limits hold, 429 is obeyed, the budget stops, the end is orderly."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.errors import ProviderError
from judgekit.judging.engine.schedule import Budget, Drained, Lane, Stop, Window
from judgekit.judging.provider.types import RateLimited, Reply, Transient


class Fake:
    """Stands for a client: counts what is in flight, and plays a script by the number of the attempt."""

    def __init__(self, script: Callable[[int], Reply | Exception] | None = None, takes: float = 0.01) -> None:
        self.script = script or (lambda n: Reply("ok"))
        self.takes = takes
        self.n = self.flying = self.high = 0
        self.at: list[float] = []

    async def send(self) -> Reply:
        n, self.n = self.n, self.n + 1
        self.at.append(time.monotonic())
        self.flying += 1
        self.high = max(self.high, self.flying)
        try:
            await asyncio.sleep(self.takes)
            said = self.script(n)
            if isinstance(said, Exception):
                raise said
            return said
        finally:
            self.flying -= 1


def lane(stop: Stop | None = None, budget: Budget | None = None, **options: object) -> Lane:
    return Lane(stop or Stop(), budget or Budget(None), **{"backoff_s": 0.02, **options})  # type: ignore[arg-type]


def run(main: Awaitable[Any]) -> Any:
    async def inner() -> Any:
        return await asyncio.wait_for(main, 20)

    return asyncio.run(inner())


def test_never_more_in_flight_than_allowed() -> None:
    async def main() -> Fake:
        fake, way = Fake(), lane(concurrency=4)
        await asyncio.gather(*(way.call(fake.send) for _ in range(40)))
        return fake

    fake = run(main())
    assert (fake.n, fake.high) == (40, 4)


def test_a_storm_of_429_costs_no_call_and_lowers_the_pace_then_it_rises_again() -> None:
    # The first 30 tries are refused. Everything ends ok, the limit was at least halved twice, and it grows back.
    lowest = []

    async def main() -> tuple[list[Reply], Lane]:
        way = lane(concurrency=16)

        def script(n: int) -> Reply | Exception:
            lowest.append(way.limit)
            return RateLimited(0.01) if n < 30 else Reply("ok")

        fake = Fake(script)
        replies = await asyncio.gather(*(way.call(fake.send) for _ in range(200)))
        return list(replies), way

    replies, way = run(main())
    assert [reply.status for reply in replies] == ["ok"] * 200
    assert min(lowest) <= 4
    assert way.limit > min(lowest)
    assert way.rate_limited == 30
    assert sum(reply.effective.get("rate_limited", 0) for reply in replies) == 30


def test_retry_after_is_obeyed_by_everyone() -> None:
    async def main() -> Fake:
        fake = Fake(lambda n: RateLimited(0.4) if n == 0 else Reply("ok"), takes=0.0)
        way = lane(concurrency=1)
        await asyncio.gather(*(way.call(fake.send) for _ in range(3)))
        return fake

    fake = run(main())
    assert fake.at[1] - fake.at[0] >= 0.39


def test_calls_under_way_together_lower_the_limit_once() -> None:
    async def main() -> float:
        fake = Fake(lambda n: RateLimited(0.0) if n < 8 else Reply("ok"))
        way = lane(concurrency=8)
        tasks = [asyncio.create_task(way.call(fake.send)) for _ in range(8)]
        while fake.n < 9:
            await asyncio.sleep(0.002)
        limit = way.limit
        await asyncio.gather(*tasks)
        return limit

    assert 4.0 <= run(main()) < 5.0


def test_a_provider_that_says_429_for_ever_stops_everything() -> None:
    async def main() -> Stop:
        stop = Stop()
        way = lane(stop, patience_s=0.2)
        fake = Fake(lambda n: RateLimited(0.05))
        results = await asyncio.gather(*(way.call(fake.send) for _ in range(3)), return_exceptions=True)
        assert all(isinstance(result, Drained) for result in results)
        return stop

    stop = run(main())
    assert stop.cause == "provider"
    assert isinstance(stop.error, ProviderError)


def test_failures_that_may_pass_are_tried_again_and_recorded() -> None:
    async def main() -> Reply:
        fake = Fake(lambda n: Transient("503 busy") if n < 2 else Reply("ok", attempts=[{"text": "x"}]))
        return await lane(tries=3).call(fake.send)

    reply = run(main())
    assert reply.status == "ok"
    assert [attempt.get("problem") for attempt in reply.attempts] == ["503 busy", "503 busy", None]


def test_after_the_last_try_the_call_is_an_error_that_says_how_often() -> None:
    async def main() -> tuple[Reply, int]:
        fake = Fake(lambda n: Transient("503 busy"))
        return await lane(tries=3).call(fake.send), fake.n

    reply, n = run(main())
    assert (reply.status, n, len(reply.attempts)) == ("error", 3, 3)
    assert reply.reason == "503 busy (3 tries)"


def test_what_a_broken_call_had_paid_counts_once() -> None:
    # Try 1 breaks after a re-ask had cost 0.2; try 2 ends at 0.5 in all. Spent: 0.5, not 0.7.
    async def main() -> float:
        budget = Budget(10)
        partial = Reply("error", cost=0.2, attempts=[{"text": "bad"}])
        fake = Fake(lambda n: Transient("cut", partial=partial) if n == 0 else Reply("ok", cost=0.5))
        await lane(budget=budget).call(fake.send, estimate=1.0)
        assert budget.reserved == 0
        return budget.spent

    assert run(main()) == pytest.approx(0.5)


def test_a_call_that_never_ends_is_cut_off_by_the_time_limit() -> None:
    async def main() -> Reply:
        return await lane(tries=2, timeout_s=0.05).call(Fake(takes=5).send)

    reply = run(main())
    assert reply.status == "error"
    assert "no answer within 0.05 s (2 tries)" in (reply.reason or "")


def test_a_refusal_of_who_we_are_stops_all_lanes() -> None:
    async def main() -> tuple[Stop, list[object], int]:
        stop = Stop()
        bad = Fake(lambda n: ProviderError("401"))
        good = Fake(takes=0.1)
        ways = lane(stop, concurrency=1), lane(stop, concurrency=1)
        results = await asyncio.gather(
            ways[0].call(bad.send), ways[1].call(good.send), ways[1].call(good.send), return_exceptions=True
        )
        return stop, list(results), good.n

    stop, results, sent = run(main())
    assert stop.cause == "provider"
    assert isinstance(results[0], Drained)
    assert isinstance(results[1], Reply), "what was in flight is kept"
    assert isinstance(results[2], Drained)
    assert sent == 1


# the budget


def test_the_budget_stops_before_the_call_that_would_pass_it() -> None:
    # Each call may cost 1.0 and costs 0.4. With 3.0: after n calls 0.4 n is spent, and one more starts while
    # 0.4 n + 1.0 <= 3.0, so n = 0..5: six calls, 2.4 spent.
    async def main() -> tuple[Stop, Budget, list[object]]:
        stop, budget = Stop(), Budget(3.0)
        way = lane(stop, budget, concurrency=8)
        fake = Fake(lambda n: Reply("ok", cost=0.4))
        results = await asyncio.gather(*(way.call(fake.send, estimate=1.0) for _ in range(20)), return_exceptions=True)
        assert fake.high == 3, "no more in flight than could all cost their most"
        return stop, budget, list(results)

    stop, budget, results = run(main())
    assert stop.cause == "budget"
    assert sum(isinstance(result, Reply) for result in results) == 6
    assert budget.spent == pytest.approx(2.4)


@given(
    st.floats(0.1, 20),
    st.lists(st.tuples(st.floats(0.01, 3), st.floats(0, 1)), min_size=1, max_size=30),
)
def test_spending_never_passes_the_limit(limit: float, calls: list[tuple[float, float]]) -> None:
    # Law: whatever is in flight and however it ends at or below its estimate, spent <= limit.
    budget, flying = Budget(limit), []
    for estimate, share in calls:
        answer = budget.reserve(estimate)
        while answer == "wait":
            assert flying, "waiting for nothing"
            budget.settle(*flying.pop())
            answer = budget.reserve(estimate)
        if answer == "stop":
            break
        flying.append((estimate, estimate * share))
    for one in flying:
        budget.settle(*one)
    assert budget.spent <= limit * (1 + 1e-9)
    assert budget.reserved == pytest.approx(0, abs=1e-9)


# limits a minute


@given(
    st.integers(1, 6),
    st.integers(10, 200),
    st.lists(st.tuples(st.floats(0, 30), st.integers(1, 120)), min_size=1, max_size=40),
)
def test_no_window_ever_holds_more_than_the_limits(rpm: int, tpm: int, wishes: list[tuple[float, int]]) -> None:
    # Law: in every half-open minute (t - 60, t] at most rpm requests, and at most tpm tokens unless one alone has more.
    window, now, sent = Window(rpm, tpm), 0.0, []
    for gap, tokens in wishes:
        now += gap
        now += window.wait(now, tokens)
        assert window.wait(now, tokens) <= 1e-6
        window.add(now, tokens)
        sent.append((now, tokens))
    for end, _ in sent:
        inside = [tokens for at, tokens in sent if end - 60 + 1e-6 < at <= end]
        assert len(inside) <= rpm
        assert sum(inside) <= tpm or len(inside) == 1


def test_requests_a_minute_hold_on_the_lane() -> None:
    async def main() -> Fake:
        fake, way = Fake(takes=0.0), lane(rpm=3)
        way._window.span_s = 0.3
        await asyncio.gather(*(way.call(fake.send) for _ in range(7)))
        return fake

    at = run(main()).at
    assert all(later - earlier >= 0.29 for earlier, later in zip(at, at[3:], strict=False))


# the end


def test_the_first_interrupt_lets_calls_in_flight_finish_and_starts_none() -> None:
    async def main() -> tuple[list[object], int]:
        stop, fake = Stop(), Fake(takes=0.2)
        way = lane(stop, concurrency=2)
        done: list[object] = []

        async def work() -> None:
            try:
                done.append(await way.call(fake.send))
            except Drained:
                done.append("drained")

        tasks = [asyncio.create_task(work()) for _ in range(6)]
        await asyncio.sleep(0.05)
        stop.interrupt()
        await stop.finish(tasks, grace_s=5)
        return done, fake.n

    done, sent = run(main())
    assert sent == 2
    assert sum(isinstance(one, Reply) for one in done) == 2
    assert done.count("drained") == 4


@pytest.mark.parametrize("twice", [True, False])
def test_a_second_interrupt_or_the_end_of_the_grace_drops_them(twice: bool) -> None:
    async def main() -> float:
        stop, fake = Stop(), Fake(takes=30)
        way = lane(stop)

        async def work() -> None:
            await way.call(fake.send)

        tasks = [asyncio.create_task(work())]
        await asyncio.sleep(0.05)
        start = time.monotonic()
        stop.interrupt()
        if twice:
            stop.interrupt()
        await stop.finish(tasks, grace_s=30 if twice else 0.1)
        assert all(task.done() for task in tasks)
        return time.monotonic() - start

    assert run(main()) < 5


def test_a_drain_ends_waiting_for_a_pause_or_a_retry_at_once() -> None:
    async def main() -> float:
        stop = Stop()
        ways = lane(stop), lane(stop, backoff_s=30)
        limited, failing = Fake(lambda n: RateLimited(30)), Fake(lambda n: Transient("503"))
        tasks = [asyncio.create_task(ways[0].call(limited.send)), asyncio.create_task(ways[1].call(failing.send))]
        await asyncio.sleep(0.1)
        start = time.monotonic()
        stop.interrupt()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(result, Drained) for result in results)
        return time.monotonic() - start

    assert run(main()) < 2


async def _unknown_cost() -> Budget:
    budget = Budget(1.0)
    lane = Lane(stop=Stop(), budget=budget)

    async def send() -> Reply:
        return Reply(status="ok", cost=None)

    await lane.call(send, estimate=0.4)
    return budget


def test_a_reply_of_unknown_cost_counts_as_all_that_was_reserved() -> None:
    # .4 is charged, not 0: with .4 spent of 1.0, a call of .7 at most would pass the limit (1.1), one of .6 would not.
    budget = asyncio.run(_unknown_cost())
    assert budget.spent == 0.4
    assert budget.reserve(0.7) == "stop"
    assert budget.reserve(0.6) == "ok"
