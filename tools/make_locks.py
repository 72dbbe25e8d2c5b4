"""Compiles core.lock, metrics.lock and scispacy.lock from pyproject.toml, with uv: `make lock`.

    python tools/make_locks.py [--upgrade] [core | metrics | scispacy ...]

Pins that still fit stay (`--upgrade` moves them up). A release younger than a week is not taken: poisoned releases are
mostly found within days. One version serves every Python and platform, so that two people's numbers come from the same
code. No line names an index: pip asks whichever one the user has set, and the hashes say whether the answer is ours.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TORCH = "torch==2.13.0"
COMMON = [
    "--universal", "--generate-hashes", "--python-version", "3.11", "--fork-strategy", "fewest",
    "--exclude-newer", "7 days", "--no-header", "--no-annotate", "--quiet",
]  # fmt: skip
CORE = ["--extra", "local", "--extra", "report", "--extra", "language", "--extra", "dev"]
# What comes with PyTorch and differs from one build of it to the next.
WITH_TORCH = re.compile(r"^(torch|triton|pytorch-triton.*|nvidia-.*|cuda-.*)$")
HEADER = {
    "core": "core, local, report, language and dev: what `make demo` and `make test` run on. No PyTorch, no scispaCy.",
    "metrics": "what the metrics extra adds to core.lock. Install PyTorch first: its builds differ, so no hash here names one.",
    "scispacy": "core, local, dev and scispaCy, which holds numpy under 2 and Python under 3.13: a virtual environment of its own.",
}


def uv() -> str:
    """The uv to compile with; it is installed into this environment where there is none."""
    beside = Path(sys.executable).with_name("uv")
    found = str(beside) if beside.is_file() else shutil.which("uv")
    if found is None:
        print("make lock: no uv here: installing it into this environment", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "uv>=0.9"], check=True)
        found = str(beside)
    return found


def blocks(text: str) -> dict[str, str]:
    """Requirement lines with their hashes, by package name."""
    found: dict[str, str] = {}
    for block in re.split(r"\n(?=[A-Za-z0-9])", text.strip()):
        if block and not block.startswith("#"):
            name = re.split(r"[=\s;\[]", block, maxsplit=1)[0]
            # A package may stand twice, with markers that exclude each other.
            found[name] = f"{found[name]}\n{block.strip()}" if name in found else block.strip()
    return found


def compile_lock(name: str, *, upgrade: bool) -> None:
    """Write NAME.lock beside pyproject.toml."""
    path = ROOT / f"{name}.lock"
    core = ROOT / "core.lock"
    words = [uv(), "pip", "compile", "pyproject.toml", *COMMON]
    typed: str | None = None
    if name == "core":
        words += CORE
    elif name == "metrics":
        words += ["--extra", "metrics", "--constraints", "core.lock", "--constraints", "-"]
        typed = TORCH + "\n"
    else:
        words += ["--extra", "local", "--extra", "dev", "--extra", "scispacy"]
    if upgrade:
        words.append("--upgrade")
    elif path.exists() and name != "metrics":
        words += ["--output-file", path.name]
    done = subprocess.run(words, cwd=ROOT, input=typed, text=True, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    lines = blocks(path.read_text("utf-8") if "--output-file" in words else done.stdout)
    if name == "metrics":
        skip = blocks(core.read_text("utf-8"))
        lines = {key: block for key, block in lines.items() if key not in skip and not WITH_TORCH.match(key)}
    head = f"# {HEADER[name]}\n# Written by `make lock`; install with `pip install --require-hashes --no-deps -r {path.name}`.\n"
    path.write_text(head + "\n".join(lines.values()) + "\n", "utf-8")
    print(f"{path.name}: {len(lines)} packages")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", default=[], choices=[*HEADER, []], metavar="NAME")
    parser.add_argument("--upgrade", action="store_true")
    args = parser.parse_args()
    for name in args.names or HEADER:
        compile_lock(name, upgrade=args.upgrade)


if __name__ == "__main__":
    main()
