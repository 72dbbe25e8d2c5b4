"""A summary for a pull request: the sentences, the operating points, the remarks, what is not there, the signature."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from judgekit.report.model import Grid, LeftOut, Notes, Says, Section

if TYPE_CHECKING:
    from judgekit.report.context import Context

__all__ = ["escape", "markdown"]

_MARKS = re.compile(r"([\\`*_{}\[\]<>|#~])")
PARTS = ("headline", "summary", "severity")


def escape(text: str) -> str:
    """Text in which nothing is markup: no link, image, mention, heading or HTML of a record's name takes hold."""
    flat = " ".join(text.split())
    return _MARKS.sub(r"\\\1", flat).replace("&", "&amp;").replace("@", "@\u200b")


def markdown(context: Context, found: list[Section], title: str) -> str:
    """Markdown of the summary panel with its remarks, the misses by severity, and one line for each panel that is left out."""
    from judgekit import __version__

    lines = [f"# {escape(title)}", ""]
    for section in found:
        panel = section.panel
        if isinstance(panel, LeftOut) or section.name not in PARTS:
            continue
        if section.name == "headline" and panel.lead:
            lines += [escape(panel.lead), ""]
        for block in panel.blocks:
            if isinstance(block, Says):
                head = f"**{escape(block.head)}**: " if block.head else ""
                mark = f"*{escape(block.mark)}.* " if block.mark else ""
                lines.append(f"- {head}{mark}{escape(block.text)}")
            elif isinstance(block, Grid):
                lines += ["", f"## {escape(block.title)}", "", *_table(block)]
            elif isinstance(block, Notes):
                lines += ["", *([f"## {escape(block.title)}", ""] if block.title else [])]
                lines += [f"- {escape(item)}" for item in block.items]
    left = [section for section in found if isinstance(section.panel, LeftOut)]
    if left:
        lines += ["", "Not in this report:", ""]
        lines += [
            f"- {escape(section.title)}: {escape(section.panel.reason)}"
            for section in left
            if isinstance(section.panel, LeftOut)
        ]
    lines += ["", f"`{(context.signature or f'judgekit {__version__}').replace('`', '')}`", ""]
    return "\n".join(lines)


def _table(grid: Grid) -> list[str]:
    titles = list(grid.titles or grid.columns)
    numeric = grid.numeric
    lines = ["| " + " | ".join(escape(str(title)) for title in titles) + " |"]
    lines.append("|" + "|".join(" ---: " if right else " --- " for right in numeric) + "|")
    lines += ["| " + " | ".join(escape(cell) for cell in row) + " |" for row in grid.printed]
    if len(grid.rows) > grid.most:
        lines += ["", f"The first {grid.most} of {len(grid.rows)} rows."]
    lines += ["", *(escape(note) for note in grid.notes)]
    return lines
