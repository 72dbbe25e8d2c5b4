"""Two groups: paired and Welch's t, Cohen's d and d_z with intervals, and the spread of repeated samples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgekit.stats.bootstrap import Floats, additive
from judgekit.stats.permutation import sign_flip

__all__ = ["MeanInterval", "Spread", "TTest", "mean_interval", "paired", "spread", "welch"]

DEGENERATE = "no variance: every {} is the same"


@dataclass(frozen=True, slots=True)
class MeanInterval:
    """A mean over independent units with its t interval; `low`, `high` None with a reason for one unit or none."""

    mean: float | None
    n: int
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class TTest:
    """A t test of a mean difference (first minus second).

    `design` is ``paired`` or ``welch``. `p`, `t` are None and `degenerate` true where there is no variance to test with. `d` is
    the difference over the pooled standard deviation of both groups, `dz` (paired only) over that of the differences.
    """

    design: str
    n: int
    n_second: int
    difference: float | None
    low: float | None = None
    high: float | None = None
    sd_difference: float | None = None
    t: float | None = None
    df: float | None = None
    p: float | None = None
    d: float | None = None
    d_low: float | None = None
    d_high: float | None = None
    dz: float | None = None
    dz_low: float | None = None
    dz_high: float | None = None
    wilcoxon_p: float | None = None
    level: float = 0.95
    degenerate: bool = False
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean over repeated samples of a whole set: `values` is each sample's mean, the interval t with k - 1 degrees.

    It shows decoding noise only: how the mean would move if the same questions were asked again, never how it would on others.
    """

    mean: float | None
    samples: int
    values: tuple[float, ...] = ()
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    reason: str | None = None


def mean_interval(values: Any, level: float = 0.95) -> MeanInterval:
    """Mean and t interval of `values`, shape (n,), one an independent unit, without NaN."""
    x = _read(values)
    if not x.size:
        return MeanInterval(None, 0, level=level, reason="there are no values")
    mean = float(x.mean())
    if x.size == 1:
        return MeanInterval(mean, 1, level=level, reason="one unit has no spread")
    if np.ptp(x) == 0:
        return MeanInterval(float(x[0]), x.size, 0.0, level=level, reason="no variance: every unit has the same value")
    sd = float(x.std(ddof=1))
    half = _t(0.5 + level / 2, x.size - 1) * sd / math.sqrt(x.size)
    return MeanInterval(mean, x.size, sd, mean - half, mean + half, level)


def spread(values: Any, level: float = 0.95) -> Spread:
    """Spread of the means of k whole repetitions, `values` shape (k,) without NaN; no interval under two."""
    found = mean_interval(values, level)
    each = tuple(float(value) for value in _read(values))
    why = "one sample has no spread" if found.n == 1 else found.reason
    return Spread(found.mean, found.n, each, found.sd, found.low, found.high, level, why)


def paired(x: Any, y: Any, *, level: float = 0.95, replicates: int = 2000, seed: int = 0) -> TTest:
    """Paired t test of `x` - `y`, one value a question in each.

    Parameters
    ----------
    x, y : shape (n,), the same questions in the same order; repeated samples averaged within a question before.
    replicates : resamples of questions for the interval of `d`; 0 for none.

    Returns
    -------
    TTest. The interval of `dz` inverts the noncentral t; that of `d` resamples questions, since its two groups are not
    independent. Differences without variance: None, `degenerate`. `wilcoxon_p` is the signed-rank test, zeros left out.
    """
    first, second = _read(x), _read(y)
    if first.shape != second.shape:
        raise ValueError(f"paired values must be as many on both sides, not {first.size} and {second.size}")
    n = first.size
    if n < 2:
        gap = float(first[0] - second[0]) if n else None
        return TTest("paired", n, n, gap, level=level, reason="fewer than two questions in common")
    delta = first - second
    mean, sd = float(delta.mean()), float(delta.std(ddof=1))
    if sd <= 1e-12 * float(max(np.abs(first).max(), np.abs(second).max())):
        return TTest(
            "paired", n, n, mean, sd_difference=0.0, d=_pooled_d(first, second), level=level, degenerate=True,
            reason=DEGENERATE.format("difference"),
        )  # fmt: skip
    from scipy.special import stdtr

    df = n - 1
    error = sd / math.sqrt(n)
    half = _t(0.5 + level / 2, df) * error
    t, dz = mean / error, mean / sd
    dz_low, dz_high = (end / math.sqrt(n) for end in _noncentral(t, df, level))
    d, d_low, d_high = _paired_d(first, second, level, replicates, seed)
    return TTest(
        "paired", n, n, mean, mean - half, mean + half, sd, t, float(df), float(2 * stdtr(df, -abs(t))),
        d, d_low, d_high, dz, dz_low, dz_high, _wilcoxon(delta), level,
    )  # fmt: skip


