"""What a reviewer is owed (STARD, TRIPOD+AI): who rated, how the threshold came about, which models, and what nobody stated."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from judgekit.report.context import rows_of
from judgekit.report.model import Grid, LeftOut, Panel, number, share

if TYPE_CHECKING:
    from judgekit.report.context import Context

TITLE = "For the reviewer"
QUESTION = "How was it made?"
ORDER = 200
UNSAID = "not stated"

__all__ = ["ORDER", "QUESTION", "TITLE", "build"]


def build(context: Context) -> Panel | LeftOut:
    if not len(context.records):
        return LeftOut("the run holds no record")
    items: list[list[str]] = []
    for dataset in dict.fromkeys(map(str, context.records["dataset"])):
        items += _data(context, dataset)
    items += _threshold(context)
    items += _size(context)
    items += _judges(context)
    items += [
        ["Intended use", UNSAID, "write it into --title or the text around this report: who reads what, and who is harmed by a miss"],
        ["Possible contamination", UNSAID, "whether a judge saw these questions or labels in its training cannot be told from a run; compare the models' dates with the data's"],
        ["Net benefit", "in the section “Worth it, and elsewhere”", "at four exchange rates"],
    ]  # fmt: skip
    blocks = [Grid("reviewer", "Checklist", ["item", "what is known", "remark"], items)]
    raters = _per_rater(context)
    if raters is not None:
        blocks.append(raters)
    return Panel(
        "Items that STARD and TRIPOD+AI ask of a study like this one, filled in from the run and the data's card; what nobody wrote down is "
        "called not stated.",
        tuple(blocks),
    )


def _card(name: str) -> Any:
    from judgekit.data.cards import load_card
    from judgekit.errors import JudgekitError

    try:
        return load_card(name.split("/")[0]).spec
    except JudgekitError:
        return None


def _data(context: Context, dataset: str) -> list[list[str]]:
    card = _card(dataset)
    head = f"Data: {dataset}"
    items = [
        [
            head,
            card.title if card else UNSAID,
            f"licence {card.licence}; from the library's card of this name"
            if card
            else "no card of this name is known",
        ]
    ]
    if card is not None:
        items.append([f"{head}, who rated", card.labels_by or UNSAID, ""])
        for note in card.notes or ():
            items.append([f"{head}, note", str(note), "from its card"])
    people: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    joins: dict[str, set[str]] = defaultdict(set)
    for row in rows_of(context.labels):
        if row.dataset != dataset:
            continue
        name = "not named" if row.rater is None else str(row.rater)
        if name.startswith("join:"):
            joins[str(row.construct)].add(name.removeprefix("join:"))
        else:
            people[str(row.construct)][name] += 1
    for construct, names in people.items():
        said = ", ".join(f"{name} ({n})" for name, n in names.items())
        items.append(
            [f"{head}, raters of {construct}", f"{len(names)}: {said}", "in brackets the answers that each rated"]
        )
        items.append(
            [
                f"{head}, adjudication of {construct}",
                ", ".join(sorted(joins[construct])) or "none: raters are kept apart",
                "how raters were joined",
            ]
        )
    if not people:
        items.append([f"{head}, raters", "none: no answer is labelled", ""])
    items.append(
        [
            f"{head}, training and blinding of raters",
            UNSAID,
            "whether raters knew which model wrote an answer, or the judge's verdict",
        ]
    )
    return items


def _threshold(context: Context) -> list[list[str]]:
    if context.triage is None:
        return [["Threshold", "none", context.problem or ""]]
    chosen = any(row.values["optimistic"] for row in context.rows)
    said = (
        "explored: chosen on the records that it is reported on"
        if chosen
        else "set beforehand, or none could be chosen"
    )
    remark = "its recall has no interval; the leave-one-question-out recall stands beside it" if chosen else ""
    return [
        ["Threshold", said, remark],
        [
            "Recall target",
            f"{100 * float(context.triage.choices.recall):g} %",
            f"given as {context.triage.choices.recall_text}",
        ],
        ["Rows looked at", str(len(context.rows)), "all are shown; the best of many flatters itself"],
    ]


def _size(context: Context) -> list[list[str]]:
    out = []
    for row in context.rows:
        m, n = row.auc.n_incomplete, row.auc.n_complete
        clusters = None if row.cell.cluster is None else len(set(row.cell.cluster))
        enough = (
            "enough incomplete answers to certify a recall of 90 % with 95 % confidence"
            if m >= 29
            else "fewer than 29 incomplete answers: a recall of 90 % cannot be certified with 95 % confidence"
        )
        se = row.wald.se
        width = "" if se is None else f"; standard error of the AUC {number(se, 3)}"
        out.append([
            f"Sample size: {context.name(row)}", f"{m} incomplete, {n} complete" + (f", {clusters} questions" if clusters else ""), enough + width,
        ])  # fmt: skip
    return out


def _judges(context: Context) -> list[list[str]]:
    found: dict[str, dict[str, Any]] = {}
    for row in rows_of(context.run.calls):
        item = found.setdefault(str(row.model), {"n": 0, "dates": [], "sampling": set()})
        item["n"] += 1
        if row.created:
            item["dates"].append(str(row.created)[:10])
        sampling = (row.request or {}).get("sampling") or {}
        item["sampling"].add(
            ", ".join(f"{key} {value}" for key, value in sorted(sampling.items()) if value is not None)
        )
    items = []
    for model, item in found.items():
        dates = sorted(item["dates"])
        when = UNSAID if not dates else dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
        items.append(
            [
                f"Judge: {model}",
                f"{item['n']} requests, {when}",
                "; ".join(sorted(s for s in item["sampling"] if s)) or "default sampling",
            ]
        )
    elsewhere = [judge for judge in dict.fromkeys(map(str, context.frame["judge"])) if judge not in found]
    items += [
        [f"Judge: {judge}", "verdicts recorded elsewhere or given by a rule", "model version and dates: not stated"]
        for judge in elsewhere
    ]
    for row in rows_of(context.rubrics):
        items.append(
            [
                f"Rubric: {row.name}",
                f"version {row.version or UNSAID}, wording {str(row.ask)[:12]}, scoring {str(row.score_fp)[:12]}",
                str(row.title or ""),
            ]
        )
    return items


def _per_rater(context: Context) -> Grid | None:
    from judgekit.analysis.triage import triage
    from judgekit.errors import JudgekitError

    try:
        found = triage(context.source, context.recall, rater="each", metric=context.metrics)
    except JudgekitError:
        return None
    rows = [row for row in found.operating_points if row.cell.rater is not None]
    if len({row.cell.rater for row in rows}) < 2:
        return None
    data, shown = [], []
    for row in rows:
        v, ends = row.values, row.headline.interval
        head = [str(row.cell.rater), str(row.cell.rubric or ""), str(row.cell.judge)]
        data.append(
            [
                *head,
                v["n"],
                v["n_incomplete"],
                v["auc"],
                ends.low,
                ends.high,
                v["threshold"],
                v["recall"],
                v["workload"],
            ]
        )
        shown.append([
            *head, str(v["n"]), str(v["n_incomplete"]), number(v["auc"], 3), number(ends.low, 3), number(ends.high, 3),
            context.rule(row) or "–",
            share(row.point.caught, row.point.n_incomplete), share(row.point.flagged, row.point.n),
        ])  # fmt: skip
    return Grid(
        "per-rater", "Results per rater", ["rater", "rubric", "judge", "n", "incomplete", "AUC", "low", "high", "read if", "recall", "workload"],
        data, shown, heads=3, signature=found.signature,
        notes=("Each rater's labels alone: a judge that suits one rater need not suit another.",),
    )  # fmt: skip
