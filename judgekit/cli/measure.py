"""`judgekit measure`: run local metrics over records."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import click

__all__ = ["measure"]


@click.command()
@click.argument("data", metavar="DATA", type=click.Path(path_type=Path))
@click.option(
    "--metric", "names", multiple=True, required=True, metavar="M",
    help="A metric with its options, as 'entity_f1(match=exact)'; may be repeated (`judgekit metric list`).",
)  # fmt: skip
@click.option("--card", metavar="CARD", help="Read DATA through a data set card.")
@click.option("--dataset", metavar="NAME", help="The data set's name in the run.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N records.")
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), metavar="RUN",
    help="The run's folder.  [default: runs/ and the data's name]",
)  # fmt: skip
@click.option(
    "--device",
    default="auto",
    show_default=True,
    type=click.Choice(["auto", "cpu", "cuda", "mps"]),
    help="Where models run.",
)
@click.option(
    "--workers", type=click.IntRange(1), default=1, show_default=True, metavar="N",
    help="Processes that measure; more than one need the package ray. The values are the same.",
)  # fmt: skip
@click.option("--ray", metavar="ADDRESS", help="A running Ray cluster for the workers.  [default: one is started here]")
@click.option("--ablation", is_flag=True, help="med_syn_f1 four times: plain, synonyms, lemmas, both.")
@click.option("--by", metavar="FIELD", help="Also a mean for each value of a field, as model or cluster.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def measure(
    data: Path,
    names: tuple[str, ...],
    card: str | None,
    dataset: str | None,
    limit: int | None,
    out: Path | None,
    device: str,
    workers: int,
    ray: str | None,
    ablation: bool,
    by: str | None,
    as_json: bool,
) -> int:
    """Measure the records of DATA with local metrics: no key, no network.

    Everything is kept in a run, and the same command again measures only what is missing. A value is a number, or none with the
    reason; means are over what has a value, and say over how many.
    """
    from judgekit.data import load_records
    from judgekit.errors import MissingDependency, UsageError
    from judgekit.measuring.measure import run_metrics
    from judgekit.metrics.base import parse_metric
    from judgekit.metrics.med_syn_f1 import MedSynF1
    from judgekit.metrics.med_syn_f1 import ablation as four

    metrics = [parse_metric(name) for name in names]
    if ablation:
        wide = [
            row for metric in metrics for row in (four(metric).values() if isinstance(metric, MedSynF1) else [metric])
        ]
        if len(wide) == len(metrics):
            raise UsageError(
                "--ablation has no med_syn_f1 to take apart", field="ablation", mend="add --metric med_syn_f1"
            )
        metrics = wide
    metrics = list({metric.notation: metric for metric in metrics}.values())
    if device != "auto":
        from judgekit.metrics.models import use_device

        use_device(device)
    records = load_records(data, card=card, dataset=dataset)
    whole = list(records)
    if limit is not None:
        records = records[:limit]
    folder = out if out is not None else Path("runs") / records.name
    groups = {record.id: _field(record, by) for record in records} if by else {}
    questions = {record.id: record.cluster_id for record in records}
    if by and all(group is None for group in groups.values()):
        raise UsageError(f"no record has {by!r}", field="by", mend="a key of the records' meta or inputs, or cluster")
    able, lacking = [], []
    for metric in metrics:  # a metric that lacks a package or a model does not keep the others from being measured
        try:
            able.append((metric, metric.signature)[0])
        except MissingDependency as error:
            lacking.append((metric.notation, error))
    if not able:
        raise lacking[0][1]
    metrics = able
    try:
        tallies = run_metrics(records, metrics, folder, keep=whole, workers=workers, ray=ray)
    except KeyboardInterrupt:
        click.echo(f"stopped; what was measured is in {folder}, and the same command goes on from there", err=True)
        raise
    rows = [_summary(tally, groups, questions) for tally in tallies]
    notes = []
    same = sum((record.response or "").strip() == record.reference.strip() for record in records if record.reference)
    if same:
        notes.append(
            f"{same} of {len(records)} responses are their reference word for word: they raise the means and say nothing"
        )
        click.echo(f"note: {notes[0]}", err=True)
    if as_json:
        left = [{"metric": name, **why.to_dict()} for name, why in lacking]
        answer: dict[str, Any] = {
            "run": str(folder),
            "dataset": records.name,
            "records": len(records),
            "metrics": rows,
            "notes": notes,
        }
        answer |= {"left_out": left} if left else {}
        click.echo(json.dumps(answer, ensure_ascii=False, allow_nan=False))
    else:
        _show(rows, len(records), folder, by)
    for name, why in lacking:
        click.echo(f"judgekit: not measured: {name}: {why}", err=True)
    return 1 if lacking else 0


def _field(record: Any, name: str) -> str | None:
    for place in (record.meta, record.inputs):
        if name in place:
            return None if place[name] is None else str(place[name])
    return record.cluster_id if name == "cluster" else None


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _summary(tally: Any, groups: dict[str, str | None], questions: dict[str, str]) -> dict[str, Any]:
    values = sorted(tally.values.values())
    row: dict[str, Any] = {
        "metric": tally.metric.notation,
        "signature": tally.signature,
        "measured": len(values),
        "without_value": tally.counts,
        "reused": tally.reused,
        "mean": _mean(values),
        "min": values[0] if values else None,
        "median": (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2 if values else None,
        "max": values[-1] if values else None,
    }
    if groups:
        names = sorted({group for group in groups.values() if group is not None})
        row["by"] = []
        for name in names:
            mine = [tally.values[ident] for ident, group in groups.items() if group == name and ident in tally.values]
            row["by"].append(
                {
                    "value": name,
                    "records": sum(group == name for group in groups.values()),
                    "measured": len(mine),
                    "mean": _mean(mine),
                }
            )
        if tally.metric.name == "vb_score":
            row |= _rankings(tally, {ident: group for ident, group in groups.items() if group is not None}, questions)
    return row


def _rankings(tally: Any, groups: dict[str, str], questions: dict[str, str]) -> dict[str, Any]:
    """Groups by their means under each scheme, over the questions that all of them have a score for, and how many each answered of those asked."""
    from judgekit.metrics.vb_score import rankings, shared

    scored = {
        ident
        for ident in groups
        if ident in tally.components and all(value is not None for value in tally.components[ident].values())
    }
    common, same = shared([(group, questions[ident], ident in scored) for ident, group in groups.items()])
    parts = [(groups[ident], tally.components[ident]) for ident in sorted(scored) if questions[ident] in common]
    asked, answered = Counter(groups.values()), Counter(groups[ident] for ident in scored)
    return {
        "rankings": {
            scheme: [
                {"value": name, "mean": mean, "measured": n, "answered": answered[name], "asked": asked[name]}
                for name, mean, n in table
            ]
            for scheme, table in rankings(parts).items()
        },
        "ranked_over": {"questions": len(common), "all": same},
    }


def _show(rows: list[dict[str, Any]], n: int, folder: Path, by: str | None) -> None:
    def number(value: float | None) -> str:
        return "-" if value is None else f"{value:.3f}"

    for row in rows:
        click.echo(row["metric"])
        click.echo(
            f"  {row['measured']} of {n} records measured; mean {number(row['mean'])}, median {number(row['median'])}, "
            f"from {number(row['min'])} to {number(row['max'])}"
        )
        for reason, count in list(row["without_value"].items())[:6]:
            click.echo(f"  {count} without a value: {reason}")
        for group in row.get("by", ()):
            click.echo(
                f"    {by} {group['value']}: mean {number(group['mean'])} over {group['measured']} of {group['records']}"
            )
        over = row.get("ranked_over", {"all": True, "questions": 0})
        if not over["all"]:
            same = f"the {over['questions']} questions that all have a score for" if over["questions"] else "nothing"
            click.echo(f"    their scores are over different questions; ranked over {same}")
        for scheme, table in row.get("rankings", {}).items():
            if table:
                shown = (f"{item['value']} {item['mean']:.3f} ({item['answered']}/{item['asked']})" for item in table)
                click.echo(f"    weights={scheme}: " + " > ".join(shown))
        click.echo(f"  {row['signature']}")
    click.echo(f"run: {folder}")
