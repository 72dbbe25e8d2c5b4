"""The lint: each rule fires where it should, names a line, and stays silent on what ships."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgekit.rubric.lint import Finding, lint_file

from .helpers import SMALL, write

CLEAN = SMALL.replace("    Judge it.\n", '    {% include "_parts/fences.j2" %}\n').replace(
    'explanation: {text: "Say why.", max_chars: 20}', 'explanation: {text: "Say why.", max_chars: 400}'
)


def lint(folder: Path, text: str, name: str = "small.yaml") -> list[Finding]:
    return lint_file(write(folder, name, text))


def codes(findings: list[Finding]) -> list[str]:
    return [finding.code for finding in findings]


def test_a_sound_rubric_has_no_findings(tmp_path: Path) -> None:
    assert lint(tmp_path, CLEAN) == []


@pytest.mark.parametrize(
    ("old", "new", "code", "severity", "line"),
    [
        ("title: A", "titel: A", "unreadable", "error", 3),
        ("Answer: {{ response }}", "Answer:", "unused-input", "warning", 5),
        (', anchor: "Leaves out detail."', "", "no-anchor", "warning", 11),
        ("3: {label: good", "4: {label: good", "level-gap", "warning", 9),
        ("    {% for level in fields.score.levels %}\n    {{ level.value }}: {{ level.text }}\n    {% endfor %}\n", "", "anchors-not-shown", "warning", 9),
        ('    {% include "_parts/fences.j2" %}\n', "    Judge it.\n", "fence-unexplained", "warning", 18),
        ("temperature: 0, max_tokens: 300", "temperature: 0", "no-max-tokens", "warning", 16),
        ("temperature: 0, max_tokens: 300", "max_tokens: 300", "no-temperature", "warning", 16),
        ("max_tokens: 300", "max_tokens: 60", "max-tokens-small", "warning", 16),
        ('">= 2"', '">= 1"', "threshold-off-scale", "error", 14),
        ('">= 2"', '"> 3"', "threshold-off-scale", "error", 14),
        ('">= 2"', '"== 1.5"', "threshold-off-scale", "error", 14),
        ("{raw: 1}", "{raw: 3}", "blank-not-worst", "warning", 15),
        ("construct: completeness\n", "", "no-construct", "warning", 12),
        ('score: "<= 2"', 'score: "<= 0"', "check-cannot-hold", "error", 30),
        ('score: "<= 2"', 'score: 1.5', "check-cannot-hold", "error", 30),
        ('score: "<= 2"', 'raw: "> 3"', "check-cannot-hold", "error", 30),
        ('score: "<= 2"', 'complete: maybe', "check-cannot-hold", "error", 30),
        ('score: "<= 2"', 'explanation: "> 3"', "check-cannot-hold", "error", 30),
        ("{question: q, response: r}", "{question: q}", "check-lacks-input", "error", 30),
        ("    {% if reference is not none %}\n    Reference: {{ reference }}\n    {% endif %}\n", "    {{ reference }}\n", "unguarded-optional", "warning", 26),
        ("rubric: small", "rubric: smaller", "name-differs", "warning", 1),
        ("    Question:", "    " + "word " * 200 + "\n    Question:", "static-in-user", "warning", 23),
        ("  score:\n    scale", "  sc/re:\n    scale", "unreadable", "error", 13),
    ],
)  # fmt: skip
def test_each_rule_fires(tmp_path: Path, old: str, new: str, code: str, severity: str, line: int) -> None:
    assert old in CLEAN
    findings = lint(tmp_path, CLEAN.replace(old, new, 1))
    hit = [finding for finding in findings if finding.code == code]
    assert hit, codes(findings)
    assert (hit[0].severity, hit[0].line) == (severity, line)
    assert hit[0].mend
    assert str(hit[0]).startswith(f"{hit[0].file}:{line}: {severity}: ")


def test_the_score_comes_after_the_reasons(tmp_path: Path) -> None:
    explanation = '  explanation: {text: "Say why.", max_chars: 400}\n'
    last = CLEAN.replace(explanation, "").replace(
        "score: {field: score}", explanation.rstrip() + "\nscore: {field: score}"
    )
    assert codes(lint(tmp_path, last)) == ["score-first"]
    assert codes(lint(tmp_path, CLEAN.replace(explanation, ""))) == ["no-reasons"]


def test_a_rubric_without_checks_is_told_so(tmp_path: Path) -> None:
    assert codes(lint(tmp_path, CLEAN[: CLEAN.index("checks:")])) == ["no-checks"]


LIST = """\
rubric: list
construct: completeness
inputs: {required: [question, response]}
criteria: {from: [record], ask: together}
verdict:
  why: {text: "Why.", max_chars: 100}
  met: {boolean: "Met?"}
score: {fraction: met}
complete_when: ">= 0.75"
sampling: {temperature: 0, max_tokens: 300}
prompt:
  system: |
    {% include "_parts/fences.j2" %}
  user: |
    {{ question }} {{ response }}
    {% for c in criteria %}
    {{ c.number }}. {{ c.text }}
    {% endfor %}
checks:
  - {record: {question: q, response: r, criteria: [A, B]}, expect: {raw: ">= 0.5", c1.met: true}}
"""


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("{{ c.number }}. {{ c.text }}", "{{ c.text }}", "no-numbers"),
        ("{{ c.number }}. {{ c.text }}", "{{ c.number }}", "criteria-not-shown"),
        (", criteria: [A, B]", "", "unreadable"),
        ("criteria: [A, B]}, expect: {raw: \">= 0.5\", c1.met: true}", "criteria: []}, expect: {raw: 1}", "check-lacks-criteria"),
        ('">= 0.75"', '"> 1"', "threshold-off-scale"),
        ("{from: [record], ask: together}", "{from: [record, written], write: {rubric: no-such}}", "no-writer"),
        ("{from: [record], ask: together}", "{from: [record, written], write: {rubric: general-likert}}", "no-writer"),
    ],
)  # fmt: skip
def test_rules_about_criteria(tmp_path: Path, old: str, new: str, code: str) -> None:
    assert lint(tmp_path, LIST, "list.yaml") == []
    assert old in LIST
    assert code in codes(lint(tmp_path, LIST.replace(old, new, 1), "list.yaml"))


def test_a_writer_that_sees_the_response_is_an_error(tmp_path: Path) -> None:
    write(
        tmp_path,
        "mine.yaml",
        'rubric: mine\ninputs: {required: [question, response]}\nverdict: {items: {list: {of: {text: {text: t}}}}}\nprompt: {user: "{{ question }}{{ response }}"}\n',
    )
    text = LIST.replace("{from: [record], ask: together}", "{from: [written], write: {rubric: mine}}")
    assert "writer-sees-response" in codes(lint(tmp_path, text, "list.yaml"))


def test_odd_names_are_told(tmp_path: Path) -> None:
    text = CLEAN.replace("  explanation:", "  met?: {boolean: ok}\n  explanation:")
    assert codes(lint(tmp_path, text)) == ["odd-name"]
