"""Raters joined through a card: one label a record beside the raters' own, and what was joined, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from judgekit.data.cards import LabelSpec, Shape
from judgekit.data.labels import AGAIN, criteria_majority, join, raters, standing_behind
from judgekit.records import Label, Record

__all__ = ["join_raters"]


def join_raters(shape: Shape, records: list[Record]) -> tuple[list[Record], list[str]]:
    """The records with one joined label each where several people rated, as the card asks or by its labels' kind; and how, in words.

    A join of one rater is that rater's label, so that no record is lost. Where one person rated the whole file, or the card says ``join: none``,
    there is nothing to join; labels by construction or by a model are joined only where the card says so.
    """
    notes: list[str] = []
    specs: dict[str, LabelSpec] = {}
    for spec in shape.labels:
        specs.setdefault(spec.about, spec)
    for construct, spec in specs.items():
        how = spec.join or spec.default_join
        people = [raters(record, construct) for record in records]
        names = {None if label.rater is None else AGAIN.sub("", label.rater) for some in people for label in some}
        made_up = any(name is not None and (name == "construction" or name.startswith("model:")) for name in names)
        if how in (None, "none") or len(names) < 2 or (spec.join is None and made_up):
            continue
        made = [
            _one(spec, str(how), record, some) if some else None for record, some in zip(records, people, strict=True)
        ]
        sizes = {standing_behind(label) for label in made if label is not None}
        if how == "worst" and len(sizes) > 1:
            notes.append(
                f"{construct}: raters are not joined by worst, since records have {min(sizes)} to {max(sizes)} of them: "
                "the more raters, the worse the worst"
            )
            continue
        notes += _told(construct, spec, str(how), made, people)
        records = [
            record if label is None else replace(record, labels=(*record.labels, label))
            for record, label in zip(records, made, strict=True)
        ]
    return records, notes


def _one(spec: LabelSpec, how: str, record: Record, people: list[Label]) -> Label:
    if how != "criteria-majority":
        return join(people, how, spec.complete_when, *spec.scale)
    rule = spec.fraction
    assert rule is not None
    return criteria_majority(
        people,
        record.criteria,
        spec.about,
        rule.met,
        rule.where,
        weighted=rule.weighted,
        complete_when=spec.complete_when,
    )


def _told(
    construct: str, spec: LabelSpec, how: str, made: list[Label | None], people: list[list[Label]]
) -> Iterator[str]:
    """How the raters were joined, in numbers: who stands behind the labels, and what became of disagreements."""
    pairs = [(label, some) for label, some in zip(made, people, strict=True) if label is not None]
    several = [(label, some) for label, some in pairs if standing_behind(label) > 1]
    split = [label for label, some in several if len({one.complete for one in some if one.complete is not None}) > 1]
    if not several and spec.join is not None:
        return
    read = Counter(label.complete for label in split)
    words = f"{construct}: raters are joined by {how}{' (the card does not say how)' * (spec.join is None)}; "
    words += f"{len(pairs) - len(several)} records have one rater, whose label it is, and {len(several)} have several"
    if split:
        kinds = ((True, "complete"), (False, "incomplete"), (None, "without a verdict"))
        words += f"; on {len(split)} of these the raters' verdicts differ: "
        words += ", ".join(f"{read[key]} {'read as ' * (key is not None)}{word}" for key, word in kinds if read[key])
        if how == "mean" and spec.complete_when:
            words += f", by the mean of their scores and {spec.complete_when!r}"
    yield words
