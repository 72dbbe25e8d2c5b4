"""What a file from a stranger may cost: pipes, sizes, depths, bombs, expressions, templates, regular expressions."""

from __future__ import annotations

import gzip
import importlib
import json
import os
import pkgutil
import re
import time
from pathlib import Path

import pytest

import judgekit
from judgekit.data import load_records
from judgekit.data.expressions import find
from judgekit.data.source import read_rows
from judgekit.errors import DataError, InputError, RubricError
from judgekit.forms import read_yaml
from judgekit.limits import MAX_COLUMNS, MAX_DEPTH, gunzip, json_value, open_text, read_file, too_deep
from judgekit.rubric import load_rubric


@pytest.mark.parametrize("name", ["f.jsonl", "f.json", "f.csv", "f.tsv", "f.jsonl.gz"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(DataError, match="a pipe or a device"):
        list(read_rows(tmp_path / name))
    with pytest.raises(InputError, match="a pipe or a device"):
        open_text(tmp_path / name)


def test_pipes_and_devices_are_no_rubric_and_no_study(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "r.yaml")
    for path in (tmp_path / "r.yaml", Path("/dev/zero")):
        with pytest.raises(RubricError, match="a pipe or a device"):
            load_rubric(path)
        with pytest.raises(InputError, match="a pipe or a device"):
            read_yaml(path, "s", "study")


def test_a_file_has_a_size(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"12345")
    assert read_file(path, 5) == b"12345"
    with pytest.raises(InputError, match="5 bytes are too many"):
        read_file(path, 4)
    with path.open("wb") as file:
        file.truncate(1 << 40)  # a terabyte of nothing
    with pytest.raises(InputError, match="too many"):
        read_file(path)


def test_gzip_keeps_every_member_and_stops_at_a_bomb() -> None:
    one, two = gzip.compress(b"a" * 10), gzip.compress(b"b")
    assert gunzip(one + two + b"\0" * 512, "f") == b"a" * 10 + b"b"
    with pytest.raises(EOFError):
        gunzip(one[:-4], "f")
    bomb = gzip.compress(b"\n" * (1 << 20) * 65)  # 65 MiB of line ends in 64 kB
    with pytest.raises(InputError, match="out of all proportion"):
        gunzip(bomb, "f")


@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH + 1, 900, 100_000])
def test_json_has_a_depth(depth: int) -> None:
    text = "[" * depth + "]" * depth
    if depth <= MAX_DEPTH:
        assert not too_deep(json_value(text))
        return
    with pytest.raises(ValueError, match="nested"):
        json_value(text)


