"""Which analyses there are, by reading files and package metadata alone: ``--help`` imports none of them."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from judgekit.errors import InputError

__all__ = ["analyses", "load", "plugins"]

HOMES = ("analysis", "report")
_CLASS = re.compile(r'class (\w+)\(.*?\):\n    """(.+?)(?:"""|\n)')
_NAME = re.compile(r'^    name: ClassVar\[str\] = "([a-z]+)"', re.M)


@cache
def analyses() -> dict[str, tuple[str, str]]:
    """Every analysis by name: ``module:class`` and the first line of its help. One name is one class: ours win over plug-ins'."""
    found: dict[str, tuple[str, str]] = {}
    package = Path(__file__).parents[1]
    for home in HOMES:
        for path in sorted((package / home).glob("**/*.py")):
            module = ".".join(["judgekit", *path.relative_to(package).with_suffix("").parts]).removesuffix(".__init__")
            for block in re.split(r"^(?=class )", path.read_text("utf-8"), flags=re.M)[1:]:
                head, named = _CLASS.match(block), _NAME.search(block)
                if head and named:
                    found[named[1]] = (f"{module}:{head[1]}", head[2].strip())
    for name, entry in plugins("judgekit.analyses").items():
        found.setdefault(name, entry)
    return found


@cache
def plugins(group: str) -> dict[str, tuple[str, str]]:
    """What other packages bring in an entry point group: ``module:attribute`` by name, and which package it is from."""
    return {
        point.name: (point.value, f"From the package {point.dist.name if point.dist else point.value}.")
        for point in sorted(entry_points(group=group), key=lambda point: point.name)
    }


def load(name: str, where: str) -> Any:
    """What ``module:attribute`` names; InputError that names a plug-in of another package which cannot be loaded."""
    module, _, attribute = where.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except Exception as error:
        if module.startswith("judgekit."):
            raise
        raise InputError(
            f"the plug-in {name!r} cannot be loaded: {error}", mend=f"mend or remove the package of {module}"
        ) from None
