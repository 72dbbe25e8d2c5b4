"""Ten rewordings of a question, and which of them are really different (001, 3.1.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from judgekit.metrics.text import fold

__all__ = ["KINDS", "Try", "Variant", "choose", "jaccard", "same_text", "trigrams"]

KINDS: Final = (
    "abbreviation-expansion",
    "abbreviation-compression",
    "clinical-to-lay",
    "lay-to-clinical",
    "syntactic-reordering",
    "active-to-passive",
    "question-reframing",
    "documentation-style",
    "format-shift",
    "redundancy-trimming",
)
TRIES: Final = 3
ALIKE: Final = 0.92


def same_text(text: str) -> str:
    """The text as it is compared: white space as one space each, nothing else changed."""
    return " ".join(text.split())


def trigrams(text: str) -> frozenset[str]:
    """The character trigrams of a text, folded (`metrics.text.fold`), without case, white space as one space; a shorter text is its own only one."""
    plain = same_text(fold(text)).casefold()
    return frozenset(plain[i : i + 3] for i in range(len(plain) - 2)) if len(plain) >= 3 else frozenset({plain})


def jaccard(one: str, two: str) -> float:
    """Shared trigrams over all trigrams of two texts, in [0, 1]; 1 for texts that differ in white space, case or typography only."""
    a, b = trigrams(one), trigrams(two)
    return len(a & b) / len(a | b)


@dataclass(frozen=True, slots=True)
class Try:
    """One reply of the writer. `text` is None where there is none, and `reason` says why; `final` False: it may still come."""

    text: str | None
    reason: str | None = None
    final: bool = True
    call: str | None = None


@dataclass(frozen=True, slots=True)
class Variant:
    """What became of one kind of rewording of one question.

    `status`: ``distinct`` (goes on), ``unchanged`` (the writer gave the text back), ``alike`` (too close to the stem or to an earlier
    variant), ``failed`` (no usable reply), ``pending`` (not done yet). `tries` counts replies looked at; `similarity` is the largest trigram
    Jaccard to the stem or an earlier variant, `nearest` to which (``stem`` or a kind).
    """

    kind: str
    status: str
    text: str | None
    tries: int
    similarity: float | None = None
    nearest: str | None = None
    reason: str | None = None
    history: tuple[dict[str, Any], ...] = field(default=())


def choose(
    stem: str,
    replies: Mapping[str, Sequence[Try]],
    *,
    kinds: Sequence[str] = KINDS,
    alike: float = ALIKE,
    tries: int = TRIES,
) -> list[Variant]:
    """Walk the kinds in order and take the first reply of each that is distinct from the stem and from every variant taken before.

    Parameters
    ----------
    replies : for each kind its replies so far, in order; at most `tries` count.
    alike : a reply is not distinct where its trigram Jaccard is *over* it (exclusive; 0.92 itself is distinct enough).

    Returns
    -------
    One Variant a kind. ``pending`` where another reply may still be asked for. The result depends on the replies alone, so that a command
    that was killed comes to the same one. A comparison with a kind that is still pending is made when that is settled.
    """
    taken: list[tuple[str, str]] = []
    out: list[Variant] = []
    for kind in kinds:
        variant = _one(stem, kind, list(replies.get(kind, ()))[:tries], taken, alike, tries)
        if variant.status == "distinct" and variant.text is not None:
            taken.append((kind, variant.text))
        out.append(variant)
    return out


def _one(stem: str, kind: str, given: list[Try], taken: list[tuple[str, str]], alike: float, tries: int) -> Variant:
    history: list[dict[str, Any]] = []
    last: tuple[str, str | None, float | None, str | None, str] = ("failed", None, None, None, "no reply")
    for number, reply in enumerate(given, 1):
        if reply.text is None or not reply.text.strip():
            why = reply.reason or "the reply is blank"
            if not reply.final:
                return Variant(kind, "pending", None, number - 1, reason=why, history=tuple(history))
            last = ("failed", None, None, None, why)
            history.append({"try": number, "text": None, "reason": why, "call": reply.call})
            continue
        text = reply.text.strip()
        nearest, similarity = max(
            ((name, jaccard(text, other)) for name, other in [("stem", stem), *taken]), key=lambda pair: pair[1]
        )
        history.append(
            {"try": number, "text": text, "similarity": round(similarity, 6), "nearest": nearest, "call": reply.call}
        )
        if similarity <= alike:
            return Variant(kind, "distinct", text, number, similarity, nearest, None, tuple(history))
        if same_text(text) == same_text(stem):
            last = ("unchanged", text, similarity, nearest, "the writer gave the text back unchanged")
        else:
            last = (
                "alike",
                text,
                similarity,
                nearest,
                f"similarity {similarity:.3f} to {_name(nearest)}, over {alike:g}",
            )
    if len(given) < tries:
        return Variant(kind, "pending", None, len(given), reason="another try is due", history=tuple(history))
    status, found, score, near, reason = last
    return Variant(kind, status, found, len(given), score, near, reason, tuple(history))


def _name(nearest: str) -> str:
    return "the stem" if nearest == "stem" else f"the variant {nearest}"


def plain_reply(text: str) -> str:
    """A writer's reply without a fence around the whole of it; inside nothing is touched."""
    match = re.fullmatch(r"\s*```[a-z]*\n(.*?)\n?```\s*", text, re.DOTALL)
    return (match.group(1) if match else text).strip()
