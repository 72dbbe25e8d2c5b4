"""Next-token probabilities of options under the embedded judge: the engine gives the whole vocabulary's, nothing is sampled."""

from __future__ import annotations

import json
import math
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from judgekit.errors import InputError, ProviderError
from judgekit.judging.provider.local import LocalModel, LocalServer, local_model

__all__ = ["Embedded", "embedded"]


class Embedded:
    """The embedded model while its server runs. `version` names the weights' hash and the engine's version."""

    dtype = "q4_1"

    def __init__(self, local: LocalModel, server: LocalServer) -> None:
        self._root = server.base.removesuffix("/v1")
        self._vocabulary: int | None = None
        self._letters: dict[tuple[str, tuple[str, ...]], dict[str, set[int]]] = {}
        self.version = local.endpoint()
        self.limit: int = local.weights.context

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        data = json.dumps(body).encode()
        request = urllib.request.Request(self._root + path, data, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=600) as reply:
                found: dict[str, Any] = json.load(reply)
        except urllib.error.HTTPError as error:
            raise ProviderError(f"the embedded model refused: {error.read().decode(errors='replace')[:200]}") from error
        except OSError as error:
            raise ProviderError(f"the embedded model does not answer: {error}") from error
        return found

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._post("/tokenize", {"content": text, "add_special": True})["tokens"]
        return ids

    def _tokens(self, cue: str, options: Sequence[str]) -> dict[str, set[int]]:
        key = (cue, tuple(options))
        if key not in self._letters:
            start = self._ids(cue)
            found: dict[str, set[int]] = {option: set() for option in options}
            for lead in (" ", ""):
                ids = {}
                for option in options:
                    whole = self._ids(cue + lead + option)
                    if whole[: len(start)] == start and len(whole) == len(start) + 1:
                        ids[option] = whole[-1]
                if len(set(ids.values())) == len(options):
                    for option, token in ids.items():
                        found[option].add(token)
            if not all(found.values()):
                raise InputError(
                    f"this tokenizer writes no single token for each of {', '.join(options)}", field="options",
                    mend="call the options by single letters",
                )  # fmt: skip
            self._letters[key] = found
        return self._letters[key]

    def probabilities(
        self, prompts: Sequence[str], options: Sequence[Sequence[str]], cue: str
    ) -> list[dict[str, float] | str]:
        """As `metrics.causal.Causal.probabilities`; prompts go through one by one, so that none depends on another."""
        return [self._one(prompt, letters, cue) for prompt, letters in zip(prompts, options, strict=True)]

    def _one(self, prompt: str, letters: Sequence[str], cue: str) -> dict[str, float] | str:
        tokens = self._tokens(cue, letters)
        size = len(self._ids(prompt))
        if size >= self.limit:
            return f"the prompt has {size} tokens, the model reads {self.limit - 1}"
        body = {
            "prompt": prompt, "n_predict": 1, "n_probs": 1 << 20, "temperature": 0, "cache_prompt": False, "post_sampling_probs": False,
        }  # fmt: skip
        top = self._post("/completion", body)["completion_probabilities"][0]["top_logprobs"]
        log = {int(one["id"]): float(one["logprob"]) for one in top}
        mass = {option: sum(math.exp(log[one]) for one in ids if one in log) for option, ids in tokens.items()}
        total = sum(mass.values())
        return {option: value / total for option, value in mass.items()} if total > 0 else "no option has a probability"


@contextmanager
def embedded(model: str) -> Iterator[Embedded]:
    """The embedded model, running; raises MissingDependency or InputError as `judging.local` does."""
    local = local_model(model)
    if local is None:
        raise InputError(f"{model} is no embedded model", field="model", mend="local/smollm2-135m")
    server = LocalServer.start(local)
    try:
        yield Embedded(local, server)
    finally:
        server.stop()
