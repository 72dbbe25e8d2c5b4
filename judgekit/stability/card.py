"""A judge card: what one judge with one rubric is worth on one data set, on a page, as Markdown and as HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import numpy as np

from judgekit.data.labels import describe, raters
from judgekit.records import Record
from judgekit.stability.judges import JudgeStability
from judgekit.stats.agreement import cohen_kappa, encode
from judgekit.stats.auc import auc, auc_headline
from judgekit.stats.ceiling import human_ceiling
from judgekit.stats.operating_point import baselines, loco_recall, operating_point

__all__ = ["card_html", "card_markdown", "card_sections"]

Section = tuple[str, list[str], list[list[str]], list[str]]  # title, heads, rows, sentences


def _number(value: Any, digits: int = 3, signed: bool = False) -> str:
    return "not defined" if value is None else f"{value:{'+' if signed else ''}.{digits}f}"


def _span(value: Any, low: Any, high: Any, digits: int = 3, signed: bool = False) -> str:
    text = _number(value, digits, signed)
    return (
        text
        if value is None or low is None or high is None
        else f"{text} ({_number(low, digits, signed)} to {_number(high, digits, signed)})"
    )


def card_sections(
    found: JudgeStability, *, recall: str = "0.9", replicates: int = 2000, seed: int = 0
) -> list[Section]:
    """The card's sections as tables and sentences; undefined figures say why."""
    return [
        _identity(found),
        _agreement(found, replicates, seed),
        _point(found, recall),
        _stability(found),
        _wordings(found),
        _cost(found),
        _limits(found),
    ]


def _identity(found: JudgeStability) -> Section:
    rubric = found.rubric
    rows = [
        ["judge", found.judge],
        ["rubric", f"{rubric.name}, version {rubric.version}: {rubric.title or 'untitled'}"],
        ["asks (fingerprint)", rubric.ask_fingerprint],
        ["scores (fingerprint)", rubric.score_fingerprint],
        ["complete when", rubric.complete_when or "no fixed threshold"],
        [
            "data",
            f"{found.dataset}, {len(found.records)} answers to {len({record.cluster_id for record in found.records})} questions",
        ],
    ]
    return "Judge", ["", ""], rows, []


def _said(found: JudgeStability, record: Record) -> bool | None:
    """The judge's fixed-threshold verdict: the first sample's, as a run with one sample gives it."""
    return next((row.complete for row in sorted(found.base.get(record.id, []), key=lambda row: row.sample)), None)


def _raw(found: JudgeStability, record: Record) -> float | None:
    known = [row.raw for row in found.base.get(record.id, []) if row.raw is not None]
    return float(np.mean(known)) if known else None


def _agreement(found: JudgeStability, replicates: int, seed: int) -> Section:
    construct = found.rubric.construct or "completeness"
    told = [{label.rater or "": label.complete for label in raters(record, construct)} for record in found.records]
    names = sorted({name for row in told for name, complete in row.items() if complete is not None})
    mine = encode([_said(found, record) for record in found.records], [False, True])
    clusters = [record.cluster_id for record in found.records]
    rows, notes = [], []
    boot: dict[str, Any] = {"replicates": replicates, "seed": seed}
    for name in names:
        theirs = encode([row.get(name) for row in told], [False, True])
        kappa = cohen_kappa(mine, theirs, n_levels=2, clusters=clusters, **boot)
        rows.append(
            [
                f"with {describe(name or None)}",
                _span(kappa.value, kappa.low, kappa.high),
                str(kappa.n),
                kappa.reason or "",
            ]
        )
    if len(names) >= 2:
        codes = np.column_stack([encode([row.get(name) for row in told], [False, True]) for name in names])
        top = human_ceiling(codes, mine, n_levels=2, clusters=clusters, each=False, **boot)[0]
        for who, one in (
            ("the judge, against the same other raters", top.judge),
            ("a left-out clinician, against the same other raters", top.human),
        ):
            rows.append([who, _span(one.value, one.low, one.high), str(top.comparisons), one.reason or ""])
        notes.append(
            f"Human ceiling: judge minus clinician {_span(top.difference.value, top.difference.low, top.difference.high, signed=True)}."
        )
    elif names:
        notes.append("One rater: there is no human ceiling to stand beside the judge.")
    else:
        notes.append(f"No rater labelled {construct}: agreement with clinicians is not defined.")
    return "Agreement with clinicians (Cohen's kappa of complete or not)", ["who", "kappa", "n", "why not"], rows, notes


