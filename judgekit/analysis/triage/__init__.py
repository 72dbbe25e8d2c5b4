"""How much of the clinician's reading can a judge take away? The operating point against clinicians' labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import field_validator

from judgekit.analysis.labelled import Labelled
from judgekit.analysis.options import function, opt

if TYPE_CHECKING:
    from judgekit.analysis.source import Source
    from judgekit.analysis.triage.work import TriageResult

__all__ = ["Triage", "triage"]


class Triage(Labelled):
    """AUC and the operating point against clinicians' labels.

    How well do scores find the incomplete answers, and how much must a clinician still read to catch most of them? The source is a
    run, a table with a label and a score column, or labelled records with a score in their meta.
    """

    name: ClassVar[str] = "triage"
    first: ClassVar[str] = "recall"

    recall: str = opt("0.9", "Share of the incomplete answers to catch, in (0, 1].")
    higher_is_worse: bool = opt(False, "A higher score means more incomplete. Never guessed.")
    unscored: Literal["drop", "first", "last"] = opt(
        "drop", "How unscored answers count in the main figures; the _all figures always count them as read."
    )
    threshold: float | None = opt(
        None, "A threshold that was set beforehand (inclusive); nothing is chosen on these records."
    )
    certify: str | None = opt(
        None, "Certify a threshold, with a confidence such as 0.95, on half of the questions.", metavar="CONFIDENCE"
    )
    calibration: Any = opt(None, "Other records that choose the thresholds.", metavar="RUN|TABLE")
    calibrate: bool = opt(
        False, "Also learn the chance of incompleteness on half of the questions, test it on the others."
    )
    screen: str | None = opt(None, "Triage the score of a saved screen.", metavar="FILE")
    details: bool = opt(False, "With --json: add what the rows have no field for.")

    @field_validator("screen", mode="before")
    @classmethod
    def _path(cls, value: Any) -> Any:
        return None if value is None else str(value)

    def analyse(self, source: Source) -> TriageResult:
        from judgekit.analysis.source import open_source
        from judgekit.analysis.triage.work import make_choices, read_confidence, triage_cells
        from judgekit.errors import UsageError

        choices = make_choices(
            self.recall, higher_is_worse=self.higher_is_worse, unscored=self.unscored, threshold=self.threshold
        )
        sure = None if self.certify is None else read_confidence(self.certify)
        asked = self if self.screen is None else self.model_copy(update={"metric": ("all",)})
        source = source.again(asked)
        cells = source.cells()
        there = None if self.calibration is None else open_source(self.calibration, asked)
        others = None if there is None else there.cells()
        left = list(dict.fromkeys(source.left_out))
        if self.screen is not None:
            from judgekit.analysis.screen import apply_screen, read_screen

            screen = read_screen(self.screen)
            cells, left = apply_screen(screen, cells), []
            others = None if others is None else apply_screen(screen, others)
            if self.higher_is_worse:
                raise UsageError("a screen has a direction of its own", field="higher-is-worse", mend="leave it out")
        chosen = None if others is None or there is None else (others, there.name)
        found = triage_cells(
            cells, choices, source.name, left, certify=sure, calibration=chosen, calibrate=self.calibrate
        )
        if self.details:
            found.more |= {"details": found.details(), "pairs": found.pairs()}
        return found


triage = function(Triage)
