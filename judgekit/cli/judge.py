"""`judgekit judge`: run judges over records."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from judgekit.cli.options import Finite, each_model

__all__ = ["judge", "next_step", "options_from", "running_options", "show_outcome", "show_plan"]

RUNNING: list[Callable[[Any], Any]] = [
    click.option("--api-base", metavar="URL", help="Address of an OpenAI-compatible server."),
    click.option("--endpoint", metavar="NAME", help="What stands for the address in keys: keep it when a server moves."),
    click.option("--temperature", type=Finite(), help="Over the rubric's own."),
    click.option("--max-tokens", type=click.IntRange(1), help="Most tokens of a reply, over the rubric's own."),
    click.option("--seed", type=int, help="Sampling seed, where the provider takes one."),
    click.option("--max-chars", type=click.IntRange(1), help="Shorter texts where the engine honours lengths."),
    click.option("--samples", type=click.IntRange(1), default=1, show_default=True, help="Judgements a record."),
    click.option("--max-cost", type=Finite(0), metavar="USD", help="Budget of the whole run, all commands together: stop before the call that would pass it."),
    click.option("--allow-unknown-price", is_flag=True, help="Start although a price is unknown."),
    click.option("--price-in", multiple=True, callback=each_model, metavar="USD|MODEL=USD", help="Price of a million tokens in; may be repeated."),
    click.option("--price-out", multiple=True, callback=each_model, metavar="USD|MODEL=USD", help="Price of a million tokens out; may be repeated."),
    click.option("--concurrency", type=click.IntRange(1), help="Most calls in flight a model.  [default: 32; local: 1]"),
    click.option("--rpm", type=Finite(0, min_open=True), help="Requests a minute and model."),
    click.option("--tpm", type=Finite(0, min_open=True), help="Tokens a minute and model."),
    click.option("--timeout", type=Finite(0, min_open=True), default=120.0, show_default=True, help="Seconds a request."),
    click.option("--reasks", type=click.IntRange(0), default=2, show_default=True, help="Second tries at an unusable reply."),
    click.option("--local-only", is_flag=True, help="Refuse every call to another machine, before it is made."),
    click.option("--plan", is_flag=True, help="Print calls, tokens and price; ask nothing."),
    click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout."),
]  # fmt: skip


def running_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that every command has which asks models."""
    for option in reversed(RUNNING):
        command = option(command)
    return command


