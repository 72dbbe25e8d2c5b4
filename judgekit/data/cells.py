"""Cells that no spreadsheet computes, and the way back."""

from __future__ import annotations

__all__ = ["safe_cell", "unsafe_cell"]

GUARD = "'"
_RISKY = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", GUARD)


def safe_cell(text: str) -> str:
    """Text that no spreadsheet takes for a formula: a leading ``= + - @``, tab, line break or quote gets a ``'`` in front.

    `unsafe_cell` takes it off again, so the pair is exact: a text that begins with ``'`` gets a second one.
    """
    return GUARD + text if text.startswith(_RISKY) else text


def unsafe_cell(text: str) -> str:
    """The text that `safe_cell` was given."""
    return text[1:] if len(text) > 1 and text[0] == GUARD and text[1:].startswith(_RISKY) else text
