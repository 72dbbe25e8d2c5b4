"""A whole study over real HTTP: rewordings, verification, audit in two rounds, answers, scores; every drop has a reason."""

from __future__ import annotations

import csv
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from judgekit.errors import DataError, InputError, UsageError
from judgekit.judging.engine.units import Options
from judgekit.metrics.nli import Verdict
from judgekit.runs.model import Measured
from judgekit.runs.store import RunStore
from judgekit.stability.ask import ask_by_choice, questions_of, stored_answers
from judgekit.stability.audit import agreement, differing, import_sheet, make_sheet, write_sheet
from judgekit.stability.make import make_study
from judgekit.stability.scores import score_study
from judgekit.stability.study import ANSWERS, NAME, Study, load_study
from judgekit.stability.variants import KINDS
from judgekit.stability.verify import holds_at, sweep, verify_study
from tests.judging.provider import Provider, Say
from tests.stability.script import Script, questions, writer

N = 3
# Of ten kinds a question: 1 refused, 1 unchanged, 1 with another number, 1 about something else; 6 go on.
GOOD = 6


@pytest.fixture
def script(provider: Provider) -> Script:
    made = Script()
    provider.script = made
    return made


def make(provider: Provider, out: Path, n: int = N) -> Study:
    make_study(questions(n), writer(provider), out, ner=None, rules="drop", quiet=True)
    return load_study(out)


def judges(provider: Provider) -> list[Any]:
    return [writer(provider, "judge-a"), writer(provider, "judge-b")]


def drops(study: Study) -> dict[str, dict[str, int]]:
    return {row["stage"]: row["reasons"] for row in study.funnel() if row["reasons"]}


def adds_up(study: Study) -> None:
    """All wanted = final + everything that any stage drops; and each row continues the one before."""
    rows = study.funnel()
    assert rows[0]["entered"] == len(study.variants)
    assert rows[-1]["kept"] == len(study.final())
    assert sum(row["dropped"] for row in rows) + rows[-1]["kept"] == len(study.variants)
    for before, after in itertools.pairwise(rows):
        assert after["entered"] == before["kept"]
    assert all(sum(row["reasons"].values()) == row["dropped"] for row in rows)


def test_rewordings_are_made_again_where_they_are_not_distinct(
    provider: Provider, script: Script, tmp_path: Path
) -> None:
    study = make(provider, tmp_path / "s")
    by_kind = {row["kind"]: row for row in study.variants if row["base"] == "q0"}
    assert list(by_kind) == list(KINDS)
    assert by_kind["abbreviation-expansion"]["tries"] == 2
    assert by_kind["abbreviation-compression"]["status"] == "unchanged"
    assert by_kind["redundancy-trimming"]["status"] == "failed"
    assert "refused" in by_kind["redundancy-trimming"]["reason"]
    assert [item["says"] for item in by_kind["clinical-to-lay"]["violations"]] == [
        "number: 45 year became 54 year",
    ]
    # 10 kinds, one of them twice, two of them three times: 10 + 1 + 2 + 2 = 15 a question
    assert provider.count == 15 * N
    assert provider.bodies[0]["temperature"] == 0.35
    adds_up(study)
    rows = [json.loads(line) for line in (tmp_path / "s" / "variants.jsonl").read_text().splitlines()]
    assert len(rows) == 10 * N
    assert {"stem", "text", "kind", "tries", "similarity", "violations", "writer", "history"} <= set(rows[0])


def test_the_same_command_again_asks_nothing(provider: Provider, script: Script, tmp_path: Path) -> None:
    first = make(provider, tmp_path / "s")
    provider.reset()
    assert make(provider, tmp_path / "s").make == first.make
    assert provider.count == 0


@pytest.mark.parametrize("at", [1, 22])
def test_a_make_that_died_goes_on_and_comes_to_the_same(
    provider: Provider, script: Script, tmp_path: Path, at: int
) -> None:
    whole = make(provider, tmp_path / "whole")
    asked = provider.count
    script.asked.clear()
    provider.reset(lambda body, n: Say("your key is wrong", status=401) if n >= at else script(body, n))
    spent = make_study(
        questions(N),
        writer(provider),
        tmp_path / "s",
        ner=None,
        rules="drop",
        options=Options(concurrency=1),
        quiet=True,
    )
    assert spent.error is not None
    assert spent.exit_code == 5
    partial = load_study(tmp_path / "s")
    adds_up(partial)
    assert any(row["status"] == "pending" for row in partial.variants)
    done = at
    provider.reset(script)
    again = make(provider, tmp_path / "s")
    assert done + provider.count == asked
    assert [(row["id"], row["status"], row["text"]) for row in again.variants] == [
        (row["id"], row["status"], row["text"]) for row in whole.variants
    ]


