"""``judgekit data`` from the outside: exit codes, one JSON object on stdout, tables that hold the counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judgekit.cli.app import main
from judgekit.data import load_records


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUDGEKIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def run(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    code = main(["data", *args])
    out = capsys.readouterr()
    return code, out.out, out.err


def as_json(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, dict[str, Any]]:
    code, out, _ = run(capsys, *args, "--json")
    value: dict[str, Any] = json.loads(out)
    return code, value


def test_list_names_every_card_and_its_licence(capsys: pytest.CaptureFixture[str]) -> None:
    code, value = as_json(capsys, "list")
    assert code == 0
    found = {row["name"]: row for row in value["datasets"]}
    assert found["kqa"]["state"] == "not fetched"
    assert found["planted-omissions"]["state"] == "bundled"
    code, out, _ = run(capsys, "list")
    assert code == 0
    assert all(name in out for name in found)


def test_show_prints_records_and_calls_labels_by_construction(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "show", "planted-omissions", "--n", "2")
    assert code == 0
    assert "[po-01-full]" in out
    assert "by construction" in out
    assert "licence: Apache-2.0" in out
    code, value = as_json(capsys, "show", "planted-omissions", "--n", "2")
    assert [record["id"] for record in value["records"]] == ["po-01-full", "po-01-b"]
    assert as_json(capsys, "show", "kqa")[0] == 1
    assert as_json(capsys, "show", "nothing-of-the-kind")[0] == 1


def test_validate_counts_and_finds_every_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    lines = ['{"id": "a", "response": " "}', '{"id": "a"}', "not json", '{"id": "b", "quesion": "x"}', '{"id": "c"}']
    path.write_text("\n".join(lines), encoding="utf-8")
    code, out, err = run(capsys, "validate", str(path))
    assert code == 1
    assert "2 good records" in out
    assert "1 blank responses" in out
    for line in (2, 3, 4):
        assert f"{path}:{line}: " in err
    code, value = as_json(capsys, "validate", str(path))
    assert (code, value["n_errors"], value["records"]) == (1, 3, 2)
    assert [error["line"] for error in value["errors"]] == [2, 3, 4]
    assert value["error"] == value["errors"][0]
    code, value = as_json(capsys, "validate", str(path), "--max-errors", "1")
    assert (value["n_errors"], len(value["errors"])) == (3, 1)
    code, value = as_json(capsys, "validate", "planted-omissions")
    assert (code, value["n_errors"], value["records"], value["clusters"]) == (0, 0, 123, 40)
    assert "error" not in value
    code, value = as_json(capsys, "validate", str(tmp_path / "none.jsonl"))
    assert code == 1
    assert "no such file" in value["error"]["message"]


def test_validate_prints_base_rates_per_rater_and_joined(capsys: pytest.CaptureFixture[str], shared_data: Path) -> None:
    code, out, err = run(capsys, "validate", str(shared_data / "kqa_completeness.jsonl"), "--card", "kqa")
    assert code == 0
    rows = {
        tuple(line.split()[1:-4]): line.split()[-4:] for line in out.splitlines() if line.startswith("completeness")
    }
    assert rows[("r1",)] == ["24", "24", "18", "0.750"]
    assert rows[("r2",)] == ["24", "24", "16", "0.667"]
    assert rows[("r3",)] == ["24", "24", "18", "0.750"]
    assert rows[("raters", "joined:", "criteria-majority")] == ["24", "24", "16", "0.667"]
    assert "10 of 24 records have one or two criteria" in err
    assert "confounded" in err


@pytest.mark.parametrize("to", ["csv", "jsonl", "parquet"])
def test_export_writes_a_file_that_reads_back(capsys: pytest.CaptureFixture[str], tmp_path: Path, to: str) -> None:
    target = tmp_path / f"out.{to}"
    code, value = as_json(capsys, "export", "planted-omissions/demo", "--to", to, "--out", str(target))
    assert (code, value["records"]) == (0, 24)
    assert list(load_records(target)) == list(load_records("planted-omissions/demo"))
    if to == "jsonl":
        code, value = as_json(capsys, "export", str(target), "--to", to, "--out", str(target))
        assert code == 1
        assert "overwrite" in value["error"]["message"]


def test_fetch_prints_licence_and_citation_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    mine = tmp_path / "NLI.csv"
    mine.write_text(
        "Question,llm_x,answer,claim,category_x,majority_label,label_0,label_1,label_2\n"
        "q?,gpt4,a,c,Must_have,Neutral,Neutral,Neutral,Neutral\n",
        encoding="utf-8",
    )
    args = ("fetch", "kqa", "--file", "NLI_medical_annotator.csv", "--from", str(mine))
    code, out, err = run(capsys, *args)
    assert code == 0
    assert "licence: MIT" in err
    assert "Manes" in err
    assert "100 %" in err
    assert Path(out.strip()).read_bytes() == mine.read_bytes()
    code, _, err = run(capsys, *args)
    assert code == 0
    assert "licence" not in err
    assert as_json(capsys, "show", "kqa")[1]["records"][0]["inputs"] == {"claim": "c"}
    code, value = as_json(capsys, "list")
    assert {row["name"]: row["state"] for row in value["datasets"]}["kqa"] == "1 of 2 files here"


@pytest.mark.parametrize("to", ["csv", "jsonl", "parquet"])
def test_a_table_of_a_run_is_exported(capsys: pytest.CaptureFixture[str], tmp_path: Path, to: str) -> None:
    from judgekit.records import Record
    from judgekit.runs.model import Judgement
    from judgekit.runs.store import RunStore

    with RunStore(tmp_path / "run") as store:
        store.put_records("d", [Record(id="001", response="=1+1"), Record(id="NA", response="x")])
        store.put_judgement(Judgement("d", "001", "r", "j", 0, "a", "s", "refused", reason="@no"))
    target = tmp_path / f"out.{to}"
    code, value = as_json(
        capsys, "export", str(tmp_path / "run"), "--table", "judgements", "--to", to, "--out", str(target)
    )
    assert (code, value["table"], value["rows"], value["file"]) == (0, "judgements", 1, str(target))
    if to == "csv":
        text = target.read_text("utf-8")
        assert "NaN" not in text
        assert "'@no" in text  # a spreadsheet would compute what begins with @
    if to == "jsonl":
        assert json.loads(target.read_text("utf-8"))["raw"] is None
    code, value = as_json(capsys, "export", str(tmp_path / "run"), "--to", to)
    assert code == 2
    assert value["error"]["field"] == "table"
    wrong = str(tmp_path / "out.txt")
    code, value = as_json(capsys, "export", str(tmp_path / "run"), "--table", "calls", "--to", to, "--out", wrong)
    assert (code, value["error"]["field"]) == (2, "out")


def test_a_card_is_proposed_and_loads_what_it_was_made_of(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("nr;question;answer;dr-a;dr-b\n1;q?;an answer;yes;no\n2;r?;another;no;no\n", encoding="utf-8")
    card = tmp_path / "mine.yaml"
    assert main(["data", "card", str(path), "--out", str(card)]) == 0
    told = capsys.readouterr().err
    assert "understood: 'dr-a', 'dr-b': complete: yes; incomplete: no" in told
    assert "incomplete: 1 of 1 with a verdict, of 2 answers" in told
    assert "dr-a and dr-b agree on 1 of 2" in told
    assert main(["data", "validate", str(path), "--card", str(card)]) == 0
    assert main(["data", "card", str(path), "--out", str(card)]) == 1  # nothing is overwritten
    capsys.readouterr()
    assert main(["data", "card", str(path), "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert [len(record["labels"]) for record in value["records"]] == [3, 3]
    assert value["card"] == card.read_text("utf-8")
