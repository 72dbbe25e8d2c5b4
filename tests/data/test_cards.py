"""Cards: every fault names the card's file and line, and what a card says is what happens to the rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judgekit.data import load_records
from judgekit.data.cards import card_names, load_card
from judgekit.data.labels import joined, raters, standing_behind
from judgekit.errors import DataError
from judgekit.records import Label

HEAD = "card: mine\ntitle: Mine\nlicence: MIT\ncitation: none\n"


def card(folder: Path, body: str, head: str = HEAD) -> Path:
    path = folder / "mine.yaml"
    path.write_text(head + body, encoding="utf-8")
    return path


def rows(folder: Path, *values: dict[str, Any], name: str = "rows.jsonl") -> Path:
    path = folder / name
    path.write_text("\n".join(json.dumps(value, ensure_ascii=False) for value in values), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", sorted(card_names()))
def test_every_shipped_card_is_valid_and_says_whose_the_data_are(name: str) -> None:
    spec = load_card(name).spec
    assert spec.card == name
    assert spec.licence
    assert spec.citation
    assert spec.about
    for shape in spec.shapes.values():
        assert shape.about
    if any(shape.labels for shape in spec.shapes.values()):
        assert spec.labels_by


@pytest.mark.parametrize(
    ("body", "line", "field", "message", "mend"),
    [
        ("fields: {id: id}\nlables: {}\n", 6, "lables", "unknown key", "'labels'"),
        ("fields:\n  id: id\n  quesion: q\n", 7, "fields.quesion", "none of", None),
        ("fields: {question: q}\n", None, None, "fields needs id", None),
        ("fields:\n  id: 'join('\n", 6, "fields.id", "no JMESPath", None),
        ("fields: {id: id}\nfields: {id: id}\n", 6, "fields", "twice, first on line 5", "keep one"),
        (
            "fields: {id: id}\nlabels:\n  complete_when: 'at least 3'\n",
            7,
            "labels.0.complete_when",
            "no threshold",
            ">=",
        ),
        (
            "fields: {id: id}\nlabels:\n  severity: s\n  severities: {none: 1.5}\n",
            8,
            None,
            "less than or equal to 1",
            None,
        ),
        ("fields: {id: id}\nlabels:\n  join: best\n", 7, "labels.0.join", "none of", None),
        (
            "fields: {id: id}\nlabels:\n  join: criteria-majority\n",
            6,
            "labels.0",
            "criteria-majority needs score",
            None,
        ),
        ("fields: {id: id}\nlabels: {score: {path: s, min: 2, max: 2}}\n", 6, "labels.0.score.0", "must differ", None),
        ("fields: {id: &a id, question: *a}\n", 5, "fields.id", "anchors", "write the value out"),
        ("fields: {id: !!str id}\n", 5, "fields.id", "tags", "take the tag out"),
        ("fields: {id: id\n", 6, None, "not readable as YAML", None),
        ("source: [{url: u, file: ../x}]\nfields: {id: id}\n", 5, "source.0.file", "pattern", None),
        ("source: [{url: u, file: x, sha256: abc}]\nfields: {id: id}\n", 5, "source.0.sha256", "pattern", None),
    ],
)
def test_card_faults_name_file_and_line(
    tmp_path: Path, body: str, line: int | None, field: str | None, message: str, mend: str | None
) -> None:
    path = card(tmp_path, body)
    with pytest.raises(DataError) as caught:
        load_card(path)
    error = caught.value
    assert error.file == str(path)
    assert message in error.message
    assert line is None or error.line == line
    assert field is None or error.field == field
    assert mend is None or mend in (error.mend or "")


def test_a_card_that_is_not_there_is_guessed_at() -> None:
    with pytest.raises(DataError, match="did you mean 'kqa'"):
        load_card("kqaa")
    with pytest.raises(DataError, match=r"no shape 'clams'.*claims"):
        load_card("kqa/clams")


def test_a_severity_table_reads_styled_letters_and_double_spaces_and_refuses_what_it_does_not_know(
    tmp_path: Path,
) -> None:
    body = """fields: {id: id}
labels:
  severity: s
  severities: {none: 1, Mild: 0.75, Severe: 0.25, Life-threatening: 0}
  complete_when: ">= 0.75"
