"""Card and study files: YAML in which every scalar stays the text that was written, and every value knows its line."""

from __future__ import annotations

from collections.abc import Iterable
from io import StringIO
from pathlib import Path
from typing import Any

from judgekit.errors import InputError
from judgekit.limits import read_file

__all__ = ["read_yaml"]

_MAX_BYTES = 500_000
_MAX_DEPTH = 20
_MAX_VALUES = 20_000


def read_yaml(
    path: Path, shown: str, what: str = "card", error: type[InputError] = InputError
) -> tuple[dict[str, Any], dict[tuple[str, ...], int]]:
    """Return the file's map, with text at every leaf (or None for a plain null), and the line of every path in it.

    `no`, `010`, `12:30` and `1.0` stay text; the types of the file's own model convert them. Duplicate keys, tags, anchors and
    a second document are an `error` with a line. `what` is what the file is called in messages.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        raw = read_file(path, _MAX_BYTES, error, what)
        text = raw.decode("utf-8-sig")
    except OSError as problem:
        raise error(f"the {what} cannot be read ({problem.strerror})", file=shown, mend="check the path") from None
    except UnicodeDecodeError as problem:
        line = raw.count(b"\n", 0, problem.start) + 1
        raise error("is not UTF-8", file=shown, line=line, mend=f"save the {what} as UTF-8") from None
    lines: dict[tuple[str, ...], int] = {}
    try:
        events = YAML(typ="safe", pure=True).parse(StringIO(text))
        value = _Builder(events, shown, lines, what, error).document()
    except MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        raise error(
            f"not readable as YAML: {problem.problem or problem.context}",
            file=shown,
            line=None if mark is None else mark.line + 1,
            mend='a text that holds ": ", or begins with [ { * & ! or @, needs quotes; indent with spaces',
        ) from None
    except YAMLError as problem:
        raise error(f"not readable as YAML: {problem}", file=shown, mend="check quotes and indentation") from None
    if not isinstance(value, dict):
        raise error(f"the top of a {what} is a map", file=shown, line=1, mend=f"begin with `{what}: my-name`")
    return value, lines


class _Builder:
    def __init__(
        self, events: Iterable[Any], file: str, lines: dict[tuple[str, ...], int], what: str, error: type[InputError]
    ) -> None:
        self.events = iter(events)
        self.file = file
        self.lines = lines
        self.what = what
        self.error = error
        self.count = 0

    def document(self) -> Any:
        value: Any = None
        seen = False
        for event in self.events:
            kind = type(event).__name__
            if kind in ("StreamStartEvent", "DocumentStartEvent", "DocumentEndEvent", "StreamEndEvent"):
                continue
            if seen:
                self.fail(event, (), "a second YAML document", f"keep one {self.what} in a file")
            value, seen = self.value(event, ()), True
        return value

    def fail(self, event: Any, path: tuple[str, ...], message: str, mend: str) -> None:
        line = event.start_mark.line + 1
        raise self.error(message, file=self.file, line=line, field=".".join(path) or None, mend=mend)

    def value(self, event: Any, path: tuple[str, ...]) -> Any:
        kind = type(event).__name__
        self.lines.setdefault(path, event.start_mark.line + 1)
        if kind == "AliasEvent" or getattr(event, "anchor", None):
            self.fail(event, path, f"anchors and aliases are not read in a {self.what}", "write the value out")
        if getattr(event, "tag", None):
            self.fail(event, path, f"YAML tags are not read in a {self.what}", "take the tag out; every value is text")
        if len(path) > _MAX_DEPTH:
            self.fail(event, path, f"nested deeper than {_MAX_DEPTH}", "flatten it")
        self.count += 1
        if self.count > _MAX_VALUES:
            self.fail(event, path, f"more than {_MAX_VALUES:,} values", f"a {self.what} describes data and holds none")
        if kind == "ScalarEvent":
            plain = not event.style
            return None if plain and event.value in ("", "null", "~") else event.value
        if kind == "SequenceStartEvent":
            items: list[Any] = []
            while type(inner := next(self.events)).__name__ != "SequenceEndEvent":
                items.append(self.value(inner, (*path, str(len(items)))))
            return items
        mapping: dict[str, Any] = {}
        while type(inner := next(self.events)).__name__ != "MappingEndEvent":
            if type(inner).__name__ != "ScalarEvent":
                self.fail(inner, path, "a key must be one text", "quote it")
            key = inner.value
            if key in mapping:
                first = self.lines[(*path, key)]
                self.fail(inner, (*path, key), f"this key stands here twice, first on line {first}", "keep one")
            self.lines[(*path, key)] = inner.start_mark.line + 1
            mapping[key] = self.value(next(self.events), (*path, key))
        return mapping
