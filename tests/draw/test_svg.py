"""The picture in a page: well-formed, named, escaped, and open to the page's script."""

from __future__ import annotations

from xml.etree import ElementTree

from judgekit.draw.layout import lay_out
from judgekit.draw.sheet import Words
from judgekit.draw.svg import svg
from tests.draw.charts import charts, figure

EVIL = "</text><script>alert(1)</script> & \"quotes\" 'too'"
SPACE = "{http://www.w3.org/2000/svg}"


def test_every_chart_is_well_formed_and_holds_every_word() -> None:
    for chart in charts(EVIL):
        picture = figure(chart, title=EVIL)
        root = ElementTree.fromstring(svg(picture))
        assert root.attrib["aria-labelledby"] == "f-t f-d"
        assert root[0].text == EVIL
        assert not list(root.iter(f"{SPACE}script"))
        words = [shape.text for _, sheet in lay_out(picture) for shape in sheet.shapes if isinstance(shape, Words)]
        assert [node.text or "" for node in root.iter(f"{SPACE}text")] == words


def test_a_script_finds_marks_lines_and_the_target() -> None:
    root = ElementTree.fromstring(svg(figure(charts("a")[0])))
    marks = [node.attrib for node in root.iter() if node.attrib.get("data-kind") == "roc"]
    assert [mark["data-mark"] for mark in marks] == [str(i) for i in range(9)]
    assert marks[0]["data-box"] == "52 14 330"
    assert [node.attrib["data-target"] for node in root.iter() if "data-target" in node.attrib] == ["0.9"]
    assert sum("data-row" in node.attrib for node in root.iter()) == 9


def test_two_charts_stand_in_one_picture() -> None:
    root = ElementTree.fromstring(svg(figure(*charts("a")[:2])))
    assert [node.attrib["transform"] for node in root.iter(f"{SPACE}g")] == ["translate(420 0)"]
