# SPDX-License-Identifier: Apache-2.0
"""Sums of rows: of everything, by slice, by cluster.

Rows are added one after the other inside a chunk of `CHUNK` examples, and chunks are added in
order. Blocks may be cut anywhere, by anyone: the sums come out the same to the last bit, and a
slice that holds every example has exactly the totals of the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from assay.core.batch import CHUNK
from assay.core.columns import Coded
from assay.core.metric import Metric, Rows, Totals, Value

WAITING = 4_096
"""Rows that are collected before they are added: small batches cost little more than large ones."""

Codes = NDArray[np.intp]
"""One small number per example: which slice, or which cluster, it belongs to."""


class Codebook:
    """Numbers for names, given out in order of first appearance.

    >>> book = Codebook()
    >>> book.encode(["b", "a", "b"]), book.encode(["c", "a"]), book.names
    (array([0, 1, 0]), array([2, 1]), ('b', 'a', 'c'))
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._names: Sequence[str] = ()  # of the coded column that `_table` is for
        self._table: Codes = np.zeros(0, dtype=np.intp)

    def encode(self, values: Iterable[str]) -> Codes:
        """The number of each value; a value not seen before gets the next one."""
        if isinstance(values, Coded):
            return self._translated(values)
        held = list(values)
        numbers = self._numbers
        for value in dict.fromkeys(held):
            numbers.setdefault(value, len(numbers))
        return np.fromiter(map(numbers.__getitem__, held), dtype=np.intp, count=len(held))

    def _translated(self, column: Coded) -> Codes:
        """The numbers of a column that has some already: only distinct names are looked up."""
        if column.names is not self._names:
            self._names, self._table = column.names, np.zeros(0, dtype=np.intp)
        more = len(column.names) - len(self._table)
        if more:  # names may be added to as batches come
            self._table = np.concatenate([self._table, np.full(more, -1, dtype=np.intp)])
        found = self._table[column.codes]
        if len(found) and found.min() < 0:
            met = list(dict.fromkeys(column.codes.tolist()))
            self._table[met] = self.encode([column.names[code] for code in met])
            found = self._table[column.codes]
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """The values seen so far: `names[code]` is what `code` stands for."""
        return tuple(self._numbers)


