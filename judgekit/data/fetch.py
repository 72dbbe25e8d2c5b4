"""Files from where their owners publish them: resumed, checked, kept; or put there by hand when the network is closed."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from judgekit import paths
from judgekit.data.cards import Card, SourceFile, card_names, load_card
from judgekit.errors import DataError

__all__ = ["cache_folder", "cached", "fetch", "locate", "sha256_of"]

_CHUNK = 1 << 18
_AGENT = "clinical-judgekit"
Progress = Callable[[int, int | None], None]


def cache_folder() -> Path:
    """Where fetched data sets are kept: ``data`` in the cache folder (`judgekit.paths`)."""
    return paths.cache_folder() / "data"


def sha256_of(path: Path) -> str:
    """sha256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def cached(card: Card, source: SourceFile) -> Path:
    """Where a source file lies, or will lie."""
    return cache_folder() / card.name / source.file


def locate(card: Card) -> Path:
    """The file that holds a card's data: the project's own example, or a fetched file (of the card's shape, where one is named).

    Raises DataError, saying how to fetch it, when it is not there.
    """
    if card.spec.bundled is not None:
        return Path(card.path).parent / card.spec.bundled
    wanted = [item for item in card.spec.source if card.shape is None or item.shape in (None, card.shape)]
    for source in wanted:
        if cached(card, source).is_file():
            return cached(card, source)
    if not card.spec.source:
        raise DataError(
            f"the card {card.name!r} names no file: it describes a form",
            field="data",
            mend=f"give your own file: FILE --card {card.name}",
        )
    raise DataError(f"{card.name} is not here yet", field="data", mend=f"judgekit data fetch {card.name}")


def locate_name(name: str) -> tuple[Path, Card] | None:
    """The file and card of a data set by its name, or None when there is no such card."""
    if name.partition("/")[0] not in card_names():
        return None
    card = load_card(name)
    return locate(card), card


def fetch(
    card: str | Path | Card,
    *,
    file: str | None = None,
    origin: str | Path | None = None,
    progress: Progress | None = None,
    again: bool = False,
) -> list[Path]:
    """Fetch a card's files into the cache and return where they lie.

    Parameters
    ----------
    file : only the source file of this name; by default all of them.
    origin : a file, a folder's file or a URL to take it from instead of the owner's address (one file at a time).
    progress : called with bytes so far and in all (None where unknown).
    again : fetch also what is there.

    A file that was cut off is continued where the server can; a size or checksum that the card knows must match, else the file is
    thrown away. Raises DataError with steps by hand when the owner's address cannot be reached.
    """
    found = load_card(card)
    sources = [item for item in found.spec.source if file is None or item.file == file]
    if not sources:
        names = ", ".join(item.file for item in found.spec.source)
        raise DataError(
            f"the card {found.name!r} has no file {file!r}" if file else f"the card {found.name!r} names no file",
            file=found.path,
            field="source",
            mend=f"choose one of {names}" if names else f"give your own file: FILE --card {found.name}",
        )
    if origin is not None and len(sources) > 1:
        raise DataError(
            f"{found.name} has {len(sources)} files: which one is this?",
            field="from",
            mend=f"say --file and one of {', '.join(item.file for item in sources)}",
        )
    return [_one(found, source, origin, progress, again) for source in sources]


def _one(card: Card, source: SourceFile, origin: str | Path | None, progress: Progress | None, again: bool) -> Path:
    target = cached(card, source)
    if target.is_file() and not again and origin is None:
        _verify(target, source, card, keep=True)
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    address = str(origin) if origin is not None else source.url
    scheme = urlsplit(address).scheme
    if scheme in ("http", "https"):
        _download(address, part, progress, card, source)
    else:
        local = _local(address)
        if not local.is_file():
            raise DataError("there is no such file", file=str(local), field="from", mend="check the path")
        shutil.copyfile(local, part)
        if progress is not None:
            progress(part.stat().st_size, part.stat().st_size)
    _verify(part, source, card, keep=False)
    os.replace(part, target)
    return target


def _local(address: str) -> Path:
    from urllib.request import url2pathname

    parts = urlsplit(address)
    if parts.scheme == "file":
        return Path(url2pathname(parts.path))
    if parts.scheme and len(parts.scheme) > 1:
        raise DataError(f"cannot fetch from {parts.scheme}:// addresses", field="from", mend="use http(s), or a file")
    return Path(address)


def _download(address: str, part: Path, progress: Progress | None, card: Card, source: SourceFile) -> None:
    for attempt in range(2):
        start = part.stat().st_size if part.is_file() else 0
        headers = {"User-Agent": _AGENT, **({"Range": f"bytes={start}-"} if start else {})}
        try:
            with urlopen(Request(address, headers=headers), timeout=60) as reply:
                if start and (reply.status != 206 or not _continues(reply, start)):
                    start = 0  # the server began anew
                length = reply.headers.get("Content-Length")
                total = start + int(length) if length and length.isdigit() else None
                _write(reply, part, start, total, progress)
            size = part.stat().st_size
            if total is not None and size < total:
                raise DataError(
                    f"the connection ended after {size:,} of {total:,} bytes",
                    field=source.file,
                    mend="run the same command again: it goes on from there",
                )
            return
        except HTTPError as error:
            error.close()
            if error.code == 416 and attempt == 0:  # what we hold is no beginning of that file
                part.unlink(missing_ok=True)
                continue
            raise _closed(address, f"the server answers {error.code} {error.reason}", card, source) from None
        except (URLError, OSError) as error:
            reason = getattr(error, "reason", error)
            raise _closed(address, str(reason) or type(error).__name__, card, source) from None


def _continues(reply: Any, start: int) -> bool:
    return str(reply.headers.get("Content-Range", "")).startswith(f"bytes {start}-")


def _write(reply: Any, part: Path, start: int, total: int | None, progress: Progress | None) -> None:
    done = start
    with part.open("r+b" if start else "wb") as file:
        file.seek(start)
        while block := reply.read(_CHUNK):
            file.write(block)
            done += len(block)
            if progress is not None:
                progress(done, total)
        file.truncate()


def _verify(path: Path, source: SourceFile, card: Card, *, keep: bool) -> None:
    size = path.stat().st_size
    wrong = None
    if source.bytes is not None and size != source.bytes:
        wrong = f"has {size:,} bytes, the card says {source.bytes:,}"
    elif source.sha256 is not None and (got := sha256_of(path)) != source.sha256:
        wrong = f"has the sha256 {got}, the card says {source.sha256}"
    elif size == 0:
        wrong = "is empty"
    if wrong is None:
        return
    if not keep:
        path.unlink()
    raise DataError(
        f"{source.file} {wrong}",
        file=str(path) if keep else None,
        field="source",
        mend="fetch it again (--again)"
        if keep
        else f"fetch it again, or see {card.spec.homepage or source.url}: the owner may have published a new version",
    )


def _closed(address: str, reason: str, card: Card, source: SourceFile) -> DataError:
    target = cached(card, source)
    return DataError(
        f"{address} cannot be reached ({reason})",
        field=source.file,
        mend=f"by hand: open {card.spec.homepage or address}, save {source.file}, then: "
        f"judgekit data fetch {card.name} --file {source.file} --from PATH (it is kept at {target})",
    )
