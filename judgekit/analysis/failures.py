"""Failures by component (VB-Score): shares under thresholds, dangerous overlaps, the semantic-entity gap, examples to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

from judgekit.analysis.frames import TEXTS, filtered, need, numbers
from judgekit.analysis.options import Filtered, Seeded, function, opt
from judgekit.analysis.result import Column, Result, Table, interval, number, share, signature
from judgekit.analysis.weights import SCHEMES, parse_scheme, weight_schemes
from judgekit.errors import InputError, UsageError

if TYPE_CHECKING:
    import pandas as pd

    from judgekit.analysis.source import Source

__all__ = ["HIGH_SIMILARITY", "THRESHOLDS", "Failures", "failures", "failures_frame", "parse_threshold"]

THRESHOLDS = {
    "entity_f1": 0.10,
    "semantic_similarity": 0.30,
    "factual_consistency": 0.50,
    "structured_overlap": 0.10,
    "vb_score": 0.20,
}
"""A value under its threshold fails; the threshold itself passes (VB-Score, section 3.2.5)."""

HIGH_SIMILARITY = 0.50
"""From here on an answer counts as fluent. The paper names no cut for its "high similarity"; half of the scale is ours."""

OVERLAPS = {"fluent but vague": "entity_f1", "fluent but contradicted": "factual_consistency"}


class Failures(Filtered, Seeded):
    """Failure flags of the local metrics.

    Shares under each component's threshold, dangerous overlaps (fluent but vague, fluent but contradicted), the semantic-entity
    gap in points, correlations of components, and the worst answers to read.
    """

    name: ClassVar[str] = "failures"

    by: str | None = opt(None, "Split by this field. [model, where there is one]", metavar="FIELD")
    unit: str | None = opt(
        None, "Table: column of the question; 'none' when rows are independent.", only="table records", metavar="COL"
    )
    metric: tuple[str, ...] = opt(
        (),
        "Run: which notation, where a metric was measured in several ways. [repeatable]",
        only="run",
        metavar="NOTATION",
    )
    threshold: tuple[str, ...] = opt(
        (), "Under X fails; replaces or adds to the paper's. [repeatable]", metavar="NAME=X"
    )
    high_similarity: float = opt(HIGH_SIMILARITY, "From here on an answer counts as fluent.")
    examples: int = opt(5, "How many of the worst answers to show.", ge=0)
    weights: bool = opt(False, "Also: does the ranking hold under other weights of the components?")
    scheme: tuple[str, ...] = opt(
        (), "A scheme of weights, besides the paper's five. [repeatable]", metavar="NAME:PART=.5,..."
    )

    def analyse(self, source: Source) -> Result:
        asked = (
            source
            if source.kind != "run" or self.metric
            else source.again(self.model_copy(update={"metric": ("all",)}))
        )
        frame = asked.frame()
        notations = frame.attrs.get("notations", [])
        frame = filtered(frame, self.where, source.file)
        unit: str | None = "unit" if source.kind == "run" else self.unit or source.unit(frame, "unit", needed=False)
        unit = None if unit == "none" else unit
        by = self.by
        if by is None and "model" in frame.columns and frame["model"].notna().all() and frame["model"].nunique() > 1:
            by = "model"
        found = failures_frame(
            frame, by=by, unit=unit, thresholds=dict(parse_threshold(text) for text in self.threshold),
            high_similarity=self.high_similarity, examples=self.examples, replicates=self.replicates, seed=self.seed,
            notations=notations, missing=self.missing, file=source.file,
        )  # fmt: skip
        found.signature += f"|source:{source.name}"
        if self.weights or self.scheme:
            if by is None:
                raise UsageError("a ranking needs groups", field="by", mend="--by model")
            if unit is None:
                raise UsageError("a ranking needs the question's column", field="unit", mend="--unit COL")
            schemes = {**(SCHEMES if self.weights else {}), **dict(parse_scheme(text) for text in self.scheme)}
            ranked = weight_schemes(frame, group=by, unit=unit, schemes=schemes, seed=self.seed, file=source.file)
            found.tables += ranked.tables
            found.notes += ranked.notes
            found.signature += f"|weights:{','.join(schemes)}"
        return found


failures = function(Failures)


def parse_threshold(text: str) -> tuple[str, float]:
    """``entity_f1=.2`` -> name and number."""
    name, _, value = text.partition("=")
    try:
        limit = float(value)
    except ValueError:
        limit = float("nan")
    if not name.strip() or limit != limit:
        raise InputError(f"{text!r} is no threshold", field="threshold", mend="write name=0.2")
    return name.strip(), limit


def failures_frame(
    frame: pd.DataFrame,
    *,
    by: str | None = None,
    unit: str | None = None,
    thresholds: Mapping[str, float] | None = None,
    high_similarity: float = HIGH_SIMILARITY,
    examples: int = 5,
    replicates: int = 2000,
    seed: int = 0,
    notations: Sequence[str] = (),
    missing: Sequence[str] = (),
    file: str | None = None,
) -> Result:
    """How often, where and how badly components fail.

    Parameters
    ----------
    frame : one row an answer, a column a component (those of `THRESHOLDS` and any other in `thresholds`); a component that a row lacks
        neither fails nor passes: it is counted in `n_undefined`.
    by : a column to split by (the model); unit : the column of independent units (the question), for intervals by cluster.
    thresholds : replaces or adds to `THRESHOLDS`; under it (exclusive) fails.
    high_similarity : from here on (inclusive) an answer is fluent, for the overlaps.
    examples : how many of the worst answers to show, by `vb_score`, else by the gap.

    Returns
    -------
    Result with tables `failures`, `overlaps`, `gap` (in percentage points), `correlations`, `worst`.
    """
    import pandas as pd

    from judgekit.analysis.source import fold_levels

    limits = {**THRESHOLDS, **(thresholds or {})}
    parts = [name for name in limits if name in frame.columns]
    for name in thresholds or {}:
        need(frame, [name], file)
    if not parts:
        raise InputError(
            "there is no component to look at",
            file=file,
            mend=f"measure some of {', '.join(THRESHOLDS)}, or name columns with --threshold NAME=0.2",
        )
    data = pd.DataFrame({name: pd.Series(numbers(frame, name, file, missing), dtype="float64") for name in parts})
    folded: list[str] = []
    if by is not None:
        need(frame, [by], file)
    if unit is not None:
        need(frame, [unit], file)
    data["unit"] = frame[unit].map(str).to_numpy() if unit is not None else range(len(frame))
    if by is not None:
        fold, folded = fold_levels(frame[by], None, by)
        data["by"] = [str(fold(value)) for value in frame[by]]
    else:
        data["by"] = "all"
    groups = [("all", data), *data.groupby("by", sort=False)] if by is not None else [("all", data)]
    boot = {"replicates": replicates, "seed": seed}
    shares = [_share(str(name), part, metric, limits[metric]) for name, part in groups for metric in parts]
    overlaps = [row for name, part in groups for row in _overlaps(str(name), part, limits, high_similarity)]
    gaps = [row for name, part in groups for row in _gap(str(name), part, boot)]
    related = [_related(str(name), part, a, b) for name, part in groups for a, b in combinations(parts, 2)]
    notes = folded if len(data) else ["there is nothing measured"]
    if overlaps:
        notes.append(f"fluent: similarity of {high_similarity:g} or more")
    head = [Column("group", by or "group")]
    return Result(
        [
            Table("failures", "Under the threshold", shares, head + _SHARE),
            Table("overlaps", "Dangerous overlaps", overlaps, head + _OVERLAP),
            Table("gap", "Semantic-entity gap, in percentage points", gaps, head + _GAP),
            Table("correlations", "Correlation of components", related, head + _RELATED),
            Table("worst", "The worst answers, to read", _worst(frame, data, examples), _WORST),
        ],
        signature(
            failures=",".join(f"{name}<{limits[name]:g}" for name in parts), by=by, unit=unit, high=high_similarity,
            n=len(data), replicates=replicates, seed=seed, metrics=list(notations),
        ),
        notes,
    )  # fmt: skip


def _share(name: str, part: pd.DataFrame, metric: str, limit: float) -> dict[str, Any]:
    from judgekit.stats.proportion import clustered_share

    known = part[[metric, "unit"]].dropna()
    values = known[metric]
    found = clustered_share(values < limit, known["unit"])
    return {
        "group": name, "component": metric, "threshold": limit, "n": found.n, "n_undefined": len(part) - found.n,
        "failed": found.count, "share": found.value, "share_low": found.low, "share_high": found.high,
        "mean": float(values.mean()) if len(values) else None, "median": float(values.median()) if len(values) else None,
        "sd": float(values.std(ddof=1)) if len(values) > 1 else None,
        "reason": None if found.n else "no answer has this component",
    }  # fmt: skip


def _overlaps(name: str, part: pd.DataFrame, limits: Mapping[str, float], high: float) -> list[dict[str, Any]]:
    from judgekit.stats.proportion import clustered_share

    rows = []
    for label, other in OVERLAPS.items():
        if "semantic_similarity" not in part or other not in part:
            continue
        both = part[["semantic_similarity", other, "unit"]].dropna()
        fluent = both["semantic_similarity"] >= high
        bad = fluent & (both[other] < limits[other])
        found, among = clustered_share(bad, both["unit"]), clustered_share(bad[fluent], both["unit"][fluent])
        rows.append(
            {
                "group": name, "overlap": label, "other": f"{other} < {limits[other]:g}", "n": len(both),
                "n_undefined": len(part) - len(both), "count": found.count, "share": found.value,
                "share_low": found.low, "share_high": found.high, "n_fluent": among.n, "share_of_fluent": among.value,
                "reason": None if len(both) else "no answer has both components",
            }
        )  # fmt: skip
    return rows


def _gap(name: str, part: pd.DataFrame, boot: dict[str, Any]) -> list[dict[str, Any]]:
    import numpy as np

    from judgekit.stats.bootstrap import additive, cluster_codes, cluster_sums

    if "semantic_similarity" not in part or "entity_f1" not in part:
        return []
    both = part[["semantic_similarity", "entity_f1", "unit"]].dropna()
    difference = 100 * (both["semantic_similarity"] - both["entity_f1"]).to_numpy(dtype=float)
    stats = np.stack([np.ones_like(difference), difference], axis=1)
    found = additive(
        cluster_sums(stats, cluster_codes(both["unit"], len(both))),
        lambda total: np.asarray(total[..., 1] / total[..., 0]),
        n=len(both), reason="no answer has both components", **boot,
    )  # fmt: skip
    similarity = float(both["semantic_similarity"].mean()) if len(both) else None
    entity = float(both["entity_f1"].mean()) if len(both) else None
    return [
        {
            "group": name, "n": len(both), "n_undefined": len(part) - len(both), "clusters": found.clusters,
            "semantic_similarity": similarity, "entity_f1": entity, "points": found.value,
            "points_low": found.low, "points_high": found.high, "reason": found.reason or found.interval_reason,
        }
    ]  # fmt: skip


def _related(name: str, part: pd.DataFrame, a: str, b: str) -> dict[str, Any]:
    from judgekit.stats.correlation import correlation

    pearson, spearman = (
        correlation(part[a], part[b], method=method, clusters=part["unit"], replicates=0)
        for method in ("pearson", "spearman")
    )
    return {
        "group": name, "a": a, "b": b, "n": pearson.n, "pearson": pearson.value, "spearman": spearman.value,
        "reason": pearson.reason,
    }  # fmt: skip


def _worst(frame: pd.DataFrame, data: pd.DataFrame, examples: int) -> list[dict[str, Any]]:
    parts = [name for name in data.columns if name not in ("unit", "by")]
    if "vb_score" in data:
        order, why = data["vb_score"].dropna().sort_values(kind="stable"), "lowest vb_score"
    elif {"semantic_similarity", "entity_f1"} <= set(parts):
        gap = (data["semantic_similarity"] - data["entity_f1"]).dropna()
        order, why = gap.sort_values(ascending=False, kind="stable"), "widest semantic-entity gap"
    else:
        order, why = data[parts[0]].dropna().sort_values(kind="stable"), f"lowest {parts[0]}"
    rows = []
    for index in order.index[: max(0, examples)]:
        known = {
            name: frame.at[index, name] for name in ("dataset", "record_id", "id", *TEXTS) if name in frame.columns
        }
        row = data.loc[index, parts].astype(float)
        values = {name: None if missing else float(row[name]) for name, missing in row.isna().items()}
        rows.append({"why": why, "id": known.pop("record_id", known.pop("id", index)), **known, "values": values})
    return rows


def _cut(text: Any) -> str:
    words = "-" if text is None else str(text)
    return words if len(words) <= 60 else words[:57] + "..."


_SHARE = [
    Column("component"), Column("threshold", "under"), Column("n", "answers"), Column("n_undefined", "undefined"),
    Column("failed"), Column("share", "share [95 %]", interval("share", 2), whole=True), Column("mean", "mean", number()), Column("median", "median", number()),
]  # fmt: skip
_OVERLAP = [
    Column("overlap"), Column("other", "with"), Column("n", "answers"), Column("count"), Column("share", "share", share),
    Column("n_fluent", "fluent"), Column("share_of_fluent", "of the fluent", share),
]  # fmt: skip
_GAP = [
    Column("n", "answers"), Column("clusters", "questions"), Column("semantic_similarity", "similarity", number()),
    Column("entity_f1", "entity F1", number()), Column("points", "gap [95 %]", interval("points", 1, signed=True), whole=True),
]  # fmt: skip
_RELATED = [
    Column("a"), Column("b"), Column("n", "answers"), Column("pearson", "Pearson", number(2)),
    Column("spearman", "Spearman", number(2)),
]  # fmt: skip
_WORST = [
    Column("id"), Column("why"),
    Column("values", "values", lambda values: ", ".join(f"{k} {number()(v)}" for k, v in values.items())),
    Column("question", "question", _cut), Column("response", "response", _cut),
]  # fmt: skip
