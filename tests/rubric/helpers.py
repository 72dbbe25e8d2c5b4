"""A small rubric to bend, and short ways to load it."""

from __future__ import annotations

from pathlib import Path

from judgekit.records import Record
from judgekit.rubric.compile import CompiledRubric, compile_spec
from judgekit.rubric.load import load_text

SMALL = """\
rubric: small
version: 1.0
title: A small one
construct: completeness
inputs: {required: [question, response], optional: [reference]}
verdict:
  explanation: {text: "Say why.", max_chars: 20}
  score:
    scale:
      1: {label: poor, anchor: "Leaves out the danger."}
      2: {label: fair, anchor: "Leaves out detail."}
      3: {label: good, anchor: "Leaves out nothing."}
score: {field: score}
complete_when: ">= 2"
when_response_empty: {raw: 1}
sampling: {temperature: 0, max_tokens: 300}
prompt:
  system: |
    Judge it.
    {% for level in fields.score.levels %}
    {{ level.value }}: {{ level.text }}
    {% endfor %}
  user: |
    Question: {{ question }}
    Answer: {{ response }}
    {% if reference is not none %}
    Reference: {{ reference }}
    {% endif %}
checks:
  - {record: {question: q, response: r}, expect: {score: "<= 2"}}
"""

RECORD = Record(id="r1", question="What dose?", response="Two tablets.")


def rubric(text: str = SMALL, path: Path | str = "small.yaml") -> CompiledRubric:
    return compile_spec(load_text(text, Path(path)), Path(path))


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
