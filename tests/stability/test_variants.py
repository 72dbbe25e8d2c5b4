"""Distinctness by trigrams, tries, and what a choice among replies depends on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.stability.variants import KINDS, Try, choose, jaccard, plain_reply

TWO = KINDS[:2]


def test_trigram_jaccard_by_hand() -> None:
    # "abcd": abc, bcd. "abce": abc, bce. One shared of three.
    assert jaccard("abcd", "abce") == pytest.approx(1 / 3)
    assert jaccard("Fever  now", "fever now") == 1.0  # white space and case make no other text
    assert jaccard("ab", "abc") == 0.0


@given(st.text(max_size=40), st.text(max_size=40))
def test_jaccard_is_symmetric_and_bounded(one: str, two: str) -> None:
    assert jaccard(one, two) == jaccard(two, one)
    assert 0 <= jaccard(one, two) <= 1
    assert jaccard(one, one) == 1.0


def test_ten_kinds_are_named() -> None:
    assert len(set(KINDS)) == 10


def test_an_unchanged_reply_is_due_again_and_after_three_tries_unchanged() -> None:
    stem = "Which drug lowers fever?"
    one = choose(stem, {"format-shift": [Try(stem)]}, kinds=["format-shift"])[0]
    assert (one.status, one.tries) == ("pending", 1)
    last = choose(stem, {"format-shift": [Try(stem), Try(f" {stem}\n"), Try(stem)]}, kinds=["format-shift"])[0]
    assert (last.status, last.tries, last.similarity) == ("unchanged", 3, 1.0)
    assert len(last.history) == 3


def test_a_variant_too_like_an_earlier_one_is_alike_and_says_which() -> None:
    stem, new = "Which drug lowers fever?", "Name the medicine that brings a temperature down."
    found = choose(stem, {TWO[0]: [Try(new)], TWO[1]: [Try(new), Try(new), Try(new + " ")]}, kinds=TWO)
    assert found[0].status == "distinct"
    assert (found[1].status, found[1].nearest) == ("alike", TWO[0])


def test_the_limit_itself_is_distinct_enough() -> None:
    # "abcd" and "abce" have similarity 1/3: not over 1/3, so distinct.
    assert choose("abcd", {TWO[0]: [Try("abce")]}, kinds=TWO[:1], alike=1 / 3)[0].status == "distinct"
    assert choose("abcd", {TWO[0]: [Try("abce")]}, kinds=TWO[:1], alike=0.33, tries=1)[0].status == "alike"


def test_a_refusal_is_a_try_and_a_broken_connection_is_none() -> None:
    refused = choose("a stem", {TWO[0]: [Try(None, "refused: no")] * 3}, kinds=TWO[:1])[0]
    assert (refused.status, refused.reason, refused.tries) == ("failed", "refused: no", 3)
    broken = choose("a stem", {TWO[0]: [Try(None, "error: gone", final=False)]}, kinds=TWO[:1])[0]
    assert (broken.status, broken.tries) == ("pending", 0)


def test_a_settled_earlier_kind_can_send_a_later_one_back() -> None:
    stem, text = "Which drug lowers fever?", "Name the medicine that brings a temperature down."
    early = choose(stem, {TWO[0]: [Try(stem)], TWO[1]: [Try(text)]}, kinds=TWO)
    assert [one.status for one in early] == ["pending", "distinct"]
    # The first kind's second reply is the text that the second kind had: the order of kinds decides, not of replies.
    later = choose(stem, {TWO[0]: [Try(stem), Try(text)], TWO[1]: [Try(text)]}, kinds=TWO)
    assert [one.status for one in later] == ["distinct", "pending"]


def test_a_fence_around_the_whole_reply_goes_and_nothing_else() -> None:
    assert plain_reply("```text\nA man.\n```") == "A man."
    assert plain_reply("Take ```x``` now") == "Take ```x``` now"
