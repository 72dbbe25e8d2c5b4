"""A study file is read as text with lines; what is wrong says file, line, field and what to write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgekit.cli.app import main
from judgekit.errors import InputError
from judgekit.study.spec import load_study

ROOT = Path(__file__).resolve().parents[2]
GOOD = """study: mine
data:
  - planted-omissions/demo
  - {from: more.jsonl, card: kqa, name: more, limit: 3}
rubrics: [general-likert]
judges:
  - openai/a
  - {model: openai/b, temperature: 0.5, max_tokens: 10}
analyses:
  - triage: {recall: 0.9}
  - cost
  - agree:
"""


def test_short_forms_stand_for_maps(tmp_path: Path) -> None:
    file = load_study(_write(tmp_path, GOOD))
    study = file.study
    assert [one.source for one in study.data] == ["planted-omissions/demo", "more.jsonl"]
    assert study.data[1].limit == 3
    assert [one.model for one in study.judges] == ["openai/a", "openai/b"]
    assert study.judges[1].sampling == {"temperature": 0.5, "max_tokens": 10}
    # Options stay the text that was written: the command itself reads them.
    assert study.analyses == [{"triage": {"recall": "0.9"}}, {"cost": {}}, {"agree": {}}]
    assert (file.line("judges", 1), file.line("analyses", 0, "triage")) == (8, 10)


def _write(folder: Path, text: str) -> Path:
    path = folder / "s.yaml"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("study: a\ndata: x\nrubrics: [{rubrik: a}]\n", 3, "unknown key: did you mean 'rubric'?"),
        ("study: a\ndata: x\nrubrics: r\nsamples: 0\n", 4, "samples: '0'"),
        ("study: a\ndata: x\n", 1, "does nothing"),
        ("data: x\nrubrics: r\n", 1, "study: is missing: add it"),
        ("study: a\nrubrics: r\n", 1, "data: is missing"),
        ("study: a\ndata: x\nrubrics: r\nrunning:\n  allow_unknown_price: yes\n", 5, "neither true nor false"),
        (
            "study: a\ndata: x\nrubrics: r\njudges:\n  - m\n  - {model: n, temprature: 0}\n",
            6,
            "did you mean 'temperature'",
        ),
        ("study: a\ndata: x\nrubrics: r\nanalyses: [{triage: {}, agree: {}}]\n", 4, "one name with its options"),
        ("study: a\ndata: x\nrubrics: r\ndata: y\n", 4, "stands here twice, first on line 2"),
        ("study: a b\ndata: x\nrubrics: r\n", 1, "study: 'a b'"),
        ("- a\n", 1, "the top of a study is a map"),
    ],
)
def test_what_is_wrong_names_its_line(tmp_path: Path, text: str, line: int, says: str) -> None:
    path = _write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        load_study(path)
    assert (caught.value.file, caught.value.line) == (str(path), line)
    assert says in str(caught.value)


def test_lint_finds_everything_that_names_lead_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """study: mine
data: planted-omissions/demo
rubrics:
  - general-likrt
  - answer-zero-shot
  - {rubric: analytical-rubric, data: [elsewhere]}
judges: openai/a
metrics: [token_f2]
analyses:
  - triag: {}
  - triage: {recal: 0.9}
  - triage: {unscored: middle}
  - compare: {}
  - cost: {quality: [auc, kappa]}
"""
    path = _write(tmp_path, text)
    assert main(["run", str(path), "--lint", "--json"]) == 1
    errors = json.loads(capsys.readouterr().out)["errors"]
    assert [error["line"] for error in errors] == [4, 5, 6, 8, 10, 11, 12, 14]
    assert {error["file"] for error in errors} == {str(path)}
    text = "\n".join(f"{error['message']}: {error['mend']}" for error in errors)
    for words in (
        "did you mean 'triage'",
        "did you mean 'recall'",
        "under answers",
        "no data set 'elsewhere'",
        "takes one value",
    ):
        assert words in text, text


def test_the_shipped_schema_is_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--schema"]) == 0
    shipped = (ROOT / "docs/schema/study.schema.json").read_text("utf-8")
    assert shipped == capsys.readouterr().out, "python -m judgekit run --schema > docs/schema/study.schema.json"
