"""Turns the rubric's neutral JSON schema into the dialect that a provider takes.

What every dialect shares: whole numbers with an ``enum`` become strings (several providers refuse a numeric enum, and others
answer ``"4"`` to one), ``$ref`` is put in place, every property is required and in the rubric's order, objects are closed.
Limits that a dialect does not carry are said in the field's description, unless it names the same figure already; the
rubric's own response model checks what must hold in any case.

==============  ==========================================================================================================
family          what it takes
==============  ==========================================================================================================
openai          Strict mode: closed objects, every property required, no ``minLength``/``maxLength``; ``pattern``, ``minimum``,
                ``minItems`` and their like only on some models; at most 10 levels and 1,000 enum values. (OpenAI, "Structured
                model outputs", supported schemas.)
anthropic       Closed objects; no numeric, string or array limits beyond ``minItems`` 0 or 1; no recursion. (Anthropic,
                "Structured outputs", JSON Schema limitations.)
gemini          A subset of OpenAPI 3.0: string enums only, no ``$ref``, ``additionalProperties`` not on every version; properties
                come in ``propertyOrdering``, alphabetically without it. (Google, "Structured output", JSON Schema support.)
ollama          Grammar from the schema, as in llama.cpp; earlier versions, and models behind its cloud, ignore it. Texts are not cut
                there: a length is the rubric's hint, and only the embedded model needs to be held to it.
llama.cpp       Grammar from the schema: ``maxLength`` becomes a repetition ``{0,n}``, bounded at 2,000; numeric limits are kept for
                integers only; ``pattern`` must be anchored. (llama.cpp, ``grammars/README.md``, JSON schemas.)
generic         Any other OpenAI-compatible server: as openai, because guided decoding in such servers refuses or ignores
                the same keywords.
==============  ==========================================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from judgekit.errors import RubricError

__all__ = ["Family", "family_of", "to_dialect"]

Family = Literal["openai", "anthropic", "gemini", "ollama", "llama.cpp", "generic"]

LLAMA_MAX_REPEAT = 2000  # inclusive; some versions of llama.cpp refuse a grammar with a longer repetition
LLAMA_DEFAULT_CHARS = 1000  # a small model can write for ever: a text without a limit of its own gets this one

_FAMILIES: dict[str, Family] = {
    "openai": "openai", "azure": "openai", "azure_ai": "openai", "text-completion-openai": "openai",
    "anthropic": "anthropic", "bedrock": "anthropic", "vertex_ai_beta": "gemini",
    "gemini": "gemini", "vertex_ai": "gemini",
    "ollama": "ollama", "ollama_chat": "ollama",
    "local": "llama.cpp", "llamafile": "llama.cpp",
}  # fmt: skip

_KEPT = {"type", "properties", "required", "items", "enum", "description", "additionalProperties", "anyOf"}
_NOISE = {"title", "default", "examples", "$schema", "$id", "$defs", "definitions", "$comment", "x-max-chars"}
_WORDS = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "pattern": "matching {}",
    "format": "as a {}",
}
_LIMITS: dict[Family, set[str]] = {  # which limits travel as keywords
    "openai": set(),
    "generic": set(),
    "anthropic": set(),
    "gemini": {"minItems", "maxItems"},
    "ollama": {"minItems", "maxItems"},
    "llama.cpp": {"maxLength", "minLength", "minItems", "maxItems"},
}


def family_of(model: str, *, custom_base: bool = False) -> Family:
    """The dialect of a model's provider; ``openai/`` at another address than OpenAI's (`custom_base`) is generic."""
    provider = model.split("/", 1)[0].lower() if "/" in model else ""
    if not provider:
        name = model.lower()
        if name.startswith("claude"):
            return "anthropic"
        if name.startswith("gemini"):
            return "gemini"
        return "generic" if custom_base else "openai"
    family = _FAMILIES.get(provider, "generic")
    return "generic" if family == "openai" and custom_base and provider == "openai" else family


def to_dialect(schema: Mapping[str, Any], family: Family, *, max_chars: int | None = None) -> dict[str, Any]:
    """The schema as it is sent to a provider of `family`; the input is left as it is.

    Parameters
    ----------
    schema : a JSON Schema of an object, in the rubric's neutral form. A text's length limit is ``maxLength`` or ``x-max-chars``.
    max_chars : lowers every text's length limit to this many characters (inclusive), and sets it where there was none.

    Raises RubricError where the schema refers to itself or to a place outside.
    """
    return _Writer(schema, family, max_chars).node(schema, ())


class _Writer:
    def __init__(self, root: Mapping[str, Any], family: Family, max_chars: int | None) -> None:
        self.root = root
        self.family = family
        self.max_chars = max_chars

    def node(self, node: Mapping[str, Any], seen: tuple[str, ...]) -> dict[str, Any]:
        while "$ref" in node:
            ref = str(node["$ref"])
            if ref in seen:
                raise RubricError(
                    f"the verdict's schema refers to itself ({ref})", mend="no provider takes a recursive schema"
                )
            seen = (*seen, ref)
            node = {**self.resolve(ref), **{key: value for key, value in node.items() if key != "$ref"}}
        if len(node.get("allOf") or ()) == 1:
            node = {**node["allOf"][0], **{key: value for key, value in node.items() if key != "allOf"}}
            return self.node(node, seen)
        limits = {key: node[key] for key in _WORDS if key in node}
        out = {key: value for key, value in node.items() if key not in _NOISE and key not in _WORDS}
        if "const" in out:
            out["enum"] = [out.pop("const")]
        if "oneOf" in out:
            out["anyOf"] = out.pop("oneOf")
        unknown = set(out) - _KEPT
        if unknown:
            raise RubricError(
                f"a verdict's schema holds {', '.join(sorted(unknown))}, which no dialect here carries",
                mend="describe the field with type, enum, properties, items and limits",
            )
        self.enum(out)
        self.text_limit(node, out, limits)
        if "anyOf" in out:
            out["anyOf"] = [self.node(part, seen) for part in out["anyOf"]]
        if isinstance(out.get("items"), Mapping):
            out["items"] = self.node(out["items"], seen)
        if out.get("type") == "object" or "properties" in out:
            self.object(out, seen)
        self.limits(out, limits)
        return out

    def resolve(self, ref: str) -> Mapping[str, Any]:
        value: Any = self.root
        steps = ref[1:].split("/")[1:] if ref.startswith("#") else [ref]
        for step in steps:
            value = value.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(value, Mapping) else None
        if not isinstance(value, Mapping):
            raise RubricError(f"the verdict's schema refers to {ref}, which it does not hold")
        return value

    def object(self, out: dict[str, Any], seen: tuple[str, ...]) -> None:
        was_required = out.get("required")
        properties: dict[str, Any] = {}
        for name, part in (out.get("properties") or {}).items():
            written = self.node(part, seen)
            if was_required is not None and name not in was_required:
                written = _nullable(written)
            properties[name] = written
        out["type"] = "object"
        out["properties"] = properties
        out["required"] = list(properties)
        out["additionalProperties"] = False
        if self.family == "gemini":
            del out["additionalProperties"]
            out["propertyOrdering"] = list(properties)

    def enum(self, out: dict[str, Any]) -> None:
        values = out.get("enum")
        if values is None:
            return
        if any(not isinstance(value, str) and value is not None for value in values):
            out["enum"] = [value if isinstance(value, str) or value is None else _text(value) for value in values]
        kinds = ["string", "null"] if None in values else "string"
        out["type"] = kinds

    def text_limit(self, node: Mapping[str, Any], out: dict[str, Any], limits: dict[str, Any]) -> None:
        if out.get("type") != "string" or "enum" in out:
            return
        asked = [n for n in (node.get("maxLength"), node.get("x-max-chars"), self.max_chars) if n is not None]
        if asked:
            limits["maxLength"] = min(asked)
        elif self.family == "llama.cpp":
            limits["maxLength"] = LLAMA_DEFAULT_CHARS
        if self.family == "llama.cpp":
            limits["maxLength"] = min(limits["maxLength"], LLAMA_MAX_REPEAT)

    def limits(self, out: dict[str, Any], limits: dict[str, Any]) -> None:
        carried = _LIMITS[self.family]
        words = []
        for key, value in limits.items():
            if key in carried:
                out[key] = value
            elif not re.search(rf"(?<![\d.]){re.escape(str(value))}(?![\d]|\.\d)", out.get("description") or ""):
                words.append(_WORDS[key].format(value))
        if words:
            note = "(" + ", ".join(words) + ")"
            out["description"] = f"{out['description']} {note}" if out.get("description") else note


def _nullable(part: dict[str, Any]) -> dict[str, Any]:
    if "anyOf" in part:
        return {**part, "anyOf": [*part["anyOf"], {"type": "null"}]}
    kind = part.get("type")
    kinds = list(kind) if isinstance(kind, list) else [kind]
    out = {**part, "type": [*kinds, *([] if "null" in kinds else ["null"])]}
    if "enum" in out and None not in out["enum"]:
        out["enum"] = [*out["enum"], None]
    return out


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
