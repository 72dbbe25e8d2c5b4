"""Raters apart, and joined in a stated way.

A record's labels are of two kinds. A *rater's* label names who said it: a person's pseudonym, ``construction`` for labels made
by how the record was written, ``model:NAME`` for labels that a model made, or None when the source does not say. A *join*
names how raters were joined: its rater is ``join:`` and the way. The prefix travels through files, runs and tables, so a join can
never be counted as one more rater beside those it joins; `raters` leaves joins out, `joined` gives back exactly one label. A join of one rater is
that rater's label, so a record is never lost because only one person rated it; `standing_behind` says how many did.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from judgekit.data.table import is_missing
from judgekit.errors import DataError, StatisticsError
from judgekit.exact import exact, exact_mean, meets
from judgekit.records import Criterion, Label, Record

__all__ = [
    "AGAIN",
    "HOWS",
    "PREFIX",
    "criteria_majority",
    "describe",
    "fraction",
    "is_join",
    "join",
    "joined",
    "joined_set",
    "lookalikes",
    "one_class",
    "raters",
    "standing_behind",
]

PREFIX = "join:"
HOWS = ("card", "criteria-majority", "majority", "worst", "mean")
AGAIN = re.compile(r" \[rating [0-9]+\]$")


def is_join(label: Label | str | None) -> bool:
    """Whether a label, or a rater's name, stands for several raters joined."""
    rater = label.rater if isinstance(label, Label) else label
    return rater is not None and rater.startswith(PREFIX)


def describe(rater: str | None) -> str:
    """A rater's name for a table: ``r1``, ``by construction``, ``raters joined: majority``, ``unnamed rater``."""
    if rater is None:
        return "unnamed rater"
    if rater == "construction":
        return "by construction"
    return f"raters joined: {rater.removeprefix(PREFIX)}" if is_join(rater) else rater


def raters(record: Record, construct: str = "completeness") -> list[Label]:
    """The raters' own labels of one construct, joins left out, in the source's order."""
    return [label for label in record.labels if label.construct == construct and not is_join(label)]


def persons(labels: Sequence[Label]) -> list[Label]:
    """One label a person: where somebody rated twice (``NAME [rating 2]``), the latest counts in a join."""
    latest: dict[str, Label] = {}
    for index, label in enumerate(labels):
        latest[f"?{index}" if label.rater is None else AGAIN.sub("", label.rater)] = label
    return list(latest.values())


def standing_behind(label: Label) -> int:
    """How many raters a label stands for: 1, or for a join as many as it joins."""
    return (
        int(label.value["raters"])
        if is_join(label) and isinstance(label.value, Mapping) and "raters" in label.value
        else 1
    )


def joined(
    record: Record,
    construct: str = "completeness",
    how: str = "card",
    *,
    complete_when: str | None = None,
) -> Label | None:
    """One label for a record.

    Parameters
    ----------
    how : ``card``: the join that the card made, else the only rater's own label; StatisticsError where several raters are
        apart and nothing says how to join them. ``majority``: more than half of the raters' verdicts; a tie is undefined.
        ``worst``: complete only when every rater says so, the lowest score; unanimous by meaning, so it needs equal numbers of
        raters on every record (`joined_set` sees to that). ``mean``: mean of the scores, complete by `complete_when`. ``criteria-majority`` is made
        at load time by a card, which knows what counts as met. Any other word is a rater's name.
    complete_when : for ``mean``, what is complete, such as ``">= 0.75"``, on 0 to 1; without it the card's own mean where the record holds it,
        else no verdict.

    Returns
    -------
    Label | None. None: nobody labelled the record. A label whose `complete` is None says why in `rationale`. With one rater, every way of
    joining gives that rater's verdict and score.
    """
    mine = [label for label in record.labels if label.construct == construct]
    people = persons([label for label in mine if not is_join(label)])
    joins = [label for label in mine if is_join(label)]
    if how == "card":
        if len(joins) == 1:
            return joins[0]
        if not joins and len(people) <= 1:
            return people[0] if people else None
        raise StatisticsError(
            f"record {record.id!r} has {len(people)} raters of {construct}"
            + (f" and {len(joins)} joins" if joins else ", and no card says how to join them"),
            mend="choose a rater, majority, worst or mean",
        )
    stored = next((label for label in joins if label.rater == PREFIX + how), None)
    if how == "criteria-majority":
        if stored is None and len(people) > 1:
            raise StatisticsError(
                f"record {record.id!r} holds no criteria-majority", mend="load it through a card that joins so"
            )
        return stored or (people[0] if people else None)
    if how not in HOWS:
        return next((label for label in mine if label.rater == how), None)
    if not people or (how == "mean" and stored is not None and complete_when is None):
        return stored
    return join(people, how, complete_when)


