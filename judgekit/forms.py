"""Files that people write: YAML whose scalars stay text and know their lines, models that read them, and errors in words.

A YAML library turns ``no`` into False, ``010`` into 8, ``12:30`` into 750 and ``1.0`` into a float before anybody can say what
was meant. Here every scalar stays what was written (a plain null is None), and the types of a `Form` convert it. A `Document`
holds the plain values and the place of each, and turns pydantic's errors into judgekit's: file, line, field, what is wrong, and
what to write instead.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, ClassVar, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError, core_schema

from judgekit.errors import InputError
from judgekit.limits import read_file

__all__ = [
    "LIST",
    "MAP",
    "MARK",
    "TEXT",
    "AnyText",
    "Document",
    "Form",
    "Number",
    "Place",
    "Text",
    "TextRule",
    "did_you_mean",
    "json_schema",
    "parse_yaml",
    "raise_all",
    "read_utf8",
    "read_yaml",
    "shown",
    "suggest",
    "wrong",
]

MAX_BYTES = 1_000_000
MAX_NODES = 20_000  # after aliases are counted as often as they stand for something
MAX_DEPTH = 24
MAX_ERRORS = 20
MARK = "\0"  # begins the tags of pydantic's unions: no text of YAML holds it
MAP, LIST, TEXT = f"{MARK}map", f"{MARK}list", f"{MARK}text"

_NO_MAP = "this must be a map of keys and values"
Path_ = tuple[str, ...]
M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands: its file, the lines (from 1) of its key, of the value itself, and of its text's first line."""

    file: str
    line: int
    value: int
    text: int


# words


def shown(path: Path) -> str:
    """The path as a person would write it from here: relative where it lies below the working folder."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return close[0] if close else None


def suggest(word: str, known: Iterable[str], otherwise: str = "the keys here are ") -> str:
    """What to write in place of an unknown word: the nearest known one, else all of them."""
    names = list(known)
    close = did_you_mean(word, names)
    return f"did you mean {close!r}?" if close else otherwise + ", ".join(names)


# reading


def read_utf8(
    path: Path, what: str = "rubric file", error: type[InputError] = InputError, name: str | None = None
) -> str:
    """The file's text; errors say what is wrong with it in words, and call the file `name` (by default as `shown` does)."""
    name = name or shown(path)
    try:
        size = path.stat().st_size
        if path.is_dir():
            raise error(f"this is a folder, not a {what}", file=name, mend="name the file inside it")
        if size > MAX_BYTES:
            raise error(
                f"{size:,} bytes are too many for a {what}",
                file=name,
                mend=f"keep it under {MAX_BYTES:,}; long lists belong in a data file",
            )
        data = read_file(path, MAX_BYTES, error, what)
    except FileNotFoundError:
        raise error(f"there is no such {what}", file=name, mend="check the path") from None
    except OSError as problem:
        raise error(f"the {what} cannot be read: {problem.strerror}", file=name, mend="check the path") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise error(
            f"byte {data[problem.start]:#04x} is not UTF-8",
            file=name,
            line=data.count(b"\n", 0, problem.start) + 1,
            mend="save the file with the encoding UTF-8",
        ) from None


def parse_yaml(
    text: str,
    file: str,
    what: str = "rubric",
    error: type[InputError] = InputError,
    *,
    aliases: bool = False,
    from_one: bool = True,
) -> Document:
    """The one document of a YAML text, whose top must be a map.

    Tags, merge keys, a second document, duplicate keys and nesting deeper than 24 are errors with a line. So are anchors, or,
    with `aliases`, those that stand inside themselves or blow up.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.reader import ReaderError

    builder = _Builder(YAML(typ="safe", pure=True).parse(StringIO(text)), file, what, error, aliases)
    try:
        value = builder.document()
    except MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        said = problem.problem or problem.context or "this is not YAML"
        line = mark.line + 1 if mark is not None else None
        raise error(f"not readable as YAML: {said}", file=file, line=line, mend=_yaml_mend(said)) from None
    except ReaderError as problem:
        raise error(
            f"the character U+{problem.character:04X} may not stand in YAML as it is",
            file=file,
            line=text.count("\n", 0, problem.position) + 1,
            mend='remove it, or write it as an escape in double quotes, such as "\\u0007"',
        ) from None
    except YAMLError as problem:
        raise error(f"not readable as YAML: {problem}", file=file, mend="check quotes and indentation") from None
    if not isinstance(value, dict):
        line = builder.places[()].value
        mend = f"write `{what}: my-name` first, then the other keys"
        raise error(f"the top of a {what} is a map", file=file, line=line, mend=mend)
    return Document(value, builder.places, error, from_one)


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


def read_yaml(
    path: Path, shown: str, what: str = "card", error: type[InputError] = InputError
) -> tuple[dict[str, Any], dict[Path_, int]]:
    """A file's map, and the line of every path in it."""
    document = parse_yaml(read_utf8(path, what, error, shown), shown, what, error)
    return document.value, {path: place.line for path, place in document.places.items()}


