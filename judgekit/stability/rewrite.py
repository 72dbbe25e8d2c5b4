"""The same rubric in other words, another order, or under other names: what a judge's stability is measured with.

Nothing here changes what is asked for: rules, anchors and scores stay, and so does every part that fences the judged text off.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from judgekit.rubric import load_rubric
from judgekit.rubric.compile import CompiledRubric, compile_spec
from judgekit.rubric.fields import BooleanField, Field, ScaleField, TextField
from judgekit.rubric.spec import PromptText, RubricSpec

__all__ = ["BUILT_IN", "Wording", "built_in", "pad", "pieces", "rewritten"]

BUILT_IN: Final = ("words", "layout", "courtesy", "order-levels", "order-examples", "label-names")

_TAG: Final = re.compile(r"(\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\})", re.DOTALL)
_LONG: Final = 24  # shorter pieces are headings and glue

# Each pair says the same in instructions; longer phrases first, so that a part of one is not taken alone.
_WORDS: Final = (
    ("leaves out", "omits"), ("left out", "omitted"), ("leave out", "omit"), ("needs to know", "has to know"), ("in order to", "so as to"),
    ("of great clinical significance", "of major clinical importance"), ("clinical significance", "clinical importance"),
    ("of importance", "that matters"), ("one thing only", "a single thing"), ("how to judge", "how to proceed"),
    ("You are an experienced", "You work as an experienced"), ("work out", "establish"), ("choose", "select"), ("name each", "state each"),
    ("name what", "state what"), ("name the", "state the"), ("missing", "absent"), ("answer alone", "answer by itself"),
    ("does not count", "plays no part"), ("do not count", "play no part"), ("careful", "conscientious"), ("dangerous", "hazardous"),
    ("relevant", "pertinent"), ("recall", "bring to mind"), ("supports", "backs"), ("wrong", "incorrect"), ("begin with", "start with"),
)  # fmt: skip


@dataclass(frozen=True)
class Wording:
    """One way of saying a rubric. `rubric` is None, with `reason`, where the way does not apply to it; `kept` counts pieces left as they were."""

    name: str
    rubric: CompiledRubric | None
    reason: str | None = None
    kept: int = 0


def built_in(rubric: CompiledRubric, ways: Sequence[str] = BUILT_IN) -> list[Wording]:
    """The deterministic wordings of a rubric; no model is asked."""
    return [_MAKERS[way](rubric) for way in ways]


def _variant(rubric: CompiledRubric, way: str, spec: RubricSpec, reason: str) -> Wording:
    made = compile_spec(dataclasses.replace(spec, name=f"{rubric.name}~{way}"), rubric.path)
    if made.ask_fingerprint == rubric.ask_fingerprint:
        return Wording(way, None, reason)
    return Wording(way, made)


def _words(rubric: CompiledRubric) -> Wording:
    spec = _map_text(rubric.spec, _swap_words)
    return _variant(rubric, "words", spec, "the rubric uses none of the words that the built-in table knows")


def _swap_words(text: str) -> str:
    def one(match: re.Match[str], new: str) -> str:
        return new[0].upper() + new[1:] if match.group()[0].isupper() else new

    for old, new in _WORDS:
        text = re.sub(rf"\b{re.escape(old)}\b", lambda match, new=new: one(match, new), text, flags=re.IGNORECASE)  # type: ignore[misc]
    return text


def _layout(rubric: CompiledRubric) -> Wording:
    def change(text: str) -> str:
        text = re.sub(r"(?m)^(\s*)(\d+)\.(\s+)", r"\1(\2)\3", text)
        return re.sub(r"(?m)^(\s*)- ", r"\1* ", text)

    spec = _map_prompt(rubric.spec, change)
    return _variant(rubric, "layout", spec, "the prompt has no list whose marks could change")


def _courtesy(rubric: CompiledRubric) -> Wording:
    def change(prompt: PromptText) -> PromptText:
        return dataclasses.replace(
            prompt, text="Please read what follows with care before you begin.\n\n" + prompt.text
        )

    spec = rubric.spec
    if spec.system is not None:
        return _variant(rubric, "courtesy", dataclasses.replace(spec, system=change(spec.system)), "")
    return _variant(rubric, "courtesy", dataclasses.replace(spec, user=change(spec.user)), "")


def _order_levels(rubric: CompiledRubric) -> Wording:
    def turn(field: Field) -> Field:
        return dataclasses.replace(field, levels=field.levels[::-1]) if isinstance(field, ScaleField) else field

    spec = dataclasses.replace(rubric.spec, verdict=tuple(turn(field) for field in rubric.spec.verdict))
    return _variant(rubric, "order-levels", spec, "the verdict has no scale")


def _order_examples(rubric: CompiledRubric) -> Wording:
    examples = rubric.spec.examples
    if not isinstance(examples, tuple) or len(examples) < 2:
        return Wording(
            "order-examples", None, "the file gives fewer than two examples, or they are retrieved by likeness"
        )
    spec = dataclasses.replace(rubric.spec, examples=examples[::-1])
    return _variant(rubric, "order-examples", spec, "the examples are alike")


def _label_names(rubric: CompiledRubric) -> Wording:
    def rename(field: Field) -> Field:
        if not isinstance(field, ScaleField):
            return field
        levels = tuple(dataclasses.replace(level, label=f"level {level.value}") for level in field.levels)
        return dataclasses.replace(field, levels=levels)

    spec = dataclasses.replace(rubric.spec, verdict=tuple(rename(field) for field in rubric.spec.verdict))
    return _variant(rubric, "label-names", spec, "the verdict has no scale with named levels")


_MAKERS: Final[dict[str, Callable[[CompiledRubric], Wording]]] = {
    "words": _words,
    "layout": _layout,
    "courtesy": _courtesy,
    "order-levels": _order_levels,
    "order-examples": _order_examples,
    "label-names": _label_names,
}


def _map_prompt(spec: RubricSpec, change: Callable[[str], str]) -> RubricSpec:
    """The spec with `change` applied to the literal pieces of its own prompts and blocks; tags and included parts stay."""

    def outside(prompt: PromptText) -> PromptText:
        bits = _TAG.split(prompt.text)
        return dataclasses.replace(prompt, text="".join(bit if _TAG.fullmatch(bit) else change(bit) for bit in bits))

    return dataclasses.replace(
        spec,
        system=None if spec.system is None else outside(spec.system),
        user=outside(spec.user),
        blocks={name: outside(prompt) for name, prompt in spec.blocks.items()},
    )


def _map_fields(spec: RubricSpec, change: Callable[[str], str]) -> RubricSpec:
    def one(field: Field) -> Field:
        more: dict[str, Any] = {} if field.describe is None else {"describe": change(field.describe)}
        if isinstance(field, ScaleField):
            more["levels"] = tuple(dataclasses.replace(level, anchor=change(level.anchor)) for level in field.levels)
        elif isinstance(field, BooleanField | TextField):
            more["asked"] = change(field.asked)
        return dataclasses.replace(field, **more)

    return dataclasses.replace(spec, verdict=tuple(one(field) for field in spec.verdict))


def _map_text(spec: RubricSpec, change: Callable[[str], str]) -> RubricSpec:
    return _map_fields(_map_prompt(spec, change), change)


def pieces(rubric: CompiledRubric) -> list[str]:
    """The literal pieces of a rubric that a writer may reword: instructions, anchors and questions, each once, in order."""
    found: dict[str, None] = {}

    def note(text: str) -> str:
        plain = text.strip()
        if len(plain) >= _LONG and any(char.isalpha() for char in plain):
            found[plain] = None
        return text

    _map_text(rubric.spec, note)
    return list(found)


def rewritten(rubric: CompiledRubric, way: str, new: Mapping[str, str]) -> Wording:
    """The rubric with pieces replaced by a writer's; white space around a piece stays, and a piece without a replacement too.

    `kept` counts the pieces that stayed. Not applicable where all did.
    """
    kept = 0

    def change(text: str) -> str:
        nonlocal kept
        plain = text.strip()
        if len(plain) < _LONG or not any(char.isalpha() for char in plain):
            return text
        if plain not in new:
            kept += 1
            return text
        return text[: len(text) - len(text.lstrip())] + new[plain] + text[len(text.rstrip()) :]

    spec = _map_text(rubric.spec, change)
    made = _variant(rubric, way, spec, "the writer changed nothing")
    return dataclasses.replace(made, kept=kept)


_PADDING: Final = (
    "Thank you for your question.",
    "I understand that this may be on your mind, and I am glad that you asked.",
    "I have tried to put this in a way that is easy to follow.",
    "Take your time to read it through.",
    "If anything here is unclear, please feel free to ask again.",
    "I hope that this is of some help to you.",
)


def pad(response: str, share: float = 0.5) -> str:
    """The same answer, longer by at least `share` of its length in sentences that hold no medical content, before and after it."""
    need = max(1, round(share * len(response)))
    before: list[str] = [_PADDING[0]]
    after: list[str] = []
    number = 1
    while sum(len(part) for part in before + after) < need:
        (after if number % 2 else before).append(_PADDING[1 + (number - 1) % (len(_PADDING) - 1)])
        number += 1
    return "\n\n".join(part for part in (" ".join(before), response, " ".join(after)) if part)


def reload(name: Any) -> CompiledRubric:
    """A rubric by name or file, or as it is."""
    return name if isinstance(name, CompiledRubric) else load_rubric(name)