def join(
    people: Sequence[Label], how: str, complete_when: str | None = None, low: float = 0.0, high: float = 1.0
) -> Label:
    """Some raters' labels of one construct as one, by ``majority``, ``worst`` or ``mean``; what is undefined says why in `rationale`.

    `complete_when` speaks of a scale from `low` (worst) to `high` (best). The order of the raters does not matter, and a mean is exact: the mean of
    .7, .8 and .9 meets ">= 0.8".
    """
    people = persons(people)
    n = len(people)
    severities = {label.severity for label in people}  # kept where all say the same
    base = Label(
        construct=people[0].construct,
        rater=PREFIX + how,
        severity=severities.pop() if len(severities) == 1 else None,
        value={"raters": n},
    )
    scores = sorted(exact(label.score) for label in people if label.score is not None)
    verdicts = [label.complete for label in people if label.complete is not None]
    if n == 1:
        (only,) = people
        by_rule = meets(only.score, complete_when, low, high) if how == "mean" else None
        return replace(only, rater=base.rater, value=base.value, complete=only.complete if by_rule is None else by_rule)
    yes = sum(verdicts)
    if how == "mean":
        if len(scores) < n:
            return replace(base, rationale=f"{n - len(scores)} of {n} raters gave no score")
        mean = exact_mean(scores)
        complete = meets(mean, complete_when, low, high)
        words = f"mean of {n} raters: {_worths(people, low, high)}; {_number(mean, low, high)}"
        if complete is None:
            words += ", and nothing says from which score on an answer is complete"
        else:
            words += f" is {'complete' if complete else 'incomplete'} ({complete_when})"
            other = sum(verdict is not complete for verdict in verdicts)
            words += (
                f", though {other} of {n} raters say{'s' * (other == 1)} {'incomplete' if complete else 'complete'}"
                * bool(other)
            )
        return replace(base, score=float(mean), complete=complete, rationale=words)
    if len(verdicts) < n:
        return replace(base, rationale=f"{n - len(verdicts)} of {n} raters gave no verdict")
    words = f"{yes} of {n} raters say complete"
    if how == "worst":
        return replace(base, complete=yes == n, score=float(scores[0]) if len(scores) == n else None, rationale=words)
    tie = 2 * yes == n
    return replace(base, complete=None if tie else 2 * yes > n, rationale=f"{words}{', a tie' * tie}")


def _worths(people: Sequence[Label], low: float, high: float) -> str:
    """What each said, in the order of the scores: ``Moderate 0.5, none 1``."""
    said = sorted((exact(label.score), label.severity or "") for label in people)
    return ", ".join(f"{word} {_number(score, low, high)}".strip() for score, word in said)


def _number(score: Fraction, low: float, high: float) -> str:
    return f"{float(exact(low) + score * (exact(high) - exact(low))):.6g}"


def joined_set(
    records: Iterable[Record], construct: str = "completeness", how: str = "card", *, complete_when: str | None = None
) -> dict[str, Label | None]:
    """`joined` for every record, by id. ``worst`` is refused (StatisticsError) when records have unequal numbers of raters.

    With more raters on a record the worst of them is worse by chance alone, so records would not be comparable.
    """
    records = list(records)
    made = any(label.rater == PREFIX + "worst" for record in records for label in record.labels)
    if how == "worst" or (how == "card" and made):
        counts = Counter(len(persons(raters(record, construct))) for record in records)
        counts.pop(0, None)
        if len(counts) > 1:
            shown = ", ".join(f"{number} records have {size}" for size, number in sorted(counts.items()))
            raise StatisticsError(
                f"worst-of-raters needs equal numbers of raters: {shown}",
                mend="choose majority, or one rater, or the records that all of them rated",
            )
    return {record.id: joined(record, construct, how, complete_when=complete_when) for record in records}