"""
    words = [
        None,
        "Mild - no action",
        "Severe  may require a doctor",
        "\U0001d5e6\U0001d5f2\U0001d603\U0001d5f2\U0001d5ff\U0001d5f2 – may",  # Severe in mathematical bold letters
        "LIFE-THREATENING",
        ["Mild", "Severe", "Mild"],
        [],
    ]
    data = rows(tmp_path, *({"id": f"r{index}", "s": word} for index, word in enumerate(words)))
    records = load_records(data, card=card(tmp_path, body))
    found = [(record.labels[0].severity, record.labels[0].score, record.labels[0].complete) for record in records]
    assert found == [
        ("none", 1.0, True),
        ("Mild", 0.75, True),
        ("Severe", 0.25, False),
        ("Severe", 0.25, False),
        ("Life-threatening", 0.0, False),
        ("Severe", 0.25, False),
        ("none", 1.0, True),
    ]
    with pytest.raises(DataError, match="stands in no row") as caught:
        load_records(rows(tmp_path, {"id": "a", "s": "Sever"}), card=card(tmp_path, body))
    assert (caught.value.line, caught.value.field) == (1, "labels.severities")
    assert "Severe" in (caught.value.mend or "")
    # A longer word that merely begins alike is another word.
    with pytest.raises(DataError, match="stands in no row"):
        load_records(rows(tmp_path, {"id": "a", "s": "Mildly bad"}), card=card(tmp_path, body))


def test_scores_are_mapped_by_their_ends_and_refused_off_the_scale(tmp_path: Path) -> None:
    body = (
        'fields: {id: id}\nlabels: {rater: who, score: {path: s, min: 1, max: 5}, complete_when: ">= 4", join: none}\n'
    )
    mine = card(tmp_path, body)
    records = load_records(rows(tmp_path, {"id": "a", "s": 1}, {"id": "b", "s": 4, "who": "x"}), card=mine)
    assert [(record.labels[0].rater, record.labels[0].score, record.labels[0].complete) for record in records] == [
        (None, 0.0, False),
        ("x", 0.75, True),
    ]
    for bad in (0, 6, "high", True):
        with pytest.raises(DataError, match="no number from 1 to 5"):
            load_records(rows(tmp_path, {"id": "a", "s": bad}), card=mine)
    # A scale whose best end is its lowest number is turned round.
    turned = card(tmp_path, "fields: {id: id}\nlabels: {score: {path: s, min: 5, max: 1}, complete_when: '<= 2'}\n")
    found = load_records(rows(tmp_path, {"id": "a", "s": 2}, {"id": "b", "s": 2.5}), card=turned)
    assert [(record.labels[0].score, record.labels[0].complete) for record in found] == [(0.75, True), (0.625, False)]


@pytest.mark.parametrize(
    ("labels", "word"),
    [
        ("{score: {path: s, min: 1, max: 5}, complete_when: '>= 0.75'}", "always"),  # a share where the scale is meant
        ("{score: {path: s, min: 1, max: 5}, complete_when: '> 5'}", "never"),
        ("{score: {path: s, min: 1, max: 5}, complete_when: '<= 5'}", "always"),
        ("{score: s, complete_when: '>= 3'}", "never"),
        ("{severity: s, severities: {none: 1, Mild: 0.75}, complete_when: '>= 0.5'}", "always"),
        ("{criteria: s, score: {fraction: {}}, complete_when: '>= 75'}", "never"),
    ],
)
def test_a_threshold_off_the_scale_is_refused(tmp_path: Path, labels: str, word: str) -> None:
    with pytest.raises(DataError, match=f"is {word} true on this card's scale") as caught:
        load_card(card(tmp_path, f"fields: {{id: id}}\nlabels: {labels}\n"))
    assert caught.value.line == 6
    assert "as it is written" in (caught.value.mend or "")


@pytest.mark.parametrize("rule", [">= 3", "> 2.9", "== 3", ">= 1.5"])
def test_a_threshold_on_the_scale_speaks_of_the_scale(tmp_path: Path, rule: str) -> None:
    # 1 of 1 to 5 fails each of these rules, 3 meets it: on the scale as it is written, not on 0 to 1.
    mine = card(
        tmp_path, f"fields: {{id: id}}\nlabels: {{score: {{path: s, min: 1, max: 5}}, complete_when: '{rule}'}}\n"
    )
    records = load_records(rows(tmp_path, {"id": "a", "s": 1}, {"id": "b", "s": 3}), card=mine)
    assert [record.labels[0].complete for record in records] == [False, True]


def test_labels_of_one_class_are_noted(tmp_path: Path) -> None:
    mine = card(tmp_path, "fields: {id: id}\nlabels: {complete: ok}\n")
    records = load_records(rows(tmp_path, *({"id": str(n), "ok": "no"} for n in range(3))), card=mine)
    assert records.notes == ["all 3 verdicts of completeness are incomplete: nothing can be told apart by them"]


PARTS = {
    "severity": "severity: {}",
    "severities": "severity: {}\n  severities: {{none: 1, Mild: 0.75, bad: 0}}\n  complete_when: '>= 0.75'",
    "score": "score: {}",
    "score with ends": "score: {{path: {}, min: 1, max: 5}}",
    "complete": "complete: {}",
    "complete with words": "complete: {{path: {}, yes: [a], no: [b]}}",
    "value": "value: {}",
    "rationale": "complete: ok\n  rationale: {}",
    "rater": "complete: ok\n  rater: {}",
    "criteria": "criteria: {}\n  score: {{fraction: {{}}}}",
    "when": "complete: ok\n  when: {}",
    "each": "each: {}\n  complete: ok",
    "raters": "raters: {{dr-a: {}}}\n  complete: '@'",
    "beside a severity": "severity: grade\n  complete: {}",
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_part_of_the_labels_that_finds_nothing_is_refused(tmp_path: Path, part: str, kind: str) -> None:
    # The file says `Worst`, the card `worst`: without the error every answer would be complete, or the part missing in silence.
    body = "fields: {id: id}\nlabels:\n  " + PARTS[part].format("worst") + "\n"
    path = tmp_path / f"rows.{kind}"
    values = [{"id": "1", "grade": "bad", "ok": "yes", "Worst": "x"}, {"id": "2", "grade": "", "ok": "no", "Worst": ""}]
    lines = ["id,grade,ok,Worst", *(",".join(value.values()) for value in values)]
    path.write_text("\n".join(lines if kind == "csv" else map(json.dumps, values)), encoding="utf-8")
    mine = card(tmp_path, body)
    with pytest.raises(DataError, match="there is no 'worst' among id, grade, ok, Worst") as caught:
        load_records(path, card=mine)
    error = caught.value
    assert error.file == str(mine)
    assert error.line == next(n for n, line in enumerate(mine.read_text().splitlines(), 1) if "worst" in line)
    assert (error.field or "").startswith("labels.")
    assert "did you mean 'Worst'?" in (error.mend or "")
    if kind == "csv":  # a table's first row has all its columns
        with pytest.raises(DataError, match="there is no 'worst'"):
            load_records(path, card=mine, limit=1)


def test_a_column_that_is_there_and_empty_is_found(tmp_path: Path) -> None:
    mine = card(
        tmp_path, "fields: {id: id}\nlabels: {complete: ok, rationale: why, severity: 'not_null(first, second)'}\n"
    )
    records = load_records(rows(tmp_path, {"id": "a", "ok": "yes", "why": None, "second": ""}), card=mine)
    assert records[0].labels == (Label(complete=True),)


def test_names_of_columns_are_taken_as_they_are(tmp_path: Path) -> None:
    mine = card(tmp_path, "fields: {id: Fall-Nr., response: Antwort des Bots}\nlabels: {complete: dr.a}\n")
    path = tmp_path / "faelle.csv"
    path.write_text("Fall-Nr.,Antwort des Bots,dr.a\n01,Ja,yes\n02,Nein,no\n", encoding="utf-8")
    records = load_records(path, card=mine)
    assert [(record.id, record.response, record.labels[0].complete) for record in records] == [
        ("01", "Ja", True),
        ("02", "Nein", False),
    ]


def test_words_for_nothing_and_decimal_commas_are_read_and_counted(tmp_path: Path) -> None:
    mine = card(tmp_path, "fields: {id: id}\nlabels: {score: {path: s, min: 1, max: 5}, complete: ok}\n")
    path = tmp_path / "a.csv"
    path.write_text('id,s,ok\n1,"3,5",Yes\n2,NA,no \n3,n/a,NA\n4,"2,0",nan\n', encoding="utf-8")
    records = load_records(path, card=mine)
    assert [[(label.score, label.complete) for label in record.labels] for record in records] == [
        [(0.625, True)],
        [(None, False)],
        [],
        [(0.25, None)],
    ]
    assert records.notes[:5] == [
        "labels.score: a comma in a number is read as a decimal point (2 times)",
        "labels.score: 'NA' is no value (1 times)",
        "labels.score: 'n/a' is no value (1 times)",
        "labels.complete: 'NA' is no value (1 times)",
        "labels.complete: 'nan' is no value (1 times)",
    ]


def test_words_that_differ_only_in_case_or_spaces_are_noted_with_their_counts(tmp_path: Path) -> None:
    mine = card(tmp_path, "fields: {id: id}\nlabels: {severity: s, rater: who, join: none}\n")
    data = rows(
        tmp_path,
        {"id": "a", "s": "Mild", "who": "dr-a"},
        {"id": "b", "s": "mild ", "who": "Dr-A"},
        {"id": "c", "s": "Mild", "who": "dr-b"},
    )
    assert load_records(data, card=mine).notes == [
        "completeness, rater: 'dr-a' (1), 'Dr-A' (1) differ only in case or spaces, and count as different",
        "completeness, severity: 'Mild' (2), 'mild ' (1) differ only in case or spaces, and count as different",
    ]


def test_yes_and_no_words_are_the_cards_own(tmp_path: Path) -> None:
    mine = card(tmp_path, "fields: {id: id}\nlabels: {complete: {path: v, yes: [fine], no: [gap, '0']}}\n")
    data = rows(tmp_path, {"id": "a", "v": "Fine"}, {"id": "b", "v": 0}, {"id": "c", "v": None})
    records = load_records(data, card=mine)
    assert [record.labels[0].complete if record.labels else None for record in records] == [True, False, None]
    with pytest.raises(DataError, match="'maybe' is neither one of fine"):
        load_records(rows(tmp_path, {"id": "a", "v": "maybe"}), card=mine)


def test_rows_of_one_record_are_merged_and_every_annotation_is_kept(tmp_path: Path) -> None:
    body = """merge: true
