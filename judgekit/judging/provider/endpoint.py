"""Where a model is asked: the base address, and the name that stands for it in keys."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit, urlunsplit

from judgekit.errors import UsageError

__all__ = ["bypass_proxies_for_localhost", "endpoint_of", "is_loopback", "resolve_base"]

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
            f"{api_base!r} is no address of a server", field="api_base", mend="write it as http://127.0.0.1:8000/v1"
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


def is_loopback(base: str | None) -> bool:
    """Whether the address is this machine's own."""
    host = urlsplit(base).hostname if base else None
    if host is None:
        return False
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def bypass_proxies_for_localhost(base: str | None) -> None:
    """Keep requests to this machine away from a proxy that the environment names; other addresses are left to it."""
    if not is_loopback(base):
        return
    for name in ("NO_PROXY", "no_proxy"):
        known = [part.strip() for part in os.environ.get(name, "").split(",") if part.strip()]
        missing = [host for host in _LOCAL_HOSTS if host not in known]
        if missing and "*" not in known:
            os.environ[name] = ",".join([*known, *missing])
