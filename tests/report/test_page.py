"""The page without a browser: what it says, that it is self-contained, escaped, and honest about what is not there."""

from __future__ import annotations

import dataclasses
import json
import re
import zlib
from base64 import b64decode
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from judgekit.errors import InputError, UsageError
from judgekit.records import Label, Record
from judgekit.report.texts import fill
from judgekit.report.write import make_report, write_report
from judgekit.rubric import load_rubric
from judgekit.runs.store import RunStore
from tests.report.runs import EVIL, evil, planted, write_run


class Page(HTMLParser):
    """Tags with attributes, visible text, and the contents of scripts by id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.scripts: dict[str, str] = {}
        self.pieces: list[str] = []
        self._inside: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._inside.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if self._inside and tag == self._inside[-1][0]:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self.words.append(data)
        elif self._inside[-1][1].get("id"):
            name = str(self._inside[-1][1]["id"])
            self.scripts[name] = self.scripts.get(name, "") + data
        elif self._inside[-1][1].get("class") == "records-piece":
            self.pieces.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).replace("\u00a0", " ").split())


def unpack(text: str) -> Any:
    return json.loads(zlib.decompress(b64decode(text.strip())))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("report") / "run", planted(3))


@pytest.fixture(scope="module")
def page(run: Path) -> Page:
    return Page(write_report(run, run.parent / "page.html").read_text("utf-8"))


def one_rater(tmp_path: Path, records: list[Record], **options: Any) -> Page:
    run = write_run(tmp_path / "run", records, rubrics=("analytical-rubric",), judges={"openai/j": 0.7}, **options)
    return Page(write_report(run, tmp_path / "page.html").read_text("utf-8"))


def test_everything_is_inside_and_named_by_hash(page: Page) -> None:
    for tag, attrs in page.tags:
        assert not any(name.startswith("on") or name == "style" for name in attrs), (tag, attrs)
        for name in ("src", "href", "action", "poster", "data"):
            value = attrs.get(name)
            assert value is None or value.startswith(("#", "data:")), (tag, value)
    policy = next(
        a["content"] for t, a in page.tags if t == "meta" and a.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert policy.count("sha256-") == 3  # two scripts, one style


def test_the_summary_says_what_triage_says(page: Page, run: Path) -> None:
    from judgekit.analysis.triage import triage

    found = triage(run)
    for row in found.operating_points:
        assert f"{row.point.flagged:g} of {row.point.n:g}" in page.text
        assert f"AUC {row.auc.value:.2f}" in page.text
    assert found.signature in page.text
    assert "4 rows are shown" in page.text


def test_no_nan_and_no_infinity_reach_the_page(page: Page, run: Path) -> None:
    assert not re.search(r"\b(nan|NaN|Infinity)\b", page.text)
    for name in ("slider-data", "records-data"):
        json.loads(page.scripts[name], parse_constant=lambda word: pytest.fail(word))


def test_every_figure_has_a_signature_a_table_and_a_download(page: Page) -> None:
    figures = sum(tag == "figure" for tag, _ in page.tags)
    drawings = [attrs for tag, attrs in page.tags if tag == "svg"]
    downloads = [attrs for tag, attrs in page.tags if tag == "a" and "download" in attrs]
    assert figures == len(drawings) > 15
    assert all(attrs["role"] == "img" and attrs["aria-labelledby"] for attrs in drawings)
    assert len(downloads) >= figures
    names = [attrs["id"] for _, attrs in page.tags if attrs.get("id")]
    assert len(names) == len(set(names)), "ids are unique"


def test_downloads_are_safe_in_a_spreadsheet(tmp_path: Path) -> None:
    record = dataclasses.replace(planted()[1], labels=(Label(rater="=1+1", complete=False, severity="@SUM(A1)"),))
    page = one_rater(tmp_path, [*planted(), dataclasses.replace(record, id="x", cluster="x")])
    tables = [
        b64decode(str(attrs["href"]).split(",", 1)[1]).decode("utf-8-sig")
        for tag, attrs in page.tags
        if tag == "a" and "download" in attrs
    ]
    cells = [cell for table in tables for line in table.splitlines() for cell in line.split(",")]
    assert any(cell.startswith("'=1+1") or cell.startswith("'@SUM") for cell in cells)
    assert not [cell for cell in cells if cell.startswith(("=", "@", "+"))]


def test_prompts_come_back_character_for_character_and_once(page: Page, run: Path) -> None:
    skeletons = unpack(page.scripts["records-skeletons"])
    entries = [entry for piece in page.pieces for entry in unpack(piece)]
    records = planted(3)
    rubrics = {name: load_rubric(name) for name in ("general-likert", "analytical-rubric")}
    series = json.loads(page.scripts["records-data"])["series"]
    assert len(entries) == len(records)
    for entry, record in zip(entries, records, strict=True):
        own = [entry[0], entry[1], entry[2], *(c[1] for c in entry[3])]
        for judgement in entry[6]:
            sent = rubrics[series[judgement[0]].split(" · ")[0]].asks(record)[0].messages
            back = [
                {
                    "role": m[0],
                    "content": fill(skeletons[m[1]], m[2], [own[f] if isinstance(f, int) else f for f in m[3]]),
                }
                for m in judgement[10][0][0]
            ]
            assert back == sent
    assert len(skeletons) <= 6, "the rubric's own words are kept once a wording, not once a record"


def test_slider_rows_hold_what_operating_point_gives(page: Page, run: Path) -> None:
    from fractions import Fraction

    from judgekit.analysis.triage import triage
    from judgekit.stats.operating_point import operating_point

    data = json.loads(page.scripts["slider-data"])
    assert data["target"] == [9, 10]
    for row, mine in zip(triage(run).operating_points, data["rows"], strict=True):
        used = row.cell.used
        for target in (Fraction(1, 2), Fraction(9, 10), Fraction(995, 1000), Fraction(1)):
            point = operating_point(row.cell.label[used] == 1, row.cell.score[used], target)
            at = next(i for i, c in enumerate(mine["c"]) if c * target.denominator >= target.numerator * mine["p"])
            assert (mine["c"][at], mine["c"][at] + mine["f"][at]) == (point.caught, point.flagged)
            assert float(mine["t"][at]) == point.threshold


def test_a_record_cannot_leave_its_place(tmp_path: Path) -> None:
    page = one_rater(tmp_path, [*planted(), evil()], dataset="d")
    scripts = [attrs for tag, attrs in page.tags if tag == "script" and attrs.get("type") is None]
    assert len(scripts) == 2
    assert not [tag for tag, attrs in page.tags if tag == "img" or "onerror" in attrs]
    entries = [entry for piece in page.pieces for entry in unpack(piece)]
    assert entries[-1][1] == EVIL
    assert entries[-1][5][0][7] == EVIL


def test_an_empty_run_says_so(tmp_path: Path) -> None:
    RunStore(tmp_path / "run").close()
    done = make_report(tmp_path / "run", tmp_path / "page.html", markdown=tmp_path / "s.md")
    page = Page(done.page.read_text("utf-8"))
    assert "No operating point" in page.text
    assert "holds no judgement" in page.text
    assert dict(done.left_out)["The records"] == "the run holds no record"
    assert "holds no judgement" in (tmp_path / "s.md").read_text("utf-8")


def test_one_class_is_no_verdict(tmp_path: Path) -> None:
    page = one_rater(tmp_path, [r for r in planted() if r.labels[0].complete is False])
    assert "every answer in the figures is labelled incomplete" in page.text
    assert "No verdict" in page.text
    assert "What is not here" in page.text


def test_all_unscored_is_no_verdict(tmp_path: Path) -> None:
    page = one_rater(tmp_path, planted(), unscored=1.0)
    assert "no answer is both scored and labelled" in page.text


def test_no_labels_at_all(tmp_path: Path) -> None:
    page = one_rater(tmp_path, [dataclasses.replace(r, labels=()) for r in planted()])
    assert "No verdict" in page.text
    assert "the run holds no label" in page.text


def test_one_rater_has_no_ceiling_and_says_so(tmp_path: Path) -> None:
    page = one_rater(tmp_path, planted())
    assert "no human ceiling" in page.text
    assert "one judge only" in page.text


def test_few_in_a_class_carry_no_verdict(tmp_path: Path) -> None:
    page = one_rater(tmp_path, planted()[:12], unscored=0.0)
    assert "Fewer than ten answers in a class carry no verdict" in page.text
    assert "To catch 90 %" not in page.text


def test_a_recall_that_is_none_is_refused(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="recall"):
        write_report(run, tmp_path / "p.html", recall="1.2")


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        write_report(tmp_path, tmp_path / "p.html")


def test_a_page_that_cannot_be_written_names_itself(run: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_report(run, tmp_path / "no" / "p.html")


def test_the_title_is_escaped(run: Path, tmp_path: Path) -> None:
    text = write_report(run, tmp_path / "p.html", title="<b>A & B</b>").read_text("utf-8")
    assert "<b>" not in text
    assert "A & B" in Page(text).text
