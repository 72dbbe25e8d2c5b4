"""The shipped dynamic-checklist over records without criteria: written once a question, stored, scored with, shown in the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judgekit.cli.app import main
from judgekit.runs.store import open_run
from tests.judging.provider import Provider
from tests.report.test_page import Page, unpack

ITEMS = [
    {"text": "Says to ask for help at once when breathing is hard", "points": 9},
    {"text": "Says to rest", "points": 3},
    {"text": "Says to drink", "points": 3},
]
RECORDS = [
    {"id": f"{q}{a}", "question": f"What helps against cold number {q}?", "response": text}
    for q, a, text in (
        (1, "a", "Rest and drink."),
        (1, "b", "Rest."),
        (2, "a", "Drink, and call when you cannot breathe."),
    )
]


def writes(body: dict[str, Any]) -> bool:
    return "prepares the marking" in body["messages"][0]["content"]


def script(body: dict[str, Any], n: int) -> str:
    """The writer gives the list; the judge meets an item whose last word the answer has."""
    if writes(body):
        return json.dumps({"criteria": ITEMS})
    text = body["messages"][-1]["content"]
    (wanted,) = [item["text"] for item in ITEMS if item["text"] in text]
    word = {"Says to rest": "est", "Says to drink": "rink"}.get(str(wanted), "cannot breathe")
    answer = next(str(record["response"]) for record in RECORDS if str(record["response"]) in text)
    return json.dumps({"explanation": "Looked for it.", "met": word in answer})


def test_from_a_question_without_criteria_to_the_page(
    provider: Provider, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, run = tmp_path / "d.jsonl", tmp_path / "run"
    data.write_text("".join(json.dumps(record) + "\n" for record in RECORDS), "utf-8")
    words = ["judge", str(data), "--rubric", "dynamic-checklist", "--model", "openai/fake"]
    words += ["--api-base", provider.base, "--out", str(run), "--json"]
    provider.script = script
    assert main(words) == 0
    # Two questions, so two lists; three answers are asked about three items each.
    asked = [body for body in provider.bodies if writes(body)]
    assert (len(asked), provider.count) == (2, 2 + 9)
    assert not any(str(record["response"]) in json.dumps(asked) for record in RECORDS), "the writer sees no answer"
    # 1a: rest and drink of three; 1b: rest; 2a: drink and the warning, but "rest" only inside nothing: two of three.
    frame = open_run(run).judgements.set_index("record_id")
    assert {name: round(raw * 3) for name, raw in frame.raw.items()} == {"1a": 2, "1b": 1, "2a": 2}
    assert {name: bool(whole) for name, whole in frame.complete.items()} == {"1a": False, "1b": False, "2a": False}
    for criteria in frame.criteria:
        assert [item["text"] for item in criteria] == [item["text"] for item in ITEMS]
    assert main(words) == 0
    assert provider.count == 11, "nothing is written or asked again"
    page = tmp_path / "page.html"
    assert main(["report", str(run), "--out", str(page)]) == 0
    capsys.readouterr()
    entries = [entry for piece in Page(page.read_text("utf-8")).pieces for entry in unpack(piece)]
    assert len(entries) == 3
    for entry in entries:
        assert entry[3] == [], "the record has no criteria of its own"
        assert [text for _, text in entry[6][0][9]] == [item["text"] for item in ITEMS]
