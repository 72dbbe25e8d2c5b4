"""``judgekit data``: list, show, fetch, prepare, validate and export data sets, and propose cards."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from judgekit.errors import DataError
from judgekit.terminal import printable

__all__ = ["data"]

CARD = click.option("--card", help="How the file becomes records: a card's name, NAME/SHAPE, or a .yaml file.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


@click.group()
def data() -> None:
    """List, fetch, prepare, validate and export data sets."""


@data.command("list")
@JSON
def list_(as_json: bool) -> None:
    """The library's data sets: what they are, and whether their files are here."""
    from judgekit.data.cards import card_names, load_card
    from judgekit.data.fetch import cached

    rows: list[dict[str, Any]] = []
    for name in card_names():
        card = load_card(name)
        spec = card.spec
        here = [item.file for item in spec.source if cached(card, item).is_file()]
        if spec.bundled:
            state = "bundled"
        elif not spec.source:
            state = "at its homepage" if spec.homepage else "your own"
        else:
            state = f"{len(here)} of {len(spec.source)} files here" if here else "not fetched"
        rows.append(
            {"name": name, "title": spec.title, "licence": spec.licence, "state": state, "shapes": list(spec.shapes)}
        )
    if as_json:
        click.echo(json.dumps({"datasets": rows}, ensure_ascii=False))
        return
    _table(["data set", "what", "licence", "files"], [[r["name"], r["title"], r["licence"], r["state"]] for r in rows])
    click.echo(
        "\njudgekit data show NAME   what a record looks like;   judgekit data fetch NAME   get the files", err=True
    )


@data.command()
@click.argument("name")
@click.option("--n", "-n", type=click.IntRange(1), default=3, show_default=True, help="How many records.")
@CARD
@JSON
def show(name: str, n: int, card: str | None, as_json: bool) -> None:
    """The first records of a data set or file, as rubrics and labels will see them."""
    from judgekit.data import load_records

    if card is None and not Path(name).exists():
        _about(name, as_json)
    records = load_records(name, card, limit=n)
    if as_json:
        found = records.card
        about = {"card": found.name, "licence": found.spec.licence} if found else {}
        click.echo(
            json.dumps(
                {"dataset": records.name, **about, "records": [r.to_dict() for r in records]}, ensure_ascii=False
            )
        )
        return
    for record in records:
        _record(record)
    _notes(records.notes)


def _about(name: str, as_json: bool) -> None:
    from judgekit.data.cards import load_card

    card = load_card(name)
    if not as_json:
        spec = card.spec
        click.echo(f"{card.name}: {spec.title}\n{spec.about or ''}".rstrip())
        click.echo(
            f"licence: {spec.licence}   labels by: {spec.labels_by or 'nobody'}   {spec.homepage or ''}".rstrip()
        )
        for shape, item in spec.shapes.items():
            click.echo(f"  {card.name}/{shape}: {item.about or ''}".rstrip())
        for note in spec.notes:
            click.echo(f"  note: {note}")
        click.echo("")


def _record(record: Any) -> None:
    from judgekit.data.labels import describe, is_join, standing_behind

    click.echo(click.style(f"[{record.id}]", bold=True) + f"  cluster {record.cluster_id}")
    for title, text in (
        ("question", record.question_text),
        ("response", record.response),
        ("reference", record.reference),
        ("answer", record.answer),
    ):
        if text is not None:
            click.echo(f"  {title}: {_short(text, 300)!r}" if not text.strip() else f"  {title}: {_short(text, 300)}")
    for key, text in (record.options or {}).items():
        click.echo(f"  {key}) {_short(text, 120)}")
    for item in record.criteria[:8]:
        kind = f", {item.kind}" if item.kind else ""
        click.echo(f"  {item.id} ({item.points:g}{kind}): {_short(item.text, 140)}")
    if len(record.criteria) > 8:
        click.echo(f"  ... {len(record.criteria) - 8} more criteria")
    for label in record.labels:
        verdict = {True: "complete", False: "incomplete", None: "no verdict"}[label.complete]
        score = "" if label.score is None else f", score {label.score:.3g}"
        severity = f", {label.severity}" if label.severity else ""
        value = f", {_short(json.dumps(label.value, ensure_ascii=False), 80)}" if label.value is not None else ""
        if is_join(label):
            value = f" ({label.rationale})" if standing_behind(label) > 1 else " (one rater)"
        click.echo(f"  label {label.construct}, {describe(label.rater)}: {verdict}{score}{severity}{value}")
    if record.meta:
        click.echo(f"  meta: {_short(json.dumps(record.meta, ensure_ascii=False), 200)}")
    click.echo("")


