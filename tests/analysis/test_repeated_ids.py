"""A column that names the question may repeat; answers must not be mistaken for one another by it, nor by their order."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from judgekit.analysis.screen import screen
from judgekit.analysis.triage import triage
from judgekit.errors import StatisticsError

# Two answers a question. By hand: score a puts 1, 2, 2, 5 (incomplete) beside 3, 4, 4, 4 (complete): 12 of 16 pairs, AUC .75;
# b puts 3, 1, 4, 2 beside 2, 4, 1, 3: half of the pairs are won, or tie and count half: 3>2,4,1,3 ... = .5 + 2.5 + ... = 8 of 16.
ROWS = [
    ("q1", 1, 1, 3), ("q1", 0, 3, 2), ("q2", 1, 2, 1), ("q2", 0, 4, 4), ("q3", 1, 2, 4), ("q3", 0, 4, 1), ("q4", 1, 5, 2), ("q4", 0, 4, 3),
]  # fmt: skip


def frame() -> pd.DataFrame:
    return pd.DataFrame(ROWS, columns=["id", "incomplete", "a", "b"], dtype=object)


def test_two_scores_are_compared_on_the_same_answers() -> None:
    found = triage(frame(), score=["a", "b"], cluster="id")
    one, two = (row["auc"] for row in found.to_json()["rows"])
    assert (one, two) == (0.75, 0.5)
    (pair,) = found.pairs()
    # Joined by the question's id alone, the last answer of each question would stand for both: n = 4.
    assert pair.found.n == 8
    assert pair.found.difference == pytest.approx(0.25)
    named = frame().assign(q=frame()["id"], id=[f"r{i}" for i in range(8)])
    assert triage(named, score=["a", "b"], cluster="q").pairs()[0].found == pair.found


def test_a_screen_keeps_every_answer() -> None:
    many = pd.concat([frame().assign(id=frame()["id"] + f"-{i}") for i in range(5)])
    found = screen(many, score=["a", "b"], cluster="id", repeats=20).screen
    assert (found.n, found.n_incomplete) == (40, 20)


def test_raters_of_repeated_ids_are_not_joined() -> None:
    twice = pd.concat([frame().assign(rater=name) for name in ("r1", "r2", "r3")])
    with pytest.raises(StatisticsError, match="no id says which rows rate the same answer"):
        triage(twice, score="a", cluster="id", rater="rater", join="majority")


@pytest.mark.parametrize("columns", [["q", "incomplete", "score"], ["id", "incomplete", "score"]])
def test_a_certificate_does_not_depend_on_the_order_of_rows(columns: list[str]) -> None:
    # The halves and the answer of each question are picked by hashes; a row's number would make them depend on the order.
    values = [
        {"q": f"q{i // 2}", "id": f"q{i // 2}", "incomplete": i % 2 if i % 3 else 1, "score": (i * 37 % 101) / 10}
        for i in range(300)
    ]
    table = pd.DataFrame(values, dtype=object)[columns]
    words: dict[str, Any] = {"cluster": columns[0]} if len(columns) == 3 else {}
    first = triage(table, certify="0.95", calibrate=True, **words)
    again = triage(table.sample(frac=1, random_state=3), certify="0.95", calibrate=True, **words)
    assert first.to_json()["rows"] == again.to_json()["rows"]
    assert first.to_json()["rows"][0]["certified"]["units"] > 20


def test_without_ids_nothing_is_certified() -> None:
    # A split by the rows' content puts all equal scores into one half: of 1,000 such certificates at a nominal 5 % 541 were broken.
    label, score = [1] * 99 + [0] * 120, []
    for n, value in ((30, 1.0), (27, 2.0), (18, 3.0), (13, 4.0), (11, 5.0), (5, 2.0), (15, 3.0), (40, 4.0), (60, 5.0)):
        score += [value] * n
    table = pd.DataFrame({"incomplete": label, "score": score}, dtype=object)
    for words in ({"certify": "0.95"}, {"calibrate": True}):
        with pytest.raises(StatisticsError, match="no ids"):
            triage(table, **words)
    assert triage(table.assign(id=range(219)), certify="0.95").to_json()["rows"][0]["certified"]["units"] > 29