def test_a_table_has_a_width(tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text(",".join(f"c{i}" for i in range(200_000)) + "\n")
    (tmp_path / "w.jsonl").write_text(json.dumps({f"c{i}": 1 for i in range(MAX_COLUMNS + 1)}))
    for name in ("w.csv", "w.jsonl"):
        with pytest.raises(DataError, match="columns are too many"):
            list(read_rows(tmp_path / name))


@pytest.mark.parametrize(
    "expression",
    [
        "[@,@]|" * 40 + "@",
        "[q,q]|" + "[@,@][]|" * 40 + "@",
        "to_string(" + "[@,@]|" * 30 + "@)",
        "q" + "".join(f"|replace(@,'','{'a' * 300}')" for _ in range(8)),
        "join('" + "a" * 3000 + "'," + "[q,q]|" + "[@,@][]|" * 16 + "@)",
        "!" * 3000 + "a",
        "(" * 1900 + "a" + ")" * 1900,
        "a" * 4001,
    ],
)
def test_an_expression_that_multiplies_ends_in_an_error(expression: str) -> None:
    try:
        found = find(expression, {"q": "qqqqqq"})
    except DataError:
        return
    assert found is None, "a name that is no column"


RUBRIC = """
rubric: r
construct: completeness
inputs: {required: [question, response]}
verdict:
  explanation: {text: "Say why."}
  score: {scale: {1: "worst", 2: "bad", 3: "middling", 4: "good", 5: "best"}}
score: {field: score}
complete_when: ">= 4"
sampling: {temperature: 0, max_tokens: 200}
prompt:
  user: |
    Judge. %s
    {%% include "_parts/case.j2" %%}
"""


@pytest.mark.parametrize("body", ["x", "{% if l0.value == 9 %}x{% endif %}", ""])
def test_loops_inside_loops_end_in_an_error(tmp_path: Path, body: str) -> None:
    loops = "".join(f"{{% for l{i} in fields.score.levels %}}" for i in range(14))
    (tmp_path / "r.yaml").write_text(RUBRIC % (loops + body + "{% endfor %}" * 14))
    with pytest.raises(RubricError, match="more than 500,000 steps"):
        load_rubric(tmp_path / "r.yaml")


def test_extends_stays_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(RUBRIC % "")
    inside = tmp_path / "in"
    (inside / "deeper").mkdir(parents=True)
    (inside / "link.yaml").symlink_to(tmp_path / "base.yaml")
    (inside / "deeper" / "base.yaml").write_text(RUBRIC % "")
    for name in (
        "../base.yaml",
        str(tmp_path / "base.yaml"),
        "link.yaml",
        "deeper/../../base.yaml",
        "/etc/hostname.yaml",
    ):
        (inside / "x.yaml").write_text(f"rubric: x\nextends: {name}\n")
        with pytest.raises(RubricError) as caught:
            load_rubric(inside / "x.yaml")
        assert caught.value.field == "extends"
        assert caught.value.line == 2
    (inside / "x.yaml").write_text("rubric: x\nextends: deeper/base.yaml\n")
    assert load_rubric(inside / "x.yaml").name == "x"


def test_lists_that_go_on_in_a_card_or_study_are_cut(tmp_path: Path) -> None:
    for text in ("[" * 100_000, "a:\n" + "- a\n" * 60_000):
        (tmp_path / "s.yaml").write_text(text)
        with pytest.raises(InputError):
            read_yaml(tmp_path / "s.yaml", "s.yaml", "study")


def test_records_may_not_be_deep(tmp_path: Path) -> None:
    deep = '{"a":' * 500 + "1" + "}" * 500
    (tmp_path / "d.jsonl").write_text('{"id": "1", "question": "q", "response": "r", "meta": ' + deep + "}\n")
    with pytest.raises(DataError, match="nested"):
        load_records(tmp_path / "d.jsonl")


def patterns() -> dict[str, re.Pattern[str]]:
    """Every regular expression that a module of judgekit keeps."""
    found = {}
    for module in pkgutil.walk_packages(judgekit.__path__, "judgekit."):
        if module.name.endswith("__main__"):
            continue
        try:
            loaded = importlib.import_module(module.name)
        except ImportError:  # an extra that is not installed
            continue
        for name, value in vars(loaded).items():
            if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                found[f"{module.name}.{name}"] = value
    return found


PIECES = (
    " ",
    "a",
    "1",
    "-",
    "{ ",
    '"',
    "\n",
    "\n ",
    "1,",
    "1.",
    "a.",
    "(",
    "<",
    "ssl:<",
    "`",
    "* ",
    "Error: ",
    "1 mg ",
    "no ",
    "é",
    '{ "a" ',
)


def test_no_regular_expression_explodes_on_a_text_of_4000_characters() -> None:
    slow = []
    for name, pattern in patterns().items():
        for piece in PIECES:
            text = piece * (4_000 // len(piece)) + "\x00"
            begun = time.process_time()
            for _ in zip(pattern.finditer(text), range(50_000), strict=False):
                pass
            took = time.process_time() - begun
            if took > 5:  # a quadratic one takes up to a second; an exponential one never ends
                slow.append((name, piece, round(took, 1)))
    assert not slow
