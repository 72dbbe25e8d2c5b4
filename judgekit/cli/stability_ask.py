"""`judgekit stability ask` and `score`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from judgekit.cli.judge import options_from, running_options

__all__ = ["ask", "score"]


@click.command()
@click.argument("study", metavar="STUDY", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--model",
    "models",
    multiple=True,
    required=True,
    metavar="M",
    help="hf/FOLDER, local/NAME, or what litellm calls it; may be repeated.",
)
@click.option(
    "--dtype",
    type=click.Choice(["auto", "float32", "bfloat16", "float16", "nf4"]),
    default="auto",
    show_default=True,
    help="Precision of hf/ models.",
)
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or mps, for hf/ models.")
@click.option("--choice", is_flag=True, help="Let a local/ model choose by the rubric too, without probabilities.")
@click.option("--no-logprobs", is_flag=True, help="Do not ask providers for log-probabilities.")
@running_options
def ask(
    study: Path, models: tuple[str, ...], dtype: str, device: str, choice: bool, no_logprobs: bool, plan: bool, as_json: bool,
    api_base: str | None, endpoint: str | None, **given: Any,
) -> int:  # fmt: skip
    """Let models answer every question and every verified rewording of it.

    hf/ and local/ models answer by the next-token probabilities of the options; any other by a structured choice, with the provider's
    log-probabilities where it gives them. Without a probability the confidence is not defined, and says so.
    """
    from judgekit.cli.stability_common import no_samples, show
    from judgekit.cli.stability_tables import asked
    from judgekit.judging.api import specs_for
    from judgekit.stability.ask import ask_by_choice, ask_by_probability, questions_of, stored_answers
    from judgekit.stability.study import Spent, load_study

    no_samples(given)
    options, sampling = options_from(given)
    n = len(questions_of(load_study(study)))
    if plan:
        click.echo(
            json.dumps({"questions": n, "calls": n * len(models)})
            if as_json
            else f"{n} questions for each of {len(models)} models"
        )
        return 0
    total = Spent(run=str(study))
    for model in models:
        if model.startswith("hf/") or (model.startswith("local/") and not choice):
            if model.startswith("hf/"):
                from judgekit.metrics.models import use_device

                use_device(device)
            spent = ask_by_probability(study, model, dtype=dtype)
        else:
            spec = specs_for([model], sampling, api_base, endpoint)[0]
            spent = ask_by_choice(study, spec, options=options, logprobs=not no_logprobs)
        total.calls, total.reused = total.calls + spent.calls, total.reused + spent.reused
        total.cost = None if total.cost is None or spent.cost is None else total.cost + spent.cost
        total.stopped, total.error = total.stopped or spent.stopped, total.error or spent.error
        if total.ended_early():
            break
    return show(asked(stored_answers(study)), total, as_json, f"judgekit stability score {study}")


@click.command()
@click.argument("study", metavar="STUDY", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--draw",
    type=click.IntRange(1),
    metavar="N",
    help="Variants at which worst-case instability is compared.  [default: the fewest]",
)
@click.option(
    "--replicates",
    type=click.IntRange(0),
    default=2000,
    show_default=True,
    help="Bootstrap resamples of questions; 0: none.",
)
@click.option("--permutations", type=click.IntRange(1), default=100_000, show_default=True, help="Of the paired tests.")
@click.option("--seed", default=0, show_default=True, help="Of resamples and permutations.")
@click.option("--questions", "by_question", is_flag=True, help="Print every question too.")
@click.option(
    "--pictures",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Draw funnel, sweep, kinds and confidence.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def score(
    study: Path,
    draw: int | None,
    replicates: int,
    permutations: int,
    seed: int,
    by_question: bool,
    pictures: Path | None,
    as_json: bool,
) -> int:
    """MVS, confidence variation and worst-case instability of every model that was asked.

    By model, by kind of rewording and by question, with intervals that resample questions; models compared in pairs on the variants that
    both answered; confidence against accuracy.
    """
    from judgekit.cli.stability_tables import scored
    from judgekit.stability.scores import score_study

    found = score_study(study, draw=draw, replicates=replicates, permutations=permutations, seed=seed)
    if pictures is not None:
        draw_all(study, found, pictures)
    result = scored(found, by_question)
    click.echo(json.dumps(found.to_dict(), ensure_ascii=False, allow_nan=False) if as_json else result.text())
    return 0


def draw_all(study: Path, found: Any, folder: Path) -> None:
    """Every picture that there is something to draw for; on stderr what there is none for."""
    from judgekit.draw.paper import save
    from judgekit.errors import StatisticsError
    from judgekit.stability import pictures
    from judgekit.stability.study import load_study
    from judgekit.stability.verify import sweep

    state = load_study(study)
    folder.mkdir(parents=True, exist_ok=True)
    for name, make, rows in (
        ("funnel", pictures.funnel_figure, state.funnel()),
        ("sweep", pictures.sweep_figure, sweep(state)),
        ("kinds", pictures.kinds_figure, found.kinds),
        ("confidence", pictures.confidence_figure, found.confidence),
    ):
        try:
            save(make(rows, found.signature), folder / f"{name}.svg")
        except StatisticsError as error:
            click.echo(f"no picture of {name}: {error.message}", err=True)
