"""``judgekit runs``: what runs there are, who did what in them, whether they are sound; and judges that were mistyped."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import click

from judgekit import __version__
from judgekit.errors import InputError, JudgekitError, UsageError

__all__ = ["runs"]

JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
RUN = click.argument("run", type=click.Path(path_type=Path))


@click.group()
def runs() -> None:
    """List, log, check, repair and tidy runs."""


@runs.command("list")
@click.argument("folder", type=click.Path(path_type=Path), default="runs")
@JSON
def list_(folder: Path, as_json: bool) -> None:
    """The runs in FOLDER (by default runs/): what they hold, and the last command."""
    from judgekit.runs.reader import is_run

    if not folder.is_dir():
        raise InputError("there is no such folder", file=str(folder), mend="name the folder that holds the runs")
    places = [place for place in [folder, *sorted(folder.iterdir())] if is_run(place)]
    rows = [_about(place) for place in places]
    if as_json:
        click.echo(json.dumps({"runs": rows}, ensure_ascii=False))
        return
    for row in rows:
        if "error" in row:
            click.echo(f"{row['run']}  {row['error']}")
            continue
        click.echo(
            f"{row['run']}  {row['records']} records of {', '.join(row['datasets']) or 'no data set'}; "
            f"{row['judgements']} judgements, {row['unscored']} of them unscored, by {', '.join(row['judges']) or 'nobody'}"
        )
        if row["last"]:
            click.echo(
                f"    {row['last']['started'][:19]}  {row['last']['outcome'] or 'no end'}  {row['last']['command']}"
            )
    if not rows:
        click.echo(f"no run lies in {folder}")


def _about(place: Path) -> dict[str, Any]:
    from judgekit.runs.model import SCORED
    from judgekit.runs.reader import open_run

    try:
        run = open_run(place)
        frame, records, commands = run.judgements, run.records, run.commands
    except JudgekitError as error:
        return {"run": str(place), "error": str(error)}
    last = commands.to_dict("records")[-1] if len(commands) else None
    return {
        "run": str(place),
        "datasets": list(dict.fromkeys(records.dataset)),
        "records": len(records),
        "judgements": len(frame),
        "unscored": int((~frame.status.isin(SCORED)).sum()),
        "judges": list(dict.fromkeys(frame.judge)),
        "rubrics": list(dict.fromkeys(frame.rubric)),
        "last": last and {"started": last["started"], "outcome": last["outcome"], "command": shlex.join(last["argv"])},
    }


@runs.command()
@RUN
@JSON
def log(run: Path, as_json: bool) -> None:
    """Who did what: every command that wrote to RUN, by whom and where, with versions, fingerprints and addresses."""
    from judgekit.runs.reader import open_run

    rows = open_run(run).commands.to_dict("records")
    if as_json:
        body = [{"number": number, **row} for number, row in enumerate(rows, 1)]
        click.echo(json.dumps({"run": str(run), "commands": body}, ensure_ascii=False))
        return
    for number, row in enumerate(rows, 1):
        about = row["about"] or {}
        end = f"{row['outcome']} at {row['ended'][:19]}" if row["ended"] else "no end: it still runs, or was killed"
        who = f"{about.get('user') or 'nobody known'} on {about['host']}" if "host" in about else "by whom is not known"
        click.echo(f"{number}  {row['started'][:19]} UTC, {who}: {end}")
        click.echo(f"   {shlex.join(row['argv'])}")
        versions = ", ".join(f"{name} {version}" for name, version in (about.get("versions") or {}).items())
        click.echo(f"   judgekit {row['version']}{', ' if versions else ''}{versions}")
        for one in about.get("data") or ():
            place = f" of {one['file']}" if one["file"] else ""
            click.echo(f"   data    {one['name']}: {one['records']} records{place}")
        for one in about.get("rubrics") or ():
            click.echo(f"   rubric  {one['name']}  ask {str(one['ask'])[:12]}  score {str(one['score'])[:12]}")
        for one in about.get("judges") or ():
            click.echo(f"   judge   {one['judge']}  at {one['address'] or 'this machine'}")
        for one in about.get("metrics") or ():
            click.echo(f"   metric  {one}")
    if not rows:
        click.echo("no command has written to this run")


@runs.command()
@RUN
@click.option("--repair", is_flag=True, help="Keep every sound row; the damaged file stays as run.sqlite.damaged.")
@JSON
def check(run: Path, repair: bool, as_json: bool) -> int:
    """Read every row of RUN and say what is damaged, and what can be saved.

    \b
    Exit: 0 sound, or repaired; 1 something is wrong.
    """
    from judgekit.runs.check import check_run, repair_run

    found = repair_run(run) if repair else check_run(run)
    code = 0 if found.sound or found.saved_as else 1
    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False))
        return code
    for problem in found.problems[:50]:
        click.echo(problem)
    if len(found.problems) > 50:
        click.echo(f"... and {len(found.problems) - 50} more")
    if found.problems:
        click.echo("")
    for table, n in found.tables.items():
        bad = "".join(
            f", {n[key]} {word}"
            for key, word in (("damaged", "damaged"), ("without_record", "without their record"))
            if n[key]
        )
        if n["good"] or bad:
            click.echo(f"{table:12}  {n['good']:,} sound{bad}")
    if found.sound:
        click.echo("nothing is wrong")
    elif found.saved_as:
        click.echo(f"repaired: the sound rows are the run now; the damaged file is {found.saved_as}")
        click.echo("run the same commands again for what is lacking; kept calls are not asked again")
    else:
        click.echo(f"next: judgekit runs check {shlex.quote(str(run))} --repair    keeps the sound rows")
    return code


@runs.command()
@RUN
@click.option(
    "--judge",
    "judges",
    multiple=True,
    required=True,
    metavar="M",
    help="The judge as the run names it; may be repeated.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@JSON
def drop(run: Path, judges: tuple[str, ...], yes: bool, as_json: bool) -> int:
    """Take a judge's judgements out of RUN, such as one that was mistyped.

    Its calls stay, and with them what it cost and the log.
    """
    from judgekit.runs.model import SCORED
    from judgekit.runs.reader import open_run
    from judgekit.runs.store import RunStore

    frame = open_run(run).select(judge=judges).judgements
    counts = {
        judge: (int((frame.judge == judge).sum()), int(((frame.judge == judge) & frame.status.isin(SCORED)).sum()))
        for judge in dict.fromkeys(judges)
    }
    if not yes:
        if as_json:
            raise UsageError("--json asks nothing", mend="add --yes")
        for judge, (n, scored) in counts.items():
            click.echo(f"{judge}: {n} judgements, {scored} of them scored")
        if not click.confirm("Take them out of the run?"):
            click.echo("nothing was changed")
            return 1
    with RunStore(run) as store:
        words = ["judgekit", "runs", "drop", str(run), *(word for judge in counts for word in ("--judge", judge))]
        number = store.begin_command(words, __version__, {"dropped": {judge: n for judge, (n, _) in counts.items()}})
        with store.transaction():
            gone = {judge: store.drop_judge(judge) for judge in counts}
        store.end_command(number, "done")
    if as_json:
        click.echo(json.dumps({"run": str(run), "dropped": gone}, ensure_ascii=False))
        return 0
    for judge, n in gone.items():
        click.echo(f"{judge}: {n} judgements taken out; its calls stay")
    return 0
