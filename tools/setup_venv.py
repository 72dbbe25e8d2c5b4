"""Makes the virtual environment that the Makefile runs in, from the locks, and leaves it alone while nothing changed.

    python3 tools/setup_venv.py [--venv DIR] [--chosen] [--torch SPEC] LOCK...

Standard library only, and plain enough for an old Python to read: an old one must be able to say that it is too old.
What was installed is noted in DIR/judgekit-setup.json by content hash, not by file time, so a fresh checkout of the
same locks installs nothing and a changed lock installs what changed. All that pip says goes to DIR/judgekit-setup.log.

Exit codes: 0 ready, 1 it could not be made, 3 only the package of --torch could not be had.
"""

import argparse
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys

OLDEST = (3, 11)
NAMES = ("python3.13", "python3.12", "python3.11", "python3.14")
ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
PIP = ["-m", "pip", "--disable-pip-version-check", "--no-input"]


def say(text):
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def fail(text, code=1):
    say("judgekit setup: " + text)
    sys.exit(code)


def version_of(python):
    """(major, minor) of an interpreter, or None where it does not run."""
    try:
        out = subprocess.check_output(
            [python, "-c", "import sys; print('%d %d' % sys.version_info[:2])"], stderr=subprocess.DEVNULL
        )
        return tuple(int(part) for part in out.split())
    except (OSError, subprocess.CalledProcessError, ValueError):
        return None


def suitable_python(chosen):
    """This interpreter if it is new enough; else, unless the user chose it, a newer one that lies on the PATH."""
    if sys.version_info[:2] >= OLDEST:
        return sys.executable
    if not chosen:
        for name in NAMES:
            place = shutil.which(name)
            version = version_of(place) if place else None
            if version is not None and version >= OLDEST:
                return place
    return fail(
        "Python 3.11 or newer is needed, and {} is {}.{}. Install one (Debian, Ubuntu: apt install python3.11-venv; "
        "macOS: brew install python@3.12), then name it: make PYTHON=python3.12 ...".format(
            sys.executable, *sys.version_info[:2]
        )
    )


def venv_python(venv):
    return os.path.join(venv, "bin", "python")


