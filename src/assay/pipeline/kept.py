# SPDX-License-Identifier: Apache-2.0
"""Rows of many batches as one matrix that grows while they come."""

from __future__ import annotations

import numpy as np

from assay.core.metric import Rows

FIRST = 8_192
"""Rows that there is room for at first."""


class KeptRows:
    """Rows one after the other; joining a list of parts at the end would hold them twice.

    >>> kept = KeptRows(2)
    >>> kept.add(np.ones((3, 2)))
    >>> kept.matrix().shape
    (3, 2)
    """

    def __init__(self, n_columns: int) -> None:
        self._held: Rows = np.empty((0, n_columns))
        self._n = 0

    def add(self, rows: Rows) -> None:
        """Put these rows behind those that are there."""
        end = self._n + len(rows)
        if end > len(self._held):
            # What is reserved and not yet written to takes no memory.
            larger = np.empty((max(end, 2 * len(self._held), FIRST), self._held.shape[1]))
            larger[: self._n] = self._held[: self._n]
            self._held = larger
        self._held[self._n : end] = rows
        self._n = end

    def matrix(self) -> Rows:
        """All rows."""
        return self._held[: self._n]
