# SPDX-License-Identifier: Apache-2.0
"""The intervals of the PLUR evaluator: its resamples, drawn again, and its rule for the bounds.

The rule is one-sided at both ends: what it calls the 90 % interval runs from the 10th to the 90th
percentile and so covers 80 %. It is here so that published intervals can be matched, by name only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from assay.aggregate.interval import Interval
from assay.aggregate.resample import DRAWS, bootstrap_scores
from assay.core.errors import UsageError
from assay.core.metric import Metric, Rows, Value

METHOD = "plur"
LEVELS = (90.0, 95.0, 99.0)


def mersenne_draws(n: int, resamples: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """The examples of each resample, as `random.Random(seed).choices` draws them.

    Both generators are the same Mersenne twister, started from the same 32-bit words of the seed.

    >>> import random
    >>> block, = mersenne_draws(5, 2, seed=42)
    >>> one = random.Random(42)
    >>> block.tolist() == [one.choices(range(5), k=5) for _ in range(2)]
    True
    """
    words = [seed >> shift & 0xFFFFFFFF for shift in range(0, max(seed.bit_length(), 1), 32)]
    generator = np.random.RandomState(words)
    step = max(1, DRAWS // n)
    for start in range(0, resamples, step):
        count = min(step, resamples - start)
        yield (generator.random_sample((count, n)) * n).astype(np.int64)


def levels(text: str | None) -> tuple[float, ...]:
    """The levels of a list such as `90,95,99`, in percent.

    >>> levels("80, 97.5")
    (80.0, 97.5)
    """
    if text is None:
        return LEVELS
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"--plur-levels {text} must be numbers like 90,95,99") from None
    for level in found:
        _check(level)
    return found


def _check(level: float) -> None:
    if not 50 <= level < 100:
        raise UsageError(
            f"a level of {level:g} % does not exist with --interval plur: from 50 to below 100"
        )


def bounds(ordered: Value, level: float) -> tuple[float, float]:
    """Both bounds of one level, out of the scores of all resamples in ascending order.

    >>> bounds(np.arange(100.0), 90.0)
    (10.0, 89.0)
    """
    n = len(ordered)
    low = math.floor(n * (100 - level) / 100)
    high = math.ceil(n * level / 100) - 1
    return float(ordered[low]), float(ordered[high])


def coverage_warnings(percents: Sequence[float], resamples: int) -> list[str]:
    """What to tell about these levels.

    >>> print(coverage_warnings([90, 99], 100)[0])
    --interval plur cuts its level off at either end: 90 % covers 80 %, 99 % covers 98 %; \
--interval auto covers what it says
    """
    covered = ", ".join(f"{level:g} % covers {2 * level - 100:g} %" for level in percents)
    found = [
        f"--interval plur cuts its level off at either end: {covered}; --interval auto covers what "
        "it says"
    ]
    crossing = [
        level
        for level in percents
        if math.floor(resamples * (100 - level) / 100) > math.ceil(resamples * level / 100) - 1
    ]
    if crossing:
        named = ", ".join(f"{level:g} %" for level in crossing)
        found.append(
            f"with {resamples:,} resamples the lower bound of {named} lies above the upper one"
        )
    return found


def plur_intervals(
    metrics: Sequence[Metric], rows: Rows, *, level: float, resamples: int, seed: int
) -> list[dict[str, Interval]]:
    """The interval of every score of every metric at one level (a share, 0.95)."""
    percent = round(100 * level, 9)
    _check(percent)
    found = []
    for by_name in _ordered(metrics, rows, resamples, seed):
        of_metric = {}
        for name, values in by_name.items():
            low, high = bounds(values, percent)
            of_metric[name] = Interval(low, high, METHOD, level)
        found.append(of_metric)
    return found


def plur_table(
    metrics: Sequence[Metric], rows: Rows, *, percents: Sequence[float], resamples: int, seed: int
) -> dict[str, object]:
    """Lower and upper bounds of every score at each of several levels, as plain data."""
    lower: dict[str, list[float]] = {}
    upper: dict[str, list[float]] = {}
    for by_name in _ordered(metrics, rows, resamples, seed):
        for name, values in by_name.items():
            both = [bounds(values, percent) for percent in percents]
            lower[name], upper[name] = [b[0] for b in both], [b[1] for b in both]
    return {"levels": list(percents), "lower": lower, "upper": upper}


def _ordered(
    metrics: Sequence[Metric], rows: Rows, resamples: int, seed: int
) -> list[Mapping[str, Value]]:
    if not len(rows):  # every resample of nothing is nothing
        return [
            {k: np.full(resamples, v) for k, v in metric.score([]).items()} for metric in metrics
        ]
    (found,) = bootstrap_scores(
        metrics, [rows], resamples=resamples, seed=seed, stream=mersenne_draws
    )
    return [{name: np.sort(values) for name, values in scores.items()} for scores in found]
