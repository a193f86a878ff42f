# SPDX-License-Identifier: Apache-2.0
"""Ratios as the PLUR evaluator makes them: where there is nothing to divide by, they are 0.

The only place in this task where something undefined becomes a number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from assay.core.metric import Value


class Trio(NamedTuple):
    """Precision, recall and their harmonic mean."""

    precision: Value
    recall: Value
    f1_score: Value


def share(part: ArrayLike, whole: ArrayLike) -> Value:
    """`part / whole`, and 0 where `whole` is 0.

    >>> share([1.0, 0.0], [2.0, 0.0])
    array([0.5, 0. ])
    """
    top, bottom = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    none = bottom == 0
    return np.where(none, 0.0, top / np.where(none, 1.0, bottom))


def trio(true_positives: ArrayLike, false_positives: ArrayLike, false_negatives: ArrayLike) -> Trio:
    """Precision, recall and F1 of these counts.

    The order of operations is fixed: candidates are chosen by it, and the last digit is printed.

    >>> [float(value) for value in trio(2, 2, 3)]
    [0.5, 0.4, 0.4444444444444445]
    """
    hits = np.asarray(true_positives, dtype=np.float64)
    precision = share(hits, hits + np.asarray(false_positives, dtype=np.float64))
    recall = share(hits, hits + np.asarray(false_negatives, dtype=np.float64))
    return Trio(precision, recall, 2 * share(precision * recall, precision + recall))
