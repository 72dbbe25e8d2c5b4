"""One door, one result: the same data as a run, a table in every format, a DataFrame and records give the same numbers."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judgekit.analysis.agree import agree
from judgekit.analysis.compare import compare
from judgekit.analysis.cost import cost
from judgekit.analysis.failures import failures
from judgekit.analysis.index import analyses
from judgekit.analysis.options import find, options_schema
from judgekit.analysis.reasons import make_pairs
from judgekit.analysis.result import Result
from judgekit.analysis.screen import screen
from judgekit.analysis.strata import strata
from judgekit.analysis.triage import triage
from judgekit.errors import DataError, InputError, StatisticsError
from judgekit.records import Criterion, Label, Record
from judgekit.runs.model import Judgement, Measured, RubricRow
from judgekit.runs.store import RunStore
from tests.analysis.conftest import Build, judged

FORMS = ("run", "csv", "csv.gz", "tsv", "jsonl", "json", "parquet", "frame", "records")
NAMES = {
    "dataset",
    "rubric",
    "judge",
    "rater",
    "fingerprint",
    "notes",
    "a",
    "b",
    "part",
    "id",
    "left_out",
    "dataset ",
    "group",
    "unit",
}
QUICK = {"replicates": 50, "permutations": 200}

# 30 questions with two answers each, by models A and B; ann and bob rate them; two judges score 1 to 5, one answer is unscored.
ROWS = [
    {
        "id": f"{i:03d}", "question_id": f"q{i // 2}", "model": "AB"[i % 2], "category": ("x", "y", "z")[i // 2 % 3],
        "ann": (i * 7) % 10 < 4, "bob": (i * 7) % 10 < 3 or i % 11 == 0, "j": None if i == 17 else 1 + (i * 13 + (i * 7) % 10) % 5,
        "k": 1 + (i * 5) % 5 - (1 if (i * 7) % 10 < 4 and (i * 5) % 5 > 0 else 0), "entity_f1": (i * 3 % 10) / 10,
        "semantic_similarity": (i * 7 % 10) / 10,
    }
    for i in range(60)
]  # fmt: skip


def plain_rows() -> list[dict[str, Any]]:
    words = {True: "incomplete", False: "complete"}
    return [
        row | {"incomplete": int(row["ann"]), "ann": words[row["ann"]], "bob": words[row["bob"]],
               "verdict": None if row["j"] is None else words[row["j"] < 4]}
        for row in ROWS
    ]  # fmt: skip


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("forms")
    rows = plain_rows()
    frame = pd.DataFrame(rows, dtype=object)
    frame.to_csv(folder / "t.csv", index=False)
    (folder / "t.csv.gz").write_bytes(gzip.compress((folder / "t.csv").read_bytes()))
    frame.to_csv(folder / "t.tsv", index=False, sep="\t")
    (folder / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (folder / "t.json").write_text(json.dumps(rows), "utf-8")
    frame.astype({"j": "float64", "k": "int64", "incomplete": "int64"}).to_parquet(folder / "t.parquet")
    records = [
        Record(
            id=row["id"], question=row["question_id"], response="x", cluster=row["question_id"],
            labels=(Label(rater="ann", complete=not row["ann"]), Label(rater="bob", complete=not row["bob"])),
            meta={k: row[k] for k in ("model", "category", "j", "k", "entity_f1", "semantic_similarity")}
            | {"verdict": None if row["j"] is None else row["j"] >= 4},
        )
        for row in ROWS
    ]  # fmt: skip
    with RunStore(folder / "run") as store:
        store.put_records(
            "d", [Record(**(r.__dict__ | {"meta": {k: r.meta[k] for k in ("model", "category")}})) for r in records]
        )
        store.put_rubric(
            RubricRow("analytical-rubric", "a" * 8, "s" * 8, construct="completeness", complete_when=">= 4")
        )
        for row in ROWS:
            for judge in ("j", "k"):
                raw = row[judge]
                store.put_judgement(
                    Judgement(
                        "d", row["id"], "analytical-rubric", judge, 0, "a" * 8, "s" * 8, "invalid" if raw is None else "ok",
                        raw=raw, complete=None if raw is None else raw >= 4,
                    )
                )  # fmt: skip
        store.put_measurements(
            Measured("d", row["id"], name, f"{name}|1", row[name])
            for row in ROWS
            for name in ("entity_f1", "semantic_similarity")
        )
    found: dict[str, Any] = {name: folder / f"t.{name}" for name in FORMS if name not in ("run", "frame", "records")}
    return found | {"run": folder / "run", "frame": frame, "records": records}


def words(form: str, analysis: str) -> dict[str, Any]:
    """The options that say in each kind of source what a run says by itself."""
    table = form not in ("run", "records")
    run = form == "run"
    if analysis == "triage":
        more = {} if run else {"score": ["j", "k"], "complete_when": ">= 4"}
        return more | ({"cluster": "question_id"} if table else {"rater": "ann"})
    if analysis == "screen":
        more = {"metric": []} if run else {"score": ["j", "k"]}
        return more | ({"cluster": "question_id"} if table else {"rater": "ann"}) | {"repeats": 20}
    if analysis == "agree":
        if table:
            return {
                "raters": "ann,bob",
                "judge": "verdict",
                "cluster": "question_id",
                "levels": "incomplete,complete",
                "replicates": 50,
            }
        return {"judge": "j" if run else "verdict", "replicates": 50}
    if analysis == "failures":
        return {"replicates": 50} | ({"unit": "question_id"} if table else {})
    unit = {} if run else {"unit": "question_id" if table else "unit", "value": "j"}
    if analysis == "strata":
        return QUICK | unit | {"by": "category"} | ({"judge": "j"} if run else {})
    return QUICK | unit | ({"judge": "j"} if run else {"group": "model"})


CALLS: dict[str, Callable[..., Result]] = {
    "triage": triage, "screen": screen, "agree": agree, "compare": compare, "strata": strata, "failures": failures,
}  # fmt: skip


def numbers(value: Any, key: str = "") -> Any:
    """The numbers of a result's JSON, without the names that each kind of source gives its own way."""
    if isinstance(value, dict):
        return {
            k: numbers(v, k) for k, v in value.items() if k not in NAMES and k not in ("signature", "notes", "reason")
        }
    if isinstance(value, list):
        return [numbers(one) for one in value]
    if isinstance(value, float):
        return pytest.approx(value, rel=1e-12, abs=1e-12)
    return value if isinstance(value, int | None) else None


