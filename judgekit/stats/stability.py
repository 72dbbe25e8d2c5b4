"""Does an answer change when only the words do? Scores of one question, and their means over questions (001, 3.4).

An answer is any hashable; None is an answer that was not given. Scores of a question never mix with those of another: a model's
score is the mean over questions, and its interval resamples questions (or the clusters that they belong to).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from judgekit.stats.bootstrap import Estimate, additive, cluster_codes, cluster_sums
from judgekit.stats.permutation import sign_flip

__all__ = [
    "Flips",
    "PairedDifference",
    "Question",
    "disagreement",
    "mean_over",
    "paired_difference",
    "question_stability",
    "rarefied",
]

NO_VARIANT = "no verified variant"


@dataclass(frozen=True, slots=True)
class Flips:
    """Which way variants left the base answer: counts. `between_wrong` is from one wrong answer to another."""

    right_to_wrong: int
    wrong_to_right: int
    between_wrong: int


@dataclass(frozen=True, slots=True)
class Question:
    """Stability of one question under one model.

    `mvs` = `changed` / `n`, the share of answered variants whose answer differs from the base's (001, 3.4.1). `confidence_change` is
    the mean of |confidence of base - of variant| over the `n_confidence` variants that have one (3.4.2). `wci` is 1 where correctness
    differs anywhere among base and variants, else 0 (3.4.3), and `flips` says which way. Each is None, with its own reason, where
    undefined. `unanswered` counts variants without an answer; they are in no denominator.
    """

    n: int
    unanswered: int
    changed: int | None
    mvs: float | None
    mvs_reason: str | None
    n_confidence: int
    confidence_change: float | None
    confidence_reason: str | None
    base_right: bool | None
    differing: int | None
    wci: int | None
    wci_reason: str | None
    flips: Flips | None


def question_stability(
    base: Hashable | None,
    variants: Sequence[Hashable | None],
    *,
    truth: Hashable | None = None,
    base_confidence: float | None = None,
    confidences: Sequence[float | None] | None = None,
) -> Question:
    """Stability of one question.

    Parameters
    ----------
    base : the answer to the question as it was; None where none was given: then nothing is defined.
    variants : answers to its verified, really different variants.
    truth : the right answer, or None where nobody knows it: no WCI.
    base_confidence, confidences : probabilities in [0, 1] of the answers given, None where no probability exists.

    Raises ValueError for a confidence outside [0, 1], and for `confidences` of another length.

    Ten variants, three of them answered otherwise: MVS .3. One variant: 0 or 1, never NaN. No variant: None.
    """
    given: list[float | None] = list(confidences) if confidences is not None else [None] * len(variants)
    if len(given) != len(variants):
        raise ValueError(f"one confidence a variant: {len(given)} for {len(variants)}")
    for value in [base_confidence, *given]:
        if value is not None and not 0 <= value <= 1:
            raise ValueError(f"a confidence lies in [0, 1], not {value}")
    kept = [(answer, sure) for answer, sure in zip(variants, given, strict=True) if answer is not None]
    n, unanswered = len(kept), len(variants) - len(kept)
    reason: str | None = None
    if base is None:
        reason = "the question as it was has no answer"
    elif not variants:
        reason = NO_VARIANT
    elif not kept:
        reason = "no variant was answered"
    if reason is not None:
        return Question(n, unanswered, None, None, reason, 0, None, reason, None, None, None, reason, None)
    changed = sum(answer != base for answer, _ in kept)
    gaps = [abs(base_confidence - sure) for _, sure in kept if base_confidence is not None and sure is not None]
    mean = None if not gaps else float(np.mean(gaps))
    why = (
        None
        if gaps
        else "no probability of the base answer"
        if base_confidence is None
        else "no probability of any variant's answer"
    )
    head = (n, unanswered, changed, changed / n, None, len(gaps), mean, why)
    if truth is None:
        return Question(*head, None, None, None, "the right answer is not known", None)
    right = base == truth
    differing = sum((answer == truth) != right for answer, _ in kept)
    flips = Flips(
        right_to_wrong=sum(right and answer != truth for answer, _ in kept),
        wrong_to_right=sum(not right and answer == truth for answer, _ in kept),
        between_wrong=sum(not right and answer != truth and answer != base for answer, _ in kept),
    )
    return Question(*head, right, differing, int(differing > 0), None, flips)


def rarefied(n: int, differing: int, draw: int) -> float | None:
    """Expected WCI of a question when only `draw` of its `n` variants are looked at, drawn without replacement.

    `differing` variants have another correctness than the base. WCI can only grow with the number of variants, so questions and models
    are compared at one number. None where `draw` > `n`. Ten variants, three wrong, base right, five drawn: 1 - C(7,5)/C(10,5) = .917.

    Raises ValueError unless 0 <= differing <= n and draw >= 1.
    """
    if not 0 <= differing <= n or draw < 1:
        raise ValueError(f"{differing} of {n} variants, {draw} drawn, cannot be")
    if draw > n:
        return None
    return 1.0 - comb(n - differing, draw) / comb(n, draw)


def mean_over(
    values: Sequence[float | None],
    clusters: Sequence[Any] | None = None,
    *,
    replicates: int = 2000,
    seed: int = 0,
    level: float = 0.95,
    reason: str = "no question has a value",
) -> Estimate:
    """Mean over questions with a percentile interval by cluster bootstrap; questions without a value are left out of `n`.

    Parameters
    ----------
    values : one a question, None where undefined.
    clusters : one a question, or None: every question on its own.

    3/10 and 1/1 give .65, not 4/11: a question counts once, however many variants it has.
    """
    known = np.asarray([value is not None for value in values], dtype=bool)
    if not known.any():
        return Estimate(None, n=0, clusters=0, level=level, reason=reason)
    numbers = np.asarray([value for value in values if value is not None], dtype=np.float64)
    codes = cluster_codes(clusters, len(values))[known]
    codes = np.unique(codes, return_inverse=True)[1].reshape(-1)
    sums = cluster_sums(np.column_stack([numbers, np.ones(numbers.size)]), codes)
    return additive(
        sums, lambda total: total[:, 0] / total[:, 1], n=int(numbers.size), replicates=replicates, seed=seed, level=level,
        reason=reason,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Second minus first over the questions that both have; positive: the second is less stable.

    `estimate` holds the mean and its interval; `p` is two-sided by flipping signs by cluster, None (with `p_reason`) where all
    differences are 0. `effect` is the mean over the standard deviation of the clusters' differences (Cohen's d of paired data), None
    with fewer than two clusters or without variance. `left_out` counts questions that only one side has.
    """

    estimate: Estimate
    p: float | None
    p_reason: str | None
    exact: bool
    arrangements: int
    effect: float | None
    effect_reason: str | None
    left_out: int


