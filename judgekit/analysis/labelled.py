"""The options that say where labels and scores are, for every analysis that sets one against the other."""

from __future__ import annotations

from typing import Literal

from judgekit.analysis.options import Clustered, Selected, opt

__all__ = ["Labelled"]


class Labelled(Clustered, Selected):
    """Where labels and scores are."""

    label: str = opt(
        "incomplete", "Table: column of the clinician's label: 0/1, true/false, yes/no.", only="table", metavar="COL"
    )
    label_is: Literal["incomplete", "complete"] | None = opt(
        None, "Table: what 1 means in the label column (incomplete).", only="table"
    )
    score: tuple[str, ...] = opt(
        ("score",), "Table: column of the raw score; data: field of meta. Several are several judges. [repeatable]",
        only="table records", metavar="COL",
    )  # fmt: skip
    id: str | None = opt(None, "Table: column of the answer's id. [id, record_id]", only="table", metavar="COL")
    rater: str | None = opt(
        None,
        "Table: column of the rater, one row a rater. Run or data: a name, 'each', or a join (majority, worst, mean).",
    )
    join: Literal["majority", "worst"] | None = opt(None, "Table: also join the raters, in this way.", only="table")
    construct: str | None = opt(  # type: ignore[assignment]
        None, "Run or data: labels of this construct. [the rubric's own]", only="run records"
    )
    complete_value: tuple[str, ...] = opt(
        (), "Run: label value that means complete, such as Entailment. [repeatable]", only="run"
    )
    metric: tuple[str, ...] = opt((), "Run: also this local metric as a score, or all. [repeatable]", only="run")
    panel: Literal["mean", "majority"] | None = opt(
        None, "Run: also all judges (or those of --judge) as one panel.", only="run"
    )
    card: str | None = opt(None, "Data: how to read labelled records.", metavar="CARD", only="records")
    severity: str | None = opt(None, "Table: column with the severity of what is missing.", only="table", metavar="COL")
    sampling_probability: str | None = opt(
        None, "How likely an answer was to be labelled; weights by the inverse.", metavar="COL"
    )
    complete_when: str | None = opt(None, "The judge's own fixed threshold, such as '>= 4'.", metavar="RULE")
    by: str | None = opt(None, "Split into strata by this column.", metavar="FIELD")
