"""One writer a run: a lock that the operating system lets go of when the process ends, however it ends."""

from __future__ import annotations

import json
import os
import socket
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from judgekit.errors import InputError
from judgekit.runs.schema import no_links
from judgekit.safety import words_without_secrets

__all__ = ["WriterLock"]


class WriterLock:
    """Holds ``run.lock`` in a run's folder; raises InputError naming the process that holds it already."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "run.lock"
        no_links(folder)  # the lock is emptied below: it must not be another file of the user's
        self._file: IO[str] | None = open(self.path, "a+", encoding="utf-8")  # noqa: SIM115 - held until release()
        if not _take(self._file):
            holder = self._holder()
            self._file.close()
            self._file = None
            raise InputError(
                f"another judgekit writes to this run: {holder}",
                file=str(folder),
                mend="wait until it ends, or stop it, or write to another folder with --out",
            )
        self._file.seek(0)
        self._file.truncate()
        about = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "since": datetime.now(UTC).isoformat(timespec="seconds"),
            "command": " ".join(words_without_secrets(sys.argv))[:300],
        }
        self._file.write(json.dumps(about))
        self._file.flush()

    def _holder(self) -> str:
        try:
            about = json.loads(self.path.read_text("utf-8"))
            return f"process {about['pid']} on {about['host']} since {about['since']} ({about['command']})"
        except (OSError, ValueError, KeyError, TypeError):
            return "a process that has not said its name yet"

    def release(self) -> None:
        """Let the next writer in. The file stays: deleting it would let two writers hold two files."""
        if self._file is not None:
            self._file.seek(0)
            self._file.truncate()
            self._file.close()
            self._file = None


def _take(file: IO[str]) -> bool:
    if sys.platform == "win32":  # pragma: no cover
        import msvcrt

        try:
            # Far beyond the text, which another process must be able to read.
            file.seek(1 << 20)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