@pytest.mark.parametrize("analysis", CALLS)
@pytest.mark.parametrize("form", FORMS[1:])
def test_every_form_of_the_same_data_gives_the_same_numbers(sources: dict[str, Any], analysis: str, form: str) -> None:
    call = CALLS[analysis]
    run, other = (call(sources[one], **words(one, analysis)) for one in ("run", form))
    left, right = run.to_json(), other.to_json()
    if analysis == "screen":
        left, right = (numbers(body["cross_fitted"]["fit"]) for body in (left, right))
    else:
        skip = {"worst", "correlations", "details"}
        left, right = (
            {k: numbers(v) for k, v in body.items() if k not in skip | {"notes", "signature"}} for body in (left, right)
        )
    assert left == right
    assert any(body not in (None, []) for body in left.values())


@pytest.mark.parametrize("analysis", CALLS)
def test_the_order_of_rows_does_not_matter(sources: dict[str, Any], analysis: str) -> None:
    frame = sources["frame"]
    turned = frame.iloc[::-1]
    results = [CALLS[analysis](one, **words("frame", analysis)).to_json() for one in (frame, turned)]
    if analysis == "screen":
        assert numbers(results[0]["cross_fitted"]["fit"]["auc"]) == results[1]["cross_fitted"]["fit"]["auc"]
        return
    key = {"compare": "groups", "strata": "strata", "agree": "pairs", "failures": "failures", "triage": "rows"}[
        analysis
    ]

    def by_name(rows: list[dict[str, Any]]) -> dict[str, Any]:
        names = ("group", "component", "a", "b", "judge")
        return {
            " ".join(str(row.get(name)) for name in names): {
                k: pytest.approx(v, rel=1e-9, abs=1e-9)
                for k, v in row.items()
                if isinstance(v, int | float) and not isinstance(v, bool) and not k.endswith(("_low", "_high"))
            }
            for row in rows
        }

    assert by_name(results[0][key]) == by_name(results[1][key])


