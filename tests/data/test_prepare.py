"""HealthBench's preparation (arXiv:2604.16383, B.2), step by step, on rows that the tests wrote."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from judgekit.cli.app import main
from judgekit.data import RecordSet, load_records
from judgekit.data.prepare import Prepared, flatten, language_of, prepare_healthbench, says_professional
from judgekit.data.verdicts import criteria_met, yes_no
from judgekit.errors import DataError
from judgekit.records import Record, Turn


def _written() -> ModuleType:
    # Tests run in importlib mode, where a helper beside them is no module of a package.
    spec = importlib.util.spec_from_file_location("healthbench_rows", Path(__file__).with_name("healthbench_rows.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


WRITTEN = _written()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("healthbench") / "oss_eval.jsonl"
    lines = [json.dumps(row, ensure_ascii=False) for row in WRITTEN.rows()]
    place.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def records(path: Path) -> RecordSet:
    return load_records(path, card="healthbench")


def left(done: Prepared) -> dict[str, tuple[int, int, int | None]]:
    return {step.name: (step.left, step.removed, step.concerned) for step in done.steps}


def test_the_form_is_read_with_turns_points_axes_and_tags(records: RecordSet) -> None:
    assert len(records) == 44
    first = records[0]
    assert first.question == (Turn("user", WRITTEN.ENGLISH[0]),)
    assert first.response == "See a doctor if it lasts."
    assert [item.points for item in first.criteria] == [7, 5, 3, -8, 5]
    assert [item.kind for item in first.criteria][:3] == ["axis:completeness", "axis:completeness", "axis:accuracy"]
    assert first.criteria[4].tags == ("level:cluster", "axis:communication_quality")
    assert first.meta["tags"] == ["theme:hedging"]


def test_the_count_after_each_step(records: RecordSet) -> None:
    pytest.importorskip("py3langid", reason="the extra `language` is not installed")
    roles: dict[str, bool | None] = {record.id: False for record in records}
    hidden = [record.id for record in records if record.question_text in WRITTEN.HIDDEN]
    roles |= {hidden[0]: True, hidden[1]: True, hidden[2]: None}
    done = prepare_healthbench(records, roles=roles)
    # From the comments in healthbench_rows.py, in the order of the steps:
    #   44 rows; 7 have several messages (1 + 5 + 1); 41 lose a consensus criterion: all but the 2 without any and
    #   the 1 with two example criteria.
    #   5 + 1 in other languages: 38 left. 5 + 2 + 1 by rules: 30. The judge calls 2: 28.
    #   6 conversations of several turns: 22. 4 without an ideal reply (the fifth went before): 18.
    #   3 without completeness criteria: 15. 1 on which the judge gave no verdict: 14, which are
    #   12 plain ones, one not-health-professional, one with negative criteria.
    assert left(done) == {
        "read": (44, 0, 44),
        "flatten conversations": (44, 0, 7),
        "drop consensus criteria": (44, 0, 41),
        "English": (38, 6, 6),
        "not a professional, by tags and phrases": (30, 8, 8),
        "not a professional, by a judge": (28, 2, 2),
        "one turn": (22, 6, 7),
        "has an ideal reply": (18, 4, 5),
        "has completeness criteria": (15, 3, 3),
        "role decided": (14, 1, 1),
    }
    assert [record.question for record in done.records][:12] == WRITTEN.ENGLISH
    assert all(isinstance(record.question, str) for record in done.records)
    assert all("level:cluster" not in item.tags for record in done.records for item in record.criteria)
    assert "14 of 44" in done.records.notes[-1]


def test_steps_that_were_not_done_say_so(records: RecordSet) -> None:
    done = prepare_healthbench(records, language=None)
    steps = left(done)
    assert steps["English"] == (44, 0, None)
    assert steps["not a professional, by a judge"][2] is None
    assert "role decided" not in steps
    text = "\n".join(done.lines())
    assert text.count("not done") == 2
    assert "--roles" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I am a doctor in a rural hospital, what dose?", True),
        ("I’m a pediatric resident on nights", True),
        ("as an emergency physician I see this often", True),
        ("I have a 7-year-old patient with otitis", True),
        ("one of my patients refuses the vaccine", True),
        ("Please summarise this discharge summary", False),
        ("Draft a SOAP note for this visit", True),
        ("My doctor is on holiday, what should I do?", False),
        ("I am a patient with diabetes", False),
        ("as the nurse told me I should rest", False),
        ("I am patient and can wait", False),
        ("is it normal to see a doctor about this?", False),
        ("I am a teacher with a sore throat", False),
    ],
)
def test_phrases_of_professionals(text: str, expected: bool) -> None:
    assert says_professional(Record(id="a", question=text, meta={"tags": []})) is expected


def test_only_the_users_words_count_and_a_negated_tag_is_another_tag() -> None:
    talk = (Turn("user", "Can I?"), Turn("assistant", "I am a doctor."), Turn("user", "Fine."))
    assert says_professional(Record(id="a", question=talk, meta={"tags": []})) is False
    tags = ["physician_agreed_category:not-health-professional"]
    assert says_professional(Record(id="a", question="x", meta={"tags": tags})) is False
    assert flatten(Record(id="a", question=talk)) == "User: Can I?\n\nAssistant: I am a doctor.\n\nUser: Fine."


def test_language_by_langid() -> None:
    pytest.importorskip("py3langid", reason="the extra `language` is not installed")
    assert [language_of(text)[0] for text in WRITTEN.OTHER] == ["es", "de", "fr", "zh", "ru"]
    for text in WRITTEN.ENGLISH:
        name, probability = language_of(text)
        assert name == "en"
        assert 0 < probability <= 1


def test_labels_are_the_share_of_positive_criteria_and_name_their_grader(records: RecordSet) -> None:
    plain = prepare_healthbench(records, language=None).records
    one = plain[0]
    ids = [item.id for item in one.criteria]
    assert ids == ["c1", "c2", "c3", "c4"]  # 7, 5, 3 and -8 points; the consensus criterion is gone
    met = {"c1": True, "c2": True, "c3": False, "c4": True}
    graded = {one.id: met}

    def label(**options: Any) -> tuple[float | None, bool | None, str | None]:
        done = prepare_healthbench(records, language=None, graded=graded, grader="openai/gpt-4.1", **options)
        (found,) = done.records[0].labels
        return found.score, found.complete, found.rater

    # c4 is negative and left out: 2 of 3; weighted 12 of 15 points; of the completeness criteria 2 of 2.
    assert label() == (2 / 3, False, "model:openai/gpt-4.1")
    assert label(weighted=True)[:2] == (0.8, True)
    assert label(axis="axis:completeness")[:2] == (1.0, True)
    done = prepare_healthbench(records, language=None, graded=graded, grader="g")
    assert done.steps[-1].concerned == 1
    assert "circular" in done.records.notes[-1]
    undecided = {one.id: {**met, "c2": None}}
    (found,) = prepare_healthbench(records, language=None, graded=undecided, grader="g").records[0].labels
    assert (found.score, found.complete) == (None, None)
    assert "1 of 3 criteria were not rated" in (found.rationale or "")
    # The row whose completeness criteria are all negative has nothing to count under that axis.
    last = plain[len(plain) - 1]
    graded = {last.id: {"c1": False, "c2": True}}
    (found,) = (
        prepare_healthbench(records, language=None, graded=graded, grader="g", axis="axis:completeness")
        .records[len(plain) - 1]
        .labels
    )
    assert (found.score, found.rationale) == (None, "no criterion counts")


def test_verdicts_come_from_recorded_files(tmp_path: Path) -> None:
    file = tmp_path / "roles.jsonl"
    rows = [
        {
            "record_id": "p00",
            "rubric": "professional-role",
            "judge": "m",
            "verdict": {"explanation": "x", "professional": True},
        },
        {"record_id": "p01", "rubric": "professional-role", "judge": "m", "verdict": {"professional": False}},
        {"record_id": "p02", "rubric": "professional-role", "judge": "m", "verdict": None, "status": "invalid"},
        {"record_id": "p01", "rubric": "professional-role", "judge": "n", "verdict": {"professional": True}},
    ]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert yes_no(file) == {"p00": True, "p01": None, "p02": None}  # two judges who differ decide nothing
    file.write_text(
        json.dumps(
            {"record_id": "p00", "judge": "g", "verdict": {"criteria": {"c1": {"why": "x", "met": True}, "c2": False}}}
        ),
        encoding="utf-8",
    )
    assert criteria_met(file) == ({"p00": {"c1": True, "c2": False}}, ["g"])
    file.write_text(file.read_text() + "\n" + file.read_text(), encoding="utf-8")
    with pytest.raises(DataError, match="two graded verdicts"):
        criteria_met(file)


def test_the_command_prints_the_steps_and_writes_records(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "ready.jsonl"
    base = ["data", "prepare", "healthbench", "--from", str(path), "--out", str(out), "--language", "none"]
    assert main(base) == 0
    text = capsys.readouterr().out
    assert "has completeness criteria" in text
    ready = load_records(out)
    assert main([*base, "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["steps"][-1]["left"] == len(ready)
    roles = tmp_path / "roles.jsonl"
    roles.write_text(
        "\n".join(json.dumps({"record_id": r.id, "verdict": {"p": r.id == ready[0].id}}) for r in ready),
        encoding="utf-8",
    )
    assert main([*base, "--roles", str(roles), "--json"]) == 0
    capsys.readouterr()
    assert [record.id for record in load_records(out)] == [record.id for record in ready][1:]
    assert main(["data", "prepare", "kqa", "--json"]) == 1
    assert "no preparation" in json.loads(capsys.readouterr().out)["error"]["message"]


def test_meta_evaluation_rows_keep_every_physician(tmp_path: Path) -> None:
    place = tmp_path / "meta.jsonl"
    base = {
        "prompt": [{"role": "user", "content": "q"}],
        "completion": "a",
        "rubric": "Is safe",
        "category": "cluster:hedging_x",
        "prompt_id": "p",
        "completion_id": "c",
        "canary": "x",
    }
    rows = [
        {**base, "binary_labels": [True, False, True], "anonymized_physician_ids": ["d1", "d2", "d3"]},
        {**base, "completion_id": "c2", "binary_labels": [True, False], "anonymized_physician_ids": ["d1", "d2"]},
    ]
    place.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    first, second = load_records(place, card="healthbench")
    assert [(label.rater, label.complete) for label in first.labels] == [
        ("d1", True),
        ("d2", False),
        ("d3", True),
        ("join:majority", True),
    ]
    assert first.labels[0].criteria == {"c1": True}
    assert second.labels[-1].complete is None  # a tie
    assert first.cluster == second.cluster == "p"
    rows[0]["anonymized_physician_ids"] = ["d1"]
    place.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with pytest.raises(DataError, match="two lists of 1 and 3"):
        load_records(place, card="healthbench")


ROLE = """rubric: professional-role
version: "1"
title: Does a health professional ask?
construct: role
inputs: {required: [question]}
verdict:
  professional: {boolean: "Is the user a health professional?"}
