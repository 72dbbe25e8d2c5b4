"""The contract that every metric keeps, run over the registry."""

from __future__ import annotations

import json
import math

import pytest

from judgekit.errors import MissingDependency, UsageError
from judgekit.metrics.base import Measurement, Metric, available, parse_metric
from judgekit.metrics.entity_f1 import EntityF1
from judgekit.records import Record

WITH_RULES = (
    "factual_consistency",
    "bidirectional_entailment",
    "vb_score",
)  # they need a checkpoint, or a baseline by name
NAMES = [f"{name}(nli=rules)" if name in WITH_RULES else name for name in available()]
NASTY = {
    "empty": "",
    "blank": " \n\t ",
    "one character": "a",
    "emoji": "💊💊 🤒",
    "right to left": "חום ושיעול \u202bالحمى والسعال\u202c",
    "control": "fever\x00\x07 \x1b[31mcough\x1b[0m",
    "surrogate": "fever \ud800 cough",
    "long": "fever and cough 500 mg daily " * 10_000,
    "punctuation": "?!... --- ***",
    "plain": "Take aspirin 500 mg daily. Fever, cough, and rash may follow.",
}


def usable(metric: Metric) -> Metric:
    try:
        metric.measure([Record(id="0", reference="Fever.", response="Fever.")])
    except MissingDependency as error:
        pytest.skip(f"{metric.name}: {error.message}")
    return metric


@pytest.mark.parametrize("name", NAMES)
def test_notation_reads_back_and_the_metric_says_what_it_is(name: str) -> None:
    metric = parse_metric(name)
    assert parse_metric(metric.notation) == metric
    assert metric.summary
    assert metric.name == name.partition("(")[0]
    assert type(metric).measure.__doc__ or type(metric).__doc__


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", NAMES)
def test_any_text_gets_a_finite_value_or_a_reason(name: str) -> None:
    metric = usable(parse_metric(name))
    records = [
        Record(id=f"{a}|{b}", reference=NASTY[a], response=NASTY[b])
        for a in NASTY
        for b in NASTY
        if "long" not in (a, b)
    ]
    records += [
        Record(id=f"long {side}", **{side: NASTY["long"], other: NASTY["plain"]})
        for side, other in (("reference", "response"), ("response", "reference"))
    ]
    results = metric.measure(records)
    assert len(results) == len(records)
    for record, result in zip(records, results, strict=True):
        assert (result.value is None) == bool(result.reason), record.id
        json.dumps(result.details, allow_nan=False)
        if result.value is not None:
            assert math.isfinite(result.value), record.id
            assert -1 <= result.value <= 1 + 1e-9, record.id
        reference, response = record.id.split("|") if "|" in record.id else ("x", "x")
        if reference in {"empty", "blank"}:
            assert result.value is None, "a blank reference has nothing to compare with"
        if response in {"empty", "blank"} and result.value is not None:
            assert result.value <= 0, f"{record.id}: a blank answer earns nothing"


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_side_is_a_reason(name: str) -> None:
    metric = usable(parse_metric(name))
    one, two = metric.measure([Record(id="1", response="x"), Record(id="2", reference="x")])
    assert (one.value, one.reason) == (None, "the record has no reference")
    assert (two.value, two.reason) == (None, "the record has no response")


@pytest.mark.parametrize("name", NAMES)
def test_order_and_company_do_not_change_a_value(name: str) -> None:
    metric = usable(parse_metric(name))
    texts = [NASTY["plain"], "Fever and cough.", "Do not take aspirin. Rest, fluids, and sleep help.", "Aspirin 5 mg."]
    records = [Record(id=f"{i}{j}", reference=a, response=b) for i, a in enumerate(texts) for j, b in enumerate(texts)]
    forward = [result.value for result in metric.measure(records)]
    backward = [result.value for result in metric.measure(records[::-1])][::-1]
    assert forward == pytest.approx(backward, abs=1e-6)
    assert [metric.measure([record])[0].value for record in records[:4]] == pytest.approx(forward[:4], abs=1e-6)


def test_wrong_words_are_refused_with_what_would_be_right() -> None:
    for text, mend in [
        ("entity_f2", "entity_f1"),
        ("entity_f1(matching=exact)", "match"),
        ("entity_f1(match=fuzzy)", "substring"),
        ("entity_f1(match)", "option=value"),
        ("entity_f1(match=exact,match=token)", "once"),
        ("entity_f1 exact", "option=value"),
    ]:
        with pytest.raises(UsageError) as caught:
            parse_metric(text)
        assert mend in str(caught.value.mend), text


def test_left_out_options_take_their_defaults_in_the_notation() -> None:
    assert parse_metric("entity_f1( match = exact )").notation == EntityF1(match="exact").notation
    assert (
        EntityF1().notation
        == "entity_f1(ner=gazetteer,match=substring,count=one,negation=ignore,empty=none,amounts=auto)"
    )


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_measurement_is_never_nan(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        Measurement(value)
    with pytest.raises(ValueError, match="reason"):
        Measurement(None)
