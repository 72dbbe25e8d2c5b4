"""Does it change when only the words do? What a rewording study left in the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.report.model import LeftOut, Panel

if TYPE_CHECKING:
    from judgekit.report.context import Context

TITLE = "Stability under rewording"
ORDER = 130

__all__ = ["ORDER", "TITLE", "build"]


def build(context: Context) -> Panel | LeftOut:
    return LeftOut("the run holds no rewording study (judgekit stability)")
