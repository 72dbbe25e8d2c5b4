"""Where a model is asked: the base address, and the name that stands for it in keys."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit, urlunsplit

from judgekit.errors import UsageError
from judgekit.safety import LOCAL_ONLY, is_loopback, without_secrets

__all__ = ["bypass_proxies_for_localhost", "endpoint_of", "refuse_other_machines", "resolve_base"]

_LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")


def resolve_base(model: str, api_base: str | None, environ: Mapping[str, str] | None = None) -> str | None:
    """The base address without a closing slash: the given one, else the provider's variable, else None (its own default).

    The variables are litellm's: ``OPENAI_BASE_URL``, ``OPENAI_API_BASE``, ``OLLAMA_API_BASE``, ``HOSTED_VLLM_API_BASE`` and so on.
    Read here, so that two servers never share a key.
    """
    if api_base is None:
        env = os.environ if environ is None else environ
        provider = model.split("/", 1)[0] if "/" in model else "openai"
        stem = provider.upper().replace("-", "_").removesuffix("_CHAT")
        api_base = next((env[name] for name in (f"{stem}_BASE_URL", f"{stem}_API_BASE") if env.get(name)), None)
        if api_base is None:
            return None
    parts = urlsplit(api_base)
    if parts.scheme not in {"http", "https"} or not parts.hostname or not _port_fits(parts):
        raise UsageError(
            f"{without_secrets(api_base)!r} is no address of a server",
            field="api_base",
            mend="write it as http://127.0.0.1:8000/v1",
        )
    return api_base.rstrip("/")


def _port_fits(parts: SplitResult) -> bool:
    try:
        return parts.port != 0
    except ValueError:
        return False


def endpoint_of(model: str, base: str | None) -> str:
    """Provider and base address, as in ``hosted_vllm:http://10.0.0.5:8000/v1``; user, password and query are left out."""
    provider = model.split("/", 1)[0] if "/" in model else "openai"
    if base is None:
        return provider
    parts = urlsplit(base)
    host = parts.netloc.rsplit("@", 1)[-1].lower()
    return f"{provider}:{urlunsplit((parts.scheme, host, parts.path, '', ''))}"


_DEFAULT_BASES = {"ollama": "http://localhost:11434", "ollama_chat": "http://localhost:11434"}  # litellm's own


def refuse_other_machines(model: str, base: str | None) -> None:
    """Raise UsageError where a model is not asked on this machine, before anything is sent."""
    base = base or _DEFAULT_BASES.get(model.split("/", 1)[0])
    if is_loopback(base):
        return
    where = f"at {endpoint_of(model, base)}" if base else "at its provider's own address"
    raise UsageError(
        f"{model} is asked {where}, and only calls on this machine are allowed (--local-only, local_only in a study, or "
        f"{LOCAL_ONLY} in the environment)",
        field="local_only",
        mend="name a model on this machine: local/NAME, or a server of your own with --api-base http://127.0.0.1:PORT/v1",
    )


def bypass_proxies_for_localhost(base: str | None) -> None:
    """Keep requests to this machine away from a proxy that the environment names; other addresses are left to it."""
    if not is_loopback(base):
        return
    for name in ("NO_PROXY", "no_proxy"):
        known = [part.strip() for part in os.environ.get(name, "").split(",") if part.strip()]
        missing = [host for host in _LOCAL_HOSTS if host not in known]
        if missing and "*" not in known:
            os.environ[name] = ",".join([*known, *missing])