class _Builder:
    def __init__(self, events: Iterator[Any], file: str, what: str, error: type[InputError], aliases: bool) -> None:
        self.events, self.file, self.what, self.error, self.aliases = events, file, what, error, aliases
        self.places: dict[Path_, Place] = {}
        self.anchors: dict[str, tuple[Any, Path_, int] | None] = {}
        self.count = 0

    def document(self) -> Any:
        value: Any = None
        seen = False
        for event in self.events:
            if type(event).__name__ in ("StreamStartEvent", "DocumentStartEvent", "DocumentEndEvent", "StreamEndEvent"):
                continue
            if seen:
                self.fail(event, "a second YAML document", f"keep one {self.what} in a file")
            value, seen = self.value(event, (), None), True
        if not seen:
            raise self.error("the file is empty", file=self.file, line=1, mend=f"begin with `{self.what}: my-name`")
        return value

    def fail(self, event: Any, message: str, mend: str, path: Path_ = ()) -> NoReturn:
        line = event.start_mark.line + 1
        raise self.error(message, file=self.file, line=line, field=".".join(path) or None, mend=mend)

    def spend(self, size: int, event: Any) -> None:
        self.count += size
        if self.count > MAX_NODES:
            self.fail(
                event, f"more than {MAX_NODES:,} values (aliases counted as often as they are used)", "write less"
            )

    def value(self, event: Any, path: Path_, key: int | None) -> Any:
        kind = type(event).__name__
        line = event.start_mark.line + 1
        anchor: str | None = getattr(event, "anchor", None)
        if anchor is not None and not self.aliases:
            self.fail(event, f"anchors and aliases are not read in a {self.what}", "write the value out", path)
        if kind == "AliasEvent":
            return self.alias(event, anchor or "", path, key)
        if (tag := getattr(event, "tag", None)) is not None:
            self.fail(event, f"YAML tags ({tag}) are not read", "take the tag out; every value is text", path)
        if len(path) > MAX_DEPTH:
            self.fail(event, f"nested deeper than {MAX_DEPTH}", "flatten it", path)
        if anchor is not None:
            self.anchors[anchor] = None
        before = self.count
        self.spend(1, event)
        block = kind == "ScalarEvent" and event.style in ("|", ">")
        self.places[path] = Place(self.file, line if key is None else key, line, line + block)
        value: Any
        if kind == "ScalarEvent":
            value = None if not event.style and event.value in ("", "null", "~") else event.value
            if value is None and key is not None:
                self.places[path] = Place(self.file, key, key, key)  # nothing stands on the key's own line
        elif kind == "SequenceStartEvent":
            value = []
            while type(inner := next(self.events)).__name__ != "SequenceEndEvent":
                value.append(self.value(inner, (*path, str(len(value))), None))
        else:
            value = self.mapping(path)
        if anchor is not None:
            self.anchors[anchor] = (value, path, self.count - before)
        return value

    def mapping(self, path: Path_) -> dict[str, Any]:
        value: dict[str, Any] = {}
        while type(inner := next(self.events)).__name__ != "MappingEndEvent":
            self.spend(1, inner)
            if type(inner).__name__ != "ScalarEvent":
                mend = "a text that starts with [ or { needs quotes"
                self.fail(inner, "a key must be one text, not a list or a map", mend)
            key, here = inner.value, (*path, inner.value)
            if key == "<<" and not inner.style:
                mend = "use `extends: other-rubric`, or write the keys out"
                self.fail(inner, "YAML merge keys are not read", mend, ("<<",))
            if key in value:
                first = self.places[here].line
                self.fail(inner, f"this key stands here twice, first on line {first}", "keep one", here)
            value[key] = self.value(next(self.events), here, inner.start_mark.line + 1)
        return value

    def alias(self, event: Any, anchor: str, path: Path_, key: int | None) -> Any:
        if anchor not in self.anchors:
            mend = f"write &{anchor} where it is defined"
            self.fail(event, f"the alias *{anchor} has no anchor before it", mend)
        known = self.anchors[anchor]
        if known is None:
            self.fail(event, f"the alias *{anchor} stands inside its own anchor", "write the text out")
        value, origin, size = known
        self.spend(size, event)
        self.spread(value, origin, path, event)
        if key is not None:
            place = self.places[path]
            self.places[path] = Place(place.file, key, place.value, place.text)
        return value

    def spread(self, value: Any, origin: Path_, path: Path_, event: Any) -> None:
        if len(path) > MAX_DEPTH:  # aliases inside what other aliases stand for add up
            self.fail(event, f"nested deeper than {MAX_DEPTH}", "flatten it", path[:1])
        self.places[path] = self.places[origin]
        inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for part, item in inner:
            self.spread(item, (*origin, str(part)), (*path, str(part)), event)


