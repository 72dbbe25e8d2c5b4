"""A scripted provider: a real HTTP server on 127.0.0.1 that speaks the chat-completions protocol and plays a script.

At the paths of Anthropic's, Gemini's and Ollama's own protocols (give `provider.root` as `api_base`) it answers in theirs.

    def test_it(provider):
        provider.script = ["not json", '{"score": 4}']           # in order; the last one repeats
        provider.script = lambda body, n: Say(status=429, headers={"Retry-After": "1"}) if n == 0 else '{"score": 4}'
        ... client with model="openai/fake", api_base=provider.base ...
        assert provider.count == 2
        assert provider.bodies[0]["temperature"] == 0

`n` counts requests from 0 in the order of their arrival. Everything that came in is in `provider.got`.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from aiohttp import web

__all__ = ["AUTO", "Got", "Provider", "Say"]

AUTO: dict[str, int] = {"prompt_tokens": -1}  # usage estimated from the texts' lengths


@dataclasses.dataclass
class Say:
    """One answer of the provider.

    `text` is the message's content; `tools` are tool calls as (name, arguments as JSON text); `usage` None leaves usage
    out; `body` (dict: sent as JSON; text or bytes: sent as they are, with `content_type`) replaces the completion; an error
    status without a body gets the usual error object with `text` as its message. `delay` is in seconds. `hang_up` closes
    the connection without an answer.
    """

    text: str | None = None
    status: int = 200
    headers: dict[str, str] = dataclasses.field(default_factory=dict)
    delay: float = 0.0
    tools: Sequence[tuple[str, str]] = ()
    finish_reason: str | None = "stop"
    refusal: str | None = None
    reasoning: str | None = None
    usage: dict[str, Any] | None = dataclasses.field(default_factory=lambda: dict(AUTO))
    choices: bool = True
    body: Any = None
    content_type: str = "application/json"
    code: str | None = None  # of the error object
    param: str | None = None
    hang_up: bool = False


@dataclasses.dataclass(frozen=True)
class Got:
    """One request as it came in."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    at: float  # time.monotonic()


Script = str | Say | Sequence["str | Say"] | Callable[[dict[str, Any], int], "str | Say"]


class Provider:
    """Start with `start()`, end with `stop()`; the `provider` fixture does both. Port is chosen by the system."""

    def __init__(self, script: Script = "{}") -> None:
        self.script: Script = script
        self.got: list[Got] = []
        self.in_flight = 0
        self.high_water = 0  # most requests ever in flight at once
        self.port = 0
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="fake-provider", daemon=True)
        self._stop: asyncio.Event | None = None

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base(self) -> str:
        """What to give as `api_base`."""
        return f"{self.root}/v1"

    @property
    def count(self) -> int:
        return len(self.got)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [one.body for one in self.got]

    def reset(self, script: Script | None = None) -> None:
        """Forget what came in; a script may be given for what comes next."""
        self.got.clear()
        self.high_water = self.in_flight
        if script is not None:
            self.script = script

    def start(self) -> Provider:
        self._thread.start()
        if not self._ready.wait(10):
            raise RuntimeError("the fake provider did not start")
        return self

    def stop(self) -> None:
        if self._thread.is_alive():
            assert self._stop is not None
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(10)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._main())
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.close()

    async def _main(self) -> None:
        self._stop = asyncio.Event()
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_route("POST", "/{path:.*}", self._answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
        await site.start()
        self.port = runner.addresses[0][1]
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    def _choose(self, body: dict[str, Any], n: int) -> Say:
        script = self.script
        if callable(script):
            said = script(body, n)
        elif isinstance(script, str | Say):
            said = script
        else:
            said = script[min(n, len(script) - 1)]
        return Say(text=said) if isinstance(said, str) else said

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.in_flight += 1
        self.high_water = max(self.high_water, self.in_flight)
        try:
            body = json.loads(await request.read() or b"{}")
            n = len(self.got)
            self.got.append(Got(request.path, dict(request.headers), body, time.monotonic()))
            try:
                say = self._choose(body, n)
            except Exception as error:  # a script that fails must be seen in the test, not taken for a provider's fault
                say = Say(f"the test's script failed: {error!r}", status=400)
            if say.delay:
                await asyncio.sleep(say.delay)
            if say.hang_up:
                assert request.transport is not None
                request.transport.close()
                return web.Response(status=500)
            payload = self._payload(request.path, body, n, say)
            return web.Response(
                status=say.status,
                body=payload,
                headers={"Content-Type": say.content_type, **say.headers},
            )
        finally:
            self.in_flight -= 1

    def _payload(self, path: str, body: dict[str, Any], n: int, say: Say) -> bytes:
        if isinstance(say.body, bytes):
            return say.body
        if isinstance(say.body, str):
            return say.body.encode()
        if say.body is not None:
            return json.dumps(say.body).encode()
        if say.status >= 400:
            error = {"message": say.text or "error", "type": "error", "param": say.param, "code": say.code}
            return json.dumps({"error": error}).encode()
        shape = _shape(path)
        return json.dumps(shape(body, n, say), ensure_ascii=False).encode("utf-8", "surrogatepass")


def _shape(path: str) -> Callable[[dict[str, Any], int, Say], dict[str, Any]]:
    """What a provider answers with is known by the path that its clients ask."""
    if path.endswith("/messages"):
        return _anthropic
    if ":generateContent" in path:
        return _gemini
    if path.startswith("/api/"):
        return _ollama
    return _completion


def _usage(body: dict[str, Any], say: Say) -> tuple[int, int]:
    if say.usage is not None and say.usage != AUTO:
        return say.usage["prompt_tokens"], say.usage["completion_tokens"]
    return len(json.dumps(body)) // 4 + 1, len(say.text or "") // 4 + 1


def _anthropic(body: dict[str, Any], n: int, say: Say) -> dict[str, Any]:
    reasons = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}
    content: list[dict[str, Any]] = [{"type": "text", "text": say.text}] if say.text is not None else []
    for i, (name, arguments) in enumerate(say.tools):
        content.append({"type": "tool_use", "id": f"toolu_{i}", "name": name, "input": json.loads(arguments)})
    tokens_in, tokens_out = _usage(body, say)
    return {
        "id": f"msg_{n}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": "tool_use" if say.tools else reasons.get(say.finish_reason or "", say.finish_reason),
        "stop_sequence": None,
        "usage": {"input_tokens": tokens_in, "output_tokens": tokens_out},
    }


