# SPDX-License-Identifier: Apache-2.0
"""How far judges agree, and how much of that is more than chance.

Ratings are a matrix, items x judges, of category numbers, -1 where a judge said nothing. Every
coefficient is a function of sums over items, so that an interval is a matrix product away: items
are resampled, judges are not. A coefficient that is not defined is NaN and says why: where all
verdicts are equal, nothing can be said about agreement beyond chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assay.aggregate.interval import LEVEL, percentile_interval, wilson_interval
from assay.aggregate.resample import RESAMPLES, SEED, bootstrap_totals
from assay.core.errors import UsageError
from assay.core.metric import Rows, Value, ratio

Ratings = NDArray[np.int64]
Weights = Literal["nominal", "linear", "quadratic"]
NOTHING = -1
FEW = 0.05
"""Share of resamples that may lack a value without a word about it."""


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
    k = len(categories)
    kept = ratings[(ratings != NOTHING).any(axis=1)]
    twice = (kept != NOTHING).sum(axis=1) >= 2
    parts: list[_Part] = [
        _Part("percent", _percent_rows(kept, k), _percent, twice),
        *_cohen_parts(kept, k, weights),
        _Part("fleiss", *_fleiss_part(kept, k)),
        _Part("krippendorff", _coincidences(kept, k), _alpha(k), twice),
        _Part("gwet", _gwet_rows(kept, k), _gwet(k), twice),
    ]
    wide = np.concatenate([part.rows for part in parts], axis=1)
    resampled = bootstrap_totals(wide, resamples=resamples, seed=seed)
    found = []
    at = 0
    for part in parts:
        width = part.rows.shape[1]
        value = float(part.finalise(part.rows.sum(axis=0)))
        n = int(part.used.sum())
        missed = 0
        if part.name == "percent" and (len(judges) == 2 or value == 1.0):
            bounds = wilson_interval(float(part.rows[:, 0].sum()), n, level=level).bounds
        else:
            with np.errstate(divide="ignore", invalid="ignore"):
                values = part.finalise(resampled[:, at : at + width])
            interval = percentile_interval(values, n=n, level=level)
            bounds, missed = interval.bounds, interval.undefined
        if math.isnan(value):
            bounds, why = (math.nan, math.nan), _EQUAL if n else part.unused
        elif math.isnan(bounds[0]):
            why = "too few items for an interval"
        elif bounds == (1.0, 1.0):
            # Resamples of items without a disagreement have none either, however few there are.
            bounds, why = (math.nan, math.nan), "no disagreement was seen; see the share's interval"
        elif missed > FEW * resamples:
            share = f"{100 * missed / resamples:.0f} %"
            why = f"not defined in {share} of the resamples, which the interval leaves out"
        else:
            why = ""
        found.append(Coefficient(part.name, value, bounds, n, why))
        at += width
    return Agreement(
        question,
        tuple(judges),
        len(kept),
        int(twice.sum()),
        tuple(found),
        tuple(_pairs(kept, judges, categories, weights)),
    )


_EQUAL = "not defined: all verdicts are equal"


@dataclass(frozen=True)
class _Part:
    """A coefficient as rows and a function of their sum. `used` are the items that it rests on,
    `unused` is what to say where there are none."""

    name: str
    rows: Rows
    finalise: Callable[[Rows], Value]
    used: NDArray[np.bool_]
    unused: str = "no item has two verdicts"


def _counts(ratings: Ratings, k: int) -> Rows:
    """How many judges gave each item each category."""
    return np.stack([(ratings == c).sum(axis=1) for c in range(k)], axis=1).astype(np.float64)


# -- percent --------------------------------------------------------------------------------------


def _percent_rows(ratings: Ratings, k: int) -> Rows:
    """Share of pairs of judges that agree on the item; whether there is a pair."""
    counts = _counts(ratings, k)
    n = counts.sum(axis=1)
    pairs = n * (n - 1)
    agreeing = (counts * (counts - 1)).sum(axis=1)
    return np.stack([np.nan_to_num(ratio(agreeing, pairs)), pairs > 0], axis=1)


def _percent(totals: Rows) -> Value:
    return ratio(totals[..., 0], totals[..., 1])


# -- Cohen ----------------------------------------------------------------------------------------


def disagreement_weights(k: int, weights: Weights) -> Rows:
    """How bad it is to say one category for another: 0 on the diagonal, at most 1.

    >>> disagreement_weights(3, "linear")[0]
    array([0. , 0.5, 1. ])
    """
    apart = np.abs(np.subtract.outer(np.arange(k), np.arange(k))).astype(np.float64)
    if weights == "nominal":
        return (apart > 0).astype(np.float64)
    scaled = apart / max(1, k - 1)
    return scaled if weights == "linear" else scaled**2


def cohen(tables: Rows, weights: Rows) -> Value:
    """Cohen's kappa of tables of counts, shape (..., k, k); NaN where chance leaves no room."""
    n = tables.sum(axis=(-1, -2))
    observed = (tables * weights).sum(axis=(-1, -2))
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    by_chance = np.einsum("...i,...j,ij->...", rows, columns, weights)
    return 1 - ratio(observed * n, by_chance)


