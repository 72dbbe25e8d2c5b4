"""One spelling for all lexical metrics: whatever dash, apostrophe, accent or width a writer chose, the value is the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.errors import MissingDependency
from judgekit.metrics.base import parse_metric
from judgekit.metrics.text import fold, folded, span_in, tokens, words
from judgekit.records import Record

DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u00ad\ufe63\uff0d"
APOSTROPHES = "\u2018\u2019\u02bc\u2032\uff07\u00b4"
SPACES = "\u00a0\u2009\u202f\u3000"
UNSEEN = "\u200b\u200c\u200d\u2060\ufeff\u200e"
PLAIN = (
    "People with type-2 diabetes shouldn't stop metformin. Take 75-mg aspirin for 2-3 weeks, a beta-blocker, and rest.\n"
    "- Fever: no\n- Meniere's disease, Sjogren syndrome, and COVID-19; it isn't safe."
)


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("Sjögren’s", "Sjogren's"),
        ("Me\u0301nie\u0300re's", "Meniere's"),  # combining accents
        ("β-blocker", "beta-blocker"),
        ("TNFα", "TNF-alpha"),
        ("5 μg, 5 \u00b5g", "5 ug, 5 ug"),
        ("ibu\u200bprofen", "ibuprofen"),
        ("ibu\u00ad\n  profen", "ibuprofen"),  # hyphenated at a line's end
        ("５００ｍｇ", "500mg"),
        ("1½ tablets", "1 1/2 tablets"),  # NFKC alone makes 11/2 of it
        ("10⁹/L", "10^9/L"),  # NFKC alone makes 109/L of it
        ("SpO₂", "SpO2"),
        ("38 ºC", "38 °C"),
        ("№ 5", "# 5"),  # NFKC alone makes "No 5" of it: a denial
        ("πυρετός", "πυρετος"),  # a Greek word stays one
        ("بخار हिन्दी 熱", "بخار हिन्दी 熱"),
    ],
)
def test_one_spelling(written: str, plain: str) -> None:
    assert fold(written) == plain


@given(st.text(max_size=80))
def test_folding_again_changes_nothing_and_every_place_is_in_the_text(text: str) -> None:
    plain, places = folded(text)
    assert fold(plain) == plain
    assert len(places) == len(plain) + 1
    assert list(places) == sorted(places)
    for at in range(len(plain)):
        start, end = span_in(places, at, at + 1)
        assert 0 <= start < end <= len(text)


def test_a_words_place_is_where_it_is_written() -> None:
    text = "No “ibu\u200bprofen” for Me\u0301nière’s"
    assert [text[token.start : token.end] for token in tokens(text)] == [
        "No",
        "ibu\u200bprofen",
        "for",
        "Me\u0301nière’s",
    ]
    assert words(text) == ["no", "ibuprofen", "for", "meniere"]


@st.composite
def _rewritten(draw: st.DrawFn) -> str:
    """PLAIN with any of its dashes, apostrophes and spaces in another form, accents added, and unseen characters in words."""
    out: list[str] = []
    for before, char in zip(" " + PLAIN, PLAIN, strict=False):
        if char == "-" and before != "\n":
            char = draw(st.sampled_from("-" + DASHES))
        elif char == "'":
            char = draw(st.sampled_from("'" + APOSTROPHES))
        elif char == " " and before != "-":
            char = draw(st.sampled_from(" " + SPACES))
        elif char == "e":
            char = draw(st.sampled_from(["e", "é", "e\u0301", "ｅ"]))
        if before.isalpha() and char.isalpha():
            char = draw(st.sampled_from(["", "", "", *UNSEEN])) + char
        out.append(char)
    return "".join(out)


LEXICAL = [
    "token_f1", "rouge_l", "structured_overlap", "entity_f1(negation=aware,match=exact)", "med_syn_f1",
    "factual_consistency(nli=rules)", "bidirectional_entailment(nli=rules)",
]  # fmt: skip


@pytest.mark.parametrize("name", LEXICAL)
def test_no_lexical_metric_sees_the_typography(name: str) -> None:
    metric = parse_metric(name)
    try:
        (itself,) = metric.measure([Record(id="0", reference=PLAIN, response=PLAIN)])
    except MissingDependency as error:
        pytest.skip(f"{name}: {error.message}")

    @given(_rewritten())
    def holds(text: str) -> None:
        one, two = metric.measure(
            [Record(id="1", reference=PLAIN, response=text), Record(id="2", reference=text, response=PLAIN)]
        )
        assert one.value == two.value == itself.value

    holds()
