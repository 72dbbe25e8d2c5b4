"""The records with everything that was said about them, small: prompts once per wording, texts deflated in pieces.

A prompt is kept as a *skeleton*, the rubric's own words, with a hole wherever a text of the record stands between its
fence; skeletons are shared by all records, and what fills a hole is a reference into the record where it is one of its own
texts. Putting both together gives the prompt back, character for character; what would not is kept whole.
"""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from judgekit.report.context import rows_of

if TYPE_CHECKING:
    from judgekit.report.context import Context

__all__ = ["HOLE", "Skeletons", "deflate", "fill", "pieces", "record_texts"]

HOLE = "\x00"
_FENCE = re.compile(r"<([A-Za-z0-9_.-]+)-([0-9a-f]{12})>\n(.*?)\n</\1-\2>", re.DOTALL)
PIECE = 150  # records a piece


def pieces(message: str) -> tuple[str, str, list[str]] | None:
    """(skeleton, nonce, what fills the holes) of a prompt; None where putting it together again would not give it back.

    In the skeleton a fenced text is ``HOLE name HOLE``; a message without a fence is its own skeleton.
    """
    if HOLE in message:
        return None
    nonces = {match.group(2) for match in _FENCE.finditer(message)}
    if len(nonces) > 1:
        return None
    filling = [match.group(3) for match in _FENCE.finditer(message)]
    skeleton = _FENCE.sub(lambda match: HOLE + match.group(1) + HOLE, message)
    nonce = nonces.pop() if nonces else ""
    return (skeleton, nonce, filling) if fill(skeleton, nonce, filling) == message else None


def fill(skeleton: str, nonce: str, filling: Sequence[str]) -> str:
    """The prompt again; the page's script does the same."""
    parts = skeleton.split(HOLE)
    out = [parts[0]]
    for i, text in enumerate(filling):
        name = parts[2 * i + 1]
        out += [f"<{name}-{nonce}>\n{text}\n</{name}-{nonce}>", parts[2 * i + 2]]
    return "".join(out)


class Skeletons:
    """Skeletons by number, each kept once."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._where: dict[str, int] = {}

    def number(self, text: str) -> int:
        if text not in self._where:
            self._where[text] = len(self.texts)
            self.texts.append(text)
        return self._where[text]

    def message(self, message: dict[str, Any], own: dict[str, int]) -> list[Any]:
        """[role, skeleton, nonce, fillings]; a filling that is one of the record's `own` texts is its number, else the text."""
        text = str(message.get("content") or "")
        found = pieces(text) or (text.replace(HOLE, "\ufffd"), "", [])
        skeleton, nonce, filling = found
        return [str(message.get("role", "")), self.number(skeleton), nonce, [own.get(one, one) for one in filling]]


def deflate(value: Any) -> str:
    """JSON, deflated (zlib), in base64."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return b64encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode()


def record_texts(
    context: Context, keys: Sequence[tuple[str, str]], series: dict[tuple[str, str], int]
) -> tuple[list[list[Any]], list[str]]:
    """One entry a record, in the order of `keys` (data set and id), and the skeletons that the entries point to.

    An entry is an object: `t` its own texts (question, response, reference, criteria), `l` labels, `j` judgements. See the
    page's script for the places in each list.
    """
    skeletons = Skeletons()
    records = {(row.dataset, row.record_id): row for row in rows_of(context.records)}
    labels: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for row in rows_of(context.labels):
        labels[row.dataset, row.record_id].append(
            [
                row.construct,
                row.rater,
                row.complete,
                _finite(row.score),
                row.severity,
                _plain(row.value),
                row.criteria,
                row.rationale,
            ]
        )
    calls = {row.key: row for row in rows_of(context.run.calls)}
    judged: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for row in rows_of(context.frame):
        judged[row.dataset, row.record_id].append(row)
    entries = []
    for key in keys:
        record = records[key]
        question = _question(record.question)
        texts = [question, record.response, record.reference]
        criteria = record.criteria or []
        own = {
            text: i for i, text in reversed(list(enumerate([*texts, *(str(c.get("text")) for c in criteria)]))) if text
        }
        said = [_judgement(row, series, calls, skeletons, own) for row in judged[key]]
        entries.append(
            [
                *texts,
                [[c.get("id"), c.get("text"), c.get("points"), c.get("kind")] for c in criteria],
                _others(record),
                labels[key],
                said,
            ]
        )
    return entries, skeletons.texts


def _judgement(
    row: Any, series: dict[tuple[str, str], int], calls: dict[str, Any], skeletons: Skeletons, own: dict[str, int]
) -> list[Any]:
    asked = []
    for key in row.calls or []:
        call = calls.get(key)
        if call is not None:
            request = call.request or {}
            asked.append(
                [
                    [skeletons.message(message, own) for message in request.get("messages") or []],
                    call.text,
                    call.status,
                    call.reason,
                ]
            )
    written = [[c.get("id"), c.get("text")] for c in row.criteria or [] if c.get("text") not in own]
    return [
        series[str(row.rubric), str(row.judge)], row.sample, row.status, row.reason, _finite(row.raw), _finite(row.score), row.complete,
        _plain(row.verdict), row.flags or [], written, asked,
    ]  # fmt: skip


def _question(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if len(value) == 1:
        return str(value[0].get("content"))
    return "\n\n".join(f"{turn.get('role')}: {turn.get('content')}" for turn in value)


def _others(record: Any) -> dict[str, Any]:
    found = {str(name): _plain(value) for name, value in (record.meta or {}).items()}
    found |= {f"input {name}": _plain(value) for name, value in (record.inputs or {}).items()}
    if record.options:
        found["options"] = _plain(record.options)
    if record.answer is not None:
        found["answer"] = record.answer
    return found


def _finite(value: Any) -> Any:
    return None if value is None or value != value or value in (float("inf"), float("-inf")) else value


def _plain(value: Any) -> Any:
    from judgekit.analysis.result import plain

    return plain(value)


def in_pieces(entries: Iterable[Any]) -> list[str]:
    """Entries in deflated pieces of `PIECE`, so that a page unpacks only what it shows."""
    every = list(entries)
    return [deflate(every[i : i + PIECE]) for i in range(0, len(every), PIECE)]
