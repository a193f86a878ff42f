# SPDX-License-Identifier: Apache-2.0
"""Lists of numbers of different lengths, side by side in one array."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Ragged:
    """List i is `values[splits[i]:splits[i + 1]]`.

    What is computed of a list depends on that list alone, to the last bit.

    >>> lists = Ragged.of([[1.0, 2.0], [], [5.0]])
    >>> lists.sums().tolist(), lists.firsts().tolist(), lists.lasts().tolist()
    ([3.0, 0.0, 5.0], [1.0, nan, 5.0], [2.0, nan, 5.0])
    """

    values: Numbers
    splits: Counts

    @classmethod
    def of(cls, lists: Iterable[Sequence[float]]) -> Ragged:
        """Pack lists."""
        held = list(lists)
        splits = np.zeros(len(held) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, held), dtype=np.int64, count=len(held)), out=splits[1:])
        values = np.fromiter(chain.from_iterable(held), dtype=np.float64, count=int(splits[-1]))
        return cls(values, splits)

    def __len__(self) -> int:
        return len(self.splits) - 1

    def __getitem__(self, index: int) -> Numbers:
        return self.values[int(self.splits[index]) : int(self.splits[index + 1])]

    def part(self, start: int, stop: int) -> Ragged:
        """Lists `start` to `stop`."""
        splits = self.splits[start : stop + 1]
        return Ragged(self.values[int(splits[0]) : int(splits[-1])], splits - splits[0])

    def like(self, values: Numbers) -> Ragged:
        """Other values in lists of the same lengths."""
        other = Ragged(values, self.splits)
        # What is derived from lengths alone is derived once.
        for name in ("counts", "places", "owners"):
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name]
        return other

    @cached_property
    def counts(self) -> Counts:
        """How many numbers each list has."""
        return np.diff(self.splits)

    @cached_property
    def places(self) -> Counts:
        """The place of each number in its list, from 0."""
        found: Counts = np.arange(len(self.values), dtype=np.int64)
        found -= np.repeat(self.splits[:-1], self.counts)
        return found

    @cached_property
    def owners(self) -> Counts:
        """The list that each number belongs to."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.counts)

    def spread(self, each: Numbers) -> Numbers:
        """One number per list, repeated for each member of the list."""
        return np.repeat(each, self.counts)

    def firsts(self) -> Numbers:
        """The first number of each list, NaN where it is empty."""
        return self._at(self.splits[:-1])

    def lasts(self) -> Numbers:
        """The last number of each list, NaN where it is empty."""
        return self._at(self.splits[1:] - 1)

    def _at(self, where: Counts) -> Numbers:
        found = np.full(len(self), np.nan)
        filled = self.counts > 0
        found[filled] = self.values[where[filled]]
        return found

    def sums(self, where: Mask | None = None) -> Numbers:
        """The sum of each list, of the members that `where` marks; 0 where there is nothing."""
        values = self.values if where is None else np.where(where, self.values, 0.0)
        return self._reduced(np.add, values, 0.0)

    def first_place(self, where: Mask) -> Counts:
        """The place of the first member that `where` marks; the length of the list if none is."""
        marked = np.where(where, self.places, np.iinfo(np.int64).max)
        found: Counts = np.minimum(self._reduced(np.minimum, marked, 0), self.counts)
        return found

    def running_maximum(self) -> Numbers:
        """The largest number so far, within each list."""
        return self._scanned(np.maximum)

    def running_sum(self) -> Numbers:
        """The sum so far, within each list."""
        return self._scanned(np.add)

    def _scanned(self, function: np.ufunc) -> Numbers:
        found = self.values.copy()
        reach, longest = 1, int(self.counts.max(initial=0))
        while reach < longest:  # each round looks back twice as far
            inside = self.places[reach:] >= reach
            np.copyto(found[reach:], function(found[reach:], found[:-reach]), where=inside)
            reach *= 2
        return found

    def previous(self, first: float) -> Numbers:
        """The number before each, within its list; `first` before the first."""
        found = np.empty_like(self.values)
        found[1:] = self.values[:-1]
        found[self.splits[:-1][self.counts > 0]] = first
        return found

    def _reduced(self, function: np.ufunc, values: NDArray[np.generic], empty: float) -> NDArray:  # type: ignore[type-arg]
        found = np.full(len(self), empty, dtype=values.dtype)
        filled = self.counts > 0
        if filled.any():
            found[filled] = function.reduceat(values, self.splits[:-1][filled])
        return found