def file_hash(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def read_state(venv):
    try:
        with open(os.path.join(venv, "judgekit-setup.json"), encoding="utf-8") as file:
            state = json.load(file)
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


def write_state(venv, state):
    path = os.path.join(venv, "judgekit-setup.json")
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(state, file, indent=1, sort_keys=True)
    os.replace(path + ".new", path)


def make_venv(venv, chosen):
    """A virtual environment that runs, is new enough and stands where it was made; says why when it makes one anew."""
    state = read_state(venv)
    have = version_of(venv_python(venv))
    if have is not None:
        moved = state.get("root", ROOT) != ROOT
        other = chosen and have != sys.version_info[:2]
        if have >= OLDEST and not moved and not other:
            state["root"] = ROOT
            return state
        say(
            "judgekit setup: {} is made anew: {}".format(
                os.path.basename(venv), "it was moved" if moved else "it has Python {}.{}".format(*have)
            )
        )
    if os.path.islink(venv):
        fail(f"{venv} is a link that does not lead to a working Python: remove it, and run make again")
    if os.path.exists(venv):
        shutil.rmtree(venv)
    python = suitable_python(chosen)
    missing = (
        "{} cannot make a virtual environment: install the venv package (Debian, Ubuntu: apt install python{}.{}-venv)"
    )
    if subprocess.call([python, "-c", "import venv, ensurepip"], stderr=subprocess.DEVNULL):
        fail(missing.format(python, *(version_of(python) or OLDEST)))
    if subprocess.call([python, "-m", "venv", venv]):
        fail(missing.format(python, *(version_of(python) or OLDEST)))
    state = {"root": ROOT}
    write_state(venv, state)
    return state


def run_pip(venv, words, total, what):
    """Run pip, its words into the log, a count of packages to the terminal. True when it succeeded."""
    log = os.path.join(venv, "judgekit-setup.log")
    terminal = sys.stderr.isatty()
    started = 0
    with open(log, "a", encoding="utf-8") as file:
        file.write("\n$ pip {}\n".format(" ".join(words)))
        process = subprocess.Popen(
            [venv_python(venv), *PIP, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            universal_newlines=True,
            errors="replace",
            env=dict(os.environ, PIP_PROGRESS_BAR="off", PYTHONUTF8="1"),
        )
        for line in process.stdout:
            file.write(line)
            if line.startswith("Ignoring "):  # not for this platform
                total -= 1
            elif line.startswith(("Collecting ", "Processing ", "Requirement already satisfied: ")):
                started += 1
                if terminal and total:
                    sys.stderr.write(f"\r  {what}: {min(started, total)} of {total} packages ")
                    sys.stderr.flush()
                elif total and started % 25 == 0:
                    say(f"  {what}: {started} of {total} packages")
            elif line.startswith("Installing collected packages"):
                if terminal:
                    sys.stderr.write("\r")
                say(f"  {what}: downloaded, now unpacking" + " " * 20)
        code = process.wait()
    if code:
        with open(log, encoding="utf-8", errors="replace") as file:
            say("".join(file.readlines()[-12:]).rstrip())
        say(f"judgekit setup: pip failed on {what}; all it said is in {log}")
    return code == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("locks", nargs="+", metavar="LOCK", help="lock files, in the order in which they are installed")
    parser.add_argument("--venv", default=".venv", help="where the virtual environment lies (default .venv)")
    parser.add_argument("--chosen", action="store_true", help="the user chose this Python: take no other")
    parser.add_argument("--torch", help="what to give pip for PyTorch, before the locks after the first")
    args = parser.parse_args()
    os.chdir(ROOT)
    venv = os.path.abspath(args.venv)
    if version_of(sys.executable) is None:
        fail("this Python cannot tell its own name; name one: make PYTHON=/usr/bin/python3 ...")
    if args.chosen and sys.version_info[:2] < OLDEST:
        suitable_python(True)
    for lock in args.locks:
        if not os.path.isfile(lock):
            fail(f"{lock} is not here: take it from the repository, or write it with `make lock`")
    state = make_venv(venv, args.chosen)
    done = state.setdefault("locks", {})

    for position, lock in enumerate(args.locks):
        if position == 1 and args.torch and state.get("torch") != args.torch:
            say(f"judgekit setup: installing {args.torch} (on Linux, PyPI's build brings CUDA: about 3 GB)")
            marker = os.path.join(venv, "judgekit-no-torch")  # make turns every exit code into 2; .ci/run looks here
            if not run_pip(venv, ["install", *shlex.split(args.torch)], 0, "PyTorch"):
                open(marker, "w").close()
                sys.exit(3)
            if os.path.exists(marker):
                os.remove(marker)
            state["torch"] = args.torch
            write_state(venv, state)
        wanted = file_hash(lock)
        if done.get(lock) == wanted:
            continue
        with open(lock, encoding="utf-8") as file:
            total = sum(1 for line in file if "==" in line and not line.startswith(("#", " ")))
        say(f"judgekit setup: installing the {total} packages of {lock} into {args.venv} (once; a minute or two)")
        if not run_pip(venv, ["install", "--require-hashes", "--no-deps", "-r", lock], total, lock):
            sys.exit(1)
        done[lock] = wanted
        if position == 0:
            # A later lock builds on the first one's pins, so it is put back when the first has changed.
            for other in list(done):
                if other != lock:
                    del done[other]
        write_state(venv, state)

    project = file_hash("pyproject.toml")
    if state.get("project") != project:
        if not run_pip(venv, ["install", "--no-deps", "--no-build-isolation", "--editable", "."], 0, "judgekit"):
            sys.exit(1)
        state["project"] = project
        write_state(venv, state)


if __name__ == "__main__":
    main()