fields: {id: id, response: response}
labels: {rater: who, complete: ok, join: majority}
"""
    mine = card(tmp_path, body)
    data = rows(
        tmp_path,
        {"id": "a", "response": "x", "who": "p", "ok": True},
        {"id": "b", "response": "y", "who": "p", "ok": True},
        {"id": "a", "response": "x", "who": "q", "ok": False},
        {"id": "a", "response": "x", "who": "p", "ok": False},
    )
    records = load_records(data, card=mine)
    assert [record.id for record in records] == ["a", "b"]
    assert [label.rater for label in raters(records[0])] == ["p", "q", "p [rating 2]"]
    assert joined(records[0]).complete is False  # type: ignore[union-attr]
    only = joined(records[1])
    assert only is not None
    assert (only.rater, only.complete, standing_behind(only)) == (
        "join:majority",
        True,
        1,
    )  # one rater's label is the join
    assert any("1 further labels" in note for note in records.notes)
    assert (
        "completeness: raters are joined by majority; 1 records have one rater, whose label it is, and 1 have several; "
        "on 1 of these the raters' verdicts differ: 1 read as incomplete"
    ) in records.notes
    assert [record.id for record in load_records(data, card=mine, limit=1)] == ["a"]
    assert len(raters(load_records(data, card=mine, limit=1)[0])) == 3
    different = rows(tmp_path, {"id": "a", "response": "x"}, {"id": "a", "response": "X"})
    with pytest.raises(DataError, match="differs here from line 1") as caught:
        load_records(different, card=mine)
    assert (caught.value.line, caught.value.field) == (2, "response")


def test_filters_are_counted_and_paths_that_find_nothing_are_named(tmp_path: Path) -> None:
    body = """where: [{keep: "response", because: without a response}]
