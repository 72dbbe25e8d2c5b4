"""`load_records`: any source that holds records, with or without a card, becomes one RecordSet."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from judgekit.data.build import Problems, build, split_columns
from judgekit.data.cards import Card, card_names, format_module, load_card
from judgekit.data.fetch import locate_name
from judgekit.data.joining import join_raters
from judgekit.data.labels import check_raters, lookalikes, one_class
from judgekit.data.mapping import Mapper
from judgekit.data.model import RecordSet
from judgekit.data.source import FORMATS, Row, format_of, plain, read_rows, stem
from judgekit.errors import DataError
from judgekit.records import Record

__all__ = ["load_records", "read_source"]


def load_records(
    path: Any, card: str | Path | Card | None = None, *, dataset: str | None = None, limit: int | None = None
) -> RecordSet:
    """Load records from a file or from memory.

    Parameters
    ----------
    path : a file (JSONL, JSON list, CSV, TSV, Parquet; ``.gz`` too), else the name of a data set that is bundled or fetched
        (``judgekit data list``); or a list of dicts or Records, a pandas DataFrame, a Hugging Face Dataset (one split).
    card : a card's name in the library's ``datasets/``, a card file, or a Card: how the source's fields become records.
        Without one, JSON objects and table columns name Record fields themselves.
    dataset : the data set's name; by default the card's, else the file's stem, else ``records``.
    limit : only the first `limit` records that the card's filters leave; at least 1.

    Returns
    -------
    RecordSet, in the source's order. Ids stay text: ``001``, ``NA`` and ``None`` are what they are. A whole-number id in
    JSON becomes its digits. An empty CSV cell is None, but an empty `response` is the blank answer "".

    Raises
    ------
    DataError, with file, line, field and mend, for the first thing that is wrong: a duplicate id (both lines named), an
    unknown key, a value of the wrong type, bad JSON, bytes that are not UTF-8, ragged rows.
    """
    return read_source(path, card, dataset=dataset, limit=limit, problems=Problems())


def read_source(
    source: Any, card: str | Path | Card | None, *, dataset: str | None, limit: int | None, problems: Problems
) -> RecordSet:
    """As `load_records`, but errors go to `problems`, which may collect them."""
    if limit is not None and limit < 1:
        raise DataError(f"limit must be at least 1, not {limit}", field="limit", mend="leave it out to take all")
    if isinstance(source, RecordSet) and card is None and dataset is None:
        return source if limit is None else source[:limit]
    source, card = _by_name(source, card)
    file = str(source) if isinstance(source, str | Path) else None
    found = load_card(card) if card is not None else None
    mapper = Mapper(found, file) if found is not None else None
    reader = _mapped(source, mapper, file, problems) if mapper else _direct(source, file, problems)
    records: dict[str, Record] = {}
    lines: dict[str, int] = {}
    for record, line in reader:
        try:
            first = records.get(record.id)
            if first is not None:
                if mapper is None or not mapper.shape().merge:
                    raise _duplicate(record.id, lines[record.id], line, file)
                record = _merged(first, record, lines[record.id], line, file)
            elif limit is not None and len(records) == limit:
                continue  # only with `merge`: a later row may be another rating of a record that is in
        except DataError as error:
            problems.add(error)
            continue
        records[record.id] = record
        lines.setdefault(record.id, line)
        if limit is not None and len(records) == limit and not (mapper and mapper.shape().merge):
            break
    whole = limit is None or len(records) < limit
    out, notes = list(records.values()), []
    if mapper is not None:
        out = []
        for record in records.values():
            try:
                out.append(_numbered(record, mapper))
            except DataError as error:
                problems.add(_placed(error, file, lines[record.id]))
        if out:
            for fault in mapper.absent(whole or mapper.shape().merge):
                problems.add(fault)
            out, joins = join_raters(mapper.shape(), out)
            notes += joins
    notes = [
        *problems.notes,
        *(mapper.notes() if mapper else []),
        *notes,
        *lookalikes(out),
        *(one_class(out) if whole else []),
        *_answers(out),
    ]
    return RecordSet(
        out,
        name=dataset or _name(source, mapper),
        card=found,
        path=file,
        notes=notes,
        promises_labels=mapper is not None and mapper.shape_name is not None and bool(mapper.shape().labels),
    )


def _answers(records: list[Record]) -> list[str]:
    """`answer` is the right option of a multiple-choice question; a file of questions and answers mostly means `response`."""
    if records and all(
        record.answer is not None and not record.options and record.response is None for record in records
    ):
        return [
            "every record has an `answer`, no `options` and no `response`: `answer` is the right option of a multiple-choice "
            "question; call the text that is to be judged `response`"
        ]
    return []


def _by_name(source: Any, card: str | Path | Card | None) -> tuple[Any, str | Path | Card | None]:
    """A data set's name, where no file has it, stands for the example or the fetched file of its card."""
    if isinstance(source, str | Path) and card is None and not Path(source).is_file():
        place = locate_name(str(source))
        if place is not None:
            return place
    if isinstance(source, str | Path) and not Path(source).suffix and not Path(source).exists():
        name, names = Path(source).as_posix(), card_names()
        near = difflib.get_close_matches(name.partition("/")[0], names, 1)
        if name.partition("/")[0] in names:
            raise DataError(
                "a data set that is named brings its own card",
                file=str(source),
                field="card",
                mend="leave the card out",
            )
        raise DataError(
            "there is no such file, and no data set of this name",
            file=str(source),
            mend=f"did you mean {near[0]!r}?" if near else "`judgekit data list` shows the names",
        )
    return source, card


