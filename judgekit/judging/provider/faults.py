"""Sorts what a provider's client library raises into our few kinds: wait, try again, mend the request, stop the run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from judgekit.errors import JudgekitError, ProviderError
from judgekit.judging.provider.transport import Filtered, Rejected, TooLong, names_structure, retry_after_of
from judgekit.judging.provider.types import RateLimited, Transient
from judgekit.safety import without_secrets

__all__ = ["sort_out"]

_TOO_LONG = re.compile(
    r"context[ _]length|context[ _]size|context[ _]window|maximum context|prompt is too long|input is too long|too many (?:input )?tokens"
    r"|exceeds? the (?:model'?s )?(?:maximum|limit).{0,40}tokens|reduce the length of the messages",
    re.IGNORECASE,
)
_FILTERED = re.compile(
    r"content[ _](?:policy|filter|management)|responsible ?ai|safety (?:system|settings)|blocked by", re.IGNORECASE
)
# Gemini says "you exceeded your current quota ... billing details" for a plain rate limit, so these words prove nothing
_NO_CREDIT = re.compile(
    r"insufficient_quota|credit balance|payment required|insufficient (?:balance|credit)", re.IGNORECASE
)
_WAIT = re.compile(
    r"(?:retry|try again) in ([0-9.]{1,12})\s?(ms|s)\b|retryDelay\W{1,6}([0-9.]{1,12})(s)\b", re.IGNORECASE
)
_NO_KEY = re.compile(
    r"missing\b.{0,40}\b(?:api[ _]?key|credentials)|(?:unable to locate|could not find|no) (?:default )?(?:credentials|api[ _]key)"
    r"|api[ _]key.{0,20}(?:not set|not found|is required)",
    re.IGNORECASE,
)
_NO_MODULE = re.compile(r"No module named '?([\w.]+)")
_PREFIX = re.compile(r"^(?:litellm\.)?\w+(?:Error|Exception|Timeout)?:\s*|^\w+Exception\s+-\s+")


def sort_out(
    error: Exception,
    model: str,
    base: str | None = None,
    keys: Callable[[], Sequence[str]] = tuple,
    clean: Callable[[str], str] = str,
) -> Exception:
    """The exception to raise instead of `error`: RateLimited, Transient, ProviderError, Rejected, TooLong or Filtered.

    `keys` gives names of environment variables that the provider wants and that are not set; `clean` takes out of the
    provider's words what must not be shown.
    """
    if ours := next((cause for cause in causes(error) if isinstance(cause, JudgekitError)), None):
        return ours
    base = None if base is None else without_secrets(base)
    name = type(error).__name__
    status = _status(error)
    message = _message(error, clean)
    code = str(getattr(error, "code", None) or "") + " " + str(_body(error).get("code") or "")
    where = f"{model} at {base}" if base else model
    if name == "ContextWindowExceededError" or (
        status in {400, 413, 422, 500} and _TOO_LONG.search(message + " " + code)
    ):
        return TooLong(message)
    if name == "ContentPolicyViolationError" or (status in {400, 403} and _FILTERED.search(code + " " + message)):
        return Filtered(message)
    if status == 429 or name == "RateLimitError":
        if _NO_CREDIT.search(code + " " + message):
            return ProviderError(
                f"{where}: {message}", mend="the account has no credit left: top it up, then run the same command"
            )
        return RateLimited(_wait(error, message))
    if status == 402 or (status in {400, 403} and _NO_CREDIT.search(message)):
        return ProviderError(
            f"{where}: {message}", mend="the account has no credit left: top it up, then run the same command"
        )
    # several clients raise a missing key as a server's fault; trying again would not bring it
    keyless = status != 400 and _NO_KEY.search(message) is not None
    if status == 401 or name == "AuthenticationError" or keyless:
        missing = ", ".join(keys())
        mend = f"set {missing} in the environment" if missing else "check the provider's key in the environment"
        # What a client says of a missing key names settings of its own, which are none of ours.
        said = "" if keyless and missing else f": {message}"
        refusal = ProviderError(f"{where} {'has no key' if keyless else 'refuses the key'}{said}", mend=mend)
        refusal.sent = not (keyless and missing)  # the client library looked for a key and found none
        return refusal
    if module := _NO_MODULE.search(message):
        lacking = ProviderError(
            f"{where} needs a package that is not installed: {message}",
            mend=f"install what brings the module {module[1]}",
        )
        lacking.sent = False
        return lacking
    if status == 403 or name == "PermissionDeniedError":
        return ProviderError(f"{where} refuses access: {message}", mend="the key may not use this model or region")
    if status in {404, 405} or name == "NotFoundError":
        mend = "check the model's name" + (
            f" and the address {base} (many servers want /v1 at its end)" if base else ""
        )
        return ProviderError(f"{where} is not there: {message}", mend=mend)
    if status is not None and 300 <= status < 400:
        return ProviderError(
            f"{where} is not there: it sends us elsewhere", mend="give the server's own address with --api-base"
        )
    if name == "Timeout" or status == 408:
        return Transient(f"{where} did not answer in time: {message}", retry_after_of(_headers(error)))
    if status in {400, 409, 413, 422, 501} or (status == 500 and names_structure(message)):
        return Rejected(message, _param(error))
    return Transient(f"{where}: {message}", retry_after_of(_headers(error)), sent=not _never_arrived(error))


def causes(error: BaseException) -> Iterator[BaseException]:
    """An exception and what it came of, nearest first."""
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        yield at
        at = at.__cause__ or at.__context__


def _never_arrived(error: Exception) -> bool:
    """No connection came about, so nothing can have been billed."""
    names = {
        "ConnectError",
        "ConnectTimeout",
        "ClientConnectorError",
        "ClientConnectorDNSError",
        "ConnectionRefusedError",
    }
    return any(type(cause).__name__ in names for cause in causes(error))


def _wait(error: Exception, message: str) -> float | None:
    """What the headers ask for, else what the words do: some providers say the wait only there."""
    seconds = retry_after_of(_headers(error))
    found = None if seconds is not None else _WAIT.search(message + " " + str(_body(error))[:4000])
    if found is None:
        return seconds
    try:
        value = float(found[1] or found[3])
    except ValueError:
        return None
    return value / 1000 if (found[2] or "").lower() == "ms" else value


def _status(error: Exception) -> int | None:
    status = getattr(error, "status_code", None)
    try:
        return None if status is None else int(status)
    except (TypeError, ValueError):
        return None


def _message(error: Exception, clean: Callable[[str], str]) -> str:
    body = _body(error).get("message")
    # Struck, then a bounded text whose runs of white space are one space: what follows would be quadratic in a hostile one.
    text = " ".join(clean(str(body or getattr(error, "message", None) or error)).split())[:20_000]
    while (shorter := _PREFIX.sub("", text, count=1)) != text and shorter:
        text = shorter
    text = text.split("Traceback (most recent call last)")[0]
    return re.sub(r" ?ssl:<[^<>]*>", "", text).strip()[:1500] or type(error).__name__


def _body(error: Exception) -> dict[str, Any]:
    body = getattr(error, "body", None)
    if isinstance(body, dict):
        inner = body.get("error")
        return inner if isinstance(inner, dict) else body
    return {}


def _param(error: Exception) -> str | None:
    param = getattr(error, "param", None) or _body(error).get("param")
    return str(param).split(".")[0] if param else None


def _headers(error: Exception) -> dict[str, str] | None:
    response = getattr(error, "response", None)
    for headers in (getattr(response, "headers", None), getattr(error, "litellm_response_headers", None)):
        if headers:
            return dict(headers)
    return None
