# SPDX-License-Identifier: Apache-2.0
"""Weights times rows, the one product of matrices here, at the same speed on a busy machine.

Linear algebra libraries start threads for all but small products. Ours are long and thin, so that
threads gain little, and where other programs run as well they wait for one another: ten to thirty
times the time was seen, and the last digits of a sum may depend on how many there were. Products
are therefore made in tiles that are too small for threads to be started.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from assay.core.batch import BLOCK
from assay.core.metric import Rows

Float = TypeVar("Float", np.float32, np.float64)
Weights = NDArray[np.float32] | NDArray[np.float64]

EXACT = 1 << 24
"""float32 holds every whole number up to here."""

# OpenBLAS, which numpy's wheels bring along, starts threads above 262,144 multiplications of two
# matrices, and from 9,216 of a matrix and a vector.
_OF_MATRICES = 1 << 18
_OF_A_VECTOR = 1 << 13
_SIDE = 64


def weighted_sums(weights: NDArray[Float], rows: NDArray[Float]) -> NDArray[Float]:
    """`weights @ rows`, of shape (resamples, columns), to the same bit for any number of threads.

    >>> weighted_sums(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([[1.0, 4.0], [2.0, 8.0]]))
    array([[ 2.,  8.],
           [ 3., 12.]])
    """
    resamples, n = weights.shape
    columns = rows.shape[1]
    high, wide = max(1, min(resamples, _SIDE)), max(1, min(columns, _SIDE))
    deep = (_OF_A_VECTOR if 1 in (high, wide) else _OF_MATRICES) // (high * wide)
    out = np.zeros((resamples, columns), dtype=weights.dtype)
    for i in range(0, resamples, high):
        for j in range(0, columns, wide):
            tile = out[i : i + high, j : j + wide]
            for k in range(0, n, deep):
                tile += weights[i : i + high, k : k + deep] @ rows[k : k + deep, j : j + wide]
    return out


class Product:
    """`weights @ rows` for many blocks of weights, in float32 where that is exact.

    Where rows are whole numbers and not negative, sums only grow while they are made, and a sum
    that ends below 2**24 was exact all along; the few that do not are made again in float64.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._narrow = rows.astype(np.float32) if _is_narrow(rows) else None

    @property
    def dtype(self) -> np.dtype[np.float32] | np.dtype[np.float64]:
        """The type of weights that costs least."""
        return np.dtype(np.float64) if self._narrow is None else np.dtype(np.float32)

    def __call__(self, weights: Weights) -> Rows:
        """The totals of each resample of this block."""
        if self._narrow is not None:
            sums = weighted_sums(weights.astype(np.float32, copy=False), self._narrow)
            if sums.size == 0 or sums.max() < EXACT:
                return sums.astype(np.float64)
        return weighted_sums(weights.astype(np.float64, copy=False), self._rows)


def _is_narrow(rows: Rows) -> bool:
    sums = np.zeros(rows.shape[1])
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        if not ((block >= 0) & (np.floor(block) == block)).all():
            return False
        sums += block.sum(axis=0)
    return bool((sums < EXACT).all())
