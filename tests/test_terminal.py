"""Nothing raw of a record, rater, provider or file name reaches a terminal."""

from __future__ import annotations

import ast
import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.cli.app import main
from judgekit.terminal import Printed, console, printable, printed

PACKAGE = Path(__file__).resolve().parents[1] / "judgekit"
EVIL = "\x1b[2J\x1b]0;PWN\x07\x9b31m\u202e\r\x08"


def test_control_characters_are_written_out() -> None:
    assert printable(EVIL) == r"\x1b[2J\x1b]0;PWN\x07\u009b31m\u202e\x0d\x08"
    assert printable("a\tb\r\nc é 漢 \u200d") == "a\tb\r\nc é 漢 \u200d"


@given(st.text())
def test_nothing_that_moves_a_terminal_is_left(text: str) -> None:
    shown = printable(text).replace("\r\n", "")
    assert not any((ord(one) < 32 and one not in "\t\n") or 127 <= ord(one) < 160 for one in shown)
    assert printable(printable(text)) == printable(text)


@given(st.dictionaries(st.text(), st.text()))
def test_json_stays_the_same_value(value: dict[str, str]) -> None:
    assert json.loads(printable(json.dumps(value, ensure_ascii=False))) == value


def test_both_streams_are_wrapped_and_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    with printed():
        print(EVIL)
        print(EVIL, file=sys.stderr)
        assert not hasattr(sys.stdout, "buffer")
    assert sys.stdout is out
    assert sys.stderr is err
    assert "\x1b" not in out.getvalue() + err.getvalue()


def test_rich_keeps_its_own_colours_and_no_others() -> None:
    out = io.StringIO()
    console(Printed(out), force_terminal=True, color_system="standard", width=80).print(f"[bold]x[/bold]{EVIL}")
    assert "\x1b[1mx\x1b[0m" in out.getvalue()
    assert "\x1b[2J" not in out.getvalue()


@pytest.mark.parametrize("place", ["id", "rater", "file"])
def test_commands_show_no_raw_sequence(tmp_path: Path, capsys: pytest.CaptureFixture[str], place: str) -> None:
    name = "d.jsonl" if place != "file" else "d\x1b[2J.jsonl"
    row = {
        "id": "1" + EVIL * (place == "id"), "question": "q", "response": EVIL,
        "labels": [{"construct": "completeness", "rater": "d" + EVIL * (place == "rater"), "complete": True}],
    }  # fmt: skip
    (tmp_path / name).write_text(json.dumps(row) + "\n{broken\n")
    for words in (("validate",), ("show",), ("validate", "--json")):
        main(["data", words[0], str(tmp_path / name), *words[1:]])
    main(["triage", f"nothing{EVIL}"])
    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err
    assert "\x9b" not in said.out + said.err


def test_all_printing_goes_through_the_wrapped_streams() -> None:
    """No module but `terminal` makes a console that writes to a terminal, or goes round the streams."""
    for path in PACKAGE.rglob("*.py"):
        if path.name == "terminal.py":
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Console"):
                words = {word.arg: ast.unparse(word.value) for word in node.keywords}
                assert words.get("color_system") == "None", f"{path}: use judgekit.terminal.console"
            if isinstance(node, ast.Attribute):
                assert ast.unparse(node) not in ("sys.stdout.buffer", "sys.stderr.buffer", "sys.__stdout__"), path
