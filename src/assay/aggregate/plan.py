# SPDX-License-Identifier: Apache-2.0
"""Planning: how small a difference a test set can show, and how many examples one needs.

A plan answers three questions about two systems on the same examples: the chance of finding a true
difference, the examples needed to find it, and the smallest difference that can be found. `Shares`
is for right-or-wrong answers and counts out McNemar's test; `Scores` is for everything else and
takes the difference of the two scores for normal, as it nearly is from some fifty examples up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Protocol

import numpy as np

from assay.aggregate.resample import bootstrap_scores
from assay.aggregate.shares import counted, mcnemar, mcnemar_p
from assay.aggregate.totals import Codes, cluster_rows, scores_of, total
from assay.core.errors import UsageError
from assay.core.metric import Metric, Rows, Score, Totals, Value

POWER = 0.8
ALPHA = 0.05

COUNTED = 200
"""Discordant pairs up to which McNemar's test is counted out instead of taken for normal."""


class Plan(Protocol):
    """What can be asked of a plan. Differences are in the unit of the score, of either sign."""

    def chance(self, n: int, difference: float) -> float:
        """The chance (power) that `n` examples show a true `difference`, in its direction."""

    def needed(self, difference: float, power: float = POWER) -> int:
        """How many examples show a true `difference` with chance `power`."""

    def detectable(self, n: int, power: float = POWER) -> float:
        """The smallest true difference that `n` examples show; NaN if they show none."""


@dataclass(frozen=True, slots=True)
class Scores:
    """A plan for any score, from the standard deviation of the difference of one example.

    `deviation` / sqrt(n) is how much the difference of two systems varies from one test set of `n`
    examples to the next; `pilot` finds it from two runs. No difference is larger than `reach`.

    >>> plan = Scores(deviation=0.45)
    >>> plan.needed(0.04), round(plan.detectable(1000), 4), round(plan.chance(1000, 0.04), 3)
    (994, 0.0399, 0.803)
    """

    deviation: float
    alpha: float = ALPHA
    reach: float = math.inf

    def __post_init__(self) -> None:
        _check_share("alpha", self.alpha)
        if not self.deviation > 0:
            raise UsageError(f"a plan needs systems that differ: deviation {self.deviation:g}")

    def chance(self, n: int, difference: float) -> float:
        """Chance that a normal difference comes out beyond the critical one."""
        _check_examples(n)
        self._check(difference)
        return NormalDist().cdf(abs(difference) * math.sqrt(n) / self.deviation - _z(self.alpha))

    def needed(self, difference: float, power: float = POWER) -> int:
        """((z of alpha / 2 + z of power) x deviation / difference) squared, rounded up."""
        _check_difference(difference, power)
        self._check(difference)
        wanted = max(0.0, _z(self.alpha) + NormalDist().inv_cdf(power))
        return max(2, math.ceil((wanted * self.deviation / difference) ** 2))

    def detectable(self, n: int, power: float = POWER) -> float:
        """The same, solved for the difference."""
        _check_examples(n)
        _check_share("power", power)
        wanted = max(0.0, _z(self.alpha) + NormalDist().inv_cdf(power))
        least = wanted * self.deviation / math.sqrt(n)
        return least if least <= self.reach else math.nan

    def _check(self, difference: float) -> None:
        if abs(difference) > self.reach:
            raise UsageError(
                f"--difference {difference:g} cannot be: no two scores are more than "
                f"{self.reach:g} apart"
            )


