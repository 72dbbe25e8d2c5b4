"""The rubric language: a file that says everything about a judgement except the model.

`load_rubric` is the door; the names load on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judgekit.rubric.compile import Ask as Ask
    from judgekit.rubric.compile import CompiledRubric as CompiledRubric
    from judgekit.rubric.load import load_rubric as load_rubric
    from judgekit.rubric.scoring import RubricScore as RubricScore
    from judgekit.rubric.spec import Example as Example
    from judgekit.rubric.spec import RubricSpec as RubricSpec
    from judgekit.rubric.verdict import problems as problems

_LAZY = {
    "Ask": "judgekit.rubric.compile",
    "CompiledRubric": "judgekit.rubric.compile",
    "Example": "judgekit.rubric.spec",
    "RubricScore": "judgekit.rubric.scoring",
    "RubricSpec": "judgekit.rubric.spec",
    "load_rubric": "judgekit.rubric.load",
    "problems": "judgekit.rubric.verdict",
}

__all__ = ["Ask", "CompiledRubric", "Example", "RubricScore", "RubricSpec", "load_rubric", "problems"]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'judgekit.rubric' has no attribute {name!r}")
