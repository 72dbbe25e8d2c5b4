"""judgekit: judges for medical answers, and how far a clinician can lean on them.

The names below load on first use, so that ``import judgekit`` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judgekit.analysis.agree import agree as agree
    from judgekit.analysis.compare import compare as compare
    from judgekit.analysis.cost import cost as cost
    from judgekit.analysis.failures import failures as failures
    from judgekit.analysis.reasons import reasons as reasons
    from judgekit.analysis.screen import screen as screen
    from judgekit.analysis.strata import strata as strata
    from judgekit.analysis.triage import triage as triage
    from judgekit.data import load_records as load_records
    from judgekit.judging.api import judge as judge
    from judgekit.measuring.measure import measure as measure
    from judgekit.rubric import load_rubric as load_rubric
    from judgekit.runs.store import open_run as open_run

__version__ = "0.1.0"

_LAZY = {
    "agree": "judgekit.analysis.agree",
    "compare": "judgekit.analysis.compare",
    "cost": "judgekit.analysis.cost",
    "failures": "judgekit.analysis.failures",
    "judge": "judgekit.judging.api",
    "load_records": "judgekit.data",
    "load_rubric": "judgekit.rubric",
    "measure": "judgekit.measuring.measure",
    "open_run": "judgekit.runs.store",
    "reasons": "judgekit.analysis.reasons",
    "screen": "judgekit.analysis.screen",
    "strata": "judgekit.analysis.strata",
    "triage": "judgekit.analysis.triage",
}

__all__ = [
    "__version__", "agree", "compare", "cost", "failures", "judge", "load_records", "load_rubric", "measure", "open_run", "reasons", "report", "screen", "strata", "triage",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "report":  # a package and a function: calling the package writes the report
        return import_module("judgekit.report")
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'judgekit' has no attribute {name!r}")
