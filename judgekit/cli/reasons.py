"""`judgekit reasons`: do judge and clinician give the same reasons?"""

from __future__ import annotations

import click

__all__ = ["reasons"]


class _Show(click.Group):
    """`make` is a command of its own; `show` is the analysis."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return ["make", "show"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "show":
            from judgekit.cli.analysis import analysis_command

            return analysis_command("reasons", "show")
        return super().get_command(ctx, cmd_name)


@click.group(cls=_Show)
def reasons() -> None:
    """Do judge and clinician give the same reasons?

    1. reasons make RUN --out pairs.jsonl: pairs of a judge's and a clinician's reasons.
    2. judge pairs.jsonl --rubric reason-alignment --rubric failure-mode --model M --out RUN2.
    3. reasons show RUN2: alignment, recall of clinicians' concerns, failure modes.
    """


@reasons.command()
@click.argument("run", metavar="RUN")
@click.option("--out", required=True, metavar="FILE", help="Where to write the pairs (JSONL).")
@click.option("--rubric", multiple=True, help="Only this rubric.")
@click.option("--judge", multiple=True, help="Only this judge.")
@click.option("--rater", multiple=True, help="Only this clinician; by default each one apart.")
@click.option("--construct", default="completeness", show_default=True, help="Which labels.")
@click.option("--kinds", default="TP,TN,FP,FN", show_default=True, help="Kinds of pairs; failure-mode needs FP and FN.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def make(
    run: str, out: str, rubric: tuple[str, ...], judge: tuple[str, ...], rater: tuple[str, ...], construct: str, kinds: str,
    as_json: bool,
) -> int:  # fmt: skip
    """Write pairs of a judge's and a clinician's reasons, as records for the rubrics reason-alignment and failure-mode."""
    import json
    from collections import Counter
    from pathlib import Path

    from judgekit.analysis.reasons import make_pairs
    from judgekit.errors import InputError
    from judgekit.runs.reader import open_run

    wanted = [kind.strip().upper() for kind in kinds.split(",") if kind.strip()]
    pairs, left = make_pairs(
        open_run(run), rubrics=rubric, judges=judge, raters=rater, construct=construct, kinds=wanted
    )
    text = "".join(json.dumps(pair, ensure_ascii=False) + "\n" for pair in pairs)
    try:
        Path(out).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror})", file=out, mend="name another file with --out"
        ) from None
    counts = Counter(pair["meta"]["pair_kind"] for pair in pairs)
    if as_json:
        body = {"out": out, "pairs": len(pairs), "kinds": dict(counts), "left_out": left}
        click.echo(json.dumps(body, ensure_ascii=False))
        return 0
    click.echo(f"{len(pairs)} pairs in {out}: {', '.join(f'{counts.get(kind, 0)} {kind}' for kind in wanted)}")
    for what, number in left.items():
        click.echo(f"left out: {number} {what}")
    return 0
