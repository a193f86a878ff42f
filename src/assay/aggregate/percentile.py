# SPDX-License-Identifier: Apache-2.0
"""Where an interval ends among resampled scores. Needs no numpy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.aggregate.asked import LEVEL

if TYPE_CHECKING:
    from assay.core.metric import Value


def percentile_bounds(
    ordered: Sequence[float] | Value, n: int, level: float = LEVEL
) -> tuple[float, float]:
    """The ends of the middle `level` of resampled scores, which come in order and are defined.

    `n` is how many units (examples, clusters) there are, and at least 2. Few units vary less in
    resamples than in truth; the share left out at each end is therefore made smaller, by what
    Student's t asks for (docs/explanation/statistics.md; Hesterberg 2015, "What teachers should
    know about the bootstrap", calls it the expanded percentile interval).
    """
    beyond = _student(level, n - 1) * math.sqrt(n / (n - 1))
    tail = 0.5 * (1 + math.erf(-beyond / math.sqrt(2)))
    return _quantile(ordered, tail), _quantile(ordered, 1 - tail)


def _quantile(ordered: Sequence[float] | Value, share: float) -> float:
    """The value below which `share` of new resamples would fall: the k-th of R is at k / (R + 1).

    What `numpy.quantile` calls "weibull"; that loads masked arrays, a tenth of a small score's
    time.
    """
    n = len(ordered)
    place = min(max(n * share + share - 1, 0.0), n - 1.0)
    below = int(place)
    low, high = float(ordered[below]), float(ordered[min(below + 1, n - 1)])
    if low == high:  # also where both are infinite
        return low
    between = place - below
    return low + (high - low) * between if between < 0.5 else high - (high - low) * (1 - between)


def _student(level: float, degrees: int) -> float:
    """The two-sided critical value of Student's t, by its expansion around the normal one.

    Abramowitz and Stegun 26.7.5; within 0.001 of the exact value from 10 degrees of freedom up.
    """
    z = _normal(level)
    square = z * z
    terms = (
        z * (square + 1) / 4,
        z * (5 * square**2 + 16 * square + 3) / 96,
        z * (3 * square**3 + 19 * square**2 + 17 * square - 15) / 384,
        z * (79 * square**4 + 776 * square**3 + 1482 * square**2 - 1920 * square - 945) / 92160,
    )
    return z + math.fsum(term / degrees**power for power, term in enumerate(terms, start=1))


def _normal(level: float) -> float:
    """The two-sided critical value of the normal distribution.

    The usual one is at hand: the module that knows the others takes as long to load as a hundred
    rows take to score.

    >>> round(_normal(0.95), 6), round(_normal(0.9), 6)
    (1.959964, 1.644854)
    """
    if level == 0.95:
        return 1.9599639845400536
    from statistics import NormalDist

    return NormalDist().inv_cdf((1 + level) / 2)
