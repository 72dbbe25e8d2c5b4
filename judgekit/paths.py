"""Where judgekit keeps what it fetched or built, and how it writes a file: whole, or not at all."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from judgekit.errors import InputError

__all__ = ["cache_folder", "written_whole"]


def cache_folder() -> Path:
    """``$JUDGEKIT_CACHE``, else ``$XDG_CACHE_HOME/judgekit``, else the platform's own cache folder; made when something is put there."""
    if chosen := os.environ.get("JUDGEKIT_CACHE"):
        return Path(chosen).expanduser()
    if chosen := os.environ.get("XDG_CACHE_HOME"):
        return Path(chosen).expanduser() / "judgekit"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "judgekit"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "judgekit" / "cache"
    return Path.home() / ".cache" / "judgekit"


@contextmanager
def written_whole(target: Path, what: str) -> Iterator[Path]:
    """A file beside `target` to write into; it takes the target's place when the block ends well, and is removed when not.

    Raises InputError, "`what` cannot be written", where the folder is missing, read-only or full.
    """
    temporary: str | None = None
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        os.close(handle)
        yield Path(temporary)
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except OSError as error:
        raise InputError(
            f"{what} cannot be written ({error.strerror or error})",
            file=str(target),
            mend="choose a folder that exists",
        ) from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
