"""A data set in memory: records with a name, the card that read them, and notes about what was done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, overload

from judgekit.errors import DataError
from judgekit.records import Record

if TYPE_CHECKING:
    from judgekit.data.cards import Card

__all__ = ["RecordSet"]


class RecordSet(Sequence[Record]):
    """A list-like of records, in the order of their source.

    Parameters
    ----------
    records : the records; ids are unique (`load_records` has seen to it).
    name : the data set's name, part of every record's identity in a run.
    card : the card that the source was read through, or None.
    path : where the source lies, as given, or None when it was in memory.
    promises_labels : the card says where labels lie (a record may still have none).
    notes : sentences a reader of a result should see (rows that a filter left out, with their number, and the like).
    """

    def __init__(
        self,
        records: Iterable[Record],
        *,
        name: str,
        card: Card | None = None,
        path: str | None = None,
        notes: Iterable[str] = (),
        promises_labels: bool = False,
    ) -> None:
        self._records = tuple(records)
        self.name = name
        self.card = card
        self.path = path
        self.notes = list(notes)
        self.promises_labels = promises_labels

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> RecordSet: ...
    def __getitem__(self, index: int | slice) -> Record | RecordSet:
        if isinstance(index, slice):
            return self.derive(self._records[index])
        return self._records[index]

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records)

    def __repr__(self) -> str:
        return f"RecordSet({self.name!r}, {len(self)} records)"

    def derive(self, records: Iterable[Record], note: str | None = None) -> RecordSet:
        """The same data set with other records (a filter, a sample); `note` says what was done."""
        notes = [*self.notes, *([note] if note else [])]
        return RecordSet(
            records,
            name=self.name,
            card=self.card,
            path=self.path,
            notes=notes,
            promises_labels=self.promises_labels,
        )

    def need_promised_labels(self) -> None:
        """Raise DataError where the card says where labels lie and not one record has any: it is hardly the card of this file.

        For what costs money or time: verdicts on records that nothing can be compared with are seldom what was meant.
        """
        if self.promises_labels and self._records and not any(record.labels for record in self._records):
            name = self.card.name if self.card else "?"
            raise DataError(
                f"the card {name!r} says where labels lie, and none of the {len(self)} records has one",
                file=self.path,
                field="card",
                mend="leave --card out, or name the card of this file (judgekit data list), or take the labels out of a copy of the card "
                "where nobody has labelled yet; --plan goes on without",
            )

    def by_id(self) -> dict[str, Record]:
        """Records by id."""
        return {record.id: record for record in self._records}