def _gemini(body: dict[str, Any], n: int, say: Say) -> dict[str, Any]:
    reasons = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}
    tokens_in, tokens_out = _usage(body, say)
    parts = [{"text": say.text}] if say.text is not None else []
    return {
        "candidates": [
            {
                "content": {"role": "model", "parts": parts},
                "finishReason": reasons.get(say.finish_reason or "", say.finish_reason),
                "index": 0,
            }
        ],
        "usageMetadata": {
            "promptTokenCount": tokens_in,
            "candidatesTokenCount": tokens_out,
            "totalTokenCount": tokens_in + tokens_out,
        },
        "modelVersion": "fake",
    }


def _ollama(body: dict[str, Any], n: int, say: Say) -> dict[str, Any]:
    tokens_in, tokens_out = _usage(body, say)
    return {
        "model": body.get("model", "fake"),
        "created_at": "2026-11-01T00:00:00Z",
        "message": {"role": "assistant", "content": say.text or ""},
        "response": say.text or "",
        "done": True,
        "done_reason": say.finish_reason,
        "prompt_eval_count": tokens_in,
        "eval_count": tokens_out,
    }


def _completion(body: dict[str, Any], n: int, say: Say) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": say.text}
    if say.refusal is not None:
        message["refusal"] = say.refusal
    if say.reasoning is not None:
        message["reasoning_content"] = say.reasoning
    if say.tools:
        message["tool_calls"] = [
            {"id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for i, (name, arguments) in enumerate(say.tools)
        ]
    full: dict[str, Any] = {
        "id": f"chatcmpl-{n}",
        "object": "chat.completion",
        "created": 1_800_000_000,
        "model": body.get("model", "fake"),
        "choices": [{"index": 0, "message": message, "finish_reason": say.finish_reason}] if say.choices else [],
    }
    if say.usage is not None:
        usage = say.usage
        if usage == AUTO:
            tokens_in = sum(len(str(turn.get("content") or "")) for turn in body.get("messages", [])) // 4 + 1
            tokens_out = len(say.text or "") // 4 + 1
            usage = {
                "prompt_tokens": tokens_in,
                "completion_tokens": tokens_out,
                "total_tokens": tokens_in + tokens_out,
            }
        full["usage"] = usage
    return full
