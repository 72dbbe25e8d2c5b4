"""Errors that a person can act on: each names the file, line and field at fault, and how to mend it."""

from __future__ import annotations

from typing import Any

__all__ = [
    "BudgetError",
    "DataError",
    "InputError",
    "JudgekitError",
    "MissingDependency",
    "ProviderError",
    "RubricError",
    "StatisticsError",
    "UsageError",
]


class JudgekitError(Exception):
    """Base of every error that judgekit raises on purpose.

    Parameters
    ----------
    message : what is wrong, one sentence.
    file, line, field : where; `line` counts from 1, `field` is a dotted path such as ``verdict.score.scale``.
    mend : what to write or to do instead.

    Attributes
    ----------
    kind : short machine name, printed in ``--json`` output.
    exit_code : what the command line exits with.
    """

    kind = "error"
    exit_code = 1
    also: tuple[JudgekitError, ...] = ()  # what else is wrong with the same file

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        field: str | None = None,
        mend: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = None if file is None else str(file)
        self.line = line
        self.field = field
        self.mend = mend

    def __str__(self) -> str:
        place = ""
        if self.file is not None:
            place = f"{self.file}:{self.line}: " if self.line is not None else f"{self.file}: "
        field = f"{self.field}: " if self.field else ""
        mend = f": {self.mend}" if self.mend else ""
        return f"{place}{field}{self.message}{mend}"

    def to_dict(self) -> dict[str, Any]:
        """The object under ``error`` in ``--json`` output (docs/help.md)."""
        return {
            "kind": self.kind,
            "file": self.file,
            "line": self.line,
            "field": self.field,
            "message": self.message,
            "hint": self.mend,
            "mend": self.mend,  # the name until 0.1; gone with the next release
        }


class InputError(JudgekitError):
    """A file, value or option of the user's cannot be used (exit 1)."""

    kind = "input"


class RubricError(InputError):
    """A rubric file is wrong (exit 1)."""

    kind = "rubric"


class DataError(InputError):
    """A data file, record, label or card is wrong (exit 1)."""

    kind = "data"


class StatisticsError(InputError):
    """A statistic was refused, because the number would mislead (exit 1)."""

    kind = "statistics"


class MissingDependency(InputError):
    """An optional package or model file is needed; `mend` says how to get it (exit 1)."""

    kind = "missing"


class UsageError(JudgekitError):
    """The command line's words are off (exit 2)."""

    kind = "usage"
    exit_code = 2


class BudgetError(JudgekitError):
    """The next call would pass the budget, or its price is unknown (exit 4)."""

    kind = "budget"
    exit_code = 4


class ProviderError(JudgekitError):
    """The provider cannot be reached, or refuses who we are (exit 5). `sent` is False where nothing was sent to it."""

    kind = "provider"
    exit_code = 5
    sent = True
