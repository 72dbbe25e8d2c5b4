"""What the tests of the judge path share: a small rubric, records, and a provider's script that knows the record."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from judgekit.data import RecordSet
from judgekit.judging.engine.outcome import Outcome
from judgekit.judging.engine.run import run_judges
from judgekit.judging.engine.units import Options
from judgekit.judging.provider.types import JudgeSpec
from judgekit.records import Record
from judgekit.rubric import load_rubric
from tests.judging.provider import Provider, Say

MINI = """
rubric: mini
version: "1"
title: A small rubric
construct: completeness
inputs: {required: [question, response]}
verdict:
  score:
    scale:
      1: {label: bad, anchor: "misses the point"}
      2: {label: fair, anchor: "says the main thing"}
      3: {label: good, anchor: "says all"}
score: {field: score}
complete_when: ">= 2"
when_response_empty: {raw: 1}
sampling: {temperature: 0, max_tokens: 50}
prompt:
  system: You judge.
  user: |
    {% include "case.j2" %}
"""
CASE = "Question: {{ question }}\nAnswer: {{ response }}\n"

CHECKLIST = """
rubric: checklist
version: "1"
construct: completeness
inputs: {required: [question, response]}
criteria: {from: [record], ask: each}
verdict:
  met: {boolean: "Is it there?"}
score: {fraction: met}
prompt:
  user: |
    {{ question }} {{ response }}
    {% for c in criteria %}Criterion {{ c.text }}
    {% endfor %}
"""


def write_rubric(folder: Path, text: str = MINI, name: str = "mini", case: str = CASE) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "case.j2").write_text(case, "utf-8")
    path = folder / f"{name}.yaml"
    path.write_text(text, "utf-8")
    return path


def records(n: int, **fields: Any) -> RecordSet:
    return RecordSet(
        [Record(id=f"{i:03}", question=f"question of item{i}", response="an answer", **fields) for i in range(n)],
        name="d",
    )


def item(body: dict[str, Any]) -> int:
    """Which record a request is about."""
    found = re.findall(r"item(\d+)", body["messages"][-1]["content"]) or re.findall(r"item(\d+)", json.dumps(body))
    return int(found[-1])


def by_item(say: Callable[[int], str | Say]) -> Callable[[dict[str, Any], int], str | Say]:
    return lambda body, n: say(item(body))


def score(value: Any) -> str:
    return json.dumps({"score": str(value)})


def go(
    provider: Provider | None,
    rubrics: Path | Sequence[Path],
    data: RecordSet | Sequence[RecordSet],
    out: Path,
    *,
    models: Sequence[str] = ("openai/fake",),
    sampling: dict[str, Any] | None = None,
    **options: Any,
) -> Outcome:
    paths = [rubrics] if isinstance(rubrics, Path) else list(rubrics)
    sets = [data] if isinstance(data, RecordSet) else list(data)
    base = None if provider is None else provider.base
    specs = [JudgeSpec(model, sampling or {}, None if model.startswith("replay/") else base) for model in models]
    loaded = [load_rubric(str(path)) for path in paths]
    return asyncio.run(run_judges(sets, loaded, specs, out, Options(**options), quiet=True))
