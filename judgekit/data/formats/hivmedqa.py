"""HIVMedQA's own files: answers as JSON lists whose name tells model and iteration, and judges' replies as free text.

A folder is read file by file. ``.../Llama 3.1-8B-Instruct/iteration_2.json`` and ``.../llama_iter2.json`` both give model and
iteration. A reply is free text that holds a JSON object with ``question 1`` to ``question 5`` and ``overall score``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from judgekit.data.source import Row, read_rows
from judgekit.errors import DataError

__all__ = ["read_reply", "rows"]

AXES = ("comprehension", "reasoning", "knowledge", "bias", "harm")
_REPLY_KEYS = ("reply", "evaluation", "judge_reply", "judge", "judgement", "scores_text", "output")
_ITERATION = re.compile(r"(?<![_\s.-])[_\s.-]*(?:iteration|iter|run|it)[_\s.-]*([0-9]+)", re.IGNORECASE)
_DECODER = json.JSONDecoder()


def rows(path: Path, on_error: Callable[[DataError], None]) -> Iterator[Row]:
    """Yield rows of one file, or of every ``.json`` file below a folder, with `model` and `iteration` taken from its name."""
    if path.is_dir():
        files = sorted(path.rglob("*.json"))
        if not files:
            raise DataError("holds no .json file", file=str(path), mend="name the folder with the answers")
        for file in files:
            yield from _file(file, path, on_error)
    else:
        yield from _file(path, path.parent, on_error)


def _file(path: Path, root: Path, on_error: Callable[[DataError], None]) -> Iterator[Row]:
    named: tuple[str, str] | None = None
    for row in read_rows(path, on_error=on_error):
        value = dict(row.value)
        if "true_answer" in value and not {"model", "iteration"} <= set(value):
            try:
                named = named or _name(path, root)
            except DataError as error:
                on_error(error)
                return
            value = {**value, "model": value.get("model", named[0]), "iteration": value.get("iteration", named[1])}
        reply = next((value[key] for key in _REPLY_KEYS if isinstance(value.get(key), str)), None)
        if reply is not None and "comprehension" not in value:
            status, scores = read_reply(reply)
            value = {**value, **dict.fromkeys(AXES), **scores, "status": status}
        yield Row(value, row.line, row.textual)


def _name(path: Path, root: Path) -> tuple[str, str]:
    """Model and iteration from a file's place: the iteration's number is marked; what else there is names the model."""
    found = _ITERATION.search(path.stem)
    rest = (path.stem[: found.start()] + path.stem[found.end() :]).strip(" _-.") if found else path.stem
    inside = path.parent != root and path.is_relative_to(root)
    if not found and inside:
        found = _ITERATION.fullmatch(path.parent.name)
    model = rest or (path.parent.name if inside else "")
    if not found or not model:
        raise DataError(
            "the file's name does not tell model and iteration",
            file=str(path),
            mend="name it MODEL_iteration_1.json, or put model and iteration into each row",
        )
    return model, found.group(1)


def read_reply(text: str) -> tuple[str, dict[str, float]]:
    """The five scores of a judge's reply, and its status.

    ``ok``: one object with five numbers (``"4"`` is 4; nothing is clamped). ``no_json``: no such object. ``nonnumeric``: a score that is no
    number, one that is missing, or two objects that differ.
    """
    objects: list[dict[str, Any]] = []
    position = text.find("{")
    while position >= 0:
        try:
            value, end = _DECODER.raw_decode(text, position)
        except (json.JSONDecodeError, RecursionError, ValueError):
            end = position + 1
        else:
            if isinstance(value, dict) and any(_key(key).startswith("question") for key in value):
                objects.append({_key(key): item for key, item in value.items()})
        position = text.find("{", end)
    if not objects:
        return "no_json", {}
    if any(other != objects[0] for other in objects[1:]):
        return "nonnumeric", {}
    scores: dict[str, float] = {}
    for number, axis in enumerate(AXES, 1):
        score = _number(objects[0].get(f"question{number}"))
        if score is None:
            return "nonnumeric", {}
        scores[axis] = score
    return "ok", scores


def _key(key: str) -> str:
    return re.sub(r"[\s_]+", "", key).lower()


def _number(value: Any) -> float | None:
    if isinstance(value, dict):  # {"score": 4, "explanation": "..."}
        value = value.get("score")
    if isinstance(value, str):
        value = value.strip()
        if not re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", value):
            return None
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value or abs(value) == float("inf"):
        return None
    return float(value)
