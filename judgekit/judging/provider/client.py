"""Turns a Request into a Reply: real HTTP through litellm, our parser, bounded re-asks in instructor's words.

The one file that imports litellm and instructor, and only inside functions: together they take four seconds to load.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import threading
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import fields
from functools import cache
from types import SimpleNamespace, TracebackType
from typing import Any

from pydantic import BaseModel

from judgekit.errors import ProviderError, UsageError
from judgekit.judging.provider.abilities import PLACEHOLDER, abilities_of, entry_of, provider_of
from judgekit.judging.provider.dialect import Family, family_of, to_dialect
from judgekit.judging.provider.endpoint import (
    bypass_proxies_for_localhost,
    endpoint_of,
    refuse_other_machines,
    resolve_base,
)
from judgekit.judging.provider.exchange import MODES, Exchange, Profile
from judgekit.judging.provider.faults import sort_out
from judgekit.judging.provider.local import LocalServer, local_model
from judgekit.judging.provider.parse import mended
from judgekit.judging.provider.prices import Price, given_price, listed_price
from judgekit.judging.provider.transport import Answer, Usage, counts_of, read_parts_of_content
from judgekit.judging.provider.types import JudgeSpec, Reply, Request
from judgekit.safety import is_loopback, known_secrets, local_only, looks_secret, strike, without_secrets

__all__ = ["Client", "open_client"]


def open_client(
    judge: JudgeSpec,
    *,
    timeout_s: float = 120.0,
    reasks: int = 2,
    max_chars: int | None = None,
    price_in: float | None = None,
    price_out: float | None = None,
    only_here: bool = False,
) -> Client:
    """A client for one judge; `async with` it before `send`. `request`, `price` and `count_tokens` need no entering.

    Parameters
    ----------
    judge : the model (``openai/gpt-5-mini``, ``hosted_vllm/...``, ``ollama_chat/...``, ``local/smollm2-135m``) and its sampling.
    timeout_s : seconds that one HTTP request may take, above 0.
    reasks : how often an unusable reply is asked again within one `send`, 0 or more (0: never).
    max_chars : lowers the length that the schema grants every text field to so many characters, 1 or more.
    price_in, price_out : US dollars a million tokens; both or neither. They win over the built-in price list.
    only_here : refuse a judge that is not asked on this machine; also without it where the environment says JUDGEKIT_LOCAL_ONLY.

    Raises UsageError for values out of range, ProviderError where no provider is known for the model.
    """
    if timeout_s <= 0:
        raise UsageError(f"the timeout is {timeout_s} s", mend="give a number of seconds above 0")
    if reasks < 0:
        raise UsageError(f"the number of re-asks is {reasks}", mend="give 0 or more")
    if max_chars is not None and max_chars < 1:
        raise UsageError(f"the length limit is {max_chars} characters", mend="give 1 or more")
    if local_only(only_here) and local_model(judge.model) is None:
        refuse_other_machines(judge.model, resolve_base(judge.model, judge.api_base))
    return Client(
        judge,
        timeout_s=timeout_s,
        reasks=reasks,
        max_chars=max_chars,
        price=given_price(price_in, price_out),
        only_here=only_here,
    )


class Client:
    """One judge, prepared once (schemas, parameters, prices), asked many times.

    Attributes
    ----------
    notes : sentences for the person at the screen, each said once (a parameter that the model refused, a mode given up).
    concurrency : the most requests that may be in flight at once; None where the scheduler is free to choose. `local/`: 1.
    endpoint : what stands for the address in keys.
    """

    def __init__(
        self,
        judge: JudgeSpec,
        *,
        timeout_s: float,
        reasks: int,
        max_chars: int | None,
        price: Price | None,
        only_here: bool = False,
    ) -> None:
        self.judge = judge
        self.notes: list[str] = []
        self.local = local_model(judge.model)
        self.concurrency: int | None = 1 if self.local else None
        self._timeout_s = timeout_s
        self._reasks = reasks
        self._max_chars = max_chars
        self._given_price = price
        self._only_here = only_here
        self._checked: set[str] = set()
        self._base = None if self.local else resolve_base(judge.model, judge.api_base)
        self._secrets = known_secrets([judge.api_base, self._base, judge.endpoint])
        self.endpoint: str = (
            without_secrets(judge.endpoint)
            if judge.endpoint
            else self.local.endpoint()
            if self.local
            else endpoint_of(judge.model, self._base)
        )
        self._no_keys_in(judge.sampling)
        self._family: Family = family_of(judge.model, custom_base=self._base is not None)
        self._dialects: dict[str, dict[str, Any]] = {}
        self._server: LocalServer | None = None
        self._exchange: Exchange | None = None

    async def __aenter__(self) -> Client:
        # loading takes seconds and a first use may fetch weights: neither may hold up other judges of the same loop
        if self.local is not None:
            given_up = threading.Event()
            try:
                self._server = await asyncio.to_thread(LocalServer.start, self.local, given_up.is_set)
            except asyncio.CancelledError:
                given_up.set()
                raise
        litellm = await asyncio.to_thread(_litellm)
        await asyncio.to_thread(_instructor)
        try:
            await self._open(litellm)
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def _open(self, litellm: Any) -> None:
        global _open_clients
        price = self._price()
        model, base = self.judge.model, self._base
        key: str | None = None
        modes: tuple[str, ...]
        unsupported: dict[str, str] = {}
        timeout_s = self._timeout_s
        if self._server is not None:
            model, key = f"openai/{self._server.name}", "none"
            timeout_s = max(timeout_s, _LOCAL_TIMEOUT_S)
            base = self._server.base
            modes = MODES[:1]
        else:
            modes, unsupported = abilities_of(litellm, model, base)
            if (
                base is not None
                and not os.environ.get("OPENAI_API_KEY")
                and provider_of(litellm, model, base) == "openai"
            ):
                key = "none"  # servers of one's own ask for none, and the SDK refuses to start without
        bypass_proxies_for_localhost(base)
        transport = _LitellmTransport(
            litellm, model, base, key, timeout_s, self.judge.model, self._clean, local_only(self._only_here)
        )
        profile = Profile(modes, unsupported, self.notes, self.judge.model)
        profile.seed_by_sample = self._server is not None
        if price is None:
            transport.register()
            if self._base is not None:
                self.notes.append(
                    f"the price of {self.judge.model} at {self.endpoint} is unknown: --price-in, --price-out"
                )
        self._exchange = Exchange(transport, profile, _reask, self._reasks, price, self.count_tokens)
        _open_clients += 1

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        global _open_clients
        if self._exchange is not None:
            self._exchange = None
            _open_clients -= 1
            if _open_clients == 0:  # litellm's connections are shared by all clients of the process
                await _close_connections()
        if self._server is not None:
            server, self._server = self._server, None
            await asyncio.shield(asyncio.to_thread(server.stop))

    def request(
        self,
        messages: list[dict[str, str]],
        schema_neutral: dict[str, Any] | None,
        sampling_defaults: dict[str, Any],
        sample: int = 0,
        judged: tuple[str, ...] = (),
        open_choices: frozenset[str] = frozenset(),
    ) -> Request:
        """The request as it will be sent: sampling merged, schema in the provider's dialect, endpoint set. No network.

        `judged` and `open_choices` are Request's.
        """
        sampling = {**sampling_defaults, **self.judge.sampling}
        self._no_keys_in(sampling)
        return Request(
            messages=messages,
            schema=None if schema_neutral is None else self._dialect(schema_neutral),
            model=self.judge.model,
            sampling={name: value for name, value in sampling.items() if value is not None},
            endpoint=self.endpoint,
            sample=sample,
            judged=judged,
            open_choices=open_choices,
        )

    def _no_keys_in(self, sampling: Mapping[str, Any]) -> None:
        """Sampling parameters are part of a judge's name and of what a run keeps: no key may stand there."""
        text = json.dumps(sampling, default=str)
        if text in self._checked:
            return
        for name, value in sampling.items():
            if name in _NO_SAMPLING or (looks_secret(name) and name != "prompt_cache_key"):
                raise UsageError(
                    f"{name} is no sampling parameter",
                    field="sampling",
                    mend="keys and addresses are read from the environment",
                )
            shown = json.dumps(value, default=str)
            if strike(shown, self._secrets) != shown:
                raise UsageError(
                    f"the sampling parameter {name} holds a key",
                    field="sampling",
                    mend="leave it out: a run would keep it",
                )
        self._checked.add(text)

    def _clean(self, value: Any) -> Any:
        """What a provider said, as it may be kept: halves of characters replaced, known key values struck out."""
        return strike(mended(value), self._secrets)

    def _dialect(self, neutral: dict[str, Any]) -> dict[str, Any]:
        key = json.dumps(neutral)  # unsorted: the order of properties is part of what is asked
        if key not in self._dialects:
            self._dialects[key] = to_dialect(neutral, self._family, max_chars=self._max_chars)
        return self._dialects[key]

    async def send(self, request: Request, model: type[BaseModel] | None) -> Reply:
        """Ask, read, re-ask where needed. `model` None: a writer of free text.

        Raises RateLimited (429), Transient (5xx, timeout, broken connection) and ProviderError (who we are, or what we ask
        for, is refused); everything else is a Reply with its status.
        """
        if self._exchange is None:
            raise RuntimeError("the client is not open: async with open_client(...) as client")
        reply = await self._exchange.run(request, model)
        reply.verdict = self._clean(reply.verdict)  # an escape in JSON can hide what its text did not show
        return reply

    def unfinished(self, request: Request) -> Reply | None:
        """What a call that was broken off has asked and may be billed; None where nothing reached the provider."""
        state = None if self._exchange is None else self._exchange.unfinished.get(request.key)
        return None if state is None else state.reply("error", "it did not end")

    def forget(self, request: Request) -> None:
        """The call is over, however it ended: nothing of it is taken up again."""
        if self._exchange is not None:
            self._exchange.unfinished.pop(request.key, None)

    def price(self, tokens_in: int, tokens_out: int) -> float | None:
        """US dollars for so many tokens at the given or the listed price; None where it is unknown; 0.0 for `local/`."""
        price = self._price()
        return None if price is None else price.of(tokens_in, tokens_out)

    def _price(self) -> Price | None:
        if self.local is not None:
            return Price(0.0, 0.0, "local")
        if self._given_price is not None:
            return self._given_price
        return _listed(self.judge.model, self._base)

    def count_tokens(self, messages: list[dict[str, str]]) -> int:
        """Tokens of a prompt: by litellm's counter for the model; where it has none, characters / 3 + 8 a message, rounded up.

        The estimate is meant to err on the high side for English text.
        """
        if self.local is None:
            try:
                return int(_litellm().token_counter(model=self.judge.model, messages=messages))
            except Exception:  # its counters raise whatever their tokenizers raise
                pass
        return sum(-(-len(str(message.get("content") or "")) // 3) + 8 for message in messages)


_NO_SAMPLING = {"api_base", "base_url", "headers", "extra_headers", "default_headers", "extra_query"}
_open_clients = 0
_LOCAL_TIMEOUT_S = 900.0  # at least: no network can hang here, and a busy machine may be slow


@cache
def _instructor() -> tuple[Any, Any]:
    """instructor's modes, and the function that writes a re-ask."""
    from instructor import Mode
    from instructor.processing.response import handle_reask_kwargs

    return Mode, handle_reask_kwargs


@cache
def _litellm() -> Any:
    """litellm, quiet: no price list from the network, no telemetry, callbacks, cache, retries or advice on the screen."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    # in its other mode it reads a .env file from wherever it is installed: a file must not move where answers are sent
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    import logging
    import warnings

    import litellm

    # The SDK's models complain on the screen about every reply that is not shaped to the letter; what a reply holds is
    # for the parser to judge.
    warnings.filterwarnings("ignore", message="Pydantic serializer warnings", category=UserWarning)

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.drop_params = False
    litellm.modify_params = False
    litellm.num_retries = None
    litellm.cache = None
    litellm.disable_hf_tokenizer_download = True
    for name in ("callbacks", "input_callback", "success_callback", "failure_callback"):
        setattr(litellm, name, [])
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "openai"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    read_parts_of_content(litellm)
    _guard_connections()
    return litellm


_only_here: ContextVar[bool] = ContextVar("only_here", default=False)


def _guard_connections() -> None:
    """Every connection that litellm opens refuses a redirect to another server and, under local-only, another machine."""
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler
    from litellm.llms.openai.common_utils import BaseOpenAILLM

    made, given = AsyncHTTPHandler.create_client, BaseOpenAILLM._get_async_http_client

    def create_client(self: Any, *args: Any, **kwargs: Any) -> Any:
        return _guarded(made(self, *args, **kwargs))

    def get_async_http_client(*args: Any, **kwargs: Any) -> Any:
        return _guarded(given(*args, **kwargs))

    AsyncHTTPHandler.create_client = create_client  # type: ignore[method-assign]
    BaseOpenAILLM._get_async_http_client = staticmethod(get_async_http_client)  # type: ignore[method-assign]


def _guarded(client: Any) -> Any:
    hooks = client.event_hooks
    if _before not in hooks["request"]:
        client.event_hooks = {"request": [*hooks["request"], _before], "response": [*hooks["response"], _after]}
    return client


async def _before(request: Any) -> None:
    if _only_here.get():
        refuse_other_machines("the judge", str(request.url))


async def _after(response: Any) -> None:
    if not response.has_redirect_location:
        return
    here, there = response.request.url, response.request.url.join(response.headers["location"])
    if (here.scheme, here.host, here.port) != (there.scheme, there.host, there.port):
        raise ProviderError(
            f"{here.scheme}://{here.netloc.decode()} sends us on to {there.scheme}://{there.netloc.decode()}, which nobody named: not followed",
            mend="if you trust that server, give its own address with --api-base",
        )


async def _close_connections() -> None:
    litellm = _litellm()
    await litellm.close_litellm_async_clients()
    litellm.in_memory_llm_clients_cache.flush_cache()  # a closed client must not be found again by the next run


@cache
def _listed(model: str, base: str | None) -> Price | None:
    """The listed price; none for ``openai/`` models at another address, which may bill by any price."""
    litellm = _litellm()
    provider = provider_of(litellm, model, base)
    if base is not None and (provider == "openai" or is_loopback(base)):
        return None
    return listed_price(entry_of(litellm, model, provider))


def _reask(messages: list[dict[str, Any]], mode: str, answer: Answer, problem: str) -> list[dict[str, Any]]:
    """The next try's messages, in instructor's words; what it would send on that providers refuse is left out.

    An empty reply and unreadable tool arguments are not quoted back (some providers refuse an empty assistant turn or
    arguments that are no JSON), nor is a reply of more than 20,000 characters.
    """
    Mode, handle_reask_kwargs = _instructor()
    quoted: SimpleNamespace | None = None
    if _can_be_quoted(answer):
        calls = [
            SimpleNamespace(id=call["id"], function=SimpleNamespace(name=call["name"], arguments=call["arguments"]))
            for call in answer.tools
        ]
        dumped = [
            {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["arguments"]}}
            for call in answer.tools
        ]
        message = SimpleNamespace(
            role="assistant",
            content=answer.text,
            tool_calls=calls or None,
            model_dump=lambda: {"tool_calls": dumped},
        )
        quoted = SimpleNamespace(choices=[SimpleNamespace(message=message)])
    modes = {"json_schema": Mode.JSON_SCHEMA, "tools": Mode.TOOLS, "json": Mode.JSON, "prompt": Mode.MD_JSON}
    kind = Mode.TOOLS if answer.tools and quoted is not None else modes[mode]
    kwargs = handle_reask_kwargs({"messages": list(messages)}, kind, quoted, ValueError(problem))
    new: list[dict[str, Any]] = kwargs["messages"]
    return new


def _can_be_quoted(answer: Answer) -> bool:
    if sum(len(call["arguments"]) for call in answer.tools) + len(answer.text or "") > 20_000:
        return False
    if not answer.tools:
        return bool((answer.text or "").strip())
    try:
        return all(isinstance(json.loads(call["arguments"]), dict) and call["id"] for call in answer.tools)
    except (ValueError, RecursionError):
        return False


class _LitellmTransport:
    """The transport over litellm.acompletion: one HTTP request a call, never a retry of its own."""

    def __init__(
        self,
        litellm: Any,
        model: str,
        base: str | None,
        key: str | None,
        timeout_s: float,
        shown: str,
        clean: Callable[[Any], Any],
        only_here: bool,
    ) -> None:
        self.litellm = litellm
        self.model = model
        self.base = base
        self.shown = shown
        self.clean = clean
        self.only_here = only_here
        self.fixed: dict[str, Any] = {"model": model, "timeout": timeout_s, "num_retries": 0, "max_retries": 0}
        if base is not None:
            self.fixed["api_base"] = base
        if key is not None:
            self.fixed["api_key"] = key

    def register(self) -> None:
        """Put a model of unknown price on litellm's list, which spares a failing search after each reply; our cost stays None."""
        provider = provider_of(self.litellm, self.model, self.base)
        if entry_of(self.litellm, self.model, provider) is None and self.model not in self.litellm.model_cost:
            price = {"input_cost_per_token": 0.0, "output_cost_per_token": 0.0, PLACEHOLDER: True}
            self.litellm.register_model({self.model: {**price, "litellm_provider": provider, "mode": "chat"}})

    async def post(self, body: Mapping[str, Any]) -> Answer:
        _only_here.set(self.only_here)
        try:
            answer = _answer(await self.litellm.acompletion(**self.fixed, **mended(dict(body))))
        except Exception as error:
            # Without its causes: a notebook shows them, and they hold what the provider said word for word.
            raise sort_out(error, self.shown, self.base, self._missing_keys, self.clean) from None
        return Answer(**{field.name: self.clean(getattr(answer, field.name)) for field in fields(answer)})

    def _missing_keys(self) -> list[str]:
        try:
            return [str(key) for key in self.litellm.validate_environment(model=self.model)["missing_keys"]]
        except Exception:  # it knows some providers only; the error that is being told matters more
            return []


def _answer(reply: Any) -> Answer:
    model = getattr(reply, "model", None)
    if not reply.choices:
        return Answer(None, usage=_usage(reply, silent=False), model=model, choices=0)
    choice = reply.choices[0]
    message = choice.message
    silent = not (message.content or message.tool_calls or getattr(message, "reasoning_content", None))
    tools = [
        {"id": call.id or "", "name": call.function.name or "", "arguments": _arguments(call.function.arguments)}
        for call in message.tool_calls or []
    ]
    return Answer(
        text=message.content,
        tools=tools,
        refusal=getattr(message, "refusal", None),
        finish_reason=choice.finish_reason,
        usage=_usage(reply, silent=silent),
        model=model,
        reasoning=getattr(message, "reasoning_content", None) or None,
        choices=len(reply.choices),
        logprobs=_logprobs(getattr(choice, "logprobs", None)),
    )


def _usage(reply: Any, *, silent: bool) -> Usage:
    """What the reply says that it used. litellm writes 0 where the provider did not say; only a silent reply can have used 0."""
    usage = getattr(reply, "usage", None)
    given: dict[str, Any] = {} if usage is None else usage.model_dump()
    tokens_in, tokens_out = counts_of(given)
    cost = (getattr(reply, "_hidden_params", None) or {}).get("response_cost")
    sound = isinstance(cost, int | float) and 0 <= cost < math.inf
    return Usage(
        tokens_in or None, tokens_out if tokens_out or (silent and tokens_in) else None, cost if sound else None
    )


def _logprobs(given: Any) -> list[dict[str, Any]] | None:
    content = getattr(given, "content", None)
    if not content:
        return None
    return [
        {"token": one.token, "logprob": one.logprob, "top": {top.token: top.logprob for top in one.top_logprobs or []}}
        for one in content
    ]


def _arguments(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