def _short(text: str, width: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= width else f"{flat[: width - 12].rstrip()} ... ({len(flat)} characters)"


@data.command()
@click.argument("name")
@click.option("--file", help="One of the data set's files; by default all.")
@click.option("--from", "origin", help="Take it from this file or URL instead of the owner's address.")
@click.option("--again", is_flag=True, help="Fetch also what is here already.")
@JSON
def fetch(name: str, file: str | None, origin: str | None, again: bool, as_json: bool) -> None:
    """Get a data set's files from where their owner publishes them."""
    from judgekit.data.cards import load_card
    from judgekit.data.fetch import cache_folder
    from judgekit.data.fetch import fetch as get

    card = load_card(name)
    told = cache_folder() / card.name / ".licence-shown"
    if not told.exists():
        click.echo(f"{card.spec.title}\nlicence: {card.spec.licence}\ncite: {card.spec.citation}", err=True)
    # One call a file, so that progress names it; a wrong --file, or --from with several files, is for `fetch` itself to refuse.
    several = file is None and origin is None and len(card.spec.source) > 1
    paths = []
    for name_of_file in [item.file for item in card.spec.source] if several else [file]:
        progress = _Progress(name_of_file or card.name)
        paths += get(card, file=name_of_file, origin=origin, again=again, progress=progress)
    told.parent.mkdir(parents=True, exist_ok=True)
    told.write_text("The licence and the citation were printed.\n", encoding="utf-8")
    if as_json:
        click.echo(json.dumps({"dataset": card.name, "files": [str(path) for path in paths]}))
        return
    for path in paths:
        click.echo(str(path))
    click.echo(f"next: judgekit data show {card.name}", err=True)


class _Progress:
    """Bytes so far: on one line of stderr when a person watches, else a line a quarter (in a log)."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.shown = -1

    def __call__(self, done: int, total: int | None) -> None:
        watched = sys.stderr.isatty()
        fine = done * 100 // total if total else done >> 20
        step = fine if watched else fine // 25 * 25
        if step == self.shown:
            return
        self.shown = step
        share = f"{step:3d} % of {total / 1e6:.1f} MB" if total else f"{done / 1e6:.1f} MB"
        start, end = ("\r" if watched else ""), (" " if watched and done != total else "\n")
        getattr(sys.stderr, "raw", sys.stderr).write(f"{start}{printable(self.name)}: {share}{end}")
        sys.stderr.flush()


@data.command()
@click.argument("source")
@CARD
@JSON
@click.option("--max-errors", type=click.IntRange(1), default=50, show_default=True, help="How many errors to print.")
def validate(source: str, card: str | None, as_json: bool, max_errors: int) -> int:
    """Count what a file holds, and print everything that is wrong with it (exit 1 when anything is)."""
    from judgekit.data.validate import counts
    from judgekit.data.validate import validate as check

    records, errors, number = check(source, card, max_errors=max_errors)
    found = counts(records) if records is not None else None
    if as_json:
        first = errors[0].to_dict() if errors else None
        value = {"error": first} if first else {}
        out = {**value, **(found or {}), "n_errors": number, "errors": [error.to_dict() for error in errors]}
        click.echo(json.dumps(out, ensure_ascii=False))
        return 1 if errors else 0
    if found is not None:
        _counts(found, number)
    for error in errors:
        click.echo(f"judgekit: {error}", err=True)
    if number > len(errors):
        click.echo(f"judgekit: ... and {number - len(errors)} more errors", err=True)
    if errors:
        click.echo(f"judgekit: {number} error{'s' * (number != 1)}", err=True)
    return 1 if errors else 0


def _counts(found: dict[str, Any], errors: int) -> None:
    good = "good records" if errors else "records"
    click.echo(f"{found['dataset']}: {found['records']} {good}, {found['clusters']} clusters (questions)")
    facts = [
        ("with a response", found["with_response"]),
        ("blank responses", found["blank_responses"]),
        ("with a reference", found["with_reference"]),
        ("with options", found["with_options"]),
        ("conversations", found["conversations"]),
        ("texts that repeat another record's", found["duplicate_texts"]),
        ("labelled", found["labelled"]),
    ]
    click.echo("  " + ", ".join(f"{number} {what}" for what, number in facts if number or what in ("labelled",)))
    criteria = found["criteria"]
    if criteria["records"]:
        kinds = ", ".join(f"{number} {kind}" for kind, number in criteria["kinds"].items() if kind)
        click.echo(
            f"  criteria on {criteria['records']} records: {criteria['min']} to {criteria['max']} a record, "
            f"median {criteria['median']:g}" + (f" ({kinds})" if kinds else "")
        )
    if found["severities"]:
        click.echo("  severities: " + ", ".join(f"{word} {number}" for word, number in found["severities"].items()))
    for construct, words in found["values"].items():
        click.echo(f"  {construct}: " + ", ".join(f"{word} {number}" for word, number in words.items()))
    if found["labels"]:
        click.echo("")
        word = "incomplete" if {row["construct"] for row in found["labels"]} == {"completeness"} else "no"
        people = [row for row in found["labels"] if not row["join"]]
        hidden = people[12:] if len(people) > 14 else []
        _table(
            ["construct", "rater", "labels", "verdicts", word, "base rate"],
            [
                [
                    row["construct"],
                    row["shown"],
                    str(row["n"]),
                    str(row["n_verdicts"]),
                    "-" if row["n_incomplete"] is None else str(row["n_incomplete"]),
                    "-" if row["base_rate"] is None else f"{row['base_rate']:.3f}",
                ]
                for row in found["labels"]
                if row not in hidden
            ],
        )
        if hidden:
            click.echo(
                f"... and {len(hidden)} more raters with {sum(row['n'] for row in hidden)} labels (all with --json)"
            )
    _notes(found["notes"])


@data.command("card")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--out", "-o", type=click.Path(dir_okay=False), help="Write the card here instead of printing it.")
@JSON
def card_(file: str, out: str | None, as_json: bool) -> None:
    """Propose a card for a file of your own: what its columns seem to mean, in words, and what comes of it.

    At a terminal it asks where a guess may be wrong; read the card before you rely on it.
    """
    import tempfile

    from judgekit.data import load_records
    from judgekit.data.propose import outcome, propose

    watched = sys.stdin.isatty() and sys.stderr.isatty() and not as_json
    found = propose(
        file, (lambda question, guess: click.prompt(question, default=guess, err=True)) if watched else None
    )
    if out is not None and Path(out).exists():
        raise DataError("this file is there already", file=out, field="out", mend="name another file, or delete it")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(out) if out is not None else Path(folder) / "card.yaml"
        place.write_text(found.card, encoding="utf-8")
        records = load_records(file, str(place))
    if as_json:
        value: dict[str, Any] = {
            "card": found.card,
            "understood": found.words,
            "unsure": found.unsure,
            "notes": records.notes,
            "file": out,
        }
        value["records"] = [record.to_dict() for record in records[:5]]
        click.echo(json.dumps(value, ensure_ascii=False))
        return
    if out is None:
        click.echo(found.card, nl=False)
    for sentence in found.words:
        click.echo(f"understood: {sentence}", err=True)
    for sentence in found.unsure:
        click.echo(f"unsure: {sentence}", err=True)
    _notes(records.notes)
    for sentence in outcome(records):
        click.echo(sentence, err=True)
    click.echo(
        f"next: judgekit data validate {file} --card {f'./{out}' if out and '/' not in out else out or './card.yaml'}",
        err=True,
    )


@data.command()
@click.argument("name")
@click.option("--from", "origin", help="The file to prepare, instead of the fetched one.")
@click.option("--out", "-o", type=click.Path(dir_okay=False), help="Where to; by default NAME-prepared.jsonl.")
@click.option("--roles", help="A run of professional-role, or a JSONL file of its recorded verdicts.")
@click.option(
    "--labels", help="A run of healthbench-criterion on the ideal replies, or a JSONL file: makes the labels."
)
@click.option("--axis", help="Count only criteria of this axis in the label, such as axis:completeness.")
@click.option("--weighted", is_flag=True, help="Label by the share of points instead of the share of criteria.")
@click.option("--language", type=click.Choice(["langid", "none"]), default="langid", show_default=True)
@JSON
def prepare(
    name: str,
    origin: str | None,
    out: str | None,
    roles: str | None,
    labels: str | None,
    axis: str | None,
    weighted: bool,
    language: str,
    as_json: bool,
) -> None:
    """Prepare a data set as its paper did, and print the count after each step."""
    from judgekit.data import load_records
    from judgekit.data.cards import load_card
    from judgekit.data.export import export as write
    from judgekit.data.fetch import locate
    from judgekit.data.prepare import prepare_healthbench
    from judgekit.data.verdicts import criteria_met, yes_no

    card = load_card(name)
    if card.spec.prepare != "healthbench":
        raise DataError(f"the card {card.name!r} needs no preparation", field="name", mend="use the data set as it is")
    records = load_records(origin or str(locate(card)), card)
    options: dict[str, Any] = {"axis": axis, "weighted": weighted}
    if language == "none":
        options["language"] = None
    if roles:
        options["roles"] = yes_no(_judgements(roles, "professional-role"))
    if labels:
        graded, graders = criteria_met(_judgements(labels, "healthbench-criterion"))
        options |= {"graded": graded, "grader": "+".join(graders)}
    done = prepare_healthbench(records, **options)
    target = out or f"{card.name}-prepared.jsonl"
    write(done.records, target, "jsonl")
    if as_json:
        steps = [
            {key: getattr(step, key) for key in ("name", "left", "removed", "concerned", "note")} for step in done.steps
        ]
        click.echo(json.dumps({"dataset": card.name, "file": target, "steps": steps}, ensure_ascii=False))
        return
    for line in done.lines():
        click.echo(line)
    _notes(done.records.notes)
    click.echo(f"{len(done.records)} records in {target}", err=True)


@data.command()
def schema() -> None:
    """Print the JSON Schema of card files, for editors."""
    from judgekit.data.card_schema import card_schema

    click.echo(json.dumps(card_schema(), indent=2, ensure_ascii=False))


def _judgements(place: str, rubric: str) -> Any:
    """A JSONL file as it is, or a run's judgements under one rubric."""
    if not Path(place).is_dir():
        return Path(place)
    from judgekit.runs.store import open_run

    frame = open_run(place).judgements
    rows = [row for row in frame.to_dict("records") if row["rubric"] == rubric]
    if not rows:
        raise DataError(
            f"the run holds no judgements of {rubric}", file=place, mend=f"judge with --rubric {rubric} first"
        )
    return rows


@data.command()
@click.argument("source", metavar="DATA|RUN")
@click.option("--to", type=click.Choice(["label-studio", "csv", "parquet", "jsonl"]), required=True, help="The form.")
@click.option(
    "--table",
    type=click.Choice(["judgements", "latest", "calls", "records", "labels", "measurements", "rubrics", "commands"]),
    help="A run: which of its tables; latest holds the judgements of each rubric's wording in use.",
)
@click.option("--out", "-o", type=click.Path(dir_okay=False), help="Where to; by default NAME and the form's ending.")
@CARD
@JSON
def export(source: str, to: str, table: str | None, out: str | None, card: str | None, as_json: bool) -> None:
    """Write records, or a table of a run, as a file for other tools.

    CSV cells cannot run as spreadsheet formulas. Records read back the same; a run's table has null (CSV: an empty cell) where
    there is no value, never NaN.
    """
    from judgekit.data import load_records
    from judgekit.data.export import export as write

    if table is not None or (Path(source).is_dir() and card is None):
        _export_table(source, to, table, out, as_json)
        return
    records = load_records(source, card)
    target = out or f"{records.name}.{'tasks.json' if to == 'label-studio' else to}"
    if Path(target).exists() and Path(source).exists() and Path(target).samefile(source):
        raise DataError("the export would overwrite its source", file=target, field="out", mend="name another file")
    number = write(records, target, to)
    if as_json:
        click.echo(json.dumps({"dataset": records.name, "records": number, "file": target}))
        return
    click.echo(target)
    click.echo(f"{number} records", err=True)
    _notes(records.notes)


def _export_table(source: str, to: str, table: str | None, out: str | None, as_json: bool) -> None:
    from judgekit.errors import UsageError
    from judgekit.runs.export import export_table
    from judgekit.runs.reader import open_run

    run = open_run(source)
    if table is None:
        raise UsageError("a run has several tables", field="table", mend="add --table judgements, or another of --help")
    if to == "label-studio":
        raise UsageError("a run's table is no task for Label Studio", field="to", mend="csv, jsonl or parquet")
    target = out or f"{Path(source).resolve().name}-{table}.{to}"
    if not target.lower().endswith(f".{to}"):
        raise UsageError(f"{target} does not end in .{to}", field="out", mend=f"name it {Path(target).stem}.{to}")
    number = export_table(run, table, target)
    if as_json:
        click.echo(json.dumps({"run": source, "table": table, "rows": number, "file": target}))
        return
    click.echo(target)
    click.echo(f"{number} rows", err=True)


def _notes(notes: list[str]) -> None:
    for note in notes:
        click.echo(f"note: {note}", err=True)


def _table(header: list[str], rows: list[list[str]]) -> None:
    """A plain table that can be pasted: columns two spaces apart, numbers as they are."""
    widths = [max(len(row[index]) for row in [header, *rows]) for index in range(len(header))]
    for row in [header, *rows]:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
