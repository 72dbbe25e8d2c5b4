"""The documents say what is so: command help is not stale, links lead somewhere, and marked snippets run.

A snippet is run when an HTML comment stands on the line before its fence, which a reader never sees:

    <!-- test -->                 run it: `console` (its `$` lines), `sh` (whole), `python` (a script, or `>>>` as a doctest)
    <!-- test file=mine.yaml -->  write it to that file, for the snippets that follow
    <!-- output -->               it shows what the snippet before it prints
    <!-- test exit=3 -->          it ends with that code (for `console`, its last command); `exit=0,1`: with one of these
    <!-- test continues -->       a Python script that goes on from the Python snippet before it
    <!-- test needs=local -->     it needs the local judge's weights; without them the document's rest is skipped
    <!-- test needs=PACKAGE -->   the same for a Python package

The snippets of one document run in order, in one temporary folder that holds copies of `datasets/` and `rubrics/`, with
this checkout's `judgekit` and no keys. What a `console` snippet shows under a command is compared with its stdout (with
`2>&1` in the command, with both); a command that shows nothing is only run. In shown output `...` alone on a line
stands for any lines, and within a line for any text; white space at line ends does not count.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md"), ROOT / "rubrics/README.md", ROOT / "datasets/README.md"]
)
FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>```+)(?P<language>[\w+-]*)[^`]*$")
MARK = re.compile(r"^\s*<!-- (?P<kind>test|output)(?P<words>(?: [^>]*?)?) -->\s*$")
RUNNABLE = {"console", "sh", "bash", "python"}
TIMEOUT = 110


# --- reading


@dataclass(frozen=True)
class Snippet:
    """A fence whose mark stands on the line before it. `line` counts from 1 and is the fence's own."""

    file: str
    line: int
    language: str
    text: str
    kind: str
    words: dict[str, str] = field(default_factory=dict)

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"


def snippets(text: str, file: str = "page.md") -> list[Snippet]:
    """The marked snippets of a Markdown page, in order; a mark with no fence after it is an error."""
    found: list[Snippet] = []
    lines = text.splitlines()
    mark: re.Match[str] | None = None
    position = 0
    while position < len(lines):
        fence = FENCE.match(lines[position])
        start = position
        if fence:
            end = next(
                (n for n in range(position + 1, len(lines)) if lines[n].strip() == fence["ticks"]),
                None,
            )
            assert end is not None, f"{file}:{start + 1}: a fence is never closed"
            if mark:
                body = [line.removeprefix(fence["indent"]) for line in lines[start + 1 : end]]
                words = dict([*word.split("=", 1), "yes"][:2] for word in mark["words"].split())
                found.append(Snippet(file, start + 1, fence["language"], "\n".join(body) + "\n", mark["kind"], words))
            mark, position = None, end
        else:
            assert not mark, f"{file}:{start}: a mark stands on the line before its fence"
            mark = MARK.match(lines[position])
            assert mark or "<!-- test" not in lines[position], f"{file}:{start + 1}: a mark that cannot be read"
        position += 1
    assert not mark, f"{file}: a mark at the end of the page"
    return found


def commands(text: str) -> Iterator[tuple[str, str]]:
    """(command, shown output) of a `console` snippet. A command goes on after a backslash or on lines that begin `> `."""
    command: list[str] = []
    shown: list[str] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            if command:
                yield "\n".join(command), "\n".join(shown)
            command, shown = [line[2:]], []
        elif command and not shown and (command[-1].endswith("\\") or line.startswith("> ")):
            command.append(line.removeprefix("> "))
        else:
            assert command, f"a console snippet begins with `$ `, not with {line!r}"
            shown.append(line)
    if command:
        yield "\n".join(command), "\n".join(shown)


def matches(shown: str, real: str) -> bool:
    """Whether `real` is what `shown` shows, with `...` as wildcard (see the head of this file)."""
    pattern = ""
    for line in shown.strip("\n").splitlines():
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += r"[^\n]*?".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ \t]*\n"
    return re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in real.strip("\n").splitlines())) is not None


# --- running


