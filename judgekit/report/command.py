"""`judgekit report`, `judgekit.report` and `- report:` in a study: one page that tells the whole run."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from judgekit.analysis.options import Analysis, function, opt
from judgekit.analysis.result import Result, signature
from judgekit.analysis.source import Source

__all__ = ["Report", "report"]


class Report(Analysis):
    """One HTML file that tells the whole run.

    It opens from disk in any browser, asks nothing of any server, and holds every record with prompt, reply and verdict. A panel
    whose data the run lacks is left out, with the reason.
    """

    name: ClassVar[str] = "report"
    reads: ClassVar[tuple[str, ...]] = ("run",)

    out: str | None = opt(None, "The page to write. [RUN/report.html]", metavar="FILE")
    recall: str = opt("0.9", "Share of the incomplete answers to catch, in (0, 1].")
    title: str | None = opt(None, "The page's heading.")
    reasons: str | None = opt(
        None, "The run that judged the pairs of `judgekit reasons`, when it is another one.", metavar="RUN"
    )
    markdown: str | None = opt(None, "Also a summary for a pull request.", metavar="FILE")
    figures: str | None = opt(None, "Also every figure as PNG, SVG and PDF, with its data.", metavar="DIR")
    metric: tuple[str, ...] = opt(
        (), "Also set this local metric against the labels, or all. [repeatable]", metavar="NAME"
    )

    def analyse(self, source: Source) -> Result:
        from judgekit.report.write import make_report

        run = source.run  # type: ignore[attr-defined]
        page = Path(self.out) if self.out is not None else Path(run.path) / "report.html"
        done = make_report(
            run, page, recall=self.recall, title=self.title, reasons=self.reasons, metrics=self.metric,
            markdown=None if self.markdown is None else Path(self.markdown), figures=None if self.figures is None else Path(self.figures),
        )  # fmt: skip
        size = done.page.stat().st_size
        lines = [f"not there: {name}: {why}" for name, why in done.left_out]
        lines += [f"summary   {self.markdown}"] if self.markdown is not None else []
        lines += [f"figures   {self.figures}  ({len(done.figures)} files)"] if done.figures else []
        more = {
            "page": str(done.page), "bytes": size, "panels": done.panels,
            "left_out": [{"panel": name, "reason": why} for name, why in done.left_out],
            "markdown": self.markdown, "figures": [str(path) for path in done.figures],
        }  # fmt: skip
        title = f"page      {done.page}  ({size / 1e6:.1f} MB, opens in any browser, no network)"
        return Result([], signature(report=source.name, recall=self.recall), sections=[(title, lines)], more=more)


report = function(Report)