def paired_difference(
    first: Sequence[float | None],
    second: Sequence[float | None],
    clusters: Sequence[Any] | None = None,
    *,
    permutations: int = 100_000,
    replicates: int = 2000,
    seed: int = 0,
) -> PairedDifference:
    """Compare two models question by question (001, 5.5): permutation test, effect size, interval.

    Questions of one cluster are averaged first, so that they flip together. All sign patterns are enumerated where there are at most
    `permutations`.
    """
    if len(first) != len(second):
        raise ValueError(f"both sides need the same questions: {len(first)} and {len(second)}")
    pairs = [(a, b, i) for i, (a, b) in enumerate(zip(first, second, strict=True)) if a is not None and b is not None]
    left_out = sum((a is None) != (b is None) for a, b in zip(first, second, strict=True))
    delta = np.asarray([b - a for a, b, _ in pairs], dtype=np.float64)
    groups = None if clusters is None else [clusters[i] for _, _, i in pairs]
    estimate = mean_over(
        [float(value) for value in delta],
        groups,
        replicates=replicates,
        seed=seed,
        reason="no question has a value on both sides",
    )
    codes = cluster_codes(groups, delta.size)
    sums = cluster_sums(np.column_stack([delta, np.ones(delta.size)]), codes) if delta.size else np.zeros((0, 2))
    # Sums and not means: the statistic that is tested is then the mean over questions, as estimated.
    test = sign_flip(sums[:, 0] if groups is not None else delta, replicates=permutations, seed=seed)
    units = sums[:, 0] / sums[:, 1] if len(sums) else delta
    effect, why = None, None
    if units.size < 2:
        why = "fewer than two clusters"
    elif float(units.std(ddof=1)) <= 1e-12:
        why = "the differences do not vary"
    else:
        effect = float(units.mean() / units.std(ddof=1))
    return PairedDifference(estimate, test.p, test.reason, test.exact, test.arrangements, effect, why, left_out)


def disagreement(first: Sequence[Hashable | None], second: Sequence[Hashable | None] | None = None) -> float | None:
    """Probability that two samples differ: one of `first` and one of `second`, or two different ones of `first`.

    Samples that are None are left out. None where no pair is left. Verdicts 1, 1, 2 at the same wording: 2 of 3 pairs differ.
    """
    one = [value for value in first if value is not None]
    if second is not None:
        two = [value for value in second if value is not None]
        return sum(a != b for a in one for b in two) / (len(one) * len(two)) if one and two else None
    if len(one) < 2:
        return None
    pairs = [(a, b) for i, a in enumerate(one) for b in one[i + 1 :]]
    return sum(a != b for a, b in pairs) / len(pairs)
