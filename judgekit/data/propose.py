"""A card proposed for a file that nobody made for judgekit, with what was understood of its columns in words."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from judgekit.data.labels import describe, is_join, joined, raters
from judgekit.data.table import NO, YES, Table, decimal_point, is_missing, read_table, truth
from judgekit.errors import DataError
from judgekit.records import Record

__all__ = ["Proposal", "look_like_ratings", "outcome", "propose"]

_NAMES = {
    "id": ("id", "record_id", "item_id", "answer_id", "case_id", "case", "case_no", "case_number", "patient_case", "fall", "fall_nr", "fallnummer", "nr", "no", "number", "item", "row", "key"),
    "question": ("question", "frage", "asked", "prompt", "query", "stem", "pregunta", "vignette", "patient_question"),
    "response": ("response", "answer", "antwort", "reply", "bot_answer", "model_answer", "output", "completion", "generated_answer", "llm_answer", "reponse", "respuesta"),
    "reference": ("reference", "gold", "gold_answer", "ideal", "ideal_answer", "reference_answer", "true_answer", "referenz", "ground_truth"),
    "rater": ("rater", "annotator", "clinician", "doctor", "nurse", "reviewer", "coder", "physician", "expert", "rated_by", "completed_by", "rater_id", "arzt", "bewerter", "judge"),
    "model": ("model", "bot", "system", "llm", "chatbot", "modell"),
    "rationale": ("rationale", "comment", "comments", "notes", "note", "reason", "remarks", "bemerkung", "kommentar"),
}  # fmt: skip
_YES = ("complete", "vollständig", "ja", "y", "oui", "si", "sí", "ok")
_NO = ("incomplete", "unvollständig", "nein", "n", "non", "not complete")
_SEVERITIES = {
    "none": 1.0, "no omission": 1.0, "keine": 1.0, "mild": 0.75, "minor": 0.75, "leicht": 0.75, "moderate": 0.5, "mittel": 0.5,
    "severe": 0.25, "major": 0.25, "schwer": 0.25, "life-threatening": 0.0, "critical": 0.0, "lebensbedrohlich": 0.0,
}  # fmt: skip
_SCALES = ((1, 3), (1, 4), (1, 5), (0, 5), (1, 6), (1, 7), (0, 10), (1, 10), (0, 100))


@dataclass(frozen=True)
class Rating:
    """What a column of ratings holds: ``complete``, ``score`` or ``severity``, and how the card says it (YAML lines)."""

    kind: str
    said: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Proposal:
    """`card` is the YAML; `words` say, a sentence each, what was understood; `unsure` what a person should look at."""

    card: str
    words: tuple[str, ...]
    unsure: tuple[str, ...]


def propose(source: str | Path, ask: Callable[[str, str], str] | None = None) -> Proposal:
    """A card for a table whose columns may have any name.

    Parameters
    ----------
    source : a file that `read_table` reads.
    ask : called with a question and the answer that is taken without one, where a guess may be wrong; returns the answer.

    Raises
    ------
    DataError : the file cannot be read, or no column looks like the texts that were rated.
    """
    table = read_table(source)
    if not table.rows:
        raise DataError("the table has no rows", file=table.file, mend="name a table with rows")
    ask = ask or (lambda question, guess: guess)
    words: list[str] = []
    unsure: list[str] = []
    roles = _roles(table)
    for role in ("question", "response"):
        if role not in roles:
            guess = _longest(table, [name for name in table.columns if name not in roles.values()], role)
            guess = ask(f"Which column holds the {role}?", guess or "")
            if guess in table.columns:
                roles[role] = guess
                unsure.append(f"the column {guess!r} was taken for the {role} because of its texts, not its name")
    if "response" not in roles:
        raise DataError(
            "no column looks like answers",
            file=table.file,
            mend=f"name one of {', '.join(table.columns)} `response`, or write a card by hand",
        )
    ratings = {
        name: found
        for name in table.columns
        if name not in roles.values() and (found := _rating(_texts(table, name), len(table.rows))) is not None
    }
    order = ("complete", "score", "severity")
    kind = min((found.kind for found in ratings.values()), key=order.index, default=None)
    columns = [name for name, found in ratings.items() if found.kind == kind]
    main = (
        _rating([text for name in columns for text in _texts(table, name)], len(table.rows) * len(columns))
        if columns
        else None
    )
    wide = "rater" not in roles and len(columns) > 1 and main is not None
    if not wide and columns:
        columns, main = columns[:1], ratings[columns[0]]
    if "rater" in roles:
        people = sorted({str(row.get(roles["rater"])) for row in table.rows if not is_missing(row.get(roles["rater"]))})
        words.append(f"one rating a row, by {len(people)} raters ({', '.join(people[:6])}) in {roles['rater']!r}")
    elif wide:
        words.append(f"one answer a row, rated by {len(columns)} people in the columns {', '.join(map(repr, columns))}")
        unsure.append(
            f"{', '.join(map(repr, columns))} were taken for raters of one thing; if they are different questions, keep one"
        )
    for role in ("id", "question", "response", "reference", "model", "rationale"):
        if role in roles:
            words.append(f"{role}: the column {roles[role]!r}")
    body = _fields(table, roles, words, unsure)
    left = [name for name in table.columns if name not in roles.values() and name not in columns]
    meta = {**({"model": roles["model"]} if "model" in roles else {}), **{_key(name): name for name in left}}
    if meta:
        body.append("meta:")
        body += [f"  {key}: {_path(name)}" for key, name in meta.items()]
    if main is None:
        unsure.append(
            f"no column looks like ratings: {', '.join(left) or 'there is no other column'}; the card has no labels"
        )
    else:
        body += _labels(table, roles, columns, main, wide, ask, words, unsure)
        others = [name for name in ratings if name not in columns]
        if others:
            words.append(f"{', '.join(map(repr, others))} may be ratings too, and went to meta")
    stem = re.sub(r"[^a-z0-9]+", "-", table.name.lower()).strip("-") or "mine"
    head = [
        f"card: {stem}",
        f"title: {json.dumps(table.name, ensure_ascii=False)}",
        "licence: the file's own",
        "citation: none",
    ]
    return Proposal("\n".join([*head, *body]) + "\n", tuple(words), tuple(unsure))


def _plain(name: str) -> str:
    return re.sub(r"[^\w]+", "_", unicodedata.normalize("NFKC", name).casefold()).strip("_")


def _key(name: str) -> str:
    return json.dumps(name, ensure_ascii=False) if re.search(r"[^\w]", name) else name


def _path(name: str) -> str:
    """A column's name as a card's path: plain where it can be, else quoted for JMESPath, and for YAML."""
    if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        return name
    inner = json.dumps(name, ensure_ascii=False)
    return "'" + inner.replace("'", "''") + "'"


def _roles(table: Table) -> dict[str, str]:
    by = {_plain(name): name for name in reversed(table.columns)}
    found: dict[str, str] = {}
    for role, names in _NAMES.items():
        hit = next((by[name] for name in names if name in by and by[name] not in found.values()), None)
        if hit is not None:
            found[role] = hit
    return found


def _texts(table: Table, name: str) -> list[str]:
    return [str(row[name]) for row in table.rows if not is_missing(row.get(name))]


def _longest(table: Table, names: Sequence[str], role: str) -> str | None:
    """The column with the longest texts; for questions, of those that mostly end with a question mark."""
    texts = {name: _texts(table, name) for name in names}
    if role == "question":
        texts = {
            name: some
            for name, some in texts.items()
            if 2 * sum(text.rstrip().endswith("?") for text in some) > len(some)
        }
    lengths = {name: sum(map(len, some)) / len(some) for name, some in texts.items() if some}
    best = max(lengths, key=lambda name: lengths[name], default=None)
    return best if best is not None and (role == "question" or lengths[best] >= 30) else None


def _rating(texts: Sequence[str], rows: int) -> Rating | None:
    """How a column of few different values may be a rating; None where it is none."""
    plain = {text.strip().casefold() for text in texts}
    if not plain or len(plain) > 12 or (len(plain) == 1 and rows > 1 and not plain <= {*YES, *NO, *_YES, *_NO}):
        return None
    yes, no = ([word for word in sorted(plain) if word in words] for words in ((*YES, *_YES), (*NO, *_NO)))
    if set(yes) | set(no) == plain:
        told = f"complete: {_listed(yes) or 'never'}; incomplete: {_listed(no) or 'never'}"
        try:
            any(truth(word) for word in plain)
        except ValueError:
            return Rating(
                "complete",
                told,
                (f"yes: {json.dumps(yes, ensure_ascii=False)}", f"no: {json.dumps(no, ensure_ascii=False)}"),
            )
        return Rating("complete", told, ())
    if all(
        any(word == level or (word.startswith(level) and not word[len(level)].isalnum()) for level in _SEVERITIES)
        for word in plain
    ):
        levels = [level for level in _SEVERITIES if any(word.startswith(level) for word in plain)]
        table_ = {
            **({} if any(_SEVERITIES[level] == 1 for level in levels) else {"none": 1.0}),
            **{level: _SEVERITIES[level] for level in levels},
        }
        return Rating(
            "severity", f"severities {_listed(levels)}", (f"severities: {json.dumps(table_, ensure_ascii=False)}",)
        )
    try:
        numbers = [float(decimal_point(text)) for text in texts]
    except ValueError:
        return None
    low, high = min(numbers), max(numbers)
    if low >= 0 and high <= 1:
        return Rating("score", "a score from 0 to 1", ("min: 0", "max: 1"))
    scale = next((ends for ends in _SCALES if ends[0] <= low and high <= ends[1]), None)
    return (
        None
        if scale is None
        else Rating("score", f"a score from {scale[0]} to {scale[1]}", (f"min: {scale[0]}", f"max: {scale[1]}"))
    )


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words)


def _fields(table: Table, roles: dict[str, str], words: list[str], unsure: list[str]) -> list[str]:
    shown = {role: _path(roles[role]) for role in ("question", "response", "reference") if role in roles}
    ids = _texts(table, roles["id"]) if "id" in roles else []
    texts = (
        {
            id: {tuple(str(row.get(roles[role])) for role in shown) for row in table.rows if row.get(roles["id"]) == id}
            for id in set(ids)
        }
        if "id" in roles
        else {}
    )
    repeated = "rater" in roles
    if (
        len(ids) == len(table.rows)
        and all(len(some) == 1 for some in texts.values())
        and (repeated or len(set(ids)) == len(ids))
    ):
        id = _path(roles["id"])
    else:
        why = "there is no column of ids" if "id" not in roles else f"{roles['id']!r} does not tell the answers apart"
        unsure.append(f"{why}: an id is made from the texts")
        names = [json.dumps(roles[role], ensure_ascii=False) for role in ("question", "response") if role in roles]
        model = [json.dumps(roles["model"], ensure_ascii=False)] if "model" in roles else []
        inner = ", ".join(f"not_null({name}, ' ')" for name in [*names, *model])
        id = "\"digest(join('|', [" + inner.replace('"', '\\"') + ']))"'
    if repeated:
        words.append("rows of one id are ratings of one answer")
    return ["merge: true"] * repeated + [
        "fields:",
        f"  id: {id}",
        *(f"  {role}: {path}" for role, path in shown.items()),
    ]


def _labels(
    table: Table,
    roles: dict[str, str],
    columns: Sequence[str],
    main: Rating,
    wide: bool,
    ask: Callable[[str, str], str],
    words: list[str],
    unsure: list[str],
) -> list[str]:
    name = columns[0]
    path = "'@'" if wide else _path(name)
    out = ["labels:"]
    if wide:
        out += ["  raters:", *(f"    {_key(column)}: {_path(column)}" for column in columns)]
    elif "rater" in roles:
        out.append(f"  rater: {_path(roles['rater'])}")
    words.append(f"{', '.join(map(repr, columns))}: {main.said}")
    if main.kind == "complete":
        out.append("  complete: " + (f"{{path: {path}, {', '.join(main.lines)}}}" if main.lines else path))
    elif main.kind == "score":
        out.append(f"  score: {{path: {path}, {', '.join(main.lines)}}}")
        low, high = (float(line.partition(": ")[2]) for line in main.lines)
        guess = f">= {low + 0.75 * (high - low):g}"
        rule = ask(f"From which number on ({low:g} to {high:g}) is an answer complete?", guess)
        rule = f">= {rule}" if re.fullmatch(r"[0-9.]+", rule) else rule
        unsure.append(f"complete_when {rule!r}: say yourself from which number on an answer is complete")
        out.append(f'  complete_when: "{rule}"')
    else:
        out += [f"  severity: {path}", *(f"  {line}" for line in main.lines), '  complete_when: ">= 0.75"']
        unsure.append("complete_when '>= 0.75': none and mild count as complete")
        if any(is_missing(row.get(column)) for row in table.rows for column in columns):
            unsure.append("an empty severity is read as none; use `when` where it means that nobody rated")
    if "rationale" in roles and not wide:
        out.append(f"  rationale: {_path(roles['rationale'])}")
    return out


def look_like_ratings(records: Sequence[Record]) -> list[str]:
    """Keys of `meta` whose values look like ratings: of a table that was read without a card, its columns."""
    names = dict.fromkeys(name for record in records for name in record.meta)
    texts = {
        name: [str(record.meta[name]) for record in records if not is_missing(record.meta.get(name))] for name in names
    }
    return [name for name in names if _rating(texts[name], len(records)) is not None]


def outcome(records: Sequence[Record]) -> list[str]:
    """What the labels come to: incomplete of all, where two raters agree, and the first five records."""
    said = {label.rater for record in records for label in raters(record)}
    whole = [
        joined(record)
        for record in records
        if any(is_join(label) for label in record.labels) or len(raters(record)) < 2
    ]
    verdicts = [label.complete for label in whole if label is not None and label.complete is not None]
    out = [f"incomplete: {verdicts.count(False)} of {len(verdicts)} with a verdict, of {len(records)} answers"]
    for one, two in list(combinations(sorted(map(str, said)), 2))[:6]:
        pairs = [{label.rater: label.complete for label in raters(record)} for record in records]
        both = [(by[one], by[two]) for by in pairs if by.get(one) is not None and by.get(two) is not None]
        if both:
            out.append(f"{one} and {two} agree on {sum(a == b for a, b in both)} of {len(both)}")
    words = {True: "complete", False: "incomplete", None: "no verdict"}
    for record in records[:5]:
        labels = [f"{describe(label.rater)} {words[label.complete]}" for label in record.labels]
        out.append(f"  {record.id}: {', '.join(labels) or 'no label'}")
    return out
