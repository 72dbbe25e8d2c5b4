"""Where things stand, by hand; and that no word of any chart, however long or odd, leaves its picture."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from judgekit.draw.layout import lay_out, ticks
from judgekit.draw.sheet import SIZES, Mark, Rect, Sheet, Stroke, Words, room, wrap
from judgekit.draw.spec import Axis, Bar, Bars, Box, Boxes, Chart, Interval, Intervals, Plot, Sankey, Series
from tests.draw.charts import charts, figure


def drawn(chart: Chart) -> Sheet:
    return lay_out(figure(chart))[0][1]


def strokes(sheet: Sheet, kind: str) -> list[Stroke]:
    return [shape for shape in sheet.shapes if isinstance(shape, Stroke) and shape.kind == kind]


@given(st.text(max_size=60))
@example("openai/gpt-4o-mini-2024-07-18(temperature=0.0,max_tokens=1200) · analytical-rubric")
@example("W" * 80)
@example("严重遗漏" * 20)
def test_no_word_leaves_its_picture(name: str) -> None:
    for chart in charts(name):
        sheet = drawn(chart)
        for shape in sheet.shapes:
            if not isinstance(shape, Words):
                continue
            wide, tall = room(shape.text, SIZES[shape.kind]), SIZES[shape.kind]
            if shape.turned:
                wide, tall = tall, wide
            left = shape.x - wide * {"start": 0, "middle": 0.5, "end": 1}[shape.anchor]
            assert left >= -0.01, (chart, shape)
            assert left + wide <= sheet.width + 0.01, (chart, shape)
            assert 0 < shape.y <= sheet.height, (chart, shape)


@given(st.text(max_size=80), st.floats(20, 200), st.integers(1, 5))
def test_wrapping_loses_nothing_without_an_ellipsis(text: str, width: float, lines: int) -> None:
    out = wrap(text, width, lines)
    assert len(out) <= lines
    assert all(room(line) <= width for line in out)
    if not any(line.endswith("…") for line in out):
        assert "".join("".join(out).split()) == "".join(text.split())


def test_ticks_are_round_and_few() -> None:
    assert ticks(0, 1) == [0, 0.2, 0.4, 0.6, 0.8, 1]
    assert ticks(-0.5, 1) == [-0.5, 0, 0.5, 1]
    assert ticks(0, 3, whole=True) == [0, 1, 2, 3]
    assert ticks(0, 123, whole=True) == [0, 50, 100]
    assert ticks(0.7, 0.95) == [0.7, 0.75, 0.8, 0.85, 0.9, 0.95]


def test_a_point_stands_where_its_numbers_say() -> None:
    # The square is 330 wide from 52 on, and 330 high from 14 on: (.5, .25) is at 52 + 165, and 14 + 330 * .75.
    chart = Plot(Axis("a"), Axis("b"), [Series("s", [(0, 0), (0.5, 0.25)], mark=(0.5, 0.25))])
    marks = [shape for shape in drawn(chart).shapes if isinstance(shape, Mark)]
    assert (marks[0].x, marks[0].y) == (217, 261.5)
    assert list(strokes(drawn(chart), "curve")[0].points) == [(52, 344), (217, 261.5)]


def test_steps_go_up_before_they_go_on() -> None:
    # A recall between two levels needs the workload of the upper one: (0, 0), up to (0, .5), on to (1, .5).
    chart = Plot(Axis("a"), Axis("b"), [Series("s", [(0, 0), (1, 0.5)], steps=True)])
    assert list(strokes(drawn(chart), "curve")[0].points) == [(52, 344), (52, 179), (382, 179)]


def test_bars_are_as_high_as_their_counts() -> None:
    # 190 pixels stand for the highest: 4 of 4, and stacked 4 of 6 with 2 upon it.
    rows = [Bar("x", [4, 2]), Bar("y", [1, 0])]
    for stacked, heights in ((False, [190, 95, 47.5, 0]), (True, [190 * 4 / 6, 190 * 2 / 6, 190 / 6])):
        sheet = drawn(Bars(["a", "b"], rows, "n", stacked=stacked))
        bars = [shape for shape in sheet.shapes if isinstance(shape, Rect) and shape.tip]
        assert [bar.height for bar in bars] == pytest.approx(heights)
        assert bars[0].tip == "x, a: 4"
    kept, dropped = bars[:2]
    assert dropped.y + dropped.height == pytest.approx(kept.y)  # upon, not beside


def test_an_undefined_value_is_words_and_no_mark() -> None:
    sheet = drawn(Intervals([Interval("a", None, note="one rater only")], Axis("kappa")))
    assert not [shape for shape in sheet.shapes if isinstance(shape, Mark)]
    assert "one rater only" in [shape.text for shape in sheet.shapes if isinstance(shape, Words)]


def test_a_box_holds_the_middle_half() -> None:
    # 1 to 5 is 250 pixels: from 2 to 4 are 125, and the mean 3 stands in the middle.
    sheet = drawn(Boxes([Box("a", 1, 2, 2.5, 4, 5, 3)], Axis("score", 1, 5)))
    box = next(shape for shape in sheet.shapes if isinstance(shape, Rect))
    mean = next(shape for shape in sheet.shapes if isinstance(shape, Mark))
    assert (box.height, mean.y) == (125, box.y + 62.5)


def test_bands_are_as_wide_as_their_counts() -> None:
    widths = {
        shape.tip: shape.width
        for shape in drawn(Sankey([("a", "b", 3), ("a", "c", 1)])).shapes
        if hasattr(shape, "end")
    }
    assert widths["a to b: 3"] == pytest.approx(3 * widths["a to c: 1"])


def test_charts_stand_beside_each_other() -> None:
    one = Plot(Axis("a"), Axis("b"), [])
    assert [left for left, _ in lay_out(figure(one, one))] == [0, 420]  # 400 wide, and a gap of 20
