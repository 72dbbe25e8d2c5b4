"""Imports go one way, and heavy packages have one door each (docs/architecture.md)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "judgekit"

# A room may import rooms of a lower number, and itself; equal numbers do not know each other, but for the pairs below.
LAYER = {
    "errors": 0, "exact": 0, "records": 0, "safety": 0, "terminal": 0, "limits": 0.5, "paths": 1, "forms": 1, "registry": 1,
    "__init__": 10, "__main__": 10,
    "rubric": 2, "data": 2, "metrics": 2, "stats": 2, "draw": 2,
    "runs": 3, "progress": 4, "judging": 5, "measuring": 5,
    "analysis": 6, "stability": 6,
    "report": 7, "study": 8, "cli": 9,
}  # fmt: skip
DOORS = {
    "litellm": {"judging/provider/client.py"},
    "instructor": {"judging/provider/client.py"},
    "torch": {"metrics/models.py", "metrics/causal.py"},
    "transformers": {"metrics/models.py", "metrics/causal.py"},
    "sentence_transformers": {"metrics/models.py"},
}
HEAVY = {
    "pandas",
    "sklearn",
    "scipy",
    "matplotlib",
    "rich",
    "spacy",
    "xllamacpp",
    "pyarrow",
    "numpy",
    "jmespath",
    *DOORS,
}
FILES = sorted(path for path in PACKAGE.rglob("*.py") if "library" not in path.parts)


def room(path: Path) -> str:
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else path.stem


def imported(tree: ast.AST) -> list[tuple[str, int]]:
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative imports hide the room they come from"
            names.append((node.module or "", node.lineno))
            names += [(f"{node.module}.{alias.name}", node.lineno) for alias in node.names]
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_arrows_point_down(path: Path) -> None:
    here = room(path)
    if path == PACKAGE / "__init__.py":
        return  # the public names are looked up lazily; its TYPE_CHECKING imports look upwards on purpose
    for name, line in imported(ast.parse(path.read_text("utf-8"))):
        parts = name.split(".")
        if parts[0] != "judgekit" or len(parts) < 2 or parts[1] not in LAYER:
            continue
        there = parts[1]
        assert there == here or LAYER[there] < LAYER[here], f"{path.name}:{line}: {here} may not import {there}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_heavy_packages_have_one_door(path: Path) -> None:
    where = path.relative_to(PACKAGE).as_posix()
    for name, line in imported(ast.parse(path.read_text("utf-8"))):
        doors = DOORS.get(name.split(".")[0])
        assert doors is None or where in doors, f"{where}:{line}: {name} is imported only in {doors}"


@pytest.mark.parametrize(
    "path", [path for path in FILES if room(path) == "cli"], ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_the_command_line_imports_heavy_packages_inside_functions(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    top = ast.Module(
        body=[node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)], type_ignores=[]
    )
    for name, line in imported(top):
        assert name.split(".")[0] not in HEAVY, f"{path.name}:{line}: import {name} inside the function that needs it"


def test_no_two_files_import_each_other_in_a_circle() -> None:
    """Imports at the top of files and inside functions, but not those for annotations alone (`TYPE_CHECKING`)."""
    names = {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for path in FILES
    }
    arrows: dict[str, set[str]] = {}
    for name, path in names.items():
        tree = ast.parse(path.read_text("utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
                node.body = []
        arrows[name] = {there for there, _ in imported(tree) if there in names and there != name}
    # A file that imports nothing of what is left, or that nothing left imports, is in no circle.
    left = arrows
    while True:
        wanted = {there for some in left.values() for there in some}
        knots = {name: some & left.keys() for name, some in left.items() if some & left.keys() and name in wanted}
        if knots.keys() == left.keys():
            break
        left = knots
    assert not left, f"these import each other: { {name: sorted(some) for name, some in left.items()} }"
