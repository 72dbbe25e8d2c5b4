"""What asks again, what only scores again, and what does neither."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgekit.rubric import load_rubric

from .helpers import SMALL, rubric, write

EXAMPLE = 'examples:\n  - {record: {question: q, response: r}, verdict: {explanation: "e", score: 2}}\n'


@pytest.mark.parametrize(
    ("old", "new", "asks", "scores"),
    [
        ("Leaves out the danger.", "Leaves out a danger.", True, False),  # an anchor
        ("label: poor", "label: bad", True, False),
        ("Say why.", "Say why not.", True, False),
        ("max_chars: 20", "max_chars: 30", True, False),
        ("Judge it.", "Judge this.", True, False),
        ("Question: {{", "Q: {{", True, False),
        ("temperature: 0", "temperature: 0.5", True, False),
        ("max_tokens: 300", "max_tokens: 301", True, False),
        ("optional: [reference]", "optional: [reference, options]", True, False),
        ("question: q, response: r}, verdict", "question: Q, response: r}, verdict", True, False),  # an example
        ('explanation: "e", score: 2', 'explanation: "e", score: 3', True, False),
        ("3: {label: good, anchor", "4: {label: good, anchor", True, True),  # a level
        ('">= 2"', '">= 3"', False, True),
        ('">= 2"', '"> 2"', False, True),
        ("{raw: 1}", "{raw: 2}", False, True),
        ("score: {field: score}\ncomplete_when: \">= 2\"\nwhen_response_empty: {raw: 1}\n", "", False, True),
        ("version: 1.0", "version: 2", False, False),
        ("title: A small one", "title: Another", False, False),
        ("title: A small one", "source: {paper: x}", False, False),
        ("rubric: small", "rubric: little", False, False),
        ("construct: completeness", "construct: safety", False, False),
        ('score: "<= 2"', 'score: "<= 1"', False, False),  # a check
        ('">= 2"', '" >=  2.0 "', False, False),  # the same threshold, written otherwise
        ("temperature: 0", "temperature: 0.0", False, False),
        ("    Judge it.", "    {# a note #}Judge it.", False, False),
        ("inputs:", "# a comment\ninputs:", False, False),
        ("[question, response]", "[response, question]", False, False),
    ],
)  # fmt: skip
def test_what_changes_which(old: str, new: str, asks: bool, scores: bool) -> None:
    base = SMALL + EXAMPLE
    assert old in base
    before, after = rubric(base), rubric(base.replace(old, new, 1))
    assert (before.ask_fingerprint != after.ask_fingerprint) is asks
    assert (before.score_fingerprint != after.score_fingerprint) is scores


def test_an_included_part_and_a_parent_change_what_is_asked(tmp_path: Path) -> None:
    def load() -> str:
        return load_rubric(tmp_path / "child.yaml").ask_fingerprint

    write(tmp_path, "_parts/how.j2", "Judge it.\n")
    write(
        tmp_path,
        "parent.yaml",
        SMALL.replace("rubric: small", "rubric: parent").replace(
            "    Judge it.\n", '    {% include "_parts/how.j2" %}\n'
        ),
    )
    write(tmp_path, "child.yaml", "rubric: child\nextends: parent\n")
    first = load()
    assert first == rubric().ask_fingerprint  # a part written out is the same prompt
    write(tmp_path, "_parts/how.j2", "Judge it well.\n")
    second = load()
    assert second != first
    text = (tmp_path / "parent.yaml").read_text("utf-8")
    write(tmp_path, "parent.yaml", text.replace("Leaves out nothing.", "Leaves nothing out."))
    third = load()
    assert third not in (first, second)
    write(tmp_path, "parent.yaml", text.replace("title: A small one", "title: Renamed"))
    assert load() == second


def test_criteria_and_retrieval_count_as_asked() -> None:
    base = "rubric: r\ninputs: {required: [response]}\nverdict: {met: {boolean: ok}}\nscore: {fraction: met}\ncriteria: {from: [record], ask: each}\nprompt: {user: '{{ response }}'}\nexamples: {retrieve: 2, from: data, by: question}\n"
    seen = {rubric(base).ask_fingerprint}
    for old, new in (
        ("ask: each", "ask: together"),
        ("ask: each", "ask: each, where: {kind: must_have}"),
        ("retrieve: 2", "retrieve: 3"),
        ("from: data", "from: other"),
        ("by: question", "by: question, using: minilm"),
        ("by: question", "by: question, where: {kind: a}"),
    ):
        seen.add(rubric(base.replace(old, new)).ask_fingerprint)
    assert len(seen) == 7
    compiled = rubric(base)
    assert compiled.ask_with("one") != compiled.ask_with("two") != compiled.ask_fingerprint


def test_fingerprints_repeat_themselves_from_load_to_load() -> None:
    assert load_rubric("medgpt").ask_fingerprint == load_rubric("medgpt").ask_fingerprint
    assert rubric().ask_fingerprint == rubric().ask_fingerprint
    assert len(rubric().ask_fingerprint) == 64


def test_the_order_of_levels_options_and_fields_is_asked() -> None:
    base = 'rubric: r\ninputs: {required: [response]}\nverdict: {a: {choice: {x: "1", y: "2"}}, b: {text: t}}\nprompt: {user: "{{ response }}"}\n'
    turned = base.replace('{x: "1", y: "2"}', '{y: "2", x: "1"}')
    swapped = base.replace(
        '{a: {choice: {x: "1", y: "2"}}, b: {text: t}}', '{b: {text: t}, a: {choice: {x: "1", y: "2"}}}'
    )
    assert len({rubric(text).ask_fingerprint for text in (base, turned, swapped)}) == 3
