# SPDX-License-Identifier: Apache-2.0
"""Means over slices as metrics of their own, so that whatever works on rows works on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from assay.aggregate.totals import Codes, macro_scores
from assay.core.batch import Batch
from assay.core.metric import Metric, Rows, Score, Totals, Value


class OverSlices(Metric):
    """The scores of a summing metric, averaged over slices.

    Its rows are wide: the columns of `metric` and a count, once for each slice, all but those of
    the example's own slice being 0. They add up like any rows, and the sum holds the totals of
    every slice. `weights` gives each slice its weight in the mean.

    >>> from assay.metrics.exact import Exact
    >>> rows = np.array([[1.0, 1.0], [0.0, 1.0], [0.0, 1.0]])  # right, and 1
    >>> over = OverSlices(Exact(), 2)
    >>> wide = over.widened(rows, np.array([0, 1, 1]))
    >>> over.finalise(Totals(over.columns, wide.sum(axis=0)))["exact"]
    array(0.5)
    """

    def __init__(self, metric: Metric, n_slices: int, weights: Rows | None = None) -> None:
        assert metric.merge == "sum", "a macro average needs totals per slice"
        self.metric = metric
        self.n_slices = n_slices
        self.weights = weights
        # A mean of shares is no share of examples.
        self.scores: tuple[Score, ...] = tuple(  # type: ignore[misc]  # depends on the metric
            replace(score, proportion=None) for score in metric.scores
        )

    @property
    def name(self) -> str:  # type: ignore[override]  # as above
        """The name of the metric that is averaged."""
        return self.metric.name

    @property
    def columns(self) -> tuple[str, ...]:
        """The metric's columns and `examples`, with the number of the slice."""
        return tuple(
            f"{column} {i}"
            for i in range(self.n_slices)
            for column in (*self.metric.columns, "examples")
        )

    def measure(self, batch: Batch) -> Rows:
        """Not from text: rows come from `widened`."""
        raise NotImplementedError("widen the rows of the metric")

    def widened(self, rows: Rows, codes: Codes) -> Rows:
        """Wide rows of examples whose slices are `codes`."""
        n, width = rows.shape
        wide = np.zeros((n, self.n_slices, width + 1))
        wide[np.arange(n), codes, :-1] = rows
        wide[np.arange(n), codes, -1] = 1
        return wide.reshape(n, -1)

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """The mean of each score over the slices in which it is defined."""
        shape = (*totals.values.shape[:-1], self.n_slices, len(self.metric.columns) + 1)
        table = totals.values.reshape(shape)
        return macro_scores(self.metric, table[..., :-1], table[..., -1], weights=self.weights)
