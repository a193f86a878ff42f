# SPDX-License-Identifier: Apache-2.0
"""Two systems by a plain share of examples: only examples that exactly one got right tell anything.

Their two counts are all that McNemar's test and the interval of the difference need.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from assay.aggregate.asked import LEVEL
from assay.aggregate.interval import Interval
from assay.core.comparison import McNemar
from assay.core.metric import Metric, Rows, Score

FEW_DISCORDANT = 25


class Counted(NamedTuple):
    """Of `n` examples, how many only the system got right, and how many only the baseline."""

    won: int
    lost: int
    n: int


def counted(metric: Metric, score: Score, system: Rows, baseline: Rows) -> Counted | None:
    """The counts for a score that is a plain share of examples, from the rows of both.

    None for other scores, and where the two systems are measured on different examples or on
    none.
    """
    if score.proportion is None or metric.merge != "sum":
        return None
    part, whole = (metric.columns.index(column) for column in score.proportion)
    if not np.array_equal(system[:, whole], baseline[:, whole]) or not system[:, whole].any():
        return None
    won, lost = system[:, part] > baseline[:, part], system[:, part] < baseline[:, part]
    return Counted(int(won.sum()), int(lost.sum()), int(system[:, whole].sum()))


def mcnemar(only_system: int, only_baseline: int) -> McNemar:
    """McNemar's test: of the examples that exactly one got right, did one get more than its half?

    `p_exact` is two-sided and never too small; `p_mid` counts the observed split half, which is
    closer to the truth when there are few (Fagerland, Lydersen and Laake 2013, "The McNemar test
    for binary matched-pairs data: mid-p and asymptotic are better than exact conditional").

    >>> mcnemar(8, 2)
    McNemar(only_system=8, only_baseline=2, p_exact=0.109375, p_mid=0.0654296875)
    """
    n, k = only_system + only_baseline, min(only_system, only_baseline)
    if n == 0:
        return McNemar(0, 0, 1.0, 1.0)
    at_k = _binomial_half(n, k)
    # C(n, i - 1) / C(n, i) = i / (n - i + 1): the tail is a sum of running products.
    below = np.arange(k, 0, -1, dtype=np.float64)
    tail = at_k * (1.0 + float(np.cumprod(below / (n - below + 1)).sum()))
    exact = min(1.0, 2 * tail)
    # Splits as uneven as this one are two (k and n - k), or one if the split is even; the mid-p
    # counts them half.
    mid = 1.0 - at_k / 2 if 2 * k == n else exact - at_k
    return McNemar(only_system, only_baseline, exact, mid)


def mcnemar_p(found: McNemar) -> tuple[float, str]:
    """The p-value to go by, and the name of the test it comes from."""
    if found.only_system + found.only_baseline < FEW_DISCORDANT:
        return found.p_exact, "mcnemar exact"
    return found.p_mid, "mcnemar mid-p"


def difference_interval(found: Counted, score: Score, *, level: float = LEVEL) -> Interval:
    """`tango_interval` in the unit of the score, which may be printed in percent."""
    scale = score.high - score.low
    low, high = tango_interval(found.won, found.lost, found.n, level=level).bounds
    return Interval(scale * low, scale * high, "tango", level)


def tango_interval(won: int, lost: int, n: int, *, level: float = LEVEL) -> Interval:
    """The interval of the difference of two shares of the same `n` examples.

    It holds the differences that a score test does not reject, and so is to pairs what Wilson's
    is to one share. Where the two systems never differed it is as wide as Wilson's of 0 of `n`;
    resamples would all show no difference, and make a few examples look like proof.

    Tango (1998), "Equivalence test and confidence interval for the difference in proportions for
    the paired-sample design".

    >>> [round(bound, 4) for bound in tango_interval(0, 0, 20).bounds]
    [-0.1611, 0.1611]
    """
    if not n > 0:
        return Interval(math.nan, math.nan, "tango", level)
    z = NormalDist().inv_cdf((1 + level) / 2)
    real = (won - lost) / n
    low = _where_deviation_is(z, won, lost, n, -1.0, real)
    high = _where_deviation_is(-z, won, lost, n, real, 1.0)
    return Interval(low, high, "tango", level)


def _where_deviation_is(
    wanted: float, won: int, lost: int, n: int, below: float, above: float
) -> float:
    """The difference between two bounds, found by halving, of which the data deviate this much."""
    for _ in range(60):
        middle = (below + above) / 2
        if _deviation_from(middle, won, lost, n) > wanted:
            below = middle
        else:
            above = middle
    return (below + above) / 2


def _deviation_from(difference: float, won: int, lost: int, n: int) -> float:
    """How many standard deviations the data lie above a true `difference`; falls as that rises."""
    # The chance of losing that makes the data most likely under this difference solves
    # 2n x^2 + b x + c = 0.
    b = (2 * n - won + lost) * difference - won - lost
    c = -lost * difference * (1 - difference)
    losing = (math.sqrt(max(b * b - 8 * n * c, 0.0)) - b) / (4 * n)
    variance = n * (2 * losing + difference * (1 - difference))
    return (won - lost - n * difference) / math.sqrt(max(variance, 1e-300))


def _binomial_half(n: int, k: int) -> float:
    """The chance of `k` heads in `n` fair coins."""
    if n <= 10_000:
        return math.comb(n, k) / (1 << n)  # whole numbers, divided once
    log = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) - n * math.log(2)
    return math.exp(log)
