"""Rubric files as people write them: what stays text, what is refused and where, and what `extends` makes of parents."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgekit.errors import RubricError
from judgekit.forms import parse_yaml
from judgekit.rubric import load_rubric
from judgekit.rubric.fields import ChoiceField, ScaleField
from judgekit.rubric.load import load_spec, load_text

from .helpers import RECORD, SMALL, rubric, write


def error(text: str) -> RubricError:
    with pytest.raises(RubricError) as caught:
        rubric(text)
    return caught.value


# CASES 8: what YAML would turn into booleans, octals, sexagesimals and floats stays what was written.


def test_scalars_stay_what_was_written() -> None:
    spec = load_text(
        """\
rubric: words
version: 1.0
inputs: {required: [question, response]}
verdict:
  on:
    choice: {no: NO, yes: off, off: on, 010: 12:30, 1e3: 0x1F, null: ~x, .5: 2020-01-01}
prompt: {user: "{{ question }}{{ response }}"}
examples:
  - record: {id: 010, question: no, response: 1.0}
    verdict: {on: 010}
""",
        Path("words.yaml"),
    )
    assert spec.version == "1.0"
    field = spec.verdict[0]
    assert isinstance(field, ChoiceField)
    assert field.name == "on"
    assert field.options == {
        "no": "NO", "yes": "off", "off": "on", "010": "12:30", "1e3": "0x1F", "null": "~x", ".5": "2020-01-01"
    }  # fmt: skip
    assert isinstance(spec.examples, tuple)
    assert (spec.examples[0].record.id, spec.examples[0].record.question, spec.examples[0].record.response) == (
        "010", "no", "1.0"
    )  # fmt: skip
    assert spec.examples[0].verdict == {"on": "010"}


def test_an_anchor_such_as_1230_stays() -> None:
    scale = rubric(SMALL.replace('"Leaves out the danger."', "12:30")).spec.verdict[1]
    assert isinstance(scale, ScaleField)
    assert scale.levels[0].anchor == "12:30"


@settings(deadline=None)
@given(
    st.text(
        st.characters(
            codec="utf-8", exclude_categories=("Cs", "Cc"), exclude_characters="\u2028\u2029\ufeff\ufffe\uffff"
        ),
        min_size=1,
    )
)
def test_any_quoted_label_round_trips(label: str) -> None:
    # Single quotes: the only escape is the doubled quote. Line breaks are folded there, and control characters excluded.
    quoted = "'" + label.replace("'", "''") + "'"
    second = f"{quoted}: value\n" if label != "key" else ""
    value = parse_yaml(f"key: {quoted}\n{second}", "x.yaml").value
    assert value["key"] == label
    assert label in value


@settings(deadline=None)
@given(
    st.sampled_from(
        [
            "no",
            "Yes",
            "ON",
            "off",
            "010",
            "0o7",
            "0x1F",
            "1_000",
            "12:30",
            "1.0",
            "1e3",
            ".inf",
            ".NaN",
            "True",
            "Null",
            "2001-01-01",
            "y",
            "n",
        ]
    )
)
def test_any_plain_word_round_trips(word: str) -> None:
    assert parse_yaml(f"{word}: {word}\nlist: [{word}]", "x.yaml").value == {word: word, "list": [word]}


# What is refused, with the place.


@pytest.mark.parametrize(
    ("old", "new", "line", "field", "says"),
    [
        ("title: A", "titel: A", 3, "titel", "did you mean 'title'"),
        ("construct: completeness", "title: twice", 4, "title", "twice, first on line 3"),
        ("optional: [reference]", "optionl: [reference]", 5, "inputs.optionl", "did you mean 'optional'"),
        ("{text: \"Say why.\", max_chars: 20}", '{txt: "Say why."}', 7, "verdict.explanation.txt", "did you mean 'text'"),
        ("max_chars: 20", "max_chars: many", 7, "verdict.explanation.max_chars", "not a whole number"),
        ("1: {label: poor", "1.5: {label: poor", 10, "verdict.score.scale.1.5", "not a whole number"),
        ("1: {label: poor", "01: {label: poor", 10, "verdict.score.scale.01", "not a whole number"),
        ("1: {label: poor", "9: {label: poor", 10, "verdict.score.scale", "not in order"),
        ("{field: score}", "{field: scroe}", 13, "score.field", "did you mean 'score'"),
        ("{field: score}", "{field: explanation}", 13, "score.field", "not a number"),
        ("{field: score}", "{fraction: score}", 13, "score.fraction", "this rubric has none"),
        ('">= 2"', "2", 14, "complete_when", "not a comparison"),
        ('">= 2"', '"about 2"', 14, "complete_when", "not a comparison"),
        ('">= 2"', ">= 2", 14, None, "needs quotes"),
        ("{raw: 1}", "{raw: 0}", 15, "when_response_empty.raw", "no level of `score`"),
        ("temperature: 0", "temperature: hot", 16, "sampling.temperature", "not a number"),
        ("temperature: 0", "temperature: 3", 16, "sampling.temperature", "out of range"),
        ("temperature: 0", "temprature: 0", 16, "sampling.temprature", "did you mean 'temperature'"),
        ("[question, response]", "[question, labels]", 5, "inputs.required", "never sees `labels`"),
        ("[question, response]", "[question, response, question]", 5, "inputs.required", "declared twice"),
        ("rubric: small", "rubric: Small One", 1, "rubric", "not usable as a name"),
        ('score: "<= 2"', 'scor: "<= 2"', 30, "checks[1].expect.scor", "did you mean 'score'"),
        ("question: q, response: r", "question: q, label: r", 30, "checks[1].record.label", "unknown key"),
        ("title: A small one", "title: !!str x", 3, "title", "tags"),
        ("title: A small one", "title: *nowhere", 3, None, "no anchor before it"),
        ("title: A small one", "title: &a [*a]", 3, None, "inside its own anchor"),
        ("title: A small one", "<<: {title: x}", 3, "<<", "merge keys"),
        ("title: A small one", "? [a]\n: b", 3, None, "a key must be one text"),
        ("title: A small one", "title: [a", 4, None, "YAML"),
        ("title: A small one", "title: a: b", 3, None, "needs quotes"),
        ("title: A small one", "title:\n\t- b", 4, None, "spaces, not with tabs"),
        ("title: A small one", "title: a\x07b", 3, None, "U+0007"),
        ("checks:", "--- \nchecks:", 30, None, "second YAML document"),
        ("user: |\n", "user: |\n    {{ question | upper }}\n", 24, "prompt", "only an input's bare name"),
        ("{{ question }}", "{{ qestion }}", 24, "prompt", "did you mean question"),
        ("{{ response }}", "{{ response", 26, "prompt", "not readable as a template"),
    ],
)  # fmt: skip
def test_errors_name_line_field_and_mend(old: str, new: str, line: int, field: str | None, says: str) -> None:
    assert old in SMALL
    caught = error(SMALL.replace(old, new, 1))
    assert (caught.file, caught.line, caught.field) == ("small.yaml", line, field)
    assert says in str(caught)
    assert caught.mend


@pytest.mark.parametrize(
    ("drop", "field"),
    [("rubric: small\n", "rubric"), ("inputs: {required: [question, response], optional: [reference]}\n", "inputs")],
)
def test_missing_keys_are_named(drop: str, field: str) -> None:
    caught = error(SMALL.replace(drop, ""))
    assert caught.field == field
    assert "missing" in str(caught)


@pytest.mark.parametrize(
    ("text", "says"), [("", "empty"), ("# only a comment\n", "empty"), ("- a\n", "a map"), ("just text", "a map")]
)
def test_not_a_map(text: str, says: str) -> None:
    assert says in str(error(text))


def test_billion_laughs_is_refused() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    bomb += "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12))
    assert "more than 20,000 values" in str(error(bomb))


def test_deep_nesting_is_refused() -> None:
    assert "nested deeper" in str(error("a: " + "[" * 50_000))


def test_a_huge_file_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "huge.yaml", "# " + "x" * 1_000_001)
    with pytest.raises(RubricError, match="bytes are too many"):
        load_rubric(path)


def test_another_encoding_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "latin.yaml"
    path.write_bytes(SMALL.replace("A small one", "größer").encode("latin-1"))
    with pytest.raises(RubricError, match="not UTF-8") as caught:
        load_rubric(path)
    assert caught.value.line == 3
    path.write_bytes(SMALL.encode("utf-16"))
    with pytest.raises(RubricError, match="not UTF-8"):
        load_rubric(path)


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + SMALL.replace("\n", "\r\n").encode())
    assert load_rubric(path).asks(RECORD)[0].messages == rubric().asks(RECORD)[0].messages


def test_names_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RubricError, match="did you mean 'general-likert'"):
        load_rubric("general-lickert")
    with pytest.raises(RubricError, match="no such rubric file"):
        load_rubric(tmp_path / "nothing.yaml")
    with pytest.raises(RubricError, match="a folder"):
        load_rubric(tmp_path)
    write(tmp_path, "mine.yaml", SMALL)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RubricError, match=r"write \./mine\.yaml"):
        load_rubric("mine")


def test_an_example_without_an_input_is_named_by_its_line() -> None:
    caught = error(SMALL + 'examples:\n  - {record: {question: q}, verdict: {explanation: "e", score: 2}}\n')
    assert (caught.line, "lacks response" in str(caught)) == (32, True)


# extends

CHILD = """\
rubric: child
extends: parent
verdict:
  explanation: {text: "Name it."}
  certainty: {number: {min: 0, max: 1}}