def fraction(
    criteria: Sequence[Criterion],
    said: Mapping[str, Any],
    met: Sequence[str],
    where: Mapping[str, str],
    *,
    weighted: bool,
) -> tuple[float | None, str | None]:
    """Share of criteria met, and, when it is None, why.

    `said` maps criterion ids to the rater's word, `met` lists the words that mean met (true is ``"true"``). `where` keeps criteria whose
    attribute equals the text. Criteria with points of 0 or less are left out.
    """
    kept = [
        item
        for item in criteria
        if item.points > 0 and all(str(getattr(item, key, None)) == value for key, value in where.items())
    ]
    if not kept:
        return None, "no criterion counts"
    unsaid = [item.id for item in kept if is_missing(said.get(item.id))]
    if unsaid:
        return None, f"{len(unsaid)} of {len(kept)} criteria were not rated"
    words = [said[item.id] for item in kept]
    hits = [(str(word).lower() if isinstance(word, bool) else word) in met for word in words]
    weights = [exact(item.points) if weighted else Fraction(1) for item in kept]
    return float(sum((w for w, hit in zip(weights, hits, strict=True) if hit), Fraction()) / sum(weights)), None


def criteria_majority(
    labels: Sequence[Label],
    criteria: Sequence[Criterion],
    construct: str,
    met: Sequence[str],
    where: Mapping[str, str],
    *,
    weighted: bool,
    complete_when: str | None,
) -> Label:
    """Join raters criterion by criterion: the word that more than half of them said, then the share of criteria met.

    This differs from the majority of verdicts: raters may disagree on which criteria are met and agree on the answer, or the
    other way round. A criterion without a majority (three raters, three words) counts as not met when no more than half said
    it is met, and has the word None.
    """
    people = persons(labels)
    said: dict[str, bool | str | None] = {}
    hits: dict[str, bool] = {}
    for item in criteria:
        words = [(label.criteria or {}).get(item.id) for label in people]
        if any(is_missing(word) for word in words):
            continue
        top, number = Counter(words).most_common(1)[0]
        said[item.id] = top if 2 * number > len(words) else None
        yes = sum((str(word).lower() if isinstance(word, bool) else word) in met for word in words)
        if 2 * yes != len(words):
            hits[item.id] = 2 * yes > len(words)
    score, reason = fraction(criteria, hits, ["true"], where, weighted=weighted)
    return Label(
        construct=construct,
        rater=PREFIX + "criteria-majority",
        complete=meets(score, complete_when),
        score=score,
        criteria=said,
        value={"raters": len(people)},
        rationale=reason
        or (f"majority of {len(people)} raters on each criterion" if len(people) > 1 else people[0].rationale),
    )


def one_class(records: Iterable[Record]) -> list[str]:
    """Sentences on constructs whose verdicts are all the same, so that nothing can be told apart by them."""
    found: dict[str, list[bool]] = {}
    for record in records:
        for label in record.labels:
            if label.complete is not None and not is_join(label):
                found.setdefault(label.construct, []).append(label.complete)
    return [
        f"all {len(said)} verdicts of {construct} are {'complete' if said[0] else 'incomplete'}: nothing can be told apart by them"
        for construct, said in found.items()
        if len(said) > 1 and len(set(said)) == 1
    ]


def lookalikes(records: Iterable[Record]) -> list[str]:
    """Sentences on words that raters' labels hold in several spellings which differ only in case or in spaces, with their counts."""
    found: dict[tuple[str, str], dict[str, Counter[str]]] = {}
    for record in records:
        for label in record.labels:
            for what, word in (("rater", label.rater), ("severity", label.severity), ("value", label.value)):
                if isinstance(word, str) and not is_join(label):
                    by = found.setdefault((label.construct, what), {})
                    by.setdefault(" ".join(word.split()).casefold(), Counter())[word] += 1
    return [
        f"{construct}, {what}: {', '.join(f'{word!r} ({n})' for word, n in words.most_common())} differ only in case or spaces, and count as different"
        for (construct, what), by in found.items()
        for words in by.values()
        if len(words) > 1
    ]


def check_raters(labels: Sequence[Label]) -> list[Label]:
    """Number a rater's second label of the same construct ``NAME [rating 2]``, so that every annotation is kept."""
    seen: Counter[tuple[str, str | None]] = Counter()
    out: list[Label] = []
    for label in labels:
        key = (label.construct, label.rater)
        seen[key] += 1
        if seen[key] == 1:
            out.append(label)
        elif label.rater is None:
            raise DataError("two labels of one record name no rater", field="labels", mend="map the rater in the card")
        else:
            out.append(replace(label, rater=f"{label.rater} [rating {seen[key]}]"))
    return out
