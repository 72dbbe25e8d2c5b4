"""What the evidence judge is worth on K-QA's claims, signal by signal, and the map that is frozen in the package.

    python bench/metrics_evidence.py [kqa_claims.csv] [--write]

A claim is positive where the physicians' majority says Entailment. Every number is cross-fitted by question (8 folds, AUC from pairs
within a fold, 20 divisions); the interval bootstraps questions through the whole procedure. --write refits on all rows and writes
judgekit/judging/evidence_map.json with the hashes of those rows.
"""

from __future__ import annotations

import csv
import datetime
import hashlib
import json
import os
import re
import sys
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from judgekit.judging.engine.evidence import CONFLICT_FACTOR, FEATURES, features, row_hash
from judgekit.metrics.entity_f1 import found_in
from judgekit.metrics.nli_rules import content_words
from judgekit.metrics.semantic_similarity import embedded
from judgekit.metrics.text import sentences

RIDGE = 0.3  # scikit-learn's C on standardised features
FOLDS, DIVISIONS, BOOTSTRAPS = 8, 20, 300
MAP = Path(__file__).resolve().parents[1] / "judgekit" / "judging" / "evidence_map.json"


def pairs_won(scores: np.ndarray, truth: np.ndarray) -> tuple[float, int]:
    """Pairs of a positive and a negative in which the positive scores higher (ties half), and how many pairs there are."""
    high, low = scores[truth], scores[~truth]
    return float((high[:, None] > low).sum() + 0.5 * (high[:, None] == low).sum()), len(high) * len(low)


def within(scores: np.ndarray, truth: np.ndarray, groups: np.ndarray) -> float:
    rows = [pairs_won(scores[groups == group], truth[groups == group]) for group in np.unique(groups)]
    return sum(won for won, _ in rows) / sum(n for _, n in rows)


def model() -> object:
    return make_pipeline(StandardScaler(), LogisticRegression(C=RIDGE))


def crossed(
    x: np.ndarray,
    truth: np.ndarray,
    question: np.ndarray,
    divisions: int,
    seed: int = 0,
    conflict: np.ndarray | None = None,
) -> tuple[float, float]:
    """(AUC, AUC within questions) of the fitted map, from held-out folds; where `conflict` is 1 the probability is multiplied by the factor."""
    factor = np.ones(len(truth)) if conflict is None else np.where(conflict > 0, CONFLICT_FACTOR, 1.0)
    names = np.unique(question)
    totals, inner = [], []
    for division in range(divisions):
        order = np.random.default_rng(seed + division).permutation(names)
        fold = {name: at % FOLDS for at, name in enumerate(order)}
        folds = np.array([fold[name] for name in question])
        won = count = 0.0
        held = np.zeros(len(truth))
        for at in range(FOLDS):
            out = folds == at
            if len(set(truth[~out])) < 2 or not out.any():
                continue
            held[out] = model().fit(x[~out], truth[~out]).predict_proba(x[out])[:, 1] * factor[out]  # type: ignore[attr-defined]
            a, b = pairs_won(held[out], truth[out])
            won, count = won + a, count + b
        totals.append(won / count if count else np.nan)
        inner.append(within(held, truth, question))
    return float(np.nanmean(totals)), float(np.nanmean(inner))


def bootstrapped(x: np.ndarray, truth: np.ndarray, question: np.ndarray, conflict: np.ndarray) -> tuple[float, float]:
    """95 % interval of the cross-fitted AUC: questions drawn with replacement, the whole procedure run on each draw.

    A question that is drawn twice counts as one question when folds are made, so that no claim trains its own twin.
    """
    rng, names, found = np.random.default_rng(1), np.unique(question), []
    for _ in range(BOOTSTRAPS):
        rows = np.concatenate([np.flatnonzero(question == name) for name in rng.choice(names, len(names))])
        if len(set(truth[rows])) == 2:
            found.append(
                crossed(x[rows], truth[rows], question[rows], 1, int(rng.integers(1 << 30)), conflict[rows])[0]
            )
    low, high = np.nanpercentile(found, [2.5, 97.5])
    return float(low), float(high)


