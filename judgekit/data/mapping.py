"""A card at work: a source's row becomes the object of a Record, and raters' words become labels."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

from judgekit.data.build import build, split_columns
from judgekit.data.cards import Card, LabelSpec, Shape, TruthSpec
from judgekit.data.expressions import Trace, find, no, nothing
from judgekit.data.labels import PREFIX, fraction
from judgekit.data.source import Row
from judgekit.data.table import decimal_point, is_missing
from judgekit.errors import DataError
from judgekit.exact import exact, meets
from judgekit.records import Criterion, Label, Record

__all__ = ["Mapper", "same_severity"]


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
    traces: dict[tuple[int, str], Trace] = field(default_factory=dict)
    remarks: Counter[str] = field(default_factory=Counter)
    tabular: bool = False

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

    def at(self, expression: str, value: Any, name: str, line: int, trace: Trace | None = None) -> Any:
        try:
            return find(expression, value, trace)
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
        self.tabular = row.textual
        labels = [label for index, spec in enumerate(shape.labels) for label in self.labels(index, spec, record, row)]
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

    def part(self, index: int, name: str, expression: str, value: Any, line: int) -> Any:
        """The value of one part of the labels, with what its expression found over the whole file kept in mind."""
        trace = self.traces.setdefault((index, name), Trace())
        got = self.at(expression, value, f"labels.{name}", line, trace)
        trace.found |= not nothing(got)
        return got

    def labels(self, index: int, spec: LabelSpec, record: Record, row: Row) -> Iterator[Label]:
        people: list[tuple[str | None, Any]]
        if spec.raters is not None:
            people = [
                (name, self.part(index, f"raters.{name}", path, row.value, row.line))
                for name, path in spec.raters.items()
            ]
        elif spec.each is not None:
            items = self.part(index, "each", spec.each, row.value, row.line) or []
            people = [(self.rater(index, spec, item, number, row.line), item) for number, item in enumerate(items)]
        else:
            people = [(self.rater(index, spec, row.value, None, row.line), row.value)]
        for name, item in people:
            # A rater without a value, or with an empty list of words, did not rate.
            if item in (None, "", []):
                continue
            if spec.when is not None and no(self.part(index, "when", spec.when, item, row.line)):
                continue
            label = self.label(index, spec, record, name, item, row)
            if label is not None:
                self.found["labels"] += 1
                yield label

    def rater(self, index: int, spec: LabelSpec, item: Any, number: int | None, line: int) -> str | None:
        if spec.rater is None:
            return None if number is None else f"r{number + 1}"
        got = self.part(index, "rater", spec.rater, item, line)
        if got is None or got == "":
            return None
        name = str(got)
        if name.startswith(PREFIX):
            raise DataError(f"a rater may not be named {name!r}", file=self.file, line=line, field="labels.rater")
        return name

    def label(
        self, index: int, spec: LabelSpec, record: Record, rater: str | None, item: Any, row: Row
    ) -> Label | None:
        def part(name: str) -> Any:
            path = getattr(spec, name)
            return None if path is None else self.part(index, name, path, item, row.line)

        label = Label(construct=spec.about, rater=rater)
        said_something = False
        reasons: list[str] = []
        if spec.criteria is not None:
            said = self.said(part("criteria"), record.criteria, row)
            label = replace(label, criteria=said)
            said_something |= any(not is_missing(word) for word in said.values())
        value, rationale = part("value"), part("rationale")
        if isinstance(rationale, list):
            rationale = "\n".join(str(text) for text in rationale)
        label = replace(
            label,
            value=None if nothing(value) or (isinstance(value, str) and self.missing("value", value)) else value,
            rationale=None if rationale == "" else rationale,
        )
        if spec.severity is not None:
            severity, score = self.severity(spec, part("severity"), row)
            label = replace(label, severity=severity, score=score)
            said_something |= severity is not None
        if spec.fraction is not None:
            rule = spec.fraction
            score, reason = fraction(
                record.criteria, label.criteria or {}, rule.met, rule.where, weighted=rule.weighted
            )
            label = replace(label, score=score)
            reasons += [reason] if reason and said_something else []
            said_something |= score is not None
        elif spec.score:
            score = self.score(index, spec, item, row)
            label = replace(label, score=score)
            said_something |= score is not None
        if spec.complete is not None:
            got = self.part(index, "complete", spec.complete.path, item, row.line)
            complete, reason = self.truth(spec.complete, got, row)
            label = replace(label, complete=complete)
            reasons += [reason] if reason else []
            said_something |= complete is not None or reason is not None
        elif spec.complete_when is not None:
            label = replace(label, complete=meets(label.score, spec.complete_when, *spec.scale))
        label = replace(label, rationale="\n".join([*reasons, *([label.rationale] if label.rationale else [])]) or None)
        return label if said_something or label.rationale or label.value is not None else None

    def missing(self, name: str, value: Any) -> bool:
        """Whether a label's cell holds no value; words such as NA are counted."""
        found = is_missing(value)
        if found and isinstance(value, str) and value.strip():
            self.remarks[f"labels.{name}: {value.strip()!r} is no value"] += 1
        return found

    def said(self, got: Any, criteria: tuple[Criterion, ...], row: Row) -> dict[str, Any]:
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

    def severity(self, spec: LabelSpec, got: Any, row: Row) -> tuple[str | None, float | None]:
        """The severity by the card's own word, and its score; of a list, the worst. Nothing is the word ``none``."""
        said = got if isinstance(got, list) else [got]
        if spec.severities is None:  # `none` is a level here, not a missing one
            levels = [
                str(word)
                for word in said
                if (isinstance(word, str) and same_severity(word) == "none") or not self.missing("severity", word)
            ]
            return "; ".join(levels) or None, None
        words = [word for word in said if word not in (None, "")] or [None]
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

    def score(self, index: int, spec: LabelSpec, item: Any, row: Row) -> float | None:
        """The first of the card's scores that holds a number, mapped by its ends to 0 (worst) to 1 (best)."""
        for rule in spec.score:
            assert rule.path is not None
            got = self.part(index, "score", rule.path, item, row.line)
            if self.missing("score", got):
                continue
            written = decimal_point(got) if isinstance(got, str) else got
            if written != got:
                self.remarks["labels.score: a comma in a number is read as a decimal point"] += 1
            number = _number(written)
            low, high = sorted((rule.min, rule.max))
            if not isinstance(number, int | float) or isinstance(number, bool) or not low <= number <= high:
                raise DataError(
                    f"{got!r} is no number from {low:g} to {high:g}",
                    file=self.file,
                    line=row.line,
                    field="labels.score",
                    mend=f"correct it, or set min and max in {self.card.path}",
                )
            return float((exact(number) - exact(rule.min)) / (exact(rule.max) - exact(rule.min)))
        return None

    def truth(self, spec: TruthSpec, got: Any, row: Row) -> tuple[bool | None, str | None]:
        """A rater's verdict, and, when several words were ticked that contradict each other, why there is none."""
        words = [word for word in (got if isinstance(got, list) else [got]) if not self.missing("complete", word)]
        yes, no = ({word.strip().casefold() for word in some} for some in (spec.yes, spec.no))
        verdicts = set()
        for word in words:
            plain = str(word).strip().casefold()
            if plain not in yes | no:
                raise DataError(
                    f"{word!r} is neither one of {', '.join(spec.yes)} nor one of {', '.join(spec.no)}",
                    file=self.file,
                    line=row.line,
                    field="labels.complete",
                    mend=f"correct it, or add the word in {self.card.path}",
                )
            verdicts.add(plain in yes)
        if len(verdicts) > 1:
            said = " and ".join(str(word) for word in words)
            self.remarks[f"labels.complete: one rater said {said}, which is no verdict"] += 1
            return None, f"said {said}: no verdict"
        return next(iter(verdicts), None), None

    def absent(self, whole: bool) -> Iterator[DataError]:
        """An error for every part of `labels` that found nothing in any row, because what it names is not there.

        `whole` says that the file was read to its end; else only a table, whose rows all have the same columns, can tell.
        """
        if not (whole or self.tabular):
            return
        for (index, name), trace in self.traces.items():
            never = trace.never()
            if never is None:
                continue
            key, beside = never
            place = ("shapes", str(self.shape_name), "labels", str(index), *name.split("."))
            lines = self.card.lines
            line = next((lines[place[:end]] for end in range(len(place), 2, -1) if place[:end] in lines), None)
            near = get_close_matches(key.casefold(), [item.casefold() for item in beside], 1, 0.6)
            guess = next((item for item in beside if near and item.casefold() == near[0]), None)
            yield DataError(
                f"finds nothing in any row of {self.file or 'the data'}: there is no {key!r}"
                + (
                    f" among {', '.join(beside[:20])}"
                    if beside
                    else ", and where it is looked for stands a single value (write '@' for it)"
                ),
                file=self.card.path,
                line=line,
                field=f"labels.{name}",
                mend=(f"did you mean {guess!r}? " if guess else "")
                + (
                    "Is it the card of this file (judgekit data list)? "
                    if not guess and not self.found["labels"]
                    else ""
                )
                + f"Correct {', '.join(sorted(trace.expressions))}, or take {name.partition('.')[0]} out of the card",
            )

    def notes(self) -> list[str]:
        """What a reader should know: rows left out, with their number, and paths that found nothing anywhere."""
        out = [f"{number} of {self.rows} rows left out: {why}" for why, number in self.left_out.items()]
        out += [f"{what} ({number} times)" for what, number in self.remarks.items()]
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
