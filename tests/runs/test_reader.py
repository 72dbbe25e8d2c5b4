"""Reading: what a run is, and views that hold a part of one."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgekit.errors import InputError
from judgekit.records import Label, Record
from judgekit.runs.model import CallRow, Judgement, Measured, RubricRow
from judgekit.runs.reader import Run, is_run, open_run
from judgekit.runs.store import RunStore


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Two data sets x two rubrics x two judges, one record and one call each: 8 judgements."""
    with RunStore(tmp_path / "run") as store:
        for dataset in ("d1", "d2"):
            store.put_records(dataset, [Record(id="001", response="x", labels=(Label(construct="c", complete=True),))])
            store.put_measurements([Measured(dataset, "001", "m", "s", 0.5)])
            for rubric in ("r1", "r2"):
                store.put_rubric(RubricRow(rubric, "a", "s"))
                for judge in ("j1", "j2"):
                    key = f"{dataset}{rubric}{judge}"
                    store.put_call(CallRow(key, judge, "e", 0, "error", {}))
                    store.put_call(CallRow(key, judge, "e", 0, "ok", {}))
                    store.put_judgement(Judgement(dataset, "001", rubric, judge, 0, "a", "s", "ok", calls=[key]))
        store.begin_command(["judge"], "0")
    return open_run(tmp_path / "run")


def test_a_view_holds_only_what_was_selected(run: Run) -> None:
    view = run.select(dataset="d1", judge=["j2"])
    names = view.judgements[["dataset", "rubric", "judge"]].to_numpy().tolist()
    assert (
        names
        == [["d1", "r1", "j2"], ["d1", "r2", "j2"]]
        == view.latest()[["dataset", "rubric", "judge"]].to_numpy().tolist()
    )
    assert [set(frame.dataset) for frame in (view.records, view.labels, view.measurements)] == [{"d1"}] * 3
    # A call belongs to the judgements that rest on it, with the tries that failed before it.
    assert view.calls[["key", "served"]].to_numpy().tolist() == [
        ["d1r1j2", False], ["d1r1j2", True], ["d1r2j2", False], ["d1r2j2", True]
    ]  # fmt: skip
    assert view.rubrics.name.tolist() == ["r1", "r2"]
    narrow = view.select(rubric="r2")
    assert narrow.rubrics.name.tolist() == ["r2"]
    assert narrow.judgements.rubric.tolist() == ["r2"]
    assert len(narrow.commands) == 1
    assert len(run.judgements) == 8, "the run itself stays whole"
    assert len(run.select().calls) == 16


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"judge": "j22"}, "the run has no judge 'j22': did you mean 'j2'?"),
        ({"rubric": ["r1", "zzz"]}, "the run has no rubric 'zzz': choose from: r1, r2"),
        ({"dataset": ""}, "the run has no data set '': choose from: d1, d2"),
        ({"judge": []}, "no name is given: name one of: j1, j2"),
    ],
)
def test_a_name_that_the_run_has_nothing_of_is_an_error(run: Run, chosen: dict[str, object], words: str) -> None:
    with pytest.raises(InputError) as caught:
        run.select(**chosen)  # type: ignore[arg-type]
    assert words in str(caught.value)
    assert caught.value.field == next(iter(chosen))


def test_a_view_is_not_widened_again(run: Run) -> None:
    with pytest.raises(InputError, match="the run has no data set 'd2'"):
        run.select(dataset="d1").select(dataset="d2")


def test_a_run_is_a_folder_with_the_database_or_a_run_object(run: Run, tmp_path: Path) -> None:
    assert is_run(run)
    assert is_run(run.path)
    assert is_run(str(run.path))
    (tmp_path / "empty").mkdir()
    (tmp_path / "odd" / "run.sqlite").mkdir(parents=True)
    (tmp_path / "table.csv").write_text("id\n1\n")
    others = [
        tmp_path / "empty",
        tmp_path / "odd",
        tmp_path / "none",
        tmp_path / "table.csv",
        "a" * 9000,
        "\0",
        7,
        None,
    ]
    assert not any(map(is_run, others))
