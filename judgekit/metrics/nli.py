"""Entailment between two texts: checkpoints and the rule baseline behind one face, both directions, K-of-M consensus (001, 3.2).

The rules are no NLI: they are a baseline that has to be asked for by name (``rules``) and says so (``rules:baseline``) wherever its numbers stand.
A text entails itself and is never contradicted by itself, whatever a checkpoint makes of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol

from judgekit.errors import MissingDependency, UsageError
from judgekit.metrics.text import fold, is_blank

__all__ = [
    "BASELINE", "NEEDS", "Consensus", "Nli", "Verdict", "bidirectional", "consensus", "load_nli", "load_nlis", "named", "same_words", "vacuous",
]  # fmt: skip

BASELINE: Final = "rules:baseline"
PAPER_CHECKPOINT: Final = "FacebookAI/roberta-large-mnli"
NEEDS: Final = (
    f"pip install 'clinical-judgekit[metrics]', fetch a checkpoint (`hf download {PAPER_CHECKPOINT} --local-dir FOLDER` gets the paper's) and say nli=FOLDER; nli=rules is a weak"
    " baseline without one"
)


def named(nli: str) -> str:
    """What an option `nli` names, in one spelling: ``rules`` (and its old name ``baseline``) is ``rules:baseline``."""
    parts = [part.strip() for part in nli.split("+") if part.strip()]
    return "+".join(BASELINE if part in {"rules", "baseline"} else part for part in parts)


def same_words(one: str, two: str) -> bool:
    """Whether two texts are the same but for typography, case and white space."""
    return one == two or fold(one).casefold().split() == fold(two).casefold().split()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one model says of a premise and a hypothesis; the three sum to 1. `why` is the rule that spoke (baseline only)."""

    entailment: float
    neutral: float
    contradiction: float
    why: str = ""

    def shown(self) -> dict[str, object]:
        row: dict[str, object] = {
            key: round(float(getattr(self, key)), 6) for key in ("entailment", "neutral", "contradiction")
        }
        return {**row, "why": self.why} if self.why else row


class Nli(Protocol):
    """`limit` counts tokens of a pair, None where there is no limit."""

    version: str
    limit: int | None

    def lengths(self, pairs: Sequence[tuple[str, str]]) -> list[int]: ...

    def predict(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]: ...


_ITSELF: Final = Verdict(1.0, 0.0, 0.0, "the same words")


def _read(row: Sequence[float]) -> Verdict:
    return Verdict(float(row[0]), float(row[1]), float(row[2]))


