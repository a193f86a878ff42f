# SPDX-License-Identifier: Apache-2.0
"""From some judged items to the whole set: prediction-powered inference with a census stratum.

People judge a random sample; an automatic score is there for everything. Where the two go together
the score carries the sample further, and where they do not it is left alone: the estimate is right
either way, only the interval gets shorter (Angelopoulos, Duchi and Zrnic 2023, "PPI++: Efficient
prediction-powered inference").
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.aggregate.asked import LEVEL
from assay.aggregate.interval import wilson_interval
from assay.core.errors import UsageError

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


class Powered(NamedTuple):
    """A prediction-powered mean: `weight` is how far the automatic score is trusted, 0 to 1.

    `se` is the standard error for data of the same kind, `se_finite` for these very items.
    """

    value: float
    se: float
    se_finite: float
    weight: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """What people would say about the whole set.

    `finite` is the interval for these very items had all been judged, `future` the one for new
    items of the same kind. `sampled` of `rest` unknown items were judged; `known` were judged
    before the sample was drawn. `judged_only` is what the sampled verdicts alone say. `worth` is
    how many verdicts without the automatic score would give an interval as short. `rarer` is how
    many sampled verdicts are not the most frequent one.
    """

    value: float
    finite: tuple[float, float]
    future: tuple[float, float]
    level: float
    units: int
    known: int
    rest: int
    sampled: int
    weight: float
    correlation: float
    judged_only: float
    worth: float
    rarer: int
    method: Literal["ppi++", "wilson", "census"]


def powered_mean(judged: Floats, automatic: Floats, others: Floats) -> Powered:
    """The mean of what people say: `judged` and `automatic` of the sample, `others` automatic only.

    >>> sample, rest = np.array([1.0, 0, 1, 1, 0, 1]), np.array([1.0, 0, 0, 1] * 5)
    >>> found = powered_mean(sample, np.array([1.0, 0, 0, 1, 0, 1]), rest)
    >>> round(found.value, 4), round(found.weight, 4)
    (0.6667, 0.4931)
    """
    n, m = len(judged), len(others)
    var = float(np.var(judged))
    if m == 0:
        return Powered(float(judged.mean()), math.sqrt(var / n), 0.0, 0.0)
    covariance = float(np.mean((judged - judged.mean()) * (automatic - automatic.mean())))
    pooled = float(np.var(np.concatenate([automatic, others]), ddof=1))
    weight = covariance / ((1 + n / m) * pooled) if pooled > 0 else 0.0
    weight = min(1.0, max(0.0, weight))
    value = weight * others.mean() + np.mean(judged - weight * automatic)
    se = math.sqrt(weight**2 * np.var(others) / m + np.var(judged - weight * automatic) / n)
    # The same estimate, seen as a correction of the score's mean over all items, whose only
    # randomness is which of them were drawn.
    over_all = weight * (n + m) / m
    residual = float(np.var(judged - over_all * automatic))
    return Powered(float(value), se, math.sqrt((m / (n + m)) * residual / n), weight)


def estimate(
    judged: ArrayLike,
    automatic: ArrayLike,
    *,
    drawn: ArrayLike,
    known: ArrayLike | None = None,
    level: float = LEVEL,
    least: float = 0.0,
) -> Estimate:
    """The mean verdict over all items.

    `judged` holds a number per item (1 is yes), NaN where nobody has judged; `automatic` a number
    for each. `drawn` marks the items of a recorded random draw, `known` those whose verdict was
    there before: they are a stratum that needs no estimate, and the draw stands for the rest.
    `least` is the lowest number there can be: 0 is no, and a difference of two verdicts may be -1.
    """
    y, f = np.asarray(judged, dtype=np.float64), np.asarray(automatic, dtype=np.float64)
    chosen = np.asarray(drawn, dtype=bool)
    before = np.zeros(len(y), dtype=bool) if known is None else np.asarray(known, dtype=bool)
    if len(y) == 0:
        raise UsageError("there is nothing to estimate: no items")
    rest, sampled = ~before, chosen & ~before
    _check(y, f, before, sampled, rest)
    share = float(rest.mean())
    if not rest.any():
        return _census(y, level, least)
    part = powered_mean(y[sampled], f[sampled], f[rest & ~sampled])
    value = share * part.value + (float(y[before].sum()) / len(y))
    se_finite = share * part.se_finite
    se_future = math.sqrt(_between(y, before, part.value) + (share * part.se) ** 2)
    z = NormalDist().inv_cdf((1 + level) / 2)
    right_wrong = _is_right_wrong(y[before | sampled], least)
    finite, future = _around(value, z * se_finite), _around(value, z * se_future)
    method: Literal["ppi++", "wilson"] = "ppi++"
    n, m = int(sampled.sum()), int(rest.sum())
    if right_wrong and float(np.var(y[sampled])) == 0.0 and n < m:
        # All verdicts of the sample are equal: its spread is 0, and says nothing about the rest.
        method = "wilson"
        base, said = float(y[before].sum()) / len(y), float(y[sampled][0])
        finite = _scaled(said, n / (1 - n / m), base, share, level, least)
        future = _scaled(said, n, base, share, level, least)
    elif right_wrong and n < m and bool((y[sampled] == f[sampled]).all()):
        finite, future = _where_nothing_differed(y, f, sampled, finite, future, level, least)
    if right_wrong:
        finite, future = _within(finite, least), _within(future, least)
    alone = float(y[sampled].mean())
    spread = float(np.var(y[sampled]))
    worth = spread / part.se**2 if part.se > 0 else float(n)
    return Estimate(
        value=value if not right_wrong else min(1.0, max(least, value)),
        finite=finite,
        future=future,
        level=level,
        units=len(y),
        known=int(before.sum()),
        rest=m,
        sampled=n,
        weight=part.weight,
        correlation=_correlation(y[sampled], f[sampled]),
        judged_only=alone,
        worth=worth,
        rarer=n - int(np.unique(y[sampled], return_counts=True)[1].max()),
        method=method,
    )


def estimate_difference(
    first: ArrayLike,
    second: ArrayLike,
    first_automatic: ArrayLike,
    second_automatic: ArrayLike,
    *,
    same: ArrayLike,
    drawn: ArrayLike,
    known: ArrayLike | None = None,
    level: float = LEVEL,
) -> Estimate:
    """How much better people find the first system: mean verdict of the first minus the second.

    Items on which both predict the `same` differ by exactly 0 and need no judge; the draw has to
    stand for the others alone.
    """
    equal = np.asarray(same, dtype=bool)
    before = np.zeros(len(equal), dtype=bool) if known is None else np.asarray(known, dtype=bool)
    judged = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    automatic = np.asarray(first_automatic, dtype=np.float64) - np.asarray(second_automatic)
    return estimate(
        np.where(equal, 0.0, judged),
        np.where(equal, 0.0, automatic),
        drawn=np.asarray(drawn, dtype=bool) & ~equal,
        known=equal | before,
        level=level,
        least=-1.0,
    )


def _check(y: Floats, f: Floats, before: Mask, sampled: Mask, rest: Mask) -> None:
    if np.isnan(f).any():
        raise UsageError(
            f"the automatic score is undefined for {int(np.isnan(f).sum()):,} items; choose "
            "another one with --metric"
        )
    if np.isnan(y[before]).any():
        raise UsageError(
            f"{int(np.isnan(y[before]).sum()):,} items were judged before the sample was drawn but "
            "have no final verdict now; settle them with --adjudicate"
        )
    left = int(np.isnan(y[sampled]).sum())
    if left:
        raise UsageError(
            f"{left:,} of the {int(sampled.sum()):,} sampled items have no final verdict yet; "
            "judge them, and settle those on which judges differ or are unsure"
        )
    if rest.any() and not sampled.any():
        raise UsageError(
            "none of the judged items was drawn at random by a recorded seed, so they say nothing "
            "about the others; draw a sample with --sample N --seed S and judge it"
        )


def _is_right_wrong(y: Floats, least: float) -> bool:
    """Whether all are verdicts, or differences of two verdicts, so that it is known how far what
    was not seen can be from them."""
    return bool(np.isin(y, (least, 0.0, 1.0)).all())


def _census(y: Floats, level: float, least: float) -> Estimate:
    """Everything is known: nothing is left to chance but what other items would be like."""
    value, n = float(y.mean()), len(y)
    right_wrong = _is_right_wrong(y, least)
    if right_wrong and least == 0.0:
        future = wilson_interval(float(y.sum()), n, level=level).bounds
    elif right_wrong and float(np.var(y)) == 0.0:
        future = _scaled(value, n, 0.0, 1.0, level, least)
    else:
        z = NormalDist().inv_cdf((1 + level) / 2)
        future = _around(value, z * math.sqrt(float(np.var(y)) / n))
        future = _within(future, least) if right_wrong else future
    nan = math.nan
    return Estimate(
        value, (value, value), future, level, n, n, 0, 0, 0.0, nan, nan, nan, 0, method="census"
    )


def _between(y: Floats, before: Mask, rest_mean: float) -> float:
    """Variance of the mean over new data, beyond that of the rest: within what is known, and
    because new data would mix the two strata in other shares."""
    n = len(y)
    share = float(before.mean())
    if share == 0.0:
        return 0.0
    mean = float(y[before].mean())
    whole = share * mean + (1 - share) * rest_mean
    apart = share * (mean - whole) ** 2 + (1 - share) * (rest_mean - whole) ** 2
    return (share * float(np.var(y[before])) + apart) / n


def _scaled(
    said: float, n: float, base: float, share: float, level: float, least: float
) -> tuple[float, float]:
    """Where all of n verdicts are equal: as many others as Wilson's bound allows after 0 of n may
    be any other number."""
    others = wilson_interval(0.0, n, level=level).bounds[1]
    low, high = said - others * (said - least), said + others * (1.0 - said)
    return base + share * low, base + share * high


def _where_nothing_differed(
    y: Floats,
    f: Floats,
    sampled: Mask,
    finite: tuple[float, float],
    future: tuple[float, float],
    level: float,
    least: float,
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Intervals where people and the score agree on every sampled item.

    Their differences have no spread then, which does not mean that there are none elsewhere: as
    many as Wilson's bound allows after 0 of n may lie among the items that nobody has judged.
    """
    apart = (1.0 - least) * wilson_interval(0.0, int(sampled.sum()), level=level).bounds[1]
    unseen = np.isnan(y)
    best = float(np.where(unseen, f, y).mean())
    reach = apart * float(unseen.mean())
    wide = (min(finite[0], best - reach), max(finite[1], best + reach))
    middle = (future[0] + future[1]) / 2
    beyond = math.hypot((future[1] - future[0]) / 2, apart)
    return wide, _around(middle, beyond)


def _around(value: float, reach: float) -> tuple[float, float]:
    return value - reach, value + reach


def _within(bounds: tuple[float, float], least: float) -> tuple[float, float]:
    return max(least, bounds[0]), min(1.0, bounds[1])


def _correlation(y: Floats, f: Floats) -> float:
    if np.var(y) == 0 or np.var(f) == 0:
        return math.nan
    return float(np.corrcoef(y, f)[0, 1])
