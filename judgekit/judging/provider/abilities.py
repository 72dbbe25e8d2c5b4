"""What is known of a model before it is asked: its provider, its entry in litellm's list, its modes and parameters.

litellm comes in as an argument: `client.py` is its one door.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgekit.errors import ProviderError
from judgekit.judging.provider.exchange import MODES

__all__ = ["PLACEHOLDER", "abilities_of", "entry_of", "provider_of"]

PLACEHOLDER = "judgekit_price_unknown"  # marks entries of ours in litellm's list: their prices are no prices


def provider_of(litellm: Any, model: str, base: str | None) -> str:
    try:
        return str(litellm.get_llm_provider(model=model, api_base=base)[1])
    except litellm.BadRequestError as error:
        raise ProviderError(
            f"no provider is known for the model {model}",
            field="model",
            mend="write PROVIDER/MODEL, as in openai/gpt-5-mini, anthropic/claude-sonnet-4-5, ollama_chat/llama3.1, "
            "or openai/NAME with --api-base for any OpenAI-compatible server",
        ) from error


def entry_of(litellm: Any, model: str, provider: str) -> Mapping[str, Any] | None:
    name = model.split("/", 1)[1] if model.startswith(f"{provider}/") else model
    for key in (model, f"{provider}/{name}", name):
        entry = litellm.model_cost.get(key)
        if (
            entry is not None
            and PLACEHOLDER not in entry
            and (entry.get("litellm_provider") or provider).startswith(provider.split("_")[0])
        ):
            found: Mapping[str, Any] = entry
            return found
    return None


def abilities_of(litellm: Any, model: str, base: str | None) -> tuple[tuple[str, ...], dict[str, str]]:
    """The structured modes to try, best first, and the parameters that the model is known not to take."""
    provider = provider_of(litellm, model, base)
    name = model.split("/", 1)[1] if model.startswith(f"{provider}/") else model
    takes = litellm.get_supported_openai_params(model=name, custom_llm_provider=provider)
    known = entry_of(litellm, model, provider) if base is None or provider != "openai" else None
    modes = list(MODES)
    if takes is not None:
        if "tools" not in takes or "tool_choice" not in takes:
            modes.remove("tools")
        if "response_format" not in takes:
            modes = [mode for mode in modes if mode in {"tools", "prompt"}]
    if known is not None and "json_schema" in modes and provider == "openai":
        # OpenAI's older models know JSON mode and tools only; elsewhere litellm translates the schema to what there is
        if not litellm.supports_response_schema(model=name, custom_llm_provider=provider):
            modes.remove("json_schema")
        if not known.get("supports_function_calling") and "tools" in modes:
            modes.remove("tools")
    unsupported = {}
    if takes is not None:
        ours = (
            "temperature",
            "top_p",
            "seed",
            "stop",
            "presence_penalty",
            "frequency_penalty",
            "n",
            "logprobs",
            "top_logprobs",
        )
        unsupported = {name: f"{provider} does not list it for this model" for name in ours if name not in takes}
    return tuple(modes), unsupported