class _Checkpoint:
    def __init__(self, name: str, labels: str) -> None:
        from judgekit.metrics.models import classifier

        self._model = classifier(name, labels)
        self.version = self._model.version
        self.limit: int | None = self._model.limit

    def lengths(self, pairs: Sequence[tuple[str, str]]) -> list[int]:
        return self._model.lengths(pairs)

    def predict(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        asked = [pair for pair in pairs if not same_words(*pair)]
        rows = iter(self._model.predict(asked))
        return [_ITSELF if same_words(*pair) else _read(next(rows)) for pair in pairs]


class _Rules:
    limit: int | None = None

    def __init__(self) -> None:
        from judgekit.metrics.nli_rules import VERSION

        self.version = VERSION

    def lengths(self, pairs: Sequence[tuple[str, str]]) -> list[int]:
        return [0] * len(pairs)

    def predict(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        from judgekit.metrics.nli_rules import judge_pair

        return [_ITSELF if same_words(*pair) else Verdict(*judge_pair(*pair)) for pair in pairs]


@lru_cache(maxsize=4)
def load_nli(name: str, labels: str = "") -> Nli:
    """The checkpoint of that name or folder, or ``rules``, the baseline; loaded once per process.

    Raises MissingDependency where no checkpoint is named, and MissingDependency or InputError as `models.classifier` does.
    """
    if not name:
        raise MissingDependency("entailment needs an NLI checkpoint, and none is named", mend=NEEDS)
    if named(name) == BASELINE:
        return _Rules()
    from judgekit.metrics.models import on_device_change

    on_device_change(load_nli.cache_clear)
    return _Checkpoint(name, labels)


def load_nlis(names: Sequence[str], labels: str = "") -> list[Nli]:
    """The models of several names; `labels` is one order for those that name none, or one a model, joined by "+".

    Raises UsageError where there are neither one nor as many orders as models.
    """
    orders = labels.split("+")
    if len(orders) not in {1, len(names)}:
        raise UsageError(
            f"labels={labels} has {len(orders)} orders for {len(names)} models",
            field="labels",
            mend="one order for all, or one a model joined by '+' (empty for a model that names its outputs)",
        )
    return [load_nli(name, order) for name, order in zip(names, orders * len(names), strict=False)]


def vacuous(entail: float, contradict: float) -> str | None:
    """A warning where the contradiction threshold can exclude nothing: e >= entail leaves at most 1 - entail for c."""
    if contradict > 1 - entail:
        return f"contradict={contradict:g} excludes nothing: entailment of {entail:g} and more leaves at most {1 - entail:.2g}"
    return None


@dataclass(frozen=True, slots=True)
class Consensus:
    """One pair under M models: `votes` in the models' order, True, False, or None where a model failed; `holds` is None undecided."""

    holds: bool | None
    votes: tuple[bool | None, ...]
    forward: tuple[Verdict | None, ...]
    backward: tuple[Verdict | None, ...]
    reasons: tuple[str | None, ...]


def bidirectional(
    pairs: Sequence[tuple[str, str]], nli: Nli, *, entail: float = 0.85, contradict: float = 0.15
) -> list[tuple[bool | None, Verdict | None, Verdict | None, str | None]]:
    """(holds, forward, backward, reason) of each pair under one model (001, 3.2.1).

    Holds where entailment is at least `entail` (inclusive) and contradiction under `contradict` in both directions, which go through the
    model in one pass. None, with a reason, where a side is blank or the pair does not fit the model.
    """
    results: list[tuple[bool | None, Verdict | None, Verdict | None, str | None]] = []
    asked: list[tuple[str, str]] = []
    reasons: list[str | None] = []
    lengths = nli.lengths(pairs)
    for (one, two), length in zip(pairs, lengths, strict=True):
        if is_blank(one) or is_blank(two):
            reasons.append("a side is blank")
        elif nli.limit is not None and length > nli.limit:
            reasons.append(f"the pair has {length} tokens, the model reads {nli.limit}")
        else:
            reasons.append(None)
            asked += [(one, two), (two, one)]
    verdicts = iter(nli.predict(asked))
    for reason in reasons:
        if reason is not None:
            results.append((None, None, None, reason))
            continue
        there, back = next(verdicts), next(verdicts)
        holds = all(item.entailment >= entail and item.contradiction < contradict for item in (there, back))
        results.append((holds, there, back, None))
    return results


def consensus(
    pairs: Sequence[tuple[str, str]], models: Sequence[Nli], *, k: int, entail: float = 0.85, contradict: float = 0.15
) -> list[Consensus]:
    """K-of-M consensus over models (001, 3.2.2): holds where at least `k` of all `models` say yes.

    A model that failed on a pair gives no vote, and M stays what it was: where the failed ones could still turn the result, `holds`
    is None.
    """
    if not 1 <= k <= len(models):
        raise ValueError(f"k={k} is not between 1 and the number of models, {len(models)}")
    rows = [bidirectional(pairs, nli, entail=entail, contradict=contradict) for nli in models]
    results = []
    for at in range(len(pairs)):
        votes = tuple(row[at][0] for row in rows)
        yes, failed = sum(vote is True for vote in votes), sum(vote is None for vote in votes)
        holds = True if yes >= k else False if yes + failed < k else None
        results.append(
            Consensus(
                holds,
                votes,
                tuple(row[at][1] for row in rows),
                tuple(row[at][2] for row in rows),
                tuple(row[at][3] for row in rows),
            )
        )
    return results
