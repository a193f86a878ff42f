# SPDX-License-Identifier: Apache-2.0
"""One side of the data, handed out in blocks of the size that is wanted."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import AlignError
from assay.core.records import Records
from assay.core.text import TextLists, Texts


class Feed:
    """Records of one side; `take` joins and cuts blocks as needed.

    `n` counts the records taken, and `name` speaks of all files seen so far.
    """

    def __init__(self, records: Iterator[Records], role: str) -> None:
        self._records = records
        self._held: deque[Records] = deque()
        self._n_held = 0
        self._paths: dict[str, None] = {}
        self._role = role
        self.n = 0

    @property
    def name(self) -> str:
        """The file, or the first file and how many others."""
        if not self._paths:
            return self._role
        first, others = next(iter(self._paths)), len(self._paths) - 1
        return f"{first} and {others} more" if others else first

    def peek(self) -> Records | None:
        """The next block, left in place; None at the end."""
        if not self._held:
            self._pull()
        return self._held[0] if self._held else None

    def take(self, n: int) -> Records | None:
        """The next `n` records, fewer at the end, None after it."""
        while self._n_held < n and self._pull():
            pass
        if not self._held:
            return None
        parts = []
        wanted = min(n, self._n_held)
        while wanted:
            block = self._held.popleft()
            if len(block) > wanted:
                self._held.appendleft(part(block, wanted, len(block)))
                block = part(block, 0, wanted)
            parts.append(block)
            wanted -= len(block)
            self._n_held -= len(block)
            self.n += len(block)
        _check_ids(parts)
        return parts[0] if len(parts) == 1 else joined_records(parts)

    def _pull(self) -> bool:
        for block in self._records:
            self._paths.setdefault(block.path)
            if len(block):
                self._held.append(block)
                self._n_held += len(block)
                return True
        return False


def part(block: Records, start: int, stop: int) -> Records:
    """Records `start` to `stop` of a block."""
    return Records(
        block.values[start:stop],
        block.ids[start:stop] if block.ids is not None else None,
        {name: column[start:stop] for name, column in block.columns.items()},
        block.path,
        block.first + start,
        block.lines[start:stop] if block.lines is not None else None,
        block.also[start:stop] if block.also is not None else None,
        block.paths[start:stop] if block.paths is not None else None,
    )


def taken(block: Records, indices: Sequence[int] | NDArray[np.int64]) -> Records:
    """The records at these positions of a block, in this order."""
    places = np.asarray(indices, dtype=np.int64).tolist()
    return Records(
        _at(block.values, places),
        _at(block.ids, places) if block.ids is not None else None,
        {name: _at(column, places) for name, column in block.columns.items()},
        block.path,
        block.first,
        [block.line_of(i) for i in places],
        _at(block.also, places) if block.also is not None else None,
        _at(block.paths, places) if block.paths is not None else None,
    )


def _at(column: Sequence[Any], places: list[int]) -> Sequence[Any]:
    if isinstance(column, (TextLists, Texts)):
        return column.take(places)
    return [column[i] for i in places]


def joined_records(parts: Sequence[Records]) -> Records:
    """Several blocks as one; a column that one of them lacks is empty there."""
    head = parts[0]
    one_file = all(p.path == head.path and p.paths is None for p in parts)
    in_a_row = one_file and all(
        b.lines is None and a.lines is None and b.first == a.first + len(a)
        for a, b in pairwise(parts)
    )
    return Records(
        joined([p.values for p in parts]),
        _all_or_none([p.ids for p in parts]),
        joined_columns([(p.columns, len(p)) for p in parts]),
        head.path,
        head.first,
        None if in_a_row else [p.line_of(i) for p in parts for i in range(len(p))],
        _all_or_none([p.also for p in parts]),
        None if one_file else [p.path_of(i) for p in parts for i in range(len(p))],
    )


def joined_columns(parts: Sequence[tuple[Mapping[str, Sequence[str]], int]]) -> dict[str, Any]:
    """Columns of several blocks, given with their lengths."""
    names = dict.fromkeys(chain.from_iterable(columns for columns, _ in parts))
    return {
        name: list(chain.from_iterable(c[name] if name in c else [""] * n for c, n in parts))
        for name in names
    }


def _check_ids(parts: Sequence[Records]) -> None:
    """Refuse files of which some have ids and some have none."""
    without = next((p for p in parts if p.ids is None), None)
    other = next((p for p in parts if p.ids is not None), None)
    if without is not None and other is not None:
        raise AlignError(
            f"{other.path} has ids and {without.path} has none", hint="give all files ids, or none"
        )


def _all_or_none(parts: Sequence[Sequence[Any] | None]) -> Sequence[Any] | None:
    held = [p for p in parts if p is not None]
    return joined(held) if len(held) == len(parts) else None


def joined(parts: Sequence[Sequence[Any]]) -> Sequence[Any]:
    """Columns one after the other, in one buffer where they are text."""
    if len(parts) == 1:
        return parts[0]
    lists = [p for p in parts if isinstance(p, TextLists)]
    if len(lists) == len(parts):
        values = _joined_texts([p.values[int(p.splits[0]) : int(p.splits[-1])] for p in lists])
        return TextLists(
            values, np.append(0, np.cumsum(np.concatenate([p.counts() for p in lists])))
        )
    texts = [p for p in parts if isinstance(p, Texts)]
    if len(texts) == len(parts):
        return _joined_texts(texts)
    return list(chain.from_iterable(parts))


def _joined_texts(columns: Sequence[Texts]) -> Texts:
    packed = [column.compact() for column in columns]
    shifts = np.append(0, np.cumsum([len(c.data) for c in packed]))
    return Texts(
        b"".join(c.data for c in packed),
        np.concatenate([c.starts + s for c, s in zip(packed, shifts, strict=False)]),
        np.concatenate([c.ends + s for c, s in zip(packed, shifts, strict=False)]),
    )