def negated(claim: str) -> str:
    for verb in ("should", "can", "may", "is", "are", "was", "has", "have", "does", "do", "will"):
        if re.search(rf"\b{verb}\b", claim):
            return re.sub(rf"\b{verb}\b", f"{verb} not", claim, count=1)
    return f"It is not true that {claim[:1].lower()}{claim[1:]}"


def wrong_amount(claim: str) -> str | None:
    changed = re.sub(r"\d+(?:\.\d+)?", lambda match: f"{float(match.group()) * 3:g}", claim)
    return changed if changed != claim else None


def main() -> None:
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    default = (
        Path(os.environ.get("JUDGEKIT_SHARED_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
        / "kqa_claims.csv"
    )
    path = Path(arguments[0]) if arguments else default
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    truth = np.array([row["majority_label"] == "Entailment" for row in rows])
    question = np.array([row["qid"] for row in rows])
    print(f"{len(rows)} claims, {truth.sum()} entailed, {len(set(question))} questions")

    def signals(claims: list[str]) -> list:  # type: ignore[type-arg]
        found: list = [None] * len(rows)  # type: ignore[type-arg]
        for ident in dict.fromkeys(row["id"] for row in rows):
            at = [i for i, row in enumerate(rows) if row["id"] == ident]
            for i, item in zip(
                at, features(rows[at[0]]["response"], [claims[i] for i in at], rows[at[0]]["question"]), strict=True
            ):
                found[i] = item
        return found

    found = signals([row["claim"] for row in rows])
    alignment = np.array([item[0].alignment for item in found])
    sentence = np.array([item[0].sentence for item in found])
    conflict = np.array([item[1] for item in found])
    texts = [
        text for row in rows for text in [row["claim"], *(row["response"][a:b] for a, b in sentences(row["response"]))]
    ]
    vector = dict(zip(texts, (item[0] for item in embedded(texts, "all-MiniLM-L6-v2", "chunk")), strict=True))
    cosine = np.array(
        [
            max(float(vector[row["claim"]] @ vector[row["response"][a:b]]) for a, b in sentences(row["response"]))
            for row in rows
        ]
    )
    overlap = np.array(
        [
            np.mean([word in set(content_words(row["response"])) for word in content_words(row["claim"])] or [0])
            for row in rows
        ]
    )
    concepts = []
    for row in rows:
        mine, theirs = (
            [set(entity.concepts) for entity in side]
            for side in found_in([row["claim"], row["response"]], "gazetteer", False)
        )
        everything = set().union(*theirs) if theirs else set()
        concepts.append(np.mean([bool(ids & everything) for ids in mine if ids] or [0.5]))
    length = np.array([np.log(len(row["response"])) for row in rows])

    print(f"\n{'one signal, nothing fitted':44} {'AUC':>6} {'within answers':>15}")
    for name, values in {
        "best sentence, MiniLM cosine": cosine,
        "share of the claim's words in the response": overlap,
        "share of its concepts (gazetteer)": np.array(concepts),
        "best sentence, word alignment": sentence,
        "word alignment over the response": alignment,
        "conflict with the best sentence (rules)": -conflict,
        "length of the response": length,
    }.items():
        print(f"{name:44} {roc_auc_score(truth, values):6.3f} {within(values, truth, question):15.3f}")
    print(
        f"conflict speaks {int(conflict.sum())} times, {int((conflict * truth).sum())} of them about an entailed claim"
    )

    print(f"\n{'cross-fitted by question':44} {'AUC':>6} {'within answers':>15}")
    columns = {"alignment": alignment, "conflict": conflict, "sentence": sentence, "cosine": cosine, "overlap": overlap, "concepts": np.array(concepts), "length": length}  # fmt: skip
    halved = "alignment, halved by conflict"
    for names in (
        ("alignment",), (halved,), ("alignment", "conflict"), (halved, "sentence"), (halved, "cosine"), (halved, "overlap"), (halved, "concepts"),
        (halved, "length"), ("cosine", "overlap"),
    ):  # fmt: skip
        veto = conflict if halved in names else None
        matrix = np.column_stack([columns["alignment" if name == halved else name] for name in names])
        auc, inner = crossed(matrix, truth, question, DIVISIONS, conflict=veto)
        print(f"{' + '.join(names):44} {auc:6.3f} {inner:15.3f}" + ("   <- the map" if names == (halved,) else ""))
    x = np.column_stack([columns[name] for name in FEATURES])
    low, high = bootstrapped(x, truth, question, conflict)
    auc, inner = crossed(x, truth, question, DIVISIONS, conflict=conflict)
    print(f"the map: {auc:.3f}, 95 % interval by question {low:.3f} to {high:.3f}")

    fitted = model().fit(x, truth)  # type: ignore[attr-defined]
    scaler, logistic = fitted[0], fitted[1]
    factor = np.where(conflict > 0, CONFLICT_FACTOR, 1.0)
    p = fitted.predict_proba(x)[:, 1] * factor
    print(
        "\nentailed claims spoiled, the map fitted on all rows: share called met, and AUC of the true ones against the spoiled ones"
    )
    true = np.flatnonzero(truth)
    print(f"{'as they are':24} n {len(true):3}  met {np.mean(p[true] >= 0.5):.2f}")
    rng = np.random.default_rng(0)
    swapped = [
        rows[int(rng.choice([j for j in range(len(rows)) if question[j] != question[i]]))]["claim"]
        for i in range(len(rows))
    ]
    for name, claims in {
        "negated": [negated(row["claim"]) for row in rows],
        "wrong amount": [wrong_amount(row["claim"]) for row in rows],
        "of another question": swapped,
    }.items():
        at = [i for i in true if claims[i] is not None]
        other = signals([claim or "x" for claim in claims])
        q = fitted.predict_proba(np.array([[other[i][0].alignment] for i in at]))[:, 1]
        q = np.where([other[i][1] > 0 for i in at], CONFLICT_FACTOR, 1.0) * q
        auc_spoiled = roc_auc_score([1] * len(at) + [0] * len(at), [*p[at], *q])
        print(f"{name:24} n {len(at):3}  met {np.mean(q >= 0.5):.2f}  AUC {auc_spoiled:.3f}")
    print(
        f"all claims: met called for {np.mean(p >= 0.5):.2f}, sensitivity {np.mean(p[truth] >= 0.5):.2f}, specificity {np.mean(p[~truth] < 0.5):.2f}"
    )

    if "--write" in sys.argv:
        value = {
            "features": list(FEATURES),
            "mean": [float(number) for number in scaler.mean_],
            "scale": [float(number) for number in scaler.scale_],
            "coefficients": [float(number) for number in logistic.coef_[0]],
            "intercept": float(logistic.intercept_[0]),
            "threshold": 0.5,
            "conflict_factor": CONFLICT_FACTOR,
            "ridge": RIDGE,
            "data": {
                "name": "K-QA claims, dev half", "claims": len(rows), "entailed": int(truth.sum()), "questions": len(set(question)),
                "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            },
            "date": datetime.date.today().isoformat(),
            "cross_fitted_auc": {"auc": round(auc, 3), "low": round(low, 3), "high": round(high, 3), "within_answers": round(inner, 3)},
            "rows": sorted({row_hash(row["response"], row["claim"]) for row in rows}),
        }  # fmt: skip
        MAP.write_text(json.dumps(value, indent=1) + "\n", "utf-8")
        print(f"written: {MAP.name}")


if __name__ == "__main__":
    main()
