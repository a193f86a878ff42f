# SPDX-License-Identifier: Apache-2.0
"""Columns of text, kept as one UTF-8 buffer so that kernels can look at bytes at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.int64]


class Texts(Sequence[str]):
    """A column of strings: text i is `data[starts[i]:ends[i]]`, in UTF-8.

    Reads like a list of strings. What lies between two texts (a line break, or nothing) is not
    part of either. Slicing shares the buffer.

    >>> column = Texts.of(["one", "", "zwölf"])
    >>> column[2], list(column[:2])
    ('zwölf', ['one', ''])
    """

    __slots__ = ("data", "ends", "starts")

    def __init__(self, data: bytes, starts: Positions, ends: Positions) -> None:
        self.data = data
        self.starts = starts
        self.ends = ends

    @classmethod
    def of(cls, texts: Iterable[str]) -> Texts:
        """Pack strings into a column."""
        texts = list(texts)
        joined = "\n".join(texts)
        if joined.isascii():  # characters are bytes, and all are packed at once
            bounds = np.zeros(len(texts) + 1, dtype=np.int64)
            np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 1, out=bounds[1:])
            return cls(f"{joined}\n".encode() if texts else b"", bounds[:-1], bounds[1:] - 1)
        pieces = [text.encode("utf-8", "surrogatepass") for text in texts]
        bounds = np.zeros(len(pieces) + 1, dtype=np.int64)
        np.cumsum([len(p) + 1 for p in pieces], out=bounds[1:])
        # One line feed after each text: the same layout as a file of lines.
        data = b"\n".join(pieces) + b"\n" if pieces else b""
        return cls(data, bounds[:-1], bounds[1:] - 1)

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Texts: ...
    def __getitem__(self, index: int | slice) -> str | Texts:
        if isinstance(index, slice):
            return Texts(self.data, self.starts[index], self.ends[index])
        return self.raw(index).decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        data = self.data
        for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True):
            yield data[start:end].decode("utf-8", "surrogatepass")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Texts):
            return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # holds arrays, like a list

    def __repr__(self) -> str:
        shown = ", ".join(repr(text) for text in self[:3])
        return f"Texts([{shown}{', ...' if len(self) > 3 else ''}], n={len(self)})"

    def __reduce__(self) -> tuple[object, ...]:
        # Only the bytes of this slice travel to a worker, not the whole buffer it was cut from.
        packed = self.compact()
        return Texts, (packed.data, packed.starts, packed.ends)

    def raw(self, index: int) -> bytes:
        """Text number `index` as UTF-8 bytes."""
        return self.data[int(self.starts[index]) : int(self.ends[index])]

    def take(self, indices: Positions | Sequence[int]) -> Texts:
        """The texts at these positions, in this order, sharing the buffer."""
        where = np.asarray(indices, dtype=np.int64)
        return Texts(self.data, self.starts[where], self.ends[where])

    def compact(self) -> Texts:
        """The same texts in the layout of `Texts.of`: in order, one line feed after each.

        Kernels call this first; a column that already has the layout costs nothing but a slice.
        """
        n = len(self)
        if n == 0:
            return Texts(b"", self.starts, self.ends)
        low, high = int(self.starts[0]), int(self.ends[-1]) + 1
        view = np.frombuffer(self.data, dtype=np.uint8)
        adjacent = bool((self.starts[1:] == self.ends[:-1] + 1).all())
        if adjacent and high <= len(view) and bool((view[self.ends] == 10).all()):
            if low == 0 and high == len(self.data):
                return self
            return Texts(self.data[low:high], self.starts - low, self.ends - low)
        lengths = self.ends - self.starts + 1
        bounds = np.zeros(n + 1, dtype=np.int64)
        np.cumsum(lengths, out=bounds[1:])
        out = b"\n".join(
            self.data[s:e] for s, e in zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        )
        return Texts(out + b"\n", bounds[:-1], bounds[1:] - 1)


class TextLists(Sequence[Sequence[str]]):
    """A column of lists of strings: several references, or several candidates, per example.

    List i is `values[splits[i]:splits[i + 1]]`.

    >>> column = TextLists.of([["a", "b"], [], ["c"]])
    >>> [list(texts) for texts in column]
    [['a', 'b'], [], ['c']]
    """

    __slots__ = ("_each_one", "splits", "values")

    def __init__(self, values: Texts, splits: Positions) -> None:
        self.values = values
        self.splits = splits
        self._each_one: bool | None = None  # found out when asked for: every stage asks

    @property
    def each_one(self) -> bool:
        """Whether every list holds exactly one text."""
        if self._each_one is None:
            self._each_one = bool((self.counts() == 1).all())
        return self._each_one

    @classmethod
    def of(cls, lists: Iterable[Sequence[str]]) -> TextLists:
        """Pack lists of strings into a column."""
        held = [list(texts) for texts in lists]
        splits = np.zeros(len(held) + 1, dtype=np.int64)
        np.cumsum([len(texts) for texts in held], out=splits[1:])
        return cls(Texts.of(text for texts in held for text in texts), splits)

    @classmethod
    def single(cls, texts: Texts) -> TextLists:
        """One string per list."""
        column = cls(texts, np.arange(len(texts) + 1, dtype=np.int64))
        column._each_one = True
        return column

    @classmethod
    def zipped(cls, columns: Sequence[Texts]) -> TextLists:
        """List i holds text i of every column: line-aligned reference files.

        >>> [list(t) for t in TextLists.zipped([Texts.of(["a", "b"]), Texts.of(["c", "d"])])]
        [['a', 'c'], ['b', 'd']]
        """
        if len(columns) == 1:
            return cls.single(columns[0])
        n, k = len(columns[0]), len(columns)
        data = b"".join(c.data for c in columns)
        shift = np.cumsum([0] + [len(c.data) for c in columns[:-1]])
        starts = np.empty((n, k), dtype=np.int64)
        ends = np.empty((n, k), dtype=np.int64)
        for j, column in enumerate(columns):
            starts[:, j] = column.starts + shift[j]
            ends[:, j] = column.ends + shift[j]
        values = Texts(data, starts.ravel(), ends.ravel())
        return cls(values, np.arange(n + 1, dtype=np.int64) * k)

    def __len__(self) -> int:
        return len(self.splits) - 1

    @overload
    def __getitem__(self, index: int) -> Texts: ...
    @overload
    def __getitem__(self, index: slice) -> TextLists: ...
    def __getitem__(self, index: int | slice) -> Texts | TextLists:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                return self.take(range(start, stop, step))
            return self._between(start, max(start, stop))
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError("list index out of range")
        return self.values[int(self.splits[index]) : int(self.splits[index + 1])]

    def __iter__(self) -> Iterator[Texts]:
        for i in range(len(self)):
            yield self[i]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TextLists):
            return (
                np.array_equal(np.diff(self.splits), np.diff(other.splits))
                and self._between(0, len(self)).values == other._between(0, len(other)).values
            )
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # holds arrays, like a list

    def __repr__(self) -> str:
        return f"TextLists(n={len(self)}, texts={int(self.splits[-1] - self.splits[0])})"

    def _between(self, start: int, stop: int) -> TextLists:
        splits = self.splits[start : stop + 1]
        part = TextLists(self.values[int(splits[0]) : int(splits[-1])], splits - splits[0])
        part._each_one = self._each_one or None  # what holds for all holds for some
        return part

    def counts(self) -> Positions:
        """How many texts each list holds."""
        return np.diff(self.splits)

    def firsts(self) -> Texts:
        """The first text of each list; an empty text where a list is empty."""
        if self.each_one:
            return self.values[int(self.splits[0]) : int(self.splits[-1])]
        counts = self.counts()
        where = np.where(counts > 0, self.splits[:-1], 0)
        if len(self.values) == 0:
            return Texts.of([""] * len(self))
        starts = self.values.starts[where]
        ends = np.where(counts > 0, self.values.ends[where], starts)
        return Texts(self.values.data, starts, ends)

    def take(self, indices: Positions | Sequence[int]) -> TextLists:
        """The lists at these positions, in this order, sharing the buffer."""
        where = np.asarray(indices, dtype=np.int64)
        counts = self.counts()[where]
        splits = np.zeros(len(where) + 1, dtype=np.int64)
        np.cumsum(counts, out=splits[1:])
        inner = np.arange(int(splits[-1])) - np.repeat(splits[:-1], counts)
        return TextLists(self.values.take(np.repeat(self.splits[where], counts) + inner), splits)