def _point(found: JudgeStability, recall: str) -> Section:
    kept = [
        (bool(found.labelled[record.id]), raw, record.cluster_id)
        for record in found.records
        if found.labelled.get(record.id) is not None and (raw := _raw(found, record)) is not None
    ]
    label, score = np.asarray([row[0] for row in kept], dtype=bool), np.asarray([row[1] for row in kept], dtype=float)
    clusters = [row[2] for row in kept]
    if not kept or not label.any() or label.all():
        return "Operating point", [], [], ["Not defined: no labelled and scored answers of both classes."]
    area, head, point = (
        auc(label, score),
        auc_headline(label, score, clusters=clusters).interval,
        operating_point(label, score, recall),
    )
    honest = loco_recall(label, score, recall, clusters=clusters)
    base = baselines(int(label.size), int(label.sum()), recall)
    rows = [
        ["answers, incomplete among them", f"{label.size}, {int(label.sum())}"],
        ["AUC", _span(area.value, head.low, head.high)],
        [f"read when the score is at most (recall {recall})", _number(point.threshold, 2)],
        ["share to read", _number(point.workload)],
        ["recall on these records (optimistic)", _number(point.recall)],
        ["recall with each question left out", _number(honest)],
        ["a perfect judge, a random order", f"{_number(base.perfect)}, {_number(base.random)}"],
    ]
    return (
        "Operating point",
        ["figure", "value"],
        rows,
        ["The threshold was chosen on the records that it is reported on."],
    )


def _stability(found: JudgeStability) -> Section:
    row = found.overall
    rows = [
        [
            name,
            _span(row.get(f"{key}_mvs"), row.get(f"{key}_mvs_low"), row.get(f"{key}_mvs_high")),
            _span(row.get(f"{key}_noise"), row.get(f"{key}_noise_low"), row.get(f"{key}_noise_high")),
            _span(row.get(f"{key}_excess"), row.get(f"{key}_excess_low"), row.get(f"{key}_excess_high"), signed=True),
        ]
        for name, key in (("the level given", "level"), ("complete or not", "verdict"))
    ]
    notes = [
        f"Means over {row['wordings']} of {row['wordings_wanted']} rewordings of the rubric: those that were judged."
    ]
    notes += list(
        dict.fromkeys(
            f"{str(row[key])[:1].upper()}{str(row[key])[1:]}."
            for key in ("level_mvs_reason", "level_excess_reason")
            if row.get(key)
        )
    )
    return (
        "Stability when the rubric's words change",
        ["what may change", "changes", "changes at the same wording", "due to the wording"],
        rows,
        notes,
    )


def _wordings(found: JudgeStability) -> Section:
    rows = [
        [
            row["wording"], str(row["scored"]), _number(row["level_mvs"]), _number(row["verdict_mvs"]),
            _span(row.get("shift"), row.get("shift_low"), row.get("shift_high"), 2, True) if row.get("shift") is not None else "",
            _number(row["auc"]), _span(row["auc_change"], row.get("auc_change_low"), row.get("auc_change_high"), 3, True) if row["auc_change"] is not None else "",
            _number(row["workload"]), _number(row["workload_change"], 3, True) if row["workload_change"] is not None else "",
        ]
        for row in found.rows
    ]  # fmt: skip
    notes = [f"{way}: does not apply, {why}." for way, why in found.skipped.items()]
    heads = [
        "wording",
        "scored",
        "level changes",
        "verdict changes",
        "score shift",
        "AUC",
        "AUC change",
        "workload",
        "workload change",
    ]
    return "Wording by wording", heads, rows, notes


