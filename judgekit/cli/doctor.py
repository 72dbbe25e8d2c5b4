"""What is installed, what is missing and how to get it. Nothing is sent anywhere, and no key's value is read out."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from pathlib import Path
from typing import Any

import click

from judgekit import __version__

DISTRIBUTION = "clinical-judgekit"
EXTRAS = ("local", "report", "language", "metrics", "scispacy", "ray", "dev")
# Environment variables that hold a credential, beside everything that ends in _API_KEY.
KEYS = (
    "AWS_ACCESS_KEY_ID", "AWS_BEARER_TOKEN_BEDROCK", "AWS_PROFILE", "AZURE_AD_TOKEN", "DATABRICKS_TOKEN",
    "GITHUB_TOKEN", "GOOGLE_APPLICATION_CREDENTIALS", "HF_TOKEN", "SNOWFLAKE_JWT", "WATSONX_APIKEY", "WATSONX_TOKEN",
)  # fmt: skip
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
POISONED = {"litellm": {"1.82.7", "1.82.8"}}
NETWORK_FILE_SYSTEMS = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "sshfs", "fuse.sshfs", "9p"}
LOW_DISK = 2 * 1024**3


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--runs", default="runs", show_default=True, help="The folder that runs are written to.")
def doctor(as_json: bool, runs: str) -> int:
    """What is installed, what is missing, how to get it.

    Ends with 0 unless judgekit cannot work here; warnings do not count. Keys are named, never shown.
    """
    found = examine(Path(runs))
    if as_json:
        import json

        click.echo(json.dumps(found, ensure_ascii=False))
    else:
        click.echo(_page(found))
    return 0 if found["ok"] else 1


def examine(runs: Path) -> dict[str, Any]:
    """Everything that `doctor --json` prints.

    Parameters
    ----------
    runs : the folder that runs go to; it need not exist.

    Returns
    -------
    dict with ``findings``, a list of ``{"level": "error" | "warning", "message", "mend"}``, and ``ok``, False where one
    of them is an error. Sizes are bytes. What cannot be told is None.
    """
    from judgekit.judging.provider.weights import cache_folder

    findings: list[dict[str, str]] = []
    packages = _packages(findings)
    _impostors(findings)
    result = {
        "judgekit": __version__,
        "python": {"version": sys.version.split()[0], "executable": sys.executable},
        "platform": _platform(),
        "cores": _cores(),
        "memory": _memory(),
        "gpus": _gpus(findings),
        **packages,
        "models": _models(),
        "cache": _folder(cache_folder(), "cache", findings),
        "runs": _folder(runs, "runs", findings),
        "keys": _keys(findings),
        "proxies": _proxies(findings),
    }
    result["findings"] = findings
    result["ok"] = not any(finding["level"] == "error" for finding in findings)
    return result


def _find(findings: list[dict[str, str]], level: str, message: str, mend: str) -> None:
    findings.append({"level": level, "message": message, "mend": mend})


# --- packages


def _requirements() -> list[str]:
    """Our own requirement lines, from the installed metadata, or from pyproject.toml where we run from a checkout."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        return requires(DISTRIBUTION) or []
    except PackageNotFoundError:
        import tomllib

        file = Path(__file__).resolve().parents[2] / "pyproject.toml"
        if not file.is_file():
            return []
        project = tomllib.loads(file.read_text("utf-8"))["project"]
        lines = list(project["dependencies"])
        for extra, extra_lines in project["optional-dependencies"].items():
            for line in extra_lines:
                requirement, _, marker = line.partition(";")
                condition = f"({marker.strip()}) and " if marker else ""
                lines.append(f"{requirement.strip()}; {condition}extra == '{extra}'")
        return lines


def _packages(findings: list[dict[str, str]]) -> dict[str, Any]:
    from importlib.metadata import PackageNotFoundError, version

    from packaging.requirements import Requirement

    core: dict[str, dict[str, Any]] = {}
    extras: dict[str, dict[str, Any]] = {
        extra: {"complete": True, "install": f"pip install '{DISTRIBUTION}[{extra}]'", "packages": {}}
        for extra in EXTRAS
    }
    for line in _requirements():
        requirement = Requirement(line)
        extra = next((name for name in EXTRAS if re.search(rf"extra == ['\"]{name}['\"]", line)), None)
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra or ""}):
            continue
        try:
            have: str | None = version(requirement.name)
        except PackageNotFoundError:
            have = None
        fits = have is not None and requirement.specifier.contains(have, prereleases=True)
        row = {"version": have, "wanted": str(requirement.specifier) or "any", "ok": fits}
        if extra is None:
            core[requirement.name] = row
            if not fits:
                state = f"is {have}" if have else "is missing"
                _find(
                    findings,
                    "error",
                    f"{requirement.name} {state}, judgekit needs {requirement}",
                    f"pip install --upgrade {DISTRIBUTION}",
                )
        else:
            extras[extra]["packages"][requirement.name] = row
            extras[extra]["complete"] = extras[extra]["complete"] and fits
    if sys.version_info >= (3, 13):
        extras["scispacy"]["install"] = "needs Python 3.11 or 3.12, in an environment of its own: make scispacy"
    return {"packages": core, "extras": extras}


