"""Is the operating point worth it? Net benefit at several exchange rates, and the same threshold at other prevalences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.report.model import Grid, LeftOut, Panel, number, percent

if TYPE_CHECKING:
    from judgekit.report.context import Context

TITLE = "Worth it, and elsewhere"
ORDER = 65

__all__ = ["ORDER", "TITLE", "build"]


def build(context: Context) -> Panel | LeftOut:
    rows = [row for row in context.rows if row.extra.get("net_benefit")]
    if not rows:
        return LeftOut(context.no_curve())
    benefit, benefit_shown = [], []
    moved, moved_shown = [], []
    for row in rows:
        name = context.name(row)
        for item in row.extra["net_benefit"]:
            benefit.append([name, item["reads_per_catch"], item["judge"], item["everything"]])
            benefit_shown.append(
                [name, f"{item['reads_per_catch']:g}", number(item["judge"], 3), number(item["everything"], 3)]
            )
        for item in row.extra.get("transport", []):
            moved.append([name, item["prevalence"], item["workload"], item["precision"]])
            moved_shown.append(
                [name, percent(item["prevalence"], 0), percent(item["workload"]), percent(item["precision"])]
            )
    blocks = [
        Grid(
            "net-benefit", "Net benefit per answer", ["row", "needless reads that one catch is worth", "this judge", "reading everything"],
            benefit, benefit_shown, signature=context.signature,
            notes=("Reading nothing is 0. The rate is a value judgement: state yours before you look. Vickers and Elkin (2006).",),
        )
    ]  # fmt: skip
    if moved:
        blocks.append(
            Grid(
                "transport", "The same threshold where more or fewer answers are incomplete",
                ["row", "share incomplete there", "workload", "incomplete among those read"], moved, moved_shown, signature=context.signature,
                notes=("Assumes that the incomplete answers there are as severe as here, and the complete ones alike.",),
            )
        )  # fmt: skip
    return Panel("Both tables are about the report's operating point.", tuple(blocks))
