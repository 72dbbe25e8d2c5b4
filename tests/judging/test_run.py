"""The judge path over real HTTP: what is asked, what is not asked again, and what ends unscored."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from judgekit.data import RecordSet, load_records
from judgekit.errors import BudgetError, InputError, ProviderError, UsageError
from judgekit.judging.engine.run import run_judges
from judgekit.judging.engine.schedule import Budget
from judgekit.judging.engine.units import Options
from judgekit.judging.provider.types import JudgeSpec
from judgekit.records import Criterion, Label, Record
from judgekit.registry import library_files
from judgekit.rubric import load_rubric
from judgekit.rubric.spec import RetrieveSpec
from judgekit.runs.model import Bill
from judgekit.runs.store import RunStore, open_run
from tests.judging.judged import CASE, CHECKLIST, MINI, by_item, go, item, records, score, write_rubric
from tests.judging.provider import Provider, Say


@pytest.fixture
def rubric(tmp_path: Path) -> Path:
    return write_rubric(tmp_path / "rubrics")


def test_each_record_is_judged_once_and_the_scale_is_mapped_by_its_ends(
    provider: Provider, rubric: Path, tmp_path: Path
) -> None:
    provider.script = by_item(lambda i: score(i + 1))
    outcome = go(provider, rubric, records(3), tmp_path / "run")
    assert outcome.to_dict() == {
        "run": str(tmp_path / "run"), "dataset": "d", "judgements": 3, "ok": 3, "rule": 0, "unscored": {}, "calls": 3,
        "reused": 0, "cost": None, "cost_total": None, "stopped": None,
    }  # fmt: skip
    assert outcome.exit_code == 0
    run = open_run(tmp_path / "run")
    frame = run.judgements
    assert frame.record_id.tolist() == ["000", "001", "002"]
    assert frame.raw.tolist() == [1.0, 2.0, 3.0]
    assert frame.score.tolist() == [0.0, 0.5, 1.0]
    assert frame.complete.tolist() == [False, True, True]
    assert run.rubrics.scale[0]["score"][0] == {"value": 1, "label": "bad", "text": "misses the point"}
    assert run.rubrics.resolved[0]["complete_when"] == ">= 2"


def test_changing_nothing_asks_nothing(provider: Provider, rubric: Path, tmp_path: Path) -> None:
    provider.script = score(2)
    go(provider, rubric, records(4), tmp_path / "run")
    before = open_run(tmp_path / "run").judgements
    provider.reset(score(3))
    again = go(provider, rubric, records(4), tmp_path / "run")
    assert (provider.count, again.calls, again.reused, again.ok, again.cost) == (0, 0, 4, 4, 0.0)
    assert open_run(tmp_path / "run").judgements.equals(before), "not even the time is touched"


@pytest.mark.parametrize(
    ("change", "asked"),
    [
        ("anchor", 3),
        ("part", 3),
        ("model", 3),
        ("temperature", 3),
        ("title", 0),
        ("version", 0),
        ("threshold", 0),
        ("empty rule", 0),
    ],
)
def test_what_asks_again_and_what_does_not(
    provider: Provider, rubric: Path, tmp_path: Path, change: str, asked: int
) -> None:
    provider.script = score(2)
    data = RecordSet([*records(3), Record(id="blank", question="q", response=" ")], name="d")
    go(provider, rubric, data, tmp_path / "run")
    provider.reset(score(2))
    text, case, models, sampling = MINI, CASE, ["openai/fake"], {}
    if change == "anchor":
        text = text.replace("says all", "says everything")
    elif change == "part":
        case = CASE.replace("Answer:", "Reply:")
    elif change == "model":
        models = ["openai/other"]
    elif change == "temperature":
        sampling = {"temperature": 0.7}
    elif change == "title":
        text = text.replace("A small rubric", "Another title")
    elif change == "version":
        text = text.replace('"1"', '"2"')
    elif change == "threshold":
        text = text.replace(">= 2", ">= 3")
    else:
        text = text.replace("{raw: 1}", "{raw: 3}")
    write_rubric(rubric.parent, text, case=case)
    outcome = go(provider, rubric, data, tmp_path / "run", models=models, sampling=sampling)
    assert (provider.count, outcome.calls, outcome.ok, outcome.rule) == (asked, asked, 3, 1)
    run = open_run(tmp_path / "run")
    latest = run.latest()
    mine = latest[latest.judge == ("openai/fake(temperature=0.7)" if sampling else models[0])]
    assert mine.complete.tolist() == [change != "threshold"] * 3 + [change == "empty rule"]
    assert len(mine) == 4, "one row a record"
    old = 4 if change in ("anchor", "part") else 0
    assert sum(one["n"] for one in latest.attrs["left_out"]) == old


def test_a_changed_threshold_scores_everything_anew_also_what_was_not_asked_for(
    provider: Provider, rubric: Path, tmp_path: Path
) -> None:
    provider.script = score(2)
    go(provider, rubric, records(5), tmp_path / "run")
    write_rubric(rubric.parent, MINI.replace(">= 2", ">= 3"))
    go(provider, rubric, records(5)[:2], tmp_path / "run")
    assert open_run(tmp_path / "run").latest().complete.tolist() == [False] * 5
    assert provider.count == 5


def test_a_bad_reply_is_kept_for_the_eye_and_never_served(
    provider: Provider, rubric: Path, tmp_path: Path
) -> None:  # CASE 2
    provider.script = ["I would rather chat.", score(3)]
    outcome = go(provider, rubric, records(1), tmp_path / "run")
    assert (provider.count, outcome.calls, outcome.ok) == (2, 1, 1)
    call = open_run(tmp_path / "run").calls.iloc[0]
    assert [attempt["text"] for attempt in call.attempts] == ["I would rather chat.", score(3)]
    again = go(provider, rubric, records(1), tmp_path / "run")
    assert (provider.count, again.calls, again.reused) == (2, 0, 1)


def test_garbage_across_commands_is_asked_again_and_all_of_it_is_kept(
    provider: Provider, rubric: Path, tmp_path: Path
) -> None:
    provider.script = "nonsense"
    first = go(provider, rubric, records(1), tmp_path / "run", reasks=1)
    assert (first.unscored, first.exit_code, provider.count) == ({"invalid": 1}, 3, 2)
    provider.reset(score(3))
    second = go(provider, rubric, records(1), tmp_path / "run", reasks=1)
    assert (second.ok, second.unscored, provider.count) == (1, {}, 1)
    calls = open_run(tmp_path / "run").calls
    assert calls.status.tolist() == ["invalid", "ok"]
    assert len(calls.attempts[0]) == 2


def test_what_cannot_be_read_stays_out_of_the_denominator_and_is_counted(
    provider: Provider, rubric: Path, tmp_path: Path
) -> None:  # CASE 4: of five records one is a refusal, one garbage, one drops the key, one blank
    def say(i: int) -> str | Say:
        return {
            0: score(3),
            1: Say(None, refusal="I cannot judge this."),
            2: '{"score": "partly"}',
            3: '{"grade": 3}',
        }[i]

    provider.script = by_item(say)
    data = RecordSet([*records(4), Record(id="blank", question="q", response="")], name="d")
    outcome = go(provider, rubric, data, tmp_path / "run", reasks=1)
    assert (outcome.judgements, outcome.ok, outcome.rule) == (5, 1, 1)
    assert outcome.unscored == {"invalid": 2, "refused": 1}
    assert provider.count == 1 + 1 + 2 + 2
    frame = open_run(tmp_path / "run").judgements.set_index("record_id")
    assert frame.loc["002"].raw is None
    assert frame.loc["003"].raw is None
    assert frame.loc["003"].reason
    assert frame.loc["blank"].raw == 1.0
    provider.reset()
    go(provider, rubric, data, tmp_path / "run", reasks=0)
    assert sorted(item(body) for body in provider.bodies) == [2, 3], "a refusal is an answer; garbage is asked again"


def test_a_blank_response_without_a_rule_and_a_missing_input_are_skipped_with_the_reason(
    provider: Provider, rubric: Path, tmp_path: Path
) -> None:
    write_rubric(rubric.parent, MINI.replace("when_response_empty: {raw: 1}\n", ""))
    data = RecordSet(
        [Record(id="a", question="q", response="\n"), Record(id="b", response="x"), Record(id="c", question="q")],
        name="d",
    )
    outcome = go(provider, rubric, data, tmp_path / "run")
    assert (outcome.unscored, outcome.exit_code, provider.count) == ({"skipped": 3}, 3, 0)
    reasons = open_run(tmp_path / "run").judgements.reason.tolist()
    assert "blank" in reasons[0]
    assert reasons[1] == "the record lacks question"
    assert reasons[2] == "the record lacks response"
    whole = RecordSet([Record(id="b", question="q", response="x")], name="d")
    provider.script = score(2)
    assert go(provider, rubric, whole, tmp_path / "run").ok == 1


def test_a_changed_record_is_judged_anew_and_the_old_text_costs_nothing_when_it_comes_back(
    provider: Provider, rubric: Path, tmp_path: Path
) -> None:
    provider.script = score(2)
    go(provider, rubric, records(2), tmp_path / "run")
    changed = RecordSet([records(2)[0], Record(id="001", question="question of item1", response="another")], name="d")
    provider.reset(score(3))
    assert go(provider, rubric, changed, tmp_path / "run").calls == 1
    assert open_run(tmp_path / "run").judgements.raw.tolist() == [2.0, 3.0]
    provider.reset(score(1))
    assert go(provider, rubric, records(2), tmp_path / "run").calls == 0
    assert open_run(tmp_path / "run").judgements.raw.tolist() == [2.0, 2.0]


def test_new_labels_ask_nothing(provider: Provider, rubric: Path, tmp_path: Path) -> None:
    provider.script = score(2)
    go(provider, rubric, records(2), tmp_path / "run")
    assert go(provider, rubric, records(2, labels=(Label(complete=True),)), tmp_path / "run").calls == 0
    run = open_run(tmp_path / "run")
    assert len(run.judgements) == len(run.labels) == 2


def test_the_same_question_is_sent_once_across_data_sets_rubrics_and_in_flight(
    provider: Provider, rubric: Path, tmp_path: Path
) -> None:
    # Two names for one rubric text, two sets with the same texts: 8 judgements rest on 2 calls.
    provider.script = Say(score(2), delay=0.2)
    twin = write_rubric(rubric.parent, MINI.replace("rubric: mini", "rubric: twin"), "twin")
    sets = [records(2), RecordSet(list(records(2)), name="e")]
    outcome = go(provider, [rubric, twin], sets, tmp_path / "run")
    assert (outcome.ok, outcome.calls, outcome.reused, provider.count) == (8, 2, 6, 2)
    assert outcome.dataset == "d, e"


def test_samples_are_told_apart_by_their_number(provider: Provider, rubric: Path, tmp_path: Path) -> None:
    provider.script = lambda body, n: score(n % 3 + 1)
    assert go(provider, rubric, records(1), tmp_path / "run", samples=2).calls == 2
    assert go(provider, rubric, records(1), tmp_path / "run", samples=5).calls == 3
    frame = open_run(tmp_path / "run").judgements
    assert frame["sample"].tolist() == [0, 1, 2, 3, 4]
    assert go(provider, rubric, records(1), tmp_path / "run", samples=2).judgements == 2


def test_two_rubrics_and_two_models_advance_together(provider: Provider, rubric: Path, tmp_path: Path) -> None:
    provider.script = Say(score(2), delay=0.01)
    twin = write_rubric(
        rubric.parent, MINI.replace("rubric: mini", "rubric: twin").replace("You judge.", "You grade."), "twin"
    )
    outcome = go(
        provider, [rubric, twin], records(10), tmp_path / "run", models=["openai/a", "openai/b"], concurrency=2
    )
    assert outcome.ok == 40
    first = provider.bodies[:20]
    for wanted in ("a", "b"):
        share = [body for body in first if body["model"] == wanted]
        assert 6 <= len(share) <= 14
    for words in ("You judge.", "You grade."):
        assert 6 <= sum(body["messages"][0]["content"] == words for body in first) <= 14


# criteria


def checklist_records() -> RecordSet:
    criteria = (Criterion("c1", "rest"), Criterion("c2", "see a doctor"), Criterion("c3", "harm", points=-2))
    return RecordSet(
        [
            Record(id="1", question="item1", response="r", criteria=criteria),
            Record(id="2", question="item2", response="r"),
        ],
        name="d",
    )


def test_criteria_are_asked_each_and_a_fraction_is_scored(provider: Provider, tmp_path: Path) -> None:
    # c1 met, c2 not, c3 is negative and left out: 1/2.
    path = write_rubric(tmp_path / "rubrics", CHECKLIST, "checklist")
    provider.script = lambda body, n: json.dumps({"met": "rest" in body["messages"][-1]["content"]})
    outcome = go(provider, path, checklist_records(), tmp_path / "run")
    assert (outcome.ok, outcome.unscored, outcome.calls) == (1, {"skipped": 1}, 3)
    frame = open_run(tmp_path / "run").judgements
    assert frame.raw.tolist() == [0.5, None]
    assert frame.verdict[0] == {"criteria": {"c1": {"met": True}, "c2": {"met": False}, "c3": {"met": False}}}
    assert [criterion["id"] for criterion in frame.criteria[0]] == ["c1", "c2", "c3"]
    assert len(frame.calls[0]) == 3
    assert frame.tokens_in[0] == sum(open_run(tmp_path / "run").calls.tokens_in)
    assert "criterion" in frame.reason[1]


def test_criteria_asked_together_go_out_in_one_call(provider: Provider, tmp_path: Path) -> None:
    path = write_rubric(tmp_path / "rubrics", CHECKLIST.replace("ask: each", "ask: together"), "checklist")
    provider.script = json.dumps({"1": {"met": True}, "2": {"met": True}, "3": {"met": False}})
    outcome = go(provider, path, checklist_records(), tmp_path / "run")
    assert (outcome.ok, provider.count) == (1, 1)
    assert open_run(tmp_path / "run").judgements.raw[0] == 1.0


def test_one_missing_criterion_leaves_the_judgement_unscored_and_only_that_one_is_asked_again(
    provider: Provider, tmp_path: Path
) -> None:
    path = write_rubric(tmp_path / "rubrics", CHECKLIST, "checklist")
    provider.script = lambda body, n: "hm" if "doctor" in body["messages"][-1]["content"] else '{"met": true}'
    outcome = go(provider, path, checklist_records(), tmp_path / "run", reasks=0)
    assert outcome.unscored == {"invalid": 1, "skipped": 1}
    row = open_run(tmp_path / "run").judgements.iloc[0]
    assert (row.raw, row.verdict) == (None, None)
    assert row.reason == "1 of 3 calls gave no verdict (c2: invalid)"
    provider.reset('{"met": false}')
    assert go(provider, path, checklist_records(), tmp_path / "run").calls == 1
    assert open_run(tmp_path / "run").judgements.raw[0] == 0.5


# the end


def test_the_budget_stops_before_it_is_passed_and_a_larger_one_goes_on(
    provider: Provider, rubric: Path, tmp_path: Path
) -> None:
    # A reply costs 1 dollar: one token in at nothing, one out at a million dollars a million. max_tokens 50 bounds a call
    # without re-asks at 50 dollars. With 60: calls start while spent + 50 <= 60, that is after 0, 1, ..., 10: 11 calls.
    provider.script = Say(score(2), usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2})
    price = {"price_in": 0.0, "price_out": 1e6, "reasks": 0, "concurrency": 4}
    first = go(provider, rubric, records(20), tmp_path / "run", max_cost=60.0, **price)
    assert (first.stopped, first.exit_code, provider.count) == ("budget", 4, 11)
    assert (first.judgements, first.ok, first.cost) == (11, 11, pytest.approx(11.0))
    second = go(provider, rubric, records(20), tmp_path / "run", max_cost=100.0, **price)
    assert (second.stopped, second.ok, second.calls, second.reused) == (None, 20, 9, 11)
    assert second.cost == pytest.approx(9.0)
    assert second.cost_total == pytest.approx(20.0)


def test_a_re_ask_that_might_pass_the_budget_is_left_out(provider: Provider, rubric: Path, tmp_path: Path) -> None:
    # A try may cost 50 and costs 1. The first reserves 50 of 60; a re-ask would need 50 more while the 50 are still held.
    garbage = Say("?", usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2})
    provider.script = garbage
    price = {"price_in": 0.0, "price_out": 1e6, "concurrency": 1}
    outcome = go(provider, rubric, records(2), tmp_path / "run", max_cost=60.0, **price)
    assert (outcome.stopped, outcome.unscored, provider.count, outcome.cost) == ("budget", {"invalid": 1}, 1, 1.0)
    assert "passed the budget" in open_run(tmp_path / "run").judgements.reason[0]
    # With 120: 50 + 50 held for the first re-ask, the second would make 150.
    provider.reset(garbage)
    outcome = go(provider, rubric, records(2), tmp_path / "run", max_cost=120.0, **price)
    assert (outcome.stopped, provider.count, outcome.cost) == ("budget", 2, 2.0)
    # With enough all three tries of both are made: 6 dollars.
    provider.reset(garbage)
    outcome = go(provider, rubric, records(2), tmp_path / "run", max_cost=500.0, **price)
    assert (outcome.stopped, outcome.unscored, provider.count, outcome.cost) == (None, {"invalid": 2}, 6, 6.0)


ONE_OUT = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
A_DOLLAR_OUT = {"price_in": 0.0, "price_out": 1e6, "reasks": 0, "tries": 1}


def test_the_budget_is_the_runs_over_all_commands(provider: Provider, rubric: Path, tmp_path: Path) -> None:
    # A reply costs 1 dollar and may cost 50. With 52.5, calls start after 0, 1 and 2 dollars; the same command adds none.
    provider.script = Say(score(2), usage=ONE_OUT)
    for _ in range(3):
        outcome = go(provider, rubric, records(9), tmp_path / "run", max_cost=52.5, **A_DOLLAR_OUT)
        assert (outcome.stopped, provider.count, outcome.cost_total) == ("budget", 3, 3.0)


def test_tries_without_a_bill_count_against_the_next_commands_budget_and_are_told_as_bounds(
    provider: Provider, rubric: Path, tmp_path: Path
) -> None:
    # One reply of 1 dollar, two that were cut and may have cost 50 each: at least 1, at most 101 dollars.
    provider.script = lambda body, n: Say(score(2), usage=ONE_OUT) if item(body) == 0 else Say(body=b'{"id": "x", "cho')
    first = go(provider, rubric, records(3), tmp_path / "run", **A_DOLLAR_OUT)
    assert (first.cost, first.bill, first.bill_total) == (None, Bill(1.0, 101.0), Bill(1.0, 101.0))
    assert (first.to_dict()["cost_at_least"], first.to_dict()["cost_total_at_most"]) == (1.0, 101.0)
    assert str(first.rows[0].bill) == "at least $1.0000, at most $101.00"
    provider.reset(Say(score(2), usage=ONE_OUT))
    second = go(provider, rubric, records(3), tmp_path / "run", max_cost=150.0, **A_DOLLAR_OUT)
    assert (second.stopped, provider.count) == ("budget", 0)
    third = go(provider, rubric, records(3), tmp_path / "run", max_cost=160.0, **A_DOLLAR_OUT)
    assert (third.stopped, third.cost, third.bill_total) == (None, 2.0, Bill(3.0, 103.0))


def test_a_reply_of_unknown_usage_gives_bounds_never_unknown_for_the_whole(
    provider: Provider, rubric: Path, tmp_path: Path
) -> None:
    provider.script = by_item(lambda i: Say(score(2), usage=None if i == 1 else ONE_OUT))
    outcome = go(provider, rubric, records(3), tmp_path / "run", **A_DOLLAR_OUT)
    assert (outcome.ok, outcome.bill, outcome.rows[0].bill) == (3, Bill(2.0, 52.0), Bill(2.0, 52.0))


def test_what_a_killed_command_had_in_flight_counts(tmp_path: Path, provider: Provider, rubric: Path) -> None:
    with RunStore(tmp_path / "run") as store:
        number = store.begin_command(["judgekit"], "0")
        budget = Budget(100.0, 0.0, lambda reserved: store.in_flight(number, reserved))
        assert (budget.reserve(50.0), budget.reserve(20.0), budget.reserve(50.0)) == ("ok", "ok", "wait")
    with RunStore(tmp_path / "run") as store:  # it never said that it ended
        assert store.bill() == Bill(0.0, 70.0)
    provider.script = Say(score(2), usage=ONE_OUT)
    assert go(provider, rubric, records(1), tmp_path / "run", max_cost=110.0, **A_DOLLAR_OUT).stopped == "budget"
    assert go(provider, rubric, records(1), tmp_path / "run", max_cost=121.0, **A_DOLLAR_OUT).bill_total == Bill(
        1.0, 71.0
    )


def test_a_call_that_outlasts_its_time_may_be_billed(provider: Provider, rubric: Path, tmp_path: Path) -> None:
    provider.script = Say(score(2), delay=5)
    outcome = go(provider, rubric, records(1), tmp_path / "run", timeout_s=0.2, **A_DOLLAR_OUT)
    assert (outcome.unscored, outcome.bill) == ({"error": 1}, Bill(0.0, 50.0))


def test_models_may_have_prices_of_their_own(provider: Provider, rubric: Path, tmp_path: Path) -> None:
    provider.script = Say(score(2), usage=ONE_OUT)
    outcome = go(
        provider, rubric, records(2), tmp_path / "run", models=("openai/a", "openai/b"), price_in=0.0,
        price_out={"": 1e6, "openai/b": 3e6},
    )  # fmt: skip
    assert [(row.judge, row.cost) for row in outcome.rows] == [("openai/a", 2.0), ("openai/b", 6.0)]


def test_a_judges_own_word_on_passing_that_its_score_contradicts_is_flagged(provider: Provider, tmp_path: Path) -> None:
    text = MINI.replace("verdict:\n", 'verdict:\n  pass: {boolean: "Does it pass?"}\n')
    path = write_rubric(tmp_path / "rubrics", text)
    provider.script = by_item(lambda i: json.dumps({"pass": i == 1, "score": "3" if i < 2 else "1"}))
    go(provider, path, records(3), tmp_path / "run")
    # complete is >= 2: said false at 3, true at 3, false at 1
    assert open_run(tmp_path / "run").judgements["flags"].tolist() == [["conflict_with_score:pass"], [], []]


@pytest.mark.parametrize("status", [307, 308, 302])
def test_a_redirect_to_another_server_is_not_followed(
    provider: Provider, rubric: Path, tmp_path: Path, status: int
) -> None:
    other = Provider(score(2)).start()
    try:
        provider.script = Say("", status=status, headers={"Location": f"{other.base}/chat/completions"})
        outcome = go(provider, rubric, records(2), tmp_path / "run")
    finally:
        other.stop()
    assert (outcome.exit_code, other.count) == (5, 0)
    assert "which nobody named" in str(outcome.error)


@pytest.mark.parametrize("word", ["option", "environment"])
def test_local_only_refuses_other_machines_before_anything_is_sent(
    provider: Provider, rubric: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    options: dict[str, Any] = {"local_only": True} if word == "option" else {}
    if word == "environment":
        monkeypatch.setenv("JUDGEKIT_LOCAL_ONLY", "1")
    provider.script = score(2)
    assert go(provider, rubric, records(1), tmp_path / "run", **options).ok == 1
    for model in ("openai/gpt-5-mini", "anthropic/claude-sonnet-4-5"):
        with pytest.raises(UsageError, match="only calls on this machine"):
            go(None, rubric, records(1), tmp_path / "away", models=(model,), **options)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://192.0.2.1/v1")
    with pytest.raises(UsageError, match=r"192\.0\.2\.1"):
        go(None, rubric, records(1), tmp_path / "away", **options)
    # and a redirect, or whatever else litellm would open, ends at the same door
    provider.script = Say("", status=307, headers={"Location": "http://192.0.2.1/v1/chat/completions"})
    assert go(provider, rubric, records(2), tmp_path / "run", **options).exit_code == 5


@pytest.mark.parametrize("coat", ["{}", "Bearer {}", "https://x.example/?key={}", '{{"explanation": "{}"}}'])
@pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 500])
def test_a_key_that_a_provider_sends_back_is_kept_nowhere(
    provider: Provider, rubric: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, coat: str, status: int,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    key = "sk-canary/+=0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    provider.script = Say(coat.format(key), status=status)
    spec = JudgeSpec("openai/fake", {}, provider.base.replace("//", "//me:pass-word-1@"), None)
    outcome = asyncio.run(
        run_judges([records(1)], [load_rubric(str(rubric))], [spec], tmp_path / "run", Options(tries=1, reasks=0))
    )
    said = json.dumps(outcome.to_dict()) + str(outcome.rows) + str(outcome.error) + "".join(capsys.readouterr())
    kept = b"".join(path.read_bytes() for path in (tmp_path / "run").iterdir() if path.is_file())
    for secret in (key, "pass-word-1"):
        assert secret not in said
        assert secret.encode() not in kept


def test_a_budget_is_refused_where_a_price_is_unknown(provider: Provider, rubric: Path, tmp_path: Path) -> None:
    provider.script = score(2)
    with pytest.raises(BudgetError, match="openai/fake is unknown"):
        go(provider, rubric, records(1), tmp_path / "run", max_cost=1.0)
    assert provider.count == 0
    assert go(provider, rubric, records(1), tmp_path / "run", max_cost=1.0, allow_unknown_price=True).ok == 1


def test_a_provider_that_refuses_us_stops_the_work_and_keeps_what_was_done(
    provider: Provider, rubric: Path, tmp_path: Path
) -> None:
    provider.script = lambda body, n: score(2) if n < 3 else Say("bad key", status=401)
    outcome = go(provider, rubric, records(20), tmp_path / "run", concurrency=1)
    assert (outcome.exit_code, outcome.ok, outcome.stopped, provider.count) == (5, 3, None, 4)
    assert isinstance(outcome.error, ProviderError)
    assert outcome.to_dict()["error"]["kind"] == "provider"
    provider.reset(score(2))
    assert go(provider, rubric, records(20), tmp_path / "run").calls == 17


def test_a_storm_of_429_loses_nothing(provider: Provider, rubric: Path, tmp_path: Path) -> None:
    provider.script = lambda body, n: (
        Say("slow down", status=429, headers={"Retry-After": "0"}) if n % 3 != 2 else score(2)
    )
    outcome = go(provider, rubric, records(30), tmp_path / "run", concurrency=8)
    assert (outcome.ok, outcome.calls, outcome.unscored) == (30, 30, {})
    assert len(open_run(tmp_path / "run").calls) == 30


def test_a_failing_call_ends_as_error_and_is_tried_again_by_the_next_command(
    provider: Provider, rubric: Path, tmp_path: Path
) -> None:
    provider.script = by_item(lambda i: Say("overloaded", status=503) if i == 1 else score(2))
    outcome = go(provider, rubric, records(3), tmp_path / "run", tries=2)
    assert (outcome.ok, outcome.unscored, outcome.exit_code) == (2, {"error": 1}, 3)
    call = open_run(tmp_path / "run").calls.set_index("status").loc["error"]
    assert len(call.attempts) == 2
    assert "overloaded" in call.reason
    provider.reset(score(3))
    assert go(provider, rubric, records(3), tmp_path / "run").calls == 1
    assert len(open_run(tmp_path / "run").judgements) == 3


def test_nobody_at_the_address_is_a_provider_fault(rubric: Path, tmp_path: Path, provider: Provider) -> None:
    provider.script = Say(hang_up=True)
    outcome = go(provider, rubric, records(8), tmp_path / "run", tries=1, concurrency=1)
    assert (outcome.exit_code, outcome.unscored) == (5, {"error": 3})


def test_only_two_and_nine_run_again_after_a_kill_in_the_last_write(
    provider: Provider, rubric: Path, tmp_path: Path
) -> None:  # CASE 7, end to end: 2 failed, 9's write was lost
    nine = RecordSet([Record(id=str(i), question=f"item{i}", response="x") for i in range(1, 10)], name="d")
    provider.script = by_item(lambda i: "?" if i == 2 else score(2))
    go(provider, rubric, nine, tmp_path / "run", reasks=0)
    with RunStore(tmp_path / "run") as store:
        row = store.judgement("d", "9", "mini", "openai/fake", 0, open_run(tmp_path / "run").judgements.ask[0])
        assert row is not None
        store.con.execute("DELETE FROM calls WHERE key = ?", (row.calls[0],))
        store.con.execute("DELETE FROM judgements WHERE record_id = '9'")
    provider.reset(score(2))
    outcome = go(provider, rubric, nine, tmp_path / "run")
    assert sorted(item(body) for body in provider.bodies) == [2, 9]
    assert (outcome.judgements, outcome.ok) == (9, 9)
    assert open_run(tmp_path / "run").judgements.record_id.is_unique


def test_names_twice_and_nothing_to_do_are_refused(provider: Provider, rubric: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="mini is named twice"):
        go(provider, [rubric, rubric], records(1), tmp_path / "run")
    with pytest.raises(InputError, match="no judge is named"):
        go(provider, rubric, records(1), tmp_path / "run", models=[])
    assert not (tmp_path / "run").exists()


def test_memory_stays_flat_units_are_made_as_they_are_needed() -> None:
    from judgekit.judging.engine.units import units
    from judgekit.judging.provider.types import JudgeSpec

    made: list[int] = []

    class Endless(RecordSet):
        def __iter__(self) -> Any:
            for i in range(10**9):
                made.append(i)
                yield Record(id=str(i))

    source = units([Endless([], name="d")], ["r1", "r2"], JudgeSpec("m"), 3)  # type: ignore[list-item]
    taken = [next(source) for _ in range(12)]
    assert len(made) == 2
    assert [(unit.record.id, unit.sample, unit.rubric) for unit in taken[:3]] == [
        ("0", 0, "r1"),
        ("0", 0, "r2"),
        ("0", 1, "r1"),
    ]


def _fill(schema: dict[str, Any]) -> Any:
    """Some value that a schema allows."""
    if "enum" in schema:
        return schema["enum"][-1]
    if schema["type"] == "object":
        return {name: _fill(inner) for name, inner in schema["properties"].items()}
    if schema["type"] == "array":
        return [_fill(schema["items"])] * 3
    return {"boolean": True, "number": 1, "integer": 1, "string": "some words"}[schema["type"]]


@pytest.mark.parametrize("name", sorted(library_files("rubrics", ".yaml")))
def test_every_rubric_that_ships_runs_scores_and_resumes(provider: Provider, tmp_path: Path, name: str) -> None:
    compiled = load_rubric(name)
    if isinstance(compiled.spec.examples, RetrieveSpec):
        pytest.skip(f"{name} retrieves from {compiled.spec.examples.source}, which must be fetched first")
    provider.script = lambda body, n: (
        json.dumps(_fill(body["response_format"]["json_schema"]["schema"]))
        if "response_format" in body
        else "Some words."
    )
    data = load_records("planted-omissions", limit=2)
    path = library_files("rubrics", ".yaml")[name]
    outcome = go(provider, path, data, tmp_path / "run")
    assert outcome.judgements == 2
    assert set(outcome.unscored) <= {"skipped"}, "a record may lack an input; nothing else may go wrong"
    again = go(provider, path, data, tmp_path / "run")
    assert (again.calls, again.reused) == (0, outcome.calls + outcome.reused)
    frame = open_run(tmp_path / "run").judgements
    if compiled.spec.score is not None and outcome.ok:
        assert all(raw is not None for raw in frame.raw)


def completion(message: dict[str, Any]) -> Say:
    """A completion without usage whose message is exactly this."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    return Say(body={"id": "x", "object": "chat.completion", "created": 1, "model": "fake", "choices": [choice]})