def test_verified_audited_and_scored(provider: Provider, script: Script, tmp_path: Path) -> None:
    out = tmp_path / "s"
    make(provider, out)
    provider.reset()
    verify_study(out, ["rules"], judges(provider), quiet=True)
    # Two judges read what the models let through.
    assert provider.count == 2 * GOOD * N
    study = load_study(out)
    adds_up(study)
    assert drops(study)["rules"] == {"changed number": N}
    assert drops(study)["nli"] == {"no entailment both ways": N}
    assert drops(study)["judges"] == {"a judge said NO; not offered again": N}

    # Round 1: everything that the models let through, blinded and shuffled.
    sheet = make_sheet(out, 1, seed=7)
    path = tmp_path / "sheet.csv"
    write_sheet(sheet, path)
    text = path.read_text("utf-8-sig")
    assert not any(word in text for word in ("reordering", "judge", "entail", "documentation", "q0~"))
    assert [item["id"] for item in sheet["items"]] != sorted(item["id"] for item in sheet["items"])
    assert make_sheet(out, 1, seed=7) == sheet  # the seed decides the order
    accepted = list(sheet["items"])
    no = next(item["item"] for item in accepted if "format-shift" in item["id"])
    fill(path, tmp_path / "one.csv", lambda item: "no" if item == no else "Yes")
    counts = import_sheet(out, tmp_path / "one.csv", "dr-one", 1)
    assert counts == {"offered": len(accepted), "yes": len(accepted) - 1, "no": 1, "blank": 0}
    adds_up(load_study(out))
    assert drops(load_study(out))["expert"] == {"an expert said the meaning changed": 1}

    # Round 2: only what the judges rejected; two of three are taken back.
    second = make_sheet(out, 2)
    assert {item["id"].partition("~")[2] for item in second["items"]} == {"documentation-style"}
    write_sheet(second, tmp_path / "two.csv")
    back = second["items"][0]["item"]
    fill(tmp_path / "two.csv", tmp_path / "two-filled.csv", lambda item: "no" if item == back else "yes")
    import_sheet(out, tmp_path / "two-filled.csv", "dr-one", 2)
    study = load_study(out)
    adds_up(study)
    rows = {row["stage"]: row for row in study.funnel()}
    assert rows["reinstated"]["kept"] - rows["reinstated"]["entered"] == N - 1
    assert rows["judges"]["reasons"] == {"a judge said NO; an expert agreed in round 2": 1}
    assert study.missing_stages() == ["entailment was decided by rules, a baseline that knows words and no medicine"]
    final = [json.loads(line) for line in (out / "final.jsonl").read_text().splitlines()]
    assert len(final) == N + len(study.final())
    assert {row["meta"]["base"] for row in final} == {"q0", "q1", "q2"}

    # Two models answer; one flips on one kind.
    provider.reset()
    for name in ("steady", "fickle"):
        ask_by_choice(out, writer(provider, name), quiet=True, logprobs=False)
    asked = provider.count
    assert asked == 2 * len(final)
    ask_by_choice(out, writer(provider, "fickle"), quiet=True, logprobs=False)
    assert provider.count == asked  # nothing twice
    found = score_study(out, replicates=200, permutations=1000)
    steady, fickle = found.models
    assert steady["mvs"] == 0.0
    assert steady["wci"] == 0.0
    per = [sum(row["base"] == f"q{i}" for row in study.final()) for i in range(N)]
    # One flip a question: MVS is the mean of 1/n over questions.
    assert fickle["mvs"] == pytest.approx(sum(1 / n for n in per) / N)
    assert fickle["wci"] == 1.0
    # At the common number m of variants: one of n differs, so m/n are drawn with it.
    assert fickle["wci_rarefied"] == pytest.approx(sum(min(per) / n for n in per) / N)
    assert (fickle["right_to_wrong"], fickle["wrong_to_right"]) == (N, 0)
    assert fickle["confidence_change"] is None
    assert "no probability" in fickle["confidence_change_reason"]
    kinds = {row["kind"]: row for row in found.kinds if row["model"] == fickle["model"]}
    assert kinds["question-reframing"]["mvs"] == 1.0
    assert kinds["syntactic-reordering"]["mvs"] == 0.0
    assert kinds["clinical-to-lay"]["mvs"] is None
    assert kinds["clinical-to-lay"]["reason"] == "no verified variant of this kind"
    pair = next(row for row in found.comparisons if row["measure"] == "mvs")
    assert pair["difference"] == pytest.approx(fickle["mvs"])
    assert pair["p"] == 0.25  # three questions: 2 of 8 sign patterns
    assert pair["p_bonferroni"] == 0.75  # three measures were compared
    assert "draw:" in found.signature