def _impostors(findings: list[dict[str, str]]) -> None:
    """Releases that are known to be poisoned, and names on PyPI that are not what they say."""
    from importlib.metadata import distributions

    for distribution in distributions():
        name = re.sub(r"[-_.]+", "-", distribution.name or "").lower()
        if distribution.version in POISONED.get(name, ()):
            _find(
                findings,
                "error",
                f"{name} {distribution.version} is a poisoned release that steals credentials",
                "remove it, change every key that this machine has seen, then install a sound release",
            )
        # The real models carry scispaCy's own version numbers, 0.x.
        squat = re.match(r"en-(core-sci|ner)-", name) and int(re.match(r"\d*", distribution.version)[0] or 0) >= 100  # type: ignore[index]
        if squat:
            _find(
                findings,
                "warning",
                f"{name} {distribution.version} is not scispaCy's model but another package under its name",
                f"pip uninstall {name}, and take the model from scispaCy's own release page",
            )


# --- the machine


def _platform() -> dict[str, Any]:
    import platform
    import sqlite3

    return {
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "libc": " ".join(platform.libc_ver()).strip() or None,
        "sqlite": sqlite3.sqlite_version,
    }


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None


def _cores() -> dict[str, Any]:
    usable: float | None = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    quota = (_read("/sys/fs/cgroup/cpu.max") or "").split()
    if len(quota) == 2 and quota[0].isdigit() and usable is not None:
        usable = min(usable, int(quota[0]) / int(quota[1]))
    return {"present": os.cpu_count(), "usable": usable}


def _memory() -> dict[str, Any]:
    total = available = None
    with contextlib.suppress(ValueError, OSError, AttributeError):
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    free = re.search(r"^MemAvailable:\s+(\d+) kB", _read("/proc/meminfo") or "", flags=re.MULTILINE)
    if free:
        available = int(free[1]) * 1024
    limit = _read("/sys/fs/cgroup/memory.max")
    if limit and limit.isdigit() and total is not None:
        total = min(total, int(limit))
    return {"total": total, "available": available}


def _gpus(findings: list[dict[str, str]]) -> list[dict[str, Any]]:
    import shutil
    import subprocess
    from importlib.util import find_spec

    gpus: list[dict[str, Any]] = []
    if shutil.which("nvidia-smi"):
        words = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader,nounits"]
        try:
            out = subprocess.run(words, capture_output=True, text=True, timeout=10, check=True).stdout
        except (OSError, subprocess.SubprocessError) as error:
            _find(findings, "warning", f"nvidia-smi is here and fails: {type(error).__name__}", "look at the driver")
            out = ""
        for line in out.splitlines():
            name, memory, driver = [part.strip() for part in line.rsplit(",", 2)]
            size = int(memory) * 1024**2 if memory.isdigit() else None
            gpus.append({"name": name, "memory": size, "driver": driver})
    if gpus and find_spec("torch"):
        # In a process of its own: importing it here would cost seconds and hundreds of megabytes.
        code = "import torch; print(torch.cuda.is_available(), torch.__version__)"
        try:
            seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
            usable, _, build = seen.stdout.strip().partition(" ")
        except (OSError, subprocess.SubprocessError):
            usable, build = "False", "(fails to import)"
        if usable != "True":
            _find(
                findings,
                "warning",
                f"there is a GPU, and PyTorch {build} cannot use it",
                "install a CUDA build of PyTorch that the driver supports; until then local metrics run on the CPU",
            )
    return gpus


# --- folders, weights


def _models() -> dict[str, Any]:
    from judgekit.judging.provider.weights import KNOWN, is_here, weights_path

    return {
        f"local/{name}": {
            "present": is_here(weights),
            "path": str(weights_path(weights)),
            "fetch": f"judgekit models fetch {name}",
        }
        for name, weights in KNOWN.items()
    }


def _file_system(path: Path) -> str | None:
    """The type of the file system that holds `path`, on Linux; None elsewhere."""
    best: tuple[int, str] | None = None
    for line in (_read("/proc/mounts") or "").splitlines():
        parts = line.split()
        if len(parts) > 2 and path.is_relative_to(parts[1]) and (best is None or len(parts[1]) >= best[0]):
            best = (len(parts[1]), parts[2])
    return best[1] if best else None


