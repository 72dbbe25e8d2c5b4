"""YAML as text with lines: every scalar stays what was written, and the declared type converts it later.

A YAML library turns ``no`` into False, ``010`` into 8, ``12:30`` into 750 and ``1.0`` into a float before anybody can
say what was meant. Here only the events of the parser are used, and each value knows its file and line.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import NoReturn

from judgekit.errors import RubricError
from judgekit.limits import read_file

__all__ = [
    "Map",
    "Node",
    "Place",
    "Scalar",
    "Seq",
    "as_bool",
    "as_int",
    "as_list",
    "as_map",
    "as_number",
    "as_text",
    "check_keys",
    "did_you_mean",
    "fail",
    "given",
    "is_null",
    "parse_yaml",
    "read_utf8",
    "shown",
]

MAX_BYTES = 1_000_000
MAX_NODES = 20_000  # after aliases are counted as often as they stand for something
MAX_DEPTH = 24


@dataclass(frozen=True, slots=True)
class Place:
    """A file as the user would name it, and a line that counts from 1."""

    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Scalar:
    text: str
    place: Place
    style: str | None = None  # None is plain; otherwise ' " | >

    @property
    def size(self) -> int:
        return 1

    def text_line(self, lineno: int) -> int:
        """The file's line of line `lineno` (from 1) of this text; exact for ``|`` blocks."""
        return self.place.line + lineno - (0 if self.style in ("|", ">") else 1)


@dataclass(frozen=True, slots=True)
class Seq:
    items: tuple[Node, ...]
    place: Place
    size: int


@dataclass(frozen=True, slots=True)
class Map:
    items: dict[str, Node]
    keys: dict[str, Scalar]
    place: Place
    size: int

    def get(self, key: str) -> Node | None:
        return self.items.get(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self.items)


Node = Scalar | Seq | Map


def shown(path: Path) -> str:
    """The path as a person would write it from here: relative where it lies below the working folder."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


def fail(node: Node | Place, field: str | None, message: str, mend: str | None = None) -> NoReturn:
    place = node if isinstance(node, Place) else node.place
    raise RubricError(message, file=place.file, line=place.line, field=field or None, mend=mend)


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return close[0] if close else None


def read_utf8(path: Path, what: str = "rubric file") -> str:
    """The file's text; errors say what is wrong with it in words."""
    name = shown(path)
    try:
        size = path.stat().st_size
        if path.is_dir():
            raise RubricError(f"this is a folder, not a {what}", file=name, mend="name the file inside it")
        if size > MAX_BYTES:
            raise RubricError(
                f"{size:,} bytes are too many for a {what}",
                file=name,
                mend=f"keep it under {MAX_BYTES:,}; long example sets belong in a data file (`examples: {{retrieve: ...}}`)",
            )
        data = read_file(path, MAX_BYTES, RubricError, what)
    except FileNotFoundError:
        raise RubricError(f"there is no such {what}", file=name, mend="check the path") from None
    except OSError as error:
        raise RubricError(f"the {what} cannot be read: {error.strerror}", file=name) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RubricError(
            f"byte {data[error.start]:#04x} is not UTF-8",
            file=name,
            line=data.count(b"\n", 0, error.start) + 1,
            mend="save the file with the encoding UTF-8",
        ) from None


