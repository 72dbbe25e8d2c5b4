"""Writes docs/help.md from the commands themselves: `make docs`. A test fails where the file has drifted.

python docs/make_help.py [--check]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from judgekit.cli.app import cli

PAGE = Path(__file__).with_name("help.md")
WIDTH = 100
HEAD = """# Every command and option

Written by `make docs` from the commands themselves; do not edit it by hand.

Exit codes: 0 done, 1 the input is wrong, 2 usage, 3 finished with unscored judgements, 4 stopped at the budget, 5 provider or
authentication, 70 a fault of judgekit's own, 130 interrupted.
"""


def sections(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[str]:
    """One section a command, parents first, in the order in which --help lists them."""
    # make_context, not Context: it brings the settings that the command declares, -h among them.
    context = command.make_context(
        name, [], parent=parent, resilient_parsing=True, terminal_width=WIDTH, max_content_width=WIDTH
    )
    depth = "#" * min(2 + len(context.command_path.split()) - 1, 4)
    help_text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    yield f"{depth} {context.command_path}\n\n```text\n{help_text}\n```\n"
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            if found is not None and not found.hidden:
                yield from sections(found, child, context)


def page() -> str:
    """The whole page, as it should be."""
    return "\n".join([HEAD, *sections(cli, "judgekit")])


def main() -> int:
    text = page()
    if "--check" in sys.argv[1:]:
        return int(not PAGE.is_file() or PAGE.read_text("utf-8") != text)
    PAGE.write_text(text, "utf-8")
    print(f"wrote {PAGE.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
