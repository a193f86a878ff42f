# SPDX-License-Identifier: Apache-2.0
"""Coefficients of agreement, each as rows, one per item, and a function of their sum.

Ratings are a matrix, items x judges, of category numbers, -1 where a judge said nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assay.core.metric import Rows, Value, ratio

Ratings = NDArray[np.int64]
Weights = Literal["nominal", "linear", "quadratic"]
NOTHING = -1
NAMES = {
    "percent": "agreement (share)",
    "cohen": "Cohen's kappa",
    "cohen_linear": "Cohen's kappa, linear weights",
    "cohen_quadratic": "Cohen's kappa, quadratic weights",
    "fleiss": "Fleiss' kappa",
    "krippendorff": "Krippendorff's alpha",
    "gwet": "Gwet's AC1",
}


@dataclass(frozen=True)
class Part:
    """A coefficient. `used` are the items that it rests on, `unused` is what to say where there are
    none."""

    name: str
    rows: Rows
    finalise: Callable[[Rows], Value]
    used: NDArray[np.bool_]
    unused: str = "no item has two verdicts"


def parts(ratings: Ratings, k: int, weights: Weights) -> list[Part]:
    """Every coefficient of these ratings in `k` categories."""
    twice = (ratings != NOTHING).sum(axis=1) >= 2
    return [
        Part("percent", _percent_rows(ratings, k), _percent, twice),
        _cohen_part(ratings, k, weights),
        _fleiss_part(ratings, k),
        Part("krippendorff", _coincidences(ratings, k), _alpha(k), twice),
        Part("gwet", _gwet_rows(ratings, k), _gwet(k), twice),
    ]


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


def _cohen_part(ratings: Ratings, k: int, weights: Weights) -> Part:
    """Kappa of the two judges; of more, the mean over pairs (Light's kappa)."""
    n_judges = ratings.shape[1]
    both = list(combinations(range(n_judges), 2))
    rows = np.concatenate([table_rows(ratings[:, a], ratings[:, b], k) for a, b in both], axis=1)
    cost = disagreement_weights(k, weights)

    def finalise(totals: Rows) -> Value:
        tables = totals.reshape(*totals.shape[:-1], len(both), k, k)
        values = cohen(tables, cost)
        defined = ~np.isnan(values)
        return ratio(np.where(defined, values, 0.0).sum(axis=-1), defined.sum(axis=-1))

    name = "cohen" if weights == "nominal" else f"cohen_{weights}"
    return Part(name, rows, finalise, rows.sum(axis=1) > 0)


def table_rows(first: Ratings, second: Ratings, k: int) -> Rows:
    """One-hot rows of the k x k table of two judges; all 0 where one of them said nothing."""
    rows = np.zeros((len(first), k * k))
    both = np.flatnonzero((first != NOTHING) & (second != NOTHING))
    rows[both, first[both] * k + second[both]] = 1.0
    return rows


# -- Fleiss ---------------------------------------------------------------------------------------


def _fleiss_part(ratings: Ratings, k: int) -> Part:
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

    return Part("fleiss", rows, finalise, full, "no item has a verdict of every judge")


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
