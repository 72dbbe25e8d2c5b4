"""Is the operating point worth it? Net benefit at several exchange rates, and the same threshold at other prevalences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.report.model import Grid, LeftOut, Panel, number, percent

if TYPE_CHECKING:
    from judgekit.report.context import Context

TITLE = "Worth it, and elsewhere"
QUESTION = "How much, and how sure?"
ORDER = 35

__all__ = ["ORDER", "QUESTION", "TITLE", "build"]


def build(context: Context) -> Panel | LeftOut:
    rows = [row for row in context.rows if row.extra.get("net_benefit")]
    if not rows:
        return LeftOut(context.no_curve())
    benefit, benefit_shown, moved, moved_shown = [], [], [], []
    for row in rows:
        name = context.name(row)
        for item in row.extra["net_benefit"]:
            benefit.append([name, item["reads_per_catch"], item["judge"], item["everything"]])
        benefit_shown.append(
            [name, *(f"{number(i['judge'], 3)} ({number(i['everything'], 3)})" for i in row.extra["net_benefit"])]
        )
        for item in row.extra.get("transport", []):
            moved.append([name, item["prevalence"], item["workload"], item["precision"]])
        if row.extra.get("transport"):
            moved_shown.append(
                [name, *(f"{percent(i['workload'])} ({percent(i['precision'])})" for i in row.extra["transport"])]
            )
    rates = [f"1 catch for {i['reads_per_catch']:g}" for i in rows[0].extra["net_benefit"]]
    shares = [
        f"{percent(i['prevalence'], 0)} incomplete"
        for i in next((row.extra["transport"] for row in rows if row.extra.get("transport")), [])
    ]
    blocks = [
        Grid(
            "net-benefit", "Net benefit per answer", ["row", "needless reads that one catch is worth", "this judge", "reading everything"],
            benefit, benefit_shown, titles=["rubric and judge", *rates], signature=context.signature,
            notes=("This judge, and in brackets reading everything; reading nothing is 0. One catch is worth so many needless reads, which is a value judgement: state yours before you look. Vickers and Elkin (2006).",),
        )
    ]  # fmt: skip
    if moved:
        blocks.append(
            Grid(
                "transport", "The same threshold where more or fewer answers are incomplete",
                ["row", "share incomplete there", "workload", "incomplete among those read"], moved, moved_shown, titles=["rubric and judge", *shares], signature=context.signature,
                notes=("The share of answers read, and in brackets the share incomplete among them. Assumes that the incomplete answers there are as severe as here, and the complete ones alike.",),
            )
        )  # fmt: skip
    return Panel("Both tables are about the report's operating point.", tuple(blocks))
