"""How close the gazetteer comes to scispaCy's recorded values on HIVMedQA, and whether the variants rank as in the paper (003, figure 5a).

    python bench/metrics_hivmedqa.py [FOLDER]

FOLDER holds hivmedqa_answers.jsonl, hivmedqa_entity_f1.csv, hivmedqa_rephrased.jsonl, hivmedqa_rephrased_f1.csv and the synonym
dictionary; by default ../shared/data, or $JUDGEKIT_SHARED_DATA.
"""

from __future__ import annotations

import csv
import json
import os
import sys
import time
from pathlib import Path

from scipy.stats import spearmanr

from judgekit.metrics.base import parse_metric
from judgekit.records import Record

KEY = ("model", "question_id", "iteration")


def load(folder: Path) -> tuple[list[Record], list[dict[str, str]]]:
    records, rows = [], []
    for texts, values in (
        ("hivmedqa_answers.jsonl", "hivmedqa_entity_f1.csv"),
        ("hivmedqa_rephrased.jsonl", "hivmedqa_rephrased_f1.csv"),
    ):
        with open(folder / values, encoding="utf-8", newline="") as file:
            recorded = {tuple(str(row[key]) for key in KEY): row for row in csv.DictReader(file)}
        for line in (folder / texts).read_text("utf-8").splitlines():
            row = json.loads(line)
            key = (row.get("model", "Rephrased gold"), row["question_id"], str(row["iteration"]))
            if key in recorded:
                answer = next(
                    row[name] for name in ("answer", "rephrased_answer", "rephrased", "response") if name in row
                )
                records.append(
                    Record(
                        id="|".join(key), reference=row["gold_answer"], response=answer or "", meta={"model": key[0]}
                    )
                )
                rows.append(recorded[key])
    return records, rows


def main() -> None:
    default = os.environ.get("JUDGEKIT_SHARED_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else default)
    records, rows = load(folder)
    dictionary = f"dict:{folder / 'hivmedqa_synonyms_dictionary.json'}"
    variants = [
        ("entity_f1(match=exact)", "f1_score"),
        ("entity_f1", "f1_score"),
        ("med_syn_f1(synonyms=none,lemmas=none)", "f1_score"),
        (f"med_syn_f1(synonyms={dictionary},lemmas=none)", "synonyms_f1_dict"),
        ("med_syn_f1(synonyms=concepts,lemmas=none)", "synonyms_f1_snomed"),
        (f"med_syn_f1(synonyms={dictionary},lemmas=simplemma)", "synonyms_lemmatized_f1_dict"),
        ("med_syn_f1(synonyms=concepts,lemmas=simplemma)", "synonyms_lemmatized_f1_snomed"),
        (f"med_syn_f1(synonyms=concepts+{dictionary},lemmas=simplemma)", "synonyms_lemmatized_f1_dict"),
    ]
    rephrased = [record.meta["model"] == "Rephrased gold" for record in records]
    print(
        f"{len(records)} texts, {sum(rephrased)} of them rephrased golds, {len({record.reference for record in records})} questions"
    )
    print(
        f"{'variant':66} {'recorded column':30} {'n':>5} {'rho':>6} {'rho q':>6} {'gold':>6} {'answers':>7} {'above':>6}  s"
    )
    for notation, column in variants:
        start = time.perf_counter()
        values = [result.value for result in parse_metric(notation).measure(records)]
        pairs = [(value, float(row[column])) for value, row in zip(values, rows, strict=True) if value is not None]
        gold = [value for value, flag in zip(values, rephrased, strict=True) if flag and value is not None]
        rest = [value for value, flag in zip(values, rephrased, strict=True) if not flag and value is not None]
        by_model: dict[str, tuple[list[float], list[float]]] = {}
        best: dict[str, list[tuple[bool, float]]] = {}
        for _record, value, row, flag in zip(records, values, rows, rephrased, strict=True):
            if value is not None:
                ours, theirs = by_model.setdefault(row["question_id"], ([], []))
                ours.append(value)
                theirs.append(float(row[column]))
                best.setdefault(row["question_id"], []).append((flag, value))
        per_question = [(sum(a) / len(a), sum(b) / len(b)) for a, b in by_model.values()]
        above = total = 0.0
        for found in best.values():
            for flag, value in found:
                if flag:
                    others = [other for is_gold, other in found if not is_gold]
                    above += sum((value > other) + 0.5 * (value == other) for other in others)
                    total += len(others)
        name = notation.replace(str(folder) + "/", "")
        print(
            f"{name:66} {column:30} {len(pairs):5} {spearmanr(*zip(*pairs, strict=True)).statistic:6.3f} "
            f"{spearmanr(*zip(*per_question, strict=True)).statistic:6.3f} {sum(gold) / len(gold):6.3f} {sum(rest) / len(rest):7.3f} "
            f"{above / total:6.3f}  {time.perf_counter() - start:.1f}"
        )


if __name__ == "__main__":
    main()