class SliceSums:
    """Sums of rows by slice, taken in as they come.

    >>> sums = SliceSums(2)
    >>> sums.add(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([0, 1, 0]))
    >>> sums.table, sums.counts
    (array([[6., 8.],
           [3., 4.]]), array([2, 1]))
    """

    def __init__(self, n_columns: int) -> None:
        self._done: Rows = np.zeros((0, n_columns))  # whole chunks, added in order
        self._open: Rows = np.zeros((0, n_columns))  # the chunk that is being filled
        self._counts: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._in_chunk = 0
        self._waiting: list[tuple[Rows, Codes]] = []
        self._n_waiting = 0

    def add(self, rows: Rows, codes: Codes) -> None:
        """Take in the next rows, and the slice each belongs to."""
        assert len(rows) == len(codes), "one code per row"
        self._waiting.append((rows, codes))
        self._n_waiting += len(rows)
        if self._n_waiting >= WAITING:
            self._settle()

    def _settle(self) -> None:
        """Add the rows that were only collected so far."""
        if not self._waiting:
            return
        rows, codes = self._waiting[0]
        if len(self._waiting) > 1:
            rows = np.concatenate([one for one, _ in self._waiting])
            codes = np.concatenate([one for _, one in self._waiting])
        self._waiting, self._n_waiting = [], 0
        if len(codes):
            self._grow(int(codes.max()) + 1)
        at = 0
        while at < len(rows):
            step = min(len(rows) - at, CHUNK - self._in_chunk)
            self._take(rows[at : at + step], codes[at : at + step])
            at += step

    @property
    def table(self) -> Rows:
        """The totals of each slice: shape (slices, columns)."""
        self._settle()
        return self._done + self._open

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many examples each slice holds."""
        self._settle()
        return self._counts.copy()

    def _grow(self, n_slices: int) -> None:
        more = n_slices - len(self._counts)
        if more > 0:
            empty = np.zeros((more, self._done.shape[1]))
            self._done = np.concatenate([self._done, empty])
            self._open = np.concatenate([self._open, empty])
            self._counts = np.concatenate([self._counts, np.zeros(more, dtype=np.int64)])

    def _take(self, rows: Rows, codes: Codes) -> None:
        # bincount adds strictly in order. Putting the sums so far in front continues that order,
        # which is what makes the result independent of where blocks were cut.
        n = len(self._counts)
        if n == 1 and rows.shape[1] > 1:
            # So does a sum over rows that lie one after the other, several times quicker. (A single
            # column would be summed pairwise.)
            stacked = np.ascontiguousarray(np.concatenate([self._open, rows]))
            self._open = np.add.reduce(stacked, axis=0, keepdims=True)
        else:
            order = np.concatenate([np.arange(n), codes])
            for j in range(rows.shape[1]):
                values = np.concatenate([self._open[:, j], rows[:, j]])
                self._open[:, j] = np.bincount(order, weights=values, minlength=n)
        self._counts += np.bincount(codes, minlength=n) if n > 1 else len(codes)
        self._in_chunk += len(rows)
        if self._in_chunk == CHUNK:
            self._done += self._open
            self._open[:] = 0.0
            self._in_chunk = 0


class Sums:
    """The sum of all rows, taken in as they come.

    >>> sums = Sums(2)
    >>> sums.add(np.array([[1.0, 2.0]]))
    >>> sums.add(np.array([[3.0, 4.0], [5.0, 6.0]]))
    >>> sums.values, sums.n
    (array([ 9., 12.]), 3)
    """

    def __init__(self, n_columns: int) -> None:
        self._sums = SliceSums(n_columns)
        self._sums._grow(1)

    def add(self, rows: Rows) -> None:
        """Take in the next rows."""
        self._sums.add(rows, np.zeros(len(rows), dtype=np.intp))

    @property
    def values(self) -> Rows:
        """The totals: shape (columns,)."""
        return np.asarray(self._sums.table[0])

    @property
    def n(self) -> int:
        """How many examples were added."""
        return int(self._sums.counts[0])


def total(rows: Rows) -> Rows:
    """The sum of all rows, shape (columns,), to the same bit as `Sums` gives.

    >>> total(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([4., 6.])
    """
    sums = Sums(rows.shape[1])
    sums.add(rows)
    return sums.values


def slice_totals(rows: Rows, codes: Codes, n_slices: int | None = None) -> Rows:
    """The totals of each slice, shape (slices, columns); zeros for a slice without examples.

    >>> slice_totals(np.array([[1.0], [2.0], [4.0]]), np.array([1, 0, 1]), n_slices=3)
    array([[2.],
           [5.],
           [0.]])
    """
    sums = SliceSums(rows.shape[1])
    if n_slices is not None:
        sums._grow(n_slices)
    sums.add(rows, codes)
    return sums.table


def cluster_rows(rows: Rows, clusters: Codes) -> Rows:
    """One row per cluster that occurs: the sum of its examples' rows.

    Resampling these instead of the examples keeps together what belongs together.

    >>> cluster_rows(np.array([[1.0], [2.0], [4.0]]), np.array([7, 3, 7]))
    array([[2.],
           [5.]])
    """
    _, dense = np.unique(clusters, return_inverse=True)
    return slice_totals(rows, dense.astype(np.intp, copy=False))


def cluster_members(clusters: Codes) -> list[Codes]:
    """The positions of each cluster's examples, for clusters in the order of `cluster_rows`."""
    order = np.argsort(clusters, kind="stable")
    _, counts = np.unique(clusters, return_counts=True)
    return np.split(order, np.cumsum(counts)[:-1]) if len(counts) else []


def split_columns(metrics: Sequence[Metric], values: Rows) -> list[Rows]:
    """The columns of each metric, where `values` holds those of one metric after the other."""
    ends = np.cumsum([len(m.columns) for m in metrics])
    assert len(ends) == 0 or ends[-1] == values.shape[-1], "rows hold the metrics' columns"
    return np.split(values, ends[:-1], axis=-1) if len(ends) else []


def scores_of(metric: Metric, rows: Rows) -> dict[str, float]:
    """The scores of these rows, whichever way the metric merges them."""
    totals = rows if metric.merge == "concat" else total(rows)
    return {k: float(v) for k, v in metric.finalise(Totals(metric.columns, totals)).items()}


def macro_scores(
    metric: Metric, table: Rows, examples: Rows | None = None, *, weights: Rows | None = None
) -> dict[str, Value]:
    """The mean of a score over slices, each slice counting the same unless it has a weight.

    `table` has shape (..., slices, columns). Slices in which a score is undefined are left out
    of its mean; undefined where it is undefined in all of them. `examples` (..., slices) says how
    many examples each slice holds: one that a resample left empty has no score, whatever the
    metric says of nothing at all.
    """
    scores = metric.finalise(Totals(metric.columns, table))
    if examples is not None:
        scores = {name: np.where(examples > 0, value, np.nan) for name, value in scores.items()}
    return {name: defined_mean(np.asarray(value), weights) for name, value in scores.items()}


def defined_mean(values: Value, weights: Rows | None = None) -> Value:
    """Mean over the last axis of the values that are defined; NaN where none is.

    >>> defined_mean(np.array([[1.0, np.nan, 2.0], [np.nan, np.nan, np.nan]]))
    array([1.5, nan])
    """
    there = ~np.isnan(values)
    if weights is not None:
        heavy = np.where(there, weights, 0.0)
        whole = heavy.sum(axis=-1)
        added = (heavy * np.where(there, values, 0.0)).sum(axis=-1)
        return np.asarray(np.where(whole > 0, added / np.where(whole > 0, whole, 1.0), np.nan))
    count = there.sum(axis=-1)
    added = np.where(there, values, 0.0).sum(axis=-1)
    return np.asarray(np.where(count > 0, added / np.maximum(count, 1), np.nan))
