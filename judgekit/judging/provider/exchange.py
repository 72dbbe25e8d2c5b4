"""One call from its first request to its Reply: structured modes, refused parameters, reading, re-asks, statuses."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ValidationError

from judgekit.judging.provider.parse import describe, mend_surrogates, read_parts, stands_in, without_thinking
from judgekit.judging.provider.prices import Price, max_tokens, total, total_bill
from judgekit.judging.provider.transport import (
    Answer,
    Filtered,
    Rejected,
    TooLong,
    Transport,
    Usage,
    refused_parameters,
)
from judgekit.judging.provider.types import RateLimited, Reply, Request, Transient, may_ask_again
from judgekit.runs.model import Bill

__all__ = ["MODES", "Exchange", "Profile", "Reask", "Unfinished"]

MODES = ("json_schema", "tools", "json", "prompt")  # best first; "text" where no schema is asked for
_RENAMES = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
_MAX_REJECTIONS = 12  # each one must change the request, so this is never reached unless a provider contradicts itself

# (messages so far, mode, the answer, what is wrong with it) -> messages of the next try
Reask = Callable[[list[dict[str, Any]], str, Answer, str], list[dict[str, Any]]]


class Profile:
    """What has been learnt about a model: its mode, and the parameters that it refuses. One a client, shared by its calls."""

    def __init__(self, modes: tuple[str, ...], unsupported: Mapping[str, str], notes: list[str], model: str) -> None:
        self.modes = list(modes)
        self.dropped: dict[str, str] = dict(unsupported)  # parameter -> why
        self.renamed: dict[str, str] = {}
        self.notes = notes
        self.model = model
        self.seed_by_sample = (
            False  # the embedded judge: sample n is drawn with seed n, so that it repeats and samples differ
        )
        self._structures: dict[tuple[str, str], dict[str, Any]] = {}

    @property
    def mode(self) -> str:
        return self.modes[0]

    def sampling(self, requested: Mapping[str, Any], sample: int = 0) -> dict[str, Any]:
        """The requested parameters as they are sent to this model."""
        sent: dict[str, Any] = {"seed": sample} if self.seed_by_sample else {}
        for name, value in requested.items():
            name = self.renamed.get(name, name)
            if value is None:
                continue
            if name in self.dropped:
                self.say(f"{self.model} takes no {name}: sent without it ({self.dropped[name]})")
                continue
            sent[name] = value
        return sent

    def structure(self, mode: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters that ask for the schema; the same object each time, so that nothing is prepared twice."""
        key = (mode, json.dumps(schema))
        if key not in self._structures:
            self._structures[key] = _structure(mode, schema)
        return self._structures[key]

    def learn(self, rejected: Rejected, sent: Mapping[str, Any], mode: str) -> bool:
        """Take a rejection to heart; False where it names nothing that can be left out."""
        learnt = False
        for name in refused_parameters(rejected, sent):
            if name in {"response_format", "tools", "tool_choice"}:
                learnt = self.step_down(mode, rejected.message) or learnt
            elif name in sent:
                other = _RENAMES.get(name)
                asked = next((old for old, new in self.renamed.items() if new == name), name)
                if other is not None and other in rejected.message and asked not in self.renamed:
                    self.renamed[asked] = other
                else:
                    self.dropped[name] = _first_line(rejected.message)
                learnt = True
        return learnt

    def step_down(self, mode: str, why: str) -> bool:
        """Give up a structured mode for the next one; True also where another call has done so meanwhile."""
        if mode not in self.modes:
            return True
        if len(self.modes) == 1 or mode == "prompt":
            return False
        self.modes.remove(mode)
        self.say(f"{self.model} refused the structured mode {mode}, {self.mode} is used: {_first_line(why)}")
        return True

    def say(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


@dataclass(slots=True)
class Unfinished:
    """What a call has asked and paid so far; it outlives a rate limit between two tries."""

    messages: list[dict[str, Any]]
    attempts: list[dict[str, Any]] = field(default_factory=list)
    usages: list[Usage] = field(default_factory=list)
    bills: list[Bill] = field(default_factory=list)  # of every try that reached the provider
    flags: list[str] = field(default_factory=list)
    text: str | None = None
    seconds: float = 0.0
    effective: dict[str, Any] = field(default_factory=dict)

    def reply(self, status: str, reason: str | None = None, verdict: dict[str, Any] | None = None) -> Reply:
        if len(self.attempts) > 1 and "reasked" not in self.flags:
            self.flags.append("reasked")
        # a request that is refused as it stands is not billed; what a filter stopped may be
        free = not self.bills
        bill = total_bill(self.bills)
        bounds = {} if bill.at_most is None or bill.exact is not None else {"bill": [bill.at_least, bill.at_most]}
        return Reply(
            status=status,
            text=self.text,
            verdict=verdict,
            reason=reason,
            flags=list(self.flags),
            attempts=list(self.attempts),
            effective={**self.effective, **bounds},
            tokens_in=0 if free else total([usage.tokens_in for usage in self.usages]),
            tokens_out=0 if free else total([usage.tokens_out for usage in self.usages]),
            cost=bill.exact,
            latency_s=round(self.seconds, 4) if self.bills else None,
        )


@dataclass(slots=True)
class Exchange:
    """Everything that a call needs and that does not change from one call to the next."""

    transport: Transport
    profile: Profile
    reask: Reask
    reasks: int
    price: Price | None
    count: Callable[[list[dict[str, Any]]], int]  # tokens of messages
    unfinished: dict[str, Unfinished] = field(default_factory=dict)

    async def run(self, request: Request, model: type[BaseModel] | None) -> Reply:
        """The Reply of one call; RateLimited and Transient carry what was paid before, and the next try goes on there."""
        key = request.key
        state = self.unfinished.pop(key, None) or Unfinished([dict(message) for message in request.messages])
        try:
            return await self._run(request, model, state)
        except BaseException as error:  # also a call that is dropped: it may be billed all the same
            if state.attempts or state.bills:
                self.unfinished[key] = state
                if isinstance(error, RateLimited | Transient):
                    error.partial = state.reply("error", str(error))
            raise

    async def _run(self, request: Request, model: type[BaseModel] | None, state: Unfinished) -> Reply:
        rejections = 0
        while True:
            mode = self.profile.mode if request.schema is not None else "text"
            sampling = self.profile.sampling(request.sampling, request.sample)
            body = self._body(request, mode, sampling, state)
            began = time.monotonic()
            try:
                answer = await self.transport.post(body)
            except Rejected as rejected:
                rejections += 1
                if rejections <= _MAX_REJECTIONS and self.profile.learn(rejected, sampling, mode):
                    continue
                return state.reply("error", f"the provider refused the request: {rejected.message}")
            except TooLong as error:
                return state.reply("error", f"the prompt does not fit the model's context: {error}")
            except Filtered as error:
                state.bills.append(self._set_aside(body, sampling))
                return state.reply("filtered", f"the provider's filter refused the prompt: {error}")
            except RateLimited:
                raise
            except (Transient, asyncio.CancelledError) as error:
                if getattr(error, "sent", True):
                    state.bills.append(self._set_aside(body, sampling))
                raise
            finally:
                state.seconds += time.monotonic() - began
            if answer.model is not None:
                state.effective["answered_by"] = answer.model
            done = self._settle(answer, request, model, mode, state, body)
            if done is not None:
                return done
            permit = may_ask_again.get()
            if permit is not None and not permit():
                problem = state.attempts[-1]["problem"]
                return state.reply("invalid", f"{problem} (not asked again: that might have passed the budget)")

    def _body(self, request: Request, mode: str, sampling: dict[str, Any], state: Unfinished) -> dict[str, Any]:
        messages: list[dict[str, Any]] = state.messages
        structure: dict[str, Any] = {}
        if request.schema is not None:
            structure = self.profile.structure(mode, request.schema)
            if mode in {"json", "prompt"}:
                messages = _with_schema(messages, _without_labels(request.schema, request.open_choices))
        state.effective = {
            **({"answered_by": state.effective["answered_by"]} if "answered_by" in state.effective else {}),
            "mode": mode,
            "params": dict(sampling),
            "dropped": sorted(
                name
                for name, value in request.sampling.items()
                if value is not None and self.profile.renamed.get(name, name) not in sampling
            ),
        }
        return {"messages": messages, **sampling, **structure}

    def _settle(
        self,
        answer: Answer,
        request: Request,
        model: type[BaseModel] | None,
        mode: str,
        state: Unfinished,
        body: Mapping[str, Any],
    ) -> Reply | None:
        """The Reply where the call is over; None where it is asked again (the state then holds the next messages)."""
        text = _raw(answer)
        state.text = text
        status, problem, verdict = self._read(answer, text, request, model, state)
        usage = _believable(answer.usage, body)
        bill = self._bill(usage, body, state.effective["params"])
        state.usages.append(usage)
        state.bills.append(bill)
        state.attempts.append(
            {
                "text": text,
                "problem": problem,
                "finish_reason": answer.finish_reason,
                "usage": {"tokens_in": usage.tokens_in, "tokens_out": usage.tokens_out, "cost": bill.exact},
                **({} if answer.logprobs is None else {"logprobs": answer.logprobs}),
                **({"reasoning": mend_surrogates(answer.reasoning)} if answer.reasoning and not text else {}),
            }
        )
        if status != "again":
            return state.reply(status, problem, verdict)
        if len(state.attempts) > self.reasks:
            return state.reply("invalid", problem)
        if request.schema is not None:
            words = problem or ""
            if words.startswith("no JSON object") and mode in {"json_schema", "tools"}:
                # the provider took the schema and did not hold the model to it, so the model has never seen it
                words += "\nThe object must match this JSON schema:\n" + json.dumps(request.schema, ensure_ascii=False)
            state.messages = self.reask(state.messages, mode, answer, words)
        return None

    def _read(
        self, answer: Answer, text: str | None, request: Request, model: type[BaseModel] | None, state: Unfinished
    ) -> tuple[str, str | None, dict[str, Any] | None]:
        cut = answer.finish_reason in {"length", "max_tokens"}
        if answer.refusal:
            state.text = text or answer.refusal
            return "refused", f"the model refused: {answer.refusal[:500]}", None
        if answer.finish_reason == "refusal":
            return "refused", "the model refused", None
        if answer.finish_reason == "content_filter":
            return "filtered", "the provider's filter stopped the reply", None
        if request.schema is None and model is None:
            return self._read_text(answer, state, cut)
        reading = read_parts(answer.text, [call["arguments"] for call in answer.tools])
        if reading.conflict and "conflict" not in state.flags:
            state.flags.append("conflict")
        problem, verdict = reading.problem, reading.object
        if verdict is not None and request.schema is not None and stands_in(verdict, request.judged):
            # Quoted or copied: that is what somebody wishes the verdict to be, and not the judge's own.
            problem = "the JSON object stands in the material that is judged, so it is no verdict: write your own"
            verdict = None
            if "quoted" not in state.flags:
                state.flags.append("quoted")
        if verdict is not None and model is not None:
            try:
                verdict = model.model_validate(verdict).model_dump(mode="json", by_alias=True)
            except ValidationError as error:
                problem, verdict = describe(error), None
        if verdict is not None:
            if cut:
                state.flags.append("finish_length")
            return "ok", None, verdict
        if cut:
            return "truncated", f"{_cut_reason(answer, state)}: {problem}", None
        if answer.choices == 0:
            problem = "the provider's answer holds no reply"
        elif problem == "the reply is empty" and answer.reasoning:
            problem = "the reply is empty: there is reasoning, and no answer after it"
        return "again", problem, None

    def _read_text(self, answer: Answer, state: Unfinished, cut: bool) -> tuple[str, str | None, dict[str, Any] | None]:
        said = without_thinking(answer.text)
        state.text = said
        if cut:
            return "truncated", _cut_reason(answer, state), None
        if said is None or not said.strip():
            return "again", "the reply is empty", None
        return "ok", None, None

    def _bill(self, usage: Usage, body: Mapping[str, Any], sampling: Mapping[str, Any]) -> Bill:
        """What an answer was billed; bounds where it does not say what it used, or not all of it."""
        if self.price is None:
            return Bill(0.0, None)
        cost = self.price.of(usage.tokens_in, usage.tokens_out)
        if self.price.source == "listed" and cost is not None and usage.cost is not None:
            cost = usage.cost  # the transport's own figure knows of cached tokens
        if cost is not None:
            return Bill(cost, cost)
        least = self.price.of(usage.tokens_in or 0, usage.tokens_out or 0) or 0.0
        return Bill(least, max(least, self._set_aside(body, sampling, usage).at_most or 0.0))

    def _set_aside(self, body: Mapping[str, Any], sampling: Mapping[str, Any], known: Usage | None = None) -> Bill:
        """From nothing to the most that a request may cost: all its prompt and the longest reply, where they are not `known`."""
        if self.price is None:
            return Bill(0.0, None)
        known = known or Usage()
        tokens_in = self.count(body["messages"]) if known.tokens_in is None else known.tokens_in
        tokens_out = max_tokens(sampling) if known.tokens_out is None else known.tokens_out
        return Bill(0.0, self.price.of(tokens_in, tokens_out))


def _believable(usage: Usage, body: Mapping[str, Any]) -> Usage:
    """The usage without a prompt of more tokens than its bytes could be, four times over."""
    if usage.tokens_in is None or usage.tokens_in <= 4 * len(json.dumps(body, default=str)) + 10_000:
        return usage
    return Usage(None, usage.tokens_out)


def _structure(mode: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    if mode == "json_schema":
        named = {"name": "verdict", "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    if mode == "tools":
        function = {"name": "verdict", "description": "Give the verdict.", "parameters": schema}
        choice = {"type": "function", "function": {"name": "verdict"}}
        return {"tools": [{"type": "function", "function": function}], "tool_choice": choice}
    if mode == "json":
        return {"response_format": {"type": "json_object"}}
    return {}


def _with_schema(messages: list[dict[str, Any]], schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The schema in the system message, where judged text never stands."""
    words = (
        "Reply with one JSON object and nothing else. It must match this JSON schema (give an instance, not the schema):\n"
        + json.dumps(schema, ensure_ascii=False)
    )
    if messages and messages[0]["role"] == "system":
        return [{**messages[0], "content": f"{messages[0]['content']}\n\n{words}"}, *messages[1:]]
    return [{"role": "system", "content": words}, *messages]


def _without_labels(schema: Mapping[str, Any], names: frozenset[str]) -> Mapping[str, Any]:
    """The schema without the labels of choices that a record gives: they stand fenced in the user's message."""
    if not names:
        return schema
    out = dict(schema)
    if "properties" in out:
        out["properties"] = {
            name: {key: value for key, value in part.items() if key != "enum"}
            if name in names
            else _without_labels(part, names)
            for name, part in out["properties"].items()
        }
    if isinstance(out.get("items"), Mapping):
        out["items"] = _without_labels(out["items"], names)
    return out


def _raw(answer: Answer) -> str | None:
    parts = [answer.text] if answer.text else []
    parts += [call["arguments"] for call in answer.tools]
    return mend_surrogates("\n".join(parts)) if parts else answer.text


def _cut_reason(answer: Answer, state: Unfinished) -> str:
    params = state.effective.get("params", {})
    limit = params.get("max_tokens", params.get("max_completion_tokens"))
    where = "at the model's own limit" if limit is None else f"at max_tokens={limit}"
    if answer.reasoning and not (answer.text or "").strip():
        return f"the model thought until it was cut {where}, and had not begun its reply"
    return f"the reply was cut {where}"


def _first_line(text: str) -> str:
    """The first line, without a library's advice on its own settings, which a user of ours cannot follow."""
    return (text.strip().splitlines() or [""])[0].partition(" To drop unsupported params")[0][:300]
