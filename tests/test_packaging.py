"""What is installed is what the locks say, what is built holds the library, and CI calls what README says."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from judgekit import __version__

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LOCKS = sorted(ROOT.glob("*.lock"))


def run(*words: str, cwd: Path = ROOT, **env: str) -> str:
    clean = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONSAFEPATH")}
    done = subprocess.run(words, cwd=cwd, env=clean | env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# --- locks


def pins(lock: Path) -> dict[str, list[Requirement]]:
    """The lock's requirements by name; a line may stand twice, with markers that exclude each other."""
    found: dict[str, list[Requirement]] = {}
    for line in lock.read_text("utf-8").splitlines():
        if line and not line.startswith(("#", " ")):
            requirement = Requirement(line.removesuffix("\\").strip())
            found.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    return found


def pinned(requirement: Requirement) -> str:
    specifiers = list(requirement.specifier)
    assert len(specifiers) == 1, requirement
    assert specifiers[0].operator == "==", requirement
    return specifiers[0].version


def wanted(*extras: str) -> list[Requirement]:
    lines = list(PROJECT["dependencies"])
    for extra in extras:
        lines += PROJECT["optional-dependencies"][extra]
    return [Requirement(line) for line in lines]


@pytest.mark.parametrize("requirement", wanted("local", "report", "language", "dev"), ids=str)
def test_the_core_lock_has_what_pyproject_asks_for(requirement: Requirement) -> None:
    found = pins(ROOT / "core.lock").get(canonicalize_name(requirement.name))
    assert found, f"{requirement.name} is not in core.lock: run `make lock`"
    for pin in found:
        assert requirement.specifier.contains(pinned(pin)), f"core.lock has {pin}, pyproject asks for {requirement}"


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_pin_has_a_hash_and_no_line_names_a_place(lock: Path) -> None:
    text = lock.read_text("utf-8")
    for block in re.split(r"\n(?=[A-Za-z0-9])", text.strip()):
        if not block.startswith("#"):
            assert "--hash=sha256:" in block, block.splitlines()[0]
    # An index or a path of the machine that wrote the lock would send others there.
    assert not re.search(r"://|--(extra-)?index|--find-links|\s@\s|^-|^\.|^/", text, flags=re.MULTILINE)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_no_lock_holds_a_poisoned_or_a_squatting_release(lock: Path) -> None:
    found = pins(lock)
    assert "en-core-sci-md" not in found  # on PyPI a name squat; the model comes from its makers
    for pin in found.get("litellm", []):
        assert pinned(pin) not in {"1.82.7", "1.82.8"}


def test_the_core_stays_light() -> None:
    heavy = {"torch", "transformers", "sentence-transformers", "spacy", "scispacy", "ray", "datasets"}
    assert heavy.isdisjoint(pins(ROOT / "core.lock"))


def test_what_metrics_adds_agrees_with_the_core_and_leaves_torch_out() -> None:
    lock = ROOT / "metrics.lock"
    if not lock.exists():
        pytest.skip("no metrics.lock yet")
    added, core = pins(lock), pins(ROOT / "core.lock")
    assert not added.keys() & core.keys(), "a package stands in both locks: run `make lock`"
    assert not [name for name in added if name == "torch" or name.startswith(("nvidia-", "triton", "cuda-"))]
    for requirement in wanted("metrics"):
        name = canonicalize_name(requirement.name)
        if name == "torch":
            continue
        found = added.get(name, core.get(name))
        assert found, f"{name} is in no lock: run `make lock`"
        assert all(requirement.specifier.contains(pinned(pin)) for pin in found)
    # Started in this folder, transformers takes ./datasets for Hugging Face's library unless the real one is there.
    assert "transformers" not in added or "datasets" in added


def test_litellm_keeps_its_exclusion() -> None:
    (litellm,) = [requirement for requirement in wanted() if requirement.name == "litellm"]
    for poisoned in ("1.82.7", "1.82.8"):
        assert not litellm.specifier.contains(poisoned)
        assert f"!={poisoned}" in str(litellm.specifier)  # also when someone lowers the bound


# --- what is imported is declared

# import name -> distribution, where the two differ
DISTRIBUTIONS = {
    "ruamel": "ruamel.yaml",
    "sklearn": "scikit-learn",
    "pydantic_core": "pydantic",
    "rouge_score": "rouge-score",
}
# Asked for by name in an error when a user wants that backend; in no extra, for size, data or licence.
ON_REQUEST = {"bert_score", "gliner", "nltk", "stanza", "spacy"}


def imports(file: Path, *, anywhere: bool) -> set[str]:
    """Third-party packages that a file imports; with `anywhere` also inside functions."""
    tree = ast.parse(file.read_text("utf-8"))
    names: set[str] = set()
    for node in ast.walk(tree) if anywhere else tree.body:
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names - set(sys.stdlib_module_names) - {"judgekit", "tests", "bench"}


def declared(*extras: str) -> set[str]:
    return {canonicalize_name(requirement.name) for requirement in wanted(*extras)}


def test_what_the_package_imports_is_declared() -> None:
    allowed = declared(*PROJECT["optional-dependencies"])
    for file in (ROOT / "judgekit").rglob("*.py"):
        for name in imports(file, anywhere=True) - ON_REQUEST:
            distribution = canonicalize_name(DISTRIBUTIONS.get(name, name))
            assert distribution in allowed, (
                f"{file.relative_to(ROOT)} imports {name}: no dependency in pyproject says so"
            )
            # The GPL binds who ships it; tests are not shipped in the wheel.
            assert name != "krippendorff", f"{file.relative_to(ROOT)}: krippendorff is for tests only"


