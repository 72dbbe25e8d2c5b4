"""`--plan` foresees exactly the calls that the command then makes, and writes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgekit.data import RecordSet
from judgekit.errors import UsageError
from judgekit.judging.engine.plan import make_plan
from judgekit.judging.engine.units import Options
from judgekit.judging.provider.types import JudgeSpec
from judgekit.records import Record
from judgekit.rubric import load_rubric
from tests.judging.judged import MINI, by_item, go, records, score, write_rubric
from tests.judging.provider import Provider
from tests.judging.test_checklist import WRITER, WRITTEN, answers, script


def test_what_is_planned_is_what_is_asked(provider: Provider, tmp_path: Path) -> None:
    rubric = write_rubric(tmp_path / "rubrics")
    twin = write_rubric(tmp_path / "rubrics", MINI.replace("rubric: mini", "rubric: twin"), "twin")
    data = RecordSet(
        [*records(4), Record(id="blank", question="q", response=""), Record(id="none", question="q")], name="d"
    )
    loaded = [load_rubric(str(rubric)), load_rubric(str(twin))]
    spec = [JudgeSpec("openai/fake", {}, provider.base)]
    options = Options(samples=2, price_in=1.0, price_out=2.0)
    first = make_plan([data], loaded, spec, tmp_path / "run", options)
    # 4 records x 2 samples; the twin asks the same words, so its 8 are reused; blank and missing need no call.
    assert (first.calls, first.reused, first.tokens_out_max) == (8, 8, 400)
    assert first.cost == pytest.approx((first.tokens_in * 1.0 + 400 * 2.0) / 1e6)
    assert not (tmp_path / "run").exists()
    provider.script = by_item(lambda i: "garbage" if i == 3 else score(2))
    outcome = go(provider, [rubric, twin], data, tmp_path / "run", samples=2, reasks=0)
    assert (outcome.calls, outcome.reused) == (8, 8)
    before = (tmp_path / "run" / "run.sqlite").read_bytes()
    second = make_plan([data], loaded, spec, tmp_path / "run", options)
    assert (second.calls, second.reused) == (2, 14), "garbage is asked again"
    assert (tmp_path / "run" / "run.sqlite").read_bytes() == before


def test_checklists_that_are_not_written_yet_are_said_to_be_assumed(provider: Provider, tmp_path: Path) -> None:
    write_rubric(tmp_path / "rubrics", WRITER, "writer")
    path = write_rubric(tmp_path / "rubrics", WRITTEN, "checklist")
    loaded, spec = [load_rubric(str(path))], [JudgeSpec("openai/fake", {}, provider.base)]
    plan = make_plan([answers()], loaded, spec, tmp_path / "run")
    assert plan.calls == 2 + 3 * 8
    assert any("8 criteria a question are assumed" in note for note in plan.notes)
    assert any("no max_tokens" in note for note in plan.notes)
    assert plan.unknown_price == ["openai/fake"]
    provider.script = script
    go(provider, path, answers(), tmp_path / "run")
    done = make_plan([answers()], loaded, spec, tmp_path / "run")
    assert (done.calls, done.reused, done.cost) == (0, 6, 0.0)
    assert json.dumps(done.to_dict())


@pytest.mark.parametrize(
    "wrong",
    [
        {"samples": 0},
        {"concurrency": 0},
        {"max_cost": -1.0},
        {"rpm": 0},
        {"price_in": 1.0},
        {"timeout_s": float("nan")},
    ],
)
def test_options_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        Options(**wrong)  # type: ignore[arg-type]