def test_content_in_parts_is_read(provider: Provider, rubric: Path, tmp_path: Path) -> None:
    parts = [
        {"type": "thinking", "thinking": "3, or 1?"},
        {"type": "text", "text": '{"score": '},
        {"type": "text", "text": "2}"},
    ]
    provider.script = completion({"content": parts})
    outcome = go(provider, rubric, records(2), tmp_path / "run")
    assert (outcome.ok, provider.count) == (2, 2)
    assert open_run(tmp_path / "run").judgements.raw.tolist() == [2.0, 2.0]


def test_an_answer_that_says_neither_text_nor_tokens_cost_something_unknown(
    provider: Provider, rubric: Path, tmp_path: Path
) -> None:
    provider.script = completion({})
    outcome = go(provider, rubric, records(1), tmp_path / "run", price_in=1.0, price_out=1.0)
    assert outcome.unscored == {"invalid": 1}
    assert (outcome.cost, outcome.cost_total, outcome.rows[0].cost) == (None, None, None)


def test_one_record_and_a_provider_that_never_answers_is_the_providers_fault(
    provider: Provider, rubric: Path, tmp_path: Path
) -> None:
    provider.script = Say(hang_up=True)
    outcome = go(provider, rubric, records(1), tmp_path / "run", tries=1)
    assert (outcome.exit_code, outcome.unscored, outcome.stopped) == (5, {"error": 1}, None)
    assert isinstance(outcome.error, ProviderError)
    provider.script = lambda body, n: Say(hang_up=True) if item(body) == 0 else score(2)
    outcome = go(provider, rubric, records(2), tmp_path / "run", tries=1)
    assert (outcome.exit_code, outcome.ok, outcome.unscored) == (3, 1, {"error": 1}), "somebody answers there"


def test_data_without_a_record_is_not_a_success(provider: Provider, rubric: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no record"):
        go(provider, rubric, records(0), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_verdict_that_stands_only_in_the_reasoning_is_kept_for_the_eye_and_never_taken(
    provider: Provider, rubric: Path, tmp_path: Path
) -> None:
    provider.script = Say(None, reasoning=score(3))
    outcome = go(provider, rubric, records(1), tmp_path / "run")
    assert outcome.unscored == {"invalid": 1}
    (call,) = open_run(tmp_path / "run").calls.to_dict("records")
    assert [attempt["reasoning"] for attempt in call["attempts"]] == [score(3)] * 3
    assert "there is reasoning" in call["reason"]
