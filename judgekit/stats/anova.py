"""Analysis of variance: one-way, with a question block (the default for models on the same questions), and interaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from judgekit.stats.bootstrap import Floats, Ints, cluster_codes

__all__ = ["Anova", "blocked_anova", "interaction", "one_way_anova"]


@dataclass(frozen=True, slots=True)
class Anova:
    """An F test. `eta_squared` is the share of all variation (one-way) or, `partial`, of what the other terms leave.

    `f`, `p` are None with a `reason` where the test does not exist; `degenerate` when that is for want of variance.
    """

    method: str
    f: float | None
    df1: int
    df2: int
    p: float | None
    eta_squared: float | None
    partial: bool
    n: int
    groups: int
    blocks: int | None = None
    degenerate: bool = False
    reason: str | None = None


def one_way_anova(values: Any, groups: Any) -> Anova:
    """F of group means, every value taken as independent (HIVMedQA; VB-Score, section 3.5.2).

    `values`, shape (n,), without NaN; `groups`, shape (n,), names. With the same questions in every group this ignores that they are the
    same: see `blocked_anova`.
    """
    y, codes = _read(values, groups)
    k = int(codes.max()) + 1 if codes.size else 0
    between = _dummies(codes)
    return _test("one-way", y, np.ones((y.size, 1)), between, k, None, partial=False)


def blocked_anova(values: Any, groups: Any, blocks: Any) -> Anova:
    """F of group means within blocks (questions): two-way without interaction, groups adjusted for blocks.

    One value a group and block is usual; blocks that lack a group still help (least squares). Undefined when groups share no blocks.
    A = 1, 2, 3; B = 1.5, 2.4, 3.6; C = 2.1, 3, 3.9 on three questions: F = 90 (one-way .77).
    """
    y, codes = _read(values, groups)
    block = cluster_codes(blocks, y.size)
    k = int(codes.max()) + 1 if codes.size else 0
    return _test("blocked", y, None, _dummies(codes), k, block, partial=True)


def interaction(values: Any, first: Any, second: Any, blocks: Any = None) -> Anova:
    """F of the interaction of two factors, after both main effects (and blocks, within which everything is then compared).

    `groups` of the result counts the combinations that occur. With `blocks` (questions), a factor that is constant within blocks, such
    as a question's category, is absorbed by them; its interaction with the other is still tested.
    """
    y, a = _read(values, first)
    b = cluster_codes(second, y.size)
    block = None if blocks is None else cluster_codes(blocks, y.size)
    both = cluster_codes([f"{i}/{j}" for i, j in zip(a, b, strict=True)], y.size)
    base = np.concatenate([np.ones((y.size, 1)), _dummies(a), _dummies(b)], axis=1)
    cells = int(both.max()) + 1 if both.size else 0
    return _test("interaction", y, base, _dummies(both), cells, block, partial=True)


def _read(values: Any, groups: Any) -> tuple[Floats, Ints]:
    y = np.asarray(values, dtype=np.float64)
    if y.ndim != 1 or np.isnan(y).any():
        raise ValueError("values must be one array without NaN: leave unscored ones out, and count them")
    return y, cluster_codes(groups, y.size)


def _dummies(codes: Ints) -> Floats:
    return np.eye(int(codes.max()) + 1)[codes] if codes.size else np.zeros((0, 0))


def _within(columns: Floats, block: Ints | None) -> Floats:
    """Deviations from block means: the same fit as with a column for every block (Frisch, Waugh and Lovell), without the columns."""
    if block is None:
        return columns
    sums = np.zeros((int(block.max()) + 1, columns.shape[1]))
    np.add.at(sums, block, columns)
    return columns - (sums / np.bincount(block)[:, None])[block]


def _fit(y: Floats, x: Floats) -> tuple[float, int]:
    """Residual sum of squares and rank."""
    if not x.shape[1]:
        return float(y @ y), 0
    u, s, _ = np.linalg.svd(x, full_matrices=False)
    rank = int((s > 1e-9 * max(1.0, float(s[0]))).sum()) if s.size else 0
    basis = u[:, :rank]
    rest = y - basis @ (basis.T @ y)
    return float(rest @ rest), rank


def _test(
    method: str, y: Floats, base: Floats | None, extra: Floats, groups: int, block: Ints | None, *, partial: bool
) -> Anova:
    n = y.size
    n_blocks = None if block is None else (int(block.max()) + 1 if n else 0)

    def none(why: str, df1: int = 0, df2: int = 0, degenerate: bool = False) -> Anova:
        return Anova(method, None, df1, df2, None, None, partial, n, groups, n_blocks, degenerate, why)

    if n == 0:
        return none("there are no values")
    if groups < 2:
        return none("there is one group only")
    if np.ptp(y) == 0:
        return none("no variance: every value is the same", degenerate=True)
    base = np.zeros((n, 0)) if base is None else base
    yw = _within(y[:, None], block)[:, 0]
    before, rank_before = _fit(yw, _within(base, block))
    after, rank_after = _fit(yw, _within(np.concatenate([base, extra], axis=1), block))
    df1, df2 = rank_after - rank_before, n - rank_after - (n_blocks or 0)
    if df1 < 1:
        return none("no block holds two groups" if method == "blocked" else "no combinations to compare", df1, df2)
    if method == "blocked" and df1 < groups - 1:
        return none("the groups fall into sets that share no block", df1, df2)
    if df2 < 1:
        return none("no degrees of freedom are left: too few values", df1, df2)
    scale = float(((y - y.mean()) ** 2).sum())
    if after <= max(
        1e-12 * scale, 1e-24 * n * float(np.abs(y).max()) ** 2
    ):  # what is left is the arithmetic's, not the data's
        return none("no variance is left within groups", df1, df2, degenerate=True)
    gain = max(0.0, before - after)
    f = (gain / df1) / (after / df2)
    from scipy.special import fdtrc

    return Anova(method, f, df1, df2, float(fdtrc(df1, df2, f)), gain / before, partial, n, groups, n_blocks)
