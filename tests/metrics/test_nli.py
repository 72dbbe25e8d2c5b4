"""Entailment: the rule baseline, both directions, consensus, factual consistency."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.errors import MissingDependency, UsageError
from judgekit.metrics.base import parse_metric
from judgekit.metrics.bidirectional_entailment import BidirectionalEntailment
from judgekit.metrics.factual_consistency import FactualConsistency, windows
from judgekit.metrics.nli import Verdict, bidirectional, consensus, load_nli, load_nlis, vacuous
from judgekit.metrics.nli_rules import judge_pair
from judgekit.records import Record


@pytest.mark.parametrize(
    ("premise", "hypothesis", "rule"),
    [
        ("Take with food.", "Do not take with food.", "negation"),  # case 10
        ("Take it daily.", "Stop taking it.", "negation"),
        ("Take 500 mg of aspirin.", "Take 5 mg of aspirin.", "amounts"),
        ("Take aspirin every 6 hours.", "Take aspirin every 2 hours.", "amounts"),
        ("This drug is safe in pregnancy.", "This drug is unsafe in pregnancy.", "opposites"),
        ("Salt increases blood pressure.", "Salt decreases blood pressure.", "opposites"),
    ],
)
def test_the_baseline_finds_contradictions_both_ways(premise: str, hypothesis: str, rule: str) -> None:
    for one, two in ((premise, hypothesis), (hypothesis, premise)):
        _, _, contradiction, why = judge_pair(one, two)
        assert contradiction > 0.5
        assert why.startswith(rule)


@pytest.mark.parametrize(
    ("premise", "hypothesis"),
    [
        ("Take 0.5 g of aspirin.", "Take 500 mg of aspirin."),
        ("Avoid alcohol.", "Do not drink alcohol."),
        ("Ibuprofen treats pain.", "Malaria is spread by mosquitoes."),
        ("TB is treated with isoniazid.", "Tuberculosis is treated with isoniazid."),
    ],
)
def test_the_baseline_leaves_the_rest_alone(premise: str, hypothesis: str) -> None:
    assert judge_pair(premise, hypothesis)[2] < 0.5


@given(st.text(max_size=120), st.text(max_size=120))
def test_the_baselines_three_numbers_are_probabilities(one: str, two: str) -> None:
    entailment, neutral, contradiction, _ = judge_pair(one, two)
    assert min(entailment, neutral, contradiction) >= -1e-9
    assert entailment + neutral + contradiction == pytest.approx(1)


def test_identical_texts_entail_each_other() -> None:
    assert judge_pair("Fever needs rest. Drink water.", "Fever needs rest. Drink water.")[0] == pytest.approx(0.98)


class Fixed:
    """An Nli with set answers: shows what consensus does with votes, not what a model would say."""

    version = "fixed"

    def __init__(self, verdict: Verdict, limit: int | None = None) -> None:
        self.verdict, self.limit = verdict, limit

    def lengths(self, pairs):  # type: ignore[no-untyped-def]
        return [99] * len(pairs)

    def predict(self, pairs):  # type: ignore[no-untyped-def]
        return [self.verdict] * len(pairs)


YES, NO = Fixed(Verdict(0.85, 0.10, 0.05)), Fixed(Verdict(0.84, 0.15, 0.01))
FAILS = Fixed(Verdict(1, 0, 0), limit=10)


def test_thresholds_entailment_inclusive_contradiction_exclusive() -> None:
    pair = [("a b", "c d")]
    assert bidirectional(pair, YES)[0][0] is True
    assert bidirectional(pair, NO)[0][0] is False
    assert bidirectional(pair, YES, contradict=0.05)[0][0] is False


# STATISTICS, "Stability": a model that failed is no vote; K of M keeps M.
@pytest.mark.parametrize(
    ("models", "k", "holds"),
    [
        ([YES, YES, NO], 2, True),
        ([YES, NO, NO], 2, False),
        ([YES, FAILS, NO], 2, None),  # the failed one could have made it two
        ([YES, YES, FAILS], 2, True),
        ([FAILS, NO, NO], 2, False),
        ([YES, YES, FAILS], 3, None),
    ],
)
def test_k_of_m(models: list[Fixed], k: int, holds: bool | None) -> None:
    (row,) = consensus([("a b", "c d")], models, k=k)
    assert row.holds is holds
    assert len(row.votes) == len(models)


def test_a_vacuous_contradiction_threshold_is_named() -> None:
    assert vacuous(0.85, 0.15) is None
    assert "excludes nothing" in str(vacuous(0.85, 0.2))
    record = Record(id="1", reference="Rest.", response="Rest.")
    (result,) = BidirectionalEntailment(nli="rules", contradict=0.5).measure([record])
    assert "warning" in result.details


def test_bidirectional_metric() -> None:
    pairs = [
        ("Take with food.", "Take with food."),
        ("Take with food.", "Do not take with food."),
        ("Take with food.", " "),
    ]
    results = BidirectionalEntailment(nli="rules").measure(
        [Record(id=str(i), reference=a, response=b) for i, (a, b) in enumerate(pairs)]
    )
    assert [(result.value, result.reason) for result in results] == [
        (1.0, None),
        (0.0, None),
        (None, "the response is blank"),
    ]
    with pytest.raises(UsageError, match="k=2"):
        BidirectionalEntailment(nli="rules", k=2)
    with pytest.raises(UsageError, match="probability"):
        BidirectionalEntailment(entail=1.5)


def consistency(reference: str, response: str, **options: str):  # type: ignore[no-untyped-def]
    return FactualConsistency(**{"nli": "rules", **options}).measure(
        [Record(id="1", reference=reference, response=response)]
    )[0]


def test_the_sentence_that_contradicts_is_shown() -> None:
    result = consistency(
        "Drink water. Take the tablets with food. Rest at night.",
        "Rest is good. Do not take the tablets with food. Sleep.",
    )
    assert result.value == pytest.approx(0.1)
    assert result.details["hypothesis"] == "Do not take the tablets with food."
    assert result.details["premise"] == "Take the tablets with food."
    assert result.details["why"] == "negation"


def test_a_response_that_shares_nothing_is_not_called_consistent() -> None:
    result = consistency("Malaria is spread by mosquitoes.", "Please consult someone.")
    assert result.value is None
    assert "shares a content word" in result.reason


@pytest.mark.parametrize("level", ["sentence", "document"])
def test_case_10_by_the_baseline(level: str) -> None:
    assert consistency("Take with food", "Do not take with food", level=level).value == pytest.approx(0.1)
    assert consistency("Take with food", "Take with food", level=level).value > 0.9


@given(st.text(max_size=400))
def test_windows_cover_every_sentence_and_none_is_long(text: str) -> None:
    for start, end in windows(text):
        assert len(text[start:end].split()) <= 80
        assert end - start <= 1000


def test_a_long_sentence_is_read_in_parts() -> None:
    text = " ".join(f"w{i}" for i in range(200))
    parts = [text[a:b] for a, b in windows(text)]
    assert " ".join(parts).split() == text.split()
    assert len(parts) == 3


def test_loading_twice_gives_one_model() -> None:
    assert load_nli("rules") is load_nli("rules")


TEXTS = st.one_of(
    st.text(max_size=200),
    st.lists(
        st.sampled_from(
            [
                "Adults can take aspirin.", "Children should not take aspirin.", "Take 500 mg.", "Take 5 mg.", "Fever: no.", "Do not stop.",
                "It isn’t safe in pregnancy.", "It is safe in pregnancy.", "Yes.", "1 500 mg", "- rest", "BP 120/80 mmHg; T 39 °C",
            ]
        ),
        max_size=8,
    ).map(" ".join),
)  # fmt: skip


@pytest.mark.parametrize("backend", ["rules", "contrary"])
@pytest.mark.parametrize("level", ["sentence", "document"])
@pytest.mark.parametrize("direction", ["reference", "both"])
@pytest.mark.parametrize("neutral", ["free", "costs"])
def test_every_text_is_consistent_with_itself(
    backend: str, level: str, direction: str, neutral: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if backend == "contrary":
        from judgekit.metrics import nli

        model = nli._Checkpoint.__new__(nli._Checkpoint)
        model.version, model.limit, model._model = "contrary", None, Raw()
        monkeypatch.setattr("judgekit.metrics.factual_consistency.load_nli", lambda name, labels="": model)

    @given(TEXTS)
    def holds(text: str) -> None:
        result = consistency(text, text, nli=backend, level=level, direction=direction, neutral=neutral)
        assert result.value == 1.0 or (result.value is None and result.reason)

    holds()


class Raw:
    """What stands behind a checkpoint's face: it calls every pair a contradiction."""

    limit = None

    def lengths(self, pairs):  # type: ignore[no-untyped-def]
        return [9] * len(pairs)

    def predict(self, pairs):  # type: ignore[no-untyped-def]
        return [(0.01, 0.01, 0.98)] * len(pairs)