def test_what_tests_import_at_once_is_in_the_core_lock() -> None:
    allowed = declared("local", "report", "language", "dev")
    for file in (ROOT / "tests").rglob("*.py"):
        for name in imports(file, anywhere=False):
            distribution = canonicalize_name(DISTRIBUTIONS.get(name, name))
            assert distribution in allowed, f"{file.relative_to(ROOT)} imports {name}: `make test` does not install it"


# --- the wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if find_spec("hatchling") is None:
        pytest.skip("hatchling is not installed: pip install 'clinical-judgekit[dev]'")
    out = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out))
    (found,) = out.glob("*.whl")
    return found


def test_the_wheel_holds_the_package_and_its_library_and_nothing_else(wheel: Path) -> None:
    assert wheel.name == f"clinical_judgekit-{__version__}-py3-none-any.whl"
    names = set(zipfile.ZipFile(wheel).namelist())
    tracked = {
        path.relative_to(ROOT).as_posix()
        for folder in ("judgekit", "rubrics", "datasets")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    expected = {name if name.startswith("judgekit/") else f"judgekit/library/{name}" for name in tracked}
    info = f"clinical_judgekit-{__version__}.dist-info/"
    assert {name for name in names if not name.startswith(info)} == expected
    assert "judgekit/py.typed" in names
    assert info + "licenses/LICENSE" in names


def test_the_wheel_says_its_version_its_command_and_its_needs(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    info = f"clinical_judgekit-{__version__}.dist-info/"
    metadata = Parser().parsestr(archive.read(info + "METADATA").decode("utf-8"))
    assert metadata["Name"] == "clinical-judgekit"
    assert metadata["Version"] == __version__
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.11"
    assert set(metadata.get_all("Provides-Extra", [])) >= {"local", "metrics", "scispacy", "ray", "report", "dev"}
    assert "judgekit = judgekit.cli.app:entry" in archive.read(info + "entry_points.txt").decode("utf-8")


def test_the_library_is_found_in_the_unpacked_wheel(wheel: Path, tmp_path: Path) -> None:
    site, elsewhere = tmp_path / "site", tmp_path / "a folder elsewhere"
    elsewhere.mkdir()
    zipfile.ZipFile(wheel).extractall(site)
    # A rubric of its own, so that the test does not depend on which ones are shipped.
    (site / "judgekit/library/rubrics/planted.yaml").write_text("rubric: planted\n", "utf-8")
    code = (
        "import judgekit; from judgekit.registry import library_files, library_roots;"
        "print(judgekit.__file__); print(library_roots()[0]);"
        "print(*sorted(library_files('rubrics', '.yaml'))); print(*sorted(library_files('datasets', '.yaml')))"
    )
    out = run(sys.executable, "-c", code, cwd=elsewhere, PYTHONPATH=str(site)).splitlines()
    assert Path(out[0]).is_relative_to(site)
    assert Path(out[1]) == site / "judgekit/library"
    assert set(out[2].split()) == {path.stem for path in (ROOT / "rubrics").glob("*.yaml")} | {"planted"}
    assert set(out[3].split()) == {path.stem for path in (ROOT / "datasets").glob("*.yaml")}


def test_the_source_archive_builds_the_same_wheel_and_can_be_worked_in(wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path))
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()
    needed = [
        "Makefile",
        "README.md",
        "core.lock",
        "tools/setup_venv.py",
        ".ci/run",
        "docs/help.md",
        "tests/conftest.py",
    ]
    assert [name for name in needed if not (source / name).is_file()] == []
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "again"), cwd=source)
    (again,) = (tmp_path / "again").glob("*.whl")
    assert zipfile.ZipFile(again).namelist() == zipfile.ZipFile(wheel).namelist()


# --- the folder named datasets


@pytest.mark.parametrize("name", ["datasets", "transformers"])
def test_our_datasets_folder_is_not_taken_for_hugging_faces_library(name: str) -> None:
    try:
        version(name)
    except PackageNotFoundError:
        pytest.skip(f"{name} is not installed: make metrics")
    # Without the real library, `find_spec("datasets")` finds our folder as a namespace package, and transformers believes it.
    assert version("datasets"), "transformers without datasets: the metrics extra must ask for both"
    code = "import datasets; print(datasets.__version__, datasets.__file__)"
    if name == "transformers":
        code += "; from transformers.utils import is_datasets_available; print(is_datasets_available())"
    out = run(sys.executable, "-c", code)
    assert version("datasets") in out
    assert str(ROOT / "datasets") not in out
    assert name == "datasets" or out.split()[-1] == "True"


# --- README, CI and Makefile tell one story


def test_ci_calls_the_commands_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    shown = re.findall(r"^\s*\$?\s*make ([a-z-]+)", readme, flags=re.MULTILINE)
    assert {"demo", "test"} <= set(shown), "README shows `make demo` and `make test`"
    ci = (ROOT / ".ci/run").read_text("utf-8")
    assert re.search(r"^check test$", ci, flags=re.MULTILINE)
    assert 'make "$1"' in ci
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), flags=re.MULTILINE))
    named = re.findall(r"`make ([a-z-]+)`", readme + (ROOT / "CONTRIBUTING.md").read_text("utf-8"))
    assert set(shown) <= targets
    assert set(named) <= targets, "a document names a make target that is not there"


def test_the_ci_script_parses() -> None:
    run("bash", "-n", ".ci/run")