def parse_yaml(text: str, file: str) -> Map:
    """The one document of a YAML text, whose top must be a map.

    Tags, merge keys, a second document, duplicate keys, aliases that stand inside themselves or blow up, and nesting
    deeper than 24 are errors with a line.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.reader import ReaderError

    try:
        node = _Composer(YAML(typ="safe", pure=True).parse(StringIO(text)), file).document()
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "this is not YAML"
        raise RubricError(
            f"not readable as YAML: {problem}",
            file=file,
            line=mark.line + 1 if mark is not None else None,
            mend=_yaml_mend(problem),
        ) from None
    except ReaderError as error:
        raise RubricError(
            f"the character U+{error.character:04X} may not stand in YAML as it is",
            file=file,
            line=text.count("\n", 0, error.position) + 1,
            mend='remove it, or write it as an escape in double quotes, such as "\\u0007"',
        ) from None
    except YAMLError as error:
        raise RubricError(f"not readable as YAML: {error}", file=file) from None
    if not isinstance(node, Map):
        fail(node, None, "the top of a rubric file is a map", "write `rubric: my-name` first, then the other keys")
    return node


def _yaml_mend(problem: str) -> str:
    if "mapping values" in problem:
        return 'a text with ": " in it needs quotes, or a block that starts with |'
    if "\\t" in problem:
        return "indent with spaces, not with tabs"
    if "chomping" in problem:
        return 'a text that starts with > or | needs quotes, such as ">= 4"'
    if "cannot start any token" in problem:
        return "put the text in quotes"
    return "check quotes, brackets and indentation just above"


class _Composer:
    def __init__(self, events: Iterator[object], file: str) -> None:
        self.events = events
        self.file = file
        self.anchors: dict[str, Node | None] = {}
        self.count = 0

    def document(self) -> Node:
        node: Node | None = None
        for event in self.events:
            kind = type(event).__name__
            if kind in ("StreamStartEvent", "DocumentStartEvent", "DocumentEndEvent", "StreamEndEvent"):
                continue
            if node is not None:
                fail(self.place(event), None, "a second YAML document", "keep one rubric in a file")
            node = self.node(event, 0)
        if node is None:
            fail(Place(self.file, 1), None, "the file is empty", "start from `judgekit rubric new my-name`")
        return node

    def place(self, event: object) -> Place:
        return Place(self.file, event.start_mark.line + 1)  # type: ignore[attr-defined]

    def node(self, event: object, depth: int) -> Node:
        place = self.place(event)
        kind = type(event).__name__
        anchor: str | None = getattr(event, "anchor", None)
        if kind == "AliasEvent":
            assert anchor is not None
            if anchor not in self.anchors:
                fail(
                    place, None, f"the alias *{anchor} has no anchor before it", f"write &{anchor} where it is defined"
                )
            known = self.anchors[anchor]
            if known is None:
                fail(place, None, f"the alias *{anchor} stands inside its own anchor", "write the text out")
            self.spend(known.size, place)
            return known
        if getattr(event, "tag", None) is not None:
            fail(place, None, f"YAML tags ({event.tag}) are not read", "remove the tag; every value is text")  # type: ignore[attr-defined]
        if depth > MAX_DEPTH:
            fail(place, None, f"nested deeper than {MAX_DEPTH}", "flatten it")
        if anchor is not None:
            self.anchors[anchor] = None
        self.spend(1, place)
        node: Node
        if kind == "ScalarEvent":
            style = event.style or None  # type: ignore[attr-defined]
            node = Scalar(event.value, place, style)  # type: ignore[attr-defined]
        elif kind == "SequenceStartEvent":
            node = self.sequence(place, depth)
        else:
            node = self.mapping(place, depth)
        if anchor is not None:
            self.anchors[anchor] = node
        return node

    def sequence(self, place: Place, depth: int) -> Seq:
        items: list[Node] = []
        while type(event := next(self.events)).__name__ != "SequenceEndEvent":
            items.append(self.node(event, depth + 1))
        return Seq(tuple(items), place, 1 + sum(item.size for item in items))

    def mapping(self, place: Place, depth: int) -> Map:
        items: dict[str, Node] = {}
        keys: dict[str, Scalar] = {}
        while type(event := next(self.events)).__name__ != "MappingEndEvent":
            key = self.node(event, depth + 1)
            if not isinstance(key, Scalar):
                fail(
                    key,
                    None,
                    "a key must be one text, not a list or a map",
                    "a text that starts with [ or { needs quotes",
                )
            if key.text == "<<" and key.style is None:
                fail(key, "<<", "YAML merge keys are not read", "use `extends: other-rubric`, or write the keys out")
            if key.text in items:
                fail(
                    key, key.text, f"this key stands here twice (first in line {keys[key.text].place.line})", "keep one"
                )
            items[key.text] = self.node(next(self.events), depth + 1)
            keys[key.text] = key
        return Map(items, keys, place, 1 + len(items) + sum(item.size for item in items.values()))

    def spend(self, size: int, place: Place) -> None:
        self.count += size
        if self.count > MAX_NODES:
            fail(
                place, None, f"more than {MAX_NODES:,} values (aliases counted as often as they are used)", "write less"
            )


# Conversion of nodes, each error with the place and what to write.


def is_null(node: Node | None) -> bool:
    """A plain ``null``, ``~`` or nothing after the colon; quoted text never is."""
    return isinstance(node, Scalar) and node.style is None and node.text in ("", "null", "~")


def given(root: Map, key: str) -> Node | None:
    """The value of a key, None where it is absent or null."""
    node = root.get(key)
    return None if node is None or is_null(node) else node


def as_map(node: Node, field: str, example: str) -> Map:
    if not isinstance(node, Map):
        fail(node, field, "this must be a map of keys and values", f"write for example {example}")
    return node


def as_list(node: Node, field: str, example: str) -> Seq:
    if not isinstance(node, Seq):
        fail(node, field, "this must be a list", f"write for example {example}")
    return node


def as_text(node: Node, field: str, *, blank: bool = False) -> str:
    if not isinstance(node, Scalar):
        fail(node, field, "this must be one text", 'a text that starts with [ or { or holds ": " needs quotes')
    if not blank and (is_null(node) or not node.text.strip()):
        fail(node, field, "this text is empty", "write something, or remove the key")
    return node.text


_INT = re.compile(r"-?(0|[1-9][0-9]*)", re.ASCII)
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", re.ASCII)


def as_int(node: Node, field: str, *, low: int | None = None, high: int | None = None) -> int:
    text = as_text(node, field)
    if not _INT.fullmatch(text) or len(text) > 18:
        fail(node, field, f"{text!r} is not a whole number", "write digits only, such as 3")
    value = int(text)
    _bounds(node, field, value, low, high)
    return value


def as_number(node: Node, field: str, *, low: float | None = None, high: float | None = None) -> int | float:
    text = as_text(node, field)
    if not _NUMBER.fullmatch(text):
        fail(node, field, f"{text!r} is not a number", "write digits, such as 3 or 0.75")
    value: int | float = int(text) if _INT.fullmatch(text) and len(text) < 18 else float(text)
    if abs(value) > 1e15:
        fail(node, field, f"{text} is too large", "write a smaller number")
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # 0.0 is 0: the same sampling must not have two fingerprints
    _bounds(node, field, value, low, high)
    return value


def _bounds(node: Node, field: str, value: float, low: float | None, high: float | None) -> None:
    if (low is not None and value < low) or (high is not None and value > high):
        span = (
            f"from {low} to {high}"
            if None not in (low, high)
            else f"of {low} or more"
            if high is None
            else f"up to {high}"
        )
        fail(node, field, f"{value} is out of range", f"write a number {span}")


def as_bool(node: Node, field: str) -> bool:
    text = as_text(node, field)
    if text not in ("true", "false"):
        fail(node, field, f"{text!r} is neither true nor false", "write true or false")
    return text == "true"


def check_keys(node: Map, field: str, known: Iterable[str], moved: Callable[[str], str | None] | None = None) -> None:
    """Refuse keys that nobody reads, and say which one was probably meant."""
    names = list(known)
    for key in node:
        if key not in names:
            close = did_you_mean(key, names)
            mend = (moved(key) if moved else None) or (
                f"did you mean {close!r}?" if close else f"the keys here are {', '.join(names)}"
            )
            fail(node.keys[key], f"{field}.{key}" if field else key, "unknown key", mend)
