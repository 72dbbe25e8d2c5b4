"""Panels whose data most runs lack: reasons, metrics, stability, strata; their numbers are those of the analysis."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from judgekit.draw.svg import svg
from judgekit.report.model import Figure, Grid, LeftOut, Panel
from judgekit.report.write import make_context, sections, write_report
from judgekit.runs.reader import open_run
from tests.report.runs import planted, write_measurements, write_reasons, write_run, write_stability


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("panels")
    # Two writers, so that there is a field to split by.
    records = [dataclasses.replace(r, meta={**r.meta, "model": f"writer-{i % 2}"}) for i, r in enumerate(planted(2))]
    path = write_run(place / "run", records, rubrics=("analytical-rubric",))
    write_measurements(path)
    write_stability(path)
    write_reasons(path, place / "reasons")
    return path


@pytest.fixture(scope="module")
def panels(run: Path) -> dict[str, Panel | LeftOut]:
    return {one.name: one.panel for one in sections(make_context(run, reasons=run.parent / "reasons"))}


def figures(panel: Panel | LeftOut) -> dict[str, Figure]:
    assert isinstance(panel, Panel), panel
    return {block.name: block for block in panel.blocks if isinstance(block, Figure)}


def grids(panel: Panel | LeftOut) -> dict[str, Grid]:
    assert isinstance(panel, Panel), panel
    return {block.name: block for block in panel.blocks if isinstance(block, Grid)}


def test_nothing_is_left_out_of_a_run_that_has_everything(panels: dict[str, Panel | LeftOut]) -> None:
    assert {name: panel.reason for name, panel in panels.items() if isinstance(panel, LeftOut)} == {}


def test_reasons_are_those_of_the_analysis(panels: dict[str, Panel | LeftOut], run: Path) -> None:
    from judgekit.analysis.reasons import reasons

    found = reasons(run.parent / "reasons")
    drawn = figures(panels["reasons"])
    assert set(drawn) == {"alignment", "modes-fp", "modes-fn", "sankey"}
    everyone = {row["kind"]: row["yes"] for row in found["alignment"].rows if row["rubric"] == "all"}
    assert {row[0]: row[2] for row in drawn["alignment"].data.rows} == everyone
    flows = sum(row["count"] for row in found["flows"].rows)
    assert drawn["sankey"].caption.startswith(f"n = {flows} pairs")
    # Each rubric's band and each mode's band: two bands a flow at most, none of no width.
    widths = [float(w) for w in re.findall(r'stroke-width="([0-9.]+)"', svg(drawn["sankey"]))]
    assert len(widths) >= len(found["flows"].rows)
    assert min(widths) > 0


def test_stability_shows_every_wording(panels: dict[str, Panel | LeftOut]) -> None:
    table = grids(panels["stability"])["stability-judge-0-table"]
    assert [row[0] for row in table.printed] == ["same wording", "formal", "levels turned"]
    assert table.printed[2][2] == "0.310"
    assert table.printed[0][3] == "–"  # the noise has no excess over itself


def test_metrics_count_what_is_not_defined(panels: dict[str, Panel | LeftOut], run: Path) -> None:
    table = grids(panels["metrics"])["metric-values"]
    frame = open_run(run).measurements
    for row in table.rows:
        part = frame[frame["metric"] == row[0]]
        assert (row[2], row[3]) == (int(part["value"].notna().sum()), int(part["value"].isna().sum()))
    assert sum(row[3] for row in table.rows) > 0


def test_strata_are_drawn_by_a_field_that_splits(panels: dict[str, Panel | LeftOut]) -> None:
    drawn = figures(panels["strata"])
    assert any("writer-0" in figure.says for figure in drawn.values())


def test_per_rater_results_stand_beside_the_join(panels: dict[str, Panel | LeftOut]) -> None:
    assert {row[0] for row in grids(panels["reviewer"])["per-rater"].rows} == {"r1", "r2", "majority"}


def test_severity_adds_up_to_the_records_and_bounds_are_above_the_shares(panels: dict[str, Panel | LeftOut]) -> None:
    drawn = figures(panels["severity"])
    assert all(sum(row[2] for row in figure.data.rows) == 123 for figure in drawn.values())
    for row in grids(panels["severity"])["misses-by-severity"].rows:
        assert row[5] > row[4] or row[4] == 1


def test_levels_add_up_to_the_records(panels: dict[str, Panel | LeftOut]) -> None:
    for name, figure in figures(panels["levels"]).items():
        if not name.startswith("levels-"):
            continue
        *rows, total = figure.data.rows
        assert [sum(row[i] for row in rows) for i in (1, 2, 3)] == total[1:]
        assert sum(total[1:]) == 123


def test_boxes_hold_the_quarters_of_the_scores(panels: dict[str, Panel | LeftOut]) -> None:
    import statistics

    drawn = figures(panels["levels"])
    bars, boxes = drawn["levels-0"].data.rows, drawn["boxes-0"].data.rows
    for place, row in enumerate(boxes, 1):  # the scores, from their counts by level
        scores = [float(level) for level, *counts in bars[:-2] for _ in range(counts[place - 1])]
        quarters = statistics.quantiles(scores, n=4, method="inclusive")
        expected = [statistics.fmean(scores), statistics.stdev(scores), min(scores), *quarters, max(scores)]
        assert row[1] == len(scores)
        assert row[2:] == pytest.approx(expected)


def test_models_of_a_rewording_study_are_drawn(tmp_path: Path) -> None:
    from types import SimpleNamespace

    from judgekit.report.panels.stability import _models

    model = {"model": "a", "questions": 9, "scored": 8, "variants": 20, "mvs": 0.2, "mvs_low": 0.1, "mvs_high": 0.4}
    kinds = [{"model": "a", "kind": "formal", "mvs": 0.2, "mvs_low": None, "mvs_high": None}]
    unsure = [{"model": "a", "variants": 20, "confidence": None, "accuracy": 0.5, "reason": "no probabilities"}]
    found = SimpleNamespace(models=[model], kinds=kinds, comparisons=[], confidence=unsure, signature="s", notes=["n"])
    blocks = {getattr(block, "name", "notes"): block for block in _models(found)}
    assert list(blocks) == [
        "stability-mvs",
        "stability-wci-rarefied",
        "stability-kinds",
        "stability-confidence",
        "notes",
    ]
    assert isinstance(blocks["stability-kinds"], Figure)
    assert isinstance(blocks["stability-confidence"], Grid)  # nothing to draw, so the table says why


def test_many_distinct_scores_are_binned(run: Path) -> None:
    import numpy as np

    from judgekit.analysis.cells import Cell
    from judgekit.analysis.triage.row import make_row
    from judgekit.analysis.triage.work import make_choices
    from judgekit.report.panels.levels import levels

    score = np.append(np.linspace(0, 1, 50), np.nan)
    cell = Cell("d", "r", "j", None, tuple(map(str, range(51))), score, np.array([1, 0] * 25 + [1], dtype=np.int8))
    found = levels(make_row(cell, make_choices("0.9")))
    assert len(found) <= 13
    assert sum(row[1] + row[2] for row in found) == 51
    assert found[-1] == ("unscored", 1, 0, 0)


def test_a_panel_of_another_package_is_found(run: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import sys

    (tmp_path / "extra_panel.py").write_text(
        "from judgekit.report.model import LeftOut\nTITLE, ORDER = 'Extra', 5\ndef build(context):\n    return LeftOut('nothing today')\n"
    )
    info = tmp_path / "extra-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: extra\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[judgekit.panels]\nextra = extra_panel\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    text = write_report(run, tmp_path / "p.html").read_text("utf-8")
    sys.modules.pop("extra_panel", None)
    assert "nothing today" in text


def test_local_metrics_are_set_against_the_labels_when_asked(run: Path) -> None:
    context = make_context(run, metrics=["all"])
    judges = {row.cell.judge for row in context.rows}
    assert {"openai/careful-judge", "openai/hasty-judge"} < judges
    assert len(judges) == 6  # and four metrics


def test_odd_runs_are_shown_and_not_refused(tmp_path: Path) -> None:
    """Two data sets, conversations, samples, an unnamed rater, scores off the scale, half a character, no answer at all."""
    from judgekit.records import Label, Turn
    from judgekit.rubric import load_rubric
    from judgekit.runs.model import Judgement
    from judgekit.runs.store import RunStore

    path = write_run(tmp_path / "run", planted(2)[:30], dataset="one", rubrics=("analytical-rubric",))
    odd = Label(construct="safety", rater=None, complete=None, severity="odd \ud800 word", value={"x": [1, 2.0]})
    talks = [
        dataclasses.replace(
            r, question=(Turn("user", "hi"), Turn("assistant", "yes?"), Turn("user", str(r.question))), labels=(odd,)
        )
        for r in planted()[:9]
    ]
    blank = [dataclasses.replace(r, response="", labels=()) for r in planted()[9:12]]
    rubric = load_rubric("analytical-rubric")
    with RunStore(path) as store:
        for dataset, records in (("two \u202e x", talks), ("three", blank)):
            store.put_records(dataset, records)
            store.use(dataset, rubric.name, "m/x", rubric.ask_fingerprint, rubric.score_fingerprint)
            for sample in range(3):
                for record in records:
                    store.put_judgement(
                        Judgement(
                            dataset=dataset, record_id=record.id, rubric=rubric.name, judge="m/x", sample=sample, status="ok",
                            ask=rubric.ask_fingerprint, score_fp=rubric.score_fingerprint, raw=98989.0 if sample else 1.5,
                        )
                    )  # fmt: skip
    text = write_report(path, tmp_path / "p.html").read_text("utf-8")
    assert "no answer is both scored and labelled" in text
    assert not re.search(r"\bNaN\b|\bnan\b", re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL))


def test_the_ceiling_draws_each_judge_above_its_clinicians(panels: dict[str, Panel | LeftOut]) -> None:
    from judgekit.draw.spec import Intervals

    figure = figures(panels["agreement"])["ceiling-kappa-0"]
    chart = figure.charts[0]
    assert isinstance(chart, Intervals)
    expected = [value for row in figure.data.rows for value in ((row[0], row[2]), ("", row[5]))]
    assert [(mark.name, mark.value) for mark in chart.rows] == expected


def test_heat_maps_show_counts_with_the_share_of_their_row(panels: dict[str, Panel | LeftOut]) -> None:
    from judgekit.draw.spec import Heat

    for panel, name in (("severity", "severity-0"), ("reasons", "alignment")):
        chart = figures(panels[panel])[name].charts[0]
        assert isinstance(chart, Heat)
        for row in chart.cells:
            counts = [int(cell.text.split("\n")[0]) for cell in row]
            shares = [float(cell.text.split("\n")[1].removesuffix(" %")) if "\n" in cell.text else 0 for cell in row]
            assert shares == pytest.approx([100 * n / sum(counts) for n in counts], abs=0.6)
            assert [cell.value for cell in row] == pytest.approx([n / sum(counts) for n in counts])
