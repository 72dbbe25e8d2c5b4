"""The picture for a paper: each kind of file, its metadata, the same bytes twice, and no word beyond its edge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from judgekit.draw.paper import save
from judgekit.errors import InputError
from tests.draw.charts import charts, figure

pytest.importorskip("matplotlib", reason="pictures need matplotlib: pip install 'clinical-judgekit[report]'")
NAME = "openai/gpt-4o-mini-2024-07-18 · $x_1$ analytical-rubric 12345"


def test_png_svg_and_pdf_say_what_they_are(tmp_path: Path) -> None:
    from matplotlib.image import imread

    picture = figure(charts(NAME)[0], signature="judgekit 0|$n$=12")
    for kind in ("png", "svg", "pdf"):
        save(picture, tmp_path / f"a.{kind}")
        save(picture, tmp_path / f"b.{kind}")
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
    assert imread(tmp_path / "a.png").shape[1] == 1250  # 400 pixels of 96 an inch, 300 dots an inch
    assert b"Description\x00judgekit 0|$n$=12" in (tmp_path / "a.png").read_bytes()
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    assert "judgekit 0|$n$=12" in (tmp_path / "a.svg").read_text("utf-8")


@pytest.mark.parametrize("place", range(len(charts(""))))
def test_no_word_of_any_chart_is_cut(place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.figure import Figure

    seen: list[Any] = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: seen.append(self))
    save(figure(charts(NAME)[place], title=NAME * 3, signature="judgekit|" + "a=1," * 200), tmp_path / "a.png")
    drawing = seen[0]
    renderer = drawing.canvas.get_renderer()
    texts = drawing.axes[0].texts
    assert NAME[:12] in " ".join(text.get_text() for text in texts)
    for text in texts:
        box = text.get_window_extent(renderer)
        assert box.x0 >= -1, text
        assert box.x1 <= drawing.bbox.x1 + 1, text
        assert box.y0 >= -1, text
        assert box.y1 <= drawing.bbox.y1 + 1, text


def test_what_cannot_be_drawn_or_written_says_so(tmp_path: Path) -> None:
    picture = figure(charts("a")[0])
    with pytest.raises(InputError, match=r"\.gif") as error:
        save(picture, tmp_path / "p.gif")
    assert error.value.mend == "end in .png, .svg or .pdf"
    with pytest.raises(InputError, match="cannot write the picture"):
        save(picture, tmp_path / "none" / "p.png")