# The pair: by the second sentence alone the first would be contradicted.
def test_a_sentence_that_one_sentence_entails_is_not_contradicted_by_another() -> None:
    reference = "Adults can take aspirin daily. Children should not take aspirin daily."
    assert consistency(reference, "Adults can take aspirin daily.").value == 1.0
    assert consistency(reference, "Adults can take aspirin daily, too.").value > 0.9
    assert consistency("Children should not take aspirin.", "Children should take aspirin.").value == pytest.approx(0.1)


# Paper 000, 3.2.4 speaks of neutral verdicts as penalised. By the rules two of three words shared is neutral: entailment .6 * 2/3 = .4.
def test_what_neutral_costs_is_a_choice() -> None:
    pair = ("Drink warm water.", "Drink warm milk.")
    assert consistency(*pair).value == pytest.approx(0.99)
    assert consistency(*pair, neutral="costs").value == pytest.approx(0.4)


@pytest.mark.parametrize("name", ["factual_consistency", "bidirectional_entailment"])
def test_without_a_checkpoint_there_is_an_error_that_names_one(name: str) -> None:
    metric = parse_metric(name)
    for act in (lambda: metric.signature, lambda: metric.measure([Record(id="1", reference="a", response="a")])):
        with pytest.raises(MissingDependency, match="none is named") as caught:
            act()
        assert "roberta-large-mnli" in str(caught.value.mend)
        assert "nli=rules" in str(caught.value.mend)


def test_the_rules_say_that_they_are_a_baseline() -> None:
    for name in ("rules", "baseline"):  # "baseline" is what they were called
        metric = parse_metric(f"factual_consistency(nli={name})")
        assert "nli=rules:baseline," in metric.notation
        assert "baseline-rules" in metric.signature
    assert load_nlis(["rules", "baseline"], "a/b/c+")[0].version.startswith("baseline")
    with pytest.raises(UsageError, match="3 orders for 2 models"):
        load_nlis(["rules", "rules"], "a/b/c++")