# errors


def wrong(message: str, mend: str | None = None, *, key: bool = False, at: str | None = None) -> PydanticCustomError:
    """What a validator raises: what is wrong and what to write; `key` where the key is at fault, `at` a key inside."""
    return PydanticCustomError("form", "{message}", {"message": message, "mend": mend, "key": key, "at": at})


def raise_all(errors: list[Any]) -> None:
    """Raise the first of `errors`, which carries the others; do nothing where there is none."""
    if errors:
        errors[0].also = tuple(errors[1:MAX_ERRORS])
        raise errors[0]


@dataclass(frozen=True, slots=True)
class Document:
    """A file's plain values, the place of each, and the class of its errors. `from_one` counts list items from 1 in words."""

    value: dict[str, Any]
    places: dict[Path_, Place]
    error_class: type[InputError]
    from_one: bool = True

    def listed(self, key: str) -> None:
        """Where one text or map stands under a key of the top, make it a list of one; lines and all."""
        if isinstance(self.value.get(key), str | dict):
            self.value[key] = [self.value[key]]
            mine = [(path, place) for path, place in self.places.items() if path[:1] == (key,)]
            self.places.update({(key, "0", *path[1:]): place for path, place in mine})

    def place(self, path: Iterable[Any]) -> Place | None:
        """The place of a path; of what holds it where it has none."""
        known = tuple(map(str, path))
        while known and known not in self.places:
            known = known[:-1]
        return self.places.get(known)

    def field(self, path: Path_) -> str:
        """A path in words: ``checks[1].expect``, or ``checks.0.expect`` where lists are not counted from 1."""
        out = ""
        value: Any = self.value
        for part in path:
            if isinstance(value, str):
                break  # one text that stands for a list of one
            item = self.from_one and isinstance(value, list)
            out += f"[{int(part) + 1}]" if item else f".{part}" if out else part
            value = _inside(value, part)
        return out

    def fields(self) -> dict[str, Place]:
        """The place of every value, by its field's name."""
        found: dict[str, Place] = {}

        def walk(value: Any, path: Path_, name: str) -> None:
            if path:
                found[name] = self.places[path]
            if isinstance(value, dict):
                for key, inner in value.items():
                    walk(inner, (*path, key), f"{name}.{key}" if name else key)
            elif isinstance(value, list):
                for i, inner in enumerate(value):
                    walk(inner, (*path, str(i)), f"{name}[{i + 1}]")

        walk(self.value, (), "")
        return found

    def error(self, path: Iterable[Any], message: str, mend: str | None = None, *, key: bool = False) -> Any:
        """An error at a path: in the line of its value, or of its key.

        One text of a list is called by the list's name: the line shows which.
        """
        known = tuple(map(str, path))
        place = self.place(known)
        holder: Any = self.value
        for part in known[:-1]:
            holder = _inside(holder, part)
        text = (
            isinstance(holder, list)
            and not key
            and message != _NO_MAP
            and not isinstance(_inside(holder, known[-1]), dict)
        )
        return self.error_class(
            message,
            file=None if place is None else place.file,
            line=None if place is None else place.line if key else place.value,
            field=self.field(known[:-1] if text else known) or None,
            mend=mend,
        )

    def read(self, model: type[M], value: Any = None) -> M:
        """The values as `model`; all that is wrong with them, in the order of the file, as one error."""
        try:
            return model.model_validate(self.value if value is None else value)
        except ValidationError as error:
            raise_all(self.translated(error))
            raise

    def translated(self, error: ValidationError) -> list[Any]:
        """Each of pydantic's errors in words, in the order of the file."""
        found = []
        for item in error.errors(include_url=False):
            path = _path(item["loc"])
            context: Mapping[str, Any] = item.get("ctx", {})
            message, mend, key = str(item["msg"]), context.get("mend"), bool(context.get("key"))
            if path[-1:] == ("[key]",):
                path, key = path[:-1], True
            if context.get("at") is not None:
                path, key = (*path, context["at"]), True
            if item["type"] == "missing" and len(path) > 1:
                message, path = f"`{path[-1]}` is missing", path[:-1]
            elif item["type"] == "missing":
                message = "is missing"
            found.append((item["type"] == "missing", self.error(path, message, mend or None, key=key)))
        return [each for _, each in sorted(found, key=lambda each: (each[1].line or 0, each[0]))]


