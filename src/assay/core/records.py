# SPDX-License-Identifier: Apache-2.0
"""Records: one side of the data (predictions or gold), as readers give it and `align` takes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Records:
    """A block of records of one side, in file order, at most `core.batch.BLOCK` of them.

    `values` is a `TextLists` where the task scores text. `ids` is None where the format has none.
    `path` and `lines` (the 1-based line of each record; None where it is `first + position + 1`)
    are for error messages; so is `paths`, the file of each record, where a block joins several.
    `also` holds the other side where one file carries both.
    """

    values: Sequence[Any]
    ids: Sequence[str] | None = None
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    path: str = ""
    first: int = 0
    lines: Sequence[int] | None = None
    also: Sequence[Any] | None = None
    paths: Sequence[str] | None = None

    def __len__(self) -> int:
        return len(self.values)

    def line_of(self, index: int) -> int:
        """The 1-based line of record `index` of this block."""
        return self.lines[index] if self.lines is not None else self.first + index + 1

    def path_of(self, index: int) -> str:
        """The file of record `index` of this block."""
        return self.paths[index] if self.paths is not None else self.path

    def place_of(self, index: int) -> str:
        """File and line of record `index`, as messages name them.

        >>> Records(["a", "b"], path="gold.txt", first=10).place_of(1)
        'gold.txt, line 12'
        """
        return f"{self.path_of(index)}, line {self.line_of(index):,}"