def fill(source: Path, target: Path, answer: Any, comment: str = "") -> None:
    with source.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    with target.open("w", encoding="utf-8", newline="") as stream:
        sheet = csv.DictWriter(stream, fieldnames=list(rows[0]))
        sheet.writeheader()
        for row in rows:
            sheet.writerow({**row, "preserved": answer(row["item"]), "comment": comment})


def test_two_experts_have_a_kappa_and_their_differences_are_listed(
    provider: Provider, script: Script, tmp_path: Path
) -> None:
    out = tmp_path / "s"
    make(provider, out, 2)
    verify_study(out, ["rules"], quiet=True)
    sheet = make_sheet(out)
    write_sheet(sheet, tmp_path / "s.csv")
    items = [item["item"] for item in sheet["items"]]
    n = len(items)
    # First says no to items 0 and 1, second to items 1 and 2.
    fill(tmp_path / "s.csv", tmp_path / "a.csv", lambda item: "no" if item in items[:2] else "yes")
    fill(tmp_path / "s.csv", tmp_path / "b.csv", lambda item: "0" if item in items[1:3] else "1")
    import_sheet(out, tmp_path / "a.csv", "a")
    import_sheet(out, tmp_path / "b.csv", "b")
    study = load_study(out)
    row = agreement(study, replicates=0)[0]
    # Agreement (n - 2)/n; expected (2/n)^2 + ((n - 2)/n)^2.
    expected = (2 / n) ** 2 + ((n - 2) / n) ** 2
    assert row["n"] == n
    assert row["kappa"] == pytest.approx(((n - 2) / n - expected) / (1 - expected))
    assert len(differing(study)) == 2
    assert len(study.final()) == n - 3  # every expert must say yes
    adds_up(study)


def test_a_sheet_of_another_study_or_a_wrong_word_is_refused(
    provider: Provider, script: Script, tmp_path: Path
) -> None:
    out = tmp_path / "s"
    make(provider, out, 1)
    with pytest.raises(InputError, match="nothing is verified"):
        make_sheet(out)
    verify_study(out, ["rules"], quiet=True)
    with pytest.raises(InputError, match="none has judged"):
        make_sheet(out, 2)
    sheet = make_sheet(out, seed=1)
    write_sheet(sheet, tmp_path / "s.csv")
    fill(tmp_path / "s.csv", tmp_path / "bad.csv", lambda item: "perhaps")
    with pytest.raises(DataError, match="neither yes nor no") as error:
        import_sheet(out, tmp_path / "bad.csv", "a")
    assert error.value.line == 2
    text = (tmp_path / "s.csv").read_text("utf-8").replace("cough", "wheeze")
    (tmp_path / "other.csv").write_text(text, "utf-8")
    with pytest.raises(DataError, match="not the text that was offered"):
        import_sheet(out, tmp_path / "other.csv", "a")
    fill(tmp_path / "s.csv", tmp_path / "ok.csv", lambda item: "")
    assert import_sheet(out, tmp_path / "ok.csv", "a")["blank"] == len(sheet["items"])
    with pytest.raises(InputError, match="another sheet"):
        make_sheet(out, seed=2)


def test_label_studio_goes_out_and_comes_back(provider: Provider, script: Script, tmp_path: Path) -> None:
    out = tmp_path / "s"
    make(provider, out, 1)
    verify_study(out, ["rules"], quiet=True)
    sheet = make_sheet(out)
    write_sheet(sheet, tmp_path / "tasks.json")
    assert "<Choices" in (tmp_path / "tasks.config.xml").read_text()
    tasks = json.loads((tmp_path / "tasks.json").read_text())
    assert set(tasks[0]["data"]) == {"item", "original", "variant"}
    for number, task in enumerate(tasks):
        choice = "no" if number == 0 else "yes"
        task["annotations"] = [{"result": [{"from_name": "preserved", "value": {"choices": [choice]}}]}]
    (tmp_path / "done.json").write_text(json.dumps(tasks))
    assert import_sheet(out, tmp_path / "done.json", "a") == {
        "offered": len(tasks),
        "yes": len(tasks) - 1,
        "no": 1,
        "blank": 0,
    }


