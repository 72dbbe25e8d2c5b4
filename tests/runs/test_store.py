"""The run store: nothing lost, nothing twice, one writer, readers that never block."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgekit.errors import DataError, InputError
from judgekit.records import Criterion, Label, Record
from judgekit.runs.model import CallRow, Judgement, Measured, RubricRow
from judgekit.runs.store import RunStore, open_run

ROOT = Path(__file__).resolve().parents[2]


def call(key: str = "k", status: str = "ok", **fields: object) -> CallRow:
    return CallRow(key=key, model="m", endpoint="e", sample=0, status=status, request={"messages": []}, **fields)  # type: ignore[arg-type]


def judged(record_id: str = "001", **fields: object) -> Judgement:
    base = {"dataset": "d", "rubric": "r", "judge": "j", "sample": 0, "ask": "a", "score_fp": "s", "status": "ok"}
    return Judgement(record_id=record_id, **{**base, **fields})  # type: ignore[arg-type]


def child(code: str, *args: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *args], capture_output=True, text=True, env=env, timeout=60
    )


# identity


def test_ids_and_labels_stay_the_text_that_they_were(tmp_path: Path) -> None:  # CASE 12
    records = [
        Record(id="001", question="q", response="None", labels=(Label(rater="NA", value="NA", complete=None),)),
        Record(id="002", response="NA"),
        Record(id="010", response=""),
    ]
    with RunStore(tmp_path / "run") as store:
        store.put_records("d", records)
        store.put_judgement(judged("001", verdict={"note": "None"}))
    run = open_run(tmp_path / "run")
    assert run.records.record_id.tolist() == ["001", "002", "010"]
    assert run.records.response.tolist() == ["None", "NA", ""]
    assert run.records.question.tolist() == ["q", None, None]
    assert run.labels.rater.tolist() == ["NA"]
    assert run.labels.value.tolist() == ["NA"]
    assert run.labels.complete.tolist() == [None]
    row = run.judgements.iloc[0]
    assert (row.record_id, row.raw, row.complete, row.verdict) == ("001", None, None, {"note": "None"})


def test_a_record_comes_back_as_it_was_and_labels_are_replaced_whole(tmp_path: Path) -> None:
    two = (Label(rater="r1", complete=True, score=1.0), Label(rater="r2", complete=False, criteria={"c1": "Neutral"}))
    record = Record(
        id="1", question="q", criteria=(Criterion("c1", "t", -2, "k", ("x",)),), meta={"a": [1, None]}, labels=two
    )
    one = Record.from_dict({**record.to_dict(), "labels": [{"rater": "r3", "complete": True}]})
    with RunStore(tmp_path / "run") as store:
        assert store.put_records("d", [record]) == {"new": 1, "changed": 0, "same": 0}
        assert store.record("d", "1") == record
        store.put_judgement(judged("1"))
        assert store.put_records("d", [one]) == {"new": 0, "changed": 0, "same": 1}
        assert store.record("d", "1") == one
        assert store.record("d", "2") is None
        assert len(list(store.judgements())) == 1, "a new label is not a new text"


def test_a_changed_text_takes_its_judgements_and_measurements_with_it_and_no_other(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run") as store:
        store.put_records("d", [Record(id="1", response="x"), Record(id="2", response="x")])
        for record_id in "12":
            store.put_judgement(judged(record_id))
            store.put_measurements([Measured("d", record_id, "m", "sig", 0.5)])
        store.put_call(call())
        assert store.put_records("d", [Record(id="1", response="y"), Record(id="2", response="x")])["changed"] == 1
        assert [one.record_id for one in store.judgements()] == ["2"]
        assert store.served("k") is not None, "what was paid for stays"
    assert open_run(tmp_path / "run").measurements.record_id.tolist() == ["2"]


@given(
    st.text(),
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**53), 2**53)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=6,
    ),
)
@settings(max_examples=60, deadline=None)
def test_any_reply_comes_back_character_for_character(text: str, value: object) -> None:
    # Law: what a provider said, including NUL and lone surrogates, is what the store gives back.
    with tempfile.TemporaryDirectory() as folder, RunStore(Path(folder) / "run") as store:
        given = call(text=text, verdict={"v": value}, reason=text, attempts=[{"text": text}])
        store.put_call(given)
        back = store.served("k")
        assert back is not None
        assert (back.text, back.verdict, back.reason, back.attempts) == (text, {"v": value}, text, [{"text": text}])


def test_a_lone_surrogate_is_kept(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run") as store:
        store.put_call(call(text="a\ud800b", verdict={"x": "\udfff"}))
        store.put_records("d", [Record(id="1", response="\ud800")])
    run = open_run(tmp_path / "run")
    assert run.calls.text[0] == "a\ud800b"
    assert run.calls.verdict[0] == {"x": "\udfff"}
    assert run.records.response[0] == "\ud800"


def test_an_id_that_no_file_can_hold_is_refused_and_a_cluster_may_be_one(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run") as store:
        with pytest.raises(DataError, match="half a character"):
            store.put_records("d", [Record(id="a"), Record(id="\ud800")])
        assert store.record_ids("d") == [], "all or nothing"
        store.put_records("d", [Record(id="a", cluster="\ud800")])
    assert open_run(tmp_path / "run").records.cluster[0] == "\ud800"


def test_nan_never_reaches_the_file(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run") as store, pytest.raises(ValueError, match="JSON compliant"):
        store.put_judgement(judged(verdict={"score": float("nan")}))


# calls and judgements


@pytest.mark.parametrize(
    ("status", "served"),
    [("ok", 1), ("refused", 1), ("truncated", 1), ("filtered", 1), ("error", 0), ("invalid", 0)],
)
def test_only_replies_that_say_something_are_served(tmp_path: Path, status: str, served: int) -> None:
    with RunStore(tmp_path / "run") as store:
        store.put_call(call(status=status, text="x"))
        assert store.is_served("k") == bool(served)
        assert (store.served("k") is not None) == bool(served)
        assert store.last_call("k").status == status  # type: ignore[union-attr]


def test_useless_replies_pile_up_for_the_eye_and_a_served_one_stays_alone(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run") as store:
        store.put_call(call(status="invalid", text="garbage", attempts=[{"text": "a"}, {"text": "garbage"}]))
        store.put_call(call(status="error", reason="503"))
        store.put_call(call(text="good"))
        store.put_call(call(text="another"))
        assert store.served("k").text == "good"  # type: ignore[union-attr]
    calls = open_run(tmp_path / "run").calls
    assert calls.text.tolist() == ["garbage", None, "good"]
    assert calls.served.tolist() == [False, False, True]
    assert calls.attempts[0] == [{"text": "a"}, {"text": "garbage"}]


def test_one_row_for_a_judgement_and_another_for_another_sample_or_wording(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run") as store:
        for raw in (1.0, 2.0):
            store.put_judgement(judged(raw=raw))
        store.put_judgement(judged(sample=1))
        store.put_judgement(judged(ask="b"))
        rows = [(one.sample, one.ask, one.raw) for one in store.judgements(record_id="001")]
        assert sorted(rows, key=str) == [(0, "a", 2.0), (0, "b", None), (1, "a", None)]
        assert store.judgement("d", "001", "r", "j", 0, "a").raw == 2.0  # type: ignore[union-attr]
        with pytest.raises(TypeError, match="nonsense"):
            list(store.judgements(nonsense=1))


def test_costs_that_are_unknown_are_not_zero(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run") as store:
        assert store.cost_total() == 0.0
        store.put_call(call("a", cost=0.5, tokens_in=1))
        store.put_call(call("b", status="error"))  # never answered: nothing was used
        assert store.cost_total() == 0.5
        store.put_call(call("c", tokens_in=10))
        assert store.cost_total() is None


def test_readers_take_the_wording_and_scoring_used_last_and_say_what_they_left_out(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run") as store:
        store.put_records("d", [Record(id="1"), Record(id="2")])
        for ask in ("old", "new"):
            for record_id in "12":
                store.put_judgement(judged(record_id, ask=ask))
        store.put_judgement(judged("1", judge="other", ask="old"))
        store.use("d", "r", "j", "new", "s")
    run = open_run(tmp_path / "run")
    latest = run.latest()
    assert sorted(zip(latest.judge, latest.record_id, latest.ask, strict=True)) == [
        ("j", "1", "new"), ("j", "2", "new"), ("other", "1", "old"),
    ]  # fmt: skip
    assert latest.attrs["left_out"] == [{"dataset": "d", "rubric": "r", "judge": "j", "ask": "old", "n": 2}]
    with RunStore(tmp_path / "run") as store:  # back to the old wording
        store.use("d", "r", "j", "old", "s")
    assert set(run.latest().ask) == {"old"}


def test_rubrics_checklists_studies_and_commands_come_back(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run") as store:
        store.put_rubric(RubricRow("r", "a", "s", title="old", scale={"score": [1, 5]}, resolved={"rubric": "r"}))
        store.put_rubric(RubricRow("r", "a", "s", title="new", scale={"score": [1, 5]}, resolved={"rubric": "r"}))
        store.put_checklist("q", "writer", "wa", "m", "k", [Criterion("w1", "t", 2, "must")])
        assert store.checklist("q", "wa", "m") == ("k", [Criterion("w1", "t", 2, "must")])
        assert store.checklist("q", "wa", "other") is None
        store.put_study("s", "stability", {"x": [1, None]})
        assert store.study("s", "stability") == {"x": [1, None]}
        assert store.study("s", "other") is None
        store.end_command(store.begin_command(["judgekit", "judge"], "0.1"), "done")
        store.begin_command(["judgekit", "judge"], "0.1")
    run = open_run(tmp_path / "run")
    assert run.rubrics.title.tolist() == ["new"]
    assert run.rubrics.scale.tolist() == [{"score": [1, 5]}]
    assert run.commands.outcome.tolist() == ["done", None]
    assert run.study("s", "stability") == {"x": [1, None]}


def test_a_password_in_an_address_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    argv = ["judgekit", "judge", "--api-base", "https://me:hunter2@host/v1"]
    monkeypatch.setattr(sys, "argv", argv)
    with RunStore(tmp_path / "run") as store:
        store.begin_command(argv, "0.1")
        assert "hunter2" not in (tmp_path / "run" / "run.lock").read_text("utf-8")
    assert open_run(tmp_path / "run").commands.argv[0][-1] == "https://***@host/v1"


# kills, readers, writers


def test_a_kill_in_the_last_write_loses_that_write_and_nothing_else(tmp_path: Path) -> None:  # CASE 7
    code = """
        import os, sys
        from judgekit.runs.store import RunStore
        from judgekit.runs.model import CallRow
        store = RunStore(sys.argv[1])
        for i in range(1, 10):
            store.put_call(CallRow(f"k{i}", "m", "e", 0, "ok" if i != 2 else "error", {}, text="x" * 5000))
        os.kill(os.getpid(), 9)
    """
    done = child(code, str(tmp_path / "run"))
    assert done.returncode == -9
    wal = tmp_path / "run" / "run.sqlite-wal"
    with wal.open("r+b") as file:
        file.truncate(wal.stat().st_size - 2000)  # the last transaction is cut in half
    run = open_run(tmp_path / "run")
    assert run.calls.key.tolist() == [f"k{i}" for i in range(1, 9)]
    with RunStore(tmp_path / "run") as store:
        assert [i for i in range(1, 10) if not store.is_served(f"k{i}")] == [2, 9]


def test_a_second_writer_is_told_who_writes_and_readers_are_not_held_up(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run") as store:
        store.put_records("d", [Record(id="1")])
        code = """
            import sys
            from judgekit.runs.store import RunStore, open_run
            print(len(open_run(sys.argv[1]).records))
            try:
                RunStore(sys.argv[1])
            except Exception as error:
                print(type(error).__name__, error)
        """
        with store.transaction():  # in the middle of a write
            said = child(code, str(tmp_path / "run"))
        assert said.stdout.startswith("1\nInputError"), said.stderr
        assert f"process {os.getpid()} " in said.stdout
    RunStore(tmp_path / "run").close()


def test_the_lock_goes_with_the_process(tmp_path: Path) -> None:
    code = (
        "import os, sys; from judgekit.runs.store import RunStore; s = RunStore(sys.argv[1]); os.kill(os.getpid(), 9)"
    )
    assert child(code, str(tmp_path / "run")).returncode == -9
    RunStore(tmp_path / "run").close()


def test_a_folder_that_nobody_may_write_to_is_read_and_refused_for_writing(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with RunStore(run) as store:
        store.put_records("d", [Record(id="1")])
    killed = tmp_path / "killed"
    code = """
        import os, sys
        from judgekit.runs.store import RunStore
        from judgekit.records import Record
        RunStore(sys.argv[1]).put_records("d", [Record(id="1")])
        os.kill(os.getpid(), 9)
    """
    child(code, str(killed))
    (killed / "run.sqlite-shm").unlink()
    reading = f"""
        import os, sys
        sys.path.insert(0, {str(ROOT)!r})
        import pandas
        from judgekit.runs.store import RunStore, open_run
        if os.getuid() == 0:
            import tempfile; tempfile.tempdir = "/tmp"
            os.setuid(65534)
        for path in sys.argv[1:]:
            print(len(open_run(path).records))
            try:
                RunStore(path)
            except Exception as error:
                print(type(error).__name__, error)
    """
    for folder in (run, killed):
        for path in folder.iterdir():
            path.chmod(0o444)
        folder.chmod(0o555)
    temporary = Path(tempfile.gettempdir()).resolve()
    for parent in (tmp_path, *tmp_path.parents):
        if parent.is_relative_to(temporary) and parent != temporary:
            parent.chmod(parent.stat().st_mode | 0o055)
    try:
        said = child(reading, str(run), str(killed))
    finally:
        for folder in (run, killed):
            folder.chmod(0o755)
    lines = said.stdout.splitlines()
    assert [lines[0], lines[2]] == ["1", "1"], said.stderr
    assert lines[1].startswith("InputError")
    assert "--out" in lines[1]


def test_a_full_disk_is_a_sentence_and_what_was_written_stays(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run") as store:
        store.put_call(call("first"))
        pages = store.con.execute("PRAGMA page_count").fetchone()[0]
        store.con.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(InputError, match="disk is full"):
            store.put_call(call("second", text="x" * 100_000))
        assert store.is_served("first")
        assert not store.is_served("second")


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"SQLite format 3\x00" + b"\xff" * 4000])
def test_a_broken_file_is_refused_with_a_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "run.sqlite").write_bytes(content)
    for use in (open_run, RunStore):
        with pytest.raises(InputError) as caught:
            use(tmp_path)
        assert "run.sqlite" in str(caught.value)


def test_another_programs_database_and_a_newer_schema_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    con = sqlite3.connect(other / "run.sqlite")
    con.execute("CREATE TABLE t (x)")
    con.close()
    RunStore(tmp_path / "newer").close()
    con = sqlite3.connect(tmp_path / "newer" / "run.sqlite")
    con.execute("PRAGMA user_version = 99")
    con.close()
    for use in (open_run, RunStore):
        with pytest.raises(InputError, match="not made by judgekit"):
            use(other)
        with pytest.raises(InputError, match="newer judgekit"):
            use(tmp_path / "newer")
        with pytest.raises(InputError, match="newer judgekit"):
            use(tmp_path / "newer")  # the first refusal let go of the lock


def test_no_run_an_empty_run_and_one_killed_before_its_first_table(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run here"):
        open_run(tmp_path / "none")
    assert not (tmp_path / "none").exists()
    RunStore(tmp_path / "empty").close()
    (tmp_path / "zero").mkdir()
    (tmp_path / "zero" / "run.sqlite").touch()
    for name in ("empty", "zero"):
        run = open_run(tmp_path / name)
        for frame in (run.judgements, run.records, run.labels, run.measurements, run.calls, run.rubrics, run.latest()):
            assert len(frame) == 0
            assert len(frame.columns) > 5
    RunStore(tmp_path / "zero").close()


def test_a_closed_run_is_one_file_that_can_be_copied(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run") as store:
        store.put_records("d", [Record(id="1", response="a" * 100_000)])
    shutil.copy(tmp_path / "run" / "run.sqlite", tmp_path / "run.sqlite")
    assert open_run(tmp_path).records.response[0] == "a" * 100_000
    json.dumps(open_run(tmp_path).records.to_dict("records"), allow_nan=False)
