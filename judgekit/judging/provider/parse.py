"""Reads a model's reply: finds the JSON object in it, or says why there is no single one.

The rule behind every choice here: a reply gives a verdict only where there is no doubt which object is the verdict. Words
around it, fences and thinking are read past; two differing objects, a broken object beside a whole one, or an object
that only stands quoted in prose are doubts, and the model is asked again. Time is linear in the reply's length.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

__all__ = [
    "MAX_DEPTH", "Reading", "describe", "mend_surrogates", "mended", "read_parts", "read_reply", "stands_in", "without_thinking",
]  # fmt: skip

MAX_DEPTH = 64  # inclusive: a verdict is a few levels deep; what is deeper is refused, not walked
_MAX_OBJECTS = 50
_MAX_TRIES = 200  # places where an object may begin that are looked at in a judged text

_THINK = re.compile(r"\s*<(think|thinking|thought|reasoning)>", re.IGNORECASE)
_JSON_START = re.compile(r"\{\s*[\"}]")
_LOOSE_START = re.compile(
    r"\{\s*(?:['\u201c]|\w{1,64}\s{0,8}:)"
)  # an object in JavaScript's, Python's or a typist's manner
_OPEN_QUOTES = {'"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019", "\u00ab": "\u00bb"}


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply holds.

    `objects` are the distinct objects, in order; exactly one and no `problem` is a reply that can be validated. `conflict` is
    true where the reply says two different things (``two verdicts in one reply``). `problem` is in words for a re-ask.
    """

    objects: list[dict[str, Any]] = field(default_factory=list)
    problem: str | None = None
    conflict: bool = False

    @property
    def object(self) -> dict[str, Any] | None:
        """The one object, or None where there is a problem."""
        return self.objects[0] if self.problem is None and len(self.objects) == 1 else None


def read_reply(text: str | None) -> Reading:
    """The JSON object of a reply's text; fences, words around it and a leading thinking block are read past.

    `NaN`, infinities and numbers beyond a double are refused; so are a key given twice with differing values and nesting
    past `MAX_DEPTH`. Two equal objects are one. Quoted objects (``"{...}"`` in prose) never are the verdict, but count
    when they differ from it.
    """
    return read_parts(text, ())


def read_parts(text: str | None, arguments: Sequence[str]) -> Reading:
    """As `read_reply`, over a message's text and the arguments of its tool calls together: they must not differ."""
    found = _Found()
    for part in arguments:
        _scan(part, 0, found)
    body = text or ""
    start, unclosed = _skip_thinking(body)
    if not unclosed:
        _scan(body, start, found)
    if not found.plain and not found.quoted and not found.broken and not found.faults:
        if unclosed:
            return Reading(problem="the reply ends inside its thinking, without an answer")
        if not body[start:].strip() and not arguments:
            return Reading(problem="the reply is empty")
        return Reading(problem="no JSON object in the reply")
    return _conclude(found)


def stands_in(verdict: Any, texts: Iterable[str]) -> bool:
    """Whether an object stands in one of the texts, however it is set there: spaced, quoted, escaped, in another order of keys."""
    said, ordered = _squeezed(json.dumps(verdict, ensure_ascii=False)), _canon(verdict)
    for text in texts:
        if "{" not in text and "&" not in text:
            continue
        plain = html.unescape(text)
        if said in _squeezed(plain) or any(_canon(value) == ordered for value in _objects_in(plain)):
            return True
    return False


_FRAME = re.compile(r"[\s\\\"'`\u201c\u201d\u2018\u2019>*_]+")


def _squeezed(text: str) -> str:
    return _FRAME.sub("", text).casefold()


def _canon(value: Any) -> str:
    return _squeezed(json.dumps(value, ensure_ascii=False, sort_keys=True))


def _objects_in(text: str) -> Iterator[Any]:
    decoder, start, tries = json.JSONDecoder(strict=False), -1, 0
    while tries < _MAX_TRIES and (start := text.find("{", start + 1)) >= 0:
        tries += 1
        try:
            value = decoder.raw_decode(text, start)[0]
        except (ValueError, RecursionError):
            continue
        if not _depth_exceeds(value, MAX_DEPTH):
            yield value


def without_thinking(text: str | None) -> str | None:
    """A writer's text without the thinking blocks that open it; empty where the last one never closes."""
    if text is None:
        return None
    start, _ = _skip_thinking(text)
    return mend_surrogates(text[start:].lstrip() if start else text)


def describe(error: ValidationError) -> str:
    """A ValidationError in the words that pydantic uses, without its links, for the model to read."""
    faults = error.errors(include_url=False, include_context=False)
    lines = [f"{len(faults)} validation error{'s' if len(faults) != 1 else ''} for {error.title}"]
    for fault in faults[:20]:
        where = ".".join(str(step) for step in fault["loc"]) or "(whole object)"
        lines.append(f"{where}\n  {fault['msg']} [type={fault['type']}, input_value={_short(fault.get('input'))}]")
    return "\n".join(lines)


