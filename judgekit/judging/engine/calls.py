"""From a Request to a committed call: served from the store, shared while in flight, or sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import AsyncExitStack
from typing import Any

from judgekit.errors import JudgekitError, ProviderError
from judgekit.judging.engine.schedule import Budget, Lane, Stop
from judgekit.judging.provider.prices import max_tokens
from judgekit.judging.provider.types import JudgeSpec, Reply, Request, may_ask_again
from judgekit.progress import Progress
from judgekit.records import Record
from judgekit.runs.model import SERVED, CallRow
from judgekit.runs.store import RunStore

__all__ = ["Caller", "Judge", "request_for"]


class Judge:
    """A judge with its client and its lane. The client is opened when the first call must really be made: `ready`."""

    def __init__(self, spec: JudgeSpec, client: Any, lane: Lane, stack: AsyncExitStack) -> None:
        self.spec, self.client, self.lane = spec, client, lane
        self._stack = stack
        self._open = False
        self._door = asyncio.Lock()

    async def ready(self) -> None:
        """Open the client, once; what went wrong the first time is not tried again by those who wait."""
        async with self._door:
            if not self._open:
                self.lane.stop.check()
                try:
                    await self._stack.enter_async_context(self.client)
                except JudgekitError as error:
                    self.lane.stop.drain("fault", error)
                    raise
                self._open = True


def request_for(client: Any, rubric: Any, ask: Any, sample: int = 0, record: Record | None = None) -> Request:
    """The request of one ask about a record. An engine that decodes under a grammar is given the texts' lengths, so that it ends."""
    schema = ask.bounded_schema if client.local is not None else ask.schema
    request: Request = client.request(
        ask.messages,
        schema,
        dict(rubric.sampling),
        sample,
        judged=texts_of(record),
        open_choices=open_choices(ask.fields),
    )
    return request


def open_choices(fields: Iterable[Any]) -> frozenset[str]:
    """Names of the fields, however deep, whose labels are the record's own options."""
    from judgekit.rubric.fields import ChoiceField, ListField

    names: set[str] = set()
    for field in fields:
        if isinstance(field, ListField):
            names |= open_choices(field.of)
        elif isinstance(field, ChoiceField) and field.options is None and field.sets is None:
            names.add(field.name)
    return frozenset(names)


def texts_of(record: Record | None) -> tuple[str, ...]:
    """All texts of a record but its labels."""
    return () if record is None else tuple(_texts({**record.to_dict(), "labels": None}))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


class Caller:
    """Answers requests for one command.

    Attributes
    ----------
    calls : calls made by this command; re-asks and tries of one call count once.
    reused : requests that were answered without sending anything.
    """

    def __init__(self, store: RunStore, stop: Stop, budget: Budget, progress: Progress) -> None:
        self.store, self.stop, self.budget, self.progress = store, stop, budget, progress
        self.calls = 0
        self.reused = 0
        self._flying: dict[str, asyncio.Future[CallRow | None]] = {}
        self._useless: set[str] = set()  # asked by this command without a reply that may be served
        self._said: set[str] = set()

    def stored(self, request: Request) -> CallRow | None:
        """The call that answers `request` without asking: one of an earlier command, or a useless one of this command."""
        if request.key in self._useless:
            return self.store.last_call(request.key)
        return self.store.served(request.key)

    async def get(self, judge: Judge, request: Request, model: Any) -> CallRow:
        """The committed call that answers `request`; raises Drained when it would have to be sent and nothing may be."""
        key = request.key
        while (flying := self._flying.get(key)) is not None:
            row = await asyncio.shield(flying)
            if row is not None:
                self.reused += 1
                return row
            self.stop.check()
        if (row := self.stored(request)) is not None:
            self.reused += 1
            return row
        flight: asyncio.Future[CallRow | None] = asyncio.get_running_loop().create_future()
        self._flying[key] = flight
        row = None
        try:
            row = await self._send(judge, request, model)
            return row
        finally:
            del self._flying[key]
            flight.set_result(row)

    async def _send(self, judge: Judge, request: Request, model: Any) -> CallRow:
        client = judge.client
        tokens, tokens_in, tokens_out, estimate = 0, 0, 0, 0.0
        if self.budget.limit is not None or judge.lane.counts_tokens:
            tokens_in, tokens_out = client.count_tokens(request.messages), max_tokens(request.sampling)
            tokens = tokens_in + tokens_out
            estimate = client.price(tokens_in, tokens_out) or 0.0
        await judge.ready()
        sent = False
        reasks, reserved = 0, 0.0

        def may_reask() -> bool:
            # A re-ask repeats the prompt, the replies so far and what was wrong with them.
            nonlocal reasks, reserved
            more = client.price(tokens_in + (reasks + 1) * (tokens_out + 200), tokens_out) or 0.0
            if not self.budget.extend(more):
                self.stop.drain("budget")
                return False
            reasks, reserved = reasks + 1, reserved + more
            return True

        async def send() -> Reply:
            nonlocal sent
            self.calls += not sent
            sent = True
            if self.budget.limit is not None:
                may_ask_again.set(may_reask)
            try:
                reply: Reply = await client.send(request, model)
            except ProviderError as error:
                self.calls -= not error.sent
                raise
            return reply

        try:
            reply = await judge.lane.call(
                send, tokens=tokens, estimate=estimate, left=lambda: client.unfinished(request)
            )
        except asyncio.CancelledError:
            left = client.unfinished(request)
            if left is not None and left.bill.at_most:  # it may be billed although nobody waits for it any more
                left.reason = "dropped while it was in flight"
                self._keep(request, left)
            raise
        finally:
            client.forget(request)
            self.budget.settle(reserved, None)
        row = self._keep(request, reply)
        self.tell(client.notes, self.progress.note)
        return row

    def _keep(self, request: Request, reply: Reply) -> CallRow:
        row = CallRow(
            key=request.key,
            model=request.model,
            endpoint=request.endpoint,
            sample=request.sample,
            status=reply.status,
            request={"messages": request.messages, "schema": request.schema, "sampling": request.sampling},
            text=reply.text,
            verdict=reply.verdict,
            reason=reply.reason,
            flags=reply.flags,
            attempts=reply.attempts,
            effective=reply.effective,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            cost=reply.cost,
            latency_s=reply.latency_s,
        )
        self.store.put_call(row)
        if row.status not in SERVED:
            self._useless.add(row.key)
        self.progress.called(row.bill)
        return row

    def tell(self, notes: list[str], say: Callable[[str], None]) -> None:
        """Pass on sentences that were not said yet."""
        for note in notes:
            if note not in self._said:
                self._said.add(note)
                say(note)
