"""Finds a rubric file, reads it, and resolves `extends`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.errors import RubricError
from judgekit.registry import library_files, library_roots
from judgekit.rubric.nodes import (
    Map,
    Node,
    Scalar,
    as_text,
    check_keys,
    did_you_mean,
    fail,
    is_null,
    parse_yaml,
    read_utf8,
    shown,
)
from judgekit.rubric.read import TOP_KEYS, read_spec
from judgekit.rubric.spec import RubricSpec

if TYPE_CHECKING:
    from judgekit.rubric.compile import CompiledRubric

__all__ = ["find_part", "load_rubric", "load_spec", "load_text", "rubric_path"]

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
    from judgekit.rubric.compile import compile_spec

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
    folders: dict[str, str] = {}
    root = _resolved(path, folders, ())
    return read_spec(root, folders)


def load_text(text: str, path: Path) -> RubricSpec:
    """As `load_spec`, for a text that would stand at `path`."""
    folders = {shown(path): str(path.resolve().parent)}
    return read_spec(_with_parents(parse_yaml(text, shown(path)), path, folders, ()), folders)


def _resolved(path: Path, folders: dict[str, str], chain: tuple[Path, ...]) -> Map:
    name = shown(path)
    folders[name] = str(path.resolve().parent)
    return _with_parents(parse_yaml(read_utf8(path), name), path, folders, chain)


def _with_parents(root: Map, path: Path, folders: dict[str, str], chain: tuple[Path, ...]) -> Map:
    check_keys(root, "", TOP_KEYS)
    node = root.get("extends")
    if node is None or is_null(node):
        return root
    chain = (*chain, path.resolve())
    parent = _parent(as_text(node, "extends"), path, node)
    if parent.resolve() in chain:
        names = " -> ".join(each.stem for each in (*chain, parent))
        fail(node, "extends", f"this goes in a circle: {names}", "let one of them stand by itself")
    if len(chain) >= MAX_PARENTS:
        fail(node, "extends", f"more than {MAX_PARENTS} parents", "extend a nearer one")
    base = _resolved(parent, folders, chain)
    inherited = {key: value for key, value in base.items.items() if key not in NOT_INHERITED}
    keys = {key: base.keys[key] for key in inherited}
    return _merge(replace(base, items=inherited, keys=keys), root, "")


def _parent(name: str, path: Path, node: Node) -> Path:
    here = path.resolve().parent
    is_path = "/" in name or name.endswith((".yaml", ".yml"))
    beside = here / (name if is_path else f"{name}.yaml")
    if is_path and not beside.resolve().is_relative_to(here):
        fail(node, "extends", f"{name} lies outside of this file's folder", "copy the file beside this one and name it")
    if beside.is_file() and beside.resolve().is_relative_to(here) and (is_path or beside.resolve() != path.resolve()):
        return beside
    found = library_files("rubrics", ".yaml")
    if not is_path and name in found:
        return found[name]
    close = did_you_mean(name, found)
    fail(
        node,
        "extends",
        f"there is no rubric {name!r} beside this file or in the library",
        f"did you mean {close!r}?" if close else "`judgekit rubric list` shows the library's names",
    )


def _merge(parent: Map, child: Map, path: str) -> Map:
    """Keys replace, maps merge, null deletes; a verdict field, `score`, `examples` and filters replace whole."""
    items: dict[str, Node] = dict(parent.items)
    keys: dict[str, Scalar] = dict(parent.keys)
    for key, value in child.items.items():
        here = f"{path}.{key}" if path else key
        old = items.get(key)
        whole = here in REPLACED_WHOLE or path == "verdict"
        if is_null(value):
            items.pop(key, None)
            keys.pop(key, None)
            continue
        items[key] = (
            _merge(old, value, here) if isinstance(old, Map) and isinstance(value, Map) and not whole else value
        )
        keys[key] = child.keys[key]
    return Map(items, keys, child.place, 1)


def find_part(name: str, folder: str) -> Path | None:
    """The file of an include: beside the rubric that names it, else in a library's `rubrics/`; never outside of these."""
    for root in (Path(folder), *(root / "rubrics" for root in library_roots())):
        path = (root / name).resolve()
        if path.is_file() and path.is_relative_to(root.resolve()):
            return path
    return None
