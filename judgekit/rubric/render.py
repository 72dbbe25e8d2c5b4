"""What a prompt template becomes, and how it is filled: fenced, character-exact, with a nonce that no input holds.

The templates are jinja2 in syntax only. `template.py` checks the syntax tree against a short list of what is allowed and
turns it into the few instructions below; filling them never touches a Python attribute, calls nothing, and has a single
place where text of a record enters a prompt: `Fenced`. That is a smaller surface than any sandbox.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgekit.errors import RubricError

__all__ = [
    "Budget",
    "Compare",
    "Fenced",
    "For",
    "If",
    "Logic",
    "Node",
    "Print",
    "Ref",
    "Text",
    "canonical",
    "fence",
    "fill_static",
    "render",
]

_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,16}", re.ASCII)
_PLAIN_ATTRIBUTES = ("id", "role", "kind", "letter", "value", "label")
NONCE_CHARS = 12
NOT_GIVEN = "(not given)"
MAX_STEPS = 500_000
MAX_CHARS = 20_000_000


class Budget:
    """What filling may cost: loops inside loops multiply, and a few lines of a stranger's rubric could fill for ever."""

    def __init__(self) -> None:
        self.steps = self.chars = 0

    def spend(self, chars: int) -> None:
        """One step that adds so many characters; RubricError where it is one too many."""
        self.steps += 1
        self.chars += chars
        if self.steps > MAX_STEPS or self.chars > MAX_CHARS:
            raise RubricError(
                f"filling the prompt takes more than {MAX_STEPS:,} steps or {MAX_CHARS:,} characters",
                field="prompt",
                mend="take out loops that stand inside loops",
            )


@dataclass(frozen=True, slots=True)
class Text:
    """The rubric's own words."""

    text: str


@dataclass(frozen=True, slots=True)
class Ref:
    """A value: an input (`attribute` None), or a loop variable, or one of its attributes, or ``loop.index``."""

    name: str
    attribute: str | None = None
    loop: bool = False


@dataclass(frozen=True, slots=True)
class Print:
    """`fence` is the tag's name, or None for the rubric's own words (levels, positions)."""

    ref: Ref
    fence: str | None


@dataclass(frozen=True, slots=True)
class For:
    variable: str
    source: Ref
    body: tuple[Node, ...]
    orelse: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Compare:
    """`op` is ``none``, ``eq``, ``ne``, ``in``, ``notin`` or ``true`` (for ``loop.first``)."""

    op: str
    ref: Ref
    operands: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Logic:
    """`op` is ``and``, ``or`` or ``not``."""

    op: str
    parts: tuple[Compare | Logic, ...]


@dataclass(frozen=True, slots=True)
class If:
    test: Compare | Logic
    body: tuple[Node, ...]
    orelse: tuple[Node, ...]


Node = Text | Print | For | If


def canonical(node: Any) -> Any:
    """A template as plain lists, for hashing; comments and line breaks inside tags are gone already."""
    if isinstance(node, tuple | list):
        return [canonical(item) for item in node]
    if isinstance(node, Text):
        return node.text
    if isinstance(node, Ref | Print | For | If | Compare | Logic):
        return [type(node).__name__, *(canonical(getattr(node, name)) for name in node.__slots__)]
    return node


@dataclass(frozen=True, slots=True)
class Fenced:
    """Text of a record, waiting for its nonce."""

    name: str
    text: str


def fence(name: str, text: str, nonce: str) -> str:
    """`text`, character for character, between its own two lines."""
    return f"<{name}-{nonce}>\n{text}\n</{name}-{nonce}>"


def render(program: Sequence[Node], inputs: Mapping[str, Any], seed: str = "") -> str:
    """The finished message.

    Parameters
    ----------
    program : the instructions.
    inputs : every name that the program may refer to; None is an absent input.
    seed : hash of the template. The nonce is a hash of it and of all fenced texts, taken again until no text holds it.
    """
    pieces: list[str | Fenced] = []
    _fill(program, dict(inputs), pieces, Budget())
    fenced = [piece for piece in pieces if isinstance(piece, Fenced)]
    if not fenced:
        return "".join(piece for piece in pieces if isinstance(piece, str)).strip("\n")
    nonce = _nonce(seed, fenced)
    return "".join(piece if isinstance(piece, str) else fence(piece.name, piece.text, nonce) for piece in pieces).strip(
        "\n"
    )


def fill_static(program: Sequence[Node], names: Mapping[str, Any], budget: Budget | None = None) -> str:
    """The text of a part that holds nothing of a record."""
    pieces: list[str | Fenced] = []
    _fill(program, dict(names), pieces, budget or Budget())
    return "".join(piece if isinstance(piece, str) else piece.text for piece in pieces)


def _nonce(seed: str, fenced: list[Fenced]) -> str:
    digest = hashlib.sha256(seed.encode())
    for piece in fenced:
        data = piece.text.encode("utf-8", "surrogatepass")
        digest.update(f"{piece.name} {len(data)} ".encode())
        digest.update(data)
    nonce = digest.hexdigest()[:NONCE_CHARS]
    while any(nonce in piece.text.lower() for piece in fenced):
        digest.update(b"again")
        nonce = digest.hexdigest()[:NONCE_CHARS]
    return nonce


def _fill(program: Sequence[Node], names: dict[str, Any], out: list[str | Fenced], budget: Budget) -> None:
    for node in program:
        if isinstance(node, Text):
            budget.spend(len(node.text))
            out.append(node.text)
        elif isinstance(node, Print):
            piece = _shown(node, _value(node.ref, names))
            budget.spend(len(piece if isinstance(piece, str) else piece.text))
            out.append(piece)
        elif isinstance(node, If):
            budget.spend(0)
            _fill(node.body if _holds(node.test, names) else node.orelse, names, out, budget)
        else:
            items = _items(_value(node.source, names))
            if not items:
                _fill(node.orelse, names, out, budget)
            for i, item in enumerate(items):
                budget.spend(0)
                loop = {"index": i + 1, "first": i == 0, "last": i == len(items) - 1}
                _fill(node.body, {**names, node.variable: item, "loop": loop}, out, budget)


def _items(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [{"id": str(key), "text": text} for key, text in value.items()]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return list(value)
    return [] if value is None else [value]


def _value(ref: Ref, names: Mapping[str, Any]) -> Any:
    value = names.get(ref.name)
    if ref.attribute is None:
        return value
    return value.get(ref.attribute) if isinstance(value, Mapping) else None


def _shown(node: Print, value: Any) -> str | Fenced:
    if value is None:
        return NOT_GIVEN
    if node.fence is None:
        return _plain(value)
    if node.ref.attribute is not None:
        if isinstance(value, int | float):
            return _plain(value)
        if node.ref.attribute in _PLAIN_ATTRIBUTES and isinstance(value, str) and _PLAIN.fullmatch(value):
            return value
    return Fenced(node.fence, _plain(value))


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _holds(test: Compare | Logic, names: Mapping[str, Any]) -> bool:
    if isinstance(test, Logic):
        results = (_holds(part, names) for part in test.parts)
        if test.op == "not":
            return not next(results)
        return all(results) if test.op == "and" else any(results)
    value = _value(test.ref, names)
    if test.op == "none":
        return value is None
    if test.op == "true":
        return bool(value)
    equal = any(type(value) is type(operand) and value == operand for operand in test.operands)
    return equal if test.op in ("eq", "in") else not equal
