"""Batches by tokens: sorted by length, halved when the memory is full."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from judgekit.errors import InputError

__all__ = ["in_batches"]


def _is_out_of_memory(error: BaseException) -> bool:
    return type(error).__name__ == "OutOfMemoryError" or (
        isinstance(error, RuntimeError) and "out of memory" in str(error).casefold()
    )


def in_batches(
    items: Sequence[Any],
    lengths: Sequence[int],
    budget: int,
    run: Callable[[list[Any]], Sequence[Any]],
    free: Callable[[], None] | None = None,
) -> list[Any]:
    """Results of `run` over batches, in the order of `items`.

    Parameters
    ----------
    lengths : tokens of each item; a batch holds items of like length, and its padded size stays within `budget`
        (one item alone may pass it).
    run : takes a batch, gives one result an item. When it runs out of memory the batch is halved; a single item that does not
        fit raises InputError.
    free : called after it ran out of memory, before the next try.
    """
    order = sorted(range(len(items)), key=lambda i: lengths[i], reverse=True)
    results: list[Any] = [None] * len(items)
    todo: list[list[int]] = []
    batch: list[int] = []
    for i in order:
        if batch and lengths[batch[0]] * (len(batch) + 1) > budget:
            todo.append(batch)
            batch = []
        batch.append(i)
    if batch:
        todo.append(batch)
    todo.reverse()
    while todo:
        batch = todo.pop()
        try:
            found = run([items[i] for i in batch])
        except Exception as error:
            if not _is_out_of_memory(error):
                raise
            if len(batch) == 1:
                raise InputError(
                    f"one text of {lengths[batch[0]]} tokens does not fit the memory",
                    mend="--device cpu, or a smaller model",
                ) from error
            half = len(batch) // 2
            todo += [batch[half:], batch[:half]]
            if free is not None:
                free()
            continue
        for i, result in zip(batch, found, strict=True):
            results[i] = result
    return results