def welch(x: Any, y: Any, *, level: float = 0.95) -> TTest:
    """Welch's t test of mean(x) - mean(y) for two sets of independent units, shapes (n,) and (m,).

    `d` is over the pooled standard deviation, its interval inverts the noncentral t with n + m - 2 degrees (equal variances
    assumed). None, `degenerate`, where neither group varies; None under two units in a group.
    """
    first, second = _read(x), _read(y)
    n, m = first.size, second.size
    gap = float(first.mean() - second.mean()) if n and m else None
    if n < 2 or m < 2:
        return TTest("welch", n, m, gap, level=level, reason="fewer than two units in a group")
    a, b = float(first.var(ddof=1)) / n, float(second.var(ddof=1)) / m
    assert gap is not None
    if a + b <= 1e-24 * float(np.abs(np.concatenate([first, second])).max()) ** 2:
        return TTest("welch", n, m, gap, level=level, degenerate=True, reason=DEGENERATE.format("value of a group"))
    from scipy.special import stdtr

    error = math.sqrt(a + b)
    df = (a + b) ** 2 / (a**2 / (n - 1) + b**2 / (m - 1))
    half = _t(0.5 + level / 2, df) * error
    t = gap / error
    d = _pooled_d(first, second)
    assert d is not None
    scale = math.sqrt(n * m / (n + m))
    d_low, d_high = (end / scale for end in _noncentral(d * scale, n + m - 2, level))
    return TTest(
        "welch",
        n,
        m,
        gap,
        gap - half,
        gap + half,
        None,
        t,
        df,
        float(2 * stdtr(df, -abs(t))),
        d,
        d_low,
        d_high,
        level=level,
    )


def _read(values: Any) -> Floats:
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or np.isnan(x).any():
        raise ValueError("values must be one array without NaN: leave unscored ones out, and count them")
    return x


def _t(p: float, df: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(df, p))


def _noncentral(t: float, df: float, level: float) -> tuple[float, float]:
    """Noncentralities at which `t` is the upper and the lower tail's limit."""
    from scipy.special import nctdtrinc

    tail = (1 - level) / 2
    size = abs(t)  # the distribution of -t is that of t mirrored; the inversion is steadier on the positive side
    low, high = float(nctdtrinc(df, 1 - tail, size)), float(nctdtrinc(df, tail, size))
    return (low, high) if t >= 0 else (-high, -low)


def _pooled_d(x: Floats, y: Floats) -> float | None:
    n, m = x.size, y.size
    pooled = ((n - 1) * x.var(ddof=1) + (m - 1) * y.var(ddof=1)) / (n + m - 2)
    return float((x.mean() - y.mean()) / math.sqrt(pooled)) if pooled > 0 else None


def _paired_d(x: Floats, y: Floats, level: float, replicates: int, seed: int) -> tuple[float | None, ...]:
    # Centred first, so that the sums of squares keep their digits; scaled, since d is the same in dollars and in microdollars.
    middle = (x.mean() + y.mean()) / 2
    a, b = x - middle, y - middle
    size = float(max(np.abs(a).max(), np.abs(b).max())) or 1.0
    a, b = a / size, b / size
    sums = np.stack([np.ones_like(a), a, b, a * a, b * b], axis=1)

    def function(total: Floats) -> Floats:
        n, sa, sb, saa, sbb = (total[..., i] for i in range(5))
        pooled = ((saa - sa**2 / n) + (sbb - sb**2 / n)) / (2 * (n - 1))
        return np.asarray(np.where(pooled > 1e-12, (sa - sb) / n / np.sqrt(np.maximum(pooled, 1e-300)), np.nan))

    found = additive(sums, function, n=x.size, replicates=replicates, seed=seed, level=level)
    return found.value, found.low, found.high


def _wilcoxon(delta: Floats) -> float | None:
    """Two-sided signed-rank test, zeros left out: exact up to 13 differences that are not 0, else as scipy chooses."""
    # Means of samples that differ in their last binary digit only are equal, and must tie.
    size = float(np.abs(delta).max())
    delta = np.round(delta / size, 10) if size > 0 else delta
    rest = delta[delta != 0]
    if not rest.size:
        return None
    if rest.size <= 13:
        # scipy enumerates ties in Python, a second a test; flipping the signs of the ranks is the same test.
        from scipy.stats import rankdata

        return sign_flip(np.sign(rest) * rankdata(np.abs(rest)), replicates=2**13).p
    import warnings

    from scipy.stats import wilcoxon

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        p = float(wilcoxon(delta).pvalue)
    return p if math.isfinite(p) else None
