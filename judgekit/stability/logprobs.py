"""Confidence from the log-probabilities that a provider gives with a structured choice."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from judgekit.records import Score

__all__ = ["choice_confidence"]


def choice_confidence(
    tokens: Sequence[Mapping[str, Any]] | None, answer: str, options: Sequence[str], *, field: str = "answer"
) -> Score:
    """Probability of the option that was chosen, normalised over the options, or None with the reason.

    Parameters
    ----------
    tokens : the reply's tokens, ``{"token", "logprob", "top": {token: logprob}}``, or None where the provider gave none.
    answer, options : the chosen option and all options.
    field : the reply's field that holds the choice.

    Alternatives are read at the one token that writes the option; an option that is not among those given counts as 0, so that the
    confidence is at most too high by what it had. None where the option is written by several tokens.
    """
    if not tokens:
        return Score(None, "the provider gave no log-probabilities")
    text = "".join(str(one["token"]) for one in tokens)
    found = list(re.finditer(rf'"{re.escape(field)}"\s*:\s*"({re.escape(answer)})"', text))
    if not found:
        return Score(None, "the choice was not found among the reply's tokens")
    start, end = found[-1].span(1)
    place = 0
    for one in tokens:
        token = str(one["token"])
        if place <= start and end <= place + len(token):
            head, tail = token[: start - place], token[end - place :]
            break
        place += len(token)
    else:
        return Score(None, "the choice was written by several tokens")
    given = dict(one.get("top") or {})
    given.setdefault(token, one["logprob"])
    mass: dict[str, float] = {}
    for option in options:
        # The same option may come with a quote more or less: "A, A and A" are one choice.
        forms = {head + option + tail, option, head + option, option + tail}
        mass[option] = sum(math.exp(value) for name, value in given.items() if name in forms and value is not None)
    total = sum(mass.values())
    if not total > 0 or answer not in mass:
        return Score(None, "no option has a probability")
    return Score(mass[answer] / total)
