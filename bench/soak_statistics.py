"""Do the intervals cover and the certificates hold? Simulations of the triage statistics, each printing its table.

    python bench/soak_statistics.py            all of it, some minutes
    python bench/soak_statistics.py --short    a tenth of the repetitions
    python bench/soak_statistics.py certify    one of: certify, clusters, small, screen

Exit 1 when a figure misses its bound. `make soak` runs it; the suite runs `--short` parts through tests/bench.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from judgekit.stats.auc import auc_headline, auc_interval
from judgekit.stats.certify import certified_threshold
from judgekit.stats.interval import normal_quantile
from judgekit.stats.operating_point import operating_point
from judgekit.stats.screen import cross_fit, screen

SEED = 20261130


@dataclass(frozen=True)
class Line:
    """One figure: what was asked of it, what came out, over how many repetitions, and whether it holds."""

    what: str
    got: float
    wanted: str
    n: int
    holds: bool


def near(what: str, got: float, expected: float, n: int, slack: float = 0.0) -> Line:
    """Within three Monte Carlo errors of the expected share (plus `slack`)."""
    error = 3 * max(expected * (1 - expected), 1 / n) ** 0.5 / n**0.5
    return Line(what, got, f"{expected:.4f} +- {error + slack:.4f}", n, abs(got - expected) <= error + slack)


def at_most(what: str, got: float, limit: float, n: int) -> Line:
    """Not above the limit by more than three Monte Carlo errors."""
    error = 3 * (limit * (1 - limit) / n) ** 0.5
    return Line(what, got, f"<= {limit:.3f} (+ {error:.4f})", n, got <= limit + error)


def at_least(what: str, got: float, limit: float, n: int) -> Line:
    """Not under the limit by more than three Monte Carlo errors."""
    error = 3 * (limit * (1 - limit) / n) ** 0.5
    return Line(what, got, f">= {limit:.3f} (- {error:.4f})", n, got >= limit - error)


def certify(repeats: int) -> list[Line]:
    """1. Share of calibration sets whose certified (and whose plug-in) threshold has a true recall under the target."""
    from scipy.special import ndtr

    rng = np.random.default_rng(SEED)
    lines = []
    expected = {28: (0.0, 0.459), 29: (0.0471, 0.435), 60: (0.0138, 0.606), 100: (0.0237, 0.583), 200: (0.0320, 0.559)}
    for m, (certified, plugged) in expected.items():
        below = naive = 0
        for _ in range(repeats):
            scores = rng.normal(size=m)
            found = certified_threshold(scores, "0.9", "0.05")
            below += found.threshold is not None and float(ndtr(found.threshold)) < 0.9
            point = operating_point(np.ones(m, dtype=bool), scores, "0.9")
            naive += float(ndtr(point.threshold)) < 0.9
        lines.append(near(f"certified, m = {m}: true recall under .9", below / repeats, certified, repeats))
        lines.append(near(f"plug-in,   m = {m}: true recall under .9", naive / repeats, plugged, repeats))
    # Five levels; reading up to level 3 has a true recall of .895, just under the target.
    shares = np.array([0.4, 0.3, 0.195, 0.08, 0.025])
    recall = np.cumsum(shares)
    for m in (29, 60, 100, 200):
        below = 0
        for _ in range(repeats):
            scores = rng.choice(5, size=m, p=shares)
            found = certified_threshold(scores, "0.9", "0.05")
            below += found.threshold is not None and recall[int(found.threshold)] < 0.9
        lines.append(at_most(f"five levels, one at recall .895, m = {m}", below / repeats, 0.05, repeats))
    return lines + best_of_fifteen(max(repeats // 10, 200), rng)


def best_of_fifteen(repeats: int, rng: np.random.Generator) -> list[Line]:
    """The judge with the lowest workload among 15 equal ones: with d / 15 the guarantee holds, without it does not."""
    from scipy.special import ndtr

    apart = normal_quantile(0.70) * 2**0.5  # AUC .70 for two normal classes
    failed = {15: 0, 1: 0}
    for _ in range(repeats):
        bad, good = rng.normal(size=(15, 100)), rng.normal(apart, 1, size=(15, 100))
        for judges in failed:
            best, load = None, np.inf
            for one, other in zip(bad, good, strict=True):
                found = certified_threshold(one, "0.9", "0.05", judges=judges)
                work = (
                    1.0 if found.threshold is None else float((np.concatenate([one, other]) <= found.threshold).mean())
                )
                if work < load:
                    best, load = found.threshold, work
            failed[judges] += best is not None and float(ndtr(best)) < 0.9
    corrected, plain = failed[15] / repeats, failed[1] / repeats
    return [
        at_most("best of 15 judges (100/100, AUC .70), d/15: recall under .9", corrected, 0.05, repeats),
        Line("best of 15 judges, d uncorrected", plain, "> 0.150", repeats, plain > 0.15),
    ]


def clusters(repeats: int) -> list[Line]:
    """2. Coverage of the clustered and of the naive interval of the AUC, with correlated scores and labels."""
    rng = np.random.default_rng(SEED + 1)
    lines = []
    for groups, size in ((60, 5), (24, 8)):
        headline = wald = naive = used = 0
        for _ in range(repeats):
            label, score, codes = clustered_sample(rng, groups, size)
            spans = [
                auc_headline(label, score, clusters=codes).interval,
                auc_interval(label, score, clusters=codes),
                auc_interval(label, score),
            ]
            hits = [span.low is not None and span.high is not None and span.low <= 0.75 <= span.high for span in spans]
            used += spans[0].low is not None
            headline, wald, naive = headline + hits[0], wald + hits[1], naive + hits[2]
        error = 3 * (0.05 * 0.95 / used) ** 0.5
        share = headline / used
        good = 0.93 - error <= share <= 0.97 + error
        name = f"{groups} x {size}"
        lines.append(Line(f"{name}: clustered headline (logit, t) coverage", share, ".93 to .97", used, good))
        lines.append(at_least(f"{name}: clustered Wald coverage", wald / used, 0.92, used))
        lines.append(Line(f"{name}: naive coverage", naive / used, "< .85", used, naive / used < 0.85))
    return lines


def clustered_sample(
    rng: np.random.Generator,
    groups: int,
    size: int,
    *,
    area: float = 0.75,
    score_icc: float = 0.5,
    label_icc: float = 0.9,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Binary labels from a latent normal with `label_icc`, normal scores with `score_icc`; the true AUC over records is `area`.

    The cluster effects of label and score are independent, so any two records, of one question or of two, compare alike.
    """
    codes = np.repeat(np.arange(groups), size)
    latent = np.sqrt(label_icc) * rng.normal(size=groups)[codes] + np.sqrt(1 - label_icc) * rng.normal(size=codes.size)
    label = latent > 0
    noise = np.sqrt(score_icc) * rng.normal(size=groups)[codes] + np.sqrt(1 - score_icc) * rng.normal(size=codes.size)
    return label, noise - label * normal_quantile(area) * 2**0.5, codes


