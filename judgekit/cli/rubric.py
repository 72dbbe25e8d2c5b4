"""`judgekit rubric`: write, lint, render and test rubric files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from judgekit.records import Record
    from judgekit.rubric.compile import CompiledRubric

__all__ = ["rubric"]

_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")


@click.group()
def rubric() -> None:
    """Write, lint, render and test rubric files.

    A rubric is a YAML file that says everything about a judgement except the model. NAME is a name of the library (see `list`), or
    a path that ends in .yaml. The usual order is new, lint, render, test, and then `judgekit judge`.
    """


@rubric.command("list")
@_JSON
def list_(as_json: bool) -> None:
    """The library's rubrics: construct, verdict fields, source, size."""
    from judgekit.errors import RubricError
    from judgekit.registry import library_files
    from judgekit.rubric import load_rubric

    rows: list[dict[str, Any]] = []
    for name, path in sorted(library_files("rubrics", ".yaml").items()):
        try:
            rows.append(_row(load_rubric(path)))
        except RubricError as error:
            rows.append({"name": name, "error": str(error)})
    if as_json:
        click.echo(json.dumps({"rubrics": rows}, ensure_ascii=False))
        return
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        if "error" in row:
            click.echo(f"{row['name']:<{width}}  does not load: {row['error']}")
            continue
        fields = ", ".join(f"{field['name']}:{field['type']}" for field in row["fields"]) or "free text"
        click.echo(f"{row['name']:<{width}}  {row['title'] or ''}")
        about = [row["construct"], fields, row["score"], f"~{row['tokens']} tokens", row["source"]]
        click.echo(f"{'':<{width}}  " + " | ".join(part for part in about if part))
    click.echo("\nSee one: judgekit rubric render NAME. Start your own: judgekit rubric new NAME.", err=True)


def _row(compiled: CompiledRubric) -> dict[str, Any]:
    from judgekit.rubric.lint import static_tokens

    spec = compiled.spec
    return {
        "name": compiled.name,
        "title": compiled.title,
        "construct": compiled.construct,
        "output": compiled.output,
        "fields": [
            {"name": each.name, "type": type(each).__name__.removesuffix("Field").lower()} for each in spec.verdict
        ],
        "score": None if spec.score is None else f"{spec.score.kind}({', '.join(spec.score.fields)})",
        "complete_when": compiled.complete_when,
        "inputs": {"required": list(spec.required), "optional": list(spec.optional)},
        "source": compiled.source.get("paper") or compiled.source.get("note"),
        "tokens": static_tokens(compiled),
        "version": compiled.version,
        "path": str(compiled.path),
        "fingerprint": {"ask": compiled.ask_fingerprint, "score": compiled.score_fingerprint},
    }


@rubric.command()
@click.argument("name")
@click.option(
    "--from", "like", metavar="RUBRIC", help="Copy this rubric of the library (or file) instead of the starter."
)
@click.option("--out", type=click.Path(path_type=Path), help="The file to write. [NAME.yaml]")
@_JSON
def new(name: str, like: str | None, out: Path | None, as_json: bool) -> None:
    """Write a commented rubric to start from; it lints clean and renders as it is."""
    import re

    from judgekit.errors import InputError
    from judgekit.forms import read_utf8
    from judgekit.rubric.load import rubric_path
    from judgekit.rubric.sample import starter

    if name.endswith((".yaml", ".yml")):
        name = Path(name).stem
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) or len(name) > 64:
        raise InputError(
            f"{name!r} is not usable as a name", field="NAME", mend="use small letters, digits and hyphens"
        )
    if like is None:
        text = starter(name)
    else:
        text = read_utf8(rubric_path(like)).removeprefix(
            "# yaml-language-server: $schema=../docs/schema/rubric.schema.json\n#\n"
        )
        text = re.sub(r"(?m)^rubric:.*$", f"rubric: {name}", text, count=1)
    path = out or Path(f"{name}.yaml")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(
            "this file exists already", file=str(path), mend="choose another name, or --out FILE"
        ) from None
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from None
    if as_json:
        click.echo(json.dumps({"path": str(path), "rubric": name}))
        return
    click.echo(f"wrote {path}")
    shown = path if path.suffix in (".yaml", ".yml") else f"./{path}"
    click.echo(f"next:  judgekit rubric lint {shown}\n       judgekit rubric render {shown}", err=True)


