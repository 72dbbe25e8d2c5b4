"""Writes docs/rubrics/: one page a shipped rubric, and an index, from the files themselves. A test fails where they have drifted.

python docs/make_rubrics.py [--check]
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from judgekit.registry import library_files
from judgekit.rubric import CompiledRubric, load_rubric
from judgekit.rubric.fields import BooleanField, ChoiceField, Field, ListField, NumberField, ScaleField, TextField
from judgekit.rubric.lint import static_tokens
from judgekit.rubric.sample import sample_record

FOLDER = Path(__file__).with_name("rubrics")
NOTE = "Written by `python docs/make_rubrics.py` from the files in `rubrics/`; do not edit it by hand.\n"


def own_rubrics() -> dict[str, CompiledRubric]:
    """The rubrics of this repository, not those of other installed packages."""
    here = Path(__file__).resolve().parents[1] / "rubrics"
    return {
        name: load_rubric(path)
        for name, path in sorted(library_files("rubrics", ".yaml").items())
        if path.parent == here
    }


def pages() -> dict[str, str]:
    """File name -> text, as it should be."""
    rubrics = own_rubrics()
    rows = [
        f"| [{name}]({name}.md) | {one.title} | {one.construct or ''} | {kinds(one)} | {source(one)} | {static_tokens(one)} |"
        for name, one in rubrics.items()
    ]
    index = [
        "# The rubrics that ship", "", NOTE,
        "How to write one of your own: [../rubrics.md](../rubrics.md). Tokens are those sent with every call besides the record.", "",
        "| rubric | what | construct | reply | source | tokens |", "|---|---|---|---|---|---|", *rows, "",
    ]  # fmt: skip
    return {"README.md": "\n".join(index), **{f"{name}.md": page(one) for name, one in rubrics.items()}}


def kinds(rubric: CompiledRubric) -> str:
    if rubric.output == "text":
        return "free text"
    return ", ".join(
        f"{field.name} ({type(field).__name__.removesuffix('Field').lower()})" for field in rubric.spec.verdict
    )


def source(rubric: CompiledRubric) -> str:
    return "; ".join(rubric.source[key] for key in ("paper", "note") if key in rubric.source)


def page(rubric: CompiledRubric) -> str:
    spec = rubric.spec
    out = [
        f"# {rubric.name}",
        "",
        f"{rubric.title}{'' if str(rubric.title).endswith('?') else '.'} Source: {source(rubric)}.",
        "",
        NOTE,
    ]
    facts = [
        ("construct", rubric.construct),
        ("required inputs", ", ".join(spec.required)),
        ("optional inputs", ", ".join(spec.optional)),
    ]
    if spec.criteria is not None:
        facts.append(("criteria", f"from {', then '.join(spec.criteria.sources)}; asked {spec.criteria.ask}"))
        facts.append(
            ("of the record's criteria", ", ".join(f"{key} {one.written}" for key, one in spec.criteria.where.items()))
        )
    if spec.score is not None:
        facts.append(("score", f"{spec.score.kind} of {', '.join(spec.score.fields)}"))
    facts.append(("complete when", rubric.complete_when))
    facts.append(
        (
            "a blank response",
            None if spec.when_response_empty is None else f"raw {spec.when_response_empty}, without a call",
        )
    )
    facts.append(("sampling", ", ".join(f"{key} {value}" for key, value in spec.sampling.items())))
    out += [f"- {name}: {value}" for name, value in facts if value]
    if spec.verdict:
        out += ["", "## The reply", ""]
        for field in spec.verdict:
            out += described(field)
    ask = rubric.asks(sample_record(rubric))[0]
    out += ["", "## What is sent, for a sample record", ""]
    for message in ask.messages:
        out += [f"**{message['role']}**", "", "````text", message["content"], "````", ""]
    return "\n".join(out)


def described(field: Field) -> list[str]:
    head = f"- **{field.name}**"
    about = f" {field.describe}" if field.describe else ""
    if isinstance(field, ScaleField):
        return [
            f"{head}, a scale.{about}",
            *(f"  - {level.value} ({level.label}): {level.anchor}" for level in field.levels),
        ]
    if isinstance(field, BooleanField):
        return [f"{head}, true or false: {field.asked}{about}"]
    if isinstance(field, NumberField):
        return [f"{head}, a number from {field.low} to {field.high}.{about}"]
    if isinstance(field, TextField):
        limit = f" (about {field.max_chars} characters at most)" if field.max_chars else ""
        return [f"{head}, a text{limit}: {field.asked}{about}"]
    if isinstance(field, ChoiceField):
        if field.sets is not None:
            lines = [f"{head}, a choice that depends on `{field.by}`.{about}"]
            for value, labels in field.sets.items():
                lines.append(f"  - {value}")
                lines += [f"    - {label}: {text}" for label, text in labels.items()]
            return lines
        if field.options is None:
            return [f"{head}, one of the record's options.{about}"]
        return [f"{head}, a choice.{about}", *(f"  - {label}: {text}" for label, text in field.options.items())]
    assert isinstance(field, ListField)
    return [
        f"{head}, a list of {field.low} to {field.high} items.{about}",
        *("  " + line for item in field.of for line in described(item)),
    ]


def main() -> int:
    wanted = pages()
    there = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.md")} if FOLDER.is_dir() else {}
    if "--check" in sys.argv[1:]:
        return int(there != wanted)
    FOLDER.mkdir(exist_ok=True)
    for name in there.keys() - wanted.keys():
        (FOLDER / name).unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, "utf-8")
    print(f"wrote {len(wanted)} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
