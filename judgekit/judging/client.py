"""Turns a Request into a Reply: real HTTP through litellm, our parser, bounded re-asks in instructor's words."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from pydantic import BaseModel

from judgekit.judging.types import JudgeSpec, Reply, Request

__all__ = ["Client", "open_client"]


def open_client(
    judge: JudgeSpec,
    *,
    timeout_s: float = 120.0,
    reasks: int = 2,
    max_chars: int | None = None,
    price_in: float | None = None,
    price_out: float | None = None,
) -> Client:
    """A client for one judge; `async with` it before `send`. `request`, `price` and `count_tokens` need no entering.

    Parameters
    ----------
    judge : the model (``openai/gpt-5-mini``, ``hosted_vllm/...``, ``ollama_chat/...``, ``local/smollm2-135m``) and its sampling.
    timeout_s : seconds that one HTTP request may take.
    reasks : how often an unusable reply is asked again within one `send` (0: never).
    max_chars : lowers the length that the schema grants every text field, where the provider honours lengths.
    price_in, price_out : US dollars a million tokens; both or neither. They win over the built-in price list.
    """
    raise NotImplementedError


class Client:
    """One judge, prepared once (schemas, parameters, prices), asked many times.

    Attributes
    ----------
    notes : sentences for the person at the screen, each said once (a parameter that the model refused, a mode given up).
    concurrency : the most requests that may be in flight at once; None where the scheduler is free to choose. `local/`: 1.
    endpoint : what stands for the address in keys.
    """

    judge: JudgeSpec
    notes: list[str]
    concurrency: int | None
    endpoint: str

    async def __aenter__(self) -> Client:
        raise NotImplementedError

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        raise NotImplementedError

    def request(
        self,
        messages: list[dict[str, str]],
        schema_neutral: dict[str, Any] | None,
        sampling_defaults: dict[str, Any],
        sample: int = 0,
    ) -> Request:
        """The request as it will be sent: sampling merged, schema in the provider's dialect, endpoint set. No network."""
        raise NotImplementedError

    async def send(self, request: Request, model: type[BaseModel] | None) -> Reply:
        """Ask, read, re-ask where needed. `model` None: a writer of free text.

        Raises RateLimited (429), Transient (5xx, timeout, broken connection) and ProviderError (who we are, or what we ask
        for, is refused); everything else is a Reply with its status.
        """
        raise NotImplementedError

    def price(self, tokens_in: int, tokens_out: int) -> float | None:
        """US dollars for so many tokens; None where the price is unknown; 0.0 for `local/`."""
        raise NotImplementedError

    def count_tokens(self, messages: list[dict[str, str]]) -> int:
        """Tokens of a prompt: the model's own tokenizer where litellm has it, else an estimate."""
        raise NotImplementedError
