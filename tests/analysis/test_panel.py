"""A panel of judges: its mean, its majority, ties that nobody breaks, members that are missing and counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judgekit.analysis.agree import agree
from judgekit.analysis.said import Judged
from judgekit.analysis.source import open_source
from judgekit.analysis.triage import Triage, triage
from judgekit.cli.app import main
from judgekit.errors import InputError, StatisticsError, UsageError
from judgekit.records import Label, Record
from judgekit.runs.reader import Run
from tests.analysis.conftest import Build, judged

A, B, C = "m/a", "m/b", "m/c"

# Raw scores on 1..5, complete from 4 on (`analytical-rubric`); None is a judgement without a score.
#        a     b     c      mean   verdicts   majority of 3        a+b alone
SAID = {
    "1": (5, 4, 1),  # 10/3    c c i      complete             4.5, c c
    "2": (1, 2, 5),  # 8/3     i i c      incomplete           1.5, i i
    "3": (4, 1, None),  # -    c i -      undecided            2.5, tied
    "4": (5, 5, None),  # -    c c -      complete: 2 of 3     5, c c
    "5": (2, 1, 3),  # 2       i i i      incomplete           1.5, i i
}
INCOMPLETE = {"2", "5"}


def people(build: Build, said: dict[str, tuple[float | None, ...]] = SAID, labels: bool = True, **more: Any) -> Run:
    records = [
        Record(
            id=name, question=f"q{name}", response="x",
            labels=(Label(rater="r1", complete=name not in INCOMPLETE),) if labels else (),
        )
        for name in said
    ]  # fmt: skip
    made = [
        judged(name, raw=raw, judge=judge, **more)
        for name, raws in said.items()
        for judge, raw in zip((A, B, C), raws, strict=False)
    ]
    return build(records, made)


def panel(run: Run, how: str, **options: Any) -> tuple[Judged, list[str]]:
    source = open_source(run, Triage.of({"panel": how, **options}))
    (found,) = [one for one in source.judged if one.members]
    return found, source.left_out


def word(found: Judged) -> dict[str, tuple[Any, ...]]:
    return {key: (said.raw, said.complete, said.why) for key, said in found.said.items()}


def test_the_mean_needs_every_member(build: Build) -> None:
    found, notes = panel(people(build), "mean")
    assert found.judge == "panel(m/a + m/b + m/c, mean)"
    # 10/3, 8/3 and 2 are all under 4.
    assert word(found) == {
        "1": (10 / 3, False, None), "2": (8 / 3, False, None), "3": (None, None, "panel incomplete"),
        "4": (None, None, "panel incomplete"), "5": (2.0, False, None),
    }  # fmt: skip
    assert any("2 of 5 records (0 tied, 2 incomplete; unscored by m/c (invalid): 2)" in note for note in notes)


def test_the_majority_is_of_all_members_and_a_tie_stays_a_tie(build: Build) -> None:
    run = people(build)
    assert word(panel(run, "majority")[0]) == {
        "1": (1.0, True, None), "2": (0.0, False, None), "3": (None, None, "panel incomplete"),
        "4": (1.0, True, None), "5": (0.0, False, None),
    }  # fmt: skip
    two, _ = panel(run, "majority", judge=[A, B])
    assert word(two)["3"] == (None, None, "panel tied")
    assert two.said["3"].value == "1 to 1"


def test_the_order_of_the_judges_changes_nothing(build: Build) -> None:
    turned = {name: raws[::-1] for name, raws in SAID.items()}
    for how in ("mean", "majority"):
        assert word(panel(people(build), how)[0]) == word(panel(people(build, turned), how)[0])


def test_samples_are_averaged_before_the_panel_meets(build: Build) -> None:
    records = [Record(id="1", question="q", response="x")]
    # a: (5 + 2) / 2 = 3.5; b: 4, its second sample unscored. Mean 3.75: incomplete. Verdicts: a incomplete, b complete: a tie.
    made = [
        judged("1", raw=5, judge=A), judged("1", raw=2, judge=A, sample=1),
        judged("1", raw=4, judge=B), judged("1", raw=None, judge=B, sample=1),
    ]  # fmt: skip
    run = build(records, made)
    assert word(panel(run, "mean")[0]) == {"1": (3.75, False, None)}
    assert word(panel(run, "majority")[0]) == {"1": (None, None, "panel tied")}


def test_a_member_that_was_never_asked_is_missing_too(build: Build) -> None:
    run = build(
        [Record(id="1", question="q", response="x"), Record(id="2", question="q2", response="y")],
        [judged("1", raw=5, judge=A), judged("2", raw=5, judge=A), judged("1", raw=3, judge=B)],
    )
    found, notes = panel(run, "mean")
    assert word(found)["2"] == (None, None, "panel incomplete")
    assert any("unscored by m/b (not judged): 1" in note for note in notes)


def test_triage_takes_the_panel_as_one_more_judge(build: Build) -> None:
    found = triage(people(build), 0.9, panel="mean")
    rows = {row.values["judge"]: row.values for row in found.operating_points}
    assert list(rows) == [A, B, C, "panel(m/a + m/b + m/c, mean)"]
    row = rows["panel(m/a + m/b + m/c, mean)"]
    # Records 1, 2, 5 are scored: complete 10/3 above incomplete 8/3 and 2, so AUC 1; both are caught at 8/3, 2 of 3 read.
    assert (row["n"], row["n_incomplete"], row["n_unscored"], row["auc"]) == (3, 2, 2, 1.0)
    assert (row["threshold"], row["workload"]) == (pytest.approx(8 / 3), pytest.approx(2 / 3))
    assert "panel:mean" in found.signature
    assert "panel incomplete" in found.text()
    majority = {
        row.values["judge"]: row.values for row in triage(people(build), 0.9, panel="majority").operating_points
    }
    row = majority["panel(m/a + m/b + m/c, majority)"]
    # 1 and 4 complete, 2 and 5 incomplete, as their labels say; the fixed verdict is the majority itself, not raw >= 4.
    assert (row["n"], row["auc"], row["fixed"]["f1"]) == (4, 1.0, 1.0)


def test_agree_shows_the_panel_beside_its_members(build: Build) -> None:
    found = agree(people(build), panel="majority", replicates=10)
    name = "panel(m/a + m/b + m/c, majority)"
    judges = {row["a"]: row for row in found["judges"].rows}
    # The panel speaks on 4 of 5 records and says what the rater says on each.
    assert (judges[name]["n"], judges[name]["percent"]) == (4, 1.0)
    row = found["panel"].rows[0]
    # All three gave a verdict on records 1, 2 and 5, and only on 5 the same one.
    assert (row["all_said"], row["unanimous"]) == (3, pytest.approx(1 / 3))
    # Alpha by hand. Verdicts: 1: c c i, 2: i i c, 3: c i, 4: c c, 5: i i i; 13 in all, 6 complete and 7 incomplete.
    # A unit of m verdicts with k complete adds 2 k (m - k) / (m - 1) differing pairs: 2, 2, 2, 0, 0.
    # D_o = 6 / 13; D_e = 2 * 6 * 7 / (13 * 12) = 84 / 156; alpha = 1 - (6 / 13) / (84 / 156) = 1 - 72 / 84 = 1 / 7.
    assert row["alpha"] == pytest.approx(1 / 7)
    pairs = {(one["a"], one["b"]) for one in found["correlations"].rows}
    assert not any("panel" in word for pair in pairs for word in pair)


def test_without_labels_the_members_are_compared_alone(build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    run = people(build, labels=False)
    assert main(["agree", str(run.path), "--panel", "mean", "--replicates", "10", "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert body["panel"][0]["unscored_members"] == {"m/c (invalid)": 2}
    assert "no labels" in body["notes"][0]


def test_what_is_no_panel_is_refused(build: Build, tmp_path: Path) -> None:
    run = people(build)
    with pytest.raises(StatisticsError, match="two judges or more"):
        panel(run, "mean", judge=[A])
    with pytest.raises(InputError, match="no judge 'm/z'"):
        panel(run, "mean", judge=["m/z"])
    with pytest.raises(UsageError, match="median"):
        panel(run, "median")
    mixed = build(
        [Record(id="1", question="q", response="x")],
        [judged("1", raw=5, judge=A), judged("1", raw=4, judge=B, ask="other")],
    )
    with pytest.raises(StatisticsError, match="2 different wordings"):
        panel(mixed, "mean")
    table = tmp_path / "t.csv"
    table.write_text("incomplete,score\n1,2\n0,4\n", "utf-8")
    with pytest.raises(UsageError, match="--panel says nothing about a table"):
        triage(table, panel="mean")
