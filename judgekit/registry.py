"""Finds rubrics, data sets, metrics, analyses and panels: by scanning a folder, and by entry points of other packages.

A part of another package that cannot be loaded is named once on stderr and left out: it stops nobody who did not ask for it.

Extension points, all on this page. A package may declare, in its own metadata:

    [project.entry-points."judgekit.library"]     a package folder that holds `rubrics/` and `datasets/`
    mine = "my_package.judgekit_library"
    [project.entry-points."judgekit.metrics"]     a module with one metric (see judgekit.metrics.base)
    [project.entry-points."judgekit.analyses"]    a class of analysis (see judgekit.analysis.options)
    [project.entry-points."judgekit.commands"]    a click command
    [project.entry-points."judgekit.panels"]      a module with one report panel (see judgekit.report.panels)
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

__all__ = ["find_part", "leave_out", "left_out", "library_files", "library_roots", "modules"]

_LEFT_OUT: dict[tuple[str, str], str] = {}


def library_roots() -> list[Path]:
    """Folders that hold `rubrics/` and `datasets/`: ours first, then those of other packages.

    In a checkout ours is the repository's root; in an installed wheel it is ``judgekit/library``.
    """
    package = Path(__file__).resolve().parent
    roots = [package / "library"] if (package / "library" / "rubrics").is_dir() else [package.parent]
    for point in sorted(entry_points(group="judgekit.library"), key=lambda point: point.name):
        try:
            spec = find_spec(point.value)
        except Exception as error:
            leave_out("judgekit.library", point.name, error)
            continue
        for place in (spec.submodule_search_locations or []) if spec else []:
            roots.append(Path(place))
    return roots


def leave_out(group: str, name: str, error: BaseException | str) -> None:
    """Say once, on stderr, that a part of another package cannot be used, and why."""
    why = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    if (group, name) not in _LEFT_OUT:
        print(f"note: {name} of the entry point group {group} is left out: {why}", file=sys.stderr)
    _LEFT_OUT[group, name] = why


def left_out(group: str) -> dict[str, str]:
    """The parts of a group that were left out so far, by name, with the reason."""
    return {name: why for (place, name), why in _LEFT_OUT.items() if place == group}


def library_files(room: str, suffix: str) -> dict[str, Path]:
    """Files of one room (``rubrics`` or ``datasets``), by stem. The first root that has a name wins."""
    found: dict[str, Path] = {}
    for root in library_roots():
        folder = root / room
        if folder.is_dir():
            for path in sorted(folder.glob(f"*{suffix}")):
                found.setdefault(path.name.removesuffix(suffix), path)
    return found


def find_part(name: str, folder: str) -> Path | None:
    """The file of an include: beside the rubric that names it, else in a library's `rubrics/`; never outside of these."""
    for root in (Path(folder), *(root / "rubrics" for root in library_roots())):
        path = (root / name).resolve()
        if path.is_file() and path.is_relative_to(root.resolve()):
            return path
    return None


def modules(package: str, group: str) -> dict[str, ModuleType]:
    """Every public module of a package folder, by name, and those that entry points of `group` name and that can be loaded."""
    home = import_module(package)
    found = {
        info.name: import_module(f"{package}.{info.name}")
        for info in iter_modules(home.__path__)
        if not info.name.startswith("_")
    }
    for point in sorted(entry_points(group=group), key=lambda point: point.name):
        if point.name not in found:
            try:
                found[point.name] = import_module(point.value)
            except Exception as error:
                leave_out(group, point.name, error)
    return found
