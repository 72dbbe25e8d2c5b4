"""What the contract of ``triage --json`` has no field for, as plain JSON values (``--details``)."""

from __future__ import annotations

from dataclasses import asdict
from fractions import Fraction
from math import isinf, isnan
from typing import Any

from judgekit.analysis.triage_row import Choices, Row

__all__ = ["details", "plain"]


def details(row: Row, choices: Choices) -> dict[str, Any]:
    """Headline interval with its method, exact AUC, unread risk, optimism, the unscored both ways, and extras."""
    found: dict[str, Any] = {
        "name": row.name,
        "auc_exact": None if row.auc.exact is None else str(row.auc.exact),
        "auc_reason": row.auc.reason,
        "auc_se": row.wald.se,
        "auc_interval": asdict(row.wald),
        "headline": asdict(row.headline.interval) | {"pairs": row.headline.pairs},
        "point": asdict(row.point),
        "baselines": asdict(row.baselines),
        "optimism": asdict(row.optimism),
        "unscored_cases": {
            name: value if not isinstance(value, dict) else {"auc": value["auc"], "point": asdict(value["point"])}
            for name, value in row.cases.items()
        },
        "refused": row.refused,
    }
    clean: dict[str, Any] = plain(found | {k: v for k, v in row.extra.items() if k != "lines"})
    return clean


def plain(value: Any) -> Any:
    """JSON without NaN: infinities are the strings ``inf`` and ``-inf``, fractions exact text."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Fraction):
        return str(value)
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and isnan(value):
        return None
    if isinstance(value, float) and isinf(value):
        return "inf" if value > 0 else "-inf"
    return value
