"""agree, compare, strata, failures, reasons and cost as a user calls them: exit codes, one JSON object, sentences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judgekit.cli.app import main
from judgekit.records import Label, Record
from judgekit.runs.model import CallRow, Measured
from judgekit.runs.store import RunStore
from tests.analysis.conftest import judged

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def run(tmp_path: Path) -> str:
    """Two models, four questions, one clinician; verdicts, measurements and calls."""
    records = [
        Record(
            id=f"{model}{q}", question=f"question {q}", response=f"answer {q}", meta={"model": model, "source": "web" if q % 2 else "app"},
            labels=(Label(rater="ann", complete=q > 1, rationale="the dose is missing" if q <= 1 else None),),
        )
        for model in "AB"
        for q in range(4)
    ]  # fmt: skip
    folder = tmp_path / "run"
    with RunStore(folder) as store:
        store.put_records("d", records)
        for i, record in enumerate(records):
            raw = float(1 + (i * 7) % 5)
            store.put_call(CallRow(f"k{i}", "m/one", "e", 0, "ok", {}, cost=0.001, tokens_in=10, tokens_out=5))
            store.put_judgement(judged(record.id, raw=raw, cost=0.001, tokens_in=10, tokens_out=5))
        store.put_measurements(
            Measured("d", record.id, f"{name}(x=1)", f"{name}(x=1)|v", 0.1 * (i % 7))
            for name in ("entity_f1", "semantic_similarity")
            for i, record in enumerate(records)
        )
    return str(folder)


def called(args: list[str], capsys: Capture) -> tuple[int, str, str]:
    code = main(args)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


COMMANDS = [
    ["agree"],
    ["compare"],
    ["compare", "--what", "source"],
    ["compare", "--metric", "entity_f1"],
    ["strata", "--by", "source"],
    ["strata", "--by", "source", "--by", "model", "--value", "complete"],
    ["failures"],
    ["cost"],
    ["cost", "--quality", "kappa"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_tables_for_people_and_one_object_for_machines(words: list[str], run: str, capsys: Capture) -> None:
    args = [words[0], run, *words[1:]]
    code, out, _ = called(args, capsys)
    assert code == 0
    assert "signature: judgekit:" in out
    assert "nan" not in out.lower()
    code, out, _ = called([*args, "--json"], capsys)
    assert code == 0
    body = json.loads(out, parse_constant=pytest.fail)
    assert body["signature"].startswith("judgekit:")
    assert any(isinstance(value, list) and value for key, value in body.items() if key != "notes")


def test_an_empty_run_is_a_sentence_everywhere(tmp_path: Path, capsys: Capture) -> None:
    with RunStore(tmp_path / "empty"):
        pass
    for words in (*COMMANDS, ["reasons"]):
        args = [words[0], str(tmp_path / "empty"), *words[1:]]
        args = ["reasons", "show", args[1]] if words == ["reasons"] else args
        code, out, err = called(args, capsys)
        assert code in (0, 1), (args, err)
        assert "Traceback" not in err
        assert out or err
        code, out, _ = called([*args, "--json"], capsys)
        assert isinstance(json.loads(out), dict)


def test_reasons_are_made_and_shown(run: str, tmp_path: Path, capsys: Capture) -> None:
    out_file = tmp_path / "pairs.jsonl"
    code, out, _ = called(["reasons", "make", run, "--out", str(out_file)], capsys)
    assert code == 0
    assert out.startswith("8 pairs in")
    pairs = [json.loads(line) for line in out_file.read_text("utf-8").splitlines()]
    with RunStore(tmp_path / "run2") as store:
        store.put_records("pairs", [Record.from_dict(pair) for pair in pairs])
        for pair in pairs:
            store.put_judgement(
                judged(
                    pair["id"],
                    dataset="pairs",
                    rubric="reason-alignment",
                    verdict={"alignment": "partially"},
                    status="ok",
                )
            )
    code, out, _ = called(["reasons", "show", str(tmp_path / "run2"), "--json"], capsys)
    assert code == 0
    body = json.loads(out)
    assert sum(row["n"] for row in body["alignment"] if row["rubric"] == "all") == 8
    hand = tmp_path / "hand.csv"
    hand.write_text("id,alignment\n" + "".join(f"{pair['id']},maybe\n" for pair in pairs), encoding="utf-8")
    code, out, err = called(["reasons", "show", str(tmp_path / "run2"), "--hand", str(hand)], capsys)
    assert code == 1
    assert f"{hand}:2: alignment: 'maybe' is no alignment" in err
    code, _, err = called(["reasons", "make", run, "--out", str(tmp_path / "none" / "x.jsonl")], capsys)
    assert code == 1
    assert "cannot be written" in err


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["agree", "{t}", "--raters", "a,z"], 1, "no column 'z'"),
        (["agree", "{t}", "--raters", "a,b", "--levels", "5..1"], 1, "names no levels"),
        (["agree", "{t}.nothing", "--raters", "a,b"], 1, ""),
        (["compare", "{t}", "--group", "a", "--value", "b"], 2, "--unit"),
        (["compare", "{t}", "--value", "b", "--unit", "id"], 2, "no group column"),
        (["compare", "{t}", "--group", "a", "--value", "b", "--unit", "id", "--where", "oops"], 1, "is no condition"),
        (["strata", "{t}", "--value", "b", "--unit", "id"], 2, "--by"),
        (["failures", "{t}"], 1, "no component"),
        (["cost", "{t}"], 1, "no run"),
        (["reasons", "show", "{t}"], 1, "no run"),
    ],
)
def test_mistakes_are_sentences(args: list[str], code: int, words: str, tmp_path: Path, capsys: Capture) -> None:
    table = tmp_path / "t.csv"
    table.write_text("id,a,b\n1,1,2\n2,2,2\n", encoding="utf-8")
    args = [arg.format(t=table) for arg in args]
    found, _, err = called(args, capsys)
    assert found == code, err
    assert words in err
    assert "Traceback" not in err
    found, out, _ = called([*args, "--json"], capsys)
    assert found == code
    body: dict[str, Any] = json.loads(out)
    assert set(body["error"]) == {"kind", "file", "line", "field", "message", "hint", "mend"}


def test_help_needs_nothing_heavy() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from judgekit.cli.app import main\n"
        "for name in ('agree', 'compare', 'strata', 'failures', 'reasons', 'cost'):\n"
        "    main([name, '--help'])\n"
        "heavy = {'pandas', 'scipy', 'numpy', 'sklearn'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
