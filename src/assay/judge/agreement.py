# SPDX-License-Identifier: Apache-2.0
"""How far judges agree, and how much of that is more than chance.

Every coefficient is a function of sums over items, so that an interval is a matrix product away:
items are resampled, judges are not. A coefficient that is not defined is NaN and says why: where
all verdicts are equal, nothing can be said about agreement beyond chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from assay.aggregate.asked import LEVEL, RESAMPLES, SEED
from assay.aggregate.interval import percentile_interval, wilson_interval
from assay.aggregate.resample import bootstrap_totals
from assay.core.errors import UsageError
from assay.core.metric import Rows, ratio
from assay.core.names import unknown
from assay.judge.coefficients import (
    NOTHING,
    Part,
    Ratings,
    Weights,
    cohen,
    disagreement_weights,
    parts,
    table_rows,
)

FEW = 0.05
"""Share of resamples that may lack a value without a word about it."""
_EQUAL = "not defined: all verdicts are equal"


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One coefficient with its interval; `why` says what is missing where one of the two is
    undefined, or the interval less sure than it looks.

    `n` is the number of items that it rests on.
    """

    name: str
    value: float
    interval: tuple[float, float]
    n: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two judges: how often each said what (first judge's answer first), and their coefficients."""

    judges: tuple[str, str]
    n: int
    table: dict[str, int]
    percent: float
    cohen: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """What can be said about the agreement of some judges on one question."""

    question: str
    judges: tuple[str, ...]
    items: int
    rated_twice: int
    coefficients: tuple[Coefficient, ...]
    pairs: tuple[PairAgreement, ...]

    def __getitem__(self, name: str) -> Coefficient:
        return next(c for c in self.coefficients if c.name == name)


def judges_named(names: Sequence[str], known: Iterable[str]) -> frozenset[str]:
    """Some judges by name, for agreement between them alone; none named stands for all."""
    if len(names) == 1:
        raise UsageError(f"--between {names[0]}: agreement is between two judges or more")
    listed = sorted(known)
    for name in names:
        if name not in listed:
            raise unknown("judge", name, listed)
    return frozenset(names)


def agreement(
    ratings: Ratings,
    judges: Sequence[str],
    categories: Sequence[str],
    *,
    question: str = "",
    weights: Weights = "nominal",
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Agreement:
    """All coefficients of these ratings.

    `weights` is for Cohen's kappa: with ordered categories a step further apart may weigh more.

    >>> ratings = np.array([[1, 1], [0, 0], [1, 0], [0, 0]])
    >>> found = agreement(ratings, ["anna", "bert"], ["no", "yes"])
    >>> found["percent"].value, found["cohen"].value
    (0.75, 0.5)
    """
    ratings = np.asarray(ratings, dtype=np.int64)
    if ratings.ndim != 2 or ratings.shape[1] != len(judges):
        raise UsageError("ratings must have one column per judge")
    if len(judges) < 2:
        raise UsageError("agreement needs at least two judges; only one has judged so far")
    if not 0 < level < 1:
        raise UsageError(f"--ci {level} must be between 0 and 1")
    if resamples < 1:
        raise UsageError(f"--resamples {resamples} must be 1 or more")
    kept = ratings[(ratings != NOTHING).any(axis=1)]
    every = parts(kept, len(categories), weights)
    # Resampled as one matrix, so that all coefficients rest on the same items each time.
    wide = np.concatenate([part.rows for part in every], axis=1)
    resampled = bootstrap_totals(wide, resamples=resamples, seed=seed)
    found = []
    at = 0
    for part in every:
        end = at + part.rows.shape[1]
        found.append(_coefficient(part, resampled[:, at:end], len(judges), level))
        at = end
    return Agreement(
        question,
        tuple(judges),
        len(kept),
        int(((kept != NOTHING).sum(axis=1) >= 2).sum()),
        tuple(found),
        tuple(_pairs(kept, judges, categories, weights)),
    )


SAME = 1e-12
"""Bounds that are no further apart are equal, but for floating point."""


def _coefficient(part: Part, resampled: Rows, n_judges: int, level: float) -> Coefficient:
    """The value with its interval, or what is the matter with one of the two."""
    n = int(part.used.sum())
    nothing = (math.nan, math.nan)
    value = float(part.finalise(part.rows.sum(axis=0)))
    if math.isnan(value):
        return Coefficient(part.name, value, nothing, n, _EQUAL if n else part.unused)
    if part.name == "percent" and (n_judges == 2 or value == 1.0):
        agreeing = float(part.rows[:, 0].sum())
        return Coefficient(part.name, value, wilson_interval(agreeing, n, level=level).bounds, n)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = part.finalise(resampled)
    interval = percentile_interval(values, n=n, level=level)
    if math.isnan(interval.bounds[0]):
        return Coefficient(part.name, value, nothing, n, "too few items for an interval")
    if interval.bounds == (1.0, 1.0):
        # Resamples of items without a disagreement have none either, however few there are.
        why = "no disagreement was seen; see the share's interval"
        return Coefficient(part.name, value, nothing, n, why)
    if interval.bounds[1] - interval.bounds[0] < SAME:
        why = "no interval: all items are alike, so that resamples are, too"
        return Coefficient(part.name, value, nothing, n, why)
    why = ""
    if interval.undefined > FEW * len(resampled):
        share = f"{100 * interval.undefined / len(resampled):.0f} %"
        why = f"not defined in {share} of the resamples, which the interval leaves out"
    return Coefficient(part.name, value, interval.bounds, n, why)


def _pairs(
    ratings: Ratings, judges: Sequence[str], categories: Sequence[str], weights: Weights
) -> list[PairAgreement]:
    k = len(categories)
    cost = disagreement_weights(k, weights)
    found = []
    for a, b in combinations(range(len(judges)), 2):
        table = table_rows(ratings[:, a], ratings[:, b], k).sum(axis=0).reshape(k, k)
        n = int(table.sum())
        names = {
            f"{one}/{other}": int(table[i, j])
            for i, one in enumerate(categories)
            for j, other in enumerate(categories)
        }
        share = float(ratio(np.trace(table), n))
        kappa = float(cohen(table, cost))
        found.append(PairAgreement((judges[a], judges[b]), n, names, share, kappa))
    return found
