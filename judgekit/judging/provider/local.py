"""The embedded judge: llama.cpp in this process (``xllamacpp``), spoken to like any other server, on 127.0.0.1 only.

One slot and one request at a time, and no prompt is reused from an earlier one: at temperature 0 the same request then gives
the same reply, whatever was asked before it. A prompt that does not fit the context is an error, never cut.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from judgekit.errors import MissingDependency, ProviderError
from judgekit.judging.provider.weights import Weights, ensure, known

__all__ = ["LocalModel", "LocalServer", "local_model"]

_INSTALL = "pip install 'clinical-judgekit[local]'"

_SETTINGS: dict[str, Any] = {
    "hostnames": ["127.0.0.1"],
    "port": 0,
    "n_parallel": 1,
    "n_gpu_layers": 0,  # the same arithmetic with a graphics card and without
    "fit_params": False,
    "ctx_shift": False,
    "cache_prompt": False,
    "cache_ram_mib": 0,
    "warmup": False,
    "ui": False,
    "endpoint_slots": False,
    "verbosity": -1,
}


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model that runs here."""

    weights: Weights

    def endpoint(self) -> str:
        """The address in keys: the weights' sha256 and the engine's version. Known before anything is fetched or started.

        Raises MissingDependency where the engine is not installed.
        """
        return f"local:{self.weights.sha256}:xllamacpp-{engine_version()}"


def local_model(model: str) -> LocalModel | None:
    """The local model that ``local/NAME`` names; None for another provider's; InputError for a name that is not known."""
    provider, _, name = model.partition("/")
    return LocalModel(known(name)) if provider == "local" else None


def engine_version() -> str:
    """The version of xllamacpp; raises MissingDependency where it is not installed."""
    try:
        return importlib.metadata.version("xllamacpp")
    except importlib.metadata.PackageNotFoundError as error:
        raise MissingDependency("local models need the package xllamacpp", mend=_INSTALL) from error


class LocalServer:
    """A running server; `start` it, `stop` it. `base` is its address for OpenAI-compatible clients."""

    def __init__(self, server: Any, name: str) -> None:
        self._server = server
        self.name = name
        self.base = f"{server.listening_address}/v1"

    @staticmethod
    def start(local: LocalModel, given_up: Callable[[], bool] = lambda: False) -> LocalServer:
        """Fetch the weights if need be, load them (about a second) and listen on a port that the system chooses.

        Raises MissingDependency without the engine or the weights, ProviderError where the engine cannot load them.
        """
        engine_version()
        path = ensure(local.weights, _tell, given_up)
        xllamacpp = _engine()
        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        for name, value in {**_SETTINGS, "n_ctx": local.weights.context, "model_alias": {local.weights.name}}.items():
            if hasattr(
                params, name
            ):  # names come and go with the engine's versions; its defaults are the same in spirit
                setattr(params, name, value)
        # A model this small writes no faster on two cores; reading the prompt does gain from them.
        params.cpuparams.n_threads = 1
        params.cpuparams_batch.n_threads = min(4, os.cpu_count() or 1)
        params.sampling.seed = 0
        params.sampling.temp = 0.0
        try:
            server = xllamacpp.Server(params)
        except Exception as error:
            raise ProviderError(
                f"llama.cpp cannot load {path.name}: {error}",
                mend=f"judgekit models fetch {local.weights.name}, or free some memory (about 500 MB are needed)",
            ) from error
        return LocalServer(server, local.weights.name)

    def stop(self) -> None:
        """Stop listening and free the model; may be called twice."""
        self._server = None  # the engine stops its threads when its last reference goes


def _engine() -> Any:
    """xllamacpp, its worker threads told to sleep while they wait.

    By default they spin, and where other programs use the cores too, that makes every reply two to ten times slower. The
    OpenMP library reads the variable once, when it is loaded; afterwards the environment is as it was.
    """
    name = "OMP_WAIT_POLICY"
    before = os.environ.get(name)
    os.environ.setdefault(name, "passive")
    try:
        import xllamacpp
    except ImportError as error:
        raise MissingDependency(f"the package xllamacpp cannot be loaded: {error}", mend=_INSTALL) from error
    finally:
        if before is None:
            del os.environ[name]
    return xllamacpp


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
