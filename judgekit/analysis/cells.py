"""What a triage row is computed from: one data set, rubric, judge and rater, as arrays."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from judgekit.errors import StatisticsError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Cell", "complete_by_rule", "counted", "default_complete_when", "meets_rule"]

# The fixed thresholds of the completeness rubrics (Same Verdict, section 3.3), for tables that do not carry the rubric file.
FIXED = {"general-likert": ">= 2", "analytical-rubric": ">= 4", "dynamic-checklist": ">= 0.75"}


@dataclass(frozen=True)
class Cell:
    """Records of one data set under one rubric and judge, labelled by one rater (or by raters joined in a stated way).

    Arrays have one entry a record. `score` is raw and NaN where unscored; `label` is 1 incomplete, 0 complete, -1 unlabelled;
    `fixed` is the judge's verdict by the rubric's own threshold, coded alike; `weight` is the inverse sampling probability.
    """

    dataset: str
    rubric: str | None
    judge: str | None
    rater: str | None
    ids: tuple[str, ...]
    score: npt.NDArray[np.float64]
    label: npt.NDArray[np.int8]
    fingerprint: str | None = None
    cluster: tuple[str, ...] | None = None
    rule: npt.NDArray[np.bool_] | None = None
    fixed: npt.NDArray[np.int8] | None = None
    severity: tuple[str | None, ...] | None = None
    weight: npt.NDArray[np.float64] | None = None
    unscored: dict[str, int] = field(default_factory=dict)
    stratum: tuple[str, str] | None = None
    raters: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    hashes: tuple[str, ...] | None = None  # of the records' content
    named: bool = True  # False: ids are row numbers, which say nothing about another table
    keys: tuple[str, ...] | None = None  # names to hash where ids hold row numbers, alike in any order of the rows
    higher_is_worse: bool | None = None  # what the rubric file declares; None leaves it to the caller
    n_raters: npt.NDArray[np.int64] | None = None  # how many people stand behind a joined label
    members: tuple[str, ...] = ()  # of a panel

    @property
    def scored(self) -> npt.NDArray[np.bool_]:
        import numpy as np

        return ~np.isnan(self.score)

    @property
    def used(self) -> npt.NDArray[np.bool_]:
        """Both scored and labelled."""
        return self.scored & (self.label >= 0)

    def take(self, keep: Any, **changes: Any) -> Cell:
        """The same cell over the records where `keep` (boolean, one a record) holds."""

        import numpy as np

        rows = np.flatnonzero(np.asarray(keep))
        picked: dict[str, Any] = {}
        for one in fields(self):
            values = getattr(self, one.name)
            if one.name in PER_RECORD and values is not None:
                picked[one.name] = tuple(values[i] for i in rows) if isinstance(values, tuple) else values[rows]
        return replace(self, **(picked | changes))


PER_RECORD = ("ids", "cluster", "severity", "hashes", "keys", "score", "label", "rule", "fixed", "weight", "n_raters")


def default_complete_when(rubric: str | None) -> str | None:
    """The fixed threshold of a rubric of the library by its name (its few-shot and dated variants too), or None."""
    for name, rule in FIXED.items():
        if rubric is not None and rubric.startswith(name):
            return rule
    return None


SIGNS = {">=": operator.ge, "<=": operator.le, "==": operator.eq, ">": operator.gt, "<": operator.lt}


@lru_cache(maxsize=256)
def _rule(rule: str) -> tuple[Callable[[Any, Any], Any], float]:
    text = rule.strip()
    sign = next((one for one in SIGNS if text.startswith(one)), None)
    try:
        assert sign is not None
        return SIGNS[sign], float(text[len(sign) :])
    except (AssertionError, ValueError):
        raise StatisticsError(
            f"{rule!r} is no comparison with a score", field="complete_when", mend='write ">= 4"'
        ) from None


def complete_by_rule(score: npt.NDArray[np.float64], rule: str | None) -> npt.NDArray[np.int8] | None:
    """1 incomplete, 0 complete, -1 unscored, by a comparison with the raw score such as ``>= 4``; None without a rule.

    Raises
    ------
    StatisticsError : the rule is no comparison with a number.
    """
    import numpy as np

    if rule is None:
        return None
    compare, limit = _rule(rule)
    with np.errstate(invalid="ignore"):
        complete = compare(score, limit)
    return np.where(np.isnan(score), -1, np.where(complete, 0, 1)).astype(np.int8)


def meets_rule(raw: float, rule: str) -> bool:
    """Whether one raw score is complete by a rule such as ``>= 4``."""
    compare, limit = _rule(rule)
    return bool(compare(raw, limit))


def counted(values: Sequence[str]) -> dict[str, int]:
    """How often each value occurs, most frequent first."""
    return dict(Counter(values).most_common())
