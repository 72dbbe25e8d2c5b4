"""Matching of entities: the paper's Table 1, amounts, one-to-one, symmetry."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.metrics.entities import MATCHES, Entity, match_entities, matches, maximum_matching
from judgekit.metrics.quantities import quantities
from judgekit.metrics.text import normalise


def entity(text: str, kind: str = "sign", concepts: tuple[str, ...] = (), negated: bool = False) -> Entity:
    return Entity(text, normalise(text), kind, 0, len(text), concepts, negated)


# Paper 000, Table 1, row by row: reference entities, response entities, does any pair match under the paper's rule, and
# under match=token. The rule ("identical, or one a substring of the other") contradicts the table once: neither
# "shortness of breath" nor "difficulty breathing" contains the other, yet the table calls them a match by "substring
# overlap". What they share is "breath", so match=token says yes, and match=substring keeps to the rule.
TABLE_1 = [
    (["fever"], ["fever"], True, True),
    (["acetaminophen"], ["Acetaminophen"], True, True),
    (["tuberculosis"], ["TB"], True, True),
    (["shortness of breath"], ["difficulty breathing"], False, True),  # the contradiction
    (["cough", "fever"], ["respiratory symptoms"], False, False),
    (["heart attack"], ["myocardial infarction"], False, False),
    (["metformin"], ["oral medication"], False, False),
]


@pytest.mark.parametrize(("reference", "response", "substring", "token"), TABLE_1)
def test_table_1(reference: list[str], response: list[str], substring: bool, token: bool) -> None:
    for match, expected in (("substring", substring), ("token", token)):
        pairs, _, _ = match_entities(
            [entity(text) for text in reference],
            [entity(text) for text in response],
            match=match,
            count="one",
            aware=False,
        )
        assert bool(pairs) is expected, match


def test_exact_wants_equal_normal_forms_and_words_wants_whole_words() -> None:
    assert not matches(entity("fever"), entity("yellow fever"), "exact")
    assert matches(entity("fever"), entity("yellow fever"), "words")
    assert not matches(entity("seizure"), entity("seizures"), "words")
    assert matches(entity("seizure"), entity("seizures"), "substring")


def test_a_drug_inside_another_drugs_name_is_no_match_where_both_are_known() -> None:
    epinephrine, nor = (
        entity("epinephrine", "drug", ("mesh:D004837",)),
        entity("norepinephrine", "drug", ("mesh:D009638",)),
    )
    assert not matches(epinephrine, nor, "substring")
    art, attack = (
        entity("art", "procedure", ("own:art",)),
        entity("heart attack", "disease", ("disease:myocardial infarction",)),
    )
    assert not matches(art, attack, "substring")
    # Without concept ids the paper's rule is all there is.
    assert matches(entity("epinephrine"), entity("norepinephrine"), "substring")


def test_amounts_match_only_when_equal() -> None:
    def dose(text: str) -> Entity:
        (found,) = quantities(text)
        return Entity(text, found.norm, found.kind, 0, len(text))

    for match in MATCHES:
        assert matches(dose("0.5 g"), dose("500 mg"), match)
        assert not matches(dose("5 mg"), dose("75 mg"), match)
        assert not matches(dose("5 mg"), entity("5 mg"), match)


# STATISTICS, "Local metrics": {fever, yellow fever} against {fever}: many-to-one would give precision and recall 1.0;
# one-to-one gives 1 pair, P = 1/1, R = 1/2, F1 = .667.
def test_one_to_one_is_not_many_to_one() -> None:
    reference, response = [entity("fever"), entity("yellow fever")], [entity("fever")]
    assert match_entities(reference, response, match="substring", count="one", aware=False)[1:] == (1, 1)
    assert match_entities(reference, response, match="substring", count="many", aware=False)[1:] == (2, 1)


def test_negation_aware_keeps_denied_and_affirmed_apart() -> None:
    assert matches(entity("fever"), entity("fever", negated=True))
    assert not matches(entity("fever"), entity("fever", negated=True), aware=True)


@given(st.text(max_size=20), st.text(max_size=20), st.sampled_from(MATCHES))
def test_matching_is_symmetric_and_reflexive(one: str, two: str, match: str) -> None:
    a, b = entity(one), entity(two)
    assert matches(a, b, match) == matches(b, a, match)
    assert matches(a, a, match)


def brute_force(links: list[list[int]], right: int) -> int:
    best = 0
    for chosen in itertools.product(*([[-1, *row] for row in links])):
        used = [node for node in chosen if node >= 0]
        if len(used) == len(set(used)):
            best = max(best, len(used))
    return best


@given(st.lists(st.lists(st.integers(0, 4), unique=True, max_size=4), max_size=5))
def test_the_maximum_matching_is_as_large_as_trying_everything_finds(links: list[list[int]]) -> None:
    chosen = maximum_matching(links, 5)
    used = [node for node in chosen if node >= 0]
    assert len(used) == len(set(used)) == brute_force(links, 5)
    assert all(node < 0 or node in row for node, row in zip(chosen, links, strict=True))
