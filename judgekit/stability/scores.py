"""`stability score`: MVS, confidence variation and worst-case instability of every model that was asked (001, 3.4, 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from judgekit import __version__
from judgekit.errors import InputError, UsageError
from judgekit.records import Record
from judgekit.stability.ask import Answers, stored_answers
from judgekit.stability.study import Study, load_study
from judgekit.stats.bootstrap import Estimate
from judgekit.stats.correlation import correlation
from judgekit.stats.multiple import bonferroni, holm
from judgekit.stats.stability import Question, mean_over, paired_difference, question_stability, rarefied

__all__ = ["MEASURES", "Scores", "score_study"]

MEASURES = ("mvs", "confidence_change", "wci_rarefied")


@dataclass(frozen=True)
class Scores:
    """Tables of a study's scores; every row is a plain dict, undefined numbers are None with a ``reason``.

    `models`: one row a model. `kinds`: model by kind of rewording. `questions`: model by question. `comparisons`: pairs of models by
    measure, question by question. `confidence`: confidence against accuracy, a row a model and one over all models. `draw` is the number of
    variants at which worst-case instability is compared.
    """

    models: list[dict[str, Any]]
    kinds: list[dict[str, Any]]
    questions: list[dict[str, Any]]
    comparisons: list[dict[str, Any]]
    confidence: list[dict[str, Any]]
    draw: int | None
    notes: list[str]
    signature: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class _Model:
    """One model's answers, question by question."""

    def __init__(
        self, answers: Answers, questions: Sequence[Record], variants: dict[str, list[dict[str, Any]]]
    ) -> None:
        self.answers, self.questions, self.variants = answers, questions, variants
        self.name = answers.model
        self.scored = {record.id: self.stability(record) for record in questions}

    def given(self, identity: str) -> str | None:
        return self.answers.answer.get(identity)

    def stability(self, record: Record, only: set[str] | None = None) -> Question:
        rows = [row for row in self.variants.get(record.id, []) if only is None or row["id"] in only]
        return question_stability(
            self.given(record.id),
            [self.given(row["id"]) for row in rows],
            truth=record.answer,
            base_confidence=self.answers.confidence.get(record.id),
            confidences=[self.answers.confidence.get(row["id"]) for row in rows],
        )


def score_study(
    out: str | Path, *, draw: int | None = None, replicates: int = 2000, permutations: int = 100_000, seed: int = 0
) -> Scores:
    """Score every model that was asked in a study.

    Parameters
    ----------
    draw : the number of variants at which worst-case instability is compared; by default the smallest that any scored question has.
        Questions with fewer are left out of that column, and counted.
    replicates : of the bootstrap over questions' clusters. permutations : of the paired tests.

    Raises InputError where no model was asked.
    """
    if draw is not None and draw < 1:
        raise UsageError("one variant at least is drawn", field="draw")
    study = load_study(out)
    asked = stored_answers(out, study)
    if not asked:
        raise InputError("no model was asked yet", file=str(out), mend=f"judgekit stability ask {out} --model M")
    variants: dict[str, list[dict[str, Any]]] = {}
    for row in study.final():
        variants.setdefault(row["base"], []).append(row)
    models = [_Model(one, study.questions, variants) for one in asked]
    counts = [found.n for model in models for found in model.scored.values() if found.mvs is not None]
    size = draw if draw is not None else min(counts, default=None)
    boot: dict[str, Any] = {"replicates": replicates, "seed": seed}
    clusters = [record.cluster_id for record in study.questions]
    notes = [*study.missing_stages()]
    none = sum(1 for record in study.questions if not variants.get(record.id))
    if none:
        notes.append(
            f"{none} of {len(study.questions)} questions have no verified variant: they have no score and are in no mean"
        )
    if len(models) > 1:
        notes.append(
            f"p values are adjusted over all {len(list(combinations(models, 2))) * len(MEASURES)} comparisons that were made"
        )
    parts = [
        f"judgekit:{__version__}", f"study:{study.make['dataset']}", f"questions:{len(study.questions)}", f"variants:{len(study.final())}",
        f"writer:{study.make['writer']}", f"distinct:{study.make['alike']:g}", _verified(study), f"draw:{size}",
        f"bootstrap:{replicates}", f"permutations:{permutations}", f"seed:{seed}",
    ]  # fmt: skip
    return Scores(
        [_model_row(model, size, clusters, boot) for model in models],
        [row for model in models for row in _kind_rows(model, study.make["kinds"], clusters, boot)],
        [row for model in models for row in _question_rows(model)],
        _comparisons(models, size, clusters, permutations, boot),
        _confidence(models, boot),
        size,
        notes,
        "|".join(parts),
    )


