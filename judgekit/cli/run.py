"""`judgekit run`: a whole study from one file."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from judgekit.cli.analysis import show_result
from judgekit.cli.judge import show_outcome, show_plan
from judgekit.cli.options import Finite, each_model

__all__ = ["run"]


@click.command()
@click.argument("study", metavar="STUDY.yaml", type=click.Path(path_type=Path, dir_okay=False), required=False)
@click.option(
    "--model", "models", multiple=True, metavar="M", help="Judges instead of the study's own; may be repeated."
)
@click.option("--api-base", metavar="URL", help="With --model: address of an OpenAI-compatible server.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), metavar="RUN", help="The run's folder.  [default: the study's out, or runs/ and its name]")  # fmt: skip
@click.option("--max-cost", type=Finite(0), metavar="USD", help="Over the study's own budget.")
@click.option("--allow-unknown-price", is_flag=True, help="Start although a price is unknown.")
@click.option(
    "--price-in",
    multiple=True,
    callback=each_model,
    metavar="USD|MODEL=USD",
    help="Price of a million tokens in; may be repeated.",
)
@click.option(
    "--price-out",
    multiple=True,
    callback=each_model,
    metavar="USD|MODEL=USD",
    help="Price of a million tokens out; may be repeated.",
)
@click.option("--concurrency", type=click.IntRange(1), help="Most calls in flight a model.")
@click.option("--local-only", is_flag=True, help="Refuse every call to another machine, before it is made.")
@click.option("--plan", is_flag=True, help="Print calls, tokens and price; ask nothing.")
@click.option("--lint", is_flag=True, help="Print everything that is wrong with the file (exit 1 when anything is).")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of study files, for editors.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def run(
    study: Path | None,
    models: tuple[str, ...],
    api_base: str | None,
    out: Path | None,
    plan: bool,
    lint: bool,
    schema: bool,
    as_json: bool,
    **running: Any,
) -> int:
    """Run a whole study from one file: data sets, rubrics, judges, metrics and analyses.

    Everything is kept in one run, as by the single commands: what is there is not asked again, and the same command goes on after
    a stop. The analyses are the commands of the same name with their long options.

    \b
    Exit: 0 done, 1 the input or an analysis is wrong, 3 some unscored, 4 stopped at the budget, 5 provider, 130 interrupted.
    """
    if schema:
        from judgekit.analysis.index import analyses
        from judgekit.analysis.options import find, options_schema
        from judgekit.errors import InputError
        from judgekit.study.spec import study_schema

        kinds = {}
        for name in analyses():
            try:
                kinds[name] = find(name)
            except InputError as error:  # a broken plug-in is named, and the others are there
                click.echo(f"judgekit: left out: {error}", err=True)
        found = study_schema({name: options_schema(kind) for name, kind in kinds.items() if "run" in kind.reads})
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return 0
    if api_base is not None and not models:
        raise click.UsageError("--api-base says where the models of --model are; the study's own judges have api_base.")
    if study is None:
        raise click.UsageError("Missing argument 'STUDY.yaml'.")
    from judgekit.study.resolve import problems, resolve
    from judgekit.study.run import plan_study, run_study
    from judgekit.study.spec import load_study

    file = load_study(study)
    if lint:
        return _lint(str(study), problems(file), as_json)
    said = {name: value for name, value in running.items() if value not in (None, False)}
    if said:
        file.study = file.study.model_copy(update={"running": file.study.running.model_copy(update=said)})
    resolved = resolve(file, out=out, models=models, api_base=api_base)
    if plan:
        show_plan(plan_study(resolved), as_json)
        return 0

    def step(text: str) -> None:
        click.echo(f"== {text}", err=True)

    def shown(kind: str, what: Any) -> None:
        if not as_json:
            _show_step(kind, what)

    done = run_study(resolved, step=step, shown=shown)
    if as_json:
        click.echo(json.dumps(done.to_dict(), ensure_ascii=False, allow_nan=False))
    else:
        _show(done, bool(resolved.blocks))
    return done.exit_code


def _lint(name: str, wrong: list[Any], as_json: bool) -> int:
    if as_json:
        head = {"error": wrong[0].to_dict()} if wrong else {}
        click.echo(json.dumps({**head, "errors": [one.to_dict() for one in wrong]}, ensure_ascii=False))
        return 1 if wrong else 0
    for one in wrong:
        click.echo(f"judgekit: {one}", err=True)
    if not wrong:
        click.echo(f"{name}: nothing is wrong")
    return 1 if wrong else 0


def _show_step(kind: str, what: Any) -> None:
    if kind == "outcome":
        show_outcome(what, False, then="")
    elif kind == "answers":
        counts = f"{what['truncated']} of them cut short, {what['absent']} absent"
        click.echo(f"answers: {what['written']} in {what['file']}, {counts}")
    elif kind == "metric":
        mean = "-" if what["mean"] is None else f"{what['mean']:.3f}"
        click.echo(
            f"{what['dataset']}: {what['metric']}: mean {mean} over {what['measured']} of {what['records']} records"
        )
        for reason, n in list(what["without_value"].items())[:6]:
            click.echo(f"  {n} without a value: {reason}")
    elif kind == "analysis":
        show_result(what, False)
    else:
        click.echo(what)
    click.echo("")


def _show(done: Any, judged: bool) -> None:
    click.echo(f"study {done.study}, kept in {done.run}: {done.bill} in this command")
    if done.stopped:
        click.echo(f"stopped ({done.stopped}); the same command goes on. No analysis was run.")
        return
    click.echo("look at next:")
    for line in _next(done, judged):
        click.echo(f"  {line}")


def _next(done: Any, judged: bool) -> Iterator[str]:
    place = shlex.quote(done.run)
    ran = {entry["analysis"]: entry for entry in done.analyses}
    unscored = sum(sum(outcome.unscored.values()) for _, outcome in done.outcomes)
    if unscored:
        yield f"judgekit data export {place} --table judgements --to csv    {unscored} unscored, with their reasons"
    failed = [name for name, entry in ran.items() if "error" in entry]
    for name in failed:
        yield f"{name} could not be computed: its reason stands above"
    if "triage" not in ran and judged:
        yield f"judgekit triage {place} --recall 0.9    how much reading the judges take away"
    elif "triage" in ran and "--certify" not in ran["triage"]["command"] and "triage" not in failed:
        yield f"judgekit triage {place} --recall 0.9 --certify 0.95    a threshold that holds on new answers"
    if "report" not in ran:
        yield f"judgekit report {place}    one file to look at and to send"
    if "cost" not in ran and judged:
        yield f"judgekit cost {place}    what it cost, and what it bought"