class Session:
    """One document's folder and what ran there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "checkout"
        self.folder.mkdir()
        for room in ("datasets", "rubrics"):
            if (ROOT / room).is_dir():
                shutil.copytree(ROOT / room, self.folder / room)
        tools = folder / "bin"
        tools.mkdir()
        for name, words in (("judgekit", "-m judgekit "), ("python", ""), ("python3", "")):
            tool = tools / name
            tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words}"$@"\n')
            tool.chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_TOKEN"))}
        self.env = kept | {
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "PYTHONUTF8": "1",
            "NO_COLOR": "1",
            "TERM": "dumb",
            "COLUMNS": "100",
        }
        self.printed: str | None = None
        self.source = ""

    def run(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )

    def lacks(self, need: str) -> str | None:
        """Why the need is not met, or None."""
        if need == "local":
            done = self.run(["judgekit", "models", "fetch", "smollm2-135m"])
            return None if done.returncode == 0 else "the local judge's weights cannot be had here"
        return None if find_spec(need) else f"{need} is not installed"

    def play(self, snippet: Snippet) -> None:
        """Run, write or compare one snippet; an assertion error says what differs."""
        if snippet.kind == "output":
            assert self.printed is not None, f"{snippet.place}: there is no snippet before it that prints"
            self.compare(snippet.place, snippet.text, self.printed)
        elif "file" in snippet.words:
            target = (self.folder / snippet.words["file"]).resolve()
            assert target.is_relative_to(self.folder.resolve()), f"{snippet.place}: the file lies outside the folder"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(snippet.text, "utf-8")
        elif snippet.language == "console":
            every = list(commands(snippet.text))
            for number, (command, shown) in enumerate(every, start=1):
                codes = self.codes(snippet) if number == len(every) else {0}
                self.finish(snippet, ["bash", "-c", command], codes)
                if shown.strip():
                    self.compare(f"{snippet.place}: $ {command}", shown, self.printed or "")
        elif snippet.language == "python" and ">>> " in snippet.text:
            self.doctest(snippet)
        elif snippet.language == "python":
            self.script(snippet)
        else:
            assert snippet.language in RUNNABLE, f"{snippet.place}: {snippet.language!r} is not run: give it file=NAME"
            self.finish(snippet, ["bash", "-euc", snippet.text], self.codes(snippet))

    @staticmethod
    def codes(snippet: Snippet) -> set[int]:
        return {int(code) for code in snippet.words.get("exit", "0").split(",")}

    def finish(self, snippet: Snippet, words: list[str], codes: set[int]) -> None:
        done = self.run(words)
        assert done.returncode in codes, (
            f"{snippet.place}: exit {done.returncode}, not {sorted(codes)}: {words[-1]}\n{done.stdout}{done.stderr}"
        )
        self.printed = done.stdout

    def script(self, snippet: Snippet) -> None:
        before = self.source if "continues" in snippet.words else ""
        # What the snippets before it print is shown with them, not with this one.
        quiet = (
            f"import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()):\n    exec({before!r})\n"
            if before
            else ""
        )
        self.finish(snippet, ["python", "-c", quiet + snippet.text], self.codes(snippet))
        self.source = before + snippet.text

    def doctest(self, snippet: Snippet) -> None:
        page = self.folder / ".snippet.txt"
        page.write_text(snippet.text, "utf-8")
        options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        code = (
            f"import doctest, sys; sys.exit(doctest.testfile({str(page)!r}, False, optionflags={options}).failed > 0)"
        )
        done = self.run(["python", "-c", code])
        page.unlink()
        assert done.returncode == 0, f"{snippet.place}\n{done.stdout}{done.stderr}"

    def compare(self, place: str, shown: str, real: str) -> None:
        assert matches(shown, real), f"{place}\n--- the page shows\n{shown.strip()}\n--- it printed\n{real.strip()}"


@pytest.mark.timeout(300)  # the local judge takes seconds a call, and many on a busy machine
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_marked_snippets_run_and_print_what_the_page_shows(document: Path, tmp_path: Path) -> None:
    found = snippets(document.read_text("utf-8"), document.relative_to(ROOT).as_posix())
    session = Session(tmp_path)
    for snippet in found:
        lack = session.lacks(snippet.words["needs"]) if "needs" in snippet.words else None
        if lack:
            pytest.skip(f"from {snippet.place} on: {lack}")
        session.play(snippet)


# --- help and links


def test_the_command_help_has_not_drifted() -> None:
    done = subprocess.run(
        [sys.executable, "docs/make_help.py", "--check"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == 0, "docs/help.md is stale: run `make docs` and commit it"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_to_files_lead_somewhere(document: Path) -> None:
    text = re.sub(r"```.*?```", "", document.read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s#]+)[^)]*\)", text):
        if not re.match(r"[a-z]+:", target):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


# --- the tool itself


def played(text: str, folder: Path) -> Session:
    session = Session(folder)
    for snippet in snippets(text):
        session.play(snippet)
    return session


@pytest.mark.parametrize(
    ("shown", "real", "same"),
    [
        ("a\nb", "a\nb\n", True),
        ("a\nb", "a\nc\n", False),
        ("a  ", "a\n", True),
        ("a", "a\nb\n", False),  # more lines than shown is a difference
        ("a\n...", "a\nb\nc\n", True),
        ("a\n...", "a\n", True),
        ("...\nc", "a\nb\nc\n", True),
        ("...\nc", "a\nb\nd\n", False),
        ("n = ..., auc = 0.8...", "n = 24, auc = 0.81\n", True),
        ("n = ...!", "n = 1\n!\n", False),  # within a line it does not cross lines
        ("a.c", "abc\n", False),  # no other wildcard
        ("é [1] (x)*", "é [1] (x)*\n", True),
    ],
)
def test_shown_output_is_compared_with_dots_as_the_only_wildcard(shown: str, real: str, same: bool) -> None:
    assert matches(shown, real) is same


def test_only_marked_fences_are_snippets_and_marks_are_read() -> None:
    text = "```sh\nfalse\n```\n\n<!-- test file=a/b.yaml exit=3 -->\n```yaml\nx: 1\n```\n  <!-- output -->\n  ```text\n  hi\n  ```\n"
    first, second = snippets(text)
    assert (first.line, first.language, first.words) == (6, "yaml", {"file": "a/b.yaml", "exit": "3"})
    assert (second.kind, second.text) == ("output", "hi\n")


@pytest.mark.parametrize(
    "text",
    [
        "<!-- test -->\n\n```sh\ntrue\n```\n",
        "<!-- test -->\n",
        "<!-- test-->\n```sh\ntrue\n```\n",
        "```sh\ntrue\n",
    ],
    ids=["a line between", "no fence", "misspelt", "never closed"],
)
def test_a_mark_that_marks_nothing_is_an_error(text: str) -> None:
    with pytest.raises(AssertionError, match=r"page\.md"):
        snippets(text)


def test_a_console_snippet_has_commands_continued_lines_and_shown_output() -> None:
    text = "$ echo a \\\n    b\na b\n$ cat <<X\n> one\n> X\none\n$ true\n"
    assert list(commands(text)) == [("echo a \\\n    b", "a b"), ("cat <<X\none\nX", "one"), ("true", "")]


def test_a_page_runs_in_order_in_one_folder(tmp_path: Path) -> None:
    played(
        "<!-- test file=sub/note.txt -->\n```text\nhello\n```\n"
        "<!-- test -->\n```console\n$ cat sub/note.txt\nhello\n$ ls -d datasets rubrics\ndatasets\nrubrics\n```\n"
        "<!-- test -->\n```python\nx = open('sub/note.txt').read()\nprint('loud')\n```\n"
        "<!-- test continues -->\n```python\nprint(x.upper())\n```\n<!-- output -->\n```text\nHELLO\n```\n"
        "<!-- test -->\n```python\n>>> 1 / 3\n0.33...\n```\n"
        "<!-- test exit=2 -->\n```console\n$ judgekit no-such-command\n```\n"
        "<!-- test exit=0,1 -->\n```console\n$ false\n```\n"
        "<!-- test -->\n```console\n$ judgekit --version\njudgekit, version ...\n```\n",
        tmp_path,
    )
    assert not (ROOT / "sub").exists()


@pytest.mark.parametrize(
    "text",
    [
        "<!-- test -->\n```console\n$ echo a\nb\n```\n",
        "<!-- test -->\n```console\n$ false\n```\n",
        "<!-- test -->\n```sh\nfalse\ntrue\n```\n",
        "<!-- test -->\n```python\n1 / 0\n```\n",
        "<!-- test -->\n```python\n>>> 1 + 1\n3\n```\n",
        "<!-- test exit=3 -->\n```sh\ntrue\n```\n",
        "<!-- test exit=0,1 -->\n```sh\nexit 2\n```\n",
        "<!-- test -->\n```yaml\nx: 1\n```\n",
        "<!-- output -->\n```text\nx\n```\n",
        "<!-- test file=../x.txt -->\n```text\nx\n```\n",
    ],
)
def test_a_page_that_is_wrong_fails(text: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"page\.md:2"):
        played(text, tmp_path)


def test_keys_do_not_reach_a_snippet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    played('<!-- test -->\n```console\n$ echo "[$OPENAI_API_KEY]"\n[]\n```\n', tmp_path)