def _inside(value: Any, part: str) -> Any:
    if isinstance(value, dict):
        return value.get(part)
    return value[int(part)] if isinstance(value, list) and part.isdigit() and int(part) < len(value) else None


def _path(loc: Iterable[Any]) -> Path_:
    """A path of pydantic's as the file has it, without the marks of the form that was chosen."""
    return tuple(str(part) for part in loc if not str(part).startswith(MARK))


# models


class Form(BaseModel):
    """A map in a file: closed, and null is absent. `example` and `mends` (by key) are what its errors say to write."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    example: ClassVar[str] = ""
    mends: ClassVar[dict[str, str]] = {}

    @model_validator(mode="wrap")
    @classmethod
    def _in_words(cls, value: Any, handler: Any) -> Any:
        if isinstance(value, cls):
            return value
        if not isinstance(value, dict):
            raise wrong(_NO_MAP, f"write for example {cls.example}" if cls.example else "write `key: value`")
        try:
            return handler({key: inner for key, inner in value.items() if inner is not None})
        except ValidationError as error:
            found = error.errors(include_url=False)
            names = [field.alias or name for name, field in cls.model_fields.items()]
            # A key that is missing because it is misspelt is one mistake.
            meant = {did_you_mean(str(item["loc"][0]), names) for item in found if item["type"] == "extra_forbidden"}
            items = [
                cls._worded(item, value)
                for item in found
                if not (item["type"] == "missing" and len(item["loc"]) == 1 and item["loc"][0] in meant)
            ]
            raise ValidationError.from_exception_data(cls.__name__, items) from None

    @classmethod
    def _worded(cls, item: Any, value: dict[str, Any]) -> InitErrorDetails:
        kind, context, path = item["type"], item.get("ctx", {}), _path(item["loc"])
        own = len(path) == 1
        sample = f"write for example {cls.example}" if cls.example else "add it"
        mend = cls.mends.get(path[0], sample) if path else None
        said = str(item["msg"])
        if kind == "form" or (kind == "missing" and not own):
            made = PydanticCustomError(kind, "{message}", context)
        elif kind == "extra_forbidden":
            names = [field.alias or name for name, field in cls.model_fields.items()]
            made = wrong("unknown key", suggest(path[-1], names), key=True)
        elif kind == "missing" and path[0] in value:
            made = wrong("this text is empty", "write something, or remove the key")
        elif kind == "missing":
            made = PydanticCustomError("missing", "{message}", {"message": "is missing", "mend": mend})
        elif kind == "literal_error":
            expected = f"write {context['expected']}"
            made = _not_text(item["input"]) or wrong(
                f"{item['input']!r} is not usable here", cls.mends.get(path[0], expected)
            )
        elif kind in ("list_type", "tuple_type", "dict_type"):
            made = wrong(_NO_MAP if kind == "dict_type" else "this must be a list", mend)
        elif kind == "value_error":
            message, _, rest = said.removeprefix("Value error, ").partition(": ")
            made = wrong(message, rest or None)
        else:
            made = wrong(f"{item['input']!r}: {said[0].lower()}{said[1:]}" if isinstance(item["input"], str) else said)
        return InitErrorDetails(type=made, loc=item["loc"], input=item["input"])


def _not_text(value: Any) -> PydanticCustomError | None:
    if value is None or isinstance(value, str):
        return None
    return wrong("this must be one text", 'a text that starts with [ or { or holds ": " needs quotes')


@dataclass(frozen=True, slots=True)
class _Rule:
    """Annotates a type with a reader of one text and the schema that an editor has for it."""

    def __call__(self, value: Any) -> Any:
        raise NotImplementedError

    def schema(self) -> dict[str, Any]:
        # An editor sees YAML through its own eyes (`no` may be a boolean, `1.0` a number): any scalar is a text.
        return {"type": ["string", "number", "boolean"]}

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self)

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        return self.schema()


@dataclass(frozen=True, slots=True)
class TextRule(_Rule):
    """One text; nothing but space only with `blank`."""

    blank: bool = False

    def __call__(self, value: Any) -> str:
        if (problem := _not_text(value)) is not None:
            raise problem
        if value is None or not (self.blank or value.strip()):
            raise wrong("this text is empty", "write something, or remove the key")
        return str(value)


_INT = re.compile(r"-?(0|[1-9][0-9]*)", re.ASCII)
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Number(_Rule):
    """A number from `low` to `high` (inclusive; None is unbounded), whole ones only with `whole`."""

    low: int | float | None = None
    high: int | float | None = None
    whole: bool = False

    def __call__(self, value: Any) -> int | float:
        text = TextRule()(value)
        if self.whole and (not _INT.fullmatch(text) or len(text) > 18):
            raise wrong(f"{text!r} is not a whole number", "write digits only, such as 3")
        if not _NUMBER.fullmatch(text):
            raise wrong(f"{text!r} is not a number", "write digits, such as 3 or 0.75")
        number: int | float = int(text) if _INT.fullmatch(text) and len(text) <= 18 else float(text)
        if not self.whole and abs(number) > 1e15:
            raise wrong(f"{text} is too large", "write a smaller number")
        if isinstance(number, float) and number.is_integer():
            number = int(number)  # 0.0 is 0: the same sampling must not have two fingerprints
        return self.bounded(number)

    def bounded(self, number: int | float) -> int | float:
        """`number`, where it is within the bounds."""
        low, high = self.low, self.high
        if (low is not None and number < low) or (high is not None and number > high):
            span = (
                f"from {low} to {high}"
                if None not in (low, high)
                else f"of {low} or more"
                if high is None
                else f"up to {high}"
            )
            raise wrong(f"{number} is out of range", f"write a number {span}")
        return number

    def schema(self) -> dict[str, Any]:
        ends = {name: end for name, end in (("minimum", self.low), ("maximum", self.high)) if end is not None}
        if self.whole:
            return {"type": ["integer", "string"], "pattern": "^-?[0-9]+$", **ends}
        return {"type": ["number", "string"], "pattern": "^[-+]?[0-9]*\\.?[0-9]+([eE][-+]?[0-9]+)?$", **ends}


Text = Annotated[str, TextRule()]
AnyText = Annotated[str, TextRule(blank=True)]


def json_schema(model: type[BaseModel], title: str, description: str) -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a file that `model` reads, for editors; pydantic's made-up titles are left out."""

    def bare(value: Any, names: bool = False) -> Any:
        if isinstance(value, dict):
            dropped = () if names else ("title", "default")
            return {
                key: bare(inner, key in ("properties", "$defs") and not names)
                for key, inner in value.items()
                if key not in dropped
            }
        return [bare(item) for item in value] if isinstance(value, list) else value

    made = bare(model.model_json_schema())
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, "description": description}
    return {**made, **head}