@rubric.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--strict", is_flag=True, help="Exit 1 on warnings too.")
@_JSON
def lint(files: tuple[str, ...], strict: bool, as_json: bool) -> int:
    """Is it sound? Exits 1 on errors, 0 on warnings only. No model is needed."""
    from judgekit.rubric.lint import lint_file
    from judgekit.rubric.load import rubric_path

    findings = [finding for name in files for finding in lint_file(rubric_path(name))]
    errors = sum(finding.severity == "error" for finding in findings)
    warnings = len(findings) - errors
    if as_json:
        body = {
            "files": len(files),
            "errors": errors,
            "warnings": warnings,
            "findings": [each.to_dict() for each in findings],
        }
        click.echo(json.dumps(body, ensure_ascii=False))
    else:
        for finding in findings:
            click.echo(str(finding))
        click.echo(f"{len(files)} file{'s' * (len(files) != 1)}: {errors} errors, {warnings} warnings", err=True)
    return 1 if errors or (strict and warnings) else 0


@rubric.command(short_help="The exact messages and schema for one record, and the fingerprints.")
@click.argument("name")
@click.option(
    "--record", "file", type=click.Path(), metavar="FILE", help="Records to fill it with; a sample otherwise."
)
@click.option("--card", metavar="CARD", help="Read FILE through this card.")
@click.option("--id", "id_", metavar="ID", help="Which record of FILE. [the first]")
@_JSON
def render(name: str, file: str | None, card: str | None, id_: str | None, as_json: bool) -> None:
    """The exact messages and schema that a judge gets for one record, and the rubric's fingerprints."""
    from judgekit.rubric import load_rubric
    from judgekit.rubric.sample import sample_record

    compiled = load_rubric(name)
    record = sample_record(compiled) if file is None else _record(file, card, id_)
    notes = []
    if compiled.blank(record):
        rule = compiled.rule_result(record)
        notes.append(f"a blank response: no call is made; {'skipped' if rule is None else f'raw {rule.raw:g} by rule'}")
    elif compiled.spec.criteria is not None and not compiled.select_criteria(record):
        written = (
            "they are written first" if "written" in compiled.spec.criteria.sources else "the judgement is skipped"
        )
        notes.append(f"the record has no criteria that count: {written}")
    if not isinstance(compiled.spec.examples, tuple):
        found = compiled.spec.examples
        notes.append(f"{found.count} examples from {found.source} are added for each record when it is judged")
    asks = [] if compiled.blank(record) else compiled.asks(record)
    fingerprint = {"ask": compiled.ask_fingerprint, "score": compiled.score_fingerprint}
    for note in notes:
        click.echo(f"note: {note}", err=True)
    if as_json:
        calls = [{"messages": ask.messages, "schema": ask.schema} for ask in asks]
        click.echo(json.dumps({"calls": calls, "fingerprint": fingerprint}, ensure_ascii=False))
        return
    head = [f"rubric {compiled.name}, version {compiled.version}", f"record {record.id}", f"{len(asks)} calls"]
    click.echo(", ".join(head))
    for i, ask in enumerate(asks, 1):
        click.echo()
        about = f" (criterion {', '.join(ask.criterion_ids)})" if ask.criterion_ids else ""
        click.echo(click.style(f"=== call {i} of {len(asks)}{about}", bold=True))
        for message in ask.messages if i == 1 else ask.messages[-1:]:
            click.echo(click.style(f"--- {message['role']}", bold=True))
            click.echo(message["content"])
        if i == 1:
            click.echo(click.style("--- schema of the reply", bold=True))
            click.echo(
                "none: free text" if ask.schema is None else json.dumps(ask.schema, indent=2, ensure_ascii=False)
            )
    click.echo(f"\nfingerprints: ask {fingerprint['ask'][:16]}  score {fingerprint['score'][:16]}")
    click.echo(f"sampling: {json.dumps(compiled.sampling)}")


def _record(file: str, card: str | None, id_: str | None) -> Record:
    from judgekit.data import load_records
    from judgekit.errors import DataError

    records = load_records(file, card=card)
    if not len(records):
        raise DataError("the file holds no records", file=file)
    if id_ is None:
        return records[0]
    for record in records:
        if record.id == id_:
            return record
    raise DataError(
        f"there is no record with the id {id_!r}", file=file, field="--id", mend=f"the first id is {records[0].id!r}"
    )


