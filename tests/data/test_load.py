"""Case 12 and its kind: what stands in a file is what a record holds, or the error says where and what to write."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.data import RecordSet, load_records
from judgekit.errors import DataError
from judgekit.records import Label, Record


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(path: Path, **options: Any) -> DataError:
    with pytest.raises(DataError) as caught:
        load_records(path, **options)
    return caught.value


def test_case_12_csv_keeps_ids_and_words_that_look_like_nothing(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "answers.csv",
        "id,question,response,severity,model\r\n001,q,None,NA,null\r\n002,NA,nan,,\r\n010,q,,None,x\r\n",
    )
    records = load_records(path)
    assert [record.id for record in records] == ["001", "002", "010"]
    assert [record.response for record in records] == ["None", "nan", ""]
    assert [record.question for record in records] == ["q", "NA", "q"]
    assert [record.labels[0].severity if record.labels else None for record in records] == ["NA", None, "None"]
    assert [record.meta["model"] for record in records] == ["null", None, "x"]
    assert records.name == "answers"


def test_case_12_a_duplicate_id_names_both_lines(tmp_path: Path) -> None:
    error = refused(write(tmp_path, "a.csv", 'id,response\na,"two\nlines"\nb,x\na,y\n'))
    assert (error.line, error.field) == (5, "id")
    assert "line 2" in error.message
    error = refused(write(tmp_path, "a.jsonl", '{"id": "1"}\n\n{"id": 1}\n'))
    assert error.line == 3
    assert "line 1" in error.message


def test_a_whole_number_id_is_its_own_digits_and_other_ids_are_refused(tmp_path: Path) -> None:
    huge = "9007199254740993123456789"  # beyond what a float or an int64 can hold
    assert load_records(write(tmp_path, "a.jsonl", f'{{"id": {huge}}}'))[0].id == huge
    for token in ("1.0", "1e3", "true", "null", '""', '" "', "[1]"):
        error = refused(write(tmp_path, "a.jsonl", f'{{"id": {token}}}'))
        assert (error.line, error.field) == (1, "id"), token
        assert error.mend, token


@pytest.mark.parametrize(
    ("line", "field", "message", "mend"),
    [
        ('{"id": "a", "meta": {"x": NaN}}', None, "NaN", "null"),
        ('{"id": "a", "meta": {"x": -Infinity}}', None, "-Infinity", "null"),
        ('{"id": "a", "meta": {"x": 1e999}}', None, "out of range", None),
        ('{"id": "a", "id": "b"}', None, "'id' stands twice", "keep one"),
        ('{"id": "a", "response": "\\ud800"}', None, "without its partner", "pair"),
        ('{"id": "a", "response": "x\ty"}', None, "not valid JSON", "mend"),
        ('{"id": "a"', None, "not valid JSON", "mend"),
        ("[1, 2]", None, "must be an object", ".json"),
        ('{"Id": "a"}', "id", "missing", "rename 'Id'"),
        ('{"id": "a", "quesion": "x"}', "quesion", "not a field", "did you mean 'question'"),
        ('{"id": "a", "modell": "x"}', "modell", "not a field", "--card"),
        ('{"id": "a", "question": 5}', "question", "valid string", "quotes"),
        ('{"id": "a", "question": [{"role": "bot", "content": "x"}]}', "question.0.role", "'user'", None),
        ('{"id": "a", "labels": [{"complete": "no"}]}', "labels.0.complete", "boolean", "without quotes"),
        ('{"id": "a", "labels": [{"complete": 1}]}', "labels.0.complete", "boolean", "without quotes"),
        ('{"id": "a", "labels": [{"complet": true}]}', "labels.0.complet", "not a known", "'complete'"),
        ('{"id": "a", "labels": [{"score": 4}]}', "labels.0.score", "outside 0 to 1", "card"),
        ('{"id": "a", "labels": [{"rater": "r"}, {"rater": "r"}]}', "labels.1", "two labels", "apart"),
        ('{"id": "a", "criteria": [{"id": "c", "text": "x"}, {"id": "c", "text": "y"}]}', "criteria.1", "twice", "own"),
        ('{"id": "a", "criteria": [{"text": "x"}]}', "criteria.0.id", "missing", "add"),
        (
            '{"id": "a", "criteria": [{"id": "c1", "text": "x"}], "labels": [{"criteria": {"c2": true}}]}',
            "labels.0.criteria",
            "'c2'",
            "'c1'",
        ),
    ],
)
def test_every_fault_names_file_line_field_and_mend(
    tmp_path: Path, line: str, field: str | None, message: str, mend: str | None
) -> None:
    path = write(tmp_path, "a.jsonl", '{"id": "first"}\n' + line + "\n")
    error = refused(path)
    assert (error.file, error.line, error.field) == (str(path), 2, field)
    assert message in error.message
    assert mend is None or mend in (error.mend or "")


def test_byte_order_mark_windows_lines_and_strange_line_marks(tmp_path: Path) -> None:
    # U+2028 and a form feed are no line ends in JSON Lines; \r\n is one.
    path = write(tmp_path, "a.jsonl", '\ufeff{"id": "1", "response": "a\u2028b\\fc"}\r\n{"id": "2"}\r\n')
    assert [record.response for record in load_records(path)] == ["a\u2028b\fc", None]
    path = write(tmp_path, "a.csv", '\ufeffid,response\r\n1,"say ""no""\r\nor\n, yes"\r\n')
    assert load_records(path)[0].response == 'say "no"\r\nor\n, yes'


def test_bytes_that_are_not_utf8_name_their_line(tmp_path: Path) -> None:
    error = refused(write(tmp_path, "a.jsonl", b'{"id": "1"}\n\n{"id": "2", "response": "39\xb0C"}\n'))
    assert error.line == 3
    assert "0xb0" in error.message
    assert "UTF-8" in (error.mend or "")
    assert "UTF-16" in refused(write(tmp_path, "b.csv", "id,response\n1,x\n".encode("utf-16")[:-1])).message


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("id,response\na,b,c\n", 2, "3 cells, but the header has 2"),
        ("id,response\na\n", 2, "1 cells"),
        ("id,response,response\na,b,c\n", 1, "two columns"),
        ("id,,response\na,b,c\n", 1, "no name"),
        ('id,response\na,x\nb,"y"z\n', 3, "not valid CSV"),
        ('id,response\na,"never closed\n', 2, "not valid CSV"),
        ("", 1, "empty"),
        ("id,complete\na,maybe\n", 2, "neither true nor false"),
        ("id,score\na,high\n", 2, "not a number"),
        ("id,score\na,inf\n", 2, "outside 0 to 1"),
        ("id,score\na,4\n", 2, "outside 0 to 1"),
        ("id,criteria\na,fever\n", 2, "neither a JSON list"),
        ('id,criteria\na,"[{""id"": NaN}]"\n', 2, "NaN"),
    ],
)
def test_tables_that_cannot_be_right_are_refused(tmp_path: Path, text: str, line: int, message: str) -> None:
    error = refused(write(tmp_path, "a.csv", text))
    assert error.line == line
    assert message in error.message


def test_a_table_maps_record_columns_label_columns_and_dots_and_keeps_the_rest(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "a.tsv",
        "id\tquestion\toptions.A\toptions.B\tanswer\tcomplete\tscore\tseverity\trater\trationale\tinputs.reason\tnote\n"
        "1\tq\tx\ty\tA\tno\t.25\tSevere\tr1\tno dose\tbecause\tseen\n",
    )
    assert load_records(path)[0] == Record(
        id="1",
        question="q",
        options={"A": "x", "B": "y"},
        answer="A",
        labels=(Label(rater="r1", complete=False, score=0.25, severity="Severe", rationale="no dose"),),
        inputs={"reason": "because"},
        meta={"note": "seen"},
    )


def test_a_rater_who_said_nothing_makes_no_label_and_loses_no_column(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "id,rater,complete,value\n1,r1,,7\n2,r1,no,8\n")
    first, second = load_records(path)
    assert (first.labels, first.meta) == ((), {"rater": "r1", "value": "7"})
    assert (second.labels, second.meta) == ((Label(rater="r1", complete=False),), {"value": "8"})


def test_json_lists_gzip_and_limits(tmp_path: Path) -> None:
    path = write(tmp_path, "set.json", '[\n  {"id": "a"},\n\n  {"id": "b"}, {"id": "c"}\n]\n')
    assert [record.id for record in load_records(path)] == ["a", "b", "c"]
    assert refused(write(tmp_path, "d.json", '[\n{"id": "a"},\n\n{"id": "a"}]')).line == 4
    assert "one list" in refused(write(tmp_path, "o.json", '{"id": "a"}')).message
    packed = write(tmp_path, "set.jsonl.gz", gzip.compress(b'{"id": "a"}\n{"id": "b"}\nnot read\n'))
    records = load_records(packed, limit=2, dataset="mine")
    assert ([record.id for record in records], records.name) == (["a", "b"], "mine")
    assert load_records(packed, limit=1).name == "set"
    assert "whole gzip" in refused(write(tmp_path, "cut.jsonl.gz", packed.read_bytes()[:-9])).message
    assert refused(packed, limit=0).field == "limit"
    assert "no such file" in refused(tmp_path / "none.jsonl").message
    assert ".jsonl" in (refused(write(tmp_path, "a.xlsx", b"PK")).mend or "")


def test_frames_keep_text_and_refuse_ids_that_pandas_has_already_converted(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": ["001", "2"], "response": ["None", None], "score": [0.5, float("nan")], "n": [1, 2]})
    records = load_records(frame)
    assert [(record.id, record.response, record.meta) for record in records] == [
        ("001", "None", {"n": 1}),
        ("2", None, {"n": 2}),
    ]
    assert records[0].labels == (Label(score=0.5),)
    assert records[1].labels == ()
    path = write(tmp_path, "a.csv", "id,response\n001,x\n")
    with pytest.raises(DataError, match="zeros in front") as caught:
        load_records(pd.read_csv(path))
    assert "astype(str)" in (caught.value.mend or "")
    json.dumps([record.to_dict() for record in records], allow_nan=False)


def test_lists_of_dicts_and_records_and_data_sets_by_duck_type() -> None:
    records = load_records([{"id": "a"}, Record(id="b")], dataset="two")
    assert isinstance(records, RecordSet)
    assert [record.id for record in records] == ["a", "b"]
    with pytest.raises(DataError, match="line 1"):
        load_records([Record(id="a"), {"id": "a"}])
    with pytest.raises(DataError, match="neither a dict nor a Record"):
        load_records([3])
    with pytest.raises(DataError, match="cannot read records"):
        load_records(3)

    class Split(list[dict[str, Any]]):
        column_names = ("id", "question")
        features = ("id", "question")

    assert load_records(Split([{"id": "7", "question": "q", "extra": 1.5}]))[0].meta == {"extra": 1.5}


def test_parquet_goes_in_with_nested_columns(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rows = [
        {"id": "001", "response": "None", "options": {"A": "x"}, "criteria": [{"id": "c1", "text": "t"}], "when": 1.5},
        {"id": "002", "response": None, "options": {"B": "y"}, "criteria": [], "when": float("nan")},
    ]
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.Table.from_pylist(rows), path)
    records = load_records(path)
    assert [record.options for record in records] == [{"A": "x"}, {"B": "y"}]
    assert records[0].criteria[0].points == 1
    assert (records[0].response, records[1].response) == ("None", None)
    assert records[1].meta == {"when": None}
    assert "not a readable Parquet" in refused(write(tmp_path, "b.parquet", b"PAR1nothing")).message


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=6))
def test_any_text_survives_jsonl_and_csv(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]) -> None:
    import csv
    import io

    folder = tmp_path_factory.mktemp("text")
    lines = [
        json.dumps({"id": f"r{index}", "question": question, "response": response}, ensure_ascii=False)
        for index, (question, response) in enumerate(rows)
    ]
    loaded = load_records(write(folder, "a.jsonl", "\n".join(lines)))
    assert [(record.question, record.response) for record in loaded] == rows
    table = io.StringIO(newline="")
    writer = csv.writer(table, quoting=csv.QUOTE_ALL)
    writer.writerow(["id", "question", "response"])
    writer.writerows([[f"r{index}", question, response] for index, (question, response) in enumerate(rows)])
    loaded = load_records(write(folder, "a.csv", table.getvalue()))
    # The one change that a table makes: an empty cell of an optional field is None.
    assert [(record.question, record.response) for record in loaded] == [(q or None, r) for q, r in rows]


def test_a_bundled_name_is_found_also_where_a_command_hands_it_over_as_a_path() -> None:
    from pathlib import Path

    from judgekit.data import load_records

    assert len(load_records(Path("planted-omissions/demo"))) == 24


@pytest.mark.parametrize(
    ("name", "card", "said"),
    [
        ("planted-omisions", None, "no data set of this name: did you mean 'planted-omissions'?"),
        ("planted-omisions/demo", None, "did you mean 'planted-omissions'?"),
        ("xyz", None, "`judgekit data list` shows the names"),
        ("planted-omissions/demo", "kqa", "brings its own card: leave the card out"),
        ("nofile.jsonl", None, "there is no such file: check the path"),
    ],
)
def test_a_name_that_is_neither_a_file_nor_a_data_set_says_so(name: str, card: str | None, said: str) -> None:
    with pytest.raises(DataError, match=re.escape(said)):
        load_records(name, card=card)


@pytest.mark.parametrize(
    ("encoding", "mark", "notes"),
    [
        ("utf-8", ",", []),
        ("utf-8-sig", ",", []),
        ("utf-8", ";", ["the columns of a.csv are divided by semicolons"]),
        ("utf-8-sig", "\t", ["the columns of a.csv are divided by tabs"]),
        ("utf-8", "|", ["the columns of a.csv are divided by bars"]),
        ("utf-16", ",", ["a.csv is UTF-16"]),
        ("cp1252", ",", ["a.csv is not UTF-8 and was read as Windows-1252, with the letters ä ü “ ”"]),
        (
            "cp1252",
            ";",
            [
                "a.csv is not UTF-8 and was read as Windows-1252, with the letters ä ü “ ”",
                "the columns of a.csv are divided by semicolons",
            ],
        ),
    ],
)
def test_tables_as_spreadsheets_save_them(tmp_path: Path, encoding: str, mark: str, notes: list[str]) -> None:
    rows = [["id", "question", "response", "score"], ["1", "Für wen?", "Ältere “gesund”, jünger.", "0,5"]]
    rows[1][2] = rows[1][2].replace("Ä", "ä")
    text = "\n".join(mark.join(f'"{cell}"' if mark in cell else cell for cell in row) for row in rows) + "\n"
    records = load_records(write(tmp_path, "a.csv", text.encode(encoding)))
    assert records[0].response == "ältere “gesund”, jünger."
    assert records[0].labels[0].score == 0.5
    assert records.notes == notes


@pytest.mark.parametrize("text", [b"id,response\n1,\x80\x81\n", b"id,response\n1,\xffx\n"])
def test_other_bytes_are_refused(tmp_path: Path, text: bytes) -> None:
    assert "is not UTF-8" in refused(write(tmp_path, "a.csv", text)).message


def test_a_comma_in_the_text_of_a_table_with_semicolons_divides_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", b"id;response\n1;one, two\n2;three\n")
    assert [record.response for record in load_records(path)] == ["one, two", "three"]


def test_answers_that_mean_responses_are_told_so(tmp_path: Path) -> None:
    records = load_records(write(tmp_path, "a.csv", b"id,question,answer\n1,q?,an answer\n"))
    assert any("call the text that is to be judged `response`" in note for note in records.notes)


def test_words_for_nothing_in_label_columns_are_no_labels(tmp_path: Path) -> None:
    records = load_records(write(tmp_path, "a.csv", b"id,rater,complete,score\n1,a,NA,n/a\n2,a,TRUE ,0.5\n"))
    assert records[0].labels == ()
    assert records[1].labels == (Label(rater="a", complete=True, score=0.5),)