def _verified(study: Study) -> str:
    if study.verify is None:
        return "verified:no"
    state = study.verify
    names = "+".join(state["versions"])
    return f"nli:{names}|k:{state['k']}of{len(state['models'])}|entail:{state['entail']:g}|contradict:{state['contradict']:g}|judges:{'+'.join(state['judges']) or 'none'}|experts:{len(study.experts(1))}"


def _put(row: dict[str, Any], name: str, found: Estimate) -> None:
    row[name], row[f"{name}_low"], row[f"{name}_high"], row[f"{name}_n"] = found.value, found.low, found.high, found.n
    if found.reason or found.interval_reason:
        row[f"{name}_reason"] = found.reason or found.interval_reason


def _rare(found: Question, draw: int | None) -> float | None:
    if found.differing is None or draw is None or found.n < 1:
        return None
    return rarefied(found.n, found.differing, draw)


def _model_row(model: _Model, draw: int | None, clusters: list[str], boot: dict[str, Any]) -> dict[str, Any]:
    scored = [model.scored[record.id] for record in model.questions]
    row: dict[str, Any] = {
        "model": model.name, "way": model.answers.entry["way"], "questions": len(scored),
        "scored": sum(found.mvs is not None for found in scored), "variants": sum(found.n for found in scored if found.mvs is not None),
        "unanswered": sum(model.given(identity) is None for identity in model.answers.answer),
    }  # fmt: skip
    _put(
        row,
        "mvs",
        mean_over(
            [found.mvs for found in scored], clusters, reason=_first(found.mvs_reason for found in scored), **boot
        ),
    )
    changes = [found.confidence_change for found in scored]
    _put(
        row,
        "confidence_change",
        mean_over(changes, clusters, reason=_first(found.confidence_reason for found in scored), **boot),
    )
    why = _first(found.wci_reason for found in scored)
    _put(row, "wci", mean_over([found.wci for found in scored], clusters, reason=why, **boot))
    _put(row, "wci_rarefied", mean_over([_rare(found, draw) for found in scored], clusters, reason=why, **boot))
    row["draw"] = draw
    flips = [found.flips for found in scored if found.flips is not None]
    for name in ("right_to_wrong", "wrong_to_right", "between_wrong"):
        row[name] = sum(getattr(one, name) for one in flips) if flips else None
    _put(
        row,
        "accuracy",
        mean_over(
            [_right(model, record, record.id) for record in model.questions],
            clusters,
            reason="the right answers are not known",
            **boot,
        ),
    )
    sure = [model.answers.confidence.get(record.id) for record in model.questions]
    _put(row, "confidence", mean_over(sure, clusters, reason="no probability of any answer", **boot))
    row["reason"] = row.get("mvs_reason") or row.get("confidence_change_reason")
    return row


def _first(reasons: Any) -> str:
    return next((reason for reason in reasons if reason), "no question has a value")


def _right(model: _Model, record: Record, identity: str) -> float | None:
    answer = model.given(identity)
    return None if answer is None or record.answer is None else float(answer == record.answer)


def _kind_rows(model: _Model, kinds: Sequence[str], clusters: list[str], boot: dict[str, Any]) -> list[dict[str, Any]]:
    rows = []
    for kind in kinds:
        values: list[float | None] = []
        changes: list[float | None] = []
        for record in model.questions:
            ids = {row["id"] for row in model.variants.get(record.id, []) if row["kind"] == kind}
            found = model.stability(record, ids)
            values.append(found.mvs)
            changes.append(found.confidence_change)
        row: dict[str, Any] = {"model": model.name, "kind": kind}
        _put(row, "mvs", mean_over(values, clusters, reason="no verified variant of this kind", **boot))
        _put(
            row,
            "confidence_change",
            mean_over(changes, clusters, reason="no probability, or no variant of this kind", **boot),
        )
        row["reason"] = row.get("mvs_reason")
        rows.append(row)
    return rows