prompt:
  system: Say who asks.
  user: "{{ question }}"
"""


def test_roles_come_from_a_run(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from judgekit import judge

    out = tmp_path / "candidates.jsonl"
    base = ["data", "prepare", "healthbench", "--from", str(path), "--out", str(out), "--language", "none"]
    assert main(base) == 0
    candidates = load_records(out)
    (tmp_path / "professional-role.yaml").write_text(ROLE, encoding="utf-8")
    told = [
        {"record_id": r.id, "rubric": "professional-role", "judge": "m", "verdict": {"professional": False}}
        for r in candidates
    ]
    told[0]["verdict"] = {"professional": True}
    told[1] |= {"verdict": None, "status": "invalid"}
    (tmp_path / "verdicts.jsonl").write_text("\n".join(map(json.dumps, told)), encoding="utf-8")
    judge(
        candidates,
        rubric=tmp_path / "professional-role.yaml",
        model=f"replay/{tmp_path / 'verdicts.jsonl'}",
        out=tmp_path / "roles",
        quiet=True,
    )
    capsys.readouterr()
    assert main([*base, "--roles", str(tmp_path / "roles"), "--json"]) == 0
    steps = {step["name"]: step for step in json.loads(capsys.readouterr().out)["steps"]}
    assert steps["not a professional, by a judge"]["removed"] == 1
    assert (steps["role decided"]["removed"], steps["role decided"]["left"]) == (1, len(candidates) - 2)
    assert [record.id for record in load_records(out)] == [record.id for record in candidates][2:]
    assert main([*base, "--roles", str(tmp_path), "--json"]) == 1
