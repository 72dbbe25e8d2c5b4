"""Where judgekit keeps what it fetched or built: one folder for weights, data sets and dictionaries."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["cache_folder"]


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
