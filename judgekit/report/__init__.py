"""The report: one page that tells a whole run. Calling the package, ``judgekit.report(run)``, writes it."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, source: Any, **options: Any) -> Any:
        from judgekit.report.command import report

        return report(source, **options)


sys.modules[__name__].__class__ = _Callable
