"""Worked examples that are looked up: the nearest ones, never of the record's own cluster, and part of what is asked."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from judgekit.data import RecordSet
from judgekit.errors import InputError, MissingDependency, RubricError
from judgekit.judging.engine.retrieve import Retriever
from judgekit.records import Record
from judgekit.rubric import load_rubric
from judgekit.runs.store import open_run
from tests.judging.judged import MINI, go, score, write_rubric
from tests.judging.provider import Provider

SHOWN = (
    MINI
    + """
examples: {retrieve: 2, from: pool.jsonl, by: question, using: tfidf, where: {kind: shown}, verdict: "{score: labels[0].value}"}
"""
)
POOL = [
    ("fever", "my child has a high fever", 3, "shown"),
    ("rash", "an itchy rash on the arm", 2, "shown"),
    ("cough", "a dry cough at night", 1, "shown"),
    ("hidden", "my child has a high fever and a rash", 1, "kept"),
]


def write_pool(folder: Path, change: str = "") -> None:
    rows = [
        {
            "id": name,
            "question": text + change,
            "response": f"reply {name}",
            "labels": [{"value": level}],
            "meta": {"kind": kind},
        }
        for name, text, level, kind in POOL
    ]
    (folder / "pool.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


@pytest.fixture
def rubric(tmp_path: Path) -> Path:
    path = write_rubric(tmp_path / "rubrics", SHOWN)
    write_pool(path.parent)
    return path


def names(retriever: Retriever, question: str) -> list[str]:
    return [example.record.id for example in retriever.examples(Record(id="x", question=question))]


def test_the_nearest_come_first_and_the_filter_holds(rubric: Path) -> None:
    retriever = Retriever(load_rubric(str(rubric)))
    assert names(retriever, "high fever in a child, and some rash") == ["fever", "rash"]
    assert names(retriever, "cough at night") == ["cough", "fever"]
    assert names(retriever, "zzz") == ["fever", "rash"], "nothing alike: the order of the set"
    assert retriever.examples(Record(id="x", question="fever"))[0].verdict == {"score": 3}


def test_never_an_example_of_the_same_question_or_cluster(rubric: Path) -> None:
    retriever = Retriever(load_rubric(str(rubric)))
    assert names(retriever, "my child has a high fever") == ["cough", "rash"], "only `a` is shared, by one of them"
    own = retriever.pool[1].cluster_id
    found = retriever.examples(Record(id="x", question="an itchy rash", cluster=own))
    assert [example.record.id for example in found] == ["fever", "cough"]


def test_the_examples_are_shown_and_a_changed_pool_is_another_wording(
    provider: Provider, rubric: Path, tmp_path: Path
) -> None:
    provider.script = score(2)
    data = RecordSet([Record(id="1", question="a fever, item1", response="r")], name="d")
    go(provider, rubric, data, tmp_path / "run")
    messages = provider.bodies[0]["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert "reply fever" in messages[1]["content"]
    assert messages[2]["content"] == score(3)
    assert go(provider, rubric, data, tmp_path / "run").calls == 0
    write_pool(rubric.parent, " today")
    assert go(provider, rubric, data, tmp_path / "run").calls == 1
    run = open_run(tmp_path / "run")
    assert run.judgements.ask.nunique() == 2
    assert len(run.latest()) == 1


def test_embeddings_that_are_not_there_are_named_with_the_way_out(
    rubric: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "judgekit.metrics.models", None)  # what an import of an absent module finds
    write_rubric(rubric.parent, SHOWN.replace("using: tfidf", "using: minilm"))
    with pytest.raises(MissingDependency, match="using: tfidf"):
        Retriever(load_rubric(str(rubric)))


def test_embeddings_find_what_shares_no_word(rubric: Path) -> None:
    models = pytest.importorskip("judgekit.metrics.models")
    try:
        models.encoder()
    except MissingDependency as error:
        pytest.skip(str(error))
    write_rubric(rubric.parent, SHOWN.replace("using: tfidf", "using: minilm"))
    assert names(Retriever(load_rubric(str(rubric))), "our toddler is burning up, 40 degrees")[0] == "fever"


@pytest.mark.parametrize(
    ("old", "new", "error", "says"),
    [
        ("from: pool.jsonl", "from: nowhere", RubricError, "no data set 'nowhere'"),
        ("{kind: shown}", "{kind: none}", RubricError, "no record"),
        ("labels[0].value", "response", RubricError, "does not allow"),
    ],
)
def test_what_cannot_work_is_said_before_anything_is_asked(
    provider: Provider, rubric: Path, tmp_path: Path, old: str, new: str, error: type[Exception], says: str
) -> None:
    write_rubric(rubric.parent, SHOWN.replace(old, new))
    with pytest.raises(error) as caught:
        go(provider, rubric, RecordSet([Record(id="1", question="item1", response="r")], name="d"), tmp_path / "run")
    assert says in str(caught.value)
    assert provider.count == 0


def test_examples_may_come_from_a_card_s_own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from judgekit.data.cards import load_card
    from judgekit.data.fetch import cached

    monkeypatch.setenv("JUDGEKIT_CACHE", str(tmp_path / "cache"))
    text = (
        MINI
        + """
examples: {retrieve: 1, from: healthbench, by: question, using: tfidf, verdict: "{score: `3`}"}
"""
    )
    path = write_rubric(tmp_path / "rubrics", text)
    with pytest.raises(InputError, match="judgekit data fetch healthbench"):
        Retriever(load_rubric(path))
    card = load_card("healthbench")
    row = {
        "prompt_id": "p1", "prompt": [{"role": "user", "content": "can I take ibuprofen for a headache"}],
        "rubrics": [{"criterion": "Names the dose", "points": 5, "tags": ["axis:completeness"]}],
        "example_tags": [], "ideal_completions_data": {"ideal_completion": "Yes, 200 mg.", "ideal_completions_ref_completions": []},
    }  # fmt: skip
    place = cached(card, card.spec.source[0])
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps(row) + "\n", "utf-8")
    assert names(Retriever(load_rubric(path)), "headache") == ["p1"]