def said(entailment: float, contradiction: float = 0.0) -> dict[str, Any]:
    side = {"entailment": entailment, "neutral": 1 - entailment - contradiction, "contradiction": contradiction}
    return {"forward": side, "backward": side}


def test_k_of_m_keeps_m_when_a_model_fails() -> None:
    yes, no, failed = said(0.9), said(0.2), {"forward": None, "backward": None}
    assert holds_at([yes, yes, failed], 0.85, 0.15, 2) is True
    assert holds_at([yes, no, failed], 0.85, 0.15, 2) is None  # the third might have turned it
    assert holds_at([no, no, failed], 0.85, 0.15, 2) is False
    assert holds_at([said(0.85), said(0.85)], 0.85, 0.15, 2) is True  # inclusive
    assert holds_at([said(0.7, 0.2)], 0.7, 0.2, 1) is False  # contradiction must stay under its threshold
    one_way = {"forward": said(0.9)["forward"], "backward": said(0.5)["forward"]}
    assert holds_at([one_way], 0.85, 0.15, 1) is False
    assert Verdict(0.9, 0.1, 0.0).entailment == 0.9


def test_the_sweep_compares_thresholds_with_the_judges(tmp_path: Path) -> None:
    # Four pairs: entailment .95 YES, .88 YES, .88 NO, .75 NO. At .9: accepts 1, agreement (YES in) + 2 NO out = 3 of 4.
    # At .85: accepts 3 (2 YES, 1 NO): agreement 3 of 4. At .70: accepts 4: agreement 2 of 4. The strictest of the best is marked.
    rows = {
        name: {"text": name, "nli": True, "models": [said(value)], "judges": {"j": yes}}
        for name, value, yes in (("a", 0.95, True), ("b", 0.88, True), ("c", 0.88, False), ("d", 0.75, False))
    }
    state = {"rows": rows, "judges": ["j"], "contradict": 0.15, "k": 1, "entail": 0.85, "models": ["m"]}
    found = sweep(Study(tmp_path, {"variants": [], "questions": []}, state), [0.7, 0.85, 0.9])
    assert [(row["accepted"], row["yes"], row["no"]) for row in found] == [(4, 2, 2), (3, 2, 1), (1, 1, 0)]
    assert [row["agreement"] for row in found] == [0.5, 0.75, 0.75]
    assert [row["best"] for row in found] == [False, False, True]
    assert [row["current"] for row in found] == [False, True, False]
    assert found[1]["precision"] == pytest.approx(2 / 3)


def test_a_vacuous_contradiction_threshold_is_said(provider: Provider, script: Script, tmp_path: Path) -> None:
    make(provider, tmp_path / "s", 1)
    verify_study(tmp_path / "s", ["rules"], contradict=0.3, quiet=True)
    verify = load_study(tmp_path / "s").verify
    assert verify is not None
    assert "excludes nothing" in verify["notes"][0]
    for wrong in ({"k": 2}, {"entail": 1.2}):
        with pytest.raises(UsageError):
            verify_study(tmp_path / "s", ["rules"], quiet=True, **wrong)  # type: ignore[arg-type]


def test_confidence_comes_from_the_providers_log_probabilities(
    provider: Provider, script: Script, tmp_path: Path
) -> None:
    out = tmp_path / "s"
    make(provider, out, 2)
    verify_study(out, ["rules"], quiet=True)
    script.logprobs = True
    ask_by_choice(out, writer(provider, "fickle"), quiet=True)
    answers = stored_answers(out)[0]
    # exp(-.2) / (exp(-.2) + exp(-1.8)) = .8187 / (.8187 + .1653) = .8320, for every question: it never moves.
    assert list(answers.confidence.values()) == pytest.approx([0.8320184] * len(answers.answer))
    found = score_study(out, replicates=100, permutations=100)
    assert found.models[0]["confidence_change"] == pytest.approx(0.0)
    assert found.models[0]["mvs"] > 0  # answers flip although the confidence stands still
    row = found.confidence[0]
    assert row["over_confidence"] == pytest.approx(row["confidence"] - row["accuracy"])
    assert found.confidence[-1]["reason"] == "fewer than three pairs"