def small(repeats: int) -> list[Line]:
    """3a. Coverage of the headline interval with few records, continuous and on five levels."""
    from scipy.special import ndtr

    rng = np.random.default_rng(SEED + 2)
    lines = []
    cuts = np.array([-1.2, -0.4, 0.4, 1.2])
    for m, n in ((16, 8), (30, 30)):
        for area in (0.6, 0.7, 0.8, 0.9, 0.95):
            apart = normal_quantile(area) * 2**0.5
            for levels in (False, True):
                truth = area
                middle = apart / 2
                if levels:
                    low = np.diff(np.concatenate([[0], ndtr(cuts + middle), [1]]))
                    high = np.diff(np.concatenate([[0], ndtr(cuts - middle), [1]]))
                    truth = float(sum(low[i] * (high[i + 1 :].sum() + high[i] / 2) for i in range(5)))
                covered = 0
                label = np.array([True] * m + [False] * n)
                for _ in range(repeats):
                    score = np.concatenate([rng.normal(-middle, 1, m), rng.normal(middle, 1, n)])
                    if levels:
                        score = np.searchsorted(cuts, score).astype(float)
                    found = auc_headline(label, score).interval
                    covered += found.low is not None and found.high is not None and found.low <= truth <= found.high
                kind = "five levels" if levels else "continuous"
                lines.append(
                    at_least(f"{m}/{n}, AUC {area}, {kind}: headline coverage", covered / repeats, 0.89, repeats)
                )
    return lines


def noise(repeats: int, bootstraps: int = 60, cases: int = 3) -> list[Line]:
    """3b. A screen on noise: its cross-fitted AUC is one half, and it seldom seems to beat its best part."""
    rng = np.random.default_rng(SEED + 3)
    lines = []
    designs = ((24, 16, 4, "ridge logistic"), (24, 16, 4, "equal-weight z"), (120, 60, 4, "ridge logistic"))
    for n, m, parts, kind in designs[:cases]:
        label = np.arange(n) < m
        held, apparent = [], []
        for _ in range(repeats):
            x = rng.normal(size=(n, parts))
            found = cross_fit(label, x, np.arange(n), kind, rng)
            assert found is not None
            held.append(found.auc)
        value, error = float(np.mean(held)), 3 * float(np.std(held)) / repeats**0.5
        lines.append(
            Line(
                f"{kind} on noise, {m}/{n - m}: AUC within folds",
                value,
                f".50 +- .02 (+ {error:.3f})",
                repeats,
                abs(value - 0.5) <= 0.02 + error,
            )
        )
        beats = 0
        some = max(repeats // 10, 20)
        for _ in range(some):
            result = screen(label, rng.normal(size=(n, parts)), kind=kind, repeats=bootstraps, rng=rng)
            beats += bool(result.beats_best)
            apparent.append(result.apparent)
        lines.append(at_most(f"{kind} on noise, {m}/{n - m}: beats its best part", beats / some, 0.05, some))
        lines.append(
            Line(f"{kind} on noise, {m}/{n - m}: apparent AUC", float(np.mean(apparent)), "(for the eye)", some, True)
        )
    return lines


PARTS: dict[str, tuple[Callable[[int], list[Line]], int]] = {
    "certify": (certify, 20_000),
    "clusters": (clusters, 4_000),
    "small": (small, 4_000),
    "screen": (noise, 1_000),
}


def show(name: str, lines: list[Line], seconds: float) -> None:
    """Print one table."""
    print(f"\n{name} ({seconds:.0f} s)")
    for line in lines:
        print(f"  {'ok  ' if line.holds else 'MISS'} {line.what:<66} {line.got:7.4f}   {line.wanted}   n = {line.n}")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="*", choices=[*PARTS, []], help="which simulations (all)")
    parser.add_argument("--short", action="store_true", help="a tenth of the repetitions")
    words = parser.parse_args(argv)
    good = True
    for name in words.part or PARTS:
        run, repeats = PARTS[name]
        start = time.perf_counter()
        lines = run(max(repeats // 10, 100) if words.short else repeats)
        show(name, lines, time.perf_counter() - start)
        good &= all(line.holds for line in lines)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
