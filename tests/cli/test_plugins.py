"""Another package brings an analysis and a command: help, command, JSON, study key and schema, without one edit here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULE = '''
from typing import ClassVar

import click

from judgekit.analysis.options import Analysis, opt
from judgekit.analysis.result import Column, Result, Table, signature


class Count(Analysis):
    """How many answers there are, by any field.

    A second sentence.
    """

    name: ClassVar[str] = "count"

    by: str | None = opt(None, "The field that splits them.", metavar="FIELD")
    least: int = opt(1, "Only groups of at least so many.", ge=1)

    def analyse(self, source):
        counts = {}
        for answer in source.answers.values():
            key = "all" if self.by is None else str(answer.meta.get(self.by))
            counts[key] = counts.get(key, 0) + 1
        rows = [{"group": key, "n": n} for key, n in counts.items() if n >= self.least]
        return Result([Table("counts", "Answers", rows, [Column("group"), Column("n")])], signature(count=self.by, source=source.name))


@click.command()
def hello():
    """Says hello."""
    click.echo("hello")
'''


@pytest.fixture
def scratch(tmp_path: Path) -> dict[str, str]:
    package = tmp_path / "site"
    info = package / "counting-1.0.dist-info"
    info.mkdir(parents=True)
    (package / "counting.py").write_text(MODULE, "utf-8")
    (package / "broken_plugin.py").write_text("raise RuntimeError('it cannot be')\n", "utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: counting\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text(
        "[judgekit.analyses]\ncount = counting:Count\nshaky = broken_plugin:Shaky\n\n[judgekit.commands]\nhello = counting:hello\n",
        "utf-8",
    )
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(package), str(ROOT)]), "COLUMNS": "100"}


def run(environment: dict[str, str], *words: object, code: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "judgekit", *map(str, words)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout + ("" if code == 0 else done.stderr)


def test_an_analysis_of_another_package(scratch: dict[str, str], tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("id,incomplete,score,topic\n1,1,1,x\n2,0,2,x\n3,0,3,y\n", "utf-8")
    shown = run(scratch, "--help")
    assert "count" in shown
    assert "From the package counting." in shown
    assert "hello" in run(scratch, "hello")
    help_text = run(scratch, "count", "--help")
    assert "How many answers there are, by any field." in help_text
    assert "--by FIELD" in help_text
    body = json.loads(run(scratch, "count", table, "--by", "topic", "--least", 2, "--json"))
    assert body["counts"] == [{"group": "x", "n": 2}]
    assert "reads" not in run(scratch, "count", table, "--least", 0, code=2)
    schema = json.loads(run(scratch, "run", "--schema"))
    assert '"count"' in json.dumps(schema)
    study = tmp_path / "s.yaml"
    records = tmp_path / "d.jsonl"
    records.write_text('{"id": "1", "question": "q", "response": "x", "meta": {"topic": "x"}}\n', "utf-8")
    study.write_text(
        "study: s\ndata: d.jsonl\nmetrics: token_f1\nanalyses:\n  - count: {by: topic}\n  - count: {bye: topic}\n",
        "utf-8",
    )
    assert "count has no option 'bye': did you mean 'by'?" in run(scratch, "run", study, "--lint", code=1)
    study.write_text("study: s\ndata: d.jsonl\nmetrics: token_f1\nanalyses:\n  - count: {by: topic}\n", "utf-8")
    done = json.loads(run(scratch, "run", study, "--out", tmp_path / "run", "--json"))
    assert done["analyses"][0]["result"]["counts"] == [{"group": "x", "n": 1}]


def test_a_broken_plugin_is_named_and_hinders_nothing_else(scratch: dict[str, str], tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("incomplete,score\n1,1\n0,2\n", "utf-8")
    assert "the plug-in 'shaky' cannot be loaded: it cannot be" in run(scratch, "shaky", table, code=1)
    assert json.loads(run(scratch, "triage", table, "--json"))["rows"][0]["n"] == 2
    assert "count" in json.dumps(json.loads(run(scratch, "run", "--schema")))
