"""Finds a rubric file, reads it, and resolves `extends`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from judgekit.errors import RubricError
from judgekit.forms import Document, did_you_mean, parse_yaml, read_utf8, shown
from judgekit.registry import library_files
from judgekit.rubric.compile import CompiledRubric, compile_spec
from judgekit.rubric.read import read_spec
from judgekit.rubric.spec import RubricSpec

__all__ = ["load_rubric", "load_spec", "load_text", "rubric_path"]

NOT_INHERITED = ("rubric", "version", "title", "source", "checks", "extends")
REPLACED_WHOLE = ("score", "examples", "complete_when", "criteria.where", "criteria.write", "criteria.from")
MAX_PARENTS = 8


def load_rubric(name_or_path: str | Path) -> CompiledRubric:
    """The rubric of a file, or of a library name, ready to ask and to score.

    Parameters
    ----------
    name_or_path : a path (anything with a separator, or ending in .yaml or .yml), or a name in the library's `rubrics/`.

    Raises
    ------
    RubricError : with file, line, field and what to write.
    """
    path = rubric_path(name_or_path)
    return compile_spec(load_spec(path), path)


def rubric_path(name_or_path: str | Path) -> Path:
    """The file that a name or a path means."""
    text = str(name_or_path)
    if isinstance(name_or_path, Path) or "/" in text or "\\" in text or text.endswith((".yaml", ".yml")):
        return Path(name_or_path)
    found = library_files("rubrics", ".yaml")
    if text in found:
        return found[text]
    close = did_you_mean(text, found)
    beside = f"to use the file here, write ./{text}.yaml" if Path(f"{text}.yaml").is_file() else None
    raise RubricError(
        f"there is no rubric called {text!r} in the library",
        mend=beside
        or (f"did you mean {close!r}?" if close else "`judgekit rubric list` shows the names; a path ends in .yaml"),
    )


def load_spec(path: Path) -> RubricSpec:
    """The typed rubric of a file, parents merged."""
    return load_text(read_utf8(path, error=RubricError), path)


def load_text(text: str, path: Path) -> RubricSpec:
    """As `load_spec`, for a text that would stand at `path`."""
    folders: dict[str, str] = {}
    return read_spec(_resolved(text, path, folders, ()), folders)


def _resolved(text: str, path: Path, folders: dict[str, str], chain: tuple[Path, ...]) -> Document:
    name = shown(path)
    folders[name] = str(path.resolve().parent)
    document = parse_yaml(text, name, "rubric", RubricError, aliases=True)
    parent_name = document.value.get("extends")
    if parent_name is None:
        return document
    if not isinstance(parent_name, str):
        raise document.error(["extends"], "this must be one text", "name one rubric: `extends: general-likert`")
    chain = (*chain, path.resolve())
    parent = _parent(parent_name, path, document)
    if parent.resolve() in chain:
        names = " -> ".join(each.stem for each in (*chain, parent))
        raise document.error(["extends"], f"this goes in a circle: {names}", "let one of them stand by itself")
    if len(chain) >= MAX_PARENTS:
        raise document.error(["extends"], f"more than {MAX_PARENTS} parents", "extend a nearer one")
    base = _resolved(read_utf8(parent, error=RubricError), parent, folders, chain)
    inherited = {key: value for key, value in base.value.items() if key not in NOT_INHERITED}
    return Document(_merge(inherited, document.value, ""), {**base.places, **document.places}, RubricError)


def _parent(name: str, path: Path, document: Document) -> Path:
    here = path.resolve().parent
    is_path = "/" in name or name.endswith((".yaml", ".yml"))
    beside = here / (name if is_path else f"{name}.yaml")
    if is_path and not beside.resolve().is_relative_to(here):
        raise document.error(
            ["extends"], f"{name} lies outside of this file's folder", "copy the file beside this one and name it"
        )
    if beside.is_file() and beside.resolve().is_relative_to(here) and (is_path or beside.resolve() != path.resolve()):
        return beside
    found = library_files("rubrics", ".yaml")
    if not is_path and name in found:
        return found[name]
    close = did_you_mean(name, found)
    raise document.error(
        ["extends"],
        f"there is no rubric {name!r} beside this file or in the library",
        f"did you mean {close!r}?" if close else "`judgekit rubric list` shows the library's names",
    )


def _merge(parent: dict[str, Any], child: dict[str, Any], path: str) -> dict[str, Any]:
    """Keys replace, maps merge, null deletes; a verdict field, `score`, `examples` and filters replace whole."""
    out = dict(parent)
    for key, value in child.items():
        here = f"{path}.{key}" if path else key
        old = out.get(key)
        whole = here in REPLACED_WHOLE or path == "verdict"
        if value is None:
            out.pop(key, None)
        elif isinstance(old, dict) and isinstance(value, dict) and not whole:
            out[key] = _merge(old, value, here)
        else:
            out[key] = value
    return out
