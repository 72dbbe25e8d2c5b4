"""`judgekit stability`: make, verify and audit rewordings; ask, score; judges under rewording."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from judgekit.cli.judge import options_from, running_options
from judgekit.cli.options import Finite
from judgekit.cli.stability_ask import ask, score
from judgekit.cli.stability_common import no_samples, show
from judgekit.cli.stability_judge import judge

__all__ = ["stability"]


@click.group()
def stability() -> None:
    """Does an answer, or a judge, change when only the words do?

    \b
    make    reword questions in ten ways        ask     let the models under study answer
    verify  does the meaning survive?           score   MVS, confidence variation, worst-case instability
    audit   a blinded sheet for the clinician   judge   the same for a judge: reword its rubric
    """


stability.add_command(ask)
stability.add_command(score)
stability.add_command(judge)

STUDY = click.Path(path_type=Path, file_okay=False)


@stability.command()
@click.argument("data", metavar="DATA", type=click.Path(path_type=Path))
@click.option("--model", required=True, metavar="M", help="Who rewords.")
@click.option("--out", required=True, type=STUDY, metavar="STUDY", help="The study's folder.")
@click.option(
    "--kind", "kinds", multiple=True, metavar="KIND", help="Only this kind; may be repeated.  [default: all ten]"
)
@click.option("--tries", type=click.IntRange(1), default=3, show_default=True, help="Replies a kind at most.")
@click.option(
    "--alike",
    type=Finite(0, 1, min_open=True),
    default=0.92,
    show_default=True,
    help="Over this trigram Jaccard a reply is asked again.",
)
@click.option(
    "--ner",
    default="gazetteer",
    show_default=True,
    metavar="NAME",
    help="Finds drug names and denied findings; 'none' leaves these out.",
)
@click.option(
    "--rules",
    type=click.Choice(["flag", "drop"]),
    default="flag",
    show_default=True,
    help="What breaks a rule is flagged, for entailment and people to decide, or dropped.",
)
@click.option("--card", metavar="CARD", help="Read DATA through a data set card.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N questions.")
@running_options
def make(
    data: Path, model: str, out: Path, kinds: tuple[str, ...], tries: int, alike: float, ner: str, rules: str, card: str | None, limit: int | None,
    plan: bool, as_json: bool, api_base: str | None, endpoint: str | None, **given: Any,
) -> int:  # fmt: skip
    """Reword every question of DATA in ten named ways, and check by rule that numbers, units, doses, negation and side stay.

    The same command again asks only what is missing. Everything is in STUDY/variants.jsonl, dropped rewordings with their reason.
    """
    from judgekit.cli.stability_tables import made
    from judgekit.data import load_records
    from judgekit.judging.api import specs_for
    from judgekit.stability.make import make_study
    from judgekit.stability.study import load_study
    from judgekit.stability.variants import KINDS

    no_samples(given)
    options, sampling = options_from(given)
    records = load_records(data, card=card, limit=limit)
    writer = specs_for([model], sampling, api_base, endpoint)[0]
    if plan:
        n = len(records) * len(kinds or KINDS)
        shown = {"calls": n, "calls_max": n * tries, "questions": len(records)}
        click.echo(
            json.dumps(shown) if as_json else f"{n} calls, at most {n * tries} where rewordings are not distinct"
        )
        return 0
    spent = make_study(
        records,
        writer,
        out,
        kinds=kinds or KINDS,
        tries=tries,
        alike=alike,
        ner=None if ner == "none" else ner,
        rules=rules,
        options=options,
    )
    return show(made(load_study(out)), spent, as_json, f"judgekit stability verify {out}")


@stability.command()
@click.argument("study", metavar="STUDY", type=STUDY)
@click.option(
    "--nli",
    "models",
    multiple=True,
    metavar="NAME",
    help="An NLI checkpoint, by name or folder; may be repeated. 'rules' is a weak baseline.",
)
@click.option("--k", type=click.IntRange(0), default=0, help="How many must agree.  [default: a majority]")
@click.option(
    "--entail",
    type=Finite(0, 1, min_open=True),
    default=0.85,
    show_default=True,
    help="Least entailment both ways.",
)
@click.option(
    "--contradict",
    type=Finite(0, 1, min_open=True),
    default=0.15,
    show_default=True,
    help="Contradiction stays under it.",
)
@click.option("--labels", default="", metavar="A/B/C", help="Order of a checkpoint's outputs, where it names none.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or mps.")
@click.option(
    "--model", "judges", multiple=True, metavar="M", help="An LLM judge that reads each pair; two in the paper."
)
@click.option(
    "--picture", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Draw the threshold sweep."
)
@running_options
def verify(
    study: Path, models: tuple[str, ...], k: int, entail: float, contradict: float, labels: str, device: str, judges: tuple[str, ...],
    picture: Path | None, plan: bool, as_json: bool, api_base: str | None, endpoint: str | None, **given: Any,
) -> int:  # fmt: skip
    """Keep the rewordings that mean the same: entailment both ways by K of M models, and what LLM judges say of them.

    The sweep shows what other thresholds would accept, against the judges' YES and NO.
    """
    from judgekit.cli.stability_tables import verified
    from judgekit.draw.paper import save
    from judgekit.judging.api import specs_for
    from judgekit.metrics.nli import BASELINE, named
    from judgekit.stability.pictures import sweep_figure
    from judgekit.stability.study import load_study
    from judgekit.stability.verify import sweep, verify_study

    no_samples(given)
    options, sampling = options_from(given)
    found = load_study(study)
    if plan:
        n = len(found.candidates())
        shown = {"pairs": n, "calls_max": n * len(judges)}
        click.echo(
            json.dumps(shown)
            if as_json
            else f"{n} pairs for {len(models)} models, at most {n * len(judges)} calls to judges"
        )
        return 0
    if {named(name) for name in models} - {BASELINE}:
        from judgekit.metrics.models import use_device

        use_device(device)
    specs = specs_for(judges, sampling, api_base, endpoint)
    spent = verify_study(
        study, models, specs, k=k, entail=entail, contradict=contradict, labels=labels, options=options
    )
    found = load_study(study)
    result = verified(found)
    if picture is not None:
        save(sweep_figure(sweep(found), result.signature), picture)
    return show(result, spent, as_json, f"judgekit stability audit {study} --out sheet.csv")


@stability.command()
@click.argument("study", metavar="STUDY", type=STUDY)
@click.option(
    "--round",
    "stage",
    type=click.IntRange(1, 2),
    default=1,
    show_default=True,
    help="2 offers only what the judges rejected.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the sheet: .csv, or .json for Label Studio.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Decides the order; kept in the study.")
@click.option(
    "--import",
    "filled",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Take a filled sheet.",
)
@click.option("--expert", metavar="NAME", help="Whose verdicts these are.")
@click.option("--picture", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Draw the funnel.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def audit(
    study: Path,
    stage: int,
    out: Path | None,
    seed: int,
    filled: Path | None,
    expert: str | None,
    picture: Path | None,
    as_json: bool,
) -> int:
    """Write a blinded sheet for the clinician, take it back, and show the funnel.

    A sheet holds item, original and variant in a random order: no kind, no probability, no verdict of a judge. Fill the column
    `preserved` with yes or no. Without --out or --import only the funnel is shown.
    """
    from judgekit.cli.stability_tables import audited
    from judgekit.draw.paper import save
    from judgekit.errors import UsageError
    from judgekit.stability.audit import import_sheet, make_sheet, write_sheet
    from judgekit.stability.pictures import funnel_figure
    from judgekit.stability.study import load_study

    if out is not None and filled is not None:
        raise UsageError("either write a sheet or take one back", mend="--out FILE, or --import FILE --expert NAME")
    extra: dict[str, Any] = {}
    if out is not None:
        sheet = make_sheet(study, stage, seed=seed)
        write_sheet(sheet, out)
        extra["sheet"] = {"file": str(out), "round": stage, "seed": seed, "items": len(sheet["items"])}
        click.echo(f"{len(sheet['items'])} items in {out}, round {stage}, order by seed {seed}", err=True)
    if filled is not None:
        if expert is None:
            raise UsageError("whose verdicts are these?", field="expert", mend="--expert NAME; a pseudonym will do")
        extra["imported"] = counts = import_sheet(study, filled, expert, stage)
        click.echo(
            f"{expert}: {counts['yes']} yes, {counts['no']} no, {counts['blank']} blank of {counts['offered']}",
            err=True,
        )
    found = load_study(study)
    result = audited(found)
    if picture is not None:
        save(funnel_figure(found.funnel(), result.signature), picture)
    click.echo(
        json.dumps({**result.to_json(), **extra}, ensure_ascii=False, allow_nan=False) if as_json else result.text()
    )
    return 0