sampling: {max_tokens: 500, temperature: null}
complete_when: null
when_response_empty: null
"""


def family(folder: Path, child: str = CHILD, parent: str = SMALL) -> Path:
    write(folder, "parent.yaml", parent.replace("rubric: small", "rubric: parent"))
    return write(folder, "child.yaml", child)


def test_a_child_replaces_merges_and_deletes(tmp_path: Path) -> None:
    spec = load_spec(family(tmp_path))
    assert (spec.name, spec.title, spec.version, spec.checks, dict(spec.source)) == ("child", None, "1", (), {})
    assert spec.construct == "completeness"
    assert [field.name for field in spec.verdict] == ["explanation", "score", "certainty"]
    assert spec.verdict[0].max_chars is None  # type: ignore[union-attr]  # a field replaces whole
    assert spec.sampling == {"max_tokens": 500}
    assert spec.complete_when is None
    assert spec.when_response_empty is None
    assert spec.user.text.startswith("Question:")


def test_score_is_replaced_whole(tmp_path: Path) -> None:
    child = "rubric: child\nextends: parent\nverdict: {score: null, other: {scale: {0: a, 1: b}}, third: {scale: {0: a, 1: b}}}\nscore: {mean: [other, third]}\ncomplete_when: '>= 1'\nwhen_response_empty: null\nprompt: {system: null}\n"
    spec = load_spec(family(tmp_path, child))
    assert spec.score is not None
    assert (spec.score.kind, spec.score.fields) == ("mean", ("other", "third"))


def test_blocks_fill_the_parents_and_may_keep_what_was_there(tmp_path: Path) -> None:
    parent = SMALL.replace("    Judge it.\n", "    {% block task %}\n    Judge it.\n    {% endblock %}\n")
    child = "rubric: child\nextends: parent\nblocks:\n  task: |\n    First.\n    {{ super() }}\n    Last.\n"
    compiled = load_rubric(family(tmp_path, child, parent))
    assert compiled.system_text is not None
    assert compiled.system_text.startswith("First.\nJudge it.\n\nLast.\n1: Leaves")
    with pytest.raises(RubricError, match="the blocks are task") as caught:
        load_rubric(family(tmp_path, "rubric: child\nextends: parent\nblocks: {tusk: x}\n", parent))
    assert (caught.value.field, caught.value.line) == ("blocks.tusk", 3)


def test_a_grandchild_fills_a_block_that_its_parent_brought(tmp_path: Path) -> None:
    write(
        tmp_path,
        "a.yaml",
        SMALL.replace("rubric: small", "rubric: a").replace("Judge it.", "{% block x %}old{% endblock %}"),
    )
    write(tmp_path, "b.yaml", "rubric: b\nextends: a\nblocks: {x: 'outer {% block y %}mid{% endblock %}'}\n")
    path = write(tmp_path, "c.yaml", "rubric: c\nextends: b\nblocks: {y: inner}\n")
    text = load_rubric(path).system_text
    assert text is not None
    assert text.startswith("outer inner")


def test_circles_and_missing_parents(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", "rubric: a\nextends: b\n")
    path = write(tmp_path, "b.yaml", "rubric: b\nextends: a\n")
    with pytest.raises(RubricError, match="circle: b -> a -> b"):
        load_rubric(path)
    path = write(tmp_path, "c.yaml", "rubric: c\nextends: general-likret\n")
    with pytest.raises(RubricError, match="did you mean 'general-likert'") as caught:
        load_rubric(path)
    assert (caught.value.line, caught.value.field) == (2, "extends")


def test_a_file_may_extend_the_librarys_rubric_of_its_own_name(tmp_path: Path) -> None:
    path = write(
        tmp_path, "general-likert.yaml", "rubric: general-likert\nextends: general-likert\nsampling: {max_tokens: 99}\n"
    )
    compiled = load_rubric(path)
    assert compiled.sampling["max_tokens"] == 99
    assert compiled.score_fingerprint == load_rubric("general-likert").score_fingerprint


def test_an_error_in_a_parent_names_the_parents_file(tmp_path: Path) -> None:
    path = family(tmp_path, parent=SMALL.replace("title: A", "titel: A"))
    with pytest.raises(RubricError) as caught:
        load_rubric(path)
    assert str(caught.value.file).endswith("parent.yaml")
    assert caught.value.line == 3


def test_a_part_lies_beside_the_file_that_names_it(tmp_path: Path) -> None:
    write(tmp_path, "base/_parts/own.j2", "{{ question }} of the base\n")
    write(
        tmp_path,
        "base/base.yaml",
        SMALL.replace("rubric: small", "rubric: base").replace(
            "Question: {{ question }}", '{% include "_parts/own.j2" %}'
        ),
    )
    path = write(tmp_path, "child.yaml", "rubric: child\nextends: base/base.yaml\n")
    assert "of the base" in load_rubric(path).asks(RECORD)[0].messages[1]["content"]


@pytest.mark.parametrize("name", ["/etc/hostname.j2", "../outside.j2", "_parts/case.yaml", "_parts/../../outside.j2"])
def test_a_part_never_lies_outside(tmp_path: Path, name: str) -> None:
    write(tmp_path, "outside.j2", "secret")
    path = write(tmp_path, "in/small.yaml", SMALL.replace("Question:", f'{{% include "{name}" %}}'))
    with pytest.raises(RubricError, match="cannot be included"):
        load_rubric(path)


def test_a_part_that_is_a_link_to_the_outside_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, "outside.j2", "secret")
    path = write(tmp_path, "in/small.yaml", SMALL.replace("Question:", '{% include "link.j2" %}'))
    (tmp_path / "in" / "link.j2").symlink_to(tmp_path / "outside.j2")
    with pytest.raises(RubricError, match="no part"):
        load_rubric(path)


def test_a_part_that_includes_itself_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "loop.j2", 'a {% include "loop.j2" %}')
    path = write(tmp_path, "small.yaml", SMALL.replace("Question:", '{% include "loop.j2" %}'))
    with pytest.raises(RubricError, match="includes itself") as caught:
        load_rubric(path)
    assert str(caught.value.file).endswith("loop.j2")
