"""The command line: names only, so that ``--help`` stays fast; each group's module loads when it is called."""

from __future__ import annotations

import errno
import io
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from judgekit import __version__
from judgekit.errors import InputError, JudgekitError
from judgekit.terminal import printed

# The order of --help; analyses and commands of other packages that it does not name come last.
ORDER = (
    "demo", "rubric", "judge", "answer", "run", "measure", "import", "triage", "metric", "agree", "compare", "strata", "reasons",
    "failures", "cost", "screen", "stability", "report", "runs", "data", "models", "doctor",
)  # fmt: skip
# command -> (module:attribute, one line for --help). A module holds one command group; analyses need no line here.
COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("judgekit.cli.demo:demo", "The main job on the bundled examples, with the local judge."),
    "rubric": ("judgekit.cli.rubric:rubric", "Write, lint, render and test rubric files."),
    "judge": ("judgekit.cli.judge:judge", "Run judges over records."),
    "answer": ("judgekit.cli.answer:answer", "Let a model write the answers that are then judged."),
    "run": ("judgekit.cli.run:run", "Run a whole study from one file."),
    "measure": ("judgekit.cli.measure:measure", "Run local metrics over records."),
    "import": ("judgekit.cli.import_:import_", "Bring in verdicts that were recorded elsewhere."),
    "metric": ("judgekit.cli.metric:metric", "List, show and explain local metrics."),
    "reasons": ("judgekit.cli.reasons:reasons", "Do judge and clinician give the same reasons?"),
    "stability": ("judgekit.cli.stability:stability", "Does it change when only the words do?"),
    "runs": ("judgekit.cli.runs:runs", "List, log, check, repair and tidy runs."),
    "data": ("judgekit.cli.data:data", "List, fetch, prepare and validate data."),
    "models": ("judgekit.cli.models:models", "Local models: list and fetch."),
    "doctor": ("judgekit.cli.doctor:doctor", "What is installed, what is missing, how to get it."),
}


class LazyGroup(click.Group):
    """A group whose subcommands are imported when they are called, never for ``--help``.

    Its commands are those of `COMMANDS`, one for every analysis, and those that other packages bring through the entry point groups
    ``judgekit.analyses`` and ``judgekit.commands``.
    """

    def all(self) -> dict[str, tuple[str, str]]:
        """Every command: where it is and its line for --help, in the order of --help."""
        from judgekit.analysis.index import analyses, plugins

        found = dict(COMMANDS)
        for name, (_, line) in analyses().items():
            found.setdefault(name, ("", line))
        for name, (where, line) in plugins("judgekit.commands").items():
            found.setdefault(name, (where, line))
        rank = {name: place for place, name in enumerate(ORDER)}
        return dict(sorted(found.items(), key=lambda item: rank.get(item[0], len(rank))))

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.all())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        known = self.all()
        if cmd_name not in known:
            import difflib

            near = difflib.get_close_matches(cmd_name, known, 1)
            if near:
                ctx.fail(f"No such command {cmd_name!r}: did you mean {near[0]!r}?")
            return None
        where = known[cmd_name][0]
        if not where:
            from judgekit.cli.analysis import analysis_command

            return analysis_command(cmd_name)
        from judgekit.analysis.index import load

        command: click.Command = load(cmd_name, where)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self.all().items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="judgekit")
def cli() -> None:
    """Judge medical answers with rubrics, and measure how far the judge can be trusted.

    \b
    First steps:
      judgekit demo                          see the main job done, without a key
      judgekit rubric new my-rubric          a commented rubric file to start from
      judgekit judge DATA --rubric my-rubric.yaml --model M --limit 3
      judgekit triage runs/DATA              how many answers must a clinician still read?
    DATA is a file of answers, or a name that `judgekit data list` shows.
    """


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code (`judgekit --help`, docs/runs.md)."""
    args = list(sys.argv[1:] if argv is None else argv)
    for name in ("stdout", "stderr"):
        if (
            getattr(sys, name) is None
        ):  # started with it closed (`2>&-`): what it says goes nowhere, and the work goes on
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - for the life of the process
    for stream in (sys.stdout, sys.stderr):
        # A file name that is not UTF-8 inside a message must not become a fault of its own. Inside JSON, the escape of a
        # lone surrogate is a valid one.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    with printed():
        return _main(args, "--json" in args)


def _main(args: list[str], as_json: bool) -> int:
    try:
        result = cli.main(args=args, prog_name="judgekit", standalone_mode=False)
        return result if isinstance(result, int) and not isinstance(result, bool) else 0
    except JudgekitError as error:
        _report(error.to_dict(), "\n".join(map(str, (error, *error.also))), as_json)
        return error.exit_code
    except click.exceptions.Abort:
        _report({"kind": "interrupted", "message": "interrupted"}, "interrupted", as_json)
        return 130
    except KeyboardInterrupt:
        _report({"kind": "interrupted", "message": "interrupted"}, "interrupted", as_json)
        return 130
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 2
    except click.ClickException as error:
        usage = error.ctx.get_usage() + "\n" if isinstance(error, click.UsageError) and error.ctx else ""
        _report({"kind": "usage", "message": error.format_message()}, usage + error.format_message(), as_json)
        return 2
    except SystemExit as error:
        # click makes exit 1, our "the input is wrong", of a reader that went away (`| head`); it then wraps stdout.
        if type(sys.stdout).__name__.endswith("PacifyFlushWrapper"):
            return 0
        return error.code if isinstance(error.code, int) else 1
    except OSError as error:
        # A file that is not there or not ours to read is the user's to mend; so is a full disk.
        if error.filename is None and error.errno != errno.ENOSPC:
            return _fault(error, as_json)
        place = None if error.filename is None else os.fsdecode(error.filename)
        problem = InputError(error.strerror or type(error).__name__, file=place)
        _report(problem.to_dict(), str(problem), as_json)
        return problem.exit_code
    except MemoryError:
        problem = InputError(
            "there is not enough memory for this", mend="name less data (--limit), or run it on a larger machine"
        )
        _report(problem.to_dict(), str(problem), as_json)
        return problem.exit_code
    except Exception as error:
        if isinstance(error, ValueError) and "null byte" in str(error):
            problem = InputError("a file's name holds a null byte", mend="write the name without it")
            _report(problem.to_dict(), str(problem), as_json)
            return problem.exit_code
        return _fault(error, as_json)


def _fault(error: Exception, as_json: bool) -> int:
    import traceback

    traceback.print_exc()
    message = f"{type(error).__name__}: {error}"
    _report({"kind": "internal", "message": message}, f"a fault of judgekit's own: {message}", as_json)
    return 70


def _report(error: dict[str, Any], text: str, as_json: bool) -> None:
    if as_json:
        full = {key: error.get(key) for key in ("kind", "file", "line", "field", "message", "hint", "mend")}
        try:
            click.echo(json.dumps({"error": full}, ensure_ascii=False))
            return
        except OSError:  # stdout is what failed (a full disk, a closed pipe): it may not fail again when Python ends
            sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for the life of the process
    click.echo(f"judgekit: {text}", err=True)


def entry() -> None:
    """The console script."""
    sys.exit(main())
