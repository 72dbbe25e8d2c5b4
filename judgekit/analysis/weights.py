"""Does a ranking hold under other weights? Composites of components under named schemes (VB-Score, section 3.2.4)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from judgekit.analysis.frames import need, numbers
from judgekit.analysis.result import Column, Result, Table, number, share, signature
from judgekit.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SCHEMES", "parse_scheme", "weight_schemes"]

_PARTS = ("entity_f1", "semantic_similarity", "factual_consistency", "structured_overlap")
SCHEMES: dict[str, dict[str, float]] = {
    name: dict(zip(_PARTS, weights, strict=True))
    for name, weights in {
        "vb-score": (0.30, 0.30, 0.25, 0.15),
        "equal": (0.25, 0.25, 0.25, 0.25),
        "entity": (0.50, 0.20, 0.20, 0.10),
        "safety": (0.20, 0.20, 0.45, 0.15),
        "semantic": (0.20, 0.50, 0.20, 0.10),
    }.items()
}
"""Table 2 of the VB-Score paper; the composite of `vb_score` comes first, and the others are compared with it."""


def parse_scheme(text: str) -> tuple[str, dict[str, float]]:
    """``name:part=.5,part=.5`` -> name and weights, each 0 or more and one above 0; they are divided by their sum."""
    match = re.fullmatch(r"\s*([^:=,]+):(.+)", text)
    try:
        assert match is not None
        weights = {
            key.strip(): float(value) for key, value in (pair.rsplit("=", 1) for pair in match.group(2).split(","))
        }
        assert weights
        assert all(0 <= value < float("inf") for value in weights.values())
        assert sum(weights.values()) > 0
    except (AssertionError, ValueError):
        raise InputError(f"{text!r} is no scheme", field="scheme", mend="write NAME:part=.5,other=.5") from None
    return match.group(1).strip(), weights


def weight_schemes(
    frame: pd.DataFrame,
    *,
    group: str,
    unit: str,
    schemes: Mapping[str, Mapping[str, float]] = SCHEMES,
    replicates: int = 1000,
    seed: int = 0,
    file: str | None = None,
) -> Result:
    """Rank groups by a weighted mean of component columns, under each scheme.

    A row that lacks a component has no composite and is counted (`n_left_out`); nothing is renormalised. Rows of a group and unit are
    averaged first, and groups are compared on the units that all of them have, so that none is ranked on easier questions.

    Returns
    -------
    Result with tables `schemes` (one row a scheme: the order; `tau`, Kendall's tau-b with the first scheme's means; `same_first`, the share of
    resamples of units in which the first place stays with the same group) and `means` (group by scheme).
    """
    import numpy as np
    import pandas as pd
    from scipy.stats import kendalltau

    if not schemes:
        raise InputError("there is no scheme of weights", field="scheme")
    parts = list(dict.fromkeys(part for weights in schemes.values() for part in weights))
    need(frame, [group, unit, *parts], file)
    data = pd.DataFrame({part: pd.Series(numbers(frame, part, file), dtype="float64") for part in parts})
    if "semantic_similarity" in data:
        # A negative cosine counts as 0 in the composite, as it does in `vb_score`.
        data["semantic_similarity"] = data["semantic_similarity"].clip(lower=0)
    data["group"], data["unit"] = frame[group].map(str), frame[unit].map(str)
    orders: list[dict[str, Any]] = []
    means: list[dict[str, Any]] = []
    first: pd.Series | None = None
    for name, weights in schemes.items():
        size = sum(weights.values())
        composite = sum(data[part] * (weight / size) for part, weight in weights.items())
        scored = data.assign(composite=composite)[pd.Series(composite).notna()]
        wide = scored.pivot_table(index="unit", columns="group", values="composite", sort=False)
        wide = wide.reindex(columns=list(dict.fromkeys(data["group"]))).dropna()
        left = len(data) - len(scored)
        row: dict[str, Any] = {"scheme": name, "weights": dict(weights), "n_units": len(wide), "n_left_out": left}
        if wide.empty or wide.shape[1] < 2:
            why = "one group only" if wide.shape[1] < 2 else "no unit has a composite in every group"
            orders.append(row | {"order": None, "tau": None, "same_first": None, "reason": why})
            continue
        average = wide.mean()
        ranked = average.sort_values(ascending=False, kind="stable")
        first = average if first is None else first
        tau = kendalltau(first.to_numpy(), average.to_numpy()).statistic
        values = wide.to_numpy()
        rng = np.random.default_rng(seed)
        picks = rng.multinomial(len(values), np.full(len(values), 1 / len(values)), size=replicates) @ values
        best = int(np.argmax(average.to_numpy()))
        order = [
            group_ + (" = " if one == two else " > ") if two is not None else group_
            for group_, one, two in zip(ranked.index, ranked, [*ranked[1:], None], strict=True)
        ]
        orders.append(
            row
            | {
                "order": "".join(order),
                "tau": None if np.isnan(tau) else float(tau),
                "same_first": float((picks.argmax(axis=1) == best).mean()),
                "reason": "a scheme gives every group the same mean" if np.isnan(tau) else None,
            }
        )
        means += [{"scheme": name, "group": str(key), "mean": float(value)} for key, value in ranked.items()]
    notes = []
    distinct = {row["order"] for row in orders if row["order"]}
    if len(distinct) == 1 and len(orders) > 1:
        notes.append("the order is the same under every scheme")
    elif distinct:
        notes.append(
            f"{len(distinct)} different orders under {len(orders)} schemes: the ranking depends on the weights"
        )
    columns = [
        Column("scheme"), Column("n_units", "units"), Column("n_left_out", "left out"), Column("order"),
        Column("tau", "tau", number(2)), Column("same_first", "same first", share),
    ]  # fmt: skip
    return Result(
        [
            Table("schemes", f"Ranking of {group} under other weights", orders, columns),
            Table("means", "Means", means, [Column("scheme"), Column("group"), Column("mean", "mean", number())]),
        ],
        signature(weights=list(schemes), group=group, unit=unit, replicates=replicates, seed=seed),
        notes,
    )
