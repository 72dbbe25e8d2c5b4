"""Judging: `provider` (one model, one request) and `engine` (a run's work)."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any


def __getattr__(name: str) -> Any:
    """The modules that stood here before, such as ``judging.faults``, for one release."""
    for room in ("provider", "engine"):
        if find_spec(f"{__name__}.{room}.{name}") is not None:
            return import_module(f"{__name__}.{room}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
