"""Commands of the analyses, made from their fields: options, choices, bounds, defaults and help stand in the class alone."""

from __future__ import annotations

import json
import shutil
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import click

from judgekit.analysis.options import Analysis, find
from judgekit.cli.options import Finite

__all__ = ["analysis_command", "show_result"]

SOURCES = {"run": "RUN", "table": "TABLE", "records": "DATA"}


def analysis_command(name: str, called: str | None = None) -> click.Command:
    """The command of an analysis; `called` is its name where that differs (``reasons show``)."""
    kind = find(name)
    params: list[click.Parameter] = [click.Argument(["source"], metavar="|".join(SOURCES[one] for one in kind.reads))]
    params += [_option(kind, field) for field in kind.model_fields]
    params.append(click.Option(["--picture"], metavar="FILE", help="Draw the result (PNG, SVG or PDF)."))
    params.append(click.Option(["--json", "as_json"], is_flag=True, help="One JSON object on stdout."))

    def run(source: str, picture: str | None, as_json: bool, **options: Any) -> int:
        said = {key: value for key, value in options.items() if value is not None and value != ()}
        found = kind.of(said).run(source)
        if picture is not None:
            found.picture(picture)
            click.echo(f"picture: {picture}", err=True)
        show_result(found, as_json)
        return 0

    return click.Command(called or kind.name, params=params, callback=run, help=kind.__doc__)


def show_result(found: Any, as_json: bool) -> None:
    """Print a result as one JSON object, or as text that fits the terminal (80 columns at least)."""
    if as_json:
        click.echo(json.dumps(found.to_json(), ensure_ascii=False, allow_nan=False))
    else:
        click.echo(found.text(max(80, min(160, shutil.get_terminal_size((110, 24)).columns))))


def _option(kind: type[Analysis], name: str) -> click.Option:
    field = kind.model_fields[name]
    about: Any = field.json_schema_extra or {}
    inner = field.annotation
    if get_origin(inner) in (Union, UnionType):
        inner = next(one for one in get_args(inner) if one is not type(None))
    several = get_origin(inner) is tuple
    default = None if field.is_required() else field.default
    help_text = str(field.description)
    if not several and default not in (None, False) and not isinstance(default, tuple):
        help_text += f"  [default: {default}]"
    words: dict[str, Any] = {"help": help_text, "required": field.is_required(), "metavar": about.get("metavar")}
    if inner is bool:
        return click.Option([f"--{name.replace('_', '-')}", name], is_flag=True, default=None, help=help_text)
    if get_origin(inner) is Literal:
        words["type"] = click.Choice(list(get_args(inner)))
    elif inner in (int, float):
        ends: dict[str, Any] = {}
        for bound in field.metadata:
            for key, end, is_open in (
                ("ge", "min", False),
                ("gt", "min", True),
                ("le", "max", False),
                ("lt", "max", True),
            ):
                if getattr(bound, key, None) is not None:
                    ends |= {end: getattr(bound, key), f"{end}_open": is_open}
        kept = {key: value for key, value in ends.items() if inner is float or not key.endswith("_open")}
        words["type"] = Finite(**kept) if inner is float else click.IntRange(**kept)
    return click.Option(
        [f"--{name.replace('_', '-')}", name], multiple=several, default=() if several else None, **words
    )