def _cost(found: JudgeStability) -> Section:
    judged = [row for rows in found.base.values() for row in rows]
    known = [row.cost for row in judged if row.cost is not None]
    tokens = [(row.tokens_in or 0) + (row.tokens_out or 0) for row in judged if row.tokens_in is not None]
    seconds = [row.latency_s for row in judged if row.latency_s is not None]
    price = "unknown" if not judged or len(known) < len(judged) else f"${sum(known) / len(known):.6f}"
    rows = [
        ["price of a judgement", price],
        ["tokens of a judgement, mean", "unknown" if not tokens else f"{np.mean(tokens):.0f}"],
        ["seconds of a judgement, median", "unknown" if not seconds else f"{np.median(seconds):.2f}"],
        ["judgements that could not be scored", f"{sum(row.raw is None for row in judged)} of {len(judged)}"],
    ]
    return "Cost", ["figure", "value"], rows, []


def _limits(found: JudgeStability) -> Section:
    n = sum(value is not None for value in found.labelled.values())
    bad = sum(value is True for value in found.labelled.values())
    notes = [f"{note[0].upper()}{note[1:]}." for note in found.notes]
    if bad < 29:
        notes.append(
            f"{bad} incomplete answers: fewer than 29, so no recall can be certified at .9 with 95 % confidence."
        )
    if min(bad, n - bad) < 10:
        notes.append("Fewer than 10 labelled answers in a class: no verdict on the judge can rest on these.")
    if found.judge.startswith("local/smollm2"):
        notes.append("The embedded judge is there to try the pipeline: its verdicts mean nothing about an answer.")
    notes.append("Measured on these answers, with this wording and this model; a new model version is a new judge.")
    return "Known limits", [], [], notes


def card_markdown(found: JudgeStability, sections: Sequence[Section]) -> str:
    """The card as Markdown."""

    def cell(text: str) -> str:
        return " ".join(text.split()).replace("|", "\\|")

    lines = [f"# Judge card: {cell(found.judge)} with {found.rubric.name}", ""]
    for title, heads, rows, notes in sections:
        lines += [f"## {title}", ""]
        if rows:
            lines += ["| " + " | ".join(map(cell, heads)) + " |", "|" + " --- |" * len(heads)]
            lines += ["| " + " | ".join(map(cell, row)) + " |" for row in rows] + [""]
        lines += [f"- {' '.join(note.split())}" for note in notes] + ([""] if notes else [])
    return "\n".join([*lines, f"Signature: `{found.signature}`", ""])


_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}"
    "table{border-collapse:collapse;margin:.5rem 0;display:block;overflow-x:auto}td,th{padding:.25rem .7rem;border-bottom:1px solid #ddd;"
    "text-align:left;vertical-align:top;overflow-wrap:anywhere}h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:1.6rem}footer{color:#666;font-size:.75rem}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}td,th{border-color:#444}}"
)


def card_html(found: JudgeStability, sections: Sequence[Section]) -> str:
    """The card as one HTML page that needs no network."""
    say = html.escape
    parts = [f"<h1>Judge card: {say(found.judge)} with {say(found.rubric.name)}</h1>"]
    for title, heads, rows, notes in sections:
        parts.append(f"<section><h2>{say(title)}</h2>")
        if rows:
            head = "".join(f'<th scope="col">{say(text)}</th>' for text in heads)
            body = "".join("<tr>" + "".join(f"<td>{say(text)}</td>" for text in row) + "</tr>" for row in rows)
            parts.append(
                f"<table>{f'<thead><tr>{head}</tr></thead>' if any(heads) else ''}<tbody>{body}</tbody></table>"
            )
        parts += ["<ul>" + "".join(f"<li>{say(note)}</li>" for note in notes) + "</ul>"] if notes else []
        parts.append("</section>")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>Judge card: {say(found.judge)}</title><style>{_STYLE}</style></head><body>{''.join(parts)}"
        f"<footer>{say(found.signature)}</footer></body></html>\n"
    )