@pytest.mark.parametrize("analysis", CALLS)
@pytest.mark.parametrize("form", ["run", "csv"])
def test_results_are_json_fit_a_terminal_and_have_real_types(sources: dict[str, Any], analysis: str, form: str) -> None:
    found = CALLS[analysis](sources[form], **words(form, analysis))
    json.dumps(found.to_json(), allow_nan=False)
    wide = [
        line
        for line in found.text(80).splitlines()
        if len(line) > 80 and not line.startswith(("signature", "  |", "["))
    ]
    assert not wide
    assert "|source:" in found.signature
    assert found._repr_html_().startswith("<table")
    frame = found.frame()
    numeric = frame.select_dtypes("number")
    assert numeric.shape[1] > 0
    numeric.describe()


# --- each row of the table in "One door, one result", with the right value


def run_of(
    folder: Path, records: list[Record], judgements: list[Judgement], *rubrics: RubricRow, measured: Any = ()
) -> Path:
    with RunStore(folder) as store:
        store.put_records("d", records)
        for rubric in rubrics:
            store.put_rubric(rubric)
        for one in judgements:
            store.put_judgement(one)
        store.put_measurements(measured)
    return folder


@pytest.mark.parametrize(
    ("judge", "rater"),
    [
        ("openai/gpt-4o(temperature=0.0)", "model:openai/gpt-4o"), ("openai/gpt-4o", "gpt-4o"), ("openai/gpt-4o", "model:gpt-4o"),
        ("openai/GPT-4o", "Model:OpenAI/gpt-4o"), ("azure/gpt-4o(seed=1)", "openai/gpt-4o(temperature=1.0)"),
    ],
)  # fmt: skip
def test_no_judge_is_measured_against_its_own_labels(tmp_path: Path, judge: str, rater: str) -> None:
    records = [
        Record(id=f"{i}", question=f"q{i}", response="x", labels=(Label(rater=rater, complete=i % 2 > 0),))
        for i in range(8)
    ]
    run = run_of(tmp_path / "run", records, [judged(f"{i}", raw=float(1 + i % 5), judge=judge) for i in range(8)])
    for call in (triage, agree):
        with pytest.raises(StatisticsError, match="the judge itself"):
            call(run)
    assert "the judge's own model wrote the labels" in cost(run).text()
    with pytest.raises(StatisticsError, match="the judge's own model wrote"):
        make_pairs(run)
    table = pd.DataFrame(
        [
            {"id": i, "judge": judge, "who": rater, "incomplete": i % 2, "score": i, rater: i % 2, judge: i % 3}
            for i in range(8)
        ]
    )
    with pytest.raises(StatisticsError, match="the judge itself"):
        triage(table, rater="who")
    with pytest.raises(StatisticsError, match="the judge itself"):
        agree(table, raters=[rater], judge=[judge], replicates=0)


def test_a_panel_is_each_of_its_members(tmp_path: Path) -> None:
    records = [
        Record(id=f"{i}", question=f"q{i}", response="x", labels=(Label(rater="model:b", complete=i % 2 > 0),))
        for i in range(8)
    ]
    made = [
        judged(f"{i}", raw=float(1 + (i * k) % 5), judge=name)
        for k, name in ((1, "m/a"), (3, "x/b(temperature=0.0)"))
        for i in range(8)
    ]
    run = run_of(tmp_path / "run", records, made)
    rows = {row["judge"]: row for row in triage(run, panel="mean").to_json()["rows"]}
    assert rows["m/a"]["auc"] is not None
    assert rows["x/b(temperature=0.0)"]["auc"] is None
    assert rows["panel(m/a + x/b(temperature=0.0), mean)"]["auc"] is None