fields: {id: id, response: response, reference: golden}
"""
    data = rows(tmp_path, {"id": "a", "response": "x"}, {"id": "b", "response": None}, {"id": "c"})
    records = load_records(data, card=card(tmp_path, body))
    assert [record.id for record in records] == ["a"]
    assert records.notes == [
        "2 of 3 rows left out: without a response",
        "the card 'mine' found nothing in any row for fields.reference",
    ]


def test_filters_take_as_false_what_jmespath_does(tmp_path: Path) -> None:
    values = [0, 1, "0", "", None, False, True, [], {}, [0]]
    data = rows(tmp_path, *({"id": f"r{index}", "v": value} for index, value in enumerate(values)))
    mine = card(tmp_path, "where: [{keep: v, because: no}]\nfields: {id: id}\n")
    assert [values[int(record.id[1:])] for record in load_records(data, card=mine)] == [0, 1, "0", True, [0]]


def test_rows_are_exploded_and_see_the_row_around_them(tmp_path: Path) -> None:
    body = """rows: answers
fields: {id: "join('/', [_row.q, model])", question: _row.q, response: text}
meta: {model: model}
"""
    data = rows(tmp_path, {"q": "Q", "answers": [{"model": "m1", "text": "x"}, {"model": "m2", "text": "y"}]})
    records = load_records(data, card=card(tmp_path, body))
    assert [(record.id, record.question, record.response) for record in records] == [
        ("Q/m1", "Q", "x"),
        ("Q/m2", "Q", "y"),
    ]
    with pytest.raises(DataError, match="finds no list"):
        load_records(rows(tmp_path, {"q": "Q"}), card=card(tmp_path, body))


def test_shapes_are_told_apart_by_their_fields(tmp_path: Path) -> None:
    body = """shapes:
  one: {has: [a], fields: {id: a}}
  two: {has: [b], fields: {id: b}}