def _folder(folder: Path, role: str, findings: list[dict[str, str]]) -> dict[str, Any]:
    """Whether files can be made there. Nothing is left behind, and a folder that is not there is not made."""
    import shutil
    import tempfile

    mend = "set JUDGEKIT_CACHE to a folder that you may write to" if role == "cache" else "name another with --out"
    folder = folder.absolute()
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    writable = nearest.is_dir()
    if writable:
        try:
            with tempfile.TemporaryFile(dir=nearest):
                pass
        except OSError:
            writable = False
    if not writable:
        _find(findings, "warning", f"the {role} folder {folder} cannot be written to", mend)
    free = shutil.disk_usage(nearest).free
    if free < LOW_DISK:
        _find(findings, "warning", f"{_size(free)} are left for the {role} folder {folder}", "make room, or " + mend)
    kind = _file_system(nearest.resolve())
    if role == "runs" and kind in NETWORK_FILE_SYSTEMS:
        _find(findings, "warning", f"{folder} is on {kind}: a run's database wants a local disk", mend)
    return {"path": str(folder), "exists": folder.exists(), "writable": writable, "free": free, "file_system": kind}


# --- keys and proxies: names only


def _keys(findings: list[dict[str, str]]) -> list[str]:
    names = sorted(name for name in os.environ if name.endswith("_API_KEY") or name in KEYS)
    for name in names:
        value = os.environ[name]
        if not value.strip():
            _find(findings, "warning", f"{name} is set and empty", f"give it its value, or unset {name}")
        elif value != value.strip() or value[0] in "'\"":
            _find(findings, "warning", f"{name} has a quote or white space around it", "set it again without")
    return names


def _proxies(findings: list[dict[str, str]]) -> list[str]:
    from urllib.request import getproxies, proxy_bypass

    names = sorted(name for upper in PROXIES for name in (upper, upper.lower()) if os.environ.get(name))
    if getproxies().keys() & {"http", "https", "all"} and not proxy_bypass("127.0.0.1"):
        _find(
            findings,
            "warning",
            "a proxy is set, and calls to this machine's own servers would go through it",
            "add 127.0.0.1 and localhost to NO_PROXY, or the local judge and local servers are not reached",
        )
    return names


# --- the page


def _size(count: int | None) -> str:
    return "unknown" if count is None else f"{count / 1024**3:.1f} GiB"


def _page(found: dict[str, Any]) -> str:
    def rows(packages: dict[str, dict[str, Any]]) -> str:
        return ", ".join(
            f"{name} {row['version']}" if row["ok"] else f"{name} {row['version'] or 'missing'} (wants {row['wanted']})"
            for name, row in packages.items()
        )

    machine, cores, memory = found["platform"], found["cores"], found["memory"]
    gpus = ", ".join(f"{gpu['name']} ({_size(gpu['memory'])})" for gpu in found["gpus"]) or "none found"
    lines = [
        ("judgekit", found["judgekit"]),
        ("Python", f"{found['python']['version']} at {found['python']['executable']}"),
        ("platform", f"{machine['system']} {machine['release']} {machine['machine']}, SQLite {machine['sqlite']}"),
        ("machine", f"{cores['usable']} of {cores['present']} cores, {_size(memory['total'])} memory"),
        ("GPU", gpus),
        ("core", rows(found["packages"])),
    ]
    for name, extra in found["extras"].items():
        if not extra["packages"]:
            state = extra["install"] if name == "scispacy" else "nothing to install"
        elif extra["complete"]:
            state = rows(extra["packages"])
        else:
            have = {key: row for key, row in extra["packages"].items() if row["ok"]}
            lack = ", ".join(key for key, row in extra["packages"].items() if not row["ok"])
            state = f"lacks {lack}: {extra['install']}" + (f"; has {rows(have)}" if have else "")
        lines.append((f"[{name}]", state))
    for name, model in found["models"].items():
        lines.append((name, model["path"] if model["present"] else f"not fetched: {model['fetch']}"))
    for role in ("cache", "runs"):
        folder = found[role]
        state = "writable" if folder["writable"] else "NOT writable"
        lines.append((role, f"{folder['path']}, {state}, {_size(folder['free'])} free"))
    lines.append(("keys set", ", ".join(found["keys"]) or "none: only local and replayed judges will work"))
    lines.append(("proxies set", ", ".join(found["proxies"]) or "none"))
    width = max(len(name) for name, _ in lines) + 2
    page = [name.ljust(width) + str(text) for name, text in lines]
    for finding in found["findings"]:
        page += ["", f"{finding['level']}: {finding['message']}", f"  mend: {finding['mend']}"]
    page += [
        "",
        "All is well."
        if not found["findings"]
        else "judgekit can work here."
        if found["ok"]
        else "judgekit cannot work here.",
    ]
    return "\n".join(page)
