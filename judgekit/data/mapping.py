"""A card at work: a source's row becomes the object of a Record, and raters' words become labels."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from judgekit.data.build import build, split_columns
from judgekit.data.cards import Card, LabelSpec, Shape, TruthSpec
from judgekit.data.labels import PREFIX, criteria_majority, fraction, joined, meets, raters
from judgekit.data.source import Row
from judgekit.errors import DataError
from judgekit.records import Criterion, Label, Record

__all__ = ["Mapper", "find", "same_severity"]


@lru_cache(maxsize=512)
def _compiled(expression: str) -> Any:
    import jmespath

    return jmespath.compile(expression)


@lru_cache(maxsize=1)
def _options() -> Any:
    import hashlib

    import jmespath
    from jmespath import functions

    class Functions(functions.Functions):  # type: ignore[misc]
        @functions.signature({"types": ["string"]})  # type: ignore[untyped-decorator]
        def _func_digest(self, text: str) -> str:
            """`digest(text)`: twelve hex digits of its sha256, for sources whose rows have no id."""
            return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]

        @functions.signature({"types": ["string"]})  # type: ignore[untyped-decorator]
        def _func_strip(self, text: str) -> str:
            """`strip(text)`: without white space at its ends."""
            return text.strip()

        @functions.signature({"types": ["string"]}, {"types": ["string"]}, {"types": ["string"]})  # type: ignore[untyped-decorator]
        def _func_replace(self, text: str, old: str, new: str) -> str:
            """`replace(text, old, new)`: every `old` becomes `new`."""
            return text.replace(old, new)

        @functions.signature({"types": ["array"]}, {"types": ["array"]})  # type: ignore[untyped-decorator]
        def _func_zip(self, first: list[Any], second: list[Any]) -> list[list[Any]]:
            """`zip(a, b)`: pairs of two lists of the same length."""
            if len(first) != len(second):
                raise DataError(f"two lists of {len(first)} and {len(second)} belong together")
            return [list(pair) for pair in zip(first, second, strict=True)]

    return jmespath.Options(custom_functions=Functions())


def find(expression: str, value: Any) -> Any:
    """The value of a JMESPath expression; errors of its functions become DataErrors without a place."""
    if expression.isidentifier():  # most paths are one field: several times faster, and the same answer
        return value.get(expression) if isinstance(value, dict) else None
    from jmespath.exceptions import JMESPathError

    try:
        return _compiled(expression).search(value, _options())
    except JMESPathError as error:
        raise DataError(f"{expression!r} does not fit this row: {str(error).splitlines()[0]}") from None


def no(value: Any) -> bool:
    """What JMESPath takes as false: null, false and what is empty. The number 0 is not."""
    return value is None or value is False or (isinstance(value, str | list | dict) and not value)


def same_severity(text: str) -> str:
    """A severity as it is compared: plain letters for styled ones, lower case, one space for any run of them."""
    return " ".join(unicodedata.normalize("NFKC", text).lower().split())


@dataclass(slots=True)
class Mapper:
    """Turns rows into records through one card; counts what filters leave out and which paths never found anything."""

    card: Card
    file: str | None
    shape_name: str | None = None
    left_out: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    rows: int = 0
    numbered: int = 0

    def objects(self, row: Row) -> Iterator[Row]:
        """The rows that `rows:` finds in a source row (or the row itself), after the filters."""
        name, shape = self.card.shape_for(row.value, self.file, row.line)
        if self.shape_name is None:
            self.shape_name = name
        elif name != self.shape_name:
            raise DataError(
                f"the file begins with rows of the shape {self.shape_name!r}, this one is {name!r}",
                file=self.file,
                line=row.line,
                mend="keep one shape in a file, or see why the fields differ",
            )
        values = [row.value]
        if shape.rows is not None:
            inner = self.at(shape.rows, row.value, "rows", row.line)
            if not isinstance(inner, list):
                raise DataError(
                    "finds no list in this row", file=self.file, line=row.line, field="rows", mend="see the card"
                )
            values = [
                {**item, "_row": row.value} if isinstance(item, dict) else {"item": item, "_row": row.value}
                for item in inner
            ]
        for value in values:
            self.rows += 1
            for filter_ in shape.where:
                kept = self.at(filter_.keep, value, "where", row.line)
                if no(kept):
                    self.left_out[filter_.because] += 1
                    break
            else:
                yield Row(value, row.line, row.textual)

    def shape(self) -> Shape:
        assert self.shape_name is not None
        return self.card.spec.shapes[self.shape_name]

    def at(self, expression: str, value: Any, name: str, line: int) -> Any:
        try:
            return find(expression, value)
        except DataError as error:
            raise DataError(
                error.message, file=self.file, line=line, field=name, mend=f"see {name} in {self.card.path}"
            ) from None

    def record(self, row: Row) -> Record:
        """The record of one row, with its raters' labels (not yet joined: more rows may follow for the same record)."""
        shape = self.shape()
        if shape.native:
            return build(split_columns(row, self.file) if row.textual else row.value, self.file, row.line)
        value: dict[str, Any] = {}
        name: str
        for name, path in shape.fields.items():
            got = self.at(path, row.value, f"fields.{name}", row.line)
            if row.textual and got == "" and name != "response":
                got = None
            if got is None and name != "id":
                continue
            self.found[f"fields.{name}"] += 1
            value[name] = self.messages(got, row.line) if name == "question" and isinstance(got, list) else got
        for room, paths in (("meta", shape.meta), ("inputs", shape.inputs)):
            value[room] = {}
            for name, path in paths.items():
                got = self.at(path, row.value, f"{room}.{name}", row.line)
                if got is not None:
                    self.found[f"{room}.{name}"] += 1
                value[room][name] = None if row.textual and got == "" else got
            if room == "inputs":
                value[room] = {key: item for key, item in value[room].items() if item is not None}
        value["criteria"] = list(self.criteria(shape, row))
        record = build(value, self.file, row.line)
        labels = [label for spec in shape.labels for label in self.labels(spec, record, row)]
        return replace(record, labels=tuple(labels))

    def messages(self, turns: list[Any], line: int) -> list[dict[str, Any]]:
        """Turns with their role and content alone: other keys of a message are the source's own business."""
        out = []
        for index, turn in enumerate(turns):
            if not isinstance(turn, dict) or "role" not in turn or "content" not in turn:
                raise DataError(
                    "is no message with role and content", file=self.file, line=line, field=f"fields.question.{index}"
                )
            role = "system" if turn["role"] == "developer" else turn["role"]
            out.append({"role": role, "content": turn["content"]})
        return out

    def criteria(self, shape: Shape, row: Row) -> Iterator[dict[str, Any]]:
        spec = shape.criteria
        if spec is None:
            return
        items = self.at(spec.each, row.value, "criteria.each", row.line)
        for index, item in enumerate(items if isinstance(items, list) else []):
            value: dict[str, Any] = {"id": f"c{index + 1}"}
            for name in ("id", "text", "points", "kind", "tags"):
                path = getattr(spec, name)
                got = None if path is None else self.at(path, item, f"criteria.{name}", row.line)
                if got is not None:
                    value[name] = _number(got) if name == "points" else got
                    self.found[f"criteria.{name}"] += 1
            yield value

    def labels(self, spec: LabelSpec, record: Record, row: Row) -> Iterator[Label]:
        people: list[tuple[str | None, Any]]
        if spec.raters is not None:
            people = [(name, self.at(path, row.value, "labels.raters", row.line)) for name, path in spec.raters.items()]
        elif spec.each is not None:
            items = self.at(spec.each, row.value, "labels.each", row.line) or []
            people = [(self.rater(spec, item, index, row.line), item) for index, item in enumerate(items)]
        else:
            people = [(self.rater(spec, row.value, None, row.line), row.value)]
        for name, item in people:
            # A rater without a value, or with an empty list of words, did not rate.
            if item is None or item == [] or (row.textual and item == ""):
                continue
            if spec.when is not None and no(self.at(spec.when, item, "labels.when", row.line)):
                continue
            label = self.label(spec, record, name, item, row)
            if label is not None:
                self.found["labels"] += 1
                yield label

    def rater(self, spec: LabelSpec, item: Any, index: int | None, line: int) -> str | None:
        if spec.rater is None:
            return None if index is None else f"r{index + 1}"
        got = self.at(spec.rater, item, "labels.rater", line)
        if got is None or got == "":
            return None
        name = str(got)
        if name.startswith(PREFIX):
            raise DataError(f"a rater may not be named {name!r}", file=self.file, line=line, field="labels.rater")
        return name

    def label(self, spec: LabelSpec, record: Record, rater: str | None, item: Any, row: Row) -> Label | None:
        label = Label(construct=spec.about, rater=rater)
        said_something = False
        if spec.criteria is not None:
            said = self.said(spec.criteria, record.criteria, item, row)
            label = replace(label, criteria=said)
            said_something |= any(word is not None for word in said.values())
        words: dict[str, Any] = {}
        for name in ("value", "rationale"):
            path = getattr(spec, name)
            got = None if path is None else self.at(path, item, f"labels.{name}", row.line)
            words[name] = None if row.textual and got == "" else got
        if isinstance(words["rationale"], list):
            words["rationale"] = "\n".join(str(part) for part in words["rationale"]) or None
        label = replace(label, **words)
        if spec.severity is not None:
            severity, score = self.severity(spec, item, row)
            label = replace(label, severity=severity, score=score)
            said_something |= severity is not None
        if spec.score is not None:
            score, reason = self.score(spec, record.criteria, label, item, row)
            label = replace(label, score=score, rationale=label.rationale or (reason if said_something else None))
            said_something |= score is not None
        if spec.complete is not None:
            complete = self.truth(spec.complete, item, row)
            label = replace(label, complete=complete)
            said_something |= complete is not None
        elif spec.complete_when is not None:
            label = replace(label, complete=meets(label.score, spec.complete_when))
        return label if said_something or label.rationale or label.value not in (None, [], {}, "") else None

    def said(self, path: str, criteria: tuple[Criterion, ...], item: Any, row: Row) -> dict[str, Any]:
        got = self.at(path, item, "labels.criteria", row.line)
        if isinstance(got, dict):
            return dict(got)
        words = got if isinstance(got, list) else []
        if len(words) != len(criteria):
            raise DataError(
                f"{len(words)} words for {len(criteria)} criteria",
                file=self.file,
                line=row.line,
                field="labels.criteria",
                mend="the list follows the criteria one by one, null where the rater said nothing",
            )
        return {criterion.id: word for criterion, word in zip(criteria, words, strict=True)}

    def severity(self, spec: LabelSpec, item: Any, row: Row) -> tuple[str | None, float | None]:
        """The severity by the card's own word, and its score; of a list, the worst. Nothing is the word ``none``."""
        assert spec.severity is not None
        got = self.at(spec.severity, item, "labels.severity", row.line)
        if spec.severities is None:
            return (None if got is None or got == "" else str(got)), None
        words = [word for word in (got if isinstance(got, list) else [got]) if word not in (None, "")] or [None]
        table = {same_severity(key): key for key in spec.severities}
        keys = []
        for word in words:
            plain = "none" if word is None else same_severity(str(word))
            key = table.get(plain) or next(
                (name for low, name in table.items() if plain.startswith(low) and not plain[len(low)].isalnum()), None
            )
            if key is None and word is not None:
                near = get_close_matches(plain.split(" ")[0], table, 1)
                raise DataError(
                    f"the severity {word!r} stands in no row of the card's table",
                    file=self.file,
                    line=row.line,
                    field="labels.severities",
                    mend=f"did the rater mean {table[near[0]]!r}? " * bool(near)
                    + f"Add it to the table in {self.card.path}",
                )
            if key is not None:
                keys.append(key)
        if not keys:
            return None, None
        worst = min(keys, key=lambda key: (spec.severities or {})[key])
        return worst, spec.severities[worst]

    def score(
        self, spec: LabelSpec, criteria: tuple[Criterion, ...], label: Label, item: Any, row: Row
    ) -> tuple[float | None, str | None]:
        rule = spec.score
        assert rule is not None
        if rule.fraction is not None:
            said, part = label.criteria or {}, rule.fraction
            return fraction(criteria, said, part.met, part.where, weighted=part.weighted)
        assert rule.path is not None
        got = self.at(rule.path, item, "labels.score", row.line)
        if got is None or got == "":
            return None, None
        number = _number(got)
        low, high = sorted((rule.min, rule.max))
        if not isinstance(number, int | float) or isinstance(number, bool) or not low <= number <= high:
            raise DataError(
                f"{got!r} is no number from {low:g} to {high:g}",
                file=self.file,
                line=row.line,
                field="labels.score",
                mend=f"correct it, or set min and max in {self.card.path}",
            )
        return (number - rule.min) / (rule.max - rule.min), None

    def truth(self, spec: TruthSpec, item: Any, row: Row) -> bool | None:
        got = self.at(spec.path, item, "labels.complete", row.line)
        if got is None or got == "":
            return None
        word = str(got).lower() if isinstance(got, bool) else str(got).strip()
        for words, verdict in ((spec.yes, True), (spec.no, False)):
            if word in words or word.lower() in [item.lower() for item in words]:
                return verdict
        raise DataError(
            f"{got!r} is neither one of {', '.join(spec.yes)} nor one of {', '.join(spec.no)}",
            file=self.file,
            line=row.line,
            field="labels.complete",
            mend=f"correct it, or add the word in {self.card.path}",
        )

    def join(self, record: Record) -> Record:
        """The record with the joins that the card asks for; one rater alone is not joined."""
        made = list(record.labels)
        for spec in self.shape().labels:
            people = raters(record, spec.about)
            if spec.join is None or len(people) < 2:
                continue
            if spec.join == "criteria-majority":
                assert spec.score is not None
                assert spec.score.fraction is not None
                part = spec.score.fraction
                made.append(
                    criteria_majority(
                        people,
                        record.criteria,
                        spec.about,
                        part.met,
                        part.where,
                        weighted=part.weighted,
                        complete_when=spec.complete_when,
                    )
                )
            else:
                join = joined(record, spec.about, spec.join, complete_when=spec.complete_when)
                made += [join] if join is not None else []
        return replace(record, labels=tuple(made))

    def notes(self) -> list[str]:
        """What a reader should know: rows left out, with their number, and paths that found nothing anywhere."""
        out = [f"{number} of {self.rows} rows left out: {why}" for why, number in self.left_out.items()]
        if self.numbered:
            out.append(
                f"{self.numbered} further labels by a rater who had already rated the record are kept as NAME [rating 2]"
            )
        if self.shape_name is not None and self.rows > sum(self.left_out.values()):
            shape = self.shape()
            if self.card.shape is None and (twins := self.card.twins(self.shape_name)):
                others = ", ".join(f"--card {self.card.name}/{name}" for name in twins)
                out.append(
                    f"by its name the file is {self.card.name}/{self.shape_name}; the same columns also mean {others}"
                )
            wanted = [f"fields.{name}" for name in shape.fields] + [f"meta.{name}" for name in shape.meta]
            wanted += ["criteria.text"] * bool(shape.criteria) + ["labels"] * bool(shape.labels)
            missing = [name for name in wanted if not self.found[name]]
            if missing:
                doubt = " (nothing is labelled: is it the card of this file?)" if "labels" in missing else ""
                out.append(f"the card {self.card.name!r} found nothing in any row for {', '.join(missing)}{doubt}")
        return out


def _number(value: Any) -> Any:
    """A number written as text (as in CSV) is that number; anything else is left for the validation to refuse."""
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            try:
                return float(value)
            except ValueError:
                return value
    return value
