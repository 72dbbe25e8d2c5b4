"""The screen as text, beside each of its parts."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from judgekit.stats.interval import Interval

if TYPE_CHECKING:
    from judgekit.analysis.screen import Screen

__all__ = ["render"]


def render(screen: Screen, width: int = 110) -> str:
    """Text of at most `width` columns, ending with the signature."""
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    stream = StringIO()
    console = Console(file=stream, width=width, color_system=None, highlight=False, emoji=False, markup=False)
    result = screen.result
    stamp = " (descriptive: under 100 records)" if screen.descriptive else ""
    console.print(Text(f"Screen {screen.name}: {screen.model.kind}{stamp}; {screen.why}"))
    rater = f", rater {screen.rater}" if screen.rater else ""
    left = "".join(f", {n} {why}" for why, n in screen.left_out.items() if n)
    console.print(Text(f"{screen.dataset}{rater}: {screen.n_incomplete} incomplete of {screen.n} records{left}"))
    if result is not None and result.fit is not None:
        fit = result.fit
        table = Table(box=SIMPLE, pad_edge=False)
        for place, head in enumerate(("", "weight", "AUC", "95 %", f"recall (aim {screen.recall})", "to read", "95 %")):
            table.add_column(head, justify="right" if place else "left", overflow="fold", min_width=0 if place else 24)
        for index, part in enumerate(screen.parts):
            table.add_row(
                Text(part.name),
                f"{screen.model.weight[index]:.2f}",
                _number(fit.parts[index]),
                _span(result.part_intervals[index]),
                _number(fit.part_recalls[index]),
                _number(fit.part_workloads[index]),
                _span(result.part_workload_intervals[index]),
            )
        table.add_row("best part, inside folds", "", _number(fit.best), _span(result.best_interval), "", "", "")
        table.add_row(
            "the screen, cross-fitted", "", _number(fit.auc), _span(result.auc_interval), _number(fit.recall),
            _number(fit.workload), _span(result.workload_interval),
        )  # fmt: skip
        console.print(table)
        console.print(Text(f"On the records that made it the screen would show an AUC of {_number(result.apparent)}."))
        if fit.difference is not None:
            beats = "beats" if result.beats_best else "is not shown to beat"
            console.print(
                Text(
                    f"The screen {beats} its best single part: {fit.difference:+.3f} ({_span(result.difference_interval)})."
                )
            )
        names = [screen.parts[i].name for i in fit.chosen]
        console.print(Text(f"Best part in each fold: {', '.join(names) or 'none'}; {fit.pairs} pairs within folds."))
    for note in screen.notes:
        console.print(Text(f"- {note}"))
    console.print(Text("A saved screen is a refit on all of these records: certify it on records that it never saw."))
    console.print()
    console.print(Text(screen.signature, overflow="fold"))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _span(interval: Interval | None) -> str:
    if interval is None or interval.low is None or interval.high is None:
        return "-"
    return f"{interval.low:.3f} to {interval.high:.3f}"