"""
    mine = card(tmp_path, body)
    assert load_records(rows(tmp_path, {"a": "x"}), card=mine).name == "mine"
    assert load_records(rows(tmp_path, {"b": "x"}), card=mine).name == "mine-two"
    with pytest.raises(DataError, match="no shape of the card 'mine' fits"):
        load_records(rows(tmp_path, {"c": "x"}), card=mine)
    with pytest.raises(DataError, match="begins with rows of the shape 'one', this one is 'two'") as caught:
        load_records(rows(tmp_path, {"a": "x"}, {"b": "y"}), card=mine)
    assert caught.value.line == 2


def test_per_rater_words_on_criteria_follow_the_criteria_one_by_one(tmp_path: Path) -> None:
    body = """fields: {id: id}
criteria: {each: crit}
labels: {raters: {p: words}, criteria: "@", score: {fraction: {met: ["yes"]}}}
"""
    mine = card(tmp_path, body)
    good = load_records(rows(tmp_path, {"id": "a", "crit": ["x", "y"], "words": ["yes", "no"]}), card=mine)[0]
    assert good.labels[0].criteria == {"c1": "yes", "c2": "no"}
    assert good.labels[0].score == 0.5
    unsaid = load_records(rows(tmp_path, {"id": "a", "crit": ["x", "y"], "words": ["yes", None]}), card=mine)[0]
    assert unsaid.labels[0].score is None
    assert "1 of 2 criteria were not rated" in (unsaid.labels[0].rationale or "")
    with pytest.raises(DataError, match="1 words for 2 criteria"):
        load_records(rows(tmp_path, {"id": "a", "crit": ["x", "y"], "words": ["yes"]}), card=mine)


def test_native_rows_are_records_already(tmp_path: Path) -> None:
    mine = card(tmp_path, 'native: true\nwhere: [{keep: "response", because: none}]\n')
    records = load_records(rows(tmp_path, {"id": 1, "response": "x"}, {"id": 2}), card=mine)
    assert [record.id for record in records] == ["1"]
    with pytest.raises(DataError, match="not a field"):
        load_records(rows(tmp_path, {"id": 1, "response": "x", "respnse": "y"}), card=mine)


def test_everything_in_a_card_is_text_until_its_type_says_otherwise(tmp_path: Path) -> None:
    # YAML alone would read no as False, 010 as 8 and 12:30 as 750.
    mine = card(tmp_path, "fields: {id: id}\nlabels: {complete: {path: v, yes: [no], no: [010, 12:30]}}\n")
    data = rows(tmp_path, {"id": "a", "v": "no"}, {"id": "b", "v": "010"}, {"id": "c", "v": "12:30"})
    assert [record.labels[0].complete for record in load_records(data, card=mine)] == [True, False, False]


def test_the_editor_schema_is_not_stale_and_takes_every_shipped_card() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    from ruamel.yaml import YAML

    from judgekit.data.card_schema import card_schema

    root = Path(__file__).resolve().parents[2]
    kept = json.loads((root / "docs/schema/card.schema.json").read_text("utf-8"))
    assert kept == card_schema(), "run: judgekit data schema > docs/schema/card.schema.json"
    check = jsonschema.Draft202012Validator(kept)
    for path in card_names().values():
        # As an editor reads it: YAML 1.2, with its numbers and booleans.
        value = YAML(typ="safe", pure=True).load(path.read_text("utf-8"))
        assert [error.message for error in check.iter_errors(value)] == [], path.name
    assert list(
        check.iter_errors({"card": "a", "title": "b", "licence": "c", "citation": "d", "fields": {"id": "id"}, "x": 1})
    )
    assert list(check.iter_errors({"card": "a", "title": "b", "licence": "c", "citation": "d"}))


def test_all_that_is_wrong_with_a_card_is_told_at_once(tmp_path: Path) -> None:
    body = "fields: {id: id, response: 'a['}\nlables: {}\nlabels:\n  score: {path: s, min: 2, max: 2}\n  join: best\n"
    with pytest.raises(DataError) as caught:
        load_card(card(tmp_path, body))
    error = caught.value
    assert (error.line, error.field, error.message) == (6, "lables", "unknown key")
    assert (error.mend or "").startswith(
        "did you mean 'labels'? Also wrong: line 5, fields.response: 'a[' is no JMESPath"
    )
    assert "line 8, labels.0.score.0: min and max must differ" in (error.mend or "")
    assert "line 9, labels.0.join: 'best' is none of" in (error.mend or "")


RATINGS = [
    {"id": "1", "response": "x", "who": "a", "score": "4", "ok": "yes", "sev": "Mild"},
    {"id": "1", "response": "x", "who": "b", "score": "2", "ok": "NO ", "sev": ""},
    {"id": "2", "response": "y", "who": "a", "score": "NA", "ok": "", "sev": "Severe"},
    {"id": "3", "response": "z", "who": "b", "score": "5", "ok": "1", "sev": "mild"},
]


@pytest.mark.parametrize(
    "labels",
    [
        "score: {path: score, min: 1, max: 5}\n  complete_when: '>= 3'",
        "complete: ok",
        "severity: sev\n  severities: {none: 1, Mild: 0.75, Severe: 0.25}\n  complete_when: '>= 0.75'",
    ],
)
def test_every_form_of_a_table_gives_the_same_labels(tmp_path: Path, labels: str) -> None:
    import pandas as pd

    mine = card(tmp_path, f"merge: true\nfields: {{id: id, response: response}}\nlabels:\n  rater: who\n  {labels}\n")
    frame = pd.DataFrame(RATINGS)
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "semicolons.csv", index=False, sep=";")
    frame.to_csv(tmp_path / "a.tsv.gz", index=False, sep="\t")
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_json(tmp_path / "a.json", orient="records")
    frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    # Numbers as numbers and nothing as null, where the form has them.
    typed = frame.assign(score=pd.to_numeric(frame["score"], errors="coerce"), sev=frame["sev"].replace({"": None}))
    typed.to_parquet(tmp_path / "typed.parquet")
    sources = ["a.csv", "semicolons.csv", "a.tsv.gz", "a.parquet", "a.json", "a.jsonl", "typed.parquet"]
    found = [list(load_records(tmp_path / name, card=mine)) for name in sources]
    found += [list(load_records(data, card=mine)) for data in (frame, typed, RATINGS)]
    assert all(records == found[0] for records in found[1:])
    assert all(
        any(label.rater and label.rater.startswith("join:") for label in record.labels)
        for record in found[0]
        if record.labels
    )
