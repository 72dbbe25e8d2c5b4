"""What `make` says when the machine lacks something, and when it leaves things alone."""

from __future__ import annotations

import ast
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "tools/setup_venv.py"


def setup(copy: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(copy / "tools/setup_venv.py"), *words],
        env=os.environ | {"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"} | env,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A checkout in a folder with a space, whose lock asks for nothing."""
    place = tmp_path / "a check out"
    (place / "tools").mkdir(parents=True)
    shutil.copy(SCRIPT, place / "tools")
    (place / "pyproject.toml").write_text("# nothing\n")
    (place / "core.lock").write_text("# nothing\n")
    return place


def test_an_old_python_can_read_the_script_far_enough_to_say_that_it_is_too_old() -> None:
    ast.parse(SCRIPT.read_text("utf-8"), feature_version=(3, 6))
    assert "from __future__" not in SCRIPT.read_text("utf-8")  # 3.6 knows no annotations there


def test_without_venv_it_says_what_to_install_and_leaves_nothing(copy: Path) -> None:
    (copy / "ensurepip.py").write_text("raise ImportError\n")  # as Debian's Python has it without python3-venv
    done = setup(copy, "core.lock", PYTHONPATH=str(copy))
    assert done.returncode == 1
    assert f"apt install python{sys.version_info[0]}.{sys.version_info[1]}-venv" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (copy / ".venv").exists()


# A wheel by hand, and a build backend that makes one, so that nothing here needs an index.
TINY = """
import pathlib, zipfile
def build_editable(folder, config_settings=None, metadata_directory=None, name="judgekit_tiny"):
    file = f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info/"
    with zipfile.ZipFile(pathlib.Path(folder) / file, "w") as wheel:
        wheel.writestr(info + "METADATA", f"Metadata-Version: 2.1\\nName: {name}\\nVersion: 1.0\\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(info + "RECORD", "")
    return file
"""


def test_what_is_in_place_is_left_alone_and_what_changed_is_installed(copy: Path, tmp_path: Path) -> None:
    (copy / "tiny.py").write_text(TINY)
    project = '[project]\nname = "judgekit-tiny"\nversion = "1.0"\n[build-system]\nrequires = []\n'
    (copy / "pyproject.toml").write_text(project + 'build-backend = "tiny"\nbackend-path = ["."]\n')
    space: dict[str, Any] = {}
    exec(TINY, space)
    wheel = tmp_path / space["build_editable"](tmp_path, name="judgekit_needed")

    (copy / "core.lock").write_text("judgekit-no-such-package==1.0 --hash=sha256:" + "0" * 64 + "\n")
    failed = setup(copy, "core.lock")
    assert failed.returncode == 1
    assert "pip failed on core.lock" in failed.stderr
    assert "judgekit-no-such-package" in (copy / ".venv/judgekit-setup.log").read_text()

    pin = "judgekit-needed==1.0 \\\n    --hash=sha256:"
    (copy / "core.lock").write_text(pin + hashlib.sha256(wheel.read_bytes()).hexdigest() + "\n")

    first = setup(copy, "core.lock", PIP_FIND_LINKS=str(tmp_path))
    assert first.returncode == 0, first.stderr
    assert "installing the 1 packages of core.lock" in first.stderr
    names = {path.name for path in (copy / ".venv").rglob("*.dist-info")}
    assert {"judgekit_needed-1.0.dist-info", "judgekit_tiny-1.0.dist-info"} <= names

    # By content, not by time: a checkout sets new times.
    os.utime(copy / "core.lock")
    os.utime(copy / "pyproject.toml")
    again = setup(copy, "core.lock", PIP_FIND_LINKS=str(tmp_path))
    assert (again.returncode, again.stderr) == (0, "")

    (copy / "core.lock").write_text(pin + "0" * 64 + "\n")
    shutil.rmtree(next((copy / ".venv").rglob("judgekit_needed-1.0.dist-info")))
    changed = setup(copy, "core.lock", PIP_FIND_LINKS=str(tmp_path))
    assert changed.returncode == 1
    assert "HASHES" in changed.stderr

    # A virtual environment names its own place in every script, so it does not survive a move.
    moved = tmp_path / "elsewhere"
    copy.rename(moved)
    (moved / "core.lock").write_text("# nothing\n")
    anew = setup(moved, "core.lock")
    assert anew.returncode == 0, anew.stderr
    assert ".venv is made anew: it was moved" in anew.stderr