def options_from(given: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Options, and the sampling parameters that go into the judges' names."""
    from judgekit.judging.engine.units import Options

    names = [
        "samples",
        "max_cost",
        "allow_unknown_price",
        "concurrency",
        "rpm",
        "tpm",
        "reasks",
        "max_chars",
        "price_in",
        "price_out",
        "local_only",
    ]
    options = Options(timeout_s=given["timeout"], **{name: given[name] for name in names})
    asked = {name: given[name] for name in ("temperature", "max_tokens", "seed")}
    return options, {name: value for name, value in asked.items() if value is not None}


@click.command()
@click.argument("data", metavar="DATA", type=click.Path(path_type=Path))
@click.option(
    "--rubric", "rubrics", multiple=True, required=True, metavar="R", help="A rubric's name or file; may be repeated."
)
@click.option(
    "--model",
    "models",
    multiple=True,
    required=True,
    metavar="M",
    help="What litellm calls it, local/NAME, or replay/FILE; may be repeated.",
)
@click.option("--card", metavar="CARD", help="Read DATA through a data set card.")
@click.option("--dataset", metavar="NAME", help="The data set's name in the run.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N records.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="RUN",
    help="The run's folder.  [default: runs/ and the data's name]",
)
@running_options
def judge(
    data: Path,
    rubrics: tuple[str, ...],
    models: tuple[str, ...],
    card: str | None,
    dataset: str | None,
    limit: int | None,
    out: Path | None,
    plan: bool,
    as_json: bool,
    api_base: str | None,
    endpoint: str | None,
    **given: Any,
) -> int:
    """Judge the records of DATA by rubrics, with one model or several.

    Everything is kept in a run. The same command again asks only what is missing: what failed is tried again, what is there is
    not. Ctrl-C stops in order.

    \b
    Exit: 0 all scored, 3 some unscored, 4 stopped at the budget, 5 provider, 130 interrupted.
    """
    from judgekit.data import load_records
    from judgekit.errors import InputError
    from judgekit.judging.api import specs_for
    from judgekit.judging.engine.plan import make_plan
    from judgekit.judging.engine.run import run_judges
    from judgekit.rubric import load_rubric

    options, sampling = options_from(given)
    compiled = [load_rubric(name) for name in rubrics]
    for rubric in compiled:
        if rubric.output == "text":
            raise InputError(
                f"{rubric.name} writes texts and gives no verdict",
                file=None if rubric.path is None else str(rubric.path),
                mend=f"judgekit answer {data} --writer {rubric.name} --model M --out FILE",
            )
    records = load_records(data, card=card, dataset=dataset)
    if not plan:
        records.need_promised_labels()
    known = {records.name: {record.id for record in records}}
    if limit is not None:
        records = records[:limit]
    specs = specs_for(models, sampling, api_base, endpoint)
    folder = out if out is not None else Path("runs") / records.name
    if plan:
        for note in records.notes:
            click.echo(f"note: {records.name}: {note}", err=True)
        show_plan(make_plan([records], compiled, specs, folder, options), as_json)
        return 0
    outcome = asyncio.run(run_judges([records], compiled, specs, folder, options, known=known))
    asked = {rubric.construct or "completeness" for rubric in compiled}  # as triage has it
    show_outcome(outcome, as_json, then=next_step(records, folder, asked))
    return outcome.exit_code


def next_step(records: Any, folder: Path, constructs: set[str] | None = None) -> str:
    """What to type after judging: triage where there are labels (of `constructs`, where given) to hold judges against, else a comparison or the verdicts themselves."""
    if any(constructs is None or label.construct in constructs for record in records for label in record.labels):
        return f"judgekit triage {folder} --recall 0.9"
    if len({str(record.meta.get("model")) for record in records}) > 1:
        return f"judgekit compare {folder}"
    of = f" of {' or '.join(sorted(constructs))}" if constructs else ""
    return f"judgekit report {folder} (no record has a label{of}, so there is nothing to triage)"


def show_plan(plan: Any, as_json: bool) -> None:
    """The plan on stdout, its notes on stderr."""
    for note in plan.notes:
        click.echo(f"note: {note}", err=True)
    if as_json:
        click.echo(json.dumps(plan.to_dict(), ensure_ascii=False, allow_nan=False))
        return
    price = "unknown" if plan.cost is None else f"${plan.cost:.4f} at most, without re-asks"
    click.echo(f"calls to make  {plan.calls:,}")
    click.echo(f"already there  {plan.reused:,}")
    click.echo(f"tokens         {plan.tokens_in:,} in, at most {plan.tokens_out_max:,} out")
    click.echo(f"price          {price}")
    if plan.unknown_price:
        click.echo(
            f"               no price known for {', '.join(plan.unknown_price)}: give --price-in and --price-out"
        )


def show_outcome(outcome: Any, as_json: bool, then: str | None = None) -> None:
    """What a command left behind: one object, or a table with where the run is and what to type next (`then`; "" for nothing)."""
    resume = {
        "budget": "stopped before the call that would have passed the run's budget; a larger --max-cost goes on",
        "interrupted": "interrupted; the same command goes on where it stopped",
    }.get(outcome.stopped or "")
    if outcome.error is not None:
        click.echo(f"judgekit: {outcome.error}", err=True)
        resume = "stopped by the provider; what was done is kept, and the same command goes on"
    if resume is not None:
        click.echo(resume, err=True)
    if as_json:
        click.echo(json.dumps(outcome.to_dict(), ensure_ascii=False, allow_nan=False))
        return
    rows = [_row(row, len({one.dataset for one in outcome.rows}) > 1) for row in outcome.rows]
    head = ["rubric", "judge", "wanted", "ok", "rule", "unscored", "tokens", "cost"]
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        cells = [
            cell.ljust(w) if i in (0, 1, 5) else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        click.echo("  ".join(cells).rstrip())
    flags = {name: sum(row.flags[name] for row in outcome.rows) for row in outcome.rows for name in row.flags}
    for line in _reasons(outcome.rows):
        click.echo(line)
    if flags:
        click.echo("flags: " + ", ".join(f"{name} {n}" for name, n in sorted(flags.items())))
    click.echo(
        f"\nthis command: {outcome.calls} calls, {outcome.reused} reused, {outcome.bill}; the run so far: {outcome.bill_total}"
    )
    click.echo(f"run: {outcome.run}")
    if not outcome.stopped and outcome.error is None and then != "":
        retried = [name for name in ("error", "invalid", "skipped") if name in outcome.unscored]
        again = f"the same command tries {' and '.join(retried)} again; " if retried else ""
        click.echo(f"next: {again}{then or f'judgekit triage {outcome.run} --recall 0.9'}")


def _reasons(rows: Any, most: int = 3) -> list[str]:
    """Why judgements are unscored: the commonest reasons, and how many more there are."""
    found: Counter[tuple[str, str]] = Counter()
    for row in rows:
        found.update(row.reasons)
    lines = [f"{status} {n}: {' '.join(why.split())}" for (status, why), n in found.most_common(most)]
    if len(found) > most:
        lines.append(f"and {sum(found.values()) - sum(n for _, n in found.most_common(most))} more, for other reasons")
    return lines


def _row(row: Any, with_set: bool) -> list[str]:
    unscored = [f"{name} {n}" for name, n in sorted(row.statuses.items()) if name not in ("ok", "rule")]
    missing = row.wanted - sum(row.statuses.values())
    if missing:
        unscored.append(f"not done {missing}")
    name = f"{row.dataset}: {row.rubric}" if with_set else row.rubric
    tokens = f"{row.tokens_in:,} + {row.tokens_out:,}"
    counts = [str(row.wanted), str(row.statuses["ok"]), str(row.statuses["rule"])]
    return [name, row.judge, *counts, ", ".join(unscored) or "-", tokens, str(row.bill)]


def money(cost: float | None) -> str:
    """US dollars for a person; ``unknown`` where a price is."""
    from judgekit.runs.model import Bill

    return str(Bill(0.0, None) if cost is None else Bill(cost, cost))
