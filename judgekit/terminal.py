"""What reaches a terminal: everything that judgekit prints goes through `printable`.

Records, raters, providers, file names and error messages may hold escape sequences that clear the screen, retitle the window or hide
text, and marks that turn the order of letters round. They are shown as what they are: ``\\x1b[2J``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, cast

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Printed", "console", "printable", "printed"]

# C0 without tab and line feed, DEL, C1, and the marks that change the direction of text. A carriage return is kept before a line feed.
_CONTROL = re.compile("[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\r(?!\n)")


def printable(text: str) -> str:
    """`text` with its control characters written out: ``\\x1b`` below U+007F, else ``\\u009b``, which JSON reads as the same character."""
    return _CONTROL.sub(lambda found: _written(ord(found[0])), text)


def _written(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x7F else f"\\u{code:04x}"


class Printed:
    """A text stream that writes what is `printable` into another. `raw` is that other one, for what judgekit itself draws."""

    def __init__(self, raw: TextIO) -> None:
        self.raw = raw

    def write(self, text: str) -> int:
        self.raw.write(printable(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":  # bytes would go past `printable`
            raise AttributeError(name)
        return getattr(self.raw, name)


@contextmanager
def printed() -> Iterator[None]:
    """While it lasts, stdout and stderr show only what is `printable`."""
    streams = {name: Printed(getattr(sys, name)) for name in ("stdout", "stderr")}
    for name, stream in streams.items():
        setattr(sys, name, cast(TextIO, stream))
    try:
        yield
    finally:
        for name, stream in streams.items():
            if getattr(sys, name) is stream:  # else somebody put another in its place, for a pipe that was closed
                setattr(sys, name, stream.raw)


def console(stream: Any = None, **options: Any) -> Console:
    """A console of rich, whose own colours and movements reach the terminal, and whose texts are `printable`."""
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class Safe(Console):
        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            for piece in super().render(renderable, options):
                yield piece if piece.control else Segment(printable(piece.text), piece.style)

    stream = sys.stdout if stream is None else stream
    return Safe(file=stream.raw if isinstance(stream, Printed) else stream, **options)
