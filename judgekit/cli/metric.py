"""`judgekit metric`: list, show and explain local metrics."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import click

__all__ = ["metric"]


@click.group()
def metric() -> None:
    """List, show and explain local metrics."""


@metric.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def list_(as_json: bool) -> None:
    """Every metric, what it measures, and whether it can run here."""
    from judgekit.metrics.base import available

    rows: list[dict[str, Any]] = []
    for name, kind in available().items():
        why = kind.not_here()
        rows.append(
            {"name": name, "summary": kind.summary, "source": kind.source, "ready": why is None, "missing": why}
        )
    if as_json:
        click.echo(json.dumps({"metrics": rows}, ensure_ascii=False))
        return
    wide = max(len(str(row["name"])) for row in rows)
    for row in rows:
        click.echo(f"{row['name']:{wide}}  {row['summary']}")
        if not row["ready"]:
            click.echo(f"{'':{wide}}  not here: {row['missing']}")


@metric.command()
@click.argument("name", metavar="NAME")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def show(name: str, as_json: bool) -> None:
    """What a metric is: definition, options, notation, signature. NAME may carry options."""
    from judgekit.errors import MissingDependency
    from judgekit.metrics.base import parse_metric

    found = parse_metric(name)
    try:
        signature: str | None = found.signature
        missing = None
    except MissingDependency as error:
        signature, missing = None, str(error)
    options = [
        {
            "name": item.name,
            "value": getattr(found, item.name),
            "default": item.default,
            "choices": found.choices.get(item.name),
        }
        for item in dataclasses.fields(found)
    ]
    if as_json:
        row = {
            "name": found.name, "summary": found.summary, "source": found.source, "notation": found.notation, "signature": signature,
            "missing": missing, "options": options,
        }  # fmt: skip
        click.echo(json.dumps(row, ensure_ascii=False))
        return
    import inspect

    click.echo(f"{found.notation}\n\n{inspect.getdoc(type(found)) or found.summary}\n")
    click.echo(f"Source: {found.source}" if found.source else "")
    click.echo(f"Signature: {signature}" if signature else f"Not here: {missing}")


@metric.command()
@click.argument("data", metavar="DATA", type=click.Path(path_type=Path))
@click.option("--id", "record_id", required=True, metavar="ID", help="The record.")
@click.option("--metric", "name", required=True, metavar="M", help="The metric, with options.")
@click.option("--card", metavar="CARD", help="Read DATA through a data set card.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def explain(data: Path, record_id: str, name: str, card: str | None, as_json: bool) -> None:
    """How one record got its value: matched (green), missed (red) and extra (yellow) entities, the sentence that contradicts."""
    from judgekit.data import load_records
    from judgekit.errors import InputError
    from judgekit.metrics.base import parse_metric

    found = parse_metric(name)
    records = load_records(data, card=card)
    record = next((record for record in records if record.id == record_id), None)
    if record is None:
        there = ", ".join(record.id for record in records[:3])
        raise InputError(
            f"there is no record {record_id!r}",
            file=str(data),
            field="id",
            mend=f"its {len(records)} ids are such as {there}",
        )
    (result,) = found.measure([record])
    if as_json:
        row = {
            "id": record.id, "metric": found.notation, "signature": found.signature, "value": result.value, "reason": result.reason,
            "details": result.details,
        }  # fmt: skip
        click.echo(json.dumps(row, ensure_ascii=False, allow_nan=False))
        return
    value = f"{result.value:.3f}" if result.value is not None else f"no value: {result.reason}"
    click.echo(f"{found.notation}\n{record.id}: {value}\n")
    details = dict(result.details)
    if "matched" in details:
        _show_entities(record, details)
    for key, item in details.items():
        if key not in {"matched", "missed", "extra"}:
            click.echo(f"{key}: {item if isinstance(item, str) else json.dumps(_short(item), ensure_ascii=False)}")
    click.echo(f"\n{found.signature}")


def _short(item: Any) -> Any:
    """Numbers for a person, to four decimals; `--json` has all of them."""
    if isinstance(item, dict):
        return {key: _short(value) for key, value in item.items()}
    if isinstance(item, list):
        return [_short(value) for value in item]
    return round(item, 4) if isinstance(item, float) else item


def _show_entities(record: Any, details: dict[str, Any]) -> None:
    from rich.text import Text

    from judgekit.terminal import console as new_console

    console = new_console()
    sides = (
        ("Reference", record.reference or "", [(pair[0], "green") for pair in details["matched"]] + [(item, "red") for item in details["missed"]]),
        ("Response", record.response or "", [(pair[1], "green") for pair in details["matched"]] + [(item, "yellow") for item in details["extra"]]),
    )  # fmt: skip
    for title, text, marks in sides:
        shown = Text(text)
        for item, colour in marks:
            style = f"bold {colour}" + (" strike" if item["negated"] else "")
            shown.stylize(style, item["start"], item["end"])
        console.print(Text(title, style="bold underline"))
        console.print(shown)
        console.print()
    for one, two in details["matched"]:
        same = "" if one["norm"] == two["norm"] else f"  =  {two['text']}"
        console.print(Text("  matched  ", style="green") + Text(f"{one['text']}{same}  ({one['kind']})"))
    for word, colour, items in (("missed", "red", details["missed"]), ("extra", "yellow", details["extra"])):
        for item in items:
            console.print(
                Text(f"  {word:7}  ", style=colour)
                + Text(f"{item['text']}  ({item['kind']})" + (", denied" if item["negated"] else ""))
            )
    console.print()
