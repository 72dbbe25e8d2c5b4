"""judgekit: judges for medical answers, and how far a clinician can lean on them.

The names below load on first use, so that ``import judgekit`` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judgekit.analysis.triage import triage as triage
    from judgekit.data import load_records as load_records
    from judgekit.judging.api import judge as judge
    from judgekit.measuring.measure import measure as measure
    from judgekit.rubric import load_rubric as load_rubric
    from judgekit.runs.store import open_run as open_run

__version__ = "0.1.0"

_LAZY = {
    "judge": "judgekit.judging.api",
    "load_records": "judgekit.data",
    "load_rubric": "judgekit.rubric",
    "measure": "judgekit.measuring.measure",
    "open_run": "judgekit.runs.store",
    "triage": "judgekit.analysis.triage",
}

__all__ = ["__version__", "judge", "load_records", "load_rubric", "measure", "open_run", "triage"]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'judgekit' has no attribute {name!r}")
