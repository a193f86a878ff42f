# SPDX-License-Identifier: Apache-2.0
"""Corrections for many tests: the more one looks for, the more chance turns up.

p-values that are NaN (nothing could be tested) are left out of the family and stay NaN.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

PValues = NDArray[np.float64]


def holm(p: ArrayLike) -> PValues:
    """Adjusted p-values that keep the chance of any false finding below alpha.

    Holm (1979), "A simple sequentially rejective multiple test procedure".

    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    values = np.array(p, dtype=np.float64)
    where = np.flatnonzero(~np.isnan(values))
    order = where[np.argsort(values[where], kind="stable")]
    raised = values[order] * np.arange(len(order), 0, -1)
    values[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return values


def benjamini_hochberg(p: ArrayLike) -> PValues:
    """Adjusted p-values that keep the expected share of false findings below alpha.

    Benjamini and Hochberg (1995), "Controlling the false discovery rate".

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    array([0.03, 0.04, 0.04])
    """
    values = np.array(p, dtype=np.float64)
    where = np.flatnonzero(~np.isnan(values))
    order = where[np.argsort(values[where], kind="stable")]
    n = len(order)
    raised = values[order] * (n / np.arange(1, n + 1))  # the last factor is exactly 1
    # Each is at most the one of the next larger p: a running minimum from the end.
    values[order] = np.minimum(np.minimum.accumulate(raised[::-1])[::-1], 1.0)
    return values
