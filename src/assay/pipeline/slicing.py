# SPDX-License-Identifier: Apache-2.0
"""Which example belongs to which slice or cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from assay.aggregate.totals import Codebook, Codes
from assay.core.batch import Batch
from assay.core.errors import UsageError
from assay.core.names import unknown
from assay.core.task import Task

if TYPE_CHECKING:
    from assay.pipeline.stored import StoredExample


class Grouping:
    """One column, coded as it comes: example i has value `values[codes[i]]`.

    >>> grouping = Grouping("type")
    >>> grouping.add(["b", "a", "b"])
    array([0, 1, 0])
    >>> grouping.values, grouping.codes
    (('b', 'a'), array([0, 1, 0]))
    """

    def __init__(self, column: str) -> None:
        self.column = column
        self._book = Codebook()
        self._parts: list[Codes] = []

    def add(self, values: Sequence[str]) -> Codes:
        """Take in the column of the next batch; gives back its codes."""
        self._parts.append(self._book.encode(values))
        return self._parts[-1]

    @property
    def values(self) -> tuple[str, ...]:
        """The distinct values, in the order they were met."""
        return self._book.names

    @property
    def codes(self) -> Codes:
        """One code per example."""
        return np.concatenate(self._parts) if self._parts else np.zeros(0, dtype=np.intp)


def with_columns(task: Task, batch: Batch, wanted: Sequence[str]) -> Batch:
    """The batch with every wanted column: from the inputs, or computed by the task."""
    absent = [name for name in wanted if name not in batch.columns]
    if not absent:
        return batch
    columns = dict(batch.columns)
    for name in absent:
        derived = task.derive(name, batch)
        if derived is None:
            raise _no_such_column(task, name, batch)
        columns[name] = derived
    return replace(batch, columns=columns)


def _no_such_column(task: Task, name: str, batch: Batch) -> UsageError:
    known = [*batch.columns, *task.derives]
    if known:
        return unknown("column", name, known)
    return UsageError(
        f"unknown column '{name}': the inputs have no columns besides prediction and gold, "
        f"and the task {task.name} computes none of that name; use JSONL or TSV input"
    )


def with_stored_columns(task: Task, example: StoredExample, wanted: Sequence[str]) -> StoredExample:
    """The example with every wanted column: as it was stored, or computed by the task again."""
    from msgspec import structs

    columns = dict(example.slices)
    for name in wanted:
        if name in columns:
            continue
        derived = None
        if name in task.derives:
            derived = task.derive(name, Batch([example.prediction], [example.gold], [example.id]))
        if derived is None:
            raise unknown("column", name, [*columns, *task.derives])
        columns[name] = derived[0]
    return structs.replace(example, slices=columns)
