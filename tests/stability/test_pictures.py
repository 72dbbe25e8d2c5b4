"""Pictures of a study: what they draw of their rows, and what they refuse to draw."""

from __future__ import annotations

import pytest

from judgekit.draw.spec import Bars, Intervals, Plot
from judgekit.errors import StatisticsError
from judgekit.stability.pictures import confidence_figure, funnel_figure, kinds_figure, sweep_figure


def test_the_funnel_stacks_what_was_dropped_on_what_was_kept() -> None:
    rows = [
        {"stage": "generated", "entered": 9, "kept": 7, "dropped": 2},
        {"stage": "final", "entered": 7, "kept": 7, "dropped": 0},
    ]
    figure = funnel_figure(rows, "s")
    chart = figure.charts[0]
    assert isinstance(chart, Bars)
    assert chart.stacked
    assert [list(bar.values) for bar in chart.rows] == [[7, 2], [7, 0]]
    assert figure.caption.startswith("9 variants were wanted")
    assert figure.signature == "s"


def test_the_sweep_leaves_out_judges_that_read_nothing() -> None:
    rows = [
        {"threshold": t, "accepted": n, "yes": n - 1, "no": 1, "undecided": None, "judged": 0, "current": t == 0.9}
        for t, n in ((0.8, 5), (0.9, 3))
    ]  # fmt: skip
    chart = sweep_figure(rows, "s").charts[0]
    assert isinstance(chart, Plot)
    assert [list(series.points) for series in chart.series] == [[(0.8, 5), (0.9, 3)]]
    assert [guide.points for guide in chart.guides] == [((0.9, 0), (0.9, 5))]
    chart = sweep_figure([row | {"undecided": 0} for row in rows], "s").charts[0]
    assert isinstance(chart, Plot)
    assert [series.name for series in chart.series] == ["accepted by the models", "judges: YES", "judges: NO"]


def test_kinds_stand_once_with_a_line_a_model() -> None:
    rows = [
        {"kind": kind, "model": model, "mvs": mvs, "mvs_low": 0.0, "mvs_high": 0.5}
        for kind, model, mvs in (("formal", "a", 0.1), ("formal", "b", None), ("short", "a", 0.2), ("short", "b", 0.3))
    ]  # fmt: skip
    chart = kinds_figure(rows, "s").charts[0]
    assert isinstance(chart, Intervals)
    assert [(row.name, row.index, row.value) for row in chart.rows] == [
        ("formal", 0, 0.1),
        ("", 1, None),
        ("short", 0, 0.2),
        ("", 1, 0.3),
    ]
    assert chart.legend == ["a", "b"]


def test_what_has_nothing_to_draw_says_so() -> None:
    for make, rows in (
        (sweep_figure, []),
        (confidence_figure, [{"model": "a", "confidence": None, "accuracy": 0.5}]),
        (kinds_figure, [{"kind": "formal", "model": "a", "mvs": None, "mvs_low": None, "mvs_high": None}]),
    ):
        with pytest.raises(StatisticsError, match="nothing to draw"):
            make(rows, "s")
