"""What must never be shown or leave this machine: key values in texts, and calls to other machines under local-only."""

from __future__ import annotations

import base64
import ipaddress
import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, unquote, urlsplit

__all__ = [
    "LOCAL_ONLY", "STRUCK", "is_loopback", "known_secrets", "local_only", "looks_secret", "strike", "without_secrets", "words_without_secrets",
]  # fmt: skip

STRUCK = "***"
LOCAL_ONLY = "JUDGEKIT_LOCAL_ONLY"
_SHORTEST = 8  # inclusive; a shorter value of the environment would be struck out of ordinary words
_NAME = re.compile(
    r"(?:^|[_-])(?:api[_-]?key|apikey|key|keys|token|secret|password|passwd|passphrase|credentials?|authorization|bearer|signature|sig)"
    r"(?:[_-]|\d|$)",
    re.IGNORECASE,
)
_USERINFO = re.compile(r"(?<=://)[^/@\s?#]+(?=@)")
_QUERY = re.compile(r"([?&;#]|^|\s)([\w.-]{1,64})=([^&\s#;'\"]+)")
_HEADER = re.compile(r"\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}", re.IGNORECASE)


def looks_secret(name: str) -> bool:
    """Whether a variable, option or parameter of this name holds a key: ``OPENAI_API_KEY``, ``--api-key``, ``access_token``."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return _NAME.search(words) is not None


def known_secrets(addresses: Iterable[str | None] = (), environ: Mapping[str, str] | None = None) -> list[str]:
    """Key values of the environment, and the passwords and keys in `addresses`, in every coat that a text may give them; longest first."""
    env = os.environ if environ is None else environ
    found = {value.strip() for name, value in env.items() if looks_secret(name)}
    found = {
        value for value in found if len(value) >= _SHORTEST and not value.startswith(("/", "~", "."))
    }  # paths are none
    found |= {part for value in env.values() if "://" in value for part in _in_address(value)}
    found |= {part for address in addresses if address for part in _in_address(address)}
    coats = set()
    for value in found:
        coats |= {value, quote(value, safe=""), json.dumps(value)[1:-1], base64.b64encode(value.encode()).decode()}
    return sorted(coats, key=len, reverse=True)


def _in_address(address: str) -> set[str]:
    try:
        parts = urlsplit(address)
        user, password = parts.username or "", parts.password or ""
    except ValueError:
        return set()
    found = {password, unquote(password)}
    if user and not password:
        found |= {user, unquote(user)}  # a token alone
    if user and password:
        found.add(base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode())
    found |= {unquote(value) for _, name, value in _QUERY.findall(parts.query) if looks_secret(name)}
    return {value for value in found if len(value) >= 4}


def strike(value: Any, secrets: Iterable[str]) -> Any:
    """A value with every secret struck out of its texts, however deep they stand."""
    known = list(secrets)
    if not known:
        return value
    return _strike(value, re.compile("|".join(map(re.escape, known))))


def _strike(value: Any, known: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return known.sub(STRUCK, value)
    if isinstance(value, dict):
        return {_strike(key, known): _strike(item, known) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_strike(item, known) for item in value)
    return value


def without_secrets(word: str) -> str:
    """A text as it may be kept or shown: user and password of an address, keys in its query, headers and known values are struck."""
    word = _USERINFO.sub(STRUCK, word)
    word = _QUERY.sub(lambda hit: f"{hit[1]}{hit[2]}={STRUCK if looks_secret(hit[2]) else hit[3]}", word)
    word = _HEADER.sub(lambda hit: f"{hit[1]} {STRUCK}", word)
    struck: str = strike(word, known_secrets())
    return struck


def words_without_secrets(words: Iterable[str]) -> list[str]:
    """A command line as a run may keep it; what follows an option such as ``--api-key`` is struck too."""
    kept, secret = [], False
    for word in words:
        name, equals, _ = word.partition("=")
        option = name.startswith("-") and looks_secret(name.lstrip("-"))
        kept.append(STRUCK if secret else f"{name}={STRUCK}" if option and equals else without_secrets(word))
        secret = option and not equals
    return kept


def local_only(asked: bool = False) -> bool:
    """Whether calls to other machines are refused: asked for, or for the whole site by JUDGEKIT_LOCAL_ONLY."""
    return asked or os.environ.get(LOCAL_ONLY, "").strip().lower() not in ("", "0", "false", "no", "off")


def is_loopback(address: str | None) -> bool:
    """Whether an address is this machine's own."""
    host = urlsplit(address).hostname if address else None
    if host is None:
        return False
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
