"""Finds rubrics, data sets, metrics and panels: by scanning a folder, and by entry points of other packages.

Extension points, all on this page. A package may declare, in its own metadata:

    [project.entry-points."judgekit.library"]     a package folder that holds `rubrics/` and `datasets/`
    mine = "my_package.judgekit_library"
    [project.entry-points."judgekit.metrics"]     a module with one metric (see judgekit.metrics.base)
    [project.entry-points."judgekit.panels"]      a module with one report panel (see judgekit.report.panels)
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

__all__ = ["find_part", "library_files", "library_roots", "modules"]


def library_roots() -> list[Path]:
    """Folders that hold `rubrics/` and `datasets/`: ours first, then those of other packages.

    In a checkout ours is the repository's root; in an installed wheel it is ``judgekit/library``.
    """
    package = Path(__file__).resolve().parent
    roots = [package / "library"] if (package / "library" / "rubrics").is_dir() else [package.parent]
    for point in sorted(entry_points(group="judgekit.library"), key=lambda point: point.name):
        spec = find_spec(point.value)
        for place in (spec.submodule_search_locations or []) if spec else []:
            roots.append(Path(place))
    return roots


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
    """Every public module of a package folder, by name, and those that entry points of `group` name."""
    home = import_module(package)
    found = {
        info.name: import_module(f"{package}.{info.name}")
        for info in iter_modules(home.__path__)
        if not info.name.startswith("_")
    }
    for point in sorted(entry_points(group=group), key=lambda point: point.name):
        found.setdefault(point.name, import_module(point.value))
    return found
