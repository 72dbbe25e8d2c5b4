"""Multiple-choice files under whatever names: rows become question, options by letter, and the answer's letter."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from judgekit.data.source import Row, read_rows
from judgekit.errors import DataError

__all__ = ["normalise", "rows"]

_QUESTION = ("question", "stem", "case", "prompt", "query", "vignette")
_OPTIONS = ("options", "choices", "answers", "candidates")
_ANSWER = ("answer_idx", "answer", "label", "correct", "gold", "correct_answer", "target", "diagnosis")
_COLUMN = re.compile(r"(?:option[s_. -]*|op|choice[s_. -]*)?([A-Ja-j])")
_LETTERS = "ABCDEFGHIJ"


def rows(path: Path, on_error: Callable[[DataError], None]) -> Iterator[Row]:
    """Yield rows ``{id?, question, options: {"A": ...}, answer?: "A", rest: {...}}``; DataErrors name file and line."""
    for row in read_rows(path, on_error=on_error):
        try:
            value = normalise(row.value)
        except DataError as error:
            error.file, error.line = str(path), row.line
            on_error(error)
            continue
        yield Row(value, row.line)


def normalise(row: dict[str, Any]) -> dict[str, Any]:
    """One row in the common form; DataError (without a place) when it has no question, too few options, or no clear answer."""
    rest = dict(row)
    question = _take(rest, _QUESTION)
    if not isinstance(question, str) or not question.strip():
        raise DataError("has no question", field="question", mend=f"name the column {', '.join(_QUESTION[:-1])}")
    options = _options(rest)
    if len(options) < 2:
        raise DataError(
            f"has {len(options)} options", field="options", mend="give a map, a list, or columns named A, B, C, ..."
        )
    out: dict[str, Any] = {"question": question, "options": options}
    if rest.get("id") not in (None, ""):
        out["id"] = rest.pop("id")
    answer = _answer(rest, options)
    if answer is not None:
        out["answer"] = answer
    return {**out, "rest": {key: value for key, value in rest.items() if value not in (None, "")} or None}


def _take(row: dict[str, Any], names: tuple[str, ...]) -> Any:
    for name in names:
        for key in row:
            if key.lower() == name and row[key] not in (None, ""):
                return row.pop(key)
    return None


def _options(row: dict[str, Any]) -> dict[str, str]:
    found = _take(row, _OPTIONS)
    if isinstance(found, str):
        from judgekit.data.source import read_json_text

        found = read_json_text(found, None, 0, "options") if found.lstrip()[:1] in ("[", "{") else None
    pairs: list[tuple[str, Any]] = []
    if isinstance(found, dict):
        if set(found) == {"label", "text"} and isinstance(found["label"], list):  # two parallel lists
            pairs = list(zip(map(str, found["label"]), found["text"], strict=False))
        else:
            pairs = list(found.items())
    elif isinstance(found, list):
        for letter, item in zip(_LETTERS, found, strict=False):
            if isinstance(item, dict):
                key = next((item[name] for name in ("key", "label", "id", "letter") if name in item), letter)
                pairs.append(
                    (str(key), next((item[name] for name in ("value", "text", "option") if name in item), None))
                )
            else:
                pairs.append((letter, item))
        if len(found) > len(_LETTERS):
            raise DataError(f"has {len(found)} options", field="options", mend=f"at most {len(_LETTERS)}")
    else:
        columns = [(match.group(1).upper(), key) for key in row if (match := _COLUMN.fullmatch(key.strip()))]
        pairs = [(letter, row.pop(key)) for letter, key in sorted(columns)]
    options: dict[str, str] = {}
    for key, text in pairs:
        letter = str(key).strip().upper()
        if text in (None, ""):
            continue
        if letter in options:
            raise DataError(f"has two options {letter!r}", field="options", mend="keep one")
        if not isinstance(text, str):
            raise DataError(f"option {letter} is {text!r}, no text", field="options", mend="write it in quotes")
        options[letter] = text
    return options


def _answer(row: dict[str, Any], options: dict[str, str]) -> str | None:
    found: dict[str, str] = {}
    for name in _ANSWER:
        given = _take(row, (name,))
        if given is not None:
            found[name] = _letter(given, options)
    if len(set(found.values())) > 1:
        told = ", ".join(f"{name} {letter}" for name, letter in found.items())
        raise DataError(f"the answers say different things: {told}", field="answer", mend="correct one of them")
    return next(iter(found.values()), None)


def _letter(given: Any, options: dict[str, str]) -> str:
    if isinstance(given, str):
        letter = given.strip().rstrip(".)").upper()
        if letter in options:
            return letter
        plain = " ".join(given.split()).lower()
        same = [key for key, text in options.items() if " ".join(text.split()).lower() == plain]
        if len(same) == 1:
            return same[0]
        if not given.strip().isdigit():
            many = f"the text of {len(same)} options" if same else "no option's letter or text"
            raise DataError(f"the answer {given[:60]!r} is {many}", field="answer", mend="write the letter")
    raise DataError(
        f"the answer {given!r} is a number: counting may start at 0 or at 1", field="answer", mend="write the letter"
    )
