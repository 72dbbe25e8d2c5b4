"""What is said, or refused, before a triage number is believed (docs/triage.md, "Guards")."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

from judgekit.analysis.cells import Cell

__all__ = [
    "few_criteria",
    "model_names",
    "oracle_criteria",
    "own_answers",
    "partial_labels",
    "same_model",
    "tuned_note",
]

MANY = 0.2
FEW = 2


def partial_labels(cell: Cell) -> tuple[str | None, str | None]:
    """(refusal, warning): do labels exist only for the answers on one side of some score?

    Recall among labelled answers says nothing when a judge chose who was labelled: what it let pass has no label. Refused when
    every labelled score lies below every unlabelled one or the reverse, and two or more are unlabelled so that chance is
    no explanation (2 / C(n, unlabelled) <= .05); one unlabelled answer at an end, or a clear dependence, is a warning.
    """
    if cell.weight is not None:
        return None, None
    scored = cell.scored
    with_label, without = cell.score[scored & (cell.label >= 0)], cell.score[scored & (cell.label < 0)]
    if with_label.size == 0 or without.size == 0:
        return None, None
    side = None
    if with_label.max() < without.min():
        side = f"no label above {with_label.max():g}, {without.size} answers above it"
    elif with_label.min() > without.max():
        side = f"no label below {with_label.min():g}, {without.size} answers below it"
    mend = "label a random sample of the others and give --sampling-probability"
    if side is not None:
        total = with_label.size + without.size
        chance = 2 / comb(total, min(without.size, with_label.size)) if total < 2000 else 0.0
        if without.size >= 2 and chance <= 0.05:
            return f"labels exist only on one side of the scores ({side}): recall and AUC cannot be known; {mend}", None
        return None, f"unlabelled answers lie at one end of the scores ({side}): recall and AUC may mislead"
    import numpy as np

    from judgekit.stats.auc import auc_interval

    known = np.concatenate([np.ones(with_label.size, bool), np.zeros(without.size, bool)])
    found = auc_interval(known, np.concatenate([with_label, without]), level=0.999)
    if found.low is not None and found.high is not None and found.se and not found.low <= 0.5 <= found.high:
        return (
            None,
            f"who was labelled depends on the score ({without.size} unlabelled): recall and AUC may mislead; {mend}",
        )
    return None, None


def same_model(judge: str | None, raters: Sequence[str | None], members: Sequence[str] = ()) -> str | None:
    """The rater that is the judge itself (or a member of the panel), or None.

    Models are compared whatever their provider's prefix, their sampling parameters in brackets, ``model:`` or ``judge:`` in front,
    and upper or lower case.
    """
    names = {name for one in (judge, *members) if one for name in model_names(one)}
    return next((rater for rater in raters if rater and names & model_names(rater)), None)


def own_answers(judge: str | None, writers: Sequence[object], members: Sequence[str] = ()) -> int:
    """How many answers the judge's own model wrote; judges favour themselves."""
    return sum(1 for name in writers if isinstance(name, str) and name and same_model(judge, [name], members))


def model_names(notation: str) -> set[str]:
    """What a model is called, with and without its provider; a panel is called by all of its members' names."""
    plain = notation.strip().lower()
    for prefix in ("model:", "judge:"):
        plain = plain.removeprefix(prefix).strip()
    if plain.startswith("panel(") and plain.endswith(")"):
        inside = plain[len("panel(") : -1].rpartition(", ")[0]
        return {name for member in inside.split(" + ") for name in model_names(member)}
    if plain.endswith(")") and "(" in plain:
        plain = plain[: plain.index("(")].strip()
    return {name for name in (plain, plain.rsplit("/", 1)[-1]) if name}


def oracle_criteria(asked: Sequence[Sequence[str]], labelled: Sequence[Sequence[str]]) -> bool:
    """Whether the checklist held the label's own criteria: for most records the criteria asked are among those rated."""
    both = [(set(a), set(b)) for a, b in zip(asked, labelled, strict=True) if a and b]
    return bool(both) and sum(1 for a, b in both if a <= b or b <= a) * 2 > len(both)


def tuned_note(tuned: int, judgements: int) -> str:
    """What is said where `tuned` of the scored judgements of ``local/evidence`` rest on pairs that its map was fitted on."""
    return f"{tuned} of {judgements} judgements rest on criteria that made the evidence map: figures here are optimistic, not evidence"


def few_criteria(counts: Sequence[int]) -> str | None:
    """A warning when many records (a fifth or more) have one or two criteria, so that ">= .75" means "all"."""
    known = [n for n in counts if n > 0]
    few = sum(1 for n in known if n <= FEW)
    if known and few >= MANY * len(known):
        return f"{few} of {len(known)} records have one or two criteria: for them a share of .75 means all"
    return None