def _cohen_parts(ratings: Ratings, k: int, weights: Weights) -> list[_Part]:
    """Kappa of the two judges; of more, the mean over pairs (Light's kappa)."""
    n_judges = ratings.shape[1]
    both = list(combinations(range(n_judges), 2))
    rows = np.concatenate([_table_rows(ratings[:, a], ratings[:, b], k) for a, b in both], axis=1)
    cost = disagreement_weights(k, weights)

    def finalise(totals: Rows) -> Value:
        tables = totals.reshape(*totals.shape[:-1], len(both), k, k)
        values = cohen(tables, cost)
        defined = ~np.isnan(values)
        return ratio(np.where(defined, values, 0.0).sum(axis=-1), defined.sum(axis=-1))

    name = "cohen" if weights == "nominal" else f"cohen_{weights}"
    return [_Part(name, rows, finalise, rows.sum(axis=1) > 0)]


def _table_rows(first: Ratings, second: Ratings, k: int) -> Rows:
    """One-hot rows of the k x k table of two judges; all 0 where one of them said nothing."""
    rows = np.zeros((len(first), k * k))
    both = np.flatnonzero((first != NOTHING) & (second != NOTHING))
    rows[both, first[both] * k + second[both]] = 1.0
    return rows


def _pairs(
    ratings: Ratings, judges: Sequence[str], categories: Sequence[str], weights: Weights
) -> list[PairAgreement]:
    k = len(categories)
    cost = disagreement_weights(k, weights)
    found = []
    for a, b in combinations(range(len(judges)), 2):
        table = _table_rows(ratings[:, a], ratings[:, b], k).sum(axis=0).reshape(k, k)
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


# -- Fleiss ---------------------------------------------------------------------------------------


def _fleiss_part(
    ratings: Ratings, k: int
) -> tuple[Rows, Callable[[Rows], Value], NDArray[np.bool_], str]:
    """Of the items that all judges rated: the coefficient wants as many verdicts for each item."""
    n_judges = ratings.shape[1]
    full = (ratings != NOTHING).all(axis=1)
    counts = _counts(ratings, k) * full[:, None]
    agreeing = (counts * (counts - 1)).sum(axis=1) / (n_judges * (n_judges - 1))
    rows = np.column_stack([counts, agreeing, full])

    def finalise(totals: Rows) -> Value:
        n = totals[..., -1]
        shares = ratio(totals[..., :k], (n * n_judges)[..., None])
        by_chance = (shares**2).sum(axis=-1)
        observed = ratio(totals[..., k], n)
        return ratio(observed - by_chance, _zero_if_tiny(1 - by_chance))

    return rows, finalise, full, "no item has a verdict of every judge"


# -- Krippendorff ---------------------------------------------------------------------------------


def _coincidences(ratings: Ratings, k: int) -> Rows:
    """Krippendorff's coincidences of each item, k x k; missing verdicts simply are not there."""
    counts = _counts(ratings, k)
    n = counts.sum(axis=1)
    pairs = np.einsum("ni,nj->nij", counts, counts)
    pairs[:, range(k), range(k)] -= counts
    share = np.where(n >= 2, 1 / np.maximum(n - 1, 1), 0.0)
    rows: Rows = (pairs * share[:, None, None]).reshape(len(ratings), k * k)
    return rows


def _alpha(k: int) -> Callable[[Rows], Value]:
    def finalise(totals: Rows) -> Value:
        table = totals.reshape(*totals.shape[:-1], k, k)
        margins = table.sum(axis=-1)
        n = margins.sum(axis=-1)
        agreeing = np.trace(table, axis1=-2, axis2=-1)
        by_chance = (margins * (margins - 1)).sum(axis=-1)
        room = _zero_if_tiny(n * (n - 1) - by_chance)
        return ratio((n - 1) * agreeing - by_chance, room)

    return finalise


# -- Gwet -----------------------------------------------------------------------------------------


def _gwet_rows(ratings: Ratings, k: int) -> Rows:
    counts = _counts(ratings, k)
    shares = np.nan_to_num(ratio(counts, counts.sum(axis=1)[:, None]))
    return np.column_stack([shares, np.ones(len(ratings)), _percent_rows(ratings, k)])


def _gwet(k: int) -> Callable[[Rows], Value]:
    """AC1: chance is judged by how evenly categories are used, so that it stays defined where all
    verdicts are equal."""

    def finalise(totals: Rows) -> Value:
        used = ratio(totals[..., :k], totals[..., k][..., None])
        by_chance = (used * (1 - used)).sum(axis=-1) / max(1, k - 1)
        observed = ratio(totals[..., k + 1], totals[..., k + 2])
        return ratio(observed - by_chance, 1 - by_chance)

    return finalise


def _zero_if_tiny(room: Value) -> Value:
    """Differences that are 0 on paper are not always 0 in floating point."""
    return np.where(np.abs(room) < 1e-12, 0.0, room)