def _question_rows(model: _Model) -> list[dict[str, Any]]:
    rows = []
    for record in model.questions:
        found = model.scored[record.id]
        row = {
            "model": model.name,
            "question": record.id,
            "answer": model.given(record.id),
            "truth": record.answer,
            **asdict(found),
        }
        flips = row.pop("flips")
        row.update(flips or dict.fromkeys(("right_to_wrong", "wrong_to_right", "between_wrong")))
        row["reason"] = found.mvs_reason or found.wci_reason or found.confidence_reason
        rows.append(row)
    return rows


def _comparisons(
    models: list[_Model], draw: int | None, clusters: list[str], permutations: int, boot: dict[str, Any]
) -> list[dict[str, Any]]:
    rows = []
    for one, two in combinations(models, 2):
        sides: tuple[dict[str, list[float | None]], dict[str, list[float | None]]] = ({}, {})
        for record in one.questions:
            # Both are scored on the variants that both answered, so that neither has more chances to flip.
            both = {
                row["id"]
                for row in one.variants.get(record.id, [])
                if one.given(row["id"]) is not None and two.given(row["id"]) is not None
            }
            for side, model in zip(sides, (one, two), strict=True):
                found = model.stability(record, both)
                for name, value in (
                    ("mvs", found.mvs),
                    ("confidence_change", found.confidence_change),
                    ("wci_rarefied", _rare(found, draw)),
                ):
                    side.setdefault(name, []).append(value)
        for name in MEASURES:
            result = paired_difference(
                sides[0].get(name, []), sides[1].get(name, []), clusters, permutations=permutations, **boot
            )
            row: dict[str, Any] = {
                "first": one.name, "second": two.name, "measure": name, "quantisation": _same_weights(one.answers, two.answers),
                "p": result.p, "exact": result.exact, "effect": result.effect, "left_out": result.left_out,
                "reason": result.estimate.reason or result.p_reason or result.effect_reason,
            }  # fmt: skip
            _put(row, "difference", result.estimate)
            rows.append(row)
    p = [row["p"] for row in rows]
    for row, careful, stepped in zip(rows, bonferroni(p), holm(p), strict=True):
        row["p_bonferroni"], row["p_holm"], row["family"] = careful, stepped, len(rows)
    return rows


def _same_weights(one: Answers, two: Answers) -> bool:
    """Whether two models are one checkpoint in two precisions: their difference is the effect of quantisation (001, 5.4)."""
    return bool(one.entry["way"] == two.entry["way"] == "probability" and one.entry["family"] == two.entry["family"])


def _confidence(models: list[_Model], boot: dict[str, Any]) -> list[dict[str, Any]]:
    """Over the variants of each model: mean confidence, accuracy, how far the first is over the second; their correlation."""
    rows: list[dict[str, Any]] = []
    for model in models:
        sure: list[float] = []
        right: list[float] = []
        groups: list[str] = []
        for record in model.questions:
            for row in model.variants.get(record.id, []):
                confidence, correct = model.answers.confidence.get(row["id"]), _right(model, record, row["id"])
                if confidence is not None and correct is not None:
                    sure.append(confidence)
                    right.append(correct)
                    groups.append(record.cluster_id)
        entry: dict[str, Any] = {"model": model.name, "variants": len(sure)}
        why = "no variant has both a probability and a known right answer"
        _put(entry, "confidence", mean_over(list(sure), groups, reason=why, **boot))
        _put(entry, "accuracy", mean_over(list(right), groups, reason=why, **boot))
        _put(
            entry,
            "over_confidence",
            mean_over([a - b for a, b in zip(sure, right, strict=True)], groups, reason=why, **boot),
        )
        _correlate(entry, sure, right, groups, boot)
        entry["reason"] = entry.get("confidence_reason") or entry.get("pearson_reason")
        rows.append(entry)
    known = [row for row in rows if row["confidence"] is not None]
    across: dict[str, Any] = {"model": "over models", "variants": None, "models": len(known)}
    _correlate(
        across,
        [row["confidence"] for row in known],
        [row["accuracy"] for row in known],
        None,
        {"replicates": 0, "seed": 0},
    )
    across["reason"] = across.get("pearson_reason")
    return [*rows, across]


def _correlate(
    row: dict[str, Any], x: list[float], y: list[float], groups: list[str] | None, boot: dict[str, Any]
) -> None:
    for method in ("pearson", "spearman"):
        found = correlation(
            x, y, method=method, clusters=groups, replicates=min(boot["replicates"], 1000), seed=boot["seed"]
        )
        row[method], row[f"{method}_low"], row[f"{method}_high"] = found.value, found.low, found.high
        if found.reason:
            row[f"{method}_reason"] = found.reason