@pytest.mark.parametrize("column", ["stem", "query_id", "qid", "question", "prompt_id", "Question_ID", "cluster"])
def test_repeated_questions_are_refused_everywhere(column: str) -> None:
    table = pd.DataFrame(
        [
            {"id": i, column: i // 2, "incomplete": i % 2, "score": i % 3, "ann": i % 2, "bob": i % 3 % 2}
            for i in range(12)
        ]
    )
    with pytest.raises(StatisticsError, match=f"--cluster {column}"):
        triage(table)
    with pytest.raises(StatisticsError, match=f"--cluster {column}"):
        agree(table, raters="ann,bob", replicates=0)
    with pytest.raises(StatisticsError, match=f"--unit {column}"):
        failures(table.assign(entity_f1=0.5), replicates=0)
    assert triage(table, cluster=column).to_json()["rows"][0]["n"] == 12
    assert agree(table, raters="ann,bob", cluster="none", replicates=0)["pairs"].rows[0]["n"] == 12


def test_a_duplicate_key_is_refused_by_every_reader(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(
        '{"id": "1", "incomplete": 1, "score": 1, "score": 2}\n{"id": "2", "incomplete": 0, "score": 2}\n', "utf-8"
    )
    for call, more in (
        (triage, {}),
        (agree, {"raters": "incomplete"}),
        (compare, {"group": "id", "value": "score", "unit": "id"}),
    ):
        with pytest.raises(DataError, match=r"t\.jsonl:1"):
            call(path, **more)


def test_a_metric_says_why_it_has_no_value(tmp_path: Path) -> None:
    records = [
        Record(id=f"{i}", question=f"q{i}", response="x", labels=(Label(rater="r", complete=i % 2 > 0),))
        for i in range(6)
    ]
    rows = [
        Measured(
            "d",
            f"{i}",
            "entity_f1",
            "entity_f1|1",
            None if i == 0 else i / 6,
            "no entity in the reference" if i == 0 else None,
        )
        for i in range(6)
    ]
    (row,) = triage(run_of(tmp_path / "run", records, [], measured=rows), metric="all").to_json()["rows"]
    assert any("1 no entity in the reference" in note for note in row["notes"])


def test_a_join_of_one_rater_is_that_raters_label(tmp_path: Path) -> None:
    # 300 answers, 16 of them rated twice, 8 by nobody: the joined row stands on all 292, and says how the 16 alone would look.
    records = []
    for i in range(300):
        bad = i % 4 == 0
        people = () if i >= 292 else ("ann", "bob") if i < 16 else ("ann",) if i % 2 else ("cat",)
        records.append(
            Record(
                id=f"{i:03d}",
                question=f"q{i}",
                response="x",
                labels=tuple(Label(rater=p, complete=not bad) for p in people),
            )
        )
    run = run_of(
        tmp_path / "run", records, [judged(f"{i:03d}", raw=float(1 + (i * 7 + (i % 4 == 0)) % 5)) for i in range(300)]
    )
    (row,) = triage(run).to_json()["rows"]
    assert (row["rater"], row["n"], row["n_incomplete"], row["n_unlabelled"]) == ("majority", 292, 73, 8)
    notes = " ".join(row["notes"])
    assert "3 raters joined: majority (answers by number of raters: 276 by 1, 16 by 2)" in notes
    assert "over the 16 answers that several raters labelled alone: 4 incomplete" in notes


def test_clinicians_with_answers_of_their_own_give_one_row(tmp_path: Path) -> None:
    records = [
        Record(id=f"{i}", question=f"q{i}", response="x", labels=(Label(rater=f"dr-{i % 3}", complete=i % 2 > 0),))
        for i in range(30)
    ]
    run = run_of(tmp_path / "run", records, [judged(f"{i}", raw=float(1 + i % 5)) for i in range(30)])
    (row,) = triage(run).to_json()["rows"]
    assert (row["rater"], row["n"]) == ("majority", 30)
    assert len(triage(run, rater="each").to_json()["rows"]) == 3
    (row,) = triage(run, rater="mean").to_json()["rows"]  # a mean of one is that one's label
    assert row["n"] == 30
    table = pd.DataFrame(
        [{"id": i, "who": f"dr-{i % 3}", "incomplete": 1 - i % 2, "score": 1 + i % 5} for i in range(30)]
    )
    (row,) = triage(table, rater="who").to_json()["rows"]
    assert (row["rater"], row["n"]) == ("majority", 30)


def test_means_of_samples_that_are_equal_tie(tmp_path: Path) -> None:
    # Every answer's three samples sum to 12/5, in one order for incomplete and in another for complete ones: 0.7999999999999999 and 0.8
    # in floating point, 4/5 in truth. AUC .5, Mann-Whitney p 1.
    records = [
        Record(id=f"{i}", question=f"q{i}", response="x", labels=(Label(rater="r", complete=i % 2 > 0),))
        for i in range(24)
    ]
    orders = ((0.7, 0.8, 0.9), (0.9, 0.8, 0.7))
    assert sum(orders[0]) / 3 != sum(orders[1]) / 3
    made = [
        judged(f"{i}", raw=raw, sample=k, rubric="dynamic-checklist")
        for i in range(24)
        for k, raw in enumerate(orders[i % 2])
    ]
    (row,) = triage(run_of(tmp_path / "run", records, made)).to_json()["rows"]
    assert (row["auc"], row["mann_whitney_p"], row["threshold"]) == (0.5, 1.0, 0.8)
    assert (row["fixed"]["recall"], row["fixed"]["precision"]) == (0.0, None)  # .8 >= .75 is complete


def test_yes_and_true_are_one_level_and_the_note_counts_them(tmp_path: Path) -> None:
    rows = ["TRUE,true,q1", "FALSE,false,q2", "TRUE,true,q3", "FALSE,true,q4", "TRUE,true ,q5", "FALSE,false,q6"]
    path = tmp_path / "excel.csv"
    path.write_text("clinician,judge,question_id\n" + "\n".join(rows) + "\n", "utf-8")
    found = agree(path, raters="clinician", judge="judge", cluster="question_id", replicates=0)
    (row,) = found["judges"].rows
    # 5 of 6 the same; chance: 3/6 * 4/6 + 3/6 * 2/6 = 1/2, so kappa is (5/6 - 1/2) / (1/2) = 2/3
    assert (row["n"], row["percent"], row["kappa"]) == (6, pytest.approx(5 / 6), pytest.approx(2 / 3))
    assert any("are read as 'TRUE' ('TRUE' 3, 'true' 3, 'true ' 1)" in note for note in found.notes)
    words = tmp_path / "words.csv"
    words.write_text("a,b\nMild,mild\nmild,mild \nSevere,severe\n", "utf-8")
    found = agree(words, raters="a,b", replicates=0)
    assert found["pairs"].rows[0]["percent"] == 1.0
    assert any("'Mild'" in note and "case or outer spaces" in note for note in found.notes)


def test_incomplete_is_no_number_that_a_columns_name_could_turn() -> None:
    # Were "complete" 1 and "incomplete" 0, the mean of a column called `incomplete` would be the share of complete answers.
    table = pd.DataFrame(
        [{"q": i, "m": "AB"[i % 2], "incomplete": ("complete", "incomplete")[i % 3 > 0]} for i in range(12)]
    )
    for call, more in ((compare, {"group": "m"}), (strata, {"by": "m"})):
        with pytest.raises(DataError, match="is no number"):
            call(table, value="incomplete", unit="q", **more, **QUICK)
    mixed = pd.DataFrame([{"a": "yes", "b": "complete"}, {"a": "no", "b": "incomplete"}, {"a": "yes", "b": "complete"}])
    assert agree(mixed, raters="a,b", cluster="none", replicates=0)["pairs"].rows[0]["percent"] == 0.0


def test_groups_that_look_alike_are_one_group() -> None:
    table = pd.DataFrame(
        [{"q": i // 2, "model": ("A", "A ", "b", "B")[i % 4], "v": i % 5} for i in range(40)], dtype=object
    )
    found = compare(table, group="model", unit="q", value="v", **QUICK)
    assert len(found["groups"].rows) == 2
    assert sum("case or outer spaces" in note for note in found.notes) == 2


def test_compare_and_strata_give_one_interval_for_one_thing() -> None:
    rows = [{"q": q, "m": m, "ok": q % 3 > 0 if m == "A" else True} for q in range(9) for m in "AB"]
    table = pd.DataFrame(rows, dtype=object)
    left = compare(table, group="m", unit="q", value="ok", **QUICK)["groups"].rows
    right = strata(table, by="m", unit="q", value="ok", **QUICK)["strata"].rows
    keys = ("group", "mean", "mean_low", "mean_high", "kind")
    assert [[row[key] for key in keys] for row in left] == [[row[key] for key in keys] for row in right]
    assert (left[1]["mean"], left[1]["mean_high"]) == (1.0, 1.0)
    assert left[1]["mean_low"] == pytest.approx(9 / (9 + 1.959964**2), abs=1e-6)  # Wilson, 9 of 9: n / (n + z^2)


def test_what_a_writer_wrote_is_no_judgement(tmp_path: Path) -> None:
    records = [
        Record(
            id=f"{i}",
            question=f"q{i}",
            response="x",
            labels=(Label(rater="r", complete=i % 2 > 0),),
            meta={"model": "AB"[i % 2]},
        )
        for i in range(12)
    ]
    writer = RubricRow("answer-zero-shot", "w", "w", resolved={"output": "text"})
    made = [judged(f"{i}", raw=float(1 + i % 5)) for i in range(12)]
    texts = [
        judged(
            f"{i}",
            raw=None,
            status="ok",
            rubric="answer-zero-shot",
            ask="w",
            score_fp="w",
            judge="m/writer",
            verdict={"text": "t"},
        )
        for i in range(12)
    ]
    run = run_of(tmp_path / "run", records, [*made, *texts], writer)
    assert [row["rubric"] for row in triage(run).to_json()["rows"]] == ["analytical-rubric"]
    assert {row["rubric"] for row in cost(run)["bought"].rows} == {"analytical-rubric"}
    found = compare(run, **QUICK)
    assert sum(row["n_unscored"] for row in found["groups"].rows) == 0
    assert len(found["pairs"].rows) == 1


def test_missing_are_unmet_positive_and_met_negative_criteria(build: Build) -> None:
    criteria = (Criterion("c1", "names the dose"), Criterion("c2", "recommends aspirin to a child", points=-5))
    for met, told in (
        (False, "Missing: names the dose"),
        (True, "Missing: names the dose. Should not be there: recommends aspirin to a child"),
    ):
        label = Label(rater="ann", complete=False, criteria={"c1": False, "c2": met})
        run = build(
            [Record(id="r", question="q", response="x", criteria=criteria, labels=(label,))], [judged("r", raw=1.0)]
        )
        (pair,), _ = make_pairs(run)
        assert pair["inputs"]["clinician_reason"] == told


def test_samples_are_joined_in_one_way_everywhere(tmp_path: Path) -> None:
    # Samples 3, 3, 5 of a 1-to-5 scale, complete from 4 on: most say incomplete, and so does their mean, 11/3. Samples 5, 5, 1: most say
    # complete, but the mean is 11/3 too: incomplete.
    records = [Record(id=n, question=n, response="x", labels=(Label(rater="r", complete=n in "cd"),)) for n in "abcd"]
    raws = {"a": (3, 3, 5), "b": (5, 5, 1), "c": (5, 5, 5), "d": (4, 4, 4)}
    run = run_of(
        tmp_path / "run",
        records,
        [judged(n, raw=float(raw), sample=k) for n, some in raws.items() for k, raw in enumerate(some)],
    )
    (row,) = triage(run).to_json()["rows"]
    assert row["fixed"] == {"f1": 1.0, "precision": 1.0, "recall": 1.0}
    assert agree(run, replicates=0)["judges"].rows[0]["percent"] == 1.0
    assert cost(run, quality="recall")["bought"].rows[0]["quality"] == 1.0
    for call in (triage, agree, cost):
        assert "samples:mean, then the rule" in call(run).signature


def test_a_judge_that_never_gave_a_verdict_is_left_out_and_named(tmp_path: Path) -> None:
    records = [
        Record(id=f"{i}", question=f"q{i}", response="x", labels=(Label(rater="r", complete=i % 2 > 0),))
        for i in range(8)
    ]
    made = [judged(f"{i}", raw=float(1 + i % 5)) for i in range(8)]
    typo = [judged(f"{i}", raw=None, status="error", judge="m/onee") for i in range(8)]
    run = run_of(tmp_path / "run", records, [*made, *typo])
    for call in (triage, agree, cost):
        found = call(run)
        said = [note for note in found.notes if "m/onee, which never gave a verdict (8 error)" in note]
        assert len(said) == 1
    assert [row["judge"] for row in triage(run).to_json()["rows"]] == ["m/one"]


@pytest.mark.parametrize("call", [triage, agree, compare, failures, cost])
def test_a_folder_is_no_run(tmp_path: Path, call: Callable[..., Result]) -> None:
    with pytest.raises(InputError, match="this folder holds no run"):
        call(tmp_path)


@pytest.mark.parametrize("word", ["", "NA", "n/a", "nan", "null", "None", "-"])
def test_one_list_of_missing_values(word: str) -> None:
    rows = [
        {
            "id": i,
            "incomplete": i % 2,
            "score": word if i == 0 else i % 4,
            "m": "AB"[i % 2],
            "q": i // 2,
            "ann": "yes" if i % 3 else word,
            "bob": "yes" if i % 2 else "no",
        }
        for i in range(12)
    ]
    table = pd.DataFrame(rows, dtype=object)
    assert triage(table, cluster="none").to_json()["rows"][0]["n_unscored"] == 1
    assert (
        sum(row["n_unscored"] for row in compare(table, group="m", unit="q", value="score", **QUICK)["groups"].rows)
        == 1
    )
    assert agree(table, raters="ann,bob", cluster="none", replicates=0)["pairs"].rows[0]["n"] == 8


LONG = [
    {"id": str(i), "judge": judge, "q": f"q{i}", "p": 0.5, "who": "ann", "score": i % 3, "incomplete": i % 2}
    for judge in "AB"
    for i in range(8)
]


@pytest.mark.parametrize("column", ["q", "p"])
def test_two_rows_of_one_answer_say_the_same_of_it(column: str) -> None:
    # Were the first row taken for both judges, the order of the rows would decide the AUC and its interval.
    rows = [dict(row) for row in LONG]
    rows[9][column] = "other" if column == "q" else 1
    for table in (rows, rows[::-1]):
        with pytest.raises(DataError, match=f"the answer '1' has another {column}"):
            triage(pd.DataFrame(table, dtype=object), cluster="q", sampling_probability="p")


@pytest.mark.parametrize("word", [None, "", "NA", "none", " n/a "])
@pytest.mark.parametrize(("column", "message"), [("q", "no cluster"), ("who", "no rater")])
def test_a_missing_question_or_rater_is_no_name(word: str | None, column: str, message: str) -> None:
    rows = [dict(row) for row in LONG]
    rows[3][column] = word
    with pytest.raises(DataError, match=message):
        triage(pd.DataFrame(rows, dtype=object), cluster="q", rater="who")


def test_scores_that_a_float_cannot_tell_apart_are_refused() -> None:
    score = [2**53 + 1 + i for i in (1, 5, 2, 4, 3, 3)]
    with pytest.raises(DataError, match="more digits than can be told apart"):
        triage(pd.DataFrame({"id": range(6), "incomplete": [1, 0] * 3, "score": score}, dtype=object))


def test_the_label_is_no_score() -> None:
    with pytest.raises(Exception, match="is the label"):
        triage(pd.DataFrame({"incomplete": [1, 0]}), score="incomplete")


# --- an analysis is one class: command, study keys, schema and keywords come from its fields


@pytest.mark.parametrize("name", analyses())
def test_options_stand_in_one_place(name: str) -> None:
    import inspect

    from judgekit.cli.analysis import analysis_command

    kind = find(name)
    fields = set(kind.model_fields)
    command = {param.name for param in analysis_command(name).params} - {"source", "picture", "as_json"}
    assert command == fields
    assert set(options_schema(kind)["properties"]) == fields | {"picture"}
    assert all(field.description for field in kind.model_fields.values())
    import judgekit

    call = getattr(judgekit, name)
    if inspect.isfunction(call):
        assert set(inspect.signature(call).parameters) == fields | {"source"}