def _direct(source: Any, file: str | None, problems: Problems) -> Iterator[tuple[Record, int]]:
    for number, (row, table) in enumerate(_rows(source, None, problems), 1):
        if isinstance(row, Record):
            yield row, number
            continue
        try:
            record = build(split_columns(row, file) if table else row.value, file, row.line)
        except DataError as error:
            problems.add(error)
            continue
        yield record, row.line


def _mapped(source: Any, mapper: Mapper, file: str | None, problems: Problems) -> Iterator[tuple[Record, int]]:
    for row, _ in _rows(source, mapper.card, problems):
        if isinstance(row, Record):
            raise DataError("a card reads rows, and these are Records already", mend="leave the card out")
        try:
            for inner in mapper.objects(row):
                try:
                    yield mapper.record(inner), inner.line
                except DataError as error:
                    problems.add(_placed(error, file, inner.line))
        except DataError as error:
            problems.add(_placed(error, file, row.line))


def _placed(error: DataError, file: str | None, line: int) -> DataError:
    if error.line is None:
        error.file, error.line = file, line
    return error


def _numbered(record: Record, mapper: Mapper) -> Record:
    labels = check_raters(record.labels)
    mapper.numbered += sum(a.rater != b.rater for a, b in zip(labels, record.labels, strict=True))
    return replace(record, labels=tuple(labels))


def _merged(first: Record, second: Record, first_line: int, line: int, file: str | None) -> Record:
    """Two ratings of one record: everything but the labels must agree."""
    one, two = first.to_dict(), second.to_dict()
    for key in one:
        if key != "labels" and one[key] != two[key]:
            raise DataError(
                f"the record {first.id!r} differs here from line {first_line}",
                file=file,
                line=line,
                field=key,
                mend="ratings of one record must repeat its texts exactly; or give the rows different ids",
            )
    return replace(first, labels=(*first.labels, *second.labels))


def _duplicate(id: str, first: int, line: int, file: str | None) -> DataError:
    return DataError(
        f"the id {id!r} stands here and on line {first}",
        file=file,
        line=line,
        field="id",
        mend="give each record its own id; several raters of one record go into its labels, "
        "or are read by a card with `merge: true`",
    )


def _name(source: Any, mapper: Mapper | None) -> str:
    if mapper is not None:
        # Shapes of one card hold other things (answers, claims, questions): only the first goes by the card's own name.
        first = next(iter(mapper.card.spec.shapes))
        other = mapper.shape_name not in (None, first)
        return f"{mapper.card.name}-{mapper.shape_name}" if other else mapper.card.name
    if isinstance(source, RecordSet):
        return source.name
    if isinstance(source, str | Path):
        return stem(source)
    return "records"


def _rows(source: Any, card: Card | None, problems: Problems) -> Iterator[tuple[Row | Record, bool]]:
    """Rows of any source, and whether they are a table's rows, whose columns map by name."""
    if isinstance(source, str | Path):
        kind = card.spec.format if card is not None else None
        if kind is not None and kind not in FORMATS:
            for row in format_module(kind, card).rows(Path(source), problems.add):
                yield row, False
            return
        kind = kind or format_of(source)
        table = kind in ("csv", "tsv", "parquet")
        for row in read_rows(source, kind, problems.add, problems.notes.append):
            yield row, table
    elif hasattr(source, "to_dict") and hasattr(source, "columns"):  # a pandas DataFrame
        for number, value in enumerate(source.to_dict("records"), 1):
            yield Row(_frame_row(value, number), number), True
    elif hasattr(source, "column_names") and hasattr(source, "features"):  # a Hugging Face Dataset
        if isinstance(source.column_names, dict):
            raise DataError(
                f"this is a dict of splits ({', '.join(source.column_names)})", mend="pass one split, data['train']"
            )
        for number, value in enumerate(source, 1):
            yield Row(plain(value), number), True
    elif isinstance(source, Iterable) and not isinstance(source, dict | bytes):
        for number, value in enumerate(source, 1):
            if isinstance(value, Record):
                yield value, False
            elif isinstance(value, dict):
                yield Row(value, number), False
            else:
                raise DataError(f"item {number} is a {type(value).__name__}, neither a dict nor a Record")
    else:
        raise DataError(
            f"cannot read records from a {type(source).__name__}",
            mend="pass a path, a list of dicts or Records, a DataFrame or a Hugging Face Dataset",
        )


def _frame_row(value: dict[Any, Any], number: int) -> dict[str, Any]:
    row = {str(key): item for key, item in plain(value).items()}
    if "id" in row and not isinstance(row["id"], str):
        raise DataError(
            f"the id of row {number} is the number {row['id']!r}: zeros in front may be lost already",
            field="id",
            mend='read the table with dtype=str, or say frame["id"] = frame["id"].astype(str)',
        )
    return row
