"""What a data set holds, counted, and everything that is wrong with it (``judgekit data validate``)."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judgekit.data.build import Problems
from judgekit.data.cards import Card
from judgekit.data.labels import describe, is_join
from judgekit.data.load import read_source
from judgekit.data.model import RecordSet
from judgekit.data.propose import look_like_ratings
from judgekit.errors import DataError
from judgekit.records import Label, Record, content_hash

__all__ = ["counts", "validate", "warnings"]


def validate(
    source: Any, card: str | Path | Card | None = None, *, max_errors: int = 50
) -> tuple[RecordSet | None, list[DataError], int]:
    """Read a source to its end.

    Returns the records that are good (None when the source could not be read at all), up to `max_errors` errors in the order of
    the source, and the number of all errors.
    """
    problems = Problems(limit=max_errors)
    try:
        records = read_source(source, card, dataset=None, limit=None, problems=problems)
    except DataError as error:
        return None, [*problems.found, error], len(problems.found) + problems.more + 1
    return records, problems.found, len(problems.found) + problems.more


def counts(records: RecordSet) -> dict[str, Any]:
    """Counts of a data set, ready for JSON; what cannot be counted is None.

    ``labels`` holds one row a construct and rater (joins are marked ``"join": true``): how many records, how many of them with a
    verdict, how many incomplete, and the base rate of incomplete among those with a verdict.
    """
    items = list(records)
    said = [(record.question_text, record.response) for record in items]
    texts = Counter(content_hash(pair) for pair in said if pair != (None, None))
    sizes = [len(record.criteria) for record in items if record.criteria]
    clusters = Counter(record.cluster_id for record in items)
    return {
        "dataset": records.name,
        "file": records.path,
        "card": records.card.name if records.card else None,
        "records": len(items),
        "clusters": len(clusters),
        "largest_cluster": max(clusters.values(), default=0),
        "conversations": sum(isinstance(record.question, tuple) and len(record.question) > 1 for record in items),
        "with_response": sum(record.response is not None for record in items),
        "blank_responses": sum(_blank(record) for record in items),
        "with_reference": sum(record.reference is not None for record in items),
        "with_options": sum(record.options is not None for record in items),
        "duplicate_texts": sum(number - 1 for number in texts.values()),
        "labelled": sum(bool(record.labels) for record in items),
        "criteria": {
            "records": len(sizes),
            "min": min(sizes, default=None),
            "median": statistics.median(sizes) if sizes else None,
            "max": max(sizes, default=None),
            "kinds": dict(Counter(item.kind or "" for record in items for item in record.criteria)),
        },
        "labels": _label_rows(items),
        "severities": _severities(items),
        "values": _values(items),
        "notes": [*records.notes, *warnings(records)],
    }


def _blank(record: Record) -> bool:
    return record.response is not None and not record.response.strip()


def _label_rows(items: Sequence[Record]) -> list[dict[str, Any]]:
    by: dict[tuple[str, str | None], list[Label]] = {}
    for record in items:
        for label in record.labels:
            by.setdefault((label.construct, label.rater), []).append(label)
    rows = []
    for (construct, rater), labels in sorted(by.items(), key=lambda item: (item[0][0], is_join(item[0][1]))):
        verdicts = [label.complete for label in labels if label.complete is not None]
        wrong = sum(not verdict for verdict in verdicts)
        rows.append(
            {
                "construct": construct,
                "rater": rater,
                "shown": describe(rater),
                "join": is_join(rater),
                "n": len(labels),
                "n_verdicts": len(verdicts),
                "n_incomplete": wrong if verdicts else None,
                "base_rate": wrong / len(verdicts) if verdicts else None,
                "n_scores": sum(label.score is not None for label in labels),
            }
        )
    return rows


def _severities(items: Sequence[Record]) -> dict[str, int]:
    said = (label for record in items for label in record.labels if not is_join(label))
    found = Counter(label.severity for label in said if label.severity is not None)
    return dict(found.most_common())


def _values(items: Sequence[Record]) -> dict[str, dict[str, int]]:
    """Per construct, what raters said where they said a word or ticked criteria and gave no verdict; the 12 most frequent."""
    found: dict[str, Counter[str]] = {}
    for record in items:
        for label in record.labels:
            if label.complete is None and not is_join(label) and isinstance(label.value, str | int | float):
                found.setdefault(label.construct, Counter())[str(label.value)] += 1
    return {construct: dict(words.most_common(12)) for construct, words in found.items()}


def warnings(records: RecordSet) -> list[str]:
    """Sentences about what could mislead in an analysis of these records."""
    items = list(records)
    out = []
    verdicts = [name for name, shape in records.card.spec.shapes.items() if shape.verdicts] if records.card else []
    if records.card and any(records.name == f"{records.card.name}-{name}" for name in verdicts):
        out.append("these rows are judges' recorded verdicts, not texts: judgekit import FILE --card CARD --out RUN")
    few = [record for record in items if 0 < _counting(record) <= 2]
    if len(few) * 5 >= len(items) and few:
        out.append(f"{len(few)} of {len(items)} records have one or two criteria that count: a share of them is coarse")
    models = {str(record.meta["model"]) for record in items if record.meta.get("model") is not None}
    pairs = Counter((record.cluster_id, str(record.meta.get("model"))) for record in items)
    if len(models) > 1 and len({cluster for cluster, _ in pairs}) == len(items):
        out.append("one model's answer a question: models and questions are confounded, so do not compare models")
    sizes = Counter(len([1 for label in record.labels if not is_join(label)]) for record in items)
    sizes.pop(0, None)
    if len(sizes) > 1:
        shown = ", ".join(f"{number} with {size}" for size, number in sorted(sizes.items()))
        out.append(f"records have unequal numbers of raters' labels ({shown}): worst-of-raters is refused")
    if records.card is None and not any(record.labels for record in items) and (columns := look_like_ratings(items)):
        out.append(
            f"nothing is labelled, and {', '.join(map(repr, columns[:12]))} look like ratings: `judgekit data card FILE` proposes a card"
        )
    praised = [record for record in items if _blank(record) and any(label.complete for label in record.labels)]
    if praised:
        out.append(f"{len(praised)} blank responses are labelled complete, such as {praised[0].id!r}")
    return out


def _counting(record: Record) -> int:
    kinds = {item.kind for item in record.criteria}
    if "must_have" in kinds:
        return sum(item.kind == "must_have" for item in record.criteria)
    return sum(item.points > 0 for item in record.criteria)