def test_without_verified_variants_scores_are_none_with_the_reason(
    provider: Provider, script: Script, tmp_path: Path
) -> None:
    out = tmp_path / "s"
    make_study(questions(2), writer(provider), out, kinds=["abbreviation-compression"], ner=None, quiet=True)
    verify_study(out, ["rules"], quiet=True)
    with pytest.raises(InputError, match="no model was asked"):
        score_study(out)
    ask_by_choice(out, writer(provider, "steady"), quiet=True, logprobs=False)
    row = score_study(out, replicates=50).models[0]
    assert (row["mvs"], row["wci"], row["wci_rarefied"]) == (None, None, None)
    assert row["mvs_reason"] == "no verified variant"
    assert row["accuracy"] == 1.0


def test_a_question_made_anew_is_not_verified_any_more(provider: Provider, script: Script, tmp_path: Path) -> None:
    out = tmp_path / "s"
    make(provider, out, 1)
    verify_study(out, ["rules"], quiet=True)
    before = len(load_study(out).final())
    other = writer(provider, "writer-two")
    provider.script = lambda body, n: (
        "A quite different text, 45 of them, for item0?"
        if "How to reword" in body["messages"][-1]["content"]
        else script(body, n)
    )
    make_study(questions(1), other, out, ner=None, quiet=True)
    study = load_study(out)
    assert before > 0
    assert study.final() == []
    adds_up(study)
    assert drops(study)["nli"] == {"not verified yet": 1}


def test_two_precisions_of_one_checkpoint_are_paired_as_the_effect_of_quantisation(
    provider: Provider, script: Script, tmp_path: Path
) -> None:
    # What `ask` keeps of a checkpoint in two precisions, written as it writes it: 16 bits never changes, 4 bits says B at every
    # reframed question: of six rewordings a question one, so the paired difference of MVS is 1/6 in each of three questions.
    out = tmp_path / "s"
    make(provider, out)
    verify_study(out, ["rules"], quiet=True)
    records = questions_of(load_study(out))
    for dtype in ("bfloat16", "nf4"):
        name, signature = f"hf/tiny(dtype={dtype})", f"tiny|{dtype}"
        rows = []
        for record in records:
            answer = "B" if dtype == "nf4" and record.meta.get("kind") == "question-reframing" else "A"
            details = {"answer": answer, "probabilities": {"A": 0.5, "B": 0.5}}
            rows.append(Measured(ANSWERS, record.id, name, signature, 0.5, None, details, record.fingerprint()))
        with RunStore(out) as store:
            store.put_records(ANSWERS, records)
            store.put_measurements(rows)
            state = store.study(NAME, "ask") or {"models": []}
            state["models"].append(
                {"model": name, "way": "probability", "signature": signature, "family": "hf/tiny", "dtype": dtype}
            )
            store.put_study(NAME, "ask", state)
    pair = next(row for row in score_study(out, replicates=50, permutations=100).comparisons if row["measure"] == "mvs")
    assert pair["quantisation"] is True
    assert abs(pair["difference"]) == pytest.approx(1 / 6)
    ask_by_choice(out, writer(provider, "steady"), quiet=True, logprobs=False)
    others = score_study(out, replicates=0, permutations=10).comparisons
    assert {row["quantisation"] for row in others if "steady" in row["first"] + row["second"]} == {False}


def test_what_breaks_a_rule_is_flagged_and_only_dropped_where_asked(
    provider: Provider, script: Script, tmp_path: Path
) -> None:
    make_study(questions(1), writer(provider), tmp_path / "s", ner=None, quiet=True)
    study = load_study(tmp_path / "s")
    flagged = [row["id"] for row in study.distinct() if row["violations"]]
    assert flagged
    assert set(flagged) <= {row["id"] for row in study.candidates()}
    assert [row["stage"] for row in study.funnel()] == ["generated", "distinct", "final"]
    strict = make(provider, tmp_path / "strict", 1)
    assert [row["id"] for row in strict.distinct() if row["violations"]] == flagged  # what they drop can be read there
    assert not set(flagged) & {row["id"] for row in strict.candidates()}
    with pytest.raises(UsageError, match="rules=shut"):
        make_study(questions(1), writer(provider), tmp_path / "t", rules="shut", quiet=True)