def mend_surrogates(text: str) -> str:
    """Joins surrogate pairs and replaces lone surrogates by U+FFFD: no file and no database can hold them."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


@dataclass(slots=True)
class _Found:
    plain: list[dict[str, Any]] = field(default_factory=list)
    quoted: list[dict[str, Any]] = field(default_factory=list)
    broken: str | None = None  # the first thing that began like an object and was none
    faults: list[str] = field(default_factory=list)
    conflict: str | None = None


def _conclude(found: _Found) -> Reading:
    plain = _distinct(found.plain)
    everything = _distinct([*found.plain, *found.quoted])
    if found.conflict:
        return Reading(plain, found.conflict, conflict=True)
    if len(everything) > 1 and plain:
        return Reading(everything, f"{len(everything)} differing JSON objects in one reply: give exactly one", True)
    if found.broken and plain:
        return Reading(plain, f"a broken JSON object beside a whole one: give exactly one ({found.broken})")
    if found.faults:
        return Reading(plain, found.faults[0])
    if found.broken:
        return Reading(problem=f"the JSON object cannot be read: {found.broken}")
    if not plain:
        return Reading(problem="the reply only quotes a JSON object inside its text: give the object itself")
    return Reading(plain)


def _skip_thinking(text: str) -> tuple[int, bool]:
    """Where the answer begins after thinking blocks that open the reply, and whether the last one never closes.

    Only at the very beginning, and to the first closing tag: tags further on may be quoted from the judged text, and
    must not be able to hide an object.
    """
    start = 0
    while match := _THINK.match(text, start):
        close = re.compile(f"</{match[1]}>", re.IGNORECASE).search(text, match.end())
        if close is None:
            return len(text), True
        start = close.end()
    return start, False


def _scan(text: str, position: int, found: _Found) -> None:
    """Walks the text once, object by object.

    It stops at the first thing that begins like an object and is none: a verdict beside it would be in doubt, and what
    follows may stand inside a string of the broken one. (Going on would also be slow: each error of the decoder counts the
    lines up to its place.)
    """
    hooks = _Hooks()
    decoder = json.JSONDecoder(
        object_pairs_hook=hooks.pairs,
        parse_constant=hooks.constant,
        parse_float=hooks.float,
        parse_int=hooks.int,
        strict=False,  # a raw line break inside a string is common and harmless
    )
    while (start := text.find("{", position)) >= 0:
        if not _JSON_START.match(text, start):
            if _LOOSE_START.match(text, start):
                found.broken = found.broken or f"it begins {text[start : start + 40]!r}, which is not JSON"
                return
            position = start + 1
            continue
        hooks.reset()
        try:
            value, end = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            found.broken = found.broken or f"{error.msg} at character {error.pos}"
            return
        except RecursionError:
            found.faults.append(f"the JSON is nested deeper than {MAX_DEPTH} levels")
            return
        position = end
        if _depth_exceeds(value, MAX_DEPTH):
            found.faults.append(f"the JSON is nested deeper than {MAX_DEPTH} levels")
            continue
        if hooks.conflict:
            found.conflict = found.conflict or hooks.conflict
        if hooks.faults:
            found.faults += hooks.faults
        if "\\u" in text[start:end]:
            value = mended(value)
        quoted = start > 0 and end < len(text) and _OPEN_QUOTES.get(text[start - 1]) == text[end]
        (found.quoted if quoted else found.plain).append(value)
        if len(found.plain) + len(found.quoted) > _MAX_OBJECTS:
            found.faults.append(f"the reply holds more than {_MAX_OBJECTS} JSON objects: give exactly one")
            return


class _Hooks:
    """Notes what the decoder would let pass; the object is still read to its end, so that the next one is found."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.conflict: str | None = None

    def reset(self) -> None:
        self.faults = []
        self.conflict = None

    def pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) != len(pairs) and self.conflict is None:
            first: dict[str, Any] = {}
            for key, item in pairs:
                if key in first and not _same(first[key], item):
                    self.conflict = f"the key {_short(key)} stands twice with different values: give it once"
                first.setdefault(key, item)
        return value

    def constant(self, name: str) -> float:
        self.faults.append(f"{name} is not a JSON number")
        return 0.0

    def float(self, digits: str) -> float:
        value = float(digits)
        if value in (float("inf"), float("-inf")):
            self.faults.append(f"the number {digits[:40]} is too large")
            return 0.0
        return value

    def int(self, digits: str) -> int:
        if len(digits) > 300:
            self.faults.append(f"a number of {len(digits)} digits is too large")
            return 0
        return int(digits)


def _depth_exceeds(value: Any, limit: int) -> bool:
    level: list[Any] = [value]
    depth = 0
    while level:
        depth += 1
        if depth > limit and any(isinstance(item, dict | list) for item in level):
            return True
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
        level = [item for item in below if isinstance(item, dict | list)]
    return False


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: unlike Python's ``==``, true is not 1."""
    return _canonical(one) == _canonical(other)


def _canonical(value: Any) -> str | None:
    try:
        return json.dumps(value, sort_keys=True)
    except RecursionError:
        return None


def _distinct(objects: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each different object once; an empty object says nothing beside another one."""
    seen: dict[str | None, dict[str, Any]] = {}
    for one in objects:
        seen.setdefault(_canonical(one), one)
    kept = [one for one in seen.values() if one]
    return kept or list(seen.values())


def mended(value: Any) -> Any:
    """A value with `mend_surrogates` in all its texts."""
    if isinstance(value, str):
        return mend_surrogates(value)
    if isinstance(value, dict):
        return {mended(key): mended(item) for key, item in value.items()}
    if isinstance(value, list):
        return [mended(item) for item in value]
    return value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else text[:80] + "..." + text[-30:]
