"""The first screen: whose work is saved, by how much, how sure, and in which colour that may be said."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from judgekit.analysis.triage.row import Row
from judgekit.report.context import Context
from judgekit.report.model import Figure, Grid, Panel, Says
from judgekit.report.panels.headline import build, headline
from judgekit.report.panels.summary import sentence
from judgekit.report.write import make_context
from tests.report.runs import planted, write_run


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Context:
    return make_context(write_run(tmp_path_factory.mktemp("headline") / "run", planted(3)))


def by_workload(context: Context) -> list[Row]:
    return sorted(context.rows, key=lambda row: row.values["workload_all"])


def test_one_headline_one_figure_one_table_of_at_most_seven_columns(context: Context) -> None:
    panel = build(context)
    assert isinstance(panel, Panel)
    assert [type(block) for block in panel.blocks] == [Says, Figure, Grid]
    table = panel.blocks[2]
    assert isinstance(table, Grid)
    assert table.titles is not None
    assert len(table.titles) <= 7
    assert [row[0] for row in table.rows] == [context.name(row) for row in by_workload(context)]
    # Left unread is what triage's workload with the unscored leaves.
    assert [row[2] for row in table.rows] == [1 - row.values["workload_all"] for row in by_workload(context)]


def test_the_headline_counts_what_the_best_judge_leaves(context: Context) -> None:
    row = by_workload(context)[0]
    said = headline(context, by_workload(context))
    n = row.values["n"] + row.values["n_unscored"]
    assert f"{row.values['n'] - int(row.point.flagged or 0)} of {n} answers" in said.text
    assert f"({row.point.caught:g} of {row.point.n_incomplete:g})" in said.text
    assert "The best of 4" in said.text


def test_a_threshold_chosen_on_the_same_records_is_never_green(context: Context) -> None:
    rows = by_workload(context)
    assert rows[0].values["optimistic"]
    assert headline(context, rows).tone == "warn"
    beforehand = [row.with_values(optimistic=False) for row in rows]
    assert headline(context, beforehand).tone == "good"


@pytest.mark.parametrize("optimistic", [True, False])
def test_a_judge_that_saves_nothing_is_never_green(context: Context, optimistic: bool) -> None:
    # Reading as many as a random order needs saves nothing, however well the scores rank (here an AUC of .82 or so).
    rows = [
        dataclasses.replace(row, point=dataclasses.replace(row.point, workload=row.baselines.random)).with_values(optimistic=optimistic)
        for row in by_workload(context)
    ]  # fmt: skip
    assert rows[0].headline.interval.low is not None
    assert rows[0].headline.interval.low > 0.5
    said = headline(context, rows)
    assert (said.tone, said.mark) == ("bad", "Saves nothing")
    assert {sentence(row)[0] for row in rows} == {"warn"}


def test_scores_that_are_not_shown_to_rank_are_never_green_and_never_first(context: Context) -> None:
    # Made to leave most unread: a judge whose interval of the AUC holds .5 (its scores are nearly drawn by lot).
    shown = by_workload(context)[0].with_values(optimistic=False)
    lucky = next(row for row in context.rows if (row.headline.interval.low or 0) < 0.5)
    lucky = dataclasses.replace(lucky, point=dataclasses.replace(lucky.point, workload=0.1)).with_values(
        workload_all=0.1, optimistic=False
    )
    assert headline(context, [lucky, shown]).text.startswith(f"With {context.name(shown)},")
    said = headline(context, [lucky])
    assert (said.tone, said.mark) == ("warn", "Not shown to beat chance")


def test_no_verdict_is_no_headline(tmp_path: Path) -> None:
    few = make_context(write_run(tmp_path / "run", planted()[:12], rubrics=("analytical-rubric",), unscored=0.0))
    said = headline(few, list(few.rows))
    assert (said.tone, said.mark) == ("warn", "No verdict")
