"""What a file from a stranger may cost: its kind, its size, its depth. Everything that reads a user's file goes through here."""

from __future__ import annotations

import errno
import json
import os
import stat
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from judgekit.errors import InputError

__all__ = ["MAX_COLUMNS", "MAX_DEPTH", "gunzip", "json_value", "open_text", "read_file", "too_deep"]

MAX_FILE = 2 << 30
"""Bytes of a data file, and of what a compressed one unpacks to."""
MAX_RATIO = 200
"""How many times its size a compressed file may unpack to, once past 64 MiB. Texts reach 3 to 20."""
MAX_DEPTH = 64
"""Lists and maps inside one another, in any JSON that is read."""
MAX_COLUMNS = 10_000
"""Columns of a table, keys of a row."""


def _regular(path: str | Path, limit: int, error: type[InputError], what: str) -> int:
    # O_NONBLOCK: opening a pipe must not wait for its other end.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    about = os.fstat(handle)
    if stat.S_ISREG(about.st_mode) and about.st_size <= limit:
        return handle
    os.close(handle)
    if stat.S_ISDIR(about.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(about.st_mode):
        raise error(
            f"this is a pipe or a device, no {what}",
            file=str(path),
            mend="write what it gives into a file first, and name that file",
        )
    raise error(
        f"{about.st_size:,} bytes are too many for a {what}", file=str(path), mend=f"keep it under {limit:,} bytes"
    )


def read_file(
    path: str | Path, limit: int = MAX_FILE, error: type[InputError] = InputError, what: str = "file"
) -> bytes:
    """The bytes of a regular file of at most `limit` bytes; pipes and devices, which may never end, are refused unread.

    Raises OSError as `open` does (no such file, a folder, no permission); `error` for the rest.
    """
    with open(_regular(path, limit, error, what), "rb") as file:
        return file.read()


def open_text(path: str | Path, error: type[InputError] = InputError, what: str = "file") -> IO[str]:
    """A regular UTF-8 file, to be read line by line; errors as `read_file`. Line ends stay as they are."""
    return open(_regular(path, MAX_FILE, error, what), encoding="utf-8-sig", newline="")


def gunzip(data: bytes, path: str, error: type[InputError] = InputError, limit: int = MAX_FILE) -> bytes:
    """What a gzip file holds (all its members), as far as that is in proportion to its size; zlib.error or EOFError where it is broken."""
    most = min(limit, max(64 << 20, len(data) * MAX_RATIO))
    out = bytearray()
    while data:
        member = zlib.decompressobj(wbits=31)
        while not member.eof:
            piece = member.decompress(data, 1 << 20)
            data = member.unconsumed_tail
            out += piece
            if len(out) > most:
                raise error(
                    f"this unpacks to more than {most:,} bytes, out of all proportion to its size",
                    file=path,
                    mend="if you trust it, unpack it yourself (gunzip) and name the unpacked file",
                )
            if not piece and not data and not member.eof:
                raise EOFError("it ends in the middle")
        data = member.unused_data.lstrip(b"\0")  # padding between members is part of the format
    return bytes(out)


def too_deep(value: Any, most: int = MAX_DEPTH) -> bool:
    """Whether lists and maps stand more than `most` deep inside one another. It does not recurse."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(most):
        level = [
            inner
            for item in level
            for inner in (item.values() if isinstance(item, dict) else item)
            if isinstance(inner, dict | list)
        ]
    return bool(level)


def json_value(text: str | bytes, read: Callable[[str | bytes], Any] = json.loads) -> Any:
    """A JSON value of bounded depth; ValueError says what is wrong with it."""
    try:
        value = read(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    brackets = (text.count("[") + text.count("{")) if isinstance(text, str) else (text.count(b"[") + text.count(b"{"))
    if brackets > MAX_DEPTH and too_deep(value):
        raise ValueError(f"nested deeper than {MAX_DEPTH}")
    return value
