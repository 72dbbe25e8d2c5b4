"""Exit codes, the error object, and a --help that loads nothing heavy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import click
import pytest

from judgekit import __version__
from judgekit import errors as judgekit_errors
from judgekit.cli import app, doctor
from judgekit.errors import (
    BudgetError,
    DataError,
    InputError,
    JudgekitError,
    MissingDependency,
    ProviderError,
    RubricError,
    StatisticsError,
    UsageError,
)

ROOT = Path(__file__).resolve().parents[2]
HEAVY = (
    "aiohttp", "instructor", "jinja2", "jmespath", "litellm", "matplotlib", "numpy", "openai", "pandas", "pyarrow", "pydantic",
    "rich", "ruamel", "scipy", "sklearn", "spacy", "torch", "transformers", "xllamacpp",
)  # fmt: skip


def judgekit(*words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "judgekit", *words], cwd=ROOT, capture_output=True, text=True, check=False, **more
    )


def raising(monkeypatch: pytest.MonkeyPatch, error: BaseException | None, result: Any = None) -> None:
    """Put a command under the name `doctor` that raises `error`, or else returns `result`."""

    @click.command()
    @click.option("--json", "as_json", is_flag=True)
    def command(as_json: bool) -> Any:
        if error is not None:
            raise error
        return result

    monkeypatch.setattr(doctor, "doctor", command)


# The codes that others script against; each error class stands here, so a new one cannot be forgotten.
CODES = {
    JudgekitError: ("error", 1),
    InputError: ("input", 1),
    RubricError: ("rubric", 1),
    DataError: ("data", 1),
    StatisticsError: ("statistics", 1),
    MissingDependency: ("missing", 1),
    UsageError: ("usage", 2),
    BudgetError: ("budget", 4),
    ProviderError: ("provider", 5),
}


def test_every_error_class_has_its_code_here() -> None:
    assert {cls.__name__ for cls in CODES} == set(judgekit_errors.__all__)


@pytest.mark.parametrize("cls", CODES, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_an_error_becomes_its_exit_code_and_its_object(
    cls: type[JudgekitError], as_json: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kind, code = CODES[cls]
    raising(monkeypatch, cls("no such level", file="a.yaml", line=3, field="verdict.score", mend="write 1 to 5"))
    assert app.main(["doctor", "--json"] if as_json else ["doctor"]) == code
    out, err = capsys.readouterr()
    if as_json:
        assert json.loads(out) == {
            "error": {
                "kind": kind,
                "file": "a.yaml",
                "line": 3,
                "field": "verdict.score",
                "message": "no such level",
                "hint": "write 1 to 5",
                "mend": "write 1 to 5",  # the name until 0.1
            }
        }
        assert err == ""
    else:
        assert out == ""
        assert err == "judgekit: a.yaml:3: verdict.score: no such level: write 1 to 5\n"


@pytest.mark.parametrize(("result", "code"), [(None, 0), (0, 0), (3, 3), (4, 4), (130, 130), (True, 0), ("x", 0)])
def test_a_command_returns_its_exit_code(result: Any, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    raising(monkeypatch, None, result)
    assert app.main(["doctor"]) == code


def test_an_interrupt_is_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    raising(monkeypatch, KeyboardInterrupt())
    assert app.main(["doctor", "--json"]) == 130
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "interrupted"


def test_a_fault_of_ours_is_70_with_the_traceback_on_stderr(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    raising(monkeypatch, ZeroDivisionError("division by zero"))
    assert app.main(["doctor", "--json"]) == 70
    out, err = capsys.readouterr()
    assert json.loads(out)["error"]["message"] == "ZeroDivisionError: division by zero"
    assert json.loads(out)["error"]["kind"] == "internal"
    assert "Traceback" in err


@pytest.mark.parametrize(
    ("error", "place"),
    [
        (FileNotFoundError(2, "No such file or directory", "a.csv"), "a.csv"),
        (PermissionError(13, "Permission denied", b"caf\xe9.csv"), "caf\udce9.csv"),
        (OSError(28, "No space left on device"), None),
    ],
)
def test_a_file_that_cannot_be_had_is_the_users_to_mend(
    error: OSError, place: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    raising(monkeypatch, error)
    assert app.main(["doctor"]) == 1
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert error.strerror in err
    raising(monkeypatch, OSError("nameless"))
    assert app.main(["doctor"]) == 70


@pytest.mark.parametrize(
    "words", [["no-such-command"], ["doctor", "--no-such-option"], ["doctor", "extra"], ["--no-such-option"]]
)
def test_wrong_words_are_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("judgekit: Usage: judgekit")
    assert app.main([*words, "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "usage"


def test_a_misspelt_command_is_told_the_one_that_was_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["jugde", "x"]) == 2
    assert "did you mean 'judge'?" in capsys.readouterr().err


def test_no_words_show_the_help_and_are_usage() -> None:
    done = judgekit()
    assert done.returncode == 2
    assert done.stdout.startswith("Usage: judgekit")


def test_version() -> None:
    done = judgekit("--version")
    assert (done.returncode, done.stdout) == (0, f"judgekit, version {__version__}\n")


def test_help_names_every_command_that_is_there_and_only_those() -> None:
    out = judgekit("--help").stdout
    files = {path.stem for path in (ROOT / "judgekit/cli").glob("*.py")}
    for name, (where, line) in app.COMMANDS.items():
        there = where.split(":")[0].rsplit(".", 1)[1] in files
        assert (f"  {name} " in out) == there, name
        assert line.endswith((".", "?"))


def test_every_command_loads_and_shows_its_help() -> None:
    for name in app.cli.list_commands(click.Context(app.cli)):
        command = app.cli.get_command(click.Context(app.cli), name)
        assert command is not None
        assert command.help, f"{name} has no help text"
        assert app.main([name, "--help"]) == 0


@pytest.mark.parametrize(
    "words", ["--help", "--version", "rubric --help", "judge --help", "triage --help", "doctor --help"]
)
def test_help_loads_nothing_heavy(words: str) -> None:
    code = (
        "import sys, judgekit.cli.app as app; code = app.main(sys.argv[2:]);"
        "print(*[name for name in sys.argv[1].split(',') if name in sys.modules], file=sys.stderr); sys.exit(code)"
    )
    heavy = [
        name for name in HEAVY if name != "pydantic" or not words.startswith("triage")
    ]  # an analysis' options are a model
    done = subprocess.run(
        [sys.executable, "-c", code, ",".join(heavy), *words.split()],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 2 and "No such command" in done.stderr:
        pytest.skip(f"no command {words.split()[0]} yet")
    assert done.returncode == 0, done.stderr
    assert done.stderr.split() == []


def test_help_is_quick() -> None:
    # 0.3 s is the promise. The best of several tries is taken, since other work on the machine only ever adds.
    best = float("inf")
    for _ in range(15):
        begin = time.perf_counter()
        judgekit("--help")
        best = min(best, time.perf_counter() - begin)
        if best < 0.3:
            break
    assert best < 0.3


def test_importing_the_package_loads_nothing_heavy_and_its_names_load_on_use() -> None:
    code = f"import sys, judgekit; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_reader_that_goes_away_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "judgekit", "doctor", "--json"],
        cwd=ROOT,
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_a_name_that_is_not_utf8_is_reported_and_the_json_stays_valid(tmp_path: Path) -> None:
    stray = os.fsencode(tmp_path) + b"/caf\xe9"
    Path(os.fsdecode(stray)).write_text("a file where a folder should be")
    done = subprocess.run(
        [sys.executable, "-m", "judgekit", "doctor", "--json", "--runs", stray],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert os.fsencode(json.loads(done.stdout)["runs"]["path"]) == stray


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full on this system")
@pytest.mark.parametrize("words", [("triage", "none.csv", "--json"), ("rubric", "list", "--json"), ("rubric", "list")])
def test_a_stdout_that_takes_nothing_ends_in_one_sentence(words: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "judgekit", *words], cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert done.stderr.startswith("judgekit: ")


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell closes it")
@pytest.mark.parametrize("more", [["--json"], []])
def test_a_closed_stderr_changes_neither_the_code_nor_the_object(more: list[str]) -> None:
    words = [sys.executable, "-m", "judgekit", "triage", "none.csv", *more]
    done = subprocess.run(["sh", "-c", '"$@" 2>&-', "sh", *words], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert (json.loads(done.stdout)["error"]["message"] if more else done.stdout) == (
        "there is no such run or table" if more else ""
    )