@rubric.command()
@click.argument("name")
@click.option("--model", required=True, metavar="M", help="The judge to try: any litellm name, or local/smollm2-135m.")
@click.option("--api-base", metavar="URL", help="Address of an OpenAI-compatible server.")
@click.option("--out", type=click.Path(), metavar="RUN", help="Keep the run here. [a temporary folder]")
@_JSON
def test(name: str, model: str, api_base: str | None, out: str | None, as_json: bool) -> int:
    """Run the rubric's own checks with a model. Exits 1 where one fails, 3 where one could not be scored."""
    import dataclasses
    import tempfile

    from judgekit.errors import InputError
    from judgekit.judging.api import judge
    from judgekit.rubric import load_rubric

    compiled = load_rubric(name)
    checks = compiled.spec.checks
    if not checks:
        raise InputError(
            "this rubric has no checks", file=str(compiled.path), mend="write `checks:`; see docs/rubrics.md"
        )
    records = [dataclasses.replace(check.record, id=f"check-{i}") for i, check in enumerate(checks, 1)]
    with tempfile.TemporaryDirectory() as folder:
        run = judge(
            records,
            rubric=compiled,
            model=model,
            api_base=api_base,
            dataset=f"{compiled.name}-checks",
            out=out or str(Path(folder) / "run"),
            quiet=True,
        )
        frame = run.latest()
        frame = frame[(frame["rubric"] == compiled.name) & (frame["judge"] == model)]
        found: list[dict[str, Any]] = [dict(row) for row in frame.to_dict("records")]  # type: ignore[arg-type]
        rows = {(row["record_id"], row["record_hash"]): row for row in found}
    results = [
        _result(compiled, i, rows.get((record.id, record.fingerprint()), {})) for i, record in enumerate(records)
    ]
    passed, failed, unscored = (sum(each["holds"] is value for each in results) for value in (True, False, None))
    if as_json:
        body = {
            "rubric": compiled.name,
            "model": model,
            "passed": passed,
            "failed": failed,
            "unscored": unscored,
            "checks": results,
        }
        click.echo(json.dumps(body, ensure_ascii=False))
    else:
        for each in results:
            word = {True: "ok    ", False: "FAILED", None: "no verdict"}[each["holds"]]
            said = "; ".join(
                f"{one['name']} = {one['got']!r} (wanted {one['wanted']})" for one in each["expect"]
            ) or f"{each['status']}: {each['reason']}"  # fmt: skip
            click.echo(f"{word} {each['file']}:{each['line']}: {said}")
        click.echo(f"{passed} of {len(results)} checks hold, {failed} fail, {unscored} without a verdict")
    return 1 if failed else 3 if unscored else 0


def _result(compiled: CompiledRubric, i: int, row: dict[str, Any]) -> dict[str, Any]:
    from dataclasses import asdict

    from judgekit.rubric.checks import expectations
    from judgekit.runs.model import SCORED

    check = compiled.spec.checks[i]
    status = row.get("status") or "error"
    verdict = row.get("verdict")
    if isinstance(verdict, str):
        verdict = json.loads(verdict)
    scored = status in SCORED
    raw, complete = row.get("raw"), row.get("complete")
    found = (
        expectations(
            check,
            verdict if isinstance(verdict, dict) else None,
            float(raw) if isinstance(raw, int | float) and raw == raw else None,
            complete if isinstance(complete, bool) else None,
        )
        if scored
        else []
    )
    return {
        "check": i + 1,
        "file": check.place.file,
        "line": check.place.line,
        "status": status,
        "reason": row.get("reason") if isinstance(row.get("reason"), str) else None,
        "holds": all(each.holds for each in found) if scored else None,
        "expect": [asdict(each) for each in found],
    }


@rubric.command()
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write it here instead of stdout.")
def schema(out: Path | None) -> None:
    """The JSON Schema of rubric files, for completion and checks in an editor."""
    from judgekit.rubric.form import editor_schema

    text = json.dumps(editor_schema(), indent=2, ensure_ascii=False) + "\n"
    if out is None:
        click.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")
        click.echo(f"wrote {out}", err=True)