@dataclass(frozen=True, slots=True)
class Shares:
    """A plan for right-or-wrong answers, from the share of examples that only one gets right.

    Counts out McNemar's test as `compare` makes it: few discordant pairs need more examples than
    the usual formulas say. With many of them it is Connor's formula (1987, "Sample size for testing
    differences in proportions for the paired-sample design"). `measured` is the share of examples
    that the score is a share of: one of the buggy functions among all, say. `discordance` and
    differences are shares of those, numbers of examples count all.

    >>> plan = Shares(discordance=0.2)
    >>> plan.needed(0.04), round(plan.detectable(1000), 4), round(plan.chance(1000, 0.04), 3)
    (977, 0.0395, 0.81)
    """

    discordance: float
    alpha: float = ALPHA
    measured: float = 1.0

    def __post_init__(self) -> None:
        _check_share("alpha", self.alpha)
        if not 0 < self.discordance <= 1:
            raise UsageError(
                f"discordance {self.discordance:g} must be above 0 and at most 1: it is the share "
                "of examples that exactly one system gets right"
            )

    def chance(self, n: int, difference: float) -> float:
        """Chance that McNemar's test finds the better system."""
        _check_examples(n)
        self._check(difference)
        gap, discordance = self._of_all(difference)
        if n * discordance <= COUNTED:
            return _counted_chance(n, gap, discordance, self.alpha)
        spread = math.sqrt(max(discordance - gap * gap, 1e-12))
        reach = gap * math.sqrt(n) - _z(self.alpha) * math.sqrt(discordance)
        return NormalDist().cdf(reach / spread)

    def needed(self, difference: float, power: float = POWER) -> int:
        """The first number of examples, from a little below the formula's up, that does."""
        _check_difference(difference, power)
        self._check(difference)
        gap, discordance = self._of_all(difference)
        spread = math.sqrt(max(discordance - gap * gap, 0.0))
        root = _z(self.alpha) * math.sqrt(discordance)
        root = max(0.0, root + NormalDist().inv_cdf(power) * spread) / gap
        n = max(2, math.ceil(root * root))
        if n * discordance > COUNTED:
            return n
        n = max(2, math.floor(0.8 * n))
        while self.chance(n, difference) < power:
            n += max(1, n // 200)
        return n

    def detectable(self, n: int, power: float = POWER) -> float:
        """The smallest difference found by halving; at most all discordant pairs fall one way."""
        _check_examples(n)
        _check_share("power", power)
        low, high = 0.0, self.discordance
        if self.chance(n, high) < power:
            return math.nan
        while high - low > 1e-6 * self.discordance:
            middle = (low + high) / 2
            low, high = (low, middle) if self.chance(n, middle) >= power else (middle, high)
        return high

    def _of_all(self, difference: float) -> tuple[float, float]:
        """The difference and the discordance as shares of all examples."""
        gap = min(abs(difference), self.discordance)
        return gap * self.measured, self.discordance * self.measured

    def _check(self, difference: float) -> None:
        # Both are typed in decimals: 0.3 - 0.2 is a little less than 0.1.
        if abs(difference) > self.discordance + 1e-12:
            raise UsageError(
                f"a difference of {difference:g} needs a discordance of at least as much, not "
                f"{self.discordance:g}: only examples that one system alone gets right make it"
            )


def pilot(
    metric: Metric,
    name: str,
    system: Rows,
    baseline: Rows,
    *,
    clusters: Codes | None = None,
    alpha: float = ALPHA,
) -> Plan:
    """A plan from the rows of two systems on some examples, for one score of a metric.

    >>> from assay.metrics.exact import Exact
    >>> a, b = (np.array([[r, 1.0] for r in right]) for right in ([1, 1, 0, 0], [1, 0, 1, 0]))
    >>> pilot(Exact(), "exact", a, b)
    Shares(discordance=0.5, alpha=0.05, measured=1.0)
    """
    score = next(s for s in metric.scores if s.name == name)
    counts = counted(metric, score, system, baseline) if clusters is None else None
    if counts is not None and score.high - score.low == 1:
        differing = counts.won + counts.lost
        if differing == 0:
            raise _no_difference(name)
        return Shares(differing / counts.n, alpha, counts.n / len(system))
    deviation = pilot_deviation(metric, system, baseline, clusters=clusters)[name]
    if math.isnan(deviation):
        raise UsageError(f"{name} is undefined on the pilot runs, or they are too few to plan from")
    # Rounding leaves traces where runs are in truth alike.
    if not deviation > 1e-9 * _size(metric, score, system, baseline):
        raise _no_difference(name)
    return Scores(deviation, alpha, score.high - score.low)


def _size(metric: Metric, score: Score, system: Rows, baseline: Rows) -> float:
    """How large values of a score are: its range, or if that has no end, those of two systems."""
    if math.isfinite(reach := score.high - score.low):
        return reach
    return max(abs(scores_of(metric, rows)[score.name]) for rows in (system, baseline))


def pilot_deviation(
    metric: Metric, system: Rows, baseline: Rows, *, clusters: Codes | None = None
) -> dict[str, float]:
    """By score, what `Scores` wants: the deviation of the difference, per example.

    Each example (or cluster) is left out in turn, and the spread of what remains says how much one
    example matters: the jackknife, which for a mean is the plain standard deviation and does
    as well for corpus scores such as BLEU. Metrics that cannot be summed are resampled instead.
    Clusters count as examples of their average size. NaN where fewer than two leave a score.

    Efron and Stein (1981), "The jackknife estimate of variance".
    """
    n = len(system)
    if metric.merge == "concat":
        resampled = bootstrap_scores([metric], [system, baseline], clusters=clusters)
        first, second = resampled[0][0], resampled[1][0]
        spreads = {name: _deviation(first[name] - second[name]) for name in first}
        return {name: math.sqrt(n) * spread for name, spread in spreads.items()}
    units = [r if clusters is None else cluster_rows(r, clusters) for r in (system, baseline)]
    ours, theirs = (metric.finalise(Totals(metric.columns, total(rows) - rows)) for rows in units)
    found: dict[str, float] = {}
    for score in metric.scores:
        left_out = ours[score.name] - theirs[score.name]
        k = int((~np.isnan(left_out)).sum())
        # The jackknife variance is (k - 1) / k times a sum of k squares, not their average.
        found[score.name] = _deviation(left_out) * (k - 1) * math.sqrt(n / max(k, 1))
    return found


def _deviation(values: Value) -> float:
    """Standard deviation of the values that are defined."""
    defined = values[~np.isnan(values)]
    return float(defined.std(ddof=1)) if len(defined) > 1 else math.nan


def _counted_chance(n: int, difference: float, discordance: float, alpha: float) -> float:
    """Over all numbers of discordant pairs, the chance of so many times that of enough wins."""
    middle, spread = n * discordance, math.sqrt(n * discordance * (1 - discordance))
    low = max(0, math.floor(middle - 8 * spread - 8))
    high = min(n, math.ceil(middle + 8 * spread + 8))
    wins = min(1.0, (discordance + difference) / (2 * discordance))
    return math.fsum(
        _binomial(n, pairs, discordance)
        * math.fsum(
            _binomial(pairs, lost, 1 - wins) for lost in range(_most_lost(pairs, alpha) + 1)
        )
        for pairs in range(low, high + 1)
    )


@lru_cache(maxsize=4096)
def _most_lost(pairs: int, alpha: float) -> int:
    """How many of so many discordant pairs a winner may lose; -1 if no win is clear enough."""
    low, high = -1, pairs // 2
    while low < high:
        lost = (low + high + 1) // 2
        p, _ = mcnemar_p(mcnemar(pairs - lost, lost))
        low, high = (lost, high) if p <= alpha else (low, lost - 1)
    return low


def _binomial(n: int, k: int, share: float) -> float:
    if share <= 0 or share >= 1:
        return float(k == (0 if share <= 0 else n))
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(ways + k * math.log(share) + (n - k) * math.log1p(-share))


def _z(alpha: float) -> float:
    return NormalDist().inv_cdf(1 - alpha / 2)


def _no_difference(name: str) -> UsageError:
    return UsageError(
        f"the pilot runs do not differ by {name}; take two runs that do, or give --discordance"
    )


def _check_share(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise UsageError(f"--{name} {value:g} must lie between 0 and 1")


def _check_examples(n: int) -> None:
    if n < 2:
        raise UsageError(f"a plan needs at least two examples, not {n}")


def _check_difference(difference: float, power: float) -> None:
    _check_share("power", power)
    if not math.isfinite(difference):
        raise UsageError(f"--difference {difference:g} must be a number")
    if not abs(difference) > 0:
        raise UsageError("no number of examples shows a difference of 0; give one above 0")
