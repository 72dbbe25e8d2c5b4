"""Which output of an NLI checkpoint is which, by the checkpoint's own names."""

from __future__ import annotations

from typing import Final

from judgekit.errors import InputError, UsageError

__all__ = ["LABELS", "label_order"]

LABELS: Final = ("entailment", "neutral", "contradiction")

_STEMS: Final = ("entail", "neutral", "contradict")


def label_order(id2label: dict[int, str], given: str = "") -> list[int]:
    """Which output is entailment, neutral, contradiction, by the checkpoint's own names.

    Parameters
    ----------
    given : the names in the order of the outputs, joined by "/", for a checkpoint that names none. What a checkpoint names itself wins.

    Raises InputError where the names do not tell.
    """
    names = {int(key): str(value).casefold() for key, value in id2label.items()}
    if given and not all(sum(value.startswith(stem) for value in names.values()) == 1 for stem in _STEMS):
        names = dict(enumerate(part.strip().casefold() for part in given.split("/")))
        if len(names) != len(id2label):
            raise UsageError(
                f"labels={given} names {len(names)} outputs, the checkpoint has {len(id2label)}",
                field="labels",
                mend="/".join(LABELS),
            )
    order = []
    for stem in _STEMS:
        hits = [key for key, value in names.items() if value.startswith(stem)]
        if len(hits) != 1:
            shown = ", ".join(names[key] for key in sorted(names))
            raise InputError(
                f"the checkpoint's outputs are called {shown}: which one is {stem}... cannot be told",
                field="labels",
                mend="say it in the order of the outputs, as its model card does: labels=contradiction/neutral/entailment",
            )
        order.append(hits[0])
    return order
